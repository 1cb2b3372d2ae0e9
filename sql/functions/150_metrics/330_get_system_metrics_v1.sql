/*
 * Purpose:     the document of GET /api/v1/analytics/system-metrics: processor, memory and pool of each server process, by bucket.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the samples of the range, one a server and flush.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      spec 5.5 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.get_system_metrics_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_hostname text DEFAULT NULL,
    p_worker_id integer DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_to timestamptz := coalesce(p_to, statement_timestamp());
    v_from timestamptz := coalesce(p_from, least(statement_timestamp(), v_to) - interval '1 hour');
    v_minutes integer := queen._bucket_minutes(v_from, v_to);
BEGIN
    PERFORM queen._require_whole_server();
    RETURN (
        WITH bucket AS (
            SELECT m.hostname, m.port, m.worker_id, queen._bucket(m.timestamp, v_minutes) AS at, sum(m.sample_count) AS samples,
                json_build_object(
                    'cpu', json_build_object('user_us', queen._merged_leaf(array_agg(m.metrics #> '{cpu,user_us}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp)),
                        'system_us', queen._merged_leaf(array_agg(m.metrics #> '{cpu,system_us}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp))),
                    'memory', json_build_object('rss_bytes', queen._merged_leaf(array_agg(m.metrics #> '{memory,rss_bytes}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp))),
                    'database', json_build_object('pool_size', queen._merged_leaf(array_agg(m.metrics #> '{database,pool_size}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp)),
                        'pool_idle', queen._merged_leaf(array_agg(m.metrics #> '{database,pool_idle}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp)),
                        'pool_active', queen._merged_leaf(array_agg(m.metrics #> '{database,pool_active}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp))),
                    'threadpool', NULL,
                    'uptime_seconds', queen._merged_leaf(array_agg(m.metrics #> '{uptime_seconds}' ORDER BY m.timestamp), array_agg(m.sample_count ORDER BY m.timestamp)),
                    'shared_state', json_build_object('enabled', false)) AS metrics
            FROM queen.system_metrics m
            WHERE m.timestamp >= v_from AND m.timestamp <= v_to AND (p_hostname IS NULL OR m.hostname = p_hostname) AND (p_worker_id IS NULL OR m.worker_id = p_worker_id)
            GROUP BY 1, 2, 3, 4
        ), replica AS (
            SELECT b.hostname, b.port, b.worker_id, json_agg(json_build_object(
                'timestamp', queen._utc_ms(b.at), 'sampleCount', b.samples, 'metrics', b.metrics) ORDER BY b.at) AS points
            FROM bucket b
            GROUP BY 1, 2, 3
        )
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
            'pointCount', (SELECT count(DISTINCT b.at) FROM bucket b),
            'replicaCount', count(*),
            'replicas', coalesce(json_agg(json_build_object(
                'hostname', r.hostname,
                'port', r.port,
                'workerId', r.worker_id,
                'timeSeries', r.points) ORDER BY r.hostname, r.port, r.worker_id), '[]'))
        FROM replica r);
END $$;
COMMENT ON FUNCTION queen.get_system_metrics_v1(timestamptz, timestamptz, text, integer) IS
'Processor, memory and pool of each server process by bucket of time: avg, min, max and last of looks once a second.';
REVOKE ALL ON FUNCTION queen.get_system_metrics_v1(timestamptz, timestamptz, text, integer) FROM PUBLIC;
