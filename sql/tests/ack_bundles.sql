-- log_ack_v1 with many cursors a call, as the server sends them: whatever shares a call, each cursor ends as if its acks had
-- come alone, and each item gets the same verdict (design 6: a bad item never fails its neighbours).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/ack_bundles.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.fill(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..14 LOOP
        PERFORM queen.log_push_v1(ARRAY[p_queue], ARRAY[to_char(i, 'FM00')], ARRAY[n], ARRAY(SELECT k::text FROM generate_series(1, n) k), ARRAY(SELECT k::text FROM generate_series(1, n) k))
        FROM (VALUES (2), (1), (3)) x (n);
    END LOOP;
    UPDATE queen.queues SET retry_limit = 1 WHERE name = p_queue;
    -- Three partitions of another shape: what was minted is acknowledged by the ids of the messages.
    PERFORM queen.log_push_v1(ARRAY[p_queue], ARRAY['minted' || i], '{2}', '{1,2}') FROM generate_series(1, 3) i;
END $$;
-- Takes two of each partition; the leases by name of partition.
CREATE FUNCTION pg_temp.take(p_queue text) RETURNS TABLE (id uuid, name text, lease text, ids text[]) LANGUAGE sql AS $$
    SELECT r.partition_id, r.partition, max(r.lease_id),
           array_agg(coalesce(f.id, queen._frame_id(r.id_base, r.first_offset - r.segment_base + f.ord - 1)::text) ORDER BY r.first_offset, f.ord)
    FROM queen.log_pop_v1(p_queue, p_consumer_group => 'g', p_batch => 2, p_max_partitions => 100, p_subscription_mode => 'all', p_apart => true) r
    CROSS JOIN LATERAL unnest(r.payloads, r.transaction_ids) WITH ORDINALITY f (payload, id, ord)
    GROUP BY 1, 2
$$;
CREATE FUNCTION pg_temp.cursors(p_queue text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(' ', p.name, c.committed, coalesce(c.batch_end::text, '-'), c.worker_id IS NULL, c.lease_expires_at IS NULL,
        c.lease_acquired_at IS NULL, c.batch_retry_count, coalesce(c.attempt_offset::text, '-'), c.attempt_count, c.total_consumed,
        (SELECT count(*) FROM queen.log_dlq d WHERE d.partition_id = p.id)), E'\n' ORDER BY p.name COLLATE "C")
    FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id
    WHERE q.name = p_queue AND c.consumer_group = 'g'
$$;
-- The one answer to acks of all that is leased in work.
CREATE FUNCTION pg_temp.all_refused(p_tenant uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT a.success || a.error, ', ') FROM (
            SELECT array_agg(w.id ORDER BY w.id) AS ids, array_agg('g'::text) AS groups, array_agg(w.lease ORDER BY w.id) AS leases, array_agg(cardinality(w.ids) ORDER BY w.id) AS counts
            FROM work w) g
        CROSS JOIN LATERAL (SELECT array_agg(i ORDER BY w.id, o) AS ids, array_agg('completed'::text) AS statuses FROM work w CROSS JOIN LATERAL unnest(w.ids) WITH ORDINALITY u (i, o)) t
        CROSS JOIN LATERAL queen.log_ack_v1(g.ids, g.groups, g.leases, g.counts, t.ids, t.statuses, p_tenant_id => p_tenant, p_skip_locked => true) a);
END $$;

DO $$
DECLARE
    v_together text;
    v_alone text;
    r record;
BEGIN
    PERFORM pg_temp.fill('together');
    PERFORM pg_temp.fill('alone');
    FOR v_round IN 1..3 LOOP
        CREATE TEMP TABLE work ON COMMIT DROP AS
        SELECT q.queue, t.id, w.ord, t.name,
               CASE w.lease WHEN 'none' THEN NULL WHEN 'wrong' THEN gen_random_uuid()::text ELSE t.lease END AS lease,
               ARRAY(SELECT coalesce(t.ids[i], 'unknown') FROM unnest(w.at) i) AS ids,
               CASE WHEN w.ord = 4 AND v_round = 2 /* a retry was charged */ THEN '{completed,completed}' ELSE w.statuses END AS statuses
        FROM (VALUES ('together'), ('alone')) q (queue)
        CROSS JOIN LATERAL pg_temp.take(q.queue) t
        JOIN (VALUES
            (1, '01', 'own', '{1,2}'::int[], '{completed,completed}'::text[]),       -- as ordinary as can be
            (2, '02', 'own', '{1}', '{completed}'),                                   -- a part
            (3, '03', 'own', '{2,1}', '{completed,completed}'),                       -- in another order
            (4, '04', 'own', '{1,2}', '{failed,completed}'),
            (5, '05', 'own', '{1,2}', '{completed,retry}'),
            (6, '06', 'own', '{1,2}', '{dlq,completed}'),
            (7, '07', 'wrong', '{1,2}', '{completed,completed}'),
            (8, '08', 'none', '{1,2}', '{completed,completed}'),
            (9, '09', 'own', '{1,9}', '{completed,completed}'),                       -- an id of nobody
            (10, '10', 'own', '{1}', '{completed}'), (11, '10', 'own', '{2}', '{completed}'), -- twice the same cursor
            (12, '11', 'own', '{1,2}', '{completed,retry}'), (13, '11', 'own', '{1,2}', '{completed,completed}'),
            (14, '12', 'own', '{}', '{}'),
            (15, '13', 'own', '{1,1}', '{completed,completed}'),
            (16, '14', 'own', '{1,2}', '{completed,completed}'),                      -- its lease has ended
            (17, 'minted1', 'own', '{1,2}', '{completed,completed}'),
            (18, 'minted2', 'own', '{1,2}', '{completed,completed}'),
            (19, 'minted3', 'own', '{2,2}', '{completed,completed}')
        ) w (ord, name, lease, at, statuses) ON w.name = t.name;
        ASSERT (SELECT count(*) >= 30 FROM work) OR v_round > 1, 'enough to do';
        UPDATE queen.log_consumers c SET lease_expires_at = clock_timestamp() - interval '1 s'
        FROM work w WHERE w.id = c.partition_id AND w.name = '14' AND c.worker_id IS NOT NULL;

        SELECT string_agg(concat_ws(' ', x.ord, x.nth, a.success, coalesce(a.error, '-'), a.lease_released, a.dlq, a.noop, a.conflated), E'\n' ORDER BY x.item) INTO v_together
        FROM (SELECT array_agg(w.id ORDER BY w.ord) AS ids, array_agg('g'::text) AS groups, array_agg(w.lease ORDER BY w.ord) AS leases, array_agg(cardinality(w.ids) ORDER BY w.ord) AS counts
              FROM work w WHERE w.queue = 'together') g
        CROSS JOIN LATERAL (SELECT array_agg(i.id ORDER BY w.ord, i.nth) AS ids, array_agg(i.status ORDER BY w.ord, i.nth) AS statuses
              FROM work w CROSS JOIN LATERAL unnest(w.ids, w.statuses) WITH ORDINALITY i (id, status, nth) WHERE w.queue = 'together') t
        CROSS JOIN LATERAL queen.log_ack_v1(g.ids, g.groups, g.leases, g.counts, t.ids, t.statuses, p_skip_locked => true) a
        JOIN (SELECT w.ord, i.nth, row_number() OVER (ORDER BY w.ord, i.nth) - 1 AS item
              FROM work w CROSS JOIN LATERAL generate_series(1, cardinality(w.ids)) i (nth) WHERE w.queue = 'together') x ON x.item = a.item;

        v_alone := NULL;
        FOR r IN SELECT * FROM work w WHERE w.queue = 'alone' AND w.ids <> '{}' ORDER BY w.ord LOOP
            v_alone := concat_ws(E'\n', v_alone, (
                SELECT string_agg(concat_ws(' ', r.ord, a.item + 1, a.success, coalesce(a.error, '-'), a.lease_released, a.dlq, a.noop, a.conflated), E'\n' ORDER BY a.item)
                FROM queen.log_ack_v1(ARRAY[r.id], '{g}', ARRAY[r.lease], ARRAY[cardinality(r.ids)], r.ids, r.statuses) a));
        END LOOP;
        ASSERT v_together = v_alone, format(E'round %s: the same verdicts:\n%s\n\nalone:\n%s', v_round, v_together, v_alone);
        ASSERT v_together LIKE '1 1 t - t f f%' OR v_round > 1, 'the first was carried out: ' || v_together;
        ASSERT pg_temp.cursors('together') = pg_temp.cursors('alone'), format(E'round %s: the same cursors:\n%s\n\nalone:\n%s', v_round, pg_temp.cursors('together'), pg_temp.cursors('alone'));
        DROP TABLE work;
        UPDATE queen.log_consumers c SET lease_expires_at = clock_timestamp() - interval '1 s' WHERE c.worker_id IS NOT NULL;
    END LOOP;

    -- A batch that was pushed in parts is ordinary, too, in the order of delivery.
    PERFORM queen.log_push_v1(ARRAY['parts'], ARRAY['a'], ARRAY[cardinality(x)], x, x) FROM (VALUES ('{1}'::text[]), ('{2,3}'), ('{4,5}')) v (x);
    PERFORM queen.log_pop_v1('parts', p_consumer_group => 'g', p_batch => 4, p_subscription_mode => 'all');
    SELECT queen._ack_plain('00000000-0000-0000-0000-000000000001', ARRAY[c.partition_id], '{g}', ARRAY[c.worker_id], '{4}', '{1,3,2,4}', array_fill('completed'::text, ARRAY[4])) AS swapped,
           queen._ack_plain('00000000-0000-0000-0000-000000000001', ARRAY[c.partition_id], '{g}', ARRAY[c.worker_id], '{4}', '{1,2,3,4}', array_fill('completed'::text, ARRAY[4])) AS whole
    INTO r FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'parts';
    ASSERT r.swapped = '{}' AND r.whole = '{1}', 'A-9: ' || r;

    -- A deleted queue, and somebody else's, are not found in a bundle either (F075).
    CREATE TEMP TABLE work ON COMMIT DROP AS SELECT t.* FROM pg_temp.take('together') t;
    ASSERT (SELECT count(*) >= 2 FROM work), 'something is leased';
    ASSERT pg_temp.all_refused(gen_random_uuid()) = 'falsepartition not owned by tenant', 'another tenant';
    UPDATE queen.queues SET deleted_at = clock_timestamp() WHERE name = 'together';
    ASSERT pg_temp.all_refused(NULL) = 'falseconsumer not found', 'a deleted queue';
END $$;

ROLLBACK;
