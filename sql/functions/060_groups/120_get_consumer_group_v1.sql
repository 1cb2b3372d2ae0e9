/*
 * Purpose:     where one group stands on each partition it has a cursor on, by queue.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  VOLATILE: ages and leases are of this moment.
 * Bounds:      as _group_standing, for one group.
 * Idempotency: reads only.
 * Raises:      QN400 for a bad name; nothing for an unknown group, which is an empty object.
 * Source:      http-api 4.7.
 */
CREATE OR REPLACE FUNCTION queen.get_consumer_group_v1(
    p_group text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._check_name(p_group, 'consumerGroup');
    RETURN (
        SELECT coalesce(json_object_agg(d.queue, json_build_object(
            'conflation', EXISTS (
                SELECT FROM queen.consumer_groups_metadata m
                WHERE m.queue_id = d.queue_id AND m.consumer_group = p_group AND m.conflation),
            'partitions', d.partitions) ORDER BY d.queue COLLATE "C"), '{}')
        FROM (
            SELECT s.queue_id, s.queue, json_agg(json_build_object(
                'partition', s.partition,
                'workerId', s.worker_id,
                'lastConsumedAt', NULL,
                'totalConsumed', s.total_consumed,
                'offsetLag', s.lag,
                'timeLagSeconds', queen._age_seconds(s.oldest_at),
                'leaseActive', coalesce(s.worker_id IS NOT NULL AND s.lease_expires_at > clock_timestamp(), false))
                ORDER BY s.partition COLLATE "C") AS partitions
            FROM queen._group_standing(v_tenant, p_group) s
            WHERE s.has_cursor
            GROUP BY s.queue_id, s.queue
        ) d);
END $$;
COMMENT ON FUNCTION queen.get_consumer_group_v1(text, uuid) IS
'One consumer group in detail: on each partition of each queue its lag, what it has consumed, and whether a lease is live.';
REVOKE ALL ON FUNCTION queen.get_consumer_group_v1(text, uuid) FROM PUBLIC;
