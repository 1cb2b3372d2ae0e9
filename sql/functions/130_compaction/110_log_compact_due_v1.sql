/*
 * Purpose:     partitions in which compaction has something to do: frames whose keys are not noted, segments whose obsolete
 *              frames or tombstones came of age (also because an option was changed), or keys below the log start.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      p_max_rows rows (at most 10000) after p_after, ids ascending; looks at every partition of the queues that compact,
 *              with a tail probe where it is not settled.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      design 5 item 1, design 6 (loops), F113.
 */
CREATE OR REPLACE FUNCTION queen.log_compact_due_v1(
    p_max_rows integer DEFAULT 1000,
    p_after uuid DEFAULT NULL,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.compact_due_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
AS $$
    SELECT h.id
    FROM queen.queues q
    JOIN queen.partition_head h ON h.queue_id = q.id
    LEFT JOIN queen.log_compaction c ON c.partition_id = h.id
    WHERE q.cleanup_policy <> 'delete' AND q.deleted_at IS NULL
      AND (q.tenant_id = (SELECT queen._current_tenant())
           OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001'))
      AND h.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      AND (h.head_offset >= coalesce(c.keyed_to, 0)
           OR c.due_at <= coalesce(p_now, statement_timestamp())
           OR c.due_at IS NOT NULL AND (c.lag_seconds, c.grace_seconds) IS DISTINCT FROM (q.min_compaction_lag_seconds, q.delete_retention_seconds)
           OR queen._has_stale_keys(c, h.log_start, h.head_offset))
    ORDER BY h.id
    LIMIT least(greatest(p_max_rows, 1), 10000)
$$;
COMMENT ON FUNCTION queen.log_compact_due_v1(integer, uuid, timestamptz) IS
'Partitions that compaction has something to do in, by id; go on after the last one of a full page.';
REVOKE ALL ON FUNCTION queen.log_compact_due_v1(integer, uuid, timestamptz) FROM PUBLIC;
