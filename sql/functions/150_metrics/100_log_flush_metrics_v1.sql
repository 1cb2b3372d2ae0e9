/*
 * Purpose:     store what a server counted since its last flush: one row of its own, one sample of its process, and its share
 *              in the minute of every queue that it worked on. A flush that is sent again under its id counts once.
 * Locks:       the queues, the rows of the minute, last the row of the lifetime totals.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row a queue given; a server sends at most as many as it keeps counters for (20,000).
 * Idempotency: by p_flush_id. A repeat that overlaps with the first waits for it and fails with 23505, then nothing is counted twice.
 * Raises:      QN400 for documents of another kind; 22P02 for values that are no numbers.
 * Source:      S-35 to S-37, seed counters-rates-lag (the metrics collector).
 */
CREATE OR REPLACE FUNCTION queen.log_flush_metrics_v1(
    p_flush_id uuid,
    p_hostname text,
    p_port integer,
    p_pid integer,
    p_worker jsonb,
    p_system jsonb,
    p_queues jsonb,
    p_worker_id integer DEFAULT 0
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    r_row queen.worker_metrics;
    v_at timestamptz := clock_timestamp();
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_hostname, 'p_hostname');
    IF p_flush_id IS NULL OR p_port IS NULL OR p_pid IS NULL OR p_worker_id IS NULL THEN
        PERFORM queen._raise('QN400', 'p_flush_id, p_port, p_pid and p_worker_id must not be null', 'p_flush_id');
    ELSIF jsonb_typeof(p_worker) IS DISTINCT FROM 'object' OR jsonb_typeof(p_system) IS DISTINCT FROM 'object'
        OR jsonb_typeof(p_queues) IS DISTINCT FROM 'array' THEN
        PERFORM queen._raise('QN400', 'p_worker and p_system must be objects and p_queues an array', 'p_worker');
    END IF;
    r_out.worked := 0;
    r_out.done := true;
    IF EXISTS (SELECT FROM queen.worker_metrics w WHERE w.flush_id = p_flush_id) THEN
        RETURN NEXT r_out;
        RETURN;
    END IF;
    r_out.worked := queen._add_queue_metrics(queen._bucket(v_at, 1), p_hostname, p_worker_id, p_queues);
    INSERT INTO queen.system_metrics ("timestamp", hostname, port, worker_id, pid, sample_count, metrics)
    VALUES (v_at, p_hostname, p_port, p_worker_id, p_pid, coalesce((p_system ->> 'samples')::bigint, 1), p_system - 'samples')
    ON CONFLICT DO NOTHING;
    INSERT INTO queen.worker_metrics (flush_id, bucket_time, hostname, worker_id, pid, port, flushed_at,
        push_request_count, pop_request_count, ack_request_count, push_message_count, pop_message_count, ack_message_count,
        ack_success_count, ack_failed_count, transaction_count, conflated_count, db_error_count, dlq_count, jobs_done,
        avg_lag_ms, max_lag_ms, lag_count, avg_event_loop_lag_ms, max_event_loop_lag_ms, avg_free_slots, min_free_slots, db_connections)
    SELECT p_flush_id, queen._bucket(v_at, 1), p_hostname, p_worker_id, p_pid, p_port, v_at,
        coalesce(w.push_requests, 0), coalesce(w.pop_requests, 0), coalesce(w.ack_requests, 0), coalesce(w.push_messages, 0),
        coalesce(w.pop_messages, 0), coalesce(w.ack_messages, 0), coalesce(w.ack_success, 0), coalesce(w.ack_failed, 0),
        coalesce(w.transactions, 0), coalesce(w.conflated, 0), coalesce(w.db_errors, 0), coalesce(w.dlq, 0), coalesce(w.jobs, 0),
        coalesce(w.lag_ms / nullif(w.lag_count, 0), 0), coalesce(w.max_lag_ms, 0), coalesce(w.lag_count, 0),
        coalesce(w.avg_event_loop_lag_ms, 0), coalesce(w.max_event_loop_lag_ms, 0), coalesce(w.avg_free_slots, 0),
        coalesce(w.min_free_slots, 0), coalesce(w.db_connections, 0)
    FROM jsonb_to_record(p_worker) w (push_requests bigint, pop_requests bigint, ack_requests bigint, push_messages bigint,
        pop_messages bigint, ack_messages bigint, ack_success bigint, ack_failed bigint, transactions bigint, conflated bigint,
        db_errors bigint, dlq bigint, jobs bigint, lag_ms double precision, max_lag_ms bigint, lag_count bigint,
        avg_event_loop_lag_ms double precision, max_event_loop_lag_ms bigint, avg_free_slots double precision, min_free_slots bigint,
        db_connections bigint)
    RETURNING * INTO r_row;
    -- Last, for it locks the one row of all servers.
    PERFORM queen._add_totals(r_row);
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_flush_metrics_v1(uuid, text, integer, integer, jsonb, jsonb, jsonb, integer) IS
'Store what a server counted since its last flush; called every METRICS_FLUSH_MS by each server, and once when it stops.';
REVOKE ALL ON FUNCTION queen.log_flush_metrics_v1(uuid, text, integer, integer, jsonb, jsonb, jsonb, integer) FROM PUBLIC;

/*
 * Purpose:     add a flush to the lifetime totals. No trigger does it: the rows of a dump must not count again.
 * Locks:       the one row of all servers.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.  Bounds: one row.
 * Idempotency: none.  Raises: nothing.  Source: S-35.
 */
CREATE OR REPLACE FUNCTION queen._add_totals(r_row queen.worker_metrics) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO queen.worker_metrics_summary AS s (total_push_requests, total_pop_requests, total_ack_requests, total_push_messages,
        total_pop_messages, total_ack_messages, total_ack_success, total_ack_failed, total_transactions, total_conflated,
        total_db_errors, total_dlq, updated_at)
    VALUES (r_row.push_request_count, r_row.pop_request_count, r_row.ack_request_count, r_row.push_message_count,
        r_row.pop_message_count, r_row.ack_message_count, r_row.ack_success_count, r_row.ack_failed_count, r_row.transaction_count,
        r_row.conflated_count, r_row.db_error_count, r_row.dlq_count, r_row.flushed_at)
    ON CONFLICT (singleton) DO UPDATE
    SET total_push_requests = s.total_push_requests + excluded.total_push_requests,
        total_pop_requests = s.total_pop_requests + excluded.total_pop_requests,
        total_ack_requests = s.total_ack_requests + excluded.total_ack_requests,
        total_push_messages = s.total_push_messages + excluded.total_push_messages,
        total_pop_messages = s.total_pop_messages + excluded.total_pop_messages,
        total_ack_messages = s.total_ack_messages + excluded.total_ack_messages,
        total_ack_success = s.total_ack_success + excluded.total_ack_success,
        total_ack_failed = s.total_ack_failed + excluded.total_ack_failed,
        total_transactions = s.total_transactions + excluded.total_transactions,
        total_conflated = s.total_conflated + excluded.total_conflated,
        total_db_errors = s.total_db_errors + excluded.total_db_errors,
        total_dlq = s.total_dlq + excluded.total_dlq,
        updated_at = greatest(s.updated_at, excluded.updated_at);
END $$;
REVOKE ALL ON FUNCTION queen._add_totals(queen.worker_metrics) FROM PUBLIC;
