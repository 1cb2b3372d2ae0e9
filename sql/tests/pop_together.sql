-- A pop of several partitions: what many cursors give in a few statements is what they give one by one (_pop_together).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/pop_together.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.push(p_queue text, p_partition text, p_payloads text[], p_ids text[] DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
    SELECT queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[cardinality(p_payloads)], p_payloads, p_ids, p_ids)
$$;
-- The same for two queues: all shapes that a partition can have.
CREATE FUNCTION pg_temp.fill(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM pg_temp.push(p_queue, 'one', '{1,2,3}');
    FOR i IN 1 .. 4 LOOP
        PERFORM pg_temp.push(p_queue, 'several', ARRAY[i || '0', i || '1'], ARRAY['x' || i, 'y' || i]), pg_temp.push(p_queue, 'lost', '{1,2}'),
            pg_temp.push(p_queue, 'compacted', '{1,2,3}'), pg_temp.push(p_queue, 'cut', '{1,2}'), pg_temp.push(p_queue, 'hole', '{1}');
    END LOOP;
    PERFORM pg_temp.push(p_queue, 'large', ARRAY['1', to_json(repeat('x', 70000))::text, '2']), pg_temp.push(p_queue, 'large', '{3}');
    PERFORM pg_temp.push(p_queue, 'leased', '{1}'), pg_temp.push(p_queue, 'done', '{1}'), pg_temp.push(p_queue, 'new', '{1,2}');
    PERFORM queen.log_pop_v1(p_queue, n, 'g', 1, 1, 30, false, 'all') FROM unnest('{one,several,lost,compacted,cut,hole,large,leased,done}'::text[]) n;
    UPDATE queen.log_consumers c SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL,
        committed = CASE p.name WHEN 'several' THEN 2 WHEN 'done' THEN 0 ELSE -1 END
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
    WHERE p.id = c.partition_id AND q.name = p_queue AND p.name <> 'leased';
    FOR v_id IN SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue LOOP
        UPDATE queen.log_segments s SET payloads = ARRAY[NULL, '2'] FROM queen.log_partitions p
        WHERE p.id = v_id AND s.partition_id = v_id AND p.name = 'lost' AND s.base_offset = 2;
        UPDATE queen.log_segments s SET payloads = CASE WHEN s.base_offset = 3 THEN '{}' ELSE '{1,3}' END::text[], frames = CASE WHEN s.base_offset = 3 THEN 0 ELSE 2 END,
            offsets = CASE WHEN s.base_offset = 3 THEN '{}' ELSE ARRAY[s.base_offset, s.base_offset + 2] END
        FROM queen.log_partitions p WHERE p.id = v_id AND s.partition_id = v_id AND p.name = 'compacted' AND s.base_offset IN (0, 3);
        UPDATE queen.log_partitions p SET log_start = 3 WHERE p.id = v_id AND p.name = 'cut';
        DELETE FROM queen.log_segments s USING queen.log_partitions p WHERE p.id = v_id AND s.partition_id = v_id AND p.name = 'hole' AND s.base_offset IN (0, 2);
    END LOOP;
END $$;
CREATE FUNCTION pg_temp.take(p_queue text, p_batch integer, p_cap integer) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s %s %s #%s %s %s', r.partition, r.first_offset, r.last_offset, r.delivery_attempt,
        array_to_string(ARRAY(SELECT left(f, 9) FROM unnest(r.payloads) f), ','), row(r.transaction_ids, r.keys, r.offsets, r.segment_base)),
        E'\n' ORDER BY r.partition, r.first_offset)
    FROM queen.log_pop_v1(p_queue, NULL, 'g', p_batch, p_cap, 30, false, 'all') r
$$;
CREATE FUNCTION pg_temp.cursors(p_queue text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', p.name, c.committed, coalesce(c.batch_end::text, '-'), c.worker_id IS NULL, c.lease_expires_at > clock_timestamp(),
        c.attempt_offset, c.attempt_count), E'\n' ORDER BY p.name COLLATE "C")
    FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue
$$;

CREATE FUNCTION pg_temp.free() RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_consumers c SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL
    FROM queen.log_partitions p WHERE p.id = c.partition_id AND p.name <> 'leased'
$$;
-- Cursors of deep that were not locked since they were written.
CREATE FUNCTION pg_temp.untouched() RETURNS SETOF uuid LANGUAGE sql AS $$
    SELECT c.partition_id FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
    WHERE q.name = 'deep' AND c.xmax = '0' AND c.worker_id IS NULL
$$;

DO $$
DECLARE
    v_together text;
    v_alone text;
    r record;
    r_got record;
BEGIN
    PERFORM pg_temp.fill('together'), pg_temp.fill('alone');
    -- More than 256 at once are taken one partition after the other.
    FOR i IN 1 .. 2 LOOP
        v_together := pg_temp.take('together', 256, 100);
        v_alone := pg_temp.take('alone', 257, 100);
        ASSERT v_together = v_alone, format(E'O-30: the same slices:\n%s\n\nalone:\n%s', v_together, v_alone);
        ASSERT v_together ~ '^compacted' AND v_together ~ 'new 0 1 #' AND v_together ~ ('several 3 3 #' || i) AND v_together !~ 'leased|done', 'all of them: ' || v_together;
        ASSERT pg_temp.cursors('together') = pg_temp.cursors('alone'), format(E'O-26: the same cursors:\n%s\n\nalone:\n%s', pg_temp.cursors('together'), pg_temp.cursors('alone'));
        ASSERT (SELECT count(DISTINCT c.worker_id) = 2 AND count(*) = 9 FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
                WHERE q.name = 'together' AND c.worker_id IS NOT NULL), 'O-9: one lease, beside that of before';
        ASSERT (SELECT bool_and(cardinality(m.partition_ids) = 8) AND count(*) = 2 * i FROM queen.log_lease_members m), 'E-8: which knows its partitions';
        PERFORM pg_temp.free();
    END LOOP;

    -- The budget is of all together, and the cap; the last slice is cut.
    FOR r IN SELECT * FROM (VALUES (5, 100, NULL, 5), (4, 9, NULL, 4), (100, 3, 3, NULL), (100, 0, 8, NULL), (1, 5, 1, 1)) v (batch, cap, lanes, frames) LOOP
        SELECT count(DISTINCT t.partition_id) AS lanes, sum(cardinality(t.payloads)) AS frames, count(DISTINCT t.lease_id) AS leases, min(t.lease_id) AS lease_id INTO r_got
        FROM queen.log_pop_v1('together', NULL, 'g', r.batch, r.cap, 30, false, 'all') t;
        ASSERT (SELECT l.renewed = r_got.lanes FROM queen.log_extend_lease_v1(r_got.lease_id, 60) l), 'O-9, I-31: the lease is found by its id: ' || r_got;
        ASSERT r_got.leases = 1 AND r_got.lanes = coalesce(r.lanes, r_got.lanes) AND r_got.frames = coalesce(r.frames, r_got.frames), format('O-9, O-30: %s gave %s', r, r_got);
        PERFORM pg_temp.free();
    END LOOP;

    -- A lease of one partition is found by its id alone, whatever the call looked at first.
    SELECT t.lease_id, count(*) AS lanes INTO r_got
    FROM queen._pop_together(ARRAY(
        SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
        WHERE q.name = 'together' AND p.name IN ('leased', 'done', 'one') ORDER BY p.name), 9, 'g', 9, NULL, 30) t
    GROUP BY 1;
    ASSERT r_got.lanes = 1 AND (SELECT l.renewed = 1 FROM queen.log_extend_lease_v1(r_got.lease_id, 60) l), 'I-31: the lease is found by its id: ' || r_got;
    PERFORM pg_temp.free();

    -- Where each partition fills the budget, few cursors are locked in vain: they would be missing for others.
    PERFORM pg_temp.push('deep', i::text, '{1,2,3,4,5,6,7,8,9}') FROM generate_series(1, 40) i;
    PERFORM FROM queen.log_pop_v1('deep', NULL, 'g', 400, 40, 30, false, 'all');
    CREATE TEMP TABLE written ON COMMIT DROP AS SELECT * FROM queen.log_consumers;
    DELETE FROM queen.log_consumers;
    INSERT INTO queen.log_consumers SELECT * FROM written; -- which nobody has locked
    PERFORM pg_temp.free();
    ASSERT (SELECT count(*) = 40 FROM pg_temp.untouched()), 'nobody has locked them since: ' || (SELECT count(*) FROM pg_temp.untouched());
    PERFORM FROM queen.log_pop_v1('deep', NULL, 'g', 7, 40, 30, false, 'all');
    ASSERT (SELECT count(*) BETWEEN 32 AND 39 FROM pg_temp.untouched()), 'O-8: locked were ' || (SELECT 40 - count(*) FROM pg_temp.untouched());
    ASSERT (SELECT sum(c.batch_end - c.committed) = 7 FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id
            JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'deep' AND c.worker_id IS NOT NULL), 'O-26: leased is what was delivered';
END $$;

-- Somebody's lease is over before the call that gave it: it is not given again in the same call.
CREATE FUNCTION pg_temp.end_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.lease_expires_at := clock_timestamp() - interval '1 ms';
    RETURN NEW;
END $$;
CREATE TRIGGER over BEFORE UPDATE ON queen.log_consumers FOR EACH ROW WHEN (NEW.worker_id IS NOT NULL) EXECUTE FUNCTION pg_temp.end_it();
DO $$
DECLARE
    r record;
BEGIN
    PERFORM pg_temp.push('over', i::text, '{1,2}') FROM generate_series(1, 3) i;
    PERFORM FROM queen.log_pop_v1('over', NULL, 'g', 1, 1, 1, false, 'all');
    SELECT count(*) AS n, count(DISTINCT t.partition_id) AS lanes INTO r FROM queen.log_pop_v1('over', NULL, 'g', 100, 0, 1, false, 'all') t;
    ASSERT r.n = 3 AND r.lanes = 3, 'O-26: each once: ' || r;
END $$;

ROLLBACK;
