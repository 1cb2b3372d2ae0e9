/*
 * Purpose:     the lifetime totals of all servers as one row, zeros before the first flush.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: one row.  Idempotency: reads only.  Raises: nothing.
 * Source:      S-35.
 */
CREATE OR REPLACE FUNCTION queen._totals() RETURNS SETOF queen.worker_metrics_summary
LANGUAGE sql STABLE AS $$
    SELECT true,
        coalesce(sum(s.total_push_requests), 0)::bigint, coalesce(sum(s.total_pop_requests), 0)::bigint,
        coalesce(sum(s.total_ack_requests), 0)::bigint, coalesce(sum(s.total_push_messages), 0)::bigint,
        coalesce(sum(s.total_pop_messages), 0)::bigint, coalesce(sum(s.total_ack_messages), 0)::bigint,
        coalesce(sum(s.total_ack_success), 0)::bigint, coalesce(sum(s.total_ack_failed), 0)::bigint,
        coalesce(sum(s.total_transactions), 0)::bigint, coalesce(sum(s.total_conflated), 0)::bigint,
        coalesce(sum(s.total_db_errors), 0)::bigint, coalesce(sum(s.total_dlq), 0)::bigint,
        max(s.updated_at)
    FROM queen.worker_metrics_summary s
$$;
REVOKE ALL ON FUNCTION queen._totals() FROM PUBLIC;
