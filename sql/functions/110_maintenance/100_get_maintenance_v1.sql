/*
 * Purpose:     tell which maintenance switches are on. Servers look twice a second, so that all follow without a restart.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      two key probes.  Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      spec 5.7 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.get_maintenance_v1() RETURNS SETOF queen.maintenance_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM queen._require_whole_server();
    RETURN QUERY SELECT queen._is_paused('maintenance_mode'), queen._is_paused('pop_maintenance_mode');
END $$;
COMMENT ON FUNCTION queen.get_maintenance_v1() IS
'Which maintenance switches are on: servers then keep pushes on their disk, or answer pops with nothing.';
REVOKE ALL ON FUNCTION queen.get_maintenance_v1() FROM PUBLIC;
