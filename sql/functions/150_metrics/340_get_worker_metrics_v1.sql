/*
 * Purpose:     the document of GET /api/v1/analytics/worker-metrics: what servers did, by bucket; the servers of the last five minutes; delivery lag by queue; lifetime totals.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a server and flush, and one a queue and minute.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      spec 5.5 of the HTTP API; S-35, S-40.
 */
CREATE OR REPLACE FUNCTION queen.get_worker_metrics_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_queue text DEFAULT NULL,
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
    RETURN json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
        'pointCount', (SELECT count(DISTINCT queen._bucket(m.bucket_time, v_minutes)) FROM queen.worker_metrics m WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_hostname IS NULL OR m.hostname = p_hostname) AND (p_worker_id IS NULL OR m.worker_id = p_worker_id)),
        'timeSeries', queen._worker_series(v_from, v_to, v_minutes, p_hostname, p_worker_id),
        'workers', (
            SELECT coalesce(json_agg(json_build_object(
                'hostname', w.hostname,
                'workerId', w.worker_id,
                'avgEventLoopLagMs', w.avg_late,
                'maxEventLoopLagMs', w.max_late,
                'freeSlots', w.free,
                'dbConnections', w.connections,
                'jobQueueSize', NULL,
                'backoffSize', NULL,
                'messagesProcessed', w.messages,
                'lastSeen', queen._utc_ms(w.seen)) ORDER BY w.hostname, w.worker_id, w.pid), '[]')
            FROM (
                SELECT m.hostname, m.worker_id, m.pid, avg(m.avg_event_loop_lag_ms) AS avg_late, max(m.max_event_loop_lag_ms) AS max_late,
                    round(avg(m.avg_free_slots))::bigint AS free, (array_agg(m.db_connections ORDER BY m.flushed_at DESC))[1] AS connections,
                    sum(m.push_message_count + m.pop_message_count + m.ack_message_count) AS messages, max(m.flushed_at) AS seen
                FROM queen.worker_metrics m
                WHERE m.bucket_time >= statement_timestamp() - interval '5 minutes' AND (p_hostname IS NULL OR m.hostname = p_hostname) AND (p_worker_id IS NULL OR m.worker_id = p_worker_id)
                GROUP BY 1, 2, 3
            ) w),
        'queues', (
            SELECT coalesce(json_agg(json_build_object(
                'queueName', l.name,
                'popCount', l.pops,
                'avgLagMs', l.avg_lag,
                'maxLagMs', l.max_lag) ORDER BY l.pops DESC, l.name), '[]')
            FROM (
                SELECT q.name, sum(m.pop_count) AS pops, coalesce(sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0), 0) AS avg_lag,
                    max(m.max_lag_ms) AS max_lag
                FROM queen.queue_lag_metrics m
                JOIN queen.queues q ON q.id = m.queue_id AND q.deleted_at IS NULL
                WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_queue IS NULL OR q.name = p_queue)
                GROUP BY q.name
                HAVING sum(m.pop_count) > 0
            ) l),
        'summary', (
            SELECT json_build_object(
                'totalPushMessages', s.total_push_messages,
                'totalPopMessages', s.total_pop_messages,
                'totalAckMessages', s.total_ack_messages,
                'totalPushRequests', s.total_push_requests,
                'totalPopRequests', s.total_pop_requests,
                'totalAckRequests', s.total_ack_requests,
                'totalDbErrors', s.total_db_errors,
                'totalAckFailed', s.total_ack_failed,
                'totalDlq', s.total_dlq,
                'pendingMessages', (SELECT coalesce(sum(t.pending_messages), 0) FROM queen.stats t WHERE t.stat_type = 'queue'))
            FROM queen._totals() s));
END $$;
COMMENT ON FUNCTION queen.get_worker_metrics_v1(timestamptz, timestamptz, text, text, integer) IS
'What the servers did by bucket of time, which servers there are, and the lifetime totals.';
REVOKE ALL ON FUNCTION queen.get_worker_metrics_v1(timestamptz, timestamptz, text, text, integer) FROM PUBLIC;
