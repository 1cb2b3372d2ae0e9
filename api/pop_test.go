package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/stretchr/testify/require"
)

// popLater starts a waiting pop and returns its answer with the time it took.
func (ts *testServer) popLater(target string) <-chan timed {
	return ts.popUntil(context.Background(), target)
}

// popUntil is popLater for a client that leaves when ctx ends.
func (ts *testServer) popUntil(ctx context.Context, target string) <-chan timed {
	out := make(chan timed, 1)
	go func() {
		began := time.Now()
		r, err := ts.try(ctx, "GET", target, "")
		out <- timed{r, err, time.Since(began), time.Now()}
	}()
	return out
}

type timed struct {
	reply
	err  error
	took time.Duration
	at   time.Time
}

// inTime fails when measure is at limit or above in each of some tries: a busy
// machine may be late now and then, but not every time.
func inTime(t *testing.T, limit time.Duration, measure func() time.Duration) {
	t.Helper()
	var late []time.Duration
	for range 6 {
		took := measure()
		if took < limit {
			return
		}
		late = append(late, took)
	}
	t.Fatalf("never under %s: %s", limit, late)
}

// inLongForm is how often, or how long, something is tried: in every run of the
// tests, and as the trials of the faults have it, with REGENT_MODEL_LONG.
func inLongForm[T any](short, long T) T {
	if os.Getenv("REGENT_MODEL_LONG") != "" {
		return long
	}
	return short
}

// parked waits until n pops are enrolled.
func (ts *testServer) parked(n int) {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		ts.room.mu.Lock()
		defer ts.room.mu.Unlock()
		total := 0
		for _, l := range ts.room.lines {
			total += l.waiters.Len()
		}
		return total == n
	}, time.Minute, time.Millisecond, "%d parked pops", n)
}

func TestPopAnswersExactlyAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.push(`{"items":[{"queue":"q","partition":"a \"b\"","payload":{"z":1, "a":1.50},"transactionId":"t/1"}]}`)[0]

	r := ts.get("/api/v1/pop/queue/q?consumerGroup=g%2F1&subscriptionMode=all&leaseSeconds=30")

	require.Equal(t, http.StatusOK, r.Status)
	var got PopResponse
	r.into(t, &got)
	m := got.Messages[0]
	require.Equal(t, fmt.Sprintf(`{"success":true,"queue":"q","partition":"a \"b\"","partitionId":"%[1]s","leaseId":"%[2]s","consumerGroup":"g/1","messages":[`+
		`{"id":"%[3]s","transactionId":"t/1","traceId":null,"data":{"z":1, "a":1.50},"producerSub":null,"createdAt":"%[4]s","partitionId":"%[1]s",`+
		`"partition":"a \"b\"","leaseId":"%[2]s","consumerGroup":"g/1","deliveryAttempt":1}],"partitionsClaimed":1}`,
		got.PartitionID, got.LeaseID, first.MessageID, m.CreatedAt.Format("2006-01-02T15:04:05.000000Z")), string(r.Body))
	require.Len(t, got.LeaseID, 36)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
}

func TestEmptyPopIsABare204(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(ts.web.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	for range 2 { // and the connection stays usable
		_, err = fmt.Fprintf(conn, "GET /api/v1/pop/queue/none HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
	}
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	reader := bufio.NewReader(conn)
	for range 2 {
		status, err := reader.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 204 No Content\r\n", status)
		for {
			line, err := reader.ReadString('\n')
			require.NoError(t, err)
			if line == "\r\n" {
				break
			}
			name, _, _ := strings.Cut(strings.ToLower(line), ":")
			require.Contains(t, []string{"date", "cache-control", "content-security-policy", "referrer-policy", "x-content-type-options", "x-frame-options"}, name,
				"no header that announces a body")
		}
	}
}

func TestPopOfAnUnknownQueueMakesIt(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/ns.task.x").Status)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.queues WHERE name = 'ns.task.x'`))
	require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/other/partition/p").Status)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE name = 'other'`))
}

func TestBadPopParametersAre400(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for query, text := range map[string]string{
		"batch=x": "batch must be an integer", "batch=": "batch must be an integer", "batch=1.5": "batch must be an integer",
		"batch=99999999999999999999": "batch must be an integer", "wait=1": "wait must be true or false", "wait=True": "wait must be true or false",
		"wait=": "wait must be true or false", "autoAck=yes": "autoAck must be true or false", "timeout=-1": "timeout must not be negative",
		"partitions=many": "partitions must be an integer", "leaseSeconds=1h": "leaseSeconds must be an integer", "conflation=true": "conflation needs a consumerGroup, and no autoAck",
		"batch=1&batch=2": "batch is given twice", "%zz=1": "%zz has a broken escape in its name", "consumerGroup=%zz": "consumerGroup has a broken escape; write", "x=a;b": "x holds a bare semicolon", "autopilot=on": "autopilot must be true or false",
		"consumerGroup=a%00b": "consumerGroup holds a control character", "consumerGroup=%FF": "consumerGroup is not valid UTF-8",
		"consumerGroup=" + strings.Repeat("g", 256): "consumerGroup is longer than 255 characters", "subscriptionFrom=%00": "subscriptionFrom holds a control character",
	} {
		for _, path := range []string{"/api/v1/pop/queue/q", "/api/v1/pop/queue/q/partition/p"} {
			r := ts.get(path + "?" + query)
			require.Equal(t, http.StatusBadRequest, r.Status, query)
			require.Contains(t, r.failure(t).Text, text, query)
		}
	}
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`), "decided before any SQL")
	for _, query := range []string{
		"batch=0", "batch=-5", "batch=2147483648", "partitions=0", "partitions=-1", "leaseSeconds=0", "leaseSeconds=-9", "timeout=5",
		"unknown=1", "consumerGroup=", "subscriptionMode=", "subscriptionFrom=", "subscriptionFrom=garbage", "autopilot=true", "conflation=false",
		"wait=true&timeout=0", "leaseSeconds=99999999999",
	} {
		require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/q?"+query).Status, query)
	}
}

// Every parameter that is a number, of every route that takes one.
func TestAbsurdNumbersInParameters(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	for _, name := range []string{"batch", "partitions", "leaseSeconds", "timeout"} {
		for _, value := range []string{"1e999999", "1e400", "9223372036854775808", "-9223372036854775809", "1.5", "0x10", "+-1"} {
			r := ts.get("/api/v1/pop/queue/q?" + name + "=" + value)
			require.Equal(t, http.StatusBadRequest, r.Status, "%s=%s", name, value)
			require.Equal(t, []string{"QN400", name}, []string{r.failure(t).Code, r.failure(t).Invalid}, value)
		}
		for _, value := range []string{"9223372036854775807", "2147483648"} {
			require.Less(t, ts.get("/api/v1/pop/queue/q/partition/none?"+name+"="+value).Status, 300, "%s=%s", name, value)
		}
	}
	popped := ts.get("/api/v1/pop/queue/q?batch=9223372036854775807&partitions=-9223372036854775808&leaseSeconds=9223372036854775807")
	require.Equal(t, http.StatusOK, popped.Status)
	var got PopResponse
	popped.into(t, &got)
	for _, seconds := range []string{"1e999999", "1e400", "9223372036854775808", "9223372036854775807", "-9223372036854775808"} {
		r := ts.post("/api/v1/lease/"+got.LeaseID+"/extend", `{"seconds":`+seconds+`}`)
		require.Equal(t, http.StatusOK, r.Status, seconds)
		require.Contains(t, string(r.Body), `"success":true`, seconds)
	}
}

func TestNamesInPaths_F004_F159(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for encoded, name := range map[string]string{
		"a%2Fb": "a/b", "a%252Fb": "a%2Fb", "%2E": ".", "%2E%2E": "..", "partition": "partition", "queue": "queue", "%3F%23": "?#",
		"%C3%BC%20x": "ü x", "a+b": "a+b", strings.Repeat("n", 255): strings.Repeat("n", 255),
	} {
		body, err := json.Marshal(map[string]any{"items": []any{map[string]any{"queue": name, "partition": name, "payload": name}}})
		require.NoError(t, err)
		ts.push(string(body))
		r := ts.get("/api/v1/pop/queue/" + encoded + "/partition/" + encoded)
		require.Equal(t, http.StatusOK, r.Status, name)
		var got PopResponse
		r.into(t, &got)
		require.Equal(t, name, got.Queue)
		require.Equal(t, name, got.Partition)
	}
	for target, status := range map[string]int{
		"/api/v1/pop/queue/a%00b": 400, "/api/v1/pop/queue/a%0Ab": 400, "/api/v1/pop/queue/%FF": 400, "/api/v1/pop/queue/" + strings.Repeat("n", 256): 400,
		"/api/v1/pop/queue/q/partition/a%1Fb": 400, "/api/v1/pop/queue/": 404, "/api/v1/pop/queue/q/": 404, "/api/v1/pop/queue//partition/p": 404,
		"/api/v1/pop/queue/./partition/p": 404, "/api/v1/pop/queue/../x": 404, "/api/v1/pop": 400, "/api/v1/pop/queue/q/partition": 404,
	} {
		r := ts.get(target)
		require.Equal(t, status, r.Status, target)
		require.Empty(t, r.Header.Get("Location"), target)
	}
	r := ts.send("HEAD", "/api/v1/pop/queue/partition", "")
	require.Equal(t, http.StatusMethodNotAllowed, r.Status, "a HEAD takes nothing")
}

func TestSubscriptionModes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "Default", `1`)
	for mode, found := range map[string]int{
		"": 0, "subscriptionMode=new": 0, "subscriptionMode=New-Only%20": 0, "subscriptionMode=new_only": 0, "subscriptionMode=newonly": 0,
		"subscriptionMode=all": 1, "subscriptionMode=earliest": 1, "subscriptionMode=": 1, "subscriptionMode=all&subscriptionFrom=now": 0,
		"subscriptionFrom=2001-01-01T00:00:00Z": 1, "subscriptionFrom=2999-01-01": 0,
	} {
		require.Len(t, ts.pop("q", "consumerGroup=g"+strings.Trim(fmt.Sprintf("%x", mode), " ")+"&"+mode).Messages, found, mode)
	}
	require.Len(t, ts.pop("q", "").Messages, 1, "queue mode never skips a backlog")

	old := newTestServer(t, func(c *Config) { c.SubscriptionMode = "all" })
	old.pushOne("q", "Default", `1`)
	require.Len(t, old.pop("q", "consumerGroup=g").Messages, 1, "DEFAULT_SUBSCRIPTION_MODE")
}

func TestSeveralPartitionsShareOneLease(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for i := range 9 {
		ts.pushOne("q", fmt.Sprint("p", i%3), fmt.Sprint(i))
	}
	one := ts.pop("q", "batch=9")
	require.Equal(t, 1, one.PartitionsClaimed)
	require.Len(t, one.Messages, 3)
	rest := ts.pop("q", "batch=5&partitions=0")
	require.Equal(t, 2, rest.PartitionsClaimed)
	require.Len(t, rest.Messages, 5)
	for _, m := range rest.Messages {
		require.Equal(t, rest.LeaseID, m.LeaseID)
	}
	r := ts.post("/api/v1/lease/"+rest.LeaseID+"/extend", `{"seconds":300}`)
	var extended ExtendResponse
	r.into(t, &extended)
	require.Equal(t, 2, extended.Renewed)
}

func TestAutoAckDeliversAtMostOnce_F055(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "Default", `1`)
	got := ts.pop("q", "autoAck=true")
	require.Len(t, got.Messages, 1)
	require.Empty(t, got.LeaseID)
	require.Empty(t, got.Messages[0].LeaseID)
	require.Empty(t, ts.pop("q", "").Messages)
	require.Equal(t, 1, ts.count(`SELECT total_consumed FROM queen.log_consumers`), "counted")
	ts.pushOne("q", "Default", `2`)
	require.NotEmpty(t, ts.pop("q", "").LeaseID, "never the default")
}

func TestWaitingPopEndsWithABare204(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	inTime(t, 450*time.Millisecond, func() time.Duration {
		began := time.Now()
		require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/q?wait=true&timeout=300").Status)
		took := time.Since(began)
		require.GreaterOrEqual(t, took, 290*time.Millisecond)
		return took
	})
}

func TestPushWakesAParkedPopAtOnce_F045(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for round := range 10 {
		for _, route := range []string{"/api/v1/pop/queue/q?", "/api/v1/pop/queue/q/partition/p?"} {
			inTime(t, 100*time.Millisecond, func() time.Duration {
				waiting := ts.popLater(route + "wait=true&timeout=10000&autoAck=true")
				ts.parked(1)
				time.Sleep(time.Duration(round) * time.Millisecond)
				ts.pushOne("q", "p", `1`)
				pushed := time.Now()
				got := <-waiting
				require.NoError(t, got.err)
				require.Equal(t, http.StatusOK, got.Status)
				return got.at.Sub(pushed)
			})
		}
	}
}

func TestNoWakeIsLostBetweenTheEmptyCheckAndThePark_F045(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db)
	for round := range inLongForm(60, 500) {
		pusher := ts
		if round%2 == 1 {
			pusher = other
		}
		tried := 0
		inTime(t, time.Second, func() time.Duration {
			tried++
			waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=10000&autoAck=true")
			time.Sleep(time.Duration(round%6) * time.Millisecond)
			pusher.pushOne("q", fmt.Sprint("new", round, "-", tried), `1`)
			pushed := time.Now()
			got := <-waiting
			require.NoError(t, got.err)
			require.Equal(t, http.StatusOK, got.Status)
			return got.at.Sub(pushed)
		})
	}
}

func TestPushByPsqlWakesWithin500ms(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.Listen = false })
	for range 3 {
		inTime(t, 500*time.Millisecond, func() time.Duration {
			waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=10000&autoAck=true")
			ts.parked(1)
			ts.sql(`SELECT * FROM queen.push_v1('q', '1'::json)`)
			pushed := time.Now()
			got := <-waiting
			require.Equal(t, http.StatusOK, got.Status)
			return got.at.Sub(pushed)
		})
	}
}

// calm waits until the server asks the database no more than its watcher does.
func (ts *testServer) calm() {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		before := ts.pool.Stat().AcquireCount()
		time.Sleep(watchEvery)
		return ts.pool.Stat().AcquireCount()-before <= 2
	}, 20*time.Second, time.Millisecond)
}

// Many wait, one message comes: one of them gets it, and the rest cost the
// database next to nothing.
func TestOneMessageWakesNoHerd(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	var waiting []<-chan timed
	for range 50 {
		waiting = append(waiting, ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=1500&consumerGroup=g"))
	}
	ts.parked(50)
	ts.calm()
	before := ts.pool.Stat().AcquireCount()
	ts.pushOne("q", "p", `1`)
	time.Sleep(200 * time.Millisecond)
	require.Less(t, ts.pool.Stat().AcquireCount()-before, int64(8))
	served := 0
	for _, w := range waiting {
		if got := <-w; got.Status == http.StatusOK {
			served++
		}
	}
	require.Equal(t, 1, served)
}

func TestManyPartitionsWakeManyPops(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	var waiting []<-chan timed
	for range 20 {
		waiting = append(waiting, ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=60000"))
	}
	ts.parked(20)
	items := make([]string, 20)
	for i := range items {
		items[i] = fmt.Sprintf(`{"queue":"q","partition":"p%d","payload":1}`, i)
	}
	ts.push(`{"items":[` + strings.Join(items, ",") + `]}`)
	pushed := time.Now()
	for _, w := range waiting {
		got := <-w
		require.Equal(t, http.StatusOK, got.Status)
		require.Less(t, got.at.Sub(pushed), 30*time.Second)
	}
}

func TestAckThatFreesAPartitionWakes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.Listen = false })
	for _, status := range []string{"completed", "retry"} {
		queue := status
		inTime(t, 100*time.Millisecond, func() time.Duration {
			queue += "+"
			ts.push(fmt.Sprintf(`{"items":[{"queue":%[1]q,"payload":1},{"queue":%[1]q,"payload":2}]}`, queue))
			got := ts.pop(queue, "batch=1")
			waiting := ts.popLater("/api/v1/pop/queue/" + queue + "?wait=true&timeout=5000")
			ts.parked(1)
			time.Sleep(20 * time.Millisecond)
			ts.ackAll(got, status)
			acked := time.Now()
			next := <-waiting
			require.Equal(t, http.StatusOK, next.Status)
			return next.at.Sub(acked)
		})
	}
}

func TestExpiredLeaseIsFoundByTheWatcher(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	first := ts.pop("q", "leaseSeconds=1")
	require.Equal(t, 1, first.Messages[0].DeliveryAttempt)
	second := ts.pop("q", "wait=true&timeout=5000")
	require.Len(t, second.Messages, 1)
	require.Equal(t, 2, second.Messages[0].DeliveryAttempt)
}

func TestDelayedMessageAppearsByItself_F051(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"delayedProcessing":2}}`).Status)
	inTime(t, 2750*time.Millisecond, func() time.Duration {
		ts.pushOne("q", "p", `1`)
		began := time.Now()
		before := ts.pool.Stat().AcquireCount()
		require.Len(t, ts.pop("q", "wait=true&timeout=10000&autoAck=true").Messages, 1)
		took := time.Since(began)
		require.Greater(t, took, 1900*time.Millisecond, "not before 2 s")
		require.Less(t, ts.pool.Stat().AcquireCount()-before, int64(5+took/watchEvery), "no busy loop of empty claims")
		return took
	})
}

func TestStaleWaiterTakesNothing_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := ts.try(ctx, "GET", "/api/v1/pop/queue/q?wait=true&timeout=30000&leaseSeconds=30", "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ts.parked(0)
	ts.pushOne("q", "p", `1`)
	got := ts.pop("q", "")
	require.Len(t, got.Messages, 1, "a normal pop gets it at once")
	require.Equal(t, 1, got.Messages[0].DeliveryAttempt)
}

// brokenWriter is a client that is gone when the answer is written.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestAnswerThatCannotBeWrittenGivesTheMessagesBack_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p1", `1`)
	ts.pushOne("q", "p2", `2`)

	request := httptest.NewRequest("GET", "/api/v1/pop/queue/q?partitions=0&leaseSeconds=60", nil)
	ts.Handler().ServeHTTP(brokenWriter{httptest.NewRecorder()}, request)

	got := ts.pop("q", "partitions=0")
	require.Len(t, got.Messages, 2, "both partitions were released")
	require.Zero(t, ts.count(`SELECT max(batch_retry_count) FROM queen.log_consumers`), "no retry was charged")

	ts.ackAll(got, "completed")
	ts.pushOne("q", "p3", `3`)
	ts.cutAfterClaim(t, "q")
	require.Len(t, ts.pop("q", "").Messages, 1, "gone between the claim and the answer")
}

// cutAfterClaim lets the claim happen and the client go before the answer.
func (ts *testServer) cutAfterClaim(t *testing.T, queue string) {
	t.Helper()
	gone, cancel := context.WithCancel(context.Background())
	request := httptest.NewRequestWithContext(gone, "GET", "/", nil)
	popRequest, err := ts.popRequest("")
	require.NoError(t, err)
	popRequest.args.Queue, popRequest.args.TenantID = queue, defaultTenant
	rows, err := ts.Server.pop(gone, popRequest)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	cancel()
	ts.deliver(humago.NewContext(nil, request, httptest.NewRecorder()), popRequest, rows)
}

func TestParkedPopsHoldNoConnection_F048(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.PoolSize = 4 })
	ctx, leave := context.WithCancel(t.Context())
	var waiting []<-chan timed
	for i := range 200 {
		waiting = append(waiting, ts.popUntil(ctx, fmt.Sprintf("/api/v1/pop/queue/idle%d?wait=true&timeout=60000", i%20)))
	}
	ts.parked(200)
	for range 4 {
		inTime(t, 800*time.Millisecond, func() time.Duration { // four calls
			began := time.Now()
			ts.pushOne("busy", "p", `1`)
			ts.ackAll(ts.pop("busy", ""), "completed")
			require.Equal(t, http.StatusOK, ts.get("/health").Status)
			return time.Since(began)
		})
	}
	require.LessOrEqual(t, ts.pool.Stat().TotalConns(), int32(4))
	require.Zero(t, ts.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`))
	ts.parked(200)
	leave()
	for _, w := range waiting {
		require.ErrorIs(t, (<-w).err, context.Canceled)
	}
	ts.parked(0)
}

func TestIdleParkedPopsCostNextToNothing_F049(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ctx, leave := context.WithCancel(t.Context())
	var waiting []<-chan timed
	for i := range 10 {
		waiting = append(waiting, ts.popUntil(ctx, fmt.Sprintf("/api/v1/pop/queue/idle%d?wait=true&timeout=60000&consumerGroup=g", i)))
	}
	ts.parked(10)
	ts.calm()
	began, before := time.Now(), ts.pool.Stat().AcquireCount()
	time.Sleep(2 * time.Second)
	cost := ts.pool.Stat().AcquireCount() - before
	require.LessOrEqual(t, cost, int64(2+time.Since(began)/watchEvery), "one watcher query every 250 ms for all of them")
	leave()
	for _, w := range waiting {
		require.ErrorIs(t, (<-w).err, context.Canceled)
	}
	ts.parked(0)
	require.Eventually(t, func() bool { // the watcher may have been on its way
		before = ts.pool.Stat().AcquireCount()
		time.Sleep(watchEvery)
		return ts.pool.Stat().AcquireCount() == before
	}, time.Minute, time.Millisecond)
	time.Sleep(600 * time.Millisecond)
	require.Equal(t, before, ts.pool.Stat().AcquireCount(), "nothing while nobody is parked")
}

func TestBrokenListenerReconnectsAndRechecks_F046(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db)
	heard := func() bool { return len(ts.peers()) == 1 && len(other.peers()) == 1 }
	require.Eventually(t, heard, 20*time.Second, 10*time.Millisecond, "servers know each other")

	inTime(t, 2*time.Second, func() time.Duration {
		waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=20000&autoAck=true")
		ts.parked(1)
		ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent listen'`)
		other.pushOne("q", "p", `1`)
		pushed := time.Now()
		got := <-waiting
		require.NoError(t, got.err)
		require.Equal(t, http.StatusOK, got.Status)
		return got.at.Sub(pushed)
	})
	require.Eventually(t, func() bool {
		return ts.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent listen'`) == 2
	}, 20*time.Second, 20*time.Millisecond, "both listen again")
}

func (ts *testServer) peers() map[string]struct{} {
	ts.teller.mu.Lock()
	defer ts.teller.mu.Unlock()
	known := map[string]struct{}{}
	for id := range ts.teller.peers {
		known[id] = struct{}{}
	}
	return known
}

func TestAnotherServerIsToldFast_F195(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db)
	require.Eventually(t, func() bool { return len(ts.peers()) == 1 && len(other.peers()) == 1 }, 20*time.Second, 10*time.Millisecond)
	name := strings.Repeat("ü", 255) // never in the payload, which is limited
	for range 3 {
		inTime(t, 200*time.Millisecond, func() time.Duration { // faster than the watcher
			waiting := ts.popLater("/api/v1/pop/queue/" + strings.Repeat("%C3%BC", 255) + "?wait=true&timeout=10000&autoAck=true")
			ts.parked(1)
			time.Sleep(120 * time.Millisecond) // past the throttle
			other.pushOne(name, "p", `1`)
			pushed := time.Now()
			got := <-waiting
			require.Equal(t, http.StatusOK, got.Status)
			return got.at.Sub(pushed)
		})
	}
}

func TestNobodyIsNotifiedWhileAlone_F195(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	conn, err := ts.db.Pool.Acquire(context.Background())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(context.Background(), `LISTEN queen_wake`)
	require.NoError(t, err)
	for range 5 {
		ts.pushOne("q", "p", `1`)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	for {
		note, err := conn.Conn().WaitForNotification(ctx)
		if err != nil {
			break
		}
		require.NotContains(t, note.Payload, wordPush+" ")
	}
	_, err = conn.Exec(context.Background(), `UNLISTEN *`)
	require.NoError(t, err)
}

func TestMinPopWaitTimeHoldsForAFullerBatch_O24(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"minPopWaitTime":600}}`).Status)
	ts.pushOne("q", "p", `1`)
	require.Len(t, ts.pop("q", "").Messages, 1, "only with wait=true")
	ts.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)

	for params, took := range map[string][2]time.Duration{
		"batch=10":             {550 * time.Millisecond, 800 * time.Millisecond}, // the window
		"batch=10&timeout=100": {0, 400 * time.Millisecond},                      // never past the caller's timeout
		"batch=1":              {0, 300 * time.Millisecond},                      // not for a batch of one
	} {
		inTime(t, took[1], func() time.Duration {
			began := time.Now()
			require.Len(t, ts.pop("q", "wait=true&"+params).Messages, 1, params)
			held := time.Since(began)
			require.GreaterOrEqual(t, held, took[0], params)
			ts.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)
			return held
		})
	}

	ts.pop("q", "batch=10&autoAck=true")
	inTime(t, 500*time.Millisecond, func() time.Duration { // a full batch ends the hold
		ts.pushOne("q", "p", `1`)
		waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&batch=3&autoAck=true")
		ts.parked(1)
		time.Sleep(50 * time.Millisecond)
		ts.push(`{"items":[{"queue":"q","partition":"p","payload":2},{"queue":"q","partition":"p","payload":3}]}`)
		got := <-waiting
		var full PopResponse
		got.into(t, &full)
		require.Len(t, full.Messages, 3)
		return got.took
	})
}

func TestStopSendsParkedPopsHome(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=60000")
	ts.parked(1)
	ts.drain()
	got := <-waiting
	require.NoError(t, got.err)
	require.Equal(t, http.StatusNoContent, got.Status)
	require.Less(t, got.took, 30*time.Second)
}

func TestRunStopsGracefully(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	s, err := New(ts.cfg, ts.pool, testLog())
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var calls sync.WaitGroup
	calls.Go(func() {
		response, err := client.Get("http://" + listener.Addr().String() + "/api/v1/pop/queue/q?wait=true&timeout=20000")
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		if response.StatusCode != http.StatusNoContent {
			t.Error(response.Status)
		}
	})
	require.Eventually(t, func() bool { return !s.room.empty() }, 20*time.Second, time.Millisecond)
	cancel()
	calls.Wait()
	require.NoError(t, <-ended)
}
