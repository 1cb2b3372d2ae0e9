-- delete_queue_v1 hides at once and frees the name; log_reclaim_step_v1 then removes the rows in bounded steps.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/queues_delete.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.rows_of(p_ids uuid[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT sum(n)::bigint FROM (
        SELECT count(*) AS n FROM queen.log_partitions WHERE id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_segments WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_txns WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_keys WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_dirty WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_compaction WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_consumers WHERE partition_id = ANY (p_ids)
        UNION ALL SELECT count(*) FROM queen.log_dlq WHERE partition_id = ANY (p_ids)) c
$$;
-- Steps until done; the number of steps.
CREATE FUNCTION pg_temp.reclaim(p_max integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    r queen.step_row;
BEGIN
    FOR v_step IN 1..1000 LOOP
        SELECT * INTO r FROM queen.log_reclaim_step_v1(p_max);
        ASSERT r.worked <= p_max, 'a step removes at most what it may: ' || r.worked;
        IF r.done THEN
            RETURN v_step;
        END IF;
    END LOOP;
END $$;

DO $$
DECLARE
    v_queue uuid := queen._ensure_queue('doomed', queen._tenant(NULL));
    v_kept uuid := queen._ensure_queue('kept', queen._tenant(NULL));
    v_ids uuid[];
    v_doomed uuid[];
    v_new uuid;
    v_rows bigint;
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name) SELECT q, n::text FROM unnest(ARRAY[v_queue, v_kept]) q, generate_series(1, 5) n;
    v_ids := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept));
    v_doomed := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue);
    PERFORM queen.log_push_v1(ARRAY['doomed', 'kept'], ARRAY['1', '1'], ARRAY[2500, 1], array_fill('"12345"'::text, ARRAY[2501]));
    INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT i, 'g' FROM unnest(v_ids) i;
    INSERT INTO queen.log_keys (partition_id, key, "offset", base_offset) SELECT i, 'k', 0, 0 FROM unnest(v_ids) i;
    INSERT INTO queen.log_dirty (partition_id, base_offset, created_at, obsolete, tombstones) SELECT i, 0, now(), true, false FROM unnest(v_ids) i;
    INSERT INTO queen.log_compaction (partition_id) SELECT i FROM unnest(v_ids) i;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) SELECT i, 'g', 0, gen_random_uuid(), 'a' FROM unnest(v_ids) i;
    INSERT INTO queen.consumer_groups_metadata (consumer_group, queue_id, subscription_mode, subscription_timestamp)
    SELECT 'g' || n, q, 'all', 'epoch' FROM unnest(ARRAY[v_queue, v_kept]) q, generate_series(1, 7) n;
    INSERT INTO queen.group_activity (queue_id, consumer_group, slot, last_active_at, leased_until) SELECT q, 'g', 0, now(), now() FROM unnest(ARRAY[v_queue, v_kept]) q;
    PERFORM queen.log_refresh_all_stats_v1();
    PERFORM queen.record_trace_v1(v_doomed[1], 't', '{}');
    v_rows := pg_temp.rows_of(v_ids);
    ASSERT v_rows = 10 + 3 + 1 + 3 + 1 + 50, 'arranged: ' || v_rows;

    ASSERT queen.delete_queue_v1('doomed')::jsonb = '{"deleted": true, "queue": "doomed", "existed": true}', 'C-28: a delete';
    ASSERT pg_temp.rows_of(v_ids) = v_rows, 'design 5: the delete itself removes no row, so it takes no time';
    ASSERT queen.delete_queue_v1('doomed')::jsonb
        = '{"deleted": false, "queue": "doomed", "existed": false, "message": "Queue not found, nothing was deleted"}', 'C-28, F143: the second delete';
    ASSERT (queen.delete_queue_v1(repeat('x', 1000))::jsonb ->> 'deleted') = 'false', 'C-28: no name is an error';
    ASSERT (queen.delete_queue_v1('kept', '00000000-0000-0000-0000-0000000000aa')::jsonb ->> 'existed') = 'false', 'E-5: not the queue of another tenant';

    v_new := queen._ensure_queue('doomed', queen._tenant(NULL));
    ASSERT v_new <> v_queue, 'F143: a new queue under the free name, at once';
    ASSERT queen.get_queue_v1('doomed')::jsonb @> '{"partitions": [], "retainedBytes": 0, "totals": {"total": 0, "deadLetter": 0}}', 'F143: it starts clean';

    -- One row a step: every state between is one from which the next step goes on.
    ASSERT (SELECT s.worked FROM queen.log_reclaim_step_v1(1) s) = 1, 'one row';
    ASSERT (SELECT p.log_start = 1000 AND NOT EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = p.id AND s.base_offset < 1000)
            FROM queen.log_partitions p WHERE p.queue_id = v_queue AND p.name = '1'), 'the start moves with the oldest segment';
    PERFORM pg_temp.reclaim(1);
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE id = v_queue), 'C-28: no row is left';
    ASSERT pg_temp.rows_of(v_doomed) = 0, 'W-15, E-24, F099: all of the queue is gone';
    ASSERT pg_temp.rows_of(v_ids) = 5 + 1 + 1 + 25, 'and nothing of the other one: ' || pg_temp.rows_of(v_ids);
    ASSERT (SELECT count(*) FROM queen.consumer_groups_metadata WHERE queue_id IN (v_queue, v_kept)) = 7, 'seed: subscriptions go too';
    PERFORM queen.log_refresh_all_stats_v1();
    ASSERT NOT EXISTS (SELECT FROM queen.stats WHERE queue_id = v_queue) AND EXISTS (SELECT FROM queen.stats WHERE queue_id = v_kept)
        AND NOT EXISTS (SELECT FROM queen.group_activity WHERE queue_id = v_queue), 'F099: side tables; counts go with the next count';
    ASSERT (SELECT (sum(messages_deleted), sum(bytes_deleted), sum(rows_deleted), min(first_offset), max(last_offset))
            = (2500::numeric, 17500::numeric, 3::numeric, 0::bigint, 2499::bigint)
            FROM queen.retention_history WHERE queue_id = v_queue AND retention_type = '__queue_deleted__'),
        'every frame is accounted for: ' || (SELECT json_agg(h)::text FROM queen.retention_history h);
    ASSERT (SELECT count(*) FROM queen.message_traces WHERE partition_id = v_doomed[1]) = 1, 'R-49: traces stay';
    ASSERT EXISTS (SELECT FROM queen.queues WHERE id = v_new), 'the new queue of the name stays';
    ASSERT (SELECT (s.worked, s.done) = (0, true) FROM queen.log_reclaim_step_v1() s), 'nothing left';

    PERFORM queen.delete_queue_v1('kept');
    ASSERT pg_temp.reclaim(1000) = 1 AND pg_temp.rows_of(v_ids) = 0, 'in one step, too';
END $$;

-- A hidden queue is invisible everywhere, by name and by the ids of its partitions.
DO $$
DECLARE
    v_hidden uuid;
    v_lane uuid;
    v_lease text;
    v_letter uuid;
    v_error text;
BEGIN
    PERFORM queen.push_v1('hidden', '1', 'p', 'a');
    PERFORM queen.push_v1('hidden', '2', 'p', 'b');
    SELECT p.partition_id, p.lease_id INTO v_lane, v_lease FROM queen.pop_v1('hidden', 1, 'g', p_subscription_mode => 'all') p;
    SELECT p.queue_id INTO v_hidden FROM queen.log_partitions p WHERE p.id = v_lane;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload)
    VALUES (v_lane, 'g', 0, gen_random_uuid(), 'a', '1') RETURNING id INTO v_letter;
    PERFORM queen.delete_queue_v1('hidden');
    ASSERT NOT EXISTS (SELECT FROM queen.log_queue_stats_all_v1() s WHERE s.name = 'hidden'), 'design 5: not listed';
    ASSERT queen.list_queues_v1()::text NOT LIKE '%hidden%', 'design 5: not listed';
    ASSERT queen.list_consumer_groups_v1()::text NOT LIKE '%hidden%' AND queen.get_consumer_group_v1('g')::text = '{}', 'no group of it';
    ASSERT queen.delete_queue_v1('hidden')::jsonb ->> 'existed' = 'false', 'design 5: not there for a delete';

    ASSERT (SELECT a.error = 'consumer not found' FROM queen.ack_v1(v_lane, ARRAY['a'], v_lease, 'g') a), 'no ack';
    ASSERT (SELECT a.error = 'consumer not found' FROM queen.log_ack_upto_v1(ARRAY[v_lane], ARRAY['g'], ARRAY[v_lease], ARRAY[0]) a), 'nor by position';
    ASSERT (SELECT e.renewed = 0 FROM queen.log_extend_lease_v1(v_lease) e), 'no lease to extend';
    BEGIN
        PERFORM queen.log_transaction_v1(NULL, NULL, NULL, NULL, NULL, ARRAY[v_lane], ARRAY['g'], ARRAY[v_lease], ARRAY[1], ARRAY['a'], ARRAY['completed'], NULL);
    EXCEPTION WHEN SQLSTATE 'QN409' THEN v_error := sqlerrm;
    END;
    ASSERT v_error = 'QTXN: consumer not found', 'no ack in a transaction: ' || coalesce(v_error, 'none');
    ASSERT (SELECT (c.committed, c.worker_id) = (-1, v_lease) FROM queen.log_consumers c WHERE c.partition_id = v_lane AND c.consumer_group = 'g'), 'the cursor did not move';

    ASSERT (SELECT r.result = 'gone' FROM queen.replay_dead_letter_v1(v_letter) r), 'no replay';
    ASSERT (SELECT r.result = 'gone' FROM queen._redrive_lane(v_lane, ARRAY[v_letter], false) r), 'no redrive, not even of one that was chosen before';
    ASSERT NOT EXISTS (SELECT FROM queen.redrive_dead_letters_step_v1()), 'no redrive';
    ASSERT NOT EXISTS (SELECT FROM queen.list_dead_letters_v1() d WHERE d.queue = 'hidden'), 'no dead letter';
    v_error := NULL;
    BEGIN
        PERFORM queen.get_message_v1(v_lane, 'a');
    EXCEPTION WHEN SQLSTATE 'QN404' THEN v_error := sqlerrm;
    END;
    ASSERT v_error IS NOT NULL OR NOT EXISTS (SELECT FROM queen.get_message_v1(v_lane, 'a')), 'no message';
    ASSERT (queen.update_subscription_v1('g', '2026-01-01T00:00:00Z') ->> 'rowsUpdated') = '0', 'no registration';
    ASSERT (queen.delete_consumer_group_v1('g') ->> 'deletedPartitions') = '0', 'no cursor';

    ASSERT (queen.configure_queue_v1('hidden') ->> 'queueId')::uuid <> v_hidden, 'design 5: configure makes a new one';
    ASSERT queen._ensure_queue('hidden', queen._tenant(NULL)) <> v_hidden, 'design 5: so does a push';
    ASSERT (SELECT p."offset" = 0 FROM queen.push_v1('hidden', '3', 'p', 'a') p), 'a push goes to the new one, and is no repeat';
    ASSERT (SELECT count(*) = 1 FROM queen.pop_v1('hidden', 10, 'g', p_subscription_mode => 'all')), 'and so does a pop';
    PERFORM pg_temp.reclaim(7);
    ASSERT (SELECT count(*) = 1 FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'hidden'), 'only the new one is left';
END $$;

-- Rows deleted by hand leave no orphan either.
DO $$
DECLARE
    v_id uuid;
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name) VALUES (queen._ensure_queue('by hand', queen._tenant(NULL)), 'p') RETURNING id INTO v_id;
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high) VALUES (v_id, 0, 0, now(), '{1}', 'a', 'a', 'a');
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) VALUES (v_id, 'g', 0, gen_random_uuid(), 'a');
    DELETE FROM queen.queues WHERE name = 'by hand';
    ASSERT NOT EXISTS (SELECT FROM queen.log_txns WHERE partition_id = v_id) AND NOT EXISTS (SELECT FROM queen.log_dlq WHERE partition_id = v_id),
        'design 3.1: no orphan after a delete in psql';
END $$;
ROLLBACK;
