package workers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/workers"
)

// task makes a loop of one task that polls every 10 ms.
func task(q db.Querier, holder string, period time.Duration, step workers.Step) *workers.Loop {
	loop := workers.Singleton(q, "t", period, &workers.Loop{Name: "t", Timeout: time.Minute, Log: quiet, Step: step})
	loop.Every, loop.Jitter, loop.Lease.Holder = 10*time.Millisecond, 0, holder
	return loop
}

func poll(t *testing.T, d *dbtest.Database, sql string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var yes bool
		return d.Pool.QueryRow(t.Context(), sql).Scan(&yes) == nil && yes
	}, 30*time.Second, 10*time.Millisecond, sql)
}

// TestSingletonRunsOnce: of three servers one drains a due task, all steps of it,
// and it is due again a period later (S-2, S-3).
func TestSingletonRunsOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	q := db.New(d.Pool)
	var runs, inside atomic.Int32
	var loops []*workers.Loop
	for _, holder := range []string{"a", "b", "c"} {
		steps := 0
		loops = append(loops, task(q, holder, time.Hour, func(context.Context) (workers.Result, error) {
			if inside.Add(1) != 1 {
				t.Error("two servers run the task")
			}
			defer inside.Add(-1)
			steps++
			runs.Add(1)
			time.Sleep(20 * time.Millisecond)
			return workers.Result{Worked: 1, Done: steps%5 == 0}, nil
		}))
	}
	stop := workers.Start(t.Context(), loops...)
	defer stop()
	poll(t, d, `SELECT runs = 1 AND holder IS NULL AND next_due_at > clock_timestamp() + interval '50 min' FROM queen.maintenance_leases WHERE task = 't'`)
	require.EqualValues(t, 5, runs.Load())
	_, err := d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp()`)
	require.NoError(t, err)
	poll(t, d, `SELECT runs = 2 FROM queen.maintenance_leases WHERE task = 't'`)
	require.EqualValues(t, 10, runs.Load())
}

// TestSingletonAfterAnError: a failed run leaves the task due and free (S-4), and
// one that a stop breaks off too.
func TestSingletonAfterAnError(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	var tries atomic.Int32
	reached := make(chan struct{})
	stop := workers.Start(t.Context(), task(db.New(d.Pool), "a", time.Hour, func(ctx context.Context) (workers.Result, error) {
		if tries.Add(1) < 3 {
			return workers.Result{}, errors.New("no luck")
		}
		close(reached)
		<-ctx.Done()
		return workers.Result{}, ctx.Err()
	}))
	<-reached
	stop()
	require.EqualValues(t, 3, tries.Load())
	poll(t, d, `SELECT runs = 0 AND fence = 3 AND lease_until IS NULL AND next_due_at <= clock_timestamp() FROM queen.maintenance_leases`)
}

// TestSingletonPausesAndRecovers: a paused task runs nowhere (S-9); a claim whose
// holder was killed runs out (S-7).
func TestSingletonPausesAndRecovers(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	q := db.New(d.Pool)
	for _, sql := range []string{
		`SELECT queen.log_register_task_v1('t', 3600000)`,
		`SELECT queen.log_claim_task_v1('t', 'killed')`,
		`UPDATE queen.maintenance_leases SET enabled = false, lease_until = clock_timestamp() + interval '200 ms'`,
	} {
		_, err := d.Pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	var runs atomic.Int32
	stop := workers.Start(t.Context(), task(q, "a", time.Hour, func(context.Context) (workers.Result, error) {
		runs.Add(1)
		return workers.Result{Done: true}, nil
	}))
	defer stop()
	time.Sleep(300 * time.Millisecond)
	require.Zero(t, runs.Load(), "paused")
	_, err := d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET enabled = true`)
	require.NoError(t, err)
	poll(t, d, `SELECT runs = 1 AND fence = 2 FROM queen.maintenance_leases`)
	require.EqualValues(t, 1, runs.Load())
}

// TestKilledSweeperIsFollowed: of a sweeper that was killed, another server takes
// over within two intervals of five seconds: the claim is over by then, and the
// other looks often enough (F096). The clock is stepped by ageing the claim.
func TestKilledSweeperIsFollowed(t *testing.T) {
	t.Parallel()
	const period = 5 * time.Second
	d := dbtest.New(t)
	killed := make(chan struct{}) // as a kill: its connections are gone with it
	claimed := make(chan struct{})
	victim := task(&deaf{Querier: db.New(d.Pool), killed: killed}, "killed", period, func(context.Context) (workers.Result, error) {
		close(claimed)
		<-killed
		return workers.Result{}, errors.New("killed")
	})
	looks := workers.Singleton(db.New(d.Pool), "t", period, &workers.Loop{})
	stop := workers.Start(t.Context(), victim)
	<-claimed
	close(killed)
	stop()
	poll(t, d, `SELECT holder = 'killed' AND lease_until IS NOT NULL FROM queen.maintenance_leases`)
	var runs atomic.Int32
	stop = workers.Start(t.Context(), task(db.New(d.Pool), "other", period, func(context.Context) (workers.Result, error) {
		runs.Add(1)
		return workers.Result{Done: true}, nil
	}))
	defer stop()
	_, err := d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET lease_until = lease_until - $1 * interval '1 ms'`,
		(2*period - looks.Every - looks.Jitter).Milliseconds())
	require.NoError(t, err)
	poll(t, d, `SELECT runs > 0 AND fence > 1 FROM queen.maintenance_leases`)
	require.NotZero(t, runs.Load())
}

// deaf is a Querier whose calls fail once its process is killed.
type deaf struct {
	db.Querier
	killed chan struct{}
}

func (d *deaf) ReleaseTask(context.Context, db.ReleaseTaskParams) (bool, error) {
	<-d.killed
	return false, errors.New("killed")
}

// TestSingletonEndsWithItsClaim: a step whose claim was stolen, or whose task was
// paused, is told to end, and the thief's claim stays (S-7, S-9).
func TestSingletonEndsWithItsClaim(t *testing.T) {
	t.Parallel()
	for change, left := range map[string]string{
		`fence = fence + 1, holder = 'thief'`: `SELECT holder = 'thief' AND fence = 2 AND lease_until IS NOT NULL FROM queen.maintenance_leases`,
		`enabled = false`:                     `SELECT holder IS NULL AND fence = 1 AND lease_until IS NULL AND runs = 0 FROM queen.maintenance_leases`,
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			runs, ended := make(chan struct{}, 1), make(chan struct{})
			loop := task(db.New(d.Pool), "a", time.Hour, func(ctx context.Context) (workers.Result, error) {
				runs <- struct{}{}
				<-ctx.Done()
				close(ended)
				return workers.Result{}, ctx.Err()
			})
			loop.Lease.Renew = 10 * time.Millisecond
			stop := workers.Start(t.Context(), loop)
			defer stop()
			<-runs
			_, err := d.Pool.Exec(t.Context(), `UPDATE queen.maintenance_leases SET `+change)
			require.NoError(t, err)
			<-ended
			poll(t, d, left)
		})
	}
}
