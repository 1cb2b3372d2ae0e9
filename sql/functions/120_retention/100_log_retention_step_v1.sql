/*
 * Purpose:     one bounded step of retention on one partition, by absolute cut-offs and limits that the caller gives; NULL
 *              switches a rule off. p_age_before: segments older than this go, read or not. p_completed_before: those older
 *              than this go that every group has consumed, but for groups of p_idle_groups that did nothing since
 *              p_idle_before. p_max_bytes, p_max_messages: the oldest go until the rest fits, never the newest. Call it until
 *              done: the call after the last that hid something deletes its rows.
 * Locks:       advisory 737001 shared, hidden segment rows, then the one partition row.
 * Isolation:   READ COMMITTED only: the boundary is looked for after the lock.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows (1 to 10000) segments; history rows: one for the age rules, one for a size limit.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level or when p_idle_groups is no list; 55P03 when somebody holds the partition for 5 s.
 * Source:      R-1..R-23, M-1..M-18, V-1, X-1, design 3.2 and 5, F080..F101.
 */
CREATE OR REPLACE FUNCTION queen.log_retention_step_v1(
    p_partition_id uuid,
    p_age_before timestamptz DEFAULT NULL,
    p_completed_before timestamptz DEFAULT NULL,
    p_max_bytes bigint DEFAULT NULL,
    p_max_messages bigint DEFAULT NULL,
    p_idle_groups text[] DEFAULT NULL,
    p_idle_before timestamptz DEFAULT NULL,
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
BEGIN
    PERFORM queen._require_whole_server();
    IF NOT queen._is_list(p_idle_groups) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_idle_groups');
    END IF;
    RETURN NEXT queen._retention_step(p_partition_id, p_age_before, p_completed_before, p_max_bytes, p_max_messages,
        p_idle_groups, p_idle_before, p_max_rows, 'retention');
END $$;
COMMENT ON FUNCTION queen.log_retention_step_v1(uuid, timestamptz, timestamptz, bigint, bigint, text[], timestamptz, integer) IS
'One bounded step that removes the oldest segments of a partition by age, by age once consumed, and by size; answers what it took and whether nothing is left to do.';
REVOKE ALL ON FUNCTION queen.log_retention_step_v1(uuid, timestamptz, timestamptz, bigint, bigint, text[], timestamptz, integer) FROM PUBLIC;
