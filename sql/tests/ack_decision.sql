-- log_ack_v1: the decision, row by row of the table in the engine's rules; every order of failures and successes.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/ack_decision.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql

DO $$
DECLARE
    v text;
BEGIN
    -- Batch finished.
    PERFORM pg_temp.push('done', 6);
    v := pg_temp.lease('done', 3);
    ASSERT pg_temp.row('done') = '-1 2 L 0 0 1 0', 'leased: ' || pg_temp.row('done');
    ASSERT pg_temp.ack('done', v, '0c 1c 2c') = '+R +R +R', 'A-13: batch finished';
    ASSERT pg_temp.row('done') = '2 - - 0 - 0 3', 'A-13: cursor, released, counters reset: ' || pg_temp.row('done');
    ASSERT (SELECT c.lease_acquired_at IS NOT NULL FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane('done')), 'spec 1.5: lease_acquired_at is kept by an ack';
    -- Partial, in any order of ids; then the rest. A-14: gaps below are completed implicitly.
    v := pg_temp.lease('done', 3);
    ASSERT pg_temp.ack('done', v, '4c') = '+', 'A-13: partial keeps the lease';
    ASSERT pg_temp.row('done') = '4 5 L 0 3 1 5', 'A-14, A-15: the cursor is at the highest completed: ' || pg_temp.row('done');
    ASSERT pg_temp.ack('done', v, '3c') = 'n', 'A-14: what is below is done already';
    ASSERT pg_temp.ack('done', v, '5c') = '+R' AND pg_temp.row('done') = '5 - - 0 - 0 6', 'A-13: the rest can be acked: ' || pg_temp.row('done');
    ASSERT pg_temp.ack('done', v, '5c') = 'invalid' AND pg_temp.row('done') = '5 - - 0 - 0 6', 'F057, A-6: twice under a lease that ended';
    ASSERT pg_temp.ack('done', NULL, '5c 0c') = 'n n', 'F057: twice without a lease id is a noop';

    -- Order does not matter; a status twice neither.
    PERFORM pg_temp.push('done', 3);
    v := pg_temp.lease('done', 3);
    ASSERT pg_temp.ack('done', v, '8c 6c 7c 8c') = '+R +R +R +R' AND pg_temp.row('done') = '8 - - 0 - 0 9', 'A-14: order of items';
END $$;

-- Retry with budget, then the dead letter (F063, F065, A-16); A-18: one counter a (partition, group).
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('fail', 4);
    FOR i IN 1..3 LOOP
        v := pg_temp.lease('fail', 3);
        ASSERT pg_temp.ack('fail', v, '0f') = '+R', 'retry with budget';
        ASSERT pg_temp.row('fail') = format('-1 - - %s 0 %s 0', i, i), 'A-16: charged ' || i || ': ' || pg_temp.row('fail');
    END LOOP;
    v := pg_temp.lease('fail', 3);
    ASSERT pg_temp.ack('fail', v, '0f') = '+RD', 'F065, A-16: the fourth failed files it, default limit 3, flags at their default';
    ASSERT pg_temp.row('fail') = '0 - - 0 - 0 1', 'A-21: cursor past it, state cleared, one consumed: ' || pg_temp.row('fail');
    ASSERT (SELECT ("offset", retry_count, transaction_id, payload, error, consumer_group) = (0, 3, '0', '{"n": 0}', 'why 0f', 'g') FROM queen.log_dlq WHERE partition_id = pg_temp.lane('fail')), 'F065: payload, reason, attempts, group';

    -- Completed prefix, then failed: prefix done, budget charged, tail redelivers from the failed one.
    v := pg_temp.lease('fail', 3);
    ASSERT pg_temp.ack('fail', v, '1c 2f 3c') = '+R +R +R' AND pg_temp.row('fail') = '1 - - 1 1 1 2', 'F056: one call: ' || pg_temp.row('fail');
    v := pg_temp.lease('fail', 3);
    ASSERT (SELECT (c.committed, c.batch_end) = (1, 3) FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane('fail')), 'F056: 2 and 3 come again';
    -- Success resets the counter (F063).
    ASSERT pg_temp.ack('fail', v, '2c 3c') = '+R +R' AND pg_temp.row('fail') = '3 - - 0 - 0 4', 'F063: success resets: ' || pg_temp.row('fail');
END $$;

-- F056 in its other orders.
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('order', 3);
    v := pg_temp.lease('order', 3);
    ASSERT pg_temp.ack('order', v, '2c 1f 0c') = '+R +R +R' AND pg_temp.row('order') = '0 - - 1 0 1 1', 'F056: order 3, 2, 1: ' || pg_temp.row('order');
    v := pg_temp.lease('order', 3);
    ASSERT pg_temp.ack('order', v, '1f') = '+R' AND pg_temp.ack('order', v, '2c') = 'invalid', 'F056: three calls, the lease ends with the failure';
    ASSERT pg_temp.row('order') = '0 - - 2 1 1 1', 'F056: 2 is not skipped: ' || pg_temp.row('order');
    v := pg_temp.lease('order', 3);
    ASSERT pg_temp.ack('order', v, '2c') = '+R' AND pg_temp.row('order') = '2 - - 0 - 0 3', 'A-14: a success first completes what is below, that is the rule';
    ASSERT pg_temp.ack('order', v, '1f') = 'invalid' AND pg_temp.ack('order', NULL, '1f') = 'already', 'F056, T-7: the late failure is told so';
END $$;

-- Signals: the lowest wins; at one offset dlq beats failed beats retry (A-13). retry is free (F063); dlq is at once.
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('sig', 12);
    FOR i IN 1..10 LOOP
        v := pg_temp.lease('sig', 4);
        ASSERT pg_temp.ack('sig', v, '0r') = '+R' AND pg_temp.row('sig') = format('-1 - - 0 0 %s 0', i), 'F063: retry is free: ' || pg_temp.row('sig');
    END LOOP;
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '0c 1r 2d 3f') = '+R +R +R +R' AND pg_temp.row('sig') = '0 - - 0 0 11 1', 'A-13: the lowest is a retry: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '3f 1d 2r') = '+R +RD +R' AND pg_temp.row('sig') = '1 - - 0 - 0 2', 'A-13: the lowest is a dlq: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '2r 2f 2r') = '+R +R +R' AND pg_temp.row('sig') = '1 - - 1 2 1 2', 'A-13: failed beats retry';
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '2r 2f 2d') = '+RD +RD +RD' AND pg_temp.row('sig') = '2 - - 0 - 0 3', 'A-13: dlq beats failed, clears the counter: ' || pg_temp.row('sig');
    ASSERT (SELECT array_agg("offset" ORDER BY "offset") FROM queen.log_dlq WHERE partition_id = pg_temp.lane('sig')) = '{1,2}', 'each filed once';
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '3c 3d') = '+RD +RD' AND pg_temp.row('sig') = '3 - - 0 - 0 4', 'A-13: a signal on a completed one wins';
    -- dlq with a completed prefix above and below.
    v := pg_temp.lease('sig', 4);
    ASSERT pg_temp.ack('sig', v, '4c 5c 6d 7c') = '+R +R +RD +R' AND pg_temp.row('sig') = '6 - - 0 - 0 7', 'dlq: prefix and poison are consumed, the rest redelivers: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 1);
    ASSERT pg_temp.ack('sig', v, '7d') = '+RD' AND pg_temp.row('sig') = '7 - - 0 - 0 8', 'dlq of a whole batch';
    -- Counters are one a group: another group has its own.
    v := pg_temp.lease('sig', 2, 'h');
    ASSERT pg_temp.ack('sig', v, '0f', false, 'h') = '+R' AND pg_temp.row('sig', 'h') = '-1 - - 1 0 1 0' AND pg_temp.row('sig') = '7 - - 0 - 0 8', 'E-28';
END $$;

-- Limits: 0 at once, NULL is 3, lowered below the counter at once (A-16, A-19); expiry is free (F053, F063).
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('limit', 9);
    UPDATE queen.queues SET retry_limit = 0 WHERE name = 'limit';
    v := pg_temp.lease('limit', 1);
    ASSERT pg_temp.ack('limit', v, '0f') = '+RD', 'A-16: limit 0';
    UPDATE queen.queues SET retry_limit = NULL WHERE name = 'limit';
    FOR i IN 1..3 LOOP
        v := pg_temp.lease('limit', 2);
        PERFORM pg_temp.expire('limit');
        v := pg_temp.lease('limit', 2);
        ASSERT pg_temp.ack('limit', v, '1f') = '+R', 'A-16: NULL is 3, expiry is free, failed ' || i;
    END LOOP;
    ASSERT pg_temp.row('limit') = '0 - - 3 1 6 1', 'F053: six deliveries, three charged: ' || pg_temp.row('limit');
    v := pg_temp.lease('limit', 2);
    ASSERT pg_temp.ack('limit', v, '1f') = '+RD', 'F063: exactly at the limit';
    PERFORM queen.configure_queue_v1('limit', '{"retryLimit": 5}');
    FOR i IN 1..2 LOOP
        v := pg_temp.lease('limit', 2);
        PERFORM pg_temp.ack('limit', v, '2f');
    END LOOP;
    PERFORM queen.configure_queue_v1('limit', '{"retryLimit": 1}');
    v := pg_temp.lease('limit', 2);
    ASSERT pg_temp.ack('limit', v, '2f') = '+RD', 'A-19: lowered below the counter';
    UPDATE queen.queues SET retry_limit = -7 WHERE name = 'limit';
    v := pg_temp.lease('limit', 2);
    ASSERT pg_temp.ack('limit', v, '3f') = '+RD', 'design 7: an absurd limit does not fail';
END $$;

-- The two flags (A-17): off only when both are false; then the poison is dropped and counts as consumed.
DO $$
DECLARE
    r record;
    v text;
    v_files boolean;
BEGIN
    FOR r IN SELECT a, b, 'flags ' || coalesce(a::text, '-') || coalesce(b::text, '-') AS q FROM unnest(ARRAY[true, false, NULL]) a, unnest(ARRAY[true, false, NULL]) b LOOP
        PERFORM pg_temp.push(r.q, 3);
        UPDATE queen.queues SET retry_limit = 0, dead_letter_queue = r.a, dlq_after_max_retries = r.b WHERE name = r.q;
        v := pg_temp.lease(r.q, 3);
        v_files := coalesce(r.a, true) OR coalesce(r.b, true);
        ASSERT pg_temp.ack(r.q, v, '0c 1f 2c') = CASE WHEN v_files THEN '+R +RD +R' ELSE '+R +R +R' END, 'A-17: ' || r.q;
        ASSERT pg_temp.row(r.q) = '1 - - 0 - 0 2', 'drop and dead letter move alike: ' || r.q || ': ' || pg_temp.row(r.q);
        ASSERT (SELECT count(*) FROM queen.log_dlq WHERE partition_id = pg_temp.lane(r.q)) = v_files::integer, 'A-17: filed or not: ' || r.q;
    END LOOP;
    -- Forced dlq files whatever the flags say.
    v := pg_temp.lease('flags falsefalse', 1);
    ASSERT pg_temp.ack('flags falsefalse', v, '2d') = '+RD', 'forced dead letter ignores the flags';
END $$;

-- Without a leased batch: completed moves the cursor; signals have no effect and say so (T-7).
DO $$
BEGIN
    PERFORM pg_temp.push('free', 6);
    ASSERT pg_temp.ack('free', NULL, '0c') = 'consumer', 'A-8: no consumer row';
    PERFORM pg_temp.lease('free', 1);
    PERFORM pg_temp.ack('free', NULL, '0r');
    ASSERT pg_temp.row('free') = '-1 - - 0 0 1 0', 'no lease now';
    ASSERT pg_temp.ack('free', NULL, '0c 1c') = '+ +' AND pg_temp.row('free') = '1 - - 0 0 1 2', 'no batch: the cursor moves: ' || pg_temp.row('free');
    ASSERT pg_temp.ack('free', NULL, '2f') = 'no' AND pg_temp.ack('free', NULL, '2r') = 'no' AND pg_temp.ack('free', NULL, '2d') = 'no', 'no batch, T-7: a signal is reported';
    ASSERT pg_temp.ack('free', '', '2c 3f 4c') = '+ no +' AND pg_temp.row('free') = '2 - - 0 0 1 3', 'no batch: nothing is skipped over a signal: ' || pg_temp.row('free');
    ASSERT NOT EXISTS (SELECT FROM queen.log_dlq WHERE partition_id = pg_temp.lane('free')), 'no batch: nothing is filed';
    ASSERT pg_temp.ack('free', 'a-made-up-lease', '3c') = 'invalid' AND pg_temp.row('free') = '2 - - 0 0 1 3', 'A-6: a lease id that nobody holds';
END $$;

-- W-1, A-7, I-26: lease-less acks while somebody else holds the batch; p_require_lease refuses them while the lease lives.
DO $$
DECLARE
    v text;
    w text;
BEGIN
    PERFORM pg_temp.push('w1', 8);
    v := pg_temp.lease('w1', 4);
    ASSERT pg_temp.ack('w1', NULL, '0c') = '+' AND pg_temp.row('w1') = '0 3 L 0 0 1 1', 'W-1: it moves the cursor under a live lease';
    ASSERT pg_temp.ack('w1', NULL, '1c', true) = 'invalid' AND pg_temp.ack('w1', '', '1c', true) = 'invalid' AND pg_temp.row('w1') = '0 3 L 0 0 1 1', 'I-26: refused with p_require_lease';
    ASSERT pg_temp.ack('w1', v, '1c', true) = '+', 'I-26: the holder is not refused';
    ASSERT pg_temp.ack('w1', NULL, '3c') = '+R' AND pg_temp.row('w1') = '3 - - 0 - 0 4', 'A-7: reaching the end releases the other''s lease';
    ASSERT pg_temp.ack('w1', NULL, '4c', true) = '+', 'I-26: without a live lease it is allowed';
    -- F058: A's lease ends, B takes over, A acks late.
    v := pg_temp.lease('w1', 3);
    PERFORM pg_temp.expire('w1');
    ASSERT pg_temp.ack('w1', v, '5c') = 'invalid', 'A-6: expired, nobody took over';
    ASSERT pg_temp.ack('w1', NULL, '5c', true) = '+', 'I-26: an expired lease is no live lease';
    w := pg_temp.lease('w1', 2);
    ASSERT pg_temp.ack('w1', v, '6c 7c') = 'invalid invalid' AND pg_temp.ack('w1', v, '6f') = 'invalid' AND pg_temp.row('w1') = '5 7 L 0 6 1 6', 'F058: the new owner is untouched: ' || pg_temp.row('w1');
    ASSERT pg_temp.ack('w1', w, '6c 7c') = '+R +R' AND pg_temp.row('w1') = '7 - - 0 - 0 8', 'F058: and acks';
    ASSERT pg_temp.ack('w1', w, '7f') = 'invalid', 'A-6: after the release the id means nothing';
END $$;

-- A bundle: groups are independent, answers in input positions, arguments checked before anything moves (A-3, A-24, F057, F075).
DO $$
DECLARE
    v_a text;
    v_b text;
    v_ids uuid[];
    v_got text;
    r record;
    v_field text;
BEGIN
    PERFORM pg_temp.push('qa', 3), pg_temp.push('qb', 3);
    v_a := pg_temp.lease('qa', 3);
    v_b := pg_temp.lease('qb', 3);
    v_ids := ARRAY[pg_temp.lane('qa'), pg_temp.lane('qb')];
    SELECT string_agg(concat_ws(':', a.item, a.success, a.error), ' ' ORDER BY a.item) INTO v_got
    FROM queen.log_ack_v1(v_ids || v_ids || gen_random_uuid(), '{g,g,h,g,g}', ARRAY[v_b, v_b, v_a, NULL, NULL], '{1,2,1,1,1}', '{0,1,0,0,0,0}', '{completed,completed,completed,completed,completed,completed}') a;
    ASSERT v_got = '0:f:invalid or expired lease 1:t 2:t 3:f:consumer not found 4:t 5:f:consumer not found', 'F075, A-3: ' || v_got;
    ASSERT pg_temp.row('qa') = '-1 2 L 0 0 1 0' AND pg_temp.row('qb') = '1 2 L 0 0 1 2', 'F075: the wrong lease moved nothing';
    ASSERT (SELECT string_agg(a.error, '') FROM queen.log_ack_v1(v_ids[1:1], '{g}', ARRAY[v_a], '{1}', '{0}', '{completed}', p_tenant_id => '00000000-0000-0000-0000-0000000000aa') a)
        = 'partition not owned by tenant', 'F075: another tenant';
    ASSERT NOT EXISTS (SELECT FROM queen.log_ack_v1(v_ids[1:1], '{g}', ARRAY[v_a], '{0}', '{}', '{}')) AND NOT EXISTS (SELECT FROM queen.log_ack_v1('{}', '{}', '{}', '{}', '{}', '{}')), 'nothing in, nothing out';
    FOR r IN SELECT * FROM (VALUES
        ('{g,g}', '{1}', '{0}', '{completed}', NULL, 'p_counts'), ('{g}', '{2}', '{0}', '{completed}', NULL, 'p_counts'), ('{g}', '{1}', '{0}', '{completed,failed}', NULL, 'p_counts'),
        ('{g}', '{1}', '{0}', '{completed}', '{a,b}', 'p_counts'), ('{g}', '{NULL}', '{0}', '{completed}', NULL, 'p_counts'), ('{g}', '{-1}', '{0}', '{completed}', NULL, 'p_counts'),
        ('{g}', '{1}', '{0}', '{Completed}', NULL, 'p_statuses'), ('{g}', '{1}', '{0}', '{NULL}', NULL, 'p_statuses'), ('{g}', '{1}', '{0}', '{""}', NULL, 'p_statuses'),
        ('{g}', '{1}', '{0}', NULL, NULL, 'p_counts'), ('{g}', '{1}', '{NULL}', '{completed}', NULL, 'p_transaction_ids'),
        ('[0:0]={g}', '{1}', '{0}', '{completed}', NULL, 'p_transaction_ids'), ('{g}', '[0:0]={1}', '{0}', '{completed}', NULL, 'p_transaction_ids'),
        ('{g}', '{2}', '{{0,1}}', '{completed,completed}', NULL, 'p_transaction_ids'), ('{g}', '{1}', '[0:0]={0}', '{completed}', NULL, 'p_transaction_ids'),
        ('{g}', '{1}', '{0}', '[0:0]={completed}', NULL, 'p_transaction_ids'), ('{g}', '{1}', '{0}', '{completed}', '[0:0]={a}', 'p_transaction_ids'),
        (NULL, '{1}', '{0}', '{completed}', NULL, 'p_counts'), ('{NULL}', '{1}', '{0}', '{completed}', NULL, 'p_consumer_groups')) v (groups, counts, ids, statuses, errors, field)
    LOOP
        v_field := '';
        BEGIN
            PERFORM queen.log_ack_v1(v_ids[1:1], r.groups::text[], ARRAY[v_a], r.counts::integer[], r.ids::text[], r.statuses::text[], r.errors::text[]);
        EXCEPTION WHEN SQLSTATE 'QN400' THEN
            GET STACKED DIAGNOSTICS v_field = COLUMN_NAME;
        END;
        ASSERT v_field = r.field, 'design 7: ' || r::text || ' got ' || v_field;
    END LOOP;
    ASSERT pg_temp.row('qa') = '-1 2 L 0 0 1 0', 'design 7: nothing moved';
    -- The human face.
    BEGIN
        PERFORM queen.ack_v1(v_ids[1], '{{0,1}}', v_a, 'g');
        ASSERT false, 'design 7: ack_v1 of two dimensions';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;
    SELECT string_agg(concat_ws(':', a.item, a.success, a.lease_released), ' ' ORDER BY a.item) INTO v_got FROM queen.ack_v1(v_ids[1], '{0,1}', v_a, 'g') a;
    ASSERT v_got = '0:t:f 1:t:f' AND pg_temp.row('qa') = '1 2 L 0 0 1 2', 'design 4: ack_v1: ' || v_got;
    ASSERT (SELECT a.dlq AND a.lease_released FROM queen.ack_v1(v_ids[1], '{2}', v_a, 'g', 'dlq', 'bad') a), 'design 4: status and reason';
    ASSERT (SELECT (d.error, d.payload) = ('bad', '{"n": 2}') FROM queen.log_dlq d WHERE d.partition_id = v_ids[1]), 'design 4: filed';
END $$;

-- The ack of a whole batch, which takes the short way, is not for another tenant, nor for a queue that is deleted (E-5, C-28).
DO $$
DECLARE
    v_lease text;
    v_got text;
BEGIN
    PERFORM pg_temp.push('qshort', 2);
    v_lease := pg_temp.lease('qshort', 2);
    FOR i IN 1..2 LOOP
        SELECT string_agg(concat_ws(':', a.success, a.error), ' ') INTO v_got FROM queen.log_ack_v1(ARRAY[pg_temp.lane('qshort')], '{g}', ARRAY[v_lease], '{2}', '{0,1}',
            '{completed,completed}', p_tenant_id => CASE WHEN i = 1 THEN '0198c0de-0000-7000-8000-000000000001'::uuid END) a;
        ASSERT v_got = CASE i WHEN 1 THEN 'f:partition not owned by tenant f:partition not owned by tenant' ELSE 'f:consumer not found f:consumer not found' END, v_got;
        ASSERT pg_temp.row('qshort') = '-1 1 L 0 0 1 0', 'nothing moved';
        UPDATE queen.queues q SET deleted_at = now() WHERE q.name = 'qshort';
    END LOOP;
    UPDATE queen.queues q SET deleted_at = NULL WHERE q.name = 'qshort';
    ASSERT pg_temp.ack('qshort', v_lease, '0c 1c') = '+R +R' AND pg_temp.row('qshort') = '1 - - 0 - 0 2', 'A-13: all of it, once';
    ASSERT pg_temp.ack('qshort', v_lease, '0c 1c') LIKE 'invalid%', 'A-6: the lease is over';
END $$;

ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
BEGIN
    PERFORM queen.ack_v1(gen_random_uuid(), '{x}');
    ASSERT false, 'design 3.3: refused above READ COMMITTED';
EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
END $$;
ROLLBACK;
