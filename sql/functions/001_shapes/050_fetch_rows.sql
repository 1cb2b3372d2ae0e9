/*
 * Purpose:     shapes of the rows of reads by offset and of the list of changed partitions. See 010_rows.sql.
 * Source:      house style B1, design 4.
 */
CREATE OR REPLACE VIEW queen.fetch_row AS
SELECT
    0::integer AS entry,
    0::bigint AS high_watermark,
    0::bigint AS log_start,
    NULL::text AS error,
    'epoch'::timestamptz AS created_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS id_base,
    0::bigint AS segment_base,
    0::bigint AS first_offset,
    ARRAY[]::text[] AS payloads,
    NULL::text[] AS transaction_ids,
    NULL::bigint[] AS offsets,
    NULL::text[] AS keys
WHERE false;
COMMENT ON VIEW queen.fetch_row IS 'A slice of one segment for entry number entry (from 0). The first row of each entry has no payloads, only the bounds of the log or an error. Frame i is at first_offset + i (offsets[i] after compaction) and has the id id_base + (offset - segment_base).';

CREATE OR REPLACE VIEW queen.changed_row AS
SELECT
    0::integer AS entry,
    'epoch'::timestamptz AS safe_time,
    false AS safe_time_degraded,
    NULL::text AS safe_time_held_by,
    NULL::text AS name,
    NULL::bigint AS last_offset,
    NULL::bigint AS log_start,
    NULL::timestamptz AS last_write_at,
    NULL::text AS next,
    NULL::text AS error
WHERE false;
COMMENT ON VIEW queen.changed_row IS 'A partition of entry number entry (from 0), or the error of an entry; the first row (entry -1) stands for the call. All carry the same safe time. next is set on the last row of a full page.';

CREATE OR REPLACE VIEW queen.changed_partition AS
SELECT
    NULL::text AS name,
    NULL::bigint AS last_offset,
    NULL::bigint AS log_start,
    NULL::timestamptz AS last_write_at,
    NULL::text AS next,
    'epoch'::timestamptz AS safe_time,
    false AS safe_time_degraded,
    NULL::text AS safe_time_held_by
WHERE false;
COMMENT ON VIEW queen.changed_partition IS 'A partition written lately, for psql and applications; one row without a name when there is none.';
