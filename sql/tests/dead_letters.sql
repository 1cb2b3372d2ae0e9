-- Dead letters: list, delete, replay, redrive, retention.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/dead_letters.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
-- p_count messages of a queue, all of them dead for group g; one a call, oldest first.
CREATE FUNCTION pg_temp.kill(p_queue text, p_count integer, p_group text DEFAULT 'g') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_lease text;
    v_next bigint;
BEGIN
    FOR i IN 1 .. p_count LOOP
        v_lease := pg_temp.lease(p_queue, 1, p_group);
        SELECT c.committed + 1 INTO v_next FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue) AND c.consumer_group = p_group;
        PERFORM pg_temp.ack(p_queue, v_lease, v_next || 'd', false, p_group);
    END LOOP;
END $$;
-- Ids of the messages behind dead letters of a queue, in the order listed.
CREATE FUNCTION pg_temp.dead(p_queue text, p_group text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(d.transaction_id, ' '), '') FROM queen.list_dead_letters_v1(p_queue, p_group) d
$$;
CREATE FUNCTION pg_temp.letter_of(p_queue text, p_txn text) RETURNS uuid LANGUAGE sql AS $$
    SELECT d.id FROM queen.list_dead_letters_v1(p_queue) d WHERE d.transaction_id = p_txn
$$;
CREATE FUNCTION pg_temp.error_of(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_sql;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
-- The messages of a partition that nobody has moved yet, as id=payload.
CREATE FUNCTION pg_temp.tail(p_queue text, p_from bigint, p_partition text DEFAULT 'p') RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(r.transaction_id || '=' || (r.payload::text), ' ' ORDER BY r."offset"), '')
    FROM queen.read_v1(p_queue, p_partition, p_from) r
$$;

-- List: newest first, filters, pages, foreign and deleted queues (spec 4.9).
DO $$
DECLARE
    r record;
BEGIN
    PERFORM pg_temp.push('list', 4);
    PERFORM pg_temp.kill('list', 3);
    PERFORM pg_temp.kill('list', 1, 'h');
    PERFORM pg_temp.push('other', 1);
    PERFORM pg_temp.kill('other', 1);
    ASSERT pg_temp.dead('list') = '0 2 1 0' AND pg_temp.dead('list', 'g') = '2 1 0' AND pg_temp.dead('list', 'h') = '0', 'newest first, got ' || pg_temp.dead('list');
    ASSERT pg_temp.dead(NULL) = '0 0 2 1 0', 'every queue';
    ASSERT pg_temp.dead('nowhere') = '' AND pg_temp.dead('list', 'G') = '', 'no such queue, no such group';
    ASSERT (SELECT string_agg(d.transaction_id, ' ') FROM queen.list_dead_letters_v1('list', NULL, 2, 1) d) = '2 1', 'a page';
    ASSERT (SELECT count(*) = 0 FROM queen.list_dead_letters_v1('list', NULL, 0)), 'an empty page';
    SELECT * INTO r FROM queen.list_dead_letters_v1('list', 'g') LIMIT 1;
    ASSERT (r.queue, r.partition, r.partition_id, r.consumer_group, r.error, r.retry_count, r.payload, r."offset") = ('list', 'p', pg_temp.lane('list'), 'g', 'why 2d', 0, '{"n": 2}', 2)
        AND r.message_id = (SELECT x.id FROM queen.read_v1('list', 'p', 2, 1) x), 'what it shows: ' || r::text;
    ASSERT pg_temp.error_of('SELECT queen.list_dead_letters_v1(NULL, NULL, -1)') = 'QN400' AND pg_temp.error_of('SELECT queen.list_dead_letters_v1(NULL, NULL, 1, -1)') = 'QN400', 'a page that cannot be';
    ASSERT (SELECT count(*) = 0 FROM queen.list_dead_letters_v1(NULL, p_tenant_id => '00000000-0000-0000-0000-000000000002')), 'E-5: of another tenant';
    UPDATE queen.queues SET deleted_at = now() WHERE name = 'other';
    ASSERT pg_temp.dead('other') = '' AND pg_temp.dead(NULL) = '0 2 1 0', 'those of a deleted queue are hidden with it';
    PERFORM queen.delete_queue_v1('list'), queen.log_reclaim_step_v1();
    ASSERT (SELECT count(*) = 0 FROM queen.log_dlq d JOIN queen.log_partitions p ON p.id = d.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'list'), 'R-49';
END $$;

-- Delete: of a queue, of one group, in bounded steps; and those of one message (spec 4.8, 4.9).
DO $$
BEGIN
    PERFORM pg_temp.push('del', 4);
    PERFORM pg_temp.kill('del', 4);
    PERFORM pg_temp.kill('del', 2, 'h');
    ASSERT queen.delete_message_v1(pg_temp.lane('del'), '1') = 2 AND pg_temp.dead('del') = '0 3 2 0', 'of one message, every group';
    ASSERT queen.delete_message_v1(pg_temp.lane('del'), '1') = 0 AND queen.delete_message_v1(gen_random_uuid(), '0') = 0, 'none left, no such partition';
    ASSERT queen.delete_message_v1(pg_temp.lane('del'), '0', '00000000-0000-0000-0000-000000000002') = 0, 'E-5: of another tenant';
    ASSERT queen.delete_dead_letters_v1('del', 'h') = 1 AND pg_temp.dead('del') = '3 2 0', 'of one group';
    ASSERT queen.delete_dead_letters_v1('del', NULL, 2) = 2 AND queen.delete_dead_letters_v1('del', NULL, 2) = 1 AND queen.delete_dead_letters_v1('del', NULL, 2) = 0, 'in steps';
    ASSERT queen.delete_dead_letters_v1('nowhere') = 0, 'no such queue is no error';
    ASSERT pg_temp.error_of('SELECT queen.delete_dead_letters_v1(NULL)') = 'QN400' AND pg_temp.error_of('SELECT queen.delete_dead_letters_v1(''del'', NULL, 0)') = 'QN400', 'refused';
    ASSERT (SELECT d.log_start = 0 AND d.head_offset = 3 FROM queen.partition_head d WHERE d.id = pg_temp.lane('del')), 'the log is as it was';
END $$;

-- Replay is a move: a new message at the tail under dlq:<id>, the dead letter goes (A-38, F071).
DO $$
DECLARE
    v_id uuid;
    r record;
    d record;
BEGIN
    PERFORM pg_temp.push('move', 2);
    PERFORM pg_temp.kill('move', 1);
    v_id := pg_temp.letter_of('move', '0');
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_id);
    ASSERT (r.dlq_id, r.result, r.queue, r.partition, r.consumer_group, r.transaction_id, r."offset", r.error) IS NOT DISTINCT FROM (v_id, 'moved', 'move', 'p', 'g', '0', 2::bigint, NULL::text), 'A-38: ' || r::text;
    ASSERT pg_temp.tail('move', 2) = 'dlq:' || v_id || '={"n": 0}' AND r.message_id = (SELECT x.id FROM queen.read_v1('move', 'p', 2) x), 'A-38: at the tail, got ' || pg_temp.tail('move', 2);
    ASSERT pg_temp.dead('move') = '', 'A-38: no dead letter any more';
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_id);
    ASSERT r.result = 'gone' AND pg_temp.tail('move', 3) = '', 'moved once: ' || r::text;
    ASSERT (SELECT x.result FROM queen.replay_dead_letter_v1(gen_random_uuid()) x) = 'gone', 'never was';

    -- It fails again and is replayed again, inside the dedup window: the id is that of the new dead letter (F071).
    PERFORM pg_temp.ack('move', pg_temp.lease('move', 1), '1c');
    PERFORM pg_temp.ack('move', pg_temp.lease('move', 1), 'dlq:' || v_id || 'd');
    SELECT * INTO d FROM queen.list_dead_letters_v1('move');
    ASSERT d.transaction_id = 'dlq:' || v_id, 'F071: back among the dead';
    SELECT * INTO r FROM queen.replay_dead_letter_v1(d.id);
    ASSERT r.result = 'moved' AND pg_temp.tail('move', 3) = 'dlq:' || d.id || '={"n": 0}', 'F071: really reappears: ' || r::text;

    -- A duplicate verdict writes nothing and keeps the row.
    PERFORM pg_temp.ack('move', pg_temp.lease('move', 1), 'dlq:' || d.id || 'd');
    SELECT * INTO d FROM queen.list_dead_letters_v1('move');
    PERFORM queen.push_v1('move', '"squatter"', 'p', 'dlq:' || d.id);
    SELECT * INTO r FROM queen.replay_dead_letter_v1(d.id);
    ASSERT (r.result, r.message_id, r."offset") = ('duplicate', '00000000-0000-0000-0000-000000000000', 4) AND r.error IS NOT NULL, 'A-38, F071: ' || r::text;
    ASSERT pg_temp.tail('move', 4) = 'dlq:' || d.id || '="squatter"' AND pg_temp.letter_of('move', d.transaction_id) = d.id, 'A-38: the row is kept';
    -- Past the window it moves.
    UPDATE queen.queues SET dedup_window_seconds = 0 WHERE name = 'move';
    ASSERT (SELECT x.result FROM queen.replay_dead_letter_v1(d.id) x) = 'moved', 'outside of the window';
END $$;

-- What a message carries goes with it: from the segment into the dead letter, and from there into a new segment, whoever
-- moves it (A-38, P-27, design 3.1). The transactionId is the one thing that changes.
DO $$
DECLARE
    v_lane uuid;
    v_ids uuid[];
    v_sent text[] := ARRAY['{"b":1, "b":2,"u":"\u0000"}', '1e400', 'null', '[ 1 ]'];
    v_traces text[] := ARRAY['00000000-0000-7000-8000-00000000000a', NULL, '00000000-0000-7000-8000-00000000000c', NULL];
    v_want text;
    v_got text;
BEGIN
    PERFORM queen.log_push_v1('{life}', '{p}', '{4}', v_sent, '{0,1,2,3}', '{k0,NULL,k2,NULL}', p_trace_ids => v_traces, p_producer_subs => '{ann,key:bob,NULL,NULL}');
    v_lane := pg_temp.lane('life');
    PERFORM pg_temp.kill('life', 4);
    v_ids := ARRAY(SELECT d.id FROM queen.list_dead_letters_v1('life') d ORDER BY d."offset");
    v_want := (SELECT string_agg(concat_ws(' ', p, coalesce(k, '-'), coalesce(t, '-'), coalesce(s, '-')), E'\n' ORDER BY ord)
        FROM unnest(v_sent, '{k0,NULL,k2,NULL}'::text[], v_traces, '{ann,key:bob,NULL,NULL}'::text[]) WITH ORDINALITY u (p, k, t, s, ord));
    v_got := (SELECT string_agg(concat_ws(' ', d.payload, coalesce(d.key, '-'), coalesce(d.trace_id::text, '-'), coalesce(d.producer_sub, '-')), E'\n' ORDER BY d."offset")
        FROM queen.log_dlq d WHERE d.partition_id = v_lane);
    ASSERT v_got = v_want, 'filed: ' || v_got;
    ASSERT (SELECT (g.id, g.transaction_id, g.payload, g."offset") = (v_ids[2], '1', v_sent[2], 1) FROM queen.get_dead_letter_v1(v_ids[2]) g), 'one of them';
    ASSERT (SELECT count(*) = 0 FROM queen.get_dead_letter_v1(gen_random_uuid())) AND (SELECT count(*) = 0 FROM queen.get_dead_letter_v1(v_ids[2], '00000000-0000-0000-0000-000000000002')), 'none, and E-5';

    PERFORM queen.replay_dead_letter_v1(v_ids[1]);
    PERFORM queen.retry_message_v1(v_lane, '1');
    PERFORM queen.redrive_dead_letters_step_v1('life');
    v_got := (SELECT string_agg(concat_ws(' ', u.p, coalesce(u.k, '-'), coalesce(u.t::text, '-'), coalesce(u.s, '-')), E'\n' ORDER BY x.base_offset, u.ord)
        FROM queen.log_segments x, unnest(x.payloads, x.keys, x.trace_ids, x.producer_subs) WITH ORDINALITY u (p, k, t, s, ord)
        WHERE x.partition_id = v_lane AND x.base_offset >= 4);
    ASSERT v_got = v_want, 'moved one by one, retried and redriven: ' || v_got;
    ASSERT (SELECT array_agg('dlq:' || i) FROM unnest(v_ids) i) = (SELECT array_agg(r.transaction_id ORDER BY r."offset") FROM queen.read_v1('life', 'p', 4) r), 'A-38: under their new ids';

    -- And the detail of a message that only the dead letter has any more.
    PERFORM pg_temp.ack('life', pg_temp.lease('life', 1), 'dlq:' || v_ids[1] || 'd');
    DELETE FROM queen.log_segments s WHERE s.partition_id = v_lane;
    DELETE FROM queen.log_txns t WHERE t.partition_id = v_lane;
    ASSERT (SELECT (m.status, m.trace_id, m.producer_sub, m.payload) = ('dead_letter', v_traces[1], 'ann', v_sent[1]) FROM queen.get_message_v1(v_lane, 'dlq:' || v_ids[1]) m), 'spec 4.8';
END $$;

-- To another queue or partition; what cannot go is kept, and says why (spec 4.9, F073).
DO $$
DECLARE
    r record;
    v_ids uuid[];
    v_tenant uuid := '00000000-0000-0000-0000-000000000002';
BEGIN
    PERFORM pg_temp.push('src', 5);
    PERFORM pg_temp.kill('src', 5);
    v_ids := ARRAY(SELECT d.id FROM queen.list_dead_letters_v1('src') d ORDER BY d.failed_at);
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[1], 'made', 'here');
    ASSERT (r.result, r.queue, r.partition, r."offset") = ('moved', 'made', 'here', 0) AND pg_temp.tail('made', 0, 'here') = 'dlq:' || v_ids[1] || '={"n": 0}', 'both made: ' || r::text;
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[2], 'made');
    ASSERT (r.result, r.queue, r.partition) = ('moved', 'made', 'p'), 'the partition keeps its name';
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[3], NULL, 'side');
    ASSERT (r.result, r.queue, r.partition) = ('moved', 'src', 'side'), 'another partition of its queue';
    ASSERT pg_temp.error_of(format('SELECT queen.replay_dead_letter_v1(%L, E''a\nb'')', v_ids[4])) = 'QN400'
        AND pg_temp.error_of(format('SELECT queen.replay_dead_letter_v1(%L, NULL, E''a\nb'')', v_ids[4])) = 'QN400', 'names are checked';
    ASSERT (SELECT x.result FROM queen.replay_dead_letter_v1(v_ids[4], 'stolen', p_tenant_id => v_tenant) x) = 'gone'
        AND NOT EXISTS (SELECT FROM queen.queues WHERE name = 'stolen'), 'E-5: of another tenant';

    -- An encrypted queue takes no plaintext; the envelope goes.
    UPDATE queen.queues SET encryption_enabled = true WHERE name = 'src';
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[4]);
    ASSERT (r.result, r.code) = ('failed', 'QN409') AND r.error LIKE 'the queue is encrypted%' AND pg_temp.letter_of('src', '3') = v_ids[4], 'plaintext is kept: ' || r::text;
    UPDATE queen.log_dlq SET payload = '{"kid":"a","encrypted":"x","iv":"y","authTag":"z"}' WHERE id = v_ids[4];
    ASSERT (SELECT x.result FROM queen.replay_dead_letter_v1(v_ids[4]) x) = 'moved', 'an envelope goes';
    UPDATE queen.queues SET encryption_enabled = false WHERE name = 'src';
    -- A payload that was lost, or damaged later (W-28, F079).
    UPDATE queen.log_dlq SET payload = NULL WHERE id = v_ids[5];
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[5]);
    ASSERT r.result = 'failed' AND r.error LIKE '%payload is lost' AND pg_temp.letter_of('src', '4') = v_ids[5], 'lost: ' || r::text;
    UPDATE queen.log_dlq SET payload = '{broken' WHERE id = v_ids[5];
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[5]);
    ASSERT r.result = 'failed' AND r.error LIKE '%damaged%' AND pg_temp.letter_of('src', '4') = v_ids[5], 'F079: ' || r::text;

    -- Of one message: the newest dead letter, one a call.
    PERFORM pg_temp.push('again', 1);
    PERFORM pg_temp.kill('again', 1);
    PERFORM pg_temp.kill('again', 1, 'h');
    SELECT * INTO r FROM queen.retry_message_v1(pg_temp.lane('again'), '0');
    ASSERT (r.result, r.consumer_group, r."offset") = ('moved', 'h', 1) AND pg_temp.dead('again', 'g') = '0', 'spec 4.8: the newest one: ' || r::text;
    SELECT * INTO r FROM queen.retry_message_v1(pg_temp.lane('again'), '0');
    ASSERT (r.result, r.consumer_group, r."offset") = ('moved', 'g', 2), 'then the other';
    ASSERT (SELECT count(*) = 0 FROM queen.retry_message_v1(pg_temp.lane('again'), '0')), 'then none';
    ASSERT (SELECT count(*) = 0 FROM queen.retry_message_v1(pg_temp.lane('again'), '0', v_tenant)), 'E-5';
END $$;

-- Between plain and encrypted queues. What a server sealed goes in the place of plaintext, into an encrypted queue only; what
-- is no envelope is refused; a damaged payload is not covered up; an envelope stays the one it is, wherever it goes (spec 1.6).
DO $$
DECLARE
    r record;
    v_ids uuid[];
    v_sealed text := '{"encrypted":"c2Vj","iv":"aXY=","authTag":"dGFn","kid":"k"}';
BEGIN
    PERFORM pg_temp.push('bare', 4), queen.configure_queue_v1('vault', '{"encryptionEnabled": true}'), queen.configure_queue_v1('open', '{}');
    PERFORM pg_temp.kill('bare', 4);
    v_ids := ARRAY(SELECT d.id FROM queen.list_dead_letters_v1('bare') d ORDER BY d."offset");
    ASSERT (SELECT (x.result, x.code) = ('failed', 'QN409') FROM queen.replay_dead_letter_v1(v_ids[1], 'vault') x), 'design 4: no plaintext';
    ASSERT pg_temp.error_of(format('SELECT queen.replay_dead_letter_v1(%L, ''vault'', p_sealed_payload => ''{"n":0}'')', v_ids[1])) = 'QN400'
        AND pg_temp.error_of(format('SELECT queen.replay_dead_letter_v1(%L, ''vault'', p_sealed_payload => ''{'')', v_ids[1])) = 'QN400', 'no envelope';
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[1], 'vault', p_sealed_payload => v_sealed);
    ASSERT r.result = 'moved' AND (SELECT x.payload FROM queen.read_v1('vault', 'p', 0) x)::text = v_sealed, 'as the server sealed it: ' || r::text;
    SELECT * INTO r FROM queen.replay_dead_letter_v1(v_ids[2], 'open', p_sealed_payload => v_sealed);
    ASSERT r.result = 'moved' AND (SELECT x.payload FROM queen.read_v1('open', 'p', 0) x)::text = '{"n": 1}', 'a plain queue takes it as it is: ' || r::text;
    UPDATE queen.log_dlq SET payload = '{broken' WHERE id = v_ids[3];
    ASSERT (SELECT x.result = 'failed' AND x.error LIKE '%damaged%' FROM queen.replay_dead_letter_v1(v_ids[3], 'vault', p_sealed_payload => v_sealed) x), 'F079: damaged';
    UPDATE queen.log_dlq SET payload = NULL WHERE id = v_ids[3];
    ASSERT (SELECT x.result = 'failed' AND x.error LIKE '%lost' FROM queen.replay_dead_letter_v1(v_ids[3], 'vault', p_sealed_payload => v_sealed) x), 'W-28: lost';
    UPDATE queen.log_dlq SET payload = replace(v_sealed, 'c2Vj', 'b3du') WHERE id IN (v_ids[3], v_ids[4]);
    PERFORM queen.replay_dead_letter_v1(v_ids[3], 'vault', p_sealed_payload => v_sealed), queen.replay_dead_letter_v1(v_ids[4], 'open', p_sealed_payload => v_sealed);
    ASSERT (SELECT count(*) = 2 FROM (SELECT x.payload::text AS p FROM queen.read_v1('vault', 'p', 1) x UNION ALL SELECT x.payload::text FROM queen.read_v1('open', 'p', 1) x) u
        WHERE u.p LIKE '%b3du%') AND pg_temp.dead('bare') = '', 'an envelope stays one';
END $$;

-- Redrive: filters, dry run, steps that go on from the last row, one outcome each (issue item 4).
CREATE FUNCTION pg_temp.outcomes(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_got text;
BEGIN
    EXECUTE format('SELECT string_agg(concat_ws('':'', queue, transaction_id, result, "offset"), '' '' ORDER BY failed_at, dlq_id) FROM %s x', p_sql) INTO v_got;
    RETURN coalesce(v_got, '');
END $$;
DO $$
DECLARE
    r record;
    v_at timestamptz[];
BEGIN
    TRUNCATE queen.log_dlq;
    PERFORM pg_temp.push('ra', 3);
    PERFORM pg_temp.push('rb', 3);
    PERFORM pg_temp.kill('ra', 2);
    PERFORM pg_temp.kill('rb', 3);
    PERFORM pg_temp.kill('ra', 1);
    PERFORM pg_temp.kill('ra', 1, 'h');
    v_at := ARRAY(SELECT d.failed_at FROM queen.log_dlq d ORDER BY d.failed_at);
    ASSERT pg_temp.outcomes('queen.redrive_dead_letters_step_v1(p_dry_run => true)') = 'ra:0:movable ra:1:movable rb:0:movable rb:1:movable rb:2:movable ra:2:movable ra:0:movable', 'a dry run: '
        || pg_temp.outcomes('queen.redrive_dead_letters_step_v1(p_dry_run => true)');
    ASSERT (SELECT count(*) = 7 FROM queen.log_dlq) AND pg_temp.tail('ra', 3) = '' AND pg_temp.tail('rb', 3) = '', 'a dry run changes nothing';
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1('ra', p_dry_run => true)$q$) = 'ra:0:movable ra:1:movable ra:2:movable ra:0:movable', 'by queue';
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1(NULL, 'h', p_dry_run => true)$q$) = 'ra:0:movable', 'by group';
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1(p_partition => 'x', p_dry_run => true)$q$) = '', 'by partition';
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1(p_error => 'y 1', p_dry_run => true)$q$) = 'ra:1:movable rb:1:movable', 'by reason';
    ASSERT pg_temp.outcomes(format('queen.redrive_dead_letters_step_v1(p_from => %L, p_to => %L, p_dry_run => true)', v_at[2], v_at[4])) = 'ra:1:movable rb:0:movable', 'by time, the end excluded';

    -- Step by step; one of them cannot go and is not asked again.
    UPDATE queen.log_dlq d SET payload = NULL WHERE d.failed_at = v_at[2];
    ASSERT pg_temp.outcomes('queen.redrive_dead_letters_step_v1(p_max_rows => 2)') = 'ra:0:moved:3 ra:1:failed', 'the first step';
    SELECT d.failed_at, d.id INTO r FROM queen.log_dlq d WHERE d.failed_at = v_at[2];
    ASSERT pg_temp.outcomes(format('queen.redrive_dead_letters_step_v1(p_max_rows => 3, p_after_failed_at => %L, p_after_id => %L)', r.failed_at, r.id)) = 'rb:0:moved:3 rb:1:moved:4 rb:2:moved:5', 'the second step goes on, and keeps the order';
    ASSERT pg_temp.outcomes(format('queen.redrive_dead_letters_step_v1(p_after_failed_at => %L)', v_at[5])) = 'ra:2:moved:4 ra:0:moved:5', 'the last step';
    ASSERT pg_temp.outcomes('queen.redrive_dead_letters_step_v1()') = 'ra:1:failed', 'started anew: only what is left';
    ASSERT (SELECT count(*) = 1 FROM queen.log_dlq), 'F073: what failed stays';
    ASSERT pg_temp.error_of('SELECT queen.redrive_dead_letters_step_v1(p_max_rows => 0)') = 'QN400', 'a step of nothing';
    ASSERT current_setting('plan_cache_mode') = 'auto' AND current_setting('enable_seqscan') = 'on', 'a step leaves no setting of its own behind';

    -- A step ends at 4 MiB of payload.
    PERFORM pg_temp.push('big', 4);
    PERFORM pg_temp.kill('big', 4);
    UPDATE queen.log_dlq d SET payload = '"' || repeat('x', 2000000) || '"' WHERE d.partition_id = pg_temp.lane('big');
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1('big')$q$) = 'big:0:moved:4 big:1:moved:5', 'bounded by bytes';
    UPDATE queen.log_dlq d SET payload = '"' || repeat('x', 5000000) || '"' WHERE d.partition_id = pg_temp.lane('big');
    ASSERT pg_temp.outcomes($q$queen.redrive_dead_letters_step_v1('big')$q$) = 'big:2:moved:6', 'one larger alone';

    -- F073: two queues, one deleted: its dead letters are gone with it, the others move, no queue comes back.
    TRUNCATE queen.log_dlq;
    PERFORM pg_temp.push('keep', 1);
    PERFORM pg_temp.push('doomed', 2);
    PERFORM pg_temp.kill('doomed', 2);
    PERFORM pg_temp.kill('keep', 1);
    PERFORM queen.delete_queue_v1('doomed');
    ASSERT pg_temp.outcomes('queen.redrive_dead_letters_step_v1()') = 'keep:0:moved:1' AND NOT EXISTS (SELECT FROM queen.queues WHERE name = 'doomed' AND deleted_at IS NULL), 'F073';
END $$;

-- Retention of dead letters: only where it is asked for, by age, in steps, with an account (design 5).
DO $$
DECLARE
    s queen.step_row;
    v_now timestamptz := clock_timestamp() + interval '1 hour';
    r record;
BEGIN
    TRUNCATE queen.log_dlq;
    PERFORM pg_temp.push('old', 5);
    PERFORM pg_temp.kill('old', 5);
    PERFORM pg_temp.push('kept', 2);
    PERFORM pg_temp.kill('kept', 2);
    s := queen.log_purge_dead_letters_step_v1(1000, v_now + interval '100 years');
    ASSERT (s.worked, s.done) = (0, true), 'nothing is deleted unless the option is set';
    PERFORM queen.configure_queue_v1('old', '{"deadLetterRetentionSeconds": 600}');
    s := queen.log_purge_dead_letters_step_v1(1000, clock_timestamp() + interval '9 minutes');
    ASSERT s.worked = 0, 'not old enough';
    UPDATE queen.log_dlq d SET failed_at = v_now WHERE d.partition_id = pg_temp.lane('old') AND d."offset" = 4;
    s := queen.log_purge_dead_letters_step_v1(3, v_now);
    ASSERT (s.worked, s.done) = (3, false) AND pg_temp.dead('old') = '4 3', 'the oldest first, bounded: ' || pg_temp.dead('old');
    s := queen.log_purge_dead_letters_step_v1(3, v_now);
    ASSERT (s.worked, s.done) = (1, true) AND pg_temp.dead('old') = '4' AND pg_temp.dead('kept') = '1 0', 'the rest, and nobody else''s';
    SELECT q.name, a.removed, a.last_removed_at INTO r FROM queen.dead_letter_removals a JOIN queen.queues q ON q.id = a.queue_id;
    ASSERT (r.name, r.removed, r.last_removed_at) = ('old', 4, v_now), 'the account: ' || r::text;
    PERFORM queen.configure_queue_v1('old', '{"deadLetterRetentionSeconds": 0}');
    s := queen.log_purge_dead_letters_step_v1(3, v_now + interval '1 year');
    ASSERT s.worked = 0, '0 is off';
    UPDATE queen.queues SET dead_letter_retention_seconds = 2147483647 WHERE name = 'old';
    s := queen.log_purge_dead_letters_step_v1(3, v_now);
    ASSERT s.worked = 0, 'design 7: an absurd value is no error';
    UPDATE queen.queues SET dead_letter_retention_seconds = -2147483648 WHERE name = 'old';
    s := queen.log_purge_dead_letters_step_v1(3, v_now);
    ASSERT s.worked = 0, 'nothing below 0 deletes';
    ASSERT pg_temp.error_of('SELECT queen.log_purge_dead_letters_step_v1(0)') = 'QN400', 'a step of nothing';
    PERFORM queen.delete_queue_v1('old'), queen.log_reclaim_step_v1();
    ASSERT (SELECT count(*) = 0 FROM queen.dead_letter_removals), 'F099: the account goes with the queue';
END $$;

-- The option: shown only when it is not at its default, refuses negatives, and survives a replace of itself (design 5).
DO $$
DECLARE
    v_doc jsonb;
BEGIN
    PERFORM queen.configure_queue_v1('opt');
    ASSERT NOT queen.configure_queue_v1('opt') -> 'options' ? 'deadLetterRetentionSeconds' AND NOT (queen.get_queue_v1('opt')::jsonb -> 'options') ? 'deadLetterRetentionSeconds', 'quiet at its default';
    v_doc := queen.configure_queue_v1('opt', '{"deadLetterRetentionSeconds": 5}') -> 'options';
    ASSERT v_doc ->> 'deadLetterRetentionSeconds' = '5' AND queen.configure_queue_v1('opt', '{"priority": 1}') -> 'options' ->> 'deadLetterRetentionSeconds' = '5', 'merge keeps it';
    v_doc := queen.get_queue_v1('opt')::jsonb -> 'options';
    ASSERT v_doc ->> 'deadLetterRetentionSeconds' = '5' AND queen.configure_queue_v1('copy', v_doc, 'replace') -> 'options' = v_doc - ARRAY['namespace', 'task'], 'what is shown can be sent back';
    ASSERT NOT queen.configure_queue_v1('opt', '{"deadLetterRetentionSeconds": null}') -> 'options' ? 'deadLetterRetentionSeconds', 'null is the default';
    ASSERT NOT queen.configure_queue_v1('copy', '{}', 'replace') -> 'options' ? 'deadLetterRetentionSeconds', 'replace sets it back';
    ASSERT pg_temp.error_of($q$SELECT queen.configure_queue_v1('opt', '{"deadLetterRetentionSeconds": -1}')$q$) = 'QN400' AND pg_temp.error_of($q$SELECT queen.configure_queue_v1('opt', '{"deadLetterRetentionSeconds": 1.5}')$q$) = 'QN400', 'refused';
END $$;
ROLLBACK;
