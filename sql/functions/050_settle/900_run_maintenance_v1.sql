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
            -- A partition that somebody holds does not keep the others waiting.
            BEGIN
                SELECT s.done INTO v_done FROM queen.log_compact_step_v1(v_id) s;
            EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
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
END $$;
COMMENT ON PROCEDURE queen.run_maintenance_v1(integer) IS
'Run all maintenance now, in short transactions; call it every few seconds where no server runs.';
REVOKE ALL ON PROCEDURE queen.run_maintenance_v1(integer) FROM PUBLIC;
