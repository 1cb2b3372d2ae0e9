/*
 * Purpose:     how the tables of Regent, or their indexes, were served by the buffers: the 20 that read most.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      the statistics rows of schema queen.  Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 5.5 of the HTTP API (postgres-stats).
 */
CREATE OR REPLACE FUNCTION queen._cache_table(p_indexes boolean) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object('table', c.relname, 'hits', c.hits, 'reads', c.reads,
        'hitRatio', round(c.hits::numeric / nullif(c.hits + c.reads, 0), 4)) ORDER BY c.reads DESC, c.relname), '[]')
    FROM (
        SELECT t.relname, CASE WHEN p_indexes THEN t.idx_blks_hit ELSE t.heap_blks_hit END AS hits,
            CASE WHEN p_indexes THEN t.idx_blks_read ELSE t.heap_blks_read END AS reads
        FROM pg_statio_user_tables t
        WHERE t.schemaname = 'queen'
        ORDER BY 3 DESC NULLS LAST, 1
        LIMIT 20
    ) c
    WHERE c.hits + c.reads > 0
$$;
REVOKE ALL ON FUNCTION queen._cache_table(boolean) FROM PUBLIC;
COMMENT ON FUNCTION queen._cache_table(boolean) IS 'Buffer hits and reads of the tables of Regent, or of their indexes.';
