-- The cycle of retention: what is due, partition cleanup, purge of metrics, the walk over the watermarks.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/retention_cycle.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;
CREATE FUNCTION pg_temp.push(p_queue text, p_partition text DEFAULT 'p', p_count integer DEFAULT 1) RETURNS void LANGUAGE sql AS $$
    SELECT queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], array_fill('12345'::text, ARRAY[p_count]))
$$;
-- Everything stored so far becomes older.
CREATE FUNCTION pg_temp.age(p_by interval) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_segments SET created_at = created_at - p_by;
    UPDATE queen.log_txns SET created_at = created_at - p_by;
    UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - p_by, oldest_txn_at = oldest_txn_at - p_by,
        created_at = created_at - p_by, last_write_at = last_write_at - p_by, last_stamp = last_stamp - p_by;
$$;
CREATE FUNCTION pg_temp.due(p_skip uuid[] DEFAULT NULL, p_since timestamptz DEFAULT NULL, p_max integer DEFAULT 5000) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(d.phase || d.queue || '/' || p.name, ' ' ORDER BY d.phase, d.queue, p.name), '')
    FROM queen.log_retention_due_v1(p_max, p_skip, p_since) d JOIN queen.log_partitions p ON p.id = d.partition_id
$$;

-- R-36: due is what a rule reaches, and nothing else.
DO $$
DECLARE
    r record;
BEGIN
    PERFORM pg_temp.push('keeps'), pg_temp.push('age'), pg_temp.push('done'), pg_temp.push('wait'), pg_temp.push('off');
    PERFORM queen.configure_queue_v1('age', '{"retentionEnabled": true, "retentionSeconds": 60}');
    PERFORM queen.configure_queue_v1('done', '{"retentionEnabled": true, "completedRetentionSeconds": 60}');
    PERFORM queen.configure_queue_v1('wait', '{"maxWaitTimeSeconds": 60}');
    PERFORM queen.configure_queue_v1('off', '{"retentionSeconds": 60}');
    ASSERT pg_temp.due() = '', 'nothing is old enough: ' || pg_temp.due();
    PERFORM pg_temp.age('61 s');
    ASSERT pg_temp.due() = '1age/p 1done/p 3wait/p', 'R-1, R-2, R-36: ' || pg_temp.due();
    PERFORM pg_temp.push('age', 'young');
    ASSERT pg_temp.due() = '1age/p 1done/p 3wait/p', 'a young partition of the same queue is not: ' || pg_temp.due();
    ASSERT pg_temp.due(ARRAY[pg_temp.lane('age')]) = '1done/p 3wait/p', 'R-37: without those that are passed over';
    PERFORM pg_temp.age('1 hour');
    ASSERT pg_temp.due() = '1age/p 1age/young 1done/p 2age/p 2age/young 2done/p 2keeps/p 2off/p 2wait/p 3wait/p', 'hashes go by their own window: ' || pg_temp.due();
    ASSERT pg_temp.due(p_max => 1) ~ '^1\S+ 2\S+ 3wait/p$' AND pg_temp.due(p_max => 1) NOT LIKE '%young%', 'a cap for each phase, oldest first: ' || pg_temp.due(p_max => 1);
    ASSERT (SELECT count(DISTINCT d.at) = 1 AND bool_and(d.age_before <= d.at - interval '59 s') FROM queen.log_retention_due_v1() d), 'one reading of the clock';

    -- F082, design 7: no stored value stops the list.
    UPDATE queen.queues SET retention_seconds = 2147483647, completed_retention_seconds = -2147483648, max_wait_time_seconds = 2147483647, dedup_window_seconds = 2147483647
    WHERE name = 'done';
    UPDATE queen.queues SET retention_bytes = -9223372036854775808, retention_messages = -1 WHERE name = 'keeps';
    ASSERT pg_temp.due() = '1age/p 1age/young 2age/p 2age/young 2keeps/p 2off/p 2wait/p 3wait/p', 'an absurd row is not swept and stops nobody: ' || pg_temp.due();

    -- A sweep by hand.
    FOR r IN SELECT * FROM queen.log_retention_due_v1() d WHERE d.phase = 1 LOOP
        PERFORM queen.log_retention_step_v1(r.partition_id, r.age_before, r.completed_before, r.max_bytes, r.max_messages, r.idle_groups, r.idle_before);
    END LOOP;
    ASSERT pg_temp.due() LIKE '1age/p 1age/young 2%', 'what was hidden and not yet deleted is due until it is: ' || pg_temp.due();
    FOR r IN SELECT * FROM queen.log_retention_due_v1() d WHERE d.phase = 1 LOOP
        PERFORM queen.log_retention_step_v1(r.partition_id, r.age_before, r.completed_before, r.max_bytes, r.max_messages, r.idle_groups, r.idle_before);
    END LOOP;
    ASSERT pg_temp.due() LIKE '2age/p 2%', 'and no longer: ' || pg_temp.due();
    UPDATE queen.queues SET deleted_at = now() WHERE name = 'wait';
    ASSERT pg_temp.due() NOT LIKE '%wait%', 'a deleted queue is not swept';
    DELETE FROM queen.queues;
END $$;

-- Limits of size, where something was written.
DO $$
BEGIN
    FOR i IN 1..3 LOOP PERFORM pg_temp.push('size', 'p', 10), pg_temp.push('size', 'one', 1); END LOOP;
    PERFORM pg_temp.push('size', 'lone', 500);
    PERFORM queen.configure_queue_v1('size', '{"retentionEnabled": true, "retentionMessages": 29}');
    ASSERT pg_temp.due() = '1size/p', 'over its messages; a lone segment never is: ' || pg_temp.due();
    PERFORM queen.configure_queue_v1('size', '{"retentionMessages": 30}');
    ASSERT pg_temp.due() = '', 'not over';
    PERFORM queen.configure_queue_v1('size', '{"retentionMessages": 0, "retentionBytes": 149}');
    ASSERT pg_temp.due() = '1size/p', 'over its bytes: ' || pg_temp.due();
    ASSERT pg_temp.due(NULL, clock_timestamp() + interval '10 s') = '' AND pg_temp.due(NULL, clock_timestamp() - interval '1 s') = '1size/p', 'only where something was written since';
    PERFORM queen.configure_queue_v1('size', '{"retentionBytes": 150}');
    ASSERT pg_temp.due() = '', 'not over';
    DELETE FROM queen.queues;
END $$;

-- R-28 to R-32: partition cleanup.
DO $$
DECLARE
    s queen.step_row;
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['idle', 'full', 'letter', 'leased', 'endless', 'expired', 'met', 'young'] LOOP
        INSERT INTO queen.log_partitions (queue_id, name, created_at, last_write_at)
        VALUES (queen._ensure_queue('c', queen._tenant(NULL)), v_name, now() - interval '40 days', now() - interval '31 days');
    END LOOP;
    UPDATE queen.log_partitions SET created_at = now() - interval '29 days' WHERE name = 'young';
    PERFORM pg_temp.push('c', 'full');
    UPDATE queen.log_partitions SET last_write_at = now() - interval '31 days' WHERE name = 'full';
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) VALUES (pg_temp.lane('c', 'letter'), 'g', 0, gen_random_uuid(), 'a');
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high) VALUES (pg_temp.lane('c', 'idle'), 0, 0, now(), '{1}', 'a', 'a', 'a');
    INSERT INTO queen.log_consumers (partition_id, consumer_group, created_at, batch_end, lease_acquired_at, lease_expires_at) VALUES
        (pg_temp.lane('c', 'idle'), 'g', now() - interval '31 days', NULL, NULL, NULL),
        (pg_temp.lane('c', 'leased'), 'g', now() - interval '31 days', 5, now() - interval '31 days', now() + interval '1 s'),
        (pg_temp.lane('c', 'endless'), 'g', now() - interval '31 days', 5, now() - interval '31 days', NULL),
        (pg_temp.lane('c', 'expired'), 'g', now() - interval '31 days', 5, now() - interval '31 days', now() - interval '31 days'),
        (pg_temp.lane('c', 'met'), 'g', now() - interval '1 day', NULL, NULL, NULL);
    INSERT INTO queen.message_traces (tenant_id, partition_id, transaction_id, data) VALUES (queen._tenant(NULL), pg_temp.lane('c', 'idle'), 't', '{}');
    s := queen.log_cleanup_partitions_step_v1(32);
    ASSERT (s.worked, s.done) = (0, true), 'not idle for 32 days';
    s := queen.log_cleanup_partitions_step_v1(30, 1);
    ASSERT (s.worked, s.done) = (1, false), 'R-32: bounded: ' || s::text;
    s := queen.log_cleanup_partitions_step_v1();
    ASSERT (s.worked, s.done) = (1, true), 'R-28: ' || s::text;
    ASSERT (SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM queen.log_partitions p) = 'endless full leased letter met young', 'R-28, R-29: '
        || (SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM queen.log_partitions p);
    ASSERT (SELECT (count(*), sum(messages_deleted)) = (2::bigint, 0::numeric) FROM queen.retention_history WHERE retention_type = '__partition_deleted__'), 'R-22, R-31';
    ASSERT (SELECT count(*) = 0 FROM queen.log_txns t WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = t.partition_id)), 'R-31: hash rows go too';
    s := queen.log_cleanup_partitions_step_v1(-5, 1000, now() + interval '1 hour');
    ASSERT (SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM queen.log_partitions p) = 'endless full leased letter', 'a day at least: '
        || (SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM queen.log_partitions p);
    s := queen.log_cleanup_partitions_step_v1(2147483647);
    ASSERT s.worked = 0, 'an absurd number of days is no error';
    UPDATE queen.queues SET deleted_at = now() WHERE name = 'c';
    s := queen.log_cleanup_partitions_step_v1(1, 1000, now() + interval '3 days');
    ASSERT s.worked = 0, 'what a deleted queue leaves is not the cleanup''s';
    DELETE FROM queen.queues;
END $$;

-- R-46: old metrics go, in bounded steps.
DO $$
DECLARE
    s queen.step_row;
BEGIN
    DELETE FROM queen.retention_history;
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, executed_at)
    SELECT queen._tenant(NULL), gen_random_uuid(), gen_random_uuid(), 'retention', now() - make_interval(days => n) FROM generate_series(1, 100) n;
    INSERT INTO queen.system_metrics (timestamp, hostname, port, pid, metrics) SELECT now() - make_interval(days => n), 'h', 1, 1, '{}' FROM generate_series(1, 100) n;
    INSERT INTO queen.queue_size_history (queue_id, hour_at, retained_bytes, segment_count) SELECT gen_random_uuid(), now() - make_interval(days => n), 1, 1 FROM generate_series(89, 92) n;
    s := queen.log_purge_metrics_step_v1(90, 7);
    ASSERT (s.worked, s.done) = (7, false), 'bounded: ' || s::text;
    s := queen.log_purge_metrics_step_v1();
    ASSERT (s.worked, s.done) = (18, true), 'the rest of all: ' || s::text;
    ASSERT (SELECT count(*) FROM queen.queue_size_history) = 1, 'sizes by the hour go with them';
    ASSERT (SELECT count(*) FROM queen.retention_history) = 89 AND (SELECT count(*) FROM queen.system_metrics) = 89, '90 days are kept';
    s := queen.log_purge_metrics_step_v1(2147483647);
    ASSERT s.worked = 0, 'an absurd number of days is no error';
    s := queen.log_purge_metrics_step_v1(0);
    ASSERT s.worked = 179, 'a day at least: ' || s::text;
END $$;

-- R-38: the walk mends what is wrong and writes nothing else.
DO $$
DECLARE
    w queen.walk_row;
    v_row text;
BEGIN
    PERFORM pg_temp.push('w', 'a'), pg_temp.push('w', 'b'), pg_temp.push('w', 'c');
    w := queen.log_walk_watermarks_step_v1();
    ASSERT (w.worked, w.mended, w.done) = (3, 0, true), 'nothing is wrong: ' || w::text;
    UPDATE queen.log_partitions SET oldest_live_at = NULL WHERE name = 'a';
    UPDATE queen.log_partitions SET oldest_txn_at = 'epoch' WHERE name = 'b';
    SELECT p.ctid::text INTO v_row FROM queen.log_partitions p WHERE p.name = 'c';
    w := queen.log_walk_watermarks_step_v1(NULL, 1);
    ASSERT (w.worked, w.done) = (1, false), 'bounded';
    w := queen.log_walk_watermarks_step_v1(w.last_id, 2);
    ASSERT (w.worked, w.done) = (2, false), 'from there on';
    w := queen.log_walk_watermarks_step_v1(w.last_id, 2);
    ASSERT (w.worked, w.done) = (0, true), 'to the end';
    ASSERT (SELECT bool_and(p.oldest_live_at = s.created_at AND p.oldest_txn_at = s.created_at) FROM queen.log_partitions p JOIN queen.log_segments s ON s.partition_id = p.id), 'T-10: mended';
    ASSERT (SELECT p.ctid::text FROM queen.log_partitions p WHERE p.name = 'c') = v_row, 'R-38: a row that is right is not written';
END $$;

ROLLBACK;
