/*
 * Purpose:     since when a partition has owed what lies at or behind an offset: the stamp of the segment that covers
 *              the offset, else of the first one behind it (the offset may lie in what retention removed).
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      two key probes, whatever lies between: never a walk over removed rows.
 * Idempotency: reads only.
 * Raises:      nothing; NULL when there is no such partition of the session's tenant or nothing at or behind the offset.
 * Source:      S-17.
 */
CREATE OR REPLACE FUNCTION queen.log_oldest_pending_at_v1(
    p_partition_id uuid,
    p_offset bigint
) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    SELECT queen._oldest_pending_at(p.id, p.log_start, p_offset)
    FROM queen.log_partitions p
    JOIN queen.queues q ON q.id = p.queue_id
    WHERE p.id = p_partition_id AND (q.tenant_id = queen._current_tenant() OR queen._sees_all_tenants())
$$;
COMMENT ON FUNCTION queen.log_oldest_pending_at_v1(uuid, bigint) IS
'When the oldest message of a partition at or behind an offset was stored; null when there is none.';
REVOKE ALL ON FUNCTION queen.log_oldest_pending_at_v1(uuid, bigint) FROM PUBLIC;
