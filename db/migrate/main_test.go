package migrate

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/embedded"
)

// serverDSN leads to the maintenance database of this binary's own server, as
// superuser. Package dbtest cannot be used here: it imports this package.
var serverDSN string

var databases atomic.Int32

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	if serverDSN = os.Getenv("REGENT_TEST_DSN"); serverDSN != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "regent-migrate-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the server may run as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, err := embedded.Start(ctx, embedded.Options{DataDir: dir + "/data", BinDir: os.Getenv("PG_BINDIR"), Install: true, TCP: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = s.Stop(context.Background()) }()
	serverDSN = s.DSN()
	return m.Run()
}

// bundle is an empty database of its own.
type bundle struct {
	dsn  string
	conn *pgx.Conn // superuser
}

func setup(t *testing.T) bundle {
	t.Helper()
	name := fmt.Sprintf("migrate_%d_%d", os.Getpid(), databases.Add(1))
	admin := connect(t, serverDSN)
	execSQL(t, admin, `CREATE DATABASE `+name+` TEMPLATE template0`)
	t.Cleanup(func() { execSQL(t, connect(t, serverDSN), `DROP DATABASE `+name+` WITH (FORCE)`) })
	dsn := withDatabase(t, serverDSN, name, "", "")
	return bundle{dsn: dsn, conn: connect(t, dsn)}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn) // cleanups connect too
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// withDatabase changes the database, and the user unless that is empty.
func withDatabase(t *testing.T, dsn, database, user, password string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	if user == "" {
		user, password = cfg.User, cfg.Password
	}
	return fmt.Sprintf("host=%s port=%d dbname=%s user=%s password=%s sslmode=disable", cfg.Host, cfg.Port, database, user, password)
}

func execSQL(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

func scalar[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), sql, pgx.QueryExecModeExec).Scan(&v))
	return v
}

// made builds a source; names without a slash are migrations.
func made(release int, files map[string]string) source {
	src := source{migrations: fstest.MapFS{}, functions: fstest.MapFS{}, release: release}
	for name, text := range files {
		dir := src.migrations
		if bytes.ContainsRune([]byte(name), '/') {
			dir = src.functions
		}
		dir.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return src
}

// small is a source with one table and one function that answers n.
func small(release, n int) source {
	return made(release, map[string]string{
		"00001_a.sql": "-- +goose Up\nCREATE TABLE queen.a (id int);\n",
		"010/f.sql":   fmt.Sprintf("CREATE OR REPLACE FUNCTION queen.f() RETURNS int LANGUAGE sql AS 'SELECT %d';", n),
	})
}

// logBuffer collects log lines of several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// eventually waits for a condition of the server; it never guesses with a sleep.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	require.Eventually(t, cond, 20*time.Second, 20*time.Millisecond, what)
}
