package db

import (
	"context"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// bundleClient takes messages for several pops at once and acknowledges them at once.
type bundleClient struct {
	q       *Queries
	rng     *randv2.Rand
	apart   bool
	done    *atomic.Int64
	refused []string
}

// TestBundlesOfManyClients lets servers that share pops and acks work on the same
// partitions beside a client that takes alone. Whoever got a lease can use it, so
// that no ack is refused, and each message is completed once (E-29, A-6).
func TestBundlesOfManyClients(t *testing.T) {
	t.Parallel()
	const lanes, each, clients = 24, 12, 4
	db := dbtest.New(t)
	push := PushParams{TenantID: modelTenant}
	for i := range lanes {
		push.Queues, push.Partitions, push.Counts = append(push.Queues, "q"), append(push.Partitions, fmt.Sprint("p", i)), append(push.Counts, 1)
		push.Payloads = append(push.Payloads, "{}")
	}
	feeder := New(db.Conn(t))
	var done atomic.Int64
	var all sync.WaitGroup
	workers := make([]*bundleClient, clients)
	for i := range workers {
		w := &bundleClient{q: New(db.Conn(t)), rng: randv2.New(randv2.NewPCG(uint64(i), drawSeed())), apart: i > 0, done: &done}
		workers[i] = w
		all.Go(func() {
			for done.Load() < lanes*each && len(w.refused) == 0 {
				if err := w.turn(context.Background()); err != nil {
					w.refused = append(w.refused, err.Error())
				}
			}
		})
	}
	for range each {
		rows, err := feeder.Push(context.Background(), push)
		require.NoError(t, err)
		require.Len(t, rows, lanes)
	}
	all.Wait()
	for i, w := range workers {
		require.Empty(t, w.refused, "client %d", i)
	}
	require.EqualValues(t, lanes*each, done.Load(), "each once")
	var cursors, consumed int
	require.NoError(t, db.Conn(t).QueryRow(t.Context(), `SELECT count(*), sum(total_consumed) FROM queen.log_consumers
		WHERE committed = $1 AND worker_id IS NULL AND batch_end IS NULL`, each-1).Scan(&cursors, &consumed))
	require.Equal(t, lanes, cursors, "every cursor is at the end, and free")
	require.Equal(t, lanes*each, consumed)
}

// turn pops and acknowledges; now and then a partition is given back instead.
func (c *bundleClient) turn(ctx context.Context) error {
	group, mode := "g", "all"
	rows, err := c.q.Pop(ctx, PopParams{Queue: "q", ConsumerGroup: &group, SubscriptionMode: &mode, Batch: 1 + c.rng.Int32N(3),
		MaxPartitions: 2 + c.rng.Int32N(9), Apart: c.apart, TenantID: modelTenant})
	if err != nil || len(rows) == 0 {
		return err
	}
	var groups []AckParams
	for i := range rows {
		r := &rows[i]
		if i == 0 || r.PartitionID != rows[i-1].PartitionID {
			groups = append(groups, AckParams{PartitionIds: []uuid.UUID{r.PartitionID}, ConsumerGroups: []string{group}, LeaseIds: []*string{&r.LeaseID}, Counts: []int32{0}})
		}
		g := &groups[len(groups)-1]
		for k := range r.Payloads {
			g.Counts[0]++
			g.TransactionIds = append(g.TransactionIds, frameText(r.IDBase, r.FirstOffset+int64(k)-r.SegmentBase))
			g.Statuses, g.Errors = append(g.Statuses, "completed"), append(g.Errors, nil)
		}
	}
	for _, g := range groups {
		if c.rng.IntN(20) == 0 {
			for i := range g.Statuses {
				g.Statuses[i] = "retry"
			}
		}
	}
	return c.ack(ctx, groups, c.apart)
}

// ack sends acks together. What was left alone, since somebody looked at the cursor
// at this moment, is sent again by itself, as a server does.
func (c *bundleClient) ack(ctx context.Context, groups []AckParams, skip bool) error {
	all := AckParams{TenantID: modelTenant, SkipLocked: skip}
	for _, g := range groups {
		all.PartitionIds, all.ConsumerGroups = append(all.PartitionIds, g.PartitionIds...), append(all.ConsumerGroups, g.ConsumerGroups...)
		all.LeaseIds, all.Counts = append(all.LeaseIds, g.LeaseIds...), append(all.Counts, g.Counts...)
		all.TransactionIds, all.Statuses, all.Errors = append(all.TransactionIds, g.TransactionIds...), append(all.Statuses, g.Statuses...), append(all.Errors, g.Errors...)
	}
	verdicts, err := c.q.Ack(ctx, all)
	if err != nil {
		return err
	}
	judged := make([]bool, len(all.TransactionIds))
	for _, v := range verdicts {
		judged[v.Item] = true
		switch {
		case !v.Success:
			return fmt.Errorf("refused: %s", *v.Error)
		case all.Statuses[v.Item] == "completed" && !v.Noop:
			c.done.Add(1)
		}
	}
	item := 0
	for _, g := range groups {
		switch {
		case judged[item]:
		case !skip:
			return errors.New("no verdict")
		default:
			if err := c.ack(ctx, []AckParams{g}, false); err != nil {
				return err
			}
		}
		item += len(g.TransactionIds)
	}
	return nil
}

func frameText(base uuid.UUID, k int64) string {
	base[13] = base[13]&0xf0 | byte(k>>16)&0x0f
	base[14], base[15] = byte(k>>8), byte(k)
	return base.String()
}
