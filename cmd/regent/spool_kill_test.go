package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// spooling is a database of its own and the folder of a spool, which one server
// after the other uses.
type spooling struct {
	t        *testing.T
	dsn, dir string
	pool     *pgxpool.Pool
	wire     *tap
}

func newSpooling(t *testing.T) *spooling {
	t.Helper()
	base, err := url.Parse(shared.get(t).dsn(t))
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), base.String())
	require.NoError(t, err)
	name := fmt.Sprintf("spool_%d", time.Now().UnixNano())
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	base.Path = "/" + name
	s := &spooling{t: t, dsn: base.String(), dir: t.TempDir()}
	s.pool, err = pgxpool.New(context.Background(), s.dsn)
	require.NoError(t, err)
	t.Cleanup(s.pool.Close)
	s.wire = newTap(t, base.Host)
	return s
}

// serve starts a server; through the tap, or straight.
func (s *spooling) serve(tapped bool) *server {
	s.t.Helper()
	dsn := s.dsn
	if tapped {
		u, err := url.Parse(dsn)
		require.NoError(s.t, err)
		u.Host = s.wire.listener.Addr().String()
		dsn = u.String()
	}
	cmd := program(s.t, "serve", "--dsn", dsn, "--migrate", "--port", "0")
	cmd.Env = append(cmd.Env, "FILE_BUFFER_DIR="+s.dir, "FILE_BUFFER_FLUSH_MS=10", "DB_POOL_SIZE=4")
	server := launchCmd(s.t, cmd)
	s.t.Cleanup(func() { _ = server.cmd.Process.Kill(); <-server.exited })
	return server
}

func (s *spooling) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.pool.Exec(context.Background(), sql, args...)
	require.NoError(s.t, err)
}

// is reads a boolean; a failure is false.
func (s *spooling) is(sql string) (yes bool) {
	_ = s.pool.QueryRow(context.Background(), sql).Scan(&yes)
	return yes
}

// sees waits until a server knows what was switched by SQL: its view may be half a
// second old, and asking it renews that.
func (s *spooling) sees(server *server, want string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		answer, err := http.Get(server.url + "/api/v1/system/maintenance")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return err == nil && strings.Contains(string(text), want)
	}, time.Minute, 10*time.Millisecond)
}

func (s *spooling) push(server *server, payload int) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"items":[{"queue":"q","partition":"p","payload":%d}]}`, payload)
	answer, err := http.Post(server.url+"/api/v1/push", "application/json", strings.NewReader(body))
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusCreated, answer.StatusCode, "%s", text)
	return string(text)
}

// tap passes bytes between servers and PostgreSQL. Once its condition holds it
// keeps back whatever PostgreSQL answers.
type tap struct {
	listener net.Listener
	mu       sync.Mutex
	reached  func() bool // nil passes everything
	holding  atomic.Bool
}

func newTap(t *testing.T, target string) *tap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &tap{listener: listener}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.join(conn, target)
		}
	}()
	return w
}

func (w *tap) join(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, client); server.Close() }()
	chunk := make([]byte, 64<<10)
	for {
		n, err := server.Read(chunk)
		if err != nil {
			return
		}
		if !w.keeps() {
			if _, err := client.Write(chunk[:n]); err != nil {
				return
			}
		}
	}
}

func (w *tap) keeps() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reached != nil && w.reached() {
		w.holding.Store(true)
	}
	return w.holding.Load()
}

func (w *tap) holdWhen(reached func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached = reached
}

// A server is killed with -9 at each boundary of the replay of its spool. The
// next one stores each answered message exactly once, in order, although the
// queue has no dedup window (P-34, issue 3 item 7).
func TestKilledReplayStoresEveryMessageOnce(t *testing.T) {
	t.Parallel()
	const stored = `SELECT count(*) = 3 FROM queen.log_segments`
	for name, stop := range map[string]func(s *spooling) (reached func() bool, release func()){
		"answered, not replayed": func(s *spooling) (func() bool, func()) {
			s.exec(`SELECT queen.set_maintenance_v1(true)`)
			return func() bool { return true }, func() { s.exec(`SELECT queen.set_maintenance_v1(false)`) }
		},
		"replay under way": func(s *spooling) (func() bool, func()) {
			s.exec(`SELECT queen.push_v1('q', '0', 'p')`)
			tx, err := s.pool.Begin(context.Background())
			require.NoError(s.t, err)
			_, err = tx.Exec(context.Background(), `SELECT FROM queen.log_partitions FOR UPDATE`)
			require.NoError(s.t, err)
			return func() bool {
					return s.is(`SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%replay_spool%'`)
				}, func() {
					_, err := tx.Exec(context.Background(), `DELETE FROM queen.log_segments`) // of the 0
					require.NoError(s.t, err)
					require.NoError(s.t, tx.Commit(context.Background()))
				}
		},
		"committed, not answered": func(s *spooling) (func() bool, func()) {
			s.wire.holdWhen(func() bool { return s.is(stored) })
			return s.wire.holding.Load, func() {}
		},
		"file renamed, not forgotten": func(s *spooling) (func() bool, func()) {
			s.exec(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN OLD; END $$`)
			s.exec(`CREATE TRIGGER hold BEFORE DELETE ON queen.spool_files FOR EACH ROW EXECUTE FUNCTION hold()`)
			conn, err := s.pool.Acquire(context.Background())
			require.NoError(s.t, err)
			_, err = conn.Exec(context.Background(), `SELECT pg_advisory_lock(4711)`)
			require.NoError(s.t, err)
			return func() bool {
					found, _ := filepath.Glob(filepath.Join(s.dir, "*.done"))
					return len(found) > 0 && s.is(stored)
				}, func() {
					_, err := conn.Exec(context.Background(), `SELECT pg_advisory_unlock(4711)`)
					require.NoError(s.t, err)
					conn.Release()
				}
		},
		"file forgotten, not removed": func(s *spooling) (func() bool, func()) {
			s.wire.holdWhen(func() bool { return s.is(stored) && s.is(`SELECT count(*) = 0 FROM queen.spool_files`) })
			return s.wire.holding.Load, func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpooling(t)
			first := s.serve(true)
			s.exec(`SELECT queen.configure_queue_v1('q', '{"dedupWindowSeconds": 0}')`)
			s.exec(`SELECT queen.set_maintenance_v1(true)`)
			s.sees(first, `"maintenanceMode":true`)
			for n := 1; n <= 3; n++ {
				require.Contains(t, s.push(first, n), `"status":"buffered"`)
			}
			reached, release := stop(s)
			if name != "answered, not replayed" {
				s.exec(`SELECT queen.set_maintenance_v1(false)`)
			}
			require.Eventually(t, reached, time.Minute, time.Millisecond, "%s", first.errOut)
			first.signal(t, syscall.SIGKILL)
			release()

			second := s.serve(false)
			require.Regexp(t, `"status":"(queued|buffered)"`, s.push(second, 4))
			require.Eventually(t, func() bool {
				left, _ := filepath.Glob(filepath.Join(s.dir, "*.spool*"))
				return len(left) == 0 && s.is(`SELECT count(*) = 0 FROM queen.spool_files`)
			}, time.Minute, 10*time.Millisecond, "%s", second.errOut)
			rows, err := s.pool.Query(context.Background(), `SELECT u.p FROM queen.log_segments s, unnest(s.payloads) WITH ORDINALITY u (p, k) ORDER BY s.base_offset, u.k`)
			require.NoError(t, err)
			payloads, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Equal(t, []string{"1", "2", "3", "4"}, payloads)
			failed, err := os.ReadDir(filepath.Join(s.dir, "failed"))
			require.NoError(t, err)
			require.Empty(t, failed)
		})
	}
}
