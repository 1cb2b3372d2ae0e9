/*
 * Purpose:     which group pins which partition: the slowest cursor of each partition that still owes something (all of them
 *              when several stand there), from where on it holds messages, and since when. Groups that count as idle are
 *              passed over, as retention does, unless all are.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  VOLATILE: what is idle depends on the clock.
 * Bounds:      the cursors of the tenant's partitions, of those of one queue where it is named.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      R-3, design 5 item 2, F085.
 */
CREATE OR REPLACE FUNCTION queen.list_partition_pins_v1(
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.partition_pin_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    WITH queue AS MATERIALIZED (
        SELECT q.id, q.name,
            q.retention_enabled AND q.completed_retention_seconds > 0 AND q.cleanup_policy LIKE '%delete%' AS completes,
            CASE WHEN q.group_idle_seconds > 0
                 THEN queen._idle_groups(q.id, clock_timestamp() - make_interval(secs => q.group_idle_seconds), clock_timestamp())
                 ELSE '{}' END AS idle
        FROM queen.queues q
        WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
          AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
    )
    SELECT q.name, h.name, c.consumer_group, greatest(c.committed + 1, h.log_start), queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, d.done),
        queen._oldest_pending_at(h.id, h.log_start, d.done + 1), a.last_active_at,
        CASE WHEN c.worker_id IS NOT NULL AND c.lease_expires_at > clock_timestamp() THEN c.lease_expires_at END,
        q.completes, h.id, q.id
    FROM queue q
    JOIN queen.partition_head h ON h.queue_id = q.id
    CROSS JOIN LATERAL (
        SELECT l.*, coalesce(
            min(l.committed) FILTER (WHERE l.consumer_group <> ALL (q.idle)) OVER (), min(l.committed) OVER ()) AS slowest,
            bool_and(l.consumer_group = ANY (q.idle)) OVER () AS all_idle
        FROM queen.log_consumers l WHERE l.partition_id = h.id
    ) c
    CROSS JOIN LATERAL (SELECT greatest(c.committed, h.log_start - 1) AS done) d
    LEFT JOIN LATERAL (
        SELECT max(x.last_active_at) AS last_active_at FROM queen.group_activity x
        WHERE x.queue_id = q.id AND x.consumer_group = c.consumer_group
    ) a ON true
    WHERE c.committed = c.slowest AND (c.all_idle OR c.consumer_group <> ALL (q.idle)) AND h.head_offset > d.done
    ORDER BY q.name, h.name COLLATE "C", c.consumer_group
$$;
COMMENT ON FUNCTION queen.list_partition_pins_v1(text, uuid) IS
'Which consumer group pins which partition, from which offset on and since when: the rows of the view queen.partition_pins, for one queue where it is named.';
REVOKE ALL ON FUNCTION queen.list_partition_pins_v1(text, uuid) FROM PUBLIC;
