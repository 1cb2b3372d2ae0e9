package migrate

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// lines returns the rows of a query with one text column.
func lines(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

// F173, F189 and the rules for function files: no overload, every public
// function documented and pinned, nothing left to PUBLIC.
func TestFunctionRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	require.NotEmpty(t, lines(t, b.conn, `SELECT proname::text FROM pg_proc WHERE pronamespace = 'queen'::regnamespace`))
	execSQL(t, b.conn, `CREATE TEMP VIEW routine AS
		SELECT p.*, p.oid::regprocedure::text AS sig,
			p.proname NOT LIKE '\_%' AND p.prorettype <> 'trigger'::regtype AS public,
			EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c LIKE 'search\_path=%') AS pinned
		FROM pg_proc p
		WHERE p.pronamespace = 'queen'::regnamespace`)
	for rule, query := range map[string]string{
		"public without a comment": `SELECT sig FROM routine WHERE public AND obj_description(oid, 'pg_proc') IS NULL`,
		"public function without SECURITY DEFINER and a pinned search_path": `SELECT sig FROM routine
			WHERE public AND prokind = 'f' AND NOT (pinned AND prosecdef)`,
		"SECURITY DEFINER without a pinned search_path": `SELECT sig FROM routine WHERE prosecdef AND NOT pinned`,
		"procedure with SET or SECURITY DEFINER":        `SELECT sig FROM routine WHERE prokind = 'p' AND (prosecdef OR proconfig IS NOT NULL)`,
		"granted to PUBLIC": `SELECT r.sig FROM routine r, aclexplode(coalesce(r.proacl, acldefault('f', r.proowner))) a
			WHERE a.grantee = 0`,
		"comment that names a rule instead of saying it": `SELECT d.description FROM pg_description d
			WHERE d.description ~ '\m([A-Z]-[0-9]+|F[0-9]{3})\M' AND (
				d.objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'queen'::regnamespace)
				OR d.objoid IN (SELECT oid FROM routine))`,
		"overloaded": `SELECT proname::text FROM routine GROUP BY proname HAVING count(*) > 1`,
	} {
		require.Empty(t, lines(t, b.conn, query), rule)
	}
}

// TestPlpgsqlCheck lets plpgsql_check read every function body. It needs the
// extension: with REGENT_LINT set a server without it is a failure.
func TestPlpgsqlCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if !scalar[bool](t, b.conn, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpgsql_check')`) {
		if os.Getenv("REGENT_LINT") != "" {
			t.Fatal("the server has no plpgsql_check: apt-get install postgresql-15-plpgsql-check")
		}
		t.Skip("the server has no plpgsql_check")
	}
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	execSQL(t, b.conn, `CREATE EXTENSION plpgsql_check`)
	findings := func(level string) []string {
		return lines(t, b.conn, `
			SELECT concat_ws(' ', p.oid::regprocedure, 'line', c.lineno, c.sqlstate, c.message, c.detail)
			FROM pg_proc p
			JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
			LEFT JOIN pg_trigger g ON g.tgfoid = p.oid AND NOT g.tgisinternal
			CROSS JOIN LATERAL plpgsql_check_function_tb(p.oid, coalesce(g.tgrelid, 0),
				oldtable => g.tgoldtable, newtable => g.tgnewtable) c
			WHERE p.pronamespace = 'queen'::regnamespace
				AND (p.prorettype <> 'trigger'::regtype OR g.oid IS NOT NULL)
				AND c.level `+level+`
			ORDER BY 1`)
	}
	for _, line := range findings("<> 'error'") {
		t.Log(line)
	}
	require.Empty(t, findings("= 'error'"))
}
