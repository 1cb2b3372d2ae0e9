/*
 * Purpose:     one bounded step that removes dead letters older than their queue's deadLetterRetentionSeconds, and counts
 *              them for the queue in dead_letter_removals. A queue that has not set the option loses nothing.
 * Locks:       advisory 737001 shared (whoever holds it exclusively stops every sweep), then the dead letters, SKIP LOCKED:
 *              what a replay holds is left to the next step; then the queue's row of the account.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows dead letters (at most 10000); one key probe a partition of the queues that set the option.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1. Never on a stored option value.
 * Source:      design 5 (deadLetterRetentionSeconds), I-24, W-4, design 7.
 */
CREATE OR REPLACE FUNCTION queen.log_purge_dead_letters_step_v1(
    p_max_rows integer DEFAULT 1000,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    r_out queen.step_row;
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_ids uuid[];
    v_queue_ids uuid[];
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    r_out.done := true;
    IF NOT pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        RETURN NEXT r_out;
        RETURN;
    END IF;
    SELECT array_agg(x.id), array_agg(x.queue_id) INTO v_ids, v_queue_ids
    FROM (
        SELECT d.id, q.id AS queue_id
        FROM queen.queues q
        JOIN queen.log_partitions p ON p.queue_id = q.id
        CROSS JOIN LATERAL (
            SELECT l.id FROM queen.log_dlq l
            WHERE l.partition_id = p.id AND l.failed_at < v_now - make_interval(secs => q.dead_letter_retention_seconds)
            ORDER BY l.failed_at
            LIMIT least(p_max_rows, 10000)
            FOR UPDATE SKIP LOCKED
        ) d
        WHERE q.dead_letter_retention_seconds > 0 AND q.deleted_at IS NULL
        LIMIT least(p_max_rows, 10000)
    ) x;
    WITH gone AS (
        DELETE FROM queen.log_dlq d USING unnest(v_ids, v_queue_ids) u (id, queue_id)
        WHERE d.id = u.id
        RETURNING u.queue_id, d.failed_at
    )
    INSERT INTO queen.dead_letter_removals AS a (queue_id, removed, newest_failed_at, last_removed_at)
    SELECT g.queue_id, count(*), max(g.failed_at), v_now FROM gone g GROUP BY g.queue_id ORDER BY g.queue_id
    ON CONFLICT (queue_id) DO UPDATE
    SET removed = a.removed + EXCLUDED.removed,
        newest_failed_at = greatest(a.newest_failed_at, EXCLUDED.newest_failed_at),
        last_removed_at = greatest(a.last_removed_at, EXCLUDED.last_removed_at);
    r_out.worked := coalesce(cardinality(v_ids), 0);
    r_out.done := r_out.worked < least(p_max_rows, 10000);
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_purge_dead_letters_step_v1(integer, timestamptz) IS
'One bounded step that removes dead letters past deadLetterRetentionSeconds; answers how many and whether none is left.';
REVOKE ALL ON FUNCTION queen.log_purge_dead_letters_step_v1(integer, timestamptz) FROM PUBLIC;
