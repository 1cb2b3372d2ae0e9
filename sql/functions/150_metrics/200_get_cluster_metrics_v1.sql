/*
 * Purpose:     the lifetime totals of all servers.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      one row, and one row of queen.stats a queue.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 9 of the HTTP API (queen_cluster_*, queen_dlq_depth).
 */
CREATE OR REPLACE FUNCTION queen.get_cluster_metrics_v1() RETURNS SETOF queen.cluster_metrics_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
    SELECT w.total_push_requests, w.total_pop_requests, w.total_ack_requests, w.total_push_messages, w.total_pop_messages,
        w.total_ack_messages, w.total_ack_success, w.total_ack_failed, w.total_transactions, w.total_db_errors, w.total_dlq,
        k.dead_letters, w.updated_at, k.retained_bytes
    FROM queen._totals() w
    CROSS JOIN (
        SELECT coalesce(sum(s.dead_letter_messages), 0)::bigint AS dead_letters, coalesce(sum(s.retained_bytes), 0)::bigint AS retained_bytes
        FROM queen.stats s
        WHERE s.stat_type = 'queue'
    ) k
    WHERE (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001')
$$;
COMMENT ON FUNCTION queen.get_cluster_metrics_v1() IS
'Lifetime totals of all servers: what they stored, delivered and acknowledged since the database was set up; and what queues keep.';
REVOKE ALL ON FUNCTION queen.get_cluster_metrics_v1() FROM PUBLIC;
