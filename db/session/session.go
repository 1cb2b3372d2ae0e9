// Package session owns the few things that the server asks of a database
// session and that are no call of a stored function: hearing and telling of
// pushes on a notification channel, the connection limit, and whether the server behind a
// connection takes writes.
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
