package db

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// ackRace is a race over three messages with the ids m0, m1 and m2, all leased
// by session a.
type ackRace struct {
	race
	lease string
}

func newAckRace(t *testing.T) ackRace {
	t.Helper()
	r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY['0','1','2']::json[], '{p}', '{m0,m1,m2}')`)
	return ackRace{r, r.take(r.a)}
}

// take claims all for group g and answers the lease.
func (r race) take(s *dbtest.Session) string {
	r.t.Helper()
	s.Exec(r.t, popLease)
	lease, _ := s.Rows()[0][0].(string)
	return lease
}

// ack is the statement that gives messages of p a status under a lease; it
// answers the error of each, or ok.
func (r race) ack(lease, status, ids string) string {
	return fmt.Sprintf(`SELECT coalesce(split_part(a.error, ':', 1), 'ok') FROM queen.ack_v1('%s', '{%s}', nullif('%s', ''), 'g', '%s', 'why') a`, r.lane(), ids, lease, status)
}

const invalidLease = "invalid or expired lease"

// F058: an ack that waited for the one who took the batch over is refused.
func TestLateAckAfterTakeover(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"completed", "failed", "retry", "dlq"} {
		t.Run(status, func(t *testing.T) {
			r := newAckRace(t)
			r.exec(endLeases)
			r.b.Exec(t, begin)
			second := r.take(r.b)
			require.NotEmpty(t, second)
			r.blocked(r.a, r.ack(r.lease, status, "m0,m1"))
			r.b.Exec(t, commit)
			r.done(r.a)
			r.got(r.a, invalidLease, invalidLease)
			require.Equal(t, []string{fmt.Sprintf("-1 2 %s 0 2", second)}, column[string](t, r.db,
				"SELECT concat_ws(' ', committed, batch_end, worker_id, batch_retry_count, attempt_count) FROM queen.log_consumers"), "F058: the new owner is untouched")
			r.wants(r.b, r.ack(second, "completed", "m0,m1,m2"), "ok", "ok", "ok")
			r.check()
		})
	}
	t.Run("the takeover rolls back", func(t *testing.T) {
		r := newAckRace(t)
		r.exec(endLeases)
		r.b.Exec(t, begin)
		r.take(r.b)
		r.blocked(r.a, r.ack(r.lease, "completed", "m0"))
		r.b.Exec(t, rollBack)
		r.done(r.a)
		r.got(r.a, invalidLease)
		r.check()
	})
}

// A-24, W-20: acks of one cursor wait for each other, judge what the other left,
// and never move it down.
func TestAcksOfOneCursor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string // ids, both completed under the lease
		answers       []any
		cursor        int64
	}{
		"upward":     {"m0", "m1", []any{"ok"}, 1},
		"downward":   {"m1", "m0", []any{"ok"}, 1}, // a noop
		"the same":   {"m0,m1", "m0,m1", []any{"ok", "ok"}, 1},
		"past a end": {"m0,m1,m2", "m1", []any{invalidLease}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAckRace(t)
			r.a.Exec(t, begin)
			r.a.Exec(t, r.ack(r.lease, "completed", c.first))
			r.blocked(r.b, r.ack(r.lease, "completed", c.second))
			r.a.Exec(t, commit)
			r.done(r.b)
			r.got(r.b, c.answers...)
			require.Equal(t, c.cursor, r.cursor())
			r.check()
		})
	}
	t.Run("two failures charge once", func(t *testing.T) {
		r := newAckRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, r.ack(r.lease, "failed", "m0"))
		r.blocked(r.b, r.ack(r.lease, "failed", "m0"))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, invalidLease)
		require.Equal(t, int32(1), scalar[int32](t, r.db, "SELECT batch_retry_count FROM queen.log_consumers"), "A-18")
		r.check()
	})
	t.Run("lease-less, downward", func(t *testing.T) {
		r := newAckRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, r.ack("", "completed", "m1"))
		r.blocked(r.b, r.ack("", "completed", "m0"))
		r.a.Exec(t, commit)
		r.done(r.b)
		require.Equal(t, int64(1), r.cursor(), "W-20")
		r.check()
	})
	t.Run("positional, downward", func(t *testing.T) {
		r := newAckRace(t)
		upto := func(n int) string {
			return fmt.Sprintf("SELECT success FROM queen.log_ack_upto_v1('{%s}', '{g}', '{%s}', '{%d}')", r.lane(), r.lease, n)
		}
		r.a.Exec(t, begin)
		r.wants(r.a, upto(1), true)
		r.blocked(r.b, upto(0))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, true)
		require.Equal(t, int64(1), r.cursor(), "W-20")
		r.check()
	})
}

// F067: the dead letter and the cursor move in one transaction.
func TestDeadLetterMovesWithItsCursor(t *testing.T) {
	t.Parallel()
	for end, want := range map[string][]string{commit: {"0", "0 0 why"}, rollBack: {"-1"}} {
		t.Run(end, func(t *testing.T) {
			r := newAckRace(t)
			r.a.Exec(t, begin)
			r.wants(r.a, r.ack(r.lease, "dlq", "m0"), "ok")
			require.Equal(t, []string{"-1"}, column[string](t, r.db, "SELECT committed::text FROM queen.log_consumers UNION ALL SELECT 'filed' FROM queen.log_dlq"))
			r.a.Exec(t, end)
			require.Equal(t, want, column[string](t, r.db, `SELECT committed::text FROM queen.log_consumers UNION ALL SELECT concat_ws(' ', "offset", payload, error) FROM queen.log_dlq`))
			r.check()
		})
	}
	t.Run("while the prefix goes", func(t *testing.T) {
		r := newAckRace(t)
		r.b.Exec(t, begin)
		r.b.Exec(t, lockLane)
		r.b.Exec(t, dropUpTo, int64(100))
		r.b.Exec(t, "SELECT queen._reclaim_prefix($1, 100)", r.lane())
		r.wants(r.a, r.ack(r.lease, "dlq", "m1"), "ok") // L-6: an ack waits for no partition
		r.b.Exec(t, commit)
		require.Equal(t, []string{"1 1 why"}, column[string](t, r.db, `SELECT concat_ws(' ', "offset", payload, error) FROM queen.log_dlq`), "F067")
		r.check()
	})
}

// an extension beside the end or the takeover of its lease.
func TestExtendAgainstAckAndPop(t *testing.T) {
	t.Parallel()
	extend := func(lease string) string {
		return fmt.Sprintf("SELECT renewed FROM queen.log_extend_lease_v1('%s', 500)", lease)
	}
	t.Run("the batch is finished", func(t *testing.T) {
		r := newAckRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, r.ack(r.lease, "completed", "m0,m1,m2"))
		r.blocked(r.b, extend(r.lease))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, int32(0))
		r.check()
	})
	t.Run("the batch is taken over", func(t *testing.T) {
		r := newAckRace(t)
		r.exec(endLeases)
		r.b.Exec(t, begin)
		second := r.take(r.b)
		r.blocked(r.a, extend(r.lease))
		r.b.Exec(t, commit)
		r.done(r.a)
		r.got(r.a, int32(0))
		require.Equal(t, second, scalar[string](t, r.db, "SELECT worker_id FROM queen.log_consumers WHERE lease_expires_at < clock_timestamp() + interval '100 s'"))
		r.check()
	})
	t.Run("an open extension", func(t *testing.T) {
		r := newAckRace(t)
		r.a.Exec(t, begin)
		r.wants(r.a, extend(r.lease), int32(1))
		r.wants(r.b, popAll)
		r.blocked(r.b, r.ack(r.lease, "completed", "m0"))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "ok")
		r.check()
	})
}

// Design 3.2 rule 3, O-35: the seal of an emptied partition against an ack, in
// both orders: the cursor ends at the head and never goes down.
func TestSealAgainstAck(t *testing.T) {
	t.Parallel()
	emptied := func(t *testing.T) ackRace {
		r := newAckRace(t)
		r.exec(dropUpTo, int64(100))
		return r
	}
	t.Run("ack first", func(t *testing.T) {
		r := emptied(t)
		r.a.Exec(t, begin)
		r.wants(r.a, r.ack(r.lease, "completed", "m1"), "ok")
		r.exec("SELECT 1")
		r.wants(r.b, popAll)
		r.a.Exec(t, commit)
		require.Equal(t, int64(1), r.cursor(), "a live lease is not sealed over")
		r.exec(endLeases)
		r.wants(r.b, popAll)
		require.Equal(t, int64(2), r.cursor(), "O-35")
		r.check()
	})
	t.Run("seal first", func(t *testing.T) {
		r := emptied(t)
		r.exec(endLeases)
		r.b.Exec(t, begin)
		r.wants(r.b, popAll)
		r.blocked(r.a, r.ack("", "completed", "m0,m1"))
		r.b.Exec(t, commit)
		r.done(r.a)
		require.Equal(t, int64(2), r.cursor(), "W-20, O-35")
		r.wants(r.b, pushNext, int64(3))
		r.wants(r.b, popAll, int64(3))
		r.check()
	})
	t.Run("seal against a push", func(t *testing.T) {
		r := emptied(t)
		r.exec(endLeases)
		r.a.Exec(t, begin)
		r.wants(r.a, pushNext, int64(3))
		r.wants(r.b, popAll)
		require.Equal(t, int64(2), r.cursor(), "O-35: sealed at the head that is committed")
		r.a.Exec(t, commit)
		r.wants(r.b, popAll, int64(3))
		r.check()
	})
}

// F029 for acks: bundles over the same cursors in opposite orders never
// deadlock.
func TestAckBundlesInOppositeOrders(t *testing.T) {
	r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY['1','2','3','4']::json[], '{a,b,c,d}', '{m,m,m,m}')`, `SELECT queen.pop_v1('q', 1, 'g', p_max_partitions => 0)`)
	lanes := column[uuid.UUID](t, r.db, "SELECT partition_id FROM queen.log_consumers ORDER BY 1")
	together(t, r.db, 4, 1, func(conn *pgx.Conn, client, _ int) error {
		ids := lanes
		if client%2 == 1 {
			ids = []uuid.UUID{lanes[3], lanes[2], lanes[1], lanes[0]}
		}
		for range 50 {
			sql := `SELECT queen.log_ack_v1($1, '{g,g,g,g}', '{NULL,NULL,NULL,NULL}', '{1,1,1,1}', '{m,m,m,m}', '{completed,completed,completed,completed}')`
			if client > 1 {
				sql = `SELECT queen.log_ack_upto_v1($1, '{g,g,g,g}', '{x,x,x,x}', '{0,0,0,0}')`
			}
			if _, err := conn.Exec(context.Background(), sql, ids); err != nil {
				return err
			}
			if _, err := conn.Exec(context.Background(), `UPDATE queen.log_consumers SET committed = -1 WHERE partition_id = $1`, ids[client]); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// W-15, design 3.3: an ack beside a queue that is being deleted.
func TestAckAgainstQueueDelete(t *testing.T) {
	t.Parallel()
	t.Run("delete first", func(t *testing.T) {
		r := newAckRace(t)
		statement := r.ack(r.lease, "dlq", "m0")
		r.b.Exec(t, begin)
		r.b.Exec(t, deleteQ)
		r.blocked(r.a, statement)
		r.b.Exec(t, commit)
		r.done(r.a)
		r.got(r.a, "consumer not found")
		require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_dlq"), "W-15")
		r.check()
	})
	t.Run("delete first, then given up", func(t *testing.T) {
		r := newAckRace(t)
		r.b.Exec(t, begin)
		r.b.Exec(t, deleteQ)
		r.blocked(r.a, r.ack(r.lease, "dlq", "m0"))
		r.b.Exec(t, rollBack)
		r.done(r.a)
		r.got(r.a, "ok")
		r.check()
	})
	for _, status := range []string{"dlq", "completed", "failed"} {
		t.Run("ack first/"+status, func(t *testing.T) {
			r := newAckRace(t)
			r.a.Exec(t, begin)
			r.wants(r.a, r.ack(r.lease, status, "m0"), "ok")
			r.b.Exec(t, deleteQ)
			r.a.Exec(t, commit)
			r.exec(reclaimAll)
			for _, table := range []string{"queues", "log_partitions", "log_segments", "log_txns", "log_consumers", "log_dlq"} {
				require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), "W-15: "+table)
			}
		})
	}
}

// With p_skip_locked the groups of a held cursor answer no row, all of them or
// none, while a cursor that does not exist answers as ever.
func TestSkipLockedAckLeavesHeldCursorsAlone(t *testing.T) {
	r := newAckRace(t)
	const ack = `SELECT a.item || ' ' || coalesce(a.error, 'ok')
		FROM queen.log_consumers c
		CROSS JOIN LATERAL queen.log_ack_v1(
			ARRAY[c.partition_id, c.partition_id, c.partition_id], ARRAY['g', 'nobody', 'g'], ARRAY[c.worker_id, '', c.worker_id],
			ARRAY[1, 1, 1], ARRAY['m0', 'm0', 'm1'], ARRAY['completed', 'completed', 'completed'], p_skip_locked => true) a
		WHERE c.consumer_group = 'g' ORDER BY 1`
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT FROM queen.log_consumers WHERE consumer_group = 'g' FOR UPDATE`)
	r.wants(r.b, ack, "1 consumer not found")
	r.a.Exec(t, rollBack)
	r.wants(r.b, ack, "0 ok", "1 consumer not found", "2 ok")
	r.check()
}
