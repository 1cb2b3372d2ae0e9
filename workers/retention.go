package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// RetentionConfig are the knobs of the sweep. The zero value of a field is its
// default.
type RetentionConfig struct {
	Every       time.Duration // time between two sweeps over all servers; 5 s
	BatchSize   int           // segments a step takes at most, 1 to 10000; 1000
	Parallelism int           // partitions swept side by side, 1 to 16; 1
	DueCap      int           // partitions of a kind that one sweep lists; BatchSize * Parallelism * 5
	KeepEmpty   bool          // leave empty partitions alone
	CleanupDays int           // days without use after which an empty partition goes, at least 1; 30
	MetricsDays int           // days after which metrics and audit rows go, at least 1; 90
}

const (
	cleanupEvery = time.Minute
	// A limit of size that was lowered reaches a partition that nobody pushes to
	// within sizeLookEvery.
	sizeLookEvery = time.Minute
	maxSkip       = 1 << 10 // most sweeps that a partition without anything to take is passed over
	// A partition gets sweepSteps steps before the others have their turn, however much it holds.
	sweepSteps = 100
	maxSkipped = 100_000
)

// Retention is the loop that deletes what the rules of the queues let go, old
// hash rows, partitions that nobody uses, and old metrics. One server of all
// sweeps at a time. A partition that fails is logged and tried again by the next
// sweep; it stops no other.
func Retention(q db.Querier, cfg RetentionConfig, log *slog.Logger) *Loop {
	s := &sweeper{q: q, cfg: cfg.withDefaults(), log: log, fruitless: map[uuid.UUID]skipped{}}
	s.cleanup = Lease{Task: "partition_cleanup", Period: cleanupEvery, Queries: q}
	return Singleton(q, "retention", s.cfg.Every, &Loop{Name: "retention", Log: log, Step: s.sweep})
}

func (c RetentionConfig) withDefaults() RetentionConfig {
	if c.Every <= 0 {
		c.Every = 5 * time.Second
	}
	if c.BatchSize <= 0 {
		c.BatchSize = 1000
	}
	c.BatchSize = min(c.BatchSize, 10_000)
	c.Parallelism = min(max(c.Parallelism, 1), 16)
	if c.DueCap <= 0 {
		c.DueCap = c.BatchSize * c.Parallelism * 5
	}
	if c.CleanupDays <= 0 {
		c.CleanupDays = 30
	}
	if c.MetricsDays <= 0 {
		c.MetricsDays = 90
	}
	return c
}

// skipped is a partition that is due by its age but held nothing that may go,
// as when a group has not consumed it: it is passed over for a while.
type skipped struct {
	until int // number of the sweep that looks again
	pause int
}

// sweeper carries from one sweep to the next what saves useless looks. Losing it
// costs nothing but those looks.
type sweeper struct {
	q         db.Querier
	cfg       RetentionConfig
	log       *slog.Logger
	cleanup   Lease
	number    int
	fruitless map[uuid.UUID]skipped
	written   *time.Time // limits of size look at what was written since
	lookedAll time.Time
}

// swept is the account of one sweep.
type swept struct {
	mu         sync.Mutex
	queues     map[uuid.UUID]bool
	due        int
	backedOff  int
	again      bool // a partition had more than its turn
	segments   int64
	txns       int64
	evicted    int64
	partitions int64
	metrics    int64
	failed     int
	firstFault error
}

// sweep is one cycle: the work list, its three phases, partition cleanup and the
// purge of metrics, each step a transaction of its own.
func (s *sweeper) sweep(ctx context.Context) (Result, error) {
	began := time.Now()
	s.number++
	due, sum, err := s.list(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("list what is due: %w", err)
	}
	for phase := int32(1); phase <= 3; phase++ {
		s.phase(ctx, due, phase, sum)
	}
	s.tidy(ctx, sum)
	s.tell(sum, time.Since(began))
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	worked := int(sum.segments + sum.txns + sum.evicted + sum.partitions + sum.metrics)
	// What was cut short is followed by the next sweep at once, while it helps.
	return Result{Worked: worked, Done: sum.failed > 0 || sum.due < s.cfg.DueCap && !sum.again || worked == 0}, nil
}

// list asks for the work, without the partitions that are passed over.
func (s *sweeper) list(ctx context.Context) ([]db.RetentionDueRow, *swept, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	skip := []uuid.UUID{}
	for id, f := range s.fruitless {
		if f.until > s.number {
			skip = append(skip, id)
		}
	}
	since := s.written
	if time.Since(s.lookedAll) > sizeLookEvery {
		since = nil
	}
	due, err := s.q.RetentionDue(ctx, db.RetentionDueParams{MaxRows: int32(s.cfg.DueCap), Skip: skip, WrittenSince: since})
	if err != nil {
		return nil, nil, err
	}
	if since == nil {
		s.lookedAll = time.Now()
	}
	if len(due) > 0 {
		s.written = &due[0].At
	}
	return due, &swept{queues: map[uuid.UUID]bool{}, due: len(due), backedOff: len(skip)}, nil
}

// phase runs the steps of one phase, some partitions side by side.
func (s *sweeper) phase(ctx context.Context, due []db.RetentionDueRow, phase int32, sum *swept) {
	work := make(chan db.RetentionDueRow)
	var running sync.WaitGroup
	for range s.cfg.Parallelism {
		running.Go(func() {
			for row := range work {
				s.partition(ctx, row, sum)
			}
		})
	}
	for _, row := range due {
		if row.Phase == phase && ctx.Err() == nil {
			work <- row
		}
	}
	close(work)
	running.Wait()
}

// partition takes steps on one partition until nothing is left, or only what
// came since: where somebody pushes all the time, a limit of size always finds
// a little more, and the other partitions would wait for ever.
func (s *sweeper) partition(ctx context.Context, row db.RetentionDueRow, sum *swept) {
	taken, idle, caughtUp := int64(0), 0, 0
	for n := 1; ctx.Err() == nil; n++ {
		step, err := s.step(ctx, row)
		if err != nil {
			sum.fault(row, err)
			return
		}
		taken += int64(step.Segments)
		sum.add(row, step)
		// Twice nothing though not done: somebody else holds it.
		if step.Segments+step.Reclaimed == 0 {
			idle++
		}
		// What one step hid the next one deletes.
		if max(step.Segments, step.Reclaimed) < int32(s.cfg.BatchSize) {
			caughtUp++
		}
		if step.Done || idle > 1 || caughtUp > 1 {
			break
		}
		if n >= sweepSteps {
			sum.hurry()
			break
		}
	}
	if row.Phase == 1 && ctx.Err() == nil {
		s.remember(row.PartitionID, taken > 0, sum)
	}
}

func (s *sweeper) step(ctx context.Context, row db.RetentionDueRow) (db.RetentionStepRow, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	rows := int32(s.cfg.BatchSize)
	switch row.Phase {
	case 1:
		return s.q.RetentionStep(ctx, db.RetentionStepParams{
			PartitionID: row.PartitionID, AgeBefore: row.AgeBefore, CompletedBefore: row.CompletedBefore, MaxBytes: row.MaxBytes,
			MaxMessages: row.MaxMessages, IdleGroups: row.IdleGroups, IdleBefore: row.IdleBefore, MaxRows: rows,
		})
	case 2:
		return s.q.PurgeHashesStep(ctx, db.PurgeHashesStepParams{PartitionID: row.PartitionID, Before: *row.Before, MaxRows: rows})
	default:
		return s.q.EvictMaxWaitStep(ctx, db.EvictMaxWaitStepParams{PartitionID: row.PartitionID, Before: *row.Before, MaxRows: rows})
	}
}

// remember doubles the pause of a partition that was visited for nothing.
func (s *sweeper) remember(id uuid.UUID, fruitful bool, sum *swept) {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	f, known := s.fruitless[id]
	switch {
	case fruitful:
		delete(s.fruitless, id)
	case known || len(s.fruitless) < maxSkipped:
		f.pause = min(max(2*f.pause, 1), maxSkip)
		f.until = s.number + 1 + f.pause
		s.fruitless[id] = f
	}
}

// tidy deletes partitions that nobody uses, at most once a minute over all
// servers, and old metrics. Neither may fail the sweep, whose deletes stand.
func (s *sweeper) tidy(ctx context.Context, sum *swept) {
	if err := s.cleanUp(ctx, sum); err != nil && ctx.Err() == nil {
		s.log.Warn("partition cleanup failed", "error", err)
	}
	n, err := drainSteps(ctx, func(ctx context.Context) (db.StepRow, error) {
		return s.q.PurgeMetricsStep(ctx, int32(s.cfg.MetricsDays), int32(s.cfg.BatchSize))
	})
	sum.metrics = n
	if err != nil && ctx.Err() == nil {
		s.log.Warn("metrics purge failed", "error", err)
	}
}

// cleanUp is what runs once a minute: partition cleanup, where it is on, and old
// notes of the activity of groups.
func (s *sweeper) cleanUp(ctx context.Context, sum *swept) error {
	won, err := s.cleanup.claim(ctx)
	if won == nil {
		return err
	}
	kept, done := won.keep(ctx)
	if !s.cfg.KeepEmpty {
		sum.partitions, err = drainSteps(kept, func(ctx context.Context) (db.StepRow, error) {
			return s.q.CleanupPartitionsStep(ctx, int32(s.cfg.CleanupDays), int32(min(s.cfg.BatchSize, 1000)))
		})
	}
	_, forgot := drainSteps(kept, func(ctx context.Context) (db.StepRow, error) {
		return s.q.ForgetGroupsStep(ctx, int32(s.cfg.BatchSize))
	})
	done()
	// A failed cleanup waits its minute, too: it must not slow every sweep down.
	_, failed := won.release(ctx, true)
	return errors.Join(err, forgot, failed)
}

// drainSteps runs a step until it is done and sums up what it did.
func drainSteps(ctx context.Context, step func(context.Context) (db.StepRow, error)) (worked int64, err error) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, stepTimeout)
		row, err := step(bounded)
		cancel()
		if err != nil {
			return worked, err
		}
		worked += int64(row.Worked)
		if row.Done {
			break
		}
	}
	return worked, ctx.Err()
}

// add enters a step into the account. Sweeps count segments and hash rows; how
// many messages went stands in queen.retention_history.
func (w *swept) add(row db.RetentionDueRow, step db.RetentionStepRow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[row.QueueID] = true
	switch row.Phase {
	case 1:
		w.segments += int64(step.Segments)
	case 2:
		w.txns += int64(step.Segments)
	default:
		w.evicted += int64(step.Segments)
	}
}

// hurry asks for another sweep at once.
func (w *swept) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = true
}

func (w *swept) fault(row db.RetentionDueRow, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	if w.firstFault == nil {
		w.firstFault = fmt.Errorf("queue %q, partition %s: %w", row.Queue, row.PartitionID, dberr.From(err))
	}
}

// tell logs one line for a sweep that deleted something, and one for what failed.
func (s *sweeper) tell(sum *swept, took time.Duration) {
	level := slog.LevelDebug
	if sum.segments+sum.txns+sum.evicted+sum.partitions+sum.metrics > 0 {
		level = slog.LevelInfo
	}
	s.log.Log(context.Background(), level, "retention swept", "queues", len(sum.queues), "segments_deleted", sum.segments,
		"txns_purged", sum.txns, "max_wait_evicted", sum.evicted, "partitions_deleted", sum.partitions, "metrics_purge", sum.metrics,
		"due", sum.due, "backed_off", sum.backedOff, "failed", sum.failed, "elapsed_ms", took.Milliseconds())
	if sum.failed > 0 {
		s.log.Warn("retention failed on some partitions; the next sweep tries them again", "failed", sum.failed, "error", sum.firstFault)
	}
}

// walkEvery is the pause between two walks over all partitions when the
// configuration names none.
const walkEvery = 24 * time.Hour

// RetentionWalk is the loop that once a day holds the times by which partitions
// become due against what is stored, and mends them. Every 0 is a day.
func RetentionWalk(q db.Querier, every time.Duration, log *slog.Logger) *Loop {
	if every <= 0 {
		every = walkEvery
	}
	var after uuid.UUID
	mended := 0
	return Singleton(q, "retention_watermark", every, &Loop{
		Name: "retention walk", Timeout: stepTimeout, Log: log,
		Step: func(ctx context.Context) (Result, error) {
			row, err := q.WalkWatermarksStep(ctx, after, 5000)
			if err != nil {
				return Result{}, fmt.Errorf("check when partitions are due: %w", err)
			}
			mended += int(row.Mended)
			if row.LastID != nil {
				after = *row.LastID
			}
			if row.Done {
				if mended > 0 {
					log.Warn("partitions had wrong times of their oldest message or hash; mended", "partitions", mended)
				}
				after, mended = uuid.Nil, 0
			}
			return Result{Worked: int(row.Worked), Done: row.Done}, nil
		},
	})
}
