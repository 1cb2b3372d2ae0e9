package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// together runs n migrations at once and returns their errors.
func together(n int, run func() error) []error {
	out := make(chan error, n)
	for range n {
		go func() { out <- run() }()
	}
	errs := make([]error, n)
	for i := range errs {
		errs[i] = <-out
	}
	return errs
}

// locks counts who holds the migration lock of the database.
func locks(t *testing.T, b bundle) int {
	t.Helper()
	return scalar[int](t, b.conn, `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 778120010`)
}

// F182: several starters at once on an empty database.
func TestSixStartersAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, err := range together(6, func() error { return Up(t.Context(), b.dsn, nil) }) {
		require.NoError(t, err)
	}
	require.NoError(t, Check(t.Context(), b.conn))
	require.Zero(t, locks(t, b))
}

// F185 and the reason for a polled lock: CREATE INDEX CONCURRENTLY waits for the
// snapshots of all others, so waiters must hold none.
func TestConcurrentIndexWithWaiters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	src := made(1, map[string]string{
		"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\n",
		"00002_b.sql": "-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_id_idx ON queen.a (id);\n",
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, err := range together(6, func() error { return up(ctx, b.dsn, nil, src) }) {
		require.NoError(t, err)
	}
	require.True(t, scalar[bool](t, b.conn, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'queen.a_id_idx'::regclass`))
}

// F185: an index that was built half is built anew by the next run.
func TestFailedConcurrentIndexIsBuiltAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	table := map[string]string{"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\nINSERT INTO queen.a VALUES (1), (1);\n"}
	require.NoError(t, up(t.Context(), b.dsn, nil, made(1, table)))
	table["00002_b.sql"] = "-- +goose NO TRANSACTION\n-- +goose Up\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a_id_key ON queen.a (id);\n"
	valid := `SELECT indisvalid FROM pg_index WHERE indexrelid = 'queen.a_id_key'::regclass`
	require.ErrorContains(t, up(t.Context(), b.dsn, nil, made(1, table)), "a_id_key")
	require.False(t, scalar[bool](t, b.conn, valid), "left behind")
	execSQL(t, b.conn, `DELETE FROM queen.a`)
	require.NoError(t, up(t.Context(), b.dsn, nil, made(1, table)))
	require.True(t, scalar[bool](t, b.conn, valid))
}

// F182: the one that works is killed in the middle, a waiter finishes.
func TestKilledMigrationIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]source{
		"migration": made(1, map[string]string{"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\nSELECT pg_sleep(60);\n"}),
		"functions": made(1, map[string]string{
			"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\n",
			"010/f.sql":   "CREATE FUNCTION queen.half() RETURNS int LANGUAGE sql AS 'SELECT 1'; SELECT pg_sleep(60);",
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- up(t.Context(), b.dsn, nil, slow) }()
			sleeping := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
			eventually(t, "the first is in the middle", func() bool { return scalar[int](t, b.conn, sleeping) == 1 })
			var log logBuffer
			go func() { second <- up(t.Context(), b.dsn, log.logger(), small(1, 7)) }()
			eventually(t, "the second waits", func() bool { return strings.Contains(log.String(), "waiting for another migration") })
			execSQL(t, b.conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`)
			require.Error(t, <-first)
			require.NoError(t, <-second)
			require.Equal(t, 7, scalar[int](t, b.conn, `SELECT queen.f()`))
			require.Zero(t, scalar[int](t, b.conn, `SELECT count(*) FROM pg_proc WHERE proname = 'half'`))
		})
	}
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	execSQL(t, b.conn, `SELECT pg_advisory_lock(778120010)`)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	err := up(ctx, b.dsn, nil, small(1, 1))
	require.True(t, errors.Is(err, ErrLockTimeout) || errors.Is(err, context.DeadlineExceeded), err)
	require.False(t, scalar[bool](t, b.conn, `SELECT to_regnamespace('queen') IS NOT NULL`))
}

func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	rows := `SELECT md5(string_agg(x, ',' ORDER BY x)) FROM (
		SELECT concat('p', oid, xmin, ctid) FROM pg_proc WHERE pronamespace = 'queen'::regnamespace
		UNION ALL SELECT concat('c', oid, xmin, ctid) FROM pg_class WHERE relnamespace = 'queen'::regnamespace
		UNION ALL SELECT concat('f', xmin, ctid) FROM queen.schema_functions
		UNION ALL SELECT concat('m', xmin, ctid) FROM queen.schema_migrations) s(x)`
	before := scalar[string](t, b.conn, rows)
	require.NoError(t, Up(t.Context(), b.dsn, nil))
	require.Equal(t, before, scalar[string](t, b.conn, rows))
}

// F184: an older binary on a newer schema.
func TestNewerSchemaIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	newer := made(2, map[string]string{
		"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\n",
		"00002_b.sql": "-- +goose Up\nCREATE TABLE queen.b (id int);\n",
		"010/f.sql":   "CREATE FUNCTION queen.f() RETURNS int LANGUAGE sql AS 'SELECT 2';",
	})
	require.NoError(t, up(t.Context(), b.dsn, nil, newer))
	require.ErrorIs(t, up(t.Context(), b.dsn, nil, small(1, 1)), ErrAhead)
	require.ErrorIs(t, check(t.Context(), b.conn, small(1, 1)), ErrAhead)
	require.ErrorIs(t, up(t.Context(), b.dsn, nil, small(2, 1)), ErrAhead, "fewer tables")
	execSQL(t, b.conn, `DELETE FROM queen.schema_migrations WHERE version_id = 2`)
	require.ErrorIs(t, up(t.Context(), b.dsn, nil, small(1, 1)), ErrAhead, "older functions")
	require.Equal(t, 2, scalar[int](t, b.conn, `SELECT queen.f()`))
}

func TestCheckAndReport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.ErrorIs(t, check(t.Context(), b.conn, small(1, 1)), ErrBehind)
	st, err := report(t.Context(), b.dsn, small(1, 1))
	require.NoError(t, err)
	require.Equal(t, Status{Applied: []Migration{}, Pending: []int64{1}, BinaryRelease: 1, State: "behind"}, st)

	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
	require.NoError(t, check(t.Context(), b.conn, small(1, 1)))
	st, err = report(t.Context(), b.dsn, small(1, 1))
	require.NoError(t, err)
	require.Equal(t, "current", st.State)
	require.Len(t, st.Applied, 1)
	require.True(t, st.FunctionsCurrent)

	require.ErrorIs(t, check(t.Context(), b.conn, small(1, 2)), ErrBehind, "same release, other files")
	require.ErrorIs(t, check(t.Context(), b.conn, small(2, 1)), ErrBehind, "next release, same files")
}

// F184: a lower number that appears after a higher one was applied.
func TestOutOfOrderMigrationIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := "-- +goose Up\nCREATE TABLE queen.a (id int);\n"
	three := "-- +goose Up\nCREATE TABLE queen.c (id int);\n"
	require.NoError(t, up(t.Context(), b.dsn, nil, made(1, map[string]string{"00001_a.sql": one, "00003_c.sql": three})))
	err := up(t.Context(), b.dsn, nil, made(1, map[string]string{"00001_a.sql": one, "00003_c.sql": three,
		"00002_b.sql": "-- +goose Up\nCREATE TABLE queen.b (id int);\n"}))
	require.ErrorContains(t, err, "out-of-order")
	require.False(t, scalar[bool](t, b.conn, `SELECT to_regclass('queen.b') IS NOT NULL`))
}

// F184: someone edited a function in the database.
func TestEditedFunctionIsNoticedAndRestored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
	execSQL(t, b.conn, `CREATE OR REPLACE FUNCTION queen.f() RETURNS int LANGUAGE sql AS 'SELECT 666'`)
	require.ErrorIs(t, check(t.Context(), b.conn, small(1, 1)), ErrBehind)
	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
	require.Equal(t, 1, scalar[int](t, b.conn, `SELECT queen.f()`))
	require.NoError(t, check(t.Context(), b.conn, small(1, 1)))
}

func TestExtensionDatabaseIsLeftToPostgres(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)))
	execSQL(t, b.conn, `SET allow_system_table_mods = on; UPDATE pg_extension SET extname = 'regent' WHERE extname = 'plpgsql'`)
	require.NoError(t, up(t.Context(), b.dsn, nil, small(1, 1)), "current")
	err := up(t.Context(), b.dsn, nil, small(2, 2))
	require.ErrorIs(t, err, ErrExtension)
	require.ErrorContains(t, err, "ALTER EXTENSION regent UPDATE")
	require.Equal(t, 1, scalar[int](t, b.conn, `SELECT queen.f()`))
}

// A role that owns nothing but the right to create a schema; its settings, and
// an attacker's schema first on its path, must not matter (F189).
func TestUnprivilegedRole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	database := scalar[string](t, b.conn, `SELECT current_database()`)
	role := database + "_owner"
	execSQL(t, b.conn, fmt.Sprintf(`
		CREATE ROLE %[1]s LOGIN PASSWORD 'secret' NOSUPERUSER;
		GRANT CREATE ON DATABASE %[2]s TO %[1]s;
		CREATE SCHEMA attacker;
		GRANT USAGE ON SCHEMA attacker TO PUBLIC;
		CREATE FUNCTION attacker.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
		CREATE TABLE attacker.queues (id int);
		ALTER ROLE %[1]s SET search_path = attacker, pg_catalog;
		ALTER ROLE %[1]s SET default_transaction_isolation = 'serializable';
		ALTER ROLE %[1]s SET statement_timeout = '30s'`, role, database))
	t.Cleanup(func() {
		execSQL(t, connect(t, b.dsn), fmt.Sprintf(`DROP OWNED BY %[1]s CASCADE; DROP ROLE %[1]s`, role))
	})
	dsn := withDatabase(t, b.dsn, database, role, "secret")
	require.NoError(t, Up(t.Context(), dsn, nil))
	require.NoError(t, Check(t.Context(), b.conn))
}

// F183, the last line of defence: a lock that slipped away is an error.
func TestLostLockIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := openSession(t.Context(), b.dsn)
	require.NoError(t, err)
	defer s.close()
	got, err := s.tryLock(t.Context())
	require.NoError(t, err)
	require.True(t, got)
	require.NoError(t, s.verifyLock(t.Context()))
	_, err = s.conn.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`)
	require.NoError(t, err)
	require.ErrorIs(t, s.verifyLock(t.Context()), ErrPooler)
	require.ErrorIs(t, s.unlock(t.Context()), ErrPooler)
}

// F183 with the real thing, where it is installed: transaction pooling is
// refused before any lock is taken, session pooling is fine.
func TestPooler(t *testing.T) {
	t.Parallel()
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	b := setup(t)
	cfg, err := pgx.ParseConfig(b.dsn)
	require.NoError(t, err)
	for mode, want := range map[string]error{"transaction": ErrPooler, "session": nil} {
		t.Run(mode, func(t *testing.T) {
			dsn := startPooler(t, bin, mode, cfg)
			err := up(t.Context(), dsn, nil, small(1, 1))
			require.ErrorIs(t, err, want)
			require.Zero(t, locks(t, b))
		})
	}
}

func startPooler(t *testing.T, bin, mode string, cfg *pgx.ConnConfig) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "regent-pooler-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	users := filepath.Join(dir, "users.txt")
	require.NoError(t, os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", cfg.User, cfg.Password), 0o644))
	ini := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(ini, fmt.Appendf(nil, `[databases]
%s = host=%s port=%d user=%s password=%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = any
auth_file = %s
pool_mode = %s
`, cfg.Database, cfg.Host, cfg.Port, cfg.User, cfg.Password, dir, users, mode), 0o644))
	args := []string{ini}
	if os.Geteuid() == 0 {
		args = []string{"-u", "postgres", ini}
	}
	cmd := exec.Command(bin, args...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	dsn := fmt.Sprintf("host=%s port=6432 dbname=%s user=%s sslmode=disable", dir, cfg.Database, cfg.User)
	eventually(t, "the pooler listens", func() bool {
		cfg, err := pgx.ParseConfig(dsn)
		if err != nil {
			return false
		}
		cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(t.Context(), cfg)
		if err != nil {
			return false
		}
		return conn.Close(t.Context()) == nil
	})
	return dsn
}

func TestBadConnectionString(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, Up(t.Context(), "port=banana", nil), "parse connection string")
}
