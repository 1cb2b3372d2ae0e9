/*
 * Purpose:     how long a claim of a task holds, and whether nobody keeps the task stopped by its advisory lock. A holder that
 *              renews its claim all the time it works holds it for one and a half periods: when it dies, whoever looks for work
 *              every tenth of a period follows within two periods. Who renews now and then, or never, holds it longer.
 * Locks:       _task_is_free: the task's advisory id, shared, tried, until the end of the transaction.
 * Isolation:   any.
 * Volatility:  IMMUTABLE; _task_is_free VOLATILE (locks).
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      S-6 (twice the period, 60 s to 30 min, for who does not renew), S-8, S-10, F096 (two intervals).
 */
CREATE OR REPLACE FUNCTION queen._task_lease_ms(
    p_period_ms bigint,
    p_renews boolean
) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_renews THEN greatest(least(p_period_ms, 1200000) * 3 / 2, 3000)
                ELSE greatest(least(p_period_ms, 900000) * 2, 60000) END::bigint
$$;
REVOKE ALL ON FUNCTION queen._task_lease_ms(bigint, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._task_is_free(p_task text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lock bigint := queen._lock_id(CASE p_task WHEN 'stats_refresh' THEN 'stats' ELSE p_task END);
BEGIN
    RETURN v_lock IS NULL OR pg_try_advisory_xact_lock_shared(v_lock);
END $$;
REVOKE ALL ON FUNCTION queen._task_is_free(text) FROM PUBLIC;

-- The pause between two runs, at most a year: a stored period, however absurd, must not overflow a time.
CREATE OR REPLACE FUNCTION queen._task_period(p_period_ms bigint) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT least(p_period_ms, 31536000000) * interval '1 ms'
$$;
REVOKE ALL ON FUNCTION queen._task_period(bigint) FROM PUBLIC;
