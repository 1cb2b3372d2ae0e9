package migrate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExtensionFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	published := []extensionVersion{{1, 1}, {1, 2}}
	require.NoError(t, writeExtension(dir, small(3, 1), published))
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	require.Equal(t, []string{"regent--1.1--1.3.sql", "regent--1.2--1.3.sql", "regent--1.3.sql", "regent.control"}, names)
	for _, wrong := range []extensionVersion{{1, 3}, {2, 2}} {
		other := t.TempDir()
		require.ErrorContains(t, writeExtension(other, small(3, 1), append(published, wrong)), wrong.String())
		entries, err := os.ReadDir(other)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}

// What CREATE EXTENSION replaces in a script must not occur in ours.
func TestExtensionFilesHaveNoPlaceholder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, WriteExtension(dir))
	names, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	require.NoError(t, err)
	require.Len(t, names, 1+len(publishedExtensions()))
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NotContains(t, string(text), "@ext")
		require.NotContains(t, string(text), "MODULE_PATHNAME")
	}
}

// TestExtension runs the scripts on a server of their own. The parts share its
// extension folder, so they run one after the other.
func TestExtension(t *testing.T) {
	t.Parallel()
	o := startOverlay(t)
	execSQL(t, o.conn, `CREATE ROLE queen_reader; CREATE ROLE queen_writer; CREATE ROLE queen_admin; CREATE ROLE queen_server`)
	src, err := builtin()
	require.NoError(t, err)
	o.publish(t, src)
	t.Run("three ways give one catalogue", func(t *testing.T) { testThreeWays(t, o, src) })
	t.Run("current", func(t *testing.T) { testCurrentExtension(t, o) })
	t.Run("unprivileged role", func(t *testing.T) { testExtensionOfUnprivilegedRole(t, o) })
	t.Run("refusals", func(t *testing.T) { testExtensionRefuses(t, o) })
	t.Run("drop", func(t *testing.T) { testDropExtension(t, o) })

	older := changed(t, 1, map[string]string{
		"020_push/130_log_find_push_v1.sql": "",
		"000_lib/110_utc_ms.sql": `CREATE OR REPLACE FUNCTION queen._utc_ms(p_at timestamptz) RETURNS text
			LANGUAGE sql AS 'SELECT NULL::text'; COMMENT ON FUNCTION queen._utc_ms(timestamptz) IS 'Older.';`,
		"010_old/gone_v1.sql": "CREATE OR REPLACE FUNCTION queen.gone_v1() RETURNS int LANGUAGE sql AS 'SELECT 1';",
		"010_old/view.sql":    "CREATE OR REPLACE VIEW queen.gone AS SELECT queen.gone_v1() AS n;",
		"010_new/helper.sql":  "CREATE OR REPLACE FUNCTION queen._helper(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'; REVOKE ALL ON FUNCTION queen._helper(int) FROM PUBLIC;",
		"010_new/user_v1.sql": "CREATE OR REPLACE FUNCTION queen.user_v1() RETURNS int LANGUAGE sql AS 'SELECT queen._helper(1)';",
	})
	newer := changed(t, 2, map[string]string{
		"010_new/helper.sql":  "CREATE OR REPLACE FUNCTION queen._helper(b int) RETURNS text LANGUAGE sql AS $$ SELECT '22' $$; REVOKE ALL ON FUNCTION queen._helper(int) FROM PUBLIC;",
		"010_new/user_v1.sql": "CREATE OR REPLACE FUNCTION queen.user_v1() RETURNS int LANGUAGE sql AS 'SELECT queen._helper(1)::int';",
		"09999_later.sql": `-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE queen.queues ADD COLUMN later int DEFAULT 7 NOT NULL;
CREATE TABLE queen.numbers (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, note text);
CREATE INDEX CONCURRENTLY IF NOT EXISTS numbers_note_idx ON queen.numbers (note);
`})
	o.publish(t, older)
	b := o.database(t, "upgraded")
	execSQL(t, b.conn, `CREATE EXTENSION regent`)
	fill(t, b)
	o.publish(t, newer, versionOf(t, older))
	t.Run("update", func(t *testing.T) { testUpdateExtension(t, o, b, older, newer) })
	t.Run("dump and restore", func(t *testing.T) { testDumpExtension(t, o, b, newer) })
}

func versionOf(t *testing.T, src source) extensionVersion {
	t.Helper()
	got, err := src.read()
	require.NoError(t, err)
	return got.extension()
}

func testThreeWays(t *testing.T, o *overlay, src source) {
	extension, printedFile, migrated := o.database(t, "three_extension"), o.database(t, "three_print"), o.database(t, "three_up")
	execSQL(t, extension.conn, `CREATE EXTENSION regent`)
	require.NoError(t, runPrinted(t, printedFile, printed(t, src)))
	require.NoError(t, Up(t.Context(), migrated.dsn, nil))
	compared := strings.Join(lines(t, migrated.conn, catalogue), "\n")
	require.Contains(t, compared, "queen_writer=X", "grants are compared too")
	require.Contains(t, compared, "functions|1|", "so are the recorded hashes")
	execSQL(t, extension.conn, `SET ROLE queen_reader`)
	for _, view := range []string{"queue_status", "group_status", "partition_status", "retention_status", "maintenance_status", "partition_pins"} {
		execSQL(t, extension.conn, `SELECT * FROM queen.`+view)
	}
	_, err := extension.conn.Exec(t.Context(), `SELECT * FROM queen.queues`)
	require.ErrorContains(t, err, "permission denied", "a reader sees the views and no table")
	execSQL(t, extension.conn, `RESET ROLE`)
	requireSameCatalogue(t, migrated, printedFile)
	requireSameCatalogue(t, migrated, extension)
	for _, table := range []string{"queen.schema_migrations", "queen.schema_functions"} {
		require.NotEmpty(t, scalar[string](t, migrated.conn, `SELECT obj_description('`+table+`'::regclass, 'pg_class')`))
	}
}

// Everything but the schema belongs to the extension, every table but the two
// that the script fills is marked for pg_dump, and a server accepts it.
func testCurrentExtension(t *testing.T, o *overlay) {
	b := o.database(t, "current")
	execSQL(t, b.conn, `CREATE EXTENSION regent`)
	require.Empty(t, lines(t, b.conn, `SELECT pg_describe_object(d.classid, d.objid, 0)
		FROM (SELECT 'pg_proc'::regclass AS classid, oid AS objid FROM pg_proc WHERE pronamespace = 'queen'::regnamespace
			UNION ALL SELECT 'pg_class'::regclass, oid FROM pg_class
			WHERE relnamespace = 'queen'::regnamespace AND relkind NOT IN ('i', 'I')) d
		WHERE NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')`))
	require.Equal(t, []string{"schema_functions", "schema_migrations"}, unmarked(t, b))
	require.Empty(t, strings.TrimSpace(contents(t, b)), "what a script inserts, a restore would insert twice")
	require.NoError(t, Check(t.Context(), b.conn))
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	st, err := Report(t.Context(), b.dsn)
	require.NoError(t, err)
	require.True(t, st.Extension)
	require.Equal(t, "current", st.State)
	fill(t, b)
}

// unmarked lists the tables whose rows pg_dump leaves out.
func unmarked(t *testing.T, b bundle) []string {
	t.Helper()
	return lines(t, b.conn, `SELECT c.relname::text FROM pg_class c, pg_extension x
		WHERE x.extname = 'regent' AND c.relnamespace = 'queen'::regnamespace AND c.relkind IN ('r', 'p', 'm')
			AND NOT c.oid = ANY (coalesce(x.extconfig, '{}'))
		ORDER BY 1`)
}

// contents is every row of every table but the schema's own two.
func contents(t *testing.T, b bundle) string {
	t.Helper()
	var out strings.Builder
	for _, table := range lines(t, b.conn, `SELECT oid::regclass::text FROM pg_class
		WHERE relnamespace = 'queen'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'schema\_%' ORDER BY 1`) {
		for _, row := range lines(t, b.conn, `SELECT x::text FROM `+table+` x ORDER BY 1`) {
			fmt.Fprintf(&out, "%s %s\n", table, row)
		}
	}
	return out.String()
}

// fill leaves rows in most tables: messages, a cursor, a lease, a dead letter.
func fill(t *testing.T, b bundle) {
	t.Helper()
	execSQL(t, b.conn, `
		SELECT queen.configure_queue_v1('orders', '{"deadLetterQueue": true}');
		SELECT count(*) FROM generate_series(1, 30) i,
			LATERAL queen.push_v1('orders', format('{"n": %s, "text": "\u0000 é"}', i)::json, 'p' || i % 3, 'id-' || i);
		SELECT count(*) FROM (SELECT * FROM queen.pop_v1('orders', 4, 'billing', 'p1')) m,
			LATERAL queen.ack_v1(m.partition_id, ARRAY[m.transaction_id], m.lease_id, 'billing', 'completed');
		SELECT count(*) FROM (SELECT * FROM queen.pop_v1('orders', 1, 'billing', 'p2')) m,
			LATERAL queen.ack_v1(m.partition_id, ARRAY[m.transaction_id], m.lease_id, 'billing', 'dlq', 'broken');
		SELECT count(*) FROM queen.pop_v1('orders', 2, 'audit', 'p0')`)
	execSQL(t, b.conn, `CALL queen.run_maintenance_v1()`) // it commits, so it stands alone
	require.Equal(t, 1, scalar[int](t, b.conn, `SELECT count(*) FROM queen.log_dlq`))
	require.Equal(t, 30, scalar[int](t, b.conn, `SELECT sum(frames) FROM queen.log_segments`))
}

func testExtensionOfUnprivilegedRole(t *testing.T, o *overlay) {
	b := o.database(t, "modest")
	execSQL(t, b.conn, `CREATE ROLE modest LOGIN PASSWORD 'secret' NOSUPERUSER; GRANT CREATE ON DATABASE modest TO modest`)
	conn := connect(t, withDatabase(t, o.dsn, "modest", "modest", "secret"))
	execSQL(t, conn, `CREATE EXTENSION regent`)
	require.Equal(t, []string{"modest"}, lines(t, conn, `SELECT DISTINCT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'queen'::regnamespace`))
	require.NoError(t, Check(t.Context(), conn))
	fill(t, bundle{conn: conn})
}

func testExtensionRefuses(t *testing.T, o *overlay) {
	migrated, locked := o.database(t, "used"), o.database(t, "locked")
	require.NoError(t, Up(t.Context(), migrated.dsn, nil))
	_, err := migrated.conn.Exec(t.Context(), `CREATE EXTENSION regent`)
	require.ErrorContains(t, err, "schema queen is in use already")
	require.NoError(t, Check(t.Context(), migrated.conn))

	execSQL(t, connect(t, locked.dsn), `SELECT pg_advisory_lock(778120010)`)
	_, err = locked.conn.Exec(t.Context(), `CREATE EXTENSION regent`)
	require.ErrorContains(t, err, "another migration is running")
}

// Dropping takes the tables and leaves an empty schema, fit for either way.
func testDropExtension(t *testing.T, o *overlay) {
	b := o.database(t, "dropped")
	for range 2 {
		execSQL(t, b.conn, `CREATE EXTENSION regent`)
		fill(t, b)
		execSQL(t, b.conn, `DROP EXTENSION regent`)
		require.Zero(t, scalar[int](t, b.conn, `SELECT count(*) FROM pg_class WHERE relnamespace = 'queen'::regnamespace`))
		require.Zero(t, scalar[int](t, b.conn, `SELECT count(*) FROM pg_proc WHERE pronamespace = 'queen'::regnamespace`))
		require.ErrorIs(t, Check(t.Context(), b.conn), ErrBehind)
	}
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	require.NoError(t, Check(t.Context(), b.conn))
}

// b holds messages under the older version; the newer one is on offer. What
// comes out must be what migrate up makes of the same two versions.
func testUpdateExtension(t *testing.T, o *overlay, b bundle, older, newer source) {
	migrated := o.database(t, "update_up")
	require.NoError(t, up(t.Context(), migrated.dsn, nil, older))
	requireSameCatalogue(t, migrated, b)
	require.NoError(t, up(t.Context(), migrated.dsn, nil, newer))

	before, rows := lines(t, b.conn, catalogue), contents(t, b)
	for _, err := range []error{up(t.Context(), b.dsn, nil, newer), check(t.Context(), b.conn, newer)} {
		require.ErrorIs(t, err, ErrExtension)
		require.ErrorContains(t, err, "ALTER EXTENSION regent UPDATE")
		var code interface{ ExitCode() int }
		require.True(t, errors.As(err, &code))
		require.Equal(t, 1, code.ExitCode())
	}
	st, err := report(t.Context(), b.dsn, newer)
	require.NoError(t, err)
	require.Equal(t, []any{"behind", true}, []any{st.State, st.Extension})
	for _, wrap := range []string{
		`BEGIN; SAVEPOINT s; ALTER EXTENSION regent UPDATE`,
		`BEGIN; CREATE OR REPLACE FUNCTION queen.gone_v1() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION regent UPDATE`,
	} {
		_, err := b.conn.Exec(t.Context(), wrap)
		require.ErrorContains(t, err, "in a transaction of its own")
		execSQL(t, b.conn, `ROLLBACK`)
	}
	require.Equal(t, before, lines(t, b.conn, catalogue), "nothing changed so far")
	require.Equal(t, rows, contents(t, b))

	execSQL(t, b.conn, `ALTER EXTENSION regent UPDATE`)
	require.Equal(t, "9999.2", scalar[string](t, b.conn, `SELECT extversion FROM pg_extension WHERE extname = 'regent'`))
	requireSameCatalogue(t, migrated, b)
	require.Equal(t, 22, scalar[int](t, b.conn, `SELECT queen.user_v1()`), "a private helper has another result type and another parameter")
	require.Equal(t, []string{"schema_functions", "schema_migrations"}, unmarked(t, b))
	require.NoError(t, check(t.Context(), b.conn, newer))
	require.NoError(t, up(t.Context(), b.dsn, nil, newer))
	require.ErrorIs(t, up(t.Context(), b.dsn, nil, older), ErrAhead)
}

// The rows come back with the extension, also the position of a sequence, or
// without it, in a database that migrate up made.
func testDumpExtension(t *testing.T, o *overlay, b bundle, newer source) {
	dump, restore := filepath.Join(o.bin, "pg_dump"), filepath.Join(o.bin, "pg_restore")
	if _, err := os.Stat(dump); err != nil {
		t.Skip("this PostgreSQL comes without pg_dump")
	}
	execSQL(t, b.conn, `INSERT INTO queen.numbers (note) VALUES ('a'), ('b')`)
	copied, migrated := o.database(t, "restored"), o.database(t, "restored_up")
	require.NoError(t, up(t.Context(), migrated.dsn, nil, newer))
	name := filepath.Join(t.TempDir(), "dump")
	for _, command := range [][]string{
		{dump, "--format=custom", "--file=" + name, "--dbname=" + b.dsn},
		{restore, "--exit-on-error", "--single-transaction", "--dbname=" + copied.dsn, name},
		{restore, "--exit-on-error", "--single-transaction", "--data-only", "--dbname=" + migrated.dsn, name},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.Contains(t, contents(t, b), "id-1")
	require.True(t, scalar[bool](t, copied.conn, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'regent')`))
	for _, db := range []bundle{copied, migrated} {
		require.Equal(t, contents(t, b), contents(t, db))
		require.NoError(t, check(t.Context(), db.conn, newer))
	}
	for _, db := range []bundle{b, copied, migrated} {
		require.Equal(t, int64(3), scalar[int64](t, db.conn, `INSERT INTO queen.numbers (note) VALUES ('c') RETURNING id`))
		require.Equal(t, int64(4), scalar[int64](t, db.conn, `SELECT "offset" FROM queen.pop_v1('orders', 1, 'billing', 'p1')`))
	}
}
