/*
 * Purpose:     let queen_reader, queen_admin and queen_server, where they exist, look at the views for people.
 * Locks:       none.  Isolation: any.  Volatility: none.  Bounds: none.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 2 (999_grants), F189.
 */
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT w.rolname, v.name, v.routine
        FROM pg_catalog.pg_roles w
        CROSS JOIN (VALUES
            ('queue_status', 'list_queue_status_v1'),
            ('group_status', 'list_group_status_v1'),
            ('partition_status', 'list_partition_status_v1'),
            ('retention_status', 'list_retention_status_v1'),
            ('maintenance_status', 'list_maintenance_status_v1')) v (name, routine)
        WHERE w.rolname IN ('queen_reader', 'queen_admin', 'queen_server')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA queen TO %I', r.rolname);
        EXECUTE format('GRANT SELECT ON queen.%I TO %I', r.name, r.rolname);
        EXECUTE format('GRANT EXECUTE ON ROUTINE queen.%I TO %I', r.routine, r.rolname);
    END LOOP;
END $$;
