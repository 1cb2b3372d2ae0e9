/*
 * Purpose:     shapes of the rows about what servers counted. Views that are never read.
 * Source:      house style B1, spec 9 of the HTTP API.
 */
CREATE OR REPLACE VIEW queen.cluster_metrics_row AS
SELECT
    0::bigint AS push_requests,
    0::bigint AS pop_requests,
    0::bigint AS ack_requests,
    0::bigint AS push_messages,
    0::bigint AS pop_messages,
    0::bigint AS ack_messages,
    0::bigint AS ack_success,
    0::bigint AS ack_failed,
    0::bigint AS transactions,
    0::bigint AS db_errors,
    0::bigint AS dlq,
    0::bigint AS dead_letters,
    NULL::timestamptz AS updated_at,
    0::bigint AS retained_bytes
WHERE false;
COMMENT ON VIEW queen.cluster_metrics_row IS 'Lifetime totals of all servers, the dead letters there are, as the reconciler counted them last, and the bytes that queues keep on disk, as measured last. updated_at is the last flush of any server, null before the first.';

CREATE OR REPLACE VIEW queen.queue_metrics_row AS
SELECT
    ''::text AS queue,
    0::double precision AS age_seconds,
    0::bigint AS push_requests,
    0::bigint AS push_messages,
    0::bigint AS pop_messages,
    0::bigint AS pop_empty,
    0::bigint AS transactions,
    0::bigint AS conflated,
    0::bigint AS ack_success,
    0::bigint AS ack_failed,
    0::double precision AS lag_ms,
    0::bigint AS lag_count,
    0::bigint AS max_lag_ms,
    0::double precision AS parked
WHERE false;
COMMENT ON VIEW queen.queue_metrics_row IS 'The newest minute of a queue and its age. lag_ms is the sum of the ages at delivery of lag_count messages. A name that two tenants use has two rows.';

CREATE OR REPLACE VIEW queen.lag_row AS
SELECT
    ''::text AS queue,
    NULL::text AS consumer_group,
    0::bigint AS pending,
    0::bigint AS lag_seconds,
    0::bigint AS dead_letters,
    0::bigint AS series
WHERE false;
COMMENT ON VIEW queen.lag_row IS 'How far behind a queue is, as the reconciler counted it last, or a group on it, live: consumer_group is null for the queue, lag_seconds and dead_letters are 0 for a group. series is how many there are of the kind, shown or not.';

CREATE OR REPLACE VIEW queen.retained_bytes_row AS
SELECT
    ''::text AS queue,
    0::bigint AS retained_bytes,
    0::bigint AS segments,
    0::bigint AS series
WHERE false;
COMMENT ON VIEW queen.retained_bytes_row IS 'What a queue keeps on disk, as the retained-bytes lane measured it last. series is how many queues keep anything, shown or not.';
