/*
 * Purpose:     push one message inside the caller's own transaction, from psql or an application.
 * Locks:       as log_push_v1, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED; other levels are accepted and answer 40001 when another push came first.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one message.
 * Idempotency: by p_transaction_id inside the queue's dedup window.
 * Raises:      QN400 (detail: the argument), QN409 on an encrypted queue, 40001, 55P03 (retry the transaction).
 * Source:      design 4, design 1 (application on the same database).
 */
CREATE OR REPLACE FUNCTION queen.push_v1(
    p_queue text,
    p_payload json,
    p_partition text DEFAULT 'Default',
    p_transaction_id text DEFAULT NULL,
    p_key text DEFAULT NULL
) RETURNS SETOF queen.pushed_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_lane record;
    r_tail record;
    v_id text;
    v_payload text := p_payload;
BEGIN
    -- The common message is stored by the statements of _push_lane, less what one message without an id does not need. A call of
    -- it would cost more than the statements do, which shows where a transaction is one message.
    IF p_transaction_id IS NULL AND p_key IS NULL AND strpos(v_payload, '\u') = 0 THEN
        SELECT p.id, p.last_offset, p.last_stamp, p.log_start, p.txns_start, p.last_write_at,
               p.settled OR p.oldest_live_at IS NULL OR p.oldest_txn_at IS NULL AS asleep, octet_length(v_payload) AS bytes,
               NOT q.encryption_enabled AND current_setting('transaction_isolation') = 'read committed' AS common
        INTO r_lane
        FROM queen.queues q
        JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = p_partition
        WHERE q.tenant_id = coalesce((
                  SELECT t.tenant_id FROM queen.tenant_roles t WHERE t.role = pg_catalog.to_regrole(pg_catalog.quote_ident(session_user))
              ), '00000000-0000-0000-0000-000000000001')
          AND q.name = p_queue AND q.deleted_at IS NULL
        FOR NO KEY UPDATE OF p;
        IF r_lane.common THEN
            SELECT l.end_offset AS last, l.created_at, l.cum_bytes,
                   greatest(clock_timestamp(), now(), (SELECT m.marked_at FROM queen.clock_marks m ORDER BY m.marked_at DESC LIMIT 1)) AS stamp,
                   (SELECT x.high FROM queen.log_txns x
                    WHERE x.partition_id = r_lane.id AND x.base_offset >= r_lane.txns_start
                    ORDER BY x.base_offset DESC LIMIT 1) AS high
            INTO r_tail
            FROM queen.log_segments l
            WHERE l.partition_id = r_lane.id AND l.base_offset >= r_lane.log_start
            ORDER BY l.base_offset DESC LIMIT 1;
            IF r_tail.last >= r_lane.last_offset AND r_tail.stamp > r_tail.created_at AND r_tail.stamp > r_lane.last_stamp
               AND NOT r_lane.asleep AND r_lane.last_write_at >= r_tail.stamp - interval '1 second' AND r_tail.high IS NOT NULL THEN
                v_id := queen._draw_id_base(r_tail.stamp)::text;
                WITH segment AS (
                    INSERT INTO queen.log_segments (
                        partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads)
                    VALUES (r_lane.id, r_tail.last + 1, r_tail.last + 1, r_tail.stamp, v_id::uuid, 1, r_lane.bytes, r_lane.bytes,
                            r_tail.cum_bytes + r_lane.bytes, ARRAY[v_payload])
                )
                INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high, out_of_order)
                VALUES (r_lane.id, r_tail.last + 1, r_tail.last + 1, r_tail.stamp,
                        ARRAY[hashtextextended(v_id COLLATE "C", queen._id_seed(r_lane.id))],
                        v_id, v_id, greatest(r_tail.high COLLATE "C", v_id), v_id COLLATE "C" <= r_tail.high);
                RETURN NEXT ROW(0, 'queued', v_id, v_id, r_tail.last + 1, p_partition)::queen.pushed_message;
                RETURN;
            END IF;
        END IF;
    END IF;
    RETURN QUERY SELECT * FROM queen.push_many_v1(
        p_queue, ARRAY[p_payload], ARRAY[p_partition],
        CASE WHEN p_transaction_id IS NOT NULL THEN ARRAY[p_transaction_id] END,
        CASE WHEN p_key IS NOT NULL THEN ARRAY[p_key] END);
END $$;
COMMENT ON FUNCTION queen.push_v1(text, json, text, text, text) IS
'Push one message; it commits or rolls back with your transaction. Answers queued, or duplicate with the original''s id and offset.';
REVOKE ALL ON FUNCTION queen.push_v1(text, json, text, text, text) FROM PUBLIC;
