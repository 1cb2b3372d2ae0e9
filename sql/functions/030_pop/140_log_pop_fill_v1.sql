/*
 * Purpose:     what a pop would find now, and how long the queue asks it to wait for more (minPopWaitTime).
 * Locks:       none.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      one pass over the partitions of the queue; none when the queue has no such wait.
 * Idempotency: reads only.
 * Raises:      nothing; zeros for an unknown queue.
 * Source:      O-24.
 */
CREATE OR REPLACE FUNCTION queen.log_pop_fill_v1(
    p_queue text,
    p_partition text DEFAULT NULL,
    p_consumer_group text DEFAULT NULL,
    p_max_partitions integer DEFAULT 1,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.pop_fill_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_queue queen.queues;
BEGIN
    SELECT * INTO r_queue FROM queen.queues q
    WHERE q.tenant_id = queen._tenant(p_tenant_id) AND q.name = p_queue AND q.deleted_at IS NULL;
    IF coalesce(r_queue.min_pop_wait_time, 0) <= 0 THEN
        RETURN QUERY SELECT 0, 0::bigint;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r_queue.min_pop_wait_time, coalesce(sum(o.owed), 0)::bigint
    FROM (
        SELECT queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, greatest(coalesce(c.committed, -1), h.log_start - 1)) AS owed
        FROM queen.partition_head h
        LEFT JOIN queen.log_consumers c
               ON c.partition_id = h.id AND c.consumer_group = coalesce(p_consumer_group, '__QUEUE_MODE__')
        WHERE h.queue_id = r_queue.id AND (p_partition IS NULL OR h.name = p_partition)
          AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
        ORDER BY 1 DESC
        LIMIT CASE WHEN p_partition IS NULL AND p_max_partitions > 0 THEN p_max_partitions END
    ) o
    WHERE o.owed > 0;
END $$;
COMMENT ON FUNCTION queen.log_pop_fill_v1(text, text, text, integer, uuid) IS
'How many messages a pop of this group could take now, and the queue''s minPopWaitTime in milliseconds.';
REVOKE ALL ON FUNCTION queen.log_pop_fill_v1(text, text, text, integer, uuid) FROM PUBLIC;
