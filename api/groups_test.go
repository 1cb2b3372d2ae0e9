package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// popOne takes one message of queue q for a group and answers its lease.
func (ts *testServer) popOne(t *testing.T, target string) (lease, id, partition string) {
	t.Helper()
	r := ts.get(target)
	require.Equal(t, http.StatusOK, r.Status, "%s: %s", target, r.Body)
	var got PopResponse
	r.into(t, &got)
	require.NotEmpty(t, got.Messages)
	return got.LeaseID, got.Messages[0].TransactionID, got.Messages[0].PartitionID
}

func pushTo(ts *testServer, queue, partition string, ids ...string) {
	ts.t.Helper()
	items := make([]string, 0, len(ids))
	for _, id := range ids {
		items = append(items, `{"queue":`+quoted(queue)+`,"partition":`+quoted(partition)+`,"transactionId":`+quoted(id)+`,"payload":1}`)
	}
	require.Equal(ts.t, http.StatusCreated, ts.post("/api/v1/push", `{"items":[`+strings.Join(items, ",")+`]}`).Status)
}

// document is the whole answer of a route as a tree.
func document(t *testing.T, r reply, status int) any {
	t.Helper()
	require.Equal(t, status, r.Status, "%s", r.Body)
	var v any
	r.into(t, &v)
	return v
}

// http-api 4.7: every key and word of the documents about groups.
func TestConsumerGroupDocuments(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, []any{}, document(t, ts.get("/api/v1/consumer-groups"), 200))
	require.Equal(t, map[string]any{}, document(t, ts.get("/api/v1/consumer-groups/nobody"), 200))
	pushTo(ts, "q", "p", "a", "b")
	pushTo(ts, "q", "r", "c")
	lease, _, partition := ts.popOne(t, "/api/v1/pop/queue/q/partition/p?consumerGroup=g&subscriptionMode=all&batch=1")

	list := document(t, ts.get("/api/v1/consumer-groups"), 200).([]any)
	require.Equal(t, []any{map[string]any{
		"name": "g", "topics": []any{"q"}, "queueName": "q", "members": 1.0, "partitionCursors": 1.0, "partitionsWithLag": 1.0,
		"totalLag": 2.0, "maxTimeLag": 0.0, "state": "Dead", "storage": "segments", "subscriptionMode": nil, "subscriptionTimestamp": nil,
		"subscriptionCreatedAt": nil, "conflation": false,
	}}, zeroTimes(list), "pinned: not registered, one cursor")
	require.Equal(t, map[string]any{"q": map[string]any{"conflation": false, "partitions": []any{map[string]any{
		"partition": "p", "workerId": lease, "lastConsumedAt": nil, "totalConsumed": 0.0, "offsetLag": 2.0, "timeLagSeconds": 0.0, "leaseActive": true,
	}}}}, zeroTimes(document(t, ts.get("/api/v1/consumer-groups/g"), 200)))

	ts.post("/api/v1/ack", `{"transactionId":"a","partitionId":"`+partition+`","consumerGroup":"g","leaseId":"`+lease+`"}`)
	ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&partitions=0")
	registered := document(t, ts.get("/api/v1/consumer-groups"), 200).([]any)[0].(map[string]any)
	require.Equal(t, []any{"all", "1970-01-01T00:00:00.000Z", "Stable", 2.0, 2.0},
		[]any{registered["subscriptionMode"], registered["subscriptionTimestamp"], registered["state"], registered["totalLag"], registered["members"]})
	require.Equal(t, document(t, ts.get("/api/v1/resources/queues/q/depth?group=g"), 200).(map[string]any)["pending"], registered["totalLag"], "F123")

	// A lag in time comes from the stored stamp.
	ts.sql(`UPDATE queen.log_segments SET created_at = created_at - interval '90 minutes'`)
	require.Equal(t, "Lagging", document(t, ts.get("/api/v1/consumer-groups"), 200).([]any)[0].(map[string]any)["state"])
	lagging := document(t, ts.get("/api/v1/consumer-groups/lagging"), 200).([]any)
	require.Len(t, lagging, 2)
	row := lagging[0].(map[string]any)
	require.InDelta(t, 5400, row["time_lag_seconds"], 30)
	require.InDelta(t, 1.5, row["lag_hours"], 0.02)
	for key, want := range map[string]any{"consumer_group": "g", "queue_name": "q", "offset_lag": 1.0, "last_consumed_at": nil} {
		require.Equal(t, want, row[key], key)
	}
	require.Len(t, row, 10)
	require.Empty(t, document(t, ts.get("/api/v1/consumer-groups/lagging?minLagSeconds=7200"), 200))
	require.Empty(t, document(t, ts.get("/api/v1/consumer-groups/lagging?minLagSeconds=99999999999"), 200))
	for _, bad := range []string{"-1", "x", "1.5"} {
		require.Equal(t, "minLagSeconds", ts.get("/api/v1/consumer-groups/lagging?minLagSeconds="+bad).failure(t).Invalid, bad)
	}
}

// zeroTimes sets lags in seconds to 0, so that a slow machine fails nothing.
func zeroTimes[T any](tree T) T {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for key, e := range v {
				if key == "maxTimeLag" || key == "timeLagSeconds" {
					v[key] = 0.0
				}
				walk(e)
			}
		}
	}
	walk(tree)
	return tree
}

// seeks of a queue and of a partition, their answers and refusals.
func TestSeek(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const seekQ, seekP = "/api/v1/consumer-groups/g/queues/q/seek", "/api/v1/consumer-groups/g/queues/q/partitions/p/seek"
	missing := func(r reply, want map[string]any) {
		t.Helper()
		got := document(t, r, 404).(map[string]any)
		delete(got, "code")
		delete(got, "retryable")
		require.Equal(t, want, got)
	}
	nothing := map[string]any{"success": false, "error": "Queue not found or has no partitions", "consumerGroup": "g", "queueName": "q", "partitionsUpdated": 0.0}
	missing(ts.post(seekQ, `{"toEnd":true}`), nothing)
	ts.post("/api/v1/configure", `{"queue":"q"}`)
	missing(ts.post(seekQ, `{"timestamp":"2020-01-01T00:00:00Z"}`), nothing)
	missing(ts.post(seekP, `{"toEnd":true}`), map[string]any{"success": false, "error": "Partition not found"})

	pushTo(ts, "q", "p", "a", "b")
	for _, body := range []string{`{}`, `{"toEnd":false}`, `{"toEnd":null,"timestamp":null}`, `{"timestamp":""}`} {
		for _, target := range []string{seekQ, seekP} {
			e := ts.post(target, body)
			require.Equal(t, 400, e.Status)
			require.Equal(t, "Must specify toEnd=true or a timestamp", e.failure(t).Text, body)
		}
	}
	for body, field := range map[string]string{`{"timestamp":"whenever"}`: "timestamp", `{"timestamp":"infinity"}`: "timestamp", `{"timestamp":"2020-01-01\u0000"}`: "timestamp", `{"toEnd":"yes"}`: "", `{`: "", `[]`: ""} {
		e := ts.post(seekQ, body)
		require.Equal(t, 400, e.Status, body)
		require.Equal(t, field, e.failure(t).Invalid, body)
	}

	// The whole queue to the end: nothing is left, and a lease is gone.
	lease, id, partition := ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&batch=1")
	require.Equal(t, map[string]any{"success": true, "consumerGroup": "g", "queueName": "q", "seekToEnd": true, "targetTimestamp": nil, "partitionsUpdated": 1.0},
		document(t, ts.post(seekQ, `{"toEnd":true}`), 200))
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=g").Status)
	late := ts.post("/api/v1/ack", `{"transactionId":"`+id+`","partitionId":"`+partition+`","consumerGroup":"g","leaseId":"`+lease+`"}`)
	require.Contains(t, string(late.Body), "invalid or expired lease", "F058: a late ack of a lease that a seek ended")

	// Back to a time, and one partition.
	require.Equal(t, map[string]any{"success": true, "consumerGroup": "g", "queueName": "q", "seekToEnd": false, "targetTimestamp": "2020-01-01T00:00:00.000Z", "partitionsUpdated": 1.0},
		document(t, ts.post(seekQ, `{"timestamp":"2020-01-01T01:00:00+01:00"}`), 200))
	_, id, _ = ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g&batch=1")
	require.Equal(t, "a", id)
	want := map[string]any{"success": true, "consumerGroup": "g", "queueName": "q", "partitionName": "p", "seekToEnd": true, "targetTimestamp": nil, "updated": true}
	require.Equal(t, want, document(t, ts.post(seekP, ""), 200), "no body is the end")
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=g").Status)
	want["seekToEnd"], want["targetTimestamp"] = false, "2020-01-01T00:00:00.000Z"
	require.Equal(t, want, document(t, ts.post(seekP, `{"timestamp":"2020-01-01"}`), 200))
	_, id, _ = ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g&batch=1")
	require.Equal(t, "a", id)
	// A group that never popped gets its cursor.
	document(t, ts.post("/api/v1/consumer-groups/h/queues/q/seek", `{"toEnd":true}`), 200)
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=h&subscriptionMode=all").Status)
}

// http-api 4.7: the subscription of partitions that are not touched yet; both
// forms of delete, with and without the registration.
func TestSubscriptionAndDelete(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const sub, group = "/api/v1/consumer-groups/g/subscription", "/api/v1/consumer-groups/g"
	for body, field := range map[string]string{`{}`: "subscriptionTimestamp", `{"subscriptionTimestamp":""}`: "subscriptionTimestamp", `{"subscriptionTimestamp":null}`: "subscriptionTimestamp",
		`{"subscriptionTimestamp":"soon"}`: "subscriptionTimestamp", `{"subscriptionTimestamp":5}`: "", `nonsense`: ""} {
		e := ts.post(sub, body)
		require.Equal(t, 400, e.Status, body)
		require.Equal(t, field, e.failure(t).Invalid, body)
	}
	require.Equal(t, map[string]any{"success": true, "consumerGroup": "g", "newTimestamp": "2030-01-01T00:00:00.000Z", "rowsUpdated": 0.0},
		document(t, ts.post(sub, `{"subscriptionTimestamp":"2030-01-01"}`), 200), "never popped")
	require.Equal(t, map[string]any{"success": true, "consumerGroup": "g", "deletedPartitions": 0.0, "metadataDeleted": true}, document(t, ts.send("DELETE", group, ""), 200))

	pushTo(ts, "q", "p", "a")
	pushTo(ts, "other", "p", "x")
	for _, queue := range []string{"q", "other"} {
		require.Equal(t, 204, ts.get("/api/v1/pop/queue/"+queue+"?consumerGroup=g&subscriptionMode=new").Status)
	}
	require.Equal(t, 2.0, document(t, ts.post(sub, `{"subscriptionTimestamp":"2030-01-01"}`), 200).(map[string]any)["rowsUpdated"])
	pushTo(ts, "q", "late", "b")
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all").Status, "O-16: a late partition begins at the stored time")
	pushTo(ts, "q", "p", "c")
	_, id, _ := ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g")
	require.Equal(t, "c", id, "no cursor moved")

	// Kept registration: its time decides again. Here it is in the future, so all cursors are at the head.
	require.Equal(t, map[string]any{"success": true, "consumerGroup": "g", "queueName": "q", "deletedPartitions": 2.0, "metadataDeleted": false},
		document(t, ts.send("DELETE", group+"/queues/q?deleteMetadata=no", ""), 200))
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&partitions=0").Status)
	require.Equal(t, 3.0, document(t, ts.send("DELETE", group, ""), 200).(map[string]any)["deletedPartitions"], "two of q, one of other")
	_, id, _ = ts.popOne(t, "/api/v1/pop/queue/q/partition/p?consumerGroup=g&subscriptionMode=all")
	require.Equal(t, "a", id, "a new group replays")
	require.Equal(t, 0.0, document(t, ts.send("DELETE", group+"/queues/nowhere", ""), 200).(map[string]any)["deletedPartitions"])
	require.Equal(t, "deleteMetadata", ts.send("DELETE", group+"?deleteMetadata=maybe", "").failure(t).Invalid)
	for _, target := range []string{group, group + "/queues/q"} {
		bad := strings.Replace(target, "/g", "/g%00", 1)
		require.Equal(t, 400, ts.send("DELETE", bad, "").Status)
	}
}

// F035, W-26: a group at new that is deleted but keeps its registration does not
// get what was there before it subscribed.
func TestDeletedGroupKeepsItsInstant(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	pushTo(ts, "q", "p", "old")
	require.Equal(t, 204, ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=new").Status)
	pushTo(ts, "q", "p", "fresh")
	_, id, _ := ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g")
	require.Equal(t, "fresh", id)
	document(t, ts.send("DELETE", "/api/v1/consumer-groups/g?deleteMetadata=false", ""), 200)
	_, id, _ = ts.popOne(t, "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all")
	require.Equal(t, "fresh", id, "since the subscription, not all")
}

// O-5: pop by labels: over several queues under one lease, each leased for its
// own queue's time.
func TestPopDiscovery(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	refused := document(t, ts.get("/api/v1/pop?consumerGroup=g"), 400).(map[string]any)
	require.Equal(t, []any{false, "namespace or task is required", []any{}}, []any{refused["success"], refused["error"], refused["messages"]})
	require.Equal(t, 400, ts.get("/api/v1/pop?namespace=&task=").Status)
	require.Equal(t, 400, ts.get("/api/v1/pop?namespace=a%00b").Status)
	require.Equal(t, 405, ts.send("HEAD", "/api/v1/pop?namespace=shop", "").Status)
	require.Equal(t, 204, ts.get("/api/v1/pop?namespace=nowhere").Status, "makes no queue")

	ts.post("/api/v1/configure", `{"queue":"one","options":{"namespace":"shop","task":"mail","leaseTime":1000}}`)
	ts.post("/api/v1/configure", `{"queue":"two","options":{"namespace":"shop","task":"print","leaseTime":2000}}`)
	ts.post("/api/v1/configure", `{"queue":"three","options":{"namespace":"lab","task":"mail"}}`)
	for _, queue := range []string{"one", "two", "three"} {
		pushTo(ts, queue, "p", queue+"-1", queue+"-2")
	}
	take := func(query string) (got PopResponse, ids []string) {
		t.Helper()
		r := ts.get("/api/v1/pop?" + query)
		if r.Status == 204 {
			return got, nil
		}
		require.Equal(t, 200, r.Status, "%s", r.Body)
		r.into(t, &got)
		for _, m := range got.Messages {
			require.Equal(t, got.LeaseID, m.LeaseID)
			ids = append(ids, m.TransactionID)
		}
		return got, ids
	}
	got, ids := take("namespace=shop&consumerGroup=g&subscriptionMode=all&partitions=0")
	require.ElementsMatch(t, []string{"one-1", "one-2", "two-1", "two-2"}, ids)
	require.Equal(t, "", got.Queue)
	require.Equal(t, 2, got.PartitionsClaimed)
	var short, long int
	require.NoError(t, ts.db.Pool.QueryRow(context.Background(), `SELECT
		extract(epoch FROM min(lease_expires_at) - clock_timestamp())::int, extract(epoch FROM max(lease_expires_at) - clock_timestamp())::int FROM queen.log_consumers WHERE worker_id IS NOT NULL`).Scan(&short, &long))
	require.InDelta(t, 1000, short, 60, "O-5: the queue's own lease time")
	require.InDelta(t, 2000, long, 60)
	_, ids = take("namespace=shop&consumerGroup=g")
	require.Empty(t, ids, "all leased")
	_, ids = take("task=mail&consumerGroup=g&subscriptionMode=all")
	require.Equal(t, []string{"three-1", "three-2"}, ids, "what is leased is passed over")
	_, ids = take("namespace=lab&task=print&consumerGroup=g")
	require.Empty(t, ids, "both labels")
	_, ids = take("namespace=shop&task=print&consumerGroup=h&subscriptionMode=all&batch=1&leaseSeconds=5")
	require.Equal(t, []string{"two-1"}, ids)
	_, ids = take("namespace=shop&consumerGroup=late&subscriptionMode=new")
	require.Empty(t, ids, "registered at new on both")
	require.Len(t, document(t, ts.get("/api/v1/consumer-groups"), 200), 6)
	got, ids = take("namespace=lab&autoAck=true")
	require.Equal(t, []any{"", 2}, []any{got.LeaseID, len(ids)}, "queue mode, committed")
	renewed := ts.post("/api/v1/lease/"+firstLease(t, ts)+"/extend", `{"seconds":3000}`)
	require.Contains(t, string(renewed.Body), `"renewed":2`, "one lease over two queues")
}

func firstLease(t *testing.T, ts *testServer) (id string) {
	t.Helper()
	require.NoError(t, ts.db.Pool.QueryRow(context.Background(), `SELECT lease_id FROM queen.log_lease_members`).Scan(&id))
	return id
}

// O-49, O-51, 3.2.5: pops that wait are woken by a push to any queue with their
// labels, by a seek, and when a group is deleted.
func TestWaitersAreMoved(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.post("/api/v1/configure", `{"queue":"one","options":{"namespace":"shop"}}`)
	pushTo(ts, "q", "p", "a")
	ts.post("/api/v1/consumer-groups/g/queues/q/seek", `{"toEnd":true}`)
	waiting := func(target string) <-chan reply {
		out := make(chan reply, 1)
		before := len(ts.room.overdue(time.Now().Add(time.Hour)))
		go func() {
			r, _ := ts.try(context.Background(), "GET", target, "")
			out <- r
		}()
		require.Eventually(t, func() bool { return len(ts.room.overdue(time.Now().Add(time.Hour))) > before }, 10*time.Second, time.Millisecond)
		return out
	}
	delivered := func(c <-chan reply, id string) {
		t.Helper()
		select {
		case r := <-c:
			require.Equal(t, 200, r.Status, "%s", r.Body)
			require.Contains(t, string(r.Body), `"transactionId":"`+id+`"`)
		case <-time.After(20 * time.Second):
			t.Fatal("not woken")
		}
	}
	found := waiting("/api/v1/pop?namespace=shop&wait=true&timeout=60000&consumerGroup=d&subscriptionMode=new")
	registered := func(want int) {
		t.Helper()
		require.Eventually(t, func() bool {
			var n int
			require.NoError(t, ts.db.Pool.QueryRow(context.Background(), "SELECT count(*) FROM queen.consumer_groups_metadata WHERE consumer_group = 'd'").Scan(&n))
			return n == want
		}, 10*time.Second, 5*time.Millisecond, "O-51: registered before the data")
	}
	registered(1)
	pushTo(ts, "one", "p", "x")
	delivered(found, "x")
	sought := waiting("/api/v1/pop/queue/q?wait=true&timeout=60000&consumerGroup=g")
	require.Equal(t, 200, ts.post("/api/v1/consumer-groups/g/queues/q/seek", `{"timestamp":"2020-01-01"}`).Status)
	delivered(sought, "a")
	again := waiting("/api/v1/pop/queue/q?wait=true&timeout=60000&consumerGroup=g&subscriptionMode=all")
	require.Equal(t, 200, ts.send("DELETE", "/api/v1/consumer-groups/g", "").Status)
	delivered(again, "a")
	// A queue that is made while a group at new waits for it counts from the beginning of the wait.
	ts.post("/api/v1/configure", `{"queue":"fresh.there","options":{"namespace":"fresh"}}`)
	fresh := waiting("/api/v1/pop?namespace=fresh&wait=true&timeout=60000&consumerGroup=d&subscriptionMode=new")
	registered(2)
	pushTo(ts, "fresh.made", "p", "first")
	delivered(fresh, "first")
	// The watcher finds what nobody told of.
	psql := waiting("/api/v1/pop?namespace=shop&wait=true&timeout=60000&consumerGroup=d")
	ts.sql(`SELECT queen.push_v1('one', '1', 'other', 'y')`)
	delivered(psql, "y")
}

// F159: names of groups, queues and partitions with every odd character.
func TestGroupNamesInPaths(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const odd = "a/b %?#ü"
	const path = "a%2Fb%20%25%3F%23%C3%BC"
	pushTo(ts, odd, odd, "a")
	got := document(t, ts.post("/api/v1/consumer-groups/"+path+"/queues/"+path+"/partitions/"+path+"/seek", ""), 200).(map[string]any)
	require.Equal(t, []any{odd, odd, odd}, []any{got["consumerGroup"], got["queueName"], got["partitionName"]})
	detail := document(t, ts.get("/api/v1/consumer-groups/"+path), 200).(map[string]any)
	require.Contains(t, detail, odd)
	require.Equal(t, 1.0, document(t, ts.send("DELETE", "/api/v1/consumer-groups/"+path+"/queues/"+path, ""), 200).(map[string]any)["deletedPartitions"])
	// A group may be called like the literal segment, but for reading it.
	document(t, ts.post("/api/v1/consumer-groups/lagging/queues/"+path+"/seek", `{"toEnd":true}`), 200)
}
