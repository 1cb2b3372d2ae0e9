/*
 * Purpose:     the partitions on which a group is behind by a time at least, the longest lag first.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _group_standing.
 * Idempotency: reads only.
 * Raises:      QN400 for a negative lag; QN403 when a tenant is named without the right to.
 * Source:      http-api 4.7.
 */
CREATE OR REPLACE FUNCTION queen.list_lagging_partitions_v1(
    p_min_lag_seconds integer DEFAULT 3600,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    IF coalesce(p_min_lag_seconds, -1) < 0 THEN
        PERFORM queen._raise('QN400', 'minLagSeconds must not be negative', 'minLagSeconds');
    END IF;
    RETURN (
        SELECT coalesce(json_agg(json_build_object(
            'consumer_group', s.consumer_group,
            'queue_name', s.queue,
            'partition_name', s.partition,
            'partition_id', s.partition_id,
            'worker_id', s.worker_id,
            'offset_lag', s.lag,
            'time_lag_seconds', s.age,
            'lag_hours', round(s.age / 3600.0, 2),
            'oldest_unconsumed_at', queen._utc_ms(s.oldest_at),
            'last_consumed_at', NULL)
            ORDER BY s.age DESC, s.consumer_group, s.queue COLLATE "C", s.partition COLLATE "C"), '[]')
        FROM (
            SELECT x.*, queen._age_seconds(x.oldest_at) AS age
            FROM queen._group_standing(v_tenant, NULL) x
            WHERE x.lag > 0
            OFFSET 0
        ) s
        WHERE s.age >= p_min_lag_seconds);
END $$;
COMMENT ON FUNCTION queen.list_lagging_partitions_v1(integer, uuid) IS
'Partitions on which a consumer group has left a message unfinished for this many seconds, the longest first.';
REVOKE ALL ON FUNCTION queen.list_lagging_partitions_v1(integer, uuid) FROM PUBLIC;
