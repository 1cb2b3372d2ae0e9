/*
 * Purpose:     one bounded step of maxWaitTimeSeconds on one partition: segments older than p_before go for every group,
 *              read or not, leased or not. This loses data by design: no dead letter is written and no client is told.
 * Locks:       as log_retention_step_v1.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows (1 to 10000) segments; one history row.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level; 55P03 when somebody holds the partition for 5 s.
 * Source:      R-7, R-21, R-22, F087.
 */
CREATE OR REPLACE FUNCTION queen.log_evict_max_wait_step_v1(
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
BEGIN
    PERFORM queen._require_whole_server();
    RETURN NEXT queen._retention_step(p_partition_id, p_before, NULL, NULL, NULL, NULL, NULL, p_max_rows, 'max_wait_time_eviction');
END $$;
COMMENT ON FUNCTION queen.log_evict_max_wait_step_v1(uuid, timestamptz, integer) IS
'One bounded step that drops segments older than a time for every group, leased ones too: data loss by design. Answers what it took and whether nothing is left to do.';
REVOKE ALL ON FUNCTION queen.log_evict_max_wait_step_v1(uuid, timestamptz, integer) FROM PUBLIC;
