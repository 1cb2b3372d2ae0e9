-- Keyed compaction: what stays and what goes (V-2, V-3, X-2, Z-2..Z-7, M-19..M-31, F105, F107, F109, F111).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/compaction_rules.sql (on a migrated database).
BEGIN;
\ir lib/compaction.sql

-- V-2 and V-3: the measured output of the seed.
DO $$
BEGIN
    PERFORM pg_temp.queue('v');
    PERFORM pg_temp.segment('v', 'a=1 b=x'), pg_temp.segment('v', 'a=2 =event'), pg_temp.segment('v', 'active=keep');
    ASSERT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = pg_temp.lane('v')), 'due: keys to note';
    PERFORM queen.log_compact_step_v1(pg_temp.lane('v'));
    ASSERT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = pg_temp.lane('v')), 'due: keys are noted, and nothing was looked at';
    ASSERT pg_temp.compact('v') = '4 3', 'V-2: closed records';
    ASSERT pg_temp.log('v') = '1:b="x" 2:a=2 3:="event" 4:active="keep"', 'V-3: ' || pg_temp.log('v');
    ASSERT pg_temp.compact('v') = '0 0', 'Z-7: nothing to judge again';
    ASSERT pg_temp.log('v') = '1:b="x" 2:a=2 3:="event" 4:active="keep"', 'Z-7';
    ASSERT (SELECT string_agg(concat_ws(' ', s.base_offset, s.end_offset, s.frames, s.offsets), '; ' ORDER BY s.base_offset) FROM queen.log_segments s
            WHERE s.partition_id = pg_temp.lane('v')) = '0 1 1 {1}; 2 3 2; 4 4 1', 'M-29: ranges stay, and what lost nothing is not rewritten';
    ASSERT (SELECT array_agg(concat_ws(' ', r.retention_type, r.messages_deleted, r.rows_deleted, r.first_offset, r.last_offset)) FROM queen.retention_history r
            WHERE r.partition_id = pg_temp.lane('v')) = ARRAY['compaction 1 0 0 1'], 'everything removed is accounted for';
END $$;

-- Which frames are obsolete is noted frame by frame. What an older release noted does not say; then the map tells.
DO $$
DECLARE
    v_queue text;
BEGIN
    PERFORM pg_temp.queue('bits'), pg_temp.queue('old');
    FOR v_queue IN SELECT unnest('{bits,old}'::text[]) LOOP
        PERFORM pg_temp.segment(v_queue, 'a=1 b=1 a=2 =x'), pg_temp.segment(v_queue, 'b=null c=1'), pg_temp.segment(v_queue, 'd=1'), pg_temp.segment(v_queue, 'd=2');
        PERFORM queen.log_compact_step_v1(pg_temp.lane(v_queue));
        ASSERT (SELECT string_agg(concat_ws(' ', d.base_offset, d.obsolete, d.tombstones, d.gone), ', ' ORDER BY d.base_offset) FROM queen.log_dirty d
                WHERE d.partition_id = pg_temp.lane(v_queue)) = '0 t f 1100, 4 f t 00, 6 t f 1', v_queue;
        UPDATE queen.log_dirty d SET gone = NULL WHERE d.partition_id = pg_temp.lane(v_queue) AND v_queue = 'old';
        ASSERT pg_temp.compact(v_queue) = '7 4' AND pg_temp.log(v_queue) = '2:a=2 3:="x" 4:b=null 5:c=1 7:d=2', v_queue || ': ' || pg_temp.log(v_queue);
        PERFORM pg_temp.segment(v_queue, 'a=3'), pg_temp.segment(v_queue, 'z=1');
        ASSERT pg_temp.compact(v_queue) = '4 3' AND pg_temp.log(v_queue) = '3:="x" 4:b=null 5:c=1 7:d=2 8:a=3 9:z=1', v_queue || ': ' || pg_temp.log(v_queue);
    END LOOP;
END $$;

-- M-19, Z-2: only the newest segment. Z-3: twice in one push. Z-4: a tombstone in the newest segment.
DO $$
BEGIN
    PERFORM pg_temp.queue('n', 0);
    PERFORM pg_temp.segment('n', 'a=1 a=2 b=1');
    ASSERT pg_temp.compact('n') = '0 0' AND pg_temp.log('n') = '0:a=1 1:a=2 2:b=1', 'M-19, Z-2: the newest segment is not touched';
    PERFORM pg_temp.segment('n', 'a=null');
    ASSERT pg_temp.compact('n') = '3 1' AND pg_temp.log('n') = '2:b=1 3:a=null', 'Z-3, Z-4, M-21: ' || pg_temp.log('n');
    PERFORM pg_temp.segment('n', 'c=1');
    ASSERT pg_temp.compact('n') = '1 0' AND pg_temp.log('n') = '2:b=1 4:c=1', 'no grace: a tombstone goes when it is not in the newest segment';
    ASSERT (SELECT array_agg(k.key) FROM queen.log_keys k WHERE k.partition_id = pg_temp.lane('n')) = '{b,c}', 'its key is forgotten';
    PERFORM pg_temp.segment('n', 'a=3');
    ASSERT pg_temp.compact('n') = '1 1' AND pg_temp.log('n') = '2:b=1 4:c=1 5:a=3', 'the key may come back';
END $$;

-- X-2, M-25: a=1 at 0, a tombstone at 100, grace 1000; at 500 the tombstone stays, at 1900 after it it goes. M-27. Z-5.
DO $$
DECLARE
    v_seen text;
BEGIN
    PERFORM pg_temp.queue('x');
    PERFORM pg_temp.segment('x', 'a=1 a=null', 400), pg_temp.segment('x', 'z=1');
    ASSERT pg_temp.compact('x') = '2 1' AND pg_temp.log('x') = '1:a=null 2:z=1', 'X-2 at 500';
    ASSERT pg_temp.compact('x', 590) = '0 0', 'not yet';
    ASSERT pg_temp.compact('x', 1500) = '1 0' AND pg_temp.log('x') = '2:z=1', 'X-2 at 2000: ' || pg_temp.log('x');
    ASSERT (SELECT concat_ws(' ', s.frames, s.bytes, s.payloads, s.offsets, s.end_offset) FROM queen.log_segments s
            WHERE s.partition_id = pg_temp.lane('x') AND s.base_offset = 0) = '0 0 {} {} 1', 'Z-6: an emptied segment is kept';
    ASSERT (SELECT (h.log_start, h.head_offset) = (0, 2) FROM queen.partition_head h WHERE h.id = pg_temp.lane('x')), 'Z-6: start and head';
    PERFORM pg_temp.queue('x2');
    PERFORM pg_temp.segment('x2', 'a=1 a=null', 1900), pg_temp.segment('x2', 'z=1');
    ASSERT pg_temp.compact('x2') = '2 0' AND pg_temp.log('x2') = '2:z=1', 'X-2 in a fresh log';
    -- Strictly greater: at the limit it stays, a microsecond later it goes.
    PERFORM pg_temp.queue('x3');
    PERFORM pg_temp.segment('x3', 'a=null'), pg_temp.segment('x3', 'z=1');
    PERFORM queen.log_compact_step_v1(pg_temp.lane('x3'));
    FOR v_seen IN
        SELECT pg_temp.log('x3') FROM queen.log_segments s
        CROSS JOIN (VALUES (interval '0'), (interval '1 microsecond')) d (more)
        CROSS JOIN LATERAL queen.log_compact_step_v1(s.partition_id, 20000, s.created_at + interval '1000 s' + d.more) c
        WHERE s.partition_id = pg_temp.lane('x3') AND s.base_offset = 0 ORDER BY d.more
    LOOP
        NULL;
    END LOOP;
    ASSERT pg_temp.log('x3') = '1:z=1', 'older than the limit: ' || pg_temp.log('x3');
    PERFORM pg_temp.queue('x4');
    PERFORM pg_temp.segment('x4', 'a=null'), pg_temp.segment('x4', 'z=1');
    PERFORM queen.log_compact_step_v1(pg_temp.lane('x4'));
    PERFORM queen.log_compact_step_v1(pg_temp.lane('x4'), 20000, (SELECT s.created_at + interval '1000 s' FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('x4') AND s.base_offset = 0));
    ASSERT pg_temp.log('x4') = '0:a=null 1:z=1', 'M-25: at the limit it stays';
    PERFORM pg_temp.queue('z5');
    PERFORM pg_temp.segment('z5', 'a=1'), pg_temp.segment('z5', 'a=null'), pg_temp.segment('z5', 'a=2'), pg_temp.segment('z5', 'z=1');
    ASSERT pg_temp.compact('z5') = '3 1' AND pg_temp.log('z5') = '2:a=2 3:z=1', 'Z-5';
END $$;

-- F109: the JSON null with a key deletes, and nothing else does; in a plain queue null is null. M-23, M-26.
DO $$
BEGIN
    PERFORM pg_temp.queue('t', 0), pg_temp.queue('plain', 0, 0, 'delete');
    PERFORM queen.push_many_v1(q, ARRAY['null', ' null ', '{}', '""', '"null"', '[]', 'null', '0', 'false']::json[], ARRAY['p'], NULL,
        ARRAY['a', 'b', 'c', 'd', 'e', 'f', NULL, 'g', 'h']) FROM unnest(ARRAY['t', 'plain']) q;
    PERFORM pg_temp.segment(q, 'z=1') FROM unnest(ARRAY['t', 'plain']) q;
    ASSERT pg_temp.compact('t') = '9 7' AND pg_temp.log('t') = '2:c={} 3:d="" 4:e="null" 5:f=[] 6:=null 7:g=0 8:h=false 9:z=1', pg_temp.log('t');
    ASSERT pg_temp.compact('plain') = '0 0' AND pg_temp.log('plain') = '0:a=null 1:b= null  2:c={} 3:d="" 4:e="null" 5:f=[] 6:=null 7:g=0 8:h=false 9:z=1', pg_temp.log('plain');
    ASSERT NOT EXISTS (SELECT FROM queen.log_compaction c WHERE c.partition_id = pg_temp.lane('plain')), 'a plain queue is left alone';
END $$;

-- minCompactionLagSeconds: what is younger is not touched, and an obsolete frame waits until it is old enough.
DO $$
BEGIN
    PERFORM pg_temp.queue('lag', 0, 100);
    PERFORM pg_temp.segment('lag', 'a=1', 150), pg_temp.segment('lag', 'a=2', 50), pg_temp.segment('lag', 'a=null', 20), pg_temp.segment('lag', 'z=1');
    ASSERT pg_temp.compact('lag') = '1 0' AND pg_temp.log('lag') = '1:a=2 2:a=null 3:z=1', pg_temp.log('lag');
    ASSERT NOT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = pg_temp.lane('lag')), 'not due';
    ASSERT EXISTS (SELECT FROM queen.log_compact_due_v1(p_now => clock_timestamp() + interval '51 s') d WHERE d.partition_id = pg_temp.lane('lag')), 'due';
    ASSERT pg_temp.compact('lag', 51) = '1 0' AND pg_temp.log('lag') = '2:a=null 3:z=1', pg_temp.log('lag');
    ASSERT pg_temp.compact('lag', 81) = '1 0' AND pg_temp.log('lag') = '3:z=1', 'the tombstone waits for the lag too';
    -- An absurd stored value raises nothing (F082).
    UPDATE queen.queues SET min_compaction_lag_seconds = 2147483647, delete_retention_seconds = -2147483648 WHERE name = 'lag';
    PERFORM pg_temp.segment('lag', 'z=2');
    ASSERT pg_temp.compact('lag') = '0 0', 'a lag of 68 years';
    UPDATE queen.queues SET min_compaction_lag_seconds = -5, delete_retention_seconds = 2147483647 WHERE name = 'lag';
    ASSERT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = pg_temp.lane('lag')), 'due: the options changed';
    ASSERT pg_temp.compact('lag') = '1 0' AND pg_temp.log('lag') = '4:z=2', pg_temp.log('lag');
END $$;

-- F115: many more keys than a step may hold: every step gets further, they end, and what is left is the newest of each key.
DO $$
DECLARE
    r queen.compact_row;
    v_steps integer := 0;
    v_upto text := '';
    v_now text;
    v_read bigint := 0;
BEGIN
    PERFORM pg_temp.queue('f115', 0);
    FOR v_round IN 1..2
    LOOP
        FOR v_call IN 0..2
        LOOP
            PERFORM queen.push_many_v1('f115', array_agg(to_json(v_round)), '{p}', NULL, array_agg('key ' || v_call * 300 + k)) FROM generate_series(1, 300) k;
        END LOOP;
    END LOOP;
    PERFORM pg_temp.segment('f115', 'z=1');
    LOOP
        SELECT * INTO r FROM queen.log_compact_step_v1(pg_temp.lane('f115'), 10);
        EXIT WHEN r.done AND r.worked = 0;
        v_steps := v_steps + 1;
        v_read := v_read + r.frames_read;
        v_now := (SELECT concat_ws(' ', c.keyed_to, c.compacted_to, c.key_steps) FROM queen.log_compaction c WHERE c.partition_id = pg_temp.lane('f115'));
        ASSERT v_now <> v_upto AND v_steps < 50, format('F115: step %s is at %s', v_steps, v_now);
        v_upto := v_now;
    END LOOP;
    ASSERT v_read BETWEEN 1800 AND 1801, format('F115: each is read once: %s', v_read);
    ASSERT (SELECT sum(s.frames) = 901 AND count(*) FILTER (WHERE s.frames = 0) = 3 FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('f115')), 'F115: the newest of each key';
    ASSERT (SELECT count(*) = 901 FROM queen.log_keys k WHERE k.partition_id = pg_temp.lane('f115')), 'F115: keys';
END $$;

-- F107: steps of one segment, but for the keys noted; whoever reads between two of them never finds the old value last. F115: each step makes progress.
DO $$
DECLARE
    r queen.compact_row;
    v_last text;
    v_steps integer := 0;
BEGIN
    PERFORM pg_temp.queue('f107', 0);
    PERFORM pg_temp.segment('f107', 'a=1 b=1'), pg_temp.segment('f107', 'c=1'), pg_temp.segment('f107', 'a=null'), pg_temp.segment('f107', 'b=2'), pg_temp.segment('f107', 'z=1');
    LOOP
        SELECT * INTO r FROM queen.log_compact_step_v1(pg_temp.lane('f107'), 1);
        v_steps := v_steps + 1;
        PERFORM pg_temp.sound('f107');
        v_last := (SELECT m.payload::text FROM queen.read_v1('f107', 'p', 0, 100) m WHERE m.key = 'a' ORDER BY m."offset" DESC LIMIT 1);
        ASSERT coalesce(v_last, 'null') = 'null', 'the deleted value came back: ' || pg_temp.log('f107');
        EXIT WHEN r.done OR v_steps > 30;
    END LOOP;
    ASSERT pg_temp.log('f107') = '2:c=1 4:b=2 5:z=1' AND v_steps BETWEEN 5 AND 12, pg_temp.log('f107') || ' after ' || v_steps;
END $$;

-- All columns of a frame stay together; ids, stamps and running sums never change (I-17, T-3).
DO $$
DECLARE
    v_before text;
    v_after text;
BEGIN
    PERFORM pg_temp.queue('cols');
    PERFORM queen.log_push_v1(ARRAY['cols'], '{p}', '{4}', '{"{\"n\":0}",1,2,3}', ARRAY['t0', NULL, 't2', NULL], ARRAY['a', 'a', NULL, 'b'],
        p_trace_ids => ARRAY['00000000-0000-7000-8000-000000000001', NULL, '00000000-0000-7000-8000-000000000003', NULL]);
    PERFORM pg_temp.segment('cols', 'b=9');
    v_before := (SELECT string_agg(concat_ws(',', m.id, m."offset", m.transaction_id, m.key, m.payload, m.created_at), ' ' ORDER BY m."offset")
                 FROM queen.read_v1('cols', 'p', 0) m WHERE m."offset" NOT IN (0, 3));
    ASSERT pg_temp.compact('cols') = '4 2', 'two of four go';
    v_after := (SELECT string_agg(concat_ws(',', m.id, m."offset", m.transaction_id, m.key, m.payload, m.created_at), ' ' ORDER BY m."offset") FROM queen.read_v1('cols', 'p', 0) m);
    ASSERT v_after = v_before, v_after || ' is not ' || v_before;
    ASSERT (SELECT concat_ws(' ', s.transaction_ids::text, s.keys::text, s.trace_ids::text, s.offsets, s.orig_bytes > s.bytes) FROM queen.log_segments s
            WHERE s.partition_id = pg_temp.lane('cols') AND s.base_offset = 0) = '{NULL,t2} {a,NULL} {NULL,00000000-0000-7000-8000-000000000003} {1,2} t', 'columns';
END $$;

-- The latest value of a key: before the compactor came, after it noted the key, after it rewrote; tombstones; below the start.
DO $$
DECLARE
    v_stage integer;
BEGIN
    PERFORM pg_temp.queue('latest');
    ASSERT NOT EXISTS (SELECT FROM queen.get_latest_v1('latest', 'a', 'p')), 'no partition';
    PERFORM pg_temp.segment('latest', 'a=1 b=1 a=2 =x'), pg_temp.segment('latest', 'b=null c=1 c=2'), pg_temp.segment('latest', 'd=1');
    FOR v_stage IN 0 .. 3 LOOP
        ASSERT (SELECT concat_ws(' ', l.key, l.payload, l."offset", l.partition, l.id::text = l.transaction_id) FROM queen.get_latest_v1('latest', 'a', 'p') l) = 'a 2 2 p t', 'stage ' || v_stage;
        ASSERT NOT EXISTS (SELECT FROM queen.get_latest_v1('latest', 'b', 'p')), 'deleted, stage ' || v_stage;
        ASSERT (SELECT concat_ws(' ', l.payload, l."offset", l.id = m.id, l.created_at = m.created_at) FROM queen.get_latest_v1('latest', 'c', 'p') l
                JOIN queen.read_v1('latest', 'p', 0) m ON m."offset" = 6) = '2 6 t t', 'stage ' || v_stage;
        ASSERT NOT EXISTS (SELECT FROM queen.get_latest_v1('latest', 'z', 'p')) AND NOT EXISTS (SELECT FROM queen.get_latest_v1('latest', 'a')), 'another key, another partition';
        PERFORM queen.log_compact_step_v1(pg_temp.lane('latest'), 4);
    END LOOP;
    ASSERT pg_temp.log('latest') LIKE '2:a=2 3:="x"%', 'rewritten';
    PERFORM pg_temp.compact('latest');
    ASSERT pg_temp.log('latest') = '2:a=2 3:="x" 4:b=null 6:c=2 7:d=1', pg_temp.log('latest');
    PERFORM pg_temp.segment('latest', 'a=3 a=4');
    ASSERT (SELECT l.payload::text || l."offset" FROM queen.get_latest_v1('latest', 'a', 'p') l) = '49', 'newer than the map';
    PERFORM queen._move_log_start(pg_temp.lane('latest'), 7);
    ASSERT NOT EXISTS (SELECT FROM queen.get_latest_v1('latest', 'c', 'p')), 'the prefix took it';
    ASSERT (SELECT l.payload::text FROM queen.get_latest_v1('latest', 'd', 'p') l) = '1', 'not this one';
END $$;
ROLLBACK;
