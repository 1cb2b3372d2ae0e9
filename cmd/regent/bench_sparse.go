package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
	"regent.local/regent/testdata/bench"
)

const (
	// sparseGroup is the group of a pop-sparse cell.
	sparseGroup = "sparse"
	// sparsePending is how many partitions have a message when it pops.
	sparsePending = 2
	// sparseCall is how many partitions a call of the preparation fills.
	sparseCall = 1000
	// sparseAsked is how many partitions a pop asks for: more than are pending, so
	// that it does not end as soon as it has these.
	sparseAsked = 10
)

// sparseTarget is a queue of many partitions that its group has read to the end.
type sparseTarget struct {
	*sqlTarget
	lanes []string
}

func newSparseTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	made, err := newSQLTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	t := &sparseTarget{sqlTarget: made.(*sqlTarget), lanes: benchLanes(0, o)}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return t, t.fill(ctx, db.New(conn))
}

// fill gives each partition a message, which the group takes.
func (t *sparseTarget) fill(ctx context.Context, q *db.Queries) error {
	for at := 0; at < len(t.lanes); at += sparseCall {
		if err := pushSparse(ctx, q, t.lanes[at:min(at+sparseCall, len(t.lanes))]); err != nil {
			return err
		}
	}
	for taken := 0; taken < len(t.lanes); {
		rows, err := popSparse(ctx, q, sparseCall, sparseCall, true)
		if err != nil {
			return err
		} else if len(rows) == 0 {
			return fmt.Errorf("the group got %d of %d messages", taken, len(t.lanes))
		}
		taken += frames(rows)
	}
	return nil
}

func pushSparse(ctx context.Context, q *db.Queries, lanes []string) error {
	arg := db.PushParams{Partitions: lanes, TenantID: ownTenant()}
	for range lanes {
		arg.Queues, arg.Counts, arg.Payloads = append(arg.Queues, benchQueue), append(arg.Counts, 1), append(arg.Payloads, "{}")
	}
	rows, err := q.Push(ctx, arg)
	if err != nil {
		return err
	}
	return verdictCount(len(lanes), len(rows))
}

func popSparse(ctx context.Context, q *db.Queries, batch, partitions int, autoAck bool) ([]db.PopRow, error) {
	group := sparseGroup
	return q.Pop(ctx, db.PopParams{Queue: benchQueue, ConsumerGroup: &group, SubscriptionMode: &fromTheStart, Batch: int32(batch), MaxPartitions: int32(partitions),
		AutoAck: autoAck, TenantID: ownTenant()})
}

func frames(rows []db.PopRow) (n int) {
	for _, r := range rows {
		n += len(r.Payloads)
	}
	return n
}

func (t *sparseTarget) Consumer(ctx context.Context, i int) (bench.Consumer, error) {
	w, err := t.worker(ctx, i)
	if err != nil {
		return nil, err
	}
	return &sparseConsumer{sqlWorker: w, lanes: t.lanes, random: rand.New(rand.NewPCG(t.o.Seed, uint64(i)))}, nil
}

// sparseConsumer measures the pop alone: pushes and acks come before it.
type sparseConsumer struct {
	*sqlWorker
	lanes  []string
	random *rand.Rand
	taken  []db.PopRow
}

// Prepare finishes what was taken and makes two partitions pending.
func (c *sparseConsumer) Prepare(ctx context.Context) error {
	if c.taken != nil {
		arg := db.AckUptoParams{Ok: true}
		for _, r := range c.taken {
			arg.PartitionIds, arg.ConsumerGroups = append(arg.PartitionIds, r.PartitionID), append(arg.ConsumerGroups, sparseGroup)
			arg.LeaseIds, arg.Offsets = append(arg.LeaseIds, r.LeaseID), append(arg.Offsets, r.LastOffset)
		}
		verdicts, err := c.queries.AckUpto(ctx, arg)
		if err := ackOutcome(verdicts, err, len(c.taken)); err != nil {
			return err
		}
	}
	pending := map[string]bool{}
	for len(pending) < min(sparsePending, len(c.lanes)) {
		pending[c.lanes[c.random.IntN(len(c.lanes))]] = true
	}
	lanes := make([]string, 0, len(pending))
	for lane := range pending {
		lanes = append(lanes, lane)
	}
	return pushSparse(ctx, c.queries, lanes)
}

// Take pops what is pending, mostly in one call: a pop that got something may leave
// the rest to the next, and does where the second changed between two pushes.
func (c *sparseConsumer) Take(ctx context.Context, n int, _ func([]string)) (int, error) {
	c.taken = nil
	for pending := min(sparsePending, len(c.lanes)); len(c.taken) < pending; {
		rows, err := popSparse(ctx, c.queries, n, sparseAsked, false)
		if err != nil {
			return 0, err
		} else if len(rows) == 0 {
			return 0, fmt.Errorf("the group got %d of %d messages", len(c.taken), pending)
		}
		c.taken = append(c.taken, rows...)
	}
	return frames(c.taken), nil
}
