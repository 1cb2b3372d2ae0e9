package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// testServer is a running server on a database of its own. Every answer that
// passes through send is checked against the OpenAPI document.
type testServer struct {
	*Server
	t   testing.TB
	db  *dbtest.Database
	web *httptest.Server
	as  http.Header // sent with every request
}

// by is the same server as somebody who sends a header.
func (ts *testServer) by(name, value string) *testServer {
	other := *ts
	other.as = ts.as.Clone()
	if other.as == nil {
		other.as = http.Header{}
	}
	other.as.Set(name, value)
	return &other
}

// bearer is the same server as somebody with a token or key.
func (ts *testServer) bearer(token string) *testServer {
	return ts.by("Authorization", "Bearer "+token)
}

// newTestServer starts one server; change adjusts its configuration.
func newTestServer(t testing.TB, change ...func(*Config)) *testServer {
	t.Helper()
	return newTestServerOn(t, dbtest.New(t), change...)
}

// newTestServerOn starts another server on the database of a test.
func newTestServerOn(t testing.TB, db *dbtest.Database, change ...func(*Config)) *testServer {
	t.Helper()
	cfg := DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize = db.DSN, 8
	for _, c := range change {
		c(&cfg)
	}
	pool, err := OpenPool(context.Background(), cfg)
	require.NoError(t, err)
	ts := startTestServer(t, cfg, pool)
	ts.db = db
	return ts
}

func startTestServer(t testing.TB, cfg Config, pool *pgxpool.Pool) *testServer {
	t.Helper()
	return startLoggingServer(t, cfg, pool, testLog())
}

func startLoggingServer(t testing.TB, cfg Config, pool *pgxpool.Pool, log *slog.Logger) *testServer {
	t.Helper()
	s, err := New(cfg, pool, log)
	require.NoError(t, err)
	s.Start(context.Background())
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		s.drain()
		web.CloseClientConnections()
		web.Close()
		require.NoError(t, s.Stop(ctx))
		pool.Close()
	})
	return &testServer{Server: s, t: t, web: web}
}

// testLog is silent unless REGENT_TEST_LOG is set.
func testLog() *slog.Logger {
	if os.Getenv("REGENT_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// reply is an answer with its body read, without the newline that ends JSON.
type reply struct {
	Status  int
	Header  http.Header
	Body    []byte
	newline bool
}

// into decodes the body.
func (r reply) into(t testing.TB, value any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.Body, value), "body: %.300s", r.Body)
}

// failure decodes the body of an error.
func (r reply) failure(t testing.TB) Error {
	t.Helper()
	var e Error
	r.into(t, &e)
	require.NotEmpty(t, e.Text)
	require.NotEmpty(t, e.Code)
	return e
}

// send makes one request and checks the answer against the document. The path
// goes out as it is given, encoded or not.
func (ts *testServer) send(method, target, body string) reply {
	ts.t.Helper()
	r, err := ts.try(context.Background(), method, target, body)
	require.NoError(ts.t, err)
	return r
}

func (ts *testServer) get(target string) reply { ts.t.Helper(); return ts.send("GET", target, "") }
func (ts *testServer) post(target, body string) reply {
	ts.t.Helper()
	return ts.send("POST", target, body)
}

// try is send for requests that may fail on the way, and for other goroutines.
func (ts *testServer) try(ctx context.Context, method, target, body string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, ts.web.URL, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	maps.Copy(request.Header, ts.as)
	request.URL.Opaque = strings.TrimPrefix(ts.web.URL, "http:") + target
	client := &http.Client{Transport: ts.web.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	text, newline := bytes.CutSuffix(got, []byte{'\n'})
	r := reply{response.StatusCode, response.Header, text, newline}
	if err := theContract().check(method, target, r); err != nil {
		return r, fmt.Errorf("%s %.100s -> %d breaks the OpenAPI document: %w; body: %.300s", method, target, r.Status, err, got)
	}
	return r, nil
}

// sql runs a statement as superuser, past the server.
func (ts *testServer) sql(statement string, args ...any) {
	ts.t.Helper()
	_, err := ts.db.Pool.Exec(context.Background(), statement, args...)
	require.NoError(ts.t, err)
}

// count reads one number past the server.
func (ts *testServer) count(query string, args ...any) int {
	ts.t.Helper()
	var n int
	require.NoError(ts.t, ts.db.Pool.QueryRow(context.Background(), query, args...).Scan(&n))
	return n
}

// contract validates answers against the document that the server publishes.
type contract struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	document map[string]any
}

var theContract = sync.OnceValue(func() *contract {
	text, err := OpenAPI("test", "/openapi.json")
	if err != nil {
		panic(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("mem://openapi.json", document); err != nil {
		panic(err)
	}
	return &contract{compiler: compiler, document: document.(map[string]any)}
})

func (c *contract) check(method, target string, r reply) error {
	if method == http.MethodHead {
		return nil
	}
	template := c.template(target)
	if template == "" {
		return c.checkOutside(target, r)
	}
	item := c.document["paths"].(map[string]any)[template].(map[string]any)
	op, ok := item[strings.ToLower(method)].(map[string]any)
	if !ok {
		if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden {
			return c.body("#/components/schemas/Error", r)
		}
		if r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") == "" {
			return fmt.Errorf("a wrong method must answer 405 with Allow")
		}
		return c.body("#/components/schemas/Error", r)
	}
	status := strconv.Itoa(r.Status)
	response, ok := op["responses"].(map[string]any)[status].(map[string]any)
	if !ok {
		return fmt.Errorf("status %s is not documented for %s", status, template)
	}
	content, _ := response["content"].(map[string]any)
	switch {
	case r.Status == http.StatusFound:
		return nil
	case content == nil:
		return empty(r)
	case content["text/html"] != nil && strings.HasPrefix(r.Header.Get("Content-Type"), "text/html"):
		return nil
	}
	if response["content"].(map[string]any)["text/plain"] != nil {
		return plain(r)
	}
	return c.body("#/paths/"+escape(template)+"/"+strings.ToLower(method)+"/responses/"+status+"/content/application~1json/schema", r)
}

// checkOutside judges answers of paths that the document does not name.
func (c *contract) checkOutside(target string, r reply) error {
	switch {
	case r.Status == http.StatusOK && (strings.HasPrefix(target, "/openapi") || strings.HasPrefix(target, "/docs")):
		return nil
	case r.Status == http.StatusNotFound, r.Status == http.StatusMethodNotAllowed, r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		return c.body("#/components/schemas/Error", r)
	}
	return fmt.Errorf("the document names no such path")
}

// plain judges an answer of which the document says only that it is text.
func plain(r reply) error {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain;") {
		return fmt.Errorf("content type %q", kind)
	}
	return nil
}

func empty(r reply) error {
	if len(r.Body) != 0 || r.Header.Get("Content-Length") != "" || r.Header.Get("Content-Type") != "" {
		return fmt.Errorf("the answer must be bare, got headers %v", r.Header)
	}
	return nil
}

func (c *contract) body(pointer string, r reply) error {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	c.mu.Lock()
	schema, err := c.compiler.Compile("mem://openapi.json" + pointer)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("compile %s: %w", pointer, err)
	}
	return schema.Validate(value)
}

// template finds the documented path that a request path belongs to.
func (c *contract) template(target string) string {
	path, _, _ := strings.Cut(target, "?")
	parts := strings.Split(path, "/")
	best := ""
	for template := range c.document["paths"].(map[string]any) {
		if fits(strings.Split(template, "/"), parts) && (best == "" || strings.Count(template, "{") < strings.Count(best, "{")) {
			best = template
		}
	}
	return best
}

func fits(template, parts []string) bool {
	if len(template) != len(parts) {
		return false
	}
	for i, want := range template {
		if want == parts[i] {
			continue
		}
		if !strings.HasPrefix(want, "{") || parts[i] == "" || parts[i] == "." || parts[i] == ".." {
			return false
		}
	}
	return true
}

// escape makes a path usable inside a JSON pointer inside a URL fragment.
func escape(path string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path)
}
