package db

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// changedCall lists queue q; $1 is the since, or NULL.
const changedCall = `SELECT c.safe_time, c.safe_time_degraded, c.name, c.last_offset FROM queen.log_partitions_changed_v1('{q}', ARRAY[$1::timestamptz]) c`

// olderTests is how long transactions of other tests may last.
const olderTests = 90 * time.Second

// listed is the answer of changedCall.
type listed struct {
	safeTime time.Time
	degraded bool
	heads    map[string]int64
}

func readListed(t *testing.T, rows [][]any) listed {
	t.Helper()
	require.NotEmpty(t, rows)
	l := listed{safeTime: rows[0][0].(time.Time), degraded: rows[0][1].(bool), heads: map[string]int64{}}
	for _, row := range rows[1:] {
		l.heads[row[2].(string)] = row[3].(int64)
	}
	return l
}

// list calls outside of both sessions.
func (r race) list(since any) listed { r.t.Helper(); return r.listBy(changedCall, since) }

func (r race) listBy(call string, args ...any) listed {
	r.t.Helper()
	rows, err := r.db.Pool.Query(context.Background(), call, args...)
	require.NoError(r.t, err)
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	require.NoError(r.t, err)
	return readListed(r.t, got)
}

func (r race) stamp(partition string) (at time.Time) {
	r.t.Helper()
	require.NoError(r.t, r.db.Pool.QueryRow(context.Background(), `SELECT max(s.created_at) FROM queen.log_segments s
		JOIN queen.log_partitions p ON p.id = s.partition_id WHERE p.name = $1`, partition).Scan(&at))
	return at
}

// F144: a transaction commits between the caller's snapshot and the function.
// Declared STABLE, the function has it in neither the list nor the safe time.
func TestCommitBeforeTheFunctionBegins_F144(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"as it is": false, "STABLE": true} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`)
			withoutGuard(t, r.db)
			if broken {
				declaredStable(t, r.db)
			}
			r.a.Exec(t, begin)
			r.a.Exec(t, `SELECT pg_advisory_xact_lock(12), queen.push_v1('q', '1', 'p')`)
			r.blocked(r.b, `SELECT c.safe_time, c.safe_time_degraded, c.name, c.last_offset
				FROM (SELECT pg_advisory_xact_lock(12)::text AS z OFFSET 0) s
				CROSS JOIN LATERAL queen.log_partitions_changed_v1(CASE WHEN s.z = '' THEN ARRAY['q'] END, ARRAY['2020-01-01'::timestamptz]) c`)
			r.a.Exec(t, commit)
			r.done(r.b)
			got := readListed(t, r.b.Rows())
			_, seen := got.heads["p"]
			require.Equal(t, broken, !seen && got.safeTime.After(r.stamp("p")), "listed: %v, safe time %v, stamp %v", seen, got.safeTime, r.stamp("p"))
		})
	}
}

// F144: the declarations and the order of reading are what the argument rests on.
func TestChangedReadsActivityFirst_F144(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	source := func(function string) string {
		var text, volatility string
		require.NoError(t, db.Pool.QueryRow(context.Background(), `SELECT prosrc, provolatile::text FROM pg_proc WHERE oid = ('queen.' || $1)::regproc`, function).Scan(&text, &volatility))
		require.Equal(t, "v", volatility, function)
		return text
	}
	table := regexp.MustCompile(`(?i)(FROM|JOIN)\s+queen\.[a-z]\w*( |\n)`)
	main := source(changedFunction)
	before, _, found := strings.Cut(main, "queen._watermark(")
	require.True(t, found)
	require.NotRegexp(t, table, before, "no table before the activity")
	require.Regexp(t, table, main)
	mark := source(watermarkFunction)
	order := []string{"clock_timestamp()", "pg_stat_clear_snapshot()", "pg_stat_activity", "pg_prepared_xacts", "queen.clock_marks"}
	for i, piece := range order {
		require.Contains(t, mark, piece)
		if i > 0 {
			require.Less(t, strings.Index(mark, order[i-1]), strings.Index(mark, piece), piece)
		}
	}
	require.NotRegexp(t, table, source("partitions_changed_v1"), "the human face reads no table")
}

// The activity view is cached for a transaction; a second call in one must see anew.
func TestChangedTwiceInOneTransaction(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`)
	withoutGuard(t, r.db)
	r.a.Exec(t, begin)
	r.a.Exec(t, changedCall, nil)
	r.b.Exec(t, begin)
	r.b.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
	r.a.Exec(t, changedCall, nil)
	got := readListed(t, r.a.Rows())
	r.b.Exec(t, commit)
	require.False(t, got.safeTime.After(r.stamp("p")), "%v, %v", got.safeTime, r.stamp("p"))
}

// F145, design 3.3.
func TestChangedRefusesOtherIsolationLevels_F145(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'p')`)
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		for _, call := range []string{`SELECT * FROM queen.log_partitions_changed_v1('{q}')`, `SELECT * FROM queen.partitions_changed_v1('q')`} {
			r.a.Exec(t, "BEGIN ISOLATION LEVEL "+level)
			r.a.Go(call)
			err := r.a.Wait(t)
			require.Equal(t, "QN400", sqlState(err))
			require.ErrorContains(t, err, "the transaction is "+level)
			r.a.Exec(t, rollBack)
		}
	}
	r.exec(`ALTER DATABASE ` + r.db.Name + ` SET default_transaction_isolation = 'repeatable read'`)
	s := r.db.Session(t, "by default")
	s.Go(`SELECT * FROM queen.log_partitions_changed_v1('{q}')`)
	require.Equal(t, "QN400", sqlState(s.Wait(t)))
}

// F147, C-40: a prepared transaction is in no session. The clock marks bound it.
func TestPreparedTransactionHoldsSafeTime_F147(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`, `SELECT queen.log_mark_clock_v1()`, `SELECT queen.log_mark_clock_v1()`)
	withoutGuard(t, r.db)
	mark := scalar[time.Time](t, r.db, `SELECT min(marked_at) FROM queen.clock_marks`) // the later one has no id yet
	gid := "'" + r.db.Name + "'"
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
	r.a.Exec(t, "PREPARE TRANSACTION "+gid)
	r.exec(`SELECT queen.log_mark_clock_v1()`)
	var first listed
	require.Eventually(t, func() bool { // other tests hold older ids in other databases of the server
		first = r.list(nil)
		require.True(t, first.degraded)
		require.False(t, first.safeTime.After(mark), "%v, not a later mark than %v", first.safeTime, mark)
		return first.safeTime.Equal(mark)
	}, olderTests, 100*time.Millisecond, "the newest mark from before the prepared transaction drew its id")
	require.NotContains(t, first.heads, "p")
	r.exec("COMMIT PREPARED " + gid)
	require.True(t, first.safeTime.Before(r.stamp("p")))
	second := r.list(first.safeTime)
	require.Contains(t, second.heads, "p")
	require.False(t, second.degraded)
	require.True(t, second.safeTime.After(r.stamp("p")))
}

// F146, C-42: masked sessions are bounded by clock marks, and without any the
// answer is what the caller knew.
func TestMaskedActivityHoldsSafeTime_F146(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`)
	withoutGuard(t, r.db)
	(&safeTimeRun{t: t, db: r.db}).mask()
	list := func(sinces string) listed {
		got := r.listBy(`SELECT c.safe_time, c.safe_time_degraded, c.name, c.last_offset FROM queen.log_partitions_changed_v1_masked('{q,q}', ` + sinces + `) c`)
		require.True(t, got.degraded)
		return got
	}
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
	epoch := time.Unix(0, 0).UTC()
	require.Equal(t, epoch, list(`NULL`).safeTime.UTC(), "design 4: no mark, no since")
	require.Equal(t, epoch, list(`ARRAY['2026-01-01'::timestamptz, NULL]`).safeTime.UTC())
	require.Equal(t, "2025-02-01T00:00:00Z", list(`ARRAY['2026-01-01Z'::timestamptz, '2025-02-01Z']`).safeTime.UTC().Format(time.RFC3339), "no mark: the since that all entries know")
	require.True(t, list(`ARRAY['2999-01-01'::timestamptz, '2999-01-01']`).safeTime.Before(time.Now()), "never ahead of the clock")
	r.exec(`SELECT queen.log_mark_clock_v1()`)
	require.Equal(t, epoch, list(`NULL`).safeTime.UTC(), "a mark drawn after the open push is none for it")
	r.a.Exec(t, commit)
	r.exec(`SELECT queen.log_mark_clock_v1()`)
	require.Eventually(t, func() bool { return list(`NULL`).safeTime.After(r.stamp("p")) }, olderTests, 100*time.Millisecond)
}

// C-40, design 3.2 rule 6: the clock steps back while the transaction of a mark is
// open. A push of that moment cannot see the mark and stamps below it, so neither
// a safe time nor a floor may be that mark before the push has ended, though the
// clock has passed it long ago.
func TestClockStepsBackWhileItIsNoted(t *testing.T) {
	const ahead, behind = "clock_timestamp() + interval '1 minute'", "clock_timestamp()"
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`, `SELECT queen.log_mark_clock_v1()`)
	edit(t, r.db, "_mark_clock", behind, ahead)
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT queen.log_mark_clock_v1()`)
	edit(t, r.db, "_mark_clock", ahead, behind)
	r.b.Exec(t, begin)
	r.b.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
	r.a.Exec(t, commit)
	gid := "'" + r.db.Name + "'"
	r.b.Exec(t, "PREPARE TRANSACTION "+gid)
	for range 3 {
		r.exec(`SELECT queen.log_mark_clock_v1()`)
	}
	edit(t, r.db, watermarkFunction, behind, "clock_timestamp() + interval '10 minutes'")
	got := r.list(nil)
	floor := scalar[time.Time](t, r.db, `SELECT coalesce(queen._quiet_mark(), 'epoch')`)
	r.exec("COMMIT PREPARED " + gid)
	require.True(t, got.degraded)
	require.NotContains(t, got.heads, "p")
	require.False(t, got.safeTime.After(r.stamp("p")), "safe time %v, stamp %v", got.safeTime, r.stamp("p"))
	require.False(t, floor.After(r.stamp("p")), "floor %v, stamp %v", floor, r.stamp("p"))
	require.Eventually(t, func() bool { // the transactions of other tests hold it, too
		r.exec(`SELECT queen.log_mark_clock_v1()`)
		return scalar[time.Time](t, r.db, `SELECT coalesce(queen._quiet_mark(), 'epoch')`).After(r.stamp("p"))
	}, olderTests, 100*time.Millisecond, "then it may")
}

// A transaction that has drawn its id before gives it to no mark: what drew an id
// in between has older stamps.
func TestMarkInALateTransaction(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'other')`)
	r.a.Exec(t, begin)
	r.a.Exec(t, `SELECT pg_current_xact_id()`)
	r.b.Exec(t, begin)
	r.b.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
	r.b.Exec(t, `SELECT pg_current_xact_id()`)
	id := r.b.Rows()[0][0]
	r.exec(`SELECT queen.log_mark_clock_v1()`)
	r.a.Exec(t, `SELECT queen.log_mark_clock_v1()`)
	r.a.Exec(t, commit)
	r.b.Exec(t, commit)
	require.Empty(t, column[time.Time](t, r.db, fmt.Sprintf(`SELECT marked_at FROM queen.clock_marks WHERE xid <= '%v'`, id)))
}

// A consumer takes each safe time as its next since, and every write comes a
// moment after it, in a partition whose row does not move for it.
func TestSafeTimeAsTheNextSince(t *testing.T) {
	r := newRace(t, `SELECT queen.push_v1('q', '1', 'p')`)
	withoutGuard(t, r.db)
	got := r.list(nil)
	for n := range 300 {
		r.a.Exec(t, `SELECT queen.push_v1('q', '1', 'p')`)
		r.a.Exec(t, changedCall, got.safeTime)
		next := readListed(t, r.a.Rows())
		require.Equal(t, map[string]int64{"p": int64(n) + 1}, next.heads, "since %v, the write at %v", got.safeTime, r.stamp("p"))
		require.False(t, next.safeTime.Before(got.safeTime))
		got = next
	}
	// The same with the stamp at a known distance, and a row as old as a push may leave it: 1 s before its stamp.
	for _, after := range []string{"0", "1 microsecond", "1 millisecond", "999 milliseconds"} {
		r.exec(`UPDATE queen.log_partitions SET last_write_at = $1::timestamptz + $2::interval - interval '1 second'`, got.safeTime, after)
		require.Contains(t, r.list(got.safeTime).heads, "p", after)
	}
	r.exec(`UPDATE queen.log_partitions SET last_write_at = $1::timestamptz - interval '2.000001 seconds'`, got.safeTime)
	require.Empty(t, r.list(got.safeTime).heads, "older ones are not listed for ever")
}

// perf 3.10: a page is a walk along an index, and only what it shows is probed.
func TestChangedPagesAreWalks(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	conn := db.Conn(t)
	ctx := context.Background()
	_, err := conn.Exec(ctx, `SELECT queen.configure_queue_v1('q');
		INSERT INTO queen.log_partitions (queue_id, name, last_write_at, settled)
		SELECT q.id, 'p' || i, '2026-01-01Z'::timestamptz + i / 100 * interval '1 s', i % 10 > 0 FROM queen.queues q, generate_series(1, 30000) i`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	for _, sinces := range []string{"NULL", "ARRAY['2026-01-01Z'::timestamptz]"} {
		for range 2 { // before and after statistics
			after := "NULL"
			for page := range 3 {
				call := fmt.Sprintf("SELECT * FROM queen.log_partitions_changed_v1('{q}', %s, ARRAY[%s])", sinces, after)
				require.LessOrEqual(t, buffers(t, conn, call), 8000, "page %d, since %s", page, sinces)
				var next string
				require.NoError(t, conn.QueryRow(ctx, "SELECT max(c.next) FROM ("+call+") c").Scan(&next))
				after = "'" + next + "'"
			}
			_, err := conn.Exec(ctx, "VACUUM ANALYZE")
			require.NoError(t, err)
		}
	}
}
