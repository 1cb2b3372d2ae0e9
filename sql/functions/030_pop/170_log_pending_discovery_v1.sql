/*
 * Purpose:     which of the given (namespace, task, group) triples may have something to deliver now, for parked pops: a cheap
 *              superset. A queue on which a named group is not registered answers yes, even an empty one, so that the
 *              subscription is made before the data.
 * Locks:       none.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      as log_pending_v1 for every queue with such labels.
 * Idempotency: reads only.
 * Raises:      QN400 when the arrays differ in length or are no lists.
 * Source:      O-51.
 */
CREATE OR REPLACE FUNCTION queen.log_pending_discovery_v1(
    p_namespaces text[],
    p_tasks text[],
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
DECLARE
    v_items integer[];
    v_queues text[];
    v_groups text[];
    v_tenants uuid[];
BEGIN
    IF NOT (queen._is_list(p_namespaces) AND queen._is_list(p_tasks) AND queen._is_list(p_consumer_groups) AND queen._is_list(p_tenant_ids)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_namespaces');
    ELSIF cardinality(p_tasks) <> cardinality(p_namespaces) OR cardinality(p_consumer_groups) <> cardinality(p_namespaces)
       OR cardinality(p_tenant_ids) <> cardinality(p_namespaces) THEN
        PERFORM queen._raise('QN400', 'the arrays must be equally long', 'p_namespaces');
    END IF;
    SELECT coalesce(array_agg((w.ord - 1)::integer ORDER BY w.ord, q.id), '{}'), coalesce(array_agg(q.name ORDER BY w.ord, q.id), '{}'),
           coalesce(array_agg(w.grp ORDER BY w.ord, q.id), '{}'), coalesce(array_agg(w.tenant ORDER BY w.ord, q.id), '{}')
    INTO v_items, v_queues, v_groups, v_tenants
    FROM unnest(p_namespaces, p_tasks, p_consumer_groups, p_tenant_ids) WITH ORDINALITY w (namespace, task, grp, tenant, ord)
    CROSS JOIN LATERAL queen._labelled(queen._tenant(w.tenant), w.namespace, w.task) q;
    RETURN QUERY
    SELECT v_items[p.item + 1]
    FROM queen.log_pending_v1(v_queues, array_fill(NULL::text, ARRAY[cardinality(v_queues)]), v_groups, v_tenants) p (item)
    UNION
    SELECT u.item
    FROM unnest(v_items, v_queues, v_groups, v_tenants) u (item, queue, grp, tenant)
    JOIN queen.queues q ON q.tenant_id = queen._tenant(u.tenant) AND q.name = u.queue AND q.deleted_at IS NULL
    WHERE u.grp COLLATE "C" <> '__QUEUE_MODE__' AND NOT EXISTS (
        SELECT FROM queen.consumer_groups_metadata m
        WHERE m.tenant_id = q.tenant_id AND m.consumer_group = u.grp AND m.queue_id = q.id
          AND m.partition_name = '' AND m.namespace = '' AND m.task = '')
    ORDER BY 1;
END $$;
COMMENT ON FUNCTION queen.log_pending_discovery_v1(text[], text[], text[], uuid[]) IS
'Positions of the (namespace, task, group) triples that may have something to deliver; a cheap probe that takes nothing.';
REVOKE ALL ON FUNCTION queen.log_pending_discovery_v1(text[], text[], text[], uuid[]) FROM PUBLIC;
