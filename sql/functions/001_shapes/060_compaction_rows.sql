/*
 * Purpose:     shapes of the rows about compaction. Views that are never read.
 * Source:      house style B1, design 5 item 1.
 */
CREATE OR REPLACE VIEW queen.compact_row AS
SELECT
    0::integer AS worked,
    false AS done,
    0::bigint AS frames_read,
    0::bigint AS frames_kept
WHERE false;
COMMENT ON VIEW queen.compact_row IS 'What one compaction step did: segments whose keys were noted or whose frames were judged, and whether nothing is left to do now. Of the judged segments, the newest is never one: messages read, and kept.';

CREATE OR REPLACE VIEW queen.compact_due_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id
WHERE false;
COMMENT ON VIEW queen.compact_due_row IS 'A partition that compaction has something to do in.';

CREATE OR REPLACE VIEW queen.latest_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    ''::text AS transaction_id,
    ''::text AS partition,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    0::bigint AS "offset",
    'null'::json AS payload,
    ''::text AS key,
    'epoch'::timestamptz AS created_at
WHERE false;
COMMENT ON VIEW queen.latest_row IS 'The newest message of a key.';

CREATE OR REPLACE VIEW queen.compacted_segment AS
SELECT
    0::bigint AS base_offset,
    0::bigint AS end_offset,
    0::integer AS old_frames,
    0::bigint AS old_bytes,
    0::integer AS frames,
    0::bigint AS bytes,
    ARRAY[]::text[] AS payloads,
    NULL::text[] AS transaction_ids,
    NULL::text[] AS keys,
    NULL::uuid[] AS trace_ids,
    NULL::text[] AS producer_subs,
    NULL::bigint[] AS offsets,
    NULL::text[] AS buried,
    NULL::bigint[] AS buried_at,
    false AS tombstones,
    NULL::bit varying AS gone
WHERE false;
COMMENT ON VIEW queen.compacted_segment IS 'Inside of a compaction step: a segment as it shall be, what it was, the keys (and offsets) of the tombstones that go, whether tombstones stay, and which frames it was known to lose.';
