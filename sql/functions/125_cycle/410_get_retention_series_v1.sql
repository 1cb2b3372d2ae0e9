/*
 * Purpose:     what retention deleted over time: messages by rule in buckets of a range, totals, and, when asked, one row a
 *              namespace, task or queue. The account of each deleting step is read, so it goes back as far as METRICS_RETENTION_DAYS.
 *              Types with two underscores (partitions, deleted queues) are not retention and not counted. A deleted queue counts
 *              on, under its name; after its rows are gone too, under the empty one.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range.
 * Idempotency: reads only.
 * Raises:      QN400 for another p_group_by.
 * Source:      spec 5.2 and 5.5 of the HTTP API, R-23, F101.
 */
CREATE OR REPLACE FUNCTION queen.get_retention_series_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_queue text DEFAULT NULL,
    p_group_by text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_now timestamptz := clock_timestamp();
    v_from timestamptz := coalesce(p_from, v_now - interval '1 hour');
    v_to timestamptz := coalesce(p_to, v_now);
    v_minutes integer := queen._bucket_minutes(v_from, v_to);
BEGIN
    IF p_group_by NOT IN ('namespace', 'task', 'queue') THEN
        PERFORM queen._raise('QN400', 'bad groupBy', 'groupBy');
    END IF;
    RETURN (
        WITH event AS MATERIALIZED (
            SELECT h.retention_type AS rule, h.messages_deleted AS messages, h.unread_deleted AS unread, h.bytes_deleted AS bytes, h.rows_deleted AS rows,
                   queen._bucket(h.executed_at, v_minutes) AS bucket, h.queue_id,
                   CASE p_group_by WHEN 'namespace' THEN q.namespace WHEN 'task' THEN q.task WHEN 'queue' THEN q.name END AS key
            FROM queen.retention_history h
            LEFT JOIN queen.queues q ON q.id = h.queue_id
            WHERE h.executed_at >= v_from AND h.executed_at <= v_to AND h.tenant_id = v_tenant AND h.retention_type NOT LIKE '\_\_%'
              AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
        )
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
            'series', (
                SELECT coalesce(json_agg(queen._retention_sums(to_jsonb(g)) ORDER BY g.at), '[]')
                FROM (
                    SELECT e.bucket AS at, to_char(e.bucket AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS bucket, s.*
                    FROM (SELECT DISTINCT x.bucket FROM event x) e
                    CROSS JOIN LATERAL (
                        SELECT jsonb_object_agg(r.rule, r.sums) AS by_rule, sum(r.n) AS n
                        FROM (SELECT x.rule, count(*) AS n, queen._rule_sums(sum(x.messages), sum(x.unread), sum(x.bytes), sum(x.rows)) AS sums
                              FROM event x WHERE x.bucket = e.bucket GROUP BY x.rule) r
                    ) s
                ) g),
            'totals', (
                SELECT queen._retention_sums(to_jsonb(s))
                FROM (
                    SELECT jsonb_object_agg(r.rule, r.sums) AS by_rule, sum(r.n) AS n
                    FROM (SELECT x.rule, count(*) AS n, queen._rule_sums(sum(x.messages), sum(x.unread), sum(x.bytes), sum(x.rows)) AS sums
                          FROM event x GROUP BY x.rule) r
                ) s),
            'rows', (
                SELECT coalesce(json_agg(queen._retention_sums(to_jsonb(g)) ORDER BY g.total DESC, g.key COLLATE "C"), '[]')
                FROM (
                    SELECT k.key, k.queues, k.total, s.*
                    FROM (SELECT coalesce(x.key, '') AS key, count(DISTINCT x.queue_id) AS queues, sum(x.messages) AS total FROM event x GROUP BY 1) k
                    CROSS JOIN LATERAL (
                        SELECT jsonb_object_agg(r.rule, r.sums) AS by_rule, sum(r.n) AS n
                        FROM (SELECT x.rule, count(*) AS n, queen._rule_sums(sum(x.messages), sum(x.unread), sum(x.bytes), sum(x.rows)) AS sums
                              FROM event x WHERE coalesce(x.key, '') = k.key GROUP BY x.rule) r
                    ) s
                    WHERE p_group_by IS NOT NULL
                ) g))::jsonb - CASE WHEN p_group_by IS NULL THEN 'rows' ELSE '' END);
END $$;
COMMENT ON FUNCTION queen.get_retention_series_v1(timestamptz, timestamptz, text, text, uuid) IS
'How many messages retention deleted by each rule over time, for all queues or one, or summed by namespace, task or queue.';
REVOKE ALL ON FUNCTION queen.get_retention_series_v1(timestamptz, timestamptz, text, text, uuid) FROM PUBLIC;

-- Sums of one rule.
CREATE OR REPLACE FUNCTION queen._rule_sums(
    p_messages numeric,
    p_unread numeric,
    p_bytes numeric,
    p_rows numeric
) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_build_object('messages', p_messages, 'unread', p_unread, 'bytes', p_bytes, 'rows', p_rows)
$$;
REVOKE ALL ON FUNCTION queen._rule_sums(numeric, numeric, numeric, numeric) FROM PUBLIC;

-- The five sums of the wire and those of each rule, from {by_rule, n} and, where they are given, bucket, key and queues.
CREATE OR REPLACE FUNCTION queen._retention_sums(p_sums jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object('bucket', p_sums -> 'bucket', 'key', p_sums -> 'key', 'queues', p_sums -> 'queues'))
        || jsonb_build_object(
            'retentionMsgs', coalesce((p_sums #> '{by_rule,retention,messages}')::bigint, 0),
            'completedRetentionMsgs', coalesce((p_sums #> '{by_rule,completed_retention,messages}')::bigint, 0),
            'evictionMsgs', coalesce((p_sums #> '{by_rule,max_wait_time_eviction,messages}')::bigint, 0),
            'totalMsgs', coalesce((SELECT sum((r.value -> 'messages')::bigint) FROM jsonb_each(nullif(p_sums -> 'by_rule', 'null')) r), 0),
            'eventCount', coalesce((nullif(p_sums -> 'n', 'null'))::bigint, 0),
            'rules', coalesce(nullif(p_sums -> 'by_rule', 'null'), '{}'))
$$;
REVOKE ALL ON FUNCTION queen._retention_sums(jsonb) FROM PUBLIC;
