// Package dbtest owns the PostgreSQL that tests run on: one server for a test
// binary, one migrated template, one clone of it for a test, and sessions for
// stepped races.
//
// It must never be imported by anything but tests, never touch a database that
// it did not create, and never wait by sleeping for a time that is hoped to be
// long enough.
package dbtest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience bounds every single wait of this package.
const patience = 30 * time.Second

// poolConns is the size of a Database's pool.
const poolConns = 10

// shared is the one server of the test binary. Tests reach it only through
// testing.TB, so there is no other place to keep it.
var shared = newHarness()

// Option changes what Main prepares.
type Option func(*harness)

// WithMigrate replaces the function that fills the template database. The
// default is migrate.Up of this module.
func WithMigrate(up func(ctx context.Context, dsn string, log *slog.Logger) error) Option {
	return func(h *harness) { h.migrate = up }
}

// WithSetting adds a setting of the server, as in postgresql.conf. It has no
// effect on the server that REGENT_TEST_DSN names.
func WithSetting(name, value string) Option {
	return func(h *harness) { h.settings[name] = value }
}

// WithLeakOptions adds options to the goroutine-leak check.
func WithLeakOptions(opts ...goleak.Option) Option {
	return func(h *harness) { h.leaks = append(h.leaks, opts...) }
}

// Main runs the tests of a package and exits: call it from TestMain. A server
// is started when the first test asks for a database, or never; with
// REGENT_TEST_DSN set (a superuser's connection string) that server is used.
// PG_BINDIR chooses the server programs. Afterwards Main stops the server and
// fails the run when a goroutine is left over.
func Main(m *testing.M, opts ...Option) {
	for _, o := range opts {
		o(shared)
	}
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(shared.leaks...); err != nil {
			fmt.Fprintln(os.Stderr, "dbtest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Database is a database of one test. It is dropped when the test ends, with
// its sessions and prepared transactions.
type Database struct {
	// DSN connects as superuser.
	DSN string
	// Pool has at most 10 connections and is closed with the database.
	Pool *pgxpool.Pool
	// Name is random, and unique on the server.
	Name string
}

// New returns a migrated database, a copy of the template.
func New(t testing.TB) *Database {
	t.Helper()
	return open(t, func(ctx context.Context, name string) error { return shared.clone(ctx, name, plainTemplate) })
}

// NewEmpty returns a database as CREATE DATABASE makes it, not migrated.
func NewEmpty(t testing.TB) *Database {
	t.Helper()
	return open(t, func(ctx context.Context, name string) error { return shared.create(ctx, name, "") })
}

// ICU returns a migrated database whose default collation is ICU's en-US,
// which orders text unlike bytes. It skips the test, with the reason, on a
// server without ICU.
func ICU(t testing.TB) *Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	has, err := shared.hasICU(ctx)
	require.NoError(t, err)
	if !has {
		t.Skip("this PostgreSQL is built without ICU")
	}
	return open(t, func(ctx context.Context, name string) error { return shared.clone(ctx, name, icuTemplate) })
}

// open lets create make a database and ties it to the test's life.
func open(t testing.TB, create func(ctx context.Context, name string) error) *Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	name := randomName()
	require.NoError(t, create(ctx, name))
	db := &Database{Name: name}
	t.Cleanup(func() { db.drop(t) })
	dsn, err := shared.dsn(name)
	require.NoError(t, err)
	db.DSN = dsn
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = poolConns
	db.Pool, err = pgxpool.NewWithConfig(ctx, cfg)
	require.NoError(t, err)
	return db
}

func (db *Database) drop(t testing.TB) {
	if db.Pool != nil {
		// Close waits for connections that the test never gave back.
		closed := make(chan struct{})
		go func() { db.Pool.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(patience):
			t.Errorf("database %s: connections were not released", db.Name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := shared.drop(ctx, db.Name); err != nil {
		t.Error(err)
	}
}

// Conn opens one more connection, which is closed when the test ends.
func (db *Database) Conn(t testing.TB) *pgx.Conn {
	t.Helper()
	return db.connect(t, "")
}

func (db *Database) connect(t testing.TB, applicationName string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cfg, err := pgx.ParseConfig(db.DSN)
	require.NoError(t, err)
	if applicationName != "" {
		cfg.RuntimeParams["application_name"] = applicationName
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}
