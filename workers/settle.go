package workers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"regent.local/regent/db"
)

// Settling works on partitions that nobody pushed to for settleQuiet, at most
// settleRows at a time (design 3.2 rule 3).
const (
	settleEvery = 2 * time.Second
	settleQuiet = 3 * time.Second
	settleRows  = 500
)

// Settle is the loop that notes the clock and writes back the heads of quiet
// partitions. Any number of servers may run it: the steps skip what another
// holds.
func Settle(q db.Querier, log *slog.Logger) *Loop {
	return &Loop{
		Name:    "settle",
		Every:   settleEvery,
		Jitter:  settleEvery / 10,
		Timeout: 30 * time.Second,
		Log:     log,
		Step: func(ctx context.Context) (Result, error) {
			if _, err := q.MarkClock(ctx); err != nil {
				return Result{}, fmt.Errorf("mark the clock: %w", err)
			}
			row, err := q.SettleHeadsStep(ctx, settleRows, int32(settleQuiet/time.Second))
			if err != nil {
				return Result{}, fmt.Errorf("settle heads: %w", err)
			}
			return Result{Worked: int(row.Worked), Done: row.Done}, nil
		},
	}
}
