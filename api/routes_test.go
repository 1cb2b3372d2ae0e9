package api

import (
	"net/http"
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
