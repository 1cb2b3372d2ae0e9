-- log_pending_v1, log_pop_fill_v1, read_v1: what can be seen without taking anything.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_probe.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_count integer, p_partition text DEFAULT 'p') RETURNS void LANGUAGE sql AS $$
    SELECT queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], array_fill('1'::text, ARRAY[p_count]))
$$;
CREATE FUNCTION pg_temp.maybe(p_queue text, p_partition text, p_group text) RETURNS boolean LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM queen.log_pending_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_group], '{NULL}'))
$$;
CREATE FUNCTION pg_temp.take(p_queue text, p_group text, p_batch integer, p_auto boolean DEFAULT true, p_partition text DEFAULT NULL) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(sum(cardinality(r.payloads)), 0) FROM queen.log_pop_v1(p_queue, p_partition, p_group, p_batch, 0, NULL, p_auto, 'all') r
$$;

-- The probe may say yes for nothing; it must never say no for something (O-51, F045).
DO $$
DECLARE
    v_state text;
    v_id uuid;
BEGIN
    ASSERT NOT pg_temp.maybe('probe', NULL, 'g'), 'F143: a queue that is missing was deleted, and a repeated pop makes none';
    ASSERT NOT pg_temp.maybe('probe', 'p', 'g'), 'a pinned pop makes nothing, so nothing is to be done';
    PERFORM pg_temp.push('probe', 3), pg_temp.push('probe', 2, 'r');
    ASSERT pg_temp.maybe('probe', NULL, 'g') AND pg_temp.maybe('probe', 'p', 'g') AND NOT pg_temp.maybe('probe', 'none', 'g'), 'O-51: data, no cursor';
    SELECT string_agg(c::text, '') INTO v_state FROM queen.log_consumers c;
    ASSERT v_state IS NULL AND NOT EXISTS (SELECT FROM queen.consumer_groups_metadata), 'a probe takes and makes nothing';
    ASSERT pg_temp.take('probe', 'g', 1, false) = 1 AND pg_temp.maybe('probe', NULL, 'g'), 'one partition leased, the other not';
    ASSERT pg_temp.take('probe', 'g', 10, false) > 0 AND NOT pg_temp.maybe('probe', NULL, 'g') AND NOT pg_temp.maybe('probe', 'p', 'g'), 'both leased';
    ASSERT pg_temp.maybe('probe', NULL, 'h') AND pg_temp.maybe('probe', NULL, '__QUEUE_MODE__'), 'other groups are not';
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp();
    ASSERT pg_temp.maybe('probe', NULL, 'g'), 'F049: leases that ended';
    PERFORM pg_temp.take('probe', 'g', 10);
    ASSERT NOT pg_temp.maybe('probe', NULL, 'g'), 'all consumed';
    -- A prefix that went leaves nothing, then a push something.
    PERFORM pg_temp.push('probe', 2);
    v_id := pg_temp.lane('probe');
    PERFORM queen._move_log_start(v_id, 100);
    ASSERT NOT pg_temp.maybe('probe', NULL, 'g') AND NOT pg_temp.maybe('probe', 'p', 'h'), 'O-51: what is below the log start is nothing';
    PERFORM pg_temp.push('probe', 1);
    ASSERT pg_temp.maybe('probe', 'p', 'g') AND pg_temp.take('probe', 'g', 10) = 1, 'F045: a push after an emptied log';
    -- Gates.
    PERFORM pg_temp.push('probe', 1);
    UPDATE queen.queues SET delayed_processing = 60 WHERE name = 'probe';
    ASSERT NOT pg_temp.maybe('probe', 'p', 'g'), 'F051: hidden by the delay';
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '61 s' WHERE partition_id = v_id AND base_offset = 6;
    ASSERT pg_temp.maybe('probe', 'p', 'g'), 'F051: and then not, without another push';
    PERFORM pg_temp.push('probe', 1);
    ASSERT pg_temp.maybe('probe', 'p', 'g'), 'O-23: a young suffix hides nothing else';
    UPDATE queen.queues SET delayed_processing = 0, window_buffer = 60 WHERE name = 'probe';
    ASSERT pg_temp.maybe('probe', 'p', 'g'), 'W-3: the first is older than the window';
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '59 s' WHERE partition_id = v_id AND base_offset = 6;
    ASSERT NOT pg_temp.maybe('probe', 'p', 'g'), 'O-20: the window';
    UPDATE queen.log_segments SET created_at = clock_timestamp() + interval '1 minute' WHERE partition_id = v_id AND base_offset = 7;
    ASSERT pg_temp.maybe('probe', 'p', 'g'), 'design 3.2 rule 6: a stamp far ahead is old';
    UPDATE queen.queues SET delayed_processing = 2147483647, window_buffer = -1 WHERE name = 'probe';
    ASSERT NOT pg_temp.maybe('probe', 'p', 'g'), 'F082: an absurd delay does not fail';
    UPDATE queen.queues SET delayed_processing = -1, window_buffer = 2147483647 WHERE name = 'probe';
    UPDATE queen.log_segments SET created_at = clock_timestamp() WHERE partition_id = v_id AND base_offset = 7;
    ASSERT NOT pg_temp.maybe('probe', 'p', 'g'), 'F082: an absurd window does not fail';
    UPDATE queen.queues SET window_buffer = 0 WHERE name = 'probe';
    ASSERT (SELECT array_agg(x ORDER BY x) FROM queen.log_pending_v1('{probe,probe,nowhere,nowhere,probe}', '{p,none,NULL,p,NULL}', '{g,g,g,g,g}', '{NULL,NULL,NULL,NULL,NULL}') x) = '{0,4}', 'positions of the triples';
    ASSERT pg_temp.maybe('probe', 'p', 'g') AND NOT EXISTS (SELECT FROM queen.log_pending_v1('{probe}', '{p}', '{g}', '{00000000-0000-0000-0000-0000000000aa}')), 'E-5: a tenant sees its own';
END $$;

-- A partition that a group has no cursor of counts as due whatever the gates say, until a pop of whoever waits made the cursor, from
-- when on retention waits for the group (R-3, O-20, O-51): for pops of the queue, of the partition, in queue mode, and by labels.
DO $$
DECLARE
    v_gate text;
    v_form text;
    v_name text;
    v_group text;
    v_probe text;
    v_pop text;
    v_yes boolean;
    v_got bigint;
BEGIN
    FOREACH v_gate IN ARRAY '{delayed_processing,window_buffer}'::text[] LOOP
        PERFORM queen._ensure_queue(v_gate, queen._tenant(NULL));
        EXECUTE format('UPDATE queen.queues SET namespace = name, %I = 3600 WHERE name = %L', v_gate, v_gate);
        FOREACH v_form IN ARRAY '{queue,pinned,mode,labels}'::text[] LOOP
            v_name := CASE v_form WHEN 'pinned' THEN v_form END;
            v_group := CASE v_form WHEN 'mode' THEN '__QUEUE_MODE__' ELSE v_form END;
            v_probe := CASE v_form WHEN 'labels' THEN 'SELECT EXISTS (SELECT FROM queen.log_pending_discovery_v1(ARRAY[$1], ''{NULL}'', ARRAY[$3], ''{NULL}'') WHERE $2 IS NULL)'
                ELSE 'SELECT EXISTS (SELECT FROM queen.log_pending_v1(ARRAY[$1], ARRAY[$2], ARRAY[$3], ''{NULL}''))' END;
            v_pop := CASE v_form WHEN 'labels' THEN 'SELECT count(*) FROM queen.log_pop_discovery_v1($1, NULL, $3, p_waited_ms => 1) WHERE $2 IS NULL'
                ELSE 'SELECT count(*) FROM queen.log_pop_v1($1, $2, $3, p_waited_ms => 1)' END;
            EXECUTE v_pop INTO v_got USING v_gate, v_name, v_group; -- parked since before the message
            PERFORM pg_temp.push(v_gate, 1, v_form);
            EXECUTE v_probe INTO v_yes USING v_gate, v_name, v_group;
            ASSERT v_yes, format('%s, %s: there is no cursor yet', v_gate, v_form);
            EXECUTE v_pop INTO v_got USING v_gate, v_name, v_group;
            ASSERT v_got = 0 AND EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(v_gate, v_form) AND c.consumer_group = v_group AND c.committed = -1),
                format('%s, %s: nothing is due, and the cursor is there', v_gate, v_form);
            EXECUTE v_probe INTO v_yes USING v_gate, v_name, v_group;
            ASSERT NOT v_yes, format('%s, %s: and then it is as shut as any', v_gate, v_form);
        END LOOP;
    END LOOP;
END $$;

-- A probe yields what a pop yields, in a row of random states.
DO $$
DECLARE
    v_probe boolean;
    v_got bigint;
BEGIN
    PERFORM setseed(0.7);
    PERFORM pg_temp.push('same', 1, i::text) FROM generate_series(1, 3) i;
    FOR i IN 1..150 LOOP
        CASE (random() * 5)::integer
            WHEN 0 THEN PERFORM pg_temp.push('same', 1 + (random() * 5)::integer, (1 + (random() * 2)::integer)::text);
            WHEN 1 THEN PERFORM queen._move_log_start(pg_temp.lane('same', '1'), (SELECT h.head_offset + 2 - (random() * 4)::integer FROM queen.partition_head h WHERE h.id = pg_temp.lane('same', '1')));
            WHEN 2 THEN UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp();
            WHEN 3 THEN PERFORM queen.log_settle_heads_step_v1(1, 3, clock_timestamp() + interval '1 minute');
            WHEN 4 THEN UPDATE queen.queues SET delayed_processing = (random() * 2)::integer - 1 WHERE name = 'same';
            ELSE UPDATE queen.log_segments SET created_at = created_at - interval '1 s' WHERE partition_id = pg_temp.lane('same', '2');
        END CASE;
        v_probe := pg_temp.maybe('same', NULL, 'g');
        v_got := pg_temp.take('same', 'g', 2, random() < 0.5);
        ASSERT v_probe OR v_got = 0, 'O-51, F045: the probe said no, the pop took ' || v_got || ' in round ' || i;
    END LOOP;
END $$;

-- O-24: what a pop could take, asked only where a queue waits for more.
DO $$
DECLARE
    r queen.pop_fill_row;
BEGIN
    PERFORM pg_temp.push('fill', 5), pg_temp.push('fill', 3, 'r');
    SELECT * INTO r FROM queen.log_pop_fill_v1('fill');
    ASSERT r = ROW(0, 0)::queen.pop_fill_row, 'O-24: no wait, no count';
    ASSERT (SELECT x = ROW(0, 0)::queen.pop_fill_row FROM queen.log_pop_fill_v1('nowhere') x), 'O-24: no queue';
    PERFORM queen.configure_queue_v1('fill', '{"minPopWaitTime": 500}');
    ASSERT (SELECT x = ROW(500, 5)::queen.pop_fill_row FROM queen.log_pop_fill_v1('fill') x), 'O-24: of one partition, the fullest';
    ASSERT (SELECT x.available = 8 FROM queen.log_pop_fill_v1('fill', NULL, NULL, 2) x) AND (SELECT x.available = 8 FROM queen.log_pop_fill_v1('fill', NULL, NULL, 0) x), 'O-24: of two, of any';
    ASSERT (SELECT x.available = 3 FROM queen.log_pop_fill_v1('fill', 'r') x), 'O-24: pinned';
    PERFORM pg_temp.take('fill', 'g', 2, true, 'p');
    ASSERT (SELECT x.available = 6 FROM queen.log_pop_fill_v1('fill', NULL, 'g', 0) x), 'O-24: of a group';
    PERFORM pg_temp.take('fill', 'g', 1, false, 'p');
    ASSERT (SELECT x.available = 3 FROM queen.log_pop_fill_v1('fill', NULL, 'g', 0) x), 'O-24: leased ones cannot be taken';
    ASSERT (SELECT x.available = 0 FROM queen.log_pop_fill_v1('fill', NULL, NULL, 0, '00000000-0000-0000-0000-0000000000aa') x), 'E-5';
END $$;

-- read_v1 moves nothing.
DO $$
DECLARE
    v_before text;
    v_got bigint[];
BEGIN
    PERFORM pg_temp.push('read', 4), pg_temp.push('read', 3), pg_temp.push('read', 3);
    PERFORM queen._move_log_start(pg_temp.lane('read'), 4);
    SELECT string_agg(p::text, '') INTO v_before FROM queen.log_partitions p;
    ASSERT ARRAY(SELECT r."offset" FROM queen.read_v1('read', 'p') r) = '{4,5,6,7,8,9}', 'the last ones, from the log start';
    ASSERT ARRAY(SELECT r."offset" FROM queen.read_v1('read', 'p', NULL, 2) r) = '{8,9}', 'the last two';
    ASSERT ARRAY(SELECT r."offset" FROM queen.read_v1('read', 'p', 5, 3) r) = '{5,6,7}', 'from inside a segment, over a boundary';
    ASSERT ARRAY(SELECT r."offset" FROM queen.read_v1('read', 'p', 0, 3) r) = '{4,5,6}', 'design 3.2 rule 5: rows below the start are invisible';
    ASSERT ARRAY(SELECT r."offset" FROM queen.read_v1('read', 'p', 10) r) = '{}', 'at the head, nothing';
    SELECT array_agg(r."offset") INTO v_got FROM queen.read_v1('read', 'p', p_since => (SELECT s.created_at FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('read') AND s.base_offset = 7)) r;
    ASSERT v_got = '{7,8,9}', 'since a time: ' || v_got::text;
    ASSERT (SELECT string_agg(p::text, '') FROM queen.log_partitions p) = v_before AND NOT EXISTS (SELECT FROM queen.log_consumers WHERE partition_id = pg_temp.lane('read')), 'nothing moved, nothing made';
END $$;

ROLLBACK;
