/*
 * Purpose:     verify some partitions, or a range of their offsets: every invariant that storage can show. What concerns a
 *              partition as a whole is verified with the range that begins at 0. Partitions of a queue that is being deleted,
 *              and those of other tenants, are left out.
 * Locks:       none.
 * Isolation:   any; STABLE, so all of one call is of one snapshot: pushes and retention may go on.
 * Volatility:  STABLE.
 * Bounds:      the segment rows of the partitions, and the payloads of those that begin in the range, one row at a time; at
 *              most 1000 rows come back.
 * Idempotency: yes.
 * Raises:      QN400 when p_partition_ids is no list.
 * Source:      issue 5, T-1 to T-5, T-9, T-10, design 3.2 rule 7.
 */
CREATE OR REPLACE FUNCTION queen.verify_partitions_v1(
    p_partition_ids uuid[],
    p_from_offset bigint DEFAULT 0,
    p_to_offset bigint DEFAULT 9223372036854775807
) RETURNS SETOF queen.verify_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_all boolean := queen._sees_all_tenants();
    v_tenant uuid := queen._current_tenant();
    v_ids uuid[];
BEGIN
    IF NOT queen._is_list(p_partition_ids) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_partition_ids');
    END IF;
    v_ids := ARRAY(
        SELECT p.id
        FROM queen.log_partitions p
        JOIN queen.queues q ON q.id = p.queue_id
        WHERE p.id = ANY (p_partition_ids) AND (v_all OR q.tenant_id = v_tenant));
    RETURN QUERY
    SELECT v.*
    FROM (
        SELECT * FROM queen._verify_partitions(CASE WHEN p_from_offset <= 0 THEN v_ids ELSE '{}' END)
        UNION ALL SELECT * FROM queen._verify_segments(v_ids, p_from_offset, p_to_offset)
        UNION ALL SELECT * FROM queen._verify_hash_rows(v_ids, p_from_offset, p_to_offset)
        UNION ALL SELECT * FROM queen._verify_frames(v_ids, p_from_offset, p_to_offset)
    ) v
    LIMIT 1000;
END $$;
COMMENT ON FUNCTION queen.verify_partitions_v1(uuid[], bigint, bigint) IS
'Verify what is stored of some partitions, all of it or a range of offsets: one row a breach, none when all is well.';
REVOKE ALL ON FUNCTION queen.verify_partitions_v1(uuid[], bigint, bigint) FROM PUBLIC;
