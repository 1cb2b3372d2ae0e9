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

/*
 * Purpose:     the run of hash rows from p_from on that are older than p_before, at most p_max_rows, up to the first that
 *              is not: how many, their ids, where the next begins, and its stamp.
 * Locks:       none.  Isolation: any; the step holds the partition row.  Volatility: STABLE.
 * Bounds:      p_max_rows + 1 steps along the key.
 * Idempotency: yes.  Raises: nothing.  Source: R-24, T-10.
 */
CREATE OR REPLACE FUNCTION queen._hash_cut(
    p_partition_id uuid,
    p_from bigint,
    p_before timestamptz,
    p_max_rows integer,
    OUT hash_rows integer,
    OUT frames bigint,
    OUT boundary bigint,
    OUT first_at timestamptz
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_young bigint := (
        SELECT x.base_offset
        FROM (
            SELECT t.base_offset, t.created_at FROM queen.log_txns t
            WHERE t.partition_id = p_partition_id AND t.base_offset >= p_from
            ORDER BY t.base_offset LIMIT p_max_rows
        ) x
        WHERE coalesce(x.created_at >= p_before, true)
        ORDER BY x.base_offset LIMIT 1);
BEGIN
    SELECT count(*), coalesce(sum(x.end_offset - x.base_offset + 1), 0), max(x.end_offset) + 1
    INTO hash_rows, frames, boundary
    FROM (
        SELECT t.base_offset, t.end_offset FROM queen.log_txns t
        WHERE t.partition_id = p_partition_id AND t.base_offset >= p_from AND (v_young IS NULL OR t.base_offset < v_young)
        ORDER BY t.base_offset LIMIT p_max_rows
    ) x;
    SELECT t.created_at INTO first_at FROM queen.log_txns t
    WHERE t.partition_id = p_partition_id AND t.base_offset >= boundary
    ORDER BY t.base_offset LIMIT 1;
END $$;
REVOKE ALL ON FUNCTION queen._hash_cut(uuid, bigint, timestamptz, integer) FROM PUBLIC;

/*
 * Purpose:     delete hash rows below txns_start, which nothing reads for duplicates any more.
 * Locks:       those rows; the partition row only when it is free.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows.  Idempotency: yes.  Raises: nothing.
 * Source:      R-24, design 3.2 rule 5.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_hashes(
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
    SELECT max(x.txns_reclaimed_to), max(x.base_offset), max(x.txns_start), count(*) INTO v_from, v_upto, v_start, v_rows
    FROM (
        SELECT t.base_offset, p.txns_reclaimed_to, p.txns_start
        FROM queen.log_partitions p
        JOIN queen.log_txns t ON t.partition_id = p.id AND t.base_offset >= p.txns_reclaimed_to AND t.base_offset < p.txns_start
        WHERE p.id = p_partition_id
        ORDER BY t.base_offset
        LIMIT p_max_rows
    ) x;
    IF v_rows > 0 THEN
        DELETE FROM queen.log_txns t WHERE t.partition_id = p_partition_id AND t.base_offset >= v_from AND t.base_offset <= v_upto;
        UPDATE queen.log_partitions p
        SET txns_reclaimed_to = greatest(p.txns_reclaimed_to, CASE WHEN v_rows < p_max_rows THEN v_start ELSE v_upto + 1 END)
        WHERE p.id = (SELECT l.id FROM queen.log_partitions l WHERE l.id = p_partition_id FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_hashes(uuid, integer) FROM PUBLIC;
