/*
 * Purpose:     one message with where it stands, for lists and for the detail.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      one key probe of segments, the consumers of the partition, its dead letters at the offset.
 * Idempotency: reads only.
 * Raises:      nothing; no row when the segment is gone.
 * Source:      spec 4.8.
 */
CREATE OR REPLACE FUNCTION queen._message_at(
    r_queue queen.queues,
    p_partition_id uuid,
    p_partition text,
    p_offset bigint
) RETURNS SETOF queen.message_row
LANGUAGE sql STABLE AS $$
    SELECT
        f.id, coalesce(f.txn, f.id::text), hashtextextended(coalesce(f.txn, f.id::text) COLLATE "C", queen._id_seed(p_partition_id)),
        p_partition_id, r_queue.name, p_partition, coalesce(r_queue.namespace, ''), coalesce(r_queue.task, ''),
        CASE WHEN d.id IS NOT NULL THEN 'dead_letter' ELSE c.queue_status END,
        c.queue_status, c.consumed_by, c.total_groups,
        f.trace_id, f.producer_sub, f.base_offset, p_offset, f.created_at, c.lease_expires_at,
        f.payload, d.error, coalesce(d.retry_count, 0), c.has_queue_mode, 'null'::json, 'null'::json
    FROM (
        SELECT s.base_offset, s.created_at, queen._frame_id(s.id_base, p_offset - s.base_offset) AS id,
               s.payloads[p.pos] AS payload, s.transaction_ids[p.pos] AS txn, s.trace_ids[p.pos]::text AS trace_id,
               s.producer_subs[p.pos] AS producer_sub
        FROM (
            SELECT x.* FROM queen.log_segments x
            WHERE x.partition_id = p_partition_id AND x.base_offset <= p_offset
            ORDER BY x.base_offset DESC
            LIMIT 1
        ) s
        CROSS JOIN LATERAL (
            SELECT CASE WHEN s.offsets IS NULL THEN (p_offset - s.base_offset + 1)::integer ELSE array_position(s.offsets, p_offset) END AS pos
        ) p
        WHERE s.end_offset >= p_offset AND p.pos IS NOT NULL
    ) f
    CROSS JOIN LATERAL (
        SELECT
            CASE WHEN bool_or(k.committed >= p_offset) FILTER (WHERE k.consumer_group = '__QUEUE_MODE__') THEN 'completed'
                 WHEN bool_or(k.leased) FILTER (WHERE k.consumer_group = '__QUEUE_MODE__') THEN 'processing'
                 ELSE 'pending' END AS queue_status,
            (count(*) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__' AND k.committed >= p_offset))::integer AS consumed_by,
            (count(*) FILTER (WHERE k.consumer_group <> '__QUEUE_MODE__'))::integer AS total_groups,
            coalesce(bool_or(k.consumer_group = '__QUEUE_MODE__'), false) AS has_queue_mode,
            coalesce(max(k.lease_expires_at) FILTER (WHERE k.leased AND k.consumer_group = '__QUEUE_MODE__'),
                     max(k.lease_expires_at) FILTER (WHERE k.leased)) AS lease_expires_at
        FROM (
            SELECT l.consumer_group, l.committed, l.lease_expires_at,
                   coalesce(p_offset > l.committed AND p_offset <= l.batch_end AND l.lease_expires_at > statement_timestamp(), false) AS leased
            FROM queen.log_consumers l
            WHERE l.partition_id = p_partition_id
        ) k
    ) c
    LEFT JOIN LATERAL (
        SELECT x.id, x.error, x.retry_count FROM queen.log_dlq x
        WHERE x.partition_id = p_partition_id AND x."offset" = p_offset
        ORDER BY x.failed_at DESC, x.id DESC
        LIMIT 1
    ) d ON true
$$;
REVOKE ALL ON FUNCTION queen._message_at(queen.queues, uuid, text, bigint) FROM PUBLIC;
