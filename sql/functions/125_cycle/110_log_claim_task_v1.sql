/*
 * Purpose:     try to become the one instance that runs a task now: it must be enabled, due (or p_force) and not claimed, as
 *              the clock of the database has it. No row: not yours. Where the task's advisory lock is held by another (an
 *              operator stops the task so), the period counts as served. With p_renews the caller promises to renew the claim
 *              every third of its lease for as long as it works, and gets a lease that is short enough for its death to be
 *              noticed within two periods (of 3 s and more); else the lease lasts twice the period, a minute at least.
 * Locks:       the task's advisory id, shared and tried (737001 retention, 737002 stats, 737003 retained bytes); the task's row.
 * Isolation:   READ COMMITTED only: who waited for the row must see the claim that was made meanwhile.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.
 * Idempotency: none: a second call is refused while the claim holds.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level.
 * Source:      S-2, S-5, S-6, S-8, S-9, F096.
 */
CREATE OR REPLACE FUNCTION queen.log_claim_task_v1(
    p_task text,
    p_holder text,
    p_force boolean DEFAULT false,
    p_renews boolean DEFAULT false
) RETURNS SETOF queen.task_claim_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF NOT queen._task_is_free(p_task) THEN
        UPDATE queen.maintenance_leases l
        SET next_due_at = greatest(l.next_due_at + queen._task_period(l.period_ms), clock_timestamp())
        WHERE l.task = p_task COLLATE "C" AND l.enabled AND l.next_due_at <= clock_timestamp()
          AND coalesce(l.lease_until <= clock_timestamp(), true);
        RETURN;
    END IF;
    RETURN QUERY
    UPDATE queen.maintenance_leases l
    SET lease_until = clock_timestamp() + queen._task_lease_ms(l.period_ms, coalesce(p_renews, false)) * interval '1 ms',
        holder = p_holder,
        fence = l.fence + 1,
        last_start_at = clock_timestamp()
    WHERE l.task = p_task COLLATE "C" AND l.enabled
      AND (p_force OR l.next_due_at <= clock_timestamp())
      AND coalesce(l.lease_until <= clock_timestamp(), true)
    RETURNING l.fence, queen._task_lease_ms(l.period_ms, coalesce(p_renews, false));
END $$;
COMMENT ON FUNCTION queen.log_claim_task_v1(text, text, boolean, boolean) IS
'Claim a maintenance task: one row with a fence for the one caller that may run it now, no row for everybody else.';
REVOKE ALL ON FUNCTION queen.log_claim_task_v1(text, text, boolean, boolean) FROM PUBLIC;
