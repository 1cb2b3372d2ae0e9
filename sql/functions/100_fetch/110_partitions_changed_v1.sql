/*
 * Purpose:     log_partitions_changed_v1 for psql and applications: one queue, one row a partition, or one row without a
 *              name when there is none, so that there is always a safe time.
 * Locks:       none.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE, as log_partitions_changed_v1; reads no table of its own.
 * Bounds:      1000 partitions.
 * Idempotency: reads only.
 * Raises:      QN404 for an unknown queue; QN400 for a cursor of another mode or queue, and as log_partitions_changed_v1.
 * Source:      design 4.
 */
CREATE OR REPLACE FUNCTION queen.partitions_changed_v1(
    p_queue text,
    p_since timestamptz DEFAULT NULL,
    p_after text DEFAULT NULL,
    p_limit integer DEFAULT 1000
) RETURNS SETOF queen.changed_partition
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_row queen.changed_row;
    r_out queen.changed_partition;
    v_rows integer := 0;
BEGIN
    FOR r_row IN SELECT * FROM queen.log_partitions_changed_v1(ARRAY[p_queue], ARRAY[p_since], ARRAY[p_after], ARRAY[p_limit])
    LOOP
        IF r_row.error = 'BAD_CURSOR' THEN
            PERFORM queen._raise('QN400', 'p_after is no cursor of this queue and mode', 'p_after');
        ELSIF r_row.error IS NOT NULL THEN
            PERFORM queen._raise('QN404', 'Queue not found');
        END IF;
        r_out := (r_row.name, r_row.last_offset, r_row.log_start, r_row.last_write_at, r_row.next, r_row.safe_time,
            r_row.safe_time_degraded, r_row.safe_time_held_by);
        CONTINUE WHEN r_row.name IS NULL;
        v_rows := v_rows + 1;
        RETURN NEXT r_out;
    END LOOP;
    IF v_rows = 0 THEN
        RETURN NEXT r_out;
    END IF;
END $$;
COMMENT ON FUNCTION queen.partitions_changed_v1(text, timestamptz, text, integer) IS
'List the partitions of a queue, all by name or those written since a time, with the safe time to pass as the next p_since.';
REVOKE ALL ON FUNCTION queen.partitions_changed_v1(text, timestamptz, text, integer) FROM PUBLIC;
