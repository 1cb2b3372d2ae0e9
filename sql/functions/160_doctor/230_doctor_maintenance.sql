/*
 * Purpose:     maintenance that does not run: the settler (no clock mark), heads that stay unsettled, tasks that are late or
 *              paused, deleted queues whose rows stay; and a clock that went back.
 * Locks:       none.  Isolation: any.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      the tasks; partitions whose head is not settled.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      issue 5, S-9, S-42, design 3.2 rules 3 and 6.
 */
CREATE OR REPLACE FUNCTION queen._doctor_maintenance(p_late interval) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    WITH mark AS (
        SELECT max(c.marked_at) AS at FROM queen.clock_marks c WHERE NOT c.by_search
    )
    SELECT
        'settler', 'error', 'log_settle_heads_step_v1',
        CASE WHEN m.at IS NULL THEN 'it has never run' ELSE format('it last ran at %s', queen._utc(m.at)) END
            || ': start a server, or call the procedure every few seconds',
        'CALL queen.run_maintenance_v1();'
    FROM mark m
    WHERE coalesce(m.at < clock_timestamp() - p_late, true)
    UNION ALL
    SELECT
        'settler', 'warning', queen._counted(count(*), 'partition'),
        format('not settled, though the oldest of them was last written at %s', queen._utc(min(p.last_write_at))),
        'CALL queen.run_maintenance_v1();'
    FROM queen.log_partitions p
    WHERE NOT p.settled AND p.last_write_at < clock_timestamp() - p_late
    HAVING count(*) > 0
    UNION ALL
    SELECT
        'clock', 'error', format('database %s', current_database()),
        format('its clock went back: a mark of the settler is %s s ahead of it, and new messages carry that time until the clock is there',
            ceil(extract(epoch FROM queen._shown_time(m.at) - clock_timestamp()))),
        format('SELECT pg_sleep(%s);', ceil(extract(epoch FROM queen._shown_time(m.at) - clock_timestamp())))
    FROM mark m
    WHERE m.at > clock_timestamp() + interval '1 second'
    UNION ALL
    SELECT
        'maintenance', 'warning', format('task %s', l.task), 'it is paused on all servers',
        format('UPDATE queen.maintenance_leases SET enabled = true WHERE task = %L;', l.task)
    FROM queen.maintenance_leases l
    WHERE NOT l.enabled
    UNION ALL
    -- A claim that ran out belongs to nobody; one that holds is a run that takes its time.
    SELECT
        CASE l.task WHEN 'stats_refresh' THEN 'reconciler' ELSE 'maintenance' END, 'warning', format('task %s', l.task),
        format('due since %s, last ended %s%s: no server runs it. The statements do it once', queen._utc(l.next_due_at),
            coalesce('at ' || queen._utc(l.last_end_at), 'never'), ', last holder ' || l.holder),
        format(E'CALL queen.run_maintenance_v1();\nUPDATE queen.maintenance_leases SET next_due_at = clock_timestamp() WHERE task = %L;', l.task)
    FROM queen.maintenance_leases l
    WHERE l.enabled AND coalesce(l.lease_until <= clock_timestamp(), true)
      AND l.next_due_at < clock_timestamp() - greatest(p_late, least(l.period_ms, 31536000000) * interval '2 ms')
    UNION ALL
    SELECT
        'maintenance', 'warning', 'deleted queues',
        format('the rows of %s are still there, the oldest deleted at %s', queen._counted(count(*), 'deleted queue'), queen._utc(min(q.deleted_at))),
        'CALL queen.run_maintenance_v1();'
    FROM queen.queues q
    WHERE q.deleted_at < clock_timestamp() - 60 * p_late
    HAVING count(*) > 0
$$;
REVOKE ALL ON FUNCTION queen._doctor_maintenance(interval) FROM PUBLIC;
