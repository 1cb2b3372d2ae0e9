package migrate

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const tableA = "-- +goose Up\nCREATE TABLE queen.a (id int);\n"

// with adds function files to one migration.
func with(files map[string]string) source {
	all := maps.Clone(files)
	all["00001_a.sql"] = tableA
	return made(1, all)
}

func routines(t *testing.T, b bundle) string {
	t.Helper()
	return scalar[string](t, b.conn, `SELECT coalesce(string_agg(x, ' ' ORDER BY x), '') FROM (
		SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace
		UNION ALL SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind = 'v') s(x)`)
}

func TestLeftoversAreDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, with(map[string]string{
		"001/row.sql": "CREATE OR REPLACE VIEW queen.old_row AS SELECT 0::bigint AS n WHERE false;",
		"010/old.sql": "CREATE OR REPLACE FUNCTION queen.old_name() RETURNS SETOF queen.old_row LANGUAGE sql AS 'SELECT 1::bigint';",
		"010/two.sql": "CREATE OR REPLACE FUNCTION queen.two(a int) RETURNS int LANGUAGE sql AS 'SELECT 1';",
		"010/pro.sql": "CREATE OR REPLACE PROCEDURE queen.pro() LANGUAGE sql AS '';",
		"010/use.sql": "CREATE OR REPLACE VIEW queen.uses AS SELECT n FROM queen.old_name();",
		"010/trg.sql": "CREATE OR REPLACE FUNCTION queen.trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';",
	})))
	// F173: a defaulted parameter makes a second function unless the first goes.
	require.NoError(t, up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/two.sql": "CREATE OR REPLACE FUNCTION queen.two(a int, b int DEFAULT 2) RETURNS int LANGUAGE sql AS 'SELECT b';",
	})))
	require.Equal(t, "queen.trg() queen.two(integer,integer)", routines(t, b))
	require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.two(1)`))
}

// A private helper may change its result type or the names of its parameters; a
// public function may not.
func TestPrivateHelpersMayChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/h.sql": "CREATE OR REPLACE FUNCTION queen._h(a int) RETURNS int LANGUAGE sql AS 'SELECT 1';",
		"010/f.sql": "CREATE OR REPLACE FUNCTION queen.f(a int) RETURNS int LANGUAGE sql AS 'SELECT queen._h(1)';",
	})))
	require.NoError(t, up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/h.sql": "CREATE OR REPLACE FUNCTION queen._h(b int) RETURNS bigint LANGUAGE sql AS 'SELECT 2::bigint';",
		"010/f.sql": "CREATE OR REPLACE FUNCTION queen.f(a int) RETURNS int LANGUAGE sql AS 'SELECT queen._h(1)::int';",
	})))
	require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.f(1)`))
	err := up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/f.sql": "CREATE OR REPLACE FUNCTION queen.f(a int) RETURNS bigint LANGUAGE sql AS 'SELECT 3::bigint';",
	}))
	require.ErrorContains(t, err, "cannot change return type")
	require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.f(1)`))
}

// A leftover that somebody outside the schema uses is not dropped from under
// them: the whole migration stops and names the user.
func TestLeftoverInUseStopsTheMigration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
	execSQL(t, b.conn, `CREATE VIEW public.report AS SELECT queen.f()`)
	err := up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/g.sql": "CREATE FUNCTION queen.g() RETURNS int LANGUAGE sql AS 'SELECT 1';",
	}))
	require.ErrorContains(t, err, "other objects depend on it")
	require.Equal(t, "queen.f()", routines(t, b))
}

// F181 and its kin: whatever is wrong in a function file, nothing stays.
func TestBadFunctionRollsEverythingBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"statement": {"SELECT 1;\nCREATE FUNCTON queen.bad();\n", "functions/010/z.sql:2"},
		"body":      {"CREATE FUNCTION queen.bad() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETRUN 1; END';", "bad(): "},
		"reference": {"CREATE FUNCTION queen.bad() RETURNS int LANGUAGE sql AS 'SELECT nowhere FROM queen.missing';", "queen.missing"},
		"dollars":   {"CREATE FUNCTION queen.bad() RETURNS int LANGUAGE sql AS $$ SELECT 1;", "functions/010/z.sql:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
			bad := small(2, 2)
			bad.functions.(fstest.MapFS)["010/z.sql"] = &fstest.MapFile{Data: []byte(tc.text)}
			err := up(t.Context(), b.dsn, nil, bad)
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, "queen.f()", routines(t, b))
			require.Equal(t, 1, scalar[int](t, b.conn, `SELECT queen.f()`))
			require.NoError(t, check(t.Context(), b.conn, small(1, 1)))
			require.NoError(t, up(t.Context(), b.dsn, nil, small(2, 2)), "the fixed build goes on")
			require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.f()`))
		})
	}
}

// Files may come in any order: a body may use what a later file defines.
func TestFilesMayUseLaterOnes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, with(map[string]string{
		"010/a.sql": "CREATE FUNCTION queen.f() RETURNS int LANGUAGE sql AS 'SELECT queen._g()';",
		"020/b.sql": "CREATE FUNCTION queen._g() RETURNS int LANGUAGE sql AS 'SELECT 5';",
	})))
	require.Equal(t, 5, scalar[int](t, b.conn, `SELECT queen.f()`))
}

func TestHashCoversPathsAndContents(t *testing.T) {
	t.Parallel()
	hashes := map[string]bool{}
	for _, files := range []map[string]string{
		{"010/a.sql": "x"}, {"010/b.sql": "x"}, {"010/a.sql": "y"}, {"010/a.sql": "x", "010/b.sql": ""}, {},
	} {
		got, err := with(files).read()
		require.NoError(t, err)
		hashes[got.hash] = true
		require.Equal(t, int64(1), got.version())
	}
	require.Len(t, hashes, 5)
}
