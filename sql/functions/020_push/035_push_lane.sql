/*
 * Purpose:     store the common push: one group for a partition that is there and whose row stays as it is; ids minted, or all
 *              given and above the running maximum; one segment. Lock, look and insert are a statement each, and nothing is
 *              looked at besides. A NULL tenant is the session's own; p_payload_bytes saves the counting of the payloads' UTF-8 octets. NULL, and no row written, when anything is out of the
 *              common: _push then says or does the rest. push_v1 has the same three statements for its one message.
 * Locks:       the partition, FOR NO KEY UPDATE; kept also when the answer is NULL.
 * Isolation:   any; only READ COMMITTED stores.
 * Volatility:  VOLATILE: writes, and every statement after the lock needs a newer snapshot.
 * Bounds:      1000 frames, and 1 MiB or one frame.
 * Idempotency: none: ids above the running maximum cannot be repeats.
 * Raises:      55P03 after the caller's lock_timeout.
 * Source:      design 3.1, 3.2 rules 1, 2 and 6, 3.4.
 */
CREATE OR REPLACE FUNCTION queen._push_lane(
    p_queue text,
    p_partition text,
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_producer_subs text[],
    p_nonce bigint,
    p_tenant_id uuid,
    p_payload_bytes bigint DEFAULT NULL
) RETURNS queen.push_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_lane record;
    r_tail record;
    v_ids text[] := queen._unless_all_null(p_ids);
    v_count integer := cardinality(p_payloads);
    v_id text;
    v_prefix text;
    v_seed bigint;
    v_lo text COLLATE "C";
    v_hi text COLLATE "C";
BEGIN
    -- What is read beside the lock is the queue's options, which it does not guard.
    SELECT p.id, p.last_offset, p.last_stamp, p.log_start, p.txns_start, p.last_write_at,
           p.settled OR p.oldest_live_at IS NULL OR p.oldest_txn_at IS NULL AS asleep,
           CASE WHEN v_count = 1 THEN octet_length(p_payloads[1]) + coalesce(octet_length(v_ids[1]), 0) + coalesce(octet_length(p_keys[1]), 0)
                WHEN p_payload_bytes IS NOT NULL AND v_ids IS NULL AND p_keys IS NULL THEN p_payload_bytes
                ELSE queen._frame_bytes(p_payloads, v_ids, p_keys) END AS bytes,
           NOT q.encryption_enabled AND v_count <= 1000 AND array_position(p_payloads, NULL) IS NULL
               AND current_setting('transaction_isolation') = 'read committed' AS common
    INTO r_lane
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = p_partition
    WHERE q.tenant_id = coalesce(p_tenant_id, (
              -- As _current_tenant, which would be a statement of its own.
              SELECT t.tenant_id FROM queen.tenant_roles t WHERE t.role = pg_catalog.to_regrole(pg_catalog.quote_ident(session_user))
          ), '00000000-0000-0000-0000-000000000001')
      AND q.name = p_queue AND q.deleted_at IS NULL
    FOR NO KEY UPDATE OF p;
    IF r_lane.common IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    SELECT l.end_offset AS last, l.created_at, l.cum_bytes,
           greatest(clock_timestamp(), now(), (SELECT m.marked_at FROM queen.clock_marks m ORDER BY m.marked_at DESC LIMIT 1)) AS stamp,
           (SELECT x.high FROM queen.log_txns x
            WHERE x.partition_id = r_lane.id AND x.base_offset >= r_lane.txns_start
            ORDER BY x.base_offset DESC LIMIT 1) AS high
    INTO r_tail
    FROM queen.log_segments l
    WHERE l.partition_id = r_lane.id AND l.base_offset >= r_lane.log_start
    ORDER BY l.base_offset DESC LIMIT 1;
    -- IS NOT TRUE, so that anything unknown (no segment, no last stamp, no sidecar row) is out of the common.
    IF (r_tail.last >= r_lane.last_offset AND r_tail.stamp > r_tail.created_at AND r_tail.stamp > r_lane.last_stamp
        AND NOT r_lane.asleep AND r_lane.last_write_at >= r_tail.stamp - interval '1 second' AND (r_lane.bytes <= 1048576 OR v_count = 1)
        AND r_tail.high IS NOT NULL AND (v_ids IS NULL OR queen._ids_ascend(v_ids, r_tail.high))) IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    v_id := (CASE WHEN p_nonce IS NULL THEN queen._draw_id_base(r_tail.stamp) ELSE queen._id_base(r_tail.stamp, p_nonce) END)::text;
    v_prefix := left(v_id, 31);
    v_seed := queen._id_seed(r_lane.id);
    v_lo := coalesce(left(v_ids[1], 64), v_id);
    v_hi := coalesce(left(v_ids[v_count], 64), v_prefix || lpad(to_hex(v_count - 1), 5, '0'));
    WITH segment AS (
        INSERT INTO queen.log_segments (
            partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes,
            payloads, transaction_ids, keys, producer_subs)
        VALUES (
            r_lane.id, r_tail.last + 1, r_tail.last + v_count, r_tail.stamp, v_id::uuid, v_count, r_lane.bytes, r_lane.bytes,
            r_tail.cum_bytes + r_lane.bytes, p_payloads, v_ids, queen._unless_all_null(p_keys), queen._unless_all_null(p_producer_subs))
    )
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high, out_of_order)
    VALUES (r_lane.id, r_tail.last + 1, r_tail.last + v_count, r_tail.stamp,
            CASE WHEN v_count = 1 THEN ARRAY[hashtextextended(coalesce(v_ids[1], v_id) COLLATE "C", v_seed)]
                 -- As _segment_hashes, whose call would cost more than the hashes do.
                 WHEN v_ids IS NOT NULL THEN ARRAY(
                     SELECT hashtextextended(u.id COLLATE "C", v_seed) FROM (SELECT unnest(v_ids) AS id) u)
                 ELSE ARRAY(
                     SELECT hashtextextended(v_prefix || lpad(to_hex(g.k), 5, '0'), v_seed)
                     FROM (SELECT generate_series(0, v_count - 1) AS k) g) END,
            v_lo, v_hi, greatest(r_tail.high COLLATE "C", v_hi), v_lo <= r_tail.high COLLATE "C");
    RETURN ROW(0, 'queued', r_lane.id, r_tail.last + 1, v_id, r_tail.stamp, v_count, 0, NULL, NULL, NULL, NULL, NULL)::queen.push_row;
END $$;
REVOKE ALL ON FUNCTION queen._push_lane(text, text, text[], text[], text[], text[], bigint, uuid, bigint) FROM PUBLIC;

/*
 * Purpose:     the hashes of the ids of a segment: of those given, where none is null, or of the minted ones.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      one pass.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.1, 3.4.
 */
CREATE OR REPLACE FUNCTION queen._segment_hashes(p_id_base text, p_frames integer, p_ids text[], p_seed bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_prefix text := left(p_id_base, 31);
BEGIN
    IF p_ids IS NULL THEN
        RETURN ARRAY(
            SELECT hashtextextended(v_prefix || lpad(to_hex(g.k), 5, '0'), p_seed)
            FROM (SELECT generate_series(0, p_frames - 1) AS k) g); -- in order, and not stored first, as it would be in FROM
    END IF;
    RETURN ARRAY(SELECT hashtextextended(u.id COLLATE "C", p_seed) FROM (SELECT unnest(p_ids) AS id) u);
END $$;
REVOKE ALL ON FUNCTION queen._segment_hashes(text, integer, text[], bigint) FROM PUBLIC;
