/*
 * Purpose:     everything that is wrong with an installation as far as the database can tell, each with the statements that
 *              mend it. The server's role and the owner see the queues of all tenants, others those of their own.
 * Locks:       none.
 * Isolation:   any; each check is one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as its checks: catalogue, sessions, partitions x groups of the queues that delete consumed messages.
 * Idempotency: reads only; it changes nothing.
 * Raises:      QN400 for a negative limit.
 * Source:      issue 5, design 5 item 2.
 */
CREATE OR REPLACE FUNCTION queen.doctor_v1(
    p_size_bytes bigint DEFAULT 107374182400,
    p_growth_days integer DEFAULT 30,
    p_old_seconds integer DEFAULT 300,
    p_late_seconds integer DEFAULT 60,
    p_stuck_seconds integer DEFAULT 3600,
    p_dead_rows bigint DEFAULT 10000,
    p_bloat_bytes bigint DEFAULT 67108864,
    p_wal_bytes bigint DEFAULT 1073741824,
    p_emptied_rows bigint DEFAULT 1000
) RETURNS SETOF queen.doctor_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
-- Without queen, so that the names in findings and statements come with their schema.
SET search_path = pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := CASE WHEN NOT queen._sees_all_tenants() THEN queen._current_tenant() END;
    v_late interval := p_late_seconds * interval '1 s';
BEGIN
    IF least(p_size_bytes, p_growth_days, p_old_seconds, p_late_seconds, p_stuck_seconds, p_dead_rows, p_bloat_bytes, p_wal_bytes, p_emptied_rows) < 0 THEN
        PERFORM queen._raise('QN400', 'a limit must not be negative', 'p_size_bytes');
    END IF;
    RETURN QUERY
    SELECT d.*
    FROM (
        SELECT * FROM queen._doctor_grants()
        UNION ALL SELECT * FROM queen._doctor_schema()
        UNION ALL SELECT * FROM queen._doctor_autovacuum()
        UNION ALL SELECT * FROM queen._doctor_bloat(p_dead_rows, p_bloat_bytes)
        UNION ALL SELECT * FROM queen._doctor_sessions(p_old_seconds * interval '1 s')
        UNION ALL SELECT * FROM queen._doctor_slots(p_wal_bytes)
        UNION ALL SELECT * FROM queen._doctor_maintenance(v_late)
        UNION ALL SELECT * FROM queen._doctor_groups(v_tenant, p_stuck_seconds * interval '1 s')
        UNION ALL SELECT * FROM queen._doctor_retention(v_tenant, v_late)
        UNION ALL SELECT * FROM queen._doctor_growth(v_tenant, p_size_bytes, p_growth_days)
        UNION ALL SELECT * FROM queen._doctor_emptied(v_tenant, p_emptied_rows)
    ) d
    ORDER BY array_position('{error,warning,note}', d.severity), d.check_name COLLATE "C", d.object COLLATE "C", d.finding COLLATE "C";
END $$;
COMMENT ON FUNCTION queen.doctor_v1(bigint, integer, integer, integer, integer, bigint, bigint, bigint, bigint) IS
'What is wrong here: one row a finding, worst first, with the statements that mend it. The first two limits are the size of a queue to warn of and how many days ahead; the others are ages in seconds, rows and bytes.';
REVOKE ALL ON FUNCTION queen.doctor_v1(bigint, integer, integer, integer, integer, bigint, bigint, bigint, bigint) FROM PUBLIC;
