package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// transacted is an answer of a transaction.
type transacted struct {
	TransactionID string
	Success       bool
	Reason, Error string
	Results       []TransactionResult
}

// transact sends a transaction whose answer must be a 200.
func (ts *testServer) transact(body string) transacted {
	ts.t.Helper()
	r := ts.post("/api/v1/transaction", body)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got transacted
	r.into(ts.t, &got)
	require.Equal(ts.t, uuid.Version(7), uuid.MustParse(got.TransactionID).Version())
	require.NotNil(ts.t, got.Results)
	return got
}

// ackOp is the operation that acknowledges a delivered message.
func ackOp(m PoppedMessage, group, more string) string {
	return fmt.Sprintf(`{"type":"ack","transactionId":%q,"partitionId":%q,"consumerGroup":%q%s}`, m.TransactionID, m.PartitionID, group, more)
}

// A-30..A-35, http-api 3.5: the shapes of the answers, byte for byte.
func TestTransactionAnswersExactlyAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.push(`{"items":[{"queue":"in","payload":1,"transactionId":"i1"},{"queue":"in","payload":2,"transactionId":"i2"},{"queue":"in","payload":3,"transactionId":"i3"}]}`)
	got := ts.pop("in", "consumerGroup=g&subscriptionMode=all")
	trace := uuid.NewString()
	r := ts.post("/api/v1/transaction", fmt.Sprintf(`{"operations":[
		{"type":"push","items":[{"queue":"out","partition":"p","payload":{"z":1, "a":1.50},"transactionId":"o1","traceId":%q},{"queue":"out","partition":"p","data":[2]}]},
		%s,
		{"items":[{"queue":"out","partition":"p","payload":null,"transactionId":"o1"}],"type":"push"},
		{"type":"push","queue":"other","transactionId":"","traceId":7,"unknown":{}},
		%s],
		"requiredLeases":[%q],"kv":null,"timers":[]}`,
		strings.ToUpper(trace), ackOp(got.Messages[0], "g", ""), ackOp(got.Messages[1], "g", `,"status":"dlq","error":"bad"`), got.LeaseID))
	require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	var answer transacted
	r.into(t, &answer)
	out := ts.pop("out", "consumerGroup=g&subscriptionMode=all")
	require.Len(t, out.Messages, 2, "a repeat inside the call is stored once")
	other := ts.pop("other", "consumerGroup=g&subscriptionMode=all").Messages[0]
	require.Equal(t, fmt.Sprintf(`{"transactionId":%q,"success":true,"results":[`+
		`{"index":0,"type":"push","success":true,"transactionId":"o1","messageId":%q,"queueName":"out"},`+
		`{"index":1,"type":"push","success":true,"transactionId":%q,"messageId":%q,"queueName":"out"},`+
		`{"index":2,"type":"ack","success":true,"transactionId":"i1","error":null,"dlq":false},`+
		`{"index":3,"type":"push","success":true,"transactionId":"o1","messageId":%q,"queueName":"out","duplicate":true},`+
		`{"index":4,"type":"push","success":true,"transactionId":%q,"messageId":%q,"queueName":"other"},`+
		`{"index":5,"type":"ack","success":true,"transactionId":"i2","error":null,"dlq":true}]}`,
		answer.TransactionID, out.Messages[0].ID, out.Messages[1].ID, out.Messages[1].ID, out.Messages[0].ID, other.ID, other.ID), string(r.Body))
	require.Equal(t, []any{map[string]any{"z": 1.0, "a": 1.5}, []any{2.0}, map[string]any{}}, []any{out.Messages[0].Data, out.Messages[1].Data, other.Data})
	require.Equal(t, []*string{&trace, nil, nil}, []*string{out.Messages[0].TraceID, out.Messages[1].TraceID, other.TraceID}, "what is no UUID is dropped")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_dlq WHERE error = 'bad' AND transaction_id = 'i2'`))
	require.Equal(t, "i3", ts.pop("in", "consumerGroup=g").Messages[0].TransactionID)

	r = ts.post("/api/v1/transaction", `{"operations":[{"type":"push","queue":"new","payload":1},{"type":"push","items":[{"queue":"out","partition":"p"},{"queue":"out","partition":"p","transactionId":"o1"}]}]}`)
	require.Equal(t, http.StatusOK, r.Status)
	r.into(t, &answer)
	require.Equal(t, fmt.Sprintf(`{"transactionId":%q,"success":false,"reason":"duplicate",`+
		`"error":"QDUP: a pushed transaction id exists in its partition already (operations[1].items[1])","results":[]}`, answer.TransactionID), string(r.Body))
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE name = 'new'`), "A-30: nothing happened")

	refused := ts.transact(`{"operations":[{"type":"push","queue":"new","payload":1},` + ackOp(other, "nobody", "") + `]}`)
	require.Equal(t, transacted{TransactionID: refused.TransactionID, Reason: "ack_rejected", Error: "QTXN: consumer not found (operations[1])", Results: []TransactionResult{}}, refused)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE name = 'new'`))
}

// http-api 3.5, design 7: what is wrong in the body is a 400 that names it; nothing happens.
func TestBadTransactionsAre400_F157(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	good := `{"type":"push","queue":"q"}`
	for body, text := range map[string]string{
		`[]`: "bad body: it must be an object", `{}`: "operations is required", `{"operations":null}`: "operations must be an array",
		`{"operations":[]}`: "operations is empty", `{"operations":{}}`: "operations must be an array", `{"operations":[1]}`: "operations[0] must be an object",
		`{"operations":[` + good + `,{"type":"kv"}]}`:                                                   "operations[1].type must be push or ack",
		`{"operations":[{"queue":"q"}]}`:                                                                "operations[0].type must be push or ack",
		`{"operations":[{"type":1}]}`:                                                                   "operations[0].type must be a string",
		`{"operations":[{"type":"push","type":"push"}]}`:                                                "operations[0].type is given twice",
		`{"operations":[` + good + `],"kv":[{"op":"put"}]}`:                                             "kv is not available",
		`{"operations":[` + good + `],"timers":[{}]}`:                                                   "timers is not available",
		`{"operations":[` + good + `],"kv":{}}`:                                                         "kv must be an array",
		`{"operations":[` + good + `],"timers":"x"}`:                                                    "timers must be an array",
		`{"operations":[` + good + `],"requiredLeases":"x"}`:                                            "requiredLeases must be an array",
		`{"operations":[` + good + `],"requiredLeases":[1]}`:                                            "requiredLeases[0] must be a string",
		`{"operations":[` + good + `],"operations":[]}`:                                                 "operations is given twice",
		`{"operations":[` + good + `,{"type":"push","items":[{"queue":"q"},{"queue":1}]}]}`:             "operations[1].items[1].queue must be a string",
		`{"operations":[{"type":"push","items":[{"queue":"q"},2]}]}`:                                    "operations[0].items[1] must be an object",
		`{"operations":[{"type":"push","items":{}}]}`:                                                   "operations[0].items must be an array",
		`{"operations":[{"type":"push","items":[]}]}`:                                                   "operations is empty",
		`{"operations":[{"type":"push","queue":"a\u0001b"}]}`:                                           "operations[0].queue holds a control character",
		`{"operations":[{"type":"push","partition":"` + strings.Repeat("x", 256) + `"}]}`:               "operations[0].partition is longer than 255 characters",
		`{"operations":[{"type":"push","payload":1,"payload":2}]}`:                                      "operations[0].payload is given twice",
		`{"operations":[{"type":"push","transactionId":"` + strings.Repeat("x", 65536) + `"}]}`:         "operations[0].transactionId is longer than 65535 bytes",
		`{"operations":[{"type":"push","key":"` + strings.Repeat("x", 1025) + `"}]}`:                    "operations[0].key is longer than 1024 bytes",
		`{"operations":[` + good + `,{"type":"ack","transactionId":"x"}]}`:                              "operations[1].partitionId is not a UUID",
		`{"operations":[{"type":"ack","partitionId":"x"}]}`:                                             "operations[0].partitionId is not a UUID",
		`{"operations":[{"type":"ack","partitionId":"` + uuid.NewString() + `","consumerGroup":"\n"}]}`: "operations[0].consumerGroup holds a control character",
		`{"operations":[` + good + `]`:                                                                  "unexpected end",
		`{"operations":[` + good + `]} x`:                                                               "bad body",
		"{\"operations\":[{\"type\":\"push\",\"queue\":\"\xff\"}]}":                                     "bad body",
	} {
		r := ts.post("/api/v1/transaction", body)
		require.Equal(t, http.StatusBadRequest, r.Status, "%.80s: %s", body, r.Body)
		var got transacted
		r.into(t, &got)
		require.Contains(t, got.Error, text, "%.80s", body)
		require.Equal(t, transacted{TransactionID: got.TransactionID, Reason: "bad_request", Error: got.Error, Results: []TransactionResult{}}, got)
		require.NotEmpty(t, got.TransactionID)
		require.Equal(t, "QN400", r.failure(t).Code)
	}
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`), "decided before any SQL")
}

// pushes and acks of one call wake who waits for either.
func TestTransactionWakesParkedPops_F045(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout = 2 * time.Second })
	ts.push(`{"items":[{"queue":"in","payload":1},{"queue":"in","payload":2}]}`)
	m := ts.pop("in", "consumerGroup=g&subscriptionMode=all&batch=1").Messages[0]
	forOut := ts.popLater("/api/v1/pop/queue/out?wait=true&timeout=60000")
	forIn := ts.popLater("/api/v1/pop/queue/in?wait=true&timeout=60000&consumerGroup=g")
	ts.parked(2)
	require.True(t, ts.transact(`{"operations":[{"type":"push","queue":"out","payload":1},`+ackOp(m, "g", `,"leaseId":"`+m.LeaseID+`"`)+`]}`).Success)
	for what, later := range map[string]<-chan timed{"push": forOut, "release": forIn} {
		got := <-later
		require.NoError(t, got.err)
		require.Equal(t, http.StatusOK, got.Status, what)
		require.Less(t, got.took, 30*time.Second, what)
	}
}

// Design 3.3: an application that pushed and idles holds up transactions of its
// own partition only, and those on a part of the pool only.
func TestHeldPartitionDelaysOnlyItsTransactions(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout, c.AcquireTimeout = 700*time.Millisecond, 5*time.Second })
	ts.pushOne("q", "held", `0`)
	release := ts.holdPartition("q", "held")
	defer release()
	var calls sync.WaitGroup
	for range 12 { // more than the pool has connections
		calls.Go(func() {
			r, err := ts.try(t.Context(), "POST", "/api/v1/transaction", `{"operations":[{"type":"push","queue":"other","payload":1},{"type":"push","queue":"q","partition":"held","payload":1}]}`)
			if err != nil || r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "1" {
				t.Errorf("held: %v %d %s", err, r.Status, r.Body)
			}
		})
	}
	for i := range 20 {
		inTime(t, 600*time.Millisecond, func() time.Duration {
			began := time.Now()
			require.True(t, ts.transact(`{"operations":[{"type":"push","queue":"q","partition":"free","payload":1}]}`).Success, "call %d", i)
			return time.Since(began)
		})
	}
	calls.Wait()
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'other'`))
	release()
	require.True(t, ts.transact(`{"operations":[{"type":"push","queue":"q","partition":"held","payload":1}]}`).Success)
}

// Design 4: a transaction seals what encrypted queues get, also those that this
// server has not heard of; without a key nothing happens.
func TestTransactionSeals(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("s1", true)
	ts.encrypt("s2", true)
	body := `{"operations":[{"type":"push","queue":"s1","payload":{"a":1}},{"type":"push","queue":"plain","payload":{"b":2}},{"type":"push","queue":"s2","payload":3}]}`
	for range 2 {
		require.Len(t, ts.transact(body).Results, 3)
	}
	require.Equal(t, 2, ts.count(`SELECT count(*) FROM queen.log_segments s WHERE payloads[1] = '{"b":2}'`))
	require.Equal(t, 4, ts.count(`SELECT count(*) FROM queen.log_segments s WHERE payloads[1]::json->>'encrypted' IS NOT NULL`))
	require.Equal(t, []string{`{"a":1}`, `{"a":1}`}, ts.data("s1", "g"))
	ts.encrypt("s1", false)
	require.True(t, ts.transact(body).Success, "the flag is seen at once")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_segments s WHERE payloads[1] = '{"a":1}'`))

	keyless := newTestServerOn(t, ts.db)
	before := ts.count(`SELECT count(*) FROM queen.log_segments`)
	r := keyless.post("/api/v1/transaction", body)
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	require.Equal(t, "QN503", r.failure(t).Code)
	require.Equal(t, before, ts.count(`SELECT count(*) FROM queen.log_segments`))
}

// A-35, http-api 1.8: a call that the database ended is a 503 that may be repeated;
// with ids on its pushes it happens once, however often it is sent.
func TestTransactionCutOffMayBeRepeated_F164(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `0`)
	release := ts.holdPartition("q", "p")
	defer release()
	const body = `{"operations":[{"type":"push","queue":"other","payload":1,"transactionId":"x"},{"type":"push","queue":"q","partition":"p","payload":1,"transactionId":"y"}]}`
	cut := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/transaction", body)
		cut <- r
	}()
	const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%log_transaction_v1%' AND query_start < clock_timestamp() - interval '100 ms'`
	require.Eventually(t, func() bool { return ts.count(`SELECT count(*) `+waiting) == 1 }, 10*time.Second, 10*time.Millisecond)
	ts.sql(`SELECT pg_terminate_backend(pid) ` + waiting)
	r := <-cut
	require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	require.True(t, r.failure(t).Retryable)
	var got transacted
	r.into(t, &got)
	require.Equal(t, transacted{TransactionID: got.TransactionID, Reason: "db_error", Error: "the database is not available", Results: []TransactionResult{}}, got)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE name = 'other'`), "A-30: nothing happened")
	release()
	require.True(t, ts.transact(body).Success)
	require.Equal(t, "duplicate", ts.transact(body).Reason)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_segments WHERE transaction_ids = '{x}'`))
}
