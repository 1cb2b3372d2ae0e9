/*
 * Purpose:     one bounded step of the walk that holds the two times by which partitions become due, oldest_live_at and
 *              oldest_txn_at, against the rows, in id order: the net below everything that keeps them. Only a row that differs is
 *              written, and only when it is as it was read.
 * Locks:       the partition rows that differ, one after the other by id, FOR NO KEY UPDATE SKIP LOCKED.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows partitions (1 to 5000); two key probes each.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1.
 * Source:      R-38, T-10.
 */
CREATE OR REPLACE FUNCTION queen.log_walk_watermarks_step_v1(
    p_after uuid DEFAULT NULL,
    p_max_rows integer DEFAULT 5000
) RETURNS SETOF queen.walk_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    r_out queen.walk_row;
    v_max integer := least(p_max_rows, 5000);
    r record;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    r_out.mended := 0;
    FOR r IN
        SELECT p.id, p.oldest_live_at, p.oldest_txn_at, w.live_at, w.txn_at
        FROM (
            SELECT l.* FROM queen.log_partitions l
            WHERE l.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') ORDER BY l.id LIMIT v_max
        ) p
        CROSS JOIN LATERAL queen._watermarks(p.id, p.log_start, p.txns_start) w
        ORDER BY p.id
    LOOP
        r_out.worked := r_out.worked + 1;
        r_out.last_id := r.id;
        IF (r.live_at, r.txn_at) IS DISTINCT FROM (r.oldest_live_at, r.oldest_txn_at) THEN
            r_out.mended := r_out.mended + queen._mend_watermarks(r.id);
        END IF;
    END LOOP;
    r_out.done := r_out.worked < v_max;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_walk_watermarks_step_v1(uuid, integer) IS
'One bounded step that checks when the oldest message and hash of each partition are from, in id order, and mends what is wrong.';
REVOKE ALL ON FUNCTION queen.log_walk_watermarks_step_v1(uuid, integer) FROM PUBLIC;

-- What the rows say: stamps of the first segment and of the first hash row, NULL without one (T-10).
CREATE OR REPLACE FUNCTION queen._watermarks(
    p_partition_id uuid,
    p_log_start bigint,
    p_txns_start bigint,
    OUT live_at timestamptz,
    OUT txn_at timestamptz
)
LANGUAGE sql STABLE AS $$
    SELECT
        (SELECT s.created_at FROM queen.log_segments s
         WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start ORDER BY s.base_offset LIMIT 1),
        (SELECT t.created_at FROM queen.log_txns t
         WHERE t.partition_id = p_partition_id AND t.base_offset >= p_txns_start ORDER BY t.base_offset LIMIT 1)
$$;
REVOKE ALL ON FUNCTION queen._watermarks(uuid, bigint, bigint) FROM PUBLIC;

-- Look again under the lock, then write; a partition that somebody holds is left to the next walk.
CREATE OR REPLACE FUNCTION queen._mend_watermarks(p_partition_id uuid) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows integer;
BEGIN
    PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE queen.log_partitions p
    SET oldest_live_at = w.live_at, oldest_txn_at = w.txn_at
    FROM queen.log_partitions o
    CROSS JOIN LATERAL queen._watermarks(o.id, o.log_start, o.txns_start) w
    WHERE p.id = p_partition_id AND o.id = p.id AND (w.live_at, w.txn_at) IS DISTINCT FROM (p.oldest_live_at, p.oldest_txn_at);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._mend_watermarks(uuid) FROM PUBLIC;
