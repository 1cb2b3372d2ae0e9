/*
 * Purpose:     the document of GET /api/v1/resources/queues. Its pending counts in what is being processed, as on
 *              every route. With p_cached all of it is as last counted and measured.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      as log_queue_stats_all_v1.
 * Idempotency: yes.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      C-16 to C-19, E-6; design 5 (pending includes processing on every route) over C-18.
 */
CREATE OR REPLACE FUNCTION queen.list_queues_v1(
    p_tenant_id uuid DEFAULT NULL,
    p_cached boolean DEFAULT false
) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    SELECT json_build_object('queues', coalesce(json_agg(
        json_build_object(
            'id', s.id,
            'name', s.name,
            'namespace', s.namespace,
            'task', s.task,
            'createdAt', queen._utc_ms(s.created_at),
            'partitions', s.partitions,
            'retainedBytes', s.retained_bytes,
            'segments', json_build_object('segments', s.segments, 'messages', s.messages),
            'messages', json_build_object(
                'total', s.total,
                'pending', s.pending,
                'processing', s.processing))
        ORDER BY s.created_at DESC, s.name), '[]'))
    FROM queen.log_queue_stats_all_v1(p_tenant_id, p_cached) s
$$;
COMMENT ON FUNCTION queen.list_queues_v1(uuid, boolean) IS
'All queues, newest first, each with its counts, as one JSON document.';
REVOKE ALL ON FUNCTION queen.list_queues_v1(uuid, boolean) FROM PUBLIC;
