/*
 * Purpose:     shapes of the rows about queues, their options and their backlog. Views that are never read.
 * Source:      house style B1, spec 7.3 and 8.
 */
CREATE OR REPLACE VIEW queen.option_row AS
SELECT
    0::integer AS pos,
    ''::text AS key,
    ''::text AS column_name,
    ''::text AS json_type,
    'null'::jsonb AS default_value,
    NULL::bigint AS refuse_below,
    NULL::bigint AS refuse_above,
    NULL::bigint AS clamp_below,
    NULL::bigint AS clamp_above,
    NULL::text AS pattern,
    ''::text AS demand,
    false AS quiet
WHERE false;
COMMENT ON VIEW queen.option_row IS 'One option of a queue: its wire key, its column, its JSON type and default, the bounds outside of which a value is refused or clamped, what to tell a caller who breaks them, and whether it is shown only when it is not at its default.';

CREATE OR REPLACE VIEW queen.backlog_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id,
    ''::text AS name,
    'epoch'::timestamptz AS created_at,
    0::bigint AS log_start,
    0::bigint AS head_offset,
    NULL::timestamptz AS head_stamp,
    0::bigint AS total,
    0::bigint AS next_offset,
    0::bigint AS pending,
    0::bigint AS processing
WHERE false;
COMMENT ON VIEW queen.backlog_row IS 'Where one partition stands: frames kept, the first offset still owed, how many are owed (pending, leased ones included) and how many of those are under a live lease.';

CREATE OR REPLACE VIEW queen.queue_stats_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    ''::text AS name,
    ''::text AS namespace,
    ''::text AS task,
    'epoch'::timestamptz AS created_at,
    0::bigint AS partitions,
    0::bigint AS retained_bytes,
    0::bigint AS segments,
    0::bigint AS messages,
    0::bigint AS total,
    0::bigint AS pending,
    0::bigint AS processing
WHERE false;
COMMENT ON VIEW queen.queue_stats_row IS 'One queue with its counts. messages and total are the frames kept; pending includes what is being processed; retained_bytes is the compressed size of the payloads.';

CREATE OR REPLACE VIEW queen.stored_row AS
SELECT
    0::bigint AS segments,
    0::bigint AS bytes
WHERE false;
COMMENT ON VIEW queen.stored_row IS 'What a partition keeps: visible segment rows, and the size of their payloads as stored.';
