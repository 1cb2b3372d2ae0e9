/*
 * Purpose:     end a claim. After a success the next run is one period after the last was due, but not in the past; after an
 *              error the task stays due. False: the fence is an older one's, nothing was changed.
 * Locks:       the task's row.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: yes: a second call changes nothing.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      S-3, S-4, S-5, S-7.
 */
CREATE OR REPLACE FUNCTION queen.log_release_task_v1(
    p_task text,
    p_fence bigint,
    p_succeeded boolean
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    PERFORM queen._require_whole_server();
    UPDATE queen.maintenance_leases l
    SET lease_until = NULL,
        holder = NULL,
        next_due_at = CASE WHEN p_succeeded
            THEN greatest(l.next_due_at + queen._task_period(l.period_ms), clock_timestamp()) ELSE l.next_due_at END,
        last_end_at = CASE WHEN p_succeeded THEN clock_timestamp() ELSE l.last_end_at END,
        last_duration_ms = CASE WHEN p_succeeded
            THEN greatest(extract(epoch FROM clock_timestamp() - queen._shown_time(l.last_start_at)) * 1000, 0)::bigint ELSE l.last_duration_ms END,
        runs = l.runs + CASE WHEN p_succeeded THEN 1 ELSE 0 END
    WHERE l.task = p_task COLLATE "C" AND l.fence = p_fence AND l.lease_until IS NOT NULL;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION queen.log_release_task_v1(text, bigint, boolean) IS
'End a claimed maintenance task: after a success it is due one period later, after an error at once.';
REVOKE ALL ON FUNCTION queen.log_release_task_v1(text, bigint, boolean) FROM PUBLIC;
