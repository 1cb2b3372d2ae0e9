/*
 * Purpose:     whether a maintenance switch is on: 'maintenance_mode' (pushes) or 'pop_maintenance_mode'.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      one key probe.  Idempotency: reads only.
 * Raises:      nothing; no row, or one that was damaged by hand, means off.
 * Source:      spec 5.7 of the HTTP API, P-5, O-3, A-38.
 */
CREATE OR REPLACE FUNCTION queen._is_paused(p_key text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT s.value -> 'enabled' = 'true'::jsonb FROM queen.system_state s WHERE s.key = p_key COLLATE "C"), false)
$$;
REVOKE ALL ON FUNCTION queen._is_paused(text) FROM PUBLIC;
