-- log_push_v1: offsets, ids, stamps, slices, columns and sums of what is stored.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_offsets.sql (on a migrated database).
BEGIN;

-- What a partition's rows must be, from the rows alone; one line a fault.
CREATE FUNCTION pg_temp.faults(p_queue text, p_partition text DEFAULT 'Default') RETURNS TABLE (fault text) LANGUAGE sql AS $$
    WITH lane AS (
        SELECT p.*, h.head_offset, h.head_cum, h.head_stamp
        FROM queen.log_partitions p
        JOIN queen.queues q ON q.id = p.queue_id
        JOIN queen.partition_head h ON h.id = p.id
        WHERE q.name = p_queue AND p.name = p_partition
    ), seg AS (
        SELECT s.*, lag(s.end_offset) OVER w AS before, lag(s.created_at) OVER w AS stamp_before, lag(s.id_base) OVER w AS id_before,
               lag(s.cum_bytes) OVER w AS cum_before
        FROM queen.log_segments s JOIN lane l ON l.id = s.partition_id AND s.base_offset >= l.log_start
        WINDOW w AS (ORDER BY s.base_offset)
    ), frame AS (
        SELECT s.partition_id, s.base_offset, s.id_base, f.payload, f.txn, f.key, f.ord - 1 AS k
        FROM seg s CROSS JOIN LATERAL unnest(s.payloads, s.transaction_ids, s.keys) WITH ORDINALITY f (payload, txn, key, ord)
    ), sums AS (
        SELECT base_offset, count(*) AS n,
               sum(octet_length(payload) + coalesce(octet_length(txn), 0) + coalesce(octet_length(key), 0)) AS bytes
        FROM frame GROUP BY 1
    )
    SELECT 'T-1, T-2: offsets are dense at ' || base_offset FROM seg WHERE base_offset <> before + 1
    UNION ALL SELECT 'T-4, E-18: stamps strictly rise at ' || base_offset FROM seg WHERE created_at <= stamp_before
    UNION ALL SELECT 'design 3.1: ids rise with the offset at ' || base_offset FROM seg WHERE id_base <= id_before
    UNION ALL SELECT 'design 3.1: the low 20 bits of id_base are zero' FROM seg WHERE id_base::text !~ '^.{14}7.{3}-[89ab].{11}00000$'
    UNION ALL SELECT 'design 3.1: id_base carries the stamp at ' || base_offset FROM seg
        WHERE ('x0' || replace(left(id_base::text, 13), '-', '') || '000')::bit(64)::bigint >> 12 <> floor(extract(epoch FROM created_at) * 1000)
           OR ('x0000' || substr(id_base::text, 16, 3) || '0')::bit(32)::int >> 4 <> extract(microseconds FROM created_at)::int % 1000
    UNION ALL SELECT 'frames = end - base + 1 at ' || s.base_offset FROM seg s JOIN sums u USING (base_offset)
        WHERE s.frames <> s.end_offset - s.base_offset + 1 OR s.frames <> u.n
    UNION ALL SELECT 'bytes at ' || s.base_offset FROM seg s JOIN sums u USING (base_offset) WHERE s.bytes <> u.bytes OR s.orig_bytes <> u.bytes
    UNION ALL SELECT 'cum_bytes at ' || base_offset FROM seg WHERE cum_bytes <> coalesce(cum_before, cum_bytes - orig_bytes) + orig_bytes
    UNION ALL SELECT 'design 3.1: 1000 frames or 1 MiB at ' || base_offset FROM seg WHERE frames > 1000 OR (bytes > 1048576 AND frames > 1)
    UNION ALL SELECT 'T-3, E-22: sidecar at ' || s.base_offset
        FROM seg s LEFT JOIN queen.log_txns t USING (partition_id, base_offset)
        WHERE t.end_offset IS DISTINCT FROM s.end_offset OR t.created_at IS DISTINCT FROM s.created_at
           OR cardinality(t.hashes) IS DISTINCT FROM s.frames
    UNION ALL SELECT 'E-23: hash of frame ' || f.base_offset + f.k
        FROM frame f JOIN queen.log_txns t USING (partition_id, base_offset)
        WHERE t.hashes[f.k + 1] <> hashtextextended(
            coalesce(f.txn, left(f.id_base::text, 31) || lpad(to_hex(f.k), 5, '0')) COLLATE "C", queen._id_seed(f.partition_id))
    UNION ALL SELECT 'design 3.4: lo and hi of ' || t.base_offset
        FROM queen.log_txns t
        JOIN (SELECT f.partition_id, f.base_offset,
                     min(left(coalesce(f.txn, left(f.id_base::text, 31) || lpad(to_hex(f.k), 5, '0')), 64) COLLATE "C") AS lo,
                     max(left(coalesce(f.txn, left(f.id_base::text, 31) || lpad(to_hex(f.k), 5, '0')), 64) COLLATE "C") AS hi
              FROM frame f GROUP BY 1, 2) x USING (partition_id, base_offset)
        WHERE t.lo <> x.lo OR t.hi <> x.hi
    UNION ALL SELECT 'design 3.4: the running maximum at ' || r.base_offset
        FROM (SELECT t.base_offset, t.high, max(t.hi) OVER (ORDER BY t.base_offset) AS hi, lag(t.high) OVER (ORDER BY t.base_offset) AS before
              FROM queen.log_txns t JOIN lane l ON l.id = t.partition_id) r
        WHERE r.high <> greatest(r.hi, r.before)
    UNION ALL SELECT 'design 3.2: the head is the tail' FROM lane l
        JOIN (SELECT max(end_offset) AS o, max(created_at) AS s, max(cum_bytes) AS c FROM seg) t ON t.o IS NOT NULL
        WHERE l.head_offset <> t.o OR l.head_stamp <> t.s OR l.head_cum <> t.c
    UNION ALL SELECT 'T-10: oldest_live_at' FROM lane l LEFT JOIN (SELECT min(created_at) AS s FROM seg) t ON true
        WHERE l.oldest_live_at IS DISTINCT FROM t.s
$$;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'Default') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;

-- A first push makes queue and partition; the answer tells what the rows hold.
DO $$
DECLARE
    r queen.push_row;
    r_seg queen.log_segments;
    v_before timestamptz := clock_timestamp();
BEGIN
    SELECT * INTO r FROM queen.log_push_v1('{orders.eu.x}', '{p}', '{3}', '{1,"{\"a\": 1}",null_}'::text[]);
    SELECT * INTO r_seg FROM queen.log_segments WHERE partition_id = r.partition_id;
    ASSERT r.status = 'queued' AND r.grp = 0 AND r.base_offset = 0 AND r.frames = 3 AND r.first_item = 0 AND r.items IS NULL, 'P-26: the answer';
    ASSERT r.partition_id = pg_temp.lane('orders.eu.x', 'p') AND (r.id_base, r.created_at) = (r_seg.id_base, r_seg.created_at), 'P-26: it is the stored row';
    ASSERT r.created_at BETWEEN v_before AND clock_timestamp() AND r.created_at >= now(), 'F002: the stamp is a clock reading, not before the transaction';
    ASSERT r_seg.payloads = '{1,"{\"a\": 1}",null_}', 'design 3.1: payload as sent';
    ASSERT (r_seg.transaction_ids, r_seg.keys, r_seg.trace_ids, r_seg.producer_subs, r_seg.offsets) IS NOT DISTINCT FROM (NULL::text[], NULL::text[], NULL::uuid[], NULL::text[], NULL::bigint[]),
        'design 3: optional columns are null unless used';
    ASSERT (SELECT (q.namespace, q.task, q.lease_time, q.retry_limit, q.dedup_window_seconds, q.dead_letter_queue) = ('orders', 'eu', 60, 3, 3600, true)
            FROM queen.queues q WHERE q.name = 'orders.eu.x'), 'E-8, F027: a queue made by a push has the documented defaults';
    ASSERT NOT EXISTS (SELECT FROM pg_temp.faults('orders.eu.x', 'p')), 'first push: ' || (SELECT string_agg(fault, '; ') FROM pg_temp.faults('orders.eu.x', 'p'));
END $$;

-- Optional columns are kept as soon as one frame uses them, and only then.
DO $$
DECLARE
    r queen.push_row;
    r_seg queen.log_segments;
BEGIN
    SELECT * INTO r FROM queen.log_push_v1('{opt}', '{p}', '{2}', '{1,2}', '{NULL,id-1}', '{NULL,NULL}', NULL, false, NULL,
        ARRAY[NULL, '0192f3a4-0000-7000-8000-000000000001'], ARRAY['sub', NULL]);
    SELECT * INTO r_seg FROM queen.log_segments WHERE partition_id = r.partition_id;
    ASSERT r_seg.transaction_ids = '{NULL,id-1}' AND r_seg.keys IS NULL AND r_seg.trace_ids = ARRAY[NULL, '0192f3a4-0000-7000-8000-000000000001']::uuid[]
        AND r_seg.producer_subs = ARRAY['sub', NULL], 'design 3: columns in use: ' || r_seg::text;
    ASSERT r_seg.bytes = 1 + 1 + 4, 'design 3: bytes are those of payload, id and key';
    PERFORM queen.log_push_v1('{opt}', '{p}', '{2}', '{1,2}', '{NULL,NULL}', '{k,NULL}', NULL, false, NULL, '{NULL,NULL}', '{NULL,NULL}');
    SELECT * INTO r_seg FROM queen.log_segments WHERE partition_id = r.partition_id AND base_offset = 2;
    ASSERT r_seg.transaction_ids IS NULL AND r_seg.keys = '{k,NULL}' AND r_seg.trace_ids IS NULL AND r_seg.producer_subs IS NULL, 'design 3: all-null columns are null';
    ASSERT NOT EXISTS (SELECT FROM pg_temp.faults('opt', 'p')), 'optional columns: ' || (SELECT string_agg(fault, '; ') FROM pg_temp.faults('opt', 'p'));
END $$;

-- 1000 frames a segment; offsets go on over calls; ids and payloads stay with their item.
DO $$
DECLARE
    v_rows queen.push_row[];
    v_ids text[] := ARRAY(SELECT 'n' || lpad(i::text, 6, '0') FROM generate_series(1, 2501) i);
BEGIN
    SELECT array_agg(x ORDER BY x.base_offset) INTO v_rows
    FROM queen.log_push_v1('{slices}', '{p}', '{2501}', ARRAY(SELECT i::text FROM generate_series(1, 2501) i), v_ids) x;
    ASSERT (SELECT array_agg(ARRAY[v.base_offset, v.frames, v.first_item]) FROM unnest(v_rows) v) = '{{0,1000,0},{1000,1000,1000},{2000,501,2000}}',
        'design 3.1: 1000 frames a segment: ' || v_rows::text;
    ASSERT v_rows[2].created_at = v_rows[1].created_at + interval '1 microsecond' AND v_rows[3].created_at = v_rows[2].created_at + interval '1 microsecond',
        'design 3.1: stamps 1 us apart';
    ASSERT NOT EXISTS (
        SELECT FROM queen.log_segments s CROSS JOIN LATERAL unnest(s.payloads, s.transaction_ids) WITH ORDINALITY f (payload, id, k)
        WHERE s.partition_id = v_rows[1].partition_id AND (f.payload <> (s.base_offset + f.k)::text OR f.id <> v_ids[s.base_offset + f.k])),
        'P-25: item k is at offset k';
    SELECT array_agg(x) INTO v_rows FROM queen.log_push_v1('{slices}', '{p}', '{1}', '{"x"}') x;
    ASSERT v_rows[1].base_offset = 2501, 'P-21: the next call goes on at the tail';
    ASSERT NOT EXISTS (SELECT FROM pg_temp.faults('slices', 'p')), 'slices: ' || (SELECT string_agg(fault, '; ') FROM pg_temp.faults('slices', 'p'));
END $$;

-- 1 MiB a segment, counted in UTF-8 bytes of payload, id and key; one larger frame alone.
DO $$
DECLARE
    v_big text := repeat('x', 400 * 1024);
    v_huge text := repeat('y', 1048577);
    v_got integer[];
BEGIN
    SELECT array_agg(x.frames ORDER BY x.base_offset) INTO v_got
    FROM queen.log_push_v1('{mib}', '{p}', '{6}', ARRAY[v_big, v_big, v_big, v_huge, '1', '2']) x;
    ASSERT v_got = '{2,1,1,2}', 'design 3.1: cut at 1 MiB, a larger frame alone: ' || v_got::text;
    SELECT array_agg(x.frames ORDER BY x.base_offset) INTO v_got
    FROM queen.log_push_v1('{mib}', '{edge}', '{2}', ARRAY[repeat('x', 1048576 - 8), repeat('é', 1)], '{abc,NULL}', '{NULL,kéy}') x;
    ASSERT v_got = '{1,1}', 'design 3.1: 1048576 - 8 + 3, then 2 + 4 bytes, is one too many: ' || v_got::text;
    SELECT array_agg(x.frames ORDER BY x.base_offset) INTO v_got
    FROM queen.log_push_v1('{mib}', '{fit}', '{2}', ARRAY[repeat('x', 1048576 - 9), repeat('é', 1)], '{abc,NULL}', '{NULL,kéy}') x;
    ASSERT v_got = '{2}', 'design 3.1: exactly 1 MiB fits: ' || v_got::text;
    SELECT array_agg(x.frames ORDER BY x.base_offset) INTO v_got
    FROM queen.log_push_v1('{mib}', '{huge}', '{3}', ARRAY[v_huge, v_huge, '1']) x;
    ASSERT v_got = '{1,1,1}', 'design 3.1: large frames alone, also first: ' || v_got::text;
    ASSERT NOT EXISTS (SELECT FROM (VALUES ('p'), ('edge'), ('fit'), ('huge')) v (p), LATERAL pg_temp.faults('mib', v.p)),
        'mib: ' || (SELECT string_agg(f.fault, '; ') FROM (VALUES ('p'), ('edge'), ('fit'), ('huge')) v (p), LATERAL pg_temp.faults('mib', v.p) f);
END $$;

-- F021, F003: what is sent is what is stored, to the byte.
DO $$
DECLARE
    v_payloads text[] := ARRAY['{"n":1e131000}', '{"n":1e200000}', E'{"a":"x\\u0000y"}', '{"b": 1, "a" :2,"a":3}', '"\ud83d"', ' null ', '0.10'];
    v_id uuid;
BEGIN
    SELECT x.partition_id INTO v_id FROM queen.log_push_v1('{bytes}', '{p}', '{7}', v_payloads) x;
    ASSERT (SELECT s.payloads FROM queen.log_segments s WHERE s.partition_id = v_id) = v_payloads, 'F003, F021, design 3.1: as sent';
    PERFORM queen.push_v1('bytes', E'{"a":"x\\u0000y",  "n":1e131000}', 'human');
    ASSERT (SELECT p.payload::text FROM queen.pop_v1('bytes', 10, NULL, 'human') p) = E'{"a":"x\\u0000y",  "n":1e131000}', 'F003: through the human face';
END $$;

-- Many groups in a call: each partition apart, answers by group, several groups of one partition in order.
DO $$
DECLARE
    v_rows queen.push_row[];
    v_got text[];
BEGIN
    SELECT array_agg(x) INTO v_rows
    FROM queen.log_push_v1('{m1,m2,m1,m1,m1}', '{a,a,b,a,c}', '{2,1,0,3,1}', '{1,2,3,4,5,6,7}', NULL, '{k1,k2,k3,k4,k5,k6,k7}') x;
    SELECT array_agg(concat_ws(':', x.grp, p.name, x.base_offset, x.frames) ORDER BY x.grp) INTO v_got
    FROM unnest(v_rows) x JOIN queen.log_partitions p ON p.id = x.partition_id;
    ASSERT v_got = '{0:a:0:2,1:a:0:1,3:a:2:3,4:c:0:1}', 'P-4, P-26: groups: ' || v_got::text;
    ASSERT (SELECT array_agg(f.payload || f.key ORDER BY s.base_offset, f.k)
            FROM queen.log_segments s CROSS JOIN LATERAL unnest(s.payloads, s.keys) WITH ORDINALITY f (payload, key, k)
            WHERE s.partition_id = pg_temp.lane('m1', 'a')) = '{1k1,2k2,4k4,5k5,6k6}', 'P-4: items of each group stay together, in order';
    ASSERT NOT EXISTS (SELECT FROM (VALUES ('m1', 'a'), ('m1', 'c'), ('m2', 'a')) v (q, p), LATERAL pg_temp.faults(v.q, v.p)), 'groups are sound';
    ASSERT NOT EXISTS (SELECT FROM queen.log_push_v1('{}', '{}', '{}', '{}')), 'P-1, F025: no group, no row';
    ASSERT NOT EXISTS (SELECT FROM queen.log_push_v1('{none}', '{p}', '{0}', '{}')), 'P-1, F025: an empty group answers nothing';
    ASSERT NOT EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('none', 'p')), 'F025: and stores nothing';
END $$;

-- Nonces: the caller's 42 bits are those of the id, each group its own; drawn when NULL.
DO $$
DECLARE
    v_ids text[];
BEGIN
    SELECT array_agg(right(x.id_base::text, 17) ORDER BY x.grp) INTO v_ids
    FROM queen.log_push_v1('{n,n,n}', '{a,b,c}', '{1,1,1}', '{1,2,3}', NULL, NULL, ARRAY[4398046511103, 0, NULL]) x;
    ASSERT v_ids[1] = 'bfff-fffffff00000' AND v_ids[2] = '8000-000000000000', 'design 3.1: the nonce is in the id: ' || v_ids::text;
    ASSERT v_ids[3] NOT IN (v_ids[1], v_ids[2]), 'design 3.1: drawn';
END $$;

-- Rule 2: an unsettled, fresh row is left alone; rule 7: size and total by two probes.
DO $$
DECLARE
    v_id uuid;
    v_row tid;
    v_now text;
    r record;
BEGIN
    SELECT x.partition_id INTO v_id FROM queen.log_push_v1('{rule2}', '{p}', '{2}', '{12345,1}') x;
    UPDATE queen.log_partitions SET last_write_at = date_trunc('second', clock_timestamp()) + interval '10 s' WHERE id = v_id RETURNING ctid INTO v_row;
    FOR i IN 1..20 LOOP
        PERFORM queen.log_push_v1('{rule2}', '{p}', '{1}', '{123}');
    END LOOP;
    ASSERT (SELECT p.ctid FROM queen.log_partitions p WHERE p.id = v_id) = v_row, 'design 3.2 rule 2: twenty pushes, no update';
    ASSERT (SELECT h.head_offset = 21 FROM queen.partition_head h WHERE h.id = v_id), 'design 3.2 rule 4: the head is the tail';

    UPDATE queen.log_partitions SET last_write_at = date_trunc('second', clock_timestamp()) - interval '2 s' WHERE id = v_id;
    PERFORM queen.log_push_v1('{rule2}', '{p}', '{1}', '{123}');
    ASSERT (SELECT p.last_offset = 22 AND NOT p.settled AND p.last_write_at = date_trunc('second', h.head_stamp) AND p.last_stamp = h.head_stamp AND p.last_cum = h.head_cum
            FROM queen.log_partitions p JOIN queen.partition_head h USING (id) WHERE p.id = v_id), 'design 3.2 rule 2, P-23: a stale stamp is written';
    UPDATE queen.log_partitions SET oldest_txn_at = NULL, last_write_at = last_write_at + interval '10 s' WHERE id = v_id;
    PERFORM queen.log_push_v1('{rule2}', '{p}', '{1}', '{123}');
    ASSERT (SELECT p.last_offset = 23 AND p.oldest_txn_at IS NOT NULL FROM queen.log_partitions p WHERE p.id = v_id), 'design 3.2 rule 2, P-24: a missing oldest stamp is written';
    ASSERT (SELECT p.last_write_at > clock_timestamp() FROM queen.log_partitions p WHERE p.id = v_id), 'E-10: last_write_at only moves up';

    SELECT t.cum_bytes - (f.cum_bytes - f.orig_bytes) - h.removed_bytes AS size, h.head_offset - h.log_start + 1 - h.removed_frames AS total,
           (SELECT sum(octet_length(x)) FROM queen.log_segments s, unnest(s.payloads) x WHERE s.partition_id = v_id) AS bytes
    INTO r
    FROM queen.partition_head h
    JOIN queen.log_segments f ON f.partition_id = h.id AND f.base_offset = h.log_start
    JOIN queen.log_segments t ON t.partition_id = h.id AND t.end_offset = h.head_offset
    WHERE h.id = v_id;
    ASSERT r.size = r.bytes AND r.total = 24, 'design 3.2 rule 7: ' || r::text;
    PERFORM queen._move_log_start(v_id, 3);
    SELECT t.cum_bytes - (f.cum_bytes - f.orig_bytes) - h.removed_bytes AS size, h.head_offset - h.log_start + 1 - h.removed_frames AS total INTO r
    FROM queen.partition_head h
    JOIN queen.log_segments f ON f.partition_id = h.id AND f.base_offset = h.log_start
    JOIN queen.log_segments t ON t.partition_id = h.id AND t.end_offset = h.head_offset
    WHERE h.id = v_id;
    ASSERT r.size = 21 * 3 AND r.total = 21, 'design 3.2 rule 7, after a prefix went: ' || r::text;
END $$;

-- The human face: one answer a message in input order, any mix of partitions.
DO $$
DECLARE
    v_got text[];
BEGIN
    SELECT array_agg(concat_ws(':', m.item, m.status, m.partition, m."offset", CASE WHEN m.transaction_id = m.message_id::text THEN 'minted' ELSE m.transaction_id END))
    INTO v_got
    FROM queen.push_many_v1('human', '{1,2,3,4,5}', '{b,a,b,a,c}', '{x,NULL,x,y,NULL}', '{k1,NULL,k3,k4,NULL}') m;
    ASSERT v_got = '{0:queued:b:0:x,1:queued:a:0:minted,2:duplicate:b:0:x,3:queued:a:1:y,4:queued:c:0:minted}', 'P-2, F011: ' || v_got::text;
    ASSERT (SELECT array_agg(concat_ws(':', r.partition, r."offset", r.payload, r.key, r.transaction_id) ORDER BY r.partition, r."offset")
            FROM unnest('{a,b}'::text[]) p, LATERAL queen.read_v1('human', p) r WHERE r.transaction_id IN ('x', 'y')) = '{a:1:4:k4:y,b:0:1:k1:x}', 'design 4: payload, key and id stay together';
    ASSERT (SELECT (m.status, m.partition, m."offset") = ('queued', 'Default', 0) FROM queen.push_v1('human', '{}') m), 'P-3: Default';
    ASSERT (SELECT array_agg(m."offset") FROM queen.push_many_v1('human', '{1,2,3}') m) = '{1,2,3}', 'P-3: no partitions given';
    ASSERT (SELECT array_agg(m."offset") FROM queen.push_many_v1('human', '{1,2,3}', '{one}') m) = '{0,1,2}', 'design 4: one partition for all';
    ASSERT NOT EXISTS (SELECT FROM queen.push_many_v1('human', '{}')), 'F025: nothing in, nothing out';
    ASSERT NOT EXISTS (SELECT FROM (VALUES ('a'), ('b'), ('c'), ('one')) v (p), LATERAL pg_temp.faults('human', v.p)), 'human: sound';
END $$;

-- The common push, which goes on where one was a moment ago, counts and hashes as the uncommon first one does.
DO $$
DECLARE
    v_call text;
BEGIN
    FOR v_round IN 1..3 LOOP
        FOREACH v_call IN ARRAY ARRAY['', ', ARRAY[%2$L, %3$L]', ', ARRAY[%2$L, %3$L], ARRAY[%3$L, NULL]', ', NULL, ARRAY[%2$L, NULL]'] LOOP
            EXECUTE format('SELECT queen.push_many_v1(%4$L, ARRAY[%1$L, %1$L]::json[], %5$L' || v_call || ')',
                '"é €"', v_round || 'ä', v_round || 'ö', 'common', ARRAY['lane' || v_call]);
        END LOOP;
    END LOOP;
    FOREACH v_call IN ARRAY ARRAY(SELECT p.name FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'common') LOOP
        ASSERT NOT EXISTS (SELECT FROM pg_temp.faults('common', v_call)), v_call || ': ' || (SELECT string_agg(fault, '; ') FROM pg_temp.faults('common', v_call));
        ASSERT (SELECT count(*) = 3 AND sum(s.frames) = 6 FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('common', v_call)), v_call;
    END LOOP;
END $$;

-- F007, F009: names are bytes, never patterns, paths or joined keys.
DO $$
DECLARE
    v_names text[] := ARRAY['Q"; drop table x; --', 'a%sb', 'a_b', 'aXb', '../x', 'a/b', '', 'Upper', 'upper', 'é', U&'e\0301', 'a|b', 'a', 'a:b', 'a''b', '\x41'];
    v_lanes bigint;
BEGIN
    PERFORM queen.log_push_v1(ARRAY[q], ARRAY[p], '{1}', ARRAY[to_json(q || p)::text], '{same}') FROM unnest(v_names) q, unnest(v_names) p;
    SELECT count(*) INTO v_lanes
    FROM unnest(v_names) q CROSS JOIN unnest(v_names) p
    CROSS JOIN LATERAL queen.pop_v1(q, 10, 'g', p) m
    WHERE m.payload #>> '{}' = q || p AND m.transaction_id = 'same';
    ASSERT v_lanes = cardinality(v_names) ^ 2, 'F007, F009, F017: every pair of names is a partition of its own: ' || v_lanes;
END $$;

ROLLBACK;
