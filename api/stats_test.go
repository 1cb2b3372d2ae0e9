package api

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// document reads a JSON answer of 200.
func (ts *testServer) document(target string) map[string]any {
	ts.t.Helper()
	r := ts.get(target)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s: %s", target, r.Body)
	var got map[string]any
	r.into(ts.t, &got)
	return got
}

// TestStatsRoutes: every route that shows numbers, before and after they are
// counted, with the keys of the wire (C-16, C-19, C-23, C-30, C-31, S-28, S-42,
// S-43, F131).
func TestStatsRoutes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for range 3 {
		ts.pushOne("shop.cart", "a", `1`)
	}
	ts.pushOne("shop.cart", "b", `1`)
	ts.pushOne("plain", "p", `1`)
	require.Equal(t, http.StatusOK, ts.get("/api/v1/pop/queue/shop.cart/partition/a?batch=2&consumerGroup=g&subscriptionMode=all").Status)

	require.EqualValues(t, -1, ts.document("/api/v1/resources/overview")["statsAge"], "S-43: never counted")
	queue := func(target, name string) map[string]any {
		for _, one := range ts.document(target)["queues"].([]any) {
			if one.(map[string]any)["name"] == name {
				return one.(map[string]any)
			}
		}
		t.Fatalf("%s has no queue %s", target, name)
		return nil
	}
	require.Equal(t, map[string]any{"total": 4., "pending": 0., "processing": 0.}, queue("/api/v1/resources/queues", "shop.cart")["messages"], "C-17, S-42: pending is counted by the reconciler")
	require.Equal(t, map[string]any{"total": 0., "pending": 0., "processing": 0.}, queue("/api/v1/resources/queues?stats=cached", "shop.cart")["messages"], "C-19: nothing is live")

	r := ts.post("/api/v1/stats/refresh", "")
	require.Equal(t, http.StatusOK, r.Status)
	var summary map[string]any
	r.into(t, &summary)
	delete(summary, "refreshedAt")
	require.Equal(t, map[string]any{"engine": "segments", "queuesUpdated": 2., "queuesChanged": 2., "segPartitions": 3., "namespaces": map[string]any{"namespacesUpdated": 2.},
		"tasks": map[string]any{"tasksUpdated": 1.}, "system": map[string]any{"systemUpdated": 1.}}, summary, "S-28")

	counts := map[string]any{"total": 4., "pending": 4., "processing": 2.}
	require.Equal(t, counts, queue("/api/v1/resources/queues", "shop.cart")["messages"])
	require.Equal(t, counts, queue("/api/v1/resources/queues?stats=cached", "shop.cart")["messages"])
	require.Equal(t, map[string]any{"segments": 0., "messages": 4.}, queue("/api/v1/resources/queues", "shop.cart")["segments"], "S-29, S-32: not measured by a refresh")
	ts.sql("SELECT queen.log_refresh_retained_bytes_v1()")
	require.Equal(t, map[string]any{"segments": 4., "messages": 4.}, queue("/api/v1/resources/queues", "shop.cart")["segments"])

	overview := ts.document("/api/v1/resources/overview")
	require.GreaterOrEqual(t, overview["statsAge"], 0.)
	require.Equal(t, map[string]any{"total": 5., "pending": 5., "processing": 2., "completed": 0., "failed": 0., "deadLetter": 0.}, overview["messages"])
	require.Equal(t, []any{2., 3., 2., 1.}, []any{overview["queues"], overview["partitions"], overview["namespaces"], overview["tasks"]})
	require.Equal(t, map[string]any{"namespaces": []any{
		map[string]any{"namespace": "plain", "queues": 1., "partitions": 1., "messages": map[string]any{"total": 1., "pending": 1.}},
		map[string]any{"namespace": "shop", "queues": 1., "partitions": 2., "messages": map[string]any{"total": 4., "pending": 4.}},
	}}, ts.document("/api/v1/resources/namespaces"), "C-31")
	require.Equal(t, map[string]any{"tasks": []any{
		map[string]any{"task": "cart", "queues": 1., "partitions": 2., "messages": map[string]any{"total": 4., "pending": 4.}},
	}}, ts.document("/api/v1/resources/tasks"), "C-31")

	stored := map[string]any{"total": 4., "pending": 4., "processing": 2., "completed": 0., "deadLetter": 0.}
	require.Equal(t, stored, queue("/api/v1/status/queues?namespace=shop", "shop.cart")["messages"])
	require.Equal(t, map[string]any{"queues": []any{}, "pagination": map[string]any{"limit": 7., "offset": 2.}}, ts.document("/api/v1/status/queues?limit=7&offset=2&from=&to="))
	require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/status/queues?limit=-1").Status)
	live := ts.document("/api/v1/status/queues/shop.cart")
	six := map[string]any{"total": 4., "pending": 4., "processing": 2., "completed": 0., "failed": nil, "deadLetter": 0.}
	require.Equal(t, map[string]any{"messages": six}, live["totals"], "C-23, F131")
	require.Equal(t, ts.document("/api/v1/resources/queues/shop.cart")["totals"], six, "F131")
	partition := live["partitions"].([]any)[0].(map[string]any)
	require.NotNil(t, partition["lastActivity"], "C-23: leased just now")
	require.Equal(t, map[string]any{"totalConsumed": 0., "batchesConsumed": 0.}, partition["cursor"])
	missing := ts.get("/api/v1/status/queues/nope")
	require.Equal(t, http.StatusNotFound, missing.Status)
	require.Equal(t, "Queue not found", missing.failure(t).Text)

	series := ts.document("/api/v1/status/analytics?queue=shop.cart&interval=week")
	points := series["dataPoints"].([]any)
	require.Len(t, points, 25)
	require.Equal(t, "hour", series["interval"])
	sum := 0.
	for _, point := range points {
		sum += point.(map[string]any)["messages"].(float64)
	}
	require.Equal(t, 4., sum)
	require.Equal(t, "interval", ts.get("/api/v1/status/analytics?interval=minute&from=1990-01-01").failure(t).Invalid)
	require.Equal(t, "from", ts.get("/api/v1/status/analytics?from=yesterday").failure(t).Invalid)
	require.Equal(t, "interval", ts.get("/api/v1/status/analytics?interval=%00").failure(t).Invalid)

	status := ts.document("/api/v1/status?namespace=shop&from=2026-07-30T09:00:00Z")
	require.Equal(t, []any{360., 0., []any{}}, []any{status["bucketMinutes"], status["pointCount"], status["workers"]})
	require.Equal(t, map[string]any{"active": 1., "partitionsWithLeases": 1., "totalBatchSize": 2., "totalAcked": 0.}, status["leases"])
	require.Len(t, status["queues"], 1)
	ts.sql(`SELECT queen.log_flush_metrics_v1(gen_random_uuid(), 'h', 1, 1, '{"push_messages": 5, "lag_ms": 30, "lag_count": 2}', '{"samples": 1}', '[]')`)
	require.Len(t, ts.document("/api/v1/status")["throughput"], 1)
	require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/status?to=1").Status)

	require.Equal(t, map[string]any{"status": "ok", "engine": "segments-rust"}, ts.document("/status"))
	require.Equal(t, map[string]any{"pending": 0., "failed": 0., "dbHealthy": true, "worker": 0.}, ts.document("/api/v1/status/buffers"))
	for _, target := range []string{"/api/v1/status/queues/%00", "/api/v1/status/queues?queue=%00", "/api/v1/status/analytics?task=%1f"} {
		require.Equal(t, http.StatusBadRequest, ts.get(target).Status, "F004: %s", target)
	}
}

// TestManyRefreshesAtOnce: while one is counting, callers wait their turn without
// a connection, and are refused when it takes too long (F129).
func TestManyRefreshesAtOnce(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) { cfg.PoolSize, cfg.AcquireTimeout = 4, 2*time.Second })
	ts.pushOne("q", "p", `1`)
	require.Nil(t, ts.refreshing.enter(t.Context(), time.Minute))
	var callers sync.WaitGroup
	statuses := make(chan int, 20)
	for range cap(statuses) {
		callers.Go(func() {
			r, err := ts.try(t.Context(), "POST", "/api/v1/stats/refresh", "")
			if err != nil {
				t.Error(err)
			}
			statuses <- r.Status
			if r.Status == http.StatusServiceUnavailable && (r.Header.Get("Retry-After") == "" || !strings.Contains(string(r.Body), `"retryable":true`)) {
				t.Errorf("a refusal says when to come back: %s", r.Body)
			}
		})
	}
	require.Equal(t, http.StatusOK, ts.get("/api/v1/resources/queues/q/depth").Status, "connections are left for others")
	callers.Wait()
	for range cap(statuses) {
		require.Equal(t, http.StatusServiceUnavailable, <-statuses)
	}
	ts.refreshing.leave()
	require.Equal(t, http.StatusOK, ts.post("/api/v1/stats/refresh", "").Status)
}
