/*
 * Purpose:     verify everything that is stored, or one queue, in one call from psql. The command regent verify does the same
 *              in short statements, which suits a large or busy database better: this one holds its snapshot to the end.
 * Locks:       none.
 * Isolation:   any; at READ COMMITTED each partition is of a snapshot of its own.
 * Volatility:  VOLATILE, so that each partition has its own snapshot.
 * Bounds:      everything stored, one partition at a time; at most 1000 rows a partition.
 * Idempotency: reads only.
 * Raises:      QN404 when there is no such queue.
 * Source:      issue 5.
 */
CREATE OR REPLACE FUNCTION queen.verify_v1(p_queue text DEFAULT NULL) RETURNS SETOF queen.verify_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_queue uuid;
    v_id uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
    IF p_queue IS NOT NULL THEN
        v_queue := (queen._find_queue(p_queue, queen._current_tenant())).id;
    ELSIF queen._sees_all_tenants() THEN
        RETURN QUERY SELECT o.* FROM queen.verify_orphans_v1() o;
    END IF;
    LOOP
        SELECT p.id INTO v_id FROM queen.log_partitions p
        WHERE p.id > v_id AND (v_queue IS NULL OR p.queue_id = v_queue)
        ORDER BY p.id LIMIT 1;
        EXIT WHEN v_id IS NULL;
        RETURN QUERY SELECT v.* FROM queen.verify_partitions_v1(ARRAY[v_id]) v;
    END LOOP;
END $$;
COMMENT ON FUNCTION queen.verify_v1(text) IS
'Verify what is stored, everything or one queue: one row a breach of an invariant, none when all is well.';
REVOKE ALL ON FUNCTION queen.verify_v1(text) FROM PUBLIC;
