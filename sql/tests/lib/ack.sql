-- Helpers of the ack_*.sql tests, which include this file inside their transaction.
CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
-- p_count messages with ids 0, 1, 2 ... (their offsets), one segment each, or p_size a segment.
CREATE FUNCTION pg_temp.push(p_queue text, p_count integer, p_size integer DEFAULT 1) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_next bigint;
BEGIN
    FOR i IN 1 .. p_count / p_size LOOP
        v_next := coalesce((SELECT h.head_offset + 1 FROM queen.partition_head h WHERE h.id = pg_temp.lane(p_queue)), 0);
        PERFORM queen.log_push_v1(ARRAY[p_queue], '{p}', ARRAY[p_size], ARRAY(SELECT format('{"n": %s}', v_next + k) FROM generate_series(0, p_size - 1) k),
            ARRAY(SELECT (v_next + k)::text FROM generate_series(0, p_size - 1) k));
    END LOOP;
END $$;
-- Take p_batch messages for group g; answers the lease.
CREATE FUNCTION pg_temp.lease(p_queue text, p_batch integer, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT max(r.lease_id) FROM queen.log_pop_v1(p_queue, 'p', p_group, p_batch, p_subscription_mode => 'all') r
$$;
-- Acks of group g; each item is an id and a status (c, f, r, d). Answers the verdict of each: + done, n noop, or the first
-- word of the error; R = lease released, D = dead letter.
CREATE FUNCTION pg_temp.ack(p_queue text, p_lease text, p_items text, p_require boolean DEFAULT false, p_group text DEFAULT 'g') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_items text[] := string_to_array(p_items, ' ');
    v_got text;
BEGIN
    SELECT string_agg(CASE WHEN a.success AND a.error IS NULL THEN CASE WHEN a.noop THEN 'n' ELSE '+' END
                           WHEN NOT a.success AND NOT a.noop THEN split_part(replace(a.error, ':', ''), ' ', 1) ELSE '???' END
                      || CASE WHEN a.lease_released THEN 'R' ELSE '' END || CASE WHEN a.dlq THEN 'D' ELSE '' END, ' ' ORDER BY a.item) INTO v_got
    FROM queen.log_ack_v1(ARRAY[pg_temp.lane(p_queue)], ARRAY[p_group], ARRAY[p_lease], ARRAY[cardinality(v_items)],
        ARRAY(SELECT left(i, -1) FROM unnest(v_items) i),
        ARRAY(SELECT (CASE right(i, 1) WHEN 'c' THEN 'completed' WHEN 'f' THEN 'failed' WHEN 'r' THEN 'retry' WHEN 'd' THEN 'dlq' END) FROM unnest(v_items) i),
        ARRAY(SELECT 'why ' || i FROM unnest(v_items) i), p_require) a;
    RETURN v_got;
END $$;
-- The cursor row: committed, batch_end, lease (L), retries, attempt_offset, attempt_count, total_consumed.
CREATE FUNCTION pg_temp.row(p_queue text, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', c.committed, coalesce(c.batch_end::text, '-'),
        CASE WHEN c.worker_id IS NULL AND c.lease_expires_at IS NULL THEN '-' WHEN c.worker_id IS NOT NULL AND c.lease_expires_at IS NOT NULL THEN 'L' ELSE '?' END,
        c.batch_retry_count, coalesce(c.attempt_offset::text, '-'), c.attempt_count, c.total_consumed)
    FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue) AND c.consumer_group = p_group
$$;
CREATE FUNCTION pg_temp.expire(p_queue text) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_consumers c SET lease_expires_at = now() - interval '1 s' WHERE c.partition_id = pg_temp.lane(p_queue) AND c.worker_id IS NOT NULL
$$;
