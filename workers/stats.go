package workers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
)

// A count that takes longer than statsLimit, a measurement that takes longer
// than retainedLimit, is given up.
const (
	statsLimit    = time.Minute
	retainedLimit = 15 * time.Minute
)

// Database is where a loop opens transactions of its own.
type Database interface {
	db.DBTX
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Stats is the loop that counts what every queue keeps and owes, once a period
// over all servers (S-22).
func Stats(pool Database, every time.Duration, log *slog.Logger) *Loop {
	return counting(pool, &Loop{Name: "stats", Timeout: statsLimit, Log: log}, "stats_refresh", every,
		func(ctx context.Context, q db.Querier) (json.RawMessage, error) { return q.RefreshStats(ctx, false) })
}

// RetainedBytes is the loop that measures what every queue keeps on disk, once
// a period over all servers.
func RetainedBytes(pool Database, every time.Duration, log *slog.Logger) *Loop {
	return counting(pool, &Loop{Name: "retained bytes", Timeout: retainedLimit, Log: log}, "retained_bytes", every,
		func(ctx context.Context, q db.Querier) (json.RawMessage, error) { return q.RefreshRetainedBytes(ctx) })
}

// counting makes loop a singleton that logs the summary of its step: at info
// when a number has moved, else at debug.
func counting(pool Database, loop *Loop, task string, every time.Duration, call func(context.Context, db.Querier) (json.RawMessage, error)) *Loop {
	loop.Step = func(ctx context.Context) (Result, error) {
		start := time.Now()
		summary, err := limited(ctx, pool, loop.Timeout, call)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", loop.Name, err)
		}
		var did struct{ QueuesUpdated, QueuesChanged int }
		if err := json.Unmarshal(summary, &did); err != nil {
			return Result{}, fmt.Errorf("%s: read the summary: %w", loop.Name, err)
		}
		level := slog.LevelDebug
		if did.QueuesChanged > 0 {
			level = slog.LevelInfo
		}
		loop.Log.Log(ctx, level, "queues counted", "loop", loop.Name, "summary", string(summary), "elapsed_ms", time.Since(start).Milliseconds())
		// When another runner holds the task's lock nothing was counted, and the period is served all the same (S-8).
		return Result{Worked: did.QueuesUpdated, Done: true}, nil
	}
	return Singleton(db.New(pool), task, every, loop)
}

// limited runs a call in a transaction that the server itself ends when it takes
// too long: nothing stays locked by a call whose client is gone.
func limited(ctx context.Context, pool Database, limit time.Duration, call func(context.Context, db.Querier) (json.RawMessage, error)) (result json.RawMessage, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		if err := q.LimitTransaction(ctx, limit.Milliseconds()); err != nil {
			return fmt.Errorf("limit the transaction: %w", err)
		}
		result, err = call(ctx, q)
		return err
	})
	return result, err
}
