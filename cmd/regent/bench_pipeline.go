package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"regent.local/regent/db"
)

// errQueued is what a call answers while it is only being collected.
var errQueued = errors.New("the call is collected and not sent yet")

// pipeline runs calls in one transaction and one round trip, as pgx.Batch does
// for an application. calls is run twice: to collect what each call sends, and
// to read the answers. So it must make the same calls in the same order both
// times, whatever they answer, and stop at no error of the first.
func pipeline(ctx context.Context, conn *pgx.Conn, calls func(*db.Queries) error) error {
	var batch pgx.Batch
	if err := calls(db.New((*collector)(&batch))); !errors.Is(err, errQueued) {
		return err
	}
	results := conn.SendBatch(ctx, &batch)
	err := calls(db.New(replayer{results}))
	return errors.Join(err, results.Close())
}

// collector takes in calls without sending them.
type collector pgx.Batch

func (c *collector) queue(sql string, args []any) error {
	(*pgx.Batch)(c).Queue(sql, args...)
	return errQueued
}

func (c *collector) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, c.queue(sql, args)
}

func (c *collector) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return nil, c.queue(sql, args)
}

func (c *collector) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	return queuedRow{c.queue(sql, args)}
}

type queuedRow struct{ err error }

func (r queuedRow) Scan(...any) error { return r.err }

// replayer reads the answers in the order of the calls.
type replayer struct{ results pgx.BatchResults }

func (r replayer) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return r.results.Exec()
}

func (r replayer) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return r.results.Query()
}

func (r replayer) QueryRow(context.Context, string, ...any) pgx.Row {
	return r.results.QueryRow()
}
