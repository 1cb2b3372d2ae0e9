// Package migrate owns the schema "queen" of a database: it applies the tables
// (goose, forward only) and the stored functions, tells whether a database fits
// this binary, and writes the same schema as one SQL file or as an extension.
//
// It must never apply an older release over a newer one, never drop anything
// with CASCADE, never touch an object outside the schema, and never run without
// holding the migration lock. It holds no SQL of the product itself: that lives
// in package sql.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"regent.local/regent/sql"
)

// Release numbers the set of stored functions in this binary. It rises with
// every release that changes a function, so that an older binary can tell that
// the functions in the database are not its own.
const Release = 1

// Numbers of the schema that are fixed for good.
const (
	// LockID is the advisory lock that whoever changes the schema holds.
	LockID = 778120010
	// MinServerVersion is the oldest PostgreSQL that runs the functions.
	MinServerVersion = 150000

	migrationsTable = "queen.schema_migrations"
)

// stateError is a state of the database that the caller can act on. The command
// line treats it as the user's to solve.
type stateError string

func (e stateError) Error() string { return string(e) }

// ExitCode is the process exit code of a command that ends with this error.
func (e stateError) ExitCode() int { return 1 }

// States of a database that stop a migration or a server.
var (
	// ErrAhead means that a newer release has migrated the database. Nothing was changed.
	ErrAhead error = stateError("schema is newer than this binary")
	// ErrBehind means that the database waits for a migration.
	ErrBehind error = stateError("schema is older than this binary: run regent migrate up")
	// ErrExtension means that the schema belongs to the extension regent, which
	// only PostgreSQL may change, and that it is behind.
	ErrExtension error = stateError("schema belongs to the extension regent: run ALTER EXTENSION regent UPDATE")
	// ErrServerVersion means that the server is older than PostgreSQL 15.
	ErrServerVersion error = stateError("PostgreSQL 15 or newer is needed")
	// ErrPooler means that the connection changes its server backend between
	// statements, so that a session lock protects nothing.
	ErrPooler error = stateError("the connection goes through a transaction pooler: migrate with a direct or a session-pooled connection")
	// ErrLockTimeout means that another migration held the lock for too long.
	ErrLockTimeout = errors.New("another migration still holds the migration lock")
)

// source is what a migration applies. Tests replace it.
type source struct {
	migrations fs.FS // goose files at the top level
	functions  fs.FS // function files, at any depth
	release    int
}

func builtin() (source, error) {
	migrations, err := fs.Sub(sql.Migrations, "migrations")
	if err != nil {
		return source{}, fmt.Errorf("open embedded migrations: %w", err)
	}
	functions, err := fs.Sub(sql.Functions, "functions")
	if err != nil {
		return source{}, fmt.Errorf("open embedded functions: %w", err)
	}
	return source{migrations: migrations, functions: functions, release: Release}, nil
}

// Up brings the database at dsn to this binary's schema and functions. It is
// safe to call from many processes at once: one works, the others wait, at most
// until ctx ends or, when ctx has no deadline, for five minutes. A database that
// is current is left untouched. A nil log discards the progress lines.
//
// It returns ErrAhead, ErrExtension, ErrPooler, ErrServerVersion or
// ErrLockTimeout, possibly wrapped, when it refuses; nothing has changed then.
func Up(ctx context.Context, dsn string, log *slog.Logger) error {
	src, err := builtin()
	if err != nil {
		return err
	}
	return up(ctx, dsn, log, src)
}

func up(ctx context.Context, dsn string, log *slog.Logger, src source) (err error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := openSession(ctx, dsn)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.lock(ctx, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.unlock(ctx)) }()
	return s.apply(ctx, log, src)
}

// apply does the work of Up under the lock.
func (s *session) apply(ctx context.Context, log *slog.Logger, src source) error {
	want, err := src.read()
	if err != nil {
		return err
	}
	have, err := readState(ctx, s.conn)
	if err != nil {
		return err
	}
	err = have.compare(want)
	switch {
	case err == nil:
		log.InfoContext(ctx, "schema is current", "version", have.version, "release", have.release)
		return nil
	case errors.Is(err, ErrAhead), have.extension:
		return err
	}
	if err := s.createSchema(ctx, have); err != nil {
		return err
	}
	if err := s.dropInvalidIndexes(ctx, log); err != nil {
		return err
	}
	if err := s.applyMigrations(ctx, log, src); err != nil {
		return err
	}
	return s.applyFunctions(ctx, log, want)
}

func (s *session) createSchema(ctx context.Context, have state) error {
	if have.schema {
		return nil
	}
	if _, err := s.conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS queen`); err != nil {
		return fmt.Errorf("create schema queen: %w", err)
	}
	return nil
}

// dropInvalidIndexes removes what a CREATE INDEX CONCURRENTLY that failed or was
// killed left behind: IF NOT EXISTS would take it for the index, and no plan would
// ever use it (F185). What REINDEX CONCURRENTLY builds is left alone.
func (s *session) dropInvalidIndexes(ctx context.Context, log *slog.Logger) error {
	rows, err := s.conn.Query(ctx, `SELECT format('%I.%I', c.relnamespace::regnamespace, c.relname)
		FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = 'queen'::regnamespace AND NOT i.indisvalid AND c.relname !~ '_cc(new|old)[0-9]*$'`)
	if err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for invalid indexes: %w", err)
	}
	for _, name := range names {
		log.WarnContext(ctx, "dropping an index that was built half", "index", name)
		if _, err := s.conn.Exec(ctx, "DROP INDEX IF EXISTS "+name); err != nil {
			return fmt.Errorf("drop invalid index %s: %w", name, err)
		}
	}
	return nil
}

func (s *session) applyMigrations(ctx context.Context, log *slog.Logger, src source) error {
	p, err := goose.NewProvider(goose.DialectPostgres, s.db, src.migrations,
		goose.WithTableName(migrationsTable),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	results, err := p.Up(ctx)
	for _, r := range results {
		log.InfoContext(ctx, "migration applied", "file", r.Source.Path, "duration", r.Duration)
	}
	if err != nil {
		return fmt.Errorf("apply migrations: %w", err)
	}
	return nil
}
