-- log_ack_v1: which offset a transaction id means, inside the leased span, below the cursor, and where hashes were purged.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/ack_resolution.sql (on a migrated database).
BEGIN;

\ir lib/ack.sql
-- Push the given ids to p of a queue without deduplication, one segment.
CREATE FUNCTION pg_temp.push_ids(p_queue text, p_ids text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM queen.configure_queue_v1(p_queue, '{"dedupWindowSeconds": 0}');
    FOR i IN 1..cardinality(p_ids) LOOP
        PERFORM queen.log_push_v1(ARRAY[p_queue], '{p}', '{1}', '{1}', p_ids[i:i]);
    END LOOP;
END $$;

-- F057: acked, already, unknown, of another queue: each says so (A-9..A-12).
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push('res', 10, 10), pg_temp.push('other', 3);
    v := pg_temp.lease('res', 4);
    ASSERT pg_temp.ack('res', v, '0c 1c') = '+ +', 'acked';
    ASSERT pg_temp.ack('res', v, '0c 1f 1r 1d') = 'n already already already', 'A-11: below the cursor: noop, or stale';
    ASSERT pg_temp.ack('res', v, 'nonec') = 'unresolvable' AND pg_temp.ack('res', v, 'nonef') = 'unresolvable', 'A-12: unknown';
    ASSERT pg_temp.ack('res', v, 'c') = 'unresolvable', 'http-api 3.3: an empty id resolves to nothing';
    ASSERT pg_temp.ack('res', v, '4c') = 'unresolvable' AND pg_temp.ack('res', v, '9d') = 'unresolvable', 'A-12: above the leased batch, in a segment that straddles it';
    ASSERT pg_temp.row('res') = '1 3 L 0 0 1 2', 'A-12, F061: and nothing moved: ' || pg_temp.row('res');
    ASSERT pg_temp.ack('res', v, '2c nonec 4f 0c') = '+ unresolvable unresolvable n', 'A-3: one call, each its own verdict';
    ASSERT pg_temp.row('res') = '2 3 L 0 0 1 3', 'A-14: what resolved counts: ' || pg_temp.row('res');
    ASSERT pg_temp.ack('res', v, '3f nonec') = '+R unresolvableR' AND pg_temp.row('res') = '2 - - 1 0 1 3', 'a failed is honoured beside an unknown: ' || pg_temp.row('res');
    ASSERT pg_temp.ack('res', NULL, '8c') = '+' AND pg_temp.row('res') = '8 - - 1 0 1 9', 'A-10: without a lease, anywhere above the cursor';
    ASSERT pg_temp.ack('res', NULL, '12c') = 'unresolvable', 'above the head';
END $$;

-- F059: ids that the producer never gave; a window of 0; ids with odd bytes.
DO $$
DECLARE
    v text;
    v_base uuid;
    v_ids text[] := ARRAY['é', U&'e\0301', 'A', 'a', repeat('h', 64) || '1', repeat('h', 64) || '2', ''];
BEGIN
    PERFORM queen.configure_queue_v1('mint', '{"dedupWindowSeconds": 0}');
    SELECT x.id_base INTO v_base FROM queen.log_push_v1('{mint}', '{p}', '{4}', '{1,2,3,4}', '{NULL,b,NULL,NULL}') x;
    v := pg_temp.lease('mint', 3);
    ASSERT pg_temp.ack('mint', v, queen._frame_id(v_base, 0) || 'c ' || queen._frame_id(v_base, 1) || 'c bc ' || queen._frame_id(v_base, 2) || 'c') = '+R unresolvableR +R +R', 'F059: minted ids; the id of a frame with its own is not its transactionId';
    ASSERT pg_temp.row('mint') = '2 - - 0 - 0 3', 'F059: not redelivered';
    PERFORM pg_temp.push_ids('bytes', v_ids);
    v := pg_temp.lease('bytes', 10);
    FOR i IN 1..cardinality(v_ids) LOOP
        ASSERT pg_temp.ack('bytes', v, v_ids[i] || 'c') LIKE '+%' AND split_part(pg_temp.row('bytes'), ' ', 1) = (i - 1)::text, 'F009, design 3.4: id ' || i || ': ' || pg_temp.row('bytes');
    END LOOP;
END $$;

-- Repeats: the k-th repeat of an id takes its k-th occurrence; one alone the first; more than there are, the last (design 3.4).
DO $$
DECLARE
    v text;
BEGIN
    PERFORM pg_temp.push_ids('twice', '{x,y,x,z,x,y}');
    v := pg_temp.lease('twice', 6);
    ASSERT pg_temp.ack('twice', v, 'xc') = '+' AND pg_temp.row('twice') = '0 5 L 0 0 1 1', 'A-10: the smallest inside the span: ' || pg_temp.row('twice');
    ASSERT pg_temp.ack('twice', v, 'xc') = '+' AND pg_temp.row('twice') = '2 5 L 0 0 1 3', 'A-10: then the next: ' || pg_temp.row('twice');
    PERFORM pg_temp.push_ids('thrice', '{x,y,x,z,x,y}');
    v := pg_temp.lease('thrice', 6);
    ASSERT pg_temp.ack('thrice', v, 'xc yc xc') = '+ + +' AND pg_temp.row('thrice') = '2 5 L 0 0 1 3', 'design 3.4: two repeats, two occurrences: ' || pg_temp.row('thrice');
    PERFORM pg_temp.push_ids('more', '{x,y,x,z,x,y}');
    v := pg_temp.lease('more', 6);
    ASSERT pg_temp.ack('more', v, 'yf xc xc') = '+R +R +R' AND pg_temp.row('more') = '0 - - 1 0 1 1', 'design 3.4: the k-th, and the signal at the first y: ' || pg_temp.row('more');
    v := pg_temp.lease('more', 6);
    ASSERT pg_temp.ack('more', v, 'yc yc yc') = '+R +R +R' AND pg_temp.row('more') = '5 - - 0 - 0 6', 'design 3.4: more repeats than occurrences';
    ASSERT pg_temp.ack('more', NULL, 'xc yf') = 'n already', 'A-11: below the cursor';
    -- A-11: a re-push below the cursor cannot shadow the delivered copy, nor the other way.
    PERFORM pg_temp.push_ids('more', '{x}');
    v := pg_temp.lease('more', 1);
    ASSERT pg_temp.ack('more', v, 'xf') = '+R' AND split_part(pg_temp.row('more'), ' ', 4) = '1', 'A-11: the in-span occurrence wins';
    -- The whole batch in delivery order, with repeats in it.
    PERFORM pg_temp.push_ids('whole', '{x,x,y,x}');
    v := pg_temp.lease('whole', 4);
    ASSERT pg_temp.ack('whole', v, 'xc xc yc xc') = '+R +R +R +R' AND pg_temp.row('whole') = '3 - - 0 - 0 4', 'design 3.4: the whole batch: ' || pg_temp.row('whole');
END $$;

-- A purged sidecar: ids of the leased span resolve by the arrays and id_base (F059); below the cursor they are unresolvable.
DO $$
DECLARE
    v text;
    v_id uuid;
    v_base uuid;
BEGIN
    PERFORM pg_temp.push('purge', 4, 2);
    SELECT x.id_base INTO v_base FROM queen.log_push_v1('{purge}', '{p}', '{2}', '{1,2}') x;
    PERFORM queen.log_push_v1('{purge}', '{p}', '{3}', '{1,2,3}', '{6,7,8}');
    v_id := pg_temp.lane('purge');
    v := pg_temp.lease('purge', 8);
    DELETE FROM queen.log_txns WHERE partition_id = v_id AND base_offset < 6;
    UPDATE queen.log_partitions SET txns_start = 6 WHERE id = v_id;
    ASSERT pg_temp.ack('purge', v, '1c') = '+' AND pg_temp.row('purge') = '1 7 L 0 0 1 2', 'design 3.4: by the arrays: ' || pg_temp.row('purge');
    ASSERT pg_temp.ack('purge', v, '0c') = 'unresolvable', 'design 3.4: below the cursor only hashes are looked at';
    ASSERT pg_temp.ack('purge', v, queen._frame_id(v_base, 0) || 'c') = '+' AND pg_temp.row('purge') = '4 7 L 0 0 1 5', 'design 3.4: by id_base: ' || pg_temp.row('purge');
    ASSERT pg_temp.ack('purge', v, queen._frame_id(v_base, 1) || 'f 6c') = '+R +R' AND pg_temp.row('purge') = '4 - - 1 0 1 5', 'design 3.4: arrays and hashes in one call: ' || pg_temp.row('purge');
    v := pg_temp.lease('purge', 8);
    DELETE FROM queen.log_txns WHERE partition_id = v_id;
    ASSERT pg_temp.ack('purge', v, queen._frame_id(v_base, 1) || 'c 6c 7c 8c') = '+R +R +R +R' AND pg_temp.row('purge') = '8 - - 0 - 0 9', 'design 3.4: the whole batch by the arrays: ' || pg_temp.row('purge');
    -- The k-th repeat over a boundary between purged and kept hashes.
    PERFORM pg_temp.push_ids('border', '{x,y,x,y}');
    v := pg_temp.lease('border', 4);
    DELETE FROM queen.log_txns WHERE partition_id = pg_temp.lane('border') AND base_offset < 2;
    ASSERT pg_temp.ack('border', v, 'xc yc xc') = '+ + +' AND pg_temp.row('border') = '2 3 L 0 0 1 3', 'design 3.4: repeats over the boundary: ' || pg_temp.row('border');
END $$;

-- A prefix that went while it was leased: what is left resolves; what is gone resolves by its hash.
DO $$
DECLARE
    v text;
    v_id uuid;
BEGIN
    PERFORM pg_temp.push('gone', 6);
    v_id := pg_temp.lane('gone');
    v := pg_temp.lease('gone', 5);
    PERFORM queen._move_log_start(v_id, 3);
    PERFORM queen._reclaim_prefix(v_id, 10);
    ASSERT pg_temp.ack('gone', v, '1c') = '+' AND pg_temp.row('gone') = '1 4 L 0 0 1 2', 'the hash of a deleted frame is still there: ' || pg_temp.row('gone');
    ASSERT pg_temp.ack('gone', v, '3c 4c') = '+R +R' AND pg_temp.row('gone') = '4 - - 0 - 0 5', 'A-15: gaps count in the delta: ' || pg_temp.row('gone');
    v := pg_temp.lease('gone', 5);
    PERFORM queen._move_log_start(v_id, 100);
    PERFORM queen._reclaim_prefix(v_id, 10);
    DELETE FROM queen.log_txns WHERE partition_id = v_id;
    ASSERT pg_temp.ack('gone', v, '5c') = 'unresolvable' AND pg_temp.row('gone') = '4 5 L 0 5 1 5', 'A-12: nothing left to resolve by, nothing moves: ' || pg_temp.row('gone');
END $$;

-- W-17, design 3.4: below the cursor at most 1000 sidecar rows, above it without a lease 1000.
DO $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM queen.log_push_v1('{deep}', '{p}', '{1}', '{1}', '{0}');
    v_id := pg_temp.lane('deep');
    INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads, transaction_ids)
    SELECT v_id, i, i, clock_timestamp(), queen._id_base(clock_timestamp(), i), 1, 1, 1, i, '{1}', ARRAY[i::text] FROM generate_series(1, 3000) i;
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high)
    SELECT v_id, i, i, clock_timestamp(), ARRAY[hashtextextended(i::text COLLATE "C", queen._id_seed(v_id))], i::text, i::text, '9' FROM generate_series(1, 3000) i;
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) VALUES (v_id, 'g', 1500);
    ASSERT pg_temp.ack('deep', NULL, '1500c 501c') = 'n n', 'W-17: 1000 rows below the cursor';
    ASSERT pg_temp.ack('deep', NULL, '500c 0c') = 'unresolvable unresolvable', 'design 3.4: not one more';
    ASSERT pg_temp.ack('deep', NULL, '2501c') = 'unresolvable' AND pg_temp.ack('deep', NULL, '2500c') = '+', 'design 3.4: 1000 rows above it';
END $$;

ROLLBACK;
