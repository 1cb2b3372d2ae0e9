package migrate

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	lockPoll    = 100 * time.Millisecond
	lockLogGap  = 5 * time.Second
	lockMaxWait = 5 * time.Minute
)

// errConnectionLost stops database/sql from opening a second connection, which
// would go on without the lock.
var errConnectionLost = errors.New("the migration connection was lost")

// session is the one connection of a migration. The lock, goose and the function
// loader share it, so that a lost connection ends all three together: conn and
// db are two faces of the same backend and are used in turn, never at once.
type session struct {
	db     *stdsql.DB
	conn   *pgx.Conn
	config *pgx.ConnConfig
}

// readDSN reads a connection string as a pool does, whose settings are none of the
// server's: it would refuse them.
func readDSN(dsn string) (*pgx.ConnConfig, error) {
	pool, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse connection string: %w", err)
	}
	return pool.ConnConfig, nil
}

// openSession connects and refuses servers and poolers that cannot be migrated.
func openSession(ctx context.Context, dsn string) (*session, error) {
	cfg, err := readDSN(dsn)
	if err != nil {
		return nil, err
	}
	// No named statements: a pooler may sit in between, and nothing here repeats.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	s := &session{config: cfg}
	s.db = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(s.adopt))
	s.db.SetMaxOpenConns(1)
	if err := s.prepare(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// adopt keeps the first connection and refuses any later one.
func (s *session) adopt(_ context.Context, c *pgx.Conn) error {
	if s.conn != nil {
		return errConnectionLost
	}
	s.conn = c
	return nil
}

func (s *session) close() {
	_ = s.db.Close()
}

func (s *session) prepare(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect for migration: %w", err)
	}
	if err := checkServerVersion(ctx, s.conn); err != nil {
		return err
	}
	if err := s.refusePooler(ctx); err != nil {
		return err
	}
	// The role's own settings must not decide what a migration means. The path
	// is the one that the functions pin.
	_, err := s.conn.Exec(ctx, `
		SET search_path = queen, pg_catalog, pg_temp;
		SET default_transaction_isolation = 'read committed';
		SET timezone = 'UTC';
		SET client_min_messages = 'warning';
		SET statement_timeout = 0;
		SET idle_in_transaction_session_timeout = 0`)
	if err != nil {
		return fmt.Errorf("prepare migration session: %w", err)
	}
	return nil
}

func checkServerVersion(ctx context.Context, q Querier) error {
	var version int
	var text string
	err := q.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version')`).
		Scan(&version, &text)
	if err != nil {
		return fmt.Errorf("read server version: %w", err)
	}
	if version < MinServerVersion {
		return fmt.Errorf("%w, this server is %s", ErrServerVersion, text)
	}
	return nil
}

func backendPID(ctx context.Context, q Querier) (uint32, error) {
	var pid uint32
	if err := q.QueryRow(ctx, `SELECT pg_backend_pid()::bigint`).Scan(&pid); err != nil {
		return 0, fmt.Errorf("read backend pid: %w", err)
	}
	return pid, nil
}

// refusePooler detects a transaction pooler before any lock is taken. Without a
// proxy the backend is the process that greeted us. Behind one, a second client
// inside a transaction gets our backend, or pushes us to another; under session
// pooling neither can happen.
func (s *session) refusePooler(ctx context.Context) error {
	before, err := backendPID(ctx, s.conn)
	if err != nil {
		return err
	}
	if before == s.conn.PgConn().PID() {
		return nil
	}
	other, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return fmt.Errorf("connect to probe for a pooler: %w", err)
	}
	defer other.Close(context.WithoutCancel(ctx))
	tx, err := other.Begin(ctx)
	if err != nil {
		return fmt.Errorf("probe for a pooler: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	taken, err := backendPID(ctx, tx)
	if err != nil {
		return err
	}
	after, err := backendPID(ctx, s.conn)
	if err != nil {
		return err
	}
	if taken == before || after != before {
		return ErrPooler
	}
	return nil
}

// lock takes the migration lock by polling. A blocking lock would hold a
// snapshot, for which CREATE INDEX CONCURRENTLY in the winner waits for ever.
func (s *session) lock(ctx context.Context, log *slog.Logger) error {
	wait := ctx
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, lockMaxWait)
		defer cancel()
	}
	start, logged := time.Now(), time.Time{}
	for {
		got, err := s.tryLock(ctx)
		if err != nil {
			return err
		}
		if got {
			return s.verifyLock(ctx)
		}
		if time.Since(logged) >= lockLogGap {
			logged = time.Now()
			log.InfoContext(ctx, "waiting for another migration", "waited", time.Since(start).Round(time.Millisecond))
		}
		select {
		case <-wait.Done():
			return fmt.Errorf("%w after %s: %w", ErrLockTimeout, time.Since(start).Round(time.Second), wait.Err())
		case <-time.After(lockPoll):
		}
	}
}

func (s *session) tryLock(ctx context.Context) (got bool, err error) {
	err = s.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1::bigint)`, LockID).Scan(&got)
	if err != nil {
		return false, fmt.Errorf("take migration lock: %w", err)
	}
	return got, nil
}

// verifyLock asks, in a statement of its own, whether this backend is the holder.
func (s *session) verifyLock(ctx context.Context) error {
	var held bool
	err := s.conn.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT FROM pg_locks
			WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND classid = 0 AND objid::bigint = $1::bigint AND objsubid = 1)`, LockID).Scan(&held)
	if err != nil {
		return fmt.Errorf("verify migration lock: %w", err)
	}
	if !held {
		return ErrPooler
	}
	return nil
}

// unlock gives the lock back. A connection that is gone has lost it already.
func (s *session) unlock(ctx context.Context) error {
	if s.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var released bool
	err := s.conn.QueryRow(ctx, `SELECT pg_advisory_unlock($1::bigint)`, LockID).Scan(&released)
	if err != nil {
		return fmt.Errorf("release migration lock: %w", err)
	}
	if !released {
		return fmt.Errorf("release migration lock: it was no longer held: %w", ErrPooler)
	}
	return nil
}
