/*
 * Purpose:     rows whose partition is gone, and partitions whose queue is gone: nothing shows them and nothing removes them.
 * Locks:       none.
 * Isolation:   any; STABLE, so all of one call is of one snapshot.
 * Volatility:  STABLE.
 * Bounds:      one or two key probes a partition and table, whatever a partition holds.
 * Idempotency: yes.
 * Raises:      QN403 for a role that sees only one tenant: an orphan belongs to none.
 * Source:      issue 5, E-22 to E-24, design 3.1.
 */
CREATE OR REPLACE FUNCTION queen.verify_orphans_v1() RETURNS SETOF queen.verify_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    r record;
BEGIN
    IF NOT queen._sees_all_tenants() THEN
        PERFORM queen._raise('QN403', 'orphans belong to no tenant: only the owner and queen_server may look for them');
    END IF;
    -- One statement a table, made from its name: each table is walked along its own key, from partition to partition.
    FOR r IN
        SELECT * FROM (VALUES
            ('log_segments', 'segments'), ('log_txns', 'hash rows'), ('log_consumers', 'cursors'), ('log_dlq', 'dead letters'),
            ('log_keys', 'keys'), ('log_compaction', 'compaction progress'), ('log_dirty', 'segments to compact')) t (name, what)
    LOOP
        RETURN QUERY EXECUTE format($q$
            WITH RECURSIVE owner AS (
                (SELECT x.partition_id AS id FROM queen.%1$I x ORDER BY x.partition_id LIMIT 1)
                UNION ALL
                SELECT (SELECT x.partition_id FROM queen.%1$I x WHERE x.partition_id > o.id ORDER BY x.partition_id LIMIT 1)
                FROM owner o
                WHERE o.id IS NOT NULL
            )
            SELECT 'orphan', '', '', o.id, NULL::bigint, %2$L || ' of a partition that does not exist'
            FROM owner o
            WHERE o.id IS NOT NULL AND NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = o.id)
            LIMIT 1000$q$, r.name, r.what);
    END LOOP;
    RETURN QUERY
    SELECT 'orphan', '', p.name, p.id, NULL::bigint, 'a partition of a queue that does not exist'
    FROM queen.log_partitions p
    WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = p.queue_id)
    LIMIT 1000;
END $$;
COMMENT ON FUNCTION queen.verify_orphans_v1() IS
'Find rows whose partition or queue does not exist: one row a partition and table, none when all is well.';
REVOKE ALL ON FUNCTION queen.verify_orphans_v1() FROM PUBLIC;
