package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
	"regent.local/regent/workers"
)

// flush stores what a server counted.
func (ts *testServer) flush() {
	ts.t.Helper()
	for {
		done, err := workers.FlushMetrics(context.Background(), db.New(ts.db.Pool), ts.Server)
		require.NoError(ts.t, err)
		if done.Done {
			return
		}
	}
}

// lifetime is one column of the lifetime totals.
func (ts *testServer) lifetime(column string) int {
	ts.t.Helper()
	return ts.count(`SELECT coalesce(sum(` + column + `), 0)::bigint FROM queen.worker_metrics_summary`)
}

// ofQueue is the sum of a column over the minutes of a queue.
func (ts *testServer) ofQueue(queue, column string) int {
	ts.t.Helper()
	return ts.count(`SELECT coalesce(sum(m.`+column+`), 0) FROM queen.queue_lag_metrics m JOIN queen.queues q ON q.id = m.queue_id WHERE q.name = $1`, queue)
}

// S-35, S-39: with pushes, pops and acks in flight and flushes between them,
// what is stored is what happened: no more, no less, in the totals of the process,
// of the installation and of each queue.
func TestCountersAreExact(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const clients, rounds, queues = 6, 4, 3
	ctx, flushed := context.WithCancel(context.Background())
	var flushing, working sync.WaitGroup
	flushing.Go(func() {
		for ctx.Err() == nil {
			if _, err := workers.FlushMetrics(context.Background(), db.New(ts.db.Pool), ts.Server); err != nil {
				t.Error(err)
				return
			}
			pause(ctx, 20*time.Millisecond)
		}
	})
	for c := range clients {
		working.Go(func() {
			queue := fmt.Sprintf("q%d", c%queues)
			for i := range rounds {
				body := fmt.Sprintf(`{"items":[{"queue":%[1]q,"partition":"p%[2]d","payload":1},{"queue":%[1]q,"partition":"p%[2]d","payload":2,"transactionId":"t%[2]d"}]}`, queue, c)
				if r, err := ts.try(ctx, "POST", "/api/v1/push", body); err != nil || r.Status != http.StatusCreated {
					t.Error(err, r.Status)
					return
				}
				query := "?consumerGroup=g&subscriptionMode=all&batch=100"
				if i%2 == 1 {
					query += "&autoAck=true"
				}
				r, err := ts.try(ctx, "GET", fmt.Sprintf("/api/v1/pop/queue/%s/partition/p%d%s", queue, c, query), "")
				if err != nil || r.Status != http.StatusOK {
					t.Error(err, r.Status)
					return
				}
				var got PopResponse
				r.into(t, &got)
				var acks []string
				for _, m := range got.Messages {
					acks = append(acks, fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q}`, m.TransactionID, m.PartitionID, m.LeaseID))
				}
				if i%2 == 0 {
					if r, err := ts.try(ctx, "POST", "/api/v1/ack/batch", `{"consumerGroup":"g","acknowledgments":[`+strings.Join(acks, ",")+`]}`); err != nil || r.Status != http.StatusOK {
						t.Error(err, r.Status)
					}
				}
			}
		})
	}
	working.Wait()
	flushed()
	flushing.Wait()
	require.False(t, t.Failed())
	ts.flush()

	// The second item of all rounds but the first is a duplicate.
	const requests, stored = clients * rounds, clients * (rounds + 1)
	require.Equal(t, stored, ts.count(`SELECT sum(frames) FROM queen.log_segments`))
	for column, want := range map[string]int{"total_push_requests": requests, "total_pop_requests": requests, "total_ack_requests": requests / 2,
		"total_push_messages": stored, "total_pop_messages": stored, "total_ack_messages": stored, "total_ack_success": stored, "total_ack_failed": 0, "total_db_errors": 0} {
		require.Equal(t, want, ts.lifetime(column), column)
		require.Equal(t, want, ts.count(`SELECT sum(`+strings.Replace(strings.TrimSuffix(strings.TrimPrefix(column, "total_"), "s")+"_count", "ack_succes_", "ack_success_", 1)+`) FROM queen.worker_metrics`), "rows: %s", column)
	}
	for q := range queues {
		for column, total := range map[string]int{"push_request_count": requests, "push_message_count": stored, "pop_count": stored, "lag_count": stored,
			"ack_request_count": requests / 2, "ack_success_count": stored, "ack_failed_count": 0, "pop_empty_count": 0} {
			require.Equal(t, total/queues, ts.ofQueue(fmt.Sprintf("q%d", q), column), column)
		}
	}
}

// What is counted of the less common ways: refused and negative acks, dead
// letters, transactions, empty pops, discovery and acks of partitions whose
// queue this server does not know, conflation, lag.
func TestWhatCounts_S37(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db, deaf)
	ts.configure(`{"queue":"a.b","namespace":"n","options":{"retryLimit":0}}`)
	ts.pushOne("a.b", "p", `1`)
	ts.pushOne("a.b", "p", `2`)
	got := ts.pop("a.b", "batch=2")
	require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/a.b").Status)
	// Acked at a server that does not know the partition.
	r := other.post("/api/v1/ack/batch", fmt.Sprintf(`{"acknowledgments":[{"transactionId":%q,"partitionId":%q,"status":"dlq"},{"transactionId":%q,"partitionId":%q},{"transactionId":"x","partitionId":"none"}]}`,
		got.Messages[0].TransactionID, got.Messages[0].PartitionID, got.Messages[1].TransactionID, got.Messages[1].PartitionID))
	require.Equal(t, http.StatusOK, r.Status)
	// A transaction over two queues: one message is a repeat inside the call.
	ts.pushOne("a.b", "p", `3`)
	leased := ts.pop("a.b", "batch=1").Messages[0]
	done := ts.transact(fmt.Sprintf(`{"operations":[{"type":"push","items":[{"queue":"c","payload":1,"transactionId":"T"},{"queue":"c","payload":1,"transactionId":"T"}]},
		{"type":"ack","transactionId":%q,"partitionId":%q,"leaseId":%q}]}`, leased.TransactionID, leased.PartitionID, leased.LeaseID))
	require.True(t, done.Success)
	require.Equal(t, http.StatusOK, ts.get("/api/v1/pop?namespace=n&consumerGroup=d&subscriptionMode=all&autoAck=true&batch=2").Status)
	ts.sql(`UPDATE queen.log_segments SET created_at = created_at - interval '10 seconds'`)
	require.Equal(t, http.StatusOK, ts.get("/api/v1/pop/queue/a.b?consumerGroup=late&subscriptionMode=all&conflation=true").Status)
	ts.flush()
	other.flush()
	for column, want := range map[string]int{"total_ack_success": 1 + 1 + 2, "total_ack_failed": 2, "total_ack_messages": 6, "total_dlq": 1, "total_transactions": 1,
		"total_push_messages": 4, "total_pop_messages": 2 + 1 + 2 + 1, "total_pop_requests": 5} {
		require.Equal(t, want, ts.lifetime(column), column)
	}
	for column, want := range map[string]int{"ack_request_count": 1, "ack_success_count": 4, "ack_failed_count": 1, "transaction_count": 1, "pop_count": 6, "pop_empty_count": 1} {
		require.Equal(t, want, ts.ofQueue("a.b", column), column)
	}
	require.Equal(t, 1, ts.ofQueue("c", "transaction_count"))
	require.Equal(t, 1, ts.ofQueue("c", "push_message_count"))
	require.GreaterOrEqual(t, ts.count(`SELECT max(max_lag_ms) FROM queen.queue_lag_metrics`), 10_000, "S-38: age at delivery")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.worker_metrics WHERE max_lag_ms >= 10000 AND avg_lag_ms BETWEEN 1000 AND max_lag_ms - 1`))

	ts.pushOne("c", "Default", `2`)
	last := ts.pop("c", "consumerGroup=g&subscriptionMode=all&conflation=true").Messages[0]
	require.True(t, ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":"g"}`, last.TransactionID, last.PartitionID, last.LeaseID)).Success)
	ts.flush()
	require.Equal(t, 1, ts.ofQueue("c", "conflated_count"))
	require.Equal(t, 1, ts.lifetime("total_conflated"))
}

// S-39: a push that the database did not take is an error of the database before
// it is answered buffered, and its messages count when they are stored. A flush
// that fails keeps everything for the next one.
func TestCountersAcrossAnOutage_S39(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir())
	ts.pushOne("q", "p", `0`)
	wire.set(true)
	ts.buffer("q", "p", `1`, `2`)
	_, err := workers.FlushMetrics(context.Background(), db.New(ts.pool), ts.Server)
	require.Error(t, err)
	wire.set(false)
	ts.emptySpool()
	ts.flush()
	require.Equal(t, 3, ts.ofQueue("q", "push_message_count"))
	require.Equal(t, 3, ts.lifetime("total_push_messages"))
	require.Equal(t, 3, ts.lifetime("total_push_requests"))
	require.Positive(t, ts.lifetime("total_db_errors"))
	errorsBefore := ts.lifetime("total_db_errors")
	require.Equal(t, http.StatusNotFound, ts.get("/api/v1/resources/queues/none").Status)
	ts.flush()
	require.Equal(t, errorsBefore, ts.lifetime("total_db_errors"), "a refusal is no error")
}

// forgetful loses the answer of every flush.
type forgetful struct {
	db.Querier
	lost int
}

func (f *forgetful) FlushMetrics(ctx context.Context, arg db.FlushMetricsParams) (db.StepRow, error) {
	if _, err := f.Querier.FlushMetrics(ctx, arg); err != nil {
		return db.StepRow{}, err
	}
	f.lost++
	return db.StepRow{}, dberr.ErrUnavailable
}

// A flush whose outcome is lost is sent again under its id and counts once; what
// happened meanwhile follows.
func TestFlushWithLostAnswerCountsOnce(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	lossy := &forgetful{Querier: db.New(ts.db.Pool)}
	for i := range 3 {
		ts.pushOne("q", "p", `1`)
		_, err := workers.FlushMetrics(context.Background(), lossy, ts.Server)
		require.True(t, errors.Is(err, dberr.ErrUnavailable))
		require.Equal(t, i+1, lossy.lost)
		require.Equal(t, 1, ts.lifetime("total_push_messages"), "only the first is stored, again and again")
	}
	ts.flush()
	require.Equal(t, 3, ts.lifetime("total_push_messages"))
	require.Equal(t, 3, ts.ofQueue("q", "push_message_count"))
	require.Equal(t, 2, ts.count(`SELECT count(*) FROM queen.worker_metrics`))
}

// S-36: the flushes of two servers in one minute are one row of the queue.
func TestTwoServersFlushIntoOneMinute_S36(t *testing.T) {
	t.Parallel()
	began := time.Now()
	one, two := twoServers(t, deaf)
	one.configure(`{"queue":"q"}`)
	one.configure(`{"queue":"idle"}`) // parked is who has come in, a moment before its claim makes the queue
	for range 4 {
		one.pushOne("q", "p", `1`)
	}
	one.sql(`UPDATE queen.log_segments SET created_at = created_at - interval '20 seconds' * (4 - base_offset)`)
	require.Len(t, one.pop("q", "consumerGroup=a&subscriptionMode=all&batch=3&autoAck=true").Messages, 3) // 80, 60, 40 seconds
	require.Len(t, two.pop("q", "consumerGroup=b&subscriptionMode=all&batch=1&autoAck=true").Messages, 1) // 80
	for looks, ts := range map[int]*testServer{60: one, 30: two} {
		waiting := ts.popLater(fmt.Sprintf("/api/v1/pop/queue/idle?wait=true&timeout=20000&consumerGroup=g%d", looks))
		ts.parked(1)
		for range looks {
			ts.sample(0)
		}
		ts.flush()
		defer func() { <-waiting }()
	}
	require.Equal(t, 4, one.ofQueue("q", "push_message_count"))
	require.Equal(t, 4, one.ofQueue("q", "ack_success_count"))
	// The minute may turn between the flushes; so the rows are added up here, as readers do.
	parked := func(table string) float64 {
		return float64(one.count(`SELECT round(100 * sum(p.parked_count)) FROM queen.`+table+` p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'idle'`)) / 100
	}
	// The servers look for themselves as well, once a second, before the pops were parked and after.
	more := time.Since(began).Seconds() + 2
	for _, table := range []string{"queue_lag_metrics", "queue_parked_replica"} {
		require.GreaterOrEqual(t, parked(table), 60/(60+more)+30/max(60, 30+more)-0.02, "S-36: a whole minute at one server, half of one at the other")
		require.LessOrEqual(t, parked(table), 1.52+more/60)
	}
	lag := one.count(`SELECT round(sum(avg_lag_ms * lag_count) FILTER (WHERE max_lag_ms > 30000) / 1000) FROM queen.queue_lag_metrics`)
	require.GreaterOrEqual(t, lag, 80+60+40+80-1, "S-36: the average is weighted by its samples")
	require.LessOrEqual(t, float64(lag), 80+60+40+80+4*more)
	most := one.count(`SELECT max(max_lag_ms) FROM queen.queue_lag_metrics`)
	require.GreaterOrEqual(t, most, 80_000)
	require.LessOrEqual(t, float64(most), 80_000+1000*more)
	require.Equal(t, 2, one.count(`SELECT count(*) FROM queen.system_metrics`))
	one.pushOne("idle", "p", `1`)
	one.pushOne("idle", "p", `1`)
}

// The memory of the counters is bounded, and what is idle goes; what had its
// counters in hand then is not lost.
func TestCountersAreBounded(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	kept := ts.Server.count.queue(byName(queueKey{defaultTenant, "q"}))
	for range idleFlushes + 1 {
		ts.flush()
	}
	require.Zero(t, ts.Server.count.known.Load())
	kept.add(queuePushMessages, 1) // by somebody who found them just before
	ts.flush()
	require.Equal(t, 2, ts.ofQueue("q", "push_message_count"))
	ts.Server.count.known.Store(maxCountedQueues)
	ts.pushOne("q", "p", `1`)
	ts.flush()
	require.Equal(t, 2, ts.ofQueue("q", "push_message_count"), "there is no room")
	require.Equal(t, 2, ts.lifetime("total_push_messages"), "but in the totals")
	require.Positive(t, ts.Server.count.get(uncounted))
}
