/*
 * Purpose:     the points of the throughput series of GET /api/v1/status, newest first: what the servers counted in each
 *              bucket, or with a filter what they counted on the queues that match. Buckets without a flush are left out.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the flushes of the range, and its minutes of the queues that match.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      http-api 5.2 and 5.3, S-40.
 */
CREATE OR REPLACE FUNCTION queen._status_points(
    p_from timestamptz,
    p_to timestamptz,
    p_queue_ids uuid[]
) RETURNS json
LANGUAGE sql STABLE AS $$
    WITH wide AS (
        SELECT queen._bucket_minutes(p_from, p_to) AS minutes
    ),
    work AS (
        SELECT
            queen._bucket(w.bucket_time, b.minutes) AS at,
            sum(w.push_message_count) AS pushed, sum(w.ack_success_count) AS acked, sum(w.pop_message_count) AS popped,
            sum(w.avg_lag_ms * w.lag_count) / nullif(sum(w.lag_count), 0) AS lag,
            max(w.max_lag_ms) FILTER (WHERE w.lag_count > 0) AS max_lag,
            avg(w.avg_event_loop_lag_ms) AS loop_lag, max(w.max_event_loop_lag_ms) AS max_loop_lag, min(w.min_free_slots) AS free_slots,
            sum(w.db_error_count) AS db_errors, sum(w.ack_failed_count) AS ack_failed, sum(w.dlq_count) AS dead
        FROM wide b
        JOIN queen.worker_metrics w ON w.bucket_time >= queen._bucket(p_from, b.minutes) AND w.bucket_time <= p_to
        GROUP BY 1
    ),
    machine AS (
        SELECT
            queen._bucket(m."timestamp", b.minutes) AS at,
            avg((m.metrics #>> '{cpu,user_us,avg}')::double precision) / 100 AS cpu_user,
            avg((m.metrics #>> '{cpu,system_us,avg}')::double precision) / 100 AS cpu_sys,
            avg((m.metrics #>> '{memory,rss_bytes,avg}')::double precision) / 1048576 AS rss,
            avg((m.metrics #>> '{database,pool_active,avg}')::double precision) AS active,
            avg((m.metrics #>> '{database,pool_idle,avg}')::double precision) AS idle,
            avg((m.metrics #>> '{database,pool_size,avg}')::double precision) AS size
        FROM wide b
        JOIN queen.system_metrics m ON m."timestamp" >= queen._bucket(p_from, b.minutes) AND m."timestamp" <= p_to
        GROUP BY 1
    ),
    picked AS (
        SELECT
            queen._bucket(m.bucket_time, b.minutes) AS at,
            sum(m.push_message_count) AS pushed, sum(m.ack_success_count) AS acked, sum(m.pop_count) AS popped,
            sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0) AS lag,
            max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0) AS max_lag,
            sum(m.ack_failed_count) AS ack_failed
        FROM wide b
        JOIN queen.queue_lag_metrics m ON m.bucket_time >= queen._bucket(p_from, b.minutes) AND m.bucket_time <= p_to
        WHERE m.queue_id = ANY (p_queue_ids)
        GROUP BY 1
    ),
    point AS (
        SELECT
            at, b.minutes * 60.0 AS seconds, w.loop_lag, w.max_loop_lag, w.free_slots, w.db_errors, w.dead, m.*,
            CASE WHEN p_queue_ids IS NULL THEN w.pushed ELSE p.pushed END AS pushed,
            CASE WHEN p_queue_ids IS NULL THEN w.acked ELSE p.acked END AS acked,
            CASE WHEN p_queue_ids IS NULL THEN w.popped ELSE p.popped END AS popped,
            CASE WHEN p_queue_ids IS NULL THEN w.lag ELSE p.lag END AS lag,
            CASE WHEN p_queue_ids IS NULL THEN w.max_lag ELSE p.max_lag END AS max_lag,
            CASE WHEN p_queue_ids IS NULL THEN w.ack_failed ELSE p.ack_failed END AS ack_failed
        FROM wide b
        CROSS JOIN (SELECT at FROM work UNION SELECT at FROM picked) t (at)
        LEFT JOIN work w USING (at)
        LEFT JOIN picked p USING (at)
        LEFT JOIN (SELECT m.at AS machine_at, m.cpu_user, m.cpu_sys, m.rss, m.active, m.idle, m.size FROM machine m) m ON m.machine_at = at
    )
    SELECT coalesce(json_agg(json_build_object(
        'timestamp', queen._utc_ms(p.at),
        'ingested', coalesce(p.pushed, 0),
        'processed', coalesce(p.acked, 0),
        'popMessages', coalesce(p.popped, 0),
        'ingestedPerSecond', round(coalesce(p.pushed, 0) / p.seconds, 2),
        'processedPerSecond', round(coalesce(p.acked, 0) / p.seconds, 2),
        'popPerSecond', round(coalesce(p.popped, 0) / p.seconds, 2),
        'avgLagMs', round(p.lag::numeric, 2),
        'maxLagMs', p.max_lag,
        'avgEventLoopLagMs', round(coalesce(p.loop_lag, 0)::numeric, 2),
        'maxEventLoopLagMs', coalesce(p.max_loop_lag, 0),
        'minFreeSlots', coalesce(p.free_slots, 0),
        'dbErrors', coalesce(p.db_errors, 0),
        'ackFailed', coalesce(p.ack_failed, 0),
        'dlqCount', coalesce(p.dead, 0),
        'queenCpuUserPct', round(coalesce(p.cpu_user, 0)::numeric, 2),
        'queenCpuSysPct', round(coalesce(p.cpu_sys, 0)::numeric, 2),
        'queenRssMb', round(coalesce(p.rss, 0)::numeric, 2),
        'dbPoolActive', round(coalesce(p.active, 0)::numeric, 2),
        'dbPoolIdle', round(coalesce(p.idle, 0)::numeric, 2),
        'dbPoolSize', round(coalesce(p.size, 0)::numeric, 2)) ORDER BY p.at DESC), '[]')
    FROM point p
$$;
REVOKE ALL ON FUNCTION queen._status_points(timestamptz, timestamptz, uuid[]) FROM PUBLIC;

-- What was dead-lettered since the beginning and lies there now, with the five commonest reasons.
CREATE OR REPLACE FUNCTION queen._status_letters() RETURNS json
LANGUAGE sql STABLE AS $$
    WITH letter AS MATERIALIZED (
        SELECT d.partition_id, coalesce(d.error, '') AS error
        FROM queen.log_dlq d
        JOIN queen.log_partitions p ON p.id = d.partition_id
        JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
    )
    SELECT json_build_object(
        'totalMessages', greatest((SELECT m.total_dlq FROM queen._totals() m), count(*)),
        'currentMessages', count(*),
        'affectedPartitions', count(DISTINCT d.partition_id),
        'topErrors', (
            SELECT coalesce(json_agg(json_build_object('error', e.error, 'count', e.letters) ORDER BY e.letters DESC, e.error), '[]')
            FROM (
                SELECT x.error, count(*) AS letters
                FROM letter x
                GROUP BY x.error
                ORDER BY letters DESC, x.error
                LIMIT 5
            ) e))
    FROM letter d
$$;
REVOKE ALL ON FUNCTION queen._status_letters() FROM PUBLIC;

-- Servers that flushed their counters in the last two minutes.
CREATE OR REPLACE FUNCTION queen._status_workers() RETURNS json
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'hostname', s.hostname,
        'workerId', s.worker_id,
        'avgEventLoopLagMs', round(s.loop_lag::numeric, 2),
        'maxEventLoopLagMs', s.max_loop_lag,
        'freeSlots', s.free_slots,
        'dbConnections', s.connections,
        'jobQueueSize', NULL,
        'messagesProcessed', s.messages) ORDER BY s.hostname, s.worker_id), '[]')
    FROM (
        SELECT
            w.hostname, w.worker_id, avg(w.avg_event_loop_lag_ms) AS loop_lag, max(w.max_event_loop_lag_ms) AS max_loop_lag,
            min(w.min_free_slots) AS free_slots, max(w.db_connections) AS connections,
            sum(w.push_message_count + w.pop_message_count + w.ack_message_count) AS messages
        FROM queen.worker_metrics w
        WHERE w.flushed_at > clock_timestamp() - interval '2 minutes' AND w.bucket_time > clock_timestamp() - interval '4 minutes'
        GROUP BY w.hostname, w.worker_id
    ) s
$$;
REVOKE ALL ON FUNCTION queen._status_workers() FROM PUBLIC;
