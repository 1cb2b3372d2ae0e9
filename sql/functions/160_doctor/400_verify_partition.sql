/*
 * Purpose:     what must hold of a partition as a whole: the head, the watermarks, the sums over all its segments, its
 *              cursors. The rules are written down here a second time, without the helpers of the engine.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the segment rows of the partitions, without payloads; their cursors and dead letters.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      T-1, T-5, T-9, T-10, S-12, design 3.2 rules 2, 3 and 7, design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._verify_partitions(p_partition_ids uuid[]) RETURNS SETOF queen.verify_row
LANGUAGE sql STABLE AS $$
    WITH part AS (
        SELECT q.name AS queue, p.*, h.head_offset, h.head_stamp, h.head_cum, e.*, t.first_txn_at, b.across
        FROM queen.log_partitions p
        JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
        JOIN queen.partition_head h ON h.id = p.id
        CROSS JOIN LATERAL (
            SELECT
                min(s.base_offset) AS first_base, max(s.end_offset) AS last_end, min(s.created_at) AS first_at, max(s.created_at) AS last_at,
                max(s.cum_bytes) AS tail_cum, min(s.cum_bytes - s.orig_bytes) AS cum_before,
                coalesce(sum(s.frames), 0) AS frames, coalesce(sum(s.bytes), 0) AS bytes
            FROM queen.log_segments s
            WHERE s.partition_id = p.id AND s.base_offset >= p.log_start
        ) e
        LEFT JOIN LATERAL (
            SELECT x.created_at AS first_txn_at
            FROM queen.log_txns x
            WHERE x.partition_id = p.id AND x.base_offset >= p.txns_start
            ORDER BY x.base_offset LIMIT 1
        ) t ON true
        LEFT JOIN LATERAL (
            SELECT s.base_offset AS below, CASE WHEN s.end_offset >= p.log_start THEN s.base_offset END AS across
            FROM queen.log_segments s
            WHERE s.partition_id = p.id AND s.base_offset < p.log_start
            ORDER BY s.base_offset DESC LIMIT 1
        ) b ON true
        WHERE p.id = ANY (p_partition_ids)
    )
    -- A row at a time: a join with what is found would look at all partitions for each.
    SELECT b.check_name, p.queue, p.name, p.id, b."offset", b.finding
    FROM part p
    CROSS JOIN LATERAL (
        SELECT 'T-1 range' AS check_name, p.across AS "offset", format('a segment begins below the log start %s and ends above it', p.log_start) AS finding
        WHERE p.across IS NOT NULL
        UNION ALL
        (SELECT 'T-1 reclaimed', x.base_offset, format('a segment below %s, up to where everything was removed', p.reclaimed_to)
        FROM queen.log_segments x
        WHERE x.partition_id = p.id AND x.base_offset < p.reclaimed_to
        ORDER BY x.base_offset LIMIT 1)
        UNION ALL
        SELECT 'T-9 log start', p.log_start, format('log start %s, but the first segment begins at %s (head %s)', p.log_start, coalesce(p.first_base::text, 'none'), p.head_offset)
        WHERE p.log_start <> coalesce(p.first_base, p.head_offset + 1)
        UNION ALL
        SELECT 'head', p.head_offset,
            format('head %s at %s with sum %s, last segment %s at %s with sum %s%s', p.head_offset, p.head_stamp, p.head_cum, p.last_end, p.last_at, p.tail_cum,
                CASE WHEN p.settled THEN ', and the row says that it is settled' END)
        WHERE p.head_offset <> coalesce(p.last_end, p.log_start - 1) OR p.last_offset > p.head_offset
           OR p.head_stamp <> coalesce(p.last_at, p.head_stamp) OR p.head_cum <> coalesce(p.tail_cum, p.head_cum)
           OR (p.settled AND p.last_stamp IS DISTINCT FROM p.head_stamp) OR (NOT p.settled AND p.last_end IS NULL)
        UNION ALL
        -- Whoever looks for work trusts it to a second.
        SELECT 'last write', p.head_offset, format('last_write_at %s, but the head is of %s', p.last_write_at, p.head_stamp)
        WHERE p.last_write_at < p.head_stamp - interval '1 second' OR p.last_write_at <> date_trunc('second', p.last_write_at)
        UNION ALL
        SELECT 'watermarks', p.log_start, format('reclaimed_to %s, log_start %s, txns_start %s, head %s are not in order', p.reclaimed_to, p.log_start, p.txns_start, p.head_offset)
        WHERE p.reclaimed_to > p.log_start OR p.log_start > p.head_offset + 1 OR p.txns_start > p.head_offset + 1
        UNION ALL
        -- Not a difference: a stamp that is damaged may be infinite.
        SELECT 'T-10 oldest stamp', p.log_start, format('oldest_live_at %s, but the first segment is of %s', coalesce(p.oldest_live_at::text, 'none'), coalesce(p.first_at::text, 'none'))
        WHERE coalesce(p.oldest_live_at NOT BETWEEN p.first_at - interval '1 ms' AND p.first_at + interval '1 ms', (p.oldest_live_at IS NULL) <> (p.first_at IS NULL))
        UNION ALL
        SELECT 'T-10 oldest hash row', p.txns_start, format('oldest_txn_at %s, but the first row is of %s', coalesce(p.oldest_txn_at::text, 'none'), coalesce(p.first_txn_at::text, 'none'))
        WHERE coalesce(p.oldest_txn_at NOT BETWEEN p.first_txn_at - interval '1 ms' AND p.first_txn_at + interval '1 ms', (p.oldest_txn_at IS NULL) <> (p.first_txn_at IS NULL))
        UNION ALL
        SELECT 'total', NULL, format('%s by the formula, %s counted', p.head_offset - p.log_start + 1 - p.removed_frames, p.frames)
        WHERE p.head_offset - p.log_start + 1 - p.removed_frames <> p.frames
        UNION ALL
        SELECT 'size', NULL, format('%s by the formula, %s counted', coalesce(p.head_cum - p.cum_before - p.removed_bytes, 0), p.bytes)
        WHERE coalesce(p.head_cum - p.cum_before - p.removed_bytes, 0) <> p.bytes
        UNION ALL
        SELECT 'T-5 cursor', c.committed,
            format('group %s: committed %s, batch end %s, holder %s until %s, head %s', c.consumer_group, c.committed, coalesce(c.batch_end::text, 'none'),
                coalesce(c.worker_id, 'nobody'), coalesce(c.lease_expires_at::text, 'never'), p.head_offset)
        FROM queen.log_consumers c
        WHERE c.partition_id = p.id AND (c.committed > p.head_offset OR c.committed < -1 OR c.batch_end > p.head_offset
           -- A lease that is over may be overtaken by the seal of an emptied log, a live one never.
           OR (c.batch_end <= c.committed AND c.lease_expires_at > statement_timestamp())
           OR num_nulls(c.batch_end, c.worker_id, c.lease_expires_at) NOT IN (0, 3)
           OR c.batch_retry_count < 0 OR (c.attempt_offset IS NULL) <> (c.attempt_count = 0))
        UNION ALL
        SELECT 'dead letter', d."offset", format('dead letter %s is of an offset above the head %s', d.id, p.head_offset)
        FROM queen.log_dlq d
        WHERE d.partition_id = p.id AND d."offset" > p.head_offset
    ) b
$$;
REVOKE ALL ON FUNCTION queen._verify_partitions(uuid[]) FROM PUBLIC;
