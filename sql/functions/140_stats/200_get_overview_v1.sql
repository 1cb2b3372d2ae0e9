/*
 * Purpose:     the document of GET /api/v1/resources/overview. The default tenant sees the whole cluster and lifetime
 *              totals; another tenant what it keeps itself. pending counts in what is being processed, as on every route.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      the queues of the tenant, and their counters of the last five minutes.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      C-30, S-42 to S-44, http-api 4.6, design 5 (pending) over C-18.
 */
CREATE OR REPLACE FUNCTION queen.get_overview_v1(
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    WITH who AS MATERIALIZED (
        SELECT t.id, t.id = '00000000-0000-0000-0000-000000000001' AS whole
        FROM (SELECT queen._tenant(p_tenant_id) AS id) t
    ),
    live AS (
        SELECT q.id, q.namespace, q.task
        FROM queen.queues q
        CROSS JOIN who w
        WHERE q.deleted_at IS NULL AND (w.whole OR q.tenant_id = w.id)
    ),
    counted AS (
        SELECT count(*) AS queues, count(DISTINCT nullif(l.namespace, '')) AS namespaces, count(DISTINCT nullif(l.task, '')) AS tasks
        FROM live l
    ),
    stored AS (
        SELECT s.*
        FROM who w
        LEFT JOIN queen.stats s ON CASE WHEN w.whole
            THEN s.stat_type = 'system'
            ELSE s.stat_type = 'tenant' AND s.tenant_id = w.id END
    ),
    ever AS (
        -- What the servers counted; at least what is there, which SQL callers may have brought about.
        SELECT
            greatest(m.total_push_messages, s.total_messages) AS total,
            greatest(m.total_ack_success, s.completed_messages) AS completed,
            coalesce(m.total_ack_failed, 0) AS failed,
            greatest(m.total_dlq, s.dead_letter_messages) AS dead
        FROM stored s
        CROSS JOIN who w
        LEFT JOIN queen._totals() m ON w.whole
    ),
    recent AS (
        SELECT
            sum(m.push_message_count) AS pushed,
            sum(m.ack_success_count) AS acked,
            sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0) / 1000 AS avg,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY m.avg_lag_ms) FILTER (WHERE m.lag_count > 0) / 1000 AS median,
            max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0) / 1000.0 AS max
        FROM queen.queue_lag_metrics m
        JOIN live l ON l.id = m.queue_id
        WHERE m.bucket_time > clock_timestamp() - interval '5 minutes'
    )
    SELECT json_build_object(
        'queues', c.queues,
        'partitions', coalesce(s.child_count, 0),
        'namespaces', c.namespaces,
        'tasks', c.tasks,
        'messages', json_build_object(
            'total', coalesce(e.total, 0),
            'pending', coalesce(s.pending_messages, 0),
            'processing', coalesce(s.processing_messages, 0),
            'completed', coalesce(e.completed, 0),
            'failed', e.failed,
            'deadLetter', coalesce(e.dead, 0)),
        'lag', json_build_object(
            'time', json_build_object(
                'avg', round(coalesce(r.avg, s.avg_lag_seconds, 0)::numeric, 3),
                'median', round(coalesce(r.median, s.median_lag_seconds, 0)::numeric, 3),
                'min', 0,
                'max', round(coalesce(r.max, s.max_lag_seconds, 0)::numeric, 3)),
            'offset', json_build_object(
                'avg', coalesce(s.avg_offset_lag, 0),
                'median', 0,
                'min', 0,
                'max', coalesce(s.max_offset_lag, 0))),
        'throughput', json_build_object(
            'ingestedPerSecond', round(coalesce(r.pushed, 0) / 300.0, 2),
            'processedPerSecond', round(coalesce(r.acked, 0) / 300.0, 2)),
        'timestamp', queen._utc_ms(clock_timestamp()),
        'statsAge', queen._stats_age(s.last_computed_at))
    FROM counted c
    CROSS JOIN stored s
    CROSS JOIN ever e
    CROSS JOIN recent r
$$;
COMMENT ON FUNCTION queen.get_overview_v1(uuid) IS
'Queues, messages, lag and throughput in one document. The default tenant sees all tenants, with totals since the beginning.';
REVOKE ALL ON FUNCTION queen.get_overview_v1(uuid) FROM PUBLIC;

-- Whole seconds since the reconciler produced the numbers; -1 when it never did (S-43).
CREATE OR REPLACE FUNCTION queen._stats_age(p_at timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN p_at IS NULL THEN -1 ELSE floor(greatest(extract(epoch FROM clock_timestamp() - queen._shown_time(p_at)), 0)) END::bigint
$$;
REVOKE ALL ON FUNCTION queen._stats_age(timestamptz) FROM PUBLIC;
