// Package session owns the few things that the server asks of a database
// session and that are no call of a stored function: hearing and telling of
// pushes on a notification channel, the connection limit, whether the server behind a
// connection takes writes, and the end of a call whose connection was lost.
//
// It must never read or write a table.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Channel carries the wake-ups between servers of one database.
const Channel = "queen_wake"

// MaxConnections asks the server for its connection limit, over a connection of
// its own.
func MaxConnections(ctx context.Context, config *pgx.ConnConfig) (int, error) {
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var limit int
	if err := conn.QueryRow(ctx, "SELECT pg_catalog.current_setting('max_connections')::integer").Scan(&limit); err != nil {
		return 0, fmt.Errorf("read max_connections: %w", err)
	}
	return limit, nil
}

// ErrReadOnly says that the server answers but takes no writes.
var ErrReadOnly = errors.New("the database takes no writes")

// Writable makes a round trip and reports ErrReadOnly on a standby or a
// read-only database. A pooler in between may hide that; it counts as writable.
func Writable(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.Ping(ctx); err != nil {
		return fmt.Errorf("ping the database: %w", err)
	}
	for _, setting := range []string{"in_hot_standby", "default_transaction_read_only"} {
		if conn.PgConn().ParameterStatus(setting) == "on" {
			return ErrReadOnly
		}
	}
	return nil
}

// Notify tells every listener, in one statement that stands alone.
func Notify(ctx context.Context, conn *pgx.Conn, payloads []string) error {
	_, err := conn.Exec(ctx, "SELECT pg_catalog.pg_notify($1, p) FROM unnest($2::text[]) AS p", Channel, payloads)
	if err != nil {
		return fmt.Errorf("notify other servers: %w", err)
	}
	return nil
}

// endPoll is how often End and AwaitCalls look.
const endPoll = 10 * time.Millisecond

// End ends the session of a backend whose connection is at least age old and
// was lost, and returns when its process has gone: nothing that was sent to it
// can happen any more. A process that is not ours, or newer, is left alone.
func End(ctx context.Context, conn *pgx.Conn, pid uint32, age time.Duration) error {
	return poll(ctx, conn, `SELECT pg_catalog.count(pg_catalog.pg_terminate_backend(a.pid)) FROM pg_catalog.pg_stat_activity a
		WHERE a.pid = $1 AND a.usename = session_user AND a.datname = pg_catalog.current_database()
		AND a.backend_start <= pg_catalog.clock_timestamp() - pg_catalog.make_interval(secs => $2)`, int32(pid), age.Seconds())
}

// AwaitCalls returns when every call of our role that matches the pattern, and
// that was under way when it began, has ended.
func AwaitCalls(ctx context.Context, conn *pgx.Conn, pattern string) error {
	var began time.Time
	if err := conn.QueryRow(ctx, "SELECT pg_catalog.clock_timestamp()").Scan(&began); err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	return poll(ctx, conn, `SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity a
		WHERE a.pid <> pg_catalog.pg_backend_pid() AND a.usename = session_user AND a.datname = pg_catalog.current_database()
		AND a.state <> 'idle' AND a.query LIKE $1 AND a.xact_start <= $2`, pattern, began)
}

// poll runs a query until it counts nothing.
func poll(ctx context.Context, conn *pgx.Conn, query string, args ...any) error {
	for {
		var left int64
		if err := conn.QueryRow(ctx, query, args...).Scan(&left); err != nil {
			return fmt.Errorf("wait for the end of a call: %w", err)
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of a call: %w", ctx.Err())
		case <-time.After(endPoll):
		}
	}
}

// Listener hears notifications over one dedicated connection.
type Listener struct {
	Config *pgx.ConnConfig
	// Connected is called after each (re)connection, when nothing can be missed
	// any more; whatever was told before may have been. Its ctx ends with the connection.
	Connected func(ctx context.Context)
	Heard     func(payload string)
	Lost      func(err error) // the connection broke; another one is tried
}

// probeAfter is how long a silent connection is trusted.
const probeAfter = 5 * time.Second

// Run listens until ctx ends. After a failure it tries again, at first after
// 100 ms, then ever more slowly, at most every 2 s.
func (l Listener) Run(ctx context.Context) {
	wait := 100 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		err := l.once(ctx)
		if ctx.Err() != nil {
			return
		}
		l.Lost(err)
		if time.Since(began) > 10*time.Second {
			wait = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, 2*time.Second)
	}
}

func (l Listener) once(ctx context.Context) error {
	conn, err := connect(ctx, l.Config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	heard, cancel := context.WithCancel(ctx)
	defer cancel()
	l.Connected(heard)
	for {
		if err := l.next(ctx, conn); err != nil {
			return err
		}
	}
}

// next hands over one notification, or probes a connection that was silent for
// long: a half-open socket never fails by itself.
func (l Listener) next(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, probeAfter)
	defer cancel()
	note, err := conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		l.Heard(note.Payload)
		return nil
	case ctx.Err() != nil || waiting.Err() == nil:
		return fmt.Errorf("wait for a notification: %w", err)
	}
	probing, stop := context.WithTimeout(ctx, probeAfter)
	defer stop()
	if err := conn.Ping(probing); err != nil {
		return fmt.Errorf("probe the listening connection: %w", err)
	}
	return nil
}

func connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	config = config.Copy()
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to listen: %w", err)
	}
	return conn, nil
}
