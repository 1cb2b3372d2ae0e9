package db

import (
	"context"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// The names of the two functions that answer the safe time, and of copies that
// may not see the activity of others.
const (
	changedFunction   = "log_partitions_changed_v1"
	watermarkFunction = "_watermark"
	maskedSuffix      = "_masked"
)

const (
	safeTimeShort    = 8 * time.Second
	safeTimeLong     = 10 * time.Minute
	safeTimeBroken   = time.Minute     // in which a broken variant must be found out
	safeTimePatience = 2 * time.Minute // other tests hold ids in other databases
)

// edit replaces pieces of a stored function by its own source. Every piece must be there.
func edit(t *testing.T, db *dbtest.Database, function string, pieces ...string) {
	t.Helper()
	var source string
	ctx := context.Background()
	require.NoError(t, db.Pool.QueryRow(ctx, `SELECT pg_get_functiondef(('queen.' || $1)::regproc)`, function).Scan(&source))
	for i := 0; i < len(pieces); i += 2 {
		require.Contains(t, source, pieces[i], function)
		source = strings.ReplaceAll(source, pieces[i], pieces[i+1])
	}
	_, err := db.Pool.Exec(ctx, source)
	require.NoError(t, err)
}

// The variants of the functions. Without its guard of five seconds the function
// must be as right as with it: the guard is not the argument.
func withoutGuard(t *testing.T, db *dbtest.Database) {
	edit(t, db, watermarkFunction, "interval '5 seconds'", "interval '0'")
}

// slowly lets time pass between the two reads that must come in this order.
func slowly(t *testing.T, db *dbtest.Database) {
	edit(t, db, changedFunction, "RETURN NEXT r_out;\n\n", "RETURN NEXT r_out; PERFORM pg_sleep(0.05 * random());\n\n")
}

func declaredStable(t *testing.T, db *dbtest.Database) {
	edit(t, db, changedFunction, " LANGUAGE plpgsql\n", " LANGUAGE plpgsql STABLE\n")
}

func tablesBeforeActivity(t *testing.T, db *dbtest.Database, gap time.Duration) {
	edit(t, db, changedFunction, "r_out.entry := -1;\n", fmt.Sprintf(`CREATE TEMP TABLE seen ON COMMIT DROP AS SELECT * FROM queen.partition_head;
		PERFORM pg_sleep(%v * random());
		r_out.entry := -1;
		`, gap.Seconds()), "FROM queen.partition_head p\n", "FROM seen p\n", "FROM queen.log_partitions l\n", "FROM seen l\n",
		"JOIN queen.partition_head p ON", "JOIN seen p ON")
}

func onlyTheGuard(t *testing.T, db *dbtest.Database) {
	edit(t, db, watermarkFunction, "PERFORM pg_stat_clear_snapshot();", "safe_time := v_bound; degraded := false; RETURN;")
}

// safeTimeTrial is one run of the test: writers, and consumers that mirror the
// queue by the safe time alone.
type safeTimeTrial struct {
	change []func(*testing.T, *dbtest.Database)
	length time.Duration
	hold   time.Duration // longest step of a long transaction
	pause  time.Duration // between the caller's snapshot and the function
	masked bool          // a second consumer whose function may not see others
	pages  bool          // of few partitions, sometimes
}

// TestModelSafeTime lets consumers mirror a queue by lastOffset, with each answer's
// safeTime as the next since, while writers push in short, long, rolled back and
// prepared transactions. Nothing may ever appear below a safe time (T-14). With
// REGENT_MODEL_LONG it takes ten minutes.
func TestModelSafeTime(t *testing.T) {
	t.Parallel()
	length, hold, bare := safeTimeShort, 6*time.Second, safeTimeShort
	if os.Getenv(modelLongEnv) != "" {
		length, hold, bare = safeTimeLong, 12*time.Second, safeTimeLong/5
	}
	for name, trial := range map[string]safeTimeTrial{
		"as it is":      {length: length, hold: hold, pause: 100 * time.Millisecond, masked: true, pages: true},
		"without guard": {change: []func(*testing.T, *dbtest.Database){withoutGuard, slowly}, length: bare, hold: 400 * time.Millisecond, pause: 30 * time.Millisecond, masked: true, pages: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, trial.run(t))
		})
	}
}

// TestModelSafeTimeFindsFaults shows that the test above can fail: each variant is
// found out within a minute. The long form leaves the guard in.
func TestModelSafeTimeFindsFaults(t *testing.T) {
	t.Parallel()
	trial := safeTimeTrial{length: safeTimeBroken, hold: 7 * time.Second}
	gap := time.Second
	if os.Getenv(modelLongEnv) == "" {
		trial.change, trial.hold, gap = append(trial.change, withoutGuard), 400*time.Millisecond, gap/5
	}
	for name, variant := range map[string]struct {
		broken func(*testing.T, *dbtest.Database)
		pause  time.Duration
	}{
		"STABLE":                 {declaredStable, gap}, // its gap lies before the function
		"tables before activity": {func(t *testing.T, db *dbtest.Database) { tablesBeforeActivity(t, db, gap) }, 0},
		"only the guard":         {onlyTheGuard, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial := trial
			trial.change, trial.pause = append(slices.Clone(trial.change), variant.broken), variant.pause
			found := trial.run(t)
			require.NotEmpty(t, found, "the variant was not found out in %v", safeTimeBroken)
			t.Log("found", found)
		})
	}
}

// safeTimeRun is a trial at work.
type safeTimeRun struct {
	safeTimeTrial
	t     *testing.T
	db    *dbtest.Database
	ctx   context.Context // ends with the time, or at the first fault
	found atomic.Pointer[string]
	stop  context.CancelFunc
	began time.Time
	names atomic.Int64
}

// run answers what was missed, "" when nothing was.
func (trial safeTimeTrial) run(t *testing.T) string {
	r := &safeTimeRun{safeTimeTrial: trial, t: t, db: dbtest.New(t)}
	for _, change := range trial.change {
		change(t, r.db)
	}
	functions := []string{changedFunction}
	if trial.masked {
		r.mask()
		functions = append(functions, changedFunction+maskedSuffix)
	}
	r.began = time.Now()
	r.ctx, r.stop = context.WithTimeout(context.Background(), trial.length)
	defer r.stop()
	_, err := r.db.Pool.Exec(r.ctx, `SELECT queen.push_v1('q', '0', 's' || i) FROM generate_series(0, 9) i`)
	require.NoError(t, err)
	seed := randv2.Uint64()
	t.Log("seed", seed)
	var writers, others sync.WaitGroup
	for i := range 7 {
		rng, conn := randv2.New(randv2.NewPCG(seed, uint64(i))), r.db.Conn(t)
		writers.Go(func() {
			for n := 0; r.ctx.Err() == nil; n++ {
				if i < 3 {
					r.writeShort(conn, rng)
				} else {
					r.writeLong(conn, rng, fmt.Sprintf("w%d-%d", i, n%20))
				}
			}
		})
	}
	maintaining, enough := context.WithCancel(context.Background())
	defer enough()
	others.Go(func() { r.maintain(maintaining) })
	var consumers sync.WaitGroup
	for i, function := range functions {
		m := &mirror{safeTimeRun: r, conn: r.db.Conn(t), rng: randv2.New(randv2.NewPCG(seed, uint64(100+i))), function: function, high: map[string]int64{}}
		consumers.Go(func() { m.follow(&writers) })
	}
	consumers.Wait()
	writers.Wait()
	enough()
	others.Wait()
	if found := r.found.Load(); found != nil {
		return *found
	}
	return ""
}

// mask makes copies of the two functions that run as a role which may not see the
// activity of others.
func (r *safeTimeRun) mask() {
	role := r.db.Name + maskedSuffix
	ctx := context.Background()
	var both string
	require.NoError(r.t, r.db.Pool.QueryRow(ctx, `SELECT string_agg(pg_get_functiondef(('queen.' || f)::regproc), E';\n') FROM unnest($1::text[]) f`,
		[]string{watermarkFunction, changedFunction}).Scan(&both))
	for _, name := range []string{watermarkFunction, changedFunction} {
		both = strings.ReplaceAll(both, name+"(", name+maskedSuffix+"(")
	}
	_, err := r.db.Pool.Exec(ctx, both+`;
		CREATE ROLE `+role+`;
		GRANT USAGE ON SCHEMA queen TO `+role+`;
		GRANT SELECT ON ALL TABLES IN SCHEMA queen TO `+role+`;
		GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA queen TO `+role+`;
		ALTER FUNCTION queen.`+changedFunction+maskedSuffix+` OWNER TO `+role, pgx.QueryExecModeSimpleProtocol)
	require.NoError(r.t, err)
	r.t.Cleanup(func() {
		_, err := r.db.Pool.Exec(ctx, `DROP OWNED BY `+role+`; DROP ROLE `+role, pgx.QueryExecModeSimpleProtocol)
		require.NoError(r.t, err)
	})
}

// missed notes the first fault and ends the run.
func (r *safeTimeRun) missed(format string, args ...any) {
	text := fmt.Sprintf("after %v: ", time.Since(r.began).Round(10*time.Millisecond)) + fmt.Sprintf(format, args...)
	r.found.CompareAndSwap(nil, &text)
	r.stop()
}

// exec runs a statement of a writer; a writer that was cut short rolls back.
func (r *safeTimeRun) exec(conn *pgx.Conn, sql string, args ...any) bool {
	_, err := conn.Exec(context.Background(), sql, args...)
	if err != nil && sqlState(err) != "40001" && sqlState(err) != "55P03" {
		r.t.Errorf("%s: %v", sql, err)
		r.stop()
	}
	return err == nil
}

// sleep waits for a random time between two, the end of the run at most.
func (r *safeTimeRun) sleep(rng *randv2.Rand, least, most time.Duration) {
	timer := time.NewTimer(least + time.Duration(rng.Int64N(int64(most-least)+1)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
}

// writeShort is one push of its own, to a partition that others push to as well.
func (r *safeTimeRun) writeShort(conn *pgx.Conn, rng *randv2.Rand) {
	r.exec(conn, `SELECT queen.push_v1('q', '1', $1)`, fmt.Sprint("s", rng.IntN(10)))
	r.sleep(rng, 0, 30*time.Millisecond)
}

// writeLong is one long transaction: it reads, pushes to a partition of its own,
// old or new, and perhaps to a shared one, and ends in one of four ways. Every
// other one pushes at once and stays as long as any does, so that at its end it is
// the oldest: the one that nobody else hides.
func (r *safeTimeRun) writeLong(conn *pgx.Conn, rng *randv2.Rand, own string) {
	begin := "BEGIN"
	if rng.IntN(5) == 0 {
		begin = "BEGIN ISOLATION LEVEL REPEATABLE READ"
	}
	if !r.exec(conn, begin) {
		return
	}
	oldest, ok := rng.IntN(2) == 0, true
	if !oldest {
		r.sleep(rng, 0, r.hold/4)
		ok = r.exec(conn, `SELECT 1 FROM queen.queues`)
		r.sleep(rng, 0, r.hold/8)
	}
	ok = ok && r.exec(conn, `SELECT queen.push_v1('q', '1', $1)`, own)
	if ok && rng.IntN(3) == 0 && begin == "BEGIN" {
		ok = r.exec(conn, `SELECT queen.push_v1('q', '1', $1)`, fmt.Sprint("s", rng.IntN(10)))
	}
	switch {
	case oldest:
		r.sleep(rng, r.hold*4/5, r.hold)
	case rng.IntN(4) == 0:
		r.sleep(rng, 0, r.hold/50)
	default:
		r.sleep(rng, 0, r.hold*4/5)
	}
	switch fate := rng.IntN(20); {
	case !ok || fate < 2:
		r.exec(conn, "ROLLBACK")
	case fate < 5:
		name := fmt.Sprintf("'%s %d'", r.db.Name, r.names.Add(1))
		if r.exec(conn, "PREPARE TRANSACTION "+name) {
			r.sleep(rng, 0, r.hold/2)
			r.exec(conn, []string{"COMMIT", "ROLLBACK"}[rng.IntN(5)/4]+" PREPARED "+name)
		}
		r.sleep(rng, 0, r.hold)
	default:
		r.exec(conn, "COMMIT")
	}
	r.sleep(rng, 0, r.hold/3)
}

// maintain does what the settle loop does.
func (r *safeTimeRun) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := New(r.db.Pool).MarkClock(context.Background()); err != nil {
			r.t.Error(err)
		}
		if _, err := New(r.db.Pool).SettleHeadsStep(context.Background(), 500, 1); err != nil {
			r.t.Error(err)
		}
		select {
		case <-time.After(r.hold/8 + 50*time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// mirror is a consumer that knows the queue only by what it is answered.
type mirror struct {
	*safeTimeRun
	conn     *pgx.Conn
	rng      *randv2.Rand
	function string
	since    *time.Time
	high     map[string]int64 // by partition: the last offset it was told of
	sweeps   int
	degraded int
}

// follow sweeps until the writers have ended and all that they wrote was listed.
func (m *mirror) follow(writers *sync.WaitGroup) {
	for m.ctx.Err() == nil {
		if err := m.sweep(); err != nil {
			m.t.Error(err)
			m.stop()
			return
		}
	}
	if m.found.Load() != nil || m.t.Failed() {
		return
	}
	writers.Wait()
	var last time.Time
	err := m.conn.QueryRow(context.Background(), `SELECT clock_timestamp()`).Scan(&last)
	for end := time.Now().Add(safeTimePatience); err == nil && m.since.Before(last); {
		if time.Now().After(end) {
			err = errors.New("the safe time does not reach the end of the writers")
		} else {
			err = m.sweep()
		}
	}
	if err == nil {
		err = m.compare()
	}
	if err != nil {
		m.t.Error(m.function, err)
	}
	if masked := strings.HasSuffix(m.function, maskedSuffix); masked && m.degraded < m.sweeps {
		m.t.Errorf("%d of %d sweeps of %s were degraded", m.degraded, m.sweeps, m.function)
	}
	m.t.Logf("%s: %d sweeps, %d degraded, %d partitions", m.function, m.sweeps, m.degraded, len(m.high))
}

// changedPage is a page of one queue.
type changedPage struct {
	safeTime time.Time
	degraded bool
	heads    map[string]int64
	next     *string
}

// page asks for one page; the function starts a while after the caller's snapshot,
// a long one where its safe time counts most: on the first page.
func (m *mirror) page(after *string) (p changedPage, err error) {
	limit, pause := 1000, m.pause
	if m.pages {
		limit = []int{1000, 7, 3}[m.rng.IntN(3)]
	}
	if after != nil {
		pause /= 50
	}
	rows, err := m.conn.Query(context.Background(), `SELECT c.safe_time, c.safe_time_degraded, c.name, c.last_offset, c.next, c.error
		FROM (SELECT pg_sleep($1)::text AS z OFFSET 0) s
		CROSS JOIN LATERAL queen.`+m.function+`(CASE WHEN s.z = '' THEN ARRAY['q'] END, ARRAY[$2::timestamptz], ARRAY[$3::text], ARRAY[$4::integer]) c`,
		pause.Seconds()*m.rng.Float64(), m.since, after, limit)
	if err != nil {
		return p, err
	}
	p.heads = map[string]int64{}
	var name, next, fault *string
	var head *int64
	_, err = pgx.ForEachRow(rows, []any{&p.safeTime, &p.degraded, &name, &head, &next, &fault}, func() error {
		if fault != nil {
			return errors.New(*fault)
		}
		if name != nil {
			p.heads[*name], p.next = *head, next
		}
		return nil
	})
	return p, err
}

// sweep reads all pages since the last safe time, and holds what it was told
// against the log: nothing that is new may be older than that safe time, and
// nothing that is older than the new one may be missing.
func (m *mirror) sweep() error {
	var p changedPage
	for {
		page, err := m.page(p.next)
		if err != nil {
			return err
		}
		p = page
		if err := m.learn(p.heads); err != nil {
			return err
		}
		if p.next == nil || m.found.Load() != nil {
			break
		}
	}
	m.sweeps++
	if p.degraded {
		m.degraded++
	}
	if m.since == nil || m.since.Before(p.safeTime) {
		m.since = &p.safeTime // it may go back when it becomes degraded; what was true stays true
	}
	names, highs := m.known()
	return m.ask(`SELECT p.name, s.base_offset, s.created_at FROM queen.log_partitions p
		LEFT JOIN unnest($1::text[], $2::bigint[]) h (name, high) USING (name)
		JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset > coalesce(h.high, -1)
		WHERE s.created_at < $3`, "is visible below the safe time, but was not listed", names, highs, *m.since)
}

// learn takes new heads in. What is new must not lie below the safe time.
func (m *mirror) learn(heads map[string]int64) error {
	names, highs := m.known()
	for name, head := range heads {
		m.high[name] = max(head, m.high[name])
	}
	if m.since == nil {
		return nil
	}
	return m.ask(`SELECT p.name, s.base_offset, s.created_at FROM queen.log_partitions p
		LEFT JOIN unnest($1::text[], $2::bigint[]) h (name, high) USING (name)
		JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset > coalesce(h.high, -1)
		WHERE s.created_at < $3`, "became visible below the safe time", names, highs, *m.since)
}

func (m *mirror) known() (names []string, highs []int64) {
	for name, high := range m.high {
		names, highs = append(names, name), append(highs, high)
	}
	return names, highs
}

// ask runs a query for segments that must not be there.
func (m *mirror) ask(sql, what string, args ...any) error {
	var name string
	var base int64
	var at time.Time
	err := m.conn.QueryRow(context.Background(), sql+" LIMIT 1", args...).Scan(&name, &base, &at)
	if err == nil {
		m.missed("%s: %s@%d of %v %s %v", m.function, name, base, at.UTC(), what, m.since.UTC())
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// compare holds the mirror against the heads.
func (m *mirror) compare() error {
	rows, err := m.conn.Query(context.Background(), `SELECT h.name, h.head_offset FROM queen.partition_head h`)
	if err != nil {
		return err
	}
	var name string
	var head int64
	seen := 0
	_, err = pgx.ForEachRow(rows, []any{&name, &head}, func() error {
		seen++
		if known, ok := m.high[name]; !ok || known != head {
			return fmt.Errorf("partition %s ends at %d, listed was %d", name, head, known)
		}
		return nil
	})
	if err == nil && seen != len(m.high) {
		err = fmt.Errorf("%d partitions, %d were listed", seen, len(m.high))
	}
	return err
}
