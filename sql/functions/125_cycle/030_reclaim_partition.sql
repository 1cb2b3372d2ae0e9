/*
 * Purpose:     the part of a step that goes to one partition of a deleted queue, whose row the caller has locked FOR UPDATE in an
 *              earlier statement: so no push, first contact or seek is half way, and what comes later finds it gone. An ack
 *              under way holds its cursor, which is then left, and with it the partition. Messages go from the oldest on,
 *              each piece with its row of the audit.
 * Locks:       cursors and dead letters, SKIP LOCKED.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max rows.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8, design 3.2 rules 1, 3 and 5, R-6.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_partition(
    p_partition_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_left integer := p_max;
    v_rows integer;
BEGIN
    v_left := v_left - queen._reclaim_segments(p_partition_id, v_left);
    v_left := v_left - queen._reclaim_txns(p_partition_id, v_left);
    -- A compactor that reads keys holds this row, and no lock on the partition.
    DELETE FROM queen.log_compaction k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_compaction x WHERE x.partition_id = p_partition_id FOR UPDATE SKIP LOCKED));
    IF EXISTS (SELECT FROM queen.log_compaction k WHERE k.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_keys k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_keys x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    DELETE FROM queen.log_dirty k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_dirty x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    -- Cursors before letters: an ack that files a letter holds its cursor.
    DELETE FROM queen.log_consumers c WHERE c.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_consumers x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    IF EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_dlq d WHERE d.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_dlq x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    IF v_left <= 0
       OR EXISTS (SELECT FROM queen.log_dlq d WHERE d.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_txns x WHERE x.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_keys k WHERE k.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_dirty k WHERE k.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_partitions p WHERE p.id = p_partition_id;
    RETURN p_max - v_left + 1;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_partition(uuid, integer) FROM PUBLIC;
