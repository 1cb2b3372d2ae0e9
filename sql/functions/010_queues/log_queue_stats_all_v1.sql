/*
 * Purpose:     one row of counts a live queue of the tenant, newest queue first. Three clocks: partitions and total are of
 *              this moment; pending and processing are the reconciler's; segments and retained_bytes are those of the
 *              retained-bytes lane. With p_cached partitions and total are the reconciler's, too.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the partitions of the tenant, and one key probe of segments each that is not settled; with p_cached a row
 *              a queue.
 * Idempotency: yes.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      C-16, C-17, C-19, S-32, S-42, design 3.2 rules 4 and 7.
 */
CREATE OR REPLACE FUNCTION queen.log_queue_stats_all_v1(
    p_tenant_id uuid DEFAULT NULL,
    p_cached boolean DEFAULT false
) RETURNS SETOF queen.queue_stats_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    WITH live AS (
        SELECT q.id, q.name, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task, q.created_at
        FROM queen.queues q
        WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
    ),
    kept AS (
        SELECT
            h.queue_id,
            count(*) AS partitions,
            sum(greatest(h.head_offset - h.log_start + 1 - h.removed_frames, 0))::bigint AS total
        FROM queen.partition_head h
        WHERE NOT coalesce(p_cached, false) AND h.queue_id IN (SELECT l.id FROM live l)
        GROUP BY h.queue_id
        UNION ALL
        SELECT s.queue_id, s.child_count, s.total_messages
        FROM queen.stats s
        WHERE coalesce(p_cached, false) AND s.stat_type = 'queue'
    )
    SELECT
        l.id, l.name, l.namespace, l.task, l.created_at,
        coalesce(k.partitions, 0), coalesce(s.retained_bytes, 0), coalesce(s.segment_count, 0),
        coalesce(k.total, 0), coalesce(k.total, 0), coalesce(s.pending_messages, 0), coalesce(s.processing_messages, 0)
    FROM live l
    LEFT JOIN kept k ON k.queue_id = l.id
    LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.queue_id = l.id
    ORDER BY l.created_at DESC, l.name
$$;
COMMENT ON FUNCTION queen.log_queue_stats_all_v1(uuid, boolean) IS
'One row a queue: partitions and messages kept now; messages pending for the slowest group, and how many of those are being processed, as last counted; bytes and segments kept as last measured.';
REVOKE ALL ON FUNCTION queen.log_queue_stats_all_v1(uuid, boolean) FROM PUBLIC;
