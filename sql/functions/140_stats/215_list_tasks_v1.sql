/*
 * Purpose:     the document of GET /api/v1/resources/tasks: the queues of a tenant by their label.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the queues of the tenant and their partitions, which are counted live; messages are the reconciler's.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      C-31, S-26, http-api 4.6.
 */
CREATE OR REPLACE FUNCTION queen.list_tasks_v1(
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    SELECT json_build_object('tasks', coalesce(json_agg(
        json_build_object(
            'task', l.label,
            'queues', l.queues,
            'partitions', l.partitions,
            'messages', json_build_object('total', l.total, 'pending', l.pending))
        ORDER BY l.label COLLATE "C"), '[]'))
    FROM queen._labels('task', queen._tenant(p_tenant_id)) l
$$;
COMMENT ON FUNCTION queen.list_tasks_v1(uuid) IS
'Every task with its queues, partitions and messages.';
REVOKE ALL ON FUNCTION queen.list_tasks_v1(uuid) FROM PUBLIC;
