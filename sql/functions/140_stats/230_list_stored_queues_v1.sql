/*
 * Purpose:     the document of GET /api/v1/status/queues: stored numbers of the queues of a tenant, newest first.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the queues of the tenant; at most 1000 in an answer.
 * Idempotency: reads only.
 * Raises:      QN400 for a negative limit or offset; QN403 when a tenant is named without the right to.
 * Source:      http-api 5.4.
 */
CREATE OR REPLACE FUNCTION queen.list_stored_queues_v1(
    p_queue text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_max_rows integer DEFAULT 100,
    p_skip integer DEFAULT 0,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._check_page(p_max_rows, p_skip);
    RETURN (
        SELECT json_build_object(
            'queues', coalesce(json_agg(json_build_object(
                'id', l.id,
                'name', l.name,
                'namespace', l.namespace,
                'task', l.task,
                'createdAt', queen._utc_ms(l.created_at),
                'partitions', l.child_count,
                'messages', json_build_object(
                    'total', l.total_messages,
                    'pending', l.pending_messages,
                    'processing', l.processing_messages,
                    'completed', l.completed_messages,
                    'deadLetter', l.dead_letter_messages)) ORDER BY l.created_at DESC, l.name), '[]'),
            'pagination', json_build_object('limit', least(p_max_rows, 1000), 'offset', p_skip))
        FROM (
            SELECT q.id, q.name, q.created_at, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task,
                coalesce(s.child_count, 0) AS child_count, coalesce(s.total_messages, 0) AS total_messages,
                coalesce(s.pending_messages, 0) AS pending_messages, coalesce(s.processing_messages, 0) AS processing_messages,
                coalesce(s.completed_messages, 0) AS completed_messages, coalesce(s.dead_letter_messages, 0) AS dead_letter_messages
            FROM queen.queues q
            LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.queue_id = q.id
            WHERE q.tenant_id = v_tenant AND q.deleted_at IS NULL
              AND (p_queue IS NULL OR q.name = p_queue)
              AND (p_namespace IS NULL OR q.namespace = p_namespace)
              AND (p_task IS NULL OR q.task = p_task)
            ORDER BY q.created_at DESC, q.name
            LIMIT least(p_max_rows, 1000) OFFSET p_skip
        ) l);
END $$;
COMMENT ON FUNCTION queen.list_stored_queues_v1(text, text, text, integer, integer, uuid) IS
'Queues with their counts as the reconciler last stored them, newest first, a page at a time.';
REVOKE ALL ON FUNCTION queen.list_stored_queues_v1(text, text, text, integer, integer, uuid) FROM PUBLIC;
