/*
 * Purpose:     add what one server counted on queues to the rows of a minute. What was counted for a queue that is gone, or
 *              for a partition that is, goes with it.
 * Locks:       the queues, then the rows of the minute, both by queue id.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row an entry.
 * Idempotency: none: call it once for what happened.
 * Raises:      22P02 for values that are no numbers.
 * Source:      S-36 (counters add, the average is weighted by its samples, the maximum is the greater one), S-37.
 */
CREATE OR REPLACE FUNCTION queen._add_queue_metrics(
    p_bucket_time timestamptz,
    p_hostname text,
    p_worker_id integer,
    p_queues jsonb
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_ids uuid[];
    v_written integer;
BEGIN
    -- A queue is named, or meant by one of its partitions.
    v_ids := ARRAY(
        SELECT coalesce(
            (SELECT p.queue_id FROM queen.log_partitions p WHERE p.id = e.partition_id),
            (SELECT q.id FROM queen.queues q
             WHERE e.partition_id IS NULL AND q.tenant_id = e.tenant_id AND q.name = e.queue AND q.deleted_at IS NULL))
        FROM ROWS FROM (jsonb_to_recordset(p_queues) AS (tenant_id uuid, queue text, partition_id uuid)) WITH ORDINALITY e (tenant_id, queue, partition_id, ord)
        ORDER BY e.ord);
    PERFORM queen._lock_measured(v_ids);
    WITH measured AS (
        SELECT i.queue_id,
            sum(e.push_requests) AS push_requests, sum(e.push_messages) AS push_messages, sum(e.pop_messages) AS pop_messages,
            sum(e.pop_empty) AS pop_empty, sum(e.transactions) AS transactions, sum(e.ack_requests) AS ack_requests,
            sum(e.ack_success) AS ack_success, sum(e.ack_failed) AS ack_failed, sum(e.conflated) AS conflated,
            sum(e.lag_ms) AS lag_ms, sum(e.lag_count) AS lag_count, max(e.max_lag_ms) AS max_lag_ms, sum(e.parked) AS parked
        FROM ROWS FROM (jsonb_to_recordset(p_queues) AS (push_requests bigint, push_messages bigint, pop_messages bigint,
            pop_empty bigint, transactions bigint, ack_requests bigint, ack_success bigint, ack_failed bigint, conflated bigint,
            lag_ms double precision, lag_count bigint, max_lag_ms bigint, parked double precision)) WITH ORDINALITY e (push_requests,
            push_messages, pop_messages, pop_empty, transactions, ack_requests, ack_success, ack_failed, conflated, lag_ms, lag_count,
            max_lag_ms, parked, ord)
        JOIN unnest(v_ids) WITH ORDINALITY i (queue_id, ord) USING (ord)
        GROUP BY i.queue_id
    ), living AS (
        SELECT m.*, coalesce(s.child_count, 0) AS partitions
        FROM measured m
        JOIN queen.queues q ON q.id = m.queue_id
        LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.stat_key = m.queue_id::text
    ), parked AS (
        INSERT INTO queen.queue_parked_replica AS r (bucket_time, queue_id, hostname, worker_id, parked_count)
        SELECT p_bucket_time, l.queue_id, p_hostname, p_worker_id, l.parked FROM living l WHERE l.parked > 0 ORDER BY l.queue_id
        ON CONFLICT (bucket_time, queue_id, hostname, worker_id) DO UPDATE SET parked_count = r.parked_count + excluded.parked_count
    )
    INSERT INTO queen.queue_lag_metrics AS m (bucket_time, queue_id, push_request_count, push_message_count, pop_count, pop_empty_count,
        transaction_count, ack_request_count, ack_success_count, ack_failed_count, conflated_count, avg_lag_ms, lag_count, max_lag_ms,
        parked_count, partition_count)
    SELECT p_bucket_time, l.queue_id, coalesce(l.push_requests, 0), coalesce(l.push_messages, 0), coalesce(l.pop_messages, 0),
        coalesce(l.pop_empty, 0), coalesce(l.transactions, 0), coalesce(l.ack_requests, 0), coalesce(l.ack_success, 0),
        coalesce(l.ack_failed, 0), coalesce(l.conflated, 0), coalesce(l.lag_ms / nullif(l.lag_count, 0), 0), coalesce(l.lag_count, 0),
        coalesce(l.max_lag_ms, 0), coalesce(l.parked, 0), l.partitions
    FROM living l
    ORDER BY l.queue_id
    ON CONFLICT (bucket_time, queue_id) DO UPDATE SET
        push_request_count = m.push_request_count + excluded.push_request_count,
        push_message_count = m.push_message_count + excluded.push_message_count,
        pop_count = m.pop_count + excluded.pop_count,
        pop_empty_count = m.pop_empty_count + excluded.pop_empty_count,
        transaction_count = m.transaction_count + excluded.transaction_count,
        ack_request_count = m.ack_request_count + excluded.ack_request_count,
        ack_success_count = m.ack_success_count + excluded.ack_success_count,
        ack_failed_count = m.ack_failed_count + excluded.ack_failed_count,
        conflated_count = m.conflated_count + excluded.conflated_count,
        avg_lag_ms = coalesce((m.avg_lag_ms * m.lag_count + excluded.avg_lag_ms * excluded.lag_count)
            / nullif(m.lag_count + excluded.lag_count, 0), 0),
        lag_count = m.lag_count + excluded.lag_count,
        max_lag_ms = greatest(m.max_lag_ms, excluded.max_lag_ms),
        parked_count = m.parked_count + excluded.parked_count,
        partition_count = excluded.partition_count;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    RETURN v_written;
END $$;
REVOKE ALL ON FUNCTION queen._add_queue_metrics(timestamptz, text, integer, jsonb) FROM PUBLIC;
