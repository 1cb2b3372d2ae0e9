package workers_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/workers"
)

// logBuffer is a writer for several goroutines.
type logBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// TestStatsLoops: two servers share the count of what queues keep and owe; the
// lane measures its two columns; the summary is logged; a task that is paused
// runs nowhere, and the other goes on (S-2, S-9, S-22, S-28).
func TestStatsLoops(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	ctx := t.Context()
	_, err := db.New(d.Pool).PushMany(ctx, db.PushManyParams{Queue: "q", Payloads: [][]byte{[]byte("1"), []byte("2")}, Partitions: []string{"p"}})
	require.NoError(t, err)
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	var log logBuffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	start := func() (stop func()) {
		return workers.Start(ctx, workers.Stats(d.Pool, time.Second, logger), workers.RetainedBytes(d.Pool, time.Second, logger),
			workers.Stats(d.Pool, time.Second, logger))
	}
	stored := func(want int64) func() bool {
		return func() bool {
			var pending, segments int64
			err := d.Pool.QueryRow(ctx, `SELECT pending_messages, segment_count FROM queen.stats WHERE stat_type = 'queue'`).Scan(&pending, &segments)
			return err == nil && pending == want && segments > 0
		}
	}
	stop := start()
	require.Eventually(t, stored(2), 30*time.Second, 20*time.Millisecond)
	// A stop may meet a loop between its commit and its line.
	for _, line := range []string{`"loop":"stats","summary":"{\"engine\":\"segments\",\"queuesUpdated\":1,\"queuesChanged\":1`, `"loop":"retained bytes","summary":"{\"queuesUpdated\":1`} {
		require.Eventually(t, func() bool { return strings.Contains(log.String(), line) }, 30*time.Second, 20*time.Millisecond, line)
	}
	stop()

	exec(`UPDATE queen.maintenance_leases SET enabled = false, next_due_at = clock_timestamp() WHERE task = 'stats_refresh'`)
	exec(`SELECT queen.push_v1('q', '3', 'p')`)
	exec(`UPDATE queen.stats SET segment_count = 0`)
	stop = start()
	require.Eventually(t, stored(2), 30*time.Second, 20*time.Millisecond, "S-9: the lane runs, the paused task does not")
	exec(`UPDATE queen.maintenance_leases SET enabled = true, next_due_at = clock_timestamp() WHERE task = 'stats_refresh'`)
	require.Eventually(t, stored(3), 30*time.Second, 20*time.Millisecond, "S-9: and goes on when it is switched on")
	stop()
}

// TestStatsLoopIsBounded: the transaction of a count carries its own timeouts
// (S-22), and while another runner holds the task's lock the period counts as
// served (S-8).
func TestStatsLoopIsBounded(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	ctx := t.Context()
	tx, err := d.Pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `SELECT pg_advisory_xact_lock(737002)`)
	require.NoError(t, err)
	loop := workers.Stats(d.Pool, time.Second, quiet)
	res, err := loop.Step(ctx)
	require.NoError(t, err)
	require.Equal(t, workers.Result{Done: true}, res, "S-8: another runner counts")

	_, err = d.Pool.Exec(ctx, `CREATE FUNCTION queen._count_queues_limits() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'limits % %', current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'); END $$;
		CREATE TRIGGER limits BEFORE INSERT ON queen.stats FOR EACH ROW EXECUTE FUNCTION queen._count_queues_limits()`)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(ctx))
	_, err = loop.Step(ctx)
	require.ErrorContains(t, err, "limits 1min 1min", "S-22")
}
