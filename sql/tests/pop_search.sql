-- Which partitions a pop of a whole queue looks at: the newest, some at random, all when those have nothing; and the floor
-- below which it looks at what is held only.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_search.sql (on a migrated database).
BEGIN;

-- A queue of p_count partitions that group g has read to its end, all last written p_age ago.
CREATE FUNCTION pg_temp.make(p_queue text, p_count integer, p_age interval) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_queue uuid;
BEGIN
    PERFORM queen.log_push_v1(array_fill(p_queue, ARRAY[p_count]), ARRAY(SELECT i::text FROM generate_series(1, p_count) i), array_fill(1, ARRAY[p_count]), array_fill('1'::text, ARRAY[p_count]));
    PERFORM queen._register_unless_busy(p_queue, queen._tenant(NULL), 'g', 'all', NULL);
    SELECT q.id INTO v_queue FROM queen.queues q WHERE q.name = p_queue;
    UPDATE queen.log_consumers c SET committed = 0 FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue;
    UPDATE queen.log_partitions p SET last_write_at = date_trunc('second', now()) - p_age WHERE p.queue_id = v_queue;
    RETURN v_queue;
END $$;
-- One more message in each of these partitions, which notes it in their rows, said to be written p_age ago.
CREATE FUNCTION pg_temp.write(p_queue text, p_age interval, VARIADIC p_partitions text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_partitions p SET last_write_at = p.last_write_at - interval '1 minute'
    FROM queen.queues q WHERE q.id = p.queue_id AND q.name = p_queue AND p.name = ANY (p_partitions);
    SELECT queen.push_v1(p_queue, '2', u.name) FROM unnest(p_partitions) u (name);
    UPDATE queen.log_partitions p SET last_write_at = date_trunc('second', now()) - p_age
    FROM queen.queues q WHERE q.id = p.queue_id AND q.name = p_queue AND p.name = ANY (p_partitions)
$$;
CREATE FUNCTION pg_temp.pop(p_queue text, p_cap integer) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(r.partition, ' ' ORDER BY r.partition::integer), '') FROM queen.log_pop_v1(p_queue, NULL, 'g', 1, p_cap, 60, false, 'all', p_apart => true) r
$$;
CREATE FUNCTION pg_temp.free(p_queue text) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_consumers c SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = c.partition_id AND q.name = p_queue
$$;

-- All that was written in the newest second is found, however many others were. So is the only one, wherever it is; and what
-- is old has its turn while something newer is always owed.
DO $$
DECLARE
    v_turns integer := 0;
BEGIN
    PERFORM pg_temp.make('sparse', 1500, '0');
    FOREACH v_turns IN ARRAY ARRAY[3, 10, 200] LOOP
        PERFORM pg_temp.write('sparse', '0', '700', '701');
        ASSERT pg_temp.pop('sparse', v_turns) = '700 701', 'the newest second, cap ' || v_turns;
        PERFORM pg_temp.free('sparse');
    END LOOP;
    UPDATE queen.log_consumers c SET committed = 1000 FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = c.partition_id AND q.name = 'sparse';
    UPDATE queen.log_partitions p SET last_write_at = p.last_write_at - make_interval(secs => p.name::integer % 10) FROM queen.queues q WHERE q.id = p.queue_id AND q.name = 'sparse';
    PERFORM pg_temp.write('sparse', '20 s', '7');
    UPDATE queen.log_consumers c SET committed = 0 FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = c.partition_id AND q.name = 'sparse' AND p.name = '7';
    FOR i IN 1..3 LOOP
        ASSERT pg_temp.pop('sparse', i) = '7', 'the oldest, and the only one, cap ' || i;
        PERFORM pg_temp.free('sparse');
    END LOOP;
    ASSERT pg_temp.pop('sparse', 1) = '7' AND pg_temp.pop('sparse', 1) = '' AND pg_temp.pop('sparse', 5) = '', 'leased: nothing';
    PERFORM pg_temp.free('sparse');
    PERFORM pg_temp.write('sparse', '0', '8');
    UPDATE queen.log_consumers c SET committed = 0 FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = c.partition_id AND q.name = 'sparse' AND p.name = '8';
    v_turns := 0;
    LOOP
        EXIT WHEN pg_temp.pop('sparse', 10) LIKE '%7%';
        PERFORM pg_temp.free('sparse');
        v_turns := v_turns + 1;
        ASSERT v_turns < 500, 'O-10: the oldest never had its turn';
    END LOOP;
END $$;

-- Of the newest second those come first that were pushed to last; then what is behind it, and it is told whether that is all.
DO $$
DECLARE
    v_queue uuid := pg_temp.make('newest', 100, '0');
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    r record;
BEGIN
    PERFORM pg_temp.write('newest', '0', '50', '51');
    PERFORM pg_temp.write('newest', '9 s', '1');
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 2);
    ASSERT cardinality(r.ids) = 2 AND r.seen = 99 AND r.newest = date_trunc('second', now()) AND NOT r.complete, 'two of 99: ' || r::text;
    PERFORM pg_temp.write('newest', '0', '60');
    UPDATE queen.log_partitions p SET last_offset = 0, last_stamp = last_stamp - interval '1 minute' WHERE p.queue_id = v_queue AND p.name = '60'; -- not noted
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 2);
    ASSERT cardinality(r.ids) = 2 AND r.seen = 99, 'no more than two: ' || r::text;
    UPDATE queen.log_consumers c SET committed = 1 FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name = '50';
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 2);
    ASSERT cardinality(r.ids) = 2 AND r.seen = 99, 'what was not noted, too: ' || r::text;
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 100);
    ASSERT cardinality(r.ids) = 3 AND r.seen = 100 AND NOT r.complete, 'all: ' || r::text;
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 101);
    ASSERT cardinality(r.ids) = 3 AND r.seen = 100 AND r.complete, 'and no more: ' || r::text;
    r := queen._newest_free(v_queue, 'g', 0, 0, date_trunc('second', now()), c_first, 100);
    ASSERT cardinality(r.ids) = 2 AND r.seen = 99 AND r.complete, 'above the floor: ' || r::text;
    r := queen._newest_free(v_queue, 'g', 0, 0, date_trunc('second', now()), 'ffffffff-ffff-ffff-ffff-ffffffffffff', 50);
    ASSERT r.ids = '{}' AND r.seen = 0 AND r.complete, 'none in the second of the floor: ' || r::text;
    r := queen._walk_above(v_queue, 'g', 0, 0, '-infinity', c_first, 64, false);
    ASSERT cardinality(r.ids) >= 2 AND r.seen = 99 + 16, 'it ends there, and at a random place: ' || r::text;
    UPDATE queen.log_partitions p SET last_write_at = p.last_write_at - interval '5 s' WHERE p.queue_id = v_queue AND p.name NOT IN ('50', '51', '60');
    r := queen._newest_free(v_queue, 'g', 0, 0, '-infinity', c_first, 10);
    ASSERT cardinality(r.ids) = 2 AND r.seen = 10 AND NOT r.complete, 'behind a second of three: ' || r::text;
END $$;

-- Among many that are not due one pop finds the one that is: not written for long, written all the time, or held (O-20, O-23, W-3).
DO $$
DECLARE
    v_queue uuid := (SELECT q.id FROM queen.queues q WHERE q.name = 'sparse');
    v_due uuid := (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'sparse' AND p.name = '7');
    v_place text;
    v_gate integer;
    v_cap integer;
BEGIN
    PERFORM pg_temp.free('sparse');
    UPDATE queen.log_consumers c SET committed = -1 FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue;
    UPDATE queen.log_segments s SET created_at = s.created_at - interval '2 h' WHERE s.partition_id = v_due;
    FOREACH v_place IN ARRAY ARRAY['cold', 'hot', 'held'] LOOP
        UPDATE queen.log_partitions p SET last_write_at = date_trunc('second', now()) - CASE v_place WHEN 'cold' THEN interval '2 h' ELSE '3 s' END WHERE p.id = v_due;
        DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue;
        INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at, held)
        SELECT v_queue, 'g', now() + interval '1 minute', array_agg(h.id)
        FROM (SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue ORDER BY p.id <> v_due LIMIT 1000) h
        HAVING v_place = 'held';
        FOR v_gate IN 1..2 LOOP
            UPDATE queen.queues q SET delayed_processing = CASE v_gate WHEN 1 THEN 3600 ELSE 0 END, window_buffer = CASE v_gate WHEN 2 THEN 3600 ELSE 0 END WHERE q.id = v_queue;
            v_cap := CASE v_gate WHEN 1 THEN 1 ELSE 10 END;
            PERFORM set_config('queen.lane', '', true); -- no hint
            ASSERT pg_temp.pop('sparse', v_cap) = '7', format('%s, gate %s, cap %s', v_place, v_gate, v_cap);
            ASSERT v_gate = 2 OR NOT EXISTS (SELECT FROM queen.log_pending_v1('{sparse}', '{NULL}', '{g}', '{NULL}')), 'O-51: the others, to the probe';
            UPDATE queen.log_consumers c SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE c.partition_id = v_due;
            ASSERT v_gate = 2 OR EXISTS (SELECT FROM queen.log_pending_v1('{sparse}', '{NULL}', '{g}', '{NULL}')), 'O-51: it, to the probe';
            ASSERT v_place <> 'cold' OR (SELECT w.seen < 1500 FROM queen.queues q, queen._walk_above(q.id, 'g', q.window_buffer, q.delayed_processing, '-infinity', q.id, 64, false) w WHERE q.id = v_queue),
                'without a look at all of them';
        END LOOP;
    END LOOP;
    ASSERT pg_temp.pop('sparse', 10) = '7' AND pg_temp.pop('sparse', 10) = '', 'the others are not due';
    UPDATE queen.queues q SET delayed_processing = 0, window_buffer = 0 WHERE q.id = v_queue;
    DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue;
END $$;

-- A pop makes the cursor of a partition whose gate is shut, or retention would not wait for the group (R-3).
DO $$
DECLARE
    v_group text;
BEGIN
    PERFORM queen.configure_queue_v1('shut', '{"delayedProcessing": 3600}');
    PERFORM count(*) FROM unnest('{g,h}'::text[]) g, LATERAL queen.log_pop_v1('shut', NULL, g, 5);
    PERFORM queen.push_many_v1('shut', '{1,2,3}', '{p}');
    FOREACH v_group IN ARRAY '{g,h}'::text[] LOOP
        ASSERT NOT EXISTS (SELECT FROM queen.log_pop_v1('shut', NULL, v_group, 5)), 'O-20: not due';
        ASSERT (SELECT c.committed FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
                WHERE q.name = 'shut' AND c.consumer_group = v_group) = -1, 'the cursor of ' || v_group;
    END LOOP;
END $$;

-- The partition that a session took from before is no candidate while a gate holds back what is left of it (O-20, O-23).
DO $$
DECLARE
    v_queue uuid;
    v_lane uuid;
    v_gate text;
BEGIN
    PERFORM queen.push_many_v1('lane', '{1,2}', '{p}');
    PERFORM queen._register_unless_busy('lane', queen._tenant(NULL), 'g', 'all', NULL);
    SELECT q.id, p.id INTO v_queue, v_lane FROM queen.queues q JOIN queen.log_partitions p ON p.queue_id = q.id WHERE q.name = 'lane';
    PERFORM queen._keep_lane(v_lane, 0);
    ASSERT queen._own_lane(v_queue, 'g') = ARRAY[v_lane], 'no gate';
    FOREACH v_gate IN ARRAY '{delay,window}'::text[] LOOP
        UPDATE queen.queues q SET delayed_processing = CASE v_gate WHEN 'delay' THEN 3600 ELSE 0 END, window_buffer = CASE v_gate WHEN 'window' THEN 3600 ELSE 0 END WHERE q.id = v_queue;
        ASSERT queen._own_lane(v_queue, 'g') = '{}', v_gate;
        FOR i IN 1..20 LOOP
            ASSERT NOT EXISTS (SELECT FROM queen._candidates(v_queue, 'g', 1, true)), v_gate || ': a candidate that is not due';
        END LOOP;
        UPDATE queen.log_segments s SET created_at = s.created_at - interval '2 h' WHERE s.partition_id = v_lane;
        ASSERT queen._own_lane(v_queue, 'g') = ARRAY[v_lane], v_gate || ': it is over';
        UPDATE queen.log_segments s SET created_at = s.created_at + interval '2 h' WHERE s.partition_id = v_lane;
    END LOOP;
END $$;

-- A pop without a cap takes what fits, not a sample of it; so does one with many (O-7, O-9).
DO $$
BEGIN
    PERFORM queen.log_push_v1(array_fill('whole'::text, ARRAY[500]), ARRAY(SELECT i::text FROM generate_series(1, 500) i), array_fill(1, ARRAY[500]), array_fill('1'::text, ARRAY[500]));
    PERFORM queen._register_unless_busy('whole', queen._tenant(NULL), 'g', 'all', NULL);
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('whole', NULL, 'g', 200, 100, 60, false, 'all')) = 100, 'O-9: the cap';
    ASSERT (SELECT count(*) FROM queen.log_pop_v1('whole', NULL, 'g', 10000, 0, 60, false, 'all')) = 400, 'O-9: all that is left';
END $$;

-- The floor stops behind so many partitions, in the middle of a second, and goes on from there; at each stop all that is owed is
-- held or above it, and the search and the probe find it.
DO $$
DECLARE
    v_queue uuid := pg_temp.make('stops', 40, '10 s');
    r_mark queen.consumer_watermarks;
    v_steps integer := 0;
    v_lost text;
BEGIN
    PERFORM pg_temp.write('stops', '10 s', VARIADIC ARRAY(SELECT i::text FROM generate_series(1, 40, 7) i));
    INSERT INTO queen.clock_marks (marked_at, xid) VALUES (now(), '3') ON CONFLICT DO NOTHING;
    LOOP
        PERFORM queen._raise_floor(v_queue, 'g', 6);
        v_steps := v_steps + 1;
        SELECT * INTO r_mark FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue;
        SELECT string_agg(s.name, ' ') INTO v_lost FROM queen._standing('g') s
        WHERE s.queue_id = v_queue AND s.owed AND s.id <> ALL (r_mark.held)
          AND (s.last_write_at, s.id) <= (queen._floor_bound(r_mark.last_empty_scan_at), r_mark.last_empty_scan_id);
        ASSERT v_lost IS NULL, format('step %s lost %s', v_steps, v_lost);
        ASSERT pg_temp.pop('stops', 50) = '1 8 15 22 29 36', 'O-10: all are found, step ' || v_steps;
        PERFORM pg_temp.free('stops');
        ASSERT EXISTS (SELECT FROM queen.log_pending_v1('{stops}', '{NULL}', '{g}', '{NULL}')), 'O-51';
        EXIT WHEN r_mark.last_empty_scan_at = now() OR v_steps > 20; -- the mark
    END LOOP;
    -- Seven a step: the last one has only five, and so does not stop.
    ASSERT v_steps = 6 AND cardinality(r_mark.held) = 6, format('%s steps, %s held', v_steps, cardinality(r_mark.held));
    ASSERT r_mark.last_empty_scan_id = '00000000-0000-0000-0000-000000000000', 'at the mark';
    -- What is done goes out of held, and what is owed above comes in.
    UPDATE queen.log_consumers c SET committed = 1 FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name <> '8';
    UPDATE queen.consumer_watermarks w SET updated_at = 'epoch' WHERE w.queue_id = v_queue;
    PERFORM queen._raise_floor(v_queue, 'g', 6);
    ASSERT (SELECT w.held = ARRAY[p.id] FROM queen.consumer_watermarks w JOIN queen.log_partitions p ON p.queue_id = w.queue_id WHERE w.queue_id = v_queue AND p.name = '8'), 'pruned';
    ASSERT pg_temp.pop('stops', 50) = '8';
END $$;

-- A floor that cannot hold more stops before the first one that it cannot hold.
DO $$
DECLARE
    v_queue uuid := pg_temp.make('full', 3, '10 s');
    v_next uuid;
BEGIN
    PERFORM pg_temp.write('full', '10 s', '1', '2', '3');
    INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, held, updated_at)
    SELECT v_queue, 'g', array_agg(p.id), 'epoch' FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'sparse' AND p.name::integer <= 998;
    UPDATE queen.log_consumers c SET committed = -1 FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = c.partition_id AND q.name = 'sparse' AND p.name::integer <= 998;
    PERFORM queen._raise_floor(v_queue, 'g');
    ASSERT (SELECT cardinality(w.held) = 1000 FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue), 'O-10';
    SELECT p.id INTO v_next FROM queen.log_partitions p WHERE p.queue_id = v_queue ORDER BY p.id LIMIT 1 OFFSET 1;
    ASSERT (SELECT (w.last_empty_scan_id, queen._floor_bound(w.last_empty_scan_at)) = (v_next, date_trunc('second', now()) - interval '10 s') FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue),
        'the third one is above it';
END $$;

-- Of the candidates the first is claimed that nobody has, and one that is new to the group counts as such (O-25, O-26).
DO $$
DECLARE
    v_queue uuid := pg_temp.make('lockable', 4, '0');
    v_ids uuid[] := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue ORDER BY p.name);
BEGIN
    UPDATE queen.log_consumers c SET worker_id = 'w', lease_expires_at = clock_timestamp() + interval '1 h' WHERE c.partition_id = ANY (v_ids[1:2]);
    UPDATE queen.log_consumers c SET worker_id = 'w', lease_expires_at = clock_timestamp() WHERE c.partition_id = v_ids[3];
    ASSERT queen._first_lockable(v_ids, 'g') = 3, 'a lease that ended';
    ASSERT queen._first_lockable(v_ids[1:2] || v_ids[4], 'g') = 3 AND queen._first_lockable(v_ids, 'other') = 1, 'no lease, no cursor';
    ASSERT queen._first_lockable(v_ids[1:2], 'g') IS NULL AND queen._first_lockable('{}', 'g') IS NULL AND queen._first_lockable(NULL, 'g') IS NULL, 'none';
END $$;

-- The short form of what is owed says what the long one does: settled or not, in the middle of a segment, behind the log start,
-- without a cursor, leased.
DO $$
DECLARE
    v_queue uuid := pg_temp.make('short', 12, '10 s'); -- so old that the next push writes the row
BEGIN
    PERFORM queen.log_push_v1('{short,short,short}', '{1,2,3}', '{3,3,3}', '{1,2,3,1,2,3,1,2,3}');
    UPDATE queen.log_partitions p SET last_write_at = now() + interval '1 minute' WHERE p.queue_id = v_queue AND p.name IN ('1', '2', '3', '4', '5', '6', '12');
    PERFORM queen.log_push_v1('{short,short,short,short,short}', '{1,2,3,4,12}', '{2,2,2,2,1}', '{1,2,1,2,1,2,1,2,1}'); -- leaves the rows alone
    ASSERT (SELECT count(*) FROM queen.log_partitions p WHERE p.queue_id = v_queue AND NOT p.settled AND p.last_offset = 3) = 3, 'three rows are behind their heads';
    UPDATE queen.log_consumers c SET committed = v.at FROM queen.log_partitions p, (VALUES ('1', 5), ('2', 4), ('3', 3), ('4', 1), ('5', 7), ('6', 0), ('12', 1)) v (name, at)
    WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name = v.name;
    DELETE FROM queen.log_consumers c USING queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name = '7';
    PERFORM queen._move_log_start(p.id, 100) FROM queen.log_partitions p WHERE p.queue_id = v_queue AND p.name IN ('2', '8');
    UPDATE queen.log_partitions p SET settled = true, last_offset = 0 WHERE p.queue_id = v_queue AND p.name IN ('9', '10');
    UPDATE queen.log_consumers c SET committed = -1, worker_id = 'w', lease_expires_at = now() + interval '1 h' FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name IN ('10', '11');
    ASSERT (SELECT count(*) = 12 AND count(*) FILTER (WHERE o.owed) BETWEEN 4 AND 8 FROM queen._owing('g') o WHERE o.queue_id = v_queue), 'some are, some are not';
    ASSERT NOT EXISTS (
        SELECT FROM queen._standing('g') s JOIN queen._owing('g') o USING (id)
        WHERE (o.owed, o.queue_id, o.last_write_at) <> (s.owed, s.queue_id, s.last_write_at) OR (o.leased_until, o.committed) IS DISTINCT FROM (s.leased_until, s.committed)), 'O-6';
END $$;

-- One partition that was written long ago does not draw every random look away from what is hot: within a bounded number of
-- pops, all of which find something, whatever is owed has its turn.
DO $$
DECLARE
    v_queue uuid := pg_temp.make('burst', 200, '0');
    v_at integer := 0;
    v_served text[] := '{}';
BEGIN
    UPDATE queen.log_partitions p SET last_write_at = p.last_write_at - interval '30 days' WHERE p.queue_id = v_queue AND p.name = '1';
    PERFORM queen.log_push_v1(array_fill('burst'::text, ARRAY[199]), ARRAY(SELECT i::text FROM generate_series(2, 200) i), array_fill(100, ARRAY[199]), array_fill('2'::text, ARRAY[19900]));
    UPDATE queen.log_partitions p SET last_write_at = date_trunc('second', now()) WHERE p.queue_id = v_queue AND p.name <> '1';
    FOR i IN 1..2000 LOOP
        v_served := v_served || ARRAY(SELECT r.partition FROM queen.log_pop_v1('burst', NULL, 'g', 1, 1, 60, true) r);
    END LOOP;
    ASSERT (SELECT count(DISTINCT u) > 102 FROM unnest(v_served) u), 'of one second: ' || (SELECT count(DISTINCT u) FROM unnest(v_served) u);
    -- A session keeps to its partition nine times in ten, so that these were some 200 looks.
    -- An owed one among hot ones that are written anew all the time.
    UPDATE queen.log_partitions p SET last_write_at = date_trunc('second', now()) - make_interval(secs => p.name::integer % 20) WHERE p.queue_id = v_queue AND p.name <> '1';
    DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = v_queue; -- no floor knows of that
    UPDATE queen.log_consumers c SET committed = CASE p.name WHEN '19' THEN 99 ELSE 0 END FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.queue_id = v_queue AND p.name <> '1';
    LOOP
        EXIT WHEN EXISTS (SELECT FROM queen.log_pop_v1('burst', NULL, 'g', 1, 1, 60, true) r WHERE r.partition = '19');
        v_at := v_at + 1;
        ASSERT v_at < 6000, 'a cold one never has its turn';
    END LOOP;
END $$;

-- A floor from the future, after a clock that stepped back, is raised all the same, once a second.
DO $$
BEGIN
    ASSERT queen._floor_is_due(clock_timestamp() + interval '1 hour') AND queen._floor_is_due(NULL) AND queen._floor_is_due(clock_timestamp() - interval '2 s'), 'due';
    ASSERT NOT queen._floor_is_due(clock_timestamp() - interval '0.1 s'), 'once a second';
END $$;

-- Named partitions of a group that is deleted meanwhile are not begun anew from the start (E-29, C-21).
DO $$
DECLARE
    v_queue uuid := pg_temp.make('gone', 2, '0');
    v_ids uuid[] := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue);
BEGIN
    PERFORM queen.delete_consumer_group_v1('g');
    ASSERT NOT EXISTS (
        SELECT FROM queen.queues q, queen._pop_apart(v_ids, 2, q, 'g', 1, 60, 'registered', NULL) WHERE q.id = v_queue), 'nothing is delivered';
    ASSERT NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = ANY (v_ids)), 'no cursor is made';
END $$;

ROLLBACK;
