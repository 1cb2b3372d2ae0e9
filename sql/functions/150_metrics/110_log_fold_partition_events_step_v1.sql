/*
 * Purpose:     add created and deleted partitions, which triggers noted one row a statement, to the minutes of their queues.
 *              What was noted for a queue that is gone, goes.
 * Locks:       the notes with SKIP LOCKED, then the queues and the rows of the minutes, both by queue id.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      at most p_max_rows notes.
 * Idempotency: none needed: a note is counted by the transaction that removes it. Any number may run side by side.
 * Raises:      QN400 when p_max_rows is not positive.
 * Source:      E-14.
 */
CREATE OR REPLACE FUNCTION queen.log_fold_partition_events_step_v1(p_max_rows integer DEFAULT 10000) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    v_notes uuid[];
BEGIN
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) <= 0 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be positive', 'p_max_rows');
    END IF;
    v_notes := ARRAY(SELECT e.id FROM queen.partition_events e ORDER BY e.id LIMIT p_max_rows FOR UPDATE SKIP LOCKED);
    PERFORM queen._lock_measured(ARRAY(SELECT DISTINCT e.queue_id FROM queen.partition_events e WHERE e.id = ANY (v_notes)));
    INSERT INTO queen.queue_lag_metrics AS m (bucket_time, queue_id, partitions_created, partitions_deleted)
    SELECT queen._bucket(e.at, 1), e.queue_id, sum(e.created), sum(e.deleted)
    FROM queen.partition_events e
    JOIN queen.queues q ON q.id = e.queue_id
    WHERE e.id = ANY (v_notes)
    GROUP BY 1, 2
    ORDER BY 2, 1
    ON CONFLICT (bucket_time, queue_id) DO UPDATE SET
        partitions_created = m.partitions_created + excluded.partitions_created,
        partitions_deleted = m.partitions_deleted + excluded.partitions_deleted;
    DELETE FROM queen.partition_events e WHERE e.id = ANY (v_notes);
    r_out.worked := cardinality(v_notes);
    r_out.done := r_out.worked < p_max_rows;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_fold_partition_events_step_v1(integer) IS
'One bounded step that adds created and deleted partitions to the minutes of their queues; called before each flush and by run_maintenance_v1.';
REVOKE ALL ON FUNCTION queen.log_fold_partition_events_step_v1(integer) FROM PUBLIC;
