/*
 * Purpose:     which ids of a push are repeats: of an earlier item of the same group (leader, always), or of a message
 *              stored in the partition within the dedup window (dup_offset). A stored id is looked for in two places:
 *              the one in-order sidecar row whose range can hold it (those are disjoint and ascend), and the
 *              out-of-order rows by hash.
 * Locks:       none; the caller holds the partition row.  Isolation: READ COMMITTED after that lock.
 * Volatility:  VOLATILE: needs a snapshot newer than the caller's lock wait.
 * Bounds:      two index probes an id that is not above the running maximum; ids above it cost nothing.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      design 3.4, P-2, P-9, P-17..P-19, W-17, F011, F013, F017.
 */
CREATE OR REPLACE FUNCTION queen._find_repeats(
    p_partition_id uuid,
    p_txns_start bigint,
    p_since timestamptz,
    p_high text,
    p_ids text[]
) RETURNS TABLE (item integer, leader integer, dup_offset bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_high text COLLATE "C" := p_high;
    v_seed bigint := queen._id_seed(p_partition_id);
BEGIN
    RETURN QUERY
    SELECT (u.ord - 1)::integer, (u.first - 1)::integer, NULL::bigint
    FROM (
        SELECT w.ord, min(w.ord) OVER (PARTITION BY w.id COLLATE "C") AS first
        FROM unnest(p_ids) WITH ORDINALITY w (id, ord)
        WHERE w.id IS NOT NULL
    ) u
    WHERE u.ord > u.first;

    IF p_since IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT (u.ord - 1)::integer, NULL::integer, min(h.base_offset + array_position(h.hashes, u.hash) - 1)
    FROM (
        SELECT w.ord, w.id, left(w.id, 64) COLLATE "C" AS cut, hashtextextended(w.id COLLATE "C", v_seed) AS hash
        FROM unnest(p_ids) WITH ORDINALITY w (id, ord)
        WHERE left(w.id, 64) COLLATE "C" <= v_high
    ) u
    CROSS JOIN LATERAL (
        (SELECT t.base_offset, t.created_at, t.hashes
         FROM queen.log_txns t
         WHERE t.partition_id = p_partition_id AND NOT t.out_of_order AND t.hi >= u.cut AND t.base_offset >= p_txns_start
         ORDER BY t.hi
         LIMIT 1)
        UNION ALL
        -- IS NOT DISTINCT FROM, so that no plan walks the partition by its key: the hash is the way in.
        SELECT t.base_offset, t.created_at, t.hashes
        FROM queen.log_txns t
        WHERE t.out_of_order AND t.hashes @> ARRAY[u.hash] AND t.partition_id IS NOT DISTINCT FROM p_partition_id
    ) h
    WHERE h.base_offset >= p_txns_start
      AND h.created_at >= p_since
      AND array_position(h.hashes, u.hash) IS NOT NULL
      AND queen._stored_id_matches(p_partition_id, h.base_offset, array_position(h.hashes, u.hash) - 1, u.id)
    GROUP BY u.ord;
END $$;
REVOKE ALL ON FUNCTION queen._find_repeats(uuid, bigint, timestamptz, text, text[]) FROM PUBLIC;

/*
 * Purpose:     confirm a hash hit against the id that the segment keeps: a 64-bit hash alone never decides while
 *              the segment is there. Without the segment, or with the frame compacted away, the hash is believed.
 * Locks:       none.  Isolation: as the caller.
 * Volatility:  VOLATILE, as its caller.
 * Bounds:      one key probe.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._stored_id_matches(
    p_partition_id uuid,
    p_base_offset bigint,
    p_k bigint,
    p_id text
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN coalesce((
        SELECT coalesce(s.transaction_ids[q.pos], queen._frame_id(s.id_base, p_k)::text) COLLATE "C" = p_id
        FROM queen.log_segments s
        CROSS JOIN LATERAL (
            SELECT CASE WHEN s.offsets IS NULL THEN p_k + 1 ELSE array_position(s.offsets, p_base_offset + p_k) END::integer AS pos
        ) q
        WHERE s.partition_id = p_partition_id AND s.base_offset = p_base_offset AND q.pos IS NOT NULL
    ), true);
END $$;
REVOKE ALL ON FUNCTION queen._stored_id_matches(uuid, bigint, bigint, text) FROM PUBLIC;

/*
 * Purpose:     id of the message at an offset; the all-zero id when its segment is gone.
 * Locks:       none.  Isolation: as the caller.  Volatility: VOLATILE, as its callers.
 * Bounds:      one backward key step.  Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 3.6 of the engine, F013.
 */
CREATE OR REPLACE FUNCTION queen._message_id_at(
    p_partition_id uuid,
    p_offset bigint
) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN coalesce((
        SELECT queen._frame_id(s.id_base, p_offset - s.base_offset)
        FROM (
            SELECT l.id_base, l.base_offset, l.end_offset FROM queen.log_segments l
            WHERE l.partition_id = p_partition_id AND l.base_offset <= p_offset
            ORDER BY l.base_offset DESC LIMIT 1
        ) s
        WHERE s.end_offset >= p_offset
    ), '00000000-0000-0000-0000-000000000000');
END $$;
REVOKE ALL ON FUNCTION queen._message_id_at(uuid, bigint) FROM PUBLIC;
