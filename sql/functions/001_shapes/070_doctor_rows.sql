/*
 * Purpose:     shapes of the rows for operators: status, findings of the doctor, breaches found by verify. Views that are
 *              never read.
 * Source:      house style B1, S-11 to S-18.
 */
CREATE OR REPLACE VIEW queen.queue_status_row AS
SELECT
    ''::text AS queue,
    ''::text AS namespace,
    ''::text AS task,
    0::bigint AS partitions,
    0::bigint AS messages,
    0::bigint AS pending,
    0::bigint AS processing,
    0::bigint AS ready,
    0::bigint AS completed,
    0::bigint AS dead_letters,
    NULL::timestamptz AS oldest_pending_at,
    0::bigint AS lag_seconds,
    NULL::timestamptz AS newest_message_at,
    0::bigint AS size_bytes,
    0::bigint AS retained_bytes,
    0::double precision AS ingested_per_second,
    0::double precision AS processed_per_second,
    NULL::timestamptz AS rates_at,
    'epoch'::timestamptz AS created_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id
WHERE false;
COMMENT ON VIEW queen.queue_status_row IS 'One queue as queen.queue_status shows it.';

CREATE OR REPLACE VIEW queen.group_status_row AS
SELECT
    ''::text AS queue,
    ''::text AS consumer_group,
    0::bigint AS partitions,
    0::bigint AS partitions_behind,
    0::bigint AS behind,
    NULL::timestamptz AS oldest_pending_at,
    0::bigint AS lag_seconds,
    0::bigint AS leases,
    0::bigint AS consumed,
    NULL::timestamptz AS last_active_at,
    NULL::text AS subscription_mode,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id
WHERE false;
COMMENT ON VIEW queen.group_status_row IS 'One consumer group on one queue as queen.group_status shows it.';

CREATE OR REPLACE VIEW queen.partition_status_row AS
SELECT
    ''::text AS queue,
    ''::text AS partition,
    0::bigint AS log_start,
    0::bigint AS head_offset,
    0::bigint AS messages,
    0::bigint AS pending,
    0::bigint AS processing,
    0::bigint AS ready,
    0::bigint AS completed,
    0::bigint AS dead_letters,
    NULL::timestamptz AS oldest_pending_at,
    0::bigint AS lag_seconds,
    NULL::timestamptz AS newest_message_at,
    0::bigint AS size_bytes,
    'epoch'::timestamptz AS last_write_at,
    false AS settled,
    'epoch'::timestamptz AS created_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id
WHERE false;
COMMENT ON VIEW queen.partition_status_row IS 'One partition as queen.partition_status shows it.';

CREATE OR REPLACE VIEW queen.retention_status_row AS
SELECT
    ''::text AS queue,
    false AS active,
    NULL::text AS inactive_because,
    ''::text AS cleanup_policy,
    false AS retention_enabled,
    0::bigint AS retention_seconds,
    0::bigint AS completed_retention_seconds,
    0::bigint AS max_wait_time_seconds,
    0::bigint AS retention_bytes,
    0::bigint AS retention_messages,
    0::bigint AS dead_letter_retention_seconds,
    0::bigint AS messages,
    0::bigint AS size_bytes,
    NULL::timestamptz AS oldest_message_at,
    0::bigint AS oldest_age_seconds,
    0::bigint AS overdue_seconds,
    0::bigint AS unreclaimed_partitions,
    0::bigint AS deleted_last_day,
    0::bigint AS deleted_bytes_last_day,
    NULL::timestamptz AS last_deleted_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id
WHERE false;
COMMENT ON VIEW queen.retention_status_row IS 'What deletes from one queue, as queen.retention_status shows it.';

CREATE OR REPLACE VIEW queen.maintenance_status_row AS
SELECT
    ''::text AS task,
    false AS enabled,
    0::double precision AS period_seconds,
    NULL::timestamptz AS next_due_at,
    0::bigint AS overdue_seconds,
    false AS running,
    NULL::text AS holder,
    NULL::timestamptz AS last_start_at,
    NULL::timestamptz AS last_end_at,
    NULL::bigint AS last_duration_ms,
    0::bigint AS runs
WHERE false;
COMMENT ON VIEW queen.maintenance_status_row IS 'One maintenance task as queen.maintenance_status shows it.';

CREATE OR REPLACE VIEW queen.doctor_row AS
SELECT
    ''::text AS check_name,
    ''::text AS severity,
    ''::text AS object,
    ''::text AS finding,
    NULL::text AS statement
WHERE false;
COMMENT ON VIEW queen.doctor_row IS 'One finding: which check, how bad (error, warning, or note for what is no fault), about what, and the statements that mend it, one a line.';

CREATE OR REPLACE VIEW queen.verify_row AS
SELECT
    ''::text AS check_name,
    ''::text AS queue,
    ''::text AS partition,
    NULL::uuid AS partition_id,
    NULL::bigint AS "offset",
    ''::text AS finding
WHERE false;
COMMENT ON VIEW queen.verify_row IS 'One breach: the invariant, where, the offset it shows at if it has one, and what was found beside what should be.';

CREATE OR REPLACE VIEW queen.verify_range_row AS
SELECT
    ''::text AS queue,
    ''::text AS partition,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    0::bigint AS log_start,
    0::bigint AS head_offset
WHERE false;
COMMENT ON VIEW queen.verify_range_row IS 'A partition to verify, and which offsets it holds.';
