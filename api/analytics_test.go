package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Spec 5.5: the analytics routes over what servers counted, each in its shape
// (the test kit holds every answer against the document) and with its numbers.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, `[]`, string(ts.get("/api/v1/analytics/queue-lag").Body), "a bare array")
	require.EqualValues(t, 0, ts.document("/api/v1/analytics/worker-metrics")["summary"].(map[string]any)["totalPushMessages"], "before the first flush")
	empty := ts.document("/api/v1/analytics/workload")
	require.Equal(t, []any{[]any{}, []any{}}, []any{empty["rows"], empty["buckets"]})
	require.EqualValues(t, 0, empty["tenant"].(map[string]any)["queues"])
	ts.configure(`{"queue":"shop.cart","namespace":"shop","options":{"retryLimit":0}}`)
	for i := range 4 {
		ts.pushOne("shop.cart", "p", fmt.Sprint(i))
	}
	got := ts.pop("shop.cart", "batch=3")
	ts.ackAll(got, "dlq")
	ts.pop("other", "")
	ts.flush()
	_, err := ts.db.Pool.Exec(t.Context(), `SELECT * FROM queen.log_fold_partition_events_step_v1()`)
	require.NoError(t, err)
	// One row a queue, though the flush may be of another minute than the partition.
	ts.sql(`WITH gone AS (DELETE FROM queen.queue_lag_metrics RETURNING *)
		INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, pop_count, push_request_count, push_message_count, pop_empty_count, transaction_count, ack_request_count,
			ack_success_count, ack_failed_count, conflated_count, avg_lag_ms, max_lag_ms, lag_count, parked_count, partitions_created, partitions_deleted, partition_count)
		SELECT date_trunc('minute', now() - interval '10 minutes'), queue_id, sum(pop_count), sum(push_request_count), sum(push_message_count), sum(pop_empty_count), sum(transaction_count), sum(ack_request_count),
			sum(ack_success_count), sum(ack_failed_count), sum(conflated_count), max(avg_lag_ms), max(max_lag_ms), sum(lag_count), sum(parked_count), sum(partitions_created), sum(partitions_deleted), max(partition_count)
		FROM gone GROUP BY queue_id`)
	ts.sql(`INSERT INTO queen.queue_parked_replica SELECT date_trunc('minute', now() - interval '10 minutes'), id, 'h', 0, 3 FROM queen.queues WHERE name = 'shop.cart'`)

	lag := ts.list("/api/v1/analytics/queue-lag?queue=shop.cart")
	require.Len(t, lag, 1)
	require.EqualValues(t, 3, lag[0]["popCount"])
	require.NotNil(t, lag[0]["avgLagMs"])
	require.Nil(t, ts.list("/api/v1/analytics/queue-lag?queue=other")[0]["avgLagMs"], "S-40: null, not 0, where nothing was delivered")

	ops := ts.document("/api/v1/analytics/queue-ops?queue=shop.cart")
	require.Equal(t, []any{"shop.cart"}, ops["queues"])
	point := ops["series"].([]any)[0].(map[string]any)
	for key, want := range map[string]float64{"pushRequests": 4, "pushMessages": 4, "popMessages": 3, "popEmpty": 0, "ackRequests": 1, "ackSuccess": 0, "ackFailed": 3,
		"transactions": 0, "partitionsCreated": 1, "partitionsDeleted": 0, "pushPerSecond": 0.067, "popPerSecond": 0.05} {
		require.InDelta(t, want, point[key], 0.0001, key)
	}
	// S-40: five-minute buckets of a longer range, and the same numbers.
	wide := ts.document("/api/v1/analytics/queue-ops?from=" + hoursAgo(5) + "&queue=shop.cart")
	require.EqualValues(t, 5, wide["bucketMinutes"])
	require.EqualValues(t, 4, wide["series"].([]any)[0].(map[string]any)["pushMessages"])
	require.InDelta(t, 4.0/300, wide["series"].([]any)[0].(map[string]any)["pushPerSecond"], 0.001)

	parked := ts.document("/api/v1/analytics/queue-parked-replicas")
	require.Equal(t, []any{map[string]any{"hostname": "h", "workerId": 0.}}, parked["replicas"])
	require.EqualValues(t, 3, parked["series"].([]any)[0].(map[string]any)["parkedCount"])
	require.InDelta(t, 0.6, ts.document("/api/v1/analytics/queue-parked-replicas?from=" + hoursAgo(5))["series"].([]any)[0].(map[string]any)["parkedCount"], 0.001)

	ts.workload()

	workers := ts.document("/api/v1/analytics/worker-metrics")
	summary := workers["summary"].(map[string]any)
	require.EqualValues(t, 4, summary["totalPushMessages"])
	require.EqualValues(t, ts.count(`SELECT count(*) FROM queen.log_dlq`), summary["totalDlq"])
	require.Positive(t, summary["totalDlq"])
	require.EqualValues(t, 4, workers["timeSeries"].([]any)[0].(map[string]any)["pushMessages"])
	require.Len(t, workers["workers"], 1)
	require.EqualValues(t, 3, workers["queues"].([]any)[0].(map[string]any)["popCount"])
	require.Empty(t, ts.document("/api/v1/analytics/worker-metrics?hostname=nobody")["timeSeries"])

	system := ts.document("/api/v1/analytics/system-metrics?workerId=0")
	values := system["replicas"].([]any)[0].(map[string]any)["timeSeries"].([]any)[0].(map[string]any)["metrics"].(map[string]any)
	rss := values["memory"].(map[string]any)["rss_bytes"].(map[string]any)
	require.Greater(t, rss["last"], 1e6)
	require.LessOrEqual(t, rss["min"], rss["max"])
	require.Nil(t, values["threadpool"])
	require.EqualValues(t, 0, ts.document("/api/v1/analytics/system-metrics?workerId=7")["replicaCount"])

	for target, field := range map[string]string{"queue-lag?from=yesterday": "from", "queue-ops?queue=%00": "queue", "worker-metrics?workerId=x": "workerId", "system-metrics?to=x": "to", "dlq-signatures": "queue",
		"workload?groupBy=partition": "groupBy", "partition-liveness?limit=2147483648": "limit", "dlq-signatures?queue=q&limit=4294967297": "limit", "workload?task=%00": "task", "workload?to=x": "to"} {
		r := ts.get("/api/v1/analytics/" + target)
		require.Equal(t, http.StatusBadRequest, r.Status, target)
		require.Equal(t, field, r.failure(t).Invalid, target)
	}
	require.Equal(t, "queue required", ts.get("/api/v1/analytics/dlq-signatures").failure(t).Text)
}

// workload holds GET /analytics/workload against what TestAnalytics did: two queues, of which one has messages.
func (ts *testServer) workload() {
	t := ts.t
	t.Helper()
	ts.configure(`{"queue":"idle","namespace":"shop","task":"t"}`)
	ts.sql(`SELECT * FROM queen.log_refresh_all_stats_v1()`)
	all := ts.document("/api/v1/analytics/workload")
	require.Equal(t, "namespace", all["groupBy"])
	require.Len(t, all["buckets"], 1)
	require.Len(t, all["rows"], 2)
	shop := all["rows"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"shop", 2.}, []any{shop["key"], shop["queues"]})
	require.NotContains(t, shop, "namespace")
	window := shop["window"].(map[string]any)
	for key, want := range map[string]float64{"pushMessages": 4, "pushRequests": 4, "popMessages": 3, "popEmpty": 0, "ackRequests": 1, "ackSuccess": 0, "ackFailed": 3,
		"transactions": 0, "conflated": 0, "partitionsCreated": 1, "partitionsDeleted": 0, "parkedAvg": 0} {
		require.InDelta(t, want, window[key], 0.0001, key)
	}
	require.NotNil(t, window["avgLagMs"])
	require.Equal(t, []any{4.}, shop["series"].(map[string]any)["push"])
	require.Equal(t, map[string]any{"pending": 3., "processing": 0., "deadLetter": 1., "retainedBytes": 0., "partitions": 1., "groups": 1.,
		"queuesWithoutGroup": 1., "pendingWithoutGroup": 0., "queuesTouched": 1., "queuesActive": 1.}, shop["now"])
	tenant := all["tenant"].(map[string]any)
	require.EqualValues(t, 3, tenant["queues"])
	require.EqualValues(t, 2, tenant["now"].(map[string]any)["queuesTouched"], "an empty pop of other")

	one := ts.document("/api/v1/analytics/workload?groupBy=queue&task=t&from=" + hoursAgo(5))
	require.Len(t, one["rows"], 1)
	idle := one["rows"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"idle", "shop", "t"}, []any{idle["key"], idle["namespace"], idle["task"]})
	require.Equal(t, []any{nil}, idle["series"].(map[string]any)["push"], "null where nothing was counted")
	require.Nil(t, idle["window"].(map[string]any)["maxLagMs"])
	require.EqualValues(t, 3, one["tenant"].(map[string]any)["queues"], "no filter narrows the tenant")
	require.Len(t, ts.document("/api/v1/analytics/workload?groupBy=queue&queue=shop.cart&namespace=shop")["rows"], 1)
	require.Empty(t, ts.document("/api/v1/analytics/workload?namespace=none")["rows"])
}

// Spec 5.5: dlq-signatures, partition-liveness and postgres-stats.
func TestAnalyticsOfTheDatabase(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"shop.cart","namespace":"shop"}`)
	ts.configure(`{"queue":"bare","namespace":""}`)
	ts.pushOne("shop.cart", "a", `1`)
	ts.pushOne("shop.cart", "b", `1`)
	ts.sql(`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload, error, failed_at)
		SELECT p.id, 'g', 0, gen_random_uuid(), 'x', '12', CASE WHEN i < 4 THEN format('order %s of %s   failed at 2026-01-0%sT10:00:00Z', i, gen_random_uuid(), i) ELSE 'no' END, timestamptz '2026-01-01 12:00Z' + i / 2 * interval '1 day'
		FROM queen.log_partitions p, generate_series(1, 4) i WHERE p.name = 'a'`)
	dead := ts.document("/api/v1/analytics/dlq-signatures?queue=shop.cart")
	require.EqualValues(t, 4, dead["rowsNow"])
	require.EqualValues(t, 2, dead["avgBytes"])
	require.Equal(t, []any{map[string]any{"text": "order <n> of <id> failed at <date>", "n": 3., "share": 0.75}, map[string]any{"text": "no", "n": 1., "share": 0.25}}, dead["signatures"])
	require.Equal(t, []any{map[string]any{"day": "2026-01-01", "n": 1.}, map[string]any{"day": "2026-01-02", "n": 2.}, map[string]any{"day": "2026-01-03", "n": 1.}}, dead["byDay"])
	require.Equal(t, "2026-01-03T12:00:00.000Z", dead["newest"])
	require.EqualValues(t, 1, ts.document("/api/v1/analytics/dlq-signatures?queue=shop.cart&limit=1")["sample"])
	empty := ts.document("/api/v1/analytics/dlq-signatures?queue=bare")
	require.Nil(t, empty["oldest"])
	require.Empty(t, empty["signatures"])
	require.Equal(t, http.StatusNotFound, ts.get("/api/v1/analytics/dlq-signatures?queue=none").Status)

	ts.sql(`UPDATE queen.log_partitions SET last_write_at = now() - interval '2 days' WHERE name = 'b'`)
	rows := ts.document("/api/v1/analytics/partition-liveness")["rows"].([]any)
	require.Len(t, rows, 2)
	cart := rows[0].(map[string]any)
	require.Equal(t, "shop.cart", cart["queue"])
	require.Equal(t, []any{2., 1., 1., 2., 2.}, []any{cart["partitions"], cart["live1h"], cart["live24h"], cart["live7d"], cart["created24h"]})
	require.Nil(t, rows[1].(map[string]any)["oldestWriteAt"])
	for query, want := range map[string]int{"": 2, "?namespace=shop": 1, "?namespace=": 1, "?namespace=x": 0, "?limit=1": 1, "?queue=bare": 1} {
		require.Len(t, ts.document("/api/v1/analytics/partition-liveness" + query)["rows"], want, query)
	}

	postgres := ts.document("/api/v1/analytics/postgres-stats")
	require.NotEmpty(t, postgres["tableSizes"])
	require.LessOrEqual(t, len(postgres["tableSizes"].([]any)), 20)
}

// list decodes an answer that is a bare array.
func (ts *testServer) list(target string) (rows []map[string]any) {
	ts.t.Helper()
	r := ts.get(target)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	r.into(ts.t, &rows)
	return rows
}

func hoursAgo(n int) string {
	return time.Now().Add(-time.Duration(n) * time.Hour).UTC().Format(time.RFC3339)
}
