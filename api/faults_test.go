package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

func TestSaturatedPoolAnswers503AndRecovers_F163(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.PoolSize, c.AcquireTimeout = 2, 300*time.Millisecond })
	ts.pushOne("q", "p", `1`)
	var held []interface{ Release() }
	for range 2 {
		conn, err := ts.pool.Acquire(context.Background())
		require.NoError(t, err)
		held = append(held, conn)
	}
	for _, call := range []func() reply{
		func() reply { return ts.post("/api/v1/push", `{"items":[{"queue":"q","payload":1}]}`) },
		func() reply { return ts.get("/api/v1/pop/queue/q") },
		func() reply { return ts.get("/api/v1/pop/queue/q?wait=true&timeout=5000") },
		func() reply {
			return ts.post("/api/v1/ack", `{"transactionId":"x","partitionId":"00000000-0000-0000-0000-000000000009"}`)
		},
		func() reply { return ts.post("/api/v1/lease/x/extend", ``) },
		func() reply { return ts.get("/api/v1/resources/queues") },
	} {
		inTime(t, 4*time.Second, func() time.Duration { // the acquire timeout
			began := time.Now()
			r := call()
			require.Equal(t, http.StatusServiceUnavailable, r.Status)
			require.Equal(t, "1", r.Header.Get("Retry-After"))
			require.True(t, r.failure(t).Retryable)
			return time.Since(began)
		})
	}
	require.Equal(t, http.StatusOK, ts.get("/livez").Status)
	for _, conn := range held {
		conn.Release()
	}
	require.Equal(t, "queued", ts.pushOne("q", "p", `2`).Status)
}

func TestSmallPoolServesManyAtOnce_F163(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.PoolSize = 2 })
	var calls sync.WaitGroup
	var odd atomic.Int64
	for i := range 100 {
		calls.Go(func() {
			for round := range 3 {
				switch (i + round) % 3 {
				case 0:
					count(&odd, ts, "POST", "/api/v1/push", fmt.Sprintf(`{"items":[{"queue":"q","partition":"p%d","payload":1}]}`, i), 201)
				case 1:
					count(&odd, ts, "GET", "/api/v1/pop/queue/q?autoAck=true", "", 200, 204)
				default:
					count(&odd, ts, "GET", "/api/v1/pop/queue/q?wait=true&timeout=50", "", 200, 204)
				}
			}
		})
	}
	calls.Wait()
	require.Zero(t, odd.Load())
}

// count makes a call and counts an answer that is none of those wanted.
func count(odd *atomic.Int64, ts *testServer, method, target, body string, want ...int) {
	r, err := ts.try(context.Background(), method, target, body)
	for _, status := range want {
		if err == nil && r.Status == status {
			return
		}
	}
	odd.Add(1)
}

func TestCancelledRequestsDoNotChurnConnections_F164(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.PoolSize = 4 })
	ts.pushOne("q", "p", `1`)
	opened := ts.pool.Stat().NewConnsCount()
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			for range 15 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+i%5)*time.Millisecond)
				if i%2 == 0 {
					_, _ = ts.try(ctx, "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":1}]}`)
				} else {
					_, _ = ts.try(ctx, "GET", "/api/v1/pop/queue/q", "")
				}
				cancel()
			}
		})
	}
	calls.Wait()
	require.LessOrEqual(t, ts.pool.Stat().NewConnsCount()-opened, int64(8))
	require.Equal(t, "queued", ts.pushOne("q", "p", `2`).Status, "no error leaks into the next call")
}

func TestLockedTableGives503InTime_F167(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout = 400 * time.Millisecond })
	got := ts.take("q", 1)
	m := got.Messages[0]
	tx, err := ts.db.Pool.Begin(context.Background())
	require.NoError(t, err)
	_, err = tx.Exec(context.Background(), `LOCK TABLE queen.log_segments, queen.log_consumers, queen.log_partitions, queen.queues IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	var calls sync.WaitGroup
	for range 5 {
		for _, c := range [][3]string{
			{"POST", "/api/v1/push", `{"items":[{"queue":"q","payload":1},{"queue":"r","payload":1}]}`},
			{"GET", "/api/v1/pop/queue/q", ""},
			{"POST", "/api/v1/ack", fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q}`, m.PartitionID, m.LeaseID)},
			{"POST", "/api/v1/lease/" + m.LeaseID + "/extend", ""},
			{"POST", "/api/v1/fetch", `{"entries":[{"queue":"q","partition":"p","offset":0}]}`},
			{"POST", "/api/v1/partitions/changed", `{"entries":[{"queue":"q"}]}`},
		} {
			calls.Go(func() {
				began := time.Now()
				r, err := ts.try(context.Background(), c[0], c[1], c[2])
				if err != nil || r.Status != http.StatusServiceUnavailable || time.Since(began) > 4*time.Second {
					t.Errorf("%s: %d after %v, %v: %s", c[1], r.Status, time.Since(began), err, r.Body)
				}
			})
		}
	}
	calls.Wait()
	require.NoError(t, tx.Rollback(context.Background()))
	require.Eventually(t, func() bool { return ts.pool.Stat().AcquiredConns() == 0 }, 20*time.Second, 10*time.Millisecond, "nothing leaked")
	require.True(t, ts.ackAll(got, "completed")[0].Success)
	require.Equal(t, "queued", ts.pushOne("q", "p", `2`).Status)
}

// line of the database that can be cut.
type cable struct {
	mu      sync.Mutex
	cut     bool
	refused int // calls while it was cut
	conns   []net.Conn
}

func (c *cable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		c.refused++
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	c.conns = append(c.conns, conn)
	return conn, err
}

func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		if cut && conn != nil {
			conn.Close()
		}
	}
}

// newCutServer is a server whose database can be taken away.
func newCutServer(t *testing.T, change ...func(*Config)) (*testServer, *cable) {
	t.Helper()
	database, wire := dbtest.New(t), &cable{}
	cfg := DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize, cfg.AcquireTimeout = database.DSN, 4, 500*time.Millisecond
	for _, c := range change {
		c(&cfg)
	}
	config, err := PoolConfig(cfg)
	require.NoError(t, err)
	config.ConnConfig.DialFunc = wire.dial
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	ts := startTestServer(t, cfg, pool)
	ts.db = database
	return ts, wire
}

func TestDatabaseAwayGives503AndParkedPopsStay(t *testing.T) {
	t.Parallel()
	ts, wire := newCutServer(t)
	ts.pushOne("q", "p", `1`)
	waiting := ts.popLater("/api/v1/pop/queue/parked?wait=true&timeout=15000")
	ts.parked(1)
	time.Sleep(100 * time.Millisecond)

	wire.set(true)
	for range 3 {
		r := ts.post("/api/v1/push", `{"items":[{"queue":"q","payload":1}]}`)
		require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
		require.Equal(t, "1", r.Header.Get("Retry-After"))
		require.Equal(t, "the database is not available", r.failure(t).Text)
		require.Equal(t, http.StatusServiceUnavailable, ts.get("/api/v1/pop/queue/q").Status)
		require.Equal(t, http.StatusServiceUnavailable, ts.get("/health").Status)
	}
	require.Equal(t, http.StatusOK, ts.get("/livez").Status)

	wire.set(false)
	require.Eventually(t, func() bool {
		return ts.post("/api/v1/push", `{"items":[{"queue":"parked","payload":1}]}`).Status == http.StatusCreated
	}, 20*time.Second, 50*time.Millisecond)
	got := <-waiting
	require.Equal(t, http.StatusOK, got.Status, "a parked pop survives the outage")
}

// endSessions ends every pooled session of the server and waits until all are gone.
func (ts *testServer) endSessions() {
	ts.t.Helper()
	const pooled = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent'`
	ts.sql(`SELECT pg_terminate_backend(pid) ` + pooled)
	require.Eventually(ts.t, func() bool { return ts.count(`SELECT count(*) `+pooled) == 0 }, 20*time.Second, time.Millisecond)
}

// Sessions that PostgreSQL ended while they were idle cost nobody an error.
func TestDeadConnectionsAreReplacedUnseen(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, deaf)
	for i := range 5 {
		var calls sync.WaitGroup
		for range 4 { // so that several connections are open, and idle for less than a second
			calls.Go(func() {
				_, _ = ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","payload":1}]}`)
			})
		}
		calls.Wait()
		ts.endSessions()
		switch i % 3 {
		case 0:
			ts.pushOne("q", "p", `1`)
		case 1:
			require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/none").Status)
		default:
			require.Equal(t, http.StatusOK, ts.get("/api/v1/resources/queues").Status)
		}
	}
}

// A session that ends under a call: what reads is asked again, what became
// of a push is found out, and any other write is not repeated, since nobody knows
// whether it was done.
func TestSessionThatEndsUnderACall(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, deaf)
	ts.pushOne("q", "p", `1`)
	for _, c := range []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/api/v1/resources/queues", "", http.StatusOK},
		{"GET", "/api/v1/resources/queues/q", "", http.StatusOK},
		{"POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":2}]}`, http.StatusCreated},
		{"GET", "/api/v1/pop/queue/q", "", http.StatusServiceUnavailable},
		{"POST", "/api/v1/configure", `{"queue":"q"}`, http.StatusServiceUnavailable},
	} {
		tx, err := ts.db.Pool.Begin(context.Background())
		require.NoError(t, err)
		_, err = tx.Exec(context.Background(), `LOCK TABLE queen.queues IN ACCESS EXCLUSIVE MODE`)
		require.NoError(t, err)
		answer := make(chan reply, 1)
		go func() {
			r, _ := ts.try(context.Background(), c.method, c.target, c.body)
			answer <- r
		}()
		blocked := func() int {
			return ts.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent' AND wait_event_type = 'Lock'`)
		}
		require.Eventually(t, func() bool { return blocked() == 1 }, 20*time.Second, time.Millisecond, c.target)
		first := ts.blocked() // not all: another one may be at it at once
		ts.sql(`SELECT pg_terminate_backend($1)`, first)
		require.Eventually(t, func() bool { return ts.count(`SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, first) == 0 }, 20*time.Second, time.Millisecond)
		if c.status != http.StatusServiceUnavailable {
			require.Eventually(t, func() bool { return blocked() == 1 }, 20*time.Second, time.Millisecond, "it asks again")
		}
		require.NoError(t, tx.Rollback(context.Background()))
		require.Equal(t, c.status, (<-answer).Status, c.target)
	}
	require.Equal(t, 2, ts.stored(), "the push was found not to have happened before it was repeated")
}

// Noise never ends the process, never goes unanswered, and every answer is one
// that the document names, on every route. REGENT_FUZZ_SECONDS and the long form
// make it longer.
func TestNoiseIsAlwaysAnswered_F157_F169(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	length := inLongForm(3*time.Second, 30*time.Second)
	if seconds := os.Getenv("REGENT_FUZZ_SECONDS"); seconds != "" {
		parsed, err := time.ParseDuration(seconds + "s")
		require.NoError(t, err)
		length = parsed
	}
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	ts.pushOne("q", "p", `1`)
	var routes []string
	for path, item := range ts.api.OpenAPI().Paths {
		for _, op := range operations(item) {
			if !strings.Contains(path, "/system/maintenance") || op.Method == "GET" { // a pause would be all that the others see
				routes = append(routes, op.Method+" "+path)
			}
		}
	}
	slices.Sort(routes)
	before := runtime.NumGoroutine()
	var calls sync.WaitGroup
	for worker := range 4 {
		calls.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for end := time.Now().Add(length); time.Now().Before(end); {
				method, target, body := noise(random)
				if random.IntN(2) == 0 {
					method, target = noisyRoute(random, routes)
				}
				if _, err := ts.try(context.Background(), method, target, body); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	calls.Wait()
	require.Equal(t, "queued", ts.pushOne("q", "p", `1`).Status)
	ts.web.Client().CloseIdleConnections()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+400 }, 20*time.Second, 50*time.Millisecond, "other tests run meanwhile")
}

// noisyRoute draws any route of the document, with something for its names.
func noisyRoute(random *rand.Rand, routes []string) (method, target string) {
	method, path, _ := strings.Cut(routes[random.IntN(len(routes))], " ")
	names := []string{"q", "p", "x", "%00", "%F0", "a%2Fb", "%20", "00000000-0000-0000-0000-000000000001", "-1", strings.Repeat("n", 300)}
	queries := []string{"", "?limit=x", "?limit=-1&offset=99999999999999999999", "?from=%00&to=never", "?queue=%F0&consumerGroup=", "?interval=0&hours=1e999"}
	for strings.Contains(path, "{") {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + names[random.IntN(len(names))] + after
	}
	return method, path + queries[random.IntN(len(queries))]
}

// noise draws a request: mostly a known route with a body that is nearly right.
func noise(random *rand.Rand) (method, target, body string) {
	values := []string{
		`null`, `""`, `"q"`, `"a\u0000b"`, `"\ud83d"`, "\"\xff\"", `0`, `-1`, `1e999`, `99999999999999999999`, `1.5`, `true`, `[]`, `{}`, `[null]`, `[[[[]]]]`,
		`{"a":{"a":{}}}`, strings.Repeat(`[`, 3000) + strings.Repeat(`]`, 3000), strings.Repeat(`[`, 50), `nul`, `"` + strings.Repeat("x", 300) + `"`, ``,
	}
	value := func() string { return values[random.IntN(len(values))] }
	names := []string{"items", "queue", "partition", "payload", "transactionId", "key", "acknowledgments", "partitionId", "leaseId", "status", "error", "consumerGroup", "seconds", "options", "mode", "leaseTime", "namespace", "data", "traceNames", "eventType", "entries", "offset", "maxBytes", "since", "after", "limit"}
	object := func() string {
		members := make([]string, random.IntN(6))
		for i := range members {
			members[i] = `"` + names[random.IntN(len(names))] + `":` + value()
		}
		return `{` + strings.Join(members, ",") + `}`
	}
	bodies := []string{"", value(), object(), `{"items":` + value() + `}`, `{"items":[` + object() + `,` + object() + `]}`, `{"acknowledgments":[` + object() + `]}`,
		`{"queue":"q","options":` + object() + `}`, object()[1:], `{"items":[{"queue":"q","payload":` + value() + `}]}`,
		`{"entries":[` + object() + `,{"queue":"q","offset":` + value() + `,"since":` + value() + `,"after":` + value() + `}]}`}
	queries := []string{"", "?batch=" + fmt.Sprint(random.Int64()), "?wait=true&timeout=1", "?batch=x", "?autoAck=true&partitions=-1", "?%zz", "?consumerGroup=%00", "?leaseSeconds=-9223372036854775808"}
	routes := []string{
		"POST /api/v1/push", "POST /api/v1/ack", "POST /api/v1/ack/batch", "POST /api/v1/configure", "POST /api/v1/lease/x/extend", "POST /api/v1/lease/%00/extend",
		"GET /api/v1/pop/queue/q", "GET /api/v1/pop/queue/q/partition/p", "GET /api/v1/pop/queue/%F0/partition/%00", "GET /api/v1/resources/queues",
		"GET /api/v1/resources/queues/q", "GET /api/v1/resources/queues/q/depth", "DELETE /api/v1/resources/queues/z", "GET /health", "GET /api/v1/nothing", "PUT /api/v1/push",
		"POST /api/v1/transaction", "GET /api/v1/pop",
		"GET /api/v1/dlq", "DELETE /api/v1/dlq", "POST /api/v1/dlq/x/replay", "POST /api/v1/dlq/00000000-0000-0000-0000-000000000001/replay",
		"GET /api/v1/messages", "GET /api/v1/messages/00000000-0000-0000-0000-000000000001/x", "POST /api/v1/traces", "GET /api/v1/traces/names", "GET /api/v1/traces/by-name/%00", "GET /api/v1/traces/x/y",
		"DELETE /api/v1/messages/x/%00", "DELETE /api/v1/messages/00000000-0000-0000-0000-000000000001/%F0", "POST /api/v1/messages/00000000-0000-0000-0000-000000000001/q/retry",
		"POST /api/v1/fetch", "POST /api/v1/partitions/changed",
	}
	method, target, _ = strings.Cut(routes[random.IntN(len(routes))], " ")
	return method, target + queries[random.IntN(len(queries))], bodies[random.IntN(len(bodies))]
}

func TestPanicIsOneAnswer_F169(t *testing.T) {
	t.Parallel()
	ts := newTestServerOn(t, dbtest.New(t))
	broken := ts.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault of ours") }))
	w := recordAnswer(broken)
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.JSONEq(t, `{"error":"internal error","code":"internal","retryable":false}`, w.Body.String())
}

func recordAnswer(handler http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
	return w
}

func TestIsolationOfTheRoleDoesNotMatter_F197(t *testing.T) {
	t.Parallel()
	database := dbtest.New(t)
	_, err := database.Pool.Exec(context.Background(), `ALTER DATABASE `+database.Name+` SET default_transaction_isolation = 'serializable'`)
	require.NoError(t, err)
	ts := newTestServerOn(t, database)
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			for round := range 5 {
				r, err := ts.try(context.Background(), "POST", "/api/v1/push", fmt.Sprintf(`{"items":[{"queue":"q","partition":"p%d","payload":%d}]}`, i%2, round))
				if err != nil || r.Status != http.StatusCreated {
					t.Errorf("%d %s %v", r.Status, r.Body, err)
				}
				if r, err := ts.try(context.Background(), "GET", "/api/v1/pop/queue/q?autoAck=true", ""); err != nil || r.Status > 204 {
					t.Errorf("%d %s %v", r.Status, r.Body, err)
				}
			}
		})
	}
	calls.Wait()
	require.Equal(t, 40, ts.stored())
	require.Len(t, ts.changed(query("q", "", "", 0)).Entries[0].Partitions, 2, "F145: the server reads at its own level")
}
