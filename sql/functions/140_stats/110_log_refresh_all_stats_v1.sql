/*
 * Purpose:     one cycle of the reconciler: count what every queue keeps and owes, write it to queen.stats, roll it up by
 *              namespace, task, tenant and over all. Bytes and segment rows are not its business.
 * Locks:       the advisory lock of the task (tried, or with p_wait waited for), then rows of stats in the order of queue
 *              ids. None on a queue: it neither waits for who deletes or configures one, nor makes them wait.
 * Isolation:   READ COMMITTED only: rows must be read after their locks.
 * Volatility:  VOLATILE: writes.
 * Bounds:      O(partitions x groups), no scan of segments; a written row a queue and label, none a partition.
 *              Sorts are off, since the price of rare probes would make the planner sort all partitions.
 * Idempotency: yes, but for the rates.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level; 55P03 when a lock is held for 5 s.
 * Source:      S-10 to S-29, seed counters-rates-lag; F127, F129.
 */
CREATE OR REPLACE FUNCTION queen.log_refresh_all_stats_v1(
    p_wait boolean DEFAULT false
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
SET work_mem = '64MB'
SET enable_sort = off
SET lock_timeout = '5s' AS $$
DECLARE
    v_busy boolean := false;
    v_at timestamptz;
    v_updated integer := 0;
    v_changed integer := 0;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF p_wait THEN
        PERFORM pg_advisory_xact_lock(queen._lock_id('stats'));
    ELSE
        v_busy := NOT pg_try_advisory_xact_lock(queen._lock_id('stats'));
    END IF;
    v_at := clock_timestamp();
    IF NOT v_busy THEN
        SELECT s.updated, s.changed INTO v_updated, v_changed FROM queen._store_queue_stats(v_at) s;
        PERFORM queen._roll_up_stats(v_at);
    END IF;
    RETURN (
        SELECT json_strip_nulls(json_build_object(
            'engine', 'segments',
            'queuesUpdated', v_updated,
            'queuesChanged', v_changed,
            'segPartitions', coalesce(sum(s.child_count) FILTER (WHERE s.stat_type = 'system'), 0),
            'namespaces', json_build_object('namespacesUpdated', count(*) FILTER (WHERE s.stat_type = 'namespace')),
            'tasks', json_build_object('tasksUpdated', count(*) FILTER (WHERE s.stat_type = 'task')),
            'system', json_build_object('systemUpdated', count(*) FILTER (WHERE s.stat_type = 'system')),
            'refreshedAt', queen._utc_ms(v_at),
            'busy', nullif(v_busy, false)))
        FROM queen.stats s
        WHERE s.stat_type <> 'queue' AND s.last_computed_at = v_at);
END $$;
COMMENT ON FUNCTION queen.log_refresh_all_stats_v1(boolean) IS
'Count every queue now and store the numbers. While another call counts it answers busy and does nothing, or waits its turn when p_wait is true.';
REVOKE ALL ON FUNCTION queen.log_refresh_all_stats_v1(boolean) FROM PUBLIC;
