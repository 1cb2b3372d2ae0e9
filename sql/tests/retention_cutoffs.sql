-- What retention may take from each queue: the policy, absurd stored values, the hold of a sink, idle groups; and the values
-- that a sink's pointer is one of.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/retention_cutoffs.sql (on a migrated database).
BEGIN;
SET LOCAL client_min_messages = warning;

CREATE FUNCTION pg_temp.error_of(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_detail text;
BEGIN
    EXECUTE p_sql;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(' ', SQLSTATE, v_detail);
END $$;
CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT '2026-01-10T12:00:00Z'::timestamptz $$;
-- The cut-offs of a queue as seconds before the fixed now.
CREATE FUNCTION pg_temp.cut(p_queue text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'age', extract(epoch FROM c.at - c.age_before)::bigint, 'completed', extract(epoch FROM c.at - c.completed_before)::bigint,
        'evict', extract(epoch FROM c.at - c.evict_before)::bigint, 'hashes', extract(epoch FROM c.at - c.hashes_before)::bigint,
        'bytes', c.max_bytes, 'messages', c.max_messages, 'idle', extract(epoch FROM c.at - c.idle_before)::bigint, 'groups', c.idle_groups,
        'hold', nullif(c.hold, '')))
    FROM queen.log_retention_cutoffs_v1(NULL, pg_temp.now()) c WHERE c.queue = p_queue
$$;
CREATE FUNCTION pg_temp.point(p_value jsonb, p_queue text DEFAULT 'sink') RETURNS void LANGUAGE sql AS $$
    SELECT queen.kv_put_v1('queen-s3', queen._sink_key('mirror', p_queue), p_value)
$$;

DO $$
DECLARE
    v_cut jsonb;
BEGIN
    PERFORM queen.configure_queue_v1('plain');
    ASSERT pg_temp.cut('plain') = '{"hashes": 3600}', 'R-1: a queue without options loses hash rows only: ' || pg_temp.cut('plain')::text;
    PERFORM queen.configure_queue_v1('off', '{"retentionSeconds": 5, "completedRetentionSeconds": 6, "retentionBytes": 7, "retentionMessages": 8, "dedupWindowSeconds": 0}');
    ASSERT pg_temp.cut('off') = '{"hashes": 900}', 'R-2, F081: the switch is off: ' || pg_temp.cut('off')::text;
    PERFORM queen.configure_queue_v1('off', '{"retentionEnabled": true, "maxWaitTimeSeconds": 9}');
    ASSERT pg_temp.cut('off') = '{"age": 5, "completed": 6, "bytes": 7, "messages": 8, "evict": 9, "hashes": 900}', 'R-2, R-8: ' || pg_temp.cut('off')::text;
    PERFORM queen.configure_queue_v1('off', '{"retentionEnabled": false, "completedRetentionSeconds": 5000}');
    ASSERT pg_temp.cut('off') = '{"evict": 9, "hashes": 5000}', 'R-21: eviction asks for no switch; R-25: nor does the window of hashes: ' || pg_temp.cut('off')::text;
    PERFORM queen.configure_queue_v1('off', '{"retentionEnabled": true, "retentionSeconds": 3600, "completedRetentionSeconds": 0, "retentionBytes": null, "retentionMessages": null}');
    ASSERT pg_temp.cut('off') ->> 'age' = '3600', 'F093: a longer window';
    PERFORM queen.configure_queue_v1('off', '{"retentionSeconds": 1}');
    ASSERT pg_temp.cut('off') ->> 'age' = '1', 'F093: and a shorter one, from the next cycle on';
    PERFORM queen.configure_queue_v1('off', '{"retentionSeconds": 0}');
    ASSERT NOT pg_temp.cut('off') ?| ARRAY['age', 'completed', 'bytes', 'messages'], 'R-2: the switch alone sweeps nothing';

    PERFORM queen.configure_queue_v1('keyed', '{"retentionEnabled": true, "retentionSeconds": 5, "completedRetentionSeconds": 6, "retentionBytes": 7, "retentionMessages": 8, "maxWaitTimeSeconds": 9, "cleanupPolicy": "compact"}');
    ASSERT pg_temp.cut('keyed') = '{"evict": 9, "hashes": 3600}', 'design 5: compact runs eviction alone: ' || pg_temp.cut('keyed')::text;
    PERFORM queen.configure_queue_v1('keyed', '{"cleanupPolicy": "compact,delete"}');
    ASSERT pg_temp.cut('keyed') = '{"age": 5, "completed": 6, "bytes": 7, "messages": 8, "evict": 9, "hashes": 3600}', 'design 5: compact,delete runs both';

    -- Whatever stands in the row, every queue is answered (F082).
    PERFORM queen.configure_queue_v1('absurd');
    UPDATE queen.queues SET retention_enabled = true, retention_seconds = 2147483647, completed_retention_seconds = 2147483647, max_wait_time_seconds = 2147483647,
        dedup_window_seconds = 2147483647, retention_bytes = 9223372036854775807, retention_messages = 9223372036854775807, group_idle_seconds = 2147483647,
        retention_sink_hold = 'mirror', retention_sink_hold_max_seconds = 2147483647
    WHERE name = 'absurd';
    v_cut := pg_temp.cut('absurd');
    ASSERT v_cut @> '{"age": 2147483647, "completed": 2147483647, "evict": 2147483647, "hashes": 2147483647, "idle": 2147483647, "hold": "cap"}', 'F082: ' || v_cut::text;
    UPDATE queen.queues SET retention_seconds = -1, completed_retention_seconds = -2147483648, max_wait_time_seconds = -5,
        dedup_window_seconds = -2147483648, retention_bytes = -9223372036854775808, retention_messages = -1, group_idle_seconds = -300,
        retention_sink_hold_max_seconds = -2147483648
    WHERE name = 'absurd';
    ASSERT pg_temp.cut('absurd') = '{"hashes": 900, "hold": "cap"}', 'F082: negative is off: ' || pg_temp.cut('absurd')::text;
    ASSERT (SELECT count(*) = 4 AND count(DISTINCT c.at) = 1 FROM queen.log_retention_cutoffs_v1() c), 'one row a queue, one reading of the clock';
    UPDATE queen.queues SET deleted_at = now() WHERE name = 'absurd';
    ASSERT pg_temp.cut('absurd') IS NULL AND (SELECT count(*) FROM queen.log_retention_cutoffs_v1()) = 3, 'a queue that is being deleted has none';
    ASSERT (SELECT array_agg(c.queue) = '{plain}' FROM queen.log_retention_cutoffs_v1(ARRAY(SELECT q.id FROM queen.queues q WHERE q.name = 'plain')) c), 'only those given';
END $$;

-- The hold of a sink: a floor of the two cut-offs that delete segments, and of no other.
DO $$
DECLARE
    v_bad text;
    v_all jsonb := '{"retentionEnabled": true, "retentionSeconds": 100, "completedRetentionSeconds": 50, "maxWaitTimeSeconds": 10, "retentionSinkHold": "mirror", "retentionSinkHoldMaxSeconds": 1000}';
BEGIN
    PERFORM queen.configure_queue_v1('sink', v_all), queen.configure_queue_v1('other', v_all - 'retentionSinkHold');
    ASSERT pg_temp.cut('sink') = '{"age": 1000, "completed": 1000, "evict": 10, "hashes": 3600, "hold": "cap"}', 'R-42, R-43, R-45: no pointer: ' || pg_temp.cut('sink')::text;
    PERFORM pg_temp.point('{"tEnd": "2026-01-10T11:55:00Z"}');
    ASSERT pg_temp.cut('sink') = '{"age": 360, "completed": 360, "evict": 10, "hashes": 3600, "hold": "pointer"}', 'R-42: 60 s before the end of the window: ' || pg_temp.cut('sink')::text;
    PERFORM pg_temp.point('{"tEnd": "2026-01-10T13:59:30.123456+02:00", "x": [1]}');
    ASSERT pg_temp.cut('sink') @> '{"age": 100, "completed": 90}', 'R-42: a floor, no more: ' || pg_temp.cut('sink')::text;
    PERFORM pg_temp.point('{"tEnd": "2026-01-09T00:00:00Z"}');
    ASSERT pg_temp.cut('sink') @> '{"age": 1000, "completed": 1000, "hold": "cap"}', 'R-42: held for so long at most';
    PERFORM pg_temp.point('{"tEnd": "2026-01-10T11:55:00z"}');
    ASSERT pg_temp.cut('sink') @> '{"age": 360}', 'RFC 3339 in lower case';
    FOREACH v_bad IN ARRAY ARRAY['null', '1', '"2026-01-10T11:55:00Z"', '[]', '{}', '{"tend": "2026-01-10T11:55:00Z"}', '{"tEnd": null}', '{"tEnd": 1768046100}',
        '{"tEnd": ""}', '{"tEnd": "now"}', '{"tEnd": "infinity"}', '{"tEnd": "-infinity"}', '{"tEnd": "epoch"}', '{"tEnd": "2026-01-10"}', '{"tEnd": "2026-01-10T11:55:00"}',
        '{"tEnd": "2026-13-45T99:99:99Z"}', '{"tEnd": "2026-02-30T00:00:00Z"}', '{"tEnd": "0000-00-00T00:00:00Z"}', '{"tEnd": "9999-12-31T25:00:00Z"}', '{"tEnd": {"tEnd": "2026-01-10T11:55:00Z"}}',
        '{"tEnd": "2026-01-10T11:55:00+99:99"}', '{"tEnd": "2026-01-10T11:55:00Z\n"}']
    LOOP
        PERFORM pg_temp.point(v_bad::jsonb);
        ASSERT pg_temp.cut('sink') @> '{"age": 1000, "completed": 1000, "hold": "cap"}', format('R-45, F103: %s leaves the cap: %s', v_bad, pg_temp.cut('sink'));
        ASSERT pg_temp.cut('other') = '{"age": 100, "completed": 50, "evict": 10, "hashes": 3600}', 'R-45, F103: and no other queue is touched';
    END LOOP;
    PERFORM pg_temp.point('{"tEnd": "2026-01-10T11:55:00Z"}');
    UPDATE queen.kv SET expires_at = pg_temp.now();
    ASSERT pg_temp.cut('sink') @> '{"age": 1000, "hold": "cap"}', 'R-45: an ended pointer';
    UPDATE queen.kv SET expires_at = pg_temp.now() + interval '1 s';
    ASSERT pg_temp.cut('sink') @> '{"age": 360}', 'R-45: not yet';
    UPDATE queen.kv SET tenant_id = gen_random_uuid();
    ASSERT pg_temp.cut('sink') @> '{"hold": "cap"}', 'R-44: of the queue''s own tenant';
    -- Names with what would end the key.
    ASSERT queen._sink_key('s3.a_b-C', 'orders') = 's3:s3.a_b-C:orders:committed', queen._sink_key('s3.a_b-C', 'orders');
    ASSERT queen._sink_key('m', 'a:b/c %é') = 's3:m:a%3Ab%2Fc%20%25%C3%A9:committed', 'R-44: escaped: ' || queen._sink_key('m', 'a:b/c %é');
    ASSERT queen._sink_key('m', '') = 's3:m::committed', 'the queue with the empty name';
    PERFORM queen.configure_queue_v1('a:b', v_all);
    PERFORM pg_temp.point('{"tEnd": "2026-01-10T11:55:00Z"}', 'a:b');
    ASSERT pg_temp.cut('a:b') @> '{"age": 360}', 'R-44';
END $$;

-- Idle groups are named by what they did on any partition, and by leases that live.
DO $$
DECLARE
    v_queue uuid;
    v_lane uuid;
BEGIN
    PERFORM queen.log_push_v1('{idle}', '{p}', '{1}', '{1}');
    PERFORM queen.configure_queue_v1('idle', '{"retentionEnabled": true, "completedRetentionSeconds": 60, "groupIdleSeconds": 300}');
    v_queue := (SELECT q.id FROM queen.queues q WHERE q.name = 'idle');
    v_lane := (SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue);
    INSERT INTO queen.group_activity (queue_id, consumer_group, slot, last_active_at, leased_until) VALUES
        (v_queue, 'idle', 1, pg_temp.now() - interval '301 s', pg_temp.now()),
        (v_queue, 'edge', 1, pg_temp.now() - interval '300 s', pg_temp.now()),
        (v_queue, 'two', 1, pg_temp.now() - interval '1 day', 'epoch'), (v_queue, 'two', 2, pg_temp.now(), 'epoch'),
        (v_queue, 'leased', 1, pg_temp.now() - interval '301 s', pg_temp.now() + interval '1 s'),
        (v_queue, 'lapsed', 1, pg_temp.now() - interval '301 s', pg_temp.now() + interval '1 s'),
        (v_queue, 'acked', 1, pg_temp.now() - interval '301 s', pg_temp.now() + interval '1 s');
    INSERT INTO queen.log_consumers (partition_id, consumer_group, batch_end, worker_id, lease_expires_at) VALUES
        (v_lane, 'leased', 0, 'w', pg_temp.now() + interval '1 s'), (v_lane, 'lapsed', 0, 'v', pg_temp.now() - interval '1 s'), (v_lane, 'acked', NULL, NULL, NULL);
    ASSERT pg_temp.cut('idle') -> 'groups' = '["acked", "idle", "lapsed"]', 'design 5: ' || pg_temp.cut('idle')::text;
    ASSERT pg_temp.cut('idle') -> 'idle' = '300', 'design 5: the bound goes with them';
    PERFORM queen.configure_queue_v1('idle', '{"groupIdleSeconds": 0}');
    ASSERT NOT pg_temp.cut('idle') ?| ARRAY['groups', 'idle'], 'design 5: 0 is off';
END $$;

-- Values by name: whose they are, when they end, what is refused.
DO $$
DECLARE
    v_other uuid := '00000000-0000-0000-0000-0000000000aa';
    r queen.kv_row;
    r_old queen.kv_row;
BEGIN
    SELECT * INTO r_old FROM queen.kv_put_v1('app', 'k', '{"a": 1}');
    ASSERT (r_old.namespace, r_old.key, r_old.value) = ('app', 'k', '{"a": 1}'::jsonb) AND r_old.expires_at IS NULL, 'E-40: as stored';
    SELECT * INTO r FROM queen.kv_get_v1('app', 'k');
    ASSERT r = r_old, 'E-40: and as read';
    SELECT * INTO r FROM queen.kv_put_v1('app', 'k', 'null', 60);
    ASSERT r.value = 'null' AND r.version <> r_old.version AND r.expires_at > clock_timestamp(), 'E-40: another version';
    ASSERT (SELECT count(*) = 1 FROM queen.kv_get_v1('app', 'k')), 'a JSON null is a value';
    UPDATE queen.kv SET expires_at = clock_timestamp() - interval '1 s' WHERE key = 'k';
    ASSERT NOT EXISTS (SELECT FROM queen.kv_get_v1('app', 'k')), 'E-40: what ended is not there';
    SELECT * INTO r FROM queen.kv_put_v1('app', 'k', '2');
    ASSERT r.expires_at IS NULL AND EXISTS (SELECT FROM queen.kv_get_v1('app', 'k')), 'and can be put anew';
    PERFORM queen.kv_put_v1('app', 'k', '3', NULL, v_other);
    ASSERT (SELECT g.value = '2' FROM queen.kv_get_v1('app', 'k') g) AND (SELECT g.value = '3' FROM queen.kv_get_v1('app', 'k', v_other) g), 'E-5, E-40: by tenant';
    ASSERT NOT EXISTS (SELECT FROM queen.kv_get_v1('app', 'K')), 'byte by byte';
    ASSERT pg_temp.error_of($q$SELECT queen.kv_put_v1('App', 'k', '1')$q$) = 'QN400 namespace' AND pg_temp.error_of($q$SELECT queen.kv_put_v1(NULL, 'k', '1')$q$) = 'QN400 namespace'
        AND pg_temp.error_of($q$SELECT queen.kv_put_v1('', 'k', '1')$q$) = 'QN400 namespace' AND pg_temp.error_of($q$SELECT queen.kv_get_v1('a b', 'k')$q$) = 'QN400 namespace'
        AND pg_temp.error_of($q$SELECT queen.kv_get_v1(repeat('a', 65), 'k')$q$) = 'QN400 namespace', 'http 6.3: namespace';
    ASSERT pg_temp.error_of($q$SELECT queen.kv_put_v1('app', '', '1')$q$) = 'QN400 key' AND pg_temp.error_of($q$SELECT queen.kv_put_v1('app', NULL, '1')$q$) = 'QN400 key'
        AND pg_temp.error_of($q$SELECT queen.kv_put_v1('app', repeat('a', 2049), '1')$q$) = 'QN400 key' AND pg_temp.error_of($q$SELECT queen.kv_get_v1('app', E'a\tb')$q$) = 'QN400 key', 'design 7: key';
    ASSERT pg_temp.error_of($q$SELECT queen.kv_put_v1('app', repeat('é', 1024), '1')$q$) = 'none', 'at the limit, in bytes';
    ASSERT pg_temp.error_of($q$SELECT queen.kv_put_v1('app', 'k', NULL)$q$) = 'QN400 value' AND pg_temp.error_of($q$SELECT queen.kv_put_v1('app', 'k', to_jsonb(repeat('a', 65535)))$q$) = 'QN413 value', 'value';
    ASSERT pg_temp.error_of($q$SELECT queen.kv_put_v1('app', 'k', '1', 0)$q$) = 'QN400 ttlSeconds' AND pg_temp.error_of($q$SELECT queen.kv_put_v1('app', 'k', '1', -1)$q$) = 'QN400 ttlSeconds', 'ttl';
    ASSERT (SELECT g.value = '2' FROM queen.kv_get_v1('app', 'k') g), 'a refusal writes nothing';
END $$;
ROLLBACK;
