package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func serveHTTP(t *testing.T, retryFor time.Duration, handler http.HandlerFunc) *httpClient {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := newHTTPClient(server.URL, "secret", retrier{limit: retryFor})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestPushBodyKeepsPayloadBytes(t *testing.T) {
	t.Parallel()
	c := serveHTTP(t, 0, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"payload":{"n": 1.00, "h":"<&>"}`) || !json.Valid(body) ||
			r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`[{"index":0,"status":"queued","transaction_id":"t\"1"}]`))
	})
	got, err := c.Push(t.Context(), []pushItem{{Queue: `q"`, Partition: "p", TransactionID: `t"1`, Payload: []byte(`{"n": 1.00, "h":"<&>"}`)}})
	require.NoError(t, err)
	require.Equal(t, "queued", got[0].Status)
}

func TestNamesAreEscapedInPaths(t *testing.T) {
	t.Parallel()
	var path atomic.Value
	c := serveHTTP(t, 0, func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.URL.EscapedPath() + "?" + r.URL.RawQuery)
		w.WriteHeader(http.StatusNoContent)
	})
	got, err := c.Pop(t.Context(), popRequest{Queue: "a/b?c", Partition: "é%", Batch: 3, Partitions: 1, Lease: 1500 * time.Millisecond})
	require.NoError(t, err)
	require.Empty(t, got)
	require.Equal(t, "/api/v1/pop/queue/a%2Fb%3Fc/partition/%C3%A9%25?batch=3&wait=false&leaseSeconds=2", path.Load())
}

func TestRetries(t *testing.T) {
	t.Parallel()
	drop := func(w http.ResponseWriter) { // the answer is lost after the call was made
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}
	answer := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(status) }
	}
	push := func(id string) func(*httpClient) error {
		return func(c *httpClient) error {
			_, err := c.Push(t.Context(), []pushItem{{Queue: "q", TransactionID: id, Payload: []byte("1")}})
			return err
		}
	}
	pop := func(c *httpClient) error { _, err := c.Pop(t.Context(), popRequest{Queue: "q"}); return err }
	ack := func(status string) func(*httpClient) error {
		return func(c *httpClient) error { _, err := c.Ack(t.Context(), "g", []ackItem{{Status: status}}); return err }
	}
	for name, c := range map[string]struct {
		first func(http.ResponseWriter)
		call  func(*httpClient) error
		calls int32
		code  int
	}{
		"push, refused":                {answer(503), push("t"), 2, 0},
		"push, answer lost":            {drop, push("t"), 2, 0},
		"push without id, refused":     {answer(503), push(""), 2, 0},
		"push without id, answer lost": {drop, push(""), 1, exitServer},
		"push, fault":                  {answer(500), push("t"), 1, exitServer},
		"push, bad":                    {answer(400), push("t"), 1, exitUser},
		"push, not allowed":            {answer(403), push("t"), 1, exitAuth},
		"pop, refused":                 {answer(503), pop, 2, 0},
		"pop, answer lost":             {drop, pop, 1, exitServer},
		"ack, answer lost":             {drop, ack("completed"), 2, 0},
		"negative ack, answer lost":    {drop, ack("failed"), 1, exitServer},
		"ack, no token":                {answer(401), ack("completed"), 1, exitAuth},
		"negative ack, over the quota": {answer(429), ack("failed"), 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			client := serveHTTP(t, 5*time.Second, func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					c.first(w)
					return
				}
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write([]byte(map[bool]string{true: `[{"status":"queued"}]`, false: `{"messages":[]}`}[!strings.HasPrefix(name, "pop")]))
			})
			err := c.call(client)
			require.Equal(t, c.code, exitCode(err), "%v", err)
			require.Equal(t, c.calls, calls.Load())
		})
	}
}

func TestServerThatNeverComesBack(t *testing.T) {
	t.Parallel()
	c, err := newHTTPClient("http://127.0.0.1:1", "", retrier{limit: 300 * time.Millisecond})
	require.NoError(t, err)
	began := time.Now()
	_, err = c.Queues(t.Context())
	require.Equal(t, exitServer, exitCode(err))
	require.Less(t, time.Since(began), 30*time.Second)
}

func TestAckReadsWhatPopPrints(t *testing.T) {
	t.Parallel()
	popped := `{"queue":"q","partition":"p","partitionId":"P1","transactionId":"t1","leaseId":"L","consumerGroup":"g","data":{"partitionId":"no"}}
{"queue":"q","partition":"p","partitionId":"P1","transactionId":"t2","leaseId":"L","consumerGroup":"g","data":1}
{"queue":"q","partition":"p","partitionId":"P2","transactionId":"t3","data":1}
`
	f := ackFlags{status: "failed", reason: "why"}
	calls, err := f.calls(strings.NewReader(popped), []string{"-"})
	require.NoError(t, err)
	require.Len(t, calls, 2)
	require.Equal(t, "g", calls[0].group)
	require.Len(t, calls[0].items, 2)
	require.Equal(t, "L", calls[0].items[0].LeaseID)
	require.Equal(t, "why", *calls[0].items[0].Error)
	require.Empty(t, calls[1].group)

	_, err = f.calls(strings.NewReader(popped+"{}\n"), []string{"-"})
	require.ErrorContains(t, err, "line 4")
}

func TestShares(t *testing.T) {
	t.Parallel()
	got := shares([]ackItem{{PartitionID: "a", LeaseID: "1"}, {PartitionID: "b", LeaseID: "1"}, {PartitionID: "a", LeaseID: "1"}, {PartitionID: "a", LeaseID: "2"}})
	require.Len(t, got, 3)
	require.Equal(t, []int{0, 2}, got[0].at)
}

// A name that a URL resolves away would lead to another route.
func TestNamesWithoutAnAddressAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"queue", "show", ".."}, {"queue", "delete", ".", "--yes"}, {"queue", "retention-preview", "."}, {"pop", ".."}, {"pop", "q", "--partition", ".", "--wait", "1s"},
		{"group", "show", ".."}, {"group", "delete", "g", "..", "--yes"}, {"group", "delete", "..", "--yes"}, {"group", "seek", "g", "..", "--to", "end", "--yes"},
		{"group", "seek", "g", "q", "--to", "end", "--partition", "..", "--yes"},
	} {
		got := call(t, "", append(args, "--url", "http://127.0.0.1:1")...)
		require.Equal(t, exitUser, got.code, args)
		require.Contains(t, got.err, "has no address over HTTP; use --dsn", args)
	}
	got := call(t, "", "group", "delete", "g", "", "--yes", "--url", "http://127.0.0.1:1")
	require.Equal(t, exitUser, got.code)
	require.Equal(t, "regent: QUEUE is empty; to name none, leave it out\n", got.err)
}
