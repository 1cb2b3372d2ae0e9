/*
 * Purpose:     what keeps the tables from staying small and fast: autovacuum that is off, storage options that were changed,
 *              dead rows, space that nothing uses.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: reads the catalogue and the statistics of the server.
 * Bounds:      the tables of the schema.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      issue 5, E-12, E-13, design 3.3, F192, F193.
 */
CREATE OR REPLACE FUNCTION queen._doctor_autovacuum() RETURNS SETOF queen.doctor_row
LANGUAGE sql STABLE AS $$
    SELECT 'autovacuum', 'error', 'the server', 'autovacuum is off: dead rows of every push and pop stay', E'ALTER SYSTEM SET autovacuum = on;\nSELECT pg_reload_conf();'
    WHERE current_setting('autovacuum') = 'off'
    UNION ALL
    SELECT
        'autovacuum', 'error', format('database %s', current_database()), 'track_counts is off: autovacuum does not learn of dead rows',
        format('ALTER DATABASE %I SET track_counts = on;', current_database())
    WHERE current_setting('track_counts') = 'off'
    UNION ALL
    SELECT
        'autovacuum', 'error', c.oid::regclass::text, 'autovacuum is off for this table',
        format('ALTER TABLE %s RESET (autovacuum_enabled%s);', c.oid::regclass, CASE WHEN c.reltoastrelid <> 0 THEN ', toast.autovacuum_enabled' END)
    FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
    WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind = 'r'
      AND (c.reloptions && '{autovacuum_enabled=false,autovacuum_enabled=off}' OR t.reloptions && '{autovacuum_enabled=false,autovacuum_enabled=off}')
    UNION ALL
    -- Truncation takes an exclusive lock, for which every push and pop then waits (E-13).
    SELECT
        'autovacuum', 'warning', c.oid::regclass::text, 'vacuum may truncate this table, and stops all pushes and pops while it does',
        format('ALTER TABLE %s SET (vacuum_truncate = off);', c.oid::regclass)
    FROM pg_catalog.pg_class c
    WHERE c.relnamespace = 'queen'::regnamespace
      AND c.relname IN ('log_partitions', 'log_segments', 'log_txns', 'log_consumers', 'log_lease_members', 'consumer_watermarks')
      AND NOT coalesce(c.reloptions && '{vacuum_truncate=off,vacuum_truncate=false}', false)
$$;
REVOKE ALL ON FUNCTION queen._doctor_autovacuum() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_bloat(
    p_dead_rows bigint,
    p_bloat_bytes bigint
) RETURNS SETOF queen.doctor_row
LANGUAGE sql STABLE AS $$
    WITH heap AS (
        SELECT
            c.oid, c.reltoastrelid,
            s.n_dead_tup + coalesce(t.n_dead_tup, 0) AS dead, s.n_live_tup + coalesce(t.n_live_tup, 0) AS live, s.last_autovacuum,
            pg_catalog.pg_table_size(c.oid) AS bytes,
            s.n_live_tup * (40 + coalesce((
                SELECT sum(w.avg_width) FROM pg_catalog.pg_stats w WHERE w.schemaname = 'queen' AND w.tablename = c.relname), 200))
                + coalesce(t.n_live_tup, 0) * 2048 AS needed
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
        LEFT JOIN pg_catalog.pg_stat_all_tables t ON t.relid = c.reltoastrelid
        WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind = 'r'
    )
    SELECT
        'bloat', 'warning', h.oid::regclass::text,
        format('%s dead rows beside %s live ones; autovacuum ended last %s', h.dead, h.live, coalesce(queen._utc(h.last_autovacuum), 'never')),
        format('VACUUM %s;', h.oid::regclass)
    FROM heap h
    WHERE h.dead > p_dead_rows + h.live / 2
    UNION ALL
    SELECT
        'bloat', 'warning', h.oid::regclass::text,
        format('%s for rows that need about %s; the statement locks the table while it runs', pg_size_pretty(h.bytes), pg_size_pretty(h.needed)),
        format('VACUUM FULL %s;', h.oid::regclass)
    FROM heap h
    WHERE h.bytes > p_bloat_bytes AND h.bytes > 4 * h.needed AND h.dead <= p_dead_rows + h.live / 2
$$;
REVOKE ALL ON FUNCTION queen._doctor_bloat(bigint, bigint) FROM PUBLIC;
