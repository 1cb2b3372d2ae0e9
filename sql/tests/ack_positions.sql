-- log_ack_upto_v1 and log_extend_lease_v1: positional acks, and leases that grow.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/ack_positions.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
CREATE FUNCTION pg_temp.upto(p_queue text, p_lease text, p_offset bigint, p_ok boolean DEFAULT true) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN a.success AND a.error IS NULL THEN CASE WHEN a.noop THEN 'n' ELSE '+' END WHEN NOT a.success AND NOT a.noop THEN a.error ELSE '???' END
        || CASE WHEN a.lease_released THEN 'R' ELSE '' END
    FROM queen.log_ack_upto_v1(ARRAY[pg_temp.lane(p_queue)], '{g}', ARRAY[p_lease], ARRAY[p_offset], p_ok) a
$$;

-- A-23, F061, W-2, W-20.
DO $$
DECLARE
    v text;
    v_field text;
BEGIN
    PERFORM pg_temp.push('pos', 10, 5);
    ASSERT pg_temp.upto('pos', 'x', 0) = 'consumer not found', 'A-8';
    v := pg_temp.lease('pos', 3);
    ASSERT pg_temp.upto('pos', v, 7) = 'position beyond leased batch' AND pg_temp.upto('pos', v, 99) = 'position beyond leased batch', 'F061: past what was leased';
    ASSERT pg_temp.row('pos') = '-1 2 L 0 0 1 0', 'F061: nothing moved';
    ASSERT pg_temp.upto('pos', v, -1) = 'n' AND pg_temp.upto('pos', v, -99) = 'n' AND pg_temp.row('pos') = '-1 2 L 0 0 1 0', 'W-20: a position below the cursor is a noop';
    ASSERT pg_temp.upto('pos', v, 1) = '+' AND pg_temp.row('pos') = '1 2 L 0 0 1 2', 'A-23: partial keeps the lease: ' || pg_temp.row('pos');
    ASSERT pg_temp.upto('pos', v, 0) = 'n' AND pg_temp.row('pos') = '1 2 L 0 0 1 2', 'W-20: never down';
    ASSERT pg_temp.upto('pos', v, 2) = '+R' AND pg_temp.row('pos') = '2 - - 0 - 0 3', 'W-2: the end resets: ' || pg_temp.row('pos');
    ASSERT pg_temp.upto('pos', v, 2) = 'invalid or expired lease', 'A-23: and then the lease is over';
    ASSERT pg_temp.upto('pos', NULL, 2) = 'invalid or expired lease' AND pg_temp.upto('pos', '', 2) = 'invalid or expired lease', 'A-23: it always needs its lease';
    -- W-2, I-27: counters of a failed batch are reset by a positional end.
    v := pg_temp.lease('pos', 2);
    PERFORM pg_temp.ack('pos', v, '3f');
    v := pg_temp.lease('pos', 2);
    ASSERT pg_temp.row('pos') = '2 4 L 1 3 2 3', 'charged once: ' || pg_temp.row('pos');
    ASSERT pg_temp.upto('pos', v, 4) = '+R' AND pg_temp.row('pos') = '4 - - 0 - 0 5', 'W-2: reset: ' || pg_temp.row('pos');
    -- Not ok: release and nothing else.
    v := pg_temp.lease('pos', 2);
    ASSERT pg_temp.upto('pos', v, 5, false) = '+R' AND pg_temp.row('pos') = '4 - - 0 5 1 5', 'A-23: not ok releases only: ' || pg_temp.row('pos');
    v := pg_temp.lease('pos', 2);
    PERFORM pg_temp.expire('pos');
    ASSERT pg_temp.upto('pos', v, 6) = 'invalid or expired lease', 'A-6: expired';
    -- The array form: each row is judged alone, answers by position.
    v := pg_temp.lease('pos', 2);
    ASSERT (SELECT string_agg(concat_ws(':', a.item, a.success), ' ' ORDER BY a.item)
            FROM queen.log_ack_upto_v1(ARRAY[gen_random_uuid(), pg_temp.lane('pos'), pg_temp.lane('pos'), pg_temp.lane('pos')], '{g,g,h,g}', ARRAY[v, v, v, v], '{5,5,5,6}') a)
        = '0:f 1:t 2:f 3:t' AND pg_temp.row('pos') = '6 - - 0 - 0 7', 'A-24: ' || pg_temp.row('pos');
    BEGIN
        ASSERT NOT EXISTS (SELECT FROM queen.log_ack_upto_v1('{}', '{}', '{}', '{}')) AND NOT EXISTS (SELECT FROM queen.log_ack_upto_v1('{}', '{}', '{}', '{}', false)), 'nothing is answered by nothing';
        PERFORM queen.log_ack_upto_v1(ARRAY[pg_temp.lane('pos')], '{g}', ARRAY[v], '{1,2}');
    EXCEPTION WHEN SQLSTATE 'QN400' THEN
        GET STACKED DIAGNOSTICS v_field = COLUMN_NAME;
    END;
    ASSERT v_field = 'p_offsets', 'design 7: arrays';
    v_field := '';
    v := pg_temp.lease('pos', 2);
    BEGIN
        PERFORM queen.log_ack_upto_v1(ARRAY[pg_temp.lane('pos')], '{g}', ARRAY[v], '{NULL}');
    EXCEPTION WHEN SQLSTATE 'QN400' THEN
        GET STACKED DIAGNOSTICS v_field = COLUMN_NAME;
    END;
    ASSERT v_field = 'p_offsets' AND pg_temp.row('pos') = '6 8 L 0 7 1 7', 'design 7: no position, no ack';
    v_field := '';
    BEGIN
        PERFORM queen.log_ack_upto_v1(ARRAY[pg_temp.lane('pos')], '{g}', ARRAY[v], '[0:0]={7}');
    EXCEPTION WHEN SQLSTATE 'QN400' THEN
        GET STACKED DIAGNOSTICS v_field = COLUMN_NAME;
    END;
    ASSERT v_field = 'p_offsets' AND pg_temp.row('pos') = '6 8 L 0 7 1 7', 'design 7: positions from 0';
END $$;

-- A-28: grows, never shortens, never revives; A-29: of one's own tenant.
CREATE FUNCTION pg_temp.left(p_queue text) RETURNS numeric LANGUAGE sql AS $$
    SELECT extract(epoch FROM c.lease_expires_at - clock_timestamp()) FROM queen.log_consumers c WHERE c.partition_id = pg_temp.lane(p_queue) AND c.consumer_group = 'g'
$$;
DO $$
DECLARE
    v text;
    r queen.lease_row;
BEGIN
    PERFORM pg_temp.push('ext', 3);
    v := pg_temp.lease('ext', 2);
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 300);
    ASSERT r.renewed = 1 AND pg_temp.left('ext') BETWEEN 299 AND 300 AND r.expires_at = (SELECT c.lease_expires_at FROM queen.log_consumers c WHERE c.worker_id = v), 'A-28: grows: ' || r::text;
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 10);
    ASSERT r.renewed = 1 AND pg_temp.left('ext') BETWEEN 299 AND 300, 'A-28: never shortens';
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, NULL);
    ASSERT r.renewed = 1 AND pg_temp.left('ext') BETWEEN 298 AND 300, 'A-28: no length is one second';
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() + interval '0.5 s' WHERE worker_id = v;
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, -5);
    ASSERT r.renewed = 1 AND pg_temp.left('ext') BETWEEN 0.9 AND 1, 'A-28: at least one second';
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 2147483647);
    ASSERT r.renewed = 1, 'design 7: an absurd length does not fail';
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 300, '00000000-0000-0000-0000-0000000000aa');
    ASSERT r.renewed = 0 AND r.expires_at IS NULL, 'A-29: another tenant';
    PERFORM pg_temp.expire('ext');
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 300);
    ASSERT r.renewed = 0 AND pg_temp.left('ext') < 0, 'A-28: an expired one is not revived';
    ASSERT (SELECT bool_and(x.renewed = 0) FROM unnest(ARRAY['', 'x', gen_random_uuid()::text, upper(v), v || ' ', NULL]) w, LATERAL queen.log_extend_lease_v1(w, 300) x), 'A-28: unknown ids are no error';
    v := pg_temp.lease('ext', 2);
    PERFORM pg_temp.ack('ext', v, '0c 1c');
    ASSERT (SELECT x.renewed = 0 FROM queen.log_extend_lease_v1(v) x), 'A-28: a finished one neither';
END $$;

-- Several partitions under one lease: all live ones grow, one that ended is left out (I-31, W-18).
DO $$
DECLARE
    v text;
    r queen.lease_row;
BEGIN
    PERFORM queen.log_push_v1(array_fill('wide'::text, '{5}'), ARRAY(SELECT i::text FROM generate_series(1, 5) i), '{1,1,1,1,1}', '{1,2,3,4,5}', '{a,a,a,a,a}');
    SELECT max(x.lease_id) INTO v FROM queen.log_pop_v1('wide', NULL, 'g', 100, 0) x;
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 100);
    ASSERT r.renewed = 5 AND r.expires_at > clock_timestamp() + interval '99 s', 'A-28: five: ' || r::text;
    ASSERT (SELECT m.expires_at >= max(c.lease_expires_at) - interval '1 s' FROM queen.log_lease_members m JOIN queen.log_consumers c ON c.worker_id = m.lease_id WHERE m.lease_id = v GROUP BY m.expires_at), 'I-31: the member row lives as long';
    PERFORM queen.log_ack_v1(ARRAY[pg_temp.lane('wide', '1')], '{g}', ARRAY[v], '{1}', '{a}', '{completed}');
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() WHERE partition_id = pg_temp.lane('wide', '2') AND worker_id = v;
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 200);
    ASSERT r.renewed = 3, 'A-28: one is done, one ended: ' || r::text;
    UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() + interval '500 s' WHERE partition_id = pg_temp.lane('wide', '3') AND worker_id = v;
    SELECT * INTO r FROM queen.log_extend_lease_v1(v, 300);
    ASSERT r.renewed = 3 AND r.expires_at < clock_timestamp() + interval '301 s', 'A-28: the earliest end';
    ASSERT (SELECT x.renewed = 0 FROM queen.log_extend_lease_v1(v, 300, '00000000-0000-0000-0000-0000000000aa') x), 'A-29: of another tenant';
    -- Members go an hour after the lease ended, a thousand a step.
    UPDATE queen.log_lease_members SET expires_at = clock_timestamp() - interval '59 minutes' WHERE lease_id = v;
    PERFORM queen.log_mark_clock_v1();
    ASSERT EXISTS (SELECT FROM queen.log_lease_members WHERE lease_id = v), 'I-31: kept for an hour';
    UPDATE queen.log_lease_members SET expires_at = clock_timestamp() - interval '61 minutes' WHERE lease_id = v;
    PERFORM queen.log_mark_clock_v1();
    ASSERT NOT EXISTS (SELECT FROM queen.log_lease_members WHERE lease_id = v), 'I-31: then gone';
END $$;

ROLLBACK;
