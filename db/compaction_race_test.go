package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// The statements of the races with a compaction step, which rewrites the segments 0..1 and 2..3: a is 1 and b is 1, then a is 2 and b is 2, then
// both are 3 in the newest segment.
const (
	compactedQueue = `SELECT queen.configure_queue_v1('q', '{"cleanupPolicy": "compact", "deleteRetentionSeconds": 0}')`
	pushKeys       = `SELECT queen.push_many_v1('q', ARRAY['1','2']::json[], '{p}', NULL, '{a,b}')`
	compactNow     = `SELECT frames_read, frames_kept, done FROM queen.log_compact_step_v1((SELECT id FROM queen.log_partitions WHERE name = 'p'))`
	logOffsets     = `SELECT "offset" FROM queen.read_v1('q', 'p', 0) ORDER BY "offset"`
	popNew         = `SELECT "offset" FROM queen.pop_v1('q', 100, 'new', 'p', p_lease_seconds => 60)`
)

// newCompactionRace is a race over a partition whose keys were noted, with a group g that has read nothing.
func newCompactionRace(t *testing.T) race {
	t.Helper()
	r := newRace(t, compactedQueue, `SELECT queen.pop_v1('q', 1, 'g', 'p', p_subscription_mode => 'all')`, pushKeys, pushKeys, pushKeys, compactNow, keepFresh)
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, column[int64](t, r.db, logOffsets))
	return r
}

// judged asserts what the last step of a session answered.
func (r race) judged(s *dbtest.Session, read, kept int64, done bool) {
	r.t.Helper()
	require.Equal(r.t, []any{read, kept, done}, s.Rows()[0])
}

// compactsTo compacts what is left, and asserts what stays.
func (r race) compactsTo(offsets ...int64) {
	r.t.Helper()
	for range 10 {
		r.exec(compactNow)
	}
	require.Equal(r.t, offsets, column[int64](r.t, r.db, logOffsets))
	r.check()
}

// Two compactors: the second waits for the first, looks again, and removes nothing twice.
func TestCompactionAgainstCompaction(t *testing.T) {
	r := newCompactionRace(t)
	r.a.Exec(t, begin)
	r.a.Exec(t, compactNow)
	r.judged(r.a, 4, 0, true)
	r.blocked(r.b, compactNow)
	r.a.Exec(t, commit)
	r.done(r.b)
	r.judged(r.b, 0, 0, true)
	r.compactsTo(4, 5)
	require.Equal(t, int64(4), scalar[int64](t, r.db, `SELECT removed_frames FROM queen.log_partitions`))
}

// Whoever holds 737001 stops compaction as it stops retention.
func TestCompactionStops(t *testing.T) {
	r := newCompactionRace(t)
	r.a.Exec(t, `SELECT pg_advisory_lock(737001)`)
	r.b.Exec(t, compactNow)
	r.judged(r.b, 0, 0, true)
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, column[int64](t, r.db, logOffsets))
	r.a.Exec(t, `SELECT pg_advisory_unlock(737001)`)
	r.compactsTo(4, 5)
}

// While one notes keys, another leaves the partition alone, and pushes do not wait.
func TestNotingKeysAgainstPushAndCompaction(t *testing.T) {
	r := newCompactionRace(t)
	r.exec(pushKeys)
	r.a.Exec(t, begin)
	r.a.Exec(t, compactNow)
	r.wants(r.b, `SELECT done FROM queen.log_compact_step_v1((SELECT id FROM queen.log_partitions WHERE name = 'p'))`, true)
	r.b.Exec(t, pushKeys)
	r.a.Exec(t, commit)
	r.compactsTo(8, 9)
}

// What is noted about a segment between its building and its writing is not lost with what was known before.
func TestNotingKeysOfASegmentThatIsWritten(t *testing.T) {
	r := newRace(t, compactedQueue)
	for _, keys := range []string{"{a,b}", "{a,c}", "{d,e}"} {
		r.exec(`SELECT queen.push_many_v1('q', ARRAY['1','2']::json[], '{p}', NULL, '` + keys + `')`)
	}
	r.exec(compactNow) // notes
	r.exec(`SELECT queen.push_v1('q', '3', 'p', NULL, 'b')`)
	r.exec(`UPDATE queen.log_compaction SET key_steps = 32`) // it is the turn of a rewrite
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.push_v1('q', '4', 'p', NULL, 'f')`)
	r.blocked(r.b, compactNow)
	r.exec(`UPDATE queen.log_compaction SET key_steps = 0`)
	r.exec(compactNow) // notes that b at 1 is obsolete, too
	r.a.Exec(t, commit)
	r.done(r.b)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7}, column[int64](t, r.db, logOffsets))
	r.compactsTo(2, 3, 4, 5, 6, 7)
}

// A push that came first is waited for, and its segment is the newest then; one that comes later waits for the step.
func TestCompactionAgainstPush(t *testing.T) {
	t.Parallel()
	t.Run("push first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, pushKeys)
		r.blocked(r.b, compactNow)
		r.a.Exec(t, commit)
		r.done(r.b)
		require.Equal(t, []int64{4, 5, 6, 7}, column[int64](t, r.db, logOffsets), "what is new is not noted yet")
		r.compactsTo(6, 7)
	})
	t.Run("step first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, compactNow)
		r.blocked(r.b, pushKeys)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.compactsTo(6, 7)
	})
	t.Run("push is held for long", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, pushKeys)
		start := time.Now()
		r.b.Go(compactNow)
		r.fails(r.b, "55P03")
		require.Less(t, time.Since(start), 20*time.Second)
		r.a.Exec(t, rollBack)
		r.compactsTo(4, 5)
	})
}

// F117: a pop that has claimed but not committed protects what it may have read; a pop that comes while a step is open
// gets nothing rather than something that goes; so does the first pop of a group.
func TestCompactionAgainstPop(t *testing.T) {
	t.Parallel()
	t.Run("pop first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0), int64(1), int64(2), int64(3), int64(4), int64(5))
		r.b.Exec(t, compactNow)
		r.judged(r.b, 0, 0, true)
		r.a.Exec(t, commit)
		r.compactsTo(0, 1, 2, 3, 4, 5)
		r.exec(endLeases)
		r.compactsTo(4, 5)
	})
	t.Run("pop first, with a cursor", func(t *testing.T) {
		r := newCompactionRace(t)
		r.exec(`SELECT queen.pop_v1('q', 1, 'g', 'p')`)
		r.exec(endLeases)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0), int64(1), int64(2), int64(3), int64(4), int64(5))
		r.b.Exec(t, compactNow)
		r.judged(r.b, 0, 0, true)
		r.a.Exec(t, rollBack)
		r.compactsTo(4, 5)
	})
	t.Run("step first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, compactNow)
		r.wants(r.b, popAll)
		r.wants(r.b, popNew)
		r.a.Exec(t, commit)
		r.wants(r.b, popAll, int64(4), int64(5))
		r.wants(r.b, `SELECT "offset" FROM queen.pop_v1('q', 100, 'new', 'p', p_subscription_mode => 'all')`, int64(4), int64(5))
		r.compactsTo(4, 5)
	})
	t.Run("a lease on a part", func(t *testing.T) {
		r := newCompactionRace(t)
		r.wants(r.a, `SELECT "offset" FROM queen.pop_v1('q', 3, 'g', 'p')`, int64(0), int64(1), int64(2))
		r.compactsTo(0, 1, 2, 3, 4, 5)
		r.exec(`SELECT queen.ack_v1(partition_id, ARRAY(SELECT transaction_id FROM queen.read_v1('q', 'p', 0, 2)), worker_id, 'g') FROM queen.log_consumers`)
		r.compactsTo(2, 3, 4, 5)
	})
}

// An ack in an open transaction is let be; what it acknowledged goes afterwards.
func TestCompactionAgainstAck(t *testing.T) {
	r := newCompactionRace(t)
	r.exec(`SELECT queen.pop_v1('q', 4, 'g', 'p')`)
	r.a.Exec(t, begin)
	r.wants(r.a, `SELECT a.success FROM queen.log_consumers c CROSS JOIN LATERAL queen.ack_v1(c.partition_id,
		ARRAY(SELECT transaction_id FROM queen.read_v1('q', 'p', 0, 4)), c.worker_id, 'g') a`, true, true, true, true)
	r.b.Exec(t, compactNow)
	r.judged(r.b, 0, 0, true)
	r.a.Exec(t, commit)
	r.compactsTo(4, 5)
	require.Equal(t, int64(3), scalar[int64](t, r.db, `SELECT committed FROM queen.log_consumers WHERE consumer_group = 'g'`))
}

// F113: the prefix takes a segment while the step waits: nothing below the start is rewritten, and the account is right.
func TestCompactionAgainstPrefix(t *testing.T) {
	t.Parallel()
	t.Run("prefix first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, dropUpTo, int64(2))
		r.blocked(r.b, compactNow)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.judged(r.b, 2, 0, false)
		require.Equal(t, int64(2), scalar[int64](t, r.db, `SELECT removed_frames FROM queen.log_partitions`))
		require.Equal(t, int32(2), scalar[int32](t, r.db, `SELECT frames FROM queen.log_segments WHERE base_offset = 0`), "below the start it is as it was")
		r.compactsTo(4, 5)
	})
	t.Run("step first", func(t *testing.T) {
		r := newCompactionRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, compactNow)
		r.b.Exec(t, begin)
		r.blocked(r.b, lockLane)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.b.Exec(t, dropUpTo, int64(4))
		r.b.Exec(t, commit)
		require.Equal(t, int64(0), scalar[int64](t, r.db, `SELECT removed_frames FROM queen.log_partitions`))
		r.compactsTo(4, 5)
	})
}

// A queue that is being deleted is let be, and a step that came first leaves no row behind.
func TestCompactionAgainstDelete(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"noting keys": pushKeys, "rewriting": "SELECT 1"} {
		t.Run(name+", step first", func(t *testing.T) {
			r := newCompactionRace(t)
			r.exec(before)
			r.a.Exec(t, begin)
			r.a.Exec(t, compactNow)
			r.b.Go(`DELETE FROM queen.log_partitions`)
			r.b.WaitBlocked(t)
			r.a.Exec(t, commit)
			r.done(r.b)
			require.Zero(t, scalar[int64](t, r.db, `SELECT (SELECT count(*) FROM queen.log_keys) + (SELECT count(*) FROM queen.log_dirty) + (SELECT count(*) FROM queen.log_compaction)`))
		})
		t.Run(name+", delete first", func(t *testing.T) {
			r := newCompactionRace(t)
			r.exec(before)
			r.a.Exec(t, begin)
			r.a.Exec(t, `DELETE FROM queen.log_partitions`)
			r.b.Go(compactNow)
			if before == pushKeys {
				r.done(r.b)
				r.judged(r.b, 0, 0, true)
			} else {
				r.b.WaitBlocked(t)
			}
			r.a.Exec(t, commit)
			if before != pushKeys {
				r.done(r.b)
				r.judged(r.b, 0, 0, true)
			}
			require.Zero(t, scalar[int64](t, r.db, `SELECT (SELECT count(*) FROM queen.log_keys) + (SELECT count(*) FROM queen.log_dirty) + (SELECT count(*) FROM queen.log_compaction)`))
		})
	}
}
