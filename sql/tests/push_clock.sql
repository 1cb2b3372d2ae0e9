-- Stamps when the clock stands still or runs backward: edited stored stamps stand for the clock's past.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_clock.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_count integer DEFAULT 1) RETURNS timestamptz LANGUAGE sql AS $$
    SELECT min(x.created_at) FROM queen.log_push_v1(ARRAY[p_queue], '{p}', ARRAY[p_count], array_fill('1'::text, ARRAY[p_count])) x
$$;

-- The last stamp is in the future: the next one is 1 us later, whether the row is settled or not.
DO $$
DECLARE
    v_future timestamptz := date_trunc('second', clock_timestamp()) + interval '1 hour';
    v_id uuid;
BEGIN
    PERFORM pg_temp.push('ahead');
    v_id := pg_temp.lane('ahead');
    UPDATE queen.log_segments SET created_at = v_future WHERE partition_id = v_id;
    UPDATE queen.log_txns SET created_at = v_future WHERE partition_id = v_id;
    ASSERT pg_temp.push('ahead') = v_future + interval '1 us', 'design 3.2 rule 6: last + 1 us, unsettled';
    ASSERT pg_temp.push('ahead') = v_future + interval '2 us', 'design 3.2 rule 6: a frozen clock still rises';
    ASSERT pg_temp.push('ahead', 1500) = v_future + interval '3 us' AND pg_temp.push('ahead') = v_future + interval '5 us', 'design 3.1: slices count too';
    ASSERT (SELECT p.last_write_at FROM queen.log_partitions p WHERE p.id = v_id) >= v_future - interval '1 s', 'design 3.2 rule 2: last_write_at follows the stamp, not the clock';
    PERFORM queen.log_settle_heads_step_v1(500, 3, v_future + interval '10 s');
    ASSERT (SELECT p.settled AND p.last_stamp = v_future + interval '5 us' FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2 rule 3: settled';
    ASSERT pg_temp.push('ahead') = v_future + interval '6 us', 'design 3.2 rule 6: last + 1 us, settled';
    PERFORM queen._move_log_start(v_id, 100000);
    DELETE FROM queen.log_segments WHERE partition_id = v_id;
    ASSERT pg_temp.push('ahead') = v_future + interval '7 us', 'design 3.2 rule 6, E-18: also when no segment is left';
    ASSERT (SELECT bool_and(s.id_base > b.id_base) FROM queen.log_segments s
            JOIN queen.log_segments b ON b.partition_id = s.partition_id AND b.base_offset < s.base_offset WHERE s.partition_id = v_id) IS NOT FALSE, 'design 3.1: ids rise';
END $$;

-- The newest clock mark floors the stamp of every push: of one that writes the head and of one that leaves the row alone.
DO $$
DECLARE
    v_mark timestamptz := clock_timestamp() + interval '2 hours';
    v_id uuid;
    v_stamp timestamptz;
BEGIN
    ASSERT pg_temp.push('marks') < clock_timestamp(), 'no mark, the clock';
    v_id := pg_temp.lane('marks');
    INSERT INTO queen.clock_marks (marked_at, xid) VALUES (v_mark - interval '1 hour', '1'), (v_mark, '2'), (v_mark - interval '2 hours', '3');
    UPDATE queen.log_partitions SET last_write_at = v_mark WHERE id = v_id;
    ASSERT pg_temp.push('marks') = v_mark, 'design 3.2 rule 6, C-40: a row that is left alone';
    ASSERT (SELECT count(*) = 1 AND max(c.last_offset) = 1 FROM queen.log_partitions_changed_v1('{marks}', ARRAY[v_mark - interval '5 s']) c WHERE c.name = 'p'),
        'C-40: a safe time told before the clock stepped back, asked from next, covers it';
    ASSERT pg_temp.push('marks') = v_mark + interval '1 us', 'design 3.2 rule 6: the clock is behind the last stamp';
    ASSERT pg_temp.push('marks', 1500) = v_mark + interval '2 us', 'design 3.2 rule 6: and on';
    ASSERT pg_temp.push('marks2') = v_mark, 'design 3.2 rule 6: the first push writes the head';
    ASSERT pg_temp.push('marks3') = v_mark, 'design 3.2 rule 6: so does every first push';

    -- Unsettled, quantised stamp old.
    v_id := pg_temp.lane('marks2');
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '1 minute' WHERE partition_id = v_id;
    UPDATE queen.log_partitions SET last_stamp = NULL, last_write_at = clock_timestamp() - interval '1 minute' WHERE id = v_id;
    ASSERT pg_temp.push('marks2') = v_mark, 'design 3.2 rule 6: a stale quantised stamp writes the head';
    -- Unsettled and fresh, an oldest stamp missing.
    v_id := pg_temp.lane('marks3');
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '1 minute' WHERE partition_id = v_id;
    UPDATE queen.log_partitions SET last_stamp = NULL, last_write_at = clock_timestamp(), oldest_live_at = NULL WHERE id = v_id;
    ASSERT pg_temp.push('marks3') = v_mark, 'design 3.2 rule 6: a missing oldest stamp writes the head';
    -- Settled and fresh.
    UPDATE queen.log_segments SET created_at = clock_timestamp() - interval '1 minute' WHERE partition_id = v_id;
    UPDATE queen.log_partitions SET last_stamp = NULL, last_write_at = clock_timestamp(), settled = true WHERE id = v_id;
    ASSERT pg_temp.push('marks3') = v_mark, 'design 3.2 rule 6: a settled row writes the head';
END $$;

-- The marks themselves: the clock first, and an id only when all could see it; a day of them is kept.
DO $$
DECLARE
    v_before timestamptz := clock_timestamp();
    r queen.step_row;
BEGIN
    DELETE FROM queen.clock_marks;
    SELECT * INTO r FROM queen.log_mark_clock_v1();
    ASSERT (SELECT m.marked_at >= v_before AND m.xid > pg_snapshot_xmax(pg_current_snapshot()) FROM queen.clock_marks m), 'C-40: no id yet';
    PERFORM queen.log_mark_clock_v1();
    ASSERT (SELECT bool_and(m.xid > pg_snapshot_xmax(pg_current_snapshot())) FROM queen.clock_marks m), 'C-40: a transaction that drew its id before gives none';
    DELETE FROM queen.clock_marks;
    ASSERT r.done, 'design 4: a step answers done';
    INSERT INTO queen.clock_marks SELECT clock_timestamp() - interval '25 hours' - make_interval(secs => i), '7' FROM generate_series(1, 1200) i;
    INSERT INTO queen.clock_marks VALUES (clock_timestamp() - interval '23 hours', '7');
    PERFORM queen.log_mark_clock_v1();
    ASSERT (SELECT count(*) = 200 FROM queen.clock_marks m WHERE m.marked_at < v_before - interval '24 hours'), 'design 4: bounded, 1000 a step';
    PERFORM queen.log_mark_clock_v1();
    ASSERT (SELECT count(*) = 3 AND min(m.marked_at) < v_before - interval '22 hours' FROM queen.clock_marks m), 'design 3.2 rule 6: one day is kept';
END $$;

-- An old snapshot in the caller's transaction: the stamp is never below the start of the transaction.
DO $$
BEGIN
    ASSERT pg_temp.push('floor') >= now(), 'F002: at or after the start of the transaction';
END $$;

ROLLBACK;
