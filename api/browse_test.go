package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func (ts *testServer) browse(query string) MessageList {
	ts.t.Helper()
	r := ts.get("/api/v1/messages?" + query)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var list MessageList
	r.into(ts.t, &list)
	require.Equal(ts.t, len(list.Messages), list.Total)
	return list
}

func TestMessagesAreBrowsedAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, `{"messages":[],"mode":{"hasQueueMode":false,"busGroupsCount":0,"type":"none"},"total":0}`, string(ts.get("/api/v1/messages").Body))
	ts.push(`{"items":[{"queue":"ns.tsk","partition":"p","payload":{"z":1, "a":1.50,"u":"\u0000"},"transactionId":"t/1"},{"queue":"ns.tsk","partition":"p","payload":2}]}`)
	r := ts.get("/api/v1/messages?queue=ns.tsk")
	require.Contains(t, string(r.Body), `"data":{"z":1, "a":1.50,"u":"\u0000"},"payload":{"z":1, "a":1.50,"u":"\u0000"}`, "as sent, byte for byte")
	var raw struct{ Messages []map[string]any }
	r.into(t, &raw)
	m := raw.Messages[1]
	require.Regexp(t, `^[0-9a-f]{16}$`, m["txnHash"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, m["createdAt"], "milliseconds")
	for _, key := range []string{"id", "partitionId", "createdAt", "txnHash", "data", "payload"} {
		require.NotEmpty(t, m[key], key)
		delete(m, key)
	}
	require.Equal(t, map[string]any{"transactionId": "t/1", "queuePath": "ns.tsk/p", "queue": "ns.tsk", "partition": "p", "namespace": "ns", "task": "tsk", "status": "pending", "queueStatus": "pending",
		"busStatus": map[string]any{"consumedBy": 0.0, "totalGroups": 0.0}, "traceId": nil, "producerSub": nil, "payloadAvailable": true, "segment": map[string]any{"seq": 0.0, "frameIdx": 0.0}, "leaseExpiresAt": nil}, m)
	require.Equal(t, raw.Messages[0]["id"], raw.Messages[0]["transactionId"], "a minted id")

	for query, want := range map[string]int{"namespace=ns": 2, "ns=ns&task=tsk": 2, "ns=x": 0, "task=x": 0, "partition=p": 2, "partition=x": 0, "limit=1": 1, "offset=1": 1, "limit=0": 0, "status=pending": 2,
		"status=completed": 0, "to=2020-01-01T00:00:00Z": 0, "from=2020-01-01": 2, "from=2020-01-01T00:00:00%2B02:00": 2, "from=2100-01-01T00:00:00.5": 0, "limit=99999": 2} {
		require.Len(t, ts.browse(query).Messages, want, query)
	}
	for _, query := range []string{"status=Pending", "from=x", "to=2020", "limit=-1", "offset=x", "queue=%00", "from=0000-01-01"} {
		require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/messages?"+query).Status, query)
	}
}

func TestMessageStatusFollowsItsConsumers(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for i := range 3 {
		ts.pushOne("q", "p", fmt.Sprint(i))
	}
	statuses := func() (out []string) {
		for _, m := range ts.browse("queue=q").Messages {
			out = append(out, m.Status)
		}
		return out
	}
	ts.ackAll(ts.pop("q", "batch=1"), "completed")
	got := ts.pop("q", "batch=1")
	require.Equal(t, []string{"pending", "processing", "completed"}, statuses())
	require.NotNil(t, ts.browse("status=processing").Messages[0].LeaseExpiresAt)
	require.Equal(t, MessageMode{HasQueueMode: true, Type: "queue"}, ts.browse("queue=q").Mode)
	ts.giveUp("q", "g", "boom")
	list := ts.browse("status=dead_letter")
	require.Equal(t, []any{"completed", BusStatus{ConsumedBy: 1, TotalGroups: 1}}, []any{list.Messages[0].QueueStatus, list.Messages[0].BusStatus})
	require.Equal(t, MessageMode{HasQueueMode: true, BusGroupsCount: 1, Type: "hybrid"}, list.Mode)
	ts.ackAll(got, "completed")
	require.Equal(t, []string{"pending", "completed", "dead_letter"}, statuses())
}

func TestUnreadableMessageIsShownAsSuch_F079(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ids := ts.push(`{"items":[{"queue":"q","partition":"p","payload":1,"transactionId":"a"},{"queue":"q","partition":"p","payload":2,"transactionId":"b"},{"queue":"q","partition":"p","payload":{"encrypted":"e","iv":"i","authTag":"a","kid":"k"},"transactionId":"c"}]}`)
	require.Len(t, ids, 3)
	ts.sql(`UPDATE queen.log_segments SET payloads[1] = NULL, payloads[2] = '{'`)
	list := ts.browse("queue=q")
	require.True(t, list.Messages[0].PayloadAvailable)
	require.True(t, list.Messages[0].IsEncrypted)
	for _, m := range list.Messages[1:] {
		require.False(t, m.PayloadAvailable)
		require.Nil(t, m.ID)
		require.Nil(t, m.TransactionID)
		require.Equal(t, "null", string(m.Data))
	}
	for _, id := range []string{"a", "b"} {
		r := ts.get("/api/v1/messages/" + list.Messages[0].PartitionID + "/" + id)
		require.Equal(t, http.StatusInternalServerError, r.Status)
		require.Equal(t, "frame decode failed", r.failure(t).Text)
	}
}

func TestMessageDetail(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"leaseTime":77,"retryLimit":0}}`)
	sent := ts.push(`{"items":[{"queue":"q","partition":"p","payload":{"b":1, "a":"\u0000"},"transactionId":"a/b é"},{"queue":"q","partition":"p","payload":2}]}`)
	got := ts.pop("q", "batch=1&consumerGroup=g&subscriptionMode=all")
	partition := got.PartitionID
	target := "/api/v1/messages/" + partition + "/" + url.PathEscape("a/b é")
	detail := func(target string) (d MessageDetail, raw map[string]any) {
		r := ts.get(target)
		require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
		r.into(t, &d)
		return d, parsed(t, string(r.Body))
	}
	d, raw := detail(target)
	for _, key := range []string{"id", "transactionId", "data", "payload", "traceId", "producerSub", "createdAt", "partitionId", "partition", "isEncrypted", "queue", "queuePath", "namespace", "task", "status",
		"errorMessage", "retryCount", "leaseExpiresAt", "consumerGroups", "mode", "queueConfig"} {
		require.Contains(t, raw, key)
	}
	require.Equal(t, `{"b":1, "a":"\u0000"}`, string(d.Payload))
	require.Equal(t, []any{sent[0].MessageID, "a/b é", "pending", int32(77), int32(0), MessageMode{BusGroupsCount: 1, Type: "bus"}},
		[]any{d.ID, d.TransactionID, d.Status, d.QueueConfig.LeaseTime, d.RetryCount, d.Mode})
	require.Len(t, d.ConsumerGroups, 1)
	require.Equal(t, []any{"g", "g", false}, []any{d.ConsumerGroups[0].Name, d.ConsumerGroups[0].Group, d.ConsumerGroups[0].Consumed})
	require.WithinDuration(t, time.Now().Add(77*time.Second), *d.ConsumerGroups[0].LeaseExpiresAt, 20*time.Second)

	m := got.Messages[0]
	ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":"g","status":"failed","error":"boom"}`, m.TransactionID, m.PartitionID, m.LeaseID))
	d, _ = detail(target)
	require.Equal(t, []any{"dead_letter", "boom", true}, []any{d.Status, *d.ErrorMessage, d.ConsumerGroups[0].Consumed})
	d, _ = detail("/api/v1/messages/" + partition + "/" + sent[1].MessageID)
	require.Equal(t, "2", string(d.Data), "by a minted id")

	// Only the dead letter is left.
	ts.sql("SELECT queen._move_log_start(id, 1000) FROM queen.log_partitions")
	d, _ = detail(target)
	require.Equal(t, []any{"dead_letter", "boom", `{"b":1, "a":"\u0000"}`}, []any{d.Status, *d.ErrorMessage, string(d.Payload)})
	for _, gone := range []string{partition + "/" + sent[1].MessageID, partition + "/none", "x/y", partition + "/%00", "00000000-0000-0000-0000-000000000009/a"} {
		r := ts.get("/api/v1/messages/" + gone)
		require.Equal(t, http.StatusNotFound, r.Status, gone)
		require.Equal(t, "Message not found", r.failure(t).Text)
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	partition := ts.browse("queue=q").Messages[0].PartitionID
	note := func(rest string) reply {
		return ts.post("/api/v1/traces", `{"transactionId":"t/1","partitionId":"`+partition+`"`+rest+`}`)
	}
	for _, rest := range []string{`,"data":{"u":"\u0000",  "n":1e400},"consumerGroup":"g","eventType":"e","traceNames":["one","two","one","",5,null]`, `,"data":false,"traceNames":"one","consumerGroup":null,"eventType":null`,
		`,"data":[],"traceNames":{"a":1}`, `,"data":"x","traceNames":null,"unknown":1`} {
		r := note(rest)
		require.Equal(t, http.StatusCreated, r.Status, "%s: %s", rest, r.Body)
		require.Equal(t, true, parsed(t, string(r.Body))["success"])
	}
	r := ts.get("/api/v1/traces/" + partition + "/t%2F1")
	require.Contains(t, string(r.Body), `{"u":"\u0000",  "n":1e400}`, "as sent")
	require.Contains(t, string(r.Body), `"seg-rust"`)
	ts.sql(`DELETE FROM queen.message_traces WHERE data LIKE '%u0000%'`) // encoding/json cannot hold its number
	note(`,"data":1,"consumerGroup":"g","eventType":"e","traceNames":["one","two"]`)
	var list TraceList
	ts.get("/api/v1/traces/"+partition+"/t%2F1").into(t, &list)
	require.Len(t, list.Traces, 4)
	require.Equal(t, []any{"info", "__QUEUE_MODE__", []string{"one"}}, []any{list.Traces[0].EventType, list.Traces[0].ConsumerGroup, list.Traces[0].TraceNames})
	require.Equal(t, []any{"e", "g", []string{"one", "two"}}, []any{list.Traces[3].EventType, list.Traces[3].ConsumerGroup, list.Traces[3].TraceNames})

	require.Equal(t, http.StatusOK, ts.send("DELETE", "/api/v1/resources/queues/q", "").Status)
	var named NamedTraceList
	ts.get("/api/v1/traces/by-name/one?limit=1&offset=1").into(t, &named)
	require.Equal(t, []any{int64(2), Pagination{1, 1}, "t/1", "q", "p"}, []any{named.Total, named.Pagination, named.Traces[0].TransactionID, *named.Traces[0].QueueName, *named.Traces[0].PartitionName}, "R-49: traces outlive the queue")
	var names TraceNameList
	ts.get("/api/v1/traces/names").into(t, &names)
	require.Equal(t, []any{int64(2), Pagination{50, 0}, "one", int64(2), int64(1)}, []any{names.Total, names.Pagination, names.TraceNames[0].TraceName, names.TraceNames[0].TraceCount, names.TraceNames[0].MessageCount})
	for _, target := range []string{partition + "/none", "x/y", partition + "/%00"} {
		require.JSONEq(t, `{"traces":[]}`, string(ts.get("/api/v1/traces/"+target).Body), target)
	}
	require.JSONEq(t, `{"traces":[],"total":0,"pagination":{"limit":100,"offset":0}}`, string(ts.get("/api/v1/traces/by-name/a%2Fb").Body))
	require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/traces/by-name/a%00").Status)
	require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/traces/names?limit=-1").Status)
}

func TestTracesThatAreRefused(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	id := "00000000-0000-0000-0000-000000000009"
	for body, want := range map[string]string{
		`{}`: "transactionId and partitionId are required",
		`{"transactionId":"","partitionId":"x","data":1}`:                            "transactionId and partitionId are required",
		`{"transactionId":"a","partitionId":null,"data":1}`:                          "transactionId and partitionId are required",
		`{"transactionId":"a","partitionId":"` + id + `"}`:                           "data is required",
		`{"transactionId":"a","partitionId":"` + id + `","data":null}`:               "data is required",
		`{"transactionId":"a\u0000","partitionId":"` + id + `","data":1}`:            "transactionId holds a control character",
		`{"transactionId":"a","partitionId":"` + id + `","data":1,"eventType":"\n"}`: "eventType holds a control character",
		`[]`: "bad body:", `{`: "bad body:",
	} {
		r := ts.post("/api/v1/traces", body)
		require.Equal(t, http.StatusBadRequest, r.Status, body)
		require.True(t, strings.HasPrefix(r.failure(t).Text, want), "%s: %s", body, r.Body)
	}
	r := ts.post("/api/v1/traces", `{"transactionId":"a","partitionId":"x","data":1}`)
	require.Equal(t, http.StatusInternalServerError, r.Status)
	require.True(t, strings.HasPrefix(r.failure(t).Text, "trace failed: "))
	ts.pushOne("q", "p", "1")
	ts.sql("UPDATE queen.queues SET tenant_id = '00000000-0000-0000-0000-000000000002'")
	var foreign string
	require.NoError(t, ts.db.Pool.QueryRow(t.Context(), "SELECT id::text FROM queen.log_partitions").Scan(&foreign))
	r = ts.post("/api/v1/traces", `{"transactionId":"a","partitionId":"`+foreign+`","data":1}`)
	require.Equal(t, http.StatusCreated, r.Status, "E-5: a partition of another tenant is one that does not exist")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.message_traces WHERE partition_id = $1 AND queue_name IS NULL AND partition_name IS NULL`, foreign), "and its names are not told")
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	require.Equal(t, http.StatusCreated, ts.post("/api/v1/traces", `{"transactionId":"a","partitionId":"`+id+`","data":`+deep+`}`).Status, "the message is not checked, and data may be deep")
}
