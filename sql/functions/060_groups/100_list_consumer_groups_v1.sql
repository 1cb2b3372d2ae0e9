/*
 * Purpose:     every consumer group with its backlog, one object a (group, queue).
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _group_standing.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      http-api 4.7, E-34.
 */
CREATE OR REPLACE FUNCTION queen.list_consumer_groups_v1(
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    WITH standing AS (
        SELECT s.queue_id, s.consumer_group,
               count(*) FILTER (WHERE s.has_cursor) AS cursors,
               count(*) FILTER (WHERE s.lag > 0) AS lagging,
               sum(s.lag) AS lag,
               max(queen._age_seconds(s.oldest_at)) AS age,
               sum(s.total_consumed) AS consumed
        FROM queen._group_standing(queen._tenant(p_tenant_id), NULL) s
        GROUP BY s.queue_id, s.consumer_group
    ),
    registered AS (
        SELECT m.* FROM queen.consumer_groups_metadata m
        WHERE m.partition_name = '' AND m.namespace = '' AND m.task = ''
    )
    SELECT coalesce(json_agg(json_build_object(
        'name', g.consumer_group,
        'topics', json_build_array(q.name),
        'queueName', q.name,
        'members', coalesce(s.cursors, 0),
        'partitionCursors', coalesce(s.cursors, 0),
        'partitionsWithLag', coalesce(s.lagging, 0),
        'totalLag', coalesce(s.lag, 0),
        'maxTimeLag', coalesce(s.age, 0),
        'state', CASE WHEN s.age > 300 THEN 'Lagging' WHEN s.consumed > 0 THEN 'Stable' ELSE 'Dead' END,
        'storage', 'segments',
        'subscriptionMode', r.subscription_mode,
        'subscriptionTimestamp', queen._utc_ms(r.subscription_timestamp),
        'subscriptionCreatedAt', queen._utc_ms(r.created_at),
        'conflation', coalesce(r.conflation, false)) ORDER BY g.consumer_group, q.name COLLATE "C"), '[]')
    FROM (
        SELECT s.queue_id, s.consumer_group FROM standing s
        UNION
        SELECT r.queue_id, r.consumer_group FROM registered r
    ) g
    JOIN queen.queues q ON q.id = g.queue_id AND q.tenant_id = queen._tenant(p_tenant_id) AND q.deleted_at IS NULL
    LEFT JOIN standing s ON s.queue_id = g.queue_id AND s.consumer_group = g.consumer_group
    LEFT JOIN registered r ON r.queue_id = g.queue_id AND r.consumer_group = g.consumer_group
$$;
COMMENT ON FUNCTION queen.list_consumer_groups_v1(uuid) IS
'Every consumer group, once for each queue: how many partitions it follows, how far it is behind in messages and seconds, and how it subscribed.';
REVOKE ALL ON FUNCTION queen.list_consumer_groups_v1(uuid) FROM PUBLIC;
