-- The preview of retention, a configure that changes nothing, and the series of what was deleted.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/retention_preview.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.push(p_queue text, p_partition text, p_count integer) RETURNS void LANGUAGE sql AS $$
    SELECT queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[p_count], array_fill('12345'::text, ARRAY[p_count]))
$$;
CREATE FUNCTION pg_temp.age(p_by interval) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_segments SET created_at = created_at - p_by;
    UPDATE queen.log_txns SET created_at = created_at - p_by;
    UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - p_by, oldest_txn_at = oldest_txn_at - p_by;
$$;
-- Rule, first to last offset, messages, of which unread: one word a run.
CREATE FUNCTION pg_temp.cuts(p_document jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(format('%s:%s:%s-%s:%s:%s', c ->> 'partition', c ->> 'rule', c ->> 'firstOffset', c ->> 'lastOffset', c ->> 'messages', c ->> 'unread'), ' '
        ORDER BY c ->> 'partition', (c ->> 'firstOffset')::bigint), '')
    FROM jsonb_array_elements(p_document -> 'partitions') c
$$;
CREATE FUNCTION pg_temp.preview(p_queue text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT queen.get_retention_preview_v1(p_queue)::jsonb
$$;

DO $$
DECLARE
    v jsonb;
    r record;
    v_before text;
    v_rows text;
BEGIN
    PERFORM queen.configure_queue_v1('o', '{"namespace": "n"}');
    PERFORM pg_temp.push('o', 'a', 10), pg_temp.push('o', 'a', 10), pg_temp.push('o', 'b', 5);
    PERFORM pg_temp.age('2 hours');
    PERFORM pg_temp.push('o', 'a', 10), pg_temp.push('o', 'a', 10);
    v := pg_temp.preview('o');
    ASSERT pg_temp.cuts(v) = '' AND v -> 'wouldDelete' = '[]' AND v #>> '{totals,messages}' = '0' AND v ->> 'complete' = 'true', 'R-1: no rule, nothing: ' || v::text;
    ASSERT v #>> '{hashes,rows}' = '3', 'but the hashes: ' || v::text;

    -- A dry run: what the rule would bring, and nothing written.
    SELECT string_agg(q::text, '|') INTO v_before FROM queen.queues q;
    v := queen.configure_queue_v1('o', '{"retentionEnabled": true, "retentionSeconds": 3600}', p_dry_run => true);
    ASSERT v @> '{"configured": false, "dryRun": true, "queue": "o", "namespace": "n", "options": {"retentionSeconds": 3600}}', 'as it would stand: ' || v::text;
    ASSERT pg_temp.cuts(v -> 'retention') = 'a:retention:0-19:20:20 b:retention:0-4:5:5', 'what would go: ' || pg_temp.cuts(v -> 'retention');
    ASSERT (SELECT string_agg(q::text, '|') FROM queen.queues q) = v_before, 'nothing is written';
    v := queen.configure_queue_v1('new', '{"leaseTime": 5}', p_dry_run => true);
    ASSERT v @> '{"configured": false, "queueId": "00000000-0000-0000-0000-000000000000", "options": {"leaseTime": 5}}' AND NOT EXISTS (SELECT FROM queen.queues WHERE name = 'new'), 'a queue that is not there is not made';
    BEGIN
        PERFORM queen.configure_queue_v1('o', '{"retentionBytes": -1}', p_dry_run => true);
        ASSERT false, 'refused as ever';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;

    -- Each rule by its name, the phases one after the other.
    PERFORM queen.configure_queue_v1('o', '{"retentionEnabled": true, "completedRetentionSeconds": 3600, "maxWaitTimeSeconds": 7000, "retentionMessages": 25}');
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) SELECT p.id, 'g', 12 FROM queen.log_partitions p WHERE p.name = 'a';
    v := pg_temp.preview('o');
    ASSERT pg_temp.cuts(v) = 'a:completed_retention:0-9:10:0 a:retention_messages:10-19:10:7 b:max_wait_time_eviction:0-4:5:5', 'by rule: ' || pg_temp.cuts(v);
    ASSERT v @> '{"totals": {"partitions": 2, "segments": 3, "messages": 25, "unread": 12, "bytes": 125}, "complete": true}', 'totals: ' || (v -> 'totals')::text;
    ASSERT (SELECT string_agg(w ->> 'rule', ' ') FROM jsonb_array_elements(v -> 'wouldDelete') w) = 'completed_retention max_wait_time_eviction retention_messages', 'sums by rule';
    ASSERT queen.get_retention_preview_v1('o', 1)::jsonb ->> 'complete' = 'false' AND queen.get_retention_preview_v1('o', 10, 1)::jsonb ->> 'complete' = 'false', 'it says when it did not look at everything';

    -- The sweep does what the preview said.
    FOR r IN SELECT * FROM queen.log_retention_due_v1() d ORDER BY d.phase LOOP
        IF r.phase = 1 THEN
            PERFORM queen.log_retention_step_v1(r.partition_id, r.age_before, r.completed_before, r.max_bytes, r.max_messages, r.idle_groups, r.idle_before);
        ELSIF r.phase = 3 THEN
            PERFORM queen.log_evict_max_wait_step_v1(r.partition_id, r.before);
        END IF;
    END LOOP;
    SELECT string_agg(format('%s:%s:%s-%s:%s:%s', p.name, h.retention_type, h.first_offset, h.last_offset, h.messages_deleted, h.unread_deleted), ' ' ORDER BY p.name, h.first_offset)
    INTO v_rows FROM queen.retention_history h JOIN queen.log_partitions p ON p.id = h.partition_id;
    ASSERT v_rows = pg_temp.cuts(v), 'the sweep did what was said: ' || v_rows;
    ASSERT pg_temp.cuts(pg_temp.preview('o')) = '', 'and nothing is left';

    -- The series: messages, not segments; no types of two underscores; one tenant's.
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted)
    SELECT queen._tenant(NULL), q.id, gen_random_uuid(), '__queue_deleted__', 77 FROM queen.queues q;
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted)
    VALUES ('00000000-0000-0000-0000-000000000002', gen_random_uuid(), gen_random_uuid(), 'retention', 77);
    INSERT INTO queen.retention_history (tenant_id, queue_id, partition_id, retention_type, messages_deleted, executed_at)
    VALUES (queen._tenant(NULL), gen_random_uuid(), gen_random_uuid(), 'retention', 40, now() - interval '30 minutes');
    v := queen.get_retention_series_v1()::jsonb;
    ASSERT v -> 'totals' @> '{"retentionMsgs": 40, "completedRetentionMsgs": 10, "evictionMsgs": 5, "totalMsgs": 65, "eventCount": 4}', 'F101: ' || (v -> 'totals')::text;
    ASSERT v #> '{totals,rules,retention_messages}' = '{"messages": 10, "unread": 7, "bytes": 50, "rows": 1}', 'each rule by its name: ' || (v -> 'totals')::text;
    ASSERT v ->> 'bucketMinutes' = '1' AND NOT v ? 'rows' AND jsonb_array_length(v -> 'series') BETWEEN 2 AND 3 AND v #>> '{series,0,retentionMsgs}' = '40', 'oldest first: ' || v::text;
    ASSERT queen.get_retention_series_v1(now() - interval '3 days')::jsonb ->> 'bucketMinutes' = '60', 'spec 5.2';
    v := queen.get_retention_series_v1(NULL, NULL, NULL, 'namespace')::jsonb -> 'rows';
    ASSERT (SELECT string_agg(format('%s:%s:%s', x ->> 'key', x ->> 'queues', x ->> 'totalMsgs'), ' ') FROM jsonb_array_elements(v) x) = ':1:40 n:1:25', 'by namespace, most first: ' || v::text;
    v := queen.get_retention_series_v1(NULL, NULL, 'o', 'queue')::jsonb;
    ASSERT v #>> '{rows,0,key}' = 'o' AND v #>> '{totals,totalMsgs}' = '25', 'one queue: ' || v::text;
    ASSERT queen.get_retention_series_v1(now() + interval '1 day')::jsonb -> 'totals' = '{"rules": {}, "eventCount": 0, "evictionMsgs": 0, "totalMsgs": 0, "retentionMsgs": 0, "completedRetentionMsgs": 0}', 'nothing';
    BEGIN
        PERFORM queen.get_retention_series_v1(NULL, NULL, NULL, 'partition');
        ASSERT false, 'bad groupBy';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN
        ASSERT sqlerrm = 'bad groupBy', sqlerrm;
    END;
END $$;

ROLLBACK;
