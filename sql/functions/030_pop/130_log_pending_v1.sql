/*
 * Purpose:     which of the given (queue, partition or NULL, group) triples may have something to deliver now, for
 *              parked pops: a cheap superset. First contact answers yes, so that a subscription is made before the data.
 * Locks:       none.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      one pass over the partitions of each queue named.
 * Idempotency: reads only.
 * Raises:      QN400 when the arrays differ in length.
 * Source:      O-51, design 6 (watcher), F045, F049, F051.
 */
CREATE OR REPLACE FUNCTION queen.log_pending_v1(
    p_queues text[],
    p_partitions text[],
    p_consumer_groups text[],
    p_tenant_ids uuid[]
) RETURNS SETOF integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
BEGIN
    IF cardinality(p_partitions) <> cardinality(p_queues) OR cardinality(p_consumer_groups) <> cardinality(p_queues)
       OR cardinality(p_tenant_ids) <> cardinality(p_queues) THEN
        PERFORM queen._raise('QN400', 'the arrays must be equally long', 'p_queues');
    END IF;
    RETURN QUERY
    SELECT (w.ord - 1)::integer
    FROM unnest(p_queues, p_partitions, p_consumer_groups, p_tenant_ids) WITH ORDINALITY w (queue, part, grp, tenant, ord)
    LEFT JOIN queen.queues q ON q.tenant_id = queen._tenant(w.tenant) AND q.name = w.queue AND q.deleted_at IS NULL
    WHERE q.id IS NULL AND w.part IS NULL
       OR EXISTS (
        SELECT
        FROM queen.partition_head h
        LEFT JOIN queen.log_consumers c ON c.partition_id = h.id AND c.consumer_group = w.grp
        WHERE h.queue_id = q.id
          AND (w.part IS NULL OR h.name = w.part)
          AND h.head_offset > greatest(coalesce(c.committed, -1), h.log_start - 1)
          AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
          AND NOT queen._window_is_shut(q.window_buffer, h.head_stamp)
          -- The first segment that is not consumed: no segment spans more than 1000 offsets.
          AND (q.delayed_processing <= 0 OR queen._seconds_ago(q.delayed_processing) >= (
              SELECT s.created_at FROM queen.log_segments s
              WHERE s.partition_id = h.id AND s.base_offset >= greatest(h.log_start, coalesce(c.committed, -1) - 999)
                AND s.end_offset > coalesce(c.committed, -1)
              ORDER BY s.base_offset
              LIMIT 1))
    )
    ORDER BY 1;
END $$;
COMMENT ON FUNCTION queen.log_pending_v1(text[], text[], text[], uuid[]) IS
'Positions of the (queue, partition, group) triples that may have something to deliver; a cheap probe that takes nothing.';
REVOKE ALL ON FUNCTION queen.log_pending_v1(text[], text[], text[], uuid[]) FROM PUBLIC;
