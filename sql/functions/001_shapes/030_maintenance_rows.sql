/*
 * Purpose:     shapes of the rows about doubtful pushes, maintenance and the spool. Views that are never read.
 * Source:      house style B1, design 3.1.
 */
CREATE OR REPLACE VIEW queen.found_push_row AS
SELECT
    0::integer AS grp,
    '00000000-0000-0000-0000-000000000000'::uuid AS id_base,
    0::integer AS frames,
    NULL::text[] AS transaction_ids
WHERE false;
COMMENT ON VIEW queen.found_push_row IS 'A segment that a doubtful push stored: frame k has the id id_base + k and the transaction id transaction_ids[k + 1], or its own id where that is null.';

CREATE OR REPLACE VIEW queen.maintenance_row AS
SELECT
    false AS push_paused,
    false AS pop_paused
WHERE false;
COMMENT ON VIEW queen.maintenance_row IS 'Which of the two maintenance switches are on.';

CREATE OR REPLACE VIEW queen.encrypted_queue_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS tenant_id,
    ''::text AS queue
WHERE false;
COMMENT ON VIEW queen.encrypted_queue_row IS 'A queue that is encrypted: its tenant and its name.';

CREATE OR REPLACE VIEW queen.spool_step_row AS
SELECT
    false AS replayed,
    0::bigint AS position,
    ARRAY[]::integer[] AS groups,
    ARRAY[]::integer[] AS frames
WHERE false;
COMMENT ON VIEW queen.spool_step_row IS 'What a replay of a piece of a spool file did: stored now, or nothing because the file already stands at another position; the position; the groups of which something was stored, from 0, and how many messages of each.';
