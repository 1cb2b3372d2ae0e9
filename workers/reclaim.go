package workers

import (
	"context"
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
	return Singleton(q, "reclaim", reclaimEvery, newLoop("reclaim", reclaimEvery, log, func(ctx context.Context) (db.StepRow, error) {
		return q.ReclaimStep(ctx, reclaimRows)
	}))
}
