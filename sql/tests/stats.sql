-- The reconciler and the retained-bytes lane: arithmetic, clocks, rates, roll-ups, and the documents that read them.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/stats.sql (on a migrated database).
BEGIN;
SET LOCAL TimeZone = 'Asia/Kolkata';
SET LOCAL client_min_messages = warning;

-- A partition with segments of 10 frames each, from p_first to p_last, one a minute from 09:00 UTC.
CREATE FUNCTION pg_temp.part(p_queue text, p_name text, p_first bigint, p_last bigint, p_settled boolean DEFAULT false, p_tenant uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name, log_start, last_offset, settled, last_stamp)
    VALUES (queen._ensure_queue(p_queue, queen._tenant(p_tenant)), p_name, p_first,
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
CREATE FUNCTION pg_temp.refresh() RETURNS jsonb LANGUAGE sql AS $$ SELECT queen.log_refresh_all_stats_v1()::jsonb $$;
CREATE FUNCTION pg_temp.row(p_type text, p_key text) RETURNS queen.stats
LANGUAGE sql AS $$ SELECT s FROM queen.stats s WHERE s.stat_type = p_type AND s.stat_key = p_key $$;
CREATE FUNCTION pg_temp.of(p_queue text) RETURNS queen.stats
LANGUAGE sql AS $$ SELECT s FROM queen.stats s JOIN queen.queues q ON q.id = s.queue_id AND q.deleted_at IS NULL WHERE q.name = p_queue AND s.stat_type = 'queue' $$;
CREATE FUNCTION pg_temp.counts(r queen.stats) RETURNS bigint[]
LANGUAGE sql AS $$ SELECT ARRAY[r.child_count, r.total_messages, r.pending_messages, r.processing_messages, r.completed_messages, r.dead_letter_messages] $$;
-- Pretend that the last cycle was so long ago.
CREATE FUNCTION pg_temp.age(p_by interval) RETURNS void
LANGUAGE sql AS $$ UPDATE queen.stats SET prev_snapshot_at = clock_timestamp() - p_by, last_computed_at = last_computed_at - p_by $$;

DO $$
DECLARE
    v_doc jsonb;
BEGIN
    ASSERT queen.get_overview_v1()::jsonb ->> 'statsAge' = '-1', 'S-43: never counted';
    ASSERT queen.list_namespaces_v1()::jsonb = '{"namespaces": []}' AND queen.list_tasks_v1()::jsonb = '{"tasks": []}', 'C-31: no labels';
    v_doc := pg_temp.refresh();
    ASSERT v_doc - 'refreshedAt' = '{"engine": "segments", "queuesUpdated": 0, "queuesChanged": 0, "segPartitions": 0, "namespaces": {"namespacesUpdated": 0},
        "tasks": {"tasksUpdated": 0}, "system": {"systemUpdated": 1}}', 'S-28: the summary of nothing, got ' || v_doc::text;
    ASSERT v_doc ->> 'refreshedAt' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$', 'S-28, F125: UTC';
    ASSERT pg_temp.counts(pg_temp.row('system', 'global')) = '{0,0,0,0,0,0}', 'S-27: a row of the whole without any queue';
    ASSERT (SELECT count(*) FROM queen.stats) = 1, 'S-26: and no other row';
    ASSERT (queen.get_overview_v1()::jsonb ->> 'statsAge')::integer BETWEEN 0 AND 60, 'S-43: the age of the cycle itself';
END $$;

-- Three partitions, two groups, leases live and over, dead letters; one partition starts at 50, one is settled.
DO $$
DECLARE
    v_a uuid := pg_temp.part('shop.cart', 'a', 0, 99);
    v_b uuid := pg_temp.part('shop.cart', 'b', 50, 149, true);
    v_c uuid := pg_temp.part('shop.cart', 'c', 0, 29);
    v_gone uuid := pg_temp.part('shop.gone', 'p', 0, 99);
    v_stray uuid := pg_temp.part('stray', 'p', 0, 99);
    r_row queen.stats;
    v_doc jsonb;
    v_size bigint;
BEGIN
    PERFORM pg_temp.cursor_at(v_a, 'g', 39, 59), pg_temp.cursor_at(v_a, 'h', 79, 89, -600),
        pg_temp.cursor_at(v_b, 'g', 2), pg_temp.cursor_at(v_b, 'h', 149);
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload)
    VALUES (v_a, 'g', 7, gen_random_uuid(), 'x', '1'), (v_a, 'h', 7, gen_random_uuid(), 'x', '1');
    -- Retention took everything and hid it; the cursor is far behind.
    UPDATE queen.log_partitions SET log_start = 100, last_offset = 99, settled = true, last_stamp = '2026-07-01 09:09Z' WHERE id = v_gone;
    PERFORM pg_temp.cursor_at(v_gone, 'g', 2, 9);
    PERFORM pg_temp.cursor_at(v_stray, '__QUEUE_MODE__', -1), pg_temp.cursor_at(v_stray, 'g', 95, 200);
    PERFORM queen._ensure_queue('empty', queen._tenant(NULL));

    v_doc := pg_temp.refresh();
    ASSERT pg_temp.refresh() @> '{"queuesUpdated": 4, "queuesChanged": 0}', 'S-28: nothing moved since';
    ASSERT v_doc @> '{"queuesUpdated": 4, "queuesChanged": 3, "segPartitions": 5, "namespaces": {"namespacesUpdated": 3}, "tasks": {"tasksUpdated": 2}}', 'S-28, got ' || v_doc::text;
    r_row := pg_temp.of('shop.cart');
    ASSERT pg_temp.counts(r_row) = '{3,230,190,20,38,2}', 'S-11 to S-16, S-20: got ' || pg_temp.counts(r_row)::text;
    ASSERT r_row.oldest_pending_at = '2026-07-01 09:00Z' AND r_row.newest_message_at IS NULL, 'S-17: the oldest of all partitions; the dead column is null';
    ASSERT r_row.avg_lag_seconds = r_row.max_lag_seconds AND r_row.avg_offset_lag = 190 AND r_row.max_offset_lag = 190
        AND abs(r_row.avg_lag_seconds - extract(epoch FROM clock_timestamp() - timestamptz '2026-07-01 09:00Z')) < 5, 'S-18: whole seconds, F125: in any time zone';
    ASSERT pg_temp.counts(pg_temp.of('shop.gone')) = '{1,0,0,0,0,0}' AND (pg_temp.of('shop.gone')).oldest_pending_at IS NULL, 'F121: no lag on what is gone';
    ASSERT pg_temp.counts(pg_temp.of('stray')) = '{1,100,4,4,96,0}', 'S-11, S-14, F123: a stray cursor pins nothing; processing is capped, got ' || pg_temp.counts(pg_temp.of('stray'))::text;
    ASSERT (pg_temp.of('stray')).oldest_pending_at = '2026-07-01 09:09Z', 'S-17: the segment that covers the cursor';
    ASSERT pg_temp.counts(pg_temp.of('empty')) = '{0,0,0,0,0,0}', 'S-19: a queue without partitions';
    ASSERT queen.log_oldest_pending_at_v1(v_b, 3) = '2026-07-01 09:05Z' AND queen.log_oldest_pending_at_v1(v_a, 40) = '2026-07-01 09:04Z'
        AND queen.log_oldest_pending_at_v1(v_a, 100) IS NULL AND queen.log_oldest_pending_at_v1(v_gone, 0) IS NULL
        AND queen.log_oldest_pending_at_v1(gen_random_uuid(), 0) IS NULL, 'S-17: in a gap, covering, past the end, all gone, no partition';

    ASSERT pg_temp.counts(pg_temp.row('namespace', 'shop')) = '{2,230,190,20,38,2}', 'S-26: queues and sums of a namespace';
    ASSERT pg_temp.counts(pg_temp.row('task', 'cart')) = '{1,230,190,20,38,2}', 'S-26: of a task';
    ASSERT pg_temp.counts(pg_temp.row('system', 'global')) = '{5,330,194,24,134,2}', 'S-27: partitions and sums, got ' || pg_temp.counts(pg_temp.row('system', 'global'))::text;
    ASSERT pg_temp.counts(pg_temp.row('tenant', '00000000-0000-0000-0000-000000000001')) = '{5,330,194,24,134,2}', 'S-27: of a tenant';
    r_row := pg_temp.row('system', 'global');
    ASSERT r_row.avg_offset_lag = 49 AND r_row.max_offset_lag = 190 AND r_row.max_lag_seconds = (pg_temp.of('shop.cart')).avg_lag_seconds
        AND r_row.median_lag_seconds > 0 AND r_row.median_lag_seconds < r_row.max_lag_seconds, 'S-27: lag over queues';

    -- Three clocks: nothing is measured yet.
    ASSERT (SELECT (s.partitions, s.retained_bytes, s.segments, s.messages, s.total, s.pending, s.processing) = (3::bigint, 0::bigint, 0::bigint, 230::bigint, 230::bigint, 190::bigint, 20::bigint)
        FROM queen.log_queue_stats_all_v1() s WHERE s.name = 'shop.cart'), 'C-17, S-32: bytes and segments are 0 until the lane ran';
    v_doc := queen.log_refresh_retained_bytes_v1();
    SELECT sum(pg_column_size(s.payloads)) INTO v_size FROM queen.log_segments s WHERE s.partition_id IN (v_a, v_b, v_c);
    r_row := pg_temp.of('shop.cart');
    ASSERT r_row.retained_bytes = v_size AND r_row.segment_count = 23, 'S-30: bytes and rows';
    ASSERT (pg_temp.of('shop.gone')).retained_bytes = 0 AND (pg_temp.of('shop.gone')).segment_count = 0, 'S-30, design 3.2 rule 5: hidden rows do not count';
    ASSERT (v_doc - 'refreshedAt') = jsonb_build_object('queuesUpdated', 4, 'queuesChanged', 2, 'segments', 33, 'retainedBytes', v_size / 23 * 33), 'the summary of the lane, got ' || v_doc::text;
    ASSERT (SELECT count(*) = 4 AND sum(h.retained_bytes) = v_size / 23 * 33 AND bool_and(h.hour_at = date_trunc('hour', h.hour_at, 'UTC') AND h.hour_at BETWEEN clock_timestamp() - interval '70 minutes' AND clock_timestamp())
        FROM queen.queue_size_history h), 'issue 5.2: the hour is noted';
    PERFORM queen.log_refresh_retained_bytes_v1(), pg_temp.refresh();
    ASSERT (SELECT count(*) = 4 * count(DISTINCT h.hour_at) FROM queen.queue_size_history h), 'once an hour';
    v_doc := queen.get_workload_v1(p_group_by => 'queue', p_max_rows => 1);
    ASSERT jsonb_array_length(v_doc -> 'rows') = 1 AND v_doc #>> '{rows,0,key}' = (SELECT min(q.name COLLATE "C") FROM queen.queues q WHERE q.tenant_id = '00000000-0000-0000-0000-000000000001' AND q.deleted_at IS NULL)
        AND (v_doc #>> '{tenant,queues}')::bigint = (SELECT count(*) FROM queen.queues q WHERE q.tenant_id = '00000000-0000-0000-0000-000000000001' AND q.deleted_at IS NULL)
        AND (v_doc #>> '{tenant,now,pending}')::bigint > (v_doc #>> '{rows,0,now,pending}')::bigint, 'a cap on rows leaves the whole as it is, got ' || v_doc::text;
    ASSERT jsonb_array_length(queen.get_workload_v1(p_group_by => 'queue')::jsonb -> 'rows') = (v_doc #>> '{tenant,queues}')::bigint, 'all, up to a thousand';
    r_row := pg_temp.of('shop.cart');
    ASSERT r_row.retained_bytes = v_size AND r_row.segment_count = 23, 'S-29, S-34: a cycle keeps what the lane wrote';
    ASSERT (pg_temp.row('namespace', 'shop')).retained_bytes = v_size, 'roll-ups sum the lane''s columns';

    -- The lane's numbers and the stored ones stay as they were while the log moves on; what is live follows.
    DELETE FROM queen.log_segments WHERE partition_id = v_c;
    DELETE FROM queen.log_partitions WHERE id = v_c;
    ASSERT (SELECT (s.partitions, s.total, s.pending, s.segments) = (2::bigint, 200::bigint, 190::bigint, 23::bigint)
        FROM queen.log_queue_stats_all_v1() s WHERE s.name = 'shop.cart'), 'C-17: partitions and total are live, pending and segments stored';
    ASSERT (SELECT (s.partitions, s.total, s.messages, s.pending) = (3::bigint, 230::bigint, 230::bigint, 190::bigint)
        FROM queen.log_queue_stats_all_v1(NULL, true) s WHERE s.name = 'shop.cart'), 'C-19: the stored view has no live part';
    ASSERT (queen.list_queues_v1(NULL, true)::jsonb -> 'queues') @> '[{"name": "shop.cart", "partitions": 3, "messages": {"total": 230, "pending": 190, "processing": 20}}]', 'C-19: the document';
END $$;

-- One fixed scenario, every document that tells the same quantity (F131).
DO $$
DECLARE
    v_detail jsonb;
    v_status jsonb;
    v_listed jsonb;
    v_depth jsonb;
    v_stored jsonb;
BEGIN
    PERFORM pg_temp.refresh(), queen.log_refresh_retained_bytes_v1();
    v_detail := queen.get_queue_v1('shop.cart');
    v_status := queen.get_queue_status_v1('shop.cart');
    v_depth := queen.log_queue_depth_v1('shop.cart');
    SELECT q INTO v_listed FROM jsonb_array_elements(queen.list_queues_v1()::jsonb -> 'queues') q WHERE q ->> 'name' = 'shop.cart';
    SELECT q INTO v_stored FROM jsonb_array_elements(queen.list_stored_queues_v1('shop.cart')::jsonb -> 'queues') q;
    ASSERT v_detail -> 'totals' = '{"total": 200, "pending": 160, "processing": 20, "completed": 38, "failed": null, "deadLetter": 2}', 'the detail, got ' || (v_detail -> 'totals')::text;
    ASSERT (pg_temp.of('shop.cart')).oldest_pending_at = '2026-07-01 09:04Z', 'S-17: the first offset behind the cursor';
    ASSERT v_status -> 'totals' -> 'messages' = v_detail -> 'totals', 'C-23, F131: both details agree';
    ASSERT v_stored -> 'messages' = (v_detail -> 'totals') - 'failed' AND v_stored ->> 'partitions' = '2', 'F131: stored and live agree after a cycle, got ' || v_stored::text;
    ASSERT v_listed -> 'messages' = '{"total": 200, "pending": 160, "processing": 20}' AND v_listed -> 'retainedBytes' = v_detail -> 'retainedBytes'
        AND v_listed -> 'segments' = v_detail -> 'segments', 'F131: the list agrees, got ' || v_listed::text;
    ASSERT v_depth @> '{"pending": 160, "processing": 20}', 'F131: depth agrees';
    ASSERT queen.list_namespaces_v1()::jsonb = '{"namespaces": [
        {"namespace": "empty", "queues": 1, "partitions": 0, "messages": {"total": 0, "pending": 0}},
        {"namespace": "shop", "queues": 2, "partitions": 3, "messages": {"total": 200, "pending": 160}},
        {"namespace": "stray", "queues": 1, "partitions": 1, "messages": {"total": 100, "pending": 4}}]}', 'C-31, got ' || queen.list_namespaces_v1()::text;
    ASSERT queen.list_tasks_v1()::jsonb = '{"tasks": [
        {"task": "cart", "queues": 1, "partitions": 2, "messages": {"total": 200, "pending": 160}},
        {"task": "gone", "queues": 1, "partitions": 1, "messages": {"total": 0, "pending": 0}}]}', 'C-31: tasks, got ' || queen.list_tasks_v1()::text;

    ASSERT (v_status -> 'queue') - 'id' - 'createdAt' = '{"name": "shop.cart", "namespace": "shop", "task": "cart", "priority": 0, "config": {"leaseTime": 60,
        "retryLimit": 3, "retryDelay": 1000, "ttl": 3600, "maxQueueSize": 0, "deadLetterQueue": true}}', 'C-23: six keys of configuration, got ' || (v_status -> 'queue')::text;
    ASSERT v_status -> 'partitions' -> 0 ->> 'oldestMessage' = '2026-07-01T09:04:00.000Z' AND v_status -> 'partitions' -> 0 -> 'stats' = v_detail -> 'partitions' -> 0 -> 'stats'
        AND v_status -> 'partitions' -> 0 -> 'messages' = v_status -> 'partitions' -> 0 -> 'stats', 'C-23: a partition';
    ASSERT v_status -> 'partitions' -> 0 ->> 'lastActivity' IS NULL AND v_status -> 'partitions' -> 0 -> 'cursor' = '{"totalConsumed": 0, "batchesConsumed": 0}', 'C-23: no lease yet';
    UPDATE queen.log_consumers SET lease_acquired_at = '2026-07-02 10:00Z', total_consumed = 40 WHERE consumer_group = 'g';
    UPDATE queen.log_consumers SET total_consumed = 2 WHERE consumer_group = 'h';
    v_status := queen.get_queue_status_v1('shop.cart');
    ASSERT v_status -> 'partitions' -> 0 ->> 'lastActivity' = '2026-07-02T10:00:00.000Z' AND v_status -> 'partitions' -> 0 -> 'cursor' ->> 'totalConsumed' = '42', 'C-23: of all groups';
    BEGIN
        PERFORM queen.get_queue_status_v1('nope');
        ASSERT false, 'http-api 5.4: an unknown queue is an error';
    EXCEPTION WHEN SQLSTATE 'QN404' THEN
        ASSERT SQLERRM = 'Queue not found', 'its words';
    END;
    ASSERT queen.list_stored_queues_v1(p_namespace => 'shop', p_max_rows => 1, p_skip => 1)::jsonb #>> '{queues,0,name}' = 'shop.cart'
        AND queen.list_stored_queues_v1(p_task => 'nope')::jsonb = '{"queues": [], "pagination": {"limit": 100, "offset": 0}}', 'http-api 5.4: filters and pages';
END $$;

-- Rates: what changed since the last cycle, never negative, and not over short windows (S-23, S-24, F127).
DO $$
DECLARE
    v_id uuid := pg_temp.part('fast', 'p', 0, 99);
    v_rate double precision;
BEGIN
    PERFORM pg_temp.refresh();
    ASSERT (pg_temp.of('fast')).ingested_per_second = 0 AND (pg_temp.of('fast')).prev_total_messages = 100, 'S-23: the first cycle has nothing to compare with';
    PERFORM pg_temp.age('10 s');
    UPDATE queen.stats SET prev_total_messages = prev_total_messages - 100 WHERE stat_key = (pg_temp.of('fast')).stat_key OR stat_type = 'system';
    PERFORM pg_temp.cursor_at(v_id, 'g', 49);
    PERFORM pg_temp.refresh();
    v_rate := (pg_temp.of('fast')).ingested_per_second;
    ASSERT v_rate BETWEEN 9 AND 10 AND (pg_temp.of('fast')).processed_per_second BETWEEN 4.5 AND 5, 'S-23: per second, got ' || v_rate::text;
    ASSERT (pg_temp.row('namespace', 'fast')).ingested_per_second = v_rate, 'S-24: labels sum their queues';
    ASSERT (pg_temp.row('system', 'global')).processed_per_second BETWEEN 4.5 AND 5, 'S-24: the whole by its own totals';
    PERFORM pg_temp.age('2.9 s');
    UPDATE queen.stats SET prev_total_messages = 0;
    PERFORM pg_temp.refresh();
    ASSERT (pg_temp.of('fast')).ingested_per_second = 0, 'S-24, F127: a window below 3 s gives 0';
    ASSERT (pg_temp.row('system', 'global')).processed_per_second BETWEEN 4.5 AND 5 AND (pg_temp.row('system', 'global')).ingested_per_second BETWEEN 9 AND 10,
        'S-24: the whole keeps its rate over a short window';
    PERFORM pg_temp.age('10 s');
    UPDATE queen.log_partitions SET log_start = 100, last_offset = 99, settled = true WHERE id = v_id;
    PERFORM pg_temp.refresh();
    ASSERT pg_temp.counts(pg_temp.of('fast')) = '{1,0,0,0,0,0}', 'S-25: total shrinks with retention';
    ASSERT (SELECT bool_and(s.ingested_per_second >= 0 AND s.processed_per_second >= 0) FROM queen.stats s), 'F127: no negative rate after a sweep';
    PERFORM pg_temp.age('-1 hour');
    UPDATE queen.stats SET prev_total_messages = 0;
    PERFORM pg_temp.refresh();
    ASSERT (SELECT bool_and(s.ingested_per_second = 0) FROM queen.stats s), 'F127: a clock that went back';
    ASSERT (SELECT bool_and(s.ingested_per_second < 'Infinity' AND s.processed_per_second < 'Infinity') FROM queen.stats s), 'F127: no NaN, no infinity';
END $$;

-- Labels that are no more, queues that are hidden, other tenants (S-26, C-30).
DO $$
DECLARE
    v_other uuid := '00000000-0000-0000-0000-0000000000bb';
    v_id uuid := pg_temp.part('shop.cart', 'p', 0, 9, false, '00000000-0000-0000-0000-0000000000bb');
    v_doc jsonb;
    v_mine jsonb;
BEGIN
    PERFORM pg_temp.refresh();
    ASSERT (SELECT array_agg(s.pending_messages ORDER BY s.tenant_id) FROM queen.stats s WHERE s.stat_type = 'namespace' AND s.stat_key = 'shop') = '{160,10}', 'S-26: a label of two tenants has two rows';
    v_doc := queen.get_overview_v1(v_other);
    ASSERT v_doc - 'timestamp' - 'statsAge' - 'lag' = '{"queues": 1, "partitions": 1, "namespaces": 1, "tasks": 1, "messages": {"total": 10, "pending": 10, "processing": 0,
        "completed": 0, "failed": 0, "deadLetter": 0}, "throughput": {"ingestedPerSecond": 0.00, "processedPerSecond": 0.00}}', 'C-30: a tenant sees its own, got ' || v_doc::text;
    ASSERT queen.list_namespaces_v1(v_other)::jsonb #>> '{namespaces,0,messages,total}' = '10', 'C-31: and its own labels';
    v_mine := queen.get_overview_v1();
    ASSERT v_mine @> '{"queues": 6, "partitions": 6, "namespaces": 4, "tasks": 2, "messages": {"pending": 174, "processing": 24, "total": 310, "completed": 134, "failed": 0, "deadLetter": 2}}',
        'C-30: the default tenant sees the cluster, got ' || v_mine::text;
    ASSERT v_mine -> 'lag' -> 'offset' @> '{"min": 0, "median": 0, "max": 160}' AND (v_mine #>> '{lag,time,max}')::numeric > 86400 AND v_mine #>> '{lag,time,min}' = '0', 'S-44: backlog age without deliveries';

    INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_message_count, ack_success_count, avg_lag_ms, max_lag_ms, lag_count)
    SELECT date_trunc('minute', clock_timestamp()) - make_interval(mins => m), (pg_temp.of('empty')).queue_id, 100, 50, lag, lag * 2, n
    FROM (VALUES (1, 100, 1), (2, 400, 3), (20, 90000, 7)) v (m, lag, n);
    INSERT INTO queen.worker_metrics_summary (total_push_messages, total_ack_success, total_ack_failed, total_dlq, updated_at) VALUES (5000000000, 4000, 7, 1, clock_timestamp());
    v_mine := queen.get_overview_v1();
    ASSERT v_mine -> 'messages' @> '{"total": 5000000000, "completed": 4000, "failed": 7, "deadLetter": 2}', 'C-30: lifetime totals, 64 bits, never below what is there, got ' || (v_mine -> 'messages')::text;
    ASSERT v_mine -> 'throughput' = '{"ingestedPerSecond": 0.67, "processedPerSecond": 0.33}', 'S-44: five minutes / 300, got ' || (v_mine -> 'throughput')::text;
    ASSERT v_mine -> 'lag' -> 'time' = '{"avg": 0.325, "median": 0.25, "min": 0, "max": 0.8}', 'S-44: delivery lag of the last five minutes first, got ' || (v_mine -> 'lag')::text;
    v_doc := queen.get_overview_v1(v_other);
    ASSERT v_doc #> '{messages,total}' = '10' AND v_doc #> '{throughput,ingestedPerSecond}' = '0' AND v_doc #>> '{lag,time,max}' <> '0.8', 'C-30: another tenant sees none of it';

    PERFORM queen.configure_queue_v1('shop.cart', '{"namespace": "mall", "task": null}');
    UPDATE queen.queues SET deleted_at = clock_timestamp() WHERE name IN ('stray', 'shop.gone');
    PERFORM pg_temp.refresh(), queen.log_refresh_retained_bytes_v1();
    ASSERT (SELECT array_agg(DISTINCT s.stat_key ORDER BY s.stat_key) FROM queen.stats s WHERE s.stat_type = 'namespace' AND s.tenant_id <> v_other) = '{empty,fast,mall}', 'S-26: labels that are no more go';
    ASSERT NOT EXISTS (SELECT FROM queen.stats s WHERE s.stat_type = 'task' AND s.tenant_id <> v_other), 'S-26: and the last one of its kind';
    ASSERT NOT EXISTS (SELECT FROM queen.stats s JOIN queen.queues q ON q.id = s.queue_id WHERE q.deleted_at IS NOT NULL), 'a hidden queue has no numbers';
    ASSERT pg_temp.counts(pg_temp.row('system', 'global')) = '{4,210,170,20,38,2}', 'nor is it part of the whole, got ' || pg_temp.counts(pg_temp.row('system', 'global'))::text;
    DELETE FROM queen.queues WHERE name = 'shop.cart';
    PERFORM pg_temp.refresh();
    ASSERT NOT EXISTS (SELECT FROM queen.stats s WHERE s.tenant_id = v_other), 'a tenant without queues has no rows';
END $$;

-- 64 bits: more messages than an integer holds, over a settled head alone, with a lease.
DO $$
DECLARE
    v_id uuid := pg_temp.part('huge', 'p', 0, 9);
BEGIN
    UPDATE queen.log_partitions SET last_offset = 9000000000000, settled = true WHERE id = v_id;
    PERFORM pg_temp.cursor_at(v_id, 'g', 1000000000000, 8000000000000);
    PERFORM pg_temp.refresh();
    ASSERT pg_temp.counts(pg_temp.of('huge')) = '{1,9000000000001,8000000000000,7000000000000,1000000000001,0}', 'S-12, S-13: 64 bits, got ' || pg_temp.counts(pg_temp.of('huge'))::text;
END $$;

-- How many were stored when (http-api 5.4).
DO $$
DECLARE
    v_id uuid := pg_temp.part('when', 'p', 20, 89);
    v_doc jsonb;
BEGIN
    UPDATE queen.log_partitions SET log_start = 30 WHERE id = v_id;
    v_doc := queen.get_message_series_v1('2026-07-01 09:02:30Z', '2026-07-01 09:06:00Z', 'minute', 'when');
    ASSERT v_doc = '{"interval": "minute", "from": "2026-07-01T09:02:30.000Z", "to": "2026-07-01T09:06:00.000Z", "dataPoints": [
        {"timestamp": "2026-07-01T09:02:00.000Z", "messages": 0}, {"timestamp": "2026-07-01T09:03:00.000Z", "messages": 10}, {"timestamp": "2026-07-01T09:04:00.000Z", "messages": 10},
        {"timestamp": "2026-07-01T09:05:00.000Z", "messages": 10}, {"timestamp": "2026-07-01T09:06:00.000Z", "messages": 10}]}', 'zero-filled, retained only, UTC; got ' || v_doc::text;
    v_doc := queen.get_message_series_v1('2026-07-01 00:00Z', '2026-07-02 00:00Z', 'week', 'when');
    ASSERT v_doc ->> 'interval' = 'hour' AND jsonb_array_length(v_doc -> 'dataPoints') = 25
        AND (SELECT sum((p ->> 'messages')::int) FROM jsonb_array_elements(v_doc -> 'dataPoints') p) = 60, 'another interval is an hour';
    ASSERT queen.get_message_series_v1('2026-06-30 18:00Z', '2026-07-01 10:00Z', 'day', 'when')::jsonb #> '{dataPoints,1}'
        = '{"timestamp": "2026-07-01T00:00:00.000Z", "messages": 60}', 'days in UTC, not in the time zone of the session';
    ASSERT queen.get_message_series_v1(p_namespace => 'nope')::jsonb #> '{dataPoints,24,messages}' = '0', 'the last 24 hours by default';
    ASSERT queen.get_message_series_v1('2026-07-02Z', '2026-07-01Z')::jsonb -> 'dataPoints' = '[]', 'a range that ends before it begins';
    BEGIN
        PERFORM queen.get_message_series_v1('2000-01-01Z', '2026-07-01Z', 'minute');
        ASSERT false, 'more points than anybody reads are refused';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN
        NULL;
    END;
END $$;

-- What the servers did, and how things stand (http-api 5.2, 5.3).
DO $$
DECLARE
    v_doc jsonb;
    v_now timestamptz := clock_timestamp();
    v_id uuid := (pg_temp.of('empty')).queue_id;
BEGIN
    DELETE FROM queen.queue_lag_metrics;
    DELETE FROM queen.worker_metrics_summary;
    v_doc := queen.get_status_v1();
    ASSERT v_doc -> 'throughput' = '[]' AND v_doc ->> 'pointCount' = '0' AND v_doc ->> 'bucketMinutes' = '1' AND v_doc -> 'workers' = '[]', 'nothing was flushed yet, got ' || v_doc::text;
    ASSERT v_doc -> 'leases' = '{"active": 1, "partitionsWithLeases": 1, "totalBatchSize": 7000000000000, "totalAcked": 0}', 'live leases, not those of hidden queues, got ' || (v_doc -> 'leases')::text;
    ASSERT v_doc -> 'deadLetterQueue' = '{"totalMessages": 0, "currentMessages": 0, "affectedPartitions": 0, "topErrors": []}', 'no dead letters, got ' || (v_doc -> 'deadLetterQueue')::text;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, error)
    SELECT p.id, 'g', 1, gen_random_uuid(), 'x', e FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id, unnest('{a,b,b,c,c,c,d,e,f}'::text[]) e WHERE q.name = 'huge';
    ASSERT queen.get_status_v1()::jsonb -> 'deadLetterQueue' = '{"totalMessages": 9, "currentMessages": 9, "affectedPartitions": 1, "topErrors": [{"error": "c", "count": 3},
        {"error": "b", "count": 2}, {"error": "a", "count": 1}, {"error": "d", "count": 1}, {"error": "e", "count": 1}]}', 'dead letters now, got ' || (queen.get_status_v1()::jsonb -> 'deadLetterQueue')::text;
    ASSERT (v_doc #>> '{messages,pending}')::bigint = (pg_temp.row('system', 'global')).pending_messages, 'F131: pending as everywhere';
    INSERT INTO queen.worker_metrics (flush_id, bucket_time, hostname, pid, flushed_at, push_request_count, push_message_count, pop_message_count, ack_message_count,
        ack_success_count, ack_failed_count, db_error_count, dlq_count, avg_lag_ms, max_lag_ms, lag_count, min_free_slots, db_connections)
    SELECT gen_random_uuid(), queen._bucket(v_now - ago, 1), host, 1, v_now - ago, 2, pushed, 60, 60, 50, 10, 1, 2, lag, lag * 2, n, 7, 8
    FROM (VALUES (interval '0', 'a', 120, 10, 1), (interval '0', 'b', 60, 40, 2), (interval '10 minutes', 'a', 6, 0, 0), (interval '2 days', 'c', 1, 9, 9)) v (ago, host, pushed, lag, n);
    PERFORM queen._add_totals(w) FROM queen.worker_metrics w;
    INSERT INTO queen.system_metrics ("timestamp", hostname, port, pid, metrics)
    VALUES (v_now, 'a', 1, 1, '{"cpu": {"user_us": {"avg": 1250}, "system_us": {"avg": 50}}, "memory": {"rss_bytes": {"avg": 52428800}}, "database": {"pool_size": {"avg": 8}, "pool_idle": {"avg": 6}, "pool_active": {"avg": 2}}}');
    INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_message_count, pop_count, ack_success_count) VALUES (queen._bucket(v_now, 1), v_id, 30, 20, 10);
    v_doc := queen.get_status_v1();
    ASSERT v_doc ->> 'pointCount' = '2' AND (v_doc #> '{throughput,0}') - 'timestamp' = '{"ingested": 180, "processed": 100, "popMessages": 120, "ingestedPerSecond": 3.00,
        "processedPerSecond": 1.67, "popPerSecond": 2.00, "avgLagMs": 30.00, "maxLagMs": 80, "avgEventLoopLagMs": 0.00, "maxEventLoopLagMs": 0, "minFreeSlots": 7, "dbErrors": 2,
        "ackFailed": 20, "dlqCount": 4, "queenCpuUserPct": 12.50, "queenCpuSysPct": 0.50, "queenRssMb": 50.00, "dbPoolActive": 2.00, "dbPoolIdle": 6.00, "dbPoolSize": 8.00}',
        'a bucket sums servers and weights their lag, got ' || (v_doc #> '{throughput,0}')::text;
    ASSERT v_doc #>> '{throughput,1,ingested}' = '6' AND v_doc #> '{throughput,1,avgLagMs}' = 'null', 'S-40: newest first, no lag without deliveries';
    ASSERT v_doc -> 'errors' = '{"dbErrors": 3, "ackFailed": 30, "dlqMessages": 6}' AND jsonb_array_length(v_doc -> 'workers') = 2
        AND v_doc #> '{workers,0}' @> '{"hostname": "a", "freeSlots": 7, "dbConnections": 8, "jobQueueSize": null, "messagesProcessed": 240}', 'servers seen lately, got ' || (v_doc -> 'workers')::text;
    ASSERT v_doc -> 'messages' @> '{"requests": {"push": 8, "pop": 0, "ack": 0}, "batchEfficiency": {"push": 23.38, "pop": 240.00, "ack": 240.00}, "failed": 40}', 'C-30: since the beginning, got ' || (v_doc -> 'messages')::text;
    v_doc := queen.get_status_v1(p_queue => 'empty');
    ASSERT v_doc ->> 'pointCount' = '2' AND v_doc #> '{throughput,0}' @> '{"ingested": 30, "popMessages": 20, "processed": 10, "queenRssMb": 50.00}' AND v_doc -> 'queues' = '[]', 'a filter switches to the counters of the queue, got ' || v_doc::text;
    v_doc := queen.get_status_v1(p_queue => 'huge');
    ASSERT v_doc #>> '{queues,0,name}' = 'huge' AND jsonb_array_length(v_doc -> 'queues') = 1 AND v_doc #>> '{queues,0,totalConsumed}' = '0', 'and to the queue';
    v_doc := queen.get_status_v1(v_now - interval '3 days', v_now);
    ASSERT v_doc ->> 'bucketMinutes' = '60' AND v_doc #>> '{throughput,0,ingestedPerSecond}' IN ('0.05', '0.00') AND (v_doc #>> '{throughput,1,timestamp}')::timestamptz = queen._bucket(v_now - interval '2 days', 60)
        OR v_doc ->> 'pointCount' = '3', 'http-api 5.2: wider buckets, got ' || (v_doc -> 'throughput')::text;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id)
    SELECT p.id, 'g', 31, gen_random_uuid(), 'x' FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'when';
    PERFORM pg_temp.refresh();
    ASSERT pg_temp.counts(pg_temp.of('when')) = '{1,60,60,0,0,1}', 'S-15: completed is never negative, got ' || pg_temp.counts(pg_temp.of('when'))::text;
END $$;
ROLLBACK;
