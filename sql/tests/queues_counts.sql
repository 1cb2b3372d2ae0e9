-- List, detail and depth: watermark arithmetic, worst cursor, live leases, timestamps, agreement of all documents.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/queues_counts.sql (on a migrated database).
BEGIN;
SET LOCAL TimeZone = 'Asia/Kolkata';
SET LOCAL client_min_messages = warning;

-- A partition with segments of 10 frames each, from p_first to p_last, one a minute from 09:00 UTC.
CREATE FUNCTION pg_temp.part(p_queue text, p_name text, p_first bigint, p_last bigint, p_settled boolean DEFAULT false) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name, log_start, last_offset, settled, last_stamp)
    VALUES (queen._ensure_queue(p_queue, queen._tenant(NULL)), p_name, p_first,
        CASE WHEN p_settled THEN p_last ELSE p_first - 1 END, p_settled,
        CASE WHEN p_settled THEN timestamptz '2026-07-01 09:00Z' + p_last / 10 * interval '1 minute' END)
    RETURNING id INTO v_id;
    INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads)
    SELECT v_id, b, b + 9, timestamptz '2026-07-01 09:00Z' + b / 10 * interval '1 minute', gen_random_uuid(), 10, 100, 100, 100,
        array_fill('{"a": 1}'::text, ARRAY[10])
    FROM generate_series(p_first, p_last, 10) b;
    RETURN v_id;
END $$;

CREATE FUNCTION pg_temp.cursor_at(p_partition uuid, p_group text, p_committed bigint, p_batch_end bigint DEFAULT NULL, p_seconds integer DEFAULT 60) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed, batch_end, worker_id, lease_expires_at)
    VALUES (p_partition, p_group, p_committed, p_batch_end, CASE WHEN p_batch_end IS NOT NULL THEN 'w' END,
        CASE WHEN p_batch_end IS NOT NULL THEN clock_timestamp() + make_interval(secs => p_seconds) END)
$$;

CREATE FUNCTION pg_temp.depth(p_queue text, p_group text DEFAULT NULL) RETURNS jsonb
LANGUAGE sql AS $$ SELECT queen.log_queue_depth_v1(p_queue, p_group)::jsonb $$;
CREATE FUNCTION pg_temp.detail(p_queue text) RETURNS jsonb
LANGUAGE sql AS $$ SELECT queen.get_queue_v1(p_queue)::jsonb $$;
CREATE FUNCTION pg_temp.listed(p_queue text) RETURNS jsonb
LANGUAGE sql AS $$
    SELECT queen.log_refresh_all_stats_v1(), queen.log_refresh_retained_bytes_v1();
    SELECT q FROM jsonb_array_elements(queen.list_queues_v1()::jsonb -> 'queues') q WHERE q ->> 'name' = p_queue
$$;

DO $$
DECLARE
    v_doc jsonb;
BEGIN
    ASSERT (queen.list_queues_v1('00000000-0000-0000-0000-0000000000bb')::jsonb) = '{"queues": []}', 'C-16: a tenant without queues';
    PERFORM queen.configure_queue_v1('empty');
    v_doc := pg_temp.detail('empty');
    ASSERT v_doc -> 'partitions' = '[]' AND v_doc -> 'totals' = '{"total": 0, "pending": 0, "processing": 0, "completed": 0, "failed": null, "deadLetter": 0}',
        'C-20: a queue without partitions, got ' || v_doc::text;
    v_doc := pg_temp.depth('empty', 'g');
    ASSERT v_doc = '{"queue": "empty", "group": "g", "pending": 0, "processing": 0, "ready": 0, "partitionsPending": 0, "partitionsReady": 0,
        "conflation": false, "effectivePending": 0, "effectiveReady": 0, "partitions": []}', 'C-24: depth of nothing, got ' || v_doc::text;
    ASSERT pg_temp.listed('empty') - 'id' - 'createdAt' = '{"name": "empty", "namespace": "", "task": "", "partitions": 0, "retainedBytes": 0,
        "segments": {"segments": 0, "messages": 0}, "messages": {"total": 0, "pending": 0, "processing": 0}}', 'C-16: an empty queue in the list';
END $$;

-- Three partitions, two groups, leases live and over, a dead letter; one partition starts at 50, one is settled.
DO $$
DECLARE
    v_a uuid := pg_temp.part('shop.cart', 'a', 0, 99);
    v_b uuid := pg_temp.part('shop.cart', 'b', 50, 149, true);
    v_c uuid := pg_temp.part('shop.cart', 'c', 0, 29);
    v_doc jsonb;
    v_size bigint;
BEGIN
    PERFORM pg_temp.cursor_at(v_a, 'g', 39, 59);
    PERFORM pg_temp.cursor_at(v_a, 'h', 79, 89, -600);
    PERFORM pg_temp.cursor_at(v_b, 'g', 2);
    PERFORM pg_temp.cursor_at(v_b, 'h', 149);
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload)
    VALUES (v_a, 'g', 7, gen_random_uuid(), 'x', '1'), (v_a, 'h', 7, gen_random_uuid(), 'x', '1');

    v_doc := pg_temp.depth('shop.cart');
    ASSERT v_doc -> 'partitions' = '[
        {"partition": "a", "pending": 60, "processing": 20, "ready": 40},
        {"partition": "b", "pending": 100, "processing": 0, "ready": 100},
        {"partition": "c", "pending": 30, "processing": 0, "ready": 30}]', 'C-24, C-25, S-11, S-14: slowest group a partition, got ' || (v_doc -> 'partitions')::text;
    ASSERT v_doc - 'partitions' = '{"queue": "shop.cart", "group": null, "pending": 190, "processing": 20, "ready": 170, "partitionsPending": 3,
        "partitionsReady": 3, "conflation": false, "effectivePending": 190, "effectiveReady": 170}', 'C-25: totals, got ' || (v_doc - 'partitions')::text;
    v_doc := pg_temp.depth('shop.cart', 'h');
    ASSERT v_doc -> 'partitions' = '[
        {"partition": "a", "pending": 20, "processing": 0, "ready": 20},
        {"partition": "b", "pending": 0, "processing": 0, "ready": 0},
        {"partition": "c", "pending": 30, "processing": 0, "ready": 30}]', 'C-24, S-14: a lease that is over counts for nothing, got ' || (v_doc -> 'partitions')::text;
    ASSERT v_doc @> '{"group": "h", "pending": 50, "partitionsPending": 2, "partitionsReady": 2}', 'C-25: totals of a group';
    ASSERT pg_temp.depth('shop.cart', 'nobody') @> '{"pending": 230, "ready": 230}', 'C-24: no cursor owes all that is kept, and no more (F121)';
    ASSERT pg_temp.depth('shop.cart', '') ->> 'group' IS NULL, 'an empty group is no group';

    SELECT sum(pg_column_size(s.payloads)) INTO v_size FROM queen.log_segments s WHERE s.partition_id IN (v_a, v_b, v_c);
    v_doc := pg_temp.detail('shop.cart');
    ASSERT v_doc -> 'totals' = '{"total": 230, "pending": 190, "processing": 20, "completed": 38, "failed": null, "deadLetter": 2}',
        'C-20, S-12 to S-16: totals, got ' || (v_doc -> 'totals')::text;
    ASSERT v_doc -> 'segments' = '{"segments": 23, "messages": 230}' AND (v_doc ->> 'retainedBytes')::bigint = v_size, 'C-20: segments and bytes kept';
    ASSERT v_doc -> 'partitions' -> 0 -> 'stats' = '{"total": 100, "pending": 60, "processing": 20, "completed": 38, "failed": null, "deadLetter": 2}', 'C-20: one partition';
    ASSERT (SELECT array_agg(p ->> 'name') FROM jsonb_array_elements(v_doc -> 'partitions') p) = ARRAY['a', 'b', 'c'], 'C-22: by name';
    ASSERT v_doc -> 'partitions' -> 0 ->> 'oldestMessage' = '2026-07-01T09:04:00.000Z', 'C-21, S-17, E-6, F125: the covering segment, got ' || (v_doc -> 'partitions' -> 0)::text;
    ASSERT v_doc -> 'partitions' -> 1 ->> 'oldestMessage' = '2026-07-01T09:05:00.000Z', 'C-21: the first kept when the cursor is behind';
    ASSERT v_doc -> 'partitions' -> 1 ->> 'newestMessage' = '2026-07-01T09:14:00.000Z', 'C-21: newest of a settled partition';
    ASSERT v_doc -> 'partitions' -> 2 ->> 'newestMessage' = '2026-07-01T09:02:00.000Z', 'C-21: newest of an unsettled partition';
    ASSERT v_doc ->> 'createdAt' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$'
        AND abs(extract(epoch FROM clock_timestamp() - (v_doc ->> 'createdAt')::timestamptz)) < 60, 'E-6, F125: UTC with milliseconds in any time zone';
    ASSERT v_doc @> '{"namespace": "shop", "task": "cart", "options": {"namespace": "shop", "task": "cart", "leaseTime": 60}}', 'C-20: 21 options';

    v_doc := pg_temp.listed('shop.cart');
    ASSERT v_doc -> 'messages' = '{"total": 230, "pending": 190, "processing": 20}', 'design 5: the list counts in what is processed, got ' || v_doc::text;
    ASSERT v_doc -> 'segments' = '{"segments": 23, "messages": 230}' AND (v_doc ->> 'retainedBytes')::bigint = v_size
        AND v_doc ->> 'partitions' = '3', 'C-16, F131: list and detail agree';
    ASSERT (SELECT s.pending = 190 AND s.processing = 20 AND s.total = 230 FROM queen.log_queue_stats_all_v1() s WHERE s.name = 'shop.cart'),
        'F131: the rows agree with the documents';
    ASSERT queen.list_queues_v1()::jsonb -> 'queues' -> 0 ->> 'name' = 'shop.cart', 'C-16: newest first';
END $$;

DO $$
DECLARE
    v_id uuid := pg_temp.part('gone', 'p', 0, 99);
BEGIN
    PERFORM pg_temp.cursor_at(v_id, 'g', 2, 9);
    -- Retention took everything: first hidden but still there, then really gone.
    UPDATE queen.log_partitions SET log_start = 100, last_offset = 99, settled = true, last_stamp = '2026-07-01 09:09Z' WHERE id = v_id;
    ASSERT pg_temp.depth('gone', 'g') @> '{"pending": 0, "processing": 0, "ready": 0, "partitionsPending": 0}', 'F121: nothing is owed of what is gone';
    ASSERT pg_temp.detail('gone') @> '{"retainedBytes": 0, "segments": {"segments": 0, "messages": 0}, "totals": {"total": 0, "pending": 0}}',
        'design 3.2 rule 5: rows below log_start are not counted';
    ASSERT pg_temp.detail('gone') -> 'partitions' -> 0 @> '{"oldestMessage": null, "newestMessage": null}', 'C-21: no message, no stamps';
    ASSERT pg_temp.listed('gone') @> '{"retainedBytes": 0, "segments": {"segments": 0}}', 'F131: the list says the same';
    INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads)
    VALUES (v_id, 100, 100, '2026-07-01 10:00Z', gen_random_uuid(), 1, 1, 1, 1, '{1}');
    UPDATE queen.log_partitions SET settled = false WHERE id = v_id;
    ASSERT pg_temp.depth('gone', 'g') @> '{"pending": 1, "processing": 0}', 'F121: after a push one is owed';
    UPDATE queen.log_partitions SET removed_frames = 1 WHERE id = v_id;
    ASSERT pg_temp.detail('gone') -> 'totals' ->> 'total' = '0', 'design 3.2 rule 7: removed frames do not count';
END $$;

DO $$
DECLARE
    v_id uuid := pg_temp.part('stray', 'p', 0, 99);
BEGIN
    PERFORM pg_temp.cursor_at(v_id, '__QUEUE_MODE__', -1);
    ASSERT pg_temp.depth('stray') ->> 'pending' = '100', 'S-11: queue mode alone counts';
    PERFORM pg_temp.cursor_at(v_id, 'g', 99);
    ASSERT pg_temp.depth('stray') ->> 'pending' = '0', 'S-11, F123: a stray queue-mode cursor pins nothing';
    ASSERT pg_temp.depth('stray', '__QUEUE_MODE__') ->> 'pending' = '100', 'C-24: but it can be asked for';
    UPDATE queen.log_consumers SET committed = 95, batch_end = 200, lease_expires_at = clock_timestamp() + interval '1 minute' WHERE consumer_group = 'g' AND partition_id = v_id;
    ASSERT pg_temp.depth('stray', 'g') @> '{"pending": 4, "processing": 4, "ready": 0, "partitionsPending": 1, "partitionsReady": 0}', 'C-25: processing is capped at pending';
    ASSERT pg_temp.listed('stray') -> 'messages' @> '{"pending": 4, "processing": 4}', 'design 5: pending counts in processing';

    INSERT INTO queen.consumer_groups_metadata (consumer_group, queue_id, subscription_mode, subscription_timestamp, conflation)
    SELECT g, q, 'all', 'epoch', g = 'g' OR q <> p.queue_id
    FROM queen.log_partitions p, unnest(ARRAY['g', 'h']) g, unnest(ARRAY[p.queue_id, queen._ensure_queue('elsewhere', queen._tenant(NULL))]) q
    WHERE p.id = v_id;
    UPDATE queen.log_consumers SET batch_end = NULL WHERE partition_id = v_id;
    ASSERT pg_temp.depth('stray', 'g') @> '{"conflation": true, "pending": 4, "effectivePending": 1, "effectiveReady": 1}', 'C-26: a conflating group';
    ASSERT pg_temp.depth('stray', 'h') @> '{"conflation": false, "pending": 100, "effectivePending": 100}', 'C-26: another group does not conflate';
    ASSERT pg_temp.depth('stray') @> '{"conflation": false, "effectivePending": 4}', 'C-26: without a group never';
END $$;

DO $$
DECLARE
    v_call text;
BEGIN
    FOREACH v_call IN ARRAY ARRAY['get_queue_v1', 'log_queue_depth_v1'] LOOP
        BEGIN
            EXECUTE format('SELECT queen.%s(%L)', v_call, 'nope');
            ASSERT false, 'C-22, C-27: an unknown queue is an error';
        EXCEPTION WHEN SQLSTATE 'QN404' THEN
            ASSERT SQLERRM = 'Queue not found', 'C-22, C-27: its words';
        END;
    END LOOP;
END $$;
ROLLBACK;
