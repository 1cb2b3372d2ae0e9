package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
	"regent.local/regent/db/migrate"
)

const tenantC = "c0000000-0000-4000-8000-00000000000c"

// things are the names and ids of a tenant's objects, by the placeholder that
// stands for them.
type things map[string]string

// missing are things of the same length that do not exist.
func (of things) missing() things {
	none := things{}
	for name, value := range of {
		none[name] = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'e' || r >= '1' && r <= '8' {
				return r + 1
			}
			return r
		}, value)
	}
	return none
}

// in puts the things in their places.
func (of things) in(text string) string {
	for name, value := range of {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
var anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:\d\d)?)?`)

// anyNumber is what differs without telling anything: a number of one sequence for all tenants, and the age of one's own message.
var anyNumber = regexp.MustCompile(`\\?"(version|[a-z_]*(lag|age|overdue)_seconds)\\?": \d+`)

// out takes them out again, with every id and time.
func (of things) out(text string) string {
	names := slices.Collect(maps.Keys(of))
	slices.SortFunc(names, func(a, b string) int { return len(of[b]) - len(of[a]) }) // one may hold another
	for _, name := range names {
		text = strings.ReplaceAll(text, of[name], "{"+name+"}")
	}
	return anyNumber.ReplaceAllString(anyTime.ReplaceAllString(anyID.ReplaceAllString(text, "{id}"), "{time}"), "{number}")
}

// furnish gives a tenant one of everything.
func furnish(ts *testServer, tenant string) things {
	if tenant != tenantA {
		ts = ts.by("x-queen-tenant", tenant)
	}
	ts.configure(`{"queue":"kka1.nn","options":{"retryLimit":3}}`)
	ts.push(`{"items":[{"queue":"kka1.nn","partition":"kka3","transactionId":"kka4","payload":1,"key":"kk7"},{"queue":"kka1.nn","partition":"kka3","payload":2},{"queue":"kka1.nn","partition":"kka3","payload":3}]}`)
	dead := ts.pop("kka1.nn", "subscriptionMode=all&consumerGroup=kka2&batch=1")
	ts.ackAll(dead, "dlq")
	letter := ts.deadLetters("?queue=kka1.nn").Messages[0]
	require.Equal(ts.t, 201, ts.post("/api/v1/traces", `{"partitionId":"`+dead.PartitionID+`","transactionId":"kka4","data":{"a":1},"traceNames":["kka5"]}`).Status)
	leased := ts.pop("kka1.nn", "consumerGroup=kka2&batch=1")
	ts.sql("SELECT queen.create_api_key_v1('kka6', 'admin', sha256('a'), $1)", tenant)
	return things{"queue": "kka1.nn", "namespace": "kka1", "partition": "kka3", "group": "kka2", "partitionId": dead.PartitionID, "transactionId": "kka4",
		"leaseId": leased.LeaseID, "id": letter.ID, "traceName": "kka5", "name": "kka6"}
}

// state is everything that a tenant has, as one text.
func state(t *testing.T, on *dbtest.Database, tenant string) string {
	t.Helper()
	var all strings.Builder
	for _, query := range []string{
		`SELECT to_jsonb(q)::text FROM queen.queues q WHERE tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(p)::text FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(s)::text FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(c)::text FROM queen.log_consumers c JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(d)::text FROM queen.log_dlq d JOIN queen.log_partitions p ON p.id = d.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(m)::text FROM queen.message_traces m WHERE tenant_id = $1 ORDER BY 1`,
		`SELECT to_jsonb(k)::text FROM queen.api_keys k WHERE tenant_id = $1 ORDER BY 1`,
	} {
		rows, err := on.Pool.Query(t.Context(), query, tenant)
		require.NoError(t, err, query)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotEmpty(t, lines, query)
		all.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return all.String()
}

// bodies of the routes that take one; the others are asked with their path and
// every query parameter that names something.
var walkBodies = map[string]string{
	"push":                `{"items":[{"queue":"{queue}","partition":"{partition}","transactionId":"{transactionId}","payload":1}]}`,
	"ack":                 `{"transactionId":"{transactionId}","partitionId":"{partitionId}","consumerGroup":"{group}","leaseId":"{leaseId}"}`,
	"ack-batch":           `{"consumerGroup":"{group}","acknowledgments":[{"transactionId":"{transactionId}","partitionId":"{partitionId}","status":"failed"},{"transactionId":"{transactionId}","partitionId":"{partitionId}","leaseId":"{leaseId}","status":"dlq"}]}`,
	"transaction":         `{"operations":[{"type":"ack","transactionId":"{transactionId}","partitionId":"{partitionId}","consumerGroup":"{group}"}],"requiredLeases":["{leaseId}"]}`,
	"extend-lease":        `{}`,
	"configure-queue":     `{"queue":"{queue}","options":{"retryLimit":7}}`,
	"replay-dead-letter":  `{"queue":"{queue}"}`,
	"fetch":               `{"entries":[{"queue":"{queue}","partition":"{partition}","offset":0}]}`,
	"partitions-changed":  `{"entries":[{"queue":"{queue}"}]}`,
	"update-subscription": `{"subscriptionTimestamp":"2030-01-01T00:00:00Z"}`,
	"seek-queue":          `{"toEnd":true}`,
	"seek-partition":      `{"toEnd":true}`,
	"record-trace":        `{"partitionId":"{partitionId}","transactionId":"{transactionId}","data":{"b":1},"traceNames":["{traceName}"]}`,
	"retry-message":       `{}`,
}

// namingQuery are the query parameters that name something.
var namingQuery = map[string]string{"queue": "{queue}", "partition": "{partition}", "consumerGroup": "{group}", "group": "{group}", "namespace": "{namespace}", "subscriptionMode": "all"}

// As another tenant every route answers about what is there as about what is
// not, to the byte, and changes nothing (E-5). What is not there is asked for in
// a database that holds nothing at all.
func TestAnotherTenantSeesNothingOverHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ owner, stranger string }{
		"of the default tenant": {tenantA, tenantB}, "the default tenant of another": {tenantB, tenantA}, "of another": {tenantB, tenantC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walkRoutes(t, c.owner, c.stranger)
		})
	}
}

func walkRoutes(t *testing.T, owner, stranger string) {
	withHeader := func(cfg *Config) { cfg.TenancyHeader, cfg.TrustedProxy = true, true }
	ts := newTestServer(t, withHeader)
	there := furnish(ts, owner)
	missing := there.missing()
	before := state(t, ts.db, owner)
	b, c := ts.by("x-queen-tenant", stranger), newTestServer(t, withHeader).by("X-Queen-Tenant", strings.ToUpper(stranger))
	walked := 0
	for _, path := range slices.Sorted(maps.Keys(ts.api.OpenAPI().Paths)) {
		for _, op := range operations(ts.api.OpenAPI().Paths[path]) {
			rule := levels[op.Method+" "+path]
			// The overview of the default tenant is that of the whole server.
			if rule.server || rule.level.by == 0 || path == "/api/v1/resources/overview" && stranger == tenantA {
				continue
			}
			body, known := walkBodies[op.OperationID]
			require.True(t, known || op.RequestBody == nil, "give %s a body in walkBodies, so that it is walked", op.OperationID)
			var query []string
			for _, p := range op.Parameters {
				if value := namingQuery[p.Name]; p.In == "query" && value != "" {
					query = append(query, p.Name+"="+value)
				}
			}
			for _, target := range slices.Compact([]string{path, path + "?" + strings.Join(query, "&")}) {
				got, want := b.send(op.Method, there.in(target), there.in(body)), c.send(op.Method, missing.in(target), missing.in(body))
				require.Equal(t, want.Status, got.Status, "%s %s: %s", op.Method, target, got.Body)
				require.Equal(t, missing.out(string(want.Body)), there.out(string(got.Body)), "%s %s", op.Method, target)
				walked++
			}
		}
	}
	require.Greater(t, walked, 60)
	require.Equal(t, before, state(t, ts.db, owner), "nothing of the other tenant has changed")
	// The test can see: the owner's own answers do differ.
	require.Equal(t, 200, ts.by("x-queen-tenant", owner).get("/api/v1/messages/"+there["partitionId"]+"/kka4").Status)
}

func TestTenantHeader(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) { cfg.TenancyHeader, cfg.TrustedProxy, cfg.APIKeys = true, true, true })
	key, foreign := ts.key("k", "admin", ""), ts.key("k", "admin", tenantB)
	own := ts.bearer(key)
	own.configure(`{"queue":"q"}`)
	names := func(as *testServer) string {
		r := as.get("/api/v1/resources/queues")
		require.Equal(t, 200, r.Status, "%s", r.Body)
		return string(r.Body)
	}
	require.Contains(t, names(own), `"q"`)
	for _, same := range []string{"", "  ", tenantA} {
		require.Contains(t, names(own.by("x-queen-tenant", same)), `"q"`)
	}
	for _, bad := range []string{"x", "default", "{" + tenantB + "}", "urn:uuid:" + tenantB, strings.ReplaceAll(tenantB, "-", ""), tenantB + "0"} {
		r := own.by("x-queen-tenant", bad).get("/api/v1/resources/queues")
		require.Equal(t, 400, r.Status, bad)
		require.JSONEq(t, `{"error":"invalid x-queen-tenant header (must be a UUID)","code":"QN400","retryable":false}`, string(r.Body))
		require.Equal(t, 200, own.by("x-queen-tenant", bad).get("/api/v1/system/maintenance").Status, "not read where no tenant matters")
	}
	// A key cannot name a tenant that is not its own, the nil one included.
	for _, other := range []string{tenantB, "00000000-0000-0000-0000-000000000000"} {
		require.Equal(t, 403, own.by("x-queen-tenant", other).get("/api/v1/resources/queues").Status)
	}
	require.NotContains(t, names(ts.bearer(foreign)), `"q"`)
	require.NotContains(t, names(ts.bearer(foreign).by("x-queen-tenant", tenantB)), `"q"`)
	require.Equal(t, 403, ts.bearer(foreign).by("x-queen-tenant", tenantA).get("/api/v1/resources/queues").Status)
	two := *own
	two.as = own.as.Clone()
	two.as["X-Queen-Tenant"] = []string{tenantA, tenantB}
	require.Equal(t, 400, two.get("/api/v1/resources/queues").Status)

	// The nil tenant is one of its own, and the header is not read unless that was asked for.
	open := newTestServerOn(t, ts.db, func(cfg *Config) { cfg.TenancyHeader, cfg.TrustedProxy = true, true })
	require.NotContains(t, names(open.by("x-queen-tenant", "00000000-0000-0000-0000-000000000000")), `"q"`)
	off := newTestServerOn(t, ts.db)
	require.Contains(t, names(off.by("x-queen-tenant", "nonsense")), `"q"`)
	// Two tenants of one server push and pop side by side, also through one flush.
	for _, tenant := range []string{tenantA, tenantB} {
		open.by("x-queen-tenant", tenant).push(`{"items":[{"queue":"same","payload":"` + tenant + `"}]}`)
	}
	for _, tenant := range []string{tenantA, tenantB} {
		got := open.by("x-queen-tenant", tenant).pop("same", "subscriptionMode=all&batch=10")
		require.Len(t, got.Messages, 1)
		require.Equal(t, tenant, got.Messages[0].Data)
		require.Equal(t, "completed", open.by("x-queen-tenant", tenant).ackStatus(got))
	}
}

// ackStatus acks all and says completed when that went well.
func (ts *testServer) ackStatus(got PopResponse) string {
	for _, r := range ts.ackAll(got, "completed") {
		if !r.Success {
			return fmt.Sprint(r)
		}
	}
	return "completed"
}

// arguments of the functions for people, by parameter. A parameter without a
// default must be here.
var walkArguments = map[string]string{
	"p_queue": `'{queue}'`, "p_partition": `'{partition}'`, "p_group": `'{group}'`, "p_consumer_group": `'{group}'`, "p_partition_id": `'{partitionId}'`,
	"p_transaction_id": `'{transactionId}'`, "p_transaction_ids": `ARRAY['{transactionId}']`, "p_lease_id": `'{leaseId}'`, "p_id": `'{id}'`,
	"p_trace_name": `'{traceName}'`, "p_trace_names": `ARRAY['{traceName}']`, "p_namespace": `'{namespace}'`, "p_name": `'{name}'`,
	"p_payload": `'1'`, "p_payloads": `ARRAY['1']::json[]`, "p_data": `'{"b":1}'`, "p_timestamp": `'2030-01-01T00:00:00Z'`, "p_role": `'admin'`,
	"p_sha256": `sha256('{name}')`, "p_mode": `'merge'`, "p_key": `'kk7'`, "p_value": `'1'`, "p_partition_ids": `ARRAY['{partitionId}']::uuid[]`,
	"p_before": `now()`, "p_from": `'2030-01-01'`, "p_to": `'2030-01-02'`, "p_offset": `0`, "p_task": `'t'`, "p_period_ms": `1`, "p_holder": `'h'`, "p_fence": `1`, "p_succeeded": `true`,
}

// wholeServer are functions that no session of a tenant may call: they work for
// all at once, with clocks and cut-offs as arguments.
var wholeServer = []string{"log_retention_step_v1", "log_evict_max_wait_step_v1", "log_purge_hashes_step_v1",
	"log_compact_step_v1", "log_purge_dead_letters_step_v1", "get_maintenance_v1", "set_maintenance_v1",
	"log_refresh_all_stats_v1", "log_refresh_retained_bytes_v1", "log_register_task_v1", "log_claim_task_v1", "log_renew_task_v1", "log_release_task_v1",
	"log_reclaim_step_v1", "log_forget_groups_step_v1", "log_retention_due_v1", "log_cleanup_partitions_step_v1", "log_purge_metrics_step_v1",
	"log_walk_watermarks_step_v1", "get_system_metrics_v1", "get_worker_metrics_v1", "get_postgres_stats_v1", "get_status_v1"}

// walkNot are steps that take no name and answer how much they did, of anything.
var walkNot = []string{"log_settle_heads_step_v1", "log_mark_clock_v1", "log_fold_partition_events_step_v1"}

// The same for SQL users whose role is mapped to a tenant: every function that
// any role of people may call, and every view.
func TestAnotherTenantSeesNothingInSQL(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.NoError(t, migrate.Roles(t.Context(), ts.db.DSN, nil))
	there := furnish(ts, tenantA)
	missing := there.missing()
	before := state(t, ts.db, tenantA)
	as := func(tenant string) (*pgx.Conn, string) {
		name, dsn := login(t, ts.db, "queen_reader, queen_writer, queen_admin")
		ts.sql("INSERT INTO queen.tenant_roles (role, tenant_id) VALUES ($1::regrole, $2)", name, tenant)
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
		return conn, name
	}
	b, name := as(tenantB)
	c, _ := as(tenantC)
	walked := 0
	for _, call := range peoplesCalls(t, ts, name) {
		if function, _, _ := strings.Cut(strings.TrimPrefix(call, "SELECT to_jsonb(r)::text FROM queen."), "("); slices.Contains(wholeServer, function) {
			require.Contains(t, answerOf(t, b, there.in(call)), "QN403", call)
			continue
		}
		got, want := answerOf(t, b, there.in(call)), answerOf(t, c, missing.in(call))
		require.Equal(t, missing.out(want), there.out(got), "%s", there.in(call))
		walked++
	}
	require.Greater(t, walked, 40)
	require.Equal(t, before, state(t, ts.db, tenantA), "nothing of the other tenant has changed")
	// Nobody can name another tenant, whatever else he sets, nor switch the server.
	for _, call := range []string{"queen.list_queues_v1('" + tenantA + "')", "queen.get_queue_v1('kka1.nn', '" + tenantA + "')"} {
		require.Contains(t, answerOf(t, b, "SELECT r::text FROM "+call+" r"), "QN403", call)
	}
	_, err := b.Exec(t.Context(), "SET ROLE queen_admin")
	require.NoError(t, err)
	require.Contains(t, answerOf(t, b, "SELECT r::text FROM queen.get_queue_v1('kka1.nn', '"+tenantA+"') r"), "QN403")
	require.Contains(t, answerOf(t, b, "SET SESSION AUTHORIZATION postgres"), "42501")
	require.Contains(t, answerOf(t, b, "UPDATE queen.tenant_roles SET tenant_id = '"+tenantA+"'"), "42501")
	// Renaming the role moves nobody.
	_, err = b.Exec(t.Context(), "RESET ROLE")
	require.NoError(t, err)
	ts.sql("ALTER ROLE " + name + " RENAME TO " + name + "_r")
	defer ts.sql("ALTER ROLE " + name + "_r RENAME TO " + name)
	require.Contains(t, answerOf(t, b, "SELECT r::text FROM queen.list_queues_v1('"+tenantA+"') r"), "QN403")
	// The test can see: the owner's answer does differ.
	owner, err := pgx.Connect(t.Context(), ts.db.DSN)
	require.NoError(t, err)
	defer owner.Close(context.WithoutCancel(t.Context()))
	require.Contains(t, answerOf(t, owner, "SELECT r::text FROM queen.get_queue_v1('kka1.nn') r"), "retryLimit")
}

// peoplesCalls are calls of every function and view that a role may use.
func peoplesCalls(t *testing.T, ts *testServer, role string) (calls []string) {
	t.Helper()
	rows, err := ts.db.Pool.Query(t.Context(), `
		SELECT p.proname, coalesce(p.proargnames[1:p.pronargs], '{}'), (p.pronargs - p.pronargdefaults)::integer
		FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace AND p.prokind = 'f' AND has_function_privilege($1, p.oid, 'EXECUTE')
		ORDER BY p.proname`, role)
	require.NoError(t, err)
	var name string
	var names []string
	var required int
	_, err = pgx.ForEachRow(rows, []any{&name, &names, &required}, func() error {
		if slices.Contains(walkNot, name) {
			return nil
		}
		var least, most []string
		for i, parameter := range names {
			value, known := walkArguments[parameter]
			if !known && i < required {
				return fmt.Errorf("%s: give %s a value in walkArguments, so that it is walked", name, parameter)
			}
			if i < required {
				least = append(least, parameter+" => "+value)
			}
			if known {
				most = append(most, parameter+" => "+value)
			}
		}
		for _, arguments := range slices.Compact([]string{strings.Join(least, ", "), strings.Join(most, ", ")}) {
			calls = append(calls, "SELECT to_jsonb(r)::text FROM queen."+name+"("+arguments+") r")
		}
		return nil
	})
	require.NoError(t, err)
	views, err := ts.db.Pool.Query(t.Context(), `SELECT 'SELECT to_jsonb(r)::text FROM queen.' || c.relname || ' r' FROM pg_class c
		WHERE c.relnamespace = 'queen'::regnamespace AND has_table_privilege($1, c.oid, 'SELECT') AND c.relname <> 'maintenance_status' ORDER BY 1`, role)
	require.NoError(t, err)
	more, err := pgx.CollectRows(views, pgx.RowTo[string])
	require.NoError(t, err)
	return append(calls, more...)
}

// answerOf is what a statement answers, or its error.
func answerOf(t *testing.T, conn *pgx.Conn, statement string) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
	var lines []string
	if err == nil {
		lines, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (text string, err error) {
			var value *string
			if err := row.Scan(&value); err != nil || value == nil {
				return "null", err
			}
			return *value, nil
		})
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		require.NotEqual(t, "42883", pg.Code, "%s: %s", statement, pg.Message)
		return strings.Join([]string{pg.Code, pg.Message, pg.Detail, pg.Hint}, "|")
	}
	require.NoError(t, err, statement)
	text, err := json.Marshal(lines)
	require.NoError(t, err)
	return string(text)
}
