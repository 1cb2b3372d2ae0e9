/*
 * Purpose:     the document of GET /api/v1/analytics/partition-liveness: how many partitions of queues are alive.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the partitions of the queues that match.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.get_partition_liveness_v1(
    p_queue text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_limit integer DEFAULT 20,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_now timestamptz := statement_timestamp();
BEGIN
    RETURN (
        SELECT json_build_object(
            'capturedAt', queen._utc_ms(v_now),
            'rows', coalesce(json_agg(json_build_object(
                'queue', l.name,
                'namespace', l.namespace,
                'task', l.task,
                'partitions', l.partitions,
                'live1h', l.hour,
                'live24h', l.day,
                'live7d', l.week,
                'created24h', l.created,
                'oldestWriteAt', queen._utc_ms(l.oldest),
                'newestWriteAt', queen._utc_ms(l.newest),
                'pending', l.pending) ORDER BY l.partitions DESC, l.name), '[]'))
        FROM (
            SELECT q.name, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task, count(p.id) AS partitions,
                count(*) FILTER (WHERE p.last_write_at > v_now - interval '1 hour') AS hour,
                count(*) FILTER (WHERE p.last_write_at > v_now - interval '24 hours') AS day,
                count(*) FILTER (WHERE p.last_write_at > v_now - interval '7 days') AS week,
                count(*) FILTER (WHERE p.created_at > v_now - interval '24 hours') AS created,
                min(p.last_write_at) AS oldest, max(p.last_write_at) AS newest,
                coalesce((SELECT s.pending_messages FROM queen.stats s WHERE s.stat_type = 'queue' AND s.stat_key = q.id::text), 0) AS pending
            FROM queen.queues q
            LEFT JOIN queen.log_partitions p ON p.queue_id = q.id
            WHERE q.tenant_id = v_tenant AND q.deleted_at IS NULL
              AND (p_queue IS NULL OR q.name = p_queue)
              AND (p_namespace IS NULL OR coalesce(q.namespace, '') = p_namespace)
              AND (p_task IS NULL OR q.task = p_task)
            GROUP BY q.id
            ORDER BY count(p.id) DESC, q.name
            LIMIT least(greatest(p_limit, 1), 200)
        ) l);
END $$;
COMMENT ON FUNCTION queen.get_partition_liveness_v1(text, text, text, integer, uuid) IS
'How many partitions of each queue were written lately, and how many there are; queues with most partitions first.';
REVOKE ALL ON FUNCTION queen.get_partition_liveness_v1(text, text, text, integer, uuid) FROM PUBLIC;
