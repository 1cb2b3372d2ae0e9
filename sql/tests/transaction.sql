-- log_transaction_v1: pushes and acks, all or nothing.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/transaction.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
-- One call. Pushes 'queue/partition=id' (id may be empty), those of a partition together, acks 'queue group lease id status'. Answers the rows: of a push
-- the id's status and offset, of an ack +, n (noop) or - (passed), R, D; or the error's code, first words and item.
CREATE FUNCTION pg_temp.tx(p_pushes text, p_acks text[] DEFAULT '{}', p_required text[] DEFAULT NULL, p_require boolean DEFAULT false, p_tenant uuid DEFAULT NULL)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_got text;
    v_item text;
    v_push text[] := string_to_array(p_pushes, ' ');
BEGIN
    SELECT string_agg(CASE t.kind WHEN 'push' THEN CASE WHEN t.duplicate THEN 'dup' ELSE 'new' END || t."offset"
            ELSE CASE WHEN NOT t.success THEN '-' WHEN t.noop THEN 'n' ELSE '+' END || CASE WHEN t.lease_released THEN 'R' ELSE '' END || CASE WHEN t.dlq THEN 'D' ELSE '' END END,
        ' ' ORDER BY t.kind DESC, t.item) INTO v_got
    FROM queen.log_transaction_v1(
        (SELECT array_agg(g.q ORDER BY g.f) FROM (SELECT split_part(i, '/', 1) q, split_part(split_part(i, '/', 2), '=', 1) p, min(o) f FROM unnest(v_push) WITH ORDINALITY u (i, o) GROUP BY 1, 2) g),
        (SELECT array_agg(g.p ORDER BY g.f) FROM (SELECT split_part(i, '/', 1) q, split_part(split_part(i, '/', 2), '=', 1) p, min(o) f FROM unnest(v_push) WITH ORDINALITY u (i, o) GROUP BY 1, 2) g),
        (SELECT array_agg(g.n ORDER BY g.f) FROM (SELECT split_part(i, '/', 1) q, split_part(split_part(i, '/', 2), '=', 1) p, min(o) f, count(*)::integer n FROM unnest(v_push) WITH ORDINALITY u (i, o) GROUP BY 1, 2) g),
        ARRAY(SELECT to_json(i)::text FROM unnest(v_push) i),
        (SELECT array_agg(nullif(split_part(i, '=', 2), '') ORDER BY o) FROM unnest(v_push) WITH ORDINALITY u (i, o)),
        ARRAY(SELECT pg_temp.lane(split_part(a, ' ', 1)) FROM unnest(p_acks) a), ARRAY(SELECT split_part(a, ' ', 2) FROM unnest(p_acks) a),
        ARRAY(SELECT split_part(a, ' ', 3) FROM unnest(p_acks) a), ARRAY(SELECT 1 FROM unnest(p_acks) a),
        ARRAY(SELECT split_part(a, ' ', 4) FROM unnest(p_acks) a), ARRAY(SELECT split_part(a, ' ', 5) FROM unnest(p_acks) a),
        p_required_leases => p_required, p_require_lease => p_require, p_tenant_id => p_tenant) t;
    RETURN v_got;
EXCEPTION WHEN SQLSTATE '23505' OR SQLSTATE 'QN409' OR SQLSTATE 'QN400' THEN
    GET STACKED DIAGNOSTICS v_item = COLUMN_NAME;
    RETURN SQLSTATE || ' ' || split_part(SQLERRM, ' (', 1) || ' ' || v_item;
END $$;
-- What a rollback must not touch: every head, cursor and dead letter.
CREATE FUNCTION pg_temp.state() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws('; ', (SELECT string_agg(q.name || h.name || h.head_offset, ',' ORDER BY q.name, h.name) FROM queen.queues q JOIN queen.partition_head h ON h.queue_id = q.id),
        (SELECT string_agg(c::text, ',' ORDER BY c.partition_id, c.consumer_group) FROM queen.log_consumers c),
        (SELECT count(*) FROM queen.log_segments), (SELECT count(*) FROM queen.log_txns), (SELECT count(*) FROM queen.log_dlq))
$$;

-- A-30: pushes to new and known places, acks of two groups.
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('in', 3);
    v := pg_temp.lease('in', 3);
    ASSERT pg_temp.tx('out/p=a out/p=b out/p=a new.queue/x=', ARRAY['in g ' || v || ' 0 completed', 'in g ' || v || ' 1 completed'])
        = 'new0 new1 dup0 new0 + +', 'http-api 3.5: one row an item, a repeat has the id of the first';
    ASSERT pg_temp.row('in') = '1 2 L 0 0 1 2', 'A-30: partial ack keeps the lease: ' || pg_temp.row('in');
    ASSERT (SELECT q.namespace || '/' || q.task FROM queen.queues q WHERE q.name = 'new.queue') = 'new/queue', 'E-8: made as by any push';
    ASSERT (SELECT array_agg(m.transaction_id ORDER BY m."offset") FROM queen.read_v1('out', 'p', 0) m) = '{a,b}', 'stored once, in order';
    ASSERT pg_temp.tx('', ARRAY['in g ' || v || ' 2 completed']) = '+R' AND pg_temp.row('in') = '2 - - 0 - 0 3', 'acks alone';
    ASSERT pg_temp.tx('out/p=c', '{}') = 'new2', 'pushes alone';
END $$;

-- A-33: what undoes everything, and names the item. Nothing is left of it.
DO $$
DECLARE
    v text;
    v_before text;
BEGIN
    PERFORM pg_temp.push('r', 5);
    v := pg_temp.lease('r', 3);
    v_before := pg_temp.state();
    ASSERT pg_temp.tx('fresh/p=1 out/p=new out/p=b', ARRAY['r g ' || v || ' 0 completed'])
        = '23505 QDUP: a pushed transaction id exists in its partition already p_transaction_ids[2]', 'a duplicate: ' || pg_temp.tx('fresh/p=1 out/p=new out/p=b');
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 0 completed', 'r g nobody 1 completed']) = 'QN409 QTXN: invalid or expired lease p_ack_transaction_ids[1]', 'a lease';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 0 completed', 'r g ' || v || ' nothing completed']) LIKE 'QN409 QTXN: unresolvable:% p_ack_transaction_ids[1]', 'an id that is nowhere';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 4 completed']) LIKE 'QN409 QTXN: unresolvable:% p_ack_transaction_ids[0]', 'beyond the batch';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r h  0 completed']) = 'QN409 QTXN: consumer not found p_ack_transaction_ids[0]', 'no consumer';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 0 completed', 'gone g ' || v || ' 0 completed']) = 'QN409 QTXN: consumer not found p_ack_transaction_ids[1]', 'no partition';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 0 completed'], p_tenant => gen_random_uuid()) = 'QN409 QTXN: partition not owned by tenant p_ack_transaction_ids[0]', 'A-32';
    ASSERT pg_temp.tx('out/p=x', ARRAY['r g ' || v || ' 0 done']) LIKE 'QN400%p_statuses', 'a word that is none';
    BEGIN
        PERFORM queen.log_transaction_v1('{}', '{}', '{}', '{1}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        ASSERT false, 'A-31, P-26: a payload without a group is refused, not dropped';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;
    ASSERT pg_temp.state() = v_before AND NOT EXISTS (SELECT FROM queen.queues q WHERE q.name = 'fresh'), 'A-30: nothing happened';
    PERFORM queen.configure_queue_v1('secret', '{"encryptionEnabled": true}');
    v_before := pg_temp.state();
    ASSERT pg_temp.tx('out/p=x secret/p=', ARRAY['r g ' || v || ' 0 completed']) LIKE 'QN409 the queue is encrypted%p_sealed[1]', 'design 4: no plaintext, and which group';
    ASSERT pg_temp.state() = v_before, 'A-30: nothing happened';
END $$;

-- Below the cursor: tolerated (A-33). Signals act as ever, with the pushes of the same call (http-api 3.5).
DO $$
DECLARE
    v text;
BEGIN
    PERFORM queen.configure_queue_v1('sig', '{"retryLimit": 1}');
    PERFORM pg_temp.push('sig', 6);
    v := pg_temp.lease('sig', 2);
    ASSERT pg_temp.tx('sigout/p=1', ARRAY['sig g ' || v || ' 0 completed', 'sig g ' || v || ' 1 failed']) = 'new0 + +R', 'failed commits the pushes';
    ASSERT pg_temp.row('sig') LIKE '0 - - 1%', 'charged: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 2);
    ASSERT pg_temp.tx('sigout/p=2', ARRAY['sig g ' || v || ' 0 completed', 'sig g ' || v || ' 0 failed', 'sig g ' || v || ' 1 retry']) = 'new1 n - +R', 'noop and stale';
    ASSERT pg_temp.row('sig') LIKE '0 - - 1%', 'retry is free: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 2);
    ASSERT pg_temp.tx('sigout/p=3', ARRAY['sig g ' || v || ' 1 failed']) = 'new2 +RD' AND pg_temp.row('sig') LIKE '1 - - 0%', 'the dead letter is filed: ' || pg_temp.row('sig');
    v := pg_temp.lease('sig', 2);
    ASSERT pg_temp.tx('sigout/p=4', ARRAY['sig g ' || v || ' 3 dlq']) = 'new3 +RD' AND pg_temp.row('sig') LIKE '3 - - 0%', 'dlq: ' || pg_temp.row('sig');
    ASSERT (SELECT array_agg(d.transaction_id ORDER BY d."offset") FROM queen.log_dlq d WHERE d.partition_id = pg_temp.lane('sig')) = '{1,3}', 'once each';
    v := pg_temp.lease('sig', 2);
    ASSERT pg_temp.tx('sigout/p=4', ARRAY['sig g ' || v || ' 4 dlq']) LIKE '23505%' AND (SELECT count(*) FROM queen.log_dlq d WHERE d.partition_id = pg_temp.lane('sig')) = 2, 'undone with the rest';
    PERFORM pg_temp.expire('sig');
    PERFORM queen.log_ack_v1(ARRAY[pg_temp.lane('sig')], '{g}', '{NULL}', '{1}', '{5}', '{completed}');
    PERFORM pg_temp.push('sig', 1);
    ASSERT pg_temp.tx('sigout/p=5', ARRAY['sig g  6 failed']) = 'QN409 QTXN: no leased batch p_ack_transaction_ids[0]', 'T-7: a signal that cannot act';
    ASSERT pg_temp.tx('sigout/p=5', ARRAY['sig g  6 completed']) = 'new4 +', 'A-7: without any lease';
END $$;

-- Which lease a group without one takes (http-api 3.5).
DO $$
DECLARE
    v text;
    v2 text;
BEGIN
    PERFORM pg_temp.push('l1', 4);
    PERFORM pg_temp.push('l2', 4);
    v := pg_temp.lease('l1', 1);
    v2 := pg_temp.lease('l2', 1);
    ASSERT pg_temp.tx('', ARRAY['l1 g  0 completed', 'l2 g  0 completed'], ARRAY[v, v2, v]) = '+R +R', 'the holder of each';
    v := pg_temp.lease('l1', 1);
    PERFORM pg_temp.expire('l1');
    ASSERT pg_temp.tx('', ARRAY['l1 g  1 completed'], ARRAY[v]) LIKE 'QN409 QTXN: invalid or expired lease%', 'F058: it is over';
    ASSERT pg_temp.tx('', ARRAY['l1 g  1 completed']) = '+R', 'A-7: no lease in the request, none is checked';
    ASSERT pg_temp.tx('', ARRAY['l1 g  2 completed'], ARRAY[v]) LIKE 'QN409 QTXN: invalid or expired lease%', 'no holder: the one that is required';
    ASSERT pg_temp.tx('', ARRAY['l1 g  2 completed'], ARRAY[v, v2]) = '+', 'no holder and none to choose';
    v := pg_temp.lease('l1', 1);
    ASSERT pg_temp.tx('', ARRAY['l1 g  3 completed'], p_require => true) LIKE 'QN409 QTXN: invalid or expired lease%', 'REGENT_ACK_REQUIRE_LEASE';
    ASSERT pg_temp.tx('', ARRAY['l1 g  3 completed'], '{""}', true) LIKE 'QN409%', 'an empty one is none';
    ASSERT pg_temp.tx('', ARRAY['l1 g ' || v || ' 3 completed', 'l2 g  1 completed']) = '+R +', 'named by another op; no holder here';
END $$;

ROLLBACK;
