package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	redriveAll   = `SELECT result FROM queen.redrive_dead_letters_step_v1()`
	deleteDead   = `SELECT queen.delete_dead_letters_v1('q')`
	purgeDead    = `SELECT worked FROM queen.log_purge_dead_letters_step_v1(1000, clock_timestamp() + interval '1 day')`
	allowPurge   = `UPDATE queen.queues SET dead_letter_retention_seconds = 1`
	stillDead    = `SELECT transaction_id FROM queen.log_dlq ORDER BY failed_at`
	replayedFrom = `SELECT count(*) FROM queen.log_segments s, unnest(s.transaction_ids) i WHERE i LIKE 'dlq:%'`
)

// newDeadRace is a race over three dead letters m0, m1 and m2 of group g.
func newDeadRace(t *testing.T) race {
	t.Helper()
	return newRace(t, `SELECT queen.push_many_v1('q', ARRAY['0','1','2']::json[], '{p}', '{m0,m1,m2}')`,
		killNext, killNext, killNext)
}

const killNext = `
	DO $$ DECLARE r record; BEGIN
		SELECT * INTO r FROM queen.pop_v1('q', 1, 'g', 'p', p_subscription_mode => 'all');
		PERFORM queen.ack_v1(r.partition_id, ARRAY[r.transaction_id], r.lease_id, 'g', 'dlq', 'why');
	END $$`

// replay is the statement that moves the dead letter of a message.
func (r race) replay(txn string) string {
	r.t.Helper()
	return fmt.Sprintf(`SELECT result FROM queen.replay_dead_letter_v1('%s')`, scalar[uuid.UUID](r.t, r.db, `SELECT id FROM queen.log_dlq WHERE transaction_id = $1`, txn))
}

// ends asserts what is dead still and how many were stored anew, and the log.
func (r race) ends(moved int64, dead ...string) {
	r.t.Helper()
	require.Equal(r.t, moved, scalar[int64](r.t, r.db, replayedFrom))
	if dead == nil {
		dead = []string{}
	}
	require.Equal(r.t, dead, column[string](r.t, r.db, stillDead))
	r.check()
}

// whoever moves or deletes a dead letter, it is moved once or not at all.
func TestReplayAgainstReplay(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{commit: "gone", rollBack: "moved"} {
		t.Run(end, func(t *testing.T) {
			r := newDeadRace(t)
			again := r.replay("m1")
			r.a.Exec(t, begin)
			r.wants(r.a, again, "moved")
			r.blocked(r.b, again)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, want)
			r.ends(1, "m0", "m2")
		})
	}
	t.Run("to two places", func(t *testing.T) {
		r := newDeadRace(t)
		id := scalar[uuid.UUID](t, r.db, `SELECT id FROM queen.log_dlq WHERE transaction_id = 'm1'`)
		to := func(queue string) string {
			return fmt.Sprintf(`SELECT result FROM queen.replay_dead_letter_v1('%s', '%s')`, id, queue)
		}
		r.a.Exec(t, begin)
		r.wants(r.a, to("x"), "moved")
		r.blocked(r.b, to("y"))
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "gone")
		r.ends(1, "m0", "m2")
	})
}

func TestRedriveAgainstRedrive(t *testing.T) {
	t.Parallel()
	for end, want := range map[string][]any{commit: {}, rollBack: {"moved", "moved", "moved"}} {
		t.Run(end, func(t *testing.T) {
			r := newDeadRace(t)
			one := r.replay("m1")
			r.a.Exec(t, begin)
			r.wants(r.a, redriveAll, "moved", "moved", "moved")
			r.wants(r.b, redriveAll, "busy", "busy", "busy")
			r.blocked(r.b, one)
			r.a.Exec(t, end)
			r.done(r.b)
			if end == commit {
				r.got(r.b, "gone")
			} else {
				r.got(r.b, "moved")
				want = want[1:]
			}
			r.wants(r.b, redriveAll, want...)
			r.ends(3)
		})
	}
	t.Run("against a replay to another place", func(t *testing.T) {
		r := newDeadRace(t)
		id := scalar[uuid.UUID](t, r.db, `SELECT id FROM queen.log_dlq WHERE transaction_id = 'm1'`)
		r.a.Exec(t, begin)
		r.wants(r.a, fmt.Sprintf(`SELECT result FROM queen.replay_dead_letter_v1('%s', 'x')`, id), "moved")
		r.wants(r.b, redriveAll, "moved", "busy", "moved")
		r.a.Exec(t, commit)
		r.wants(r.b, redriveAll)
		r.ends(3)
	})
	t.Run("against a push that idles", func(t *testing.T) {
		r := newDeadRace(t)
		r.a.Exec(t, begin)
		r.a.Exec(t, pushNext)
		r.wants(r.b, redriveAll, "busy", "busy", "busy")
		r.a.Exec(t, commit)
		r.wants(r.b, redriveAll, "moved", "moved", "moved")
		require.Equal(t, []int64{4, 5, 6}, column[int64](t, r.db, `SELECT r."offset" FROM queen.read_v1('q', 'p', 4) r`), "behind what was first")
		r.ends(3)
	})
}

func TestReplayAgainstDelete(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]struct {
		deleted int32
		moved   int64
	}{commit: {2, 1}, rollBack: {3, 0}} {
		t.Run("replay first, "+end, func(t *testing.T) {
			r := newDeadRace(t)
			one := r.replay("m1")
			r.a.Exec(t, begin)
			r.a.Exec(t, one)
			r.blocked(r.b, deleteDead)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, want.deleted)
			r.ends(want.moved)
		})
		t.Run("delete first, "+end, func(t *testing.T) {
			r := newDeadRace(t)
			one := r.replay("m1")
			r.a.Exec(t, begin)
			r.wants(r.a, deleteDead, int32(3))
			r.wants(r.b, redriveAll, "busy", "busy", "busy")
			r.blocked(r.b, one)
			r.a.Exec(t, end)
			r.done(r.b)
			if end == commit {
				r.got(r.b, "gone")
				r.ends(0)
			} else {
				r.got(r.b, "moved")
				r.ends(1, "m0", "m2")
			}
		})
	}
}

// F073, W-15: a queue that is deleted takes its dead letters along and never comes back.
func TestReplayAgainstQueueDelete(t *testing.T) {
	t.Parallel()
	t.Run("delete first", func(t *testing.T) {
		r := newDeadRace(t)
		one := r.replay("m1")
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.wants(r.b, redriveAll, "busy", "busy", "busy")
		r.blocked(r.b, one)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "gone")
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.queues"), "F073")
		r.ends(0)
	})
	t.Run("delete first, to another partition", func(t *testing.T) {
		r := newDeadRace(t)
		id := scalar[uuid.UUID](t, r.db, `SELECT id FROM queen.log_dlq WHERE transaction_id = 'm1'`)
		to := fmt.Sprintf(`SELECT result FROM queen.replay_dead_letter_v1('%s', NULL, 'side')`, id)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, to)
		r.a.Exec(t, commit)
		r.fails(r.b, "40001")
		r.wants(r.b, to, "gone")
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.queues"), "F073")
		r.ends(0)
	})
	t.Run("replay first", func(t *testing.T) {
		r := newDeadRace(t)
		one := r.replay("m1")
		r.a.Exec(t, begin)
		r.wants(r.a, one, "moved")
		r.b.Exec(t, deleteQ)
		r.a.Exec(t, commit)
		r.exec(reclaimAll)
		require.Zero(t, scalar[int64](t, r.db, `SELECT (SELECT count(*) FROM queen.log_dlq) + (SELECT count(*) FROM queen.log_segments) + (SELECT count(*) FROM queen.queues)`))
	})
	t.Run("the destination is deleted", func(t *testing.T) {
		r := newDeadRace(t)
		r.exec(`SELECT queen.push_v1('x', '1', 'p')`)
		id := scalar[uuid.UUID](t, r.db, `SELECT id FROM queen.log_dlq WHERE transaction_id = 'm1'`)
		to := fmt.Sprintf(`SELECT result FROM queen.replay_dead_letter_v1('%s', 'x')`, id)
		r.a.Exec(t, begin)
		r.a.Exec(t, `SELECT queen.delete_queue_v1('x'), (SELECT worked FROM queen.log_reclaim_step_v1(10000))`)
		r.blocked(r.b, to)
		r.a.Exec(t, commit)
		r.fails(r.b, "40001")
		require.Len(t, column[string](t, r.db, stillDead), 3, "the dead letter is kept")
		r.wants(r.b, to, "moved")
		r.ends(1, "m0", "m2")
	})
}

// Deleting the dead letters of a message stands in nobody's way, and takes only what was filed.
func TestMessageDeleteAgainstConsumers(t *testing.T) {
	r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY['0','1','2']::json[], '{p}', '{m0,m1,m2}')`, killNext)
	del := func(txn string) string {
		return fmt.Sprintf(`SELECT queen.delete_message_v1('%s', '%s')`, r.lane(), txn)
	}
	r.a.Exec(t, begin)
	r.wants(r.a, del("m0"), int32(1))
	r.wants(r.b, `SELECT transaction_id FROM queen.pop_v1('q', 1, 'g', 'p')`, "m1")
	r.a.Exec(t, commit)

	// The ack has filed m1 but not committed: there is nothing to delete yet, and the letter stays.
	lease := scalar[string](t, r.db, "SELECT worker_id FROM queen.log_consumers")
	r.b.Exec(t, begin)
	r.wants(r.b, fmt.Sprintf(`SELECT a.dlq FROM queen.ack_v1('%s', '{m1}', '%s', 'g', 'dlq') a`, r.lane(), lease), true)
	r.wants(r.a, del("m1"), int32(0))
	r.b.Exec(t, commit)
	r.wants(r.a, stillDead, "m1")
	r.wants(r.a, del("m1"), int32(1))
	r.wants(r.a, `SELECT transaction_id FROM queen.pop_v1('q', 9, 'new', 'p', p_subscription_mode => 'all')`, "m0", "m1", "m2")
	r.check()
}

func TestPurgeAgainstReplay(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]int32{commit: 0, rollBack: 1} {
		t.Run(end, func(t *testing.T) {
			r := newDeadRace(t)
			r.exec(allowPurge)
			one := r.replay("m1")
			r.a.Exec(t, begin)
			r.wants(r.a, one, "moved")
			r.wants(r.b, purgeDead, int32(2))
			r.a.Exec(t, end)
			r.wants(r.b, purgeDead, want)
			require.Equal(t, int64(2+want), scalar[int64](t, r.db, "SELECT removed FROM queen.dead_letter_removals"))
			r.ends(int64(1 - want))
		})
	}
	t.Run("two purges", func(t *testing.T) {
		r := newDeadRace(t)
		r.exec(allowPurge)
		r.a.Exec(t, begin)
		r.wants(r.a, purgeDead, int32(3))
		r.wants(r.b, purgeDead, int32(0))
		r.a.Exec(t, commit)
		require.Equal(t, int64(3), scalar[int64](t, r.db, "SELECT removed FROM queen.dead_letter_removals"))
	})
	t.Run("whoever holds 737001 stops it", func(t *testing.T) {
		r := newDeadRace(t)
		r.exec(allowPurge)
		r.a.Exec(t, begin)
		r.a.Exec(t, "SELECT pg_advisory_xact_lock(737001)")
		r.wants(r.b, purgeDead, int32(0))
		r.a.Exec(t, commit)
		r.wants(r.b, purgeDead, int32(3))
	})
}

// A backend that dies between the push and the delete has done neither.
func TestReplayDiesHalfWay(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"log_segments", "log_txns", "log_dlq"} {
		for name, sql := range map[string]string{"replay": "", "redrive": redriveAll} {
			t.Run(table+" "+name, func(t *testing.T) {
				r := newDeadRace(t)
				if sql == "" {
					sql = r.replay("m1")
				}
				r.a.Exec(t, begin)
				r.a.Exec(t, "LOCK TABLE queen."+table+" IN EXCLUSIVE MODE") // reads pass, writes wait
				r.blocked(r.b, sql)
				r.exec("SELECT pg_terminate_backend($1)", int32(r.b.PID()))
				require.Error(t, r.b.Wait(t))
				r.a.Exec(t, rollBack)
				r.ends(0, "m0", "m1", "m2")
				r.wants(r.a, redriveAll, "moved", "moved", "moved")
				r.ends(3)
			})
		}
	}
}

// Many at once: redrives, replays, deletes, the purge, and consumers that give up again.
func TestDeadLettersUnderStress(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	for p := range 4 {
		for q := range 2 {
			_, err := db.Pool.Exec(ctx, `SELECT queen.push_many_v1($1, (SELECT array_agg(to_json(n)) FROM generate_series(1, 50) n), ARRAY[$2])`, fmt.Sprintf("q%d", q), fmt.Sprintf("p%d", p))
			require.NoError(t, err)
		}
	}
	giveUp := `DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT * FROM queen.pop_v1('q' || (random() * 1)::int, 1, 'g', p_max_partitions => 4, p_subscription_mode => 'all') LOOP
			PERFORM queen.ack_v1(r.partition_id, ARRAY[r.transaction_id], r.lease_id, 'g', 'dlq');
		END LOOP;
	END $$`
	oneOf := `SELECT r.result FROM (SELECT id FROM queen.log_dlq ORDER BY random() LIMIT 1) d, queen.replay_dead_letter_v1(d.id, CASE WHEN random() < 0.3 THEN 'q0' END) r`
	purge := `SELECT queen.delete_message_v1(d.partition_id, d.transaction_id) FROM queen.log_dlq d ORDER BY random() LIMIT 1`
	var crowd sync.WaitGroup
	for _, sql := range []string{giveUp, giveUp, redriveAll, redriveAll, oneOf, oneOf, purge, `SELECT queen.delete_dead_letters_v1('q1', NULL, 5)`} {
		crowd.Go(func() {
			conn, err := pgx.Connect(ctx, db.DSN)
			if err != nil {
				return
			}
			defer conn.Close(context.WithoutCancel(ctx))
			for ctx.Err() == nil {
				_, err := conn.Exec(ctx, sql)
				var pg *pgconn.PgError
				if errors.As(err, &pg) && pg.Code != "57014" && pg.Code != "40001" {
					t.Errorf("%s: %s %s", sql, pg.Code, pg.Message)
					return
				}
			}
		})
	}
	crowd.Wait()
	r := race{t: t, db: db}
	require.NotZero(t, scalar[int64](t, db, replayedFrom))
	require.Empty(t, column[string](t, db, `SELECT i FROM queen.log_segments s, unnest(s.transaction_ids) i WHERE i LIKE 'dlq:%' GROUP BY i HAVING count(*) > 1`), "none was moved twice")
	require.Empty(t, column[string](t, db, `SELECT i FROM queen.log_segments s, unnest(s.transaction_ids) i JOIN queen.log_dlq d ON i = 'dlq:' || d.id`), "none is both moved and dead")
	r.check()
}

// Where no server runs, run_maintenance_v1 forgets them.
func TestMaintenanceForgetsDeadLetters(t *testing.T) {
	r := newDeadRace(t)
	r.exec(`UPDATE queen.log_dlq SET failed_at = failed_at - interval '1 hour' WHERE transaction_id <> 'm2'`)
	r.exec(`CALL queen.run_maintenance_v1()`)
	r.ends(0, "m0", "m1", "m2")
	r.exec(`SELECT queen.configure_queue_v1('q', '{"deadLetterRetentionSeconds": 600}')`)
	r.exec(`CALL queen.run_maintenance_v1()`)
	r.ends(0, "m2")
}
