/*
 * Purpose:     the document of GET /api/v1/analytics/dlq-signatures: what the dead letters of a queue have in common.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the dead letters of the queue without their payloads, and p_limit (at most 1000) of the newest with them.
 * Idempotency: reads only.
 * Raises:      QN404 when there is no such queue; QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen.get_dead_letter_signatures_v1(
    p_queue text,
    p_limit integer DEFAULT 200,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    r_queue queen.queues := queen._find_queue(p_queue, queen._tenant(p_tenant_id));
BEGIN
    RETURN (
        WITH letter AS MATERIALIZED (
            SELECT d.id, d.failed_at, d.consumer_group, d.retry_count
            FROM queen.log_partitions p
            JOIN queen.log_dlq d ON d.partition_id = p.id
            WHERE p.queue_id = r_queue.id
        ), sample AS MATERIALIZED (
            SELECT d.error, octet_length(d.payload) AS bytes
            FROM (SELECT l.id FROM letter l ORDER BY l.failed_at DESC, l.id LIMIT least(greatest(p_limit, 1), 1000)) n
            JOIN queen.log_dlq d ON d.id = n.id
        ), folded AS (
            SELECT queen._error_signature(s.error) AS text, count(*) AS n FROM sample s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 8
        )
        SELECT json_build_object(
            'queue', r_queue.name,
            'rowsNow', (SELECT count(*) FROM letter),
            'sample', (SELECT count(*) FROM sample),
            'retryCounts', coalesce((SELECT json_agg(json_build_object('retryCount', c.retry_count, 'n', c.n) ORDER BY c.retry_count)
                FROM (SELECT l.retry_count, count(*) AS n FROM letter l GROUP BY 1) c), '[]'),
            'groups', coalesce((SELECT json_agg(json_build_object('group', g.consumer_group, 'n', g.n) ORDER BY g.n DESC, g.consumer_group)
                FROM (SELECT l.consumer_group, count(*) AS n FROM letter l GROUP BY 1) g), '[]'),
            'oldest', (SELECT queen._utc_ms(min(l.failed_at)) FROM letter l),
            'newest', (SELECT queen._utc_ms(max(l.failed_at)) FROM letter l),
            'avgBytes', (SELECT coalesce(round(avg(s.bytes)), 0) FROM sample s),
            'signatures', coalesce((SELECT json_agg(json_build_object('text', f.text, 'n', f.n,
                'share', round(f.n::numeric / (SELECT count(*) FROM sample), 4)) ORDER BY f.n DESC, f.text) FROM folded f), '[]'),
            'byDay', coalesce((SELECT json_agg(json_build_object('day', to_char(y.day, 'YYYY-MM-DD'), 'n', y.n) ORDER BY y.day)
                FROM (SELECT (l.failed_at AT TIME ZONE 'UTC')::date AS day, count(*) AS n FROM letter l GROUP BY 1) y), '[]')));
END $$;
COMMENT ON FUNCTION queen.get_dead_letter_signatures_v1(text, integer, uuid) IS
'What the dead letters of a queue have in common: their errors without the parts that differ, by frequency, and by day, group and attempts.';
REVOKE ALL ON FUNCTION queen.get_dead_letter_signatures_v1(text, integer, uuid) FROM PUBLIC;
