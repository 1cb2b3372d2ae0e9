/*
 * Purpose:     the document of GET /api/v1/analytics/queue-parked-replicas: parked pops of queues by server and bucket.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a queue, minute and server.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API; S-36.
 */
CREATE OR REPLACE FUNCTION queen.get_queue_parked_replicas_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_to timestamptz := coalesce(p_to, statement_timestamp());
    v_from timestamptz := coalesce(p_from, least(statement_timestamp(), v_to) - interval '1 hour');
    v_minutes integer := queen._bucket_minutes(v_from, v_to);
BEGIN
    RETURN (
        WITH bucket AS (
            SELECT queen._bucket(m.bucket_time, v_minutes) AS at, q.name, m.hostname, m.worker_id, sum(m.parked_count) / v_minutes AS parked
            FROM queen.queue_parked_replica m
            JOIN queen.queues q ON q.id = m.queue_id AND q.tenant_id = v_tenant AND q.deleted_at IS NULL
            WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_queue IS NULL OR q.name = p_queue)
            GROUP BY 1, 2, 3, 4
        )
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
            'series', coalesce(json_agg(json_build_object(
                'bucket', queen._utc_ms(b.at),
                'queueName', b.name,
                'hostname', b.hostname,
                'workerId', b.worker_id,
                'parkedCount', b.parked) ORDER BY b.at, b.name, b.hostname, b.worker_id), '[]'),
            'replicas', coalesce((
                SELECT json_agg(json_build_object('hostname', r.hostname, 'workerId', r.worker_id) ORDER BY r.hostname, r.worker_id)
                FROM (SELECT DISTINCT n.hostname, n.worker_id FROM bucket n) r), '[]'))
        FROM bucket b);
END $$;
COMMENT ON FUNCTION queen.get_queue_parked_replicas_v1(timestamptz, timestamptz, text, uuid) IS
'How many pops were parked on queues, on the average, by server and bucket of time.';
REVOKE ALL ON FUNCTION queen.get_queue_parked_replicas_v1(timestamptz, timestamptz, text, uuid) FROM PUBLIC;
