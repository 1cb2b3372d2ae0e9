-- Reads by offset, and the list of changed partitions: what the functions answer to whoever calls them in SQL.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/fetch_reads.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.fails(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_sql;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

DO $$
DECLARE
    r record;
    v_rows integer;
BEGIN
    PERFORM queen.push_many_v1('q', ARRAY['1','2','3']::json[], ARRAY['p'], ARRAY['a', NULL, 'c']);
    PERFORM queen.push_v1('q', '4', 'p');

    -- O-57: the first row has the bounds, then slices.
    SELECT count(*) AS n, max(f.high_watermark) AS high, max(f.log_start) AS low,
           string_agg(array_to_string(f.payloads, ',') || '@' || f.first_offset, ' ' ORDER BY f.ordinality) FILTER (WHERE f.payloads <> '{}') AS read
    INTO r FROM queen.log_fetch_v1('{q}', '{p}', '{1}') WITH ORDINALITY f;
    ASSERT (r.n, r.high, r.low, r.read) = (3, 4, 0, '2,3@1 4@3'), 'O-57: ' || r::text;
    SELECT * INTO r FROM queen.log_fetch_v1('{q}', '{p}', '{0}') WITH ORDINALITY f WHERE f.ordinality = 2;
    ASSERT r.transaction_ids = ARRAY['a', NULL, 'c'] AND queen._frame_id(r.id_base, r.first_offset - r.segment_base) = (
        SELECT m.id FROM queen.read_v1('q', 'p', 0, 1) m), 'the ids are those of the other faces';
    ASSERT (SELECT string_agg(coalesce(f.error, 'ok') || f.high_watermark || f.log_start, ' ' ORDER BY f.entry)
            FROM queen.log_fetch_v1('{q,q,q,x}', '{p,p,new,p}', '{4,5,0,0}') f)
        = 'ok40 OFFSET_OUT_OF_RANGE40 ok00 UNKNOWN_TOPIC_OR_PARTITION00', 'O-58';
    ASSERT NOT EXISTS (SELECT FROM queen.log_consumers), 'O-57: no cursor';
    -- Another tenant's queue is an unknown one.
    ASSERT (SELECT f.error FROM queen.log_fetch_v1('{q}', '{p}', '{0}', p_tenant_id => gen_random_uuid()) f) = 'UNKNOWN_TOPIC_OR_PARTITION', 'O-58';
    ASSERT (SELECT count(*) FROM queen.log_fetch_v1('{}', '{}', '{}')) = 0 AND (SELECT count(*) FROM queen.log_fetch_v1(NULL, NULL, NULL)) = 0, 'nothing asked';

    -- After compaction offsets are explicit, and what is gone is skipped.
    UPDATE queen.log_segments SET payloads = '{1,3}', transaction_ids = '{a,c}', offsets = '{0,2}', frames = 2 WHERE base_offset = 0;
    SELECT string_agg(array_to_string(f.payloads, ',') || '@' || coalesce(f.offsets::text, f.first_offset::text), ' ' ORDER BY f.ordinality) FILTER (WHERE f.payloads <> '{}') AS read
    INTO r FROM queen.log_fetch_v1('{q}', '{p}', '{1}') WITH ORDINALITY f;
    ASSERT r.read = '3@{2} 4@3', 'design 5 item 1: ' || r.read;

    ASSERT pg_temp.fails($q$SELECT queen.log_fetch_v1('{q}', '{p}', '{-1}')$q$) = 'QN400 offset must be 0 or more', 'negative';
    ASSERT pg_temp.fails($q$SELECT queen.log_fetch_v1('{q,q}', '{p}', '{0,0}')$q$) = 'QN400 every array must have one element an entry', 'unequal arrays';
    ASSERT (SELECT bool_and(pg_temp.fails(format('SELECT queen.log_fetch_v1(%s)', a)) LIKE 'QN400 every array must have one %') FROM unnest(ARRAY[
        $q$'[0:0]={q}', '{p}', '{0}'$q$, $q$'{q}', '[0:0]={p}', '{0}'$q$, $q$'{q}', '{p}', '[0:0]={0}'$q$, $q$'{q}', '{p}', '{0}', '[0:0]={9}'$q$,
        $q$'{{q}}', '{p}', '{0}'$q$, $q$'{q}', '{p}', NULL$q$, $q$'{q}', NULL, '{0}'$q$, $q$NULL, '{p}', '{0}'$q$]) a), 'arrays that are no lists';
    ASSERT pg_temp.fails($q$SELECT queen.log_fetch_v1(ARRAY[NULL], '{p}', '{0}')$q$) = 'QN400 queue must not be null', 'null name';
    ASSERT pg_temp.fails($q$SELECT queen.log_fetch_v1(array_fill('q'::text, '{1025}'), array_fill('p'::text, '{1025}'), array_fill(0::bigint, '{1025}'))$q$)
        = 'QN400 at most 1024 entries are allowed', 'too many';
END $$;

DO $$
DECLARE
    r record;
    v_next text;
BEGIN
    PERFORM queen.push_v1('q', '1', x) FROM unnest('{b,a}'::text[]) x;
    PERFORM queen.configure_queue_v1('empty');
    UPDATE queen.log_partitions SET last_write_at = date_trunc('second', now());

    -- C-40: a row for the call, whatever is asked.
    SELECT count(*) AS n, min(c.entry) AS entry, min(c.safe_time) AS safe_time INTO r FROM queen.log_partitions_changed_v1('{}') c;
    ASSERT r.n = 1 AND r.entry = -1 AND r.safe_time <= clock_timestamp() - interval '5 seconds', 'C-40';
    SELECT string_agg(concat_ws(':', c.entry, c.name, c.last_offset, c.log_start, c.error), ' ' ORDER BY c.ordinality) AS rows
    INTO r FROM queen.log_partitions_changed_v1('{q,x,empty}') WITH ORDINALITY c;
    ASSERT r.rows = '-1 0:a:0:0 0:b:0:0 0:p:3:0 1:UNKNOWN_TOPIC_OR_PARTITION', 'C-33, C-34, C-37: ' || r.rows;
    ASSERT (SELECT c.error FROM queen.log_partitions_changed_v1('{q}', p_tenant_id => gen_random_uuid()) c WHERE c.entry = 0) = 'UNKNOWN_TOPIC_OR_PARTITION', 'C-37';

    -- The human face: one queue, the same values.
    SELECT string_agg(concat_ws(':', c.name, c.last_offset, c.log_start), ' ' ORDER BY c.ordinality) AS rows, max(c.next) AS next
    INTO r FROM queen.partitions_changed_v1('q', now() - interval '1 hour', NULL, 2) WITH ORDINALITY c;
    ASSERT r.rows = 'a:0:0 b:0:0' AND r.next IS NOT NULL, 'design 4: ' || r.rows;
    v_next := r.next;
    SELECT * INTO r FROM queen.partitions_changed_v1('q', now() - interval '1 hour', v_next, 2);
    ASSERT r.name = 'p' AND r.next IS NULL, 'the second page';
    SELECT count(*) AS n, max(c.name) AS name, max(c.safe_time) AS safe_time INTO r FROM queen.partitions_changed_v1('q', clock_timestamp() + interval '1 hour') c;
    ASSERT r.n = 1 AND r.name IS NULL AND r.safe_time IS NOT NULL, 'nothing changed: still a safe time';

    -- design 4: the cursor carries the first page's safe time, and a page answers the smaller.
    SELECT queen._changed_cursor('t', q.id, '2026-01-01Z', '2026-01-01Z', 'a') INTO v_next FROM queen.queues q WHERE q.name = 'q';
    ASSERT (SELECT bool_and(c.safe_time = '2026-01-01Z') FROM queen.log_partitions_changed_v1('{q,q}', ARRAY['2026-01-01Z', '2026-01-01Z']::timestamptz[], ARRAY[v_next, NULL], '{1,1}') c),
        'design 4: the smaller, for the whole call';
    ASSERT (SELECT (queen._parse_changed_cursor(c.next)).safe_time FROM queen.log_partitions_changed_v1('{q}', ARRAY['2026-01-01Z']::timestamptz[], ARRAY[v_next], '{1}') c WHERE c.next IS NOT NULL)
        = '2026-01-01Z', 'design 4: and hands it on';
    SELECT queen._changed_cursor('t', q.id, '2999-01-01Z', '2026-01-01Z', 'a') INTO v_next FROM queen.queues q WHERE q.name = 'q';
    ASSERT (SELECT bool_and(c.safe_time < now()) FROM queen.log_partitions_changed_v1('{q}', ARRAY['2026-01-01Z']::timestamptz[], ARRAY[v_next]) c), 'a cursor cannot raise it';

    ASSERT pg_temp.fails($q$SELECT queen.partitions_changed_v1('x')$q$) = 'QN404 Queue not found', 'unknown';
    ASSERT pg_temp.fails($q$SELECT queen.partitions_changed_v1('q', NULL, 'x')$q$) = 'QN400 p_after is no cursor of this queue and mode', 'bad cursor';
    ASSERT pg_temp.fails($q$SELECT queen.partitions_changed_v1('')$q$) = 'QN400 queue must not be empty', 'C-32';
    ASSERT pg_temp.fails($q$SELECT queen.log_partitions_changed_v1(array_fill('q'::text, '{65}'))$q$) = 'QN400 at most 64 entries are allowed', 'C-32';
    ASSERT pg_temp.fails($q$SELECT queen.log_partitions_changed_v1('{q}', '{}')$q$) = 'QN400 every array must have one element an entry', 'unequal arrays';
    ASSERT (SELECT count(*) FROM queen.log_partitions_changed_v1('{q}', '{-infinity}', NULL, '{0}')) = 2, 'C-32: the limit is clamped';
    ASSERT (SELECT count(*) FROM queen.log_partitions_changed_v1('{q}', '{infinity}', '{NULL}', '{NULL}')) = 1, 'nothing is that new';
END $$;
ROLLBACK;
