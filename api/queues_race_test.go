package api

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	dropQueue = `SELECT queen.delete_queue_v1('q')`
	reclaim   = `SELECT queen.log_reclaim_step_v1(10000)`
)

// orphans counts rows whose partition or queue is gone.
const orphans = `SELECT
	(SELECT count(*) FROM queen.log_segments s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_txns s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_dlq s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_consumers s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_partitions s WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = s.queue_id))`

type race struct {
	a, b  *dbtest.Session
	fixed *dbtest.Session
}

func newRace(t *testing.T) race {
	t.Helper()
	db := dbtest.New(t)
	r := race{db.Session(t, "a"), db.Session(t, "b"), db.Session(t, "observer")}
	r.fixed.Exec(t, `SELECT queen.push_v1('q', '1', 'p1')`)
	return r
}

func (r race) number(t *testing.T, query string) int64 {
	t.Helper()
	r.fixed.Exec(t, query)
	return r.fixed.Rows()[0][0].(int64)
}

func (r race) nothingLeft(t *testing.T) {
	t.Helper()
	r.fixed.Exec(t, reclaim)
	require.Zero(t, r.number(t, orphans), "W-15: orphans")
	require.Zero(t, r.number(t, `SELECT count(*) FROM queen.queues`))
	require.Zero(t, r.number(t, `SELECT count(*) FROM queen.log_segments`))
}

func sqlstate(err error) string {
	if pg, ok := err.(*pgconn.PgError); ok {
		return pg.Code
	}
	return ""
}

// A push that is open while its queue is deleted came before the delete: it holds
// the delete up for no moment, and its messages, and the partition that it made,
// go when it has committed.
func TestDeleteTakesWhatAnOpenPushStores_W15(t *testing.T) {
	t.Parallel()
	for name, push := range map[string]string{
		"into a partition": `SELECT queen.push_v1('q', '2', 'p1', 'id')`,
		"into a new one":   `SELECT queen.push_v1('q', '2', 'new')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRace(t)
			r.a.Exec(t, `BEGIN`)
			r.a.Exec(t, push)
			r.b.Exec(t, `SET lock_timeout = '1ms'`)
			r.b.Exec(t, dropQueue)
			r.b.Exec(t, reclaim)
			r.a.Exec(t, `COMMIT`)
			r.nothingLeft(t)
		})
	}
}

// A push that waited for a delete goes into a new queue, at once or when it is
// told to come again; never into the one that is gone.
func TestPushBehindADeleteMakesANewQueue_W15_F143(t *testing.T) {
	t.Parallel()
	for name, push := range map[string]string{
		"into a partition that goes": `SELECT queen.push_v1('q', '2', 'p1', 'id')`,
		"into a partition to be":     `SELECT queen.push_v1('q', '2', 'new', 'id')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRace(t)
			r.a.Exec(t, `BEGIN`)
			r.a.Exec(t, dropQueue)
			r.a.Exec(t, reclaim)
			r.b.Go(push)
			r.b.WaitBlocked(t)
			r.a.Exec(t, `COMMIT`)
			if err := r.b.Wait(t); err != nil {
				require.Equal(t, "40001", sqlstate(err))
				r.nothingLeft(t)
				r.b.Exec(t, push)
			}
			require.Zero(t, r.number(t, `SELECT count(*) FROM queen.log_segments WHERE created_at < (SELECT min(created_at) FROM queen.queues)`))
			require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM queen.log_segments`))
			require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM queen.queues`))
			require.EqualValues(t, 0, r.number(t, `SELECT min(base_offset) FROM queen.log_segments`), "offsets restart")
			require.Zero(t, r.number(t, orphans))
		})
	}
}

// A delete that is rolled back has changed nothing, and held nobody up.
func TestRolledBackDeleteChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, dropQueue)
	r.b.Exec(t, `SET lock_timeout = '1ms'`)
	r.b.Exec(t, `SELECT queen.push_v1('q', '2', 'p1')`)
	r.a.Exec(t, `ROLLBACK`)
	r.b.Exec(t, reclaim)
	require.EqualValues(t, 2, r.number(t, `SELECT count(*) FROM queen.log_segments`))
}

// A cursor and a dead letter that another session is about to commit go too.
func TestReclaimTakesCursorsAndDeadLettersUnderWay_W15(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.fixed.Exec(t, `INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT id, 'g' FROM queen.log_partitions`)
	for name, steps := range map[string][]string{
		"a first contact": {`SELECT queen.pop_v1('q', p_group => 'first', p_partition => (SELECT min(name) FROM queen.log_partitions))`},
		"a dead letter under the cursor's lock": {
			`SELECT FROM queen.log_consumers WHERE consumer_group = 'g' FOR NO KEY UPDATE`,
			`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) SELECT id, 'g', 0, gen_random_uuid(), 'x' FROM queen.log_partitions`,
		},
	} {
		r.a.Exec(t, `BEGIN`)
		for _, step := range steps {
			r.a.Exec(t, step)
		}
		r.b.Exec(t, `BEGIN`)
		r.b.Exec(t, `SET LOCAL lock_timeout = '1ms'`)
		r.b.Exec(t, dropQueue)
		r.b.Exec(t, reclaim)
		r.a.Exec(t, `COMMIT`)
		r.b.Exec(t, reclaim)
		r.b.Exec(t, orphans)
		require.EqualValues(t, 0, r.b.Rows()[0][0], name)
		r.b.Exec(t, `ROLLBACK`)
	}
	r.b.Exec(t, dropQueue)
	r.nothingLeft(t)
}

// The second edit merges onto the first one's result, and a configure that
// waited for a delete creates.
func TestConfigureWaitsForTheRow_C7_F139(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, `SELECT queen.configure_queue_v1('q', '{"leaseTime": 5}')`)
	r.b.Go(`SELECT queen.configure_queue_v1('q', '{"ttl": 6}')`)
	r.b.WaitBlocked(t)
	r.fixed.Exec(t, `SET lock_timeout = '1s'`)
	r.fixed.Exec(t, `SELECT queen.push_v1('q', '2', 'made meanwhile')`)
	r.a.Exec(t, `COMMIT`)
	require.NoError(t, r.b.Wait(t))
	require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM queen.queues WHERE lease_time = 5 AND ttl = 6`))

	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, dropQueue)
	r.b.Go(`SELECT queen.configure_queue_v1('q', '{"priority": 1}')`)
	r.b.WaitBlocked(t)
	r.a.Exec(t, `COMMIT`)
	require.NoError(t, r.b.Wait(t))
	require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM queen.queues WHERE lease_time = 300 AND ttl = 3600 AND priority = 1`), "F143: created from defaults")

	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, `SELECT queen.configure_queue_v1('n', '{"leaseTime": 5}')`)
	r.b.Go(`SELECT queen.configure_queue_v1('n', '{"ttl": 6}')`)
	r.b.WaitBlocked(t)
	r.a.Exec(t, `COMMIT`)
	require.NoError(t, r.b.Wait(t))
	require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM queen.queues WHERE name = 'n' AND lease_time = 5 AND ttl = 6`), "C-7: a lost create merges")
}

// An application that idles with the queue's row locked, as an open configure
// does, stops a delete for five seconds, not for ever, and then the delete has done
// nothing. One that idles with a push stops nobody.
func TestDeleteGivesUpOnAnIdleHolder(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, `SELECT queen.configure_queue_v1('q')`)
	r.b.Go(dropQueue)
	require.Equal(t, "55P03", sqlstate(r.b.Wait(t)))
	r.a.Exec(t, `COMMIT`)
	require.Zero(t, r.number(t, `SELECT count(*) FROM queen.queues WHERE deleted_at IS NOT NULL`))
}

// Of two deletes at once exactly one says that it deleted.
func TestOneOfTwoDeletesDeletes_F143(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	r.a.Exec(t, `BEGIN`)
	r.a.Exec(t, dropQueue)
	r.b.Go(`SELECT queen.delete_queue_v1('q') ->> 'deleted'`)
	r.b.WaitBlocked(t)
	r.a.Exec(t, `COMMIT`)
	require.NoError(t, r.b.Wait(t))
	require.Equal(t, "false", r.b.Rows()[0][0])
	r.nothingLeft(t)
}
