-- log_pop_v1: where the cursor of a group starts, and what a pop makes.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_seeding.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_partition text, p_calls integer DEFAULT 1, p_count integer DEFAULT 1) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..p_calls LOOP
        PERFORM queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], array_fill('1'::text, ARRAY[p_count]));
    END LOOP;
END $$;
-- What a pop of everything delivers: partition:first-last, in partition order.
CREATE FUNCTION pg_temp.pop(p_queue text, p_group text, p_mode text DEFAULT NULL, p_from text DEFAULT NULL, p_partition text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(v.word, ' ' ORDER BY v.word COLLATE "C"), '')
    FROM (
        SELECT r.partition || ':' || min(r.first_offset) || '-' || max(r.last_offset) AS word
        FROM queen.log_pop_v1(p_queue, p_partition, p_group, 1000, 0, NULL, false, p_mode, p_from) r
        GROUP BY r.partition
    ) v
$$;
CREATE FUNCTION pg_temp.cursors(p_queue text, p_group text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(p.name || ':' || c.committed, ' ' ORDER BY p.name), '')
    FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
    WHERE q.name = p_queue AND c.consumer_group = coalesce(p_group, '__QUEUE_MODE__')
$$;
-- Stored stamps of queue s: offset o of every partition is stamped at 2020-01-01 00:00:o0.
CREATE FUNCTION pg_temp.restamp(p_queue text) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_segments s SET created_at = '2020-01-01 00:00:00+00'::timestamptz + make_interval(secs => 10 * s.base_offset)
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = s.partition_id AND q.name = p_queue;
$$;

-- Modes at a queue-wide first pop: registration, and cursors of every partition that exists (O-13..O-15, E-34..E-36).
DO $$
DECLARE
    r queen.consumer_groups_metadata;
    v_queue uuid;
BEGIN
    PERFORM pg_temp.push('s', 'a', 5), pg_temp.push('s', 'b', 3);
    PERFORM pg_temp.restamp('s');
    SELECT q.id INTO v_queue FROM queen.queues q WHERE q.name = 's';

    ASSERT pg_temp.pop('s', 'g-all', 'all') = 'a:0-4 b:0-2', 'O-15: all starts at the beginning';
    SELECT * INTO r FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'g-all';
    ASSERT (r.queue_id, r.partition_name, r.namespace, r.task, r.subscription_mode, r.subscription_timestamp) = (v_queue, '', '', '', 'all', 'epoch'::timestamptz), 'E-36: registered, mode all: ' || r::text;
    ASSERT pg_temp.pop('s', 'g-default') = 'a:0-4 b:0-2', 'spec 4.1: SQL default is all';

    ASSERT pg_temp.pop('s', 'g-new', 'new') = '', 'O-15: new starts at the head';
    ASSERT pg_temp.cursors('s', 'g-new') = 'a:4 b:2', 'O-15: the heads';
    SELECT * INTO r FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'g-new';
    ASSERT r.subscription_mode = 'new' AND r.subscription_timestamp BETWEEN now() AND clock_timestamp(), 'O-14: new with the current time';
    ASSERT pg_temp.pop('s', 'g-new2', ' New-Only ') || pg_temp.pop('s', 'g-new3', 'new_only') || pg_temp.pop('s', 'g-new4', 'newonly') = '', 'F037: spellings of new';
    ASSERT pg_temp.pop('s', 'g-odd', 'latest') = 'a:0-4 b:0-2', 'F037: any other word is all (http-api 3.2.1)';
    ASSERT pg_temp.pop('s', 'g-now', 'all', ' NOW ') = '', 'O-14: from now is new';
    ASSERT pg_temp.pop('s', 'g-bad', 'all', 'last tuesday, perhaps') = '' AND pg_temp.cursors('s', 'g-bad') = 'a:4 b:2', 'O-14: a time that cannot be read is new at registration';
    ASSERT pg_temp.pop('s', 'g-bad2', 'all', '2020-13-45') = '' AND pg_temp.pop('s', 'g-bad3', 'all', '2020-01-01 Nowhere/Zone') = '', 'O-14: bad field, bad zone';

    ASSERT pg_temp.pop('s', 'g-ts', 'all', '2020-01-01T00:00:20Z') = 'a:2-4 b:2-2', 'O-15: timestamp, first segment at or after';
    ASSERT pg_temp.pop('s', 'g-ts2', 'new', '2020-01-01T01:00:25+01:00') = 'a:3-4', 'O-15, O-14: a time wins over the mode; b has nothing at or after';
    ASSERT pg_temp.cursors('s', 'g-ts2') = 'a:2 b:2', 'O-15: no such segment, the head';
    ASSERT pg_temp.pop('s', 'g-ts3', NULL, '2020-01-01T00:00:20.000001Z') = 'a:3-4', 'O-15: to the microsecond';
    ASSERT (SELECT (m.subscription_mode, m.subscription_timestamp) = ('timestamp', '2020-01-01T00:00:20Z'::timestamptz) FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'g-ts'), 'O-14: registered with its time';

    -- Registered once: later wishes change nothing (O-17), also not the mode.
    ASSERT pg_temp.pop('s', 'g-new', 'all') = '' AND (SELECT m.subscription_mode FROM queen.consumer_groups_metadata m WHERE m.consumer_group = 'g-new') = 'new', 'O-17: an existing cursor is never re-seeded';
    PERFORM pg_temp.push('s', 'a'), pg_temp.push('s', 'b');
    ASSERT pg_temp.pop('s', 'g-new', 'all') = 'a:5-5 b:3-3', 'O-15: new delivers what comes';
    ASSERT (SELECT count(*) = count(DISTINCT m.consumer_group) FROM queen.consumer_groups_metadata m WHERE m.queue_id = v_queue), 'E-34: one row a group';
END $$;

-- O-18: a timestamp lands on a segment boundary; a start is searched from the log start.
DO $$
BEGIN
    PERFORM pg_temp.push('edge', 'a', 4, 10);
    UPDATE queen.log_segments SET created_at = '2020-01-01 00:00:00+00'::timestamptz + make_interval(secs => base_offset::integer) WHERE partition_id = pg_temp.lane('edge', 'a');
    PERFORM queen._move_log_start(pg_temp.lane('edge', 'a'), 10);
    ASSERT pg_temp.pop('edge', 'early', NULL, '2000-01-01T00:00:00Z') = 'a:10-39', 'O-15: from the log start, though rows below are still there';
    ASSERT pg_temp.pop('edge', 'mid', NULL, '2020-01-01T00:00:15Z') = 'a:20-39', 'O-18: the next boundary';
    ASSERT pg_temp.pop('edge', 'all', 'all') = 'a:10-39' AND pg_temp.cursors('edge', 'all') = 'a:9', 'O-15: all is log_start - 1';
    ASSERT pg_temp.pop('edge', NULL, 'new') = 'a:10-39', 'O-14: queue mode is always all';
END $$;

-- F035, O-16: partitions born after the subscription start from its instant, whatever the pop says.
DO $$
BEGIN
    PERFORM pg_temp.push('late', 'a', 2);
    ASSERT pg_temp.pop('late', 'new', 'new') || pg_temp.pop('late', 'ts', NULL, '2020-01-01T00:00:15Z') = 'a:0-1', 'subscribed';
    PERFORM pg_temp.push('late', 'b', 3);
    ASSERT pg_temp.pop('late', 'new', 'new') = 'b:0-2', 'F035: all three of a late partition';
    ASSERT pg_temp.pop('late', 'ts', 'new') = 'b:0-2', 'O-16: the durable record wins';
    PERFORM pg_temp.push('late', 'c', 3);
    ASSERT pg_temp.pop('late', 'new', 'new', NULL, 'c') = 'c:0-2', 'F035: also pinned, the durable record wins over the intent';
    -- A late partition whose first segments are older than the subscription (an importer's stamps).
    PERFORM pg_temp.push('late', 'd', 4);
    UPDATE queen.log_segments SET created_at = '2020-01-01 00:00:00+00'::timestamptz + make_interval(secs => 10 * base_offset) WHERE partition_id = pg_temp.lane('late', 'd');
    ASSERT pg_temp.pop('late', 'ts', 'all') = 'c:0-2 d:2-3', 'O-16: from the instant';
END $$;

-- O-16, O-19: pinned first contact uses the intent of the pop once, writes no registration; an unreadable time starts at the beginning.
DO $$
BEGIN
    PERFORM pg_temp.push('pin', 'a', 3), pg_temp.push('pin', 'b', 3);
    PERFORM pg_temp.restamp('pin');
    ASSERT pg_temp.pop('pin', 'all', NULL, NULL, 'a') = 'a:0-2', 'O-16: no intent, -1';
    ASSERT pg_temp.pop('pin', 'new', 'new', NULL, 'a') = '' AND pg_temp.cursors('pin', 'new') = 'a:2', 'O-16: new';
    ASSERT pg_temp.pop('pin', 'ts', NULL, '2020-01-01T00:00:10Z', 'a') = 'a:1-2', 'O-16: timestamp';
    ASSERT pg_temp.pop('pin', 'bad', NULL, 'whenever', 'a') = 'a:0-2', 'O-16: a time that cannot be read skips no backlog here';
    ASSERT pg_temp.pop('pin', 'now', NULL, 'Now', 'a') = '', 'O-16: now is new';
    ASSERT NOT EXISTS (SELECT FROM queen.consumer_groups_metadata m JOIN queen.queues q ON q.id = m.queue_id WHERE q.name = 'pin'), 'O-19: no registration';
    ASSERT pg_temp.cursors('pin', 'all') = 'a:-1', 'O-16: only the pinned partition has a cursor';
    ASSERT pg_temp.pop('pin', NULL, 'new', NULL, 'a') = 'a:0-2', 'O-16: queue mode never skips backlog';
    -- Queue-wide afterwards: the pinned cursor stays, the other partition is seeded.
    ASSERT pg_temp.pop('pin', 'new', 'all') = 'b:0-2', 'O-17: the pinned cursor is kept';
END $$;

-- E-8, F039: what a pop makes.
DO $$
BEGIN
    ASSERT pg_temp.pop('typo.one.two', 'g', 'new') = '', 'E-8: empty';
    ASSERT (SELECT (q.namespace, q.task, q.lease_time) = ('typo', 'one', 60) FROM queen.queues q WHERE q.name = 'typo.one.two'), 'E-8: a queue-wide pop makes the queue';
    ASSERT (SELECT m.subscription_mode = 'new' FROM queen.consumer_groups_metadata m JOIN queen.queues q ON q.id = m.queue_id WHERE q.name = 'typo.one.two' AND m.consumer_group = 'g'), 'E-8: with the registration';
    ASSERT NOT EXISTS (SELECT FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'typo.one.two'), 'E-8: without a partition';
    PERFORM pg_temp.push('typo.one.two', 'x', 2);
    ASSERT pg_temp.pop('typo.one.two', 'g', 'new') = 'x:0-1', 'F035: the subscription came before the data';
    ASSERT pg_temp.pop('typo2', 'g', NULL, NULL, 'p') = '' AND pg_temp.pop('s', 'g', NULL, NULL, 'nowhere') = '', 'pinned: empty';
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE name = 'typo2') AND pg_temp.lane('s', 'nowhere') IS NULL, 'F039: a pinned pop on an unknown queue or partition makes nothing';
    ASSERT pg_temp.pop('typo3', NULL) = '', 'queue mode';
    ASSERT EXISTS (SELECT FROM queen.queues WHERE name = 'typo3'), 'E-8: queue mode makes it too';
END $$;

-- E-5: the queue of another tenant is not there; __QUEUE_MODE__ is an ordinary group with its own cursor.
DO $$
BEGIN
    ASSERT NOT EXISTS (SELECT FROM queen.log_pop_v1('s', 'a', 'g', 10, p_tenant_id => '00000000-0000-0000-0000-0000000000aa')), 'E-5: foreign, pinned';
    ASSERT NOT EXISTS (SELECT FROM queen.log_pop_v1('s', NULL, 'g', 10, p_tenant_id => '00000000-0000-0000-0000-0000000000aa')), 'E-5: foreign, queue-wide';
    ASSERT (SELECT count(*) = 2 FROM queen.queues q WHERE q.name = 's'), 'E-5: it got a queue of its own';
    ASSERT pg_temp.pop('s', NULL) = 'a:0-5 b:0-3' AND pg_temp.pop('s', '__QUEUE_MODE__') = '', 'spec 4.1: queue mode is one group';
END $$;

-- Bad arguments.
DO $$
DECLARE
    r record;
    v_field text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        (NULL, NULL, 'g', 'queue'), (repeat('x', 256), NULL, 'g', 'queue'), (E'a\nb', NULL, 'g', 'queue'),
        ('s', repeat('x', 256), 'g', 'partition'), ('s', E'a\x1f', 'g', 'partition'),
        ('s', NULL, repeat('x', 256), 'consumerGroup'), ('s', 'a', E'\x01', 'consumerGroup')) v (queue, part, grp, field)
    LOOP
        v_field := '';
        BEGIN
            PERFORM queen.log_pop_v1(r.queue, r.part, r.grp);
        EXCEPTION WHEN SQLSTATE 'QN400' THEN
            GET STACKED DIAGNOSTICS v_field = COLUMN_NAME;
        END;
        ASSERT v_field = r.field, 'F004, design 7: ' || r.field || ' got ' || v_field;
    END LOOP;
END $$;

-- A call that repeats one for a caller that waits (p_waited_ms) makes no queue, and counts what is new from the beginning of
-- the wait, and from half a minute before it.
DO $$
DECLARE
    v_ago timestamptz := clock_timestamp() - interval '9 minutes 45 s';
BEGIN
    PERFORM FROM queen.log_pop_v1('gone', NULL, 'g', p_waited_ms => 0);
    PERFORM FROM queen.log_pop_v1('gone', NULL, 'g', p_waited_ms => 100);
    PERFORM FROM queen.pop_v1('gone', p_waited_ms => 100);
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE name = 'gone'), 'F143: a repeat makes no queue';
    PERFORM FROM queen.log_pop_v1('gone', NULL, 'g');
    ASSERT EXISTS (SELECT FROM queen.queues WHERE name = 'gone'), 'E-8: the first call does';

    PERFORM pg_temp.push('wait', 'a', 3);
    UPDATE queen.log_segments s SET created_at = v_ago + make_interval(mins => s.base_offset::integer) WHERE s.partition_id = pg_temp.lane('wait', 'a');
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('wait', 'a', 'late', p_subscription_mode => 'new', p_waited_ms => 0)) = 0, '0: from now';
    ASSERT (SELECT array_agg(r.first_offset) FROM queen.log_pop_v1('wait', 'a', 'g', p_subscription_mode => ' New ', p_waited_ms => 510000) r) = '{1,2}',
        'O-16: from 9 minutes ago';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'h', 'a', p_subscription_mode => 'new', p_waited_ms => 570000)) = 3, 'from 10 minutes ago, human face';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'i', 'a', p_subscription_from => 'now', p_waited_ms => 450000)) = 1, 'now is new';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'j', 'a', p_subscription_from => 'rubbish', p_subscription_mode => 'new', p_waited_ms => 1)) = 3,
        'O-16: a time that cannot be read skips nothing';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'k', 'a', p_waited_ms => 1)) = 3, 'all stays all';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'l', 'a', p_subscription_mode => 'new', p_waited_ms => 2147483647)) = 3, 'an absurd wait does not fail';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'm', p_subscription_mode => 'new', p_waited_ms => 510000)) = 2, 'O-13: a queue, too';
    ASSERT (SELECT count(*) FROM queen.pop_v1('wait', 5, 'late', 'a', p_subscription_mode => 'new', p_waited_ms => 600000)) = 0, 'O-17: a cursor stays';
    -- A queue that was made during the wait, by a call that took long to get here.
    PERFORM pg_temp.push('slow.way', 'a', 1);
    UPDATE queen.log_segments s SET created_at = clock_timestamp() - interval '20 s' WHERE s.partition_id = pg_temp.lane('slow.way', 'a');
    ASSERT (SELECT count(*) FROM queen.log_pop_discovery_v1('slow', NULL, 'g', p_subscription_mode => 'new', p_waited_ms => 1)) = 1, 'O-16: nothing of it is skipped';
    -- p_hold takes nothing from a queue with a minPopWaitTime, but what is pushed from then on is new to the group.
    PERFORM queen.configure_queue_v1('wait', '{"minPopWaitTime": 5}');
    ASSERT (SELECT array_agg((cardinality(r.payloads), r.conflation)::text) FROM queen.log_pop_v1('wait', NULL, 'n', p_subscription_mode => 'all', p_hold => true) r) = '{"(0,)"}', 'O-24: held, and told';
    ASSERT NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.consumer_group = 'n' AND c.worker_id IS NOT NULL), 'O-24: nothing is taken';
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('wait', NULL, 'n', p_subscription_mode => 'all')) = 3, 'O-24: by the next call';
    PERFORM FROM queen.log_pop_v1('wait', NULL, 'o', p_subscription_mode => 'new', p_hold => true);
    PERFORM pg_temp.push('wait', 'a', 1);
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('wait', NULL, 'o', p_subscription_mode => 'new', p_waited_ms => 0)) = 1, 'O-14, O-24: pushed while it held back';
END $$;

ROLLBACK;
