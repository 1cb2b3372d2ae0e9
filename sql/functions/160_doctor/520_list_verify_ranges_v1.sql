/*
 * Purpose:     the partitions to verify, in the order of their ids, with the offsets that they hold, so that a caller can
 *              verify them in bounded pieces.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      p_max_rows partitions, at most 10000; a key probe of segments where the head is not settled.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      issue 5.
 */
CREATE OR REPLACE FUNCTION queen.list_verify_ranges_v1(
    p_after uuid DEFAULT NULL,
    p_max_rows integer DEFAULT 1000
) RETURNS SETOF queen.verify_range_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_all boolean := queen._sees_all_tenants();
    v_tenant uuid := queen._current_tenant();
BEGIN
    RETURN QUERY
    SELECT q.name, h.name, h.id, h.log_start, h.head_offset
    FROM queen.partition_head h
    JOIN queen.queues q ON q.id = h.queue_id AND q.deleted_at IS NULL
    WHERE h.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') AND (v_all OR q.tenant_id = v_tenant)
    ORDER BY h.id
    LIMIT least(greatest(p_max_rows, 1), 10000);
END $$;
COMMENT ON FUNCTION queen.list_verify_ranges_v1(uuid, integer) IS
'The partitions behind one, in the order of their ids, with the offsets that each holds: what to give to queen.verify_partitions_v1.';
REVOKE ALL ON FUNCTION queen.list_verify_ranges_v1(uuid, integer) FROM PUBLIC;
