package workers

import (
	"context"
	"fmt"
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
	return &Loop{
		Name:    "dead letters",
		Every:   purgeEvery,
		Jitter:  purgeEvery / 10,
		Timeout: 30 * time.Second,
		Log:     log,
		Step: func(ctx context.Context) (Result, error) {
			row, err := q.PurgeDeadLettersStep(ctx, purgeRows)
			if err != nil {
				return Result{}, fmt.Errorf("remove old dead letters: %w", err)
			}
			return Result{Worked: int(row.Worked), Done: row.Done}, nil
		},
	}
}
