package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// take pushes n messages to one partition of a queue and pops them.
func (ts *testServer) take(queue string, n int) PopResponse {
	ts.t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"queue":%q,"payload":%d,"transactionId":"m%d"}`, queue, i, i)
	}
	ts.push(`{"items":[` + strings.Join(items, ",") + `]}`)
	got := ts.pop(queue, "")
	require.Len(ts.t, got.Messages, n)
	return got
}

// ackBody sends one single ack and returns its verdict.
func (ts *testServer) ackBody(body string) AckResult {
	ts.t.Helper()
	r := ts.post("/api/v1/ack", body)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var results []AckResult
	r.into(ts.t, &results)
	require.Len(ts.t, results, 1)
	return results[0]
}

func TestAckStatusWords_A2(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for i, c := range []struct {
		status       string
		dlq, release bool
		attempt      int // of the next pop, 0 for none
		retries      int
	}{
		{``, false, true, 0, 0},
		{`"status":null,`, false, true, 0, 0},
		{`"status":"completed",`, false, true, 0, 0},
		{`"status":"success",`, false, true, 0, 0},
		{`"status":"acked",`, false, true, 0, 0},
		{`"status":"ok",`, false, true, 0, 0},
		{`"status":"retry",`, false, true, 2, 0},
		{`"status":"dlq",`, true, true, 0, 0},
		{`"status":"failed",`, false, true, 2, 1},
		{`"status":"",`, false, true, 2, 1},
		{`"status":"Completed",`, false, true, 2, 1},
		{`"status":"nack",`, false, true, 2, 1},
	} {
		queue := fmt.Sprint("q", i)
		got := ts.take(queue, 1)
		m := got.Messages[0]
		verdict := ts.ackBody(fmt.Sprintf(`{%s"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":null,"error":null}`, c.status, m.TransactionID, m.PartitionID, m.LeaseID))
		require.Equal(t, AckResult{TransactionID: "m0", Success: true, LeaseReleased: c.release, DLQ: c.dlq}, verdict, c.status)
		again := ts.pop(queue, "")
		if c.attempt == 0 {
			require.Empty(t, again.Messages, c.status)
			continue
		}
		require.Equal(t, c.attempt, again.Messages[0].DeliveryAttempt, c.status)
		require.Equal(t, c.retries, ts.count(`SELECT batch_retry_count FROM queen.log_consumers WHERE partition_id = $1`, m.PartitionID), c.status)
	}
}

func TestAckAnswersHaveExactlyTheKeysOfTheWire(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	m := ts.take("q", 1).Messages[0]
	r := ts.post("/api/v1/ack", fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q,"extra":{"a":[1]}}`, m.PartitionID, m.LeaseID))
	require.Equal(t, `[{"index":0,"transactionId":"m0","success":true,"error":null,"leaseReleased":true,"dlq":false,"noop":false}]`, string(r.Body))
}

func TestItemsThatCannotBeAckedFailAlone(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	m := ts.take("q", 2).Messages[0]
	stranger := uuid.NewString()
	r := ts.post("/api/v1/ack/batch", fmt.Sprintf(`{"acknowledgments":[
		{"transactionId":"x","partitionId":"not a uuid"},
		{"transactionId":"m0","partitionId":%[1]q,"leaseId":%[2]q},
		{"transactionId":"m1","partitionId":%[1]q,"leaseId":"nobody's"},
		{"transactionId":"x","partitionId":%[3]q},
		{"transactionId":"x"},
		{"transactionId":"nowhere","partitionId":%[1]q,"leaseId":%[2]q},
		{"partitionId":%[1]q,"leaseId":%[2]q}]}`, m.PartitionID, m.LeaseID, stranger))
	require.Equal(t, http.StatusOK, r.Status)
	var results []AckResult
	r.into(t, &results)
	require.Len(t, results, 7)
	errors := make([]string, len(results))
	for i, result := range results {
		require.Equal(t, i, result.Index)
		require.Equal(t, result.Error == nil, result.Success, "a client judges by error alone")
		if result.Error != nil {
			errors[i] = *result.Error
		}
	}
	require.Equal(t, "partitionId is not a UUID", errors[0])
	require.Empty(t, errors[1])
	require.Equal(t, "invalid or expired lease", errors[2])
	require.Equal(t, "consumer not found", errors[3])
	require.Equal(t, "partitionId is not a UUID", errors[4])
	require.True(t, strings.HasPrefix(errors[5], "unresolvable:"), errors[5])
	require.True(t, strings.HasPrefix(errors[6], "unresolvable:"), errors[6])
	require.Equal(t, "", results[6].TransactionID)
}

func TestLateAcks(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	got := ts.take("q", 1)
	m := got.Messages[0]
	ts.ackAll(got, "completed")
	noop := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q}`, m.PartitionID))
	require.True(t, noop.Success)
	require.True(t, noop.Noop)
	stale := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"status":"failed"}`, m.PartitionID))
	require.False(t, stale.Success)
	require.True(t, strings.HasPrefix(*stale.Error, "already committed:"), *stale.Error)
}

func TestLeaselessAckAndTheSwitch_W1(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	strict := newTestServerOn(t, ts.db, func(c *Config) { c.AckRequireLease = true })
	m := ts.take("q", 1).Messages[0]
	body := fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%s}`, m.PartitionID, `""`)
	refused := strict.ackBody(body)
	require.False(t, refused.Success, "REGENT_ACK_REQUIRE_LEASE")
	require.Equal(t, "invalid or expired lease", *refused.Error)
	require.True(t, ts.ackBody(body).Success, "clients rely on it")
}

func TestGroupOfABatchIsReadAtTheTopOnly(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	got := ts.pop("q", "consumerGroup=g&subscriptionMode=all")
	m := got.Messages[0]
	r := ts.post("/api/v1/ack/batch", fmt.Sprintf(`{"acknowledgments":[{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":"g"}]}`, m.TransactionID, m.PartitionID, m.LeaseID))
	var results []AckResult
	r.into(t, &results)
	require.Equal(t, "consumer not found", *results[0].Error)
	require.True(t, ts.ackAll(got, "completed")[0].Success)
}

func TestBadAcksAre400_F004_F005_F023(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	single := map[string]string{
		``: "request body is required", `{`: "bad body: unexpected end", `[]`: "bad body: it must be an object",
		`{"transactionId":7}`: "transactionId must be a string", `{"partitionId":{}}`: "partitionId must be a string",
		`{"transactionId":"a\u0000b"}`: "transactionId holds a control character", `{"consumerGroup":"a\nb"}`: "consumerGroup holds a control character",
		`{"transactionId":"s3cret","status":5}`: "status must be a string", "{\"transactionId\":\"s3cret\xff\"}": "bad body: invalid UTF-8",
		`{"consumerGroup":"` + strings.Repeat("g", 256) + `"}`:   "consumerGroup is longer than 255 characters",
		`{"transactionId":"` + strings.Repeat("i", 65536) + `"}`: "transactionId is longer than 65535 bytes",
		`{"leaseId":"a\u0000"}`:                                  "leaseId holds a control character",
	}
	batch := map[string]string{
		``: "request body is required", `{}`: "acknowledgments is required", `{"acknowledgments":null}`: "acknowledgments must be an array",
		`{"acknowledgments":[1]}`:                         "acknowledgments[0] must be an object",
		`{"acknowledgments":[{},{"transactionId":[]}]}`:   "acknowledgments[1].transactionId must be a string",
		`{"acknowledgments":[],"consumerGroup":"\u0001"}`: "consumerGroup holds a control character",
	}
	for target, cases := range map[string]map[string]string{"/api/v1/ack": single, "/api/v1/ack/batch": batch} {
		for body, text := range cases {
			r := ts.post(target, body)
			require.Equal(t, http.StatusBadRequest, r.Status, "%.60s", body)
			require.Contains(t, r.failure(t).Text, text, "%.60s", body)
			require.NotContains(t, string(r.Body), "s3cret")
		}
	}
	r := ts.post("/api/v1/ack/batch", `{"acknowledgments":[]}`)
	require.Equal(t, http.StatusOK, r.Status)
	require.Equal(t, `[]`, string(r.Body))
}

func TestReasonWithANulNeverBlocksADeadLetter_F003(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	got := ts.take("q", 1)
	m := got.Messages[0]
	verdict := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q,"status":"dlq","error":"x\u0000y\ud83d\ude00"}`, m.PartitionID, m.LeaseID))
	require.True(t, verdict.DLQ)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_dlq WHERE error = $1`, `x\u0000y`+"😀"))
}

func TestFailedMessageReachesTheDeadLettersAfterItsRetries(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"retryLimit":2}}`).Status)
	got := ts.take("q", 1)
	for range 2 {
		require.False(t, ts.ackAll(got, "failed")[0].DLQ)
		got = ts.pop("q", "")
	}
	require.True(t, ts.ackAll(got, "failed")[0].DLQ)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_dlq WHERE retry_count = 2 AND payload = '0'`))
}

// Acks of many callers share calls; each is judged as if it had come alone.
func TestConcurrentAcksOfManyPartitions(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const partitions = 40
	taken := make([]PopResponse, partitions)
	for i := range taken {
		ts.push(fmt.Sprintf(`{"items":[{"queue":"q","partition":"p%d","payload":1},{"queue":"q","partition":"p%d","payload":2}]}`, i, i))
		taken[i] = ts.pop("q", "")
	}
	var calls sync.WaitGroup
	for _, got := range taken {
		calls.Go(func() {
			for _, m := range got.Messages {
				verdict := ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q}`, m.TransactionID, m.PartitionID, m.LeaseID))
				if !verdict.Success {
					t.Error(*verdict.Error)
				}
			}
		})
		calls.Go(func() {
			verdict := ts.ackBody(fmt.Sprintf(`{"transactionId":"nowhere","partitionId":%q,"leaseId":"wrong"}`, got.PartitionID))
			if verdict.Success {
				t.Error("a wrong lease was accepted")
			}
		})
	}
	calls.Wait()
	require.Equal(t, partitions, ts.count(`SELECT count(*) FROM queen.log_consumers WHERE committed = 1 AND worker_id IS NULL`))
}

func TestHeldCursorDelaysOnlyItsOwnAcks(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout = 2 * time.Second })
	held, free := ts.take("held", 1), ts.take("free", 1)
	tx, err := ts.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM queen.log_consumers WHERE partition_id = $1 FOR UPDATE`, held.PartitionID)
	require.NoError(t, err)
	var calls sync.WaitGroup
	var ended time.Time
	calls.Go(func() {
		m := held.Messages[0]
		r := ts.post("/api/v1/ack", fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q}`, m.PartitionID, m.LeaseID))
		ended = time.Now()
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	})
	require.True(t, ts.ackAll(free, "completed")[0].Success)
	acked := time.Now()
	calls.Wait()
	require.True(t, acked.Before(ended), "the neighbour was held up")
	require.NoError(t, tx.Rollback(t.Context()))
	require.True(t, ts.ackAll(held, "completed")[0].Success)
}

func TestLeaseExtensionNeverRefuses(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	m := ts.take("q", 1).Messages[0]
	left := func() int {
		return ts.count(`SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::int FROM queen.log_consumers`)
	}
	lasts := func(seconds int, since time.Time, what string) {
		now := left()
		require.LessOrEqual(t, now, seconds, what)
		require.GreaterOrEqual(t, now, seconds-2-int(time.Since(since).Seconds()), what)
	}
	extend := func(body string) ExtendResponse {
		r := ts.post("/api/v1/lease/"+m.LeaseID+"/extend", body)
		require.Equal(t, http.StatusOK, r.Status, body)
		var got ExtendResponse
		r.into(t, &got)
		require.Equal(t, got.NewExpiresAt, got.ExpiresAt)
		require.Equal(t, got.NewExpiresAt, got.LeaseExpiresAt)
		return got
	}
	for _, body := range []string{``, `{}`, `{"seconds":null}`, `{"seconds":"x"}`, `{"seconds":1.5}`, `not json`, `[]`, `{"seconds":60} x`, `{"seconds":-5}`, `{"seconds":0}`} {
		began := time.Now()
		ts.sql(`UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() + interval '40 s'`)
		got := extend(body)
		require.True(t, got.Success, body)
		require.Equal(t, 1, got.Renewed)
		want := 60
		if strings.Contains(body, "-5") || strings.Contains(body, ":0") {
			want = 40 // one second from now would shorten it
		}
		lasts(want, began, body)
	}
	began := time.Now()
	extend(`{"seconds":500}`)
	lasts(500, began, "as asked")
	extend(`{"seconds":10}`)
	lasts(500, began, "never shortened")
	require.InDelta(t, float64(1<<31-1), time.Until(*extend(`{"seconds":99999999999}`).NewExpiresAt).Seconds(), 10)

	ts.sql(`UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() - interval '1 s'`)
	require.False(t, extend(`{}`).Success, "an expired lease is not revived")
	for _, lease := range []string{"unknown", "a%00b", "%FF", uuid.NewString(), strings.Repeat("x", 70_000)[:2000]} {
		r := ts.post("/api/v1/lease/"+lease+"/extend", ``)
		require.Equal(t, http.StatusOK, r.Status, lease)
		require.Contains(t, string(r.Body), `"success":false,"renewed":0,"newExpiresAt":null,"expiresAt":null,"lease_expires_at":null}`)
	}
}

// Cursors that somebody holds (an open pop or ack in psql) delay their own acks
// only: those of other groups are answered at once, whatever waits before them.
func TestHeldCursorsDelayTheirOwnAcksOnly(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	taken := map[string]PopResponse{}
	for _, group := range []string{"g1", "g2", "g3", "g4"} {
		taken[group] = ts.pop("q", "subscriptionMode=all&consumerGroup="+group)
		require.Len(t, taken[group].Messages, 1)
	}
	tx, err := ts.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM queen.log_consumers WHERE consumer_group IN ('g1', 'g2') FOR UPDATE`)
	require.NoError(t, err)

	ack := func(group string) reply {
		m := taken[group].Messages[0]
		return ts.post("/api/v1/ack", fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":%q}`,
			m.TransactionID, m.PartitionID, m.LeaseID, group))
	}
	var held sync.WaitGroup
	for _, group := range []string{"g1", "g2"} {
		held.Go(func() {
			if r := ack(group); r.Status != http.StatusOK || !strings.Contains(string(r.Body), `"success":true`) {
				t.Errorf("%s: %d %s", group, r.Status, r.Body)
			}
		})
	}
	require.Eventually(t, func() bool {
		var waiting int
		err := ts.db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`).Scan(&waiting)
		return err == nil && waiting == 2
	}, 20*time.Second, 10*time.Millisecond, "both wait, apart from the bundles")
	for _, group := range []string{"g3", "g4"} {
		require.Contains(t, string(ack(group).Body), `"success":true`, "while the others wait")
	}
	require.NoError(t, tx.Commit(t.Context()))
	held.Wait()
}
