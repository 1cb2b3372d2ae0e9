package db

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	taskKnown    = `SELECT queen.log_register_task_v1('retention', 5000)`
	taskClaimed  = `SELECT fence FROM queen.log_claim_task_v1('retention', 'x')`
	taskReleased = `SELECT queen.log_release_task_v1('retention', $1, true)`
	taskExpired  = `UPDATE queen.maintenance_leases SET lease_until = clock_timestamp() - interval '1 ms'`
)

// Two instances poll at the same moment: one wins, and the loser, who waited for
// the row, sees the claim that was made meanwhile (S-2). A claim that expired is
// stolen once, and its old holder can no longer end it (S-7). T-15.
func TestTaskClaimRaces(t *testing.T) {
	t.Parallel()
	t.Run("two claims", func(t *testing.T) {
		r := newRace(t, taskKnown)
		r.a.Exec(t, begin)
		r.wants(r.a, taskClaimed, int64(1))
		r.blocked(r.b, taskClaimed)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b)
	})
	t.Run("the first claim is rolled back", func(t *testing.T) {
		r := newRace(t, taskKnown)
		r.a.Exec(t, begin)
		r.wants(r.a, taskClaimed, int64(1))
		r.blocked(r.b, taskClaimed)
		r.a.Exec(t, rollBack)
		r.done(r.b)
		r.got(r.b, int64(1))
	})
	t.Run("two thieves of an expired claim", func(t *testing.T) {
		r := newRace(t, taskKnown, taskClaimed, taskExpired)
		r.a.Exec(t, begin)
		r.wants(r.a, taskClaimed, int64(2))
		r.blocked(r.b, taskClaimed)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b)
		r.a.Exec(t, taskReleased, int64(1))
		r.got(r.a, false)
		r.a.Exec(t, taskReleased, int64(2))
		r.got(r.a, true)
	})
	t.Run("the old holder releases while the claim is stolen", func(t *testing.T) {
		r := newRace(t, taskKnown, taskClaimed, taskExpired)
		r.a.Exec(t, begin)
		r.wants(r.a, taskClaimed, int64(2))
		r.blocked(r.b, taskReleased, int64(1))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, false)
		require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT runs FROM queen.maintenance_leases"))
	})
	t.Run("the advisory lock stops the task", func(t *testing.T) {
		r := newRace(t, taskKnown)
		r.a.Exec(t, begin)
		r.a.Exec(t, "SELECT pg_advisory_xact_lock(737001)")
		r.wants(r.b, taskClaimed)
		var served bool
		require.NoError(t, r.db.Pool.QueryRow(context.Background(),
			"SELECT next_due_at > clock_timestamp() AND runs = 0 AND fence = 0 FROM queen.maintenance_leases").Scan(&served))
		require.True(t, served, "S-8: the period counts as served")
		r.a.Exec(t, commit)
		r.wants(r.b, taskClaimed)
		r.exec("UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp()")
		r.a.Exec(t, begin)
		r.a.Exec(t, "SELECT pg_advisory_xact_lock_shared(737001)")
		r.wants(r.b, taskClaimed, int64(1))
	})
}

// T-15: however many instances poll, each claim is exclusive, has a fence of its
// own, and next_due_at moves on once for each that is released, never at the claim.
func TestTaskClaimsOfManyInstances_T15(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx := context.Background()
	const instances, served = 4, 60
	const due = `SELECT next_due_at FROM queen.maintenance_leases`
	_, err := db.Pool.Exec(ctx, `SELECT queen.log_register_task_v1('t', 1)`)
	require.NoError(t, err)
	var inside, ended atomic.Int32
	var mu sync.Mutex
	dues := map[int64]time.Time{}
	var polling sync.WaitGroup
	for range instances {
		polling.Go(func() {
			q := New(db.Pool)
			for ended.Load() < served && !t.Failed() {
				rows, err := q.ClaimTask(ctx, "t", "x")
				if !assert.NoError(t, err) || len(rows) == 0 {
					continue
				}
				assert.EqualValues(t, 1, inside.Add(1), "two instances hold the claim")
				var at time.Time
				assert.NoError(t, db.Pool.QueryRow(ctx, due).Scan(&at))
				mu.Lock()
				assert.NotContains(t, dues, rows[0].Fence)
				dues[rows[0].Fence] = at
				mu.Unlock()
				inside.Add(-1)
				held, err := q.ReleaseTask(ctx, ReleaseTaskParams{Task: "t", Fence: rows[0].Fence, Succeeded: true})
				assert.NoError(t, err)
				assert.True(t, held)
				ended.Add(1)
			}
		})
	}
	polling.Wait()
	require.False(t, t.Failed())
	runs := scalar[int64](t, db, `SELECT runs FROM queen.maintenance_leases WHERE fence = runs`)
	require.EqualValues(t, ended.Load(), runs)
	require.GreaterOrEqual(t, runs, int64(served))
	dues[runs+1] = scalar[time.Time](t, db, due)
	for fence := int64(1); fence <= runs; fence++ {
		require.GreaterOrEqual(t, dues[fence+1].Sub(dues[fence]), time.Millisecond, "claim %d moved it on by a period", fence)
	}
}
