/*
 * Purpose:     run every maintenance step from psql or a scheduler, with a commit after each, until nothing is left.
 * Locks:       those of each step, one step a transaction.
 * Isolation:   READ COMMITTED; call it outside of a transaction block.
 * Volatility:  a procedure; invoker's rights, no SET, so that it may commit.
 * Bounds:      each step is bounded; at most p_max_steps of each kind.
 * Idempotency: yes.
 * Raises:      as the steps; 2D000 inside a transaction block.
 * Source:      design 1 (functions only), 4.
 */
CREATE OR REPLACE PROCEDURE queen.run_maintenance_v1(p_max_steps integer DEFAULT 1000)
LANGUAGE plpgsql AS $$
DECLARE
    v_done boolean;
    v_id uuid;
    v_fence bigint;
    r_due queen.retention_due_row;
    -- Everything is qualified, for the caller's search_path may lead to operators of others, and || would find them.
    v_holder text := pg_catalog.concat('run_maintenance_v1/', pg_catalog.pg_backend_pid());
BEGIN
    PERFORM queen.log_mark_clock_v1();
    COMMIT;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_settle_heads_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_fold_partition_events_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    PERFORM queen.log_register_task_v1('stats_refresh', 10000, true), queen.log_register_task_v1('retained_bytes', 600000, true);
    -- Counted by each call, measured when it is due: that reads every row of segments.
    SELECT c.fence INTO v_fence FROM queen.log_claim_task_v1('stats_refresh', v_holder, true) c;
    COMMIT;
    IF v_fence IS NOT NULL THEN
        BEGIN
            PERFORM queen.log_refresh_all_stats_v1();
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'counting queues failed: %', sqlerrm; -- and keeps nothing else waiting
        END;
        PERFORM queen.log_release_task_v1('stats_refresh', v_fence, true);
        COMMIT;
    END IF;
    SELECT c.fence INTO v_fence FROM queen.log_claim_task_v1('retained_bytes', v_holder) c;
    COMMIT;
    IF v_fence IS NOT NULL THEN
        BEGIN
            PERFORM queen.log_refresh_retained_bytes_v1();
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'measuring queues failed: %', sqlerrm; -- and keeps nothing else waiting
        END;
        PERFORM queen.log_release_task_v1('retained_bytes', v_fence, true);
        COMMIT;
    END IF;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_purge_dead_letters_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    FOR v_id IN SELECT d.partition_id FROM queen.log_compact_due_v1(10000) d
    LOOP
        FOR v_step IN 1 .. p_max_steps
        LOOP
            -- A partition that somebody holds, or that is damaged, stops no other, and no sweep.
            BEGIN
                SELECT s.done INTO v_done FROM queen.log_compact_step_v1(v_id) s;
            EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
                v_done := true;
            WHEN OTHERS THEN
                RAISE WARNING 'compaction of partition % failed: %', v_id, sqlerrm;
                v_done := true;
            END;
            COMMIT;
            EXIT WHEN v_done;
        END LOOP;
    END LOOP;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_reclaim_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;

    -- One sweep at a time, over servers and sessions; the claim of a session that dies runs out.
    PERFORM queen.log_register_task_v1('retention', 5000, true);
    SELECT c.fence INTO v_fence FROM queen.log_claim_task_v1('retention', v_holder, true) c;
    COMMIT;
    IF v_fence IS NULL THEN
        RAISE NOTICE 'retention is running elsewhere, or paused: see queen.maintenance_leases';
        RETURN;
    END IF;
    FOR r_due IN SELECT d.* FROM queen.log_retention_due_v1(100000) d
    LOOP
        FOR v_step IN 1 .. p_max_steps
        LOOP
            BEGIN
                IF r_due.phase = 1 THEN
                    SELECT s.done INTO v_done FROM queen.log_retention_step_v1(r_due.partition_id, r_due.age_before, r_due.completed_before,
                        r_due.max_bytes, r_due.max_messages, r_due.idle_groups, r_due.idle_before) s;
                ELSIF r_due.phase = 2 THEN
                    SELECT s.done INTO v_done FROM queen.log_purge_hashes_step_v1(r_due.partition_id, r_due.before) s;
                ELSE
                    SELECT s.done INTO v_done FROM queen.log_evict_max_wait_step_v1(r_due.partition_id, r_due.before) s;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                -- A partition that fails stops no other; the next call tries it again.
                RAISE WARNING 'retention of partition % of queue % failed: %', r_due.partition_id, r_due.queue, sqlerrm;
                v_done := true;
            END;
            COMMIT;
            EXIT WHEN v_done;
        END LOOP;
        EXIT WHEN NOT queen.log_renew_task_v1('retention', v_fence);
        COMMIT;
    END LOOP;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_cleanup_partitions_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_forget_groups_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    FOR v_step IN 1 .. p_max_steps
    LOOP
        SELECT s.done INTO v_done FROM queen.log_purge_metrics_step_v1() s;
        COMMIT;
        EXIT WHEN v_done;
    END LOOP;
    PERFORM queen.log_release_task_v1('retention', v_fence, true);
    COMMIT;
END $$;
COMMENT ON PROCEDURE queen.run_maintenance_v1(integer) IS
'Run all maintenance now, in short transactions; call it every few seconds where no server runs.';
REVOKE ALL ON PROCEDURE queen.run_maintenance_v1(integer) FROM PUBLIC;
