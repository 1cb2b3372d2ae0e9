/*
 * Purpose:     shape of the rows about single messages. A view that is never read.
 * Source:      house style B1, spec 4.8.
 */
CREATE OR REPLACE VIEW queen.message_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    ''::text AS transaction_id,
    0::bigint AS txn_hash,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    ''::text AS queue,
    ''::text AS partition,
    ''::text AS namespace,
    ''::text AS task,
    ''::text AS status,
    ''::text AS queue_status,
    0::integer AS consumed_by,
    0::integer AS total_groups,
    NULL::text AS trace_id,
    NULL::text AS producer_sub,
    0::bigint AS segment_base,
    0::bigint AS "offset",
    'epoch'::timestamptz AS created_at,
    NULL::timestamptz AS lease_expires_at,
    NULL::text AS payload,
    NULL::text AS error,
    0::integer AS retry_count,
    false AS has_queue_mode,
    'null'::json AS groups,
    'null'::json AS options
WHERE false;
COMMENT ON VIEW queen.message_row IS 'One message with where it stands: status is dead_letter, else by the cursor of the consumers without a group (completed, processing, pending), which queue_status says in any case; consumed_by of total_groups named groups are past it. Payload null means unreadable. groups and options are filled in for one message only.';

CREATE OR REPLACE VIEW queen.message_mode_row AS
SELECT
    false AS has_queue_mode,
    0::bigint AS bus_groups
WHERE false;
COMMENT ON VIEW queen.message_mode_row IS 'How some partitions are consumed: by consumers without a group, and by how many named groups.';
