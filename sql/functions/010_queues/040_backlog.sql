/*
 * Purpose:     where every partition of some queues stands, for one group or, without a group, for the slowest one.
 *              The slowest cursor is that of the named groups; the queue-mode cursor counts only when no named group has
 *              one, because a single group-less pop would otherwise hold the number up for ever.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows, and one key probe of segments a partition that is not settled; in partitions that
 *              lost frames to compaction also _owed.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      S-11 to S-14, S-17, S-20, C-24, C-25, design 3.2 rule 4, F121, F123.
 */
CREATE OR REPLACE FUNCTION queen._backlog(
    p_queue_ids uuid[],
    p_group text
) RETURNS SETOF queen.backlog_row
LANGUAGE sql STABLE AS $$
    SELECT
        d.id, d.queue_id, d.name, d.created_at, d.log_start, d.head_offset, d.head_stamp,
        greatest(d.head_offset - d.log_start + 1 - d.removed_frames, 0),
        d.done + 1,
        d.pending,
        least(d.leased, d.pending)
    FROM (
        SELECT
            h.*, c.leased, w.done,
            queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, w.done) AS pending
        FROM queen.partition_head h
        CROSS JOIN LATERAL (
            SELECT
                coalesce(
                    min(k.committed) FILTER (WHERE p_group IS NOT NULL OR k.consumer_group <> '__QUEUE_MODE__'),
                    min(k.committed),
                    -1) AS committed,
                coalesce(sum(CASE WHEN h.removed_frames = 0 THEN greatest(k.batch_end - greatest(k.committed, h.log_start - 1), 0)
                        ELSE queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, greatest(k.committed, h.log_start - 1))
                             - queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, k.batch_end) END)
                    FILTER (WHERE k.lease_expires_at > statement_timestamp()), 0)::bigint AS leased
            FROM queen.log_consumers k
            WHERE k.partition_id = h.id
              AND (p_group IS NULL OR k.consumer_group = p_group COLLATE "C")
        ) c
        CROSS JOIN LATERAL (
            SELECT greatest(c.committed, h.log_start - 1) AS done
        ) w
        WHERE h.queue_id = ANY (p_queue_ids)
    ) d
$$;
REVOKE ALL ON FUNCTION queen._backlog(uuid[], text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._oldest_pending_at(
    p_partition_id uuid,
    p_log_start bigint,
    p_offset bigint
) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    -- Two key probes: the segment that covers the offset, else the first one behind it; what compaction took is passed over.
    SELECT coalesce(
        (SELECT c.created_at
         FROM (
             SELECT s.created_at, queen._last_offset(s) AS last
             FROM queen.log_segments s
             WHERE s.partition_id = p_partition_id AND s.base_offset BETWEEN p_log_start AND p_offset
             ORDER BY s.base_offset DESC
             LIMIT 1
         ) c
         WHERE c.last >= p_offset),
        (SELECT s.created_at
         FROM queen.log_segments s
         WHERE s.partition_id = p_partition_id AND s.base_offset > p_offset AND s.base_offset >= p_log_start AND s.frames > 0
         ORDER BY s.base_offset
         LIMIT 1))
$$;
REVOKE ALL ON FUNCTION queen._oldest_pending_at(uuid, bigint, bigint) FROM PUBLIC;
COMMENT ON FUNCTION queen._oldest_pending_at(uuid, bigint, bigint) IS 'Stamp of the first segment that still holds something at or behind an offset.';

/*
 * Purpose:     how many messages a cursor that has passed p_done will still get. Offsets tell, unless compaction took some
 *              of them: then the frames behind the cursor are counted.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, or it would not be inlined.
 * Bounds:      none without compaction, or when nothing was consumed; else as _frames_behind.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      C-24, design 5 item 1, I-18, F112.
 */
CREATE OR REPLACE FUNCTION queen._owed(
    p_partition_id uuid,
    p_log_start bigint,
    p_head bigint,
    p_removed bigint,
    p_done bigint
) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_head <= p_done THEN 0
                WHEN p_removed = 0 THEN p_head - p_done
                WHEN p_done < p_log_start THEN p_head - p_log_start + 1 - p_removed
                ELSE queen._frames_behind(p_partition_id, p_log_start, p_head, p_removed, p_done) END
$$;
REVOKE ALL ON FUNCTION queen._owed(uuid, bigint, bigint, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     the frames behind an offset, in a partition that compaction took frames of: the distance to the head without
 *              what was taken. With more than 10000 segments behind the offset the smaller of the distance and of all frames
 *              there are, which is never too low.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: 10001 segment rows, one array of offsets.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      I-18, F112.
 */
CREATE OR REPLACE FUNCTION queen._frames_behind(
    p_partition_id uuid,
    p_log_start bigint,
    p_head bigint,
    p_removed bigint,
    p_done bigint
) RETURNS bigint
LANGUAGE sql STABLE COST 10000 AS $$
    SELECT CASE WHEN count(*) <= 10000 THEN p_head - p_done - coalesce(sum(x.removed), 0)
                ELSE least(p_head - p_done, p_head - p_log_start + 1 - p_removed) END::bigint
    FROM (
        SELECT CASE WHEN s.offsets IS NULL THEN 0
                    WHEN s.base_offset > p_done THEN s.end_offset - s.base_offset + 1 - s.frames
                    ELSE s.end_offset - p_done - (SELECT count(*) FROM unnest(s.offsets) o WHERE o > p_done) END AS removed
        FROM queen.log_segments s
        -- No segment spans more than 1000 offsets.
        WHERE s.partition_id = p_partition_id AND s.base_offset >= greatest(p_log_start, p_done - 999) AND s.end_offset > p_done
        ORDER BY s.base_offset DESC
        LIMIT 10001
    ) x
$$;
REVOKE ALL ON FUNCTION queen._frames_behind(uuid, bigint, bigint, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     offset of the last frame that a segment holds, NULL when compaction emptied it.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one array.
 * Idempotency: yes.  Raises: nothing.  Source: design 3 (offsets).
 */
CREATE OR REPLACE FUNCTION queen._last_offset(
    r_seg queen.log_segments
) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN r_seg.offsets IS NULL THEN r_seg.end_offset ELSE r_seg.offsets[cardinality(r_seg.offsets)] END
$$;
REVOKE ALL ON FUNCTION queen._last_offset(queen.log_segments) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._stored(
    p_partition_id uuid,
    p_log_start bigint
) RETURNS SETOF queen.stored_row
LANGUAGE sql STABLE AS $$
    -- Summed beside the scan: a sort or a hash on the way would rewrite the arrays and change their size.
    SELECT count(*), coalesce(sum(pg_column_size(s.payloads)), 0)::bigint
    FROM queen.log_segments s
    WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start
$$;
REVOKE ALL ON FUNCTION queen._stored(uuid, bigint) FROM PUBLIC;
