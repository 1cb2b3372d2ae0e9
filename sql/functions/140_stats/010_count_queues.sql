/*
 * Purpose:     since when a cursor that has passed p_done is owed something, NULL when it is owed nothing.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, or it would not be inlined.
 * Bounds:      none when nothing or all is owed, since the row knows the stamp of its first segment (which compaction may
 *              have emptied); else two key probes.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      S-17.
 */
CREATE OR REPLACE FUNCTION queen._owed_since(
    p_partition_id uuid,
    p_log_start bigint,
    p_head bigint,
    p_removed bigint,
    p_oldest_live_at timestamptz,
    p_done bigint
) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_head <= p_done THEN NULL
                WHEN p_done < p_log_start AND p_removed = 0 AND p_oldest_live_at IS NOT NULL THEN p_oldest_live_at
                ELSE queen._oldest_pending_at(p_partition_id, p_log_start, p_done + 1) END
$$;
REVOKE ALL ON FUNCTION queen._owed_since(uuid, bigint, bigint, bigint, timestamptz, bigint) FROM PUBLIC;

/*
 * Purpose:     what every live queue keeps and owes, counted at once. The same arithmetic as _backlog, which looks at a
 *              few queues. Settled partitions, nearly all, take one pass over their rows and one over the cursors; the
 *              others, and those with live leases or dead letters, are looked at one by one.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows and the dead letters; one key probe of segments a partition that is not settled,
 *              two where something is owed in the middle of a log, and _frames_behind where compaction took frames.
 *              Never a scan of all segments.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      S-11 to S-17, S-20, S-21, design 3.2 rules 4 and 7, F112, F121, F123.
 */
CREATE OR REPLACE FUNCTION queen._count_queues(p_at timestamptz) RETURNS SETOF queen.queue_count_row
LANGUAGE sql STABLE AS $$
    WITH settled AS (
        SELECT
            p.queue_id,
            count(*) AS partitions,
            sum(p.last_offset - p.log_start + 1 - p.removed_frames)::bigint AS total,
            sum(queen._owed(p.id, p.log_start, p.last_offset, p.removed_frames, w.done))::bigint AS pending,
            min(queen._owed_since(p.id, p.log_start, p.last_offset, p.removed_frames, p.oldest_live_at, w.done)) AS oldest
        FROM queen.log_partitions p
        LEFT JOIN (
            -- Without a filter: a partition whose leases are over must not look as if nobody had read it.
            SELECT
                k.partition_id,
                coalesce(min(k.committed) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__'), min(k.committed)) AS committed
            FROM queen.log_consumers k
            GROUP BY k.partition_id
        ) s ON s.partition_id = p.id
        CROSS JOIN LATERAL (
            SELECT greatest(s.committed, p.log_start - 1) AS done
        ) w
        WHERE p.settled
        GROUP BY p.queue_id
    ),
    unsettled AS (
        SELECT
            h.queue_id,
            count(*) AS partitions,
            sum(h.head_offset - h.log_start + 1 - h.removed_frames)::bigint AS total,
            sum(queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, w.done))::bigint AS pending,
            min(queen._owed_since(h.id, h.log_start, h.head_offset, h.removed_frames, h.oldest_live_at, w.done)) AS oldest
        FROM queen.partition_head h
        CROSS JOIN LATERAL (
            SELECT greatest(coalesce(min(k.committed) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__'), min(k.committed)), h.log_start - 1) AS done
            FROM queen.log_consumers k
            WHERE k.partition_id = h.id
        ) w
        WHERE NOT h.settled
        GROUP BY h.queue_id
    ),
    special AS (
        SELECT
            h.queue_id,
            sum(least(w.leased, o.pending))::bigint AS processing,
            sum(x.dead)::bigint AS dead,
            sum(o.done - greatest(o.done - x.dead, 0))::bigint AS not_completed
        FROM (
            SELECT m.partition_id, sum(m.letters)::bigint AS dead
            FROM (
                SELECT d.partition_id, 1 AS letters FROM queen.log_dlq d
                UNION ALL
                SELECT k.partition_id, 0 FROM queen.log_consumers k WHERE k.lease_expires_at > p_at
            ) m
            GROUP BY m.partition_id
        ) x
        JOIN queen.partition_head h ON h.id = x.partition_id
        CROSS JOIN LATERAL (
            SELECT
                greatest(coalesce(min(k.committed) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__'), min(k.committed)), h.log_start - 1) AS done,
                coalesce(sum(CASE WHEN h.removed_frames = 0 THEN greatest(k.batch_end - greatest(k.committed, h.log_start - 1), 0)
                        ELSE queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, greatest(k.committed, h.log_start - 1))
                             - queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, k.batch_end) END)
                    FILTER (WHERE k.lease_expires_at > p_at), 0) AS leased
            FROM queen.log_consumers k
            WHERE k.partition_id = h.id
        ) w
        CROSS JOIN LATERAL (
            SELECT t.pending, h.head_offset - h.log_start + 1 - h.removed_frames - t.pending AS done
            FROM (SELECT queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, w.done) AS pending) t
        ) o
        GROUP BY h.queue_id
    )
    SELECT
        q.id,
        coalesce(a.partitions, 0) + coalesce(b.partitions, 0),
        coalesce(a.total, 0) + coalesce(b.total, 0),
        coalesce(a.pending, 0) + coalesce(b.pending, 0),
        coalesce(c.processing, 0),
        coalesce(a.total, 0) + coalesce(b.total, 0) - coalesce(a.pending, 0) - coalesce(b.pending, 0) - coalesce(c.not_completed, 0),
        coalesce(c.dead, 0),
        least(a.oldest, b.oldest)
    FROM queen.queues q
    LEFT JOIN settled a ON a.queue_id = q.id
    LEFT JOIN unsettled b ON b.queue_id = q.id
    LEFT JOIN special c ON c.queue_id = q.id
    WHERE q.deleted_at IS NULL
$$;
REVOKE ALL ON FUNCTION queen._count_queues(timestamptz) FROM PUBLIC;
