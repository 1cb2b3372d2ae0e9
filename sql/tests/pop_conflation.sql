-- Last-value delivery: what a conflating group gets, and what its acks do.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_conflation.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
-- What a pop answers: the policy row as policy or policy!conflict, then payload@attempt of every message.
CREATE FUNCTION pg_temp.pop(p_queue text, p_ask boolean DEFAULT true, p_batch integer DEFAULT 100, p_group text DEFAULT 'g', p_partition text DEFAULT 'p',
    p_max integer DEFAULT NULL, p_auto boolean DEFAULT false, p_mode text DEFAULT 'all') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(CASE WHEN r.payloads = '{}' THEN r.conflation::text || CASE WHEN r.conflation_conflict THEN '!' ELSE '' END
        ELSE array_to_string(r.payloads, ',') || '@' || r.delivery_attempt END, ' ' ORDER BY r.ordinality), '')
    FROM queen.log_pop_v1(p_queue, p_partition, p_group, p_batch, p_max, NULL, p_auto, p_mode, p_conflation => p_ask) WITH ORDINALITY r
$$;
CREATE FUNCTION pg_temp.lease_of(p_queue text, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT c.worker_id FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue) AND c.consumer_group = p_group
$$;
-- conflated of each verdict.
CREATE FUNCTION pg_temp.retired(p_queue text, p_ids text[], p_status text DEFAULT 'completed') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(coalesce(a.conflated::text, CASE WHEN a.success THEN '-' ELSE split_part(a.error, ':', 1) END), ' ' ORDER BY a.item)
    FROM queen.ack_v1(pg_temp.lane(p_queue), p_ids, pg_temp.lease_of(p_queue), 'g', p_status) a
$$;

-- O-53, O-54: one frame, the last; the lease covers all; an ack retires all and says how many.
DO $$
BEGIN
    PERFORM pg_temp.push('last', 5);
    PERFORM pg_temp.push('last', 6, 3);
    ASSERT pg_temp.pop('last') = 'true {"n": 10}@1', 'O-53: ' || pg_temp.row('last');
    ASSERT pg_temp.row('last') = '-1 10 L 0 0 1 0', 'O-53: the lease covers (committed, tail], attempts count from committed + 1: ' || pg_temp.row('last');
    ASSERT (SELECT c.lease_conflated FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane('last')), 'O-37: the lease is marked';
    ASSERT pg_temp.pop('last') = 'true', 'O-26: leased; the policy is told with nothing, too';
    PERFORM pg_temp.push('last', 1);
    ASSERT pg_temp.retired('last', '{10}') = '10' AND pg_temp.row('last') = '10 - - 0 - 0 11', 'O-54: ' || pg_temp.row('last');
    ASSERT pg_temp.pop('last') = 'true {"n": 11}@1', 'O-55: what was pushed meanwhile comes next';
    ASSERT pg_temp.retired('last', '{11}') = '0' AND pg_temp.row('last') = '11 - - 0 - 0 12', 'O-54: nothing was skipped: ' || pg_temp.row('last');
    ASSERT pg_temp.pop('last') = 'true', 'nothing left';
    ASSERT pg_temp.retired('last', '{11}') = '-', 'a repeat of the ack is a noop';
END $$;

-- failed, retry and dlq act on the frame of the last attempt; expiry redelivers, with what is last then.
DO $$
BEGIN
    PERFORM queen.configure_queue_v1('bad', '{"retryLimit": 1}');
    PERFORM pg_temp.push('bad', 3);
    ASSERT pg_temp.pop('bad') = 'true {"n": 2}@1';
    ASSERT pg_temp.retired('bad', '{2}', 'retry') = '-' AND pg_temp.row('bad') = '-1 - - 0 0 1 0', 'retry is free: ' || pg_temp.row('bad');
    PERFORM pg_temp.push('bad', 1);
    ASSERT pg_temp.pop('bad') = 'true {"n": 3}@2', 'O-53: attempts follow the cursor, not the frame';
    PERFORM pg_temp.expire('bad');
    ASSERT pg_temp.pop('bad') = 'true {"n": 3}@3', 'O-29: an expired lease redelivers';
    ASSERT pg_temp.retired('bad', '{3}', 'failed') = '-' AND pg_temp.row('bad') = '-1 - - 1 0 3 0', 'failed is charged: ' || pg_temp.row('bad');
    PERFORM pg_temp.push('bad', 1);
    ASSERT pg_temp.pop('bad') = 'true {"n": 4}@4';
    ASSERT pg_temp.ack('bad', pg_temp.lease_of('bad'), '4f') = '+RD' AND pg_temp.row('bad') = '4 - - 0 - 0 5', 'the budget is used: ' || pg_temp.row('bad');
    ASSERT (SELECT array_agg(d.payload) FROM queen.log_dlq d WHERE d.partition_id = pg_temp.lane('bad')) = '{"{\"n\": 4}"}', 'poison is the tail of the last attempt';
    PERFORM pg_temp.push('bad', 2);
    ASSERT pg_temp.pop('bad') = 'true {"n": 6}@1';
    ASSERT pg_temp.ack('bad', pg_temp.lease_of('bad'), '6d') = '+RD' AND pg_temp.row('bad') = '6 - - 0 - 0 7', 'dlq: ' || pg_temp.row('bad');
    PERFORM queen.configure_queue_v1('bad', '{"retryLimit": 0, "deadLetterQueue": false, "dlqAfterMaxRetries": false}');
    PERFORM pg_temp.push('bad', 2);
    ASSERT pg_temp.pop('bad') = 'true {"n": 8}@1';
    ASSERT pg_temp.ack('bad', pg_temp.lease_of('bad'), '8f') = '+R' AND pg_temp.row('bad') = '8 - - 0 - 0 9', 'dropped: ' || pg_temp.row('bad');
END $$;

-- An ack under such a lease means the frame that was delivered: not one below it with the same id, not one that was
-- delivered before, and it costs no look at what was skipped.
DO $$
BEGIN
    PERFORM queen.configure_queue_v1('same', '{"dedupWindowSeconds": 0}');
    FOR i IN 1..4 LOOP
        PERFORM queen.push_v1('same', to_json(i), 'p', 'sensor');
    END LOOP;
    ASSERT pg_temp.pop('same') = 'true 4@1';
    ASSERT pg_temp.retired('same', '{sensor}') = '3' AND pg_temp.row('same') = '3 - - 0 - 0 4', 'the last occurrence is meant: ' || pg_temp.row('same');
    PERFORM queen.push_v1('same', '5', 'p', 'old');
    PERFORM queen.push_v1('same', '6', 'p', 'new');
    ASSERT pg_temp.pop('same') = 'true 6@1';
    ASSERT pg_temp.retired('same', '{old,sensor,nothing}') = 'unresolvable - unresolvable' AND pg_temp.row('same') = '3 5 L 0 4 1 4',
        'only the delivered one moves the cursor; below it is a noop: ' || pg_temp.row('same');
    ASSERT pg_temp.ack('same', pg_temp.lease_of('same'), 'oldf sensorf') = 'unresolvable already' AND pg_temp.row('same') = '3 5 L 0 4 1 4', 'T-7: reported';
    ASSERT pg_temp.retired('same', '{new,new}') = '1 1' AND pg_temp.row('same') = '5 - - 0 - 0 6', 'the same one twice';
    -- Without a lease id (A-7), and after the sidecar was purged.
    PERFORM queen.push_v1('same', '7', 'p', 'a');
    PERFORM queen.push_v1('same', '8', 'p', 'b');
    ASSERT pg_temp.pop('same') = 'true 8@1';
    DELETE FROM queen.log_txns WHERE partition_id = pg_temp.lane('same');
    ASSERT pg_temp.ack('same', NULL, 'ac') = 'unresolvable' AND pg_temp.ack('same', NULL, 'bc') = '+R' AND pg_temp.row('same') = '7 - - 0 - 0 8', 'A-7, F059: ' || pg_temp.row('same');
    -- A positional ack.
    PERFORM pg_temp.push('pos', 5);
    ASSERT pg_temp.pop('pos') = 'true {"n": 4}@1';
    ASSERT (SELECT (a.success, a.conflated) FROM queen.log_ack_upto_v1(ARRAY[pg_temp.lane('pos')], '{g}', ARRAY[pg_temp.lease_of('pos')], '{4}') a) = (true, 4::bigint), 'A-23';
END $$;

-- O-52: the first registration decides; who asks for the contrary is told, with and without messages.
DO $$
DECLARE
    v_code text;
BEGIN
    PERFORM pg_temp.push('who', 2);
    ASSERT pg_temp.pop('who', true, p_partition => NULL) = 'true {"n": 1}@1', 'O-13: registered by a queue-wide pop';
    ASSERT pg_temp.pop('who', false, p_partition => NULL) = 'true!' AND pg_temp.pop('who', false) = 'true!', 'O-52: the stored policy stays, and is told';
    PERFORM pg_temp.expire('who');
    ASSERT pg_temp.pop('who', false) = 'true! {"n": 1}@2', 'O-52: the stored policy is in force';
    ASSERT pg_temp.pop('who', false, p_group => 'plain', p_partition => NULL) = '{"n": 0}@1 {"n": 1}@1', 'an ordinary group has no policy row';
    ASSERT pg_temp.pop('who', true, p_group => 'plain') = 'false!' AND pg_temp.pop('who', true, p_group => 'plain', p_partition => NULL) = 'false!', 'O-52: and none after a wish';
    -- O-19: a pinned pop registers only when it asks for conflation, and then for the whole queue.
    PERFORM pg_temp.pop('who', false, p_group => 'pinned');
    ASSERT NOT EXISTS (SELECT FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'pinned'), 'O-19';
    PERFORM queen.push_v1('who', '1', 'other');
    ASSERT pg_temp.pop('who', true, p_group => 'pins') = 'true {"n": 1}@1';
    ASSERT (SELECT m.conflation FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'pins') AND
        (SELECT count(*) FROM queen.log_consumers c WHERE c.consumer_group = 'pins') = 2, 'O-19, O-13: seeded every partition';
    -- Nothing there yet.
    ASSERT pg_temp.pop('none', true) = 'true' AND NOT EXISTS (SELECT FROM queen.queues q WHERE q.name = 'none'), 'a pinned pop makes no queue';
    ASSERT pg_temp.pop('none', true, p_partition => NULL) = 'true' AND pg_temp.pop('none', false, p_partition => NULL) = 'true!', 'O-52: registered with the queue';
    FOR i IN 1..2 LOOP
        BEGIN
            v_code := NULL;
            PERFORM queen.pop_v1('who', p_group => CASE i WHEN 1 THEN 'g' END, p_auto_ack => i = 1, p_conflation => true);
        EXCEPTION WHEN SQLSTATE 'QN400' THEN
            GET STACKED DIAGNOSTICS v_code = COLUMN_NAME;
        END;
        ASSERT v_code = 'conflation', 'O-52: refused without a group, and with autoAck';
    END LOOP;
    ASSERT (SELECT count(*) FROM queen.pop_v1('who', 10, 'g', 'p', p_auto_ack => true)) = 0, 'leased';
    PERFORM pg_temp.expire('who');
    ASSERT pg_temp.pop('who', false, p_auto => true) = 'true! {"n": 1}@1' AND pg_temp.row('who') = '1 - - 0 0 2 2', 'O-36: autoAck of such a group commits to the tail: ' || pg_temp.row('who');
END $$;

-- O-56: partitions defaults to the batch, at most 64; O-16: new skips the backlog; one lease covers all.
DO $$
BEGIN
    FOR i IN 1..70 LOOP
        PERFORM queen.push_many_v1('wide', '{1,2}'::json[], ARRAY['p' || i]);
    END LOOP;
    ASSERT (SELECT (count(*), count(DISTINCT r.lease_id), sum(cardinality(r.payloads))) FROM queen.log_pop_v1('wide', NULL, 'a', 200, p_conflation => true) r WHERE r.payloads <> '{}')
        = (64::bigint, 1::bigint, 64::bigint), 'O-56: at most 64';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wide', 5, 'b', p_conflation => true)) = 5, 'O-56: the batch';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wide', 200, 'c', p_max_partitions => 3, p_conflation => true)) = 3, 'given';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wide', 200, 'd', p_max_partitions => 0, p_conflation => true)) = 70, 'no cap';
    ASSERT (SELECT count(DISTINCT m.partition) FROM queen.pop_v1('wide', 200, 'e') m) = 1, 'one for an ordinary group';
    PERFORM pg_temp.push('late', 3);
    ASSERT pg_temp.pop('late', p_partition => NULL, p_mode => 'new') = 'true', 'O-15: new skips the backlog';
    PERFORM pg_temp.push('late', 2);
    ASSERT pg_temp.pop('late') = 'true {"n": 4}@1';
    ASSERT pg_temp.retired('late', '{4}') = '1', 'O-54';
END $$;

-- The gates: the newest visible segment is meant (O-20, O-23), whatever lies above it; gaps; frames that are gone.
DO $$
DECLARE
    v_late interval;
BEGIN
    PERFORM pg_temp.push('gate', 40, 2);
    PERFORM queen.configure_queue_v1('gate', '{"delayedProcessing": 100}');
    FOREACH v_late IN ARRAY '{1 s, 37 s, 150 s, 395 s}'::interval[] LOOP
        -- Segment k (offsets 2k, 2k + 1) is 20 (20 - k) seconds old, and then v_late more.
        UPDATE queen.log_segments SET created_at = clock_timestamp() - v_late - make_interval(secs => 20 * (20 - base_offset / 2)) WHERE partition_id = pg_temp.lane('gate');
        UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL, attempt_offset = NULL, committed = -1 WHERE partition_id = pg_temp.lane('gate');
        ASSERT pg_temp.pop('gate') = format('true {"n": %s}@1', (
            SELECT max(s.end_offset) FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('gate') AND s.created_at <= clock_timestamp() - interval '100 s')), 'O-23: ' || v_late;
    END LOOP;
    UPDATE queen.log_segments SET created_at = clock_timestamp() WHERE partition_id = pg_temp.lane('gate');
    PERFORM pg_temp.expire('gate');
    ASSERT pg_temp.pop('gate') = 'true', 'O-23: all hidden';
    PERFORM queen.configure_queue_v1('gate', '{"delayedProcessing": 0, "windowBuffer": 100}');
    ASSERT pg_temp.pop('gate') = 'true', 'O-20: shut';
    PERFORM queen.configure_queue_v1('gate', '{"windowBuffer": 0}');
    PERFORM queen._move_log_start(pg_temp.lane('gate'), 20);
    ASSERT pg_temp.pop('gate') = 'true {"n": 39}@2' AND pg_temp.row('gate') = '-1 39 L 0 0 2 0', 'O-33: a retention gap: ' || pg_temp.row('gate');
    ASSERT pg_temp.retired('gate', '{39}') = '39', 'A-15: gaps count';
    PERFORM pg_temp.push('gate', 4, 2);
    UPDATE queen.log_segments SET payloads[2] = NULL WHERE partition_id = pg_temp.lane('gate') AND base_offset = 42;
    ASSERT pg_temp.pop('gate') = 'true {"n": 42}@1', 'F079: a damaged frame is passed over';
    PERFORM pg_temp.expire('gate');
    UPDATE queen.log_segments SET payloads = '{}', frames = 0, offsets = '{}' WHERE partition_id = pg_temp.lane('gate') AND base_offset = 42;
    ASSERT pg_temp.pop('gate') = 'true {"n": 41}@2', 'a segment that was emptied: the one before it';
    PERFORM pg_temp.expire('gate');
    UPDATE queen.log_segments SET payloads = payloads[1:1], frames = 1, offsets = '{40}' WHERE partition_id = pg_temp.lane('gate') AND base_offset = 40;
    ASSERT pg_temp.pop('gate') = 'true {"n": 40}@3', 'after compaction';
    ASSERT pg_temp.retired('gate', '{40}') = '0' AND pg_temp.pop('gate') = 'true', 'nothing left that could be read';
END $$;

-- The human face: a notice tells about a conflict.
DO $$
BEGIN
    PERFORM pg_temp.push('human', 3);
    ASSERT (SELECT array_agg(m.transaction_id) FROM queen.pop_v1('human', 10, 'g', p_conflation => true) m) = '{2}', 'design 4: the human face';
    ASSERT (SELECT array_agg(m.transaction_id) FROM queen.pop_v1('human', 10, 'h') m) = '{0,1,2}', 'and an ordinary group beside it';
END $$;

ROLLBACK;
