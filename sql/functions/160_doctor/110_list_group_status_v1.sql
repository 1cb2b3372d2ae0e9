/*
 * Purpose:     where every consumer group stands on every queue that it reads or has subscribed to. A cursor that one stray
 *              pop left behind is a row of its own, with its age.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _group_standing.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      S-13, S-14, S-17, S-18 for one group, http-api 4.7, F123.
 */
CREATE OR REPLACE FUNCTION queen.list_group_status_v1(
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.group_status_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    SELECT
        q.name, g.consumer_group,
        coalesce(s.partitions, 0), coalesce(s.partitions_behind, 0), coalesce(s.behind, 0),
        s.oldest_at, queen._age_seconds(s.oldest_at), coalesce(s.leases, 0), coalesce(s.consumed, 0),
        a.last_active_at, m.subscription_mode, q.id
    FROM queen.queues q
    JOIN (
        SELECT x.queue_id, x.consumer_group FROM queen.consumer_groups_metadata x
        WHERE x.partition_name = '' AND x.namespace = '' AND x.task = ''
        UNION
        SELECT p.queue_id, c.consumer_group FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id
    ) g ON g.queue_id = q.id
    LEFT JOIN (
        SELECT
            t.queue_id, t.consumer_group,
            count(*) FILTER (WHERE t.has_cursor) AS partitions,
            count(*) FILTER (WHERE t.lag > 0) AS partitions_behind,
            sum(t.lag)::bigint AS behind,
            min(t.oldest_at) AS oldest_at,
            count(*) FILTER (WHERE t.worker_id IS NOT NULL AND t.lease_expires_at > statement_timestamp()) AS leases,
            sum(t.total_consumed)::bigint AS consumed
        FROM queen._group_standing(queen._tenant(p_tenant_id), NULL) t
        GROUP BY t.queue_id, t.consumer_group
    ) s ON s.queue_id = q.id AND s.consumer_group = g.consumer_group
    LEFT JOIN (
        SELECT x.queue_id, x.consumer_group, max(x.last_active_at) AS last_active_at FROM queen.group_activity x GROUP BY x.queue_id, x.consumer_group
    ) a ON a.queue_id = q.id AND a.consumer_group = g.consumer_group
    LEFT JOIN queen.consumer_groups_metadata m ON m.queue_id = q.id AND m.consumer_group = g.consumer_group
        AND m.partition_name = '' AND m.namespace = '' AND m.task = ''
    WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
      AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
    ORDER BY q.name, g.consumer_group
$$;
COMMENT ON FUNCTION queen.list_group_status_v1(text, uuid) IS
'Consumer groups, once for each queue, with how far they are behind now: the rows of the view queen.group_status.';
REVOKE ALL ON FUNCTION queen.list_group_status_v1(text, uuid) FROM PUBLIC;
