-- The steps of retention, eviction and hash purge on one partition, with cut-offs that the test injects.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/retention_steps.sql (on a migrated database).
BEGIN;
SET LOCAL client_min_messages = warning;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
-- A time of the tests: so many seconds after a fixed instant.
CREATE FUNCTION pg_temp.at(p_seconds numeric) RETURNS timestamptz LANGUAGE sql AS $$
    SELECT '2020-01-01T00:00:00Z'::timestamptz + make_interval(secs => p_seconds)
$$;
-- One segment for each stamp, of p_frames messages of 5 bytes.
CREATE FUNCTION pg_temp.log(p_queue text, p_stamps numeric[], p_frames integer DEFAULT 1) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
BEGIN
    FOR i IN 1 .. cardinality(p_stamps) LOOP
        PERFORM queen.log_push_v1(ARRAY[p_queue], ARRAY['p'], ARRAY[p_frames], array_fill('12345'::text, ARRAY[p_frames]));
    END LOOP;
    v_id := pg_temp.lane(p_queue);
    UPDATE queen.log_segments s SET created_at = pg_temp.at(p_stamps[s.base_offset / p_frames + 1]) WHERE s.partition_id = v_id;
    UPDATE queen.log_txns s SET created_at = pg_temp.at(p_stamps[s.base_offset / p_frames + 1]) WHERE s.partition_id = v_id;
    UPDATE queen.log_partitions p SET oldest_live_at = pg_temp.at(p_stamps[1]), oldest_txn_at = pg_temp.at(p_stamps[1]) WHERE p.id = v_id;
    RETURN v_id;
END $$;
CREATE FUNCTION pg_temp.step(p_id uuid, p_age numeric DEFAULT NULL, p_completed numeric DEFAULT NULL, p_bytes bigint DEFAULT NULL,
    p_messages bigint DEFAULT NULL, p_rows integer DEFAULT 1000) RETURNS queen.retention_step_row LANGUAGE sql AS $$
    SELECT * FROM queen.log_retention_step_v1(p_id, pg_temp.at(p_age), pg_temp.at(p_completed), p_bytes, p_messages, p_max_rows => p_rows)
$$;
-- Steps until done; answers log_start. A step that says neither done nor that it worked would go on for ever (R-20).
CREATE FUNCTION pg_temp.sweep(p_id uuid, p_age numeric DEFAULT NULL, p_completed numeric DEFAULT NULL, p_bytes bigint DEFAULT NULL,
    p_messages bigint DEFAULT NULL, p_rows integer DEFAULT 1000) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    r queen.retention_step_row;
BEGIN
    LOOP
        r := pg_temp.step(p_id, p_age, p_completed, p_bytes, p_messages, p_rows);
        ASSERT r.segments <= p_rows AND r.reclaimed <= p_rows, 'R-16: bounded';
        EXIT WHEN r.done;
        ASSERT r.segments + r.reclaimed > 0, 'R-18: nothing done means done';
    END LOOP;
    ASSERT r.segments = 0, 'R-18: done when nothing was taken';
    ASSERT NOT EXISTS (SELECT FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id
        WHERE p.id = p_id AND s.base_offset < p.log_start), 'design 3.2 rule 5: no hidden row is left when done';
    PERFORM pg_temp.exact(p_id);
    RETURN r.log_start;
END $$;
-- Design 3.2 rule 7, T-9, T-10: the formulas equal a recount.
CREATE FUNCTION pg_temp.exact(p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT h.head_offset, h.log_start, h.removed_frames, h.removed_bytes, h.head_cum, p.oldest_live_at, p.reclaimed_to,
           x.first, x.first_at, coalesce(x.frames, 0) AS frames, coalesce(x.bytes, 0) AS bytes, x.before
    INTO r
    FROM queen.partition_head h JOIN queen.log_partitions p USING (id)
    CROSS JOIN LATERAL (
        SELECT min(s.base_offset) AS first, min(s.created_at) FILTER (WHERE s.base_offset = f.base_offset) AS first_at, sum(s.frames) AS frames,
               sum(s.bytes) AS bytes, min(s.cum_bytes - s.orig_bytes) AS before
        FROM queen.log_segments s,
             LATERAL (SELECT min(m.base_offset) AS base_offset FROM queen.log_segments m WHERE m.partition_id = h.id AND m.base_offset >= h.log_start) f
        WHERE s.partition_id = h.id AND s.base_offset >= h.log_start) x
    WHERE h.id = p_id;
    ASSERT r.head_offset - r.log_start + 1 - r.removed_frames = r.frames, format('design 3.2 rule 7: total, %s', r);
    ASSERT r.frames = 0 AND r.first IS NULL OR r.head_cum - r.before - r.removed_bytes = r.bytes, format('design 3.2 rule 7: size, %s', r);
    ASSERT r.log_start = coalesce(r.first, r.head_offset + 1), format('T-9: log_start is the first live base or head + 1, %s', r);
    ASSERT r.oldest_live_at IS NOT DISTINCT FROM r.first_at, format('T-10: oldest_live_at, %s', r);
    ASSERT r.reclaimed_to <= r.log_start, format('watermarks are in order, %s', r);
END $$;
-- The history of a partition as text: type frames/unread/bytes/rows first-last.
CREATE FUNCTION pg_temp.history(p_id uuid) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s %s/%s/%s/%s %s-%s', h.retention_type, h.messages_deleted, h.unread_deleted, h.bytes_deleted, h.rows_deleted, h.first_offset, h.last_offset),
        ', ' ORDER BY h.first_offset)
    FROM queen.retention_history h JOIN queen.log_partitions p ON p.id = h.partition_id AND p.queue_id = h.queue_id
    JOIN queen.queues q ON q.id = h.queue_id AND q.tenant_id = h.tenant_id
    WHERE h.partition_id = p_id
$$;
CREATE FUNCTION pg_temp.cursor(p_id uuid, p_group text, p_committed bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) VALUES (p_id, p_group, p_committed)
    ON CONFLICT (partition_id, consumer_group) DO UPDATE SET committed = EXCLUDED.committed
$$;
CREATE FUNCTION pg_temp.error_of(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_detail text;
BEGIN
    EXECUTE p_sql;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(' ', SQLSTATE, v_detail);
END $$;

-- Age: the vectors of the chapter, and the prefix rule.
DO $$
DECLARE
    v_id uuid;
    r queen.retention_step_row;
BEGIN
    v_id := pg_temp.log('v1', '{0,50,150,250}');
    r := pg_temp.step(v_id, 200);
    ASSERT r = (3, 3, 15, 3, 0, 3, false)::queen.retention_step_row, 'V-1: bases 0, 1, 2 go, log start 3, R-18: ' || r::text;
    PERFORM pg_temp.exact(v_id);
    ASSERT (SELECT count(*) = 4 FROM queen.log_segments WHERE partition_id = v_id), 'design 3.2 rule 5: hidden under the lock, deleted later';
    ASSERT pg_temp.history(v_id) = 'retention 3/3/15/3 0-2', 'R-17, R-22, F101: ' || pg_temp.history(v_id);
    r := pg_temp.step(v_id, 200);
    ASSERT r = (0, 0, 0, 0, 3, 3, true)::queen.retention_step_row, 'the rows go with the next step: ' || r::text;
    ASSERT (SELECT array_agg(s.base_offset) = '{3}' FROM queen.log_segments s WHERE s.partition_id = v_id), 'V-1, M-14: base 3 is what is left';
    ASSERT (SELECT p.reclaimed_to = 3 FROM queen.log_partitions p WHERE p.id = v_id), 'nothing left to reclaim';
    ASSERT pg_temp.step(v_id, 200) = (0, 0, 0, 0, 0, 3, true)::queen.retention_step_row AND pg_temp.history(v_id) LIKE 'retention 3/%' AND pg_temp.history(v_id) NOT LIKE '%,%', 'R-14: nothing, done, no second history row';

    v_id := pg_temp.log('x1', '{250,0,0,260}');
    ASSERT pg_temp.step(v_id, 200) = (0, 0, 0, 0, 0, 0, true)::queen.retention_step_row, 'X-1, M-7, M-8, F089: the walk stops at the first';
    ASSERT pg_temp.step(v_id, 200, 200) = (0, 0, 0, 0, 0, 0, true)::queen.retention_step_row AND pg_temp.history(v_id) IS NULL, 'X-1: no history without a delete';
    -- Stamps that run backwards inside the prefix: up to the first young one, no hole.
    v_id := pg_temp.log('back', '{100,0,210,0,300}');
    ASSERT pg_temp.sweep(v_id, 200) = 2, 'M-8: a later, older segment stays behind a young one';
    -- A first segment from the future blocks what is behind it; nothing fails (F089).
    v_id := pg_temp.log('future', '{320000000,0,0}');
    ASSERT pg_temp.sweep(v_id, 200) = 0, 'F089: never a hole';

    v_id := pg_temp.log('edge', '{100,200,300}');
    ASSERT pg_temp.sweep(v_id, 200) = 1, 'R-11, M-7: a stamp equal to the cut-off is young enough';
    ASSERT pg_temp.sweep(v_id, 200.000001) = 2, 'M-7: strictly older goes';
    v_id := pg_temp.log('z1', '{100,200}');
    ASSERT pg_temp.sweep(v_id, -1000000) = 0 AND pg_temp.sweep(v_id) = 0, 'Z-1, R-9: a cut-off before everything, and no cut-off at all';

    v_id := pg_temp.log('all', '{0,1,2}', 4);
    r := pg_temp.step(v_id, 100);
    ASSERT (r.segments, r.frames, r.log_start) = (3, 12, 12), 'R-11: past the highest end offset: ' || r::text;
    PERFORM pg_temp.exact(v_id);
    ASSERT (SELECT (s.base_offset) FROM queen.log_push_v1('{all}', '{p}', '{1}', '{1}') s) = 12, 'E-18: offsets go on';
    ASSERT pg_temp.sweep(v_id, 100) = 12, 'what is new stays';
    ASSERT pg_temp.history(v_id) = 'retention 12/12/60/3 0-11', 'F101: frames, not rows';
    ASSERT (SELECT x.segments = 0 AND x.log_start IS NULL AND x.done FROM queen.log_retention_step_v1(gen_random_uuid(), now()) x), 'R-19: a vanished partition';
    ASSERT (SELECT x.segments = 0 AND x.log_start IS NULL AND x.done FROM queen.log_retention_step_v1(NULL, now()) x), 'R-19: none';
END $$;

-- Bounded: the horizon.
DO $$
DECLARE
    v_id uuid := pg_temp.log('many', (SELECT array_agg(i) FROM generate_series(1, 23) i), 2);
    r queen.retention_step_row;
    v_steps integer := 0;
BEGIN
    ASSERT (SELECT c.clipped AND (c.segments, c.boundary) = (5, 10) FROM queen._retention_cut(v_id, pg_temp.at(15), NULL, NULL, NULL, NULL, NULL, 5) c), 'R-13: clipped at the horizon';
    ASSERT (SELECT NOT c.clipped AND (c.segments, c.boundary) = (14, 28) FROM queen._retention_cut(v_id, pg_temp.at(15), NULL, NULL, NULL, NULL, NULL, 1000) c), 'R-11: not clipped';
    LOOP
        r := pg_temp.step(v_id, 15, p_rows => 5);
        EXIT WHEN r.done;
        v_steps := v_steps + 1;
        ASSERT r.segments <= 5 AND r.reclaimed <= 5, 'R-10, R-16: at most so many rows';
        PERFORM pg_temp.exact(v_id);
    END LOOP;
    ASSERT v_steps = 3 AND r.log_start = 28, format('R-13, R-20: 5, 5, 4 segments, then the rows of the last: %s steps, %s', v_steps, r);
    ASSERT pg_temp.history(v_id) = 'retention 10/10/50/5 0-9, retention 10/10/50/5 10-19, retention 8/8/40/4 20-27', 'R-23: a row for each step that deleted: ' || pg_temp.history(v_id);
    ASSERT pg_temp.sweep(v_id, 100, p_rows => 1) = 46, 'one at a time';
    v_id := pg_temp.log('odd', '{1,2,3}');
    ASSERT (pg_temp.step(v_id, 100, p_rows => 0)).segments = 1, 'p_max_rows below 1 is 1';
    ASSERT (pg_temp.step(v_id, 100, p_rows => -2147483648)).segments = 1 AND (pg_temp.step(v_id, 100, p_rows => 2147483647)).segments = 1, 'no bound makes it fail';
    -- A crash between the move and the delete: whoever comes next goes on where it was left, whatever it looks for.
    v_id := pg_temp.log('left', '{1,2,3,4}');
    PERFORM pg_temp.step(v_id, 100);
    ASSERT (SELECT count(*) = 4 FROM queen.log_segments WHERE partition_id = v_id), 'hidden';
    ASSERT pg_temp.sweep(v_id, p_rows => 1) = 4, 'a step without a cut-off hides nothing';
    ASSERT NOT EXISTS (SELECT FROM queen.log_segments WHERE partition_id = v_id), 'design 3.2 rule 5: reclaimed without a cut-off';
END $$;

-- Consumed: the slowest cursor caps, whole segments only.
DO $$
DECLARE
    v_id uuid := pg_temp.log('done', '{0,1,2,3,4}', 2);
    r queen.retention_step_row;
    v_lease record;
BEGIN
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 0, 'R-4, F080: without a cursor nothing is consumed';
    SELECT * INTO v_lease FROM queen.log_pop_v1('done', 'p', 'b', 10);
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 0, 'F080: popped is not consumed';
    PERFORM pg_temp.cursor(v_id, 'b', 4);
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 4, 'R-5, F080: whole segments below the cap; the covering one stays';
    ASSERT pg_temp.history(v_id) = 'completed_retention 4/0/20/2 0-3', 'R-22, F087: nothing unread: ' || pg_temp.history(v_id);
    PERFORM pg_temp.cursor(v_id, 'b', 9);
    PERFORM pg_temp.cursor(v_id, '__QUEUE_MODE__', 5);
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 6, 'R-3, T-11: every group caps, the queue mode one too';
    PERFORM pg_temp.cursor(v_id, '__QUEUE_MODE__', 9);
    ASSERT pg_temp.sweep(v_id, NULL, 3.5) = 8, 'R-12: the smaller of cap and age';
    PERFORM pg_temp.cursor(v_id, 'gone', -1);
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 8, 'F085: an abandoned group pins';
    PERFORM queen.delete_consumer_group_v1('gone', 'done');
    ASSERT pg_temp.sweep(v_id, NULL, 100) = 10, 'F085: and does not once it is deleted';

    -- Both rules: the type is that of the one that went further.
    v_id := pg_temp.log('both', '{0,1,2,3,4,5}');
    PERFORM pg_temp.cursor(v_id, 'g', 3);
    PERFORM pg_temp.sweep(v_id, 2, 10);
    ASSERT pg_temp.history(v_id) = 'completed_retention 4/0/20/4 0-3', 'R-22: moved beyond rule 1: ' || pg_temp.history(v_id);
    v_id := pg_temp.log('both2', '{0,1,2,3,4,5}');
    PERFORM pg_temp.cursor(v_id, 'g', 1);
    PERFORM pg_temp.sweep(v_id, 4, 10);
    ASSERT pg_temp.history(v_id) = 'retention 4/2/20/4 0-3', 'R-2, R-22, F087: read or not, and what was not is counted: ' || pg_temp.history(v_id);
    v_id := pg_temp.log('both3', '{0,1,2}');
    PERFORM pg_temp.cursor(v_id, 'g', 1);
    PERFORM pg_temp.sweep(v_id, 2, 10);
    ASSERT pg_temp.history(v_id) = 'retention 2/0/10/2 0-1', 'R-22: not beyond: ' || pg_temp.history(v_id);
    -- Rule 1 in the middle of what rule 2 keeps, and a segment that some have read to its middle.
    v_id := pg_temp.log('half', '{0,1,2}', 3);
    PERFORM pg_temp.cursor(v_id, 'g', 4);
    PERFORM pg_temp.sweep(v_id, 100);
    ASSERT pg_temp.history(v_id) = 'retention 9/4/45/3 0-8', 'F087: unread frames of a segment: ' || pg_temp.history(v_id);
END $$;

-- Size: the same prefix, behind what time chose; the newest segment stays.
DO $$
DECLARE
    v_id uuid := pg_temp.log('size', '{0,1,2,3,4}', 2);
BEGIN
    ASSERT pg_temp.sweep(v_id, p_bytes => 50) = 0 AND pg_temp.sweep(v_id, p_messages => 10) = 0, 'M-9: what fits stays';
    ASSERT pg_temp.sweep(v_id, p_bytes => 49) = 2, 'M-9, M-18: until all that remains, the newest included, fits';
    ASSERT pg_temp.sweep(v_id, p_messages => 5) = 6, 'M-9: whole segments: 4 messages remain';
    ASSERT pg_temp.history(v_id) = 'retention_bytes 2/2/10/1 0-1, retention_messages 4/4/20/2 2-5', pg_temp.history(v_id);
    ASSERT pg_temp.sweep(v_id, p_bytes => 1, p_messages => 1) = 8, 'M-2, M-11: the newest segment never goes by size';
    ASSERT pg_temp.sweep(v_id, p_bytes => 1) = 8 AND pg_temp.sweep(v_id, p_messages => 1) = 8, 'Z-2: only the newest is left';
    ASSERT pg_temp.sweep(v_id, p_bytes => 0, p_messages => 0) = 8 AND pg_temp.sweep(v_id, p_bytes => -5, p_messages => -5) = 8, 'zero and less are off';

    v_id := pg_temp.log('mix', '{0,1,2,3,4,5}');
    PERFORM pg_temp.cursor(v_id, 'g', 2);
    ASSERT pg_temp.sweep(v_id, 2, p_messages => 3) = 3, 'M-10: one prefix';
    ASSERT pg_temp.history(v_id) = 'retention 2/0/10/2 0-1, retention_messages 1/0/5/1 2-2', 'M-9: time chooses first, size extends: ' || pg_temp.history(v_id);
    ASSERT pg_temp.sweep(v_id, 4.5, p_messages => 2) = 5, 'M-10: size never shortens what time chose';
    v_id := pg_temp.log('two', '{0,1,2,3,4,5}');
    ASSERT pg_temp.sweep(v_id, p_bytes => 20, p_messages => 3) = 3 AND pg_temp.history(v_id) = 'retention_messages 3/3/15/3 0-2', 'the limit that asks for more is named: ' || pg_temp.history(v_id);
    ASSERT pg_temp.sweep(v_id, p_bytes => 10, p_messages => 2) = 4 AND pg_temp.history(v_id) LIKE '%, retention_bytes 1/1/5/1 3-3', 'a tie: ' || pg_temp.history(v_id);
    -- Bounded, too.
    v_id := pg_temp.log('big', (SELECT array_agg(i) FROM generate_series(1, 20) i));
    ASSERT (pg_temp.step(v_id, p_messages => 3, p_rows => 4)).segments = 4, 'R-16: at most so many rows by size';
    ASSERT (pg_temp.step(v_id, 7, p_messages => 3, p_rows => 4)).segments = 4, 'R-16: and by both';
    ASSERT pg_temp.sweep(v_id, p_messages => 3, p_rows => 4) = 17, 'then the rest';
    ASSERT pg_temp.sweep(v_id, p_bytes => 9223372036854775807, p_messages => 9223372036854775807) = 17, 'no limit makes it fail';
END $$;

-- Compaction took frames out: the share of the prefix goes with it, counts are of what was there.
DO $$
DECLARE
    v_id uuid := pg_temp.log('compacted', '{0,1,2,3,4}', 4);
BEGIN
    UPDATE queen.log_segments s SET payloads = s.payloads[1:1], offsets = ARRAY[s.base_offset + 2], frames = 1, bytes = 5
    WHERE s.partition_id = v_id AND s.base_offset IN (0, 8);
    UPDATE queen.log_segments s SET payloads = '{}', offsets = '{}', frames = 0, bytes = 0 WHERE s.partition_id = v_id AND s.base_offset = 4;
    UPDATE queen.log_partitions p SET removed_frames = 10, removed_bytes = 50 WHERE p.id = v_id;
    PERFORM pg_temp.exact(v_id);
    PERFORM pg_temp.cursor(v_id, 'g', 1);
    ASSERT pg_temp.sweep(v_id, 1) = 4, 'design 5 item 1: exact after a part of the compacted prefix';
    ASSERT pg_temp.history(v_id) = 'retention 1/1/5/1 0-3', 'F101: messages that were there, F087 by their offsets: ' || pg_temp.history(v_id);
    ASSERT pg_temp.sweep(v_id, p_bytes => 45, p_messages => 9) = 4, 'size counts what is there: 9 messages of 45 bytes';
    ASSERT pg_temp.sweep(v_id, p_messages => 8) = 12, 'an empty segment frees nothing, the next one does';
    ASSERT (SELECT (p.removed_frames, p.removed_bytes) = (0, 0) FROM queen.log_partitions p WHERE p.id = v_id), 'nothing removed is left above the start';
    ASSERT pg_temp.sweep(v_id, 100) = 20, 'all of it';
    -- A prefix without any frame at all.
    v_id := pg_temp.log('emptied', '{0,1}', 2);
    UPDATE queen.log_segments s SET payloads = '{}', offsets = '{}', frames = 0, bytes = 0 WHERE s.partition_id = v_id AND s.base_offset = 0;
    UPDATE queen.log_partitions p SET removed_frames = 2, removed_bytes = 10 WHERE p.id = v_id;
    ASSERT pg_temp.sweep(v_id, 1) = 2 AND pg_temp.history(v_id) = 'retention 0/0/0/1 0-1', 'Z-6: a correct log start: ' || pg_temp.history(v_id);
END $$;

-- Eviction: for every group, leased or not; no dead letter, and a cursor below goes on at what is there.
DO $$
DECLARE
    v_id uuid := pg_temp.log('evict', '{0,1,2,3}', 2);
    r queen.retention_step_row;
    v_lease text;
BEGIN
    SELECT x.lease_id INTO v_lease FROM queen.log_pop_v1('evict', 'p', 'g', 4, p_lease_seconds => 600) x LIMIT 1;
    SELECT * INTO r FROM queen.log_evict_max_wait_step_v1(v_id, pg_temp.at(3));
    ASSERT (r.segments, r.frames, r.unread, r.log_start, r.done) = (3, 6, 6, 6, false), 'R-7, R-21: leased ones too: ' || r::text;
    SELECT * INTO r FROM queen.log_evict_max_wait_step_v1(v_id, pg_temp.at(3));
    ASSERT (r.reclaimed, r.done) = (3, true), r::text;
    PERFORM pg_temp.exact(v_id);
    ASSERT pg_temp.history(v_id) = 'max_wait_time_eviction 6/6/30/3 0-5', 'R-22: ' || pg_temp.history(v_id);
    ASSERT NOT EXISTS (SELECT FROM queen.log_dlq), 'R-7: no dead letter';
    -- F087: the late ack is answered and moves nothing back; the group goes on at the next offset.
    PERFORM queen.log_ack_upto_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{1}');
    ASSERT (SELECT c.committed FROM queen.log_consumers c WHERE c.partition_id = v_id) = 1, 'F087: the cursor moved, forwards';
    UPDATE queen.log_consumers c SET lease_expires_at = now() - interval '1 s' WHERE c.partition_id = v_id;
    ASSERT (SELECT min(x.first_offset) FROM queen.log_pop_v1('evict', 'p', 'g', 10) x) = 6, 'R-7: continues at the next existing offset';
    ASSERT (SELECT x.done AND x.segments = 0 FROM queen.log_evict_max_wait_step_v1(v_id, NULL) x), 'no cut-off takes nothing';
END $$;

-- The hash sidecar: its own watermark, its own clock, no history.
DO $$
DECLARE
    v_id uuid := pg_temp.log('hash', '{0,1,2,3,4,5}', 3);
    r queen.retention_step_row;
BEGIN
    SELECT * INTO r FROM queen.log_purge_hashes_step_v1(v_id, pg_temp.at(4), 3);
    ASSERT (r.segments, r.frames, r.reclaimed, r.log_start, r.done) = (3, 9, 0, 0, false), 'R-24: clipped: ' || r::text;
    ASSERT (SELECT p.txns_start = 9 AND p.oldest_txn_at = pg_temp.at(3) AND p.log_start = 0 FROM queen.log_partitions p WHERE p.id = v_id), 'R-24, T-10: txns_start moves, log_start does not';
    ASSERT (SELECT count(*) = 6 FROM queen.log_txns WHERE partition_id = v_id), 'hidden, not yet deleted';
    SELECT * INTO r FROM queen.log_purge_hashes_step_v1(v_id, pg_temp.at(4), 3);
    ASSERT (r.segments, r.reclaimed, r.done) = (1, 3, false), 'R-24: equal is young enough: ' || r::text;
    SELECT * INTO r FROM queen.log_purge_hashes_step_v1(v_id, pg_temp.at(4), 3);
    ASSERT (r.segments, r.reclaimed, r.done) = (0, 1, true), r::text;
    ASSERT (SELECT array_agg(t.base_offset ORDER BY 1) = '{12,15}' FROM queen.log_txns t WHERE t.partition_id = v_id), 'R-24: a whole prefix';
    ASSERT (SELECT count(*) = 6 FROM queen.log_segments WHERE partition_id = v_id), 'messages stay';
    PERFORM queen.log_purge_hashes_step_v1(v_id, now());
    PERFORM queen.log_purge_hashes_step_v1(v_id, now());
    ASSERT (SELECT p.txns_start = 18 AND p.oldest_txn_at IS NULL AND p.txns_reclaimed_to = 18 FROM queen.log_partitions p WHERE p.id = v_id), 'T-10: empty';
    ASSERT NOT EXISTS (SELECT FROM queen.log_txns WHERE partition_id = v_id), 'all gone';
    ASSERT pg_temp.history(v_id) IS NULL, 'R-27: no history';
    -- The push after it makes the sidecar live again, and ids are new.
    PERFORM queen.log_push_v1('{hash}', '{p}', '{1}', '{1}', '{a}');
    ASSERT (SELECT p.oldest_txn_at = t.created_at AND t.base_offset = 18 FROM queen.log_partitions p JOIN queen.log_txns t ON t.partition_id = p.id WHERE p.id = v_id), 'T-10, E-24';
    ASSERT (SELECT x.status = 'duplicate' FROM queen.log_push_v1('{hash}', '{p}', '{1}', '{1}', '{a}') x), 'and remembers';
    PERFORM queen.log_purge_hashes_step_v1(v_id, now() + interval '1 minute');
    ASSERT (SELECT x.status = 'queued' FROM queen.log_push_v1('{hash}', '{p}', '{1}', '{1}', '{a}') x), 'P-18: a purged id is forgotten, before its row is deleted';
    ASSERT (SELECT x.done AND x.log_start IS NULL FROM queen.log_purge_hashes_step_v1(gen_random_uuid(), now()) x), 'R-19';
    -- Stamps that run backwards stop it, too.
    v_id := pg_temp.log('hashback', '{250,0,0}');
    ASSERT (SELECT x.done AND x.segments = 0 FROM queen.log_purge_hashes_step_v1(v_id, pg_temp.at(200)) x), 'X-1 for hashes';
END $$;

-- Idle groups hold nothing back, when they are idle indeed.
DO $$
DECLARE
    v_id uuid := pg_temp.log('idle', '{0,1,2,3}');
    v_queue uuid := (SELECT q.id FROM queen.queues q WHERE q.name = 'idle');
    v_before timestamptz := clock_timestamp() - interval '300 s';
BEGIN
    PERFORM pg_temp.cursor(v_id, 'fast', 3), pg_temp.cursor(v_id, 'slow', 0);
    DELETE FROM queen.group_activity WHERE queue_id = v_queue;
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) = 0, 'a missing row means active now';
    INSERT INTO queen.group_activity VALUES (v_queue, 'slow', 1, v_before - interval '1 s', v_before);
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) = 3, 'idle: it does not cap';
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, true) = 3, 'nor for a preview';
    ASSERT queen._slowest_active(v_id, v_queue, NULL, v_before, false) = 0 AND queen._slowest_active(v_id, v_queue, '{}', NULL, false) = 0, 'only groups that the caller names';
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', NULL, false) = 0, 'and with a bound';
    UPDATE queen.log_consumers c SET worker_id = 'w', batch_end = 1, lease_expires_at = now() + interval '1 minute' WHERE c.partition_id = v_id AND c.consumer_group = 'slow';
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) = 0, 'a live lease counts as activity';
    UPDATE queen.log_consumers c SET lease_expires_at = now() - interval '1 minute' WHERE c.partition_id = v_id AND c.consumer_group = 'slow';
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) = 3, 'an ended one does not';
    INSERT INTO queen.group_activity VALUES (v_queue, 'slow', 2, v_before + interval '1 s', v_before);
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) = 0, 'the newest of its rows counts';
    DELETE FROM queen.group_activity WHERE queue_id = v_queue AND slot = 2;
    INSERT INTO queen.group_activity VALUES (v_queue, 'fast', 1, v_before - interval '1 s', v_before);
    ASSERT queen._slowest_active(v_id, v_queue, '{slow,fast}', v_before, false) = 0, 'when all are idle, all cap: nobody consumed what is left';
    PERFORM queen.log_retention_step_v1(v_id, NULL, now(), p_idle_groups => '{slow}', p_idle_before => v_before);
    ASSERT pg_temp.history(v_id) = 'completed_retention 4/3/20/4 0-3', 'design 5: consumed but for the idle group, whose loss is counted: ' || pg_temp.history(v_id);
    DELETE FROM queen.log_consumers WHERE partition_id = v_id;
    ASSERT queen._slowest_active(v_id, v_queue, '{slow}', v_before, false) IS NULL, 'R-4';
END $$;
ROLLBACK;

BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
DECLARE
    v_call text;
    v_state text;
BEGIN
    FOREACH v_call IN ARRAY ARRAY['log_retention_step_v1(gen_random_uuid())', 'log_evict_max_wait_step_v1(gen_random_uuid(), now())', 'log_purge_hashes_step_v1(gen_random_uuid(), now())']
    LOOP
        v_state := 'none';
        BEGIN
            EXECUTE 'SELECT queen.' || v_call;
        EXCEPTION WHEN SQLSTATE 'QN400' THEN
            v_state := SQLERRM;
        END;
        ASSERT v_state LIKE '%REPEATABLE READ%', 'design 3.3: ' || v_call;
    END LOOP;
END $$;
ROLLBACK;
