-- What servers counted: merges, lifetime totals, repeats; partitions created and deleted; the bucket rule.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/metrics_flush.sql (on a migrated database).
BEGIN;
SET LOCAL TimeZone = 'Asia/Kolkata';

CREATE FUNCTION pg_temp.flush(p_host text, p_worker jsonb, p_queues jsonb, p_id uuid DEFAULT gen_random_uuid()) RETURNS integer
LANGUAGE sql AS $$
    SELECT worked FROM queen.log_flush_metrics_v1(p_id, p_host, 6632, 1, p_worker, '{"samples": 60, "memory": {"rss_bytes": {"avg": 1, "min": 1, "max": 1, "last": 1}}}', p_queues)
$$;

-- S-40, spec 5.2: the widths at their edges, and buckets that no time zone moves (F125).
DO $$
DECLARE
    v_at timestamptz := '2026-03-29 00:00Z';
    r record;
BEGIN
    FOR r IN SELECT * FROM (VALUES ('0', 1), ('-1 hour', 1), ('1 hour', 1), ('1 hour 1 second', 5), ('6 hours', 5), ('6 hours 1 second', 15),
        ('24 hours', 15), ('24 hours 1 second', 60), ('168 hours', 60), ('168 hours 1 second', 360), ('10 years', 360)) w (width, minutes)
    LOOP
        ASSERT queen._bucket_minutes(v_at, v_at + r.width::interval) = r.minutes, r.width;
    END LOOP;
    ASSERT queen._bucket('2026-03-29 07:59:59Z', 360) = '2026-03-29 06:00Z' AND queen._bucket('2026-03-29 00:59:59.999Z', 15) = '2026-03-29 00:45Z', 'in UTC';
    ASSERT queen._bucket_minutes('-infinity', 'infinity') = 360, 'of all time';
END $$;

DO $$
DECLARE
    v_tenant text := queen._tenant(NULL)::text;
    v_q uuid := queen._ensure_queue('q', queen._tenant(NULL));
    v_partition text;
    v_flush uuid := gen_random_uuid();
    v_one jsonb;
    r queen.queue_lag_metrics;
    s queen.worker_metrics_summary;
BEGIN
    PERFORM queen.push_v1('q', '1', 'p');
    SELECT id::text INTO v_partition FROM queen.log_partitions WHERE queue_id = v_q;
    v_one := jsonb_build_object('tenant_id', v_tenant, 'queue', 'q', 'push_requests', 1, 'push_messages', 10, 'pop_messages', 4, 'pop_empty', 2,
        'transactions', 1, 'ack_requests', 3, 'ack_success', 4, 'ack_failed', 1, 'conflated', 6, 'lag_ms', 400, 'lag_count', 4, 'max_lag_ms', 300, 'parked', 1.5);
    ASSERT pg_temp.flush('one', '{"push_messages": 10, "lag_ms": 400, "lag_count": 4, "max_lag_ms": 300}', jsonb_build_array(v_one), v_flush) = 1, 'one queue';
    -- S-36: another server, in the same minute; the queue is meant by one of its partitions, and twice.
    PERFORM pg_temp.flush('two', '{"push_messages": 5, "db_errors": 2}', jsonb_build_array(
        jsonb_build_object('tenant_id', v_tenant, 'partition_id', v_partition, 'ack_success', 7, 'lag_ms', 6000, 'lag_count', 6, 'max_lag_ms', 2500, 'parked', 0.5),
        jsonb_build_object('tenant_id', v_tenant, 'queue', 'q', 'push_messages', 5)));
    SELECT bucket_time INTO STRICT r.bucket_time FROM queen.queue_lag_metrics WHERE queue_id = v_q ORDER BY 1 DESC LIMIT 1;
    IF (SELECT count(*) FROM queen.queue_lag_metrics WHERE queue_id = v_q) = 1 THEN -- the minute may just have turned
        SELECT * INTO r FROM queen.queue_lag_metrics WHERE queue_id = v_q;
        ASSERT (r.push_request_count, r.push_message_count, r.pop_count, r.pop_empty_count, r.transaction_count, r.ack_request_count,
            r.ack_success_count, r.ack_failed_count, r.conflated_count, r.lag_count) = (1, 15, 4, 2, 1, 3, 11, 1, 6, 10), 'counters add up: ' || r::text;
        ASSERT r.avg_lag_ms = 640 AND r.max_lag_ms = 2500 AND r.parked_count = 2, 'S-36: weighted average, greatest, sum: ' || r::text;
        ASSERT r.bucket_time = date_trunc('minute', r.bucket_time AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', 'a minute';
    END IF;
    ASSERT (SELECT array_agg(hostname || ' ' || parked_count ORDER BY hostname) FROM queen.queue_parked_replica) = '{one 1.5,two 0.5}', 'and each server by itself';

    -- A flush that is sent again counts once, whatever it brings.
    ASSERT pg_temp.flush('one', '{"push_messages": 10}', jsonb_build_array(v_one), v_flush) = 0, 'known';
    ASSERT (SELECT sum(push_message_count) FROM queen.queue_lag_metrics) = 15, 'nothing twice';
    SELECT * INTO s FROM queen.worker_metrics_summary;
    ASSERT (s.total_push_messages, s.total_db_errors) = (15, 2) AND s.updated_at IS NOT NULL, 'lifetime totals: ' || s::text;
    ASSERT (SELECT (avg_lag_ms, max_lag_ms, lag_count) = (100::float8, 300, 4) FROM queen.worker_metrics WHERE flush_id = v_flush), 'the server''s own row';
    -- F-purge: the totals outlive the rows.
    DELETE FROM queen.worker_metrics;
    ASSERT (SELECT total_push_messages FROM queen.worker_metrics_summary) = 15, 'totals stay';
    ASSERT (SELECT count(*) = 2 AND bool_and(sample_count = 60 AND NOT metrics ? 'samples') FROM queen.system_metrics), 'samples';

    -- What is not there is left out; a flush of nothing is a sign of life.
    ASSERT pg_temp.flush('one', '{}', jsonb_build_array(jsonb_build_object('tenant_id', v_tenant, 'queue', 'nowhere', 'push_messages', 1),
        jsonb_build_object('tenant_id', v_tenant, 'partition_id', gen_random_uuid(), 'ack_success', 1),
        jsonb_build_object('tenant_id', gen_random_uuid(), 'queue', 'q', 'push_messages', 1))) = 0, 'no such queue, partition, tenant';
    ASSERT (SELECT count(*) FROM queen.worker_metrics) = 1, 'a row all the same';
END $$;

-- E-14: each statement is noted, none is lost, a queue that goes takes its own with it.
DO $$
DECLARE
    v_a uuid;
    v_b uuid;
BEGIN
    DELETE FROM queen.queue_lag_metrics;
    DELETE FROM queen.partition_events;
    PERFORM queen.push_many_v1('a', ARRAY['1', '2', '3']::json[], ARRAY['x', 'y', 'x']);
    PERFORM queen.push_v1('a', '1', 'x'); -- not created again
    PERFORM queen.push_v1('b', '1');
    v_a := (SELECT id FROM queen.queues WHERE name = 'a');
    v_b := (SELECT id FROM queen.queues WHERE name = 'b');
    ASSERT (SELECT sum(created) FROM queen.partition_events WHERE queue_id = v_a) = 2, 'two partitions of a';
    DELETE FROM queen.log_partitions WHERE queue_id = v_a AND name = 'y';
    UPDATE queen.partition_events SET at = '2026-01-01 00:00:30Z' WHERE queue_id = v_a AND deleted = 0;
    UPDATE queen.partition_events SET at = '2026-01-01 00:01:30Z' WHERE queue_id = v_a AND deleted > 0;
    DELETE FROM queen.queues WHERE id = v_b;
    WHILE NOT (SELECT done FROM queen.log_fold_partition_events_step_v1(1)) LOOP END LOOP;
    ASSERT NOT EXISTS (SELECT FROM queen.partition_events), 'all of them';
    ASSERT (SELECT array_agg(format('%s %s %s', to_char(bucket_time AT TIME ZONE 'UTC', 'MI'), partitions_created, partitions_deleted) ORDER BY bucket_time)
        FROM queen.queue_lag_metrics) = '{00 2 0,01 0 1}', 'by the minute that they happened in';
    DELETE FROM queen.queues WHERE id = v_a;
    ASSERT NOT EXISTS (SELECT FROM queen.queue_lag_metrics), 'seed: metric rows go with the queue';
END $$;

-- Refusals.
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT * FROM (VALUES (NULL::uuid, 'h', '{}'::jsonb, '{}'::jsonb, '[]'::jsonb), (gen_random_uuid(), NULL, '{}', '{}', '[]'),
        (gen_random_uuid(), 'h', NULL, '{}', '[]'), (gen_random_uuid(), 'h', '[]', '{}', '[]'), (gen_random_uuid(), 'h', '{}', '{}', '{}')) v (id, host, w, s, q)
    LOOP
        BEGIN
            PERFORM queen.log_flush_metrics_v1(r.id, r.host, 1, 1, r.w, r.s, r.q);
            ASSERT false, 'refused: ' || r::text;
        EXCEPTION WHEN SQLSTATE 'QN400' THEN
            NULL;
        END;
    END LOOP;
END $$;

ROLLBACK;
