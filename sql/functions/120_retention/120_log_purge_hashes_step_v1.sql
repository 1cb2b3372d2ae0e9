/*
 * Purpose:     one bounded step that forgets the hash rows of a partition that are older than p_before: ids in them are no
 *              duplicates any more, and late acks of them resolve by the segments alone. In two moves, as retention: rows
 *              below txns_start are deleted without the partition's lock, then txns_start moves under it. No history.
 * Locks:       advisory 737001 shared, hidden hash rows, then the one partition row (not waited for when rows were deleted).
 * Isolation:   READ COMMITTED only: a push reads txns_start under the lock.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows (1 to 10000) rows hidden, and as many deleted.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level; 55P03 when somebody holds the partition for 5 s.
 * Source:      R-24..R-27, design 3.2 rule 1.
 */
CREATE OR REPLACE FUNCTION queen.log_purge_hashes_step_v1(
    p_partition_id uuid,
    p_before timestamptz,
    p_max_rows integer DEFAULT 1000
) RETURNS SETOF queen.retention_step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET lock_timeout = '5s'
AS $$
DECLARE
    r_out queen.retention_step_row;
    r_part queen.log_partitions;
    r_cut record;
    v_rows integer := least(greatest(coalesce(p_max_rows, 1000), 1), 10000);
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    r_out := ROW(0, 0, 0, 0, 0, NULL, true);
    IF NOT pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        RETURN NEXT r_out;
        RETURN;
    END IF;
    r_out.reclaimed := queen._reclaim_hashes(p_partition_id, v_rows);
    IF r_out.reclaimed > 0 THEN
        SELECT * INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE SKIP LOCKED;
    ELSE
        SELECT * INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE;
    END IF;
    IF r_part.id IS NULL THEN
        r_out.done := r_out.reclaimed = 0;
        RETURN NEXT r_out;
        RETURN;
    END IF;
    r_out.log_start := r_part.log_start;
    SELECT * INTO r_cut FROM queen._hash_cut(p_partition_id, r_part.txns_start, p_before, v_rows);
    IF r_cut.hash_rows > 0 THEN
        UPDATE queen.log_partitions p
        SET txns_start = greatest(p.txns_start, r_cut.boundary), oldest_txn_at = r_cut.first_at
        WHERE p.id = p_partition_id;
        r_out.segments := r_cut.hash_rows;
        r_out.frames := r_cut.frames;
    END IF;
    r_out.done := r_out.segments = 0 AND r_out.reclaimed < v_rows;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_purge_hashes_step_v1(uuid, timestamptz, integer) IS
'One bounded step that forgets transaction ids of a partition older than a time; segments counts the hash rows, frames the ids. Answers whether nothing is left to do.';
REVOKE ALL ON FUNCTION queen.log_purge_hashes_step_v1(uuid, timestamptz, integer) FROM PUBLIC;
