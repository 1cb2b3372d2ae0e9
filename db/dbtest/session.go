package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// pollEvery is how often WaitBlocked looks.
const pollEvery = 5 * time.Millisecond

// Session is one connection of a stepped race. It runs one statement at a time:
// start it with Go, see it wait for another session with WaitBlocked, step that
// one, then collect the result with Wait. A Session belongs to one goroutine.
type Session struct {
	name   string
	conn   *pgx.Conn
	watch  *pgx.Conn
	cancel context.CancelFunc
	ctx    context.Context
	// running holds the statement that Go started, until Wait.
	running chan struct{}
	rows    [][]any
	err     error
}

// Session opens a session; name becomes its application_name and stands in
// failures. It is closed when the test ends, with what it still runs.
func (db *Database) Session(t testing.TB, name string) *Session {
	t.Helper()
	s := &Session{name: name, conn: db.connect(t, name), watch: db.connect(t, name+" (watched)")}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	t.Cleanup(s.close)
	return s
}

func (s *Session) close() {
	s.cancel()
	if s.running != nil {
		<-s.running
	}
}

// PID is the process number of the session's backend.
func (s *Session) PID() uint32 { return s.conn.PgConn().PID() }

// Go starts one statement and returns. It panics while another one runs.
func (s *Session) Go(sql string, args ...any) {
	if s.running != nil {
		panic("dbtest: session " + s.name + " still runs a statement: call Wait first")
	}
	done := make(chan struct{})
	s.running, s.rows, s.err = done, nil, nil
	go func() {
		defer close(done)
		rows, err := s.conn.Query(s.ctx, sql, args...)
		if err != nil {
			s.err = err
			return
		}
		s.rows, s.err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	}()
}

// Wait collects the statement that Go started and returns its error as pgx
// gives it. It fails the test when the statement takes longer than 30 s.
func (s *Session) Wait(t testing.TB) error {
	t.Helper()
	require.NotNil(t, s.running, "session %s runs no statement", s.name)
	select {
	case <-s.running:
	case <-time.After(patience):
		require.FailNow(t, "session "+s.name+" does not come back", "after %s", patience)
	}
	s.running = nil
	return s.err
}

// Rows are the rows of the last statement, after Wait or Exec; nil when it
// failed or returned none.
func (s *Session) Rows() [][]any { return s.rows }

// Exec is Go and Wait, for steps that must succeed.
func (s *Session) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	s.Go(sql, args...)
	require.NoError(t, s.Wait(t), "session %s: %s", s.name, sql)
}

// errNotBlocked is the statement that came back instead of waiting.
var errNotBlocked = errors.New("the statement ended instead of waiting for a lock")

// WaitBlocked returns when the statement that Go started waits for a lock. It
// fails the test when the statement ends first, or within 30 s does neither.
func (s *Session) WaitBlocked(t testing.TB) {
	t.Helper()
	require.NotNil(t, s.running, "session %s runs no statement", s.name)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, s.awaitBlocked(ctx), "session %s", s.name)
}

func (s *Session) awaitBlocked(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var blocked bool
		// By a session or a prepared transaction (0): autovacuum takes a lock for a moment, too.
		err := s.watch.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE pid = $1 AND state = 'active' AND wait_event_type = 'Lock') AND EXISTS (
			SELECT FROM unnest(pg_blocking_pids($1)) b (pid)
			WHERE b.pid = 0 OR b.pid IN (SELECT a.pid FROM pg_stat_activity a WHERE a.backend_type = 'client backend'))`, int32(s.PID())).Scan(&blocked)
		if err != nil || blocked {
			return err
		}
		select {
		case <-s.running:
			return errors.Join(errNotBlocked, s.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
