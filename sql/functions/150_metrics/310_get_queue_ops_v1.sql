/*
 * Purpose:     the document of GET /api/v1/analytics/queue-ops: everything that servers counted on queues, by bucket.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a queue and minute.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API; S-36, S-37, S-40.
 */
CREATE OR REPLACE FUNCTION queen.get_queue_ops_v1(
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
            SELECT queen._bucket(m.bucket_time, v_minutes) AS at, q.name, sum(m.push_request_count) AS push_requests,
                sum(m.push_message_count) AS pushed, sum(m.pop_count) AS popped, sum(m.pop_empty_count) AS empty,
                sum(m.ack_request_count) AS ack_requests, sum(m.ack_success_count) AS ack_success, sum(m.ack_failed_count) AS ack_failed,
                sum(m.transaction_count) AS transactions, sum(m.partitions_created) AS created, sum(m.partitions_deleted) AS deleted,
                max(m.partition_count) AS partitions, sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0) AS avg_lag,
                max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0) AS max_lag, sum(m.parked_count) / v_minutes AS parked
            FROM queen.queue_lag_metrics m
            JOIN queen.queues q ON q.id = m.queue_id AND q.tenant_id = v_tenant AND q.deleted_at IS NULL
            WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to AND (p_queue IS NULL OR q.name = p_queue)
            GROUP BY 1, 2
        )
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
            'series', coalesce(json_agg(json_build_object(
                'bucket', queen._utc_ms(b.at),
                'queueName', b.name,
                'pushRequests', b.push_requests,
                'pushMessages', b.pushed,
                'popMessages', b.popped,
                'popEmpty', b.empty,
                'ackRequests', b.ack_requests,
                'ackSuccess', b.ack_success,
                'ackFailed', b.ack_failed,
                'transactions', b.transactions,
                'partitionsCreated', b.created,
                'partitionsDeleted', b.deleted,
                'partitionCount', b.partitions,
                'avgLagMs', b.avg_lag,
                'maxLagMs', b.max_lag,
                'pushPerSecond', round(b.pushed / (60.0 * v_minutes), 3),
                'popPerSecond', round(b.popped / (60.0 * v_minutes), 3),
                'ackPerSecond', round((b.ack_success + b.ack_failed) / (60.0 * v_minutes), 3),
                'emptyPerSecond', round(b.empty / (60.0 * v_minutes), 3),
                'parkedCount', b.parked) ORDER BY b.at, b.name), '[]'),
            'queues', coalesce((SELECT json_agg(DISTINCT n.name) FROM bucket n), '[]'))
        FROM bucket b);
END $$;
COMMENT ON FUNCTION queen.get_queue_ops_v1(timestamptz, timestamptz, text, uuid) IS
'What happened on queues by bucket of time, over the last hour or a range: requests, messages, acks, partitions, lag at delivery, parked pops.';
REVOKE ALL ON FUNCTION queen.get_queue_ops_v1(timestamptz, timestamptz, text, uuid) FROM PUBLIC;
