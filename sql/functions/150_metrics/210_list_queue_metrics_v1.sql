/*
 * Purpose:     the newest minute of every queue that was busy lately.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE; the clock is that of the statement's transaction.
 * Bounds:      the rows of the last p_within_seconds (300; at most an hour), one a queue and minute.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 9 of the HTTP API (a quiet queue disappears after about 5 minutes), S-41.
 */
CREATE OR REPLACE FUNCTION queen.list_queue_metrics_v1(p_within_seconds integer DEFAULT 300) RETURNS SETOF queen.queue_metrics_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
SET work_mem = '32MB'
AS $$
    SELECT q.name, greatest(extract(epoch FROM now() - r.bucket_time), 0)::double precision,
        r.push_request_count, r.push_message_count, r.pop_count, r.pop_empty_count, r.transaction_count, r.conflated_count,
        r.ack_success_count, r.ack_failed_count, r.avg_lag_ms * r.lag_count, r.lag_count, r.max_lag_ms, r.parked_count
    FROM (
        SELECT DISTINCT ON (m.queue_id) m.*
        FROM queen.queue_lag_metrics m
        WHERE m.bucket_time > now() - make_interval(secs => least(greatest(p_within_seconds, 0), 3600))
        ORDER BY m.queue_id, m.bucket_time DESC
    ) r
    JOIN queen.queues q ON q.id = r.queue_id AND q.deleted_at IS NULL
    WHERE q.tenant_id = (SELECT queen._current_tenant()) OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001')
$$;
COMMENT ON FUNCTION queen.list_queue_metrics_v1(integer) IS
'What happened on each queue in its newest minute, of queues on which anything happened in the last five minutes.';
REVOKE ALL ON FUNCTION queen.list_queue_metrics_v1(integer) FROM PUBLIC;
