/*
 * Purpose:     one row of counts a live queue of the tenant, newest queue first.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows and the visible segment rows of the tenant (sizes come from the tuple, no
 *              payload is read).
 * Idempotency: yes.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      S-11 to S-14, C-16, C-17 (all live for now), design 3.2 rules 4 and 5.
 */
CREATE OR REPLACE FUNCTION queen.log_queue_stats_all_v1(
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.queue_stats_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    WITH live AS (
        SELECT q.id, q.name, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task, q.created_at
        FROM queen.queues q
        WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
    ),
    backlog AS (
        SELECT
            b.queue_id,
            count(*) AS partitions,
            sum(b.total)::bigint AS total,
            sum(b.pending)::bigint AS pending,
            sum(b.processing)::bigint AS processing
        FROM queen._backlog(ARRAY(SELECT l.id FROM live l), NULL) b
        GROUP BY b.queue_id
    ),
    stored AS (
        SELECT p.queue_id, sum(t.segments)::bigint AS segments, sum(t.bytes)::bigint AS bytes
        FROM live l
        JOIN queen.log_partitions p ON p.queue_id = l.id
        CROSS JOIN LATERAL queen._stored(p.id, p.log_start) t
        GROUP BY p.queue_id
    )
    SELECT
        l.id, l.name, l.namespace, l.task, l.created_at,
        coalesce(b.partitions, 0), coalesce(s.bytes, 0), coalesce(s.segments, 0),
        coalesce(b.total, 0), coalesce(b.total, 0), coalesce(b.pending, 0), coalesce(b.processing, 0)
    FROM live l
    LEFT JOIN backlog b ON b.queue_id = l.id
    LEFT JOIN stored s ON s.queue_id = l.id
    ORDER BY l.created_at DESC, l.name
$$;
COMMENT ON FUNCTION queen.log_queue_stats_all_v1(uuid) IS
'One row a queue: partitions, bytes and segments kept, messages kept, messages pending for the slowest group, and how many of those are being processed.';
REVOKE ALL ON FUNCTION queen.log_queue_stats_all_v1(uuid) FROM PUBLIC;
