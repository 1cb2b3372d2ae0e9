/*
 * Purpose:     shapes of the rows about dead letters. Views that are never read.
 * Source:      house style B1, spec 4.8 and 4.9.
 */
CREATE OR REPLACE VIEW queen.dead_letter_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS id,
    ''::text AS transaction_id,
    '00000000-0000-0000-0000-000000000000'::uuid AS partition_id,
    ''::text AS queue,
    ''::text AS partition,
    ''::text AS consumer_group,
    NULL::text AS error,
    0::integer AS retry_count,
    NULL::text AS payload,
    'epoch'::timestamptz AS failed_at,
    '00000000-0000-0000-0000-000000000000'::uuid AS message_id,
    0::bigint AS "offset"
WHERE false;
COMMENT ON VIEW queen.dead_letter_row IS 'One dead letter. The payload is as stored when it failed, null when the message was gone by then; id is that of the dead letter, message_id that of the message.';

CREATE OR REPLACE VIEW queen.replay_row AS
SELECT
    '00000000-0000-0000-0000-000000000000'::uuid AS dlq_id,
    ''::text AS result,
    ''::text AS queue,
    ''::text AS partition,
    ''::text AS consumer_group,
    ''::text AS transaction_id,
    'epoch'::timestamptz AS failed_at,
    NULL::uuid AS message_id,
    NULL::bigint AS "offset",
    NULL::text AS code,
    NULL::text AS error
WHERE false;
COMMENT ON VIEW queen.replay_row IS 'What became of one dead letter: moved (message_id and offset are those of the new message), duplicate, failed or busy (the dead letter is kept, error says why), gone, or movable in a dry run. queue and partition are where it went or would go; transaction_id is that of the message that failed.';
