/*
 * Purpose:     what holds back vacuum and safeTime: old transactions, prepared ones, replication slots that nobody reads;
 *              and what of it cannot be seen.
 * Locks:       none.  Isolation: any.
 * Volatility:  VOLATILE: activity is of this moment.
 * Bounds:      the sessions, prepared transactions and slots of the server.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      issue 5, design 4 (safeTime), F147, F149, F193.
 */
CREATE OR REPLACE FUNCTION queen._doctor_sessions(p_old interval) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'xmin', 'warning', format('session %s', a.pid),
        format('%s of %s (%s), in a transaction since %s: no dead row that is younger goes, and safeTime stands still',
            coalesce(a.state, a.backend_type), a.usename, coalesce(nullif(a.application_name, ''), 'no name'), queen._utc(a.xact_start)),
        format('SELECT pg_terminate_backend(%s);', a.pid)
    FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
      AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
      AND a.xact_start < clock_timestamp() - p_old
    UNION ALL
    SELECT
        'prepared', 'error', format('transaction %L', x.gid),
        format('prepared by %s at %s and neither committed nor rolled back: it keeps its locks, no dead row that is younger goes, and safeTime is degraded',
            x.owner, queen._utc(x.prepared)),
        format('ROLLBACK PREPARED %L;', x.gid)
    FROM pg_catalog.pg_prepared_xacts x
    WHERE x.database = current_database() AND x.prepared < clock_timestamp() - p_old
    UNION ALL
    SELECT
        'activity', 'error', format('database %s', current_database()), 'track_activities is off: safeTime cannot see who has written what',
        format('ALTER DATABASE %I SET track_activities = on;', current_database())
    WHERE current_setting('track_activities') = 'off'
    UNION ALL
    SELECT
        'activity', CASE WHEN m.hidden > 0 THEN 'warning' ELSE 'note' END, format('role %s', o.owner),
        CASE WHEN m.hidden > 0
            THEN format('the activity of %s of other roles is masked: safeTime is degraded, and old transactions there are not reported here',
                queen._counted(m.hidden, 'session'))
            ELSE 'the activity of sessions of other roles would be masked; there is none now'
        END,
        format('GRANT pg_read_all_stats TO %s;', o.owner)
    FROM (
        SELECT n.nspowner AS oid, n.nspowner::regrole::text AS owner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'queen'
    ) o
    CROSS JOIN (
        SELECT count(*) AS hidden
        FROM pg_catalog.pg_stat_activity a
        WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.usesysid IS NOT NULL AND a.backend_type IS NULL
    ) m
    WHERE NOT pg_catalog.pg_has_role(o.oid, 'pg_read_all_stats', 'USAGE')
$$;
REVOKE ALL ON FUNCTION queen._doctor_sessions(interval) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_slots(p_wal_bytes bigint) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'xmin', 'warning', format('replication slot %s', s.slot_name),
        format('nobody reads it, and it holds %s',
            concat_ws(' and ', pg_size_pretty(s.wal) || ' of WAL', CASE WHEN s.xmin IS NOT NULL THEN 'dead rows' END)),
        format('SELECT pg_drop_replication_slot(%L);', s.slot_name)
    FROM (
        SELECT r.slot_name, r.xmin,
            pg_catalog.pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, r.restart_lsn) AS wal
        FROM pg_catalog.pg_replication_slots r
        WHERE NOT r.active
    ) s
    WHERE s.xmin IS NOT NULL OR s.wal >= p_wal_bytes
$$;
REVOKE ALL ON FUNCTION queen._doctor_slots(bigint) FROM PUBLIC;
