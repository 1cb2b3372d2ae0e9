package workers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"regent.local/regent/db"
)

// foldRows bounds one step that adds partition events up.
const foldRows = 10_000

// Counted is a server that counts what it does.
type Counted interface {
	// TakeMetrics is what was counted since the last flush that was stored; again
	// says that it was taken before, by a flush that failed.
	TakeMetrics() (flush db.FlushMetricsParams, again bool)
	// MetricsStored says that what was taken is in the database.
	MetricsStored()
}

// Metrics is the loop that stores what a server counted, and what triggers noted
// about partitions. Every server runs it for itself. A failed flush is sent again
// as it was, and counts once. The pause has no jitter, so that every minute gets
// its flush.
func Metrics(q db.Querier, server Counted, every time.Duration, log *slog.Logger) *Loop {
	return &Loop{
		Name:    "metrics",
		Every:   every,
		Timeout: 30 * time.Second,
		Log:     log,
		Step: func(ctx context.Context) (Result, error) {
			folded, err := q.FoldPartitionEventsStep(ctx, foldRows)
			if err != nil {
				return Result{}, fmt.Errorf("add partition events up: %w", err)
			}
			flushed, err := FlushMetrics(ctx, q, server)
			return Result{Worked: int(folded.Worked) + flushed.Worked, Done: folded.Done && flushed.Done}, err
		},
	}
}

// FlushMetrics stores what a server counted since its last flush, once; call it
// again while Done is false.
func FlushMetrics(ctx context.Context, q db.Querier, server Counted) (Result, error) {
	flush, again := server.TakeMetrics()
	row, err := q.FlushMetrics(ctx, flush)
	if err != nil {
		return Result{}, fmt.Errorf("store the counters: %w", err)
	}
	server.MetricsStored()
	return Result{Worked: int(row.Worked), Done: !again}, nil
}
