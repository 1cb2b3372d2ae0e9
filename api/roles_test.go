package api

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/db/migrate"
	"regent.local/regent/workers"
)

// login makes a login role that is a member of one role of the house, and
// returns its connection string.
func login(t *testing.T, on *dbtest.Database, member string) (name, dsn string) {
	t.Helper()
	name = "regent_test_" + strings.ToLower(rand.Text()[:12])
	_, err := on.Pool.Exec(t.Context(), "CREATE ROLE "+name+" LOGIN PASSWORD 'x' NOSUPERUSER NOCREATEDB NOCREATEROLE IN ROLE "+member)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := on.Pool.Exec(context.Background(), "DROP ROLE "+name)
		require.NoError(t, err)
	})
	at, err := url.Parse(on.DSN)
	require.NoError(t, err)
	at.User = url.UserPassword(name, "x")
	return name, at.String()
}

// A server's whole work as a role that is a member of queen_server and nothing
// else: it owns nothing and reads no table of messages.
func TestQueenServerIsEnoughForAServer_F189(t *testing.T) {
	t.Parallel()
	on := dbtest.New(t)
	for range 2 { // it may be repeated
		require.NoError(t, migrate.Roles(t.Context(), on.DSN, nil))
	}
	require.NoError(t, migrate.Up(t.Context(), on.DSN, nil), "the grants are no edit of the functions")
	name, dsn := login(t, on, "queen_server")
	dir := t.TempDir()
	ts := newTestServerOn(t, on, func(cfg *Config) {
		cfg.DatabaseURL, cfg.BufferDir, cfg.APIKeys = dsn, dir, true
		cfg.TenancyHeader, cfg.TrustedProxy = true, true
	})
	require.NoError(t, migrate.Check(t.Context(), ts.pool))
	ts = ts.bearer(ts.key("ops", "admin", ""))
	ts.configure(`{"queue":"q","options":{"retryLimit":0,"retentionSeconds":60,"retentionEnabled":true}}`)
	ts.push(`{"items":[{"queue":"q","payload":1},{"queue":"q","payload":2},{"queue":"r.ns.t","payload":3,"key":"k"}]}`)
	got := ts.pop("q", "subscriptionMode=all&consumerGroup=g&batch=1")
	require.Equal(t, 200, ts.post("/api/v1/lease/"+got.LeaseID+"/extend", "").Status)
	ts.ackAll(got, "dlq")
	letters := ts.deadLetters("?queue=q")
	require.Len(t, letters.Messages, 1)
	require.Equal(t, 200, ts.post("/api/v1/dlq/"+letters.Messages[0].ID+"/replay", "").Status)
	require.Equal(t, 200, ts.get("/api/v1/pop?namespace=r&task=ns&autoAck=true&subscriptionMode=all").Status)
	require.Equal(t, 200, ts.post("/api/v1/transaction", `{"operations":[{"type":"push","items":[{"queue":"q","payload":4}]}]}`).Status)
	require.Equal(t, 200, ts.post("/api/v1/fetch", `{"entries":[{"queue":"q","offset":0}]}`).Status)
	require.Equal(t, 200, ts.post("/api/v1/partitions/changed", `{"entries":[{"queue":"q"}]}`).Status)
	require.Equal(t, 200, ts.post("/api/v1/consumer-groups/g/queues/q/seek", `{"toEnd":true}`).Status)
	ts.turnSwitch(pushSwitch, true)
	require.Equal(t, "buffered", ts.push(`{"items":[{"queue":"q","payload":5}]}`)[0].Status)
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
	for path, item := range ts.api.OpenAPI().Paths {
		for _, op := range operations(item) {
			if op.Method == "GET" && !strings.HasPrefix(path, "/auth/") {
				require.Less(t, ts.send("GET", filled(path), "").Status, 500, path)
			}
		}
	}
	q := db.New(ts.pool)
	for _, loop := range []*workers.Loop{workers.Settle(q, testLog()), workers.DeadLetters(q, testLog())} {
		_, err := loop.Step(t.Context())
		require.NoError(t, err, loop.Name)
	}
	_, err := ts.pool.Exec(t.Context(), "CALL queen.run_maintenance_v1()")
	require.NoError(t, err)
	require.Equal(t, 200, ts.send("DELETE", "/api/v1/resources/queues/q", "").Status)

	require.Zero(t, ts.count(`SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace
		AND has_function_privilege($1, p.oid, 'EXECUTE') <> (p.proname NOT LIKE '\_%')`, name), "every public function, and no other")
	require.Equal(t, 2, ts.count(`SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind IN ('r', 'p')
		AND has_table_privilege($1, c.oid, 'SELECT')`, name), "schema_functions and schema_migrations")
	require.Zero(t, ts.count(`SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND (c.relowner = $1::regrole
		OR c.relkind <> 'S' AND has_table_privilege($1, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))`, name), "it owns and writes nothing itself")
	require.Zero(t, ts.count(`SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace AND p.proowner = $1::regrole`, name))
	require.Zero(t, ts.count(`SELECT has_schema_privilege($1, 'queen', 'CREATE')::integer`, name))
}

// What each of the other roles may call, and that it may not name a tenant.
func TestRolesOfPeople(t *testing.T) {
	t.Parallel()
	on := dbtest.New(t)
	require.NoError(t, migrate.Roles(t.Context(), on.DSN, nil))
	for _, c := range []struct{ role, call, code string }{
		{"queen_writer", "SELECT queen.push_v1('q', '1')", ""},
		{"queen_writer", "SELECT queen.pop_v1('q')", ""},
		{"queen_writer", "SELECT queen.delete_queue_v1('q')", "42501"},
		{"queen_writer", "SELECT queen.configure_queue_v1('q', '{}')", "42501"},
		{"queen_writer", "SELECT queen.log_push_v1('{q}', '{p}', '{1}', '{1}')", "42501"},
		{"queen_reader", "SELECT queen.list_queues_v1()", ""},
		{"queen_reader", "SELECT queen.list_queues_v1('" + tenantB + "')", "QN403"},
		{"queen_reader", "SELECT queen.push_v1('q', '1')", "42501"},
		{"queen_reader", "SELECT * FROM queen.log_segments", "42501"},
		{"queen_reader", "SELECT queen._raise('QN400', 'x')", "42501"},
		{"queen_reader", "SELECT queen.list_api_keys_v1()", "42501"},
		{"queen_admin", "SELECT queen.list_api_keys_v1()", ""},
		{"queen_admin", "SELECT queen.create_api_key_v1('k', 'admin', sha256('x'), '" + tenantB + "')", "QN403"},
		{"queen_admin", "SELECT * FROM queen.tenant_roles", "42501"},
		{"queen_admin", "CALL queen.run_maintenance_v1()", ""},
		{"queen_server", "SELECT queen.list_queues_v1('" + tenantB + "')", ""},
		{"queen_server", "SELECT * FROM queen.api_keys", "42501"},
	} {
		_, dsn := login(t, on, c.role)
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), c.call)
		require.NoError(t, conn.Close(t.Context()))
		if c.code == "" {
			require.NoError(t, err, "%s: %s", c.role, c.call)
			continue
		}
		require.ErrorContains(t, err, "SQLSTATE "+c.code, "%s: %s", c.role, c.call)
	}
}

// Nothing that a user may make is found before what is meant: temporary tables,
// functions and operators of his own, and operators on the path of who calls the
// one procedure, which has no path of its own.
func TestNobodysObjectsStandIn(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.NoError(t, migrate.Roles(t.Context(), ts.db.DSN, nil))
	ts.push(`{"items":[{"queue":"q","transactionId":"a","payload":1}]}`)
	name, dsn := login(t, ts.db, "queen_reader, queen_writer, queen_admin")
	ts.sql(`CREATE SCHEMA trap AUTHORIZATION ` + name)
	ts.sql(`GRANT TEMPORARY ON DATABASE ` + ts.db.Name + ` TO ` + name)
	defer ts.sql(`DROP OWNED BY ` + name + ` CASCADE`)
	user, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() {
		_, err := user.Exec(context.WithoutCancel(t.Context()), `DISCARD TEMP`)
		require.NoError(t, err)
		require.NoError(t, user.Close(context.WithoutCancel(t.Context())))
	}()
	for _, statement := range []string{
		`CREATE FUNCTION trap.spring() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the trap of % was sprung by %', session_user, current_user; END $$`,
		`CREATE FUNCTION trap.join(text, integer) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM trap.spring(); RETURN ''; END $$`,
		`CREATE FUNCTION trap.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM trap.spring(); RETURN true; END $$`,
		`CREATE OPERATOR trap.|| (LEFTARG = text, RIGHTARG = integer, FUNCTION = trap.join)`,
		`CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.same)`,
		`CREATE FUNCTION trap.concat(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT trap.join($1, $2) $$`,
		`CREATE FUNCTION trap.format(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT trap.join($1, $2) $$`,
		`CREATE TEMP TABLE queues (id uuid)`,
		`CREATE TEMP TABLE tenant_roles AS SELECT session_user::regrole AS role, 'b0000000-0000-4000-8000-00000000000b'::uuid AS tenant_id`,
		`CREATE FUNCTION pg_temp._current_tenant() RETURNS uuid LANGUAGE plpgsql AS $$ BEGIN PERFORM trap.spring(); END $$`,
		`CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN PERFORM trap.spring(); END $$`,
		`SET search_path = pg_temp, trap, pg_catalog, queen`,
	} {
		_, err := user.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	require.Contains(t, answerOf(t, user, `SELECT to_jsonb(r)::text FROM queen.get_queue_v1('q') r`), "retryLimit")
	require.Contains(t, answerOf(t, user, `SELECT to_jsonb(r)::text FROM queen.push_v1('q', '1', p_transaction_id => 'b') r`), "queued")
	require.Contains(t, answerOf(t, user, `SELECT to_jsonb(r)::text FROM queen.pop_v1('q') r`), "transaction_id")
	require.Contains(t, answerOf(t, user, `SELECT to_jsonb(r)::text FROM queen.queue_status r`), "retained_bytes")
	require.Contains(t, answerOf(t, user, `CREATE FUNCTION queen.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'`), "42501")
	require.Contains(t, answerOf(t, user, `SELECT trap.join('a', 1)`), "the trap of "+name, "the trap works")
	owner, err := pgx.Connect(t.Context(), ts.db.DSN)
	require.NoError(t, err)
	defer owner.Close(context.WithoutCancel(t.Context()))
	for _, statement := range []string{`SET search_path = trap, public`, `CALL queen.run_maintenance_v1()`} {
		_, err = owner.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}
