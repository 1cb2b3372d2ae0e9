/*
 * Purpose:     where every partition of some queues stands, for one group or, without a group, for the slowest one.
 *              The slowest cursor is that of the named groups; the queue-mode cursor counts only when no named group has
 *              one, because a single group-less pop would otherwise hold the number up for ever.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows, and one key probe of segments a partition that is not settled.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      S-11 to S-14, S-20, C-24, C-25, design 3.2 rule 4, F121, F123.
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
            greatest(h.head_offset - w.done, 0) AS pending
        FROM queen.partition_head h
        CROSS JOIN LATERAL (
            SELECT
                coalesce(
                    min(k.committed) FILTER (WHERE p_group IS NOT NULL OR k.consumer_group <> '__QUEUE_MODE__'),
                    min(k.committed),
                    -1) AS committed,
                coalesce(sum(greatest(k.batch_end - greatest(k.committed, h.log_start - 1), 0))
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
    -- Two key probes: the segment that covers the offset, else the first one behind it.
    SELECT coalesce(
        (SELECT c.created_at
         FROM (
             SELECT s.created_at, s.end_offset
             FROM queen.log_segments s
             WHERE s.partition_id = p_partition_id AND s.base_offset BETWEEN p_log_start AND p_offset
             ORDER BY s.base_offset DESC
             LIMIT 1
         ) c
         WHERE c.end_offset >= p_offset),
        (SELECT s.created_at
         FROM queen.log_segments s
         WHERE s.partition_id = p_partition_id AND s.base_offset > p_offset AND s.base_offset >= p_log_start
         ORDER BY s.base_offset
         LIMIT 1))
$$;
REVOKE ALL ON FUNCTION queen._oldest_pending_at(uuid, bigint, bigint) FROM PUBLIC;
COMMENT ON FUNCTION queen._oldest_pending_at(uuid, bigint, bigint) IS 'Stamp of the first segment that still holds something at or behind an offset (S-17).';

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
