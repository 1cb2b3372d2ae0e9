package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownRoutesAreJSONAndNeverRedirect_F159(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, c := range []struct {
		method, target string
		status         int
		code           string
	}{
		{"GET", "/", 404, "no_such_route"},
		{"GET", "/index.html", 404, "no_such_route"},
		{"GET", "/api/v1/nothing", 404, "no_such_route"},
		{"POST", "/nothing", 404, "no_such_route"},
		{"PATCH", "/api/v1/nothing", 404, "no_such_route"},
		{"GET", "/health/", 404, "no_such_route"},
		{"GET", "//health", 404, "no_such_route"},
		{"GET", "/api/v1/resources/queues/%2F", 404, "no_such_route"},
		{"GET", "/api/v1/resources/queues/%2f/depth", 404, "no_such_route"},
		{"GET", "/./health", 404, "no_such_route"},
		{"GET", "/x/../health", 404, "no_such_route"},
		{"POST", "/health", 405, "method_not_allowed"},
		{"DELETE", "/livez", 405, "method_not_allowed"},
		{"OPTIONS", "/health", 405, "method_not_allowed"},
	} {
		r := ts.send(c.method, c.target, "")
		require.Equal(t, c.status, r.Status, "%s %s", c.method, c.target)
		require.Equal(t, c.code, r.failure(t).Code)
		require.Empty(t, r.Header.Get("Location"))
	}
	require.Equal(t, "GET", ts.send("POST", "/health", "").Header.Get("Allow"))
	require.JSONEq(t, `{"error":"Not Found","code":"no_such_route","retryable":false}`, string(ts.get("/x").Body))
}

func TestDocumentsAreServedOffline(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, document := range Documents() {
		r := ts.get(document.Path)
		require.Equal(t, http.StatusOK, r.Status)
		require.Equal(t, document.Type, r.Header.Get("Content-Type"))
		require.NotContains(t, string(r.Body), "https://", "nothing points outside")
	}
	page := ts.get("/docs")
	require.Equal(t, http.StatusOK, page.Status)
	require.NotContains(t, string(page.Body), "//unpkg")
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "default-src 'none'")
}

func TestContentTypeIsIgnored_F157(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "multipart/form-data", "nonsense"} {
		for target, body := range map[string]string{
			"/api/v1/push": `{"items":[{"queue":"q","payload":1}]}`, "/api/v1/configure": `{"queue":"q"}`, "/api/v1/ack/batch": `{"acknowledgments":[]}`, "/api/v1/lease/x/extend": `{}`,
		} {
			request, err := http.NewRequest("POST", ts.web.URL+target, strings.NewReader(body))
			require.NoError(t, err)
			if kind != "" {
				request.Header.Set("Content-Type", kind)
			}
			request.Header.Set("Accept", "text/html")
			response, err := ts.web.Client().Do(request)
			require.NoError(t, err)
			response.Body.Close()
			require.Less(t, response.StatusCode, 300, "%s as %q", target, kind)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		}
	}
}

func TestOnlyLargeColdAnswersArePacked(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `"`+strings.Repeat("x", 50_000)+`"`)
	packed := func(target string) string {
		request, err := http.NewRequest("GET", ts.web.URL+target, nil)
		require.NoError(t, err)
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := ts.web.Client().Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response.Header.Get("Content-Encoding")
	}
	require.Equal(t, "gzip", packed("/openapi.json"))
	require.Empty(t, packed("/livez"))
	require.Empty(t, packed("/api/v1/pop/queue/q"), "the message plane is not worth the time")
	for i := range 100 {
		ts.pushOne(fmt.Sprintf("%0200d", i), "p", `1`)
	}
	ts.flush()
	require.Greater(t, len(ts.get("/metrics/prometheus").Body), 50_000)
	require.Empty(t, packed("/metrics/prometheus"), "nor is a scrape")
}

// Every JSON answer is one line; a bare one stays bare.
func TestJSONAnswersEndWithANewline(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	push := ts.post("/api/v1/push", `{"items":[{"queue":"q","transactionId":"a","payload":{"n": 1}}]}`)
	require.Equal(t, http.StatusCreated, push.Status)
	pop := ts.get("/api/v1/pop/queue/q")
	require.Equal(t, strconv.Itoa(len(pop.Body)+1), pop.Header.Get("Content-Length"))
	var got PopResponse
	pop.into(t, &got)
	for name, r := range map[string]reply{
		"push": push, "pop": pop,
		"ack":       ts.post("/api/v1/ack", `{"transactionId":"a","partitionId":"`+got.PartitionID+`","leaseId":"`+got.LeaseID+`"}`),
		"extend":    ts.post("/api/v1/lease/"+got.LeaseID+"/extend", ""),
		"configure": ts.post("/api/v1/configure", `{"queue":"q"}`),
		"list":      ts.get("/api/v1/resources/queues"),
		"detail":    ts.get("/api/v1/resources/queues/q"),
		"depth":     ts.get("/api/v1/resources/queues/q/depth"),
		"health":    ts.get("/health"),
		"refusal":   ts.post("/api/v1/push", `{`),
		"no route":  ts.get("/nowhere"),
		"delete":    ts.send("DELETE", "/api/v1/resources/queues/q", ""),
	} {
		require.True(t, r.newline, "%s: %s", name, r.Body)
		require.NotContains(t, string(r.Body), "\n", "%s: one line", name)
	}
	empty := ts.get("/api/v1/pop/queue/q")
	require.Equal(t, http.StatusNoContent, empty.Status)
	require.Empty(t, empty.Body)
	require.False(t, empty.newline)
}
