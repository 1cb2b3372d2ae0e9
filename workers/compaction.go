package workers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

// A step reads compactFrames frames at most. A partition gets compactSteps of
// them before the next one has its turn; of compactRows partitions a page.
const (
	compactFrames  = 20_000
	compactSteps   = 500
	compactRows    = 1000
	compactTimeout = time.Minute
)

// Compaction is the loop that keeps, of queues whose cleanupPolicy says so, the
// newest message of each key. It runs once in every period, on one server of
// all. A partition that fails is logged and looked at again in the next period;
// it never stops the others.
func Compaction(q db.Querier, every time.Duration, log *slog.Logger) *Loop {
	c := &compactor{q: q, log: log}
	return Singleton(q, "compaction", every, &Loop{Name: "compaction", Log: log, Step: c.page})
}

// compactor is a round over the partitions that are due.
type compactor struct {
	q     db.Querier
	log   *slog.Logger
	after uuid.UUID
	again bool
	sum   compacted
}

// compacted counts what a round did.
type compacted struct {
	partitions, failed int
	read, kept         int64
}

// page compacts the partitions of one page. The round ends with a short page, and
// begins anew when a partition of it was left unfinished.
func (c *compactor) page(ctx context.Context) (Result, error) {
	due, err := c.q.CompactDue(ctx, compactRows, c.after)
	if err != nil {
		return Result{}, fmt.Errorf("list partitions to compact: %w", err)
	}
	worked := 0
	for _, id := range due {
		n, err := c.partition(ctx, id)
		worked += n
		if ctx.Err() != nil {
			return Result{Worked: worked}, ctx.Err()
		}
		if err != nil {
			c.sum.failed++
			c.log.Warn("compaction of a partition failed", "partition_id", id, "error", err)
		}
		c.after = id
	}
	if len(due) == compactRows {
		return Result{Worked: worked}, nil
	}
	if c.sum.read > c.sum.kept {
		c.log.Info("compacted", "partitions", c.sum.partitions, "failed", c.sum.failed, "frames_read", c.sum.read, "frames_kept", c.sum.kept)
	}
	done := !c.again
	c.after, c.again, c.sum = uuid.UUID{}, false, compacted{}
	return Result{Worked: worked, Done: done}, nil
}

// partition runs the steps of one partition.
func (c *compactor) partition(ctx context.Context, id uuid.UUID) (worked int, err error) {
	c.sum.partitions++
	for range compactSteps {
		row, err := c.step(ctx, id)
		if err != nil {
			return worked, err
		}
		worked += int(row.Worked)
		c.sum.read += row.FramesRead
		c.sum.kept += row.FramesKept
		if row.Done {
			return worked, nil
		}
	}
	c.again = true
	return worked, nil
}

func (c *compactor) step(ctx context.Context, id uuid.UUID) (db.CompactRow, error) {
	ctx, cancel := context.WithTimeout(ctx, compactTimeout)
	defer cancel()
	return c.q.CompactStep(ctx, id, compactFrames)
}
