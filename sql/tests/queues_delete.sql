-- delete_queue_v1: nothing is left, the name is free, an absent queue is an answer and not an error.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/queues_delete.sql (on a migrated database).
BEGIN;

DO $$
DECLARE
    v_queue uuid := queen._ensure_queue('doomed', queen._tenant(NULL));
    v_kept uuid := queen._ensure_queue('kept', queen._tenant(NULL));
    v_ids uuid[];
    v_rows bigint;
    v_new uuid;
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name) SELECT q, n::text FROM unnest(ARRAY[v_queue, v_kept]) q, generate_series(1, 5) n;
    v_ids := ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept));
    INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads)
    SELECT p.id, 0, 0, now(), gen_random_uuid(), 1, 1, 1, 1, '{1}' FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept);
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high)
    SELECT p.id, 0, 0, now(), '{1}', 'a', 'a', 'a' FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept);
    INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT p.id, 'g' FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept);
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) SELECT p.id, 'g', 0, gen_random_uuid(), 'a' FROM queen.log_partitions p WHERE p.queue_id IN (v_queue, v_kept);
    INSERT INTO queen.consumer_groups_metadata (consumer_group, queue_id, subscription_mode, subscription_timestamp)
    SELECT 'g', q, 'all', 'epoch' FROM unnest(ARRAY[v_queue, v_kept]) q;

    ASSERT queen.delete_queue_v1('doomed')::jsonb = '{"deleted": true, "queue": "doomed", "existed": true}', 'C-28: a delete';
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE id = v_queue), 'C-28: no row is left';
    SELECT sum(n) INTO v_rows FROM (
        SELECT count(*) AS n FROM queen.log_partitions WHERE id = ANY (v_ids)
        UNION ALL SELECT count(*) FROM queen.log_segments WHERE partition_id = ANY (v_ids)
        UNION ALL SELECT count(*) FROM queen.log_txns WHERE partition_id = ANY (v_ids)
        UNION ALL SELECT count(*) FROM queen.log_consumers WHERE partition_id = ANY (v_ids)
        UNION ALL SELECT count(*) FROM queen.log_dlq WHERE partition_id = ANY (v_ids)) c;
    ASSERT v_rows = 25, 'W-15, E-24: all of the queue is gone and nothing of the other one, rows left: ' || v_rows;
    ASSERT (SELECT array_agg(queue_id) FROM queen.consumer_groups_metadata WHERE queue_id IN (v_queue, v_kept)) = ARRAY[v_kept], 'seed: subscriptions go too';

    ASSERT queen.delete_queue_v1('doomed')::jsonb
        = '{"deleted": false, "queue": "doomed", "existed": false, "message": "Queue not found, nothing was deleted"}', 'C-28, F143: the second delete';
    ASSERT (queen.delete_queue_v1(repeat('x', 1000))::jsonb ->> 'deleted') = 'false', 'C-28: no name is an error';
    ASSERT (queen.delete_queue_v1('kept', '00000000-0000-0000-0000-0000000000aa')::jsonb ->> 'existed') = 'false', 'E-5: not the queue of another tenant';

    v_new := queen._ensure_queue('doomed', queen._tenant(NULL));
    ASSERT v_new <> v_queue, 'F143: a new queue under the free name';
    ASSERT queen.get_queue_v1('doomed')::jsonb @> '{"partitions": [], "retainedBytes": 0, "totals": {"total": 0, "deadLetter": 0}}', 'F143: it starts clean';
END $$;

-- A row that is hidden (deleted_at set) is invisible everywhere, and its name is free.
DO $$
DECLARE
    v_hidden uuid := queen._ensure_queue('hidden', queen._tenant(NULL));
BEGIN
    UPDATE queen.queues SET deleted_at = clock_timestamp() WHERE id = v_hidden;
    ASSERT NOT EXISTS (SELECT FROM queen.log_queue_stats_all_v1() s WHERE s.name = 'hidden'), 'design 5: not listed';
    ASSERT queen.delete_queue_v1('hidden')::jsonb ->> 'existed' = 'false', 'design 5: not there for a delete';
    ASSERT (queen.configure_queue_v1('hidden') ->> 'queueId')::uuid <> v_hidden, 'design 5: configure makes a new one';
    ASSERT queen._ensure_queue('hidden', queen._tenant(NULL)) <> v_hidden, 'design 5: so does a push';
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
