-- What counts as activity of a group on a queue, and how seldom it is written (design 5, groupIdleSeconds).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/group_activity.sql (on a migrated database).
BEGIN;
SET LOCAL client_min_messages = warning;

-- Whether the group has a row younger than half an hour; and an hour back with all of them.
CREATE FUNCTION pg_temp.active(p_group text, p_queue text DEFAULT 'q') RETURNS boolean LANGUAGE sql AS $$
    SELECT max(a.last_active_at) > clock_timestamp() - interval '30 minutes' FROM queen.group_activity a JOIN queen.queues q ON q.id = a.queue_id
    WHERE q.name = p_queue AND a.consumer_group = p_group
$$;
CREATE FUNCTION pg_temp.age() RETURNS void LANGUAGE sql AS $$
    UPDATE queen.group_activity SET last_active_at = last_active_at - interval '1 hour', leased_until = 'epoch'
$$;
CREATE FUNCTION pg_temp.leased(p_group text) RETURNS integer LANGUAGE sql AS $$
    SELECT round(extract(epoch FROM max(a.leased_until) - clock_timestamp()))::integer FROM queen.group_activity a WHERE a.consumer_group = p_group
$$;

DO $$
DECLARE
    v_id uuid;
    v_lease text;
    v_row text;
BEGIN
    PERFORM queen.log_push_v1('{q}', '{p}', '{10}', array_fill('1'::text, '{10}'));
    v_id := (SELECT p.id FROM queen.log_partitions p);
    SELECT x.lease_id INTO v_lease FROM queen.log_pop_v1('q', 'p', 'g', 1, p_lease_seconds => 600) x LIMIT 1;
    ASSERT pg_temp.active('g') AND pg_temp.leased('g') BETWEEN 500 AND 600, 'a pop, and until when it may hold a lease';
    ASSERT (SELECT count(*) = 1 FROM queen.group_activity), 'one row a group';
    UPDATE queen.group_activity SET last_active_at = clock_timestamp() + interval '1 minute';
    SELECT string_agg(a.ctid::text, ' ') INTO v_row FROM queen.group_activity a;
    PERFORM queen.log_pop_v1('q', 'p', 'g', 1, p_lease_seconds => 60), queen.log_extend_lease_v1(v_lease, 60), queen.log_ack_upto_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{-1}');
    ASSERT (SELECT string_agg(a.ctid::text, ' ') FROM queen.group_activity a) = v_row, 'written at most once a second';
    PERFORM queen.log_extend_lease_v1(v_lease, 9999);
    ASSERT pg_temp.leased('g') BETWEEN 9900 AND 9999, 'a longer lease is noted at once';

    PERFORM pg_temp.age();
    ASSERT NOT pg_temp.active('g'), 'aged';
    PERFORM queen.log_extend_lease_v1(v_lease, 60);
    ASSERT pg_temp.active('g'), 'an extended lease';
    PERFORM pg_temp.age();
    PERFORM queen.log_extend_lease_v1('0198c0de-0000-7000-8000-000000000001', 60);
    ASSERT NOT pg_temp.active('g'), 'a lease that nobody has is nobody''s activity';
    PERFORM queen.log_ack_upto_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{0}');
    ASSERT pg_temp.active('g'), 'a positional ack';
    SELECT x.lease_id INTO v_lease FROM queen.log_pop_v1('q', 'p', 'g', 1) x LIMIT 1;
    PERFORM pg_temp.age();
    PERFORM queen.log_ack_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{1}', '{nobody}', '{completed}');
    ASSERT pg_temp.active('g'), 'an ack, even of what is not there';
    PERFORM pg_temp.age();
    PERFORM queen.log_ack_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{1}',
        (SELECT ARRAY[queen._frame_id(s.id_base, c.committed + 1 - s.base_offset)::text] FROM queen.log_consumers c
         JOIN queen.log_segments s ON s.partition_id = v_id AND c.committed + 1 BETWEEN s.base_offset AND s.end_offset
         WHERE c.partition_id = v_id AND c.consumer_group = 'g'), '{completed}');
    ASSERT pg_temp.active('g') AND (SELECT c.worker_id IS NULL FROM queen.log_consumers c WHERE c.partition_id = v_id AND c.consumer_group = 'g'), 'an ack of the whole batch';
    UPDATE queen.log_consumers c SET committed = 0, batch_end = 1, worker_id = v_lease, lease_expires_at = now() + interval '1 h' WHERE c.partition_id = v_id AND c.consumer_group = 'g';
    PERFORM pg_temp.age();
    PERFORM queen.log_ack_v1(ARRAY[v_id], '{g}', ARRAY[v_lease], '{1}', '{nobody}', '{completed}', p_tenant_id => '00000000-0000-0000-0000-0000000000aa');
    ASSERT NOT pg_temp.active('g'), 'E-5: not of a foreign tenant';
    PERFORM queen.log_transaction_v1(p_queues => '{}', p_partitions => '{}', p_counts => '{}', p_payloads => '{}', p_transaction_ids => '{}',
        p_ack_partition_ids => ARRAY[v_id], p_ack_groups => '{g}', p_ack_lease_ids => ARRAY[v_lease], p_ack_counts => '{1}',
        p_ack_transaction_ids => ARRAY(SELECT queen._frame_id(s.id_base, 1)::text FROM queen.log_segments s), p_ack_statuses => '{completed}');
    ASSERT pg_temp.active('g'), 'an ack in a transaction';

    PERFORM pg_temp.age();
    PERFORM queen.log_pop_v1('q', 'p', 'g', 1, p_auto_ack => true);
    ASSERT pg_temp.active('g') AND pg_temp.leased('g') <= 0, 'a pop with autoAck, which leases nothing';
    PERFORM queen.log_pop_v1('q', 'p', 'g', 100, p_auto_ack => true);
    PERFORM pg_temp.age();
    ASSERT NOT EXISTS (SELECT FROM queen.log_pop_v1('q', NULL, 'g', 1)) AND pg_temp.active('g'), 'an empty pop';
    PERFORM pg_temp.age();
    ASSERT NOT EXISTS (SELECT FROM queen.log_pop_v1('q', 'nowhere', 'g', 1)) AND pg_temp.active('g'), 'on any partition of the queue';
    PERFORM pg_temp.age();
    PERFORM queen.pop_v1('q', 1, 'g');
    ASSERT pg_temp.active('g'), 'the human face';
    PERFORM queen.log_pop_v1('q', 'p');
    ASSERT pg_temp.active('__QUEUE_MODE__'), 'the queue mode is a group';
    PERFORM pg_temp.age();
    PERFORM queen.seek_consumer_group_v1('q', 'g', true);
    ASSERT pg_temp.active('g') AND NOT pg_temp.active('__QUEUE_MODE__'), 'a seek, of that group alone; it deletes nothing';
    PERFORM queen.configure_queue_v1('q', '{"namespace": "n"}');
    PERFORM pg_temp.age();
    PERFORM queen.log_pop_discovery_v1('n', '', 'g');
    ASSERT pg_temp.active('g'), 'a pop by discovery';
    PERFORM pg_temp.age();
    PERFORM queen.log_touch_groups_v1('{q,missing}', '{NULL,NULL}', '{NULL,NULL}', '{g,g}', '{NULL,NULL}');
    ASSERT pg_temp.active('g') AND NOT pg_temp.active('__QUEUE_MODE__'), 'a parked pop, by its server';
    PERFORM pg_temp.age();
    PERFORM queen.log_touch_groups_v1('{NULL}', '{n}', '{NULL}', '{__QUEUE_MODE__}', '{NULL}');
    ASSERT pg_temp.active('__QUEUE_MODE__') AND NOT pg_temp.active('g'), 'by labels';
    PERFORM queen.log_touch_groups_v1('{}', '{}', '{}', '{}', '{}');
    PERFORM pg_temp.age();
    PERFORM queen.log_push_v1('{q}', '{p}', '{1}', '{1}'), queen.log_queue_depth_v1('q'), queen.list_consumer_groups_v1(), queen.log_pending_v1('{q}', '{NULL}', '{g}', '{NULL}'), queen.log_fetch_v1('{q}', '{p}', '{0}');
    ASSERT NOT pg_temp.active('g') AND NOT pg_temp.active('__QUEUE_MODE__'), 'pushes and looks are nobody''s activity';

    -- Rows that are left over.
    INSERT INTO queen.group_activity SELECT a.queue_id, a.consumer_group, a.slot + 1, clock_timestamp(), clock_timestamp() FROM queen.group_activity a WHERE a.consumer_group = 'g' LIMIT 1;
    INSERT INTO queen.group_activity VALUES (gen_random_uuid(), 'orphan', 1, now(), now());
    ASSERT (SELECT (s.worked, s.done) = (2, true) FROM queen.log_forget_groups_step_v1() s), 'F099: an orphan, and what a newer row covers';
    ASSERT (SELECT count(*) = 2 AND bool_or(a.last_active_at > now() - interval '1 minute') FROM queen.group_activity a), 'the newest is left';
    ASSERT (SELECT (s.worked, s.done) = (0, true) FROM queen.log_forget_groups_step_v1(1) s), 'nothing left';
    PERFORM queen.delete_consumer_group_v1('g', 'q');
    ASSERT (SELECT array_agg(a.consumer_group) = '{__QUEUE_MODE__}' FROM queen.group_activity a), 'a deleted group is forgotten';
    PERFORM queen.delete_queue_v1('q'), queen.log_reclaim_step_v1();
    ASSERT NOT EXISTS (SELECT FROM queen.group_activity), 'F099: and so is a deleted queue';
END $$;

-- Who pins this (F085).
DO $$
DECLARE
    v_queue uuid;
BEGIN
    PERFORM queen.log_push_v1('{pins,pins}', '{a,b}', '{10,4}', array_fill('1'::text, '{14}'));
    v_queue := (SELECT q.id FROM queen.queues q WHERE q.name = 'pins');
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed)
    SELECT p.id, g.grp, g.at FROM queen.log_partitions p JOIN (VALUES ('a', 'fast', 9), ('a', 'slow', 3), ('a', 'gone', 1), ('b', 'fast', 3), ('b', 'slow', 3)) g (part, grp, at) ON g.part = p.name
    WHERE p.queue_id = v_queue;
    ASSERT (SELECT array_agg(concat_ws(' ', v.partition, v.consumer_group, v.pinned_offset, v.behind, v.holds_back)) = '{a gone 2 8 f}' FROM queen.partition_pins v WHERE v.queue = 'pins'),
        'the slowest of a partition that owes something: ' || (SELECT string_agg(v::text, ' ') FROM queen.partition_pins v);
    ASSERT (SELECT v.pinned_since = s.created_at AND v.last_active_at IS NULL AND v.leased_until IS NULL FROM queen.partition_pins v
        JOIN queen.log_segments s ON s.partition_id = v.partition_id WHERE v.queue = 'pins'), 'since when';
    PERFORM queen.configure_queue_v1('pins', '{"retentionEnabled": true, "completedRetentionSeconds": 60, "groupIdleSeconds": 300}');
    INSERT INTO queen.group_activity VALUES (v_queue, 'gone', 1, now() - interval '1 h', 'epoch');
    ASSERT (SELECT array_agg(concat_ws(' ', v.partition, v.consumer_group, v.pinned_offset, v.behind, v.holds_back)) = '{a slow 4 6 t}' FROM queen.partition_pins v WHERE v.queue = 'pins'),
        'an idle one does not: ' || (SELECT string_agg(v::text, ' ') FROM queen.partition_pins v);
    INSERT INTO queen.group_activity SELECT v_queue, g, 1, now() - interval '1 h', 'epoch' FROM unnest('{slow,fast}'::text[]) g;
    ASSERT (SELECT array_agg(v.consumer_group) = '{gone}' FROM queen.list_partition_pins_v1('pins') v), 'unless all are';
    PERFORM queen._move_log_start(p.id, 10) FROM queen.log_partitions p WHERE p.queue_id = v_queue AND p.name = 'a';
    ASSERT NOT EXISTS (SELECT FROM queen.partition_pins v WHERE v.queue = 'pins') AND NOT EXISTS (SELECT FROM queen.list_partition_pins_v1('other')), 'nothing is left to pin';
    ASSERT (SELECT bool_and(coalesce(col_description(a.attrelid, a.attnum), '') <> '') FROM pg_attribute a WHERE a.attrelid = 'queen.partition_pins'::regclass AND a.attnum >= 0), 'comments';
END $$;
ROLLBACK;
