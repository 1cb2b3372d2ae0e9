/*
 * Purpose:     what servers did, by bucket, newest first.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a server and flush.  Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 5.5 of the HTTP API (worker-metrics, timeSeries).
 */
CREATE OR REPLACE FUNCTION queen._worker_series(
    v_from timestamptz,
    v_to timestamptz,
    v_minutes integer,
    p_hostname text,
    p_worker_id integer
) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'timestamp', queen._utc_ms(b.at),
        'pushMessages', b.pushed,
        'popMessages', b.popped,
        'ackMessages', b.acked,
        'pushRequests', b.push_requests,
        'popRequests', b.pop_requests,
        'ackRequests', b.ack_requests,
        'jobsDone', b.jobs,
        'pushPerSecond', round(b.pushed / (60.0 * v_minutes), 3),
        'popPerSecond', round(b.popped / (60.0 * v_minutes), 3),
        'ackPerSecond', round(b.acked / (60.0 * v_minutes), 3),
        'avgEventLoopLagMs', b.avg_late,
        'maxEventLoopLagMs', b.max_late,
        'avgFreeSlots', b.avg_free,
        'minFreeSlots', b.min_free,
        'dbConnections', b.connections,
        'avgJobQueueSize', NULL,
        'maxJobQueueSize', NULL,
        'backoffSize', NULL,
        'avgLagMs', b.avg_lag,
        'maxLagMs', b.max_lag,
        'lagCount', b.lag_count,
        'dbErrors', b.errors,
        'ackSuccess', b.ack_success,
        'ackFailed', b.ack_failed,
        'dlqCount', b.dead) ORDER BY b.at DESC), '[]')
    FROM (
        SELECT queen._bucket(m.bucket_time, v_minutes) AS at, sum(m.push_message_count) AS pushed, sum(m.pop_message_count) AS popped,
            sum(m.ack_message_count) AS acked, sum(m.push_request_count) AS push_requests, sum(m.pop_request_count) AS pop_requests,
            sum(m.ack_request_count) AS ack_requests, sum(m.jobs_done) AS jobs, avg(m.avg_event_loop_lag_ms) AS avg_late,
            max(m.max_event_loop_lag_ms) AS max_late, avg(m.avg_free_slots) AS avg_free, min(m.min_free_slots) AS min_free,
            max(m.db_connections) AS connections, coalesce(sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0), 0) AS avg_lag,
            max(m.max_lag_ms) AS max_lag, sum(m.lag_count) AS lag_count, sum(m.db_error_count) AS errors,
            sum(m.ack_success_count) AS ack_success, sum(m.ack_failed_count) AS ack_failed, sum(m.dlq_count) AS dead
        FROM queen.worker_metrics m
        WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_hostname IS NULL OR m.hostname = p_hostname) AND (p_worker_id IS NULL OR m.worker_id = p_worker_id)
        GROUP BY 1
    ) b
$$;
REVOKE ALL ON FUNCTION queen._worker_series(timestamptz, timestamptz, integer, text, integer) FROM PUBLIC;
COMMENT ON FUNCTION queen._worker_series(timestamptz, timestamptz, integer, text, integer) IS 'What servers did, by bucket, newest first.';
