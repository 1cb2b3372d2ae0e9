package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// optionValues is every option with a value that is not its default.
const optionValues = `{"namespace":"n","task":"t","priority":9,"leaseTime":5,"retryLimit":7,"retryDelay":8,"maxSize":11,"ttl":12,
	"deadLetterQueue":false,"dlqAfterMaxRetries":false,"delayedProcessing":13,"windowBuffer":14,"retentionSeconds":15,
	"completedRetentionSeconds":16,"retentionEnabled":true,"encryptionEnabled":true,"maxWaitTimeSeconds":17,
	"minPopWaitTime":18,"dedupWindowSeconds":19,"retentionSinkHold":"s3.a_b-C","retentionSinkHoldMaxSeconds":60,
	"deadLetterRetentionSeconds":20,"retentionBytes":5000000000,"retentionMessages":6000000000,"cleanupPolicy":"compact,delete",
	"deleteRetentionSeconds":0,"minCompactionLagSeconds":21,"groupIdleSeconds":300}`

const optionDefaults = `{"namespace":"","task":"","priority":0,"leaseTime":300,"retryLimit":3,"retryDelay":1000,"maxSize":0,"ttl":3600,
	"deadLetterQueue":true,"dlqAfterMaxRetries":true,"delayedProcessing":0,"windowBuffer":0,"retentionSeconds":0,
	"completedRetentionSeconds":0,"retentionEnabled":false,"encryptionEnabled":false,"maxWaitTimeSeconds":0,
	"minPopWaitTime":0,"dedupWindowSeconds":3600,"retentionSinkHold":"","retentionSinkHoldMaxSeconds":604800}`

func (ts *testServer) configure(body string) ConfigureResponse {
	ts.t.Helper()
	r := ts.post("/api/v1/configure", body)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got ConfigureResponse
	r.into(ts.t, &got)
	return got
}

// options reads the 21 options of a queue as raw JSON values.
func (ts *testServer) options(queue string) map[string]any {
	ts.t.Helper()
	r := ts.get("/api/v1/resources/queues/" + queue)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got struct{ Options map[string]any }
	r.into(ts.t, &got)
	return got.Options
}

func parsed(t testing.TB, document string) map[string]any {
	t.Helper()
	var value map[string]any
	require.NoError(t, json.Unmarshal([]byte(document), &value))
	return value
}

func TestConfigureCreatesFromDefaults_C12(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)

	r := ts.post("/api/v1/configure", `{"queue":"orders"}`)

	require.Equal(t, http.StatusOK, r.Status)
	got := parsed(t, string(r.Body))
	require.Contains(t, got, "partitionId")
	require.Nil(t, got["partitionId"])
	require.Len(t, got["options"], 19)
	want := parsed(t, optionDefaults)
	require.Equal(t, want, ts.options("orders"))
	delete(want, "namespace")
	delete(want, "task")
	require.Equal(t, want, got["options"])
	delete(got, "options")
	delete(got, "queueId")
	require.Equal(t, map[string]any{
		"configured": true, "partitionId": nil, "queue": "orders", "namespace": "", "task": "", "storage": "segments",
	}, got)
}

func TestConfigureMergesUnlessToldToReplace_F133_F134(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	full := parsed(t, optionValues)
	ts.configure(`{"queue":"q","options":` + optionValues + `}`)
	require.Equal(t, full, ts.options("q"), "C-1, C-20")

	ts.configure(`{"queue":"q","options":{"leaseTime":60}}`)
	full["leaseTime"] = 60.0
	require.Equal(t, full, ts.options("q"), "C-1: the rest is kept")
	ts.configure(`{"queue":"q","leaseTime":0}`)
	full["leaseTime"] = 0.0
	require.Equal(t, full, ts.options("q"), "C-5: options at the top level; zero is a value")
	ts.configure(`{"queue":"q","options":{"leaseTime":null,"retentionEnabled":null,"retentionSinkHold":null},"mode":null}`)
	full["leaseTime"], full["retentionEnabled"], full["retentionSinkHold"] = 300.0, false, ""
	require.Equal(t, full, ts.options("q"), "C-1: null is the default")
	ts.configure(`{"queue":"q","options":{}}`)
	ts.configure(`{"queue":"q"}`)
	require.Equal(t, full, ts.options("q"), "C-9")
	ts.configure(`{"queue":"q","mode":"replace","options":{"ttl":1,"replace":false}}`)
	want := parsed(t, optionDefaults)
	want["ttl"] = 1.0
	require.Equal(t, want, ts.options("q"), "C-1, C-4")
	body, err := json.Marshal(map[string]any{"queue": "copy", "options": full})
	require.NoError(t, err)
	ts.configure(string(body))
	require.Equal(t, full, ts.options("copy"), "C-20: what is shown can be sent back")
}

func TestConfigureBuildsTheBag_C5(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, c := range []struct{ name, body, namespace, task string }{
		{"top-level labels join nested options", `{"queue":"q","namespace":"a","task":"b","options":{"ttl":1}}`, "a", "b"},
		{"nested labels win", `{"queue":"q","namespace":"a","task":"b","options":{"namespace":"c","task":""}}`, "c", ""},
		{"null and empty beside options are absent", `{"queue":"q","namespace":null,"task":"","options":{"ttl":2}}`, "c", ""},
		{"nested null is the default", `{"queue":"q","namespace":null,"options":{"namespace":null}}`, "", ""},
		{"flat", `{"queue":"q","namespace":"d","task":"e","ttl":3}`, "d", "e"},
		{"options that is no object", `{"queue":"q","options":null,"namespace":"f"}`, "f", "e"},
		{"options that is an array", `{"queue":"q","options":[1],"task":"g"}`, "f", "g"},
		{"a label of a wrong type beside options", `{"queue":"q","namespace":5,"options":{}}`, "f", "g"},
	} {
		got := ts.configure(c.body)
		require.Equal(t, c.namespace, got.Namespace, c.name)
		require.Equal(t, c.task, got.Task, c.name)
	}
	before := ts.options("q")
	ts.configure(`{"queue":"q","ttl":99,"leaseTime":98,"options":{"priority":1}}`)
	before["priority"] = 1.0
	require.Equal(t, before, ts.options("q"), "beside an options object other top-level keys are not options")
}

func TestConfigureIgnoresWhatItDoesNotKnow_F135(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":` + optionValues + `}`)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)

	for _, bag := range []string{
		`{"leasetime":1}`, `{"LEASETIME":1}`, `{"retentionSecond":1}`, `{"unknown":{"leaseTime":1}}`,
		`{"deep":` + deep + `}`, `{"nested nul":["\u0000"]}`, `{"huge":1e300}`, `{"beyond numeric":1e999999}`, `{"too fine":1e-999999}`,
	} {
		ts.configure(`{"queue":"q","options":` + bag + `}`)
	}

	require.Equal(t, parsed(t, optionValues), ts.options("q"))
	for _, body := range []string{`{"Queue":"q"}`, `{"QUEUE":"q"}`} {
		r := ts.post("/api/v1/configure", body)
		require.Equal(t, http.StatusBadRequest, r.Status, "keys are exact")
	}
}

func TestConfigureRefusals_F135_F137_F141(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"leaseTime":77}}`)
	before := ts.options("q")
	for _, c := range []struct{ body, text, invalid string }{
		{``, "", ""},
		{`{`, "bad body: ", ""},
		{`null`, "bad body: ", ""},
		{`[]`, "bad body: ", ""},
		{`"q"`, "bad body: ", ""},
		{`{"queue":"q"} x`, "bad body: ", ""},
		{"{\"queue\":\"\xff\"}", "bad body: ", ""},
		{`{"queue":"q","queue":"r"}`, "bad body: ", ""},
		{`{"queue":"q","options":{"leaseTime":1,"leaseTime":2}}`, "bad body: ", ""},
		{`{}`, "queue is required", "queue"},
		{`{"queue":null}`, "queue is required", "queue"},
		{`{"queue":5,"options":{"leaseTime":1}}`, "queue is required", "queue"},
		{`{"queue":"a\u0000b"}`, "queue holds a control character", "queue"},
		{`{"queue":"a\nb"}`, "queue holds a control character", "queue"},
		{`{"queue":"` + strings.Repeat("ä", 256) + `"}`, "queue is longer than 255 characters", "queue"},
		{`{"queue":"q","mode":"Replace","options":{"leaseTime":1}}`, `mode must be "merge" or "replace", got "Replace"`, "mode"},
		{`{"queue":"q","mode":"","leaseTime":1}`, `mode must be "merge" or "replace", got ""`, "mode"},
		{`{"queue":"q","mode":true,"leaseTime":1}`, `mode must be "merge" or "replace", got true`, "mode"},
		{`{"queue":"q","mode":1}`, `mode must be "merge" or "replace", got 1`, "mode"},
		{`{"queue":"q","mode":"\u0000"}`, `mode must be "merge" or "replace", got`, "mode"},
		{`{"queue":"q","options":{"retentionSinkHold":"a:b","leaseTime":1}}`, "retentionSinkHold must be", "retentionSinkHold"},
		{`{"queue":"q","retentionSinkHoldMaxSeconds":0}`, "retentionSinkHoldMaxSeconds must be", "retentionSinkHoldMaxSeconds"},
		{`{"queue":"q","options":{"retentionSinkHoldMaxSeconds":999999999}}`, "retentionSinkHoldMaxSeconds must be", "retentionSinkHoldMaxSeconds"},
		{`{"queue":"q","options":{"leaseTime":"60"}}`, "leaseTime must be", "leaseTime"},
		{`{"queue":"q","options":{"leaseTime":2147483648}}`, "leaseTime must be", "leaseTime"},
		{`{"queue":"q","options":{"leaseTime":{"a":1}}}`, "leaseTime must be", "leaseTime"},
		{`{"queue":"q","options":{"leaseTime":[1]}}`, "leaseTime must be", "leaseTime"},
		{`{"queue":"q","options":{"retentionEnabled":1}}`, "retentionEnabled must be", "retentionEnabled"},
		{`{"queue":"q","options":{"groupIdleSeconds":299}}`, "groupIdleSeconds must be 0 or", "groupIdleSeconds"},
		{`{"queue":"q","options":{"groupIdleSeconds":1}}`, "groupIdleSeconds must be 0 or", "groupIdleSeconds"},
		{`{"queue":"q","options":{"cleanupPolicy":"delete,compact"}}`, "cleanupPolicy must be", "cleanupPolicy"},
		{`{"queue":"q","options":{"retentionBytes":-1}}`, "retentionBytes must be", "retentionBytes"},
		{`{"queue":"q","options":{"retentionMessages":9223372036854775808}}`, "retentionMessages must be", "retentionMessages"},
		{`{"queue":"q","namespace":5}`, "namespace must be", "namespace"},
		{`{"queue":"q","options":{"task":"\u0000"}}`, "task holds a NUL character", "task"},
		{`{"queue":"never","options":{"ttl":1.5}}`, "ttl must be", "ttl"},
	} {
		r := ts.post("/api/v1/configure", c.body)
		require.Equal(t, http.StatusBadRequest, r.Status, "%.80s: %s", c.body, r.Body)
		e := r.failure(t)
		require.Contains(t, e.Text, c.text, c.body)
		require.Equal(t, c.invalid, e.Invalid, c.body)
		require.Equal(t, "QN400", e.Code, c.body)
	}
	require.Equal(t, before, ts.options("q"), "C-3, C-11: nothing is written")
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE name <> 'q'`))
	r := newTestServerOn(t, ts.db, func(c *Config) { c.MaxBodyBytes = 100 }).post("/api/v1/configure", `{"queue":"`+strings.Repeat("x", 100)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, r.Status)
}

// Every option that is a number, and numbers from the edge of 32 bits to what
// PostgreSQL cannot hold at all.
func TestAbsurdNumbersAreRefusedByOption_F135(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":` + optionValues + `}`)
	before := ts.options("q")
	var numbers []string
	for option, value := range before {
		if _, ok := value.(float64); ok {
			numbers = append(numbers, option)
		}
	}
	require.Len(t, numbers, 20)
	for _, option := range numbers {
		for _, value := range []string{
			"2147483648", "-2147483649", "9223372036854775808", "1.5", "1e-9", "1e400", "-1e400", "1E+999999", "1e-999999", "1e99999999999999999999",
			"1" + strings.Repeat("0", 140_000), "0." + strings.Repeat("0", 20_000) + "1",
		} {
			if value == "2147483648" && (option == "retentionBytes" || option == "retentionMessages") {
				continue // 64 bits wide
			}
			r := ts.post("/api/v1/configure", `{"queue":"q","options":{"namespace":"x","`+option+`":`+value+`}}`)
			require.Equal(t, http.StatusBadRequest, r.Status, "%s %.30s: %s", option, value, r.Body)
			e := r.failure(t)
			require.Equal(t, []string{"QN400", option}, []string{e.Code, e.Invalid}, "%.30s: %s", value, e.Text)
			require.Contains(t, e.Text, option+" must be")
		}
	}
	require.Equal(t, before, ts.options("q"), "C-11: nothing is written")
	ts.configure(`{"queue":"q","options":{"ttl":3.0e1,"priority":-0.0,"leaseTime":45` + strings.Repeat("0", 50) + `e-50}}`)
	require.Equal(t, []any{30.0, 0.0, 45.0}, []any{ts.options("q")["ttl"], ts.options("q")["priority"], ts.options("q")["leaseTime"]}, "whole numbers in other words")
}

func TestQueueNamesInPaths(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for name, encoded := range map[string]string{
		"a/b": "a%2Fb", "50%": "50%25", "a b?#": "a%20b%3F%23", "ü": "%C3%BC", "a%2Fb": "a%252Fb", "plus+": "plus+", "%2e%2e": "%252e%252e",
		strings.Repeat("ä", 255): strings.Repeat("%C3%A4", 255),
	} {
		body, err := json.Marshal(map[string]string{"queue": name})
		require.NoError(t, err)
		require.Equal(t, name, ts.configure(string(body)).Queue)
		r := ts.get("/api/v1/resources/queues/" + encoded)
		require.Equal(t, http.StatusOK, r.Status, "%s: %s", encoded, r.Body)
		var detail QueueDetail
		r.into(t, &detail)
		require.Equal(t, name, detail.Name, "decoded exactly once")
		var depth QueueDepth
		ts.get("/api/v1/resources/queues/"+encoded+"/depth").into(t, &depth)
		require.Equal(t, name, depth.Queue)
		var gone DeleteQueueResponse
		ts.send("DELETE", "/api/v1/resources/queues/"+encoded, "").into(t, &gone)
		require.True(t, gone.Deleted, name)
	}
	require.Equal(t, "", ts.configure(`{"queue":""}`).Queue, "C-6: the empty name is legal")

	for _, bad := range []string{"%FF", "a%00b", "a%0Ab", "%7F", strings.Repeat("x", 256)} {
		for _, c := range []struct{ method, tail string }{{"GET", ""}, {"GET", "/depth"}, {"DELETE", ""}} {
			r := ts.send(c.method, "/api/v1/resources/queues/"+bad+c.tail, "")
			require.Equal(t, http.StatusBadRequest, r.Status, "%s %.20s", c.method, bad)
			require.Equal(t, "queue", r.failure(t).Invalid)
		}
	}
	depth := ts.get("/api/v1/resources/queues/q/depth?group=a%00b")
	require.Equal(t, http.StatusBadRequest, depth.Status)
	require.Equal(t, "group", depth.failure(t).Invalid)
}

func TestUnknownQueueIs404(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, path := range []string{"/api/v1/resources/queues/nope", "/api/v1/resources/queues/nope/depth", "/api/v1/resources/queues/nope/depth?group=g"} {
		r := ts.get(path)
		require.Equal(t, http.StatusNotFound, r.Status)
		require.JSONEq(t, `{"error":"Queue not found","code":"QN404","retryable":false}`, string(r.Body))
	}
}

func TestDeleteQueueAlwaysAnswers_F143(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.configure(`{"queue":"q","options":{"leaseTime":5}}`)
	ts.sql(`SELECT queen.push_v1('q', '{"a":1}', p_transaction_id => 'once')`)

	r := ts.send("DELETE", "/api/v1/resources/queues/q", "")
	require.Equal(t, http.StatusOK, r.Status)
	require.JSONEq(t, `{"deleted":true,"queue":"q","existed":true}`, string(r.Body))
	r = ts.send("DELETE", "/api/v1/resources/queues/q", "")
	require.Equal(t, http.StatusOK, r.Status)
	require.JSONEq(t, `{"deleted":false,"queue":"q","existed":false,"message":"Queue not found, nothing was deleted"}`, string(r.Body))

	second := ts.configure(`{"queue":"q"}`)
	require.NotEqual(t, first.QueueID, second.QueueID)
	require.EqualValues(t, 300, second.Options.LeaseTime, "the new queue starts from defaults")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.push_v1('q', '{"a":1}', p_transaction_id => 'once') WHERE status = 'queued'`), "and with an empty memory of ids")
}

func TestEveryRouteTellsTheSameCounts_F131(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.sql(`SET TimeZone = 'America/St_Johns'`)
	ts.configure(`{"queue":"older"}`)
	for i := range 10 {
		ts.sql(`SELECT queen.push_v1('q', $1::json, $2)`, fmt.Sprint(i), []string{"a", "b"}[i%2])
	}
	ts.sql(`INSERT INTO queen.log_consumers (partition_id, consumer_group, committed, batch_end, worker_id, lease_expires_at)
		SELECT id, 'slow', 0, 2, 'w', now() + interval '1 minute' FROM queen.log_partitions WHERE name = 'a'
		UNION ALL SELECT id, 'fast', 4, NULL, NULL, NULL FROM queen.log_partitions`)

	ts.post("/api/v1/stats/refresh", "")
	ts.sql(`SELECT queen.log_refresh_retained_bytes_v1()`)

	var list QueueList
	r := ts.get("/api/v1/resources/queues?stats=cached&namespace=ignored&limit=x")
	require.Equal(t, http.StatusOK, r.Status)
	r.into(t, &list)
	require.Len(t, list.Queues, 2)
	require.Equal(t, []string{"q", "older"}, []string{list.Queues[0].Name, list.Queues[1].Name}, "C-16: newest first")
	q := list.Queues[0]
	require.Equal(t, QueueTotalsList{Total: 10, Pending: 4, Processing: 2}, q.Messages, "design 5: pending counts in processing")
	require.EqualValues(t, 2, q.Partitions)

	var detail QueueDetail
	ts.get("/api/v1/resources/queues/q").into(t, &detail)
	require.Equal(t, QueueCounts{Total: 10, Pending: 4, Processing: 2, Completed: 6}, detail.Totals, "C-20")
	require.Equal(t, q.Segments, detail.Segments)
	require.Equal(t, q.RetainedBytes, detail.RetainedBytes)
	require.Equal(t, q.CreatedAt, detail.CreatedAt)
	require.Len(t, detail.Partitions, 2)
	require.NotNil(t, detail.Partitions[0].OldestMessage)
	require.Nil(t, detail.Partitions[1].OldestMessage, "C-21: nothing pending")

	var depth QueueDepth
	ts.get("/api/v1/resources/queues/q/depth").into(t, &depth)
	require.Nil(t, depth.Group)
	require.Equal(t, []PartitionDepth{{"a", 4, 2, 2}, {"b", 0, 0, 0}}, depth.Partitions, "C-25")
	require.EqualValues(t, []int64{4, 2, 2, 1, 1, 4, 2}, []int64{depth.Pending, depth.Processing, depth.Ready,
		depth.PartitionsPending, depth.PartitionsReady, depth.EffectivePending, depth.EffectiveReady})
	ts.get("/api/v1/resources/queues/q/depth?group=fast").into(t, &depth)
	require.Equal(t, "fast", *depth.Group)
	require.Zero(t, depth.Pending)
	ts.get("/api/v1/resources/queues/q/depth?group=new").into(t, &depth)
	require.EqualValues(t, 10, depth.Pending, "C-24: no cursor owes all")
}

func TestConcurrentEditsAreAllKept_F139(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for round := range 30 {
		queue := fmt.Sprintf("q%d", round)
		var calls sync.WaitGroup
		for _, bag := range []string{`"leaseTime":5`, `"ttl":6`, `"retryLimit":7`, `"namespace":"n"`} {
			calls.Go(func() {
				r, err := ts.try(context.Background(), "POST", "/api/v1/configure", `{"queue":"`+queue+`","options":{`+bag+`}}`)
				if err != nil || r.Status != http.StatusOK {
					t.Errorf("configure: %d %v %s", r.Status, err, r.Body)
				}
			})
		}
		calls.Go(func() { ts.sql(`SELECT queen.push_v1($1, '1')`, queue) })
		calls.Wait()
		got := ts.options(queue)
		require.Equal(t, []any{5.0, 6.0, 7.0, "n"}, []any{got["leaseTime"], got["ttl"], got["retryLimit"], got["namespace"]}, "round %d", round)
	}
}
