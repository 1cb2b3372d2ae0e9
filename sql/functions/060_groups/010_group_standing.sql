/*
 * Purpose:     where every group of a tenant stands on every partition: one row a cursor, and one a partition of a registered
 *              queue that the group has not touched yet (it owes all of it).
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups of the tenant, a key probe of segments where the head is not settled, two where
 *              something is owed.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      C-24 (the same lag as depth shows), S-17, F123.
 */
CREATE OR REPLACE FUNCTION queen._group_standing(
    p_tenant_id uuid,
    p_group text
) RETURNS TABLE (
    queue_id uuid,
    queue text,
    consumer_group text,
    partition_id uuid,
    partition text,
    has_cursor boolean,
    worker_id text,
    lease_expires_at timestamptz,
    total_consumed bigint,
    lag bigint,
    oldest_at timestamptz
)
LANGUAGE sql STABLE AS $$
    SELECT q.id, q.name, g.consumer_group, h.id, h.name, g.has_cursor, g.worker_id, g.lease_expires_at, g.total_consumed,
           queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, d.done),
           CASE WHEN h.head_offset > d.done THEN queen._oldest_pending_at(h.id, h.log_start, d.done + 1) END
    FROM queen.queues q
    JOIN queen.partition_head h ON h.queue_id = q.id
    CROSS JOIN LATERAL (
        SELECT c.consumer_group, true AS has_cursor, c.committed, c.worker_id, c.lease_expires_at, c.total_consumed
        FROM queen.log_consumers c
        WHERE c.partition_id = h.id AND (p_group IS NULL OR c.consumer_group = p_group)
        UNION ALL
        SELECT m.consumer_group, false, -1, NULL, NULL, 0
        FROM queen.consumer_groups_metadata m
        WHERE m.queue_id = q.id AND m.partition_name = '' AND m.namespace = '' AND m.task = ''
          AND (p_group IS NULL OR m.consumer_group = p_group)
          AND NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = h.id AND c.consumer_group = m.consumer_group)
    ) g
    CROSS JOIN LATERAL (SELECT greatest(g.committed, h.log_start - 1) AS done) d
    WHERE q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
$$;
REVOKE ALL ON FUNCTION queen._group_standing(uuid, text) FROM PUBLIC;

-- Whole seconds since a time, never negative; 0 for none.
CREATE OR REPLACE FUNCTION queen._age_seconds(p_at timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(floor(greatest(extract(epoch FROM clock_timestamp() - queen._shown_time(p_at)), 0)), 0)::bigint
$$;
REVOKE ALL ON FUNCTION queen._age_seconds(timestamptz) FROM PUBLIC;
