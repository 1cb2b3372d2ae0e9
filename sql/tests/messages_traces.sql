-- Messages: browse, detail; traces. Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/messages_traces.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
CREATE FUNCTION pg_temp.error_of(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_sql;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
-- A page as id:status, newest first.
CREATE FUNCTION pg_temp.page(p_queue text, p_status text DEFAULT NULL, p_limit integer DEFAULT 200, p_offset integer DEFAULT 0, p_from timestamptz DEFAULT NULL, p_to timestamptz DEFAULT NULL, p_partition text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(m.transaction_id || ':' || m.status, ' '), '') FROM queen.list_messages_v1(p_queue, p_partition, NULL, NULL, p_status, p_from, p_to, p_limit, p_offset) m
$$;

-- Status by the cursor of the consumers without a group, a dead letter before all (spec 4.8).
DO $$
DECLARE
    v_lease text;
    r record;
BEGIN
    PERFORM pg_temp.push('b', 6, 3);
    ASSERT pg_temp.page('b') = '5:pending 4:pending 3:pending 2:pending 1:pending 0:pending', 'newest first: ' || pg_temp.page('b');
    PERFORM queen.log_pop_v1('b', 'p', NULL, 2, p_auto_ack => true);
    v_lease := pg_temp.lease('b', 2, '__QUEUE_MODE__');
    ASSERT pg_temp.page('b') = '5:pending 4:pending 3:processing 2:processing 1:completed 0:completed', 'by the cursor: ' || pg_temp.page('b');
    PERFORM pg_temp.lease('b', 1);
    PERFORM pg_temp.ack('b', (SELECT worker_id FROM queen.log_consumers WHERE consumer_group = 'g'), '0d');
    ASSERT pg_temp.page('b') = '5:pending 4:pending 3:processing 2:processing 1:completed 0:dead_letter', 'a dead letter first';
    ASSERT pg_temp.page('b', 'completed') = '1:completed' AND pg_temp.page('b', 'processing') = '3:processing 2:processing' AND pg_temp.page('b', 'pending') = '5:pending 4:pending'
        AND pg_temp.page('b', 'dead_letter') = '0:dead_letter', 'by status: ' || concat_ws('; ', pg_temp.page('b', 'completed'), pg_temp.page('b', 'processing'), pg_temp.page('b', 'pending'), pg_temp.page('b', 'dead_letter'));
    ASSERT pg_temp.page('b', NULL, 2, 1) = '4:pending 3:processing' AND pg_temp.page('b', 'pending', 1, 1) = '4:pending' AND pg_temp.page('b', NULL, 0) = '' AND pg_temp.page('b', NULL, 9, 6) = '', 'pages';
    SELECT * INTO r FROM queen.list_messages_v1('b', p_status => 'dead_letter');
    ASSERT (r.queue_status, r.consumed_by, r.total_groups, r.has_queue_mode, r.error, r.segment_base, r."offset", r.payload) = ('completed', 1, 1, true, 'why 0d', 0, 0, '{"n": 0}'), 'its stand: ' || r::text;
    SELECT * INTO r FROM queen.list_messages_v1('b', p_status => 'processing', p_limit => 1);
    ASSERT r.lease_expires_at > now() AND (r.consumed_by, r.segment_base, r."offset") = (0, 3, 3), 'under lease';
    PERFORM pg_temp.expire('b');
    ASSERT pg_temp.page('b', 'processing') = '' AND pg_temp.page('b', 'pending') = '5:pending 4:pending 3:pending 2:pending', 'a lease that ended';
    -- What is below the log start is not shown; other queues, labels, tenants.
    PERFORM queen._move_log_start(pg_temp.lane('b'), 3);
    ASSERT pg_temp.page('b') = '5:pending 4:pending 3:pending' AND pg_temp.page('b', 'completed') = '' AND pg_temp.page('b', 'dead_letter') = '', 'below the log start';
    ASSERT pg_temp.page('nowhere') = '' AND pg_temp.page('b', p_partition => 'x') = '', 'none';
    ASSERT (SELECT count(*) = 0 FROM queen.list_messages_v1('b', p_tenant_id => '00000000-0000-0000-0000-000000000002')), 'E-5';
    PERFORM queen.push_v1('shop.cart', '1');
    ASSERT (SELECT string_agg(m.queue || m.namespace || m.task, ' ') FROM queen.list_messages_v1(p_namespace => 'shop', p_task => 'cart') m) = 'shop.cartshopcart', 'by labels';
    ASSERT pg_temp.error_of($q$SELECT queen.list_messages_v1('b', p_status => 'x')$q$) = 'QN400' AND pg_temp.error_of($q$SELECT queen.list_messages_v1('b', p_limit => -1)$q$) = 'QN400', 'refused';
    SELECT * INTO r FROM queen.message_mode_v1('b');
    ASSERT (r.has_queue_mode, r.bus_groups) = (true, 1), 'mode';
    SELECT * INTO r FROM queen.message_mode_v1('nowhere');
    ASSERT (r.has_queue_mode, r.bus_groups) = (false, 0), 'mode of nothing';
END $$;

-- The span of time: from inclusive, to the end of its minute; stamps are found by halving.
DO $$
DECLARE
    v_day timestamptz := date_trunc('minute', now()) - interval '1 day';
BEGIN
    PERFORM pg_temp.push('t', 40);
    UPDATE queen.log_segments SET created_at = v_day + base_offset * interval '1 minute' WHERE partition_id = pg_temp.lane('t');
    UPDATE queen.log_partitions SET last_stamp = v_day + interval '39 minutes', oldest_live_at = v_day, settled = true, last_offset = 39 WHERE id = pg_temp.lane('t');
    ASSERT pg_temp.page('t') = '', 'the last hour unless said';
    ASSERT pg_temp.page('t', NULL, 200, 0, v_day + interval '10 minutes', v_day + interval '12 minutes 30 seconds') = '12:pending 11:pending 10:pending', 'a span: '
        || pg_temp.page('t', NULL, 200, 0, v_day + interval '10 minutes', v_day + interval '12 minutes 30 seconds');
    ASSERT pg_temp.page('t', NULL, 2, 0, v_day - interval '1 year') = '39:pending 38:pending', 'from long before';
    ASSERT pg_temp.page('t', NULL, 200, 0, v_day + interval '38 minutes 1 second', v_day + interval '1 year') = '39:pending', 'to long after';
    ASSERT pg_temp.page('t', NULL, 200, 0, v_day - interval '2 years', v_day - interval '1 year') = '' AND pg_temp.page('t', NULL, 200, 0, v_day + interval '2 hours') = '', 'nothing there';
    FOR i IN -1..40 LOOP
        ASSERT queen._first_base_since(pg_temp.lane('t'), 0, 39, v_day + i * interval '1 minute') IS NOT DISTINCT FROM CASE WHEN i < 40 THEN greatest(i, 0) END, 'halving ' || i;
        ASSERT queen._first_base_since(pg_temp.lane('t'), 7, 39, v_day + i * interval '1 minute') IS NOT DISTINCT FROM CASE WHEN i < 40 THEN greatest(i, 7) END, 'halving from 7 ' || i;
    END LOOP;
END $$;

-- Detail by any id: given or minted, in and out of order, repeated, of a purged sidecar, of a dead letter whose message is gone.
DO $$
DECLARE
    m queen.message_row;
    v_ids text[];
    v_id text;
    v_round integer;
BEGIN
    UPDATE queen.queues SET dedup_window_seconds = 0 WHERE name = 'd';
    PERFORM queen.push_v1('d', '0', 'p', 'z');
    UPDATE queen.queues SET dedup_window_seconds = 0 WHERE name = 'd';
    PERFORM queen.push_many_v1('d', ARRAY['1', '2', '3']::json[], '{p}', ARRAY['a', NULL, 'b']);
    PERFORM queen.push_v1('d', '"again"', 'p', 'a');
    PERFORM queen.push_many_v1('d', ARRAY['5', '6']::json[], '{p}');
    v_ids := ARRAY(SELECT r.transaction_id FROM queen.read_v1('d', 'p', 0) r ORDER BY r."offset");
    FOR v_round IN 1..2 LOOP
        FOR i IN 1..7 LOOP
            m := queen.get_message_v1(pg_temp.lane('d'), v_ids[i]);
            ASSERT (m.transaction_id, m."offset") = (v_ids[i], CASE i WHEN 2 THEN 4 ELSE i - 1 END), format('round %s, %s: %s', v_round, v_ids[i], m);
            ASSERT m.id = (SELECT r.id FROM queen.read_v1('d', 'p', m."offset") r LIMIT 1) AND m.payload = (SELECT r.payload::text FROM queen.read_v1('d', 'p', m."offset") r LIMIT 1), 'what it is';
        END LOOP;
        FOREACH v_id IN ARRAY ARRAY['nothing', '', 'A', left(v_ids[6], 31) || 'fffff', gen_random_uuid()::text] LOOP
            ASSERT (SELECT count(*) = 0 FROM queen.get_message_v1(pg_temp.lane('d'), v_id)), 'no such id: ' || v_id;
        END LOOP;
        -- The second round goes by the segments alone.
        DELETE FROM queen.log_txns WHERE partition_id = pg_temp.lane('d');
    END LOOP;
    ASSERT (SELECT count(*) = 0 FROM queen.get_message_v1(gen_random_uuid(), 'a')) AND (SELECT count(*) = 0 FROM queen.get_message_v1(pg_temp.lane('d'), 'a', '00000000-0000-0000-0000-000000000002')), 'E-5';

    m := queen.get_message_v1(pg_temp.lane('d'), 'z');
    ASSERT (m.status, m.retry_count, m.error, m.groups::text, m.options ->> 'leaseTime') IS NOT DISTINCT FROM ('pending', 0, NULL::text, '[]', '60'), 'never taken: ' || m::text;
    PERFORM pg_temp.lease('d', 1, 'h');
    PERFORM pg_temp.lease('d', 1);
    PERFORM queen.ack_v1(pg_temp.lane('d'), '{z}', (SELECT worker_id FROM queen.log_consumers WHERE consumer_group = 'g' AND partition_id = pg_temp.lane('d')), 'g', 'dlq', 'boom');
    m := queen.get_message_v1(pg_temp.lane('d'), 'z');
    ASSERT (m.status, m.queue_status, m.error, m.total_groups, m.has_queue_mode) = ('dead_letter', 'pending', 'boom', 2, false) AND m.lease_expires_at > now(), 'dead for one, leased by another: ' || m::text;
    ASSERT m.groups -> 0 ->> 'name' = 'g' AND (m.groups -> 0 ->> 'consumed')::boolean AND m.groups -> 0 ->> 'leaseExpiresAt' IS NULL
        AND m.groups -> 1 ->> 'group' = 'h' AND NOT (m.groups -> 1 ->> 'consumed')::boolean AND m.groups -> 1 ->> 'leaseExpiresAt' IS NOT NULL, 'its groups: ' || m.groups::text;
    PERFORM queen._move_log_start(pg_temp.lane('d'), 1);
    m := queen.get_message_v1(pg_temp.lane('d'), 'z');
    ASSERT (m.status, m.error, m.payload, m."offset") = ('dead_letter', 'boom', '0', 0), 'only the dead letter is left: ' || m::text;
    PERFORM queen.delete_message_v1(pg_temp.lane('d'), 'z');
    ASSERT (SELECT count(*) = 0 FROM queen.get_message_v1(pg_temp.lane('d'), 'z')), 'gone';
END $$;

-- Traces: of a message, of a name; they outlive the queue; data as sent (spec 4.10).
DO $$
DECLARE
    v_lane uuid;
    v_ids uuid[];
    v_doc json;
BEGIN
    PERFORM pg_temp.push('tr', 2);
    v_lane := pg_temp.lane('tr');
    v_ids := ARRAY[
        queen.record_trace_v1(v_lane, '0', '{"z":1, "a":1.50}', 'g', 'start', ARRAY['order 1', 'b', '', 'b']),
        queen.record_trace_v1(v_lane, '0', '2', p_trace_names => ARRAY['order 1']),
        queen.record_trace_v1(v_lane, '1', '"x"', p_trace_names => ARRAY['order 1']),
        queen.record_trace_v1(gen_random_uuid(), 'no such message', 'null')];
    v_doc := queen.list_traces_v1(v_lane, '0');
    ASSERT json_array_length(v_doc -> 'traces') = 2, 'of one message: ' || v_doc::text;
    ASSERT v_doc::text LIKE '%"data": {"z":1, "a":1.50}%', 'as sent: ' || v_doc::text;
    PERFORM queen.record_trace_v1(v_lane, '9', '{"u":"\u0000",  "n":1e400}');
    ASSERT queen.list_traces_v1(v_lane, '9')::text LIKE '%"data": {"u":"\\u0000",  "n":1e400}}%', 'F003: as sent: ' || queen.list_traces_v1(v_lane, '9')::text;
    ASSERT (v_doc -> 'traces' -> 0)::text LIKE '%' || v_ids[1] || '%' AND (v_doc #>> '{traces,0,event_type}', v_doc #>> '{traces,0,consumer_group}', v_doc #>> '{traces,0,worker_id}', v_doc #>> '{traces,0,trace_names}')
        = ('start', 'g', 'seg-rust', '["b", "order 1"]'), 'oldest first: ' || (v_doc -> 'traces' -> 0)::text;
    ASSERT (v_doc #>> '{traces,1,event_type}', v_doc #>> '{traces,1,consumer_group}', v_doc #>> '{traces,1,trace_names}') = ('info', '__QUEUE_MODE__', '["order 1"]'), 'defaults';
    ASSERT queen.list_traces_v1(v_lane, 'none')::text = '{"traces" : []}' AND json_array_length(queen.list_traces_v1(v_lane, '0', '00000000-0000-0000-0000-000000000002') -> 'traces') = 0, 'none';

    v_doc := queen.list_traces_by_name_v1('order 1', 2, 1);
    ASSERT json_array_length(v_doc -> 'traces') = 2 AND v_doc ->> 'total' = '3' AND v_doc ->> 'pagination' = '{"limit" : 2, "offset" : 1}', 'by name: ' || v_doc::text;
    ASSERT (v_doc #>> '{traces,1,transaction_id}', v_doc #>> '{traces,1,partition_id}', v_doc #>> '{traces,1,queue_name}', v_doc #>> '{traces,1,partition_name}') = ('1', v_lane::text, 'tr', 'p')
        AND v_doc #> '{traces,1,message_payload}' IS NOT NULL, 'with its message: ' || v_doc::text;
    v_doc := queen.list_trace_names_v1();
    ASSERT json_array_length(v_doc -> 'trace_names') = 2 AND v_doc ->> 'total' = '2' AND (v_doc #>> '{trace_names,0,trace_name}', v_doc #>> '{trace_names,0,trace_count}', v_doc #>> '{trace_names,0,message_count}') = ('order 1', '3', '2'), 'the names: ' || v_doc::text;
    v_doc := queen.list_trace_names_v1(1, 5);
    ASSERT v_doc ->> 'total' = '2' AND json_array_length(v_doc -> 'trace_names') = 0, 'a page past the end';

    PERFORM queen.delete_queue_v1('tr');
    v_doc := queen.list_traces_by_name_v1('order 1');
    ASSERT json_array_length(v_doc -> 'traces') = 3 AND v_doc #>> '{traces,0,queue_name}' = 'tr', 'R-49: traces outlive the queue';
    ASSERT json_array_length(queen.list_traces_v1(v_lane, '0') -> 'traces') = 2, 'R-49';
    PERFORM queen.push_v1('other tenant', '1');
    UPDATE queen.queues SET tenant_id = '00000000-0000-0000-0000-000000000002' WHERE name = 'other tenant';
    PERFORM queen.record_trace_v1(pg_temp.lane('other tenant', 'Default'), 'foreign', '1');
    ASSERT (SELECT count(*) = 1 AND bool_and(queue_name IS NULL AND partition_name IS NULL) FROM queen.message_traces WHERE transaction_id = 'foreign'),
        'E-5: a foreign partition is one that is not there';
    ASSERT (SELECT count(*) = 0 FROM queen.message_traces WHERE tenant_id = '00000000-0000-0000-0000-000000000002'), 'E-5: and gets no trace';
    ASSERT pg_temp.error_of(format('SELECT queen.record_trace_v1(%L, '''', ''1'')', v_lane)) = 'QN400' AND pg_temp.error_of('SELECT queen.record_trace_v1(NULL, ''x'', ''1'')') = 'QN400'
        AND pg_temp.error_of(format('SELECT queen.record_trace_v1(%L, ''x'', NULL)', v_lane)) = 'QN400' AND pg_temp.error_of(format('SELECT queen.record_trace_v1(%L, ''x'', ''1'', p_trace_names => ARRAY[E''a\nb''])', v_lane)) = 'QN400', 'refused';
    PERFORM queen.record_trace_v1(v_lane, repeat('long', 10000), '1');
    ASSERT json_array_length(queen.list_traces_v1(v_lane, repeat('long', 10000)) -> 'traces') = 1, 'a long id';
END $$;
ROLLBACK;
