package migrate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func printed(t *testing.T, src source) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, writeSchema(&b, src))
	return b.String()
}

// runPrinted executes a printed file as its header says, without psql where a
// machine has none.
func runPrinted(t *testing.T, b bundle, text string) error {
	t.Helper()
	psql, err := exec.LookPath("psql")
	if err != nil {
		_, err := b.conn.Exec(t.Context(), strings.Replace(text, `\set ON_ERROR_STOP on`, "", 1), pgx.QueryExecModeSimpleProtocol)
		return err
	}
	name := filepath.Join(t.TempDir(), "regent.sql")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	out, err := exec.Command(psql, b.dsn, "-X", "-q", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-f", name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// catalogue lists everything in schema queen, without oids and times.
const catalogue = `
SELECT x FROM (
	SELECT concat_ws('|', 'routine', p.oid::regprocedure, pg_get_functiondef(p.oid), p.proacl, obj_description(p.oid, 'pg_proc'))
	FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace AND p.prokind <> 'a'
	UNION ALL
	SELECT concat_ws('|', 'relation', c.oid::regclass, c.relkind, c.reloptions, c.relacl, obj_description(c.oid, 'pg_class'),
		CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) WHEN 'i' THEN pg_get_indexdef(c.oid) END)
	FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace
	UNION ALL
	SELECT concat_ws('|', 'column', a.attrelid::regclass, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
		a.attcollation, a.attcompression, a.attstorage, pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
	FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
	LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE c.relnamespace = 'queen'::regnamespace AND a.attnum > 0
	UNION ALL
	SELECT concat_ws('|', 'constraint', conname, conrelid::regclass, pg_get_constraintdef(oid))
	FROM pg_constraint WHERE connamespace = 'queen'::regnamespace
	UNION ALL
	SELECT concat_ws('|', 'trigger', pg_get_triggerdef(t.oid))
	FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'queen'::regnamespace AND NOT t.tgisinternal
	UNION ALL
	SELECT concat_ws('|', 'type', t.typname, t.typtype, t.typbasetype::regtype, obj_description(t.oid, 'pg_type'))
	FROM pg_type t WHERE t.typnamespace = 'queen'::regnamespace
	UNION ALL
	SELECT concat_ws('|', 'schema', n.nspacl, obj_description(n.oid, 'pg_namespace')) FROM pg_namespace n WHERE n.nspname = 'queen'
	UNION ALL
	SELECT concat_ws('|', 'migration', row_number() OVER (ORDER BY id), version_id, is_applied) FROM queen.schema_migrations
	UNION ALL
	SELECT concat_ws('|', 'functions', release, hash, catalogue) FROM queen.schema_functions
) s(x) ORDER BY x`

// requireSameCatalogue shows only what differs.
func requireSameCatalogue(t *testing.T, want, got bundle) {
	t.Helper()
	wanted, have := lines(t, want.conn, catalogue), lines(t, got.conn, catalogue)
	less := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
	}
	require.NotEmpty(t, wanted)
	require.Empty(t, less(wanted, have), "missing")
	require.Empty(t, less(have, wanted), "too much")
}

func TestPrintedFileEqualsMigration(t *testing.T) {
	t.Parallel()
	src, err := builtin()
	require.NoError(t, err)
	migrated, fromFile := setup(t), setup(t)
	require.NoError(t, Up(t.Context(), migrated.dsn, nil))
	require.NoError(t, runPrinted(t, fromFile, printed(t, src)))
	requireSameCatalogue(t, migrated, fromFile)
	require.NoError(t, Check(t.Context(), fromFile.conn))
	before := scalar[string](t, fromFile.conn, `SELECT string_agg(xmin::text, ',') FROM queen.schema_functions`)
	require.NoError(t, Up(t.Context(), fromFile.dsn, nil))
	require.Equal(t, before, scalar[string](t, fromFile.conn, `SELECT string_agg(xmin::text, ',') FROM queen.schema_functions`))
}

// A file that was printed earlier is a starting point for a later binary.
func TestUpgradeAfterPrintedFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, runPrinted(t, b, printed(t, small(1, 1))))
	next := made(2, map[string]string{
		"00001_a.sql": tableA,
		"00002_b.sql": "-- +goose Up\nCREATE TABLE queen.b (id int);\n",
		"010/g.sql":   "CREATE FUNCTION queen.g() RETURNS int LANGUAGE sql AS 'SELECT 3';",
	})
	require.NoError(t, up(t.Context(), b.dsn, nil, next))
	require.Equal(t, "queen.g()", routines(t, b))
	require.Equal(t, "0,1,2", scalar[string](t, b.conn, `SELECT string_agg(version_id::text, ',' ORDER BY id) FROM queen.schema_migrations`))
}

func TestPrintedFileRefuses(t *testing.T) {
	t.Parallel()
	text := printed(t, small(1, 1))
	t.Run("a database with Regent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.NoError(t, up(t.Context(), b.dsn, nil, small(2, 2)))
		require.ErrorContains(t, runPrinted(t, b, text), "in use already")
		require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.f()`))
	})
	t.Run("a running migration", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		execSQL(t, connect(t, b.dsn), `SELECT pg_advisory_lock(778120010)`)
		require.ErrorContains(t, runPrinted(t, b, text), "another migration is running")
	})
	t.Run("no transaction", func(t *testing.T) {
		t.Parallel()
		psql, err := exec.LookPath("psql")
		if err != nil {
			t.Skip("psql is not installed")
		}
		b := setup(t)
		cmd := exec.Command(psql, b.dsn, "-X", "-q")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "--single-transaction")
		require.False(t, scalar[bool](t, b.conn, `SELECT to_regnamespace('queen') IS NOT NULL`))
	})
}

func TestForwardPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"plain":       {"-- +goose Up\nA;\n", "A;\n"},
		"comments":    {"-- +goose Up\n-- why\nA;\n", "-- why\nA;\n"},
		"down":        {"-- +goose Up\nA;\n-- +goose Down\nB;\n", "A;\n"},
		"block":       {"-- +goose Up\n-- +goose StatementBegin\nDO $$ BEGIN; END $$;\n-- +goose StatementEnd\n", "DO $$ BEGIN; END $$;\n"},
		"concurrent":  {"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY i ON t (a);\n", "CREATE INDEX i ON t (a);\n"},
		"transaction": {"-- +goose Up\n-- no INDEX CONCURRENTLY here\n", "-- no INDEX CONCURRENTLY here\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, forward(tc.in))
		})
	}
}

// F184: numbers rise by one, so that nobody slips a file in between.
func TestMigrationNumbersHaveNoGap(t *testing.T) {
	t.Parallel()
	src, err := builtin()
	require.NoError(t, err)
	files, err := src.migrationFiles()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, m := range files {
		require.Equal(t, int64(i+1), m.version, m.file.path)
	}
}
