/*
 * Purpose:     what is wrong with grants, functions and indexes: a role of the house that lacks what is its own, anybody who
 *              has what is nobody's, functions that are not those that the last migration stored, indexes that are not used.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: reads the catalogue.
 * Bounds:      the objects of the schema.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      issue 5, F185, F189.
 */
CREATE OR REPLACE FUNCTION queen._functions_sum() RETURNS text
LANGUAGE sql STABLE AS $$
    -- As package migrate has it, which stores the sum with each release: a test holds the two together.
    SELECT md5(coalesce(string_agg(md5(concat_ws('/', p.proname, p.pronargs, p.pronargdefaults, p.prokind,
        p.provolatile, p.prosecdef, p.proconfig::text, p.prosrc)), '' ORDER BY p.proname COLLATE "C", md5(p.prosrc)), ''))
    FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'queen'::regnamespace
        AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
$$;
REVOKE ALL ON FUNCTION queen._functions_sum() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_grants() RETURNS SETOF queen.doctor_row
LANGUAGE sql STABLE AS $$
    WITH own AS (
        SELECT
            r.oid, r.rolname, g.routine, h.held, h.enters,
            bool_or(h.held OR h.enters) OVER (PARTITION BY r.oid) AS known
        FROM (
            SELECT x.grantee, x.routine FROM queen._granted_routines() x
            UNION
            SELECT w.rolname, p.oid::regprocedure
            FROM queen._status_views() v
            CROSS JOIN unnest(v.roles) w (rolname)
            JOIN pg_catalog.pg_proc p ON p.pronamespace = 'queen'::regnamespace AND p.proname = v.routine
        ) g
        JOIN pg_catalog.pg_roles r ON r.rolname = g.grantee
        CROSS JOIN LATERAL (SELECT
            pg_catalog.has_function_privilege(r.oid, g.routine, 'EXECUTE') AS held,
            pg_catalog.has_schema_privilege(r.oid, 'queen'::regnamespace, 'USAGE') AS enters) h
    )
    -- Roles are the cluster's and grants each database's: roles made for another one have nothing here, and maybe need nothing.
    SELECT
        'grants', 'note', 'roles ' || string_agg(DISTINCT o.rolname, ', '),
        'they exist in this cluster and may do nothing in this database, which matters only if somebody is to use them here',
        'regent migrate --roles'
    FROM own o
    WHERE NOT o.known
    HAVING count(*) > 0
    UNION ALL
    SELECT
        'grants', 'error', 'role ' || o.rolname,
        format('it may not call %s of the functions that are its own, such as %s', count(*), min(o.routine::text)),
        format(E'GRANT USAGE ON SCHEMA queen TO %1$I;\nGRANT EXECUTE ON ROUTINE %2$s TO %1$I;', o.rolname, string_agg(o.routine::text, ', '))
    FROM own o
    WHERE o.known AND NOT (o.held AND o.enters)
    GROUP BY o.rolname
    UNION ALL
    SELECT
        'grants', 'error', 'role ' || r.rolname, 'it may not read ' || string_agg(v.view, ', '),
        format('GRANT SELECT ON %s TO %I;', string_agg('queen.' || v.view, ', '), r.rolname)
    FROM queen._status_views() v
    JOIN pg_catalog.pg_roles r ON r.rolname = ANY (v.roles)
    WHERE NOT pg_catalog.has_table_privilege(r.oid, 'queen.' || v.view, 'SELECT')
      AND EXISTS (SELECT FROM own o WHERE o.oid = r.oid AND o.known)
    GROUP BY r.rolname
    UNION ALL
    SELECT
        'grants', 'error', p.oid::regprocedure::text, 'everybody may call it',
        format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC;', p.oid::regprocedure)
    FROM pg_catalog.pg_proc p
    CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
    WHERE p.pronamespace = 'queen'::regnamespace AND a.grantee = 0
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend e
          WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e'
            AND e.refobjid IS DISTINCT FROM (SELECT x.oid FROM pg_catalog.pg_extension x WHERE x.extname = 'regent'))
    UNION ALL
    SELECT
        'grants', 'error', c.oid::regclass::text,
        format('%s may change its rows past the functions (%s)', w.grantee, string_agg(a.privilege_type, ', ')),
        format('REVOKE %s ON TABLE %s FROM %s;', string_agg(a.privilege_type, ', '), c.oid::regclass, w.grantee)
    FROM pg_catalog.pg_class c
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a
    CROSS JOIN LATERAL (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee) w
    WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind IN ('r', 'p') AND a.grantee <> c.relowner
      AND a.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
    GROUP BY c.oid, w.grantee
    UNION ALL
    SELECT
        'grants', 'error', 'schema queen', format('%s may create objects in it, which the functions would then use', w.grantee),
        format('REVOKE CREATE ON SCHEMA queen FROM %s;', w.grantee)
    FROM pg_catalog.pg_namespace n
    CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a
    CROSS JOIN LATERAL (SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee) w
    WHERE n.nspname = 'queen' AND a.grantee <> n.nspowner AND a.privilege_type = 'CREATE'
$$;
REVOKE ALL ON FUNCTION queen._doctor_grants() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_schema() RETURNS SETOF queen.doctor_row
LANGUAGE sql STABLE AS $$
    SELECT
        'functions', 'error', format('release %s', f.release),
        'functions in the database are not those that the last migration stored: somebody has changed one by hand',
        'regent migrate up'
    FROM (SELECT s.release, s.catalogue FROM queen.schema_functions s ORDER BY s.release DESC LIMIT 1) f
    WHERE f.catalogue <> queen._functions_sum()
    UNION ALL
    SELECT
        'indexes', 'error', i.indexrelid::regclass::text,
        format('the index of %s is not valid, so no query uses it', i.indrelid::regclass),
        CASE
            -- What a cut-off REINDEX CONCURRENTLY left behind.
            WHEN c.relname ~ '_cc(new|old)[0-9]*$' THEN format('DROP INDEX CONCURRENTLY %s;', i.indexrelid::regclass)
            ELSE format('REINDEX INDEX CONCURRENTLY %s;', i.indexrelid::regclass)
        END
    FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = 'queen'::regnamespace AND NOT (i.indisvalid AND i.indisready)
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_create_index x WHERE x.index_relid = i.indexrelid)
$$;
REVOKE ALL ON FUNCTION queen._doctor_schema() FROM PUBLIC;
