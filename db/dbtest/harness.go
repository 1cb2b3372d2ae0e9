package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"regent.local/regent/db/embedded"
	"regent.local/regent/db/migrate"
)

// dsnEnv names a server to use instead of an own one.
const dsnEnv = "REGENT_TEST_DSN"

// A template is the text that CREATE DATABASE gets for it.
const (
	plainTemplate = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'"
	icuTemplate   = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
)

// sqlStateInUse is object_in_use: DROP DATABASE met a prepared transaction.
const sqlStateInUse = "55006"

// harness owns the server, its templates and the one connection that creates
// and drops databases. The mutex serialises these, since a template must have
// no session while it is copied.
type harness struct {
	migrate  func(ctx context.Context, dsn string, log *slog.Logger) error
	settings map[string]string
	leaks    []goleak.Option

	mu        sync.Mutex
	started   bool
	startErr  error
	baseDSN   string
	dir       string
	server    *embedded.Server
	admin     *pgx.Conn
	templates map[string]template
}

// template is a migrated database, or the reason why there is none.
type template struct {
	name string
	err  error
}

func newHarness() *harness {
	return &harness{migrate: migrate.Up, templates: map[string]template{}, settings: map[string]string{
		"max_prepared_transactions": "10",
		"autovacuum":                "on",
	}}
}

// randomName cannot meet the names of another run on the same server.
func randomName() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails
	return "regent_test_" + hex.EncodeToString(raw)
}

// ready starts the server at the first call. A failed start is not repeated.
// The caller holds the mutex.
func (h *harness) ready(ctx context.Context) error {
	if !h.started {
		h.started = true
		h.startErr = h.start(ctx)
	}
	return h.startErr
}

func (h *harness) start(ctx context.Context) error {
	h.baseDSN = os.Getenv(dsnEnv)
	if h.baseDSN == "" {
		if err := h.startServer(ctx); err != nil {
			return err
		}
	}
	conn, err := pgx.Connect(ctx, h.baseDSN)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	h.admin = conn
	return nil
}

func (h *harness) startServer(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "regent-dbtest-")
	if err != nil {
		return fmt.Errorf("make the test server's folder: %w", err)
	}
	h.dir = dir
	if err := os.Chmod(dir, 0o711); err != nil { // as root, the server has another user
		return fmt.Errorf("open the test server's folder: %w", err)
	}
	h.server, err = embedded.Start(ctx, embedded.Options{
		DataDir: filepath.Join(dir, "data"), MaxConnections: 200, Settings: h.settings})
	if err != nil {
		return err
	}
	h.baseDSN = h.server.DSN()
	return nil
}

// close drops the templates and stops the server.
func (h *harness) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if h.admin != nil {
		for _, tmpl := range h.templates {
			errs = append(errs, h.dropLocked(ctx, tmpl.name))
		}
		errs = append(errs, h.admin.Close(ctx))
	}
	if h.server != nil {
		errs = append(errs, h.server.Err(), h.server.Stop(ctx))
	}
	if h.dir != "" {
		errs = append(errs, os.RemoveAll(h.dir))
	}
	return errors.Join(errs...)
}

// dsn is the connection string of another database on the server, in either of
// the two forms that libpq knows.
func (h *harness) dsn(database string) (string, error) {
	if !strings.Contains(h.baseDSN, "://") {
		return h.baseDSN + " dbname=" + database, nil
	}
	u, err := url.Parse(h.baseDSN)
	if err != nil {
		return "", errors.New(dsnEnv + " is not a connection string") // the cause would quote the password
	}
	u.Path = "/" + database
	return u.String(), nil
}

// create makes a database that is not migrated; how is a template or "".
func (h *harness) create(ctx context.Context, name, how string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ready(ctx); err != nil {
		return err
	}
	if how == "" {
		how = plainTemplate
	}
	return h.createLocked(ctx, name, how)
}

func (h *harness) createLocked(ctx context.Context, name, how string) error {
	if _, err := h.admin.Exec(ctx, "CREATE DATABASE "+name+" "+how); err != nil {
		return fmt.Errorf("create test database: %w", err)
	}
	return nil
}

// clone copies the template, which is made at its first use.
func (h *harness) clone(ctx context.Context, name, how string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ready(ctx); err != nil {
		return err
	}
	tmpl, known := h.templates[how]
	if !known {
		tmpl = h.makeTemplate(ctx, how)
		h.templates[how] = tmpl
	}
	if tmpl.err != nil {
		return tmpl.err
	}
	return h.createLocked(ctx, name, "TEMPLATE "+tmpl.name+" STRATEGY file_copy")
}

// makeTemplate migrates a database and closes it to sessions.
func (h *harness) makeTemplate(ctx context.Context, how string) template {
	tmpl := template{name: randomName() + "_template"}
	if tmpl.err = h.createLocked(ctx, tmpl.name, how); tmpl.err != nil {
		return tmpl
	}
	dsn, err := h.dsn(tmpl.name)
	if err == nil {
		err = h.migrate(ctx, dsn, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		tmpl.err = fmt.Errorf("migrate the template database: %w", err)
		return tmpl
	}
	if _, err := h.admin.Exec(ctx, "ALTER DATABASE "+tmpl.name+" WITH ALLOW_CONNECTIONS false"); err != nil {
		tmpl.err = fmt.Errorf("close the template database: %w", err)
	}
	return tmpl
}

func (h *harness) hasICU(ctx context.Context) (has bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.ready(ctx); err != nil {
		return false, err
	}
	err = h.admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i')").Scan(&has)
	if err != nil {
		return false, fmt.Errorf("ask for ICU: %w", err)
	}
	return has, nil
}

// drop also ends sessions, and rolls back prepared transactions if it must.
func (h *harness) drop(ctx context.Context, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.dropLocked(ctx, name)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != sqlStateInUse {
		return err
	}
	if err := h.rollBackPrepared(ctx, name); err != nil {
		return err
	}
	return h.dropLocked(ctx, name)
}

func (h *harness) dropLocked(ctx context.Context, name string) error {
	if _, err := h.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop test database: %w", err)
	}
	return nil
}

// rollBackPrepared has to connect to the database whose transactions they are.
func (h *harness) rollBackPrepared(ctx context.Context, name string) error {
	dsn, err := h.dsn(name)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("roll back prepared transactions: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts WHERE database = current_database()")
	if err != nil {
		return fmt.Errorf("roll back prepared transactions: %w", err)
	}
	commands, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for i := 0; err == nil && i < len(commands); i++ {
		_, err = conn.Exec(ctx, commands[i])
	}
	if err != nil {
		return fmt.Errorf("roll back prepared transactions: %w", err)
	}
	return nil
}
