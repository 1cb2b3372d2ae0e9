package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pgerrcodeInvalidFunctionDefinition is what OR REPLACE answers when the result
// type, or the name of a parameter, would change.
const pgerrcodeInvalidFunctionDefinition = "42P13"

// file is one function file.
type file struct {
	path string
	text string
}

// target is the schema that a source describes.
type target struct {
	migrations []migration // by version, ascending
	files      []file      // function files in path order
	hash       string      // of paths and contents of the function files
	release    int
}

// version is the newest migration, 0 for none.
func (t target) version() int64 {
	if len(t.migrations) == 0 {
		return 0
	}
	return t.migrations[len(t.migrations)-1].version
}

// read loads a source. Its hash covers the paths too: moving a file changes the
// order in which views replace each other.
func (src source) read() (target, error) {
	migrations, err := src.migrationFiles()
	if err != nil {
		return target{}, err
	}
	t := target{migrations: migrations, release: src.release}
	t.files, err = readFiles(src.functions)
	if err != nil {
		return target{}, fmt.Errorf("read function files: %w", err)
	}
	sum := sha256.New()
	for _, f := range t.files {
		fmt.Fprintf(sum, "%s\n%d\n%s", f.path, len(f.text), f.text)
	}
	t.hash = hex.EncodeToString(sum.Sum(nil))
	return t, nil
}

// readFiles returns every .sql file below fsys in path order.
func readFiles(fsys fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := fs.ReadFile(fsys, path)
		files = append(files, file{path: path, text: string(text)})
		return err
	})
	return files, err
}

// Statements of the loader. They are constants because the printed file runs
// the same ones; all of them must run in the transaction that ran the files.
const (
	// Bodies are not checked while files are applied, so that their order does
	// not matter; sqlValidate makes up for it.
	sqlBeforeFiles = `SET LOCAL check_function_bodies = off;
SET LOCAL lock_timeout = '30s';
CREATE TABLE IF NOT EXISTS queen.schema_functions (
    release int PRIMARY KEY,
    hash text NOT NULL,
    catalogue text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE queen.schema_functions IS 'Which function files are in the database: one row a release.';
COMMENT ON TABLE queen.schema_migrations IS 'Which migrations have made the tables: one row a migration, as goose keeps it.';`

	sqlValidate = `SET LOCAL check_function_bodies = on;
DO $regent$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT p.oid, l.lanname
        FROM pg_catalog.pg_proc p
        JOIN pg_catalog.pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = 'queen'::regnamespace
            AND l.lanname IN ('plpgsql', 'sql')
            AND p.xmin = pg_catalog.pg_current_xact_id()::xid
        ORDER BY p.proname
    LOOP
        BEGIN
            IF r.lanname = 'plpgsql' THEN
                PERFORM pg_catalog.plpgsql_validator(r.oid);
            ELSE
                PERFORM pg_catalog.fmgr_sql_validator(r.oid);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE EXCEPTION USING
                ERRCODE = SQLSTATE,
                MESSAGE = format('%s: %s', r.oid::regprocedure, SQLERRM);
        END;
    END LOOP;
END
$regent$;`

	// Leftovers are routines and views of schema queen that no file wrote in
	// this transaction: renamed ones, and overloads with an old signature.
	// Trigger functions belong to the migrations, members of an extension that
	// somebody put into the schema to it. Leftovers may need each other, so
	// rounds go on while one of them drops something; what then remains is in
	// use from outside and stops the migration with PostgreSQL's own words.
	sqlDropLeftovers = `DO $regent$
DECLARE
    v_drop text;
    v_left text[];
    v_kept text[];
BEGIN
    SELECT array_agg(d.stmt ORDER BY d.stmt) INTO v_left
    FROM (
        SELECT format('DROP ROUTINE %s', p.oid::regprocedure) AS stmt
        FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'queen'::regnamespace
            AND p.xmin <> pg_catalog.pg_current_xact_id()::xid
            AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
            AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_depend e
                WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e'
                    AND e.refobjid IS DISTINCT FROM (SELECT x.oid FROM pg_catalog.pg_extension x WHERE x.extname = 'regent'))
        UNION ALL
        SELECT format('DROP VIEW %s', c.oid::regclass)
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_rewrite w ON w.ev_class = c.oid AND w.rulename = '_RETURN'
        WHERE c.relnamespace = 'queen'::regnamespace
            AND c.relkind = 'v'
            AND w.xmin <> pg_catalog.pg_current_xact_id()::xid
            AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_depend e
                WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e'
                    AND e.refobjid IS DISTINCT FROM (SELECT x.oid FROM pg_catalog.pg_extension x WHERE x.extname = 'regent'))
    ) d;
    WHILE v_left IS NOT NULL LOOP
        v_kept := NULL;
        FOREACH v_drop IN ARRAY v_left LOOP
            BEGIN
                EXECUTE v_drop;
            EXCEPTION WHEN dependent_objects_still_exist THEN
                v_kept := v_kept || v_drop;
            END;
        END LOOP;
        IF v_kept = v_left THEN
            EXECUTE v_kept[1];
        END IF;
        v_left := v_kept;
    END LOOP;
END
$regent$;`

	// Private helpers are granted to nobody and called by name from bodies, so
	// nothing depends on one; what does all the same stops the migration.
	sqlDropPrivate = `DO $regent$
DECLARE
    v_routine regprocedure;
BEGIN
    FOR v_routine IN
        SELECT p.oid FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'queen'::regnamespace
            AND p.proname LIKE '\_%'
            AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
            AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_depend e
                WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e'
                    AND e.refobjid IS DISTINCT FROM (SELECT x.oid FROM pg_catalog.pg_extension x WHERE x.extname = 'regent'))
    LOOP
        EXECUTE format('DROP ROUTINE %s', v_routine);
    END LOOP;
END
$regent$;`

	// catalogueExpr sums up the functions as the database holds them, without
	// oids, so that a dump and restore does not change it. It finds functions
	// that were edited by hand.
	catalogueExpr = `(
    SELECT md5(coalesce(string_agg(md5(concat_ws('/', p.proname, p.pronargs, p.pronargdefaults, p.prokind,
        p.provolatile, p.prosecdef, p.proconfig::text, p.prosrc)), '' ORDER BY p.proname COLLATE "C", md5(p.prosrc)), ''))
    FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'queen'::regnamespace
        AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
)`
)

// sqlRecord stores which files are in the database now.
func sqlRecord(t target) string {
	return fmt.Sprintf(`INSERT INTO queen.schema_functions AS f (release, hash, catalogue)
VALUES (%d, '%s', %s)
ON CONFLICT (release) DO UPDATE
SET hash = excluded.hash, catalogue = excluded.catalogue, applied_at = now();`, t.release, t.hash, catalogueExpr)
}

// applyFunctions runs every file and what belongs to it. A private helper may
// change its result type between releases, which OR REPLACE refuses; the helpers
// are then dropped first.
func (s *session) applyFunctions(ctx context.Context, log *slog.Logger, t target) error {
	err := s.runFiles(ctx, t, "")
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == pgerrcodeInvalidFunctionDefinition {
		err = s.runFiles(ctx, t, sqlDropPrivate)
	}
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "functions applied", "files", len(t.files), "release", t.release, "hash", t.hash[:12])
	return nil
}

// runFiles does it in one transaction, with a statement before the files. There
// must be no savepoint around the files: their rows would carry the id of a
// subtransaction, and the leftover rule would take them for old.
func (s *session) runFiles(ctx context.Context, t target, first string) error {
	return pgx.BeginTxFunc(ctx, s.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlBeforeFiles); err != nil {
			return fmt.Errorf("prepare function transaction: %w", err)
		}
		if _, err := tx.Exec(ctx, first); err != nil {
			return fmt.Errorf("drop private functions: %w", err)
		}
		for _, f := range t.files {
			if _, err := tx.Exec(ctx, f.text); err != nil {
				return fmt.Errorf("apply functions/%s: %w", locate(f, err), err)
			}
		}
		return finishFunctions(ctx, tx, t)
	})
}

func finishFunctions(ctx context.Context, tx pgx.Tx, t target) error {
	if _, err := tx.Exec(ctx, sqlValidate); err != nil {
		return fmt.Errorf("validate functions: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlDropLeftovers); err != nil {
		return fmt.Errorf("drop functions and views that no file defines: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlRecord(t)); err != nil {
		return fmt.Errorf("record function release: %w", err)
	}
	return nil
}

// locate names a file with the line that PostgreSQL complains about.
func locate(f file, err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Position < 1 {
		return f.path
	}
	runes := []rune(f.text)
	end := min(int(pg.Position)-1, len(runes))
	return fmt.Sprintf("%s:%d", f.path, 1+strings.Count(string(runes[:end]), "\n"))
}
