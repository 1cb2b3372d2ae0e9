package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// kill pushes one message and dead-letters it for a group.
func (ts *testServer) kill(queue, partition, txn, payload, group, reason string) DeadLetter {
	ts.t.Helper()
	ts.push(fmt.Sprintf(`{"items":[{"queue":%q,"partition":%q,"transactionId":%q,"payload":%s}]}`, queue, partition, txn, payload))
	ts.giveUp(queue, group, reason)
	return ts.deadLetters("queue=" + url.QueryEscape(queue)).Messages[0]
}

// giveUp takes the next message for a group and dead-letters it.
func (ts *testServer) giveUp(queue, group, reason string) {
	ts.t.Helper()
	got := ts.pop(queue, "batch=1&subscriptionMode=all&consumerGroup="+url.QueryEscape(group))
	require.Len(ts.t, got.Messages, 1)
	m := got.Messages[0]
	v := ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":%q,"status":"dlq","error":%q}`, m.TransactionID, m.PartitionID, m.LeaseID, group, reason))
	require.True(ts.t, v.DLQ)
}

func (ts *testServer) deadLetters(query string) DeadLetterList {
	ts.t.Helper()
	r := ts.get("/api/v1/dlq?" + query)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var list DeadLetterList
	r.into(ts.t, &list)
	require.Equal(ts.t, len(list.Messages), list.Total)
	return list
}

func (ts *testServer) replay(target, body string) (ReplayResponse, reply) {
	ts.t.Helper()
	r := ts.post(target, body)
	var got ReplayResponse
	if r.Status == http.StatusOK {
		r.into(ts.t, &got)
	}
	return got, r
}

func TestDeadLettersAreListedAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, `{"messages":[],"pagination":{"limit":100,"offset":0},"total":0}`, string(ts.get("/api/v1/dlq").Body))
	ts.kill("q", "p", "t/1", `{"z":1, "a":1.50,"u":"\u0000"}`, "g", "boom \"1\"")
	r := ts.get("/api/v1/dlq?partition=ignored&from=x&to=y")
	require.Contains(t, string(r.Body), `"data":{"z":1, "a":1.50,"u":"\u0000"}`, "as sent, byte for byte")
	var raw struct{ Messages []map[string]any }
	r.into(t, &raw)
	m := raw.Messages[0]
	for _, key := range []string{"id", "partitionId", "createdAt", "failedAt", "data"} {
		require.NotEmpty(t, m[key], key)
	}
	require.Equal(t, m["failedAt"], m["createdAt"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, m["failedAt"], "milliseconds")
	for _, key := range []string{"id", "partitionId", "createdAt", "failedAt", "data"} {
		delete(m, key)
	}
	require.Equal(t, map[string]any{"transactionId": "t/1", "queue": "q", "partition": "p", "consumerGroup": "g", "errorMessage": `boom "1"`, "retryCount": 0.0, "producerSub": nil}, m)

	ts.kill("q", "p", "t2", `2`, "g", "x")
	ts.kill("r", "p", "t3", `{"encrypted":"e","iv":"i","authTag":"a","kid":"k"}`, "h", "x")
	ids := func(query string) (out []string) {
		for _, m := range ts.deadLetters(query).Messages {
			out = append(out, m.TransactionID)
		}
		return out
	}
	require.Equal(t, []string{"t3", "t2", "t/1"}, ids(""))
	require.Equal(t, []string{"t2", "t/1"}, ids("queue=q"))
	require.Equal(t, []string{"t3"}, ids("consumerGroup=h"))
	require.Empty(t, ids("queue=r&consumerGroup=g"))
	require.Equal(t, []string{"t2"}, ids("limit=1&offset=1"))
	require.Equal(t, Pagination{Limit: 1000, Offset: 5}, ts.deadLetters("limit=100000&offset=5").Pagination, "a page has an end")
	require.True(t, ts.deadLetters("queue=r").Messages[0].IsEncrypted)
	require.NotContains(t, string(ts.get("/api/v1/dlq?queue=q").Body), "isEncrypted")
	for _, query := range []string{"limit=-1", "offset=-1", "limit=x", "queue=%00", "consumerGroup=" + strings.Repeat("x", 256)} {
		require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/dlq?"+query).Status, query)
	}
}

func TestDeadLettersOfAQueueAreDeleted(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.kill("q", "p", "a", `1`, "g", "x")
	ts.giveUp("q", "h", "x")
	ts.kill("r", "p", "b", `1`, "g", "x")
	del := func(query string) reply { return ts.send("DELETE", "/api/v1/dlq"+query, "") }
	for _, query := range []string{"", "?queue=", "?consumerGroup=g"} {
		r := del(query)
		require.Equal(t, http.StatusBadRequest, r.Status)
		require.Equal(t, "queue is required", r.failure(t).Text)
	}
	require.JSONEq(t, `{"success":true,"deleted":1,"queue":"q","consumerGroup":"h"}`, string(del("?queue=q&consumerGroup=h").Body))
	require.JSONEq(t, `{"success":true,"deleted":1,"queue":"q"}`, string(del("?queue=q").Body))
	require.JSONEq(t, `{"success":true,"deleted":0,"queue":"q"}`, string(del("?queue=q").Body), "zero matches is 200")
	require.Equal(t, 1, ts.count("SELECT count(*) FROM queen.log_dlq"), "nobody else's")
	require.Equal(t, 1, len(ts.pop("q", "batch=9&consumerGroup=new&subscriptionMode=all").Messages), "the log is not touched")

	// More than a step.
	ts.sql(`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload)
		SELECT p.id, 'g', n, gen_random_uuid(), n::text, '1' FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.name = 'q', generate_series(1, 20001) n`)
	require.JSONEq(t, `{"success":true,"deleted":20001,"queue":"q"}`, string(del("?queue=q").Body))
}

func TestReplayMovesADeadLetter_F071(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"dedupWindowSeconds":3600}}`)
	letter := ts.kill("q", "p", "t1", `{"n": 1}`, "g", "boom")
	got, r := ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	offset := int64(1)
	require.NotEqual(t, strings.Repeat("0", 8), got.ReplayedAs.MessageID[:8])
	require.Equal(t, ReplayResponse{Success: true, Result: "moved", Queue: "q", Partition: "p", ConsumerGroup: "g", DlqID: letter.ID, OriginalTransactionID: "t1", DlqRowRemoved: true,
		ReplayedAs: ReplayedAs{MessageID: got.ReplayedAs.MessageID, TransactionID: "dlq:" + letter.ID, QueueName: "q", Status: "queued", Offset: &offset}}, got)
	popped := ts.pop("q", "batch=9&consumerGroup=g")
	require.Len(t, popped.Messages, 1)
	require.Equal(t, []string{got.ReplayedAs.MessageID, "dlq:" + letter.ID}, []string{popped.Messages[0].ID, popped.Messages[0].TransactionID}, "F071: it really reappears")
	ts.ackAll(popped, "completed")

	_, r = ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusNotFound, r.Status, "F071: once")
	require.Equal(t, "gone", parsed(t, string(r.Body))["result"])
	for _, id := range []string{"x", "00000000-0000-0000-0000-000000000000", strings.ReplaceAll(letter.ID, "-", ""), "%00"} {
		_, r = ts.replay("/api/v1/dlq/"+id+"/replay", "")
		require.Equal(t, http.StatusNotFound, r.Status, id)
	}
}

// A trace id and who pushed go with the message, from the log to the dead letter
// and back; the list has no key for either.
func TestReplayKeepsWhatTheMessageCarried(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const trace = "01890a5d-ac96-7000-8000-0000002dd000"
	ts.sql(`SELECT queen.log_push_v1('{q}', '{p}', '{1}', $1, '{t1}', '{k}', p_trace_ids => $2, p_producer_subs => '{ann}')`, []string{`{"b":1, "b":2}`}, []string{trace})
	ts.giveUp("q", "g", "boom")
	r := ts.get("/api/v1/dlq")
	require.Contains(t, string(r.Body), `"producerSub":null`)
	require.NotContains(t, string(r.Body), "traceId")
	_, r = ts.replay("/api/v1/messages/"+ts.deadLetters("").Messages[0].PartitionID+"/t1/retry", "")
	require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	r = ts.get("/api/v1/pop/queue/q?batch=9&consumerGroup=g")
	require.Contains(t, string(r.Body), `"data":{"b":1, "b":2}`, "byte for byte")
	var popped PopResponse
	r.into(t, &popped)
	require.Len(t, popped.Messages, 1)
	require.Equal(t, []string{trace, "ann"}, []string{*popped.Messages[0].TraceID, *popped.Messages[0].ProducerSub})
}

func TestReplayThatStoresNothingKeepsTheDeadLetter_F071(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	letter := ts.kill("q", "p", "t1", `1`, "g", "boom")
	ts.push(`{"items":[{"queue":"q","partition":"p","transactionId":"dlq:` + letter.ID + `","payload":2}]}`)
	got, _ := ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "{}")
	require.Equal(t, []any{true, "duplicate", false, "duplicate", "00000000-0000-0000-0000-000000000000"}, []any{got.Success, got.Result, got.DlqRowRemoved, got.ReplayedAs.Status, got.ReplayedAs.MessageID})
	require.Len(t, ts.deadLetters("").Messages, 1)

	lost := func(what string, change string) {
		ts.sql(change)
		r := ts.post("/api/v1/dlq/"+letter.ID+"/replay", "")
		require.Equal(t, http.StatusInternalServerError, r.Status, what)
		require.Equal(t, "QN409", r.failure(t).Code, what)
		require.Equal(t, false, parsed(t, string(r.Body))["dlqRowRemoved"], what)
		require.Contains(t, r.failure(t).Text, what)
	}
	lost("payload is lost", "UPDATE queen.queues SET encryption_enabled = true; UPDATE queen.log_dlq SET payload = NULL")
	lost("damaged", "UPDATE queen.log_dlq SET payload = '{'")
	lost("damaged", "UPDATE queen.log_dlq SET payload = '{'; UPDATE queen.queues SET encryption_enabled = false")
	require.Len(t, ts.deadLetters("").Messages, 1)
	require.Equal(t, 2, ts.count("SELECT count(*) FROM queen.log_segments"))

	for _, body := range []string{`{"queue":" "}`, `{"partition":""}`, `{"queue":1}`, `[]`, `{`, `{"queue":"a\u0000"}`, `{"queue":"` + strings.Repeat("x", 256) + `"}`} {
		require.Equal(t, http.StatusBadRequest, ts.post("/api/v1/dlq/"+letter.ID+"/replay", body).Status, body)
	}
	require.Len(t, ts.deadLetters("").Messages, 1)
}

func TestReplayGoesWhereItIsSent(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for body, want := range map[string][2]string{
		`null`:                                 {"q", "p"},
		`{"queue":null,"partition":null}`:      {"q", "p"},
		`{"queue":" other "}`:                  {"other", "p"},
		`{"partition":"side"}`:                 {"q", "side"},
		`{"queue":"x/y","partition":"  Z\t"}`:  {"x/y", "Z"},
		`{"queue":"other","unknown":{"a":[]}}`: {"other", "p"},
	} {
		letter := ts.kill("q", "p", body, `1`, "g", "boom")
		got, r := ts.replay("/api/v1/dlq/"+letter.ID+"/replay", body)
		require.Equal(t, http.StatusOK, r.Status, "%s: %s", body, r.Body)
		require.Equal(t, want, [2]string{got.Queue, got.Partition}, body)
		require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.read_v1($1, $2, 0) r WHERE r.transaction_id = $3`, want[0], want[1], "dlq:"+letter.ID), body)
		ts.ackAll(ts.pop("q", "batch=9&consumerGroup=g&partitions=9"), "completed")
	}
}

func TestReplayWakesAParkedPop_F045(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	letter := ts.kill("q", "p", "t1", `1`, "g", "boom")
	for _, target := range []string{"/api/v1/pop/queue/q?wait=true&timeout=60000&consumerGroup=g", "/api/v1/pop/queue/new?wait=true&timeout=60000&consumerGroup=g&subscriptionMode=all"} {
		later := ts.popLater(target)
		ts.parked(1)
		body := ""
		if strings.Contains(target, "new") {
			body = `{"queue":"new"}`
		}
		_, r := ts.replay("/api/v1/dlq/"+letter.ID+"/replay", body)
		require.Equal(t, http.StatusOK, r.Status)
		got := <-later
		require.NoError(t, got.err)
		require.Equal(t, http.StatusOK, got.Status)
		require.Less(t, got.took, 30*time.Second, "long before its end")
		if body == "" {
			letter = ts.kill("q", "p", "t2", `1`, "h", "boom")
		}
	}
}

func TestReplayWhileSomethingHoldsThePartition(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout = 200 * time.Millisecond })
	letter := ts.kill("q", "p", "t1", `1`, "g", "boom")
	ts.sql("ALTER FUNCTION queen.replay_dead_letter_v1(uuid, text, text, uuid, text) SET lock_timeout = '200ms'")
	release := ts.holdPartition("q", "p")
	r := ts.post("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	require.Equal(t, false, parsed(t, string(r.Body))["dlqRowRemoved"], "refused and safe to repeat")
	release()
	_, r = ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusOK, r.Status)
}

// The commit may or may not have happened: the answer says so, and asking again tells.
func TestReplayWithoutAnAnswerOfTheDatabase(t *testing.T) {
	t.Parallel()
	ts := newTestServerOn(t, dbtest.New(t))
	letter := ts.kill("q", "p", "t1", `1`, "g", "boom")
	release := ts.holdPartition("q", "p")
	answer := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/dlq/"+letter.ID+"/replay", "")
		answer <- r
	}()
	waits := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent' AND wait_event_type = 'Lock'`
	require.Eventually(t, func() bool { return ts.count(waits) == 1 }, 20*time.Second, 5*time.Millisecond)
	ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent' AND wait_event_type = 'Lock'`)
	r := <-answer
	require.Equal(t, http.StatusInternalServerError, r.Status, "%s", r.Body)
	require.Nil(t, parsed(t, string(r.Body))["dlqRowRemoved"])
	release()
	_, r = ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusOK, r.Status, "it had not happened")
}

func TestDeadLettersOfOneMessage(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.kill("q", "p", "a/b é", `1`, "g", "x")
	ts.giveUp("q", "h", "x")
	target := "/api/v1/messages/" + first.PartitionID + "/" + url.PathEscape("a/b é")
	got, r := ts.replay(target+"/retry", "")
	require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	require.Equal(t, []any{"moved", "h", "a/b é", true}, []any{got.Result, got.ConsumerGroup, got.OriginalTransactionID, got.DlqRowRemoved}, "the newest")
	r = ts.send("DELETE", target, "")
	require.Equal(t, http.StatusOK, r.Status)
	require.Equal(t, map[string]any{"success": true, "partitionId": first.PartitionID, "transactionId": "a/b é", "message": "dead letters deleted: 1"}, parsed(t, string(r.Body)))
	require.Empty(t, ts.deadLetters("").Messages)
	for _, call := range [][2]string{{"DELETE", target}, {"POST", target + "/retry"}, {"DELETE", "/api/v1/messages/x/y"}, {"POST", "/api/v1/messages/x/y/retry"},
		{"DELETE", "/api/v1/messages/" + first.PartitionID + "/%00"}, {"POST", "/api/v1/messages/00000000-0000-0000-0000-000000000009/y/retry"}} {
		r = ts.send(call[0], call[1], "")
		require.Equal(t, http.StatusNotFound, r.Status, "%v", call)
		body := parsed(t, string(r.Body))
		require.Equal(t, []any{false, "Message not found"}, []any{body["success"], body["error"]})
		require.NotEmpty(t, body["message"])
	}
}

// refused while pushes are paused, and nothing happens.
func TestReplayInPushMaintenance(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	letter := ts.kill("q", "p", "t1", `1`, "g", "boom")
	ts.sql(`INSERT INTO queen.system_state (key, value) VALUES ('maintenance_mode', '{"enabled": true}')`)
	for _, target := range []string{"/api/v1/dlq/" + letter.ID + "/replay", "/api/v1/messages/" + letter.PartitionID + "/t1/retry"} {
		r := ts.post(target, "")
		require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
		require.Equal(t, []any{"maintenance", false, "QN503"}, []any{parsed(t, string(r.Body))["result"], parsed(t, string(r.Body))["dlqRowRemoved"], r.failure(t).Code})
	}
	_, err := ts.db.Pool.Exec(context.Background(), "SELECT queen.redrive_dead_letters_step_v1()")
	require.Equal(t, "QN503", sqlstate(err))
	require.Equal(t, 1, ts.count("SELECT count(*) FROM queen.redrive_dead_letters_step_v1(p_dry_run => true) WHERE result = 'movable'"))
	require.Len(t, ts.deadLetters("").Messages, 1)
	ts.sql("DELETE FROM queen.system_state")
	_, r := ts.replay("/api/v1/dlq/"+letter.ID+"/replay", "")
	require.Equal(t, http.StatusOK, r.Status)
}
