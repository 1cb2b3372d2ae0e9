-- configure_queue_v1: creation, the four merge rules, types and bounds, refusals that write nothing.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/queues_configure.sql (on a migrated database).
BEGIN;
SET LOCAL client_min_messages = warning;

-- The error that a call raises, as 'code detail message', or 'none'.
CREATE FUNCTION pg_temp.error_of(p_sql text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_detail text;
BEGIN
    EXECUTE p_sql;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS v_detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(' ', SQLSTATE, v_detail, SQLERRM);
END $$;

CREATE FUNCTION pg_temp.options_of(p_queue text) RETURNS jsonb
LANGUAGE sql AS $$ SELECT queen.get_queue_v1(p_queue)::jsonb -> 'options' $$;

DO $$
DECLARE
    v_doc jsonb;
    v_defaults jsonb := '{"priority": 0, "leaseTime": 300, "retryLimit": 3, "retryDelay": 1000, "maxSize": 0, "ttl": 3600,
        "deadLetterQueue": true, "dlqAfterMaxRetries": true, "delayedProcessing": 0, "windowBuffer": 0, "retentionSeconds": 0,
        "completedRetentionSeconds": 0, "retentionEnabled": false, "encryptionEnabled": false, "maxWaitTimeSeconds": 0,
        "minPopWaitTime": 0, "dedupWindowSeconds": 3600, "retentionSinkHold": "", "retentionSinkHoldMaxSeconds": 604800}';
BEGIN
    v_doc := queen.configure_queue_v1('billing.invoice');
    ASSERT v_doc - 'queueId' = jsonb_build_object('configured', true, 'partitionId', NULL, 'queue', 'billing.invoice',
        'namespace', '', 'task', '', 'storage', 'segments', 'options', v_defaults), 'C-2, C-9, C-12: a created queue, got ' || v_doc::text;
    ASSERT v_doc ->> 'queueId' = (SELECT q.id::text FROM queen.queues q WHERE q.name = 'billing.invoice'), 'C-12: queueId is the row';
    ASSERT NOT EXISTS (SELECT FROM queen.log_partitions WHERE queue_id = (v_doc ->> 'queueId')::uuid), 'configure makes no partition';
    ASSERT queen.configure_queue_v1('made by replace', '{}', 'replace') -> 'options' = v_defaults, 'C-2: replace creates from defaults as well';
    ASSERT queen.configure_queue_v1('', '{}') ->> 'queue' = '', 'C-6: the empty name is legal';

    PERFORM queen._ensure_queue('shop.cart.extra', queen._tenant(NULL));
    ASSERT (pg_temp.options_of('shop.cart.extra') ->> 'leaseTime') = '60', 'E 1.1: an implicit queue has the column default';
    v_doc := queen.configure_queue_v1('shop.cart.extra', '{"priority": 1}');
    ASSERT v_doc -> 'options' ->> 'leaseTime' = '60', 'C-1: an edit keeps the lease of an implicit queue';
    ASSERT v_doc ->> 'namespace' = 'shop' AND v_doc ->> 'task' = 'cart', 'C-1: an edit keeps derived labels';
    v_doc := queen.configure_queue_v1('shop.cart.extra', '{}', 'replace');
    ASSERT v_doc -> 'options' = v_defaults AND v_doc ->> 'namespace' = '' AND v_doc ->> 'task' = '', 'C-1: replace sets back all 21 options';
END $$;

DO $$
DECLARE
    -- Every option with a value that is not its default.
    v_full jsonb := '{"namespace": "n", "task": "t", "priority": 9, "leaseTime": 5, "retryLimit": 7, "retryDelay": 8, "maxSize": 11, "ttl": 12,
        "deadLetterQueue": false, "dlqAfterMaxRetries": false, "delayedProcessing": 13, "windowBuffer": 14, "retentionSeconds": 15,
        "completedRetentionSeconds": 16, "retentionEnabled": true, "encryptionEnabled": true, "maxWaitTimeSeconds": 17,
        "minPopWaitTime": 18, "dedupWindowSeconds": 19, "retentionSinkHold": "s3.a_b-C", "retentionSinkHoldMaxSeconds": 60,
        "deadLetterRetentionSeconds": 20, "retentionBytes": 9223372036854775807, "retentionMessages": 6000000000, "cleanupPolicy": "compact,delete",
        "deleteRetentionSeconds": 0, "minCompactionLagSeconds": 21, "groupIdleSeconds": 300}';
    v_defaults jsonb := queen.configure_queue_v1('defaults') -> 'options' || '{"namespace": "", "task": ""}';
    v_key text;
BEGIN
    PERFORM queen.configure_queue_v1('q', v_full);
    ASSERT pg_temp.options_of('q') = v_full, 'C-1, C-20: every option is stored and shown, got ' || pg_temp.options_of('q')::text;
    PERFORM queen.configure_queue_v1('copy', pg_temp.options_of('q'), 'replace');
    ASSERT pg_temp.options_of('copy') = v_full, 'C-20: what is shown can be sent back';

    FOR v_key IN SELECT jsonb_object_keys(v_full) LOOP
        PERFORM queen.configure_queue_v1('q', v_full);
        PERFORM queen.configure_queue_v1('q', jsonb_build_object(v_key, NULL));
        -- Options beyond the 21 are not shown at their default (design 5).
        ASSERT pg_temp.options_of('q') = CASE WHEN v_defaults ? v_key THEN v_full || jsonb_build_object(v_key, v_defaults -> v_key) ELSE v_full - v_key END,
            format('C-1, F133, F134: null sets back %s and nothing else, got %s', v_key, pg_temp.options_of('q'));
        PERFORM queen.configure_queue_v1('q', jsonb_build_object(v_key, v_full -> v_key));
        ASSERT pg_temp.options_of('q') = v_full, format('C-1, F133: %s alone is edited', v_key);
        PERFORM queen.configure_queue_v1('q', jsonb_build_object(v_key, v_full -> v_key), 'replace');
        ASSERT pg_temp.options_of('q') = v_defaults || jsonb_build_object(v_key, v_full -> v_key), format('C-1: replace with only %s', v_key);
    END LOOP;

    PERFORM queen.configure_queue_v1('q', v_full);
    PERFORM queen.configure_queue_v1('q', NULL);
    PERFORM queen.configure_queue_v1('q', 'null', 'merge');
    ASSERT pg_temp.options_of('q') = v_full, 'C-9: no bag is an empty bag';
    PERFORM queen.configure_queue_v1('q', '{"leasetime": 1, "LEASETIME": 1, "retentionSecond": 1, "replace": true, "mode": "replace", "x": "\u0001"}');
    ASSERT pg_temp.options_of('q') = v_full, 'C-4, C-5, F135: unknown and wrong-case keys change nothing';
    PERFORM queen.configure_queue_v1('q', '{"leaseTime": 0, "deadLetterQueue": false, "namespace": ""}');
    ASSERT pg_temp.options_of('q') = v_full || '{"leaseTime": 0, "namespace": ""}', 'F134: zero, false and the empty text are values';
END $$;

DO $$
DECLARE
    v_before jsonb;
    v_case record;
    v_key text;
    v_error text;
BEGIN
    PERFORM queen.configure_queue_v1('q', '{"leaseTime": 77}', 'replace');
    v_before := pg_temp.options_of('q');
    FOR v_case IN
        SELECT * FROM (VALUES
            ('leaseTime', ARRAY['"60"', 'true', '1.5', '2147483648', '-2147483649', '[]', '{}', '1e30', '1e400', '-1e131071', '1e-16383']),
            ('priority', ARRAY['1e400']), ('retryLimit', ARRAY['1e400']), ('retryDelay', ARRAY['1e400']), ('maxSize', ARRAY['1e400']),
            ('ttl', ARRAY['1e400']), ('delayedProcessing', ARRAY['1e400']), ('windowBuffer', ARRAY['1e400']), ('retentionSeconds', ARRAY['1e400']),
            ('completedRetentionSeconds', ARRAY['1e400']), ('maxWaitTimeSeconds', ARRAY['1e400']),
            ('minPopWaitTime', ARRAY['"1"', '4294967296', '1e400']),
            ('dedupWindowSeconds', ARRAY['0.5', '"all"', '-2147483649', '1e400']),
            ('retentionEnabled', ARRAY['1', '"true"', '0', '[]']),
            ('namespace', ARRAY['1', 'true', '"a\u0001b"', to_json(repeat('x', 256))::text]),
            ('task', ARRAY['{}', '"\n"']),
            ('retentionBytes', ARRAY['-1', '9223372036854775808', '0.5', '"1"', 'true', '1e400']),
            ('retentionMessages', ARRAY['-1', '9223372036854775808', '1e400']),
            ('cleanupPolicy', ARRAY['""', '"Compact"', '"delete,compact"', '"compact, delete"', '"compact\u000a"', '1', 'true', '["compact"]']),
            ('deleteRetentionSeconds', ARRAY['-1', '2147483648', '1.5']),
            ('minCompactionLagSeconds', ARRAY['-1', '2147483648']),
            ('groupIdleSeconds', ARRAY['-1', '1', '60', '299', '2.99e2', '2147483648', '"300"']),
            ('retentionSinkHold', ARRAY['1', '"a:b"', '"a b"', '"\u00e9"', '"a\n"', to_json(repeat('x', 65))::text]),
            ('retentionSinkHoldMaxSeconds', ARRAY['59', '31536001', '0', '-1', '999999999', '60.5', '"60"', '1e400'])
        ) AS c (key, bad)
    LOOP
        FOREACH v_key IN ARRAY v_case.bad LOOP
            v_error := pg_temp.error_of(format('SELECT queen.configure_queue_v1(%L, %L)', 'q',
                '{"priority": 5, "' || v_case.key || '": ' || v_key || '}'));
            -- The bag itself must be jsonb, which numbers of more than 131072 digits cannot become: PostgreSQL says so before the call.
            ASSERT v_error LIKE format('QN400 %s %s must be %%', v_case.key, v_case.key),
                format('C-11, F137, F141: %s = %s is refused by name, got %s', v_case.key, v_key, v_error);
            v_error := pg_temp.error_of(format('SELECT queen.configure_queue_v1(%L, %L)', 'never',
                '{"' || v_case.key || '": ' || v_key || '}'));
            ASSERT v_error LIKE 'QN400 %', 'C-11: refused on a create as well';
        END LOOP;
    END LOOP;
    ASSERT pg_temp.options_of('q') = v_before, 'C-11: a refusal leaves the whole row as it was';
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE name = 'never'), 'C-11: a refused create makes no queue';

    ASSERT pg_temp.error_of('SELECT queen.configure_queue_v1(''q'', ''[1]'')') LIKE 'QN400 options %', 'a bag that is no object';
    ASSERT pg_temp.error_of('SELECT queen.configure_queue_v1(NULL)') LIKE 'QN400 queue %', 'C-6: queue must be there';
    ASSERT pg_temp.error_of('SELECT queen.configure_queue_v1(repeat(''x'', 256))') LIKE 'QN400 queue %', 'design 7: long name';
    ASSERT pg_temp.error_of('SELECT queen.configure_queue_v1(E''a\tb'')') LIKE 'QN400 queue %', 'design 7: control character';
    FOREACH v_key IN ARRAY ARRAY['Replace', '', 'MERGE', ' merge'] LOOP
        ASSERT pg_temp.error_of(format('SELECT queen.configure_queue_v1(''q'', ''{"leaseTime": 1}'', %L)', v_key))
            = format('QN400 mode mode must be "merge" or "replace", got %s', to_json(v_key)), 'C-3: mode ' || v_key;
    END LOOP;
    ASSERT pg_temp.options_of('q') = v_before, 'C-3: a bad mode writes nothing';
END $$;

DO $$
DECLARE
    v_options jsonb;
BEGIN
    v_options := queen.configure_queue_v1('q', '{"minPopWaitTime": 60001, "dedupWindowSeconds": -5}', 'replace') -> 'options';
    ASSERT v_options @> '{"minPopWaitTime": 60000, "dedupWindowSeconds": 0}', 'spec 8.2: clamped above, floored';
    v_options := queen.configure_queue_v1('q', '{"minPopWaitTime": -1, "dedupWindowSeconds": 2147483647}') -> 'options';
    ASSERT v_options @> '{"minPopWaitTime": 0, "dedupWindowSeconds": 2147483647}', 'spec 8.2: clamped below, no ceiling';
    v_options := queen.configure_queue_v1('q', '{"retentionSeconds": -2147483648, "maxWaitTimeSeconds": 2147483647, "leaseTime": 6.0e1, "retryLimit": -1}') -> 'options';
    ASSERT v_options @> '{"retentionSeconds": -2147483648, "maxWaitTimeSeconds": 2147483647, "leaseTime": 60, "retryLimit": -1}',
        'C-10: other numbers are stored as given, got ' || v_options::text;

    v_options := queen.configure_queue_v1('q', '{"groupIdleSeconds": 3e2, "retentionBytes": 1e9, "deleteRetentionSeconds": 86400, "cleanupPolicy": "delete"}') -> 'options';
    ASSERT v_options @> '{"groupIdleSeconds": 300, "retentionBytes": 1000000000}' AND NOT v_options ?| ARRAY['deleteRetentionSeconds', 'cleanupPolicy', 'retentionMessages'],
        'design 5: shown only away from the default, got ' || v_options::text;
    v_options := queen.configure_queue_v1('q', '{"groupIdleSeconds": 2147483647}') -> 'options';
    ASSERT v_options @> '{"groupIdleSeconds": 2147483647}', 'design 5: no ceiling';

    UPDATE queen.queues SET namespace = NULL, task = NULL, min_pop_wait_time = 99999, retry_limit = NULL WHERE name = 'q';
    v_options := queen.configure_queue_v1('q', '{"priority": 3}') -> 'options';
    ASSERT v_options @> '{"minPopWaitTime": 99999, "priority": 3, "retryLimit": 3}', 'C-8: a kept value is not clamped again';
    ASSERT (SELECT q.namespace = '' AND q.task = '' FROM queen.queues q WHERE q.name = 'q'), 'C-8: a kept NULL label becomes empty';
END $$;

DO $$
DECLARE
    v_other uuid := '00000000-0000-0000-0000-0000000000aa';
    v_id uuid;
BEGIN
    PERFORM queen.configure_queue_v1('shared', '{"leaseTime": 1}', p_tenant_id => v_other);
    ASSERT pg_temp.error_of('SELECT queen.get_queue_v1(''shared'')') LIKE 'QN404 %Queue not found', 'E-5: a foreign queue is a missing one';
    PERFORM queen.configure_queue_v1('shared', '{"leaseTime": 2}');
    ASSERT pg_temp.options_of('shared') ->> 'leaseTime' = '2', 'E-5: the same name in two tenants is two queues';
    ASSERT queen.get_queue_v1('shared', v_other) -> 'options' ->> 'leaseTime' = '1', 'E-5: the other tenant keeps its own';

    v_id := queen._ensure_queue('a.b.c', queen._tenant(NULL));
    ASSERT v_id = queen._ensure_queue('a.b.c', queen._tenant(NULL)), 'P-14: the second call finds the queue';
    ASSERT (SELECT q.namespace = 'a' AND q.task = 'b' FROM queen.queues q WHERE q.id = v_id), 'E 1.1: labels of a dotted name';
    v_id := queen._ensure_queue('plain', queen._tenant(NULL));
    ASSERT (SELECT q.namespace = 'plain' AND q.task = '' AND q.lease_time = 60 FROM queen.queues q WHERE q.id = v_id), 'http 1.7: no dot';
    ASSERT pg_temp.error_of(format('SELECT queen._ensure_queue(repeat(%L, 256), queen._tenant(NULL))', 'x')) LIKE 'QN400 queue %', 'design 7';
END $$;
ROLLBACK;

BEGIN ISOLATION LEVEL REPEATABLE READ;
DO $$
BEGIN
    PERFORM queen.configure_queue_v1('q');
    ASSERT false, 'design 3.3: configure refuses another isolation level';
EXCEPTION WHEN SQLSTATE 'QN400' THEN
    ASSERT SQLERRM LIKE '%REPEATABLE READ%', 'design 3.3: the refusal names the level';
END $$;
ROLLBACK;
