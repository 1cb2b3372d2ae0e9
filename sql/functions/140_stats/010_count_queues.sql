/*
 * Purpose:     what every live queue keeps and owes, counted at once. The same arithmetic as _backlog, which looks at a
 *              few queues; here each table is read once as a whole.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows and the dead letters; one key probe of segments a partition that is not settled,
 *              two where something is owed in the middle of a log, and _frames_behind where compaction took frames. Never a scan
 *              of all segments.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      S-11 to S-17, S-20, S-21, design 3.2 rules 4 and 7, F112, F121, F123.
 */
CREATE OR REPLACE FUNCTION queen._count_queues(p_at timestamptz) RETURNS SETOF queen.queue_count_row
LANGUAGE sql STABLE AS $$
    WITH head AS (
        SELECT p.id, p.queue_id, p.log_start, p.removed_frames, p.oldest_live_at, p.last_offset AS head_offset
        FROM queen.log_partitions p
        WHERE p.settled
        UNION ALL
        SELECT h.id, h.queue_id, h.log_start, h.removed_frames, h.oldest_live_at, h.head_offset
        FROM queen.partition_head h
        WHERE NOT h.settled
    ),
    slowest AS (
        -- Without a filter: a partition whose leases are over must not look as if nobody had read it.
        SELECT
            k.partition_id,
            coalesce(min(k.committed) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__'), min(k.committed)) AS committed
        FROM queen.log_consumers k
        GROUP BY k.partition_id
    ),
    leased AS (
        SELECT
            k.partition_id,
            sum(CASE WHEN h.removed_frames = 0 THEN greatest(k.batch_end - greatest(k.committed, h.log_start - 1), 0)
                ELSE queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, greatest(k.committed, h.log_start - 1))
                     - queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, k.batch_end) END)::bigint AS frames
        FROM queen.log_consumers k
        JOIN queen.partition_head h ON h.id = k.partition_id
        WHERE k.lease_expires_at > p_at
        GROUP BY k.partition_id
    ),
    dead AS (
        SELECT d.partition_id, count(*) AS letters
        FROM queen.log_dlq d
        GROUP BY d.partition_id
    ),
    part AS (
        SELECT
            h.*, coalesce(l.frames, 0) AS leased, coalesce(d.letters, 0) AS dead,
            greatest(h.head_offset - h.log_start + 1 - h.removed_frames, 0) AS total,
            w.done,
            queen._owed(h.id, h.log_start, h.head_offset, h.removed_frames, w.done) AS pending
        FROM head h
        LEFT JOIN slowest s ON s.partition_id = h.id
        LEFT JOIN leased l ON l.partition_id = h.id
        LEFT JOIN dead d ON d.partition_id = h.id
        CROSS JOIN LATERAL (
            SELECT greatest(s.committed, h.log_start - 1) AS done
        ) w
    )
    SELECT
        q.id,
        count(p.id),
        coalesce(sum(p.total), 0)::bigint,
        coalesce(sum(p.pending), 0)::bigint,
        coalesce(sum(least(p.leased, p.pending)), 0)::bigint,
        coalesce(sum(greatest(p.total - p.pending - p.dead, 0)), 0)::bigint,
        coalesce(sum(p.dead), 0)::bigint,
        min(CASE
            WHEN p.pending = 0 THEN NULL
            -- All of the log is owed: the row knows the stamp of its first segment, which compaction may have emptied.
            WHEN p.done < p.log_start AND p.removed_frames = 0 AND p.oldest_live_at IS NOT NULL THEN p.oldest_live_at
            ELSE queen._oldest_pending_at(p.id, p.log_start, p.done + 1)
        END)
    FROM queen.queues q
    LEFT JOIN part p ON p.queue_id = q.id
    WHERE q.deleted_at IS NULL
    GROUP BY q.id
$$;
REVOKE ALL ON FUNCTION queen._count_queues(timestamptz) FROM PUBLIC;
