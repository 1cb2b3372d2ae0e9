-- The views for people: what they say is what the documents say, for their tenant only, and a reader may look (F131).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/status_views.sql (on a migrated database).
BEGIN;
SET LOCAL TimeZone = 'Asia/Kolkata';
SET LOCAL client_min_messages = warning;

-- Two partitions, two groups, a live lease, a lease that is over, a dead letter.
DO $$
DECLARE
    v_lease text;
BEGIN
    PERFORM queen.push_many_v1('shop.cart', ARRAY(SELECT to_json(n) FROM generate_series(1, 12) n), ARRAY(SELECT CASE WHEN n <= 8 THEN 'a' ELSE 'b' END FROM generate_series(1, 12) n));
    PERFORM queen.configure_queue_v1('idle.lane');
    PERFORM queen.pop_v1('shop.cart', 3, 'fast', 'a', p_auto_ack => true, p_subscription_mode => 'all');
    PERFORM queen.pop_v1('shop.cart', 2, 'fast', 'a', p_subscription_mode => 'all');
    SELECT min(p.lease_id) INTO v_lease FROM queen.pop_v1('shop.cart', 1, 'slow', 'b', p_subscription_mode => 'all') p;
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() - interval '1 s' WHERE worker_id = v_lease;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id)
    SELECT p.id, 'fast', 1, gen_random_uuid(), 't' FROM queen.log_partitions p WHERE p.name = 'a';
    INSERT INTO queen.queues (tenant_id, name) VALUES ('00000000-0000-0000-0000-0000000000bb', 'foreign');
    INSERT INTO queen.log_partitions (queue_id, name) SELECT q.id, 'x' FROM queen.queues q WHERE q.name = 'foreign';
    INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT p.id, 'g' FROM queen.log_partitions p WHERE p.name = 'x';
END $$;

DO $$
DECLARE
    v queen.queue_status;
    d jsonb := queen.get_queue_v1('shop.cart');
    r record;
BEGIN
    SELECT s.* INTO v FROM queen.queue_status s WHERE s.queue = 'shop.cart';
    ASSERT (v.namespace, v.task, v.partitions, v.messages, v.pending, v.processing, v.ready, v.completed, v.dead_letters)
        = ('shop', 'cart', 2, 12, 9, 2, 7, 2, 1), 'S-11 to S-16 by hand: ' || v::text;
    ASSERT jsonb_build_object('total', v.messages, 'pending', v.pending, 'processing', v.processing, 'completed', v.completed, 'failed', NULL, 'deadLetter', v.dead_letters)
        = d -> 'totals', 'F131: the detail says ' || (d -> 'totals')::text;
    ASSERT v.oldest_pending_at = (SELECT min(s.created_at) FROM queen.log_segments s) AND v.lag_seconds = floor(extract(epoch FROM clock_timestamp() - v.oldest_pending_at)),
        'S-17, S-18: ' || v::text;
    ASSERT v.size_bytes = (SELECT sum(s.bytes) FROM queen.log_segments s) AND v.size_bytes > 12, 'size is that of a recount: ' || v::text;
    ASSERT (v.retained_bytes, v.ingested_per_second, v.rates_at IS NULL) = (0, 0, true), 'nothing was counted yet: ' || v::text;
    INSERT INTO queen.stats (stat_type, stat_key, queue_id, retained_bytes, ingested_per_second, processed_per_second, last_computed_at)
    VALUES ('queue', v.queue_id::text, v.queue_id, 77, 1.5, 0.5, now());
    SELECT s.* INTO v FROM queen.queue_status s WHERE s.queue = 'shop.cart';
    ASSERT (v.retained_bytes, v.ingested_per_second, v.processed_per_second, v.rates_at) = (77, 1.5, 0.5, now()), 'what was counted: ' || v::text;
    SELECT s.* INTO v FROM queen.queue_status s WHERE s.queue = 'idle.lane';
    ASSERT (v.partitions, v.messages, v.pending, v.lag_seconds, v.oldest_pending_at IS NULL, v.newest_message_at IS NULL) = (0, 0, 0, 0, true, true), 'S-19: ' || v::text;

    FOR r IN SELECT s.*, p.doc FROM queen.partition_status s JOIN (SELECT x ->> 'name' AS name, x AS doc FROM jsonb_array_elements(d -> 'partitions') x) p ON p.name = s.partition LOOP
        ASSERT jsonb_build_object('total', r.messages, 'pending', r.pending, 'processing', r.processing, 'completed', r.completed, 'failed', NULL, 'deadLetter', r.dead_letters)
            = r.doc -> 'stats', 'F131: ' || r::text;
        ASSERT (queen._utc_ms(r.oldest_pending_at), queen._utc_ms(r.newest_message_at)) IS NOT DISTINCT FROM (r.doc ->> 'oldestMessage', r.doc ->> 'newestMessage'), 'the same times: ' || r::text;
    END LOOP;
    ASSERT (SELECT (count(*), sum(p.messages), sum(p.size_bytes)) FROM queen.partition_status p)
        = (SELECT (q.partitions, q.messages::numeric, q.size_bytes::numeric) FROM queen.queue_status q WHERE q.queue = 'shop.cart'), 'partitions add up';
    ASSERT (SELECT count(*) = 0 FROM queen.list_partition_status_v1('idle.lane')) AND (SELECT count(*) = 1 FROM queen.list_queue_status_v1('idle.lane')), 'one queue only';
END $$;

-- Groups agree with the document; what another group does is not theirs; a stray cursor is shown (F123).
DO $$
DECLARE
    r record;
BEGIN
    PERFORM queen.pop_v1('shop.cart', 1, NULL, 'b', p_subscription_mode => 'all');
    INSERT INTO queen.consumer_groups_metadata (consumer_group, queue_id, subscription_mode, subscription_timestamp)
    SELECT 'subscribed', q.id, 'all', 'epoch' FROM queen.queues q WHERE q.name = 'shop.cart';
    DELETE FROM queen.group_activity WHERE consumer_group = 'slow';
    INSERT INTO queen.group_activity SELECT q.id, 'slow', 0, now() - interval '2 h', now() FROM queen.queues q WHERE q.name = 'shop.cart';
    FOR r IN
        SELECT s.*, g.doc
        FROM queen.group_status s
        FULL JOIN (SELECT x AS doc FROM jsonb_array_elements(queen.list_consumer_groups_v1()::jsonb) x) g ON g.doc ->> 'name' = s.consumer_group AND g.doc ->> 'queueName' = s.queue
    LOOP
        ASSERT (r.partitions, r.partitions_behind, r.behind, r.lag_seconds, r.subscription_mode) IS NOT DISTINCT FROM
            ((r.doc ->> 'partitionCursors')::bigint, (r.doc ->> 'partitionsWithLag')::bigint, (r.doc ->> 'totalLag')::bigint, (r.doc ->> 'maxTimeLag')::bigint, r.doc ->> 'subscriptionMode'),
            'F131: ' || r::text;
    END LOOP;
    ASSERT (SELECT (g.behind, g.leases, g.consumed, g.last_active_at > now() - interval '1 h') = (5, 1, 3, true) FROM queen.group_status g WHERE g.consumer_group = 'fast'), 'one live lease: ' || (SELECT g::text FROM queen.group_status g WHERE g.consumer_group = 'fast');
    ASSERT (SELECT (g.behind, g.leases, g.last_active_at) = (4, 0, now() - interval '2 h') FROM queen.group_status g WHERE g.consumer_group = 'slow'), 'a lease that is over';
    ASSERT (SELECT (g.partitions, g.partitions_behind, g.behind, g.subscription_mode) = (0, 2, 12, 'all') FROM queen.group_status g WHERE g.consumer_group = 'subscribed'), 'owes all';
    ASSERT (SELECT count(*) = 1 FROM queen.group_status g WHERE g.consumer_group = '__QUEUE_MODE__'), 'F123: the stray cursor is listed';
END $$;

-- What deletes, or why nothing does (F081).
DO $$
DECLARE
    r record;
    v queen.retention_status;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        (1, '{}', false, 'nothing is set'),
        (2, '{"completedRetentionSeconds": 60}', false, 'retentionEnabled is false'),
        (3, '{"retentionEnabled": true, "completedRetentionSeconds": 0}', false, 'no window and no limit is set'),
        (4, '{"retentionSeconds": 60}', true, NULL),
        (5, '{"retentionEnabled": false, "maxWaitTimeSeconds": 60}', true, NULL)) t (n, options, active, why) ORDER BY t.n
    LOOP
        PERFORM queen.configure_queue_v1('shop.cart', r.options::jsonb, 'merge');
        SELECT s.* INTO v FROM queen.retention_status s WHERE s.queue = 'shop.cart';
        ASSERT (v.active, v.inactive_because) IS NOT DISTINCT FROM (r.active, r.why), format('F081: %s: %s', r.options, v);
    END LOOP;
    PERFORM queen.configure_queue_v1('shop.cart', '{"retentionEnabled": true}', 'merge');
    UPDATE queen.log_partitions SET oldest_live_at = clock_timestamp() - interval '100 s', reclaimed_to = -1 WHERE name = 'a';
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted, bytes_deleted, executed_at)
    SELECT s.tenant_id, s.id, gen_random_uuid(), 'retention', n, 10 * n, now() - n * interval '13 h' FROM queen.queues s, generate_series(1, 2) n WHERE s.name = 'shop.cart';
    SELECT s.* INTO v FROM queen.retention_status s WHERE s.queue = 'shop.cart';
    ASSERT (v.retention_seconds, v.max_wait_time_seconds, v.messages, v.oldest_age_seconds, v.overdue_seconds, v.unreclaimed_partitions, v.deleted_last_day, v.deleted_bytes_last_day, v.last_deleted_at)
        = (60, 60, 12, 100, 40, 1, 1, 10, now() - interval '13 h'), v::text;
END $$;

-- Tasks, paused, running, late; and the settler.
DO $$
BEGIN
    ASSERT (SELECT (m.overdue_seconds, m.last_end_at IS NULL) = (0, true) FROM queen.maintenance_status m WHERE m.task = 'settle'), 'the settler never ran';
    INSERT INTO queen.clock_marks VALUES (clock_timestamp() - interval '32 s', '5');
    INSERT INTO queen.maintenance_leases (task, period_ms, next_due_at, lease_until, holder, enabled)
    VALUES ('late', 10000, clock_timestamp() - interval '50 s', NULL, NULL, true), ('paused', 10000, clock_timestamp() - interval '50 s', NULL, NULL, false),
        ('running', 10000, clock_timestamp() - interval '50 s', clock_timestamp() + interval '50 s', 'me', true), ('dead', 500, clock_timestamp() - interval '50 s', clock_timestamp() - interval '1 s', 'it', true);
    ASSERT (SELECT array_agg(concat_ws(' ', m.task, m.enabled, m.period_seconds, m.overdue_seconds, m.running, m.holder)) = '{dead t 0.5 50 f it,late t 10 50 f,paused f 10 0 f,running t 10 0 t me,settle t 2 30 f}'
        FROM queen.maintenance_status m), 'S-9: ' || (SELECT string_agg(m::text, ' ') FROM queen.maintenance_status m);
END $$;

-- Every view and each of its columns says what it is.
DO $$
BEGIN
    ASSERT (SELECT string_agg(concat_ws('.', c.relname, a.attname), ' ') IS NULL
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum >= 0
        WHERE c.relnamespace = 'queen'::regnamespace AND c.relname LIKE '%\_status' AND coalesce(col_description(c.oid, a.attnum), '') = ''), 'comments';
    ASSERT (SELECT count(*) = 5 FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relname LIKE '%\_status' AND obj_description(c.oid, 'pg_class') <> ''), 'comments on views';
    ASSERT NOT EXISTS (SELECT FROM queen.queue_status WHERE queue = 'foreign') AND NOT EXISTS (SELECT FROM queen.group_status WHERE queue = 'foreign')
        AND NOT EXISTS (SELECT FROM queen.partition_status WHERE queue = 'foreign') AND NOT EXISTS (SELECT FROM queen.retention_status WHERE queue = 'foreign'), 'E-5';
END $$;

ROLLBACK;
