/*
 * Purpose:     shapes of the rows about stored numbers. Views that are never read.
 * Source:      house style B1, spec 7.3.
 */
CREATE OR REPLACE VIEW queen.queue_count_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id,
    0::bigint AS partitions,
    0::bigint AS total,
    0::bigint AS pending,
    0::bigint AS processing,
    0::bigint AS completed,
    0::bigint AS dead,
    NULL::timestamptz AS oldest_pending_at
WHERE false;
COMMENT ON VIEW queen.queue_count_row IS 'One queue as the reconciler counts it, summed over its partitions: frames kept, owed to the slowest group, under a live lease, the rest, dead letters, and the stamp of the oldest message owed.';
