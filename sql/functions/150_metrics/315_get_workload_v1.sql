/*
 * Purpose:     the document of GET /api/v1/analytics/workload: what was done in a range and what is owed now, by namespace, task
 *              or queue, and for all queues of the tenant together, which no filter narrows.
 *              buckets are those in which something was counted on a queue of the tenant; a row that has nothing in one has null there.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the rows of the range, one a queue and minute; the cursors of the tenant's partitions; in the answer at most
 *              p_max_rows rows (1 to 1000), those with most messages pushed, x buckets.
 * Idempotency: reads only.
 * Raises:      QN400 for another p_group_by; QN403 when a tenant is named without the right to.
 * Source:      spec 5.5 of the HTTP API; S-36, S-37, S-40.
 */
CREATE OR REPLACE FUNCTION queen.get_workload_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_group_by text DEFAULT 'namespace',
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_max_rows integer DEFAULT 1000
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_group_by text := coalesce(p_group_by, 'namespace');
    v_to timestamptz := coalesce(p_to, statement_timestamp());
    v_from timestamptz := coalesce(p_from, least(statement_timestamp(), v_to) - interval '1 hour');
    v_minutes integer := queen._bucket_minutes(v_from, v_to);
    v_length double precision := greatest(extract(epoch FROM v_to - v_from) / 60, 1);
BEGIN
    IF v_group_by NOT IN ('namespace', 'task', 'queue') THEN
        PERFORM queen._raise('QN400', 'bad groupBy', 'groupBy');
    END IF;
    RETURN (
        WITH mine AS MATERIALIZED (
            SELECT q.id, q.name, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task,
                coalesce(s.pending_messages, 0) AS pending, coalesce(s.processing_messages, 0) AS processing,
                coalesce(s.dead_letter_messages, 0) AS dead, coalesce(s.retained_bytes, 0) AS bytes, coalesce(s.child_count, 0) AS partitions,
                (SELECT count(*) FROM (
                    SELECT x.consumer_group FROM queen.consumer_groups_metadata x
                    WHERE x.queue_id = q.id AND x.partition_name = '' AND x.namespace = '' AND x.task = ''
                    UNION
                    SELECT k.consumer_group FROM queen.log_partitions p JOIN queen.log_consumers k ON k.partition_id = p.id WHERE p.queue_id = q.id) g) AS groups
            FROM queen.queues q
            LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.stat_key = q.id::text
            WHERE q.tenant_id = v_tenant AND q.deleted_at IS NULL
        ), measured AS MATERIALIZED (
            SELECT m.*, queen._bucket(m.bucket_time, v_minutes) AS at
            FROM queen.queue_lag_metrics m
            JOIN mine q ON q.id = m.queue_id
            WHERE m.bucket_time >= queen._bucket(v_from, 1) AND m.bucket_time <= v_to
        ), used AS (
            SELECT m.queue_id,
                sum(m.push_request_count + m.pop_count + m.pop_empty_count + m.ack_request_count + m.transaction_count) > 0 AS touched,
                sum(m.push_message_count + m.pop_count) > 0 AS active
            FROM measured m
            GROUP BY 1
        ), axis AS (
            SELECT DISTINCT m.at FROM measured m
        ), member AS MATERIALIZED (
            -- Each queue under its key, and under the whole.
            SELECT false AS whole, CASE v_group_by WHEN 'namespace' THEN q.namespace WHEN 'task' THEN q.task ELSE q.name END AS key, q.*
            FROM mine q
            WHERE (p_namespace IS NULL OR q.namespace = p_namespace) AND (p_task IS NULL OR q.task = p_task) AND (p_queue IS NULL OR q.name = p_queue)
            UNION ALL
            SELECT true, '', q.* FROM mine q
        ), pushed AS (
            SELECT b.key, coalesce(sum(m.push_message_count), 0) AS messages
            FROM member b
            LEFT JOIN measured m ON m.queue_id = b.id
            WHERE NOT b.whole
            GROUP BY 1
            ORDER BY 2 DESC, b.key COLLATE "C"
            LIMIT least(greatest(p_max_rows, 1), 1000)
        ), shown AS MATERIALIZED (
            SELECT b.* FROM member b WHERE b.whole OR b.key IN (SELECT p.key FROM pushed p)
        ), owed AS (
            -- There is always a row of the whole, even without any queue.
            SELECT w.whole, w.key, count(b.id) AS queues, min(b.namespace) AS namespace, min(b.task) AS task, json_build_object(
                'pending', coalesce(sum(b.pending), 0),
                'processing', coalesce(sum(b.processing), 0),
                'deadLetter', coalesce(sum(b.dead), 0),
                'retainedBytes', coalesce(sum(b.bytes), 0),
                'partitions', coalesce(sum(b.partitions), 0),
                'groups', coalesce(sum(b.groups), 0),
                'queuesWithoutGroup', count(*) FILTER (WHERE b.groups = 0),
                'pendingWithoutGroup', coalesce(sum(b.pending) FILTER (WHERE b.groups = 0), 0),
                'queuesTouched', count(*) FILTER (WHERE u.touched),
                'queuesActive', count(*) FILTER (WHERE u.active)) AS now
            FROM (SELECT b.whole, b.key FROM shown b UNION SELECT true, '') w
            LEFT JOIN shown b USING (whole, key)
            LEFT JOIN used u ON u.queue_id = b.id
            GROUP BY 1, 2
        ), cell AS (
            SELECT b.whole, b.key, m.at, sum(m.push_message_count) AS pushed, sum(m.pop_count) AS popped, sum(m.pop_empty_count) AS empty,
                sum(m.ack_failed_count) AS failed, sum(m.parked_count) / v_minutes AS parked,
                sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0) AS avg_lag, max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0) AS max_lag
            FROM shown b
            JOIN measured m ON m.queue_id = b.id
            GROUP BY 1, 2, 3
        ), line AS (
            SELECT o.whole, o.key, json_build_object(
                'push', coalesce(json_agg(c.pushed ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'pop', coalesce(json_agg(c.popped ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'popEmpty', coalesce(json_agg(c.empty ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'ackFailed', coalesce(json_agg(c.failed ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'parked', coalesce(json_agg(c.parked ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'avgLagMs', coalesce(json_agg(c.avg_lag ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]'),
                'maxLagMs', coalesce(json_agg(c.max_lag ORDER BY a.at) FILTER (WHERE a.at IS NOT NULL), '[]')) AS series
            FROM owed o
            LEFT JOIN axis a ON true
            LEFT JOIN cell c ON c.whole = o.whole AND c.key = o.key AND c.at = a.at
            GROUP BY 1, 2
        ), done AS (
            SELECT o.whole, o.key, coalesce(sum(m.push_message_count), 0) AS pushed, json_build_object(
                'pushMessages', coalesce(sum(m.push_message_count), 0),
                'pushRequests', coalesce(sum(m.push_request_count), 0),
                'popMessages', coalesce(sum(m.pop_count), 0),
                'popEmpty', coalesce(sum(m.pop_empty_count), 0),
                'ackRequests', coalesce(sum(m.ack_request_count), 0),
                'ackSuccess', coalesce(sum(m.ack_success_count), 0),
                'ackFailed', coalesce(sum(m.ack_failed_count), 0),
                'transactions', coalesce(sum(m.transaction_count), 0),
                'conflated', coalesce(sum(m.conflated_count), 0),
                'partitionsCreated', coalesce(sum(m.partitions_created), 0),
                'partitionsDeleted', coalesce(sum(m.partitions_deleted), 0),
                'parkedAvg', coalesce(sum(m.parked_count), 0) / v_length,
                'avgLagMs', sum(m.avg_lag_ms * m.lag_count) / nullif(sum(m.lag_count), 0),
                'maxLagMs', max(m.max_lag_ms) FILTER (WHERE m.lag_count > 0)) AS "window"
            FROM owed o
            LEFT JOIN shown b USING (whole, key)
            LEFT JOIN measured m ON m.queue_id = b.id
            GROUP BY 1, 2
        )
        SELECT json_build_object(
            'timeRange', json_build_object('from', queen._utc_ms(v_from), 'to', queen._utc_ms(v_to)),
            'bucketMinutes', v_minutes,
            'groupBy', v_group_by,
            'buckets', coalesce((SELECT json_agg(queen._utc_ms(a.at) ORDER BY a.at) FROM axis a), '[]'),
            'rows', coalesce(json_agg(
                CASE WHEN v_group_by = 'queue' THEN json_build_object('key', o.key, 'queues', o.queues, 'namespace', o.namespace, 'task', o.task,
                    'window', d."window", 'series', l.series, 'now', o.now)
                ELSE json_build_object('key', o.key, 'queues', o.queues, 'window', d."window", 'series', l.series, 'now', o.now) END
                ORDER BY d.pushed DESC, o.key COLLATE "C") FILTER (WHERE NOT o.whole), '[]'),
            'tenant', (json_agg(json_build_object('queues', o.queues, 'window', d."window", 'series', l.series, 'now', o.now)) FILTER (WHERE o.whole)) -> 0)
        FROM owed o
        JOIN line l USING (whole, key)
        JOIN done d USING (whole, key));
END $$;
COMMENT ON FUNCTION queen.get_workload_v1(timestamptz, timestamptz, text, text, text, text, uuid, integer) IS
'What was done in the last hour or a range, and what is owed now, by namespace, task or queue and for the tenant; those with most messages pushed first, at most so many.';
REVOKE ALL ON FUNCTION queen.get_workload_v1(timestamptz, timestamptz, text, text, text, text, uuid, integer) FROM PUBLIC;
