/*
 * Purpose:     one step of keyed compaction on one partition of a queue whose cleanupPolicy is compact or compact,delete: note
 *              the keys of what is new, or rewrite segments without what is obsolete, or forget keys that the prefix took.
 *              The newest frame of each key stays, frames without a key stay, a tombstone that is the newest of its key goes
 *              when it is older than deleteRetentionSeconds; nothing younger than minCompactionLagSeconds is touched.
 * Locks:       737001 shared, tried (whoever holds it stops the step); then those of the one thing it does: see _note_keys,
 *              _rewrite_segments, _prune_keys. Waits 1 s at most.
 * Isolation:   READ COMMITTED only: it builds, locks, and looks again.
 * Volatility:  VOLATILE: writes.
 * Bounds:      segments until they hold p_max_frames frames (three times as many where keys are noted) or 16 MiB together; 5000 keys.
 * Idempotency: yes: a run without new frames and without tombstones that came of age changes nothing (Z-7).
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level; 55P03 when a push holds the partition for 1 s.
 * Source:      design 5 item 1, M-19..M-31, Z-1..Z-7, X-2, X-3, F105..F119.
 */
CREATE OR REPLACE FUNCTION queen.log_compact_step_v1(
    p_partition_id uuid,
    p_max_frames integer DEFAULT 20000,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.compact_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '1s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_material = off
SET jit = off
SET work_mem = '32MB'
AS $$
DECLARE
    r_rule record;
    r_at queen.log_compaction;
    r_out queen.compact_row;
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_max integer := least(greatest(p_max_frames, 1), 100000);
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    SELECT h.log_start, h.head_offset, q.min_compaction_lag_seconds AS lag, q.delete_retention_seconds AS grace INTO r_rule
    FROM queen.partition_head h
    JOIN queen.queues q ON q.id = h.queue_id
    WHERE h.id = p_partition_id AND q.deleted_at IS NULL AND q.cleanup_policy <> 'delete';
    IF FOUND AND pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        SELECT * INTO r_at FROM queen.log_compaction c WHERE c.partition_id = p_partition_id;
        -- Now and then a rewrite gets its turn, however fast somebody pushes.
        IF r_rule.head_offset >= coalesce(r_at.keyed_to, 0) AND coalesce(r_at.key_steps, 0) < 32 THEN
            -- Of more frames, since nobody waits for it, and the map is written once for a key that comes often.
            r_out := queen._note_keys(p_partition_id, v_max * 3);
        ELSE
            r_out := queen._rewrite_segments(p_partition_id, r_rule.lag, r_rule.grace, v_max, v_now);
            IF r_out.done IS NULL THEN
                r_out := queen._prune_keys(p_partition_id, 5000);
            END IF;
            IF coalesce(r_out.done, true) THEN
                r_out.done := queen._note_due(p_partition_id, r_rule.lag, r_rule.grace);
            END IF;
        END IF;
    END IF;
    r_out.worked := coalesce(r_out.worked, 0);
    r_out.done := coalesce(r_out.done, true);
    r_out.frames_read := coalesce(r_out.frames_read, 0);
    r_out.frames_kept := coalesce(r_out.frames_kept, 0);
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_compact_step_v1(uuid, integer, timestamptz) IS
'One bounded step of compaction on one partition: keeps the newest message of each key; answers how many messages were judged and kept, and whether nothing is left to do now.';
REVOKE ALL ON FUNCTION queen.log_compact_step_v1(uuid, integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     note when a partition is to be compacted again though nobody pushes: when the first obsolete frame is old enough
 *              to be touched, or the first tombstone to go. Answers whether nothing else is left to do now.
 * Locks:       those of _hold_compaction; without them nothing is noted.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the dirty segments of the partition.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 5 item 1 (deleteRetentionSeconds, minCompactionLagSeconds), design 7.
 */
CREATE OR REPLACE FUNCTION queen._note_due(
    p_partition_id uuid,
    p_lag_seconds integer,
    p_grace_seconds integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_at record;
    r_due record;
BEGIN
    IF NOT queen._hold_compaction(p_partition_id) THEN
        RETURN true;
    END IF;
    SELECT h.head_offset, h.log_start, c.keyed_to, queen._newest_base(h.id, h.log_start) AS newest,
           queen._has_stale_keys(c, h.log_start, h.head_offset) AS stale
    INTO r_at
    FROM queen.partition_head h
    JOIN queen.log_compaction c ON c.partition_id = h.id
    WHERE h.id = p_partition_id;
    SELECT min(d.created_at) FILTER (WHERE d.obsolete) AS obsolete, min(d.created_at) FILTER (WHERE d.tombstones) AS tombstones INTO r_due
    FROM queen.log_dirty d
    WHERE d.partition_id = p_partition_id AND d.base_offset >= r_at.log_start AND d.base_offset < r_at.newest;
    UPDATE queen.log_compaction c
    SET lag_seconds = p_lag_seconds, grace_seconds = p_grace_seconds, key_steps = 0,
        due_at = least(r_due.obsolete + make_interval(secs => greatest(p_lag_seconds, 0)),
                       r_due.tombstones + make_interval(secs => greatest(p_lag_seconds, p_grace_seconds, 0)))
    WHERE c.partition_id = p_partition_id;
    RETURN r_at.head_offset < r_at.keyed_to AND NOT r_at.stale;
END $$;
REVOKE ALL ON FUNCTION queen._note_due(uuid, integer, integer) FROM PUBLIC;
