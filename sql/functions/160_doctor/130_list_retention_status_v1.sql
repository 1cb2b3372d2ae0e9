/*
 * Purpose:     what deletes from every queue, whether it is switched on and if not why, how old the oldest message is, and
 *              what went in the last day.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _partition_standing, and the history of one day.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      spec 6.1, design 5, F081.
 */
CREATE OR REPLACE FUNCTION queen.list_retention_status_v1(
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.retention_status_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    SELECT
        q.name,
        r.rules OR q.max_wait_time_seconds > 0,
        CASE
            WHEN r.rules OR q.max_wait_time_seconds > 0 THEN NULL
            WHEN q.cleanup_policy = 'compact' AND q.retention_enabled AND w.windows THEN 'cleanupPolicy compact keeps the newest value of each key whatever its age'
            WHEN w.windows THEN 'retentionEnabled is false'
            WHEN q.retention_enabled THEN 'no window and no limit is set'
            ELSE 'nothing is set'
        END,
        q.cleanup_policy, q.retention_enabled, q.retention_seconds::bigint, q.completed_retention_seconds::bigint,
        q.max_wait_time_seconds::bigint, q.retention_bytes, q.retention_messages, q.dead_letter_retention_seconds::bigint,
        coalesce(s.messages, 0), coalesce(s.size_bytes, 0),
        s.oldest_at, queen._age_seconds(s.oldest_at),
        -- Only the plain age says when a message should have gone: the other rules wait for consumers too.
        CASE WHEN r.rules AND q.retention_seconds > 0 THEN greatest(queen._age_seconds(s.oldest_at) - q.retention_seconds, 0) ELSE 0 END,
        coalesce(s.unreclaimed, 0), coalesce(d.messages, 0), coalesce(d.bytes, 0), d.last_at, q.id
    FROM queen.queues q
    CROSS JOIN LATERAL (
        SELECT q.retention_seconds > 0 OR q.completed_retention_seconds > 0 OR q.retention_bytes > 0 OR q.retention_messages > 0 AS windows
    ) w
    CROSS JOIN LATERAL (SELECT q.retention_enabled AND w.windows AND q.cleanup_policy <> 'compact' AS rules) r
    LEFT JOIN (
        SELECT
            p.queue_id, sum(p.messages)::bigint AS messages, sum(p.size_bytes)::bigint AS size_bytes, min(l.oldest_live_at) AS oldest_at,
            count(*) FILTER (WHERE l.reclaimed_to < l.log_start) AS unreclaimed
        FROM queen._partition_standing(queen._tenant(p_tenant_id), p_queue) p
        JOIN queen.log_partitions l ON l.id = p.partition_id
        GROUP BY p.queue_id
    ) s ON s.queue_id = q.id
    LEFT JOIN (
        SELECT h.queue_id, sum(h.messages_deleted)::bigint AS messages, sum(h.bytes_deleted)::bigint AS bytes, max(h.executed_at) AS last_at
        FROM queen.retention_history h
        WHERE h.executed_at > clock_timestamp() - interval '1 day'
        GROUP BY h.queue_id
    ) d ON d.queue_id = q.id
    WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
      AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
    ORDER BY q.name
$$;
COMMENT ON FUNCTION queen.list_retention_status_v1(text, uuid) IS
'What deletes from each queue, whether it is active, and what it did in the last day: the rows of the view queen.retention_status.';
REVOKE ALL ON FUNCTION queen.list_retention_status_v1(text, uuid) FROM PUBLIC;
