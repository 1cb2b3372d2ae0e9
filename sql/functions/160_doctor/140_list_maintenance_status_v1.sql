/*
 * Purpose:     the maintenance tasks with when they ran and when they are due. The settler, which every instance runs, is a
 *              row of its own: it last ended when the newest clock mark was written.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      the tasks.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      S-1 to S-9, design 3.2 rule 6.
 */
CREATE OR REPLACE FUNCTION queen.list_maintenance_status_v1() RETURNS SETOF queen.maintenance_status_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    SELECT t.*
    FROM (
        SELECT
            l.task::text AS task, l.enabled, l.period_ms / 1000.0::double precision, l.next_due_at,
            CASE WHEN l.enabled AND coalesce(l.lease_until < clock_timestamp(), true) THEN queen._age_seconds(l.next_due_at) ELSE 0 END,
            coalesce(l.lease_until > clock_timestamp(), false), l.holder, l.last_start_at, l.last_end_at, l.last_duration_ms, l.runs
        FROM queen.maintenance_leases l
        UNION ALL
        SELECT
            'settle', true, 2, m.at + interval '2 seconds', queen._age_seconds(m.at + interval '2 seconds'), false, NULL, NULL, m.at, NULL,
            0
        FROM (SELECT max(c.marked_at) AS at FROM queen.clock_marks c WHERE NOT c.by_search) m
    ) t
    ORDER BY t.task COLLATE "C"
$$;
COMMENT ON FUNCTION queen.list_maintenance_status_v1() IS
'Maintenance tasks with their last run and how long they are overdue: the rows of the view queen.maintenance_status.';
REVOKE ALL ON FUNCTION queen.list_maintenance_status_v1() FROM PUBLIC;
