-- log_pop_v1: what one claim delivers, leases and leaves behind.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_delivery.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
-- p_calls segments of p_count frames each; payload = offset.
CREATE FUNCTION pg_temp.push(p_queue text, p_calls integer DEFAULT 1, p_count integer DEFAULT 1, p_partition text DEFAULT 'p') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_head bigint;
BEGIN
    FOR i IN 1..p_calls LOOP
        SELECT h.head_offset INTO v_head FROM queen.partition_head h WHERE h.id = pg_temp.lane(p_queue, p_partition);
        PERFORM queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], ARRAY(SELECT (coalesce(v_head, -1) + k)::text FROM generate_series(1, p_count) k));
    END LOOP;
END $$;
CREATE FUNCTION pg_temp.shape(r queen.pop_row[]) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(v.partition || ':' || v.first_offset || '-' || v.last_offset, ' ' ORDER BY v.partition COLLATE "C", v.first_offset), '') FROM unnest(r) v
$$;
CREATE FUNCTION pg_temp.pop(p_queue text, p_batch integer, p_group text DEFAULT 'g', p_lease integer DEFAULT NULL, p_auto boolean DEFAULT false, p_partition text DEFAULT 'p', p_max integer DEFAULT 1)
RETURNS queen.pop_row[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(r), '{}') FROM queen.log_pop_v1(p_queue, p_partition, p_group, p_batch, p_max, p_lease, p_auto, 'all') r
$$;
CREATE FUNCTION pg_temp.cursor(p_queue text, p_group text DEFAULT 'g', p_partition text DEFAULT 'p') RETURNS queen.log_consumers LANGUAGE sql AS $$
    SELECT * FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue, p_partition) AND c.consumer_group = p_group
$$;
CREATE FUNCTION pg_temp.expire(p_queue text) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_consumers c SET lease_expires_at = clock_timestamp() FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
    WHERE p.id = c.partition_id AND q.name = p_queue AND c.worker_id IS NOT NULL
$$;
CREATE FUNCTION pg_temp.ack(p_queue text, p_upto bigint, p_lease text) RETURNS boolean LANGUAGE sql AS $$
    SELECT a.success FROM queen.log_ack_upto_v1(ARRAY[pg_temp.lane(p_queue)], '{g}', ARRAY[p_lease], ARRAY[p_upto]) a
$$;

-- Batch, cut inside a segment, resume mid-segment; every column of every slice (O-30..O-34, O-37).
DO $$
DECLARE
    r queen.pop_row[];
    c queen.log_consumers;
    v_seg queen.log_segments;
BEGIN
    PERFORM queen.log_push_v1('{cut}', '{p}', '{4}', '{0,1,2,3}', '{t0,NULL,t2,t3}', '{k0,k1,NULL,k3}', NULL, false, NULL,
        ARRAY[NULL, NULL, '0192f3a4-0000-7000-8000-000000000002', NULL], '{s0,s1,s2,s3}');
    PERFORM pg_temp.push('cut', 2, 3);
    r := pg_temp.pop('cut', 3);
    c := pg_temp.cursor('cut');
    SELECT * INTO v_seg FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('cut') AND s.base_offset = 0;
    ASSERT pg_temp.shape(r) = 'p:0-2', 'O-34: the budget cuts inside a segment: ' || r::text;
    ASSERT (r[1].partition_id, r[1].created_at, r[1].id_base, r[1].segment_base) = (v_seg.partition_id, v_seg.created_at, v_seg.id_base, 0), 'O-31: the segment';
    ASSERT (r[1].payloads, r[1].transaction_ids, r[1].keys, r[1].trace_ids, r[1].producer_subs) = ('{0,1,2}'::text[], '{t0,NULL,t2}'::text[], '{k0,k1,NULL}'::text[],
        ARRAY[NULL, NULL, '0192f3a4-0000-7000-8000-000000000002'], '{s0,s1,s2}'::text[]), 'O-31: the columns are cut alike: ' || r::text;
    ASSERT (c.committed, c.batch_end, c.worker_id, c.lease_expires_at, c.attempt_offset, c.attempt_count, c.total_consumed) = (-1, 2, r[1].lease_id, r[1].lease_expires_at, 0, 1, 0), 'O-37: ' || c::text;
    ASSERT c.lease_acquired_at BETWEEN now() AND clock_timestamp() AND c.lease_expires_at BETWEEN c.lease_acquired_at + interval '59 s' AND clock_timestamp() + interval '60 s', 'O-37: queue lease, 60 s';
    ASSERT r[1].delivery_attempt = 1 AND r[1].lease_id::uuid IS NOT NULL, 'O-38, O-1';
    ASSERT pg_temp.pop('cut', 100) = '{}', 'O-26: leased, nothing';
    ASSERT pg_temp.shape(pg_temp.pop('cut', 100, 'other')) = 'p:0-3 p:4-6 p:7-9', 'E-29: another group has its own lease';

    ASSERT pg_temp.ack('cut', 2, r[1].lease_id), 'acked';
    r := pg_temp.pop('cut', 3);
    ASSERT pg_temp.shape(r) = 'p:3-3 p:4-5', 'O-31, O-32: resume inside a segment, go on in the next: ' || pg_temp.shape(r);
    ASSERT (r[1].payloads, r[1].transaction_ids, r[1].segment_base, r[2].segment_base) = ('{3}'::text[], '{t3}'::text[], 0, 4) AND r[2].payloads = '{4,5}' AND r[2].transaction_ids IS NULL, 'O-31: ' || r::text;
    ASSERT r[1].lease_id = r[2].lease_id AND (SELECT (x.batch_end, x.attempt_offset) = (5, 3) FROM pg_temp.cursor('cut') x), 'O-34: start and end of the batch';
    ASSERT pg_temp.ack('cut', 4, r[1].lease_id) AND (SELECT x.batch_end = 5 FROM pg_temp.cursor('cut') x), 'partial';
    PERFORM pg_temp.expire('cut');
    ASSERT pg_temp.shape(pg_temp.pop('cut', 0)) = 'p:5-5', 'batch below 1 acts as 1';
    PERFORM pg_temp.expire('cut');
    ASSERT pg_temp.shape(pg_temp.pop('cut', NULL)) = 'p:5-5', 'and so does none';
    PERFORM pg_temp.expire('cut');
    ASSERT pg_temp.shape(pg_temp.pop('cut', 2147483647)) = 'p:5-6 p:7-9', 'the largest batch';
END $$;

-- Attempts count deliveries of the same start; an expired lease is taken over (O-29, O-37, O-38, F053).
DO $$
DECLARE
    r queen.pop_row[];
    v_lease text;
BEGIN
    PERFORM pg_temp.push('try', 5);
    v_lease := (pg_temp.pop('try', 2))[1].lease_id;
    PERFORM pg_temp.expire('try');
    r := pg_temp.pop('try', 3);
    ASSERT pg_temp.shape(r) = 'p:0-0 p:1-1 p:2-2' AND (SELECT bool_and(v.delivery_attempt = 2) FROM unnest(r) v) AND r[1].lease_id <> v_lease, 'O-29, O-38: taken over, second attempt of one start';
    ASSERT (SELECT (c.batch_retry_count, c.attempt_count, c.committed) = (0, 2, -1) FROM pg_temp.cursor('try') c), 'F053, A-18: expiry charges nothing';
    ASSERT NOT pg_temp.ack('try', 1, v_lease), 'F058: the late one is refused';
    ASSERT pg_temp.ack('try', 0, r[1].lease_id), 'partial';
    PERFORM pg_temp.expire('try');
    ASSERT (pg_temp.pop('try', 3))[1].delivery_attempt = 1, 'O-37: another start, first attempt';
    PERFORM pg_temp.expire('try');
    r := pg_temp.pop('try', 3, p_auto => true);
    ASSERT pg_temp.shape(r) = 'p:1-1 p:2-2 p:3-3' AND r[1].delivery_attempt = 1, 'O-38: always 1 with autoAck';
END $$;

-- autoAck commits inside the pop: no lease, no lease fields, counters as O-36 says; over an expired lease too.
DO $$
DECLARE
    r queen.pop_row[];
    c queen.log_consumers;
BEGIN
    PERFORM pg_temp.push('auto', 2, 3);
    r := pg_temp.pop('auto', 4, p_auto => true);
    c := pg_temp.cursor('auto');
    ASSERT pg_temp.shape(r) = 'p:0-2 p:3-3' AND r[1].lease_id = '' AND r[1].lease_expires_at IS NULL, 'O-36: no lease: ' || r::text;
    ASSERT (c.committed, c.total_consumed, c.attempt_count) = (3, 4, 0) AND (c.batch_end, c.worker_id, c.lease_expires_at, c.lease_acquired_at, c.attempt_offset) IS NOT DISTINCT FROM (NULL::bigint, NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::bigint),
        'O-36: ' || c::text;
    PERFORM pg_temp.pop('auto', 1);
    PERFORM pg_temp.expire('auto');
    PERFORM pg_temp.pop('auto', 10, p_auto => true);
    c := pg_temp.cursor('auto');
    ASSERT (c.committed, c.total_consumed) = (5, 6) AND (c.batch_end, c.worker_id, c.lease_expires_at) IS NOT DISTINCT FROM (NULL::bigint, NULL::text, NULL::timestamptz), 'O-36: over an expired lease';
    ASSERT pg_temp.pop('auto', 10, p_auto => true) = '{}' AND (SELECT x.committed = 5 FROM pg_temp.cursor('auto') x), 'F033: empty moves nothing';
END $$;

-- Lease length: the request's, else the queue's, else 60 s; zero and less count as absent.
DO $$
DECLARE
    r record;
    v_left numeric;
BEGIN
    PERFORM queen.configure_queue_v1('len', '{"leaseTime": 7}');
    PERFORM pg_temp.push('len');
    FOR r IN SELECT * FROM (VALUES (NULL, 7), (0, 7), (-5, 7), (1, 1), (3600, 3600), (2147483647, 2147483647)) v (asked, got) LOOP
        v_left := extract(epoch FROM (pg_temp.pop('len', 1, p_lease => r.asked))[1].lease_expires_at - clock_timestamp());
        ASSERT v_left BETWEEN r.got - 1 AND r.got, format('spec 4.1: lease %s gives %s', r.asked, v_left);
        PERFORM pg_temp.expire('len');
    END LOOP;
    UPDATE queen.queues SET lease_time = 0 WHERE name = 'len';
    v_left := extract(epoch FROM (pg_temp.pop('len', 1))[1].lease_expires_at - clock_timestamp());
    ASSERT v_left BETWEEN 59 AND 60, 'spec 4.1, design 7: no usable queue lease, 60 s';
END $$;

-- Several partitions share one budget and one lease id; caps; members of the lease (O-1, O-9, O-39).
DO $$
DECLARE
    r queen.pop_row[];
    v_lanes uuid[];
BEGIN
    PERFORM pg_temp.push('multi', 1, 3, part) FROM unnest('{a,b,c,d}'::text[]) part;
    r := pg_temp.pop('multi', 100, p_partition => NULL, p_max => 2);
    ASSERT cardinality(r) = 2 AND r[1].partition <> r[2].partition AND r[1].lease_id = r[2].lease_id, 'O-9, O-1: two partitions, one lease: ' || pg_temp.shape(r);
    ASSERT (SELECT m.partition_ids @> ARRAY[r[1].partition_id, r[2].partition_id] AND cardinality(m.partition_ids) = 2 AND m.expires_at >= r[1].lease_expires_at FROM queen.log_lease_members m WHERE m.lease_id = r[1].lease_id),
        'I-31: its members';
    r := pg_temp.pop('multi', 4, p_partition => NULL, p_max => 0);
    ASSERT (SELECT sum(cardinality(v.payloads)) = 4 AND count(DISTINCT v.partition) = 2 FROM unnest(r) v), 'O-2, O-9: the budget is shared: ' || pg_temp.shape(r);
    ASSERT (SELECT count(*) = 4 FROM queen.log_consumers c WHERE c.consumer_group = 'g' AND c.partition_id IN (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'multi') AND c.batch_end IS NOT NULL), 'all leased';
    ASSERT pg_temp.pop('multi', 4, p_partition => NULL, p_max => 0) = '{}', 'nothing left';
    PERFORM pg_temp.expire('multi');
    r := pg_temp.pop('multi', 100, p_partition => NULL, p_max => -3);
    ASSERT pg_temp.shape(r) = 'a:0-2 b:0-2 c:0-2 d:0-2', 'spec 4.1: zero or negative is no cap';
    ASSERT (SELECT bool_and(c.worker_id = r[1].lease_id) FROM queen.log_consumers c WHERE c.partition_id = ANY (SELECT v.partition_id FROM unnest(r) v) AND c.consumer_group = 'g'), 'O-1';
    SELECT m.partition_ids INTO v_lanes FROM queen.log_lease_members m WHERE m.lease_id = r[1].lease_id;
    ASSERT cardinality(v_lanes) = 4, 'I-31: four members';
    PERFORM pg_temp.expire('multi');
    r := pg_temp.pop('multi', 100, p_partition => NULL, p_auto => true, p_max => 0);
    ASSERT pg_temp.shape(r) = 'a:0-2 b:0-2 c:0-2 d:0-2' AND (SELECT bool_and(v.lease_id = '') FROM unnest(r) v), 'O-36: many, autoAck';
    ASSERT (SELECT count(*) = 3 FROM queen.log_lease_members), 'autoAck has no members, a lease on one partition neither';
    -- A lease that is made of one partition can be found by its id alone.
    PERFORM pg_temp.push('multi', 1, 1, 'a');
    r := pg_temp.pop('multi', 100, p_partition => NULL);
    ASSERT right(r[1].lease_id, 10) = left(replace(r[1].partition_id::text, '-', ''), 10), 'I-31: the tail of the id names the partition';
    ASSERT (SELECT count(*) = 3 FROM queen.log_lease_members), 'I-31: and needs no row';
END $$;

-- delayedProcessing hides the young suffix, and never more (O-23, F051).
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM queen.configure_queue_v1('delay', '{"delayedProcessing": 10}');
    PERFORM pg_temp.push('delay', 3, 2);
    v_id := pg_temp.lane('delay');
    ASSERT pg_temp.pop('delay', 10) = '{}', 'O-23: too young';
    ASSERT (SELECT c.committed = -1 AND c.batch_end IS NULL AND c.worker_id IS NULL FROM pg_temp.cursor('delay') c), 'F033: no lease, no seal';
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '9.5 s' WHERE partition_id = v_id AND base_offset <= 2;
    ASSERT pg_temp.pop('delay', 10) = '{}', 'O-23: 9.5 s are not 10';
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '10 s' WHERE partition_id = v_id AND base_offset <= 2;
    ASSERT pg_temp.shape(pg_temp.pop('delay', 10)) = 'p:0-1 p:2-3', 'O-23: what is old enough';
    PERFORM pg_temp.expire('delay');
    ASSERT pg_temp.shape(pg_temp.pop('delay', 10, p_auto => true)) = 'p:0-1 p:2-3' AND pg_temp.pop('delay', 10, p_auto => true) = '{}', 'O-23: never bypassed';
    UPDATE queen.queues SET delayed_processing = -5 WHERE name = 'delay';
    ASSERT pg_temp.shape(pg_temp.pop('delay', 10)) = 'p:4-5', 'F082: a gate below zero is open';
    PERFORM pg_temp.expire('delay');
    UPDATE queen.queues SET delayed_processing = 2147483647, window_buffer = -2147483648 WHERE name = 'delay';
    ASSERT pg_temp.pop('delay', 10) = '{}', 'F082: an absurd one does not fail';
    -- A gate of zero is not evaluated: stamps from the future are delivered.
    UPDATE queen.queues SET delayed_processing = 0, window_buffer = 0 WHERE name = 'delay';
    UPDATE queen.log_segments SET created_at = clock_timestamp() + interval '1 hour' WHERE partition_id = v_id AND base_offset = 4;
    ASSERT pg_temp.shape(pg_temp.pop('delay', 10)) = 'p:4-5', 'design 3.2 rule 6: a gate of zero is not evaluated';
END $$;

-- windowBuffer: quiet for W seconds, or nothing, unless the first that is not read is older; a stamp more than 5 s ahead counts
-- as old (O-20, W-3, design 3.2 rule 6).
DO $$
DECLARE
    v_id uuid;
    r record;
BEGIN
    PERFORM queen.configure_queue_v1('window', '{"windowBuffer": 30}');
    PERFORM pg_temp.push('window', 3);
    v_id := pg_temp.lane('window');
    FOR r IN SELECT * FROM (VALUES ('29 s ago', false), ('30 s ago', true), ('1 day ago', true), ('-4 s ago', false), ('-6 s ago', true), ('-1 day ago', true)) v (age, open) LOOP
        UPDATE queen.log_segments SET created_at = clock_timestamp() - replace(r.age, ' ago', '')::interval - make_interval(secs => 0.1 * (2 - base_offset))
        WHERE partition_id = v_id;
        UPDATE queen.log_partitions SET last_stamp = NULL WHERE id = v_id;
        ASSERT (pg_temp.pop('window', 10) <> '{}') = r.open, 'O-20, design 3.2 rule 6: newest stamp ' || r.age;
        PERFORM pg_temp.expire('window');
    END LOOP;
    -- Written all the time: the first that is not read is older than the window.
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '1 s' WHERE partition_id = v_id;
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '29 s' WHERE partition_id = v_id AND base_offset = 0;
    ASSERT pg_temp.pop('window', 10) = '{}', 'W-3: not yet';
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '31 s' WHERE partition_id = v_id AND base_offset = 0;
    ASSERT EXISTS (SELECT FROM queen.log_pending_v1('{window}', '{p}', '{g}', ARRAY[NULL::uuid])), 'W-3: the watcher sees it';
    ASSERT pg_temp.shape(pg_temp.pop('window', 1)) = 'p:0-0', 'W-3: it does not starve';
    ASSERT pg_temp.ack('window', 0, (pg_temp.cursor('window')).worker_id), 'W-3: acked';
    ASSERT pg_temp.pop('window', 10) = '{}', 'W-3: what is left is young';
    UPDATE queen.log_consumers SET committed = -1 WHERE partition_id = v_id;
    -- Settled: the stamp of the row decides.
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '10 s' WHERE partition_id = v_id;
    UPDATE queen.log_partitions SET settled = true, last_offset = 2, last_stamp = clock_timestamp() - interval '10 s' WHERE id = v_id;
    ASSERT pg_temp.pop('window', 10) = '{}', 'O-20: settled, young';
    UPDATE queen.log_partitions SET last_stamp = clock_timestamp() - interval '31 s' WHERE id = v_id;
    ASSERT pg_temp.shape(pg_temp.pop('window', 10)) = 'p:0-0 p:1-1 p:2-2', 'O-20: settled, quiet; all of it';
    -- Another partition of the queue has its own window.
    PERFORM pg_temp.push('window', 1, 1, 'busy');
    PERFORM pg_temp.expire('window');
    ASSERT pg_temp.shape(pg_temp.pop('window', 10, p_partition => NULL, p_max => 0)) = 'p:0-0 p:1-1 p:2-2', 'O-20: per partition';
    UPDATE queen.queues SET window_buffer = 2147483647 WHERE name = 'window';
    PERFORM pg_temp.expire('window');
    ASSERT pg_temp.pop('window', 10) = '{}', 'F082: an absurd window does not fail';
END $$;

-- A prefix went: delivery starts at the next live offset; rows below the start are invisible, reclaimed or not (O-33, F033, rule 5).
DO $$
DECLARE
    v_id uuid;
    v_lease text;
BEGIN
    PERFORM pg_temp.push('gap', 5, 2);
    v_id := pg_temp.lane('gap');
    v_lease := (pg_temp.pop('gap', 1))[1].lease_id;
    ASSERT pg_temp.ack('gap', 0, v_lease), 'offset 0 done';
    PERFORM queen._move_log_start(v_id, 4);
    ASSERT pg_temp.shape(pg_temp.pop('gap', 3)) = 'p:4-5 p:6-6', 'O-33, design 3.2 rule 5: from the start though older rows are there';
    PERFORM pg_temp.expire('gap');
    PERFORM queen._reclaim_prefix(v_id, 10);
    ASSERT pg_temp.shape(pg_temp.pop('gap', 3)) = 'p:4-5 p:6-6', 'O-33: and when they are gone';
    ASSERT (SELECT (c.committed, c.attempt_offset, c.attempt_count) = (0, 4, 2) FROM pg_temp.cursor('gap') c), 'O-37';
    -- All of it goes while it is leased, and the lease ends: sealed at the head, once (O-35).
    PERFORM queen._move_log_start(v_id, 100);
    ASSERT pg_temp.pop('gap', 3) = '{}' AND (SELECT c.committed = 0 FROM pg_temp.cursor('gap') c), 'a live lease is left alone';
    PERFORM pg_temp.expire('gap');
    ASSERT pg_temp.pop('gap', 3) = '{}', 'F033: nothing there';
    ASSERT (SELECT (c.committed, c.attempt_offset, c.attempt_count) = (9, 4, 2) AND c.lease_expires_at <= clock_timestamp() FROM pg_temp.cursor('gap') c), 'O-35: sealed at the head, lease and attempt fields stay: ' || (pg_temp.cursor('gap'))::text;
    PERFORM pg_temp.push('gap', 1, 2);
    ASSERT pg_temp.shape(pg_temp.pop('gap', 3)) = 'p:10-11', 'F033: the next message is delivered at once';
    ASSERT pg_temp.shape(pg_temp.pop('gap', 9, 'fresh')) = 'p:10-11', 'O-15: a new group starts at the log start';
END $$;

-- A hole inside (rows deleted by hand) is stepped over; a seal needs an empty partition, not a hidden one.
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM pg_temp.push('hole', 4, 2);
    v_id := pg_temp.lane('hole');
    DELETE FROM queen.log_segments WHERE partition_id = v_id AND base_offset IN (0, 4);
    ASSERT pg_temp.shape(pg_temp.pop('hole', 10)) = 'p:2-3 p:6-7', 'O-33: no error, no stall';
    ASSERT (SELECT c.batch_end = 7 FROM pg_temp.cursor('hole') c), 'O-34';
    PERFORM pg_temp.push('seal', 2);
    UPDATE queen.queues SET delayed_processing = 100 WHERE name = 'seal';
    ASSERT pg_temp.pop('seal', 10) = '{}' AND (SELECT c.committed = -1 FROM pg_temp.cursor('seal') c), 'O-35: not sealed while segments are hidden';
END $$;

-- A locked-out partition yields nothing and costs the others nothing (O-8, O-26); candidates skip what is leased.
DO $$
BEGIN
    PERFORM pg_temp.push('spread', 1, 1, i::text) FROM generate_series(1, 70) i;
    FOR i IN 1..70 LOOP
        ASSERT cardinality(pg_temp.pop('spread', 10, p_partition => NULL)) = 1, 'O-8, O-9: pop ' || i || ' finds a free partition';
    END LOOP;
    ASSERT pg_temp.pop('spread', 10, p_partition => NULL) = '{}', 'E-29: one batch in flight a partition';
END $$;

-- A call that stands for several pops: a partition, a lease and a whole budget for each, and no more than there is (E-29).
DO $$
DECLARE
    r queen.pop_row[];
BEGIN
    PERFORM pg_temp.push('apart', 2, 3, i::text) FROM generate_series(1, 7) i;
    SELECT array_agg(v ORDER BY v.partition, v.first_offset) INTO r FROM queen.log_pop_v1('apart', NULL, 'g', 4, 5, 30, false, 'all', p_apart => true) v;
    ASSERT (SELECT count(DISTINCT v.partition_id) = 5 AND count(DISTINCT v.lease_id) = 5 AND count(DISTINCT (v.partition_id, v.lease_id)) = 5 FROM unnest(r) v), 'a lease for each';
    ASSERT (SELECT bool_and(x.frames = 4) FROM (SELECT sum(cardinality(v.payloads)) AS frames FROM unnest(r) v GROUP BY v.partition_id) x), 'a budget for each';
    ASSERT NOT EXISTS (SELECT FROM queen.log_lease_members m WHERE m.lease_id IN (SELECT v.lease_id FROM unnest(r) v)), 'a lease on one partition has no members';
    ASSERT (SELECT bool_and(e.expires_at > clock_timestamp() + interval '50 seconds')
            FROM unnest(r) v CROSS JOIN LATERAL queen.log_extend_lease_v1(v.lease_id, 60) e), 'A-27: each is extended by itself';
    SELECT array_agg(v) INTO r FROM queen.log_pop_v1('apart', NULL, 'g', 4, 5, 30, false, 'all', p_apart => true) v;
    ASSERT (SELECT count(DISTINCT v.partition_id) = 2 FROM unnest(r) v), 'the two that are left';
    ASSERT NOT EXISTS (
        SELECT FROM queen.queues q
        CROSS JOIN LATERAL queen._pop_apart(ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = q.id), 50, q, 'g', 4, 30, 'all', NULL)
        WHERE q.name = 'apart'), 'O-26: what is leased is not claimed, whoever proposes it';
END $$;

-- A partition proposed twice is dealt once. What gives nothing is passed over for what does: an emptied partition, and a
-- segment whose frames behind the cursor are gone, or lost, with one after it.
DO $$
DECLARE
    r_queue queen.queues;
    v_ids uuid[];
    v_empty uuid[];
    v_full uuid;
BEGIN
    PERFORM pg_temp.push('twice', 1, 3, i::text) FROM generate_series(1, 4) i;
    SELECT q.* INTO r_queue FROM queen.queues q WHERE q.name = 'twice';
    v_ids := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = r_queue.id ORDER BY p.name);
    ASSERT (SELECT count(*) = 1 AND min(v.first_offset) = 0 FROM queen._pop_apart(v_ids[1:1] || v_ids[1:1] || v_ids[1:1], 9, r_queue, 'g', 1, 30, 'all', NULL) v), 'E-29: first contact';
    PERFORM pg_temp.pop('twice', 1, p_auto => true, p_partition => i::text) FROM generate_series(2, 4) i;
    ASSERT (SELECT count(*) = 2 AND count(DISTINCT v.partition_id) = 2 AND bool_and(v.first_offset = 1)
            FROM queen._pop_apart(v_ids[2:3] || v_ids[2:3] || v_ids[2:2], 9, r_queue, 'g', 1, 30, 'all', NULL) v), 'E-29: one batch in flight a partition';
    ASSERT (SELECT bool_and(c.batch_end = 1) FROM queen.log_consumers c WHERE c.partition_id = ANY (v_ids[2:3])), 'E-29';
    v_full := v_ids[4];

    PERFORM pg_temp.push('emptied', 1, 1, i::text) FROM generate_series(1, 3) i;
    v_empty := ARRAY(SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'emptied');
    PERFORM pg_temp.pop('emptied', 1, p_auto => true, p_partition => i::text) FROM generate_series(1, 3) i;
    ASSERT (SELECT count(*) = 1 AND min(v.partition_id::text) = v_full::text FROM queen._pop_apart(v_empty || v_full, 1, r_queue, 'g', 1, 30, 'all', NULL) v), 'O-8';

    PERFORM pg_temp.push('gone', 2, 2);
    v_ids := ARRAY[pg_temp.lane('gone')];
    PERFORM pg_temp.pop('gone', 1, p_auto => true);
    UPDATE queen.log_segments s SET payloads = '{0}', offsets = '{0}', frames = 1 WHERE s.partition_id = v_ids[1] AND s.base_offset = 0;
    ASSERT (SELECT count(*) = 1 AND min(v.first_offset) = 2 FROM queen._pop_apart(v_ids, 1, r_queue, 'g', 1, 30, 'all', NULL) v), 'Z-2: compacted behind the cursor';
    UPDATE queen.log_consumers c SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE c.partition_id = v_ids[1];
    UPDATE queen.log_segments s SET payloads = '{0,NULL}', offsets = NULL, frames = 2 WHERE s.partition_id = v_ids[1] AND s.base_offset = 0;
    ASSERT (SELECT count(*) = 1 AND min(v.first_offset) = 2 FROM queen._pop_apart(v_ids, 1, r_queue, 'g', 1, 30, 'all', NULL) v), 'F079: a lost frame';
END $$;

-- However many partitions one statement claims, no more is dealt behind 16 MiB (O-30).
DO $$
DECLARE
    r_queue queen.queues;
BEGIN
    PERFORM queen.push_v1('large', to_json(repeat('a', 1000000)), i::text) FROM generate_series(1, 24) i;
    SELECT q.* INTO r_queue FROM queen.queues q WHERE q.name = 'large';
    INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT p.id, 'g' FROM queen.log_partitions p WHERE p.queue_id = r_queue.id;
    ASSERT (SELECT count(*) = 17 FROM queen._pop_apart(ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = r_queue.id), 24, r_queue, 'g', 1, 30, 'all', NULL)), 'O-30';
    ASSERT (SELECT count(*) = 17 FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id WHERE p.queue_id = r_queue.id AND c.worker_id IS NOT NULL), 'O-30: and leased';
END $$;

-- The bound is one for both rounds of a call, and what the first round took the second leaves alone, also with autoAck. No cap is
-- no cap, also here. The search is quick most times and chooses at random, so each is asked several times.
DO $$
DECLARE
    v_dealt text;
BEGIN
    PERFORM queen.push_v1('rounds', to_json(repeat('a', 9000000)), i::text) FROM generate_series(1, 4) i;
    PERFORM queen._register_unless_busy('rounds', queen._tenant(NULL), 'g', 'all', NULL);
    INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, held)
    SELECT q.id, 'g', ARRAY[pg_temp.lane('rounds', '1')] FROM queen.queues q WHERE q.name = 'rounds';
    FOR i IN 1 .. 6 LOOP
        ASSERT (SELECT count(*) = 2 FROM queen.log_pop_v1('rounds', NULL, 'g', 1, 4, 30, false, 'all', p_apart => true)), 'O-30: two of 9 MB are over 16 MiB';
        PERFORM pg_temp.expire('rounds');
    END LOOP;

    PERFORM pg_temp.push('again twice', 6, 2, i::text) FROM generate_series(1, 2) i;
    FOR i IN 1 .. 6 LOOP
        SELECT string_agg(v.partition || ':' || v.first_offset || v.lease_id, ' ' ORDER BY v.partition) INTO v_dealt
        FROM queen.log_pop_v1('again twice', NULL, 'g', 1, 4, 30, true, 'all', p_apart => true) v;
        ASSERT v_dealt = format('1:%s 2:%1$s', i - 1), 'O-36: one each, not ' || v_dealt;
    END LOOP;
    FOR i IN -1 .. 0 LOOP
        ASSERT (SELECT count(*) = 7 AND count(DISTINCT v.partition_id) = 7 AND count(DISTINCT v.lease_id) = 7
                FROM queen.log_pop_v1('apart', NULL, 'nobody' || i, 1, i, 30, false, 'all', p_apart => true) v), 'spec 4.1: zero or negative is no cap: ' || i;
    END LOOP;
END $$;

-- A partition below the floor is held once, however often it is sought, and however often the floor goes over it (O-10).
DO $$
DECLARE
    v_lane uuid;
BEGIN
    PERFORM pg_temp.push('sought', 2, 2);
    v_lane := pg_temp.lane('sought');
    PERFORM pg_temp.pop('sought', 1, p_auto => true);
    INSERT INTO queen.consumer_watermarks AS w (queue_id, consumer_group, last_empty_scan_at)
    SELECT p.queue_id, 'g', clock_timestamp() FROM queen.log_partitions p WHERE p.id = v_lane
    ON CONFLICT (queue_id, consumer_group) DO UPDATE SET last_empty_scan_at = excluded.last_empty_scan_at;
    PERFORM queen.seek_consumer_group_v1('sought', 'g', p_timestamp => '2000-01-01T00:00:00Z', p_partition => 'p') FROM generate_series(1, 3);
    ASSERT (SELECT w.held = ARRAY[v_lane] FROM queen.consumer_watermarks w JOIN queen.queues q ON q.id = w.queue_id WHERE q.name = 'sought'), 'O-10';
    UPDATE queen.consumer_watermarks w SET last_empty_scan_at = 'epoch', updated_at = 'epoch' WHERE w.held = ARRAY[v_lane];
    UPDATE queen.log_partitions p SET last_write_at = now() - interval '1 hour' WHERE p.id = v_lane;
    INSERT INTO queen.clock_marks (marked_at, xid) VALUES (now() - interval '1 minute', '3');
    PERFORM queen._raise_floor((SELECT p.queue_id FROM queen.log_partitions p WHERE p.id = v_lane), 'g');
    ASSERT (SELECT w.last_empty_scan_at > now() - interval '2 minutes' AND w.held = ARRAY[v_lane] FROM queen.consumer_watermarks w JOIN queen.queues q ON q.id = w.queue_id WHERE q.name = 'sought'), 'O-10: passed by the floor';
END $$;

-- What such a call answers and writes is what one call for each partition does: in the middle of a segment, again after a lease
-- that ended, after frames that compaction took, for a partition that is new to the group, and over one that was emptied.
CREATE FUNCTION pg_temp.apart(p_group text, p_together boolean) RETURNS SETOF queen.pop_row LANGUAGE sql AS $$
    SELECT r.* FROM queen.log_pop_v1('twin', NULL, p_group, 3, 50, 30, false, 'all', p_apart => true) r WHERE p_together
    UNION ALL
    SELECT r.* FROM unnest(ARRAY(SELECT i::text FROM generate_series(1, 9) i)) p (name) CROSS JOIN LATERAL queen.log_pop_v1('twin', p.name, p_group, 3, 1, 30, false, 'all') r
    WHERE NOT p_together
$$;
DO $$
DECLARE
    v_rows text[] := '{}'; -- by one call for all, and by one for each partition
    v_cursors text[] := '{}';
    v_first boolean;
BEGIN
    PERFORM pg_temp.push('twin', 2, 2, i::text) FROM generate_series(1, 7) i;
    PERFORM queen.log_push_v1('{twin}', '{3}', '{2}', '{a,b}', '{ta,NULL}', '{k,NULL}', NULL, false, NULL, ARRAY[NULL, '0192f3a4-0000-7000-8000-000000000002'], '{s,NULL}');
    FOR v_round IN 1..4 LOOP
        FOREACH v_first IN ARRAY ARRAY[true, false] LOOP
            v_rows[1 + v_first::int] := array_to_string(ARRAY(SELECT concat_ws(' ', v.partition, v.delivery_attempt, v.created_at, v.id_base, v.segment_base, v.first_offset, v.last_offset, v.payloads,
                    coalesce(v.transaction_ids::text, '-'), coalesce(v.keys::text, '-'), coalesce(v.trace_ids::text, '-'), coalesce(v.producer_subs::text, '-'), coalesce(v.offsets::text, '-'))
                FROM pg_temp.apart(CASE WHEN v_first THEN 'one' ELSE 'each' END, v_first) v ORDER BY v.partition, v.first_offset), E'\n');
            v_cursors[1 + v_first::int] := array_to_string(ARRAY(SELECT concat_ws(' ', p.name, c.committed, coalesce(c.batch_end::text, '-'), c.worker_id IS NULL, c.lease_expires_at > clock_timestamp() + interval '20 s', c.lease_acquired_at > now(),
                    c.batch_retry_count, coalesce(c.attempt_offset::text, '-'), c.attempt_count, c.total_consumed)
            FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
            WHERE q.name = 'twin' AND c.consumer_group = CASE WHEN v_first THEN 'one' ELSE 'each' END ORDER BY p.name), E'\n');
        END LOOP;
        ASSERT v_rows[1] = v_rows[2] AND v_rows[2] <> '', format(E'round %s:\n%s\n%s', v_round, v_rows[1], v_rows[2]);
        ASSERT v_cursors[1] = v_cursors[2], format(E'round %s:\n%s\n%s', v_round, v_cursors[1], v_cursors[2]);
        IF v_round = 1 THEN -- acknowledge in the middle of a segment, here and there; let the other leases end
            UPDATE queen.log_consumers c SET committed = CASE WHEN p.name IN ('1', '3', '5') THEN 0 ELSE c.committed END, lease_expires_at = clock_timestamp()
            FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = (SELECT q.id FROM queen.queues q WHERE q.name = 'twin');
            PERFORM pg_temp.push('twin', 2, 2, '8');
        ELSIF v_round = 2 THEN -- compaction took the first frame of one and all of another's first segment, retention the whole of a third
            UPDATE queen.log_segments s SET payloads = s.payloads[2 : 2], offsets = ARRAY[s.base_offset + 1], frames = 1 WHERE s.partition_id = pg_temp.lane('twin', '2') AND s.base_offset = 0;
            UPDATE queen.log_segments s SET payloads = '{}', offsets = '{}', frames = 0 WHERE s.partition_id = pg_temp.lane('twin', '4') AND s.base_offset = 0;
            DELETE FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('twin', '6');
            UPDATE queen.log_partitions p SET log_start = 4, last_offset = 3, settled = true WHERE p.id = pg_temp.lane('twin', '6');
            UPDATE queen.log_partitions p SET log_start = 2 WHERE p.id = pg_temp.lane('twin', '7');
            UPDATE queen.log_consumers c SET lease_expires_at = clock_timestamp() WHERE c.worker_id IS NOT NULL;
        ELSIF v_round = 3 THEN
            PERFORM pg_temp.push('twin', 1, 1, '9');
            UPDATE queen.log_consumers c SET committed = c.batch_end, worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE c.worker_id IS NOT NULL;
        END IF;
    END LOOP;
END $$;

-- A session looks first where it took from before, and a hint that is wrong, or of another queue, is nothing but a hint (O-6).
DO $$
DECLARE
    v_lane text;
BEGIN
    PERFORM pg_temp.push('own', 3, 1, i::text) FROM generate_series(1, 3) i;
    PERFORM pg_temp.push('others');
    ASSERT cardinality(pg_temp.pop('own', 1, p_auto => true, p_partition => NULL)) = 1;
    v_lane := current_setting('queen.lane');
    ASSERT right(v_lane, 1) = '+' AND left(v_lane, 36)::uuid IN (pg_temp.lane('own', '1'), pg_temp.lane('own', '2'), pg_temp.lane('own', '3')), 'kept, and one segment gave all';
    ASSERT queen._own_lane((SELECT q.id FROM queen.queues q WHERE q.name = 'own'), 'g') = '{}', 'that is for _pop_again';
    v_lane := left(v_lane, 36);
    PERFORM set_config('queen.lane', v_lane, false);
    ASSERT queen._own_lane((SELECT q.id FROM queen.queues q WHERE q.name = 'own'), 'g') = ARRAY[v_lane::uuid];
    ASSERT queen._own_lane((SELECT q.id FROM queen.queues q WHERE q.name = 'others'), 'g') = '{}', 'not of that queue';
    PERFORM set_config('queen.lane', 'no uuid', false);
    FOR i IN 1..8 LOOP
        ASSERT cardinality(pg_temp.pop('own', 1, p_auto => true, p_partition => NULL)) = 1, 'pop ' || i || ' finds one of the rest';
    END LOOP;
    ASSERT pg_temp.pop('own', 1, p_auto => true, p_partition => NULL) = '{}';
END $$;

-- The claim again from the same partition says, leases and leaves what the search would; what is out of the common is left to
-- that, and not tried again (O-25..O-38). It sits out now and then, so it is asked until it does not.
CREATE FUNCTION pg_temp.again(p_queue text, p_budget integer, p_auto boolean DEFAULT false, p_group text DEFAULT 'g') RETURNS queen.pop_row LANGUAGE plpgsql AS $$
DECLARE
    r queen.pop_row;
BEGIN
    FOR i IN 1..200 LOOP
        r := queen._pop_again((SELECT q.id FROM queen.queues q WHERE q.name = p_queue), p_group, p_budget, 60, p_auto);
        EXIT WHEN r.payloads IS NOT NULL OR current_setting('queen.lane') NOT LIKE '%+';
    END LOOP;
    RETURN r;
END $$;
DO $$
DECLARE
    r queen.pop_row;
    first queen.pop_row;
    c queen.log_consumers;
    v_lane uuid;
    v_queue uuid;
BEGIN
    PERFORM queen.log_push_v1('{again}', '{p}', '{4}', '{0,1,2,3}', '{t0,NULL,t2,t3}', '{k0,k1,NULL,k3}', NULL, false, NULL,
        ARRAY[NULL, NULL, '0192f3a4-0000-7000-8000-000000000002', NULL], '{s0,s1,s2,s3}');
    PERFORM pg_temp.push('again', 5, 4);
    PERFORM pg_temp.push('elsewhere', 3, 4);
    v_lane := pg_temp.lane('again');
    SELECT q.id INTO v_queue FROM queen.queues q WHERE q.name = 'again';
    first := (pg_temp.pop('again', 1, p_partition => NULL))[1];
    ASSERT first.first_offset = 0 AND current_setting('queen.lane') = v_lane || '+', 'one segment gave all';
    r := pg_temp.again('again', 2);
    ASSERT r IS NULL AND current_setting('queen.lane') = v_lane::text, 'O-26: leased; and not again';
    ASSERT pg_temp.ack('again', 0, first.lease_id);

    PERFORM set_config('queen.lane', v_lane || '+', false);
    r := pg_temp.again('again', 2);
    c := pg_temp.cursor('again');
    ASSERT (r.partition_id, r.partition, r.created_at, r.id_base, r.segment_base, r.first_offset, r.last_offset, r.delivery_attempt)
         = (v_lane, 'p', first.created_at, first.id_base, 0, 1, 2, 1), 'O-31: ' || r::text;
    ASSERT (r.payloads, r.transaction_ids, r.keys, r.trace_ids, r.producer_subs) = ('{1,2}'::text[], '{NULL,t2}'::text[], '{k1,NULL}'::text[],
        ARRAY[NULL, '0192f3a4-0000-7000-8000-000000000002'], '{s1,s2}'::text[]) AND r.offsets IS NULL, 'O-31: ' || r::text;
    ASSERT (c.committed, c.batch_end, c.worker_id, c.lease_expires_at, c.attempt_offset, c.attempt_count, c.total_consumed, c.lease_conflated)
         = (0, 2, r.lease_id, r.lease_expires_at, 1, 1, 1, false), 'O-37: ' || c::text;
    ASSERT c.lease_acquired_at BETWEEN now() AND clock_timestamp() AND c.lease_expires_at BETWEEN c.lease_acquired_at + interval '59 s' AND clock_timestamp() + interval '60 s', 'O-37: queue lease, 60 s';
    ASSERT EXISTS (SELECT FROM queen.group_activity a WHERE a.queue_id = v_queue AND a.consumer_group = 'g' AND a.leased_until >= r.lease_expires_at - interval '2 s'), 'design 5: active';
    PERFORM pg_temp.expire('again');
    ASSERT (pg_temp.again('again', 3)).delivery_attempt = 2, 'O-38: the same start, again';
    PERFORM pg_temp.expire('again');
    UPDATE queen.group_activity a SET last_active_at = 'epoch', leased_until = 'epoch' WHERE a.queue_id = v_queue;
    r := (pg_temp.pop('again', 3, p_auto => true, p_partition => NULL))[1];
    c := pg_temp.cursor('again');
    ASSERT r.lease_id = '' AND r.lease_expires_at IS NULL AND r.delivery_attempt = 1 AND r.last_offset = 3, 'O-36: ' || r::text;
    ASSERT (c.committed, c.total_consumed, c.lease_conflated) = (3, 4, false) AND num_nulls(c.batch_end, c.worker_id, c.lease_expires_at, c.lease_acquired_at) = 4, 'O-36: ' || c::text;
    ASSERT (SELECT a.last_active_at > now() AND a.leased_until < now() + interval '50 s' FROM queen.group_activity a WHERE a.queue_id = v_queue AND a.consumer_group = 'g'), 'design 5: active, without a lease';

    -- Rows below log_start are invisible (design 3.2 rule 5): the cursor goes on at the start.
    UPDATE queen.log_partitions p SET log_start = 8 WHERE p.id = v_lane;
    r := pg_temp.again('again', 4, true);
    ASSERT (r.segment_base, r.first_offset, r.last_offset) = (8, 8, 11), 'O-33: ' || r::text;
    -- Out of the common: more than the segment has, another queue, another group, a gate, a damaged or a rewritten segment.
    ASSERT pg_temp.again('again', 5) IS NULL AND current_setting('queen.lane') = v_lane::text, 'one segment is not enough';
    PERFORM set_config('queen.lane', v_lane || '+', false);
    PERFORM pg_temp.pop('elsewhere', 4, p_auto => true, p_partition => NULL);
    PERFORM set_config('queen.lane', v_lane || '+', false);
    ASSERT pg_temp.again('elsewhere', 4) IS NULL, 'not of that queue';
    ASSERT (pg_temp.cursor('again')).worker_id IS NULL AND (pg_temp.cursor('again')).committed = 11, 'and that queue keeps its message';
    ASSERT pg_temp.again('again', 4, p_group => 'never') IS NULL, 'O-13: no cursor';
    -- Nor is it asked where the group conflates, or a gate is shut.
    PERFORM set_config('queen.lane', v_lane || '+', false);
    UPDATE queen.consumer_groups_metadata m SET conflation = true WHERE m.queue_id = v_queue AND m.consumer_group = 'g';
    ASSERT (SELECT array_agg(x.payloads) FROM unnest(pg_temp.pop('again', 4, p_partition => NULL)) x WHERE x.lease_id <> '') = '{{23}}', 'O-52: a group that conflates';
    UPDATE queen.consumer_groups_metadata m SET conflation = false WHERE m.queue_id = v_queue AND m.consumer_group = 'g';
    UPDATE queen.log_consumers x SET worker_id = NULL, batch_end = NULL, lease_expires_at = NULL, attempt_offset = NULL, attempt_count = 0, lease_conflated = false WHERE x.partition_id = v_lane;
    UPDATE queen.queues q SET delayed_processing = 3600 WHERE q.id = v_queue;
    ASSERT pg_temp.pop('again', 4, p_partition => NULL) = '{}', 'O-23';
    UPDATE queen.queues q SET delayed_processing = 0, window_buffer = 3600 WHERE q.id = v_queue;
    ASSERT pg_temp.pop('again', 4, p_partition => NULL) = '{}', 'O-20';
    UPDATE queen.queues q SET window_buffer = 0, min_pop_wait_time = 1 WHERE q.id = v_queue;
    ASSERT (SELECT (x.payloads, x.lease_id) = ('{}'::text[], '') FROM queen.log_pop_v1('again', NULL, 'g', 4, p_hold => true) x), 'O-24';
    UPDATE queen.queues q SET min_pop_wait_time = 0 WHERE q.id = v_queue;
    ASSERT current_setting('queen.lane') = v_lane || '+', 'none of them came to it';
    UPDATE queen.log_segments s SET payloads[2] = NULL WHERE s.partition_id = v_lane AND s.base_offset = 12;
    PERFORM set_config('queen.lane', v_lane || '+', false);
    ASSERT pg_temp.again('again', 2) IS NULL, 'F079: a lost frame';
    UPDATE queen.log_segments s SET payloads[2] = '13', offsets = '{12,13,14,15}' WHERE s.partition_id = v_lane AND s.base_offset = 12;
    PERFORM set_config('queen.lane', v_lane || '+', false);
    ASSERT pg_temp.again('again', 4) IS NULL, 'offsets are read by the search';
    ASSERT (pg_temp.cursor('again')).worker_id IS NULL AND (pg_temp.cursor('again')).committed = 11, 'none of them leased';
    -- A whole batch is acked under its own live lease, in a queue that is there (A-6, A-23, C-28).
    UPDATE queen.log_segments s SET offsets = NULL WHERE s.partition_id = v_lane AND s.base_offset = 12;
    PERFORM set_config('queen.lane', v_lane || '+', false);
    r := pg_temp.again('again', 2);
    ASSERT NOT pg_temp.ack('again', 13, queen._draw_lease_id(v_lane, now())) AND NOT pg_temp.ack('again', 13, NULL), 'A-6: not under another lease, nor none';
    UPDATE queen.queues q SET deleted_at = now() WHERE q.id = v_queue;
    ASSERT NOT (SELECT a.success FROM queen.log_ack_upto_v1(ARRAY[v_lane], '{g}', ARRAY[r.lease_id], '{13}') a), 'C-28: nothing is acked in a deleted queue';
    ASSERT (SELECT (x.committed, x.worker_id, x.batch_end) = (11, r.lease_id, 13) FROM queen.log_consumers x WHERE x.partition_id = v_lane AND x.consumer_group = 'g'), 'untouched';
    PERFORM pg_temp.expire('again');
    PERFORM set_config('queen.lane', v_lane || '+', false);
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('again', NULL, 'g', 2, p_waited_ms => 1)) = 0, 'C-28: nor delivered';
    UPDATE queen.queues q SET deleted_at = NULL WHERE q.id = v_queue;
    PERFORM set_config('queen.lane', v_lane || '+', false);
    r := pg_temp.again('again', 2);
    ASSERT r.delivery_attempt = 2 AND pg_temp.ack('again', 13, r.lease_id) AND NOT pg_temp.ack('again', 13, r.lease_id), 'A-24: once';
    -- The last segment gives what it has, and that is no reason to come back.
    UPDATE queen.log_consumers x SET committed = 21 WHERE x.partition_id = v_lane AND x.consumer_group = 'g';
    PERFORM set_config('queen.lane', v_lane || '+', false);
    r := pg_temp.again('again', 2147483647);
    ASSERT (r.payloads, r.first_offset, r.last_offset) = ('{22,23}'::text[], 22, 23) AND current_setting('queen.lane') = v_lane::text, 'O-30: ' || r::text;
    ASSERT (pg_temp.cursor('again')).batch_end = 23 AND pg_temp.ack('again', 23, r.lease_id), 'O-37: the tail';
    PERFORM set_config('queen.lane', v_lane || '+', false);
    ASSERT pg_temp.again('again', 2) IS NULL AND (pg_temp.cursor('again')).worker_id IS NULL, 'nothing is owed';
END $$;

-- The search among few partitions: all of them are looked at, so what it says is the truth, and any that is free may be the one;
-- most times the one before. It leaves many to the other search, and a new partition too (O-6..O-8, O-16, O-26).
DO $$
DECLARE
    v_queue uuid;
    v_mine uuid;
    v_lanes uuid[];
    r record;
BEGIN
    PERFORM pg_temp.push('around', 2, 2, i::text) FROM generate_series(1, 4) i;
    PERFORM queen.configure_queue_v1('around', '{}');
    SELECT q.id INTO v_queue FROM queen.queues q WHERE q.name = 'around';
    PERFORM pg_temp.pop('around', 4, p_auto => true, p_partition => '4');
    PERFORM set_config('queen.lane', '', false);
    r := queen._look_around(v_queue, 'g');
    ASSERT NOT r.complete, 'O-16: partitions without a cursor are for the other search: ' || r::text;
    PERFORM pg_temp.pop('around', 1, p_auto => true, p_partition => i::text) FROM generate_series(1, 3) i;
    ASSERT pg_temp.lane('around', '1') IS NOT NULL AND (pg_temp.pop('around', 1, p_partition => '1'))[1].lease_id <> '', 'one is leased, and 4 owes nothing';
    v_lanes := ARRAY[pg_temp.lane('around', '2'), pg_temp.lane('around', '3')];
    FOR i IN 1..2 LOOP -- with and without a partition of its own
        ASSERT (SELECT bool_and(x.complete AND x.lane = ANY (v_lanes) AND x.committed = 0) AND count(DISTINCT x.lane) = 2
                FROM generate_series(1, 100) g CROSS JOIN LATERAL queen._look_around(v_queue, substr('g' || g, 1, 1)) x), 'O-7: any of the free, and no other';
        PERFORM set_config('queen.lane', v_lanes[1]::text, false);
    END LOOP;
    ASSERT (SELECT count(*) FILTER (WHERE x.lane = v_lanes[1]) > 60 FROM generate_series(1, 100) g CROSS JOIN LATERAL queen._look_around(v_queue, substr('g' || g, 1, 1)) x), 'most times its own';
    -- What it claims is delivered: the rest of one segment, two segments, a seal, nothing.
    ASSERT pg_temp.shape(pg_temp.pop('around', 1, p_auto => true, p_partition => NULL)) ~ '^[23]:1-1$';
    ASSERT right(current_setting('queen.lane'), 1) = '+', 'one segment gave all';
    PERFORM pg_temp.pop('around', 1, p_auto => true, p_partition => i::text) FROM generate_series(2, 3) i WHERE (pg_temp.cursor('around', 'g', i::text)).committed = 0;
    PERFORM set_config('queen.lane', '', false);
    PERFORM pg_temp.push('around', 1, 2, i::text) FROM generate_series(2, 3) i;
    ASSERT pg_temp.shape(pg_temp.pop('around', 4, p_partition => NULL)) ~ '^([23]):2-3 \1:4-5$', 'O-30: over segments';
    v_mine := current_setting('queen.lane')::uuid;
    ASSERT v_mine = ANY (v_lanes), 'kept, but two segments gave it';
    ASSERT pg_temp.shape(pg_temp.pop('around', 5, p_partition => NULL)) ~ '^([23]):2-3 \1:4-5$' AND current_setting('queen.lane') = v_mine::text, 'no budget was filled';
    ASSERT pg_temp.pop('around', 5, p_partition => NULL) = '{}', 'O-26: all are leased';
    PERFORM pg_temp.expire('around');
    UPDATE queen.log_consumers c SET committed = 3 FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name = '1';
    UPDATE queen.log_partitions p SET log_start = 6, last_offset = 5, settled = true WHERE p.id = ANY (v_lanes);
    DELETE FROM queen.log_segments s WHERE s.partition_id = ANY (v_lanes);
    FOR i IN 1..3 LOOP
        ASSERT pg_temp.pop('around', 5, p_partition => NULL) = '{}', 'nothing is there';
    END LOOP;
    ASSERT (pg_temp.cursor('around', 'g', '2')).committed = 5 AND (pg_temp.cursor('around', 'g', '3')).committed = 5, 'O-35: sealed';
    INSERT INTO queen.log_partitions (queue_id, name) SELECT v_queue, 'more' || i FROM generate_series(1, 28) i;
    ASSERT (SELECT x.complete AND x.lane IS NULL FROM queen._look_around(v_queue, 'g') x), '32 are few';
    INSERT INTO queen.log_partitions (queue_id, name) VALUES (v_queue, 'last');
    ASSERT (SELECT NOT x.complete FROM queen._look_around(v_queue, 'g') x), '33 are many';
END $$;

-- The human face says the same, one row a message.
DO $$
DECLARE
    r queen.popped_message[];
BEGIN
    SELECT array_agg(m) INTO r FROM queen.pop_v1('cut', 100, 'human', p_lease_seconds => 5) m;
    ASSERT (SELECT array_agg(v."offset") = ARRAY(SELECT generate_series(0, 9)::bigint) AND bool_and(v.payload::text = v."offset"::text) FROM unnest(r) v), 'design 4: in order: ' || r::text;
    ASSERT r[1].transaction_id = 't0' AND r[2].transaction_id = r[2].id::text AND r[4].key = 'k3' AND r[5].key IS NULL, 'design 3.1: ids and keys';
    ASSERT (SELECT bool_and(v.id = queen._frame_id(s.id_base, v."offset" - s.base_offset) AND v.created_at = s.created_at) AND count(*) = 10
            FROM unnest(r) v JOIN queen.log_segments s ON s.partition_id = v.partition_id AND v."offset" BETWEEN s.base_offset AND s.end_offset), 'design 3.1: id_base + k';
    ASSERT (SELECT count(DISTINCT v.lease_id) = 1 AND min(v.lease_expires_at) > clock_timestamp() AND bool_and(v.delivery_attempt = 1 AND v.partition = 'p') FROM unnest(r) v), 'design 4';
END $$;

-- A delivery is bounded by bytes too, but always has a message; what is lost at its end does not stretch the lease.
DO $$
DECLARE
    v_lane uuid;
BEGIN
    FOR i IN 1 .. 4 LOOP
        PERFORM queen.push_v1('wide', to_json(repeat('x', 9000000)), 'p');
    END LOOP;
    ASSERT (SELECT count(*) FROM queen.pop_v1('wide', 100, 'a', 'p', p_auto_ack => true)) = 1, 'design 6: two of 9 MB are over 16 MiB';
    ASSERT (SELECT min("offset") || '-' || max("offset") FROM queen.pop_v1('wide', 100, 'a', 'p')) = '1-1', 'the next one follows';
    PERFORM queen.push_v1('torn', '1', 'p'), queen.push_v1('torn', '2', 'p');
    SELECT p.id INTO v_lane FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'torn';
    UPDATE queen.log_segments SET payloads = ARRAY[NULL::text] WHERE partition_id = v_lane AND base_offset = 1;
    ASSERT (SELECT count(*) FROM queen.pop_v1('torn', 100, 'a', 'p')) = 1, 'F079: the lost one is passed over';
    ASSERT (SELECT batch_end FROM queen.log_consumers WHERE partition_id = v_lane) = 0, 'F079: the lease ends with what was delivered';
END $$;

-- A budget that ends in a segment with lost frames: the next pop goes on there, and not in the next segment.
DO $$
DECLARE
    v_seen text;
    r record;
BEGIN
    PERFORM queen.push_many_v1('holes', (SELECT array_agg(to_json(i)) FROM generate_series(0, 9) i), ARRAY['p']),
        queen.push_many_v1('holes', '{10,11}', ARRAY['p']), queen.push_v1('holes', '-1', 'q');
    UPDATE queen.log_segments s SET payloads = ARRAY['0', NULL, NULL, '3', '4', NULL, '6', '7', '8', NULL]
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
    WHERE q.name = 'holes' AND p.name = 'p' AND s.partition_id = p.id AND s.base_offset = 0;
    PERFORM queen.log_pop_v1('holes', NULL, g, 1, 1, 1, false, 'all') FROM unnest('{one,wide,named,apart}'::text[]) g;
    FOR r IN SELECT g, budget FROM unnest('{one,wide,named,apart}'::text[]) g, generate_series(1, 5) budget LOOP
        UPDATE queen.log_consumers c SET committed = -1, worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE c.consumer_group = r.g;
        v_seen := '';
        FOR i IN 1 .. 12 LOOP
            v_seen := v_seen || coalesce((
                SELECT string_agg(array_to_string(x.payloads, ' '), ' ' ORDER BY x.first_offset) || ' '
                FROM queen.log_pop_v1('holes', CASE WHEN r.g = 'named' THEN 'p' END, r.g, r.budget, CASE WHEN r.g IN ('wide', 'apart') THEN 9 ELSE 1 END, 1,
                    r.g <> 'apart' AND r.g <> 'wide', 'all', p_apart => r.g = 'apart') x
                WHERE x.partition = 'p'), '');
            UPDATE queen.log_consumers c SET committed = coalesce(c.batch_end, c.committed), worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE c.consumer_group = r.g;
        END LOOP;
        ASSERT v_seen = '0 3 4 6 7 8 10 11 ', format('F079: %s by %s at a time got %s', r.g, r.budget, v_seen);
    END LOOP;
    SELECT string_agg(array_to_string(x.payloads, ' '), ' ') INTO v_seen
    FROM queen.log_fetch_v1('{holes}', '{p}', '{1}') x;
    ASSERT btrim(v_seen) = '3 4 6 7 8 10 11', 'F079, O-57: a fetch, too: ' || v_seen;
END $$;

ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
DO $$
DECLARE
    v_field text;
    v_text text;
BEGIN
    PERFORM queen.pop_v1('q');
    ASSERT false, 'design 3.3: refused above READ COMMITTED';
EXCEPTION WHEN SQLSTATE 'QN400' THEN
    GET STACKED DIAGNOSTICS v_field = COLUMN_NAME, v_text = MESSAGE_TEXT;
    ASSERT v_field = 'transaction_isolation' AND v_text LIKE '%SERIALIZABLE%', 'design 3.3: naming the level';
END $$;
ROLLBACK;
