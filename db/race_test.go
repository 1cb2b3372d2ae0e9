package db

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// The statements of the stepped races. All use queue q, partition p and group g.
const (
	begin      = "BEGIN"
	commit     = "COMMIT"
	rollBack   = "ROLLBACK"
	pushNext   = `SELECT "offset" FROM queen.push_v1('q', '1', 'p')`
	pushWithID = `SELECT status, "offset" FROM queen.push_v1('q', '1', 'p', 'x')`
	popAll     = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', 'p', p_lease_seconds => 60)`
	popLease   = `SELECT min(lease_id) FROM queen.pop_v1('q', 100, 'g', 'p')`
	popWide    = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', p_max_partitions => 0)`
	settleNow  = `SELECT worked FROM queen.log_settle_heads_step_v1(500, 3, clock_timestamp() + interval '1 hour')`
	// deleteQ deletes the queue and removes what nobody holds; reclaimAll removes the rest.
	deleteQ    = `SELECT queen.delete_queue_v1('q'), (SELECT worked FROM queen.log_reclaim_step_v1(10000))`
	reclaimAll = `SELECT worked FROM queen.log_reclaim_step_v1(10000)`
	lockLane   = `SELECT id FROM queen.log_partitions WHERE name = 'p' FOR NO KEY UPDATE`
	dropUpTo   = `SELECT queen._move_log_start((SELECT id FROM queen.log_partitions WHERE name = 'p'), $1)`
	// keepFresh lets the next pushes leave the partition row alone.
	keepFresh = `UPDATE queen.log_partitions SET last_write_at = date_trunc('second', clock_timestamp()) + interval '1 minute'`
	endLeases = `UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() - interval '1 s' WHERE worker_id IS NOT NULL`
)

// patient makes pops wait for as long as a test needs where they wait 50 ms for
// whoever makes the queue or registers the group.
const patient = `DO $$ BEGIN
	EXECUTE (SELECT replace(pg_get_functiondef(oid), '50ms', '20s') FROM pg_proc WHERE pronamespace = 'queen'::regnamespace AND proname = '_register_unless_busy');
END $$`

// race is a fresh database with its two sessions.
type race struct {
	t    *testing.T
	db   *dbtest.Database
	a, b *dbtest.Session
}

// newRace opens the sessions after the given statements were run.
func newRace(t *testing.T, before ...string) race {
	t.Helper()
	t.Parallel()
	r := race{t: t, db: dbtest.New(t)}
	for _, sql := range before {
		r.exec(sql)
	}
	r.a, r.b = r.db.Session(t, "a"), r.db.Session(t, "b")
	return r
}

// exec runs a statement outside of both sessions.
func (r race) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.db.Pool.Exec(context.Background(), sql, args...)
	require.NoError(r.t, err, sql)
}

// check asserts the invariants of the whole log, outside of both sessions.
func (r race) check() {
	r.t.Helper()
	conn, err := r.db.Pool.Acquire(context.Background())
	require.NoError(r.t, err)
	defer conn.Release()
	checkInvariants(r.t, conn.Conn())
}

// wants runs a statement in a session and compares its first column.
func (r race) wants(s *dbtest.Session, sql string, want ...any) {
	r.t.Helper()
	s.Exec(r.t, sql)
	r.got(s, want...)
}

// got compares the first column of the session's last statement.
func (r race) got(s *dbtest.Session, want ...any) {
	r.t.Helper()
	have := []any{}
	for _, row := range s.Rows() {
		have = append(have, row[0])
	}
	if want == nil {
		want = []any{}
	}
	require.Equal(r.t, want, have)
}

// blocked starts a statement that must wait for the other session.
func (r race) blocked(s *dbtest.Session, sql string, args ...any) {
	r.t.Helper()
	s.Go(sql, args...)
	s.WaitBlocked(r.t)
}

// done collects a statement that must succeed.
func (r race) done(s *dbtest.Session) {
	r.t.Helper()
	require.NoError(r.t, s.Wait(r.t))
}

// fails collects a statement that must fail with the SQLSTATE.
func (r race) fails(s *dbtest.Session, state string) {
	r.t.Helper()
	err := s.Wait(r.t)
	require.Equal(r.t, state, sqlState(err), "%v", err)
}

func sqlState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}

// scalar is the one value that a query outside of all sessions answers.
func scalar[T any](t testing.TB, db *dbtest.Database, sql string, args ...any) (v T) {
	t.Helper()
	require.NoError(t, db.Pool.QueryRow(context.Background(), sql, args...).Scan(&v), sql)
	return v
}

// column is the one column that a query outside of all sessions answers.
func column[T any](t testing.TB, db *dbtest.Database, sql string, args ...any) []T {
	t.Helper()
	rows, err := db.Pool.Query(context.Background(), sql, args...)
	require.NoError(t, err, sql)
	got, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(t, err, sql)
	return got
}

func (r race) lane() uuid.UUID {
	r.t.Helper()
	return scalar[uuid.UUID](r.t, r.db, "SELECT id FROM queen.log_partitions WHERE name = 'p'")
}

// cursor is the cursor of group g on p.
func (r race) cursor() int64 {
	r.t.Helper()
	return scalar[int64](r.t, r.db, "SELECT committed FROM queen.log_consumers WHERE consumer_group = 'g' AND partition_id = $1", r.lane())
}

// stamps are the stored stamps of p in offset order.
func (r race) stamps() []time.Time {
	r.t.Helper()
	return column[time.Time](r.t, r.db, "SELECT created_at FROM queen.log_segments WHERE partition_id = $1 ORDER BY base_offset", r.lane())
}

// together opens n connections, lets each run f at the same moment, round by
// round, and collects the errors of all.
func together(t *testing.T, db *dbtest.Database, n, rounds int, f func(conn *pgx.Conn, client, round int) error, after func(round int)) {
	t.Helper()
	conns := make([]*pgx.Conn, n)
	for i := range conns {
		conns[i] = db.Conn(t)
	}
	for round := range rounds {
		errs := make([]error, n)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i, conn := range conns {
			wg.Go(func() {
				<-start
				errs[i] = f(conn, i, round)
			})
		}
		close(start)
		wg.Wait()
		require.NoError(t, errors.Join(errs...), "round %d", round)
		if after != nil {
			after(round)
		}
	}
}
