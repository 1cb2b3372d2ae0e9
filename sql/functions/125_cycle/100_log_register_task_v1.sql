/*
 * Purpose:     make a task known, or give it another period. A shorter period also pulls the next run forward; the switch,
 *              the fence and a running claim are never touched. With p_keep a task that is known stays as it is.
 * Locks:       the task's row.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for a bad name, or a period below 1 ms.
 * Source:      S-1.
 */
CREATE OR REPLACE FUNCTION queen.log_register_task_v1(
    p_task text,
    p_period_ms bigint,
    p_keep boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._check_name(p_task, 'p_task');
    IF coalesce(p_period_ms, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_period_ms must be at least 1', 'p_period_ms');
    END IF;
    INSERT INTO queen.maintenance_leases AS l (task, period_ms)
    VALUES (p_task, p_period_ms)
    ON CONFLICT (task) DO UPDATE
    SET period_ms = EXCLUDED.period_ms,
        next_due_at = least(l.next_due_at, clock_timestamp() + queen._task_period(p_period_ms))
    WHERE l.period_ms <> EXCLUDED.period_ms AND NOT coalesce(p_keep, false);
END $$;
COMMENT ON FUNCTION queen.log_register_task_v1(text, bigint, boolean) IS
'Make a maintenance task known to all instances, with the milliseconds between its runs.';
REVOKE ALL ON FUNCTION queen.log_register_task_v1(text, bigint, boolean) FROM PUBLIC;
