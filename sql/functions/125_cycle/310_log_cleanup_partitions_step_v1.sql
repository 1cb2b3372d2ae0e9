/*
 * Purpose:     one bounded step that deletes partitions which hold nothing and which nobody has written or read for p_days: no
 *              segment, no dead letter, no cursor that was made, leased or is leased in that time. The next push of the name
 *              makes a new partition. Each one deleted leaves a row of the audit.
 * Locks:       advisory 737001 shared; the partitions FOR UPDATE SKIP LOCKED, then their cursors, SKIP LOCKED: it waits for
 *              nobody who writes or reads, and looks again when it holds both.
 * Isolation:   READ COMMITTED only: the second look decides.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows partitions (1 to 1000).
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1. p_days below 1 counts as 1.
 * Source:      R-28..R-34, L-5, L-12, F100.
 */
CREATE OR REPLACE FUNCTION queen.log_cleanup_partitions_step_v1(
    p_days integer DEFAULT 30,
    p_max_rows integer DEFAULT 1000,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_before timestamptz := v_now - make_interval(days => least(greatest(coalesce(p_days, 30), 1), 100000));
    v_max integer := least(p_max_rows, 1000);
    v_ids uuid[];
    v_id uuid;
    v_held text[];
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    IF pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        v_ids := ARRAY(
            SELECT p.id FROM queen.log_partitions p
            WHERE p.oldest_live_at IS NULL AND p.last_write_at < v_before
              AND queen._is_abandoned(p.id, v_before, v_now)
            ORDER BY p.last_write_at
            LIMIT v_max
            FOR UPDATE SKIP LOCKED);
    END IF;
    FOREACH v_id IN ARRAY coalesce(v_ids, '{}')
    LOOP
        v_held := ARRAY(SELECT c.consumer_group FROM queen.log_consumers c WHERE c.partition_id = v_id FOR UPDATE SKIP LOCKED);
        IF queen._is_abandoned(v_id, v_before, v_now)
           AND NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = v_id AND c.consumer_group <> ALL (v_held)) THEN
            INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type)
            SELECT q.tenant_id, q.id, v_id, '__partition_deleted__'
            FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = v_id;
            DELETE FROM queen.log_txns t WHERE t.partition_id = v_id;
            DELETE FROM queen.log_partitions p WHERE p.id = v_id;
            r_out.worked := r_out.worked + 1;
        END IF;
    END LOOP;
    r_out.done := r_out.worked = 0 OR cardinality(v_ids) < v_max;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_cleanup_partitions_step_v1(integer, integer, timestamptz) IS
'One bounded step that deletes partitions that are empty and were not used for so many days; answers how many and whether none is left.';
REVOKE ALL ON FUNCTION queen.log_cleanup_partitions_step_v1(integer, integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     whether a partition is empty and was not used since p_before: the one predicate of both looks. A partition of a
 *              deleted queue is not: log_reclaim_step_v1 takes it. Traces are no reason to keep one.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: each look takes a new snapshot.
 * Bounds:      a few key probes and the cursors of the partition.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      R-28..R-30.
 */
CREATE OR REPLACE FUNCTION queen._is_abandoned(
    p_partition_id uuid,
    p_before timestamptz,
    p_now timestamptz
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (
            SELECT FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
            WHERE p.id = p_partition_id AND p.created_at < p_before AND p.last_write_at < p_before)
        AND NOT EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = p_partition_id)
        AND NOT EXISTS (SELECT FROM queen.log_dlq d WHERE d.partition_id = p_partition_id)
        AND NOT EXISTS (
            SELECT FROM queen.log_consumers c
            WHERE c.partition_id = p_partition_id
              AND ((c.batch_end IS NOT NULL AND coalesce(c.lease_expires_at > p_now, true))
                   OR c.created_at >= p_before OR c.lease_acquired_at >= p_before OR c.lease_expires_at >= p_before));
END $$;
REVOKE ALL ON FUNCTION queen._is_abandoned(uuid, timestamptz, timestamptz) FROM PUBLIC;
