-- log_push_v1, push_v1, push_many_v1: what is refused, with the field, before anything is written.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_arguments.sql (on a migrated database).
BEGIN;

-- SQLSTATE and field of what a statement raises; '' when it raises nothing. Nothing may be written by a refused one.
CREATE FUNCTION pg_temp.refusal(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_code text;
    v_field text;
    v_detail text;
    v_message text;
BEGIN
    EXECUTE p_sql;
    RETURN '';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS v_code = RETURNED_SQLSTATE, v_field = COLUMN_NAME, v_detail = PG_EXCEPTION_DETAIL, v_message = MESSAGE_TEXT;
    ASSERT v_code NOT LIKE 'QN%' OR v_detail = v_field, 'B3: detail and column agree';
    RETURN v_code || ' ' || v_field;
END $$;

CREATE FUNCTION pg_temp.push(VARIADIC p_args text[]) RETURNS text LANGUAGE sql AS $$
    SELECT pg_temp.refusal('SELECT * FROM queen.log_push_v1(' || array_to_string(p_args, ', ') || ')')
$$;

DO $$
DECLARE
    v_long text := quote_literal(ARRAY[repeat('x', 256)]::text);
    v_control text;
    v_text text;
    v_uuid text := 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
BEGIN
    -- Arrays that do not fit together.
    ASSERT pg_temp.push('''{q,q}''', '''{p}''', '''{1,1}''', '''{1,2}''') = 'QN400 p_counts', 'P-26: queues and partitions';
    ASSERT pg_temp.push('''{q}''', 'NULL', '''{1}''', '''{1}''') = 'QN400 p_counts', 'P-26: no partitions';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1,1}''', '''{1,2}''') = 'QN400 p_counts', 'P-26: counts';
    ASSERT pg_temp.push('''{q}''', '''{p}''', 'NULL', '''{1}''') = 'QN400 p_counts', 'P-26: no counts';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{2}''', '''{1}''') = 'QN400 p_counts', 'P-26: a count too high';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{0}''', '''{1}''') = 'QN400 p_counts', 'P-26: a count too low';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{NULL}''', '''{1}''') = 'QN400 p_counts', 'P-26: a null count';
    ASSERT pg_temp.push('''{q,q}''', '''{p,p}''', '''{2,-1}''', '''{1}''') = 'QN400 p_counts', 'P-26: a negative count';
    ASSERT pg_temp.push('''{}''', '''{}''', '''{}''', '''{1}''') = 'QN400 p_counts', 'P-26: payloads without a group';
    -- Arrays that PostgreSQL allows and whose elements are not where they are looked for.
    ASSERT pg_temp.push('''[0:0]={q}''', '''{p}''', '''{1}''', '''{1}''') = 'QN400 p_payloads', 'P-26: queues from 0';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''[0:0]={1}''', '''{1}''') = 'QN400 p_payloads', 'P-26: counts from 0';
    ASSERT pg_temp.push('''{{q,q}}''', '''{p,p}''', '''{{1,1}}''', '''{1,2}''') = 'QN400 p_payloads', 'P-26: two dimensions';
    -- The partition is there and written lately: the way of the common push.
    PERFORM queen.push_v1('lists', '0', 'p');
    ASSERT pg_temp.push('''{lists}''', '''{p}''', '''{2}''', '''[0:1]={1,2}''') = 'QN400 p_payloads', 'P-26: payloads from 0';
    ASSERT pg_temp.push('''{lists}''', '''{p}''', '''{2}''', '''{{1,2}}''') = 'QN400 p_payloads', 'P-26: payloads of two dimensions';
    ASSERT pg_temp.push('''{lists}''', '''{p}''', '''{2}''', '''{1,2}''', '''[0:1]={x,y}''') = 'QN400 p_payloads', 'P-26: ids from 0';
    ASSERT pg_temp.push('''{lists}''', '''{p}''', '''{2}''', '''{1,2}''', 'NULL', '''[0:1]={x,y}''') = 'QN400 p_payloads', 'P-26: keys from 0';
    ASSERT (
        SELECT count(*) = 6 AND bool_and(pg_temp.refusal(format('SELECT * FROM queen.push_many_v1(''lists'', %s)', a)) = 'QN400 p_payloads')
        FROM unnest(ARRAY[
            '''[0:1]={1,2}''', '''[0:0]={1}''', '''{{1,2}}''', '''{1,2}'', ''[0:1]={p,p}''', '''{1,2}'', ''{p}'', ''[0:1]={x,y}''',
            '''{1,2}'', ''{p}'', NULL, ''[0:1]={x,y}''']) a), 'P-26: push_many_v1';
    ASSERT (SELECT count(*) FROM queen.read_v1('lists', 'p')) = 1, 'P-26: nothing of it was stored';
    PERFORM queen.delete_queue_v1('lists'), queen.log_reclaim_step_v1();
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', 'NULL') = 'QN400 p_counts', 'F025: no payloads';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', 'NULL', 'NULL', '''{1,2}''') = 'QN400 p_counts', 'P-26: nonces';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{2}''', '''{1,2}''', '''{a}''') = 'QN400 p_transaction_ids', 'P-26: ids';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', '''{a,b}''') = 'QN400 p_transaction_ids', 'P-26: too many ids';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', 'NULL', '''{a,b}''') LIKE 'QN400 p_%', 'P-26: keys';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', '''{NULL,NULL}''') LIKE 'QN400 p_%', 'P-26: trace ids';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', 'NULL', '''{a,b}''') LIKE 'QN400 p_%', 'P-26: producers';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{2}''', '''{1,NULL}''') = 'QN400 p_payloads', 'P-26: a null payload';

    -- Names: null, too long, control characters; first and last of several.
    ASSERT pg_temp.push('''{NULL}''', '''{p}''', '''{1}''', '''{1}''') = 'QN400 queue', 'design 7: null queue';
    ASSERT pg_temp.push('''{q}''', '''{NULL}''', '''{1}''', '''{1}''') = 'QN400 partition', 'design 7: null partition';
    ASSERT pg_temp.push(v_long, '''{p}''', '''{1}''', '''{1}''') = 'QN400 queue', 'design 7: long queue';
    ASSERT pg_temp.push('''{q}''', v_long, '''{1}''', '''{1}''') = 'QN400 partition', 'design 7: long partition';
    FOREACH v_control IN ARRAY ARRAY[E'\x01', E'\x09', E'\n', E'\r', E'\x1b', E'\x1f', E'\x7f'] LOOP
        ASSERT pg_temp.push(quote_literal(ARRAY['q', 'a' || v_control]::text), '''{p,p}''', '''{1,1}''', '''{1,2}''') = 'QN400 queue', 'F004: queue with ' || ascii(v_control);
        ASSERT pg_temp.push('''{q,q}''', quote_literal(ARRAY['p', v_control || 'b']::text), '''{1,1}''', '''{1,2}''') = 'QN400 partition', 'F004: partition with ' || ascii(v_control);
        ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', ''p'', %L)', 'a' || v_control)) = 'QN400 transaction_id', 'F004: id with ' || ascii(v_control);
        ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', ''p'', NULL, %L)', 'a' || v_control)) = 'QN400 key', 'F004: key with ' || ascii(v_control);
        ASSERT pg_temp.refusal(format('SELECT * FROM queen.get_latest_v1(''q'', %L)', 'a' || v_control)) = 'QN400 key', 'F004: key asked for, with ' || ascii(v_control);
    END LOOP;
    ASSERT pg_temp.push(quote_literal(ARRAY[repeat('é', 255)]::text), quote_literal(ARRAY[repeat('é', 255)]::text), '''{1}''', '''{1}''') = '', 'design 7: 255 characters, not bytes';
    ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', %L)', repeat('x', 256))) = 'QN400 partition', 'design 7: through the human face';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(NULL, ''1'')') = 'QN400 queue', 'design 7: no queue';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(''q'', ''1'', NULL)') = 'QN400 partition', 'design 7: no partition';

    -- Items, human face.
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(''q'', NULL)') = 'QN400 p_payloads', 'P-26: null payload is not JSON null';
    ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', ''p'', %L)', repeat('x', 65536))) = 'QN400 transaction_id', 'F-3: id over 64 KiB';
    ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', ''p'', NULL, %L)', repeat('k', 1025))) = 'QN400 key', 'design 3.1: key over 1 KiB';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_many_v1(''q'', ''{1,2}'', NULL, ''{a}'')') LIKE 'QN400 p_%', 'P-26: ids of push_many_v1';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_many_v1(''q'', ''{1,2}'', NULL, NULL, ''{a}'')') LIKE 'QN400 p_%', 'P-26: keys of push_many_v1';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_many_v1(''q'', ''{1,2,3}'', ''{a,b}'')') LIKE 'QN400 p_%', 'P-26: partitions of push_many_v1';

    -- Trace ids: whatever PostgreSQL reads as a UUID, nothing else.
    FOREACH v_text IN ARRAY ARRAY['', 'x', '1', left(v_uuid, 35), v_uuid || '0', '{' || v_uuid, replace(v_uuid, 'a', 'g'), ' ' || v_uuid, v_uuid || E'\n', replace(v_uuid, '-', '--')] LOOP
        ASSERT pg_temp.push('''{q}''', '''{p}''', '''{2}''', '''{1,2}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', quote_literal(ARRAY[NULL, v_text]::text))
            = 'QN400 p_trace_ids', 'design 7: a trace id that is ' || to_json(v_text);
    END LOOP;
    FOREACH v_text IN ARRAY ARRAY[v_uuid, upper(v_uuid), replace(v_uuid, '-', ''), '{' || v_uuid || '}', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11'] LOOP
        ASSERT v_text::uuid = v_uuid::uuid;
        BEGIN
            ASSERT pg_temp.push('''{q}''', '''{p}''', '''{2}''', '''{1,2}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', quote_literal(ARRAY[NULL, v_text]::text)) = '', v_text;
            RAISE EXCEPTION USING ERRCODE = 'ZZ000';
        EXCEPTION WHEN SQLSTATE 'ZZ000' THEN NULL;
        END;
    END LOOP;

    -- Half of a surrogate pair, as the server refuses it too; whole pairs and escaped backslashes are no such thing.
    FOREACH v_text IN ARRAY ARRAY['"\ud83d"', '"\uDE00"', '"x\ud83d x"', '{"\udc00": 1}', '["\ud83d", "\ude00"]', '"\ude00\ud83d"', '"\ud83d\ud83d\ude00"',
                                  '"\\\ud83d"', '"\ud83d\\\ude00"', '"\ud83d\\ude00"', '"\ud83d\u0041"'] LOOP
        ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', %L)', v_text)) = 'QN400 payload', 'F005: ' || v_text;
        ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_many_v1(''q'', ARRAY[''1'', %L]::json[])', v_text)) = 'QN400 payload', 'F005: ' || v_text;
    END LOOP;
    FOREACH v_text IN ARRAY ARRAY['"\ud83d\ude00"', '"\uD83D\uDE00\ud83d\ude00"', '"\\ud83d"', '"\\\\ud83d"', '"\u0ed8 \ufdd8 ud83d"', '{"\ud83d\ude00": "\u0000"}'] LOOP
        BEGIN
            ASSERT (SELECT status = 'queued' FROM queen.push_v1('q', v_text::json)), 'F005: ' || v_text;
            RAISE EXCEPTION USING ERRCODE = 'ZZ000';
        EXCEPTION WHEN SQLSTATE 'ZZ000' THEN NULL;
        END;
    END LOOP;

    -- F019: one bad group, and nothing of the call is there.
    ASSERT pg_temp.push('''{good,good,good}''', format('ARRAY[''a'', %L, ''c'']', repeat('x', 256)), '''{1,1,1}''', '''{1,2,3}''') = 'QN400 partition', 'F019: refused';
    ASSERT NOT EXISTS (SELECT FROM queen.queues WHERE name IN ('good', 'q')), 'F019, design 7: nothing was made';
    ASSERT (SELECT count(*) = 1 FROM queen.log_segments), 'F019, design 7: nothing was stored but the one good push';

    -- Another tenant needs a right to; this session has it, its rows stay apart.
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', '''{same}''', 'NULL', 'NULL', 'false', '''00000000-0000-0000-0000-0000000000aa''') = '', 'E-5: a tenant of its own';
    ASSERT pg_temp.push('''{q}''', '''{p}''', '''{1}''', '''{1}''', '''{same}''') = '', 'E-5: the same names';
    ASSERT (SELECT count(DISTINCT q.tenant_id) = 2 AND count(*) = 2 FROM queen.queues q JOIN queen.log_partitions p ON p.queue_id = q.id
            JOIN queen.log_segments s ON s.partition_id = p.id WHERE q.name = 'q'), 'E-5: two queues of one name';

    -- The short way of a partition that is in use refuses the same.
    PERFORM queen.push_v1('q', '1');
    PERFORM queen.push_v1('q', '1');
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(''q'', ''1'', NULL)') = 'QN400 partition', 'design 7: no partition';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(''q'', NULL)') = 'QN400 p_payloads', 'P-26: null payload';
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_many_v1(''q'', ARRAY[''1'', NULL]::json[])') = 'QN400 p_payloads', 'P-26: a null payload';
    ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_v1(''q'', ''1'', ''Default'', %L)', repeat('x', 65536))) = 'QN400 transaction_id', 'F-3: id over 64 KiB';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{2}''', '''{1}''') = 'QN400 p_counts', 'P-26: a count too high';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{NULL}''') = 'QN400 p_payloads', 'P-26: a null payload';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{1}''', '''{a,b}''') = 'QN400 p_transaction_ids', 'P-26: too many ids';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{1}''', 'NULL', '''{a,b}''') = 'QN400 p_transaction_ids', 'P-26: too many keys';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{1}''', 'NULL', 'NULL', '''{1,2}''') = 'QN400 p_counts', 'P-26: nonces';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{1}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', '''{x}''') = 'QN400 p_trace_ids', 'design 7: trace id';
    ASSERT pg_temp.push('''{q}''', '''{Default}''', '''{1}''', '''{1}''', 'NULL', 'NULL', 'NULL', 'false', 'NULL', 'NULL', '''{a,b}''') LIKE 'QN400 p_%', 'P-26: producers';
END $$;

CREATE ROLE regent_test_writer;
GRANT USAGE ON SCHEMA queen TO regent_test_writer;
GRANT EXECUTE ON FUNCTION queen.log_push_v1(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[], boolean[]), queen.push_v1(text, json, text, text, text) TO regent_test_writer;
SET LOCAL SESSION AUTHORIZATION regent_test_writer;
DO $$
BEGIN
    PERFORM queen.push_v1('writer', '1');
    BEGIN
        PERFORM queen.log_push_v1('{q}', '{p}', '{1}', '{1}', NULL, NULL, NULL, false, '00000000-0000-0000-0000-0000000000aa');
        ASSERT false, 'E-5: a tenant may not be named';
    EXCEPTION WHEN SQLSTATE 'QN403' THEN NULL;
    END;
    BEGIN
        PERFORM FROM queen.log_segments;
        ASSERT false, 'design 4: no right on a table';
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
END $$;
RESET SESSION AUTHORIZATION;

-- An encrypted queue takes envelopes only (design 4), also in a partition that is in use.
DO $$
DECLARE
    v_envelope text := '{"encrypted": "YQ==", "iv": "YQ==", "authTag": "YQ==", "kid": "k1"}';
    v_payload text;
    v_skip boolean;
    r queen.push_row;
BEGIN
    PERFORM queen.configure_queue_v1('secret', '{"encryptionEnabled": true}');
    ASSERT pg_temp.refusal('SELECT * FROM queen.push_v1(''secret'', ''{"card": 1}'')') = 'QN409 ', 'design 4: plaintext from psql';
    ASSERT pg_temp.refusal(format('SELECT * FROM queen.push_many_v1(''secret'', ARRAY[%L, ''1'']::json[])', v_envelope)) = 'QN409 ', 'design 4: one plaintext among envelopes';
    FOREACH v_payload IN ARRAY ARRAY['1', 'null', '"x"', '[]', '{}', '{"encrypted": "a", "iv": "a", "authTag": "a"}', replace(v_envelope, 'kid', 'KID'),
        left(v_envelope, -1) || ', "more": 1}', left(v_envelope, -1) || ', "kid": "k2"}', '[' || v_envelope || ']'] LOOP
        SELECT * INTO r FROM queen.log_push_v1('{secret}', '{p}', '{1}', ARRAY[v_payload]);
        ASSERT (r.grp, r.status, r.code) = (0, 'failed', 'QN409') AND r.error <> '', 'design 4: not an envelope: ' || v_payload;
    END LOOP;
    ASSERT NOT EXISTS (SELECT FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'secret'), 'design 4: nothing stored';
    SELECT * INTO r FROM queen.log_push_v1('{secret}', '{p}', '{2}', ARRAY[v_envelope, replace(v_envelope, ' ', '')]);
    ASSERT (r.status, r.frames) = ('queued', 2), 'design 4: envelopes are stored';
    ASSERT (SELECT m.status = 'queued' FROM queen.push_v1('secret', v_envelope::json) m), 'design 4: also from psql';
    ASSERT (SELECT string_agg(x.grp || x.status, ' ' ORDER BY x.grp) FROM queen.log_push_v1('{secret,plain,secret,secret}', '{p,p,q,p}', '{1,1,1,1}', ARRAY['1', '2', v_envelope, v_envelope]) x)
        = '0failed 1queued 2queued 3queued', 'design 4: a refused group takes nobody down';
    ASSERT (SELECT m.payload::text = v_envelope FROM queen.pop_v1('secret', 1, NULL, 'p') m), 'design 4: as sent';

    -- A server says of each group whether it sealed it, and is told when the queue is otherwise.
    FOREACH v_skip IN ARRAY ARRAY[false, true] LOOP
        ASSERT (SELECT array_agg(x.status || coalesce(x.code, '') ORDER BY x.grp) FROM queen.log_push_v1('{secret,plain,secret,plain,secret,plain,secret}', '{p,p,p,p,p,p,p}',
            '{1,1,1,1,1,1,1}', ARRAY[v_envelope, v_envelope, v_envelope, '1', '1', '1', v_envelope], p_skip_locked => v_skip,
            p_sealed => '{false,true,true,false,true,NULL,NULL}') x)
            = '{failedQN409,failedQN409,queued,queued,failedQN409,queued,queued}', 'design 4: sealed or not';
        SELECT * INTO r FROM queen.log_push_v1('{plain}', '{p}', '{1}', ARRAY[v_envelope], p_skip_locked => v_skip, p_sealed => '{true}');
        ASSERT (r.status, r.code) = ('failed', 'QN409') AND r.error LIKE 'the queue is not encrypted%', 'design 4: a single group, too';
        SELECT * INTO r FROM queen.log_push_v1('{secret}', '{p}', '{1}', ARRAY[v_envelope], p_skip_locked => v_skip, p_sealed => '{false}');
        ASSERT (r.status, r.code) = ('failed', 'QN409') AND r.error LIKE 'the queue is encrypted%', 'design 4: what only looks like an envelope';
        SELECT * INTO r FROM queen.log_push_v1('{plain}', '{p}', '{1}', ARRAY[v_envelope], p_skip_locked => v_skip, p_sealed => '{false}');
        ASSERT r.status = 'queued', 'design 4: a plain queue takes anything';
    END LOOP;
    ASSERT pg_temp.refusal($q$SELECT * FROM queen.log_push_v1('{plain,plain}', '{p,p}', '{1,1}', '{1,2}', p_sealed => '{false}')$q$) = 'QN400 p_sealed', 'design 7';
END $$;

ROLLBACK;
