package workers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"regent.local/regent/db"
)

// Rows of deleted queues go at most reclaimRows a transaction.
const (
	reclaimEvery = 5 * time.Second
	reclaimRows  = 1000
)

// Reclaim is the loop that removes the rows of deleted queues, on one server of
// all. A queue is hidden from the moment of its delete, so nothing waits for it.
func Reclaim(q db.Querier, log *slog.Logger) *Loop {
	return Singleton(q, "reclaim", reclaimEvery, &Loop{
		Name:    "reclaim",
		Timeout: 30 * time.Second,
		Log:     log,
		Step: func(ctx context.Context) (Result, error) {
			row, err := q.ReclaimStep(ctx, reclaimRows)
			if err != nil {
				return Result{}, fmt.Errorf("reclaim deleted queues: %w", err)
			}
			return Result{Worked: int(row.Worked), Done: row.Done}, nil
		},
	})
}
