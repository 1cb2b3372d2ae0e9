package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fetched is an answer of fetch, as the wire has it.
type fetched struct {
	Entries []struct {
		Queue, Partition string
		Records          []struct {
			Offset        int64
			TransactionID string `json:"transactionId"`
			Payload       json.RawMessage
			TS            string `json:"ts"`
		}
		HighWatermark, LogStartOffset int64
		Error                         string
	}
}

// fetchOf sends a fetch that must succeed.
func (ts *testServer) fetchOf(body string) fetched {
	ts.t.Helper()
	r := ts.post("/api/v1/fetch", body)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got fetched
	r.into(ts.t, &got)
	return got
}

// offsets are those of the records of an entry.
func (f fetched) offsets(entry int) []int64 {
	out := []int64{}
	for _, record := range f.Entries[entry].Records {
		out = append(out, record.Offset)
	}
	return out
}

func TestFetchAnswersExactlyAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.push(`{"items":[{"queue":"q","partition":"7","payload":{"z":1, "a":1.50},"transactionId":"t/1"},{"queue":"q","partition":"7","payload":null}]}`)
	r := ts.post("/api/v1/fetch", `{"entries":[{"queue":"q","partition":7,"offset":0},{"queue":"q","offset":0,"maxBytes":null},{"queue":"nope","partition":"x","offset":3}],"later":[1]}`)
	require.Equal(t, http.StatusOK, r.Status)
	var at, id string
	require.NoError(t, ts.db.Pool.QueryRow(context.Background(), `SELECT queen._utc(created_at), queen._frame_id(id_base, 1)::text FROM queen.log_segments`).Scan(&at, &id))
	require.Equal(t, `{"entries":[{"queue":"q","partition":"7","records":[{"offset":0,"transactionId":"t/1","payload":{"z":1, "a":1.50},"ts":"`+at+
		`"},{"offset":1,"transactionId":"`+id+`","payload":null,"ts":"`+at+`"}],"highWatermark":2,"logStartOffset":0},`+
		`{"queue":"q","partition":"Default","records":[],"highWatermark":0,"logStartOffset":0},`+
		`{"queue":"nope","partition":"x","records":[],"highWatermark":0,"logStartOffset":0,"error":"UNKNOWN_TOPIC_OR_PARTITION"}]}`, string(r.Body))
	require.Equal(t, `{"entries":[]}`, string(ts.post("/api/v1/fetch", `{"entries":[]}`).Body))
	require.Equal(t, 0, ts.count(`SELECT count(*) FROM queen.log_consumers`), "O-57: no cursor")
}

func TestFetchRefusals(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for body, text := range map[string]string{
		`{`:                           "bad body: unexpected end, at byte 1",
		`[]`:                          "bad body: it must be an object",
		`{}`:                          "entries is required",
		`{"entries":7}`:               "entries must be an array",
		`{"entries":[7]}`:             "entries[0] must be an object",
		`{"entries":[{}]}`:            "entries[0].queue is required",
		`{"entries":[{"queue":"q"}]}`: "entries[0].offset is required",
		`{"entries":[{"queue":"q","offset":-1}]}`:                                                         "entries[0].offset must not be negative",
		`{"entries":[{"queue":"q","offset":1.5}]}`:                                                        "entries[0].offset must be an integer",
		`{"entries":[{"queue":"q","offset":"1"}]}`:                                                        "entries[0].offset must be an integer",
		`{"entries":[{"queue":"q","offset":9223372036854775808}]}`:                                        "entries[0].offset must be an integer",
		`{"entries":[{"queue":"q","offset":0,"partition":true}]}`:                                         "entries[0].partition must be a string",
		`{"entries":[{"queue":"q","offset":0,"partition":"a\u0000"}]}`:                                    "entries[0].partition holds a control character",
		`{"entries":[{"queue":"q","offset":0,"maxBytes":"x"}]}`:                                           "entries[0].maxBytes must be an integer",
		`{"entries":[],"maxWaitMs":"x"}`:                                                                  "maxWaitMs must be an integer",
		`{"entries":[],"minBytes":[]}`:                                                                    "minBytes must be an integer",
		`{"entries":[` + strings.Repeat(`{"queue":"q","offset":0},`, 1024) + `{"queue":"q","offset":0}]}`: "bad body: entries has more than 1024 elements",
	} {
		r := ts.post("/api/v1/fetch", body)
		require.Equal(t, http.StatusBadRequest, r.Status, "%.60s", body)
		require.Equal(t, text, r.failure(t).Text, "%.60s", body)
	}
	many := ts.fetchOf(`{"entries":[` + strings.Repeat(`{"queue":"q","offset":0},`, 1023) + `{"queue":"q","offset":0}]}`)
	require.Len(t, many.Entries, 1024)
}

// O-58.
func TestFetchRange(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for range 4 {
		ts.pushOne("q", "p", `1`)
	}
	ts.sql(`SELECT queen._move_log_start(id, 2), queen._reclaim_prefix(id, 1) FROM queen.log_partitions`)
	for offset, want := range map[int64]string{0: "OFFSET_OUT_OF_RANGE", 1: "OFFSET_OUT_OF_RANGE", 2: "", 3: "", 4: "", 5: "OFFSET_OUT_OF_RANGE", 1 << 62: "OFFSET_OUT_OF_RANGE"} {
		got := ts.fetchOf(fmt.Sprintf(`{"entries":[{"queue":"q","partition":"p","offset":%d}]}`, offset)).Entries[0]
		require.Equal(t, [3]any{want, int64(4), int64(2)}, [3]any{got.Error, got.HighWatermark, got.LogStartOffset}, offset)
		require.Len(t, got.Records, max(0, 4-int(offset))*btoi(want == ""), offset)
	}
	ts.sql(`SELECT queen._move_log_start(id, 4) FROM queen.log_partitions`)
	got := ts.fetchOf(`{"entries":[{"queue":"q","partition":"p","offset":4},{"queue":"q","partition":"new","offset":1}]}`)
	require.Equal(t, [2]int64{4, 4}, [2]int64{got.Entries[0].HighWatermark, got.Entries[0].LogStartOffset}, "an emptied log keeps its end")
	require.Empty(t, got.Entries[0].Error)
	require.Equal(t, "OFFSET_OUT_OF_RANGE", got.Entries[1].Error, "above the end of an empty log")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// O-59: bounds of an entry and of a call; only the first segment may be larger.
func TestFetchBounds(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for range 3 {
		ts.pushOne("q", "p", `"`+noiseText(5000)+`"`)
	}
	ts.pushOne("q", "other", `"`+noiseText(5000)+`"`)
	read := func(max int) []int64 {
		return ts.fetchOf(fmt.Sprintf(`{"entries":[{"queue":"q","partition":"p","offset":0,"maxBytes":%d}]}`, max)).offsets(0)
	}
	require.Equal(t, []int64{0}, read(-5), "the first one always comes")
	require.Equal(t, []int64{0}, read(9000))
	require.Equal(t, []int64{0, 1}, read(11000))
	require.Equal(t, []int64{0, 1, 2}, read(1<<30))
	two := ts.fetchOf(`{"entries":[{"queue":"q","partition":"p","offset":1,"maxBytes":1},{"queue":"q","partition":"other","offset":0,"maxBytes":1},{"queue":"q","partition":"other","offset":0}]}`)
	require.Equal(t, [][]int64{{1}, {}, {0}}, [][]int64{two.offsets(0), two.offsets(1), two.offsets(2)}, "only the first of the call may exceed its bytes")

	ts.sql(`SELECT queen.push_many_v1('many', array_fill('1'::json, ARRAY[1000])) FROM generate_series(1, 11)`)
	got := ts.fetchOf(`{"entries":[{"queue":"many","offset":5,"maxBytes":8388608}]}`)
	offsets := got.offsets(0)
	require.Len(t, offsets, 10_000)
	require.Equal(t, [2]int64{5, 10_004}, [2]int64{offsets[0], offsets[9_999]}, "dense, and cut inside of a segment at either end")
	require.Equal(t, int64(11_000), got.Entries[0].HighWatermark)
}

// The answer stays within 64 MiB however many small messages are asked for.
func TestFetchAnswerIsBounded(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.sql(`SELECT queen.push_many_v1('q', array_fill(to_json(repeat('x', 1000)), ARRAY[1000])) FROM generate_series(1, 10)`)
	entry := `{"queue":"q","offset":0,"maxBytes":8388608}`
	// Past the check of answers, and decoded in its last part only: that takes seconds for one of this size.
	response, err := ts.web.Client().Post(ts.web.URL+"/api/v1/fetch", "application/json", strings.NewReader(`{"entries":[`+strings.Repeat(entry+",", 19)+entry+`]}`))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body := bytes.NewBuffer(make([]byte, 0, 65<<20))
	_, err = body.ReadFrom(response.Body)
	require.NoError(t, err)
	require.LessOrEqual(t, body.Len(), 64<<20+64*100)
	require.Greater(t, body.Len(), 50<<20)
	begin := []byte(`{"queue":"q"`)
	parts := bytes.SplitAfter(body.Bytes(), begin)
	require.Len(t, parts, 21, "twenty entries behind what stands before the first")
	require.Equal(t, 10_000, bytes.Count(parts[1], []byte(`"offset":`)))
	var last fetched
	require.NoError(t, json.Unmarshal(slices.Concat([]byte(`{"entries":[`), begin, parts[20]), &last))
	require.Empty(t, last.offsets(0), "what was left out can be asked for")
	require.Equal(t, int64(10_000), last.Entries[0].HighWatermark)
}

// noiseText is n characters that do not compress.
func noiseText(n int) string {
	out := make([]byte, n)
	state := uint32(2463534242)
	for i := range out {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		out[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[state%64]
	}
	return string(out)
}

func TestFetchWaits(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	at := func(offset int, more string) string {
		return fmt.Sprintf(`{"entries":[{"queue":"q","partition":"p","offset":%d}],%s}`, offset, more)
	}
	timed := func(body string) (fetched, time.Duration) {
		began := time.Now()
		got := ts.fetchOf(body)
		return got, time.Since(began)
	}
	got, took := timed(at(1, `"maxWaitMs":700`))
	require.Empty(t, got.offsets(0))
	require.GreaterOrEqual(t, took, 700*time.Millisecond)
	for _, body := range []string{at(1, `"maxWaitMs":60000,"minBytes":0`), at(0, `"maxWaitMs":60000`), at(2, `"maxWaitMs":60000`), at(1, `"maxWaitMs":-5`), at(1, `"minBytes":5`), `{"entries":[],"maxWaitMs":60000}`} {
		_, took = timed(body)
		require.Less(t, took, 30*time.Second, body)
	}

	answers := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/fetch", at(1, `"maxWaitMs":20000,"minBytes":2`))
		answers <- r
	}()
	ts.pushOne("q", "p", `2`)
	select {
	case r := <-answers:
		require.Fail(t, "one byte is not two", "%s", r.Body)
	case <-time.After(600 * time.Millisecond):
	}
	// It takes one for a moment at each recheck.
	require.Eventually(t, func() bool { return ts.pool.Stat().AcquiredConns() == 0 }, 20*time.Second, time.Millisecond, "a waiting fetch holds no connection")
	ts.pushOne("q", "p", `3`)
	r := <-answers
	var last fetched
	r.into(t, &last)
	require.Equal(t, []int64{1, 2}, last.offsets(0))
}

func TestFetchEndsWithItsClientAndWithTheServer(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	body := `{"entries":[{"queue":"q","partition":"p","offset":1}],"maxWaitMs":30000}`
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		_, err := ts.try(ctx, "POST", "/api/v1/fetch", body)
		gone <- err
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	stopped := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/fetch", body)
		stopped <- r
	}()
	time.Sleep(50 * time.Millisecond)
	ts.drain()
	require.Equal(t, http.StatusOK, (<-stopped).Status)
}

// A frame that was damaged by hand does not stop its neighbours (F079).
func TestFetchPassesDamage_F079(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.sql(`SELECT queen.push_many_v1('q', ARRAY['1','2','3','4']::json[])`)
	ts.sql(`UPDATE queen.log_segments SET payloads = ARRAY['1', NULL, '{oh', '4']`)
	got := ts.fetchOf(`{"entries":[{"queue":"q","offset":0}]}`)
	require.Equal(t, []int64{0, 2, 3}, got.offsets(0))
	require.Equal(t, `"{oh"`, string(got.Entries[0].Records[1].Payload))
}

// http-api 6.1: what is stored encrypted is delivered as it was sent.
func TestFetchOpensSealedPayloads(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("q", true)
	ts.pushOne("q", "p", `{"z":1, "a":1.50}`)
	require.Contains(t, ts.rows("q")[0], `"encrypted"`)
	got := ts.fetchOf(`{"entries":[{"queue":"q","partition":"p","offset":0}]}`)
	require.Equal(t, `{"z":1, "a":1.50}`, string(got.Entries[0].Records[0].Payload))
}
