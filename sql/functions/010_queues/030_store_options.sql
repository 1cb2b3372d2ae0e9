/*
 * Purpose:     writes column values over a queue row that the caller has locked, and shows the options of a row.
 * Locks:       the queue row, already held.
 * Isolation:   READ COMMITTED: p_queue must be the row as it was when it was locked.
 * Volatility:  _store_options VOLATILE (writes), _options_document STABLE (row to JSON).
 * Bounds:      one row.
 * Idempotency: yes.
 * Raises:      nothing of its own.
 * Source:      C-1, C-8, C-12, C-20, design 5.
 */
CREATE OR REPLACE FUNCTION queen._store_options(
    p_queue queen.queues,
    p_columns jsonb
) RETURNS queen.queues
LANGUAGE sql VOLATILE AS $$
    UPDATE queen.queues q
    SET (
        namespace, task, priority, lease_time, retry_limit, retry_delay, max_queue_size, ttl,
        dead_letter_queue, dlq_after_max_retries, delayed_processing, window_buffer,
        retention_seconds, completed_retention_seconds, retention_enabled, encryption_enabled,
        max_wait_time_seconds, min_pop_wait_time, dedup_window_seconds,
        retention_sink_hold, retention_sink_hold_max_seconds, dead_letter_retention_seconds,
        retention_bytes, retention_messages, cleanup_policy, delete_retention_seconds, min_compaction_lag_seconds, group_idle_seconds
    ) = (
        SELECT
            coalesce(n.namespace, ''), coalesce(n.task, ''), n.priority, n.lease_time, n.retry_limit, n.retry_delay, n.max_queue_size, n.ttl,
            n.dead_letter_queue, n.dlq_after_max_retries, n.delayed_processing, n.window_buffer,
            n.retention_seconds, n.completed_retention_seconds, n.retention_enabled, n.encryption_enabled,
            n.max_wait_time_seconds, n.min_pop_wait_time, n.dedup_window_seconds,
            n.retention_sink_hold, n.retention_sink_hold_max_seconds, n.dead_letter_retention_seconds,
            n.retention_bytes, n.retention_messages, n.cleanup_policy, n.delete_retention_seconds, n.min_compaction_lag_seconds, n.group_idle_seconds
        FROM jsonb_populate_record(p_queue, p_columns) n
    )
    WHERE q.id = p_queue.id
    RETURNING q.*
$$;
REVOKE ALL ON FUNCTION queen._store_options(queen.queues, jsonb) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._options_document(p_queue queen.queues) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT json_object_agg(o.key, v.value ORDER BY o.pos)
    FROM queen._option_catalog() o
    CROSS JOIN (SELECT to_jsonb(p_queue) AS columns) r
    CROSS JOIN LATERAL (SELECT coalesce(nullif(r.columns -> o.column_name, 'null'), o.default_value) AS value) v
    WHERE NOT o.quiet OR v.value <> o.default_value
$$;
REVOKE ALL ON FUNCTION queen._options_document(queen.queues) FROM PUBLIC;
