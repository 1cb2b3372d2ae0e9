/*
 * Purpose:     shapes of the rows about tasks that one instance runs for all. Views that are never read.
 * Source:      house style B1, S-2.
 */
CREATE OR REPLACE VIEW queen.task_claim_row AS
SELECT
    0::bigint AS fence,
    0::bigint AS lease_ms
WHERE false;
COMMENT ON VIEW queen.task_claim_row IS 'A won claim: the fence that renews and releases it, and for how many milliseconds it holds from now.';

CREATE OR REPLACE VIEW queen.retention_due_row AS
SELECT
    0::integer AS phase,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id,
    ''::text AS queue,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    NULL::timestamptz AS age_before,
    NULL::timestamptz AS completed_before,
    NULL::bigint AS max_bytes,
    NULL::bigint AS max_messages,
    NULL::text[] AS idle_groups,
    NULL::timestamptz AS idle_before,
    NULL::timestamptz AS before,
    'epoch'::timestamptz AS at
WHERE false;
COMMENT ON VIEW queen.retention_due_row IS 'A partition that a sweep has to look at: phase 1 is log_retention_step_v1 with the rules of the row, 2 log_purge_hashes_step_v1 and 3 log_evict_max_wait_step_v1, both with before. All times are by one reading of the clock, at.';

CREATE OR REPLACE VIEW queen.walk_row AS
SELECT
    0::integer AS worked,
    0::integer AS mended,
    NULL::uuid AS last_id,
    false AS done
WHERE false;
COMMENT ON VIEW queen.walk_row IS 'A step of a walk over all partitions: how many it looked at, how many it had to mend, and the id to go on from.';
