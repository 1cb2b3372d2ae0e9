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
	return newLoop("settle", settleEvery, log, func(ctx context.Context) (db.StepRow, error) {
		if _, err := q.MarkClock(ctx); err != nil {
			return db.StepRow{}, fmt.Errorf("mark the clock: %w", err)
		}
		return q.SettleHeadsStep(ctx, settleRows, int32(settleQuiet/time.Second))
	})
}
