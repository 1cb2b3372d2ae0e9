/*
 * Purpose:     turn a maintenance switch on or off for every server; a NULL leaves a switch as it is. Answers both. The
 *              switches are for servers: SQL callers push and pop as before, so that an operator can work in psql meanwhile.
 * Locks:       the switch's row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      two rows.  Idempotency: yes.
 * Raises:      QN400 at another isolation level; QN403 for a session of another tenant than the default one.
 * Source:      spec 5.7 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.set_maintenance_v1(
    p_push_paused boolean DEFAULT NULL,
    p_pop_paused boolean DEFAULT NULL
) RETURNS SETOF queen.maintenance_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._require_whole_server();
    INSERT INTO queen.system_state (key, value)
    SELECT s.key, jsonb_build_object('enabled', s.enabled)
    FROM (VALUES ('maintenance_mode', p_push_paused), ('pop_maintenance_mode', p_pop_paused)) s (key, enabled)
    WHERE s.enabled IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = clock_timestamp();
    RETURN QUERY SELECT * FROM queen.get_maintenance_v1();
END $$;
COMMENT ON FUNCTION queen.set_maintenance_v1(boolean, boolean) IS
'Pause or resume pushes and pops of all servers; pushes are kept on the servers'' disks meanwhile. A NULL leaves a switch as it is.';
REVOKE ALL ON FUNCTION queen.set_maintenance_v1(boolean, boolean) FROM PUBLIC;
