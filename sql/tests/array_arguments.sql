-- Arrays that are no lists: every public function refuses them in every argument, and writes nothing (P-26, design 7).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/array_arguments.sql (on a migrated database).
BEGIN;

-- A call of a function with one element in every array, but p_odd in the argument p_at, and something in every argument that
-- has no default.
CREATE FUNCTION pg_temp.call(p_function oid, p_at integer, p_odd text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT count(*) FROM queen.%I(%s)', p.proname, string_agg(format('%I => %L::%s', p.proargnames[a.n],
        CASE WHEN t.typcategory <> 'A' THEN e.value WHEN a.n = p_at THEN replace(p_odd, 'x', e.value) ELSE '{' || e.value || '}' END,
        format_type(t.oid, NULL)), ', ' ORDER BY a.n))
    FROM pg_catalog.pg_proc p
    CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, n)
    JOIN pg_catalog.pg_type t ON t.oid = a.type
    CROSS JOIN LATERAL (
        SELECT CASE p.proargnames[a.n] WHEN 'p_from' THEN '0' WHEN 'p_trace_ids' THEN c.uuid ELSE CASE CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END
            WHEN 'uuid'::regtype THEN c.uuid WHEN 'boolean'::regtype THEN 'f' WHEN 'timestamptz'::regtype THEN '2026-01-01'
            WHEN 'text'::regtype THEN 'completed' ELSE '1' END END AS value
        FROM (VALUES ('00000000-0000-0000-0000-00000000000a')) c (uuid)
    ) e
    WHERE p.oid = p_function AND (t.typcategory = 'A' OR a.n <= p.pronargs - p.pronargdefaults)
    GROUP BY p.oid, p.proname
$$;

DO $$
DECLARE
    r record;
    v_odd text;
    v_tried text[] := '{}';
    v_bad text := '';
BEGIN
    PERFORM queen.push_v1('completed', '1', 'completed');
    FOR r IN
        SELECT p.oid, p.proname, p.proargnames[a.n] AS arg, a.n::integer AS n
        FROM pg_catalog.pg_proc p
        CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, n)
        JOIN pg_catalog.pg_type t ON t.oid = a.type AND t.typcategory = 'A'
        WHERE p.pronamespace = 'queen'::regnamespace AND p.proname NOT LIKE '\_%' AND p.prokind = 'f'
        ORDER BY p.proname, a.n
    LOOP
        FOREACH v_odd IN ARRAY ARRAY['{{x},{x}}', '{{x}}', '[2:2]={x}', '[0:0]={x}'] LOOP
            v_tried := v_tried || r.proname::text;
            BEGIN
                EXECUTE pg_temp.call(r.oid, r.n, v_odd);
                v_bad := v_bad || format(E'\n%s(%s => %s) is accepted', r.proname, r.arg, v_odd);
            EXCEPTION WHEN OTHERS THEN
                -- Two elements where the others have one are told by their number in some.
                IF SQLSTATE <> 'QN400' OR SQLERRM NOT LIKE '%one dimension and begin at 1' AND v_odd <> '{{x},{x}}' THEN
                    v_bad := v_bad || format(E'\n%s(%s => %s): %s %s', r.proname, r.arg, v_odd, SQLSTATE, SQLERRM);
                END IF;
            END;
        END LOOP;
    END LOOP;
    ASSERT v_bad = '', 'P-26: ' || v_bad;
    ASSERT cardinality(v_tried) > 200 AND v_tried @> ARRAY['log_push_v1', 'log_ack_v1', 'log_partitions_changed_v1', 'log_fetch_v1', 'record_trace_v1'], 'all were tried: ' || v_tried::text;
END $$;

ROLLBACK;
