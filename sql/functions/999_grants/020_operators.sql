/*
 * Purpose:     let queen_reader, queen_admin and queen_server, where they exist, look at the views for people.
 * Locks:       none.  Isolation: any.  Volatility: STABLE: constant.  Bounds: none.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 2 (999_grants), F189.
 */
CREATE OR REPLACE FUNCTION queen._status_views() RETURNS TABLE (view text, routine text, roles text[])
LANGUAGE sql STABLE AS $$
    -- The rights on a function are checked of whoever reads the view.
    SELECT v.view, v.routine, '{queen_reader,queen_admin,queen_server}'::text[]
    FROM (VALUES
        ('queue_status', 'list_queue_status_v1'), ('group_status', 'list_group_status_v1'), ('partition_status', 'list_partition_status_v1'),
        ('retention_status', 'list_retention_status_v1'), ('maintenance_status', 'list_maintenance_status_v1'),
        ('partition_pins', 'list_partition_pins_v1')) v (view, routine)
$$;
REVOKE ALL ON FUNCTION queen._status_views() FROM PUBLIC;

DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT w.rolname, v.view, v.routine FROM queen._status_views() v JOIN pg_catalog.pg_roles w ON w.rolname = ANY (v.roles)
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA queen TO %I', r.rolname);
        EXECUTE format('GRANT SELECT ON queen.%I TO %I', r.view, r.rolname);
        EXECUTE format('GRANT EXECUTE ON ROUTINE queen.%I TO %I', r.routine, r.rolname);
    END LOOP;
END $$;
