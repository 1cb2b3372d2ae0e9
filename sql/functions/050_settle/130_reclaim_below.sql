/*
 * Purpose:     delete rows of a partition that nobody reads any more, oldest first: segments below the start of the log, hash
 *              rows below txns_start. The partition notes how far that came, so that the next call begins there.
 * Locks:       the rows deleted; the partition row only when it is free: whoever deletes the partition holds it while waiting
 *              for those rows.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3.2 rule 5, I-10, R-24.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_below(
    p_table regclass,
    p_start text,
    p_reclaimed text,
    p_partition_id uuid,
    p_max_rows integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_from bigint;
    v_upto bigint;
    v_start bigint;
    v_rows integer;
BEGIN
    -- Dynamic, since both kinds of rows are taken away alike: only the table and the two columns of the partition differ.
    EXECUTE format(
        'SELECT max(x.done_to), max(x.base_offset), max(x.start), count(*)
         FROM (
             SELECT s.base_offset, p.%2$I AS done_to, p.%3$I AS start
             FROM queen.log_partitions p
             JOIN %1$s s ON s.partition_id = p.id AND s.base_offset >= p.%2$I AND s.base_offset < p.%3$I
             WHERE p.id = $1
             ORDER BY s.base_offset
             LIMIT $2
         ) x', p_table, p_reclaimed, p_start)
    INTO v_from, v_upto, v_start, v_rows USING p_partition_id, p_max_rows;
    IF v_rows > 0 THEN
        EXECUTE format('DELETE FROM %s s WHERE s.partition_id = $1 AND s.base_offset >= $2 AND s.base_offset <= $3', p_table)
        USING p_partition_id, v_from, v_upto;
        EXECUTE format(
            'UPDATE queen.log_partitions p SET %1$I = greatest(p.%1$I, $2)
             WHERE p.id = (SELECT l.id FROM queen.log_partitions l WHERE l.id = $1 FOR NO KEY UPDATE SKIP LOCKED)', p_reclaimed)
        USING p_partition_id, CASE WHEN v_rows < p_max_rows THEN v_start ELSE v_upto + 1 END;
    END IF;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_below(regclass, text, text, uuid, integer) FROM PUBLIC;

-- Segments below the start of the log.
CREATE OR REPLACE FUNCTION queen._reclaim_prefix(
    p_partition_id uuid,
    p_max_rows integer
) RETURNS integer
LANGUAGE sql VOLATILE AS $$
    SELECT queen._reclaim_below('queen.log_segments', 'log_start', 'reclaimed_to', p_partition_id, p_max_rows)
$$;
REVOKE ALL ON FUNCTION queen._reclaim_prefix(uuid, integer) FROM PUBLIC;

-- Hash rows below txns_start.
CREATE OR REPLACE FUNCTION queen._reclaim_hashes(
    p_partition_id uuid,
    p_max_rows integer
) RETURNS integer
LANGUAGE sql VOLATILE AS $$
    SELECT queen._reclaim_below('queen.log_txns', 'txns_start', 'txns_reclaimed_to', p_partition_id, p_max_rows)
$$;
REVOKE ALL ON FUNCTION queen._reclaim_hashes(uuid, integer) FROM PUBLIC;
