-- Every public function, every argument that is a number: the ends of its type raise nothing of PostgreSQL's own.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/numbers.sql (on a migrated database).
BEGIN;

-- SQLSTATE and message of a statement, which leaves nothing behind; '' when it raises nothing.
CREATE FUNCTION pg_temp.outcome(p_sql text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_sql;
    RAISE EXCEPTION USING ERRCODE = 'ZZ000';
EXCEPTION
    WHEN SQLSTATE 'ZZ000' THEN RETURN '';
    WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

DO $$
DECLARE
    r record;
    v_value text;
    v_outcome text;
    v_tried integer := 0;
BEGIN
    PERFORM queen.push_v1('q', '1', 'q', 'q'), queen.push_v1('q', '2');
    FOR r IN
        SELECT p.oid::regprocedure AS routine, p.proname AS name, a.name AS argument, a.type, (
            -- Required arguments get something of their type; others keep their default.
            SELECT coalesce(string_agg(o.name || ' => ' || CASE
                WHEN o.type LIKE '%[]' THEN quote_literal('{' || CASE o.type WHEN 'uuid[]' THEN gen_random_uuid()::text WHEN 'text[]' THEN 'q' WHEN 'json[]' THEN '1' WHEN 'boolean[]' THEN 't' WHEN 'timestamp with time zone[]' THEN 'now' ELSE '1' END || '}')
                WHEN o.type = 'uuid' THEN quote_literal(gen_random_uuid())
                WHEN o.type LIKE 'timestamp%' THEN 'clock_timestamp()'
                WHEN o.type IN ('integer', 'bigint', 'boolean') THEN '1::text::' || o.type
                WHEN o.type LIKE 'json%' THEN quote_literal('{}')
                ELSE quote_literal('q') END || '::' || o.type, ', '), '')
            FROM (
                SELECT u.name, format_type(u.typ, NULL) AS type, u.ord FROM unnest(p.proargnames, p.proargtypes::oid[]) WITH ORDINALITY u (name, typ, ord)
                WHERE u.typ IS NOT NULL
            ) o
            WHERE o.ord <= p.pronargs - p.pronargdefaults AND o.name <> a.name) AS others
        FROM pg_proc p
        CROSS JOIN LATERAL (
            SELECT u.name, format_type(u.typ, NULL) AS type FROM unnest(p.proargnames, p.proargtypes::oid[]) WITH ORDINALITY u (name, typ, ord)
            WHERE u.typ IS NOT NULL
        ) a
        WHERE p.pronamespace = 'queen'::regnamespace AND p.proname NOT LIKE '\_%' AND p.prokind = 'f'
          AND a.type IN ('integer', 'bigint', 'integer[]', 'bigint[]', 'numeric')
        ORDER BY 1
    LOOP
        FOREACH v_value IN ARRAY CASE WHEN r.type LIKE 'bigint%' THEN ARRAY['9223372036854775807', '-9223372036854775808', '0']
                                      ELSE ARRAY['2147483647', '-2147483648', '0'] END
        LOOP
            v_outcome := pg_temp.outcome(format('SELECT * FROM queen.%I(%s => %L::%s%s)', r.name, r.argument,
                CASE WHEN r.type LIKE '%[]' THEN '{' || v_value || '}' ELSE v_value END, r.type, ', ' || nullif(r.others, '')));
            v_tried := v_tried + 1;
            ASSERT v_outcome = '' OR v_outcome ~ '^(QN|40001)', format('%s: %s = %s raises %s', r.routine, r.argument, v_value, v_outcome);
        END LOOP;
    END LOOP;
    ASSERT v_tried > 60, 'so many were tried: ' || v_tried;
END $$;

ROLLBACK;
