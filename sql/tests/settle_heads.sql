-- The settler, and the moves of a log's start: what the row says equals what the rows show.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/settle_heads.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_count integer DEFAULT 1, p_partition text DEFAULT 'p') RETURNS bigint LANGUAGE sql AS $$
    SELECT min(x.base_offset) FROM queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], array_fill('12345'::text, ARRAY[p_count])) x
$$;
CREATE FUNCTION pg_temp.settle() RETURNS integer LANGUAGE sql AS $$
    SELECT s.worked FROM queen.log_settle_heads_step_v1(500, 3, clock_timestamp() + interval '1 minute') s
$$;

DO $$
DECLARE
    v_id uuid;
    v_head queen.partition_head;
    v_again queen.partition_head;
    v_row text;
    r queen.step_row;
BEGIN
    PERFORM pg_temp.push('s', 2500);
    v_id := pg_temp.lane('s');
    UPDATE queen.log_partitions SET last_write_at = clock_timestamp() + interval '10 s' WHERE id = v_id;
    FOR i IN 1..10 LOOP PERFORM pg_temp.push('s', 3); END LOOP;
    ASSERT (SELECT NOT p.settled AND p.last_offset = 2499 FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2: ten pushes left the row alone';
    SELECT * INTO v_head FROM queen.partition_head h WHERE h.id = v_id;
    ASSERT v_head.head_offset = 2529 AND v_head.head_cum = 2530 * 5, 'design 3.2 rule 4: the head is the tail: ' || v_head::text;

    -- Not yet quiet.
    SELECT * INTO r FROM queen.log_settle_heads_step_v1();
    ASSERT (r.worked, r.done) = (0, true), 'design 3.2 rule 3: only partitions quiet for 3 s';
    UPDATE queen.log_partitions SET last_write_at = clock_timestamp() - interval '2 s' WHERE id = v_id;
    ASSERT (SELECT s.worked FROM queen.log_settle_heads_step_v1() s) = 0, 'design 3.2 rule 3: 2 s are not 3';
    UPDATE queen.log_partitions SET last_write_at = clock_timestamp() - interval '4 s' WHERE id = v_id;
    SELECT * INTO r FROM queen.log_settle_heads_step_v1();
    ASSERT (r.worked, r.done) = (1, true), 'design 3.2 rule 3: quiet';

    ASSERT (SELECT (p.settled, p.last_offset, p.last_stamp, p.last_cum) = (true, 2529, v_head.head_stamp, v_head.head_cum) FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2 rule 3: the row equals the tail';
    SELECT * INTO v_again FROM queen.partition_head h WHERE h.id = v_id;
    ASSERT (v_again.head_offset, v_again.head_stamp, v_again.head_cum) = (v_head.head_offset, v_head.head_stamp, v_head.head_cum), 'design 3.2 rule 4: the head is the same before and after';
    SELECT p.ctid::text INTO v_row FROM queen.log_partitions p WHERE p.id = v_id;
    ASSERT pg_temp.settle() = 0, 'design 3.2 rule 3: a settled row is no work';
    ASSERT (SELECT p.ctid::text FROM queen.log_partitions p WHERE p.id = v_id) = v_row, 'design 3.2 rule 3: settling again writes nothing';
    PERFORM queen._settle_head(v_id);
    SELECT * INTO v_again FROM queen.partition_head h WHERE h.id = v_id;
    ASSERT (v_again.head_offset, v_again.head_stamp, v_again.head_cum, v_again.settled) = (v_head.head_offset, v_head.head_stamp, v_head.head_cum, true), 'idempotent';

    -- Push in the same second after a settle: the row must become unsettled at once.
    UPDATE queen.log_partitions SET last_write_at = clock_timestamp() WHERE id = v_id;
    ASSERT pg_temp.push('s', 2) = 2530, 'design 3.2 rule 2: goes on at the head';
    ASSERT (SELECT NOT p.settled FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2 rule 2: a push after a settle unsettles, in the same second too';
    ASSERT pg_temp.push('s') = 2532, 'and the next one sees it';
    ASSERT (SELECT h.head_offset FROM queen.partition_head h WHERE h.id = v_id) = 2532, 'and so do readers';
END $$;

-- Bounded: p_max_rows, at most 500; done tells whether to call again.
DO $$
DECLARE
    r queen.step_row;
BEGIN
    PERFORM pg_temp.settle();
    PERFORM queen.log_push_v1(array_fill('many'::text, '{620}'), ARRAY(SELECT i::text FROM generate_series(1, 620) i), array_fill(1, '{620}'), array_fill('1'::text, '{620}'));
    SELECT * INTO r FROM queen.log_settle_heads_step_v1(20, 3, clock_timestamp() + interval '1 minute');
    ASSERT (r.worked, r.done) = (20, false), 'design 4: as many as asked';
    SELECT * INTO r FROM queen.log_settle_heads_step_v1(100000, 3, clock_timestamp() + interval '1 minute');
    ASSERT (r.worked, r.done) = (500, false), 'design 3.2 rule 3: at most 500';
    SELECT * INTO r FROM queen.log_settle_heads_step_v1(500, 3, clock_timestamp() + interval '1 minute');
    ASSERT (r.worked, r.done) = (100, true), 'design 4: done';
    ASSERT NOT EXISTS (SELECT FROM queen.log_partitions p WHERE NOT p.settled), 'all are settled';
    ASSERT (SELECT bool_and(p.last_offset = 0) FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'many'), 'and right';
END $$;

-- A part of the prefix goes, then all of it; offsets and sums go on.
DO $$
DECLARE
    v_id uuid;
    v_head queen.partition_head;
BEGIN
    PERFORM pg_temp.push('pre', 10) FROM generate_series(1, 10);
    v_id := pg_temp.lane('pre');
    ASSERT queen._move_log_start(v_id, 34) = 30, 'E-17: a start inside a segment is its base';
    ASSERT (SELECT p.log_start = 30 AND p.oldest_live_at = s.created_at AND NOT p.settled FROM queen.log_partitions p
            JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset = 30 WHERE p.id = v_id), 'T-9, T-10: first live segment';
    ASSERT queen._move_log_start(v_id, 20) = 30, 'E-10: the start never moves back';
    ASSERT queen._move_log_start(v_id, 31) = 30 AND queen._move_log_start(v_id, 30) = 30, 'idempotent';
    ASSERT (SELECT count(*) = 10 FROM queen.log_segments WHERE partition_id = v_id), 'I-10: rows go later';
    ASSERT queen._reclaim_prefix(v_id, 2) = 2, 'I-10: bounded';
    ASSERT (SELECT p.reclaimed_to BETWEEN 11 AND 20 FROM queen.log_partitions p WHERE p.id = v_id), 'I-10: it notes how far it came';
    ASSERT queen._reclaim_prefix(v_id, 100) = 1 AND queen._reclaim_prefix(v_id, 100) = 0, 'I-10: only below the start';
    ASSERT (SELECT count(*) = 7 AND min(s.base_offset) = 30 FROM queen.log_segments s WHERE s.partition_id = v_id), 'I-10: the rest is there';
    ASSERT pg_temp.push('pre', 1) = 100, 'offsets go on';

    SELECT * INTO v_head FROM queen.partition_head h WHERE h.id = v_id;
    ASSERT queen._move_log_start(v_id, 101) = 101, 'all goes: log_start = head + 1';
    ASSERT (SELECT p.settled AND p.last_offset = 100 AND p.log_start = 101 AND p.oldest_live_at IS NULL AND p.last_stamp = v_head.head_stamp AND p.last_cum = v_head.head_cum
            FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2 rule 3, T-9, T-10: whoever takes the last segment settles';
    ASSERT (SELECT h.head_offset = 100 AND h.head_cum = 101 * 5 FROM queen.partition_head h WHERE h.id = v_id), 'the head survives the segments';
    -- Rows are still there, below the start: nobody may take them for the tail.
    ASSERT pg_temp.push('pre', 2) = 101, 'design 3.2 rule 5: offsets go on over an empty log';
    ASSERT (SELECT (s.end_offset, s.cum_bytes) = (102, 103 * 5) AND s.created_at > v_head.head_stamp FROM queen.log_segments s WHERE s.partition_id = v_id AND s.base_offset = 101), 'sums and stamps too';
    ASSERT (SELECT NOT p.settled AND p.oldest_live_at = s.created_at AND h.head_offset = 102 FROM queen.log_partitions p JOIN queen.partition_head h USING (id)
            JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset = 101 WHERE p.id = v_id), 'P-24, T-10: a log that lives again';
    ASSERT queen._reclaim_prefix(v_id, 100) = 8 AND pg_temp.push('pre') = 103, 'reclaimed, and on';

    -- All goes while the row is far behind the tail.
    PERFORM pg_temp.settle();
    PERFORM pg_temp.push('pre');
    UPDATE queen.log_partitions SET last_write_at = clock_timestamp() + interval '1 minute' WHERE id = v_id;
    FOR i IN 1..5 LOOP PERFORM pg_temp.push('pre'); END LOOP;
    ASSERT (SELECT p.last_offset = 104 FROM queen.log_partitions p WHERE p.id = v_id), 'five pushes left the row alone';
    ASSERT queen._move_log_start(v_id, 9223372036854775807) = 110, 'a start past the head is the head + 1';
    PERFORM queen._reclaim_prefix(v_id, 100);
    ASSERT NOT EXISTS (SELECT FROM queen.log_segments WHERE partition_id = v_id) AND pg_temp.push('pre') = 110, 'design 3.2 rule 3: no offset is used twice';
    ASSERT queen._move_log_start(pg_temp.lane('many', '7'), 0) = 0, 'nothing to do';
END $$;

-- Another isolation level is refused by name.
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
DECLARE
    v_text text;
BEGIN
    PERFORM queen.log_settle_heads_step_v1();
    ASSERT false, 'design 3.3: refused above READ COMMITTED';
EXCEPTION WHEN SQLSTATE 'QN400' THEN
    GET STACKED DIAGNOSTICS v_text = MESSAGE_TEXT;
    ASSERT v_text LIKE '%REPEATABLE READ%', 'design 3.3: naming the level';
END $$;
ROLLBACK;
