-- log_find_push_v1: did a push with an unknown outcome happen?
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/push_find.sql (on a migrated database).
BEGIN;

DO $$
DECLARE
    v_start timestamptz := clock_timestamp();
    v_later timestamptz;
    v_pushed queen.push_row[];
    v_found queen.push_row[];
    v_id uuid;
BEGIN
    PERFORM queen.log_push_v1('{find}', '{p}', '{2}', '{1,2}', NULL, NULL, '{11}');
    SELECT array_agg(x) INTO v_pushed
    FROM queen.log_push_v1('{find}', '{p}', '{2300}', array_fill('1'::text, '{2300}'), NULL, NULL, '{4398046511103}') x;
    v_id := v_pushed[1].partition_id;
    v_later := clock_timestamp();
    FOR i IN 1..20 LOOP
        PERFORM queen.log_push_v1('{find}', '{p}', '{1}', '{1}', NULL, NULL, ARRAY[100 + i]);
    END LOOP;

    SELECT array_agg(x) INTO v_found FROM queen.log_find_push_v1(v_id, 4398046511103, v_start) x;
    ASSERT v_found = v_pushed, 'design 3.1: what a push answered is what is found: ' || v_found::text || ' ' || v_pushed::text;
    SELECT array_agg(x) INTO v_found FROM queen.log_find_push_v1(v_id, 11, v_start) x;
    ASSERT cardinality(v_found) = 1 AND (v_found[1].base_offset, v_found[1].frames, v_found[1].first_item, v_found[1].status) = (0, 2, 0, 'queued'), 'design 3.1: the first push';
    ASSERT NOT EXISTS (SELECT FROM queen.log_find_push_v1(v_id, 12, v_start)), 'design 3.1: no such nonce, nothing';
    ASSERT NOT EXISTS (SELECT FROM queen.log_find_push_v1(v_id, 11, v_later)), 'design 3.1: not before the start';
    ASSERT NOT EXISTS (SELECT FROM queen.log_find_push_v1(gen_random_uuid(), 11, v_start)), 'design 3.1: no such partition, nothing';
    ASSERT EXISTS (SELECT FROM queen.log_find_push_v1(v_id, 11, (SELECT s.created_at FROM queen.log_segments s WHERE s.partition_id = v_id AND s.base_offset = 0))), 'design 3.1: the start itself counts';
    PERFORM queen._move_log_start(v_id, 2);
    ASSERT NOT EXISTS (SELECT FROM queen.log_find_push_v1(v_id, 11, v_start)), 'design 3.2 rule 5: below the log start nothing is visible';
END $$;

ROLLBACK;
