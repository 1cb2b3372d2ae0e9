/*
 * Purpose:     the document of GET /api/v1/analytics/postgres-stats: what PostgreSQL counts about this database and the tables of Regent.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the statistics rows of schema queen, and one a session.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      spec 5.5 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.get_postgres_stats_v1() RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
BEGIN
    PERFORM queen._require_whole_server();
    RETURN json_build_object(
        'timestamp', queen._utc_ms(statement_timestamp()),
        'database', (
            SELECT json_build_object('name', d.datname, 'sizeBytes', pg_database_size(d.datid), 'connections', d.numbackends,
                'commits', d.xact_commit, 'rollbacks', d.xact_rollback, 'deadlocks', d.deadlocks, 'tempFiles', d.temp_files, 'tempBytes', d.temp_bytes,
                'version', current_setting('server_version'))
            FROM pg_stat_database d WHERE d.datname = current_database()),
        'databaseCache', (
            SELECT json_build_object('hits', d.blks_hit, 'reads', d.blks_read, 'hitRatio', round(d.blks_hit::numeric / nullif(d.blks_hit + d.blks_read, 0), 4))
            FROM pg_stat_database d WHERE d.datname = current_database()),
        'tableCache', queen._cache_table(false),
        'indexCache', queen._cache_table(true),
        'cacheSummary', (
            SELECT json_build_object('heapHits', coalesce(sum(t.heap_blks_hit), 0), 'heapReads', coalesce(sum(t.heap_blks_read), 0),
                'indexHits', coalesce(sum(t.idx_blks_hit), 0), 'indexReads', coalesce(sum(t.idx_blks_read), 0))
            FROM pg_statio_user_tables t WHERE t.schemaname = 'queen'),
        'deadTuples', (
            SELECT coalesce(json_agg(json_build_object('table', t.relname, 'live', t.n_live_tup, 'dead', t.n_dead_tup) ORDER BY t.n_dead_tup DESC, t.relname), '[]')
            FROM pg_stat_user_tables t WHERE t.schemaname = 'queen' AND t.n_dead_tup > 0),
        'hotUpdates', (
            SELECT coalesce(json_agg(json_build_object('table', t.relname, 'updates', t.n_tup_upd, 'hot', t.n_tup_hot_upd) ORDER BY t.n_tup_upd DESC, t.relname), '[]')
            FROM pg_stat_user_tables t WHERE t.schemaname = 'queen' AND t.n_tup_upd > 0),
        'activeQueries', (
            SELECT coalesce(json_agg(json_build_object('state', a.state, 'waitEventType', a.kind, 'sessions', a.n, 'oldestSeconds', a.oldest)
                ORDER BY a.n DESC, a.state, a.kind), '[]')
            FROM (
                SELECT coalesce(s.state, 'hidden') AS state, s.wait_event_type AS kind, count(*) AS n,
                    max(queen._age_seconds(coalesce(s.query_start, s.backend_start))) AS oldest
                FROM pg_stat_activity s
                WHERE s.datname = current_database() AND s.backend_type = 'client backend' AND s.pid <> pg_backend_pid()
                GROUP BY 1, 2
            ) a),
        'autovacuumStatus', (
            SELECT coalesce(json_agg(json_build_object('table', t.relname, 'lastAutovacuum', queen._utc_ms(t.last_autovacuum),
                'lastAutoanalyze', queen._utc_ms(t.last_autoanalyze), 'autovacuums', t.autovacuum_count, 'autoanalyzes', t.autoanalyze_count) ORDER BY t.relname), '[]')
            FROM pg_stat_user_tables t WHERE t.schemaname = 'queen'),
        'bufferConfig', (
            SELECT json_object_agg(s.name, current_setting(s.name))
            FROM unnest(ARRAY['shared_buffers', 'effective_cache_size', 'work_mem', 'maintenance_work_mem', 'max_connections']) s (name)),
        'bufferUsage', (
            SELECT json_build_object('cleanerWrites', b.buffers_clean, 'allocated', b.buffers_alloc)
            FROM pg_stat_bgwriter b),
        'tableSizes', (
            SELECT coalesce(json_agg(json_build_object('table', t.relname, 'totalBytes', t.total, 'tableBytes', t.heap, 'indexBytes', t.indexes) ORDER BY t.total DESC, t.relname), '[]')
            FROM (
                SELECT c.relname, pg_total_relation_size(c.oid) AS total, pg_table_size(c.oid) AS heap, pg_indexes_size(c.oid) AS indexes
                FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind = 'r'
                ORDER BY 2 DESC LIMIT 20
            ) t));
END $$;
COMMENT ON FUNCTION queen.get_postgres_stats_v1() IS
'What PostgreSQL counts about this database and the tables of Regent: cache, dead rows, vacuum, sessions, sizes.';
REVOKE ALL ON FUNCTION queen.get_postgres_stats_v1() FROM PUBLIC;
