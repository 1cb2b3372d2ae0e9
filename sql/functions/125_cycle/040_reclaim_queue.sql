/*
 * Purpose:     the part of a step that goes to one queue, whose row the caller has locked FOR UPDATE in an earlier statement.
 *              What hangs on a queue is found in the catalogue, so that no table can be forgotten, and is removed in
 *              bounded pieces before the cascade would remove it at once.
 * Locks:       as log_reclaim_step_v1.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max rows.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_queue(
    p_queue_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_id uuid;
    v_done integer := 0;
    v_rows integer;
    r_leaf record;
BEGIN
    FOREACH v_id IN ARRAY ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = p_queue_id ORDER BY p.name LIMIT p_max)
    LOOP
        PERFORM FROM queen.log_partitions p WHERE p.id = v_id FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            v_done := v_done + queen._reclaim_partition(v_id, p_max - v_done);
        END IF;
        EXIT WHEN v_done >= p_max;
    END LOOP;
    IF v_done >= p_max OR EXISTS (SELECT FROM queen.log_partitions p WHERE p.queue_id = p_queue_id) THEN
        RETURN v_done;
    END IF;
    FOR r_leaf IN
        SELECT c.conrelid::regclass AS tab, a.attname AS col
        FROM pg_catalog.pg_constraint c
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.confrelid = 'queen.queues'::regclass AND c.contype = 'f' AND c.conrelid <> 'queen.log_partitions'::regclass
        ORDER BY c.oid
    LOOP
        -- Dynamic: the tables are those of the catalogue.
        EXECUTE format('DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s WHERE %2$I = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))',
            r_leaf.tab, r_leaf.col) USING p_queue_id, p_max - v_done;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_done := v_done + v_rows;
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %s WHERE %I = $1 LIMIT 1) x', r_leaf.tab, r_leaf.col) INTO v_rows USING p_queue_id;
        IF v_done >= p_max OR v_rows > 0 THEN
            RETURN v_done;
        END IF;
    END LOOP;
    DELETE FROM queen.queues q WHERE q.id = p_queue_id;
    RETURN v_done + 1;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_queue(uuid, integer) FROM PUBLIC;
