package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// launcherEnv turns the test binary into a launcher that waits to be killed.
const launcherEnv = "REGENT_TEST_LAUNCHER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(launcherEnv); dir != "" {
		launchAndWait(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func launchAndWait(dir string) {
	s, err := Start(context.Background(), Options{DataDir: dir, Durable: true, TCP: true})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(s.PID(), s.DSN())
	<-s.Done()
}

// newDir returns a data directory that does not exist yet, under a parent that
// other users may pass.
func newDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "regent-embedded-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(parent, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	return filepath.Join(parent, "data")
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func startServer(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(testContext(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { stopServer(t, s) })
	return s
}

func stopServer(t *testing.T, s *Server) {
	t.Helper()
	require.NoError(t, s.Stop(testContext(t)))
	<-s.Done()
}

func query[T any](t *testing.T, dsn, sql string) T {
	t.Helper()
	ctx := testContext(t)
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, sql)
	require.NoError(t, err)
	got, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return got
}

// remember commits one row, and recall counts it.
func remember(t *testing.T, dsn string) {
	t.Helper()
	query[int](t, dsn, "WITH made AS (SELECT lo_from_bytea(4711, 'kept')) SELECT count(*)::int FROM made")
}

func recall(t *testing.T, s *Server) string {
	t.Helper()
	return query[string](t, s.DSN(), "SELECT convert_from(lo_get(4711), 'UTF8')")
}

func killHard(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestFirstStart(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	s := startServer(t, Options{DataDir: dir, Durable: true, TCP: true, MaxConnections: 37,
		Settings: map[string]string{"max_prepared_transactions": "10"}})

	require.Equal(t, "UTF8 C on on on 37 10 127.0.0.1", query[string](t, s.DSN(), `SELECT concat_ws(' ',
		current_setting('server_encoding'), (SELECT datcollate FROM pg_database WHERE datname = current_database()),
		current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
		current_setting('max_connections'), current_setting('max_prepared_transactions'), current_setting('listen_addresses'))`))
	require.Equal(t, "postgres", query[string](t, s.SocketDSN(), "SELECT current_user::text"))
	require.NoError(t, s.Err())
	require.DirExists(t, s.BinDir())

	for name, mode := range map[string]os.FileMode{"pg": 0o700, "run": 0o700, "password": 0o600, "pg.lock": 0o600, "postgres.log": 0o600} {
		st, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, st.Mode().Perm(), name)
	}
	require.NotEqual(t, 0, uidOf(t, filepath.Join(dir, "pg")), "PostgreSQL refuses to run as root")
}

func TestLoopbackAsksForThePassword(t *testing.T) {
	t.Parallel()
	s := startServer(t, Options{DataDir: newDir(t), TCP: true})
	cfg, err := pgx.ParseConfig(s.DSN())
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", cfg.Host)
	require.Len(t, cfg.Password, 32)
	cfg.Password = "guess"
	_, err = pgx.ConnectConfig(testContext(t), cfg)
	require.ErrorContains(t, err, "28P01")
}

func TestWithoutTCPNothingListens(t *testing.T) {
	t.Parallel()
	s := startServer(t, Options{DataDir: newDir(t)})
	require.Equal(t, s.SocketDSN(), s.DSN())
	require.Equal(t, "off||off", query[string](t, s.DSN(),
		"SELECT concat_ws('|', current_setting('fsync'), current_setting('listen_addresses'), current_setting('synchronous_commit'))"))
}

func TestRestartKeepsDataAndPassword(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true, Durable: true}
	first := startServer(t, o)
	remember(t, first.DSN())
	stopServer(t, first)
	require.NoError(t, first.Err())
	require.NoError(t, first.Stop(testContext(t)), "a second Stop does nothing")

	second := startServer(t, o)
	require.Equal(t, "kept", recall(t, second))
	require.Equal(t, first.password, second.password)
}

func TestLostPasswordFileIsReplaced(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true}
	first := startServer(t, o)
	remember(t, first.DSN())
	stopServer(t, first)
	require.NoError(t, os.Remove(filepath.Join(o.DataDir, "password")))

	second := startServer(t, o)
	require.Equal(t, "kept", recall(t, second))
	require.NotEqual(t, first.password, second.password)
	stopServer(t, second)
	require.Equal(t, "kept", recall(t, startServer(t, o)))
}

func TestKilledPostgresIsReportedAndRecovers(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true, Durable: true}
	first := startServer(t, o)
	remember(t, first.DSN())
	pf, err := readPIDFile(filepath.Join(o.DataDir, "pg"))
	require.NoError(t, err)
	require.Equal(t, first.PID(), pf.pid)
	// A backend at work notices late that its postmaster is gone, and until then keeps
	// the next one from starting, at whatever port.
	conn, err := pgx.Connect(t.Context(), first.DSN())
	require.NoError(t, err)
	busy := make(chan struct{})
	go func() {
		defer close(busy)
		_, _ = conn.Exec(context.Background(), "DO $$ BEGIN PERFORM set_config('application_name', 'busy', false); FOR i IN 1..12000000 LOOP END LOOP; END $$")
	}()
	watch, err := pgx.Connect(t.Context(), first.DSN())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var there bool
		return watch.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'busy'").Scan(&there) == nil && there
	}, 10*time.Second, time.Millisecond)
	killHard(t, pf.pid)
	<-first.Done()
	require.ErrorContains(t, first.Err(), "killed")
	defer func() { <-busy }()

	o.PreferPort = first.Port()
	second := startServer(t, o)
	require.Equal(t, "kept", recall(t, second))
	require.Equal(t, first.DSN(), second.DSN(), "clients find it again")
}

func TestPreferredPortThatIsTaken(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	taken := other.Addr().(*net.TCPAddr).Port
	s := startServer(t, Options{DataDir: newDir(t), TCP: true, PreferPort: taken})
	require.NotEqual(t, taken, s.Port())
	require.Equal(t, 1, query[int](t, s.DSN(), "SELECT 1"))
}

func TestKilledLauncherLosesNothing(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true, Durable: true}
	cmd, pid, dsn := startLauncher(t, o.DataDir)
	remember(t, dsn)
	_, err := Start(testContext(t), o)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "process "+strconv.Itoa(cmd.Process.Pid)+" ")

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	s := startServer(t, o)
	require.NotEqual(t, pid, s.PID())
	require.Equal(t, "kept", recall(t, s))
	require.False(t, isPostmasterOf(pid, filepath.Join(o.DataDir, "pg")))
}

func startLauncher(t *testing.T, dir string) (cmd *exec.Cmd, pid int, dsn string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), launcherEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_, err = fmt.Fscan(out, &pid, &dsn)
	require.NoError(t, err)
	return cmd, pid, dsn
}

func TestStalePIDFile(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	sleeper := exec.Command("sleep", "1000")
	require.NoError(t, sleeper.Start())
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	unreaped := exec.Command("true")
	require.NoError(t, unreaped.Start())
	t.Cleanup(func() { _ = unreaped.Wait() })

	o := Options{DataDir: newDir(t), Durable: true}
	first := startServer(t, o)
	remember(t, first.DSN())
	stopServer(t, first)
	pgdata := filepath.Join(o.DataDir, "pg")
	for name, line := range map[string]string{
		"process gone":              strconv.Itoa(gone.Process.Pid),
		"process of something else": strconv.Itoa(sleeper.Process.Pid),
		"process not reaped":        strconv.Itoa(unreaped.Process.Pid),
		"this process":              strconv.Itoa(os.Getpid()),
		"no number":                 "",
	} {
		text := ""
		if line != "" {
			text = strings.Join([]string{line, pgdata, "1", "5432", "", "", "", "ready   ", ""}, "\n")
		}
		require.NoError(t, os.WriteFile(pidPath(pgdata), []byte(text), 0o600), name)
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(pidPath(pgdata), uidOf(t, pgdata), -1))
		}
		s, err := Start(testContext(t), o)
		require.NoError(t, err, name)
		require.Equal(t, "kept", recall(t, s), name)
		stopServer(t, s)
	}
	require.NoError(t, sleeper.Process.Signal(syscall.Signal(0)), "the other process was left alone")
}

func uidOf(t *testing.T, path string) int {
	t.Helper()
	uid, _, err := ownerOf(path)
	require.NoError(t, err)
	return int(uid)
}

func TestSecondLauncherIsRefused(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t)}
	s := startServer(t, o)
	_, err := Start(testContext(t), o)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "process "+strconv.Itoa(os.Getpid())+" ")
	require.Equal(t, 1, query[int](t, s.DSN(), "SELECT 1"), "the first one is not disturbed")
}

func TestVersionMismatch(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pgdata := filepath.Join(dir, "pg")
	require.NoError(t, os.MkdirAll(pgdata, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(pgdata, "PG_VERSION"), []byte("9\n"), 0o600))
	_, err := Start(testContext(t), Options{DataDir: dir})
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "was made by version 9")

	require.NoError(t, os.Rename(filepath.Join(pgdata, "PG_VERSION"), filepath.Join(pgdata, "letter")))
	_, err = Start(testContext(t), Options{DataDir: dir})
	require.ErrorContains(t, err, "neither empty nor a PostgreSQL data directory")
	require.FileExists(t, filepath.Join(pgdata, "letter"))
}

func TestLongSocketPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(newDir(t), strings.Repeat("long", 20), strings.Repeat("path", 20))
	s := startServer(t, Options{DataDir: dir})
	require.Equal(t, 1, query[int](t, s.DSN(), "SELECT 1"))
	require.NotContains(t, s.socketDir, dir)
	stopServer(t, s)
	require.NoDirExists(t, s.socketDir)
}

func TestUnfinishedInitIsRedone(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "pg.init", "base"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pg.init", "PG_VERSION"), []byte("15\n"), 0o600))
	s := startServer(t, Options{DataDir: dir})
	require.Equal(t, 1, query[int](t, s.DSN(), "SELECT 1"))
	require.NoDirExists(t, filepath.Join(dir, "pg.init"))
}

func TestOwnerOfTheDirectoryRunsTheServer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a folder away")
	}
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chown(dir, 65534, 65534))
	s := startServer(t, Options{DataDir: dir})
	require.Equal(t, 65534, uidOf(t, fmt.Sprintf("/proc/%d", s.PID())))
	require.Equal(t, 65534, uidOf(t, filepath.Join(dir, "password")))
}

func TestClosedDirectories(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as another user")
	}
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	s := startServer(t, Options{DataDir: dir})
	require.Equal(t, 1, query[int](t, s.DSN(), "SELECT 1"), "the data directory itself is opened")

	closed := filepath.Join(newDir(t), "closed")
	require.NoError(t, os.MkdirAll(closed, 0o700))
	_, err := Start(testContext(t), Options{DataDir: filepath.Join(closed, "data")})
	require.ErrorContains(t, err, "chmod o+x "+filepath.Dir(closed), "a parent is not ours to open")
}

func TestFailedStartQuotesTheLog(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), Settings: map[string]string{"shared_buffers": "no size"}}
	_, err := Start(testContext(t), o)
	require.ErrorContains(t, err, `invalid value for parameter "shared_buffers"`)
	o.Settings = nil
	require.Equal(t, 1, query[int](t, startServer(t, o).DSN(), "SELECT 1"), "the lock was given back")
}

func TestCancelledStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t)}
	stopServer(t, startServer(t, o))
	l, err := newLauncher(testContext(t), o.withLog())
	require.NoError(t, err)
	defer l.close()
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	_, err = l.start(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, pidPath(l.pgdata))
}

func (o Options) withLog() Options {
	o.Log = slog.New(slog.DiscardHandler)
	return o
}

func TestStopAtItsDeadline(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), Durable: true}
	s := startServer(t, o)
	remember(t, s.DSN())
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	if err := s.Stop(ctx); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	<-s.Done()
	require.NoError(t, s.Err())
	require.Equal(t, "kept", recall(t, startServer(t, o)))
}

func TestWriteDSN(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true}
	s := startServer(t, o)
	path := filepath.Join(o.DataDir, "dsn")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.NoError(t, s.WriteDSN(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, s.DSN()+"\n", string(text))
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	left, err := filepath.Glob(filepath.Join(o.DataDir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no data directory":                 {},
		"setting port is the launcher's":    {DataDir: "x", Settings: map[string]string{"port": "5432"}},
		"setting fsync=off contradicts":     {DataDir: "x", Durable: true, Settings: map[string]string{"fsync": "off"}},
		"has no programs postgres and init": {DataDir: "x", BinDir: t.TempDir()},
	} {
		_, err := Start(testContext(t), o)
		require.ErrorContains(t, err, name)
	}
	require.NoDirExists(t, "x")
}

func TestInitArgs(t *testing.T) {
	t.Parallel()
	s := startServer(t, Options{DataDir: newDir(t), InitArgs: []string{"--wal-segsize=1"}})
	require.Equal(t, "1MB", query[string](t, s.DSN(), "SELECT current_setting('wal_segment_size')"))
}
