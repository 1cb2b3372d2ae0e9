/*
 * Purpose:     note that groups are there, for a server whose pops of theirs are parked: of the queue named, or of every
 *              queue with the labels where the name is NULL. Call it every minute while they wait; a note younger than a
 *              second is left alone.
 * Locks:       rows of group_activity that nobody holds. Never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      a few key probes an element, and a queue of its labels.
 * Idempotency: yes.
 * Raises:      QN400 when the arrays differ in length or are no lists; QN403 for a foreign tenant.
 * Source:      design 5 (groupIdleSeconds: a parked pop counts as activity).
 */
CREATE OR REPLACE FUNCTION queen.log_touch_groups_v1(
    p_queues text[],
    p_namespaces text[],
    p_tasks text[],
    p_consumer_groups text[],
    p_tenant_ids uuid[]
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    IF NOT (queen._is_list(p_queues) AND queen._is_list(p_namespaces) AND queen._is_list(p_tasks) AND queen._is_list(p_consumer_groups)
        AND queen._is_list(p_tenant_ids)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_queues');
    ELSIF cardinality(p_consumer_groups) <> cardinality(p_queues) OR cardinality(p_namespaces) <> cardinality(p_queues)
       OR cardinality(p_tasks) <> cardinality(p_queues) OR cardinality(p_tenant_ids) <> cardinality(p_queues) THEN
        PERFORM queen._raise('QN400', 'the arrays must be equally long', 'p_queues');
    END IF;
    PERFORM queen._touch_group(x.id, x.grp)
    FROM (
        SELECT q.id, w.grp
        FROM unnest(p_queues, p_consumer_groups, p_tenant_ids) w (queue, grp, tenant)
        JOIN queen.queues q ON q.tenant_id = queen._tenant(w.tenant) AND q.name = w.queue AND q.deleted_at IS NULL
        UNION
        SELECT l.id, w.grp
        FROM unnest(p_queues, p_namespaces, p_tasks, p_consumer_groups, p_tenant_ids) w (queue, namespace, task, grp, tenant)
        CROSS JOIN LATERAL queen._labelled(queen._tenant(w.tenant), w.namespace, w.task) l
        WHERE w.queue IS NULL
    ) x;
END $$;
COMMENT ON FUNCTION queen.log_touch_groups_v1(text[], text[], text[], text[], uuid[]) IS
'Note that consumer groups are active on queues, by name or by labels; a server calls it for the pops that wait in it.';
REVOKE ALL ON FUNCTION queen.log_touch_groups_v1(text[], text[], text[], text[], uuid[]) FROM PUBLIC;
