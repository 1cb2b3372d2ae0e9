package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stored counts the messages of the database.
func (ts *testServer) stored() int {
	ts.t.Helper()
	return ts.count(`SELECT coalesce(sum(frames), 0) FROM queen.log_segments`)
}

func TestPushAnswersHaveExactlyTheKeysOfTheWire(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)

	r := ts.post("/api/v1/push", `{"items":[{"queue":"q","payload":1,"transactionId":"x"},{"queue":"q","payload":2,"transactionId":"x"}]}`)

	var items []map[string]any
	r.into(t, &items)
	require.Len(t, items, 2)
	for _, item := range items {
		keys := make([]string, 0, len(item))
		for key := range item {
			keys = append(keys, key)
		}
		require.ElementsMatch(t, []string{"index", "message_id", "transaction_id", "queueName", "status"}, keys)
	}
}

func TestPayloadsComeBackByteForByte_F003(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	sent := []string{
		`{"a":"x\u0000y"}`, `"\u0000"`, `1e400`, `123456789012345678901234567890`, `1.10`, `-0`, `{"b":1,"a":2,"b":3}`,
		`"\ud83d\ude00"`, `"\u00e9é"`, `[ 1 ,	2 ]`, `{ "<&>" : "\/" }`, `null`, `true`, `""`, `{}`, `"` + strings.Repeat("x", 70_000) + `"`,
	}
	items := make([]string, len(sent))
	for i, payload := range sent {
		items[i] = `{"queue":"q","payload":` + payload + `}`
	}
	for _, result := range ts.push(`{"items":[` + strings.Join(items, ",") + `]}`) {
		require.Equal(t, "queued", result.Status)
	}

	r := ts.get("/api/v1/pop/queue/q?subscriptionMode=all")

	require.Equal(t, http.StatusOK, r.Status)
	var got struct {
		Messages []struct{ Data json.RawMessage }
	}
	r.into(t, &got)
	require.Len(t, got.Messages, len(sent))
	for i, m := range got.Messages {
		require.Equal(t, sent[i], string(m.Data))
	}
}

func TestBadPushesAreRefusedByFieldAndStoreNothing_F004_F005_F019_F023_F025(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	item := func(rest string) string { return `{"items":[{"queue":"good","payload":1},{` + rest + `}]}` }
	long := strings.Repeat("n", 256)
	for name, c := range map[string]struct{ body, text string }{
		"no body":                  {``, `request body is required`},
		"not JSON":                 {`{"items":[}`, `bad body: `},
		"truncated":                {`{"items":[{"queue":"q","payload":`, `bad body: unexpected end`},
		"something follows":        {`{"items":[]} x`, `bad body: `},
		"two documents":            {`{"items":[]}{"items":[]}`, `bad body: something follows`},
		"an array":                 {`[]`, `bad body: it must be an object`},
		"no items":                 {`{}`, `items is required`},
		"null items":               {`{"items":null}`, `items must be an array`},
		"items an object":          {`{"items":{}}`, `items must be an array`},
		"item a string":            {`{"items":["x"]}`, `items[0] must be an object`},
		"no queue":                 {item(`"payload":1`), `items[1].queue is required`},
		"null queue":               {item(`"queue":null,"payload":1`), `items[1].queue is required`},
		"queue a number":           {item(`"queue":7,"payload":1`), `items[1].queue must be a string`},
		"no payload":               {item(`"queue":"q"`), `items[1].payload is required`},
		"data is no payload":       {item(`"queue":"q","data":1`), `items[1].payload is required`},
		"case matters":             {item(`"Queue":"q","payload":1`), `items[1].queue is required`},
		"queue twice":              {item(`"queue":"q","queue":"r","payload":1`), `items[1].queue is given twice`},
		"NUL in the queue":         {item(`"queue":"a\u0000b","payload":1`), `items[1].queue holds a control character`},
		"US in the queue":          {item(`"queue":"a\u001fb","payload":1`), `items[1].queue holds a control character`},
		"newline in the partition": {item(`"queue":"q","partition":"a\nb","payload":1`), `items[1].partition holds a control character`},
		"NUL in the id":            {item(`"queue":"q","transactionId":"a\u0000b","payload":1`), `items[1].transactionId holds a control character`},
		"long queue":               {item(`"queue":"` + long + `","payload":1`), `items[1].queue is longer than 255 characters`},
		"long partition":           {item(`"queue":"q","partition":"` + long + `","payload":1`), `items[1].partition is longer than 255 characters`},
		"long id":                  {item(`"queue":"q","transactionId":"` + strings.Repeat("i", 65536) + `","payload":1`), `items[1].transactionId is longer than 65535 bytes`},
		"byte FF in the queue":     {item("\"queue\":\"a\xff\",\"payload\":1"), `bad body: invalid UTF-8`},
		"byte FF in the id":        {item("\"queue\":\"q\",\"transactionId\":\"a\xfe\",\"payload\":1"), `bad body: invalid UTF-8`},
		"byte FF in the payload":   {item("\"queue\":\"q\",\"payload\":\"s3cret\xff\""), `bad body: invalid UTF-8`},
		"half a pair":              {item(`"queue":"q","payload":"\ud83d"`), `bad body: invalid surrogate pair`},
		"the other half":           {item(`"queue":"q","payload":{"\ude00":1}`), `bad body: invalid surrogate pair`},
		"half a pair twice":        {item(`"queue":"q","payload":"\ud83d\\\ude00"`), `bad body: invalid surrogate pair`},
		"deep nesting":             {item(`"queue":"q","payload":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), `bad body: `},
		"secret in a broken item":  {item(`"queue":"q","payload":{"secret":"s3cret"},"x":tru}`), `bad body: `},
		"secret beside a fault":    {item(`"queue":7,"payload":{"secret":"s3cret"}`), `items[1].queue must be a string`},
	} {
		r := ts.post("/api/v1/push", c.body)
		require.Equal(t, http.StatusBadRequest, r.Status, name)
		failure := r.failure(t)
		require.Contains(t, failure.Text, c.text, name)
		require.Equal(t, "QN400", failure.Code, name)
		require.False(t, failure.Retryable, name)
		require.NotContains(t, string(r.Body), "s3cret", name)
		require.Less(t, len(r.Body), 400, name)
	}
	require.Zero(t, ts.stored())
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`))
}

func TestAcceptedPushesOfOddShape_F025(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	r := ts.post("/api/v1/push", `{"items":[]}`)
	require.Equal(t, http.StatusCreated, r.Status)
	require.Equal(t, "[]", string(r.Body))
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`), "F025: an empty push makes nothing")

	results := ts.push(`{"later":[1],"items":[
		{"queue":"q","partition":"","payload":1,"traceId":5,"producerSub":{"a":[]},"bufferMs":20},
		{"queue":"q","payload":2,"partition":null,"transactionId":null},
		{"queue":"q","payload":3,"transactionId":""},
		{"queue":"\u0071","payload":4,"transactionId":""},
		{"queue":"` + strings.Repeat("ü", 255) + `","payload":5}]}`)
	statuses := []string{}
	for _, result := range results {
		statuses = append(statuses, result.Status)
	}
	require.Equal(t, []string{"queued", "queued", "queued", "duplicate", "queued"}, statuses)
	require.Equal(t, "", results[2].TransactionID, "an explicit empty id is taken literally")
	require.Equal(t, results[2].MessageID, results[3].MessageID)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_partitions WHERE name = ''`), "so is an empty partition")
}

func TestBodyOverTheLimitIs413(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.MaxBodyBytes = 1000 })
	body := func(n int) string {
		frame := `{"items":[{"queue":"q","payload":""}]}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1)
	}
	require.Equal(t, http.StatusCreated, ts.post("/api/v1/push", body(1000)).Status, "the limit itself fits")
	for _, target := range []string{"/api/v1/push", "/api/v1/ack", "/api/v1/ack/batch", "/api/v1/configure"} {
		r := ts.post(target, body(1001))
		require.Equal(t, http.StatusRequestEntityTooLarge, r.Status, target)
		require.Equal(t, "QN413", r.failure(t).Code)
	}
	require.Equal(t, 1, ts.stored())
}

func TestRepeatInOneRequestFollowsTheFirst_F011_P2(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	results := ts.push(`{"items":[
		{"queue":"q","payload":1,"transactionId":"X"},
		{"queue":"q","payload":2,"transactionId":"Y"},
		{"queue":"q","payload":3,"transactionId":"X"}]}`)
	require.Equal(t, "queued", results[0].Status)
	require.Equal(t, "queued", results[1].Status)
	require.Equal(t, "duplicate", results[2].Status)
	require.Equal(t, results[0].MessageID, results[2].MessageID)
	require.Equal(t, []string{"1", "2"}, payloads(ts.pop("q", "subscriptionMode=all")))

	again := ts.push(`{"items":[{"queue":"q","payload":4,"transactionId":"X"},{"queue":"q","payload":5,"transactionId":"X"}]}`)
	for _, result := range again {
		require.Equal(t, "duplicate", result.Status)
		require.Equal(t, results[0].MessageID, result.MessageID, "the follower of a duplicate names the original")
	}
}

func TestDuplicateNamesTheOriginal_F013(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	first := ts.push(`{"items":[{"queue":"q","payload":"A","transactionId":"X"}]}`)
	second := ts.push(`{"items":[{"queue":"q","payload":"B","transactionId":"X"}]}`)
	require.Equal(t, "duplicate", second[0].Status)
	require.Equal(t, first[0].MessageID, second[0].MessageID)
	got := ts.pop("q", "subscriptionMode=all")
	require.Equal(t, []string{"A"}, payloads(got))
	require.Equal(t, first[0].MessageID, got.Messages[0].ID)

	ts.sql(`DELETE FROM queen.log_segments`)
	third := ts.push(`{"items":[{"queue":"q","payload":"C","transactionId":"X"}]}`)
	require.Equal(t, "duplicate", third[0].Status)
	require.Equal(t, "00000000-0000-0000-0000-000000000000", third[0].MessageID, "the original is unreadable")
}

func TestWindowIsFixedFromTheFirst_F015(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":3000}}`).Status)
	push := func() string {
		return ts.push(`{"items":[{"queue":"q","payload":1,"transactionId":"X"}]}`)[0].Status
	}
	age := func(seconds int) {
		ts.sql(`UPDATE queen.log_segments SET created_at = created_at - make_interval(secs => $1)`, seconds)
		ts.sql(`UPDATE queen.log_txns SET created_at = created_at - make_interval(secs => $1)`, seconds)
	}
	require.Equal(t, "queued", push())
	age(2000)
	require.Equal(t, "duplicate", push(), "2000 s")
	age(2000)
	require.Equal(t, "queued", push(), "4000 s after the first: the duplicate did not refresh the window")
	age(2000)
	require.Equal(t, "duplicate", push(), "6000 s")
}

func TestDedupScopeIsThePartition_F017(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	one := func(queue, partition string) string {
		return fmt.Sprintf(`{"queue":%q,"partition":%q,"payload":1,"transactionId":"X"}`, queue, partition)
	}
	for _, result := range ts.push(`{"items":[` + one("q", "A") + `,` + one("q", "B") + `,` + one("r", "A") + `]}`) {
		require.Equal(t, "queued", result.Status)
	}
	for _, lane := range [][2]string{{"q", "A"}, {"q", "B"}, {"r", "A"}} {
		require.Equal(t, "duplicate", ts.push(`{"items":[` + one(lane[0], lane[1]) + `]}`)[0].Status, "single pushes, too")
		r := ts.post("/api/v1/transaction", `{"operations":[{"type":"push","items":[`+one(lane[0], lane[1])+`]}]}`)
		require.Contains(t, string(r.Body), `"success":false`, "in a transaction, too")
		require.Contains(t, string(r.Body), "QDUP", "in a transaction, too")
	}
}

func TestRefusedGroupFailsAlone(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"sealed","options":{"encryptionEnabled":true}}`).Status)

	r := ts.post("/api/v1/push", `{"items":[{"queue":"sealed","payload":1}]}`)
	require.Equal(t, http.StatusServiceUnavailable, r.Status, "nothing was stored")
	require.Equal(t, "QN503", r.failure(t).Code, "there is no key")

	results := ts.push(`{"items":[{"queue":"q","payload":1},{"queue":"sealed","payload":2,"transactionId":"t"},{"queue":"sealed","payload":3}]}`)
	require.Equal(t, "queued", results[0].Status)
	for _, result := range results[1:] {
		require.Equal(t, "failed", result.Status)
		require.Contains(t, result.Error, "encrypted")
		require.NotContains(t, result.Error, "QN503")
	}
	require.Equal(t, "t", results[1].TransactionID)
	require.Equal(t, 1, ts.stored())
}

// holdPartition locks a partition row, as an application that pushed and idles does.
func (ts *testServer) holdPartition(queue, partition string) (release func()) {
	ts.t.Helper()
	tx, err := ts.db.Pool.Begin(context.Background())
	require.NoError(ts.t, err)
	_, err = tx.Exec(context.Background(), `SELECT * FROM queen.push_v1($1, '"held"'::json, $2)`, queue, partition)
	require.NoError(ts.t, err)
	return sync.OnceFunc(func() { require.NoError(ts.t, tx.Commit(context.Background())) })
}

func TestHeldPartitionDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.LockTimeout = 2 * time.Second })
	ts.pushOne("q", "held", `0`)
	ts.pushOne("q", "free", `0`)
	release := ts.holdPartition("q", "held")
	defer release()

	var calls sync.WaitGroup
	blocked := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"held","payload":1}]}`)
		blocked <- r
	}()
	for range 20 {
		calls.Go(func() {
			r, err := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"free","payload":1}]}`)
			if err != nil || r.Status != http.StatusCreated {
				t.Errorf("%d, %v", r.Status, err)
			}
		})
	}
	calls.Wait()
	require.Empty(t, blocked, "a neighbour waited")
	r := <-blocked
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	require.Equal(t, "55P03", r.failure(t).Code)
	require.True(t, r.failure(t).Retryable)

	mixed := ts.push(`{"items":[{"queue":"q","partition":"held","payload":1},{"queue":"q","partition":"free","payload":1}]}`)
	require.Equal(t, "failed", mixed[0].Status, "others of the call were stored")
	require.Equal(t, "queued", mixed[1].Status)

	release()
	require.Equal(t, "queued", ts.pushOne("q", "held", `2`).Status)
}

func TestWaitingPushGoesThroughWhenTheHolderCommits(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "held", `0`)
	release := ts.holdPartition("q", "held")
	done := make(chan string)
	go func() {
		defer close(done)
		done <- ts.pushOne("q", "held", `"after"`).Status
	}()
	time.Sleep(100 * time.Millisecond)
	release()
	require.Equal(t, "queued", <-done)
	require.Equal(t, []string{"0", "held", "after"}, payloads(ts.pop("q", "subscriptionMode=all")))
}

func TestConcurrentPushesOfOneIdStoreItOnce(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	statuses, ids := concurrentRepeats(t, ts, "q")
	require.Equal(t, 1, statuses["queued"])
	require.Equal(t, 39, statuses["duplicate"])
	require.Len(t, ids, 1, "every answer names the one message")
	require.Equal(t, 1, ts.stored())
}

func TestConcurrentPushesWithoutAWindowStoreEveryOne(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`).Status)
	statuses, ids := concurrentRepeats(t, ts, "q")
	require.Equal(t, 40, statuses["queued"], "coalescing must not dedup across requests")
	require.Len(t, ids, 40)
}

func concurrentRepeats(t *testing.T, ts *testServer, queue string) (statuses map[string]int, ids map[string]bool) {
	t.Helper()
	var mu sync.Mutex
	var calls sync.WaitGroup
	statuses, ids = map[string]int{}, map[string]bool{}
	for range 40 {
		calls.Go(func() {
			result := ts.push(fmt.Sprintf(`{"items":[{"queue":%q,"payload":1,"transactionId":"same"}]}`, queue))[0]
			mu.Lock()
			defer mu.Unlock()
			statuses[result.Status]++
			ids[result.MessageID] = true
		})
	}
	calls.Wait()
	return statuses, ids
}

// Producers that each push in sequence see their own order, and every answer
// names the message that is stored under it, however calls are merged.
func TestCoalescedPushesKeepOrderAndIdentity_F001_P6(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const producers, rounds = 16, 12
	ids := make([][]string, producers)
	var calls sync.WaitGroup
	for p := range producers {
		calls.Go(func() {
			for round := range rounds {
				results := ts.push(fmt.Sprintf(`{"items":[{"queue":"q","payload":"%d-%d-a","transactionId":"%d-%d"},{"queue":"q","payload":"%d-%d-b"},{"queue":"q","partition":"p%d","payload":1}]}`,
					p, round, p, round, p, round, p%3))
				ids[p] = append(ids[p], results[0].MessageID, results[1].MessageID)
			}
		})
	}
	calls.Wait()
	r := ts.get("/api/v1/pop/queue/q/partition/Default?subscriptionMode=all&batch=1000")
	var got PopResponse
	r.into(t, &got)
	require.Len(t, got.Messages, 2*producers*rounds)
	next := make([]int, producers)
	last := ""
	for _, m := range got.Messages {
		var p, round int
		var half string
		_, err := fmt.Sscanf(m.Data.(string), "%d-%d-%1s", &p, &round, &half)
		require.NoError(t, err)
		at := 2*round + int(half[0]-'a')
		require.Equal(t, next[p], at, "order of producer %d", p)
		require.Equal(t, ids[p][at], m.ID, "the answer named this message")
		require.Less(t, last, m.ID, "ids rise with the order")
		next[p]++
		last = m.ID
	}
	segments := ts.count(`SELECT count(*) FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id WHERE p.name = 'Default'`)
	require.Less(t, segments, producers*rounds, "calls were merged")
}

func TestLargeRequestIsCutIntoCalls(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	items := make([]string, 12)
	for i := range items {
		items[i] = fmt.Sprintf(`{"queue":"q","transactionId":"%d","payload":"%d%s"}`, i%11, i, strings.Repeat("x", 1<<20))
	}
	results := ts.push(`{"items":[` + strings.Join(items, ",") + `]}`)
	for i, result := range results {
		if i == 11 {
			require.Equal(t, "duplicate", result.Status, "the leader may be in an earlier call")
			require.Equal(t, results[0].MessageID, result.MessageID)
			continue
		}
		require.Equal(t, "queued", result.Status)
	}
	got := ts.pop("q", "subscriptionMode=all")
	require.Len(t, got.Messages, 11)
	for i, m := range got.Messages {
		require.Equal(t, results[i].MessageID, m.ID)
	}
}

func TestCallerThatLeavesDoesNotCancelOthers(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `0`)
	release := ts.holdPartition("q", "p")
	ctx, cancel := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	calls.Go(func() {
		_, err := ts.try(ctx, "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":"leaver"}]}`)
		if err == nil {
			t.Error("the caller left")
		}
	})
	time.Sleep(50 * time.Millisecond)
	stayed := make(chan string)
	go func() {
		defer close(stayed)
		stayed <- ts.pushOne("q", "p", `"stayer"`).Status
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	calls.Wait()
	release()
	require.Equal(t, "queued", <-stayed)
}
