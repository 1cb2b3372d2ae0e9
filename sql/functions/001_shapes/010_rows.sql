/*
 * Purpose:     shapes of the rows that set-returning functions answer. A view that is never read: it declares names,
 *              types and nullability for callers and generated code. An incompatible change is a new name.
 * Source:      house style B1, design 4.
 */
CREATE OR REPLACE VIEW queen.push_row AS
SELECT
    0::integer AS grp,
    ''::text AS status,
    NULL::uuid AS partition_id,
    (-1)::bigint AS base_offset,
    NULL::uuid AS id_base,
    NULL::timestamptz AS created_at,
    0::integer AS frames,
    0::integer AS first_item,
    NULL::integer[] AS items,
    NULL::uuid[] AS item_ids,
    NULL::bigint[] AS item_offsets,
    NULL::text AS code,
    NULL::text AS error
WHERE false;
COMMENT ON VIEW queen.push_row IS 'One row a stored segment (queued), or a refusal of a group or of some of its items (duplicate, busy, failed). Items are positions inside the group, from 0; items null means frames items from first_item on. Item k of a queued row has the id id_base + k.';

CREATE OR REPLACE VIEW queen.pushed_message AS
SELECT
    0::integer AS item,
    ''::text AS status,
    '00000000-0000-0000-0000-000000000000'::uuid AS message_id,
    ''::text AS transaction_id,
    NULL::bigint AS "offset",
    ''::text AS partition
WHERE false;
COMMENT ON VIEW queen.pushed_message IS 'Verdict on one pushed message: queued, or duplicate with the id and offset of the original (all-zero id when it is gone).';

CREATE OR REPLACE VIEW queen.pop_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    ''::text AS partition,
    ''::text AS lease_id,
    NULL::timestamptz AS lease_expires_at,
    0::integer AS delivery_attempt,
    'epoch'::timestamptz AS created_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS id_base,
    0::bigint AS segment_base,
    0::bigint AS first_offset,
    0::bigint AS last_offset,
    ARRAY[]::text[] AS payloads,
    NULL::text[] AS transaction_ids,
    NULL::text[] AS keys,
    NULL::text[] AS trace_ids,
    NULL::text[] AS producer_subs,
    NULL::bigint[] AS offsets,
    NULL::boolean AS conflation,
    NULL::boolean AS conflation_conflict
WHERE false;
COMMENT ON VIEW queen.pop_row IS 'A slice of one segment, in offset order. Frame i of the slice is at offset first_offset + i (offsets[i] after compaction) and has the id id_base + (offset - segment_base). lease_id is empty with autoAck. One more row, without payloads, comes first when the group conflates or the pop asked for another policy than the group has: conflation is the policy in force.';

CREATE OR REPLACE VIEW queen.popped_message AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    ''::text AS transaction_id,
    ''::text AS partition,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    0::bigint AS "offset",
    'null'::json AS payload,
    NULL::text AS key,
    'epoch'::timestamptz AS created_at,
    ''::text AS lease_id,
    NULL::timestamptz AS lease_expires_at,
    0::integer AS delivery_attempt
WHERE false;
COMMENT ON VIEW queen.popped_message IS 'One delivered message, for psql and applications.';

CREATE OR REPLACE VIEW queen.ack_row AS
SELECT
    0::integer AS item,
    false AS success,
    NULL::text AS error,
    false AS lease_released,
    false AS dlq,
    false AS noop,
    NULL::bigint AS conflated
WHERE false;
COMMENT ON VIEW queen.ack_row IS 'Verdict on one item of an ack, item = its position in the call, from 0. success means the instruction was carried out, not that the message is done. conflated, at the message that completed a last-value batch: positions that were retired without delivery.';

CREATE OR REPLACE VIEW queen.transaction_row AS
SELECT
    ''::text AS kind,
    0::integer AS item,
    false AS success,
    NULL::uuid AS message_id,
    false AS duplicate,
    NULL::uuid AS partition_id,
    NULL::bigint AS "offset",
    false AS lease_released,
    false AS dlq,
    false AS noop
WHERE false;
COMMENT ON VIEW queen.transaction_row IS 'What a transaction did with one item, item = its position among the pushed items (kind push) or among the acks (kind ack), from 0. duplicate: it repeats an earlier item of the same call, whose id and offset it has. An ack without success was passed by the cursor before.';

CREATE OR REPLACE VIEW queen.lease_row AS
SELECT
    0::integer AS renewed,
    NULL::timestamptz AS expires_at
WHERE false;
COMMENT ON VIEW queen.lease_row IS 'How many leases were extended, and the earliest new end among them.';

CREATE OR REPLACE VIEW queen.step_row AS
SELECT
    0::integer AS worked,
    false AS done
WHERE false;
COMMENT ON VIEW queen.step_row IS 'What one bounded maintenance step did: rows worked on, and whether nothing is left to do now.';

CREATE OR REPLACE VIEW queen.pop_fill_row AS
SELECT
    0::integer AS min_pop_wait_time,
    0::bigint AS available
WHERE false;
COMMENT ON VIEW queen.pop_fill_row IS 'Milliseconds a queue asks a pop to wait for a full batch, and the messages it could take now.';
