/*
 * Purpose:     the head of every partition: the row's own values when settled, else the last segment by key.
 * Locks:       none.  Isolation: any; read it in one statement with whatever it is compared to.
 * Bounds:      one key probe an unsettled partition.
 * Source:      design 3.2 rules 4 and 5.
 */
CREATE OR REPLACE VIEW queen.partition_head AS
SELECT
    p.id,
    p.queue_id,
    p.name,
    p.log_start,
    p.txns_start,
    p.last_write_at,
    p.settled,
    p.created_at,
    p.oldest_live_at,
    p.removed_frames,
    p.removed_bytes,
    greatest(p.last_offset, t.end_offset)::bigint AS head_offset,
    greatest(p.last_stamp, t.created_at)::timestamptz AS head_stamp,
    coalesce(t.cum_bytes, p.last_cum)::bigint AS head_cum
FROM queen.log_partitions p
LEFT JOIN LATERAL (
    SELECT s.end_offset, s.created_at, s.cum_bytes
    FROM queen.log_segments s
    -- In here, not a condition of the join, which would be tested after the probe.
    WHERE NOT p.settled AND s.partition_id = p.id AND s.base_offset >= p.log_start
    ORDER BY s.base_offset DESC
    LIMIT 1
) t ON true;
COMMENT ON VIEW queen.partition_head IS 'Head of each partition: head_offset is the last offset given (-1 before the first), head_stamp and head_cum its stamp and running byte sum.';
