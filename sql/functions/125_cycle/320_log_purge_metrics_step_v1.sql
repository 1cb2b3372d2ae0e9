/*
 * Purpose:     one bounded step that forgets numbers older than p_days: what servers and queues did by the minute, samples of
 *              the servers, sizes of queues by the hour, and the audit of deletions. A new table is one more line of the list.
 * Locks:       the rows removed, SKIP LOCKED.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows (1 to 10000) of all tables together.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1. p_days below 1 counts as 1.
 * Source:      R-46, R-47; issue 5.2.
 */
CREATE OR REPLACE FUNCTION queen.log_purge_metrics_step_v1(
    p_days integer DEFAULT 90,
    p_max_rows integer DEFAULT 1000,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    v_before timestamptz := coalesce(p_now, clock_timestamp()) - make_interval(days => least(greatest(coalesce(p_days, 90), 1), 100000));
    v_max integer := least(p_max_rows, 10000);
    v_rows integer;
    r record;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    FOR r IN
        SELECT * FROM (VALUES
            ('worker_metrics', 'bucket_time'),
            ('queue_lag_metrics', 'bucket_time'),
            ('queue_parked_replica', 'bucket_time'),
            ('retention_history', 'executed_at'),
            ('queue_size_history', 'hour_at'),
            ('system_metrics', 'timestamp')
        ) t (tab, col)
    LOOP
        EXIT WHEN r_out.worked >= v_max;
        -- Dynamic: one statement for tables that differ only in the name of their time.
        EXECUTE format(
            'DELETE FROM queen.%1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM queen.%1$I WHERE %2$I < $1 ORDER BY %2$I LIMIT $2 FOR UPDATE SKIP LOCKED))',
            r.tab, r.col) USING v_before, v_max - r_out.worked;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        r_out.worked := r_out.worked + v_rows;
    END LOOP;
    r_out.done := r_out.worked < v_max;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_purge_metrics_step_v1(integer, integer, timestamptz) IS
'One bounded step that removes metrics and audit rows older than so many days; answers how many and whether none is left.';
REVOKE ALL ON FUNCTION queen.log_purge_metrics_step_v1(integer, integer, timestamptz) FROM PUBLIC;
