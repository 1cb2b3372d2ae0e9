-- Exact deduplication: what is a repeat, of what, for how long. The same in a database with any collation.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_dedup.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.lane(p_queue text, p_partition text DEFAULT 'p') RETURNS uuid LANGUAGE sql AS $$
    SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = p_queue AND p.name = p_partition
$$;

-- Push ids to p of a queue; one letter and offset an item in input order: q = queued, d = duplicate (- when it has none).
CREATE FUNCTION pg_temp.verdicts(p_queue text, p_ids text[], p_partition text DEFAULT 'p') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_rows queen.push_row[];
BEGIN
    SELECT array_agg(x) INTO v_rows
    FROM queen.log_push_v1(ARRAY[p_queue], ARRAY[p_partition], ARRAY[cardinality(p_ids)],
        ARRAY(SELECT to_json(coalesce(i, 'null') || '#' || clock_timestamp())::text FROM unnest(p_ids) i), p_ids) x;
    RETURN (
        SELECT string_agg(v.word, ' ' ORDER BY v.item)
        FROM (
            SELECT coalesce(x.items[k + 1], x.first_item + k) AS item,
                   left(x.status, 1) || CASE WHEN x.status = 'queued' THEN (x.base_offset + k)::text ELSE coalesce(x.item_offsets[k + 1]::text, '-') END AS word
            FROM unnest(v_rows) x CROSS JOIN LATERAL generate_series(0, coalesce(cardinality(x.items), x.frames) - 1) k
        ) v);
END $$;

-- The state that a duplicate must leave untouched.
CREATE FUNCTION pg_temp.state(p_queue text, p_partition text DEFAULT 'p') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', p::text,
        (SELECT string_agg(s::text, '' ORDER BY s.base_offset) FROM queen.log_segments s WHERE s.partition_id = p.id),
        (SELECT string_agg(t::text, '' ORDER BY t.base_offset) FROM queen.log_txns t WHERE t.partition_id = p.id))
    FROM queen.log_partitions p WHERE p.id = pg_temp.lane(p_queue, p_partition)
$$;

-- Age everything that is stored in a partition.
CREATE FUNCTION pg_temp.age(p_queue text, p_by interval) RETURNS void LANGUAGE sql AS $$
    UPDATE queen.log_segments SET created_at = created_at - p_by WHERE partition_id = pg_temp.lane(p_queue);
    UPDATE queen.log_txns SET created_at = created_at - p_by WHERE partition_id = pg_temp.lane(p_queue);
    UPDATE queen.log_partitions SET last_stamp = last_stamp - p_by, last_write_at = last_write_at - p_by, oldest_live_at = oldest_live_at - p_by,
        oldest_txn_at = oldest_txn_at - p_by WHERE id = pg_temp.lane(p_queue);
$$;

-- F011, P-2, P-9: inside one call the first wins, whatever the window.
DO $$
BEGIN
    ASSERT pg_temp.verdicts('inside', '{X,Y,X}') = 'q0 q1 d0', 'F011: ' || pg_temp.state('inside');
    ASSERT pg_temp.verdicts('inside', '{Z,X,Z,X,W,Z}') = 'q2 d0 d2 d0 q3 d2', 'P-2: followers of a leader that is old report the original';
    PERFORM queen.configure_queue_v1('off', '{"dedupWindowSeconds": 0}');
    ASSERT pg_temp.verdicts('off', '{X,Y,X}') = 'q0 q1 d0', 'F011, P-9: also with window 0';
    ASSERT pg_temp.verdicts('off', '{X,X}') = 'q2 d2', 'window 0 disables the probe of what is stored';
    ASSERT (SELECT count(*) = 2 FROM queen.log_txns WHERE partition_id = pg_temp.lane('off')), 'E-22: never the sidecar';
    ASSERT pg_temp.verdicts('inside', '{NULL,NULL}') = 'q4 q5', 'no id, no repeat';
END $$;

-- F013, T-8: the verdict names the original; nothing of the repeat is stored.
DO $$
DECLARE
    r queen.push_row;
    v_first uuid;
    v_state text;
BEGIN
    SELECT x.id_base INTO v_first FROM queen.log_push_v1('{ref}', '{p}', '{2}', '{"\"A\"","\"B\""}', '{X,Y}') x;
    v_state := pg_temp.state('ref');
    SELECT * INTO r FROM queen.log_push_v1('{ref}', '{p}', '{2}', '{"\"C\"","\"D\""}', '{Y,X}');
    ASSERT (r.status, r.items, r.item_offsets) = ('duplicate', '{0,1}'::integer[], '{1,0}'::bigint[]) AND r.partition_id = pg_temp.lane('ref'), 'F013: ' || r::text;
    ASSERT r.item_ids = ARRAY[queen._frame_id(v_first, 1), queen._frame_id(v_first, 0)], 'F013: the ids of the originals';
    ASSERT pg_temp.state('ref') = v_state, 'T-8: a repeat writes nothing';
    ASSERT (SELECT (m.payload::text, m.id) = ('"A"', queen._frame_id(v_first, 0)) FROM queen.read_v1('ref', 'p', 0, 1) m), 'F013: the offset holds the first payload';
    ASSERT (SELECT (m.status, m.message_id, m.transaction_id, m."offset") = ('duplicate', queen._frame_id(v_first, 1), 'Y', 1)
            FROM queen.push_v1('ref', '1', 'p', 'Y') m), 'F013: through the human face';
    -- The segment is gone, its hash is not.
    DELETE FROM queen.log_segments WHERE partition_id = pg_temp.lane('ref');
    UPDATE queen.log_partitions SET log_start = 2, last_offset = 1 WHERE id = pg_temp.lane('ref');
    SELECT * INTO r FROM queen.log_push_v1('{ref}', '{p}', '{1}', '{1}', '{X}');
    ASSERT (r.status, r.item_ids) = ('duplicate', ARRAY['00000000-0000-0000-0000-000000000000'::uuid]), 'spec 3.6: original gone, all-zero id: ' || r::text;
END $$;

-- The rest of a group with repeats lands, item by item, with its own columns (P-20).
DO $$
DECLARE
    r_seg queen.log_segments;
BEGIN
    PERFORM pg_temp.verdicts('rest', '{a,c}');
    PERFORM queen.log_push_v1('{rest}', '{p}', '{4}', '{1,2,3,4}', '{a,b,c,NULL}', '{ka,kb,kc,kd}', NULL, false, NULL,
        ARRAY[NULL, '0192f3a4-0000-7000-8000-00000000000b', NULL, NULL], '{sa,sb,sc,sd}');
    SELECT * INTO r_seg FROM queen.log_segments WHERE partition_id = pg_temp.lane('rest') AND base_offset = 2;
    ASSERT (r_seg.payloads, r_seg.transaction_ids, r_seg.keys, r_seg.trace_ids, r_seg.producer_subs)
        = ('{2,4}'::text[], '{b,NULL}'::text[], '{kb,kd}'::text[], ARRAY['0192f3a4-0000-7000-8000-00000000000b', NULL]::uuid[], '{sb,sd}'::text[]), 'P-20: ' || r_seg::text;
    ASSERT pg_temp.verdicts('rest', '{b}') = 'd2', 'P-20: and is known afterwards';
END $$;

-- F015: the window is fixed from the acceptance; F017: scope is the partition, on every path.
DO $$
BEGIN
    PERFORM queen.configure_queue_v1('win', '{"dedupWindowSeconds": 3000}');
    ASSERT pg_temp.verdicts('win', '{X}') = 'q0', 'F015: at 0 s';
    PERFORM pg_temp.age('win', '2000 s');
    ASSERT pg_temp.verdicts('win', '{X}') = 'd0', 'F015: duplicate at 2000 s';
    PERFORM pg_temp.age('win', '2000 s');
    ASSERT pg_temp.verdicts('win', '{X}') = 'q1', 'F015: accepted at 4000 s: a duplicate does not refresh the window';
    PERFORM pg_temp.age('win', '2000 s');
    ASSERT pg_temp.verdicts('win', '{X}') = 'd1', 'F015: duplicate at 6000 s, of the second acceptance';
    PERFORM queen.configure_queue_v1('win', '{"dedupWindowSeconds": 36000}');
    ASSERT pg_temp.verdicts('win', '{X}') = 'd0', 'P-19: several hits report the smallest offset';
    PERFORM queen.configure_queue_v1('win', '{"dedupWindowSeconds": 2147483647}');
    ASSERT pg_temp.verdicts('win', '{X}') = 'd0', 'design 7: an absurd window is no error';

    ASSERT pg_temp.verdicts('s1', '{X}', 'A') || pg_temp.verdicts('s1', '{X}', 'B') || pg_temp.verdicts('s2', '{X}', 'A') = 'q0q0q0', 'F017: a partition is the scope';
    ASSERT (SELECT string_agg(m.status, ' ' ORDER BY m.item) FROM queen.push_many_v1('s1', '{1,2,3}', '{A,B,C}', '{X,X,X}') m) = 'duplicate duplicate queued', 'F017: in a batch';
    ASSERT (SELECT m.status FROM queen.push_v1('s1', '1', 'C', 'X') m) = 'duplicate', 'F017: one message';
    ASSERT (SELECT string_agg(x.status, ' ' ORDER BY x.grp) FROM queen.log_push_v1('{s3,s3}', '{A,A}', '{1,1}', '{1,2}', '{X,X}') x) = 'queued duplicate', 'F017: two groups of one call';
END $$;

-- Ids whose first 64 characters are equal; ids compare whole.
DO $$
DECLARE
    v_head text := repeat('h', 64);
BEGIN
    ASSERT pg_temp.verdicts('long', ARRAY[v_head || 'b', v_head || 'a', v_head, v_head || 'c']) = 'q0 q1 q2 q3', 'design 3.4: long ids are four ids';
    ASSERT pg_temp.verdicts('long', ARRAY[v_head || 'd', v_head || 'a']) = 'q4 d1', 'design 3.4: behind a cut that is equal to the maximum';
    ASSERT pg_temp.verdicts('long', ARRAY[v_head || 'e']) = 'q5' AND pg_temp.verdicts('long', ARRAY[v_head || 'e']) = 'd5', 'design 3.4: alone';
    ASSERT pg_temp.verdicts('long', ARRAY[v_head]) = 'd2', 'design 3.4: the cut itself';
    ASSERT pg_temp.verdicts('long', ARRAY[left(v_head, 63), left(v_head, 63) || 'i']) = 'q6 q7', 'design 3.4: shorter, and above';
    ASSERT pg_temp.verdicts('long', ARRAY[repeat('z', 65535)]) = 'q8' AND pg_temp.verdicts('long', ARRAY[repeat('z', 65535)]) = 'd8', 'the longest id';
END $$;

-- In-order rows, out-of-order rows, and both mixed: every stored id stays found, every new one is new.
DO $$
DECLARE
    v_all text[] := ARRAY(SELECT 'k' || lpad(i::text, 4, '0') FROM generate_series(1, 400) i);
    v_order text[];
    v_got text;
BEGIN
    PERFORM setseed(0.42);
    -- Rising ids, ten a call: no row is out of order.
    FOR i IN 0..9 LOOP
        PERFORM pg_temp.verdicts('rise', v_all[i * 10 + 1 : i * 10 + 10]);
    END LOOP;
    ASSERT NOT EXISTS (SELECT FROM queen.log_txns WHERE partition_id = pg_temp.lane('rise') AND out_of_order), 'design 3.4: in-order rows';
    v_got := pg_temp.verdicts('rise', v_all[1:100]);
    ASSERT v_got = (SELECT string_agg('d' || i, ' ' ORDER BY i) FROM generate_series(0, 99) i), 'design 3.4: found in in-order rows: ' || v_got;
    -- Below the maximum, and new.
    ASSERT pg_temp.verdicts('rise', '{k00001,k0050x,a}') = 'q100 q101 q102', 'design 3.4: new ids between stored ones';
    ASSERT (SELECT t.out_of_order AND t.high = 'k0100' AND t.lo = 'a' AND t.hi = 'k0050x' FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('rise') AND t.base_offset = 100),
        'design 3.4: such a row is out of order and carries the maximum';
    ASSERT pg_temp.verdicts('rise', '{k0101,k0050,a,k00001}') = 'q103 d49 d102 d100', 'design 3.4: both kinds together';
    ASSERT pg_temp.verdicts('rise', '{k0101,k0102}') = 'd103 q104', 'design 3.4: a maximum that came in a mixed row';

    -- Any order, one a call and in calls of seven, window after window.
    SELECT array_agg(x ORDER BY random()) INTO v_order FROM unnest(v_all) x;
    FOR i IN 1..60 LOOP
        ASSERT pg_temp.verdicts('mess', v_order[i:i]) = 'q' || i - 1, 'design 3.4: new in any order, ' || v_order[i];
    END LOOP;
    FOR i IN 0..9 LOOP
        PERFORM pg_temp.verdicts('mess', v_order[61 + i * 34 : 94 + i * 34]);
    END LOOP;
    FOR i IN 0..9 LOOP
        v_got := pg_temp.verdicts('mess', (SELECT array_agg(v_order[n] ORDER BY n) FROM generate_series(1 + i, 400, 10) n));
        ASSERT v_got = (SELECT string_agg('d' || n - 1, ' ' ORDER BY n) FROM generate_series(1 + i, 400, 10) n), 'design 3.4: found in any order: ' || v_got;
    END LOOP;
    -- Falling ids: every row is below the maximum.
    FOR i IN REVERSE 30..1 LOOP
        ASSERT pg_temp.verdicts('fall', v_all[i:i]) = 'q' || 30 - i AND pg_temp.verdicts('fall', v_all[i:i]) = 'd' || 30 - i, 'design 3.4: falling, ' || v_all[i];
    END LOOP;
END $$;

-- Bytes decide, not the language: case, accents, composed and decomposed, ignorable and digits.
DO $$
DECLARE
    v_ids text[] := ARRAY['a', 'B', 'A', 'b', 'é', U&'e\0301', 'e', 'Z', 'z', 'ß', 'ss', 'SS', 'a-b', 'ab', 'a b', U&'a\00ADb', '10', '9', 'é ', 'İ', 'i', U&'\FF21', '', ' '];
    v_got text;
BEGIN
    FOR i IN 1..cardinality(v_ids) LOOP
        v_got := pg_temp.verdicts('coll', v_ids[i:i]);
        ASSERT v_got = 'q' || i - 1, 'F009, design 3.4: ids differ by bytes: ' || v_ids[i] || ' ' || v_got;
    END LOOP;
    v_got := pg_temp.verdicts('coll', v_ids);
    ASSERT v_got = (SELECT string_agg('d' || i, ' ' ORDER BY i) FROM generate_series(0, cardinality(v_ids) - 1) i), 'design 3.4: each found again: ' || v_got;
    ASSERT pg_temp.verdicts('coll2', v_ids) = (SELECT string_agg('q' || i, ' ' ORDER BY i) FROM generate_series(0, cardinality(v_ids) - 1) i), 'design 3.4: in one call';
    ASSERT (SELECT (t.lo, t.hi, t.high) = ('', U&'\FF21', U&'\FF21') FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('coll2')), 'design 3.4: lo, hi and high in byte order';
    -- 'B' < 'a' by bytes, 'a' < 'B' in a dictionary: a row after 'a' with 'B' is out of order only by bytes.
    PERFORM pg_temp.verdicts('coll3', '{a}');
    PERFORM pg_temp.verdicts('coll3', '{B}');
    PERFORM pg_temp.verdicts('coll3', '{b}');
    ASSERT (SELECT string_agg(t.out_of_order::text || ':' || t.high, ' ' ORDER BY t.base_offset) FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('coll3'))
        = 'false:a true:a false:b', 'design 3.4: order and maximum by bytes';
    ASSERT pg_temp.verdicts('coll3', '{b,B,a,C}') = 'd2 d1 d0 q3', 'design 3.4: each found whatever the collation';
    PERFORM pg_temp.verdicts('coll4', '{a,B}');
    ASSERT (SELECT (t.lo, t.hi) = ('B', 'a') FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('coll4')), 'design 3.4: lo and hi by bytes';
    ASSERT pg_temp.verdicts('coll4', '{B}') || pg_temp.verdicts('coll4', '{C}') || pg_temp.verdicts('coll4', '{C}') = 'd1q2d2', 'design 3.4: ids that ascend only in a dictionary';
    ASSERT pg_temp.verdicts('coll4', '{b,B}') = 'q3 d1', 'design 3.4: a repeat behind an id above the maximum, ascending only in a dictionary';
END $$;

-- Ids of ours count: a client that sends one back is a repeat; what it makes up is not.
DO $$
DECLARE
    v_base uuid;
    v_minted text[];
BEGIN
    SELECT x.id_base INTO v_base FROM queen.log_push_v1('{mint}', '{p}', '{3}', '{1,2,3}') x;
    v_minted := ARRAY(SELECT queen._frame_id(v_base, k)::text FROM generate_series(0, 3) k);
    ASSERT (SELECT (t.lo, t.hi, t.high) = (v_minted[1], v_minted[3], v_minted[3]) FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('mint')), 'design 3.4: minted ids count in lo, hi and high';
    ASSERT pg_temp.verdicts('mint', ARRAY[v_minted[2], v_minted[4], v_minted[1], upper(v_minted[3])]) = 'd1 q3 d0 q4', 'design 3.4: a client id equal to a minted one';
    ASSERT pg_temp.verdicts('mint', ARRAY[NULL, 'zz', NULL, v_minted[3]]) = 'q5 q6 q7 d2', 'design 3.4: null and given ids mixed';
    SELECT s.id_base INTO v_base FROM queen.log_segments s WHERE s.partition_id = pg_temp.lane('mint') AND s.base_offset = 5;
    ASSERT (SELECT (t.lo, t.hi, t.high) = (queen._frame_id(v_base, 0)::text, 'zz', 'zz') FROM queen.log_txns t WHERE t.partition_id = pg_temp.lane('mint') AND t.base_offset = 5), 'design 3.4: lo and hi of a mixed row';
    ASSERT pg_temp.verdicts('mint', ARRAY[queen._frame_id(v_base, 1)::text, 'zz', queen._frame_id(v_base, 2)::text, queen._frame_id(v_base, 0)::text]) = 'q8 d6 d7 d5',
        'design 3.4: the id of a frame with its own transactionId is not taken; minted ones of a mixed row are';
    -- All-null ids after a high client id: minted ids lie below the maximum, and stay known.
    SELECT x.id_base INTO v_base FROM queen.log_push_v1('{mint}', '{p}', '{2}', '{1,2}') x;
    ASSERT pg_temp.verdicts('mint', ARRAY[queen._frame_id(v_base, 1)::text]) = 'd10', 'design 3.4: minted ids below the maximum';
END $$;

-- A purged sidecar forgets, and only what was purged (P-17); a maximum that went with it does no harm.
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM pg_temp.verdicts('purge', '{b,c}'); -- in order
    PERFORM pg_temp.verdicts('purge', '{z,a}'); -- out of order
    PERFORM pg_temp.verdicts('purge', '{d,e}');
    v_id := pg_temp.lane('purge');
    UPDATE queen.log_partitions SET txns_start = 4, oldest_txn_at = (SELECT t.created_at FROM queen.log_txns t WHERE t.partition_id = v_id AND t.base_offset = 4) WHERE id = v_id;
    ASSERT pg_temp.verdicts('purge', '{a,z,d}') = 'q6 q7 d4', 'P-17: below txns_start is forgotten though the rows are still there';
    ASSERT pg_temp.verdicts('purge', '{a,z,e,b}') = 'd6 d7 d5 q8', 'P-17: what came later is known';
    DELETE FROM queen.log_txns WHERE partition_id = v_id;
    UPDATE queen.log_partitions SET txns_start = 9, oldest_txn_at = NULL WHERE id = v_id;
    ASSERT pg_temp.verdicts('purge', '{m,a}') = 'q9 q10' AND pg_temp.verdicts('purge', '{a,m,n,z}') = 'd10 d9 q11 q12', 'P-17: an empty sidecar starts again';
    ASSERT (SELECT p.oldest_txn_at = t.created_at FROM queen.log_partitions p JOIN queen.log_txns t ON t.partition_id = p.id AND t.base_offset = 9 WHERE p.id = v_id), 'P-24: oldest_txn_at is set again';
END $$;

-- A hash alone never decides while the segment is there.
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM pg_temp.verdicts('coin', '{x,y}');
    PERFORM pg_temp.verdicts('coin', '{b}');
    v_id := pg_temp.lane('coin');
    UPDATE queen.log_txns SET hashes = ARRAY[hashtextextended('xx' COLLATE "C", queen._id_seed(v_id)), hashes[2]] WHERE partition_id = v_id AND base_offset = 0;
    UPDATE queen.log_txns SET hashes = ARRAY[hashtextextended('a' COLLATE "C", queen._id_seed(v_id))] WHERE partition_id = v_id AND base_offset = 2;
    ASSERT pg_temp.verdicts('coin', '{xx,a}') = 'q3 q4', 'design 3.4: a collision is confirmed against the stored id';
    ASSERT (SELECT t.hashes[1] FROM queen.log_txns t WHERE t.partition_id = v_id AND t.base_offset = 0)
        <> hashtextextended('xx' COLLATE "C", queen._id_seed(gen_random_uuid())), 'design 3.4: the seed comes from the partition';
END $$;

-- Large: five thousand items with repeats inside and of stored ones.
DO $$
DECLARE
    v_ids text[] := ARRAY(SELECT md5((i % 4000)::text) FROM generate_series(1, 5000) i);
BEGIN
    PERFORM pg_temp.verdicts('large', v_ids[1:1500]);
    PERFORM pg_temp.verdicts('large', v_ids);
    ASSERT (SELECT count(*) = 4000 AND count(DISTINCT x.id) = 4000
            FROM queen.log_segments s, unnest(s.transaction_ids) x (id) WHERE s.partition_id = pg_temp.lane('large')), 'design 3.4: each id once';
END $$;

ROLLBACK;
