/*
 * Purpose:     the document of GET /api/v1/status, over all tenants: throughput by time, queues, messages, leases, dead
 *              letters, servers. A filter by queue or label selects queues and switches the throughput to their counters.
 * Locks:       none.
 * Isolation:   any; STABLE parts read one snapshot each.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      the flushes of the range, all cursors and all dead letters.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      http-api 5.2 and 5.3, S-40, S-43; design 5 (pending includes processing).
 */
CREATE OR REPLACE FUNCTION queen.get_status_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_queue text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_to timestamptz := coalesce(p_to, v_now);
    v_from timestamptz := coalesce(p_from, v_now - interval '1 hour');
    v_ids uuid[];
    v_points json;
BEGIN
    PERFORM queen._require_whole_server();
    IF num_nonnulls(p_queue, p_namespace, p_task) > 0 THEN
        v_ids := ARRAY(
            SELECT q.id FROM queen.queues q
            WHERE q.deleted_at IS NULL
              AND (p_queue IS NULL OR q.name = p_queue)
              AND (p_namespace IS NULL OR q.namespace = p_namespace)
              AND (p_task IS NULL OR q.task = p_task));
    END IF;
    v_points := queen._status_points(v_from, v_to, v_ids);
    RETURN (
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', queen._bucket_minutes(v_from, v_to),
            'pointCount', json_array_length(v_points),
            'throughput', v_points,
            'queues', queen._status_queues(v_ids),
            'messages', json_build_object(
                'total', greatest(m.total_push_messages, s.total_messages),
                'pending', coalesce(s.pending_messages, 0),
                'processing', coalesce(s.processing_messages, 0),
                'completed', greatest(m.total_ack_success, s.completed_messages),
                'failed', m.total_ack_failed,
                'deadLetter', greatest(m.total_dlq, s.dead_letter_messages),
                'requests', json_build_object('push', m.total_push_requests, 'pop', m.total_pop_requests, 'ack', m.total_ack_requests),
                'batchEfficiency', json_build_object(
                    'push', round(m.total_push_messages::numeric / greatest(m.total_push_requests, 1), 2),
                    'pop', round(m.total_pop_messages::numeric / greatest(m.total_pop_requests, 1), 2),
                    'ack', round(m.total_ack_messages::numeric / greatest(m.total_ack_requests, 1), 2))),
            'leases', (
                SELECT json_build_object(
                    'active', count(*),
                    'partitionsWithLeases', count(DISTINCT c.partition_id),
                    'totalBatchSize', coalesce(sum(greatest(c.batch_end - greatest(c.committed, p.log_start - 1), 0)), 0),
                    'totalAcked', 0)
                FROM queen.log_consumers c
                JOIN queen.log_partitions p ON p.id = c.partition_id
                JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
                WHERE c.lease_expires_at > v_now),
            'deadLetterQueue', queen._status_letters(),
            'workers', queen._status_workers(),
            'errors', (
                SELECT json_build_object(
                    'dbErrors', coalesce(sum(w.db_error_count), 0),
                    'ackFailed', coalesce(sum(w.ack_failed_count), 0),
                    'dlqMessages', coalesce(sum(w.dlq_count), 0))
                FROM queen.worker_metrics w
                WHERE w.bucket_time >= queen._bucket(v_from, 1) AND w.bucket_time <= v_to),
            'statsAge', queen._stats_age(s.last_computed_at))
        FROM queen._totals() m
        LEFT JOIN queen.stats s ON s.stat_type = 'system' AND s.stat_key = 'global');
END $$;
COMMENT ON FUNCTION queen.get_status_v1(timestamptz, timestamptz, text, text, text) IS
'What all servers did in a range of time, the last hour by default, and how queues, leases and dead letters stand.';
REVOKE ALL ON FUNCTION queen.get_status_v1(timestamptz, timestamptz, text, text, text) FROM PUBLIC;

-- Queues that keep something, as last counted, with what all groups together have consumed.
CREATE OR REPLACE FUNCTION queen._status_queues(p_queue_ids uuid[]) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'id', q.id,
        'name', q.name,
        'namespace', coalesce(q.namespace, ''),
        'task', coalesce(q.task, ''),
        'partitions', s.child_count,
        'totalConsumed', coalesce(c.consumed, 0)) ORDER BY q.created_at DESC, q.name), '[]')
    FROM queen.stats s
    JOIN queen.queues q ON q.id = s.queue_id AND q.deleted_at IS NULL
    LEFT JOIN (
        SELECT p.queue_id, sum(k.total_consumed) AS consumed
        FROM queen.log_partitions p
        JOIN queen.log_consumers k ON k.partition_id = p.id
        GROUP BY p.queue_id
    ) c ON c.queue_id = q.id
    WHERE s.stat_type = 'queue' AND s.total_messages > 0 AND (p_queue_ids IS NULL OR q.id = ANY (p_queue_ids))
$$;
REVOKE ALL ON FUNCTION queen._status_queues(uuid[]) FROM PUBLIC;
