/*
 * Purpose:     the document of GET /api/v1/analytics/queue-lag: deliveries and the ages of messages at delivery, by queue and bucket.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a queue and minute.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API; S-40 (NULL where nothing was delivered).
 */
CREATE OR REPLACE FUNCTION queen.get_queue_lag_v1(
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
        SELECT coalesce(json_agg(json_build_object(
            'queueName', b.name,
            'popCount', b.pops,
            'avgLagMs', b.avg_lag,
            'maxLagMs', b.max_lag,
            'bucketMinutes', v_minutes,
            'bucketTime', queen._utc_ms(b.at)) ORDER BY b.at DESC, b.name), '[]')
        FROM (
            SELECT queen._bucket(m.bucket_time, v_minutes) AS at, q.name, sum(m.pop_count) AS pops,
                sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0) AS avg_lag,
                max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0) AS max_lag
            FROM queen.queue_lag_metrics m
            JOIN queen.queues q ON q.id = m.queue_id AND q.tenant_id = v_tenant AND q.deleted_at IS NULL
            WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_queue IS NULL OR q.name = p_queue)
            GROUP BY 1, 2
        ) b);
END $$;
COMMENT ON FUNCTION queen.get_queue_lag_v1(timestamptz, timestamptz, text, uuid) IS
'How old messages were when they were delivered, by queue, over the last hour or a range; null where none was.';
REVOKE ALL ON FUNCTION queen.get_queue_lag_v1(timestamptz, timestamptz, text, uuid) FROM PUBLIC;
