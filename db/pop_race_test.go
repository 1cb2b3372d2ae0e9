package db

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// F041: a lease is measured from the moment the claim is made, not from the
// start of a transaction or of a wait.
func TestLeaseIsMeasuredFromTheClaim(t *testing.T) {
	t.Parallel()
	const popOnce = `SELECT lease_expires_at FROM queen.pop_v1('q', 1, 'g', p_lease_seconds => 600)`
	t.Run("after a wait", func(t *testing.T) {
		r := newRace(t, patient, pushNext)
		// The registration of the group is the only thing a pop ever waits for.
		r.a.Exec(t, begin)
		r.a.Exec(t, `INSERT INTO queen.consumer_groups_metadata (consumer_group, queue_id, subscription_mode, subscription_timestamp)
			SELECT 'g', id, 'all', 'epoch' FROM queen.queues`)
		r.blocked(r.b, popOnce)
		r.a.Exec(t, "SELECT clock_timestamp()")
		waitedUntil := r.a.Rows()[0][0].(time.Time)
		r.a.Exec(t, commit)
		r.done(r.b)
		require.False(t, r.b.Rows()[0][0].(time.Time).Before(waitedUntil.Add(10*time.Minute)), "F041")
		r.wants(r.a, popWide)
	})
	t.Run("in an old transaction", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.a.Exec(t, "SELECT now()")
		later := scalar[time.Time](t, r.db, "SELECT clock_timestamp()")
		r.a.Exec(t, popOnce)
		require.False(t, r.a.Rows()[0][0].(time.Time).Before(later.Add(10*time.Minute)), "F041")
		r.a.Exec(t, commit)
		r.wants(r.b, popWide)
	})
}

// F043: of fifty pops at the same moment one wins, the others get an empty
// answer without an error; and again with the lease of the winner over.
func TestOneWinnerOfFiftyPops(t *testing.T) {
	r := newRace(t, pushNext)
	var won atomic.Int64
	together(t, r.db, 50, 12, func(conn *pgx.Conn, client, round int) error {
		sql := popAll
		switch (client + round) % 3 {
		case 1:
			sql = popWide
		case 2:
			sql = `SELECT first_offset FROM queen.log_pop_v1('q', NULL, 'g', 10, 4)`
		}
		tag, err := conn.Exec(context.Background(), sql)
		won.Add(tag.RowsAffected())
		return err
	}, func(round int) {
		require.Equal(t, int64(1), won.Swap(0), "F043: round %d", round)
		require.Equal(t, int64(1), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_consumers WHERE lease_expires_at > clock_timestamp()"))
		r.exec(endLeases)
	})
	r.check()
}

// F043 with autoAck: every message goes to exactly one of the consumers.
func TestEveryMessageToOneConsumer(t *testing.T) {
	r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY(SELECT i::text::json FROM generate_series(1, 400) i), ARRAY(SELECT 'p' || i % 3 FROM generate_series(1, 400) i))`)
	var seen [400]atomic.Int64
	together(t, r.db, 8, 1, func(conn *pgx.Conn, _, _ int) error {
		for range 200 {
			rows, err := conn.Query(context.Background(), `SELECT payload::text::int FROM queen.pop_v1('q', 7, 'g', p_max_partitions => 2, p_auto_ack => true)`)
			if err != nil {
				return err
			}
			got, err := pgx.CollectRows(rows, pgx.RowTo[int])
			if err != nil {
				return err
			}
			for _, n := range got {
				seen[n-1].Add(1)
			}
		}
		return nil
	}, nil)
	for n := range seen {
		require.Equal(t, int64(1), seen[n].Load(), "message %d", n+1)
	}
	r.check()
}

// O-13, O-16, F026: the one call that registers a group seeds the cursors; who
// comes beside it waits for that transaction and then sees what it left.
func TestFirstContactOfAGroup(t *testing.T) {
	t.Parallel()
	t.Run("the winner commits", func(t *testing.T) {
		r := newRace(t, patient, pushNext, "SELECT queen.push_v1('q', '1', 'r')")
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0)) // pinned: no registration
		r.a.Exec(t, popWide)
		r.blocked(r.b, popWide)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b)
		r.check()
	})
	t.Run("the winner rolls back", func(t *testing.T) {
		r := newRace(t, patient, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, popWide, int64(0))
		r.blocked(r.b, popWide)
		r.a.Exec(t, rollBack)
		r.done(r.b)
		r.got(r.b, int64(0))
		r.check()
	})
	t.Run("pinned pops never wait", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0))
		r.wants(r.b, popAll)
		r.a.Exec(t, rollBack)
		r.wants(r.b, popAll, int64(0))
		r.check()
	})
	t.Run("many at once", func(t *testing.T) {
		r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY(SELECT '1'::json FROM generate_series(1, 20)), ARRAY(SELECT 'p' || i FROM generate_series(1, 20) i))`)
		var got atomic.Int64
		together(t, r.db, 40, 1, func(conn *pgx.Conn, client, _ int) error {
			tag, err := conn.Exec(context.Background(), `SELECT queen.pop_v1('q', 1, 'g', p_partition => $1)`,
				map[bool]any{true: nil, false: "p1"}[client%4 > 0])
			got.Add(tag.RowsAffected())
			return err
		}, nil)
		require.LessOrEqual(t, got.Load(), int64(20), "F043")
		require.Positive(t, got.Load())
		require.Equal(t, int64(20), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_consumers"), "F026: one cursor a partition")
		require.Equal(t, int64(1), scalar[int64](t, r.db, "SELECT count(*) FROM queen.consumer_groups_metadata"), "F026: one registration")
		require.Equal(t, got.Load(), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_consumers WHERE worker_id IS NOT NULL"))
		r.check()
	})
}

// F035: a group that subscribed with mode new receives what is pushed to a
// partition that appears while it subscribes, once that push is later.
func TestNewGroupAndPartitionsBornLater(t *testing.T) {
	const popNew = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', p_max_partitions => 0, p_subscription_mode => 'new')`
	r := newRace(t, "SELECT queen.push_v1('q', '1', 'old')")
	r.a.Exec(t, begin)
	r.a.Exec(t, "SELECT queen.push_v1('q', '1', 'old')")
	r.a.Exec(t, pushNext) // stamped before the subscription, seen after it
	r.wants(r.b, popNew)
	r.a.Exec(t, pushNext)
	r.a.Exec(t, commit)
	r.b.Exec(t, `SELECT partition || ' ' || "offset" FROM queen.pop_v1('q', 100, 'g', p_max_partitions => 0, p_subscription_mode => 'new') ORDER BY 1`)
	r.got(r.b, "old 1", "p 0", "p 1")
	r.check()
}

// A pop never waits for an ack, a push, or another pop (L-3, L-6, O-25): what is
// held is not there for it.
func TestPopNeverWaits(t *testing.T) {
	t.Parallel()
	t.Run("for an ack", func(t *testing.T) {
		r := newRace(t, pushNext, pushNext, pushNext)
		r.a.Exec(t, `SELECT partition_id, transaction_id, lease_id FROM queen.pop_v1('q', 2, 'g', 'p')`)
		first, second := r.a.Rows()[0], r.a.Rows()[1]
		r.a.Exec(t, begin)
		r.a.Exec(t, `SELECT success FROM queen.ack_v1($1, $2, $3, 'g')`, first[0], []any{first[1], second[1]}, first[2])
		r.got(r.a, true, true)
		r.wants(r.b, popAll)
		r.wants(r.b, popWide)
		r.a.Exec(t, commit)
		r.wants(r.b, popWide, int64(2))
		r.check()
	})
	t.Run("for a pop", func(t *testing.T) {
		r := newRace(t, pushNext, popLease, endLeases)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0))
		r.wants(r.b, popAll)
		r.a.Exec(t, rollBack)
		r.wants(r.b, popAll, int64(0))
		r.check()
	})
	t.Run("for a pop, and takes what is free beside it", func(t *testing.T) {
		const popOne = `SELECT partition FROM queen.pop_v1('q', 1, 'g')`
		r := newRace(t, pushNext, "SELECT queen.push_v1('q', '1', 'r')", "SELECT queen.push_v1('q', '1', 's')")
		r.exec(popOne) // makes the cursors
		r.exec(endLeases)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0)) // of p
		r.b.Exec(t, popOne)
		first := r.b.Rows()
		r.b.Exec(t, popOne)
		require.ElementsMatch(t, [][]any{{"r"}, {"s"}}, append(first, r.b.Rows()...))
		r.wants(r.b, popOne)
		r.a.Exec(t, rollBack)
		r.wants(r.b, popOne, "p")
		r.check()
	})
	t.Run("for an autoAck that rolls back", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', 'p', p_auto_ack => true)`, int64(0))
		r.wants(r.b, popAll)
		r.a.Exec(t, rollBack)
		r.wants(r.b, popAll, int64(0))
		r.check()
	})
	t.Run("for a push", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, pushNext, int64(1))
		r.wants(r.b, popAll, int64(0))
		r.b.Exec(t, `SELECT a.success FROM queen.log_consumers c, queen.log_ack_upto_v1(ARRAY[c.partition_id], '{g}', ARRAY[c.worker_id], '{0}') a`)
		r.got(r.b, true)
		r.wants(r.b, popAll)
		r.a.Exec(t, commit)
		r.wants(r.b, popAll, int64(1))
		r.check()
	})
}

// Design 3.3, W-15: pops beside a queue that is being deleted: nothing, or a
// retry; never an orphan, never another error.
func TestPopAgainstQueueDelete(t *testing.T) {
	t.Parallel()
	const known = `SELECT queen.pop_v1('q', 1, 'g', p_auto_ack => true)`
	for name, c := range map[string]struct {
		before []string
		pop    string
		state  string // of the pop, when it has to wait for the deletion
	}{
		"a known group, pinned":     {[]string{pushNext, known, pushNext}, popAll, "-"},
		"a known group, queue-wide": {[]string{pushNext, known, pushNext}, popWide, "-"},
		"a new group, pinned":       {[]string{pushNext}, popAll, "-"},
		"a new group, queue-wide":   {[]string{pushNext}, popWide, "40001"},
		"a new partition":           {[]string{pushNext, known, "SELECT queen.push_v1('q', '1', 'r')"}, popWide, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, append([]string{patient}, c.before...)...)
			r.a.Exec(t, begin)
			r.a.Exec(t, deleteQ)
			if c.state == "-" {
				r.wants(r.b, c.pop)
			} else {
				r.blocked(r.b, c.pop)
			}
			r.a.Exec(t, commit)
			if c.state != "-" {
				r.fails(r.b, c.state)
			}
			for _, table := range []string{"queues", "log_partitions", "log_segments", "log_txns", "log_consumers", "consumer_groups_metadata"} {
				require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), "W-15: "+table)
			}
			r.wants(r.b, c.pop)
			r.check()
		})
		t.Run(name+", pop first", func(t *testing.T) {
			r := newRace(t, c.before...)
			r.a.Exec(t, begin)
			r.a.Exec(t, c.pop)
			require.NotEmpty(t, r.a.Rows())
			r.b.Exec(t, deleteQ)
			r.a.Exec(t, commit)
			r.exec(reclaimAll)
			for _, table := range []string{"queues", "log_partitions", "log_segments", "log_txns", "log_consumers", "consumer_groups_metadata"} {
				require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), "W-15: "+table)
			}
		})
	}
}

// A queue in somebody's open transaction holds up no pop: it answers empty within
// the short wait, and finds the message once that is committed (design 3.3).
func TestPopDoesNotWaitForWhoMakesTheQueue(t *testing.T) {
	r := newRace(t)
	r.a.Exec(t, begin)
	r.a.Exec(t, "SELECT queen.push_v1('made meanwhile', '1', 'p')")
	const pop = `SELECT "offset" FROM queen.pop_v1('made meanwhile', 9, 'g', p_subscription_mode => 'new')`
	r.b.Exec(t, "SET lock_timeout = '30s'")
	began := time.Now()
	r.wants(r.b, pop)
	require.Less(t, time.Since(began), 15*time.Second)
	r.b.Exec(t, "SHOW lock_timeout")
	require.Equal(t, "30s", r.b.Rows()[0][0])
	r.a.Exec(t, commit)
	r.wants(r.b, `SELECT "offset" FROM queen.pop_v1('made meanwhile', 9, 'g', p_subscription_mode => 'all')`, int64(0))
	r.check()
}
