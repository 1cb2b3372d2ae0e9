/*
 * Purpose:     one step of a rule that deletes segments: rows that earlier steps hid are deleted first, without the
 *              partition's lock; then the start of the log moves under it, and what the rules let go is hidden and noted in
 *              retention_history. The rows themselves are the next step's work, so that no push waits for a delete. A step
 *              that is cut off anywhere leaves nothing half done.
 * Locks:       advisory 737001 shared (whoever holds it exclusively stops every sweep); the hidden segment rows; the
 *              partition row, for which a step that deleted rows does not wait: whoever deletes the partition holds it and
 *              waits for those rows.
 * Isolation:   READ COMMITTED only: the cut is made by a statement after the lock.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows (1 to 10000) segments hidden, and as many rows deleted.
 * Idempotency: yes: what is hidden is hidden once, under the lock.
 * Raises:      QN400 at another isolation level, 55P03 when somebody holds the partition longer than the caller's lock_timeout.
 * Source:      R-16..R-22, design 3.2 rules 1, 3 and 5, F095..F097.
 */
CREATE OR REPLACE FUNCTION queen._retention_step(
    p_partition_id uuid,
    p_age_before timestamptz,
    p_completed_before timestamptz,
    p_max_bytes bigint,
    p_max_messages bigint,
    p_idle_groups text[],
    p_idle_before timestamptz,
    p_max_rows integer,
    p_age_rule text
) RETURNS queen.retention_step_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_out queen.retention_step_row;
    r_part queen.log_partitions;
    r_cut queen.retention_cut_row;
    v_rows integer := least(greatest(coalesce(p_max_rows, 1000), 1), 10000);
BEGIN
    PERFORM queen._require_read_committed();
    r_out := ROW(0, 0, 0, 0, 0, NULL, true);
    IF NOT pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        RETURN r_out;
    END IF;
    r_out.reclaimed := queen._reclaim_prefix(p_partition_id, v_rows);
    IF r_out.reclaimed > 0 THEN
        SELECT * INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE SKIP LOCKED;
        IF r_part.id IS NULL THEN
            r_out.done := false;
            RETURN r_out;
        END IF;
    ELSE
        SELECT * INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE;
        IF r_part.id IS NULL THEN
            RETURN r_out;
        END IF;
    END IF;
    FOR r_cut IN
        SELECT * FROM queen._retention_cut(p_partition_id, p_age_before, p_completed_before, p_max_bytes, p_max_messages,
            p_idle_groups, p_idle_before, v_rows, p_age_rule)
    LOOP
        INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted, unread_deleted,
            bytes_deleted, rows_deleted, first_offset, last_offset)
        SELECT q.tenant_id, q.id, p_partition_id, r_cut.rule, r_cut.frames, r_cut.unread,
            r_cut.bytes, r_cut.segments, r_cut.first_offset, r_cut.boundary - 1
        FROM queen.queues q WHERE q.id = r_part.queue_id;
        r_out.segments := r_out.segments + r_cut.segments;
        r_out.frames := r_out.frames + r_cut.frames;
        r_out.bytes := r_out.bytes + r_cut.bytes;
        r_out.unread := r_out.unread + r_cut.unread;
    END LOOP;
    r_out.log_start := r_part.log_start;
    IF r_out.segments > 0 THEN
        r_out.log_start := queen._move_log_start(p_partition_id, r_cut.boundary);
    END IF;
    r_out.done := r_out.segments = 0 AND r_out.reclaimed < v_rows;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._retention_step(uuid, timestamptz, timestamptz, bigint, bigint, text[], timestamptz, integer, text) FROM PUBLIC;
