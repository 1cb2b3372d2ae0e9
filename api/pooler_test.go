//go:build unix

package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// startPooler runs pgbouncer before the database, and returns the connection
// string through it.
func startPooler(t *testing.T, db *dbtest.Database) string {
	t.Helper()
	return dbtest.StartPooler(t, db.Pool.Config().ConnConfig).DSN(db.Name)
}

// pooled is how a server is set up behind a transaction-mode pooler.
func pooled(dsn string) func(*Config) {
	return func(c *Config) { c.DatabaseURL, c.ExecMode, c.PoolSize = dsn, "cache_describe", 20 }
}

// Everything works with far fewer server connections than the pool has, though
// each transaction may run on another one.
func TestWorksBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	dsn := startPooler(t, db)
	one, two := newTestServerOn(t, db, pooled(dsn), deaf), newTestServerOn(t, db, pooled(dsn), deaf)
	one.configure(`{"queue":"q","options":{"leaseTime":60,"retryLimit":1}}`)
	var calls sync.WaitGroup
	for i, ts := range []*testServer{one, two} {
		for worker := range 12 {
			calls.Go(func() {
				for n := range 10 {
					body := fmt.Sprintf(`{"items":[{"queue":"q","partition":"p%d","transactionId":"%d-%d-%d","payload":{"n":%d}}]}`, worker%4, i, worker, n, n)
					if r, err := ts.try(context.Background(), "POST", "/api/v1/push", body); err != nil || r.Status != http.StatusCreated {
						t.Errorf("push: %v %d %s", err, r.Status, r.Body)
					}
				}
			})
		}
	}
	calls.Wait()
	require.Equal(t, 240, one.count(`SELECT sum(frames)::int FROM queen.log_segments`))
	seen := map[string]bool{}
	for i := 0; len(seen) < 240 && i < 100; i++ {
		ts := []*testServer{one, two}[i%2]
		got := ts.pop("q", "batch=40&partitions=0&subscriptionMode=all&consumerGroup=g")
		for _, m := range got.Messages {
			seen[m.TransactionID] = true
		}
		for _, r := range ts.ackAll(got, "completed") {
			require.True(t, r.Success)
		}
	}
	require.Len(t, seen, 240)
	got := one.pop("q", "batch=1&subscriptionMode=all&consumerGroup=h")
	require.Contains(t, string(two.post("/api/v1/lease/"+got.LeaseID+"/extend", `{"seconds":600}`).Body), `"success":true`)
	require.Equal(t, http.StatusOK, one.get("/api/v1/resources/queues/q").Status)
	require.Equal(t, http.StatusOK, two.get("/health").Status)
	require.LessOrEqual(t, one.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'regent%'`), 5)
	require.Equal(t, http.StatusOK, two.send("DELETE", "/api/v1/resources/queues/q", "").Status)
}

// Behind the pooler other servers are heard over a direct connection, where one
// is named; without one, and when LISTEN goes into the pooler by mistake, the
// watcher takes over.
func TestWakeUpsBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	dsn := startPooler(t, db)
	for name, c := range map[string]struct {
		change func(*Config)
		limit  time.Duration // of the mean
	}{
		"direct":  {func(c *Config) { c.ListenURL = db.DSN }, 200 * time.Millisecond},
		"watcher": {deaf, 500 * time.Millisecond},
		"mistake": {func(*Config) {}, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := newTestServerOn(t, db, pooled(dsn), c.change), newTestServerOn(t, db, pooled(dsn), c.change)
			if name == "direct" {
				require.Eventually(t, func() bool { return len(one.peers()) >= 1 && len(two.peers()) >= 1 }, 10*time.Second, 5*time.Millisecond)
			}
			var total time.Duration
			const rounds = 4
			for range rounds {
				waiting := one.popLater("/api/v1/pop/queue/" + name + "?wait=true&timeout=20000&autoAck=true")
				one.parked(1)
				one.asked(2) // the first claim is over, and the throttle of notifications
				two.pushOne(name, "p", `1`)
				pushed := time.Now()
				got := <-waiting
				require.Equal(t, http.StatusOK, got.Status)
				total += got.at.Sub(pushed)
			}
			require.Less(t, total/rounds, c.limit)
		})
	}
}

// A listening connection that hears nothing is told of, so that somebody names a direct one.
func TestListeningThroughAPoolerIsReported(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	dsn := startPooler(t, db)
	warned := func(change ...func(*Config)) func() bool {
		var out lockedBuffer
		cfg := DefaultConfig()
		for _, c := range append([]func(*Config){pooled(dsn)}, change...) {
			c(&cfg)
		}
		pool, err := OpenPool(context.Background(), cfg)
		require.NoError(t, err)
		s, err := New(cfg, pool, slog.New(slog.NewTextHandler(&out, nil)))
		require.NoError(t, err)
		s.Start(context.Background())
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			require.NoError(t, s.Stop(ctx))
			pool.Close()
		})
		return func() bool { return strings.Contains(out.String(), "name a direct one in REGENT_LISTEN") }
	}
	direct, mistake := warned(func(c *Config) { c.ListenURL = db.DSN }), warned()
	require.Eventually(t, mistake, 3*echoPatience, 20*time.Millisecond)
	time.Sleep(time.Second) // both began together
	require.False(t, direct())
}
