package db

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// The steps of the races, all on partition p. What is stored now is older than
// the cut-off of sweepAll.
const (
	laneP     = `(SELECT id FROM queen.log_partitions WHERE name = 'p')`
	sweepAll  = `SELECT segments FROM queen.log_retention_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour')`
	sweepRead = `SELECT segments FROM queen.log_retention_step_v1(` + laneP + `, NULL, clock_timestamp() + interval '1 hour')`
	sweepOne  = `SELECT segments FROM queen.log_retention_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour', p_max_rows => 1)`
	evictAll  = `SELECT segments FROM queen.log_evict_max_wait_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour')`
	purgeAll  = `SELECT segments FROM queen.log_purge_hashes_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour')`
	audited   = `SELECT coalesce(sum(messages_deleted), 0)::bigint FROM queen.retention_history`
	logStart  = `SELECT log_start FROM queen.log_partitions WHERE name = 'p'`
	reclaimQ  = `SELECT worked FROM queen.log_reclaim_step_v1()`
	popNone   = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', 'none')`
)

// A sweep and a push wait for each other's lock and then see what the other did.
func TestSweepAgainstPush(t *testing.T) {
	t.Parallel()
	for end, next := range map[string]int64{commit: 3, rollBack: 3} {
		t.Run("sweep first/"+end, func(t *testing.T) {
			r := newRace(t, pushNext, pushNext, pushNext)
			r.a.Exec(t, begin)
			r.wants(r.a, sweepAll, int32(3))
			r.blocked(r.b, pushNext)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, next)
			r.check()
			want := map[string]int64{commit: 3, rollBack: 0}[end]
			require.Equal(t, want, scalar[int64](t, r.db, audited), "R-23: audited if and only if deleted")
			require.Equal(t, want, scalar[int64](t, r.db, logStart))
		})
	}
	for end, taken := range map[string]int32{commit: 4, rollBack: 3} {
		t.Run("push first/"+end, func(t *testing.T) {
			r := newRace(t, pushNext, pushNext, pushNext, keepFresh)
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, int64(3))
			r.blocked(r.b, sweepAll)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, taken) // design 3.2 rule 1: the boundary is looked for under the lock
			r.wants(r.a, pushNext, int64(taken))
			r.wants(r.b, sweepOne, int32(1))
			r.check()
		})
	}
	t.Run("hashes", func(t *testing.T) {
		r := newRace(t, pushWithID, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, purgeAll, int32(2))
		r.blocked(r.b, pushWithID)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "queued") // the probe reads txns_start under the lock
		r.wants(r.a, purgeAll, int32(1))
		r.check()
	})
	t.Run("a push while rows are deleted", func(t *testing.T) {
		r := newRace(t, pushNext, pushNext, sweepAll)
		r.a.Exec(t, begin)
		r.a.Exec(t, `SELECT queen._reclaim_prefix(`+laneP+`, 1)`)
		r.a.Exec(t, rollBack)
		r.exec(pushNext)
		require.EqualValues(t, 3, scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_segments"), "nothing is lost by a delete that did not commit")
		r.wants(r.b, sweepOne, int32(1)) // one hidden row deleted, the new segment hidden
		r.check()
	})
}

// R-7, F087: neither a pop nor a lease keeps eviction off, and neither waits.
func TestSweepAgainstPopUnderLease(t *testing.T) {
	r := newRace(t, pushNext, pushNext, pushNext)
	r.a.Exec(t, begin)
	r.wants(r.a, popAll, int64(0), int64(1), int64(2))
	r.wants(r.b, sweepRead, int32(0)) // nothing is consumed yet
	r.wants(r.b, evictAll, int32(3))
	r.a.Exec(t, commit)
	r.wants(r.b, evictAll, int32(0))
	r.exec(pushNext)
	lease := scalar[string](t, r.db, "SELECT worker_id FROM queen.log_consumers WHERE consumer_group = 'g'")
	r.a.Exec(t, `SELECT success FROM queen.log_ack_upto_v1(ARRAY[`+laneP+`], '{g}', ARRAY[$1::text], '{2}')`, lease)
	r.got(r.a, true)
	r.wants(r.a, popAll, int64(3))
	require.EqualValues(t, 2, r.cursor(), "F087: it never moves backwards")
	r.check()
}

// The cap of rule 2 is read under the lock: an ack that comes while the sweep
// waits counts, one that has not committed does not.
func TestSweepAgainstAck_T11(t *testing.T) {
	r := newRace(t, pushNext, pushNext, popAll)
	lease := scalar[string](t, r.db, "SELECT worker_id FROM queen.log_consumers WHERE consumer_group = 'g'")
	ack := `SELECT success FROM queen.log_ack_upto_v1(ARRAY[` + laneP + `], '{g}', ARRAY[$1::text], '{0}')`
	r.a.Exec(t, begin)
	r.a.Exec(t, ack, lease)
	r.wants(r.b, sweepRead, int32(0))
	r.a.Exec(t, commit)
	r.a.Exec(t, begin)
	r.a.Exec(t, lockLane)
	r.blocked(r.b, sweepRead)
	r.a.Exec(t, commit)
	r.done(r.b)
	r.got(r.b, int32(1))
	r.check()
}

// A queue that is deleted takes its rows along, whoever comes first, and nobody
// waits in a circle: not even when a step has deleted rows and not yet ended.
func TestSweepAgainstQueueDelete(t *testing.T) {
	t.Parallel()
	before := []string{pushNext, pushNext, sweepAll, pushNext}
	gone := func(t *testing.T, r race) {
		t.Helper()
		for _, table := range []string{"log_partitions", "log_segments", "log_txns", "log_consumers"} {
			require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen."+table), table)
		}
	}
	t.Run("step first", func(t *testing.T) {
		r := newRace(t, before...)
		r.a.Exec(t, begin)
		r.wants(r.a, sweepAll, int32(1)) // deletes two rows, hides one
		r.b.Exec(t, deleteQ)
		r.wants(r.b, reclaimQ, int32(0)) // held
		r.a.Exec(t, commit)
		r.b.Exec(t, reclaimQ)
		gone(t, r)
		require.LessOrEqual(t, int64(3), scalar[int64](t, r.db, audited), "the audit outlives the queue")
	})
	t.Run("delete first", func(t *testing.T) {
		r := newRace(t, before...)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.a.Exec(t, reclaimQ)
		r.blocked(r.b, sweepAll)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, int32(0))
		gone(t, r)
	})
	t.Run("rows deleted, the partition held", func(t *testing.T) {
		r := newRace(t, before...)
		r.a.Exec(t, begin)
		r.a.Exec(t, lockLane)
		r.b.Exec(t, begin)
		r.wants(r.b, sweepAll, int32(0)) // it deleted rows, and does not wait for the partition
		r.blocked(r.a, `DELETE FROM queen.log_partitions WHERE name = 'p'`)
		r.b.Exec(t, commit)
		r.done(r.a)
		r.a.Exec(t, commit)
		gone(t, r)
	})
}

// F097: the sum of the audit is what is gone, whoever sweeps, and 737001 stops all.
func TestTwoSweepersOnOnePartition_F097(t *testing.T) {
	t.Parallel()
	t.Run("stepped", func(t *testing.T) {
		r := newRace(t, pushNext, pushNext, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, sweepAll, int32(3))
		r.blocked(r.b, sweepAll)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, int32(0))
		r.wants(r.b, sweepAll, int32(0))
		require.EqualValues(t, 3, scalar[int64](t, r.db, audited))
		r.check()
	})
	t.Run("stopped", func(t *testing.T) {
		r := newRace(t, pushNext, pushNext)
		r.a.Exec(t, "SELECT pg_advisory_lock(737001)")
		r.wants(r.b, sweepAll, int32(0))
		r.wants(r.b, evictAll, int32(0))
		r.wants(r.b, purgeAll, int32(0))
		r.a.Exec(t, "SELECT pg_advisory_unlock(737001)")
		r.wants(r.b, sweepAll, int32(2))
		r.check()
	})
	t.Run("together", func(t *testing.T) {
		r := newRace(t)
		pushed := int64(0)
		together(t, r.db, 4, 12, func(conn *pgx.Conn, client, round int) error {
			if client == 0 || round == 0 {
				_, err := conn.Exec(context.Background(), "SELECT queen.push_v1('q', '1', 'p') FROM generate_series(1, 5)")
				return err
			}
			for range 3 {
				if _, err := conn.Exec(context.Background(), `SELECT queen.log_retention_step_v1(`+laneP+`, clock_timestamp() + interval '1 hour', p_max_rows => 2)`); err != nil {
					return err
				}
			}
			_, err := conn.Exec(context.Background(), purgeAll)
			return err
		}, func(round int) {
			pushed += map[bool]int64{true: 20, false: 5}[round == 0]
			require.Equal(t, scalar[int64](t, r.db, logStart), scalar[int64](t, r.db, audited), "R-22: the audit is what the log start passed")
			require.Equal(t, pushed-1, scalar[int64](t, r.db, "SELECT head_offset FROM queen.partition_head WHERE name = 'p'"))
			r.check()
		})
	})
}

// F096, R-17: a backend that ends at any write of a step leaves the state of
// before; the next step goes on from there and nothing is deleted twice.
func TestStepsCutAtEveryWrite_F096(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"retention": `SELECT * FROM queen.log_retention_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour', NULL, NULL, 2, p_max_rows => 2)`,
		"eviction":  `SELECT * FROM queen.log_evict_max_wait_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour', 3)`,
		"hashes":    `SELECT * FROM queen.log_purge_hashes_step_v1(` + laneP + `, clock_timestamp() + interval '1 hour', 2)`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, pushNext, pushNext, pushNext, keepFresh, pushNext, pushNext)
			r.exec(gates)
			cuts := 0
			for done := false; !done; {
				cut, last := r.cutEverywhere(t, step)
				cuts += cut
				done = last
				r.check()
			}
			require.Greater(t, cuts, 10, "the gates were in the way")
			require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen."+map[bool]string{true: "log_txns", false: "log_segments"}[name == "hashes"]))
			require.Equal(t, map[bool]int64{true: 0, false: 5}[name == "hashes"], scalar[int64](t, r.db, audited), "F097, R-27")
			r.wants(r.a, pushNext, int64(5))
			r.check()
		})
	}
}

// gates stop whoever writes for the n-th time, before or after the statement:
// it waits for an advisory lock that the test holds.
const gates = `
CREATE SCHEMA cut;
CREATE SEQUENCE cut.hits;
CREATE TABLE cut.stop (at bigint);
INSERT INTO cut.stop VALUES (0);
CREATE FUNCTION cut.gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF nextval('cut.hits') = (SELECT s.at FROM cut.stop s) THEN
        PERFORM pg_advisory_xact_lock(4711);
    END IF;
    RETURN NULL;
END $$;
DO $$
DECLARE
    v text;
BEGIN
    FOREACH v IN ARRAY ARRAY['log_segments', 'log_txns', 'log_partitions', 'retention_history'] LOOP
        EXECUTE format('CREATE TRIGGER cut_before BEFORE INSERT OR UPDATE OR DELETE ON queen.%I EXECUTE FUNCTION cut.gate()', v);
        EXECUTE format('CREATE TRIGGER cut_after AFTER INSERT OR UPDATE OR DELETE ON queen.%I EXECUTE FUNCTION cut.gate()', v);
    END LOOP;
END $$`

// logState is everything a step may change.
const logState = `SELECT md5(concat_ws('|',
    (SELECT string_agg(x::text, ',' ORDER BY x.base_offset) FROM queen.log_segments x),
    (SELECT string_agg(x::text, ',' ORDER BY x.base_offset) FROM queen.log_txns x),
    (SELECT string_agg(x::text, ',') FROM queen.log_partitions x),
    (SELECT string_agg(x::text, ',' ORDER BY x.id) FROM queen.retention_history x)))`

// cutEverywhere runs one step again and again, its backend ended at the first
// write, then at the second, until it gets through. It answers how often it was
// cut and whether the step said that nothing is left.
func (r race) cutEverywhere(t *testing.T, step string) (cuts int, done bool) {
	t.Helper()
	r.a.Exec(t, "SELECT pg_advisory_lock(4711)")
	defer r.a.Exec(t, "SELECT pg_advisory_unlock(4711)")
	for {
		r.exec("UPDATE cut.stop SET at = $1", cuts+1)
		r.exec("ALTER SEQUENCE cut.hits RESTART")
		before := scalar[string](t, r.db, logState)
		victim, err := pgx.Connect(context.Background(), r.db.DSN)
		require.NoError(t, err)
		pid := int32(victim.PgConn().PID())
		ended := make(chan error, 1)
		go func() {
			err := victim.QueryRow(context.Background(), "SELECT done FROM ("+step+") x").Scan(&done)
			_ = victim.Close(context.Background())
			ended <- err
		}()
		through := r.stopped(t, pid, ended)
		if through {
			return cuts, done
		}
		r.exec("SELECT pg_terminate_backend($1, 20000)", pid)
		require.Error(t, <-ended)
		cuts++
		require.Equal(t, before, scalar[string](t, r.db, logState), "cut %d: the state of before", cuts)
	}
}

// stopped waits until a backend stands at a gate, or its step ended well.
func (r race) stopped(t *testing.T, pid int32, ended <-chan error) (through bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case err := <-ended:
			require.NoError(t, err)
			return true
		case <-deadline:
			require.FailNow(t, "the step neither ends nor stops", fmt.Sprint(pid))
		case <-time.After(2 * time.Millisecond):
		}
		if scalar[bool](t, r.db, "SELECT count(*) > 0 FROM pg_locks WHERE pid = $1 AND NOT granted", pid) {
			return false
		}
	}
}

// Design 5: noting activity never waits, and what a transaction that idles has
// noted or popped is not taken for idle before it ends.
func TestActivityOfAGroupInAnOpenTransaction(t *testing.T) {
	t.Parallel()
	const aged = `UPDATE queen.group_activity SET last_active_at = last_active_at - interval '1 hour', leased_until = 'epoch'`
	const sweepIdle = `SELECT segments FROM queen.log_retention_step_v1(` + laneP + `, NULL, clock_timestamp() + interval '1 hour',
		p_idle_groups => '{g}', p_idle_before => clock_timestamp() - interval '5 minutes')`
	before := []string{pushNext, pushNext, popNone, popAll, endLeases,
		`SELECT queen.pop_v1('q', 100, 'other', 'p', p_auto_ack => true)`, aged}
	t.Run("noted", func(t *testing.T) {
		r := newRace(t, before...)
		r.a.Exec(t, begin)
		r.a.Exec(t, popNone)
		r.wants(r.b, sweepIdle, int32(0)) // held: active
		r.b.Exec(t, popNone)              // does not wait
		r.a.Exec(t, rollBack)
		require.EqualValues(t, 3, scalar[int64](t, r.db, "SELECT count(*) FROM queen.group_activity"), "two groups, and the row of who found it held")
		r.wants(r.b, sweepIdle, int32(0)) // what was noted beside it counts
		r.exec(aged)
		r.wants(r.b, sweepIdle, int32(2))
		r.check()
	})
	t.Run("popped", func(t *testing.T) {
		r := newRace(t, before...)
		r.exec(`UPDATE queen.group_activity SET last_active_at = clock_timestamp() + interval '1 minute', leased_until = 'infinity'`)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0), int64(1))
		r.exec(`UPDATE queen.group_activity SET last_active_at = clock_timestamp() - interval '1 hour', leased_until = 'epoch'`)
		r.wants(r.b, sweepIdle, int32(0)) // its cursor is held
		r.a.Exec(t, rollBack)
		r.wants(r.b, sweepIdle, int32(2))
		r.check()
	})
	t.Run("queue delete", func(t *testing.T) {
		r := newRace(t, before...)
		r.a.Exec(t, begin)
		r.a.Exec(t, popNone)
		r.b.Exec(t, deleteQ) // does not wait
		r.b.Exec(t, reclaimQ)
		r.a.Exec(t, popNone)
		r.a.Exec(t, commit)
		r.exec(`SELECT queen.log_forget_groups_step_v1()`)
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.group_activity"), "F099")
	})
}
