/*
 * Purpose:     which of the given (queue, partition or NULL, group) triples may have something to deliver now, for
 *              parked pops: a cheap superset. A queue that is missing has nothing: a repeated pop makes none (F143).
 * Locks:       none.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      the partitions held for each group, and those written since its floor, until one is found.
 * Idempotency: reads only.
 * Raises:      QN400 when the arrays differ in length or are no lists.
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
SET jit = off
AS $$
BEGIN
    IF NOT (queen._is_list(p_queues) AND queen._is_list(p_partitions) AND queen._is_list(p_consumer_groups) AND queen._is_list(p_tenant_ids)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_queues');
    ELSIF cardinality(p_partitions) <> cardinality(p_queues) OR cardinality(p_consumer_groups) <> cardinality(p_queues)
       OR cardinality(p_tenant_ids) <> cardinality(p_queues) THEN
        PERFORM queen._raise('QN400', 'the arrays must be equally long', 'p_queues');
    END IF;
    RETURN QUERY
    SELECT (w.ord - 1)::integer
    FROM unnest(p_queues, p_partitions, p_consumer_groups, p_tenant_ids) WITH ORDINALITY w (queue, part, grp, tenant, ord)
    LEFT JOIN queen.queues q ON q.tenant_id = queen._tenant(w.tenant) AND q.name = w.queue AND q.deleted_at IS NULL
    WHERE w.part IS NOT NULL AND EXISTS (
        SELECT FROM queen._standing(w.grp) s
        WHERE s.queue_id = q.id AND s.name = w.part AND s.owed AND coalesce(s.leased_until <= clock_timestamp(), true)
          AND s.head_offset >= s.log_start AND queen._is_due(q.window_buffer, q.delayed_processing, s.id, s.log_start, s.committed))
       OR w.part IS NULL AND EXISTS (
        SELECT FROM queen._standing(w.grp) s
        WHERE s.queue_id = q.id AND s.owed AND coalesce(s.leased_until <= clock_timestamp(), true)
          AND (s.last_write_at, s.id) > (
              queen._floor_bound((SELECT m.last_empty_scan_at FROM queen.consumer_watermarks m WHERE m.queue_id = q.id AND m.consumer_group = w.grp)),
              coalesce((SELECT m.last_empty_scan_id FROM queen.consumer_watermarks m WHERE m.queue_id = q.id AND m.consumer_group = w.grp),
                  '00000000-0000-0000-0000-000000000000'))
          AND s.head_offset >= s.log_start AND queen._is_due(q.window_buffer, q.delayed_processing, s.id, s.log_start, s.committed))
       OR w.part IS NULL AND EXISTS (
        SELECT FROM queen.consumer_watermarks m
        CROSS JOIN LATERAL unnest(m.held) u (id)
        JOIN queen._standing(w.grp) s ON s.id = u.id
        WHERE m.queue_id = q.id AND m.consumer_group = w.grp AND s.owed AND coalesce(s.leased_until <= clock_timestamp(), true)
          AND s.head_offset >= s.log_start AND queen._is_due(q.window_buffer, q.delayed_processing, s.id, s.log_start, s.committed))
    ORDER BY 1;
END $$;
COMMENT ON FUNCTION queen.log_pending_v1(text[], text[], text[], uuid[]) IS
'Positions of the (queue, partition, group) triples that may have something to deliver; a cheap probe that takes nothing.';
REVOKE ALL ON FUNCTION queen.log_pending_v1(text[], text[], text[], uuid[]) FROM PUBLIC;
