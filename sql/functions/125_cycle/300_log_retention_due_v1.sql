/*
 * Purpose:     what a sweep has to look at now: the partitions whose oldest segment is older than a rule allows (phase 1, and 3 for
 *              maxWaitTimeSeconds), whose oldest hash row is (2), that are over a size limit (1), or that hold rows which an
 *              earlier step hid and nobody has deleted yet (1 and 2); with the rules of their queue, all by one reading of the
 *              clock. Oldest first, in the order of the phases. Idle partitions cost nothing: each look is a range of an index.
 *              A limit of size is looked at where something was written since p_written_since (NULL: everywhere). p_skip are
 *              partitions of phase 1 that the caller looked at a moment ago without finding anything.
 * Locks:       none.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: reads the clock.
 * Bounds:      p_max_rows (1 to 100000) a phase; one index probe a queue and phase; the partitions with a size limit that were
 *              written since, with one or two key probes each.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 when p_skip is no list.
 * Source:      R-36, R-37, R-39, issue 4 item 2, F082.
 */
CREATE OR REPLACE FUNCTION queen.log_retention_due_v1(
    p_max_rows integer DEFAULT 5000,
    p_skip uuid[] DEFAULT NULL,
    p_written_since timestamptz DEFAULT NULL,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.retention_due_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_max integer := least(greatest(coalesce(p_max_rows, 5000), 1), 100000);
    -- What is skipped is the oldest as a rule: look that much further.
    v_wide integer := v_max + least(coalesce(cardinality(p_skip), 0), 100000);
BEGIN
    PERFORM queen._require_whole_server();
    IF NOT queen._is_list(p_skip) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_skip');
    END IF;
    RETURN QUERY
    WITH rules AS MATERIALIZED (
        SELECT * FROM queen.log_retention_cutoffs_v1(NULL, p_now)
    ),
    hidden AS MATERIALIZED (
        SELECT l.id, l.queue_id,
               EXISTS (SELECT FROM queen.log_segments s
                       WHERE s.partition_id = l.id AND s.base_offset >= l.reclaimed_to AND s.base_offset < l.log_start) AS segments,
               EXISTS (SELECT FROM queen.log_txns t
                       WHERE t.partition_id = l.id AND t.base_offset >= l.txns_reclaimed_to AND t.base_offset < l.txns_start) AS hashes
        FROM queen.log_partitions l
        WHERE l.reclaimed_to < l.log_start OR l.txns_reclaimed_to < l.txns_start
    ),
    due AS (
        (SELECT 1 AS phase, u.queue_id, u.id, min(u.oldest) AS oldest
         FROM (
            SELECT r.queue_id, p.id, p.oldest_live_at AS oldest
            FROM rules r
            CROSS JOIN LATERAL (
                SELECT l.id, l.oldest_live_at FROM queen.log_partitions l
                WHERE l.queue_id = r.queue_id AND l.oldest_live_at < greatest(r.age_before, r.completed_before)
                ORDER BY l.oldest_live_at
                LIMIT v_wide
            ) p
            WHERE r.age_before IS NOT NULL OR r.completed_before IS NOT NULL
            UNION ALL
            SELECT r.queue_id, o.id, o.oldest_live_at
            FROM rules r
            CROSS JOIN LATERAL queen._over_size(r.queue_id, r.max_bytes, r.max_messages, p_written_since) o
            WHERE r.max_bytes > 0 OR r.max_messages > 0
            UNION ALL
            SELECT h.queue_id, h.id, 'epoch' FROM hidden h WHERE h.segments
         ) u
         WHERE NOT EXISTS (SELECT FROM unnest(p_skip) k (id) WHERE k.id = u.id)
         GROUP BY u.queue_id, u.id
         ORDER BY min(u.oldest)
         LIMIT v_max)
        UNION ALL
        (SELECT 2, u.queue_id, u.id, min(u.oldest)
         FROM (
            SELECT r.queue_id, p.id, p.oldest_txn_at AS oldest
            FROM rules r
            CROSS JOIN LATERAL (
                SELECT l.id, l.oldest_txn_at FROM queen.log_partitions l
                WHERE l.queue_id = r.queue_id AND l.oldest_txn_at < r.hashes_before
                ORDER BY l.oldest_txn_at
                LIMIT v_max
            ) p
            UNION ALL
            SELECT h.queue_id, h.id, 'epoch' FROM hidden h WHERE h.hashes
         ) u
         GROUP BY u.queue_id, u.id
         ORDER BY min(u.oldest)
         LIMIT v_max)
        UNION ALL
        (SELECT 3, r.queue_id, p.id, p.oldest_live_at
         FROM rules r
         CROSS JOIN LATERAL (
            SELECT l.id, l.oldest_live_at FROM queen.log_partitions l
            WHERE l.queue_id = r.queue_id AND l.oldest_live_at < r.evict_before
            ORDER BY l.oldest_live_at
            LIMIT v_max
         ) p
         WHERE r.evict_before IS NOT NULL
         ORDER BY p.oldest_live_at
         LIMIT v_max)
    )
    SELECT d.phase, r.queue_id, r.queue, d.id,
           CASE WHEN d.phase = 1 THEN r.age_before END, CASE WHEN d.phase = 1 THEN r.completed_before END,
           CASE WHEN d.phase = 1 THEN r.max_bytes END, CASE WHEN d.phase = 1 THEN r.max_messages END,
           CASE WHEN d.phase = 1 THEN r.idle_groups END, CASE WHEN d.phase = 1 THEN r.idle_before END,
           CASE d.phase WHEN 2 THEN r.hashes_before WHEN 3 THEN r.evict_before END,
           r.at
    FROM due d
    JOIN rules r ON r.queue_id = d.queue_id
    ORDER BY d.phase, d.oldest;
END $$;
COMMENT ON FUNCTION queen.log_retention_due_v1(integer, uuid[], timestamptz, timestamptz) IS
'The partitions that a sweep has to look at now, with the rules of their queues, oldest first; idle partitions are not among them and cost nothing.';
REVOKE ALL ON FUNCTION queen.log_retention_due_v1(integer, uuid[], timestamptz, timestamptz) FROM PUBLIC;

/*
 * Purpose:     partitions of a queue that are over a limit of size, of those written since p_since (NULL: of all). What a
 *              lone segment holds is never too much. Not SQL: inlined, it would be planned as a join over all partitions.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: STABLE.
 * Bounds:      the partitions written since; two key probes each.
 * Idempotency: yes.  Raises: nothing.
 * Source:      M-9..M-11, design 3.2 rule 7.
 */
CREATE OR REPLACE FUNCTION queen._over_size(
    p_queue_id uuid,
    p_max_bytes bigint,
    p_max_messages bigint,
    p_since timestamptz
) RETURNS TABLE (id uuid, oldest_live_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT h.id, h.oldest_live_at
    FROM queen.partition_head h
    CROSS JOIN LATERAL (
        SELECT s.end_offset, s.cum_bytes - s.orig_bytes AS before FROM queen.log_segments s
        WHERE s.partition_id = h.id AND s.base_offset >= h.log_start
        ORDER BY s.base_offset LIMIT 1
    ) f
    WHERE h.queue_id = p_queue_id
      -- last_write_at is a whole second and may be one more behind (design 3.2 rule 2).
      AND (p_since IS NULL OR h.last_write_at >= p_since - interval '3 seconds')
      AND f.end_offset < h.head_offset
      AND (h.head_offset - h.log_start + 1 - h.removed_frames > nullif(p_max_messages, 0)
           OR h.head_cum - f.before - h.removed_bytes > nullif(p_max_bytes, 0));
END $$;
REVOKE ALL ON FUNCTION queen._over_size(uuid, bigint, bigint, timestamptz) FROM PUBLIC;
