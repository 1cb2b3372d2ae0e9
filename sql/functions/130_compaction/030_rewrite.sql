/*
 * Purpose:     judge the next segments of a partition and rewrite those that lose frames: build them first, then lock, look
 *              again, write. A segment that changed meanwhile, fell below the log start, became the newest, or lies in the span
 *              of a live lease (or of a cursor that somebody holds) stays as it is and is looked at next time. From the
 *              first one that stays, no tombstone above goes, since what it hides may be there. Offsets, ids, stamps, running
 *              byte sums and the hash sidecar never change. NULL when there is nothing to do.
 * Locks:       the partition row, FOR NO KEY UPDATE as a push, then FOR UPDATE SKIP LOCKED (so that no group makes its first
 *              contact), the compactor's row FOR UPDATE SKIP LOCKED, cursors below the segments FOR SHARE SKIP LOCKED (so that no pop takes what goes).
 * Isolation:   READ COMMITTED: everything is looked at again in statements after the locks.
 * Volatility:  VOLATILE: writes.
 * Bounds:      as _compacted.
 * Idempotency: yes: a second run finds nothing to remove (Z-7).
 * Raises:      55P03 after the caller's lock_timeout.
 * Source:      design 5 item 1, design 3.2 rule 1, M-22..M-31, Z-1..Z-7, I-18, I-22, F107, F113, F117, F119.
 */
CREATE OR REPLACE FUNCTION queen._rewrite_segments(
    p_partition_id uuid,
    p_lag_seconds integer,
    p_grace_seconds integer,
    p_max_frames integer,
    p_now timestamptz
) RETURNS queen.compact_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_at queen.log_compaction;
    r_new record;
    r_out queen.compact_row;
    v_start bigint;
    v_newest bigint;
    v_done queen.compacted_segment[];
    v_young timestamptz := CASE WHEN p_lag_seconds > 0 THEN p_now - make_interval(secs => p_lag_seconds) END;
    v_dead timestamptz := CASE WHEN p_grace_seconds > 0 THEN p_now - make_interval(secs => p_grace_seconds) END;
BEGIN
    SELECT * INTO r_at FROM queen.log_compaction c WHERE c.partition_id = p_partition_id;
    SELECT p.log_start, coalesce(queen._newest_base(p.id, p.log_start), p.log_start) INTO v_start, v_newest FROM queen.log_partitions p WHERE p.id = p_partition_id;
    r_new := queen._compacted(r_at, v_start, v_newest, v_young, v_dead, greatest(p_max_frames, 1));
    IF r_new.judged = 0 THEN
        RETURN NULL;
    END IF;

    IF r_new.segments IS NOT NULL THEN
        PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE;
        -- Whoever makes a cursor holds the key of the row. He is not waited for: pushes would queue up behind.
        PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF NOT queen._hold_compaction(p_partition_id) THEN
        RETURN NULL;
    END IF;
    IF r_new.segments IS NOT NULL THEN
        v_done := queen._rewritable(p_partition_id, r_new.segments);
        UPDATE queen.log_segments s
        SET payloads = d.payloads, transaction_ids = d.transaction_ids, keys = d.keys, trace_ids = d.trace_ids,
            producer_subs = d.producer_subs, offsets = d.offsets, frames = d.frames, bytes = d.bytes
        FROM unnest(v_done) d
        WHERE s.partition_id = p_partition_id AND s.base_offset = d.base_offset AND d.frames < d.old_frames;
        PERFORM queen._account_removed(p_partition_id, v_done);
        DELETE FROM queen.log_keys k
        USING (SELECT u.key, u.at FROM unnest(v_done) d CROSS JOIN LATERAL unnest(d.buried, d.buried_at) u (key, at)) g
        WHERE k.partition_id = p_partition_id AND k.key = g.key AND k."offset" = g.at;
        -- What another step noted since these were built is still to be done.
        UPDATE queen.log_dirty x SET obsolete = false, tombstones = true
        FROM unnest(v_done) d
        WHERE x.partition_id = p_partition_id AND x.base_offset = d.base_offset AND d.tombstones AND x.gone IS NOT DISTINCT FROM d.gone;
        DELETE FROM queen.log_dirty x
        USING unnest(v_done) d
        WHERE x.partition_id = p_partition_id AND x.base_offset = d.base_offset AND NOT d.tombstones AND x.gone IS NOT DISTINCT FROM d.gone;
    END IF;
    UPDATE queen.log_compaction c SET compacted_to = greatest(c.compacted_to, r_new.judged_to), key_steps = 0
    WHERE c.partition_id = p_partition_id;
    SELECT r_new.untouched + coalesce(sum(d.old_frames), 0), r_new.untouched + coalesce(sum(d.frames), 0)
    INTO r_out.frames_read, r_out.frames_kept
    FROM unnest(v_done) d;
    r_out.worked := r_new.judged - coalesce(cardinality(r_new.segments), 0) + coalesce(cardinality(v_done), 0);
    -- What is blocked waits for the next round; nothing else is left unless the bounds ended this one.
    r_out.done := NOT r_new.more;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._rewrite_segments(uuid, integer, integer, integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     base of the newest segment, NULL when there is none.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: STABLE.  Bounds: one key probe.
 * Idempotency: reads only.  Raises: nothing.  Source: M-2.
 */
CREATE OR REPLACE FUNCTION queen._newest_base(
    p_partition_id uuid,
    p_log_start bigint
) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT s.base_offset FROM queen.log_segments s
    WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start
    ORDER BY s.base_offset DESC
    LIMIT 1
$$;
REVOKE ALL ON FUNCTION queen._newest_base(uuid, bigint) FROM PUBLIC;

/*
 * Purpose:     those of the built segments that may be written now; the caller holds the partition row.
 * Locks:       cursors that have not passed the segments, FOR SHARE SKIP LOCKED. One that is held by a pop, an ack or an
 *              application's open transaction counts as a lease on all that is above it.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: locks.
 * Bounds:      the cursors of the partition; a key probe a segment.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      design 5 item 1, I-22, F107, F117.
 */
CREATE OR REPLACE FUNCTION queen._rewritable(
    p_partition_id uuid,
    p_segments queen.compacted_segment[]
) RETURNS queen.compacted_segment[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_held text[];
    v_last bigint := (SELECT max(u.end_offset) FROM unnest(p_segments) u);
    v_first_kept bigint;
    v_free bigint[];
BEGIN
    v_held := ARRAY(
        SELECT c.consumer_group FROM queen.log_consumers c
        WHERE c.partition_id = p_partition_id AND c.committed < v_last
        ORDER BY c.consumer_group
        FOR SHARE SKIP LOCKED);
    v_free := ARRAY(
        SELECT u.base_offset
        FROM queen.log_partitions p
        CROSS JOIN unnest(p_segments) u
        JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset = u.base_offset
        WHERE p.id = p_partition_id AND s.base_offset >= p.log_start
          AND s.base_offset < queen._newest_base(p.id, p.log_start)
          AND s.frames = u.old_frames AND s.bytes = u.old_bytes
          AND NOT EXISTS (
              SELECT FROM queen.log_consumers c
              WHERE c.partition_id = p.id AND c.committed < u.end_offset
                AND (c.consumer_group <> ALL (v_held)
                     OR c.worker_id IS NOT NULL AND c.lease_expires_at > clock_timestamp() AND c.batch_end >= u.base_offset)));
    v_first_kept := (SELECT min(u.base_offset) FROM unnest(p_segments) u WHERE u.base_offset <> ALL (v_free));
    RETURN ARRAY(
        SELECT u FROM unnest(p_segments) u
        WHERE u.base_offset = ANY (v_free) AND (v_first_kept IS NULL OR u.base_offset < v_first_kept OR u.buried IS NULL)
        ORDER BY u.base_offset);
END $$;
REVOKE ALL ON FUNCTION queen._rewritable(uuid, queen.compacted_segment[]) FROM PUBLIC;

/*
 * Purpose:     put what was removed to the partition's account and to the history.
 * Locks:       none of its own; the caller holds the partition row.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      one update, one row.  Idempotency: none; once a rewrite.  Raises: nothing.
 * Source:      design 3.2 rule 7, I-18.
 */
CREATE OR REPLACE FUNCTION queen._account_removed(
    p_partition_id uuid,
    p_segments queen.compacted_segment[]
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_sum record;
BEGIN
    SELECT sum(u.old_frames - u.frames) AS frames, sum(u.old_bytes - u.bytes) AS bytes, min(u.base_offset) AS first, max(u.end_offset) AS last
    INTO r_sum
    FROM unnest(p_segments) u
    WHERE u.frames < u.old_frames;
    IF r_sum.frames IS NULL THEN
        RETURN;
    END IF;
    UPDATE queen.log_partitions p
    SET removed_frames = p.removed_frames + r_sum.frames, removed_bytes = p.removed_bytes + r_sum.bytes
    WHERE p.id = p_partition_id;
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted, bytes_deleted, first_offset, last_offset)
    SELECT q.tenant_id, q.id, p.id, 'compaction', r_sum.frames, r_sum.bytes, r_sum.first, r_sum.last
    FROM queen.log_partitions p
    JOIN queen.queues q ON q.id = p.queue_id
    WHERE p.id = p_partition_id;
END $$;
REVOKE ALL ON FUNCTION queen._account_removed(uuid, queen.compacted_segment[]) FROM PUBLIC;
