/*
 * Purpose:     shapes of the rows about retention. Views that are never read.
 * Source:      house style B1, R-9..R-27.
 */
CREATE OR REPLACE VIEW queen.retention_cut_row AS
SELECT
    ''::text AS rule,
    0::bigint AS first_offset,
    0::bigint AS boundary,
    0::integer AS segments,
    0::bigint AS frames,
    0::bigint AS bytes,
    0::bigint AS unread,
    false AS clipped
WHERE false;
COMMENT ON VIEW queen.retention_cut_row IS 'A run of whole segments at the start of a partition that a rule lets go: from first_offset to before boundary, with their segments, frames, bytes as sent, the frames that some group has not consumed (all of them when there is no group), and whether more is beyond the most rows that were looked at.';

CREATE OR REPLACE VIEW queen.retention_step_row AS
SELECT
    0::integer AS segments,
    0::bigint AS frames,
    0::bigint AS bytes,
    0::bigint AS unread,
    0::integer AS reclaimed,
    NULL::bigint AS log_start,
    false AS done
WHERE false;
COMMENT ON VIEW queen.retention_step_row IS 'What one step took away: segments with their frames, bytes as sent and frames that some group had not consumed; rows of earlier steps that it deleted; where the log starts now, null for a partition that is gone; and whether nothing is left to do now.';

CREATE OR REPLACE VIEW queen.retention_cutoff_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id,
    ''::text AS queue,
    NULL::timestamptz AS age_before,
    NULL::timestamptz AS completed_before,
    NULL::timestamptz AS evict_before,
    'epoch'::timestamptz AS hashes_before,
    NULL::bigint AS max_bytes,
    NULL::bigint AS max_messages,
    NULL::timestamptz AS idle_before,
    NULL::text[] AS idle_groups,
    NULL::timestamptz AS hold_before,
    ''::text AS hold,
    'epoch'::timestamptz AS at
WHERE false;
COMMENT ON VIEW queen.retention_cutoff_row IS 'What retention may take from one queue now, all by one reading of the clock (at): what is older than age_before goes, what is older than completed_before and consumed, what is older than evict_before whatever else holds it, hash rows older than hashes_before, and what is over max_bytes or max_messages; null switches a rule off. Groups of idle_groups that did nothing since idle_before hold nothing back. hold_before is how far a sink lets the first two go, hold where that comes from: empty, pointer or cap.';

CREATE OR REPLACE VIEW queen.kv_row AS
SELECT
    ''::text AS namespace,
    ''::text AS key,
    'null'::jsonb AS value,
    0::bigint AS version,
    NULL::timestamptz AS expires_at,
    'epoch'::timestamptz AS updated_at
WHERE false;
COMMENT ON VIEW queen.kv_row IS 'A stored value with its version, which only tells whether it changed, and when it ends.';

CREATE OR REPLACE VIEW queen.partition_pin_row AS
SELECT
    ''::text AS queue,
    ''::text AS partition,
    ''::text AS consumer_group,
    0::bigint AS pinned_offset,
    0::bigint AS behind,
    NULL::timestamptz AS pinned_since,
    NULL::timestamptz AS last_active_at,
    NULL::timestamptz AS leased_until,
    false AS holds_back,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    '00000000-0000-0000-0000-000000000000'::uuid AS queue_id
WHERE false;
COMMENT ON VIEW queen.partition_pin_row IS 'A group that keeps a partition''s messages from counting as consumed, as queen.partition_pins shows it.';
