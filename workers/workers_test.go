package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/workers"
)

// quiet drops log lines.
var quiet = slog.New(slog.DiscardHandler)

// TestLoopRunsAgainWhileMoreIsLeft: a step that is not done runs again at once.
func TestLoopRunsAgainWhileMoreIsLeft(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	drained := make(chan struct{})
	stop := workers.Start(t.Context(), &workers.Loop{
		Name: "drain", Every: time.Hour, Log: quiet,
		Step: func(context.Context) (workers.Result, error) {
			n := runs.Add(1)
			if n == 5 {
				close(drained)
			}
			return workers.Result{Worked: 1, Done: n == 5}, nil
		},
	})
	<-drained
	stop()
	require.EqualValues(t, 5, runs.Load())
}

// TestLoopSurvivesFailures: a failed step is tried again, later and later, and
// stop returns only when the step has returned.
func TestLoopSurvivesFailures(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	again := make(chan struct{})
	var ended atomic.Bool
	stop := workers.Start(t.Context(), &workers.Loop{
		Name: "fail", Every: time.Millisecond, Timeout: time.Minute, Log: quiet,
		Step: func(ctx context.Context) (workers.Result, error) {
			switch runs.Add(1) {
			case 1:
				return workers.Result{}, errors.New("no luck")
			case 2:
				close(again)
				<-ctx.Done()
				ended.Store(true)
				return workers.Result{}, ctx.Err()
			}
			return workers.Result{Done: true}, nil
		},
	})
	<-again
	stop()
	require.True(t, ended.Load())
	require.EqualValues(t, 2, runs.Load())
	stop()
}

// TestSettleLoop: a quiet partition gets its head written back, and the clock is
// noted (design 3.2 rules 3 and 6).
func TestSettleLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	q := db.New(d.Pool)
	ctx := t.Context()
	_, err := q.PushMany(ctx, db.PushManyParams{Queue: "q", Payloads: [][]byte{[]byte("1"), []byte("2")}, Partitions: []string{"p"}})
	require.NoError(t, err)
	_, err = d.Pool.Exec(ctx, `UPDATE queen.log_partitions SET last_write_at = last_write_at - interval '1 minute'`)
	require.NoError(t, err)

	stop := workers.Start(ctx, workers.Settle(q, quiet))
	defer stop()
	require.Eventually(t, func() bool {
		var settled bool
		var head int64
		err := d.Pool.QueryRow(ctx, `SELECT settled, last_offset FROM queen.log_partitions`).Scan(&settled, &head)
		return err == nil && settled && head == 1
	}, 30*time.Second, 20*time.Millisecond)
	var marks int
	require.NoError(t, d.Pool.QueryRow(ctx, `SELECT count(*) FROM queen.clock_marks`).Scan(&marks))
	require.Positive(t, marks)
}

// TestDeadLettersLoop: a queue that asks for it forgets old dead letters, in as
// many steps as it takes; one that does not keeps them (design 5).
func TestDeadLettersLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	q := db.New(d.Pool)
	ctx := t.Context()
	_, err := q.PushMany(ctx, db.PushManyParams{Queue: "forgets", Payloads: [][]byte{[]byte("1")}, Partitions: []string{"p"}})
	require.NoError(t, err)
	_, err = q.PushMany(ctx, db.PushManyParams{Queue: "keeps", Payloads: [][]byte{[]byte("1")}, Partitions: []string{"p"}})
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload, failed_at)
			SELECT p.id, 'g', 0, gen_random_uuid(), 'x', '1', clock_timestamp() - interval '1 hour' FROM queen.log_partitions p, generate_series(1, 2500)`,
		`SELECT queen.configure_queue_v1('forgets', '{"deadLetterRetentionSeconds": 60}')`,
	} {
		_, err = d.Pool.Exec(ctx, sql)
		require.NoError(t, err)
	}

	stop := workers.Start(ctx, workers.DeadLetters(q, quiet))
	defer stop()
	require.Eventually(t, func() bool {
		var left, removed int
		err := d.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM queen.log_dlq), (SELECT coalesce(sum(removed), 0) FROM queen.dead_letter_removals)`).Scan(&left, &removed)
		return err == nil && left == 2500 && removed == 2500
	}, 30*time.Second, 20*time.Millisecond)
}

// counted is a server that counted one push.
type counted struct{ stored atomic.Int32 }

func (c *counted) TakeMetrics() (db.FlushMetricsParams, bool) {
	return db.FlushMetricsParams{FlushID: uuid.New(), Hostname: "h", Worker: []byte(`{"push_messages": 1}`), System: []byte(`{}`), Queues: []byte(`[]`)}, false
}
func (c *counted) MetricsStored() { c.stored.Add(1) }

// TestMetricsLoop: what a server counted is stored, and what triggers noted about
// partitions is in the minute of its queue (S-35, E-14).
func TestMetricsLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	q := db.New(d.Pool)
	ctx := t.Context()
	_, err := q.PushMany(ctx, db.PushManyParams{Queue: "q", Payloads: [][]byte{[]byte("1"), []byte("2")}, Partitions: []string{"a", "b"}})
	require.NoError(t, err)
	server := &counted{}
	stop := workers.Start(ctx, workers.Metrics(q, server, time.Hour, quiet))
	require.Eventually(t, func() bool { return server.stored.Load() == 1 }, 30*time.Second, 5*time.Millisecond)
	stop()
	var messages, created int
	require.NoError(t, d.Pool.QueryRow(ctx, `SELECT total_push_messages, (SELECT sum(partitions_created) FROM queen.queue_lag_metrics) FROM queen.worker_metrics_summary`).Scan(&messages, &created))
	require.Equal(t, [2]int{1, 2}, [2]int{messages, created})
}
