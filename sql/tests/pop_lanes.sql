-- log_pop_lanes_v1: what log_pop_v1 would deliver, from partitions that are named.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_lanes.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text) RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_partition text, p_payloads text[]) RETURNS void LANGUAGE sql AS $$
    SELECT queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[cardinality(p_payloads)], p_payloads)
$$;
-- "partition:payloads#attempt", a row a slice.
CREATE FUNCTION pg_temp.take(p_queue text, p_partitions text[], p_batch integer, p_cap integer, p_group text DEFAULT 'g') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(format('%s:%s#%s', r.partition, array_to_string(r.payloads, ','), r.delivery_attempt), ' ' ORDER BY r.ordinality), '')
    FROM queen.log_pop_lanes_v1(p_queue, ARRAY(SELECT pg_temp.lane(p_queue, u) FROM unnest(p_partitions) u), p_group, p_batch, p_cap, 30) WITH ORDINALITY r
$$;
CREATE FUNCTION pg_temp.free() RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() WHERE worker_id IS NOT NULL
$$;

DO $$
DECLARE
    r queen.pop_row[];
    v_lane uuid;
BEGIN
    PERFORM pg_temp.push('q', 'a', '{1,2,3}'), pg_temp.push('q', 'b', '{4}'), pg_temp.push('q', 'b', '{5}'), pg_temp.push('other', 'a', '{9}');
    ASSERT pg_temp.take('q', '{a}', 5, 1) = '' AND pg_temp.take('q', '{a,b}', 5, 2) = '', 'O-13: a group that is not registered is left to log_pop_v1';
    ASSERT NOT EXISTS (SELECT FROM queen.log_consumers), 'and has no cursors for that';
    PERFORM FROM queen.log_pop_v1('q', NULL, 'g', 1, 1, 30, false, 'all');
    PERFORM FROM queen.log_pop_v1('other', NULL, 'g', 1, 1, 30, true, 'all');
    PERFORM pg_temp.free();
    UPDATE queen.log_consumers SET attempt_offset = NULL, attempt_count = 0;
    UPDATE queen.group_activity SET last_active_at = clock_timestamp() - interval '1 hour', leased_until = clock_timestamp() - interval '1 hour';

    -- One: a slice of a segment, then what is left of the last one, then nothing; a lease keeps others out.
    ASSERT pg_temp.take('q', '{a}', 2, 1) = 'a:1,2#1', 'O-31';
    ASSERT pg_temp.take('q', '{a}', 2, 1) = '' AND pg_temp.take('q', '{a,a}', 2, 2) = '', 'O-25: a live lease';
    ASSERT (SELECT max(x.leased_until) > clock_timestamp() + interval '25 seconds' FROM queen.group_activity x JOIN queen.queues q ON q.id = x.queue_id WHERE q.name = 'q'),
        'design 5: the group is active while the lease lasts';
    PERFORM pg_temp.free();
    ASSERT pg_temp.take('q', '{a}', 2, 1) = 'a:1,2#2', 'O-36: delivered again';
    UPDATE queen.log_consumers SET committed = 1, worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE partition_id = pg_temp.lane('q', 'a');
    ASSERT pg_temp.take('q', '{a}', 5, 1) = 'a:3#1', 'the rest of the last segment';
    UPDATE queen.log_consumers SET committed = 2, worker_id = NULL, lease_expires_at = NULL, batch_end = NULL WHERE partition_id = pg_temp.lane('q', 'a');
    ASSERT pg_temp.take('q', '{a}', 5, 1) = '' AND pg_temp.take('q', '{a,a}', 5, 2) = '', 'O-6: nothing is owed';
    -- More than one segment is the slower way, with the same result.
    ASSERT pg_temp.take('q', '{b}', 5, 1) = 'b:4#1 b:5#1', 'O-30: over segments';
    PERFORM pg_temp.free();

    -- Many: each has its lease and its budget, within the cap, in the order given; what is foreign is none of them.
    PERFORM pg_temp.push('q', 'a', '{6}');
    ASSERT pg_temp.take('q', '{b,a}', 5, 1) = 'b:4#2 b:5#2', 'O-9: the cap';
    PERFORM pg_temp.free();
    SELECT array_agg(v ORDER BY v.partition) INTO r
    FROM queen.log_pop_lanes_v1('q', ARRAY[pg_temp.lane('other', 'a'), pg_temp.lane('q', 'b'), NULL, gen_random_uuid(), pg_temp.lane('q', 'a')], 'g', 1, 9, 30) v;
    ASSERT (SELECT string_agg(v.partition || v.payloads[1], ' ' ORDER BY v.partition) = 'a6 b4' FROM unnest(r) v), 'its own partitions: ' || r::text;
    ASSERT r[1].lease_id <> r[2].lease_id AND r[2].delivery_attempt = 3 AND r[1].lease_expires_at > clock_timestamp() + interval '25 seconds', 'O-35';
    ASSERT (SELECT bool_and((c.worker_id, c.batch_end, c.attempt_offset) = (v.lease_id, v.last_offset, v.first_offset))
            FROM unnest(r) v JOIN queen.log_consumers c ON c.partition_id = v.partition_id AND c.consumer_group = 'g'), 'O-26: the cursor says the same';
    ASSERT (SELECT a.success FROM queen.log_ack_v1(ARRAY[r[1].partition_id], '{g}', ARRAY[r[1].lease_id], '{1}', ARRAY[r[1].id_base::text], '{completed}') a), 'A-6: acked under it';
    -- A partition that is new to the group begins where log_pop_v1 would begin.
    PERFORM pg_temp.push('q', 'c', '{7}');
    ASSERT pg_temp.take('q', '{c}', 1, 1) = '', 'one without a cursor is left to log_pop_v1';
    ASSERT pg_temp.take('q', '{a,c}', 1, 2) = 'c:7#1', 'E-29: first contact';
    PERFORM pg_temp.free();
    ASSERT pg_temp.take('q', '{b}', 0, 0) = 'b:4#4', 'less than 1 acts as 1';
    ASSERT (SELECT count(*) FROM queen.log_pop_lanes_v1('q', NULL, 'g')) + (SELECT count(*) FROM queen.log_pop_lanes_v1('q', '{}', 'g')) = 0, 'nothing named';
    PERFORM pg_temp.free();

    -- What is lost by hand is passed over as ever.
    PERFORM pg_temp.push('q', 'd', '{8,9}');
    PERFORM FROM queen.log_pop_v1('q', 'd', 'g', 1, 1, 30, false, 'all');
    PERFORM pg_temp.free();
    v_lane := pg_temp.lane('q', 'd');
    UPDATE queen.log_segments SET payloads = ARRAY[NULL, '9'] WHERE partition_id = v_lane;
    ASSERT pg_temp.take('q', '{d}', 5, 1) LIKE 'd:9#%', 'F079';
    PERFORM pg_temp.free();

    -- What is out of the common is left to log_pop_v1.
    FOR i IN 1 .. 4 LOOP
        UPDATE queen.queues q SET window_buffer = CASE WHEN i = 1 THEN 9 ELSE 0 END, delayed_processing = CASE WHEN i = 2 THEN 9 ELSE 0 END,
            min_pop_wait_time = CASE WHEN i = 3 THEN 9 ELSE 0 END, deleted_at = CASE WHEN i = 4 THEN now() END WHERE q.name = 'q';
        ASSERT pg_temp.take('q', '{b}', 5, 1) = '' AND pg_temp.take('q', '{b,a}', 5, 2) = '', 'O-20, O-23, O-24, C-28: ' || i;
    END LOOP;
    UPDATE queen.queues q SET deleted_at = NULL;
    UPDATE queen.consumer_groups_metadata SET conflation = true;
    ASSERT pg_temp.take('q', '{b}', 5, 1) = '' AND pg_temp.take('q', '{b,a}', 5, 2) = '', 'O-52: a group that conflates';
    UPDATE queen.consumer_groups_metadata SET conflation = false;
    ASSERT (SELECT count(*) FROM queen.log_pop_lanes_v1('q', ARRAY[pg_temp.lane('q', 'b')], 'g', 1, 1, NULL, gen_random_uuid())) = 0, 'E-5: of another tenant';
    ASSERT pg_temp.take('q', '{b}', 5, 1) = 'b:4#5 b:5#5', 'and otherwise it is there';
END $$;

ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
BEGIN
    PERFORM queen.log_pop_lanes_v1('q', ARRAY[gen_random_uuid()], 'g');
    ASSERT false, 'design 3.3: refused above READ COMMITTED';
EXCEPTION WHEN SQLSTATE 'QN400' THEN
    NULL;
END $$;
ROLLBACK;
