package workers

import (
	"context"
	"log/slog"
	"time"

	"regent.local/regent/db"
)

// Old dead letters go at most purgeRows a transaction.
const (
	purgeEvery = 10 * time.Second
	purgeRows  = 1000
)

// DeadLetters is the loop that removes dead letters past their queue's
// deadLetterRetentionSeconds. Any number of servers may run it: a step skips
// what another holds. A queue that has not set the option loses nothing.
func DeadLetters(q db.Querier, log *slog.Logger) *Loop {
	return newLoop("dead letters", purgeEvery, log, func(ctx context.Context) (db.StepRow, error) {
		return q.PurgeDeadLettersStep(ctx, purgeRows)
	})
}
