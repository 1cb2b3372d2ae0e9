package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/api"
	"regent.local/regent/api/sdk/go"
	"regent.local/regent/db/dberr"
	"regent.local/regent/db/dbtest"
)

// An errorRow is an error that a user can meet, in every face that can meet it:
// its code, its sentence, whether another try may help, its status and the exit
// code are the same everywhere.
type errorRow struct {
	name      string
	sql       string // of a session that may do all; "" where only the server says it
	server    string // one of errorServers; "" where only SQL says it
	as        string // who calls it
	method    string
	path      string
	body      string
	cli       []string // the command, over HTTP and, where the row has an sql, over SQL; nil for none
	stdin     string
	status    int
	code      string
	text      string // what the sentence ends with
	retryable bool
	exit      int
	cliText   string // where a command words it for a person; "" is text
}

var errorRows = []errorRow{
	{name: "an option out of range", sql: `SELECT queen.configure_queue_v1('q', '{"retentionBytes":-1}')`,
		server: "open", method: "POST", path: "/api/v1/configure", body: `{"queue":"q","options":{"retentionBytes":-1}}`,
		cli:    []string{"queue", "configure", "q", "--set", "retentionBytes=-1"},
		status: 400, code: "QN400", text: "retentionBytes must be a whole number from 0 to 9223372036854775807", exit: 1},
	{name: "a name with a control character", sql: `SELECT queen.push_v1(E'a\x01b', '1')`,
		server: "open", method: "POST", path: "/api/v1/push", body: `{"items":[{"queue":"a\u0001b","payload":1}]}`,
		cli: []string{"push", "a\x01b"}, stdin: "1\n",
		status: 400, code: "QN400", text: "queue holds a control character", exit: 1},
	{name: "a name that is too long", sql: `SELECT queen.push_v1(repeat('q', 256), '1')`,
		server: "open", method: "POST", path: "/api/v1/push", body: `{"items":[{"queue":"` + strings.Repeat("q", 256) + `","payload":1}]}`,
		cli: []string{"push", strings.Repeat("q", 256)}, stdin: "1\n",
		status: 400, code: "QN400", text: "queue is longer than 255 characters", exit: 1},
	{name: "a body that is no JSON", server: "open", method: "POST", path: "/api/v1/push", body: `{"items":`,
		status: 400, code: "QN400", text: "bad body: unexpected end, at byte 9 in items"},
	{name: "no such queue", sql: `SELECT queen.get_queue_v1('nope')`,
		server: "open", method: "GET", path: "/api/v1/resources/queues/nope", cli: []string{"queue", "show", "nope"},
		status: 404, code: "QN404", text: "Queue not found", exit: 1, cliText: `queue "nope" does not exist`},
	{name: "no queue to seek on", sql: `SELECT queen.seek_consumer_group_v1('nope', 'g', true)`,
		server: "open", method: "POST", path: "/api/v1/consumer-groups/g/queues/nope/seek", body: `{"toEnd":true}`,
		cli:    []string{"group", "seek", "g", "nope", "--to", "end", "--yes"},
		status: 404, code: "QN404", text: "Queue not found or has no partitions", exit: 1},
	{name: "no such route", server: "open", method: "GET", path: "/api/v1/nothing", status: 404, code: "no_such_route", text: "Not Found"},
	{name: "no such method", server: "open", method: "GET", path: "/api/v1/push", status: 405, code: "method_not_allowed", text: "Method Not Allowed"},
	{name: "a queue of another kind", sql: `SELECT queen.get_latest_v1('plain', 'k')`,
		server: "open", method: "GET", path: "/api/v1/messages/latest?queue=plain&key=k",
		status: 409, code: "QN409", text: "the queue keeps no latest value of a key: its cleanupPolicy is delete", exit: 1},
	{name: "plaintext for an encrypted queue", sql: `SELECT queen.push_v1('sealed', '1')`,
		cli: []string{"push", "sealed"}, stdin: "1\n",
		status: 409, code: "QN409", text: "the queue is encrypted: only envelopes of a server may be stored in it, so push over HTTP", exit: 1},
	{name: "an encrypted queue and no key", server: "open", method: "POST", path: "/api/v1/push", body: `{"items":[{"queue":"sealed","payload":1}]}`,
		cli: []string{"push", "sealed"}, stdin: "1\n",
		status: 503, code: "QN503", text: "the queue is encrypted and this server has no usable encryption key", retryable: true, exit: 2},
	{name: "nobody", server: "guarded", method: "GET", path: "/api/v1/resources/queues", cli: []string{"queue", "list"},
		status: 401, code: "QN401", text: "Authentication required", exit: 3},
	{name: "a key that is not known", server: "guarded", as: api.KeyPrefix + "x", method: "GET", path: "/api/v1/resources/queues", cli: []string{"queue", "list"},
		status: 401, code: "QN401", text: "Unknown API key", exit: 3},
	{name: "a role that may not", server: "guarded", as: "reader", method: "DELETE", path: "/api/v1/resources/queues/plain", cli: []string{"queue", "delete", "plain", "--yes"},
		status: 403, code: "QN403", text: "Insufficient permissions", exit: 3},
	{name: "another tenant", sql: `SELECT queen.list_queues_v1('b0000000-0000-4000-8000-00000000000b')`, as: "mapped",
		status: 403, code: "QN403", text: "this role may not name a tenant", exit: 3},
	{name: "a body that is too large", server: "open", method: "POST", path: "/api/v1/push", body: `{"items":[{"queue":"q","payload":"` + strings.Repeat("x", 5000) + `"}]}`,
		cli: []string{"push", "q"}, stdin: `"` + strings.Repeat("x", 5000) + `"` + "\n",
		status: 413, code: "QN413", text: "the request body is too large", exit: 1},
	{name: "a value that is too large", sql: `SELECT queen.kv_put_v1('n', 'k', to_jsonb(repeat('x', 70000)))`,
		status: 413, code: "QN413", text: "value is larger than 64 KiB", exit: 1},
	{name: "too many calls", server: "limited", method: "GET", path: "/api/v1/resources/queues", cli: []string{"queue", "list"},
		status: 429, code: "QN429", text: "too many calls, slow down", retryable: true, exit: 2},
	{name: "a lock that is held", sql: `SELECT queen.configure_queue_v1('held', '{"leaseTime":7}')`,
		server: "open", method: "POST", path: "/api/v1/configure", body: `{"queue":"held","options":{"leaseTime":7}}`,
		cli:    []string{"queue", "configure", "held", "--set", "leaseTime=7"},
		status: 503, code: "55P03", text: "another call was in the way, try it again", retryable: true, exit: 2},
	{name: "the database is away", server: "away", method: "GET", path: "/api/v1/resources/queues", cli: []string{"queue", "list"},
		status: 503, code: "QN503", text: "the database is not available", retryable: true, exit: 2},
	{name: "a push of which nothing was kept", server: "spool", method: "POST", path: "/api/v1/push", body: `{"items":[]}`,
		status: 503, text: "Service Unavailable", retryable: true, exit: 2},
	{name: "a page of a proxy", server: "proxy", method: "GET", path: "/api/v1/resources/queues",
		status: 503, text: "Service Unavailable", retryable: true, exit: 2},
}

// errorServers starts what the rows call, and returns the addresses.
func errorServers(t *testing.T, database *dbtest.Database) map[string]string {
	serveWith := func(change func(*api.Config)) string {
		return serveOn(t, func(cfg *api.Config) {
			cfg.DatabaseURL, cfg.PoolSize = database.DSN, 4
			change(cfg)
		})
	}
	fake := func(kind, body string) string {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(web.Close)
		return web.URL
	}
	limited := serveWith(func(cfg *api.Config) { cfg.RateLimit, cfg.RateBurst = 0.0001, 1 })
	response, err := http.Get(limited + "/api/v1/resources/queues")
	require.NoError(t, err)
	response.Body.Close()
	return map[string]string{
		"open":    serveWith(func(cfg *api.Config) { cfg.MaxBodyBytes = 4096 }),
		"guarded": serveWith(func(cfg *api.Config) { cfg.APIKeys = true }),
		"limited": limited,
		"away": serveOn(t, func(cfg *api.Config) {
			cfg.DatabaseURL, cfg.PoolSize, cfg.Listen = "host=/nonexistent user=x dbname=x", 1, false
		}),
		"spool": fake("application/json", `[{"index":0,"message_id":"00000000-0000-0000-0000-000000000000","transaction_id":"a","queueName":"q","status":"failed"}]`),
		"proxy": fake("text/html", "<html>busy</html>"),
	}
}

// errorSessions are the connections of the rows that have an sql, by as; one more holds a lock.
func errorSessions(t *testing.T, database *dbtest.Database) map[string]*pgx.Conn {
	ctx := context.WithoutCancel(t.Context())
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(ctx, database.DSN)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close(ctx)) })
		return conn
	}
	exec := func(conn *pgx.Conn, statements ...string) {
		for _, each := range statements {
			_, err := conn.Exec(ctx, each)
			require.NoError(t, err, each)
		}
	}
	owner, holder, mapped := connect(), connect(), connect()
	name := database.Name + "_mapped"
	exec(owner,
		`SELECT queen.configure_queue_v1('plain', '{}')`, `SELECT queen.configure_queue_v1('held', '{}')`,
		`SELECT queen.configure_queue_v1('sealed', '{"encryptionEnabled":true}')`,
		`ALTER FUNCTION queen.configure_queue_v1 SET lock_timeout = '100ms'`,
		`CREATE ROLE `+name, `GRANT USAGE ON SCHEMA queen TO `+name, `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA queen TO `+name)
	t.Cleanup(func() { exec(owner, `DROP OWNED BY `+name, `DROP ROLE `+name) })
	exec(mapped, `SET SESSION AUTHORIZATION `+name)
	exec(holder, `BEGIN`, `SELECT FROM queen.queues WHERE name = 'held' FOR UPDATE`)
	return map[string]*pgx.Conn{"": owner, "mapped": mapped}
}

// said is what a face of HTTP says.
type said struct {
	Name      string `json:"name"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Text      string `json:"text"`
	Retryable bool   `json:"retryable"`
}

// TestErrorsAreOneLanguage walks every error through SQL, Go, HTTP, the command
// line and the clients.
func TestErrorsAreOneLanguage(t *testing.T) {
	t.Parallel()
	database := dbtest.New(t)
	sessions, servers := errorSessions(t, database), errorServers(t, database)
	key, hash, err := api.NewKey()
	require.NoError(t, err)
	_, err = sessions[""].Exec(t.Context(), `SELECT queen.create_api_key_v1('reader', 'read-only', $1)`, hash)
	require.NoError(t, err)
	regentBinary := filepath.Join(t.TempDir(), "regent")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", regentBinary, "../../cmd/regent").CombinedOutput()
	require.NoError(t, err, "%s", out)

	var requests []map[string]any
	for _, row := range errorRows {
		t.Run(row.name, func(t *testing.T) {
			token := row.as
			if token == "reader" {
				token = key
			}
			if row.sql != "" {
				_, err := sessions[row.as].Exec(t.Context(), row.sql)
				row.requireGo(t, err)
				if row.as == "" {
					row.requireCommand(t, regentBinary, "--dsn", database.DSN)
				}
			}
			if row.server == "" {
				return
			}
			row.requireSaid(t, "Go client", row.overHTTP(t, servers[row.server], token))
			row.requireCommand(t, regentBinary, "--url", servers[row.server], "--token", token)
			var body any
			if row.body == "" || json.Unmarshal([]byte(row.body), &body) == nil { // clients send no broken JSON
				requests = append(requests, map[string]any{"name": row.name, "url": servers[row.server], "token": token, "method": row.method, "path": row.path, "body": body})
			}
		})
	}
	asked, err := json.Marshal(requests)
	require.NoError(t, err)
	list := filepath.Join(t.TempDir(), "errors.json")
	require.NoError(t, os.WriteFile(list, asked, 0o600))
	for face, run := range map[string]func() (out, lacks string){
		"TypeScript client": func() (string, string) { return node.run(t, "", "node", "errors.mjs", list) },
		"Python client":     func() (string, string) { return snake.run(t, "", snakeProgram, "errors.py", list) },
	} {
		out, lacks := run()
		if lacks != "" {
			t.Log(face, "is not at hand:", lacks)
			continue
		}
		requireClient(t, face, len(requests), out)
	}
}

// requireGo holds what SQL said, in Go's terms, to the row.
func (row errorRow) requireGo(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err, row.name)
	e := dberr.From(err)
	require.Equal(t, row.code, e.Code, "%s: %v", row.name, err)
	require.True(t, strings.HasSuffix(e.Message, row.text), "%s: %s", row.name, e.Message)
	require.Equal(t, row.status, dberr.HTTPStatus(err), row.name)
	require.Equal(t, row.retryable, dberr.Retryable(err), row.name)
	require.Equal(t, row.exit, dberr.ExitCode(err), row.name)
}

// overHTTP sends the row's request and reads the answer as the Go client does.
func (row errorRow) overHTTP(t *testing.T, url, token string) said {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), row.method, url+row.path, strings.NewReader(row.body))
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err, row.name)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err, row.name)
	if row.code != "" { // the wire itself, where it is ours
		var wire struct {
			Error     string
			Code      string
			Retryable bool
		}
		require.NoError(t, json.Unmarshal(body, &wire), "%s: %s", row.name, body)
		row.requireSaid(t, "HTTP", said{Status: response.StatusCode, Code: wire.Code, Text: wire.Error, Retryable: wire.Retryable})
	}
	require.Equal(t, row.retryable, response.Header.Get("Retry-After") != "", "%s: Retry-After", row.name)
	var e *regent.Error
	require.True(t, errors.As(regent.Check(response, body), &e), row.name)
	return said{Status: e.Status, Code: e.Code, Text: e.Text, Retryable: e.Retryable}
}

func (row errorRow) requireSaid(t *testing.T, face string, got said) {
	t.Helper()
	require.True(t, strings.HasSuffix(got.Text, row.text), "%s by %s: %s", row.name, face, got.Text)
	require.Equal(t, said{Name: got.Name, Status: row.status, Code: row.code, Text: got.Text, Retryable: row.retryable}, got, "%s by %s", row.name, face)
}

// requireCommand runs the row's command, without patience.
func (row errorRow) requireCommand(t *testing.T, program string, face ...string) {
	t.Helper()
	if row.cli == nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(append(append([]string{}, row.cli...), "--retry-for", "0s"), face...)...)
	cmd.Stdin = strings.NewReader(row.stdin)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	require.True(t, errors.As(err, &ended), "%s: %v: %s", row.name, err, out)
	require.Equal(t, row.exit, ended.ExitCode(), "%s %v: %s", row.name, face, out)
	want := row.cliText
	if want == "" {
		want = row.text
	}
	require.Contains(t, string(out), want, "%s %v", row.name, face)
}

// requireClient holds what a client of another language said to the rows.
func requireClient(t *testing.T, face string, asked int, text string) {
	t.Helper()
	var all []said
	require.NoError(t, json.Unmarshal([]byte(text), &all), text)
	require.Len(t, all, asked, face)
	for _, got := range all {
		for _, row := range errorRows {
			if row.name == got.Name {
				row.requireSaid(t, face, got)
			}
		}
	}
}
