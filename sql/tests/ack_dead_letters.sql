-- Dead letters: what is filed, from where, and what may be in it.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/ack_dead_letters.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
CREATE FUNCTION pg_temp.letter(p_queue text, p_offset bigint) RETURNS queen.log_dlq LANGUAGE sql AS $$
    SELECT * FROM queen.log_dlq d WHERE d.partition_id = pg_temp.lane(p_queue) AND d."offset" = p_offset
$$;
-- Dead-letter one id with a reason, by the set face.
CREATE FUNCTION pg_temp.file(p_queue text, p_id text, p_reason text) RETURNS boolean LANGUAGE sql AS $$
    SELECT a.dlq AND a.success FROM queen.log_ack_v1(ARRAY[pg_temp.lane(p_queue)], '{g}', ARRAY[pg_temp.lease(p_queue, 1)], '{1}', ARRAY[p_id], '{dlq}', ARRAY[p_reason]) a
$$;

-- The snapshot: payload as sent, ids, counter, group, time; of a frame inside a segment, with and without its own id (F003, F065, F067).
DO $$
DECLARE
    d queen.log_dlq;
    v text;
    v_base uuid;
    v_payloads text[] := ARRAY[E'{"a":"x\\u0000y", "n":1e200000}', '{"b":1,"b":2}', '"é"'];
BEGIN
    SELECT x.id_base INTO v_base FROM queen.log_push_v1('{snap}', '{p}', '{3}', v_payloads, '{first,NULL,third}', '{k1,k2,k3}') x;
    PERFORM queen.configure_queue_v1('snap', '{"retryLimit": 2}');
    FOR i IN 1..2 LOOP
        v := pg_temp.lease('snap', 3);
        PERFORM pg_temp.ack('snap', v, 'firstf');
    END LOOP;
    v := pg_temp.lease('snap', 3);
    ASSERT pg_temp.ack('snap', v, 'firstf') = '+RD', 'filed';
    d := pg_temp.letter('snap', 0);
    ASSERT (d.payload, d.message_id, d.transaction_id, d.error, d.retry_count, d.consumer_group) = (v_payloads[1], queen._frame_id(v_base, 0), 'first', 'why firstf', 2, 'g')
        AND d.failed_at BETWEEN now() AND clock_timestamp(), 'F003, F065, A-20: ' || d::text;
    ASSERT pg_temp.file('snap', queen._frame_id(v_base, 1)::text, E'a reason with \\u0000 in it'), 'F003: a reason with an escaped NUL';
    d := pg_temp.letter('snap', 1);
    ASSERT (d.payload, d.message_id, d.transaction_id, d.error, d.retry_count) = (v_payloads[2], queen._frame_id(v_base, 1), queen._frame_id(v_base, 1)::text, E'a reason with \\u0000 in it', 0), 'F003, E-32: ' || d::text;
    ASSERT pg_temp.file('snap', 'third', NULL), 'no reason';
    d := pg_temp.letter('snap', 2);
    ASSERT (d.payload, d.error) = (v_payloads[3], 'Retries exhausted'), 'A-20: the default text: ' || d::text;
    -- Each group files its own copy.
    PERFORM pg_temp.lease('snap', 1, 'h');
    ASSERT (SELECT a.dlq FROM queen.ack_v1(pg_temp.lane('snap'), '{first}', (SELECT c.worker_id FROM queen.log_consumers c WHERE c.consumer_group = 'h'), 'h', 'dlq') a), 'another group';
    ASSERT (SELECT count(*) = 2 FROM queen.log_dlq x WHERE x.partition_id = pg_temp.lane('snap') AND x."offset" = 0), 'spec 1.6: one row a group';
END $$;

-- The reason: of the poison message first, else the first given, else the default (A-20).
DO $$
DECLARE
    r record;
    v text;
BEGIN
    PERFORM pg_temp.push('why', 6);
    UPDATE queen.queues SET retry_limit = 0 WHERE name = 'why';
    FOR r IN SELECT * FROM (VALUES (0, '{about 0,about 1}', 'about 0'), (1, '{NULL,about the other}', 'about the other'), (2, '{"",second}', 'second'), (3, '{"",""}', 'Retries exhausted'), (4, NULL, 'Retries exhausted')) v (n, reasons, want) LOOP
        v := pg_temp.lease('why', 2);
        PERFORM queen.log_ack_v1(ARRAY[pg_temp.lane('why')], '{g}', ARRAY[v], '{2}', ARRAY[r.n, r.n + 1]::text[], '{failed,failed}', r.reasons::text[]);
        ASSERT (pg_temp.letter('why', r.n)).error = r.want, format('A-20: %s wants %s, got %s', r.reasons, r.want, (pg_temp.letter('why', r.n)).error);
    END LOOP;
END $$;

-- A frame below the log start: its row is still there, or gone; the ack is honoured in both (W-28, design 3.4).
DO $$
DECLARE
    d queen.log_dlq;
    v text;
    v_id uuid;
BEGIN
    PERFORM pg_temp.push('below', 8, 4);
    v_id := pg_temp.lane('below');
    v := pg_temp.lease('below', 8);
    PERFORM queen._move_log_start(v_id, 4);
    ASSERT pg_temp.ack('below', v, '0c 1d') = '+R +RD', 'W-28: below the start';
    d := pg_temp.letter('below', 1);
    ASSERT (d.payload, d.error, d.transaction_id) = ('{"n": 1}', 'why 1d', '1'), 'design 3.4: a row that is still there is read: ' || d::text;
    v := pg_temp.lease('below', 8);
    ASSERT (SELECT c.committed = 1 AND c.attempt_offset = 4 FROM queen.log_consumers c WHERE c.partition_id = v_id), 'O-33: though not delivered any more';
    PERFORM queen._reclaim_prefix(v_id, 10);
    ASSERT pg_temp.ack('below', v, '3d') = '+RD', 'W-28: the frame is gone, its hash is not';
    d := pg_temp.letter('below', 3);
    ASSERT d.payload IS NULL AND d.error LIKE 'why 3d%' AND length(d.error) > length('why 3d') AND (d.transaction_id, d.message_id) = ('3', '00000000-0000-0000-0000-000000000000'::uuid), 'design 3.4: payload null, and the error says so: ' || d::text;
    ASSERT split_part(pg_temp.row('below'), ' ', 1) = '3', 'A-21: the cursor passed it: ' || pg_temp.row('below');
    -- Nothing left of the partition at all.
    v := pg_temp.lease('below', 8);
    PERFORM queen._move_log_start(v_id, 100);
    PERFORM queen._reclaim_prefix(v_id, 10);
    ASSERT pg_temp.ack('below', v, '5d') = '+RD' AND (pg_temp.letter('below', 5)).payload IS NULL AND (pg_temp.letter('below', 5)).message_id = '00000000-0000-0000-0000-000000000000', 'W-28: an empty log';
    ASSERT pg_temp.row('below') = '5 - - 0 - 0 6', 'A-21: ' || pg_temp.row('below');
END $$;

-- E-33, E-24: dead letters go with their partition, and only with it.
DO $$
DECLARE
    v_id uuid := pg_temp.lane('below');
BEGIN
    DELETE FROM queen.log_partitions WHERE id = v_id;
    ASSERT NOT EXISTS (SELECT FROM queen.log_dlq WHERE partition_id = v_id) AND EXISTS (SELECT FROM queen.log_dlq), 'design 3.1: no orphan by hand either';
END $$;

ROLLBACK;
