package db

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Design 3.2 rule 1, F001, F002: a push that waited for another one reads the
// tail after the wait, whatever the row looked like before it.
func TestPushSeesTheTailAfterTheWait(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"first use":      nil,
		"settled":        {pushNext, settleNow},
		"row is written": {pushNext},
		"row is skipped": {pushNext, keepFresh},
		"emptied":        {pushNext, "SELECT queen._move_log_start(id, 9) FROM queen.log_partitions"},
		"future stamp":   {pushNext, "UPDATE queen.log_segments SET created_at = now() + interval '1 day'", keepFresh},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, before...)
			first := int64(0)
			if before != nil {
				first = 1
			}
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, first)
			r.blocked(r.b, pushNext)
			r.wants(r.a, pushNext, first+1)
			require.Empty(t, column[int64](t, r.db, "SELECT base_offset FROM queen.log_segments WHERE base_offset >= $1", first), "nothing is visible before the commit")
			r.a.Exec(t, commit)
			r.done(r.b)
			r.got(r.b, first+2)
			r.wants(r.a, pushNext, first+3)
			stamps := r.stamps()
			for i := 1; i < len(stamps); i++ {
				require.True(t, stamps[i].After(stamps[i-1]), "F002: stamps rise in commit order: %v", stamps)
			}
			if name != "future stamp" {
				r.check()
			}
		})
	}
}

// E-10: offsets of a push that rolled back are used again, so no hole appears.
func TestRolledBackPushLeavesNoHole(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"first use": nil, "settled": {pushNext, settleNow}, "row is skipped": {pushNext, keepFresh},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, before...)
			first := int64(len(before)+1) / 2
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, first)
			r.blocked(r.b, pushNext)
			r.a.Exec(t, rollBack)
			r.done(r.b)
			r.got(r.b, first)
			require.Equal(t, int64(1), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_partitions"))
			r.check()
		})
	}
}

// Design 3.2: two pushes in one transaction, and pushes after a savepoint that
// was rolled back, go on where what is left of the transaction ends.
func TestPushesOfOneTransaction(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"settled": {pushNext, settleNow}, "row is written": {pushNext}, "row is skipped": {pushNext, keepFresh},
		"emptied": {pushNext, "SELECT queen._move_log_start(id, 9) FROM queen.log_partitions"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, before...)
			r.a.Exec(t, begin)
			r.a.Exec(t, "SAVEPOINT early")
			r.wants(r.a, pushNext, int64(1))
			r.a.Exec(t, "ROLLBACK TO early")
			r.wants(r.a, pushNext, int64(1))
			r.wants(r.a, pushNext, int64(2))
			r.a.Exec(t, "SAVEPOINT late")
			r.wants(r.a, `SELECT "offset" FROM queen.push_many_v1('q', ARRAY['1','2','3']::json[], '{p}')`, int64(3), int64(4), int64(5))
			r.a.Exec(t, "ROLLBACK TO late")
			r.wants(r.a, pushNext, int64(3))
			r.blocked(r.b, pushNext)
			r.a.Exec(t, commit)
			r.done(r.b)
			r.got(r.b, int64(4))
			r.check()
		})
	}
}

// F002: the stamp is read under the lock: a transaction that began long before
// does not stamp its push with its start, and never below it.
func TestStampIsTakenUnderTheLock(t *testing.T) {
	r := newRace(t, pushNext)
	r.a.Exec(t, begin)
	r.a.Exec(t, "SELECT now()")
	started := r.a.Rows()[0][0].(time.Time)
	r.wants(r.b, pushNext, int64(1))
	r.wants(r.a, pushNext, int64(2))
	r.a.Exec(t, commit)
	stamps := r.stamps()
	require.True(t, stamps[2].After(stamps[1]), "F002: %v", stamps)
	require.False(t, stamps[2].Before(started))
	r.check()
}

// Design 3.3, F029: above READ COMMITTED a push is accepted; one that another
// push overtook is a serialization failure, never a unique violation.
func TestPushAboveReadCommitted(t *testing.T) {
	t.Parallel()
	const snapshot = "SELECT count(*) FROM queen.queues"
	others := map[string][]string{
		"row is skipped":    {pushNext, keepFresh},
		"row is written":    {pushNext},
		"settled":           {pushNext, settleNow},
		"first use":         nil,
		"first partition":   {"SELECT queen.push_v1('q', '1', 'other')"},
		"emptied meanwhile": {pushNext, keepFresh},
	}
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		for name, before := range others {
			t.Run(level+"/"+name, func(t *testing.T) {
				r := newRace(t, before...)
				r.a.Exec(t, "BEGIN ISOLATION LEVEL "+level)
				r.a.Exec(t, snapshot)
				r.b.Exec(t, pushWithID)
				if name == "emptied meanwhile" {
					r.b.Exec(t, dropUpTo, int64(100))
					r.b.Exec(t, "DELETE FROM queen.log_segments")
				}
				r.a.Go(pushWithID)
				r.fails(r.a, "40001")
				r.a.Exec(t, rollBack)
				r.check()
			})
		}
		t.Run(level+"/an open push", func(t *testing.T) {
			r := newRace(t, pushNext, keepFresh)
			r.b.Exec(t, begin)
			r.b.Exec(t, pushNext)
			r.a.Exec(t, "BEGIN ISOLATION LEVEL "+level)
			r.blocked(r.a, pushNext)
			r.b.Exec(t, commit)
			r.fails(r.a, "40001")
			r.a.Exec(t, rollBack)
			r.check()
		})
		t.Run(level+"/nobody interferes", func(t *testing.T) {
			r := newRace(t, pushNext, "SELECT queen.push_v1('r', '1', 'p')")
			r.a.Exec(t, "BEGIN ISOLATION LEVEL "+level)
			r.a.Exec(t, snapshot)
			r.b.Exec(t, "SELECT queen.push_v1('r', '1', 'other')")
			r.wants(r.a, pushNext, int64(1))
			r.wants(r.a, pushNext, int64(2))
			r.a.Exec(t, "SELECT queen.push_v1('brand new', '1')")
			r.wants(r.a, `SELECT status FROM queen.push_many_v1('q', ARRAY['1','2']::json[], '{p}', '{x,x}')`, "queued", "duplicate")
			r.a.Exec(t, commit)
			r.wants(r.b, pushNext, int64(4))
			r.check()
		})
	}
}

// Design 3.4: a push of an id that another transaction has pushed but not
// committed waits, then answers after what became of that one.
func TestDedupAgainstAnOpenPush(t *testing.T) {
	t.Parallel()
	for end, want := range map[string][]any{commit: {"duplicate", int64(0)}, rollBack: {"queued", int64(0)}} {
		for _, before := range [][]string{nil, {"SELECT queen.configure_queue_v1('q'), queen._provision('{q}', '{p}', queen._current_tenant())"}} {
			t.Run(fmt.Sprintf("%s/%d", end, len(before)), func(t *testing.T) {
				r := newRace(t, before...)
				r.a.Exec(t, begin)
				r.a.Exec(t, pushWithID)
				r.blocked(r.b, pushWithID)
				r.a.Exec(t, end)
				r.done(r.b)
				require.Equal(t, want, r.b.Rows()[0])
				require.Equal(t, int64(1), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_segments"))
				r.check()
			})
		}
	}
}

// Design 3.3: a bundle leaves out a partition that is held and stores the rest
// at once; alone, the left-out one waits.
func TestSkipLockedBundleAnswersBusy(t *testing.T) {
	const bundle = `SELECT string_agg(grp || status, ' ' ORDER BY grp) FROM queen.log_push_v1('{q,q,q}', '{p,other,p}', '{1,1,1}', '{1,2,3}', p_skip_locked => true)`
	r := newRace(t, pushNext, "SELECT queen.push_v1('q', '1', 'other')")
	r.a.Exec(t, begin)
	r.a.Exec(t, pushNext)
	r.wants(r.b, bundle, "0busy 1queued 2busy")
	const one = `SELECT grp || status FROM queen.log_push_v1('{q}', '{p}', '{1}', '{1}', p_skip_locked => true)`
	r.wants(r.b, one, "0busy")
	r.blocked(r.b, `SELECT base_offset FROM queen.log_push_v1('{q}', '{p}', '{1}', '{1}')`)
	r.a.Exec(t, commit)
	r.done(r.b)
	r.got(r.b, int64(2))
	r.wants(r.b, bundle, "0queued 1queued 2queued")
	r.wants(r.b, one, "0queued")
	r.check()
}

// Design 3.3: nor does a bundle wait for whoever is making a queue or partition
// that it needs.
func TestSkipLockedBundleDoesNotWaitToProvision(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]string{
		"new queue":     "SELECT queen.push_v1('new', '1', 'p')",
		"new partition": "SELECT queen.push_v1('q2', '1', 'p2')",
	} {
		t.Run(name, func(t *testing.T) {
			const bundle = `SELECT string_agg(grp || status, ' ' ORDER BY grp) FROM queen.log_push_v1('{new,q,q2}', '{p,p,p2}', '{1,1,1}', '{1,2,3}', p_skip_locked => true)`
			r := newRace(t, pushNext, "SELECT queen.push_v1('q2', '1', 'p')")
			r.a.Exec(t, begin)
			r.a.Exec(t, held)
			r.b.Exec(t, "SET lock_timeout = '7s'")
			r.wants(r.b, bundle, "0busy 1queued 2busy")
			r.wants(r.b, "SHOW lock_timeout", "7s")
			r.a.Exec(t, commit)
			r.wants(r.b, bundle, "0queued 1queued 2queued")
			r.wants(r.b, "SHOW lock_timeout", "7s")
			r.check()
		})
	}
}

// P-11: finding a partition reads that one, not all of its queue, whatever the
// statistics say.
func TestPushResolvesByKeyDespiteStaleStatistics(t *testing.T) {
	r := newRace(t, pushNext, "ANALYZE queen.log_partitions",
		"INSERT INTO queen.log_partitions (queue_id, name) SELECT q.id, 'x' || g FROM queen.queues q, generate_series(1, 2000) g")
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.log_push_v1(array_fill('q'::text, '{100}'), (SELECT array_agg('x' || g) FROM generate_series(1, 100) g),
		array_fill(1, '{100}'), array_fill('1'::text, '{100}'), p_skip_locked => true)`)
	r.wants(r.a, "SELECT (idx_tup_fetch < 2000)::text FROM pg_stat_xact_user_tables WHERE relid = 'queen.log_partitions'::regclass", "true")
	r.a.Exec(t, commit)
	r.check()
}

// F029: multi-partition pushes in opposite orders, by both faces, never
// deadlock, and every offset is dense.
func TestPushesInOppositeOrders(t *testing.T) {
	r := newRace(t, "SELECT queen.push_many_v1('q', ARRAY['1','2','3','4']::json[], '{a,b,c,d}')")
	const clients, rounds = 4, 50
	together(t, r.db, clients, 1, func(conn *pgx.Conn, client, _ int) error {
		parts := []string{"a", "b", "c", "d"}
		if client%2 == 1 {
			parts = []string{"d", "c", "b", "a"}
		}
		for range rounds {
			sql := `SELECT queen.push_many_v1('q', ARRAY['1','2','3','4']::json[], $1)`
			if client > 1 {
				sql = `SELECT queen.log_push_v1('{q,q,q,q}', $1, '{1,1,1,1}', '{1,2,3,4}')`
			}
			if _, err := conn.Exec(context.Background(), sql, parts); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	require.Equal(t, int64(4*(clients*rounds+1)), scalar[int64](t, r.db, "SELECT sum(frames) FROM queen.log_segments"))
	r.check()
}

// F026, F027: many first contacts at once: every push succeeds, one queue, one
// partition, one cursor, dense offsets, and what configure said stays.
func TestConcurrentFirstUse(t *testing.T) {
	r := newRace(t)
	const clients, rounds = 40, 3
	together(t, r.db, clients, rounds, func(conn *pgx.Conn, client, round int) error {
		queue := fmt.Sprintf("ns.task.%d", round)
		sql := `SELECT queen.push_v1($1, '1', 'p')`
		switch client % 4 {
		case 1:
			sql = `SELECT queen.pop_v1($1, 1, 'g')`
		case 2:
			sql = `SELECT queen.push_many_v1($1, ARRAY['1','2']::json[], ARRAY['p', 'r'])`
		case 3:
			sql = `SELECT queen.configure_queue_v1($1, '{"retryLimit": 7, "leaseTime": 33}')`
		}
		_, err := conn.Exec(context.Background(), sql, queue)
		return err
	}, func(round int) {
		queue := fmt.Sprintf("ns.task.%d", round)
		require.Equal(t, []string{"7 33"}, column[string](t, r.db,
			"SELECT concat_ws(' ', retry_limit, lease_time) FROM queen.queues WHERE name = $1", queue))
		require.Equal(t, []string{"p 19", "r 9"}, column[string](t, r.db, `SELECT h.name || ' ' || h.head_offset FROM queen.partition_head h
			JOIN queen.queues q ON q.id = h.queue_id WHERE q.name = $1 ORDER BY h.name`, queue))
		column[string](t, r.db, `SELECT lease_id FROM queen.pop_v1($1, 1, 'g')`, queue) // on a busy machine none of them waited long enough to register
		require.Equal(t, int64(1), scalar[int64](t, r.db, `SELECT count(*) FROM queen.consumer_groups_metadata m
			JOIN queen.queues q ON q.id = m.queue_id WHERE q.name = $1`, queue))
		r.exec(endLeases)
		require.Len(t, column[string](t, r.db, `SELECT partition || "offset" FROM queen.pop_v1($1, 100, 'g', p_max_partitions => 0, p_auto_ack => true)`, queue),
			30, "whatever came before or after the subscription")
		r.check()
	})
}

// F026: configure and a first push wait for each other and neither undoes the
// other.
func TestConfigureAgainstFirstPush(t *testing.T) {
	t.Parallel()
	const (
		configure = `SELECT queen.configure_queue_v1('q', '{"dedupWindowSeconds": 0, "retryLimit": 9}')`
		options   = "SELECT dedup_window_seconds || ' ' || retry_limit FROM queen.queues"
	)
	for end, want := range map[string]string{commit: "0 9", rollBack: "3600 3"} {
		t.Run("configure first/"+end, func(t *testing.T) {
			r := newRace(t)
			r.a.Exec(t, begin)
			r.a.Exec(t, configure)
			r.blocked(r.b, pushNext)
			r.a.Exec(t, end)
			r.done(r.b)
			require.Equal(t, []string{want}, column[string](t, r.db, options))
			r.check()
		})
	}
	for _, end := range []string{commit, rollBack} {
		t.Run("push first/"+end, func(t *testing.T) {
			r := newRace(t)
			r.a.Exec(t, begin)
			r.a.Exec(t, pushNext)
			r.blocked(r.b, configure)
			r.a.Exec(t, end)
			r.done(r.b)
			require.Equal(t, []string{"0 9"}, column[string](t, r.db, options))
			r.check()
		})
	}
}

// Design 3.2 rule 1, W-15: a push behind a delete lands in a new queue or asks
// for a retry; a delete behind a push takes the pushed rows with it. Nothing is
// left over either way.
func TestPushAgainstQueueDelete(t *testing.T) {
	t.Parallel()
	t.Run("delete first", func(t *testing.T) {
		r := newRace(t, pushNext)
		old := r.lane()
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, pushNext)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, int64(0))
		require.NotEqual(t, old, r.lane(), "E-15: a new partition")
		r.check()
	})
	t.Run("delete first, then given up", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, pushNext)
		r.a.Exec(t, rollBack)
		r.done(r.b)
		r.got(r.b, int64(1))
		r.check()
	})
	t.Run("delete first, several partitions", func(t *testing.T) {
		r := newRace(t, "SELECT queen.push_many_v1('q', ARRAY['1','2']::json[], '{p,r}')")
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, "SELECT queen.log_push_v1('{q,q}', '{p,r}', '{1,1}', '{1,2}')")
		r.a.Exec(t, commit)
		r.fails(r.b, "40001")
		require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_segments"))
		r.check()
	})
	t.Run("delete first, new partition", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, "SELECT queen.push_v1('q', '1', 'new')")
		r.a.Exec(t, commit)
		r.fails(r.b, "40001")
		require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_partitions"))
		r.wants(r.b, "SELECT \"offset\" FROM queen.push_v1('q', '1', 'new')", int64(0))
		r.check()
	})
	for end, rows := range map[string]int64{commit: 0, rollBack: 0} {
		t.Run("push first/"+end, func(t *testing.T) {
			r := newRace(t, pushNext)
			r.a.Exec(t, begin)
			r.a.Exec(t, pushNext)
			r.a.Exec(t, "SELECT queen.push_v1('q', '1', 'p', 'with an id')")
			r.b.Exec(t, deleteQ)
			r.a.Exec(t, end)
			r.exec(reclaimAll)
			for _, table := range []string{"queues", "log_partitions", "log_segments", "log_txns"} {
				require.Equal(t, rows, scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), "W-15, E-24: "+table)
			}
		})
	}
	t.Run("push of a new partition first", func(t *testing.T) {
		r := newRace(t, "SELECT queen.push_v1('q', '1', 'old')")
		r.a.Exec(t, begin)
		r.a.Exec(t, pushNext)
		r.b.Exec(t, deleteQ)
		r.a.Exec(t, commit)
		r.exec(reclaimAll)
		for _, table := range []string{"queues", "log_partitions", "log_segments", "log_txns"} {
			require.Equal(t, int64(0), scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), "W-15: "+table)
		}
	})
	t.Run("the partition row goes alone", func(t *testing.T) {
		r := newRace(t, "SELECT queen.push_many_v1('q', ARRAY['1','2']::json[], '{p,r}')")
		r.a.Exec(t, begin)
		r.a.Exec(t, "DELETE FROM queen.log_partitions")
		r.blocked(r.b, "SELECT queen.log_push_v1('{q,q}', '{p,r}', '{1,1}', '{1,2}')")
		r.a.Exec(t, commit)
		r.fails(r.b, "40001")
		r.wants(r.b, pushNext, int64(0))
		r.check()
	})
}

// F031: a push is no row of savepoints: all its rows carry the transaction's
// own id, however many items, slices and repeats it has.
func TestLargePushUsesOneTransactionID(t *testing.T) {
	r := newRace(t, pushNext)
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.log_push_v1('{q,q}', '{p,r}', '{5000,5000}', ARRAY(SELECT '1' FROM generate_series(1, 10000)),
		ARRAY(SELECT md5((i % 4000)::text) FROM generate_series(1, 10000) i))`)
	r.a.Exec(t, "SELECT pg_current_xact_id()::text")
	own := r.a.Rows()[0][0]
	r.a.Exec(t, commit)
	// r is new: making it is the one thing that runs under a savepoint.
	require.Equal(t, []string{own.(string)}, column[string](t, r.db, "SELECT DISTINCT xmin::text FROM queen.log_segments WHERE base_offset > 0 UNION SELECT DISTINCT xmin::text FROM queen.log_txns WHERE base_offset > 0"))
	r.check()
}

// F001: a reader that pops and acks as fast as it can receives every message
// once, in offset order, while transactions of pushers overlap.
func TestReaderNeverPassesAnOpenPush(t *testing.T) {
	r := newRace(t, pushNext)
	const pushers, rounds = 8, 25
	var got []int64
	together(t, r.db, pushers+1, 1, func(conn *pgx.Conn, client, _ int) error {
		ctx := context.Background()
		if client < pushers {
			for i := range rounds {
				err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
					for range 1 + i%2 {
						if _, err := tx.Exec(ctx, pushNext); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		want := 1 + pushers*(rounds+rounds/2)
		for deadline := time.Now().Add(2 * time.Minute); len(got) < want && time.Now().Before(deadline); {
			rows, err := conn.Query(ctx, `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', 'p', p_auto_ack => true)`)
			if err != nil {
				return err
			}
			more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil {
				return err
			}
			got = append(got, more...)
		}
		return nil
	}, nil)
	require.Len(t, got, 1+pushers*(rounds+rounds/2))
	for i, offset := range got {
		require.Equal(t, int64(i), offset, "F001: nothing is skipped, nothing comes twice")
	}
	r.check()
}
