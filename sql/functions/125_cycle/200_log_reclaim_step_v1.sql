/*
 * Purpose:     one bounded step that removes the rows of deleted queues: messages from the oldest on, hashes, keys, cursors
 *              and dead letters, then the partition, then what hangs on the queue, then the queue. Each step leaves a state
 *              from which the next goes on, whoever runs it. Traces stay.
 * Locks:       advisory 737001 shared (whoever holds it exclusively stops every sweep); the queue FOR UPDATE SKIP LOCKED, so that
 *              nobody who adds a partition or a group to it is half way; its partitions FOR UPDATE SKIP LOCKED; their cursors and
 *              dead letters, SKIP LOCKED. It never waits: what another session holds is left to the next step.
 * Isolation:   READ COMMITTED only: what is left is looked for after the locks.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows (at most 10000) of all tables together.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1.
 * Source:      issue 4 item 8, R-49, design 5, T-13, F099.
 */
CREATE OR REPLACE FUNCTION queen.log_reclaim_step_v1(p_max_rows integer DEFAULT 1000) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    v_max integer := least(p_max_rows, 10000);
    v_id uuid;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    IF pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        FOREACH v_id IN ARRAY ARRAY(SELECT q.id FROM queen.queues q WHERE q.deleted_at IS NOT NULL ORDER BY q.deleted_at, q.id LIMIT v_max)
        LOOP
            PERFORM FROM queen.queues q WHERE q.id = v_id FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                r_out.worked := r_out.worked + queen._reclaim_queue(v_id, v_max - r_out.worked);
            END IF;
            EXIT WHEN r_out.worked >= v_max;
        END LOOP;
    END IF;
    r_out.done := r_out.worked < v_max;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_reclaim_step_v1(integer) IS
'One bounded step that removes the rows of deleted queues; answers how many went and whether none is left that can go now.';
REVOKE ALL ON FUNCTION queen.log_reclaim_step_v1(integer) FROM PUBLIC;
