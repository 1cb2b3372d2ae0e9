/*
 * Purpose:     hold a claim longer, while its task still runs. False: the claim ran out and another has it, so stop. p_renews as
 *              in log_claim_task_v1.
 * Locks:       the task's row.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      S-6, S-7; a run may take longer than its lease.
 */
CREATE OR REPLACE FUNCTION queen.log_renew_task_v1(
    p_task text,
    p_fence bigint,
    p_renews boolean DEFAULT false
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM queen._require_whole_server();
    UPDATE queen.maintenance_leases l
    SET lease_until = clock_timestamp() + queen._task_lease_ms(l.period_ms, coalesce(p_renews, false)) * interval '1 ms'
    WHERE l.task = p_task COLLATE "C" AND l.fence = p_fence AND l.lease_until IS NOT NULL AND l.enabled;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION queen.log_renew_task_v1(text, bigint, boolean) IS
'Hold a claimed maintenance task longer; false when the claim is lost or the task was paused.';
REVOKE ALL ON FUNCTION queen.log_renew_task_v1(text, bigint, boolean) FROM PUBLIC;
