-- log_find_pushes_v1: which groups of a call with an unknown outcome happened, by name?
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_find_groups.sql (on a migrated database).
BEGIN;

DO $$
DECLARE
    v_found queen.found_push_row[];
BEGIN
    PERFORM queen.log_push_v1(ARRAY['q', 'q', 'r'], ARRAY['a', 'b', 'a'], ARRAY[1, 2, 1], ARRAY['1', '2', '3', '4'],
        ARRAY['x', NULL, 'y', NULL], NULL, ARRAY[11, 12, 13]::bigint[]);
    SELECT array_agg(x) INTO v_found
    FROM queen.log_find_pushes_v1(ARRAY['r', 'none', 'q', 'q', 'q'], ARRAY['a', 'a', 'b', 'none', 'a'], ARRAY[13, 13, 12, 12, 12]::bigint[], 60) x;
    ASSERT cardinality(v_found) = 2, 'design 3.1: a group whose queue, partition or nonce is absent has no row';
    ASSERT v_found[1].grp = 0 AND v_found[1].frames = 1 AND v_found[1].transaction_ids IS NULL, 'design 3.1: groups are positions in the call';
    ASSERT v_found[2].grp = 2 AND v_found[2].frames = 2 AND v_found[2].transaction_ids = ARRAY[NULL, 'y'], 'design 3.1: with the ids as stored';
    UPDATE queen.log_segments SET created_at = created_at - interval '2 minutes';
    ASSERT NOT EXISTS (SELECT FROM queen.log_find_pushes_v1(ARRAY['q'], ARRAY['b'], ARRAY[12]::bigint[], 60)), 'design 3.1: not before the call began';
    BEGIN
        PERFORM queen.log_find_pushes_v1(ARRAY['q'], ARRAY['b', 'c'], ARRAY[12]::bigint[], 60);
        ASSERT false, 'arrays of unequal length are refused';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;
END $$;

ROLLBACK;
