-- Every reader over the gaps that compaction leaves: pop, ack, dead letters, fetch, seek, depth, browse, dedup, the prefix
-- (M-29, M-30, Z-6, F033, F111, F112, F113, F117, F119).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/compaction_readers.sql (on a migrated database).
BEGIN;
\ir lib/compaction.sql

-- What a pop of group g delivers: 'offset:key=payload' of each.
CREATE FUNCTION pg_temp.pop(p_queue text, p_batch integer, p_auto boolean DEFAULT true, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(m."offset" || ':' || coalesce(m.key, '') || '=' || m.payload::text, ' ' ORDER BY m."offset"), '')
    FROM queen.pop_v1(p_queue, p_batch, p_group, 'p', 60, p_auto) m
$$;
CREATE FUNCTION pg_temp.pending(p_queue text, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT (queen.log_queue_depth_v1(p_queue, p_group)->>'pending') || ' ' || (queen.log_queue_depth_v1(p_queue, p_group)->>'processing')
$$;
CREATE FUNCTION pg_temp.cursor(p_queue text, p_group text DEFAULT 'g') RETURNS bigint LANGUAGE sql AS $$
    SELECT c.committed FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue) AND c.consumer_group = p_group
$$;

-- F112: pending is what will be delivered, from the start, in the middle, at the end; F111: the group reaches the head.
DO $$
BEGIN
    PERFORM pg_temp.queue('f112', 0);
    PERFORM pg_temp.pop('f112', 1);
    FOR i IN 0 .. 9 LOOP
        PERFORM pg_temp.segment('f112', (SELECT string_agg('k' || k || '=' || i, ' ' ORDER BY k) FROM generate_series(0, 9) k));
    END LOOP;
    PERFORM pg_temp.segment('f112', 'k0=10 k9=null');
    ASSERT pg_temp.pending('f112') = '102 0', pg_temp.pending('f112');
    ASSERT pg_temp.compact('f112') = '100 8', pg_temp.compact('f112');
    ASSERT pg_temp.pending('f112') = '10 0', 'F112 at the start: ' || pg_temp.pending('f112');
    ASSERT (SELECT h.head_offset - h.log_start + 1 - h.removed_frames FROM queen.partition_head h WHERE h.id = pg_temp.lane('f112')) = 10, 'total';
    ASSERT pg_temp.pop('f112', 3) = '91:k1=9 92:k2=9 93:k3=9', 'over nine emptied segments';
    ASSERT pg_temp.cursor('f112') = 93 AND pg_temp.pending('f112') = '7 0', 'M-30: ' || pg_temp.pending('f112');
    ASSERT (SELECT (c.total, c.pending) = (10, 7) FROM queen._count_queues(clock_timestamp()) c JOIN queen.queues q ON q.id = c.queue_id WHERE q.name = 'f112'), 'F112: as the reconciler counts';
    ASSERT pg_temp.pop('f112', 100, false) = '94:k4=9 95:k5=9 96:k6=9 97:k7=9 98:k8=9 100:k0=10 101:k9=null', 'the rest';
    ASSERT pg_temp.pending('f112') = '7 7', 'processing: ' || pg_temp.pending('f112');
    PERFORM queen.ack_v1(pg_temp.lane('f112'), ARRAY(SELECT m.transaction_id FROM queen.read_v1('f112', 'p', 94) m), NULL, 'g');
    ASSERT pg_temp.cursor('f112') = 101 AND pg_temp.pending('f112') = '0 0', 'F111: nothing is owed at the head';
    -- A tombstone that was the newest message, gone once another came: the head is still reached.
    PERFORM pg_temp.segment('f112', '=x');
    ASSERT pg_temp.compact('f112') = '2 1' AND pg_temp.pending('f112') = '1 0', pg_temp.pending('f112');
    PERFORM queen.seek_consumer_group_v1('f112', 'g', p_timestamp => '2000-01-01T00:00:00Z');
    ASSERT pg_temp.pending('f112') = '10 0' AND pg_temp.pop('f112', 100) LIKE '91:%102:="x"', 'after a seek to the start';
    ASSERT pg_temp.pending('f112') = '0 0' AND pg_temp.pop('f112', 1) = '', 'and the head again';
END $$;

-- F117: neither what a live lease spans nor what a claim holds is rewritten; when it ends, it is. A slow group loses what it has
-- not read, unless minCompactionLagSeconds gives it time. The ack of what was delivered works.
DO $$
DECLARE
    v_lease text;
BEGIN
    PERFORM pg_temp.queue('f117');
    PERFORM pg_temp.segment('f117', 'a=0 a=1 a=2 a=3 a=4');
    PERFORM queen.pop_v1('f117', 1, 'late', 'p', 60, true);
    v_lease := (SELECT max(m.lease_id) FROM queen.pop_v1('f117', 5, 'g', 'p', 60) m);
    PERFORM pg_temp.segment('f117', 'a=5');
    ASSERT pg_temp.compact('f117') = '0 0', 'F117: leased: ' || pg_temp.log('f117');
    ASSERT pg_temp.log('f117') LIKE '0:a=0 1:a=1%', 'nothing went';
    ASSERT (SELECT bool_and(a.success AND a.lease_released) FROM queen.ack_v1(pg_temp.lane('f117'),
        ARRAY(SELECT m.transaction_id FROM queen.read_v1('f117', 'p', 0) m WHERE m."offset" < 5), v_lease, 'g') a), 'F117: the ack works';
    ASSERT pg_temp.compact('f117') = '5 0' AND pg_temp.log('f117') = '5:a=5', 'F117: after the lease';
    ASSERT pg_temp.pop('f117', 9) = '5:a=5' AND pg_temp.pop('f117', 9, true, 'late') = '5:a=5', 'the new message is delivered';
    -- A lease that ran out protects nothing, and the ack of a message that went moves the cursor all the same.
    PERFORM pg_temp.segment('f117', 'b=0 b=1'), pg_temp.segment('f117', 'b=2');
    v_lease := (SELECT max(m.lease_id) FROM queen.pop_v1('f117', 2, 'g', 'p', 60) m);
    UPDATE queen.log_consumers c SET lease_expires_at = clock_timestamp() - interval '1 s' WHERE c.worker_id = v_lease;
    ASSERT pg_temp.compact('f117') = '3 1' AND pg_temp.log('f117') = '5:a=5 8:b=2', pg_temp.log('f117');
    ASSERT (SELECT string_agg(a.success::text, ' ') FROM queen.ack_v1(pg_temp.lane('f117'),
        ARRAY(SELECT queen._frame_id(s.id_base, 1)::text FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('f117') AND s.base_offset = 6), NULL, 'g') a) = 'true', 'ack of what went';
    ASSERT pg_temp.cursor('f117') = 7 AND pg_temp.pop('f117', 9) = '8:b=2', 'it goes on behind the gap';
END $$;

-- F107: a lease keeps the old value where it is, so the tombstone above it stays too, however old.
DO $$
BEGIN
    PERFORM pg_temp.queue('f107', 0);
    PERFORM pg_temp.segment('f107', 'a=1'), pg_temp.segment('f107', 'b=1 b=2'), pg_temp.segment('f107', 'a=null'), pg_temp.segment('f107', 'z=1');
    ASSERT pg_temp.pop('f107', 1, false) = '0:a=1', 'leased';
    ASSERT pg_temp.compact('f107') = '2 1' AND pg_temp.log('f107') = '0:a=1 2:b=2 3:a=null 4:z=1', 'F107: ' || pg_temp.log('f107');
    PERFORM queen.ack_v1(c.partition_id, ARRAY(SELECT m.transaction_id FROM queen.read_v1('f107', 'p', 0, 1) m), c.worker_id, 'g')
    FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane('f107');
    ASSERT pg_temp.compact('f107') = '2 0' AND pg_temp.log('f107') = '2:b=2 4:z=1', 'afterwards both go: ' || pg_temp.log('f107');
END $$;

-- Ids that repeat: the ack means the occurrence that compaction left. Dead letters keep the key, also when they are moved back.
DO $$
DECLARE
    v_lease text;
BEGIN
    PERFORM pg_temp.queue('ids');
    UPDATE queen.queues SET dedup_window_seconds = 0, retry_limit = 0 WHERE name = 'ids';
    PERFORM queen.push_many_v1('ids', ARRAY['0', '1']::json[], ARRAY['p'], ARRAY['x', 'y'], ARRAY['a', 'b']);
    PERFORM queen.push_many_v1('ids', ARRAY['2', '3']::json[], ARRAY['p'], ARRAY['x', 'z'], ARRAY['a', 'c']);
    PERFORM pg_temp.segment('ids', 'n=1');
    ASSERT pg_temp.compact('ids') = '4 3' AND pg_temp.pop('ids', 3, false) = '1:b=1 2:a=2 3:c=3', 'delivered';
    v_lease := (SELECT c.worker_id FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane('ids') AND c.consumer_group = 'g');
    PERFORM queen.ack_v1(pg_temp.lane('ids'), ARRAY['y', 'x'], v_lease, 'g');
    ASSERT pg_temp.cursor('ids') = 2, 'T-6: x is the one at 2, not the one that went: ' || pg_temp.cursor('ids');
    ASSERT (SELECT a.dlq FROM queen.ack_v1(pg_temp.lane('ids'), '{z}', v_lease, 'g', 'failed') a), 'filed';
    ASSERT (SELECT concat_ws(' ', d."offset", d.key, d.payload, d.transaction_id) FROM queen.log_dlq d WHERE d.partition_id = pg_temp.lane('ids')) = '3 c 3 z', 'with its key';
    ASSERT (SELECT max(r.result) FROM queen.log_dlq d CROSS JOIN LATERAL queen.redrive_dead_letters_step_v1('ids') r) = 'moved', 'moved';
    ASSERT pg_temp.log('ids') = '1:b=1 2:a=2 3:c=3 4:n=1 5:c=3', 'a letter comes back under its key: ' || pg_temp.log('ids');
    ASSERT pg_temp.compact('ids') = '3 2' AND pg_temp.log('ids') = '1:b=1 2:a=2 4:n=1 5:c=3', 'and supersedes: ' || pg_temp.log('ids');
END $$;

-- F119: a message that went still makes its id a duplicate, and what asks for its offset is answered with what follows.
DO $$
DECLARE
    r record;
BEGIN
    PERFORM pg_temp.queue('f119');
    PERFORM queen.push_v1('f119', '1', 'p', 'X', 'a');
    PERFORM queen.push_v1('f119', '2', 'p', 'Y', 'a');
    PERFORM queen.push_v1('f119', '3', 'p', 'Z', 'z');
    ASSERT pg_temp.compact('f119') = '2 1' AND pg_temp.log('f119') = '1:a=2 2:z=3', pg_temp.log('f119');
    SELECT * INTO r FROM queen.push_v1('f119', '9', 'p', 'X', 'a');
    ASSERT r.status = 'duplicate' AND r."offset" = 0 AND r.message_id = (SELECT s.id_base FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('f119') AND s.base_offset = 0), 'F119: ' || r::text;
    ASSERT (SELECT string_agg(concat_ws(' ', f.error, f.high_watermark, f.log_start, f.first_offset, f.offsets, f.keys, f.payloads), '; ')
            FROM queen.log_fetch_v1('{f119}', '{p}', '{0}') f) = '3 0 0 {}; 3 0 1 {a} {2}; 3 0 2 {z} {3}', 'F119: a fetch of the named offset';
    ASSERT NOT EXISTS (SELECT FROM queen.get_message_v1(pg_temp.lane('f119'), 'X')) AND EXISTS (SELECT FROM queen.get_message_v1(pg_temp.lane('f119'), 'Y')), 'detail';
    ASSERT (SELECT string_agg(m.transaction_id, ' ' ORDER BY m."offset") FROM queen.list_messages_v1('f119') m) = 'Y Z', 'browse';
END $$;

-- The last value, the oldest pending, the probe of a delayed queue, and the last messages, over what was emptied.
DO $$
BEGIN
    PERFORM pg_temp.queue('read', 0);
    PERFORM pg_temp.segment('read', 'a=1', 500), pg_temp.segment('read', '=e f=1', 400), pg_temp.segment('read', 'f=2 f=3', 300), pg_temp.segment('read', 'a=2 f=4', 1);
    ASSERT pg_temp.compact('read') = '5 1' AND pg_temp.log('read') = '1:="e" 5:a=2 6:f=4', pg_temp.log('read');
    ASSERT (SELECT string_agg(m."offset"::text, ' ') FROM queen.read_v1('read', 'p', NULL, 2) m) = '5 6', 'the last two';
    ASSERT (SELECT string_agg(m."offset"::text, ' ') FROM queen.read_v1('read', 'p', NULL, 3) m) = '1 5 6', 'the last three';
    ASSERT (SELECT string_agg(m."offset"::text, ' ') FROM queen.read_v1('read', 'p', NULL, 4) m) = '1 5 6', 'there are no four';
    ASSERT (SELECT round(extract(epoch FROM clock_timestamp() - queen._oldest_pending_at(x.id, 0, x.at))) FROM (SELECT pg_temp.lane('read') AS id, 0 AS at) x) = 400, 'oldest from 0';
    ASSERT (SELECT round(extract(epoch FROM clock_timestamp() - queen._oldest_pending_at(x.id, 0, x.at))) FROM (SELECT pg_temp.lane('read') AS id, 2 AS at) x) = 1, 'oldest from 2, where its segment has nothing any more';
    -- 200 s: the visible part behind offset 1 was compacted away, so nothing is promised, nothing delivered, nothing leased (F033).
    UPDATE queen.queues SET delayed_processing = 200 WHERE name = 'read';
    ASSERT pg_temp.pop('read', 9) = '1:="e"' AND pg_temp.pop('read', 9) = '' AND pg_temp.cursor('read') = 1, 'delayed';
    ASSERT NOT EXISTS (SELECT FROM queen.log_pending_v1('{read}', '{p}', '{g}', ARRAY[NULL]::uuid[])), 'the probe agrees';
    ASSERT (SELECT count(*) FROM queen.pop_v1('read', 1, 'c', 'p', 60, false, NULL, 'all', NULL, true) m WHERE m."offset" = 1) = 1, 'the last visible value is the one at 1';
    UPDATE queen.queues SET delayed_processing = 0 WHERE name = 'read';
    ASSERT EXISTS (SELECT FROM queen.log_pending_v1('{read}', '{p}', '{g}', ARRAY[NULL]::uuid[])) AND pg_temp.pop('read', 9) = '5:a=2 6:f=4', 'not delayed';
END $$;

-- The ids of a doubtful push, after some of its messages went.
DO $$
BEGIN
    PERFORM pg_temp.queue('doubt', 0);
    PERFORM queen.log_push_v1('{doubt}', '{p}', '{4}', '{0,1,2,3}', ARRAY['i', NULL, NULL, 'k'], ARRAY['a', 'b', 'c', 'd'], '{77}');
    PERFORM pg_temp.segment('doubt', 'a=9 b=9');
    ASSERT pg_temp.compact('doubt') = '4 2', 'compacted';
    ASSERT (SELECT concat_ws(' ', f.frames, f.transaction_ids[1] = E'\x01', f.transaction_ids[2:4]) FROM queen.log_find_pushes_v1('{doubt}', '{p}', '{77}', 60) f) = '4 t {NULL,NULL,k}', 'the place of each is known';
END $$;

-- The prefix takes its share of the account; keys below the log start mean nothing and are forgotten. F033, F113.
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM pg_temp.queue('prefix', 0, 0, 'compact,delete');
    PERFORM pg_temp.segment('prefix', 'a=1 b=1 c=1'), pg_temp.segment('prefix', 'a=2 d=1'), pg_temp.segment('prefix', 'a=3 e=1'), pg_temp.segment('prefix', 'z=1');
    v_id := pg_temp.lane('prefix');
    ASSERT pg_temp.compact('prefix') = '7 5' AND pg_temp.log('prefix') = '1:b=1 2:c=1 4:d=1 5:a=3 6:e=1 7:z=1', pg_temp.log('prefix');
    PERFORM queen._move_log_start(v_id, 3);
    PERFORM pg_temp.sound('prefix');
    ASSERT (SELECT (p.log_start, p.removed_frames) = (3, 1) FROM queen.log_partitions p WHERE p.id = v_id), 'its share went';
    ASSERT pg_temp.pop('prefix', 1) = '4:d=1', 'F033: from the start of the log';
    PERFORM queen._move_log_start(v_id, 5);
    PERFORM pg_temp.sound('prefix');
    ASSERT (SELECT (p.log_start, p.removed_frames, p.removed_bytes) = (5, 0, 0) FROM queen.log_partitions p WHERE p.id = v_id), 'nothing of it is left';
    ASSERT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = v_id), 'due: keys below the start';
    ASSERT pg_temp.compact('prefix') = '0 0', 'nothing to judge below the start';
    ASSERT (SELECT array_agg(k.key) FROM queen.log_keys k WHERE k.partition_id = v_id) = '{a,e,z}', 'pruned';
    ASSERT NOT EXISTS (SELECT FROM queen.log_compact_due_v1() d WHERE d.partition_id = v_id), 'F113: idle afterwards';
    -- A key whose only message the prefix took is pushed again.
    PERFORM pg_temp.segment('prefix', 'b=2');
    ASSERT pg_temp.compact('prefix') = '1 1' AND pg_temp.log('prefix') = '5:a=3 6:e=1 7:z=1 8:b=2', pg_temp.log('prefix');
    PERFORM queen._move_log_start(v_id, 100);
    PERFORM pg_temp.sound('prefix');
    ASSERT (SELECT (p.log_start, p.last_offset, p.removed_frames, p.removed_bytes) = (9, 8, 0, 0) FROM queen.log_partitions p WHERE p.id = v_id), 'emptied';
    ASSERT pg_temp.compact('prefix') = '0 0', 'nothing to judge';
    ASSERT NOT EXISTS (SELECT FROM queen.log_keys k WHERE k.partition_id = v_id), 'no key is left';
    ASSERT pg_temp.pop('prefix', 9) = '', 'F033: an empty pop';
    PERFORM pg_temp.segment('prefix', 'a=1');
    ASSERT pg_temp.pop('prefix', 9) = '9:a=1' AND pg_temp.compact('prefix') = '0 0', 'F033: the next message comes at once';
    -- Stale rows of the map that nobody pruned are harmless.
    INSERT INTO queen.log_keys VALUES (v_id, 'b', 8, 8), (v_id, 'q', 3, 3);
    PERFORM pg_temp.segment('prefix', 'b=3 q=1'), pg_temp.segment('prefix', 'z=2');
    ASSERT pg_temp.compact('prefix') = '3 3' AND pg_temp.log('prefix') = '9:a=1 10:b=3 11:q=1 12:z=2', pg_temp.log('prefix');
    -- Nothing is left behind when the queue goes.
    PERFORM queen.delete_queue_v1('prefix');
END $$;
ROLLBACK;
