-- log_replay_spool_v1: a piece of a spool file is stored exactly once, whatever the dedup window.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/spool_replay.sql (on a migrated database).
BEGIN;

DO $$
DECLARE
    c_spool CONSTANT uuid := '11111111-1111-1111-1111-111111111111';
    r queen.spool_step_row;
BEGIN
    PERFORM queen.configure_queue_v1('q', '{"dedupWindowSeconds": 0}');
    FOR i IN 1..2 LOOP
        SELECT * INTO r FROM queen.log_replay_spool_v1(c_spool, 1, 0, 50, ARRAY['q', 'r'], ARRAY['a', 'a'], ARRAY[2, 1], ARRAY['1', '2', '3'], ARRAY['x', 'y', 'z']);
        ASSERT r.replayed = (i = 1) AND r.position = 50, 'P-34: a repeat is told where the file stands';
        ASSERT r.groups @> CASE i WHEN 1 THEN ARRAY[0, 1] ELSE '{}' END AND cardinality(r.groups) = CASE i WHEN 1 THEN 2 ELSE 0 END, 'P-36: the groups to wake';
    END LOOP;
    ASSERT (SELECT sum(frames) = 3 FROM queen.log_segments), 'P-35: nothing twice without a window either';
    SELECT * INTO r FROM queen.log_replay_spool_v1(c_spool, 1, 40, 90, ARRAY['q'], ARRAY['a'], ARRAY[1], ARRAY['4']);
    ASSERT NOT r.replayed AND r.position = 50, 'a piece that overlaps is left alone';
    SELECT * INTO r FROM queen.log_replay_spool_v1(c_spool, 1, 50, 60, '{}', '{}', '{}', '{}');
    ASSERT r.replayed AND r.position = 60, 'a piece may be passed over';
    SELECT * INTO r FROM queen.log_replay_spool_v1(c_spool, 2, 0, 10, ARRAY['r'], ARRAY['a'], ARRAY[1], ARRAY['5'], ARRAY['z']);
    ASSERT r.replayed AND r.groups = '{}', 'a repeat inside the window is passed over';
    PERFORM queen.configure_queue_v1('secret', '{"encryptionEnabled": true}');
    BEGIN
        PERFORM queen.log_replay_spool_v1(c_spool, 2, 10, 20, ARRAY['q', 'secret'], ARRAY['a', 'a'], ARRAY[1, 1], ARRAY['6', '7']);
        ASSERT false, 'a refused group fails the piece';
    EXCEPTION WHEN SQLSTATE 'QN409' THEN NULL;
    END;
    FOR i IN 1..7 LOOP
        BEGIN
            PERFORM queen.log_replay_spool_v1(CASE i WHEN 1 THEN NULL ELSE c_spool END, CASE i WHEN 2 THEN NULL ELSE 2 END, 10, 20,
                CASE i WHEN 3 THEN '[0:0]={q}' WHEN 4 THEN NULL ELSE '{q}'::text[] END, '{a}', '{1}',
                CASE i WHEN 4 THEN NULL WHEN 5 THEN '{{8}}' ELSE '{8}'::text[] END,
                p_sealed => CASE i WHEN 6 THEN '[0:0]={f}' WHEN 7 THEN '{f,f}' END::boolean[]);
            ASSERT false, 'arguments that cannot be are refused, not passed over: ' || i;
        EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
        END;
    END LOOP;
    ASSERT (SELECT position = 10 FROM queen.spool_files WHERE spool_id = c_spool AND file = 2), 'and leaves the position';
    ASSERT (SELECT sum(frames) = 3 FROM queen.log_segments), 'and its neighbours unstored';
    ASSERT (SELECT worked = 1 FROM queen.log_forget_spool_v1(c_spool, ARRAY[2]::bigint[])), 'a file that is gone is forgotten';
    ASSERT (SELECT array_agg(file) = ARRAY[2]::bigint[] FROM queen.spool_files), 'the others are kept';
    ASSERT (SELECT worked = 1 FROM queen.log_forget_spool_v1(c_spool, '{}')), 'and all of them';
END $$;

ROLLBACK;
