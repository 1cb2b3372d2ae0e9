package workers_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/workers"
)

// lines is a log that a test may read while a loop writes.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// aged fills queues with segments of one message and makes them ten minutes old.
func aged(t *testing.T, d *dbtest.Database, segments int, queues ...string) {
	t.Helper()
	for _, queue := range queues {
		for _, sql := range []string{
			`SELECT queen.configure_queue_v1($1, '{"retentionEnabled": true, "retentionSeconds": 60}')`,
			fmt.Sprintf(`DO $$ BEGIN FOR i IN 1..%d LOOP PERFORM queen.push_v1('%s', '1', 'p' || i %% 3); END LOOP; END $$`, segments, queue),
		} {
			args := []any{}
			if sql[0] == 'S' {
				args = append(args, queue)
			}
			_, err := d.Pool.Exec(t.Context(), sql, args...)
			require.NoError(t, err, sql)
		}
	}
	for _, sql := range []string{
		`UPDATE queen.log_segments SET created_at = created_at - interval '1 hour'`,
		`UPDATE queen.log_txns SET created_at = created_at - interval '2 hours'`,
		`UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '1 hour', oldest_txn_at = oldest_txn_at - interval '2 hours'`,
	} {
		_, err := d.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}

// TestRetentionLoop: what is over its age goes, rows and all, and so do old hash
// rows; one line says so; a partition that cannot be swept stops no other and is
// swept once it can be (R-16 to R-41, F083).
func TestRetentionLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	aged(t, d, 9, "a", "b")
	held := d.Conn(t)
	_, err := held.Exec(t.Context(), `BEGIN`)
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'a' AND p.name = 'p1' FOR NO KEY UPDATE OF p`)
	require.NoError(t, err)
	var out lines
	pool := d.Pool
	loop := workers.Retention(db.New(pool), workers.RetentionConfig{BatchSize: 2, Parallelism: 4}, slog.New(slog.NewTextHandler(&out, nil)))
	loop.Every, loop.Jitter = 50*time.Millisecond, 0
	stop := workers.Start(t.Context(), loop)
	defer stop()
	poll(t, d, `SELECT count(*) = 3 FROM queen.log_segments`)
	require.Eventually(t, func() bool {
		return bytes.Contains([]byte(out.String()), []byte("retention failed on some partitions"))
	}, 30*time.Second, 10*time.Millisecond)
	_, err = held.Exec(context.Background(), `ROLLBACK`)
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp() WHERE task = 'retention'`)
	require.NoError(t, err)
	poll(t, d, `SELECT (SELECT count(*) FROM queen.log_segments) + (SELECT count(*) FROM queen.log_txns) = 0`)
	poll(t, d, `SELECT sum(messages_deleted) = 18 AND sum(rows_deleted) = 18 AND bool_and(retention_type = 'retention') FROM queen.retention_history`)
	require.Contains(t, out.String(), `msg="retention swept" queues=2 segments_deleted=15 `)
	poll(t, d, `SELECT runs > 0 FROM queen.maintenance_leases WHERE task = 'partition_cleanup'`)
}

// TestRetentionAfterARestart: a server that knows nothing yet sweeps at once and
// deletes nothing that is young enough, whatever a partition says of its oldest
// message; a stamp is never missing; what is old goes all the same (F091).
func TestRetentionAfterARestart(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	exec := func(sql string) error {
		_, err := d.Pool.Exec(t.Context(), sql)
		return err
	}
	for _, sql := range []string{
		`SELECT queen.configure_queue_v1('q', '{"retentionEnabled": true, "retentionSeconds": 3600, "maxWaitTimeSeconds": 3600}')`,
		`DO $$ BEGIN FOR i IN 1..3 LOOP PERFORM queen.push_v1('q', '1', 'p'); END LOOP; END $$`,
	} {
		require.NoError(t, exec(sql), sql)
	}
	require.ErrorContains(t, exec(`UPDATE queen.log_segments SET created_at = NULL`), "23502", "no stamp is missing")
	restart := func() {
		require.NoError(t, exec(`UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp(), runs = 0`))
		stop := workers.Start(t.Context(), workers.Retention(db.New(d.Pool), workers.RetentionConfig{}, quiet))
		defer stop()
		poll(t, d, `SELECT runs > 0 FROM queen.maintenance_leases WHERE task = 'retention'`)
	}
	for _, oldest := range []string{"oldest_live_at", "NULL", "'epoch'", "'-infinity'"} {
		require.NoError(t, exec(`UPDATE queen.log_partitions SET oldest_live_at = `+oldest))
		restart()
		poll(t, d, `SELECT count(*) = 3 FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id AND s.base_offset >= p.log_start`)
	}
	require.NoError(t, exec(`UPDATE queen.log_segments SET created_at = created_at - interval '2 hours' WHERE base_offset < 2`))
	require.NoError(t, exec(`UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '2 hours'`))
	restart()
	poll(t, d, `SELECT sum(messages_deleted) = 2 FROM queen.retention_history`)
}

// pushing is a Querier under which somebody pushes to a partition as fast as it
// is swept.
type pushing struct {
	db.Querier
	d *dbtest.Database
}

func (p pushing) RetentionStep(ctx context.Context, arg db.RetentionStepParams) (db.RetentionStepRow, error) {
	if arg.MaxMessages != nil {
		for range 2 {
			if _, err := p.d.Pool.Exec(ctx, `SELECT queen.push_v1('hot', '1')`); err != nil {
				return db.RetentionStepRow{}, err
			}
		}
	}
	return p.Querier.RetentionStep(ctx, arg)
}

// TestRetentionOfABusyPartition: a limit of size that always finds a little more,
// since somebody pushes all the time, keeps no other queue waiting, whether a
// step catches up with the pushes (10 segments a step) or does not (1) (F083).
func TestRetentionOfABusyPartition(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{10, 1} {
		d := dbtest.New(t)
		_, err := d.Pool.Exec(t.Context(), `SELECT queen.configure_queue_v1('hot', '{"retentionEnabled": true, "retentionMessages": 1}')`)
		require.NoError(t, err)
		for range 3 {
			_, err = d.Pool.Exec(t.Context(), `SELECT queen.push_v1('hot', '1')`)
			require.NoError(t, err)
		}
		aged(t, d, 1, "other")
		_, err = d.Pool.Exec(t.Context(), `UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '1 day' WHERE name = 'Default'`)
		require.NoError(t, err)
		var out lines
		loop := workers.Retention(pushing{Querier: db.New(d.Pool), d: d}, workers.RetentionConfig{BatchSize: batch}, slog.New(slog.NewTextHandler(&out, nil)))
		stop := workers.Start(t.Context(), loop)
		poll(t, d, `SELECT count(*) = 1 FROM queen.retention_history WHERE retention_type = 'retention'`)
		stop()
	}
}

// TestRetentionBacksOff: a partition that is due and holds nothing that may go is
// passed over for a while, however often the loop runs; two servers share
// one claim.
func TestRetentionBacksOff(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	aged(t, d, 1, "q")
	_, err := d.Pool.Exec(t.Context(), `SELECT queen.configure_queue_v1('q', '{"retentionSeconds": 0, "completedRetentionSeconds": 1}'), (SELECT count(*) FROM queen.pop_v1('q', 1, 'g', p_subscription_mode => 'all'))`)
	require.NoError(t, err)
	var out lines
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var loops []*workers.Loop
	for range 2 {
		loop := workers.Retention(db.New(d.Pool), workers.RetentionConfig{KeepEmpty: true}, log)
		loop.Every, loop.Jitter = 5*time.Millisecond, 0
		loops = append(loops, loop)
	}
	stop := workers.Start(t.Context(), loops...)
	defer stop()
	require.Eventually(t, func() bool {
		_, err := d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp() WHERE task = 'retention' AND lease_until IS NULL`)
		return err == nil && bytes.Contains([]byte(out.String()), []byte("backed_off=1"))
	}, 30*time.Second, 10*time.Millisecond)
	poll(t, d, `SELECT count(*) = 1 FROM queen.log_segments`)
}

// TestRetentionWalk: the daily walk mends the times by which partitions are due,
// and the sweep then finds them.
func TestRetentionWalk(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	aged(t, d, 3, "q")
	_, err := d.Pool.Exec(t.Context(), `UPDATE queen.log_partitions SET oldest_live_at = NULL`)
	require.NoError(t, err)
	var out lines
	stop := workers.Start(t.Context(), workers.RetentionWalk(db.New(d.Pool), 0, slog.New(slog.NewTextHandler(&out, nil))))
	defer stop()
	poll(t, d, `SELECT bool_and(oldest_live_at IS NOT NULL) FROM queen.log_partitions`)
	require.Eventually(t, func() bool { return bytes.Contains([]byte(out.String()), []byte("partitions=3")) }, 30*time.Second, 10*time.Millisecond)
}

// TestReclaimLoop: a deleted queue is gone at once, and its rows after a while.
func TestReclaimLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	aged(t, d, 3, "q")
	_, err := d.Pool.Exec(t.Context(), `SELECT queen.delete_queue_v1('q')`)
	require.NoError(t, err)
	stop := workers.Start(t.Context(), workers.Reclaim(db.New(d.Pool), quiet))
	defer stop()
	poll(t, d, `SELECT (SELECT count(*) FROM queen.queues) + (SELECT count(*) FROM queen.log_segments) = 0`)
}

// TestRunMaintenance: psql alone does what the loops do, with a commit after each
// step, and leaves the sweep to a server that is at it.
func TestRunMaintenance(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	aged(t, d, 3, "q", "gone")
	conn := d.Conn(t)
	for _, sql := range []string{
		// What cannot be compacted keeps nothing else waiting (F083).
		`SELECT queen.configure_queue_v1('q', '{"cleanupPolicy": "compact,delete"}', 'merge')`,
		`CREATE FUNCTION pg_temp.damaged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE data_corrupted; END $$`,
		`CREATE TRIGGER damaged BEFORE INSERT ON queen.log_compaction FOR EACH ROW EXECUTE FUNCTION pg_temp.damaged()`,
		`SELECT queen.delete_queue_v1('gone')`, `SELECT queen.log_register_task_v1('retention', 7000)`, `SELECT queen.log_claim_task_v1('retention', 'a server')`,
		`CALL queen.run_maintenance_v1()`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	poll(t, d, `SELECT (SELECT count(*) FROM queen.queues) = 1 AND (SELECT count(*) FROM queen.log_segments) = 3`)
	for _, sql := range []string{`SELECT queen.log_release_task_v1('retention', 1, true)`, `CALL queen.run_maintenance_v1()`} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	poll(t, d, `SELECT (SELECT count(*) FROM queen.log_segments) + (SELECT count(*) FROM queen.log_txns) = 0`)
	poll(t, d, `SELECT runs = 2 AND period_ms = 7000 AND lease_until IS NULL FROM queen.maintenance_leases WHERE task = 'retention'`)
}
