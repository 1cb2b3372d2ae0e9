package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	cleanUp = `SELECT worked FROM queen.log_cleanup_partitions_step_v1()`
	// emptyLane leaves partition p empty and unused for 40 days; its cursors too.
	emptyLane = `SELECT queen._move_log_start(id, 100), queen._reclaim_prefix(id, 100) FROM queen.log_partitions`
	oldLane   = `UPDATE queen.log_partitions SET created_at = created_at - interval '40 days', last_write_at = last_write_at - interval '40 days', last_stamp = last_stamp - interval '40 days'`
	oldCursor = `UPDATE queen.log_consumers SET created_at = created_at - interval '40 days', lease_acquired_at = NULL, lease_expires_at = NULL, worker_id = NULL, batch_end = NULL`
)

// F100: cleanup against push, pop and first contact. It waits for
// nobody; a push that waited for it finds the partition gone and makes a new one;
// what came first keeps the partition.
func TestCleanupAgainstUse(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]string{"push": pushNext, "first contact": `SELECT queen.pop_v1('q', 1, 'new', 'p')`, "pop": popAll} {
		for _, end := range []string{commit, rollBack} {
			t.Run(name+" first/"+end, func(t *testing.T) {
				r := newRace(t, pushNext, popAll, emptyLane, oldLane, oldCursor)
				r.a.Exec(t, begin)
				r.a.Exec(t, use)
				r.b.Exec(t, "SET lock_timeout = '1ms'")
				r.wants(r.b, cleanUp, int32(0))
				r.a.Exec(t, end)
				kept := scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_partitions")
				require.Equal(t, int64(1), kept)
				r.check()
			})
		}
	}
	for _, end := range []string{commit, rollBack} {
		t.Run("cleanup first/"+end, func(t *testing.T) {
			r := newRace(t, pushNext, popAll, emptyLane, oldLane, oldCursor)
			r.a.Exec(t, begin)
			r.wants(r.a, cleanUp, int32(1))
			r.blocked(r.b, pushNext)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, map[string]any{commit: int64(0), rollBack: int64(1)}[end])
			r.wants(r.b, `SELECT "offset" FROM queen.pop_v1('q', 9, 'g', 'p', p_subscription_mode => 'all')`, map[string]any{commit: int64(0), rollBack: int64(1)}[end])
			r.check()
		})
	}
	t.Run("two cleanups", func(t *testing.T) {
		r := newRace(t, pushNext, emptyLane, oldLane)
		r.a.Exec(t, begin)
		r.wants(r.a, cleanUp, int32(1))
		r.b.Exec(t, "SET lock_timeout = '1ms'")
		r.wants(r.b, cleanUp, int32(0))
		r.a.Exec(t, commit)
		require.Equal(t, int64(1), scalar[int64](t, r.db, "SELECT count(*) FROM queen.retention_history WHERE retention_type = '__partition_deleted__'"))
		r.check()
	})
}
