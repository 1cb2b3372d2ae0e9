package db

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
	"regent.local/regent/db/migrate"
)

type finding struct{ Check, Severity, Object, Finding, Statement string }

// examine runs the doctor with limits that a test can reach.
func examine(t *testing.T, conn *pgx.Conn, limits string) []finding {
	t.Helper()
	rows, err := conn.Query(context.Background(), `
		SELECT check_name, severity, object, finding, coalesce(statement, '') FROM queen.doctor_v1(`+limits+`)`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[finding])
	require.NoError(t, err)
	return found
}

// about are the findings of one check about one thing.
func about(found []finding, check, object string) (out []finding) {
	for _, f := range found {
		if f.Check == check && strings.HasPrefix(f.Object, object) {
			out = append(out, f)
		}
	}
	return out
}

const ofBusy = `queue_id = (SELECT id FROM queen.queues WHERE name = 'busy')`

// illness is one thing that the doctor must see, and no longer see when its own
// statement was run.
type illness struct {
	name, check, object, severity string
	says                          string // part of the finding
	limits                        string
	breach                        []string
	settle                        string // run before each look
}

// mend runs the statements of a finding, one a line, as psql would, or brings
// the functions back as the command does.
func mend(t *testing.T, db *dbtest.Database, conn *pgx.Conn, f finding) {
	t.Helper()
	require.NotEmpty(t, f.Statement, "%v", f)
	if f.Statement == "regent migrate up" {
		require.NoError(t, migrate.Up(context.Background(), db.DSN, nil))
		return
	}
	if f.Statement == "regent migrate --roles" {
		require.NoError(t, migrate.Roles(context.Background(), db.DSN, nil))
		return
	}
	for statement := range strings.SplitSeq(f.Statement, "\n") {
		_, err := conn.Exec(context.Background(), statement)
		require.NoError(t, err, statement)
	}
}

const flushStats = `SELECT pg_stat_force_next_flush()`

func illnesses(role string) []illness {
	return []illness{
		{name: "a function for everybody", check: "grants", object: "queen.push_v1(", severity: "error", says: "everybody",
			breach: []string{`GRANT EXECUTE ON FUNCTION queen.push_v1 TO PUBLIC`}},
		{name: "a table for others", check: "grants", object: "queen.log_segments", severity: "error", says: role + " may change its rows past the functions (INSERT, DELETE)",
			breach: []string{`GRANT SELECT, INSERT, DELETE ON queen.log_segments TO ` + role}},
		{name: "a schema for everybody", check: "grants", object: "schema queen", severity: "error", says: "PUBLIC may create",
			breach: []string{`GRANT CREATE ON SCHEMA queen TO PUBLIC`}},
		{name: "an edited function", check: "functions", object: "release 1", severity: "error", says: "by hand",
			breach: []string{`CREATE OR REPLACE FUNCTION queen._draw_nonce() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT 4::bigint $$`}},
		{name: "F185 an invalid index", check: "indexes", object: "queen.queues_name_idx", severity: "error", says: "queen.queues is not valid",
			breach: []string{`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'queen.queues_name_idx'::regclass`}},
		{name: "what a reindex left", check: "indexes", object: "queen.queues_name_idx_ccnew", severity: "error", says: "not valid",
			breach: []string{`CREATE INDEX queues_name_idx_ccnew ON queen.queues (name)`,
				`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'queen.queues_name_idx_ccnew'::regclass`}},
		{name: "no autovacuum on a table", check: "autovacuum", object: "queen.log_partitions", severity: "error", says: "is off for this table",
			breach: []string{`ALTER TABLE queen.log_partitions SET (autovacuum_enabled = false)`}},
		{name: "no autovacuum on the payloads", check: "autovacuum", object: "queen.log_segments", severity: "error", says: "is off for this table",
			breach: []string{`ALTER TABLE queen.log_segments SET (toast.autovacuum_enabled = off)`}},
		{name: "E-13 truncation", check: "autovacuum", object: "queen.log_consumers", severity: "warning", says: "truncate",
			breach: []string{`ALTER TABLE queen.log_consumers RESET (vacuum_truncate)`}},
		{name: "F193 dead rows", check: "bloat", object: "queen.log_consumers", severity: "warning", says: "dead rows beside", limits: `p_dead_rows => 900`, settle: flushStats,
			breach: []string{`ALTER TABLE queen.log_consumers SET (autovacuum_enabled = false)`,
				`INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT p.id, n FROM queen.log_partitions p, generate_series(1, 1000) n`,
				`DELETE FROM queen.log_consumers WHERE consumer_group <> 'g'`}},
		{name: "space that nothing uses", check: "bloat", object: "queen.log_consumers", severity: "warning", says: "locks the table", limits: `p_bloat_bytes => 600000`, settle: flushStats,
			breach: []string{`INSERT INTO queen.log_consumers (partition_id, consumer_group) SELECT p.id, n FROM queen.log_partitions p, generate_series(1, 4000) n`,
				`DELETE FROM queen.log_consumers WHERE consumer_group <> 'g'`, `VACUUM queen.log_consumers`}},
		{name: "late settler", check: "settler", object: "log_settle", severity: "error", says: "start a server",
			breach: []string{`UPDATE queen.clock_marks SET marked_at = marked_at - interval '2 minutes'`}},
		{name: "no settler", check: "settler", object: "log_settle", severity: "error", says: "never run",
			breach: []string{`DELETE FROM queen.clock_marks`, `INSERT INTO queen.clock_marks VALUES (clock_timestamp(), '3', true)`}},
		{name: "heads that stay unsettled", check: "settler", object: "1 partition", severity: "warning", says: "not settled",
			breach: []string{`SELECT queen.push_v1('busy', '1')`, `UPDATE queen.log_partitions SET last_write_at = last_write_at - interval '2 minutes' WHERE ` + ofBusy,
				`UPDATE queen.log_segments SET created_at = created_at - interval '2 minutes' WHERE partition_id IN (SELECT id FROM queen.log_partitions WHERE ` + ofBusy + `)`}},
		{name: "a paused task", check: "maintenance", object: "task nightly", severity: "warning", says: "paused",
			breach: []string{`INSERT INTO queen.maintenance_leases (task, period_ms, enabled) VALUES ('nightly', 1000, false)`}},
		{name: "a late task", check: "maintenance", object: "task hourly", severity: "warning", says: "last holder gone",
			breach: []string{`INSERT INTO queen.maintenance_leases (task, period_ms, next_due_at, lease_until, holder) VALUES ('hourly', 3600000, now() - interval '3 hours', now() - interval '2 hours', 'gone')`}},
		{name: "a queue that is not reclaimed", check: "maintenance", object: "deleted queues", severity: "warning", says: "the rows of 1 deleted queue are",
			breach: []string{`SELECT queen.push_v1('gone', '1')`, `SELECT queen.delete_queue_v1('gone')`, `UPDATE queen.queues SET deleted_at = deleted_at - interval '2 hours' WHERE name = 'gone'`}},
		{name: "S-42 a late reconciler", check: "reconciler", object: "task stats_refresh", severity: "warning", says: "no server runs it",
			breach: []string{`UPDATE queen.maintenance_leases SET next_due_at = now() - interval '61 seconds' WHERE task = 'stats_refresh'`}},
		{name: "a clock that went back", check: "clock", object: "database", severity: "error", says: "2 s ahead",
			breach: []string{`INSERT INTO queen.clock_marks VALUES (clock_timestamp() + interval '1.5 s', '3')`}},
		{name: "F193 an old transaction", check: "xmin", object: "session", severity: "warning", says: "patient", limits: `p_old_seconds => 0`},
		{name: "F147 a prepared transaction", check: "prepared", object: "transaction 'it''s'", severity: "error", says: "neither committed nor rolled back", limits: `p_old_seconds => 0`,
			breach: []string{`BEGIN`, `SELECT queen.push_v1('held', '1')`, `PREPARE TRANSACTION 'it''s'`}},
		{name: "a slot", check: "xmin", object: "replication slot regent_" + role, severity: "warning", says: "of WAL", limits: `p_wal_bytes => 0`,
			breach: []string{`SELECT pg_create_physical_replication_slot('regent_` + role + `', true)`}},
		{name: "F123 a group that stands still", check: "stuck group", object: "group ghost on queue kept", severity: "warning", says: "keeps 2 messages of 1 partition from",
			breach: []string{`SELECT queen.configure_queue_v1('kept', '{"retentionEnabled": true, "completedRetentionSeconds": 60}')`,
				`SELECT queen.push_many_v1('kept', '{1,2,3}')`, `SELECT queen.pop_v1('kept', 1, 'ghost', p_auto_ack => true, p_subscription_mode => 'all')`,
				`SELECT queen.pop_v1('kept', 9, 'well', p_auto_ack => true, p_subscription_mode => 'all')`,
				`UPDATE queen.log_segments SET created_at = created_at - interval '3 hours' WHERE partition_id IN (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.name = 'kept')`,
				`UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '3 hours' WHERE queue_id = (SELECT id FROM queen.queues WHERE name = 'kept')`,
				`UPDATE queen.log_consumers SET created_at = created_at - interval '3 hours', lease_acquired_at = lease_acquired_at - interval '3 hours'`,
				`UPDATE queen.group_activity SET last_active_at = now() - interval '2 hours', leased_until = now() - interval '2 hours' WHERE consumer_group = 'ghost'`}},
		{name: "F081 a window without the switch", check: "retention", object: "queue off", severity: "note", says: "retentionEnabled is false",
			breach: []string{`SELECT queen.configure_queue_v1('off', '{"retentionSeconds": 60}')`}},
		{name: "retention that is late", check: "retention", object: "queue old", severity: "warning", says: "messages that should be gone for a while are still in 1 partition,",
			breach: []string{`SELECT queen.configure_queue_v1('old', '{"retentionEnabled": true, "retentionSeconds": 60}')`, `SELECT queen.push_v1('old', '1')`,
				`UPDATE queen.log_segments s SET created_at = s.created_at - interval '3 hours' FROM queen.log_partitions p, queen.queues q WHERE p.id = s.partition_id AND q.id = p.queue_id AND q.name = 'old'`,
				`UPDATE queen.log_partitions p SET oldest_live_at = p.oldest_live_at - interval '3 hours', last_stamp = p.last_stamp - interval '3 hours' FROM queen.queues q WHERE q.id = p.queue_id AND q.name = 'old'`}},
		{name: "F089 a stamp from the future", check: "retention", object: "queue ahead", severity: "warning", says: "the first message of 1 partition is from the future",
			breach: []string{`SELECT queen.configure_queue_v1('ahead', '{"retentionEnabled": true, "retentionSeconds": 60}')`, `SELECT queen.push_v1('ahead', '1')`, `SELECT queen.push_v1('ahead', '2')`,
				`UPDATE queen.log_segments s SET created_at = s.created_at + interval '9 years' FROM queen.log_partitions p, queen.queues q WHERE s.base_offset = 0 AND p.id = s.partition_id AND q.id = p.queue_id AND q.name = 'ahead'`,
				`UPDATE queen.log_partitions p SET oldest_live_at = p.oldest_live_at + interval '9 years' FROM queen.queues q WHERE q.id = p.queue_id AND q.name = 'ahead'`}},
		{name: "growth", check: "growth", object: "queue big's", severity: "warning", says: "1000 kB in 9 days", limits: `p_size_bytes => 1024000`,
			breach: []string{`SELECT queen.configure_queue_v1('big''s')`,
				`INSERT INTO queen.queue_size_history (queue_id, hour_at, retained_bytes, segment_count)
					SELECT q.id, now() - n * interval '1 hour', 102400 - n * 4266, 1 FROM queen.queues q, generate_series(1, 20) n WHERE q.name = 'big''s'`}},
		{name: "emptied segments", check: "compaction", object: "queue keyed", severity: "note", says: "2 of 3 segments are empty", limits: `p_emptied_rows => 1`,
			breach: []string{`SELECT queen.configure_queue_v1('keyed', '{"cleanupPolicy": "compact"}')`,
				`SELECT queen.push_v1('keyed', to_json(n), p_key => 'k') FROM generate_series(1, 3) n`,
				`UPDATE queen.log_segments SET frames = 0, bytes = 0, payloads = '{}', keys = '{}', offsets = '{}' WHERE keys = '{k}' AND base_offset < 2`,
				`UPDATE queen.log_partitions p SET removed_frames = 2, removed_bytes = 4 FROM queen.queues q WHERE q.id = p.queue_id AND q.name = 'keyed'`}},
	}
}

// Every illness is found, said once, and gone when the statement that the doctor
// gives was run. A healthy database has no finding.
func TestDoctor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := dbtest.New(t)
	conn := db.Conn(t)
	role := strings.ReplaceAll(conn.Config().Database, "regent_test_", "doctor_")
	for _, sql := range []string{`CREATE ROLE ` + role, `SELECT queen.push_v1('q', '1')`, `SELECT queen.pop_v1('q', 1, 'g', p_auto_ack => true)`, `CALL queen.run_maintenance_v1()`} {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	t.Cleanup(func() {
		_, err := conn.Exec(ctx, `DROP OWNED BY `+role+`; DROP ROLE `+role, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	})
	require.Empty(t, examine(t, conn, ""), "a healthy database")
	for _, i := range illnesses(role) {
		look := func() []finding {
			_, err := conn.Exec(ctx, i.settle)
			require.NoError(t, err)
			return about(examine(t, conn, i.limits), i.check, i.object)
		}
		require.Empty(t, look(), "%s: before", i.name)
		for _, sql := range i.breach {
			_, err := conn.Exec(ctx, sql)
			require.NoError(t, err, "%s: %s", i.name, sql)
		}
		if i.name == "F193 an old transaction" {
			patient := db.Session(t, "patient")
			patient.Exec(t, `BEGIN ISOLATION LEVEL REPEATABLE READ`)
			patient.Exec(t, `SELECT count(*) FROM queen.queues`)
		}
		found := look()
		require.NotEmpty(t, found, i.name)
		require.Equal(t, i.severity, found[0].Severity, "%s: %v", i.name, found)
		require.Contains(t, found[0].Finding, i.says, i.name)
		for _, f := range found {
			mend(t, db, conn, f)
		}
		require.Empty(t, look(), "%s: its own statement does not mend it", i.name)
		_, err := conn.Exec(ctx, `CALL queen.run_maintenance_v1()`)
		require.NoError(t, err)
	}
	for _, f := range examine(t, conn, "") {
		mend(t, db, conn, f)
	}
	_, err := conn.Exec(ctx, `CALL queen.run_maintenance_v1()`)
	require.NoError(t, err)
	require.Empty(t, examine(t, conn, ""), "everything was mended")
}

// What is wrong for the whole server, or for a session, is seen too. Other tests
// do not run meanwhile.
func TestDoctorOfServer(t *testing.T) {
	ctx := context.Background()
	db := dbtest.New(t)
	conn := db.Conn(t)
	_, err := conn.Exec(ctx, `CALL queen.run_maintenance_v1()`)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(ctx, `DROP OWNED BY queen_reader, queen_writer, queen_admin, queen_server; DROP ROLE queen_reader, queen_writer, queen_admin, queen_server`, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	})
	// Roles that were made for another database.
	_, err = conn.Exec(ctx, `CREATE ROLE queen_reader; CREATE ROLE queen_writer`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	found := examine(t, conn, "")
	require.Len(t, found, 1, "%v", found)
	require.Equal(t, [4]string{"grants", "note", "roles queen_reader, queen_writer", "regent migrate --roles"},
		[4]string{found[0].Check, found[0].Severity, found[0].Object, found[0].Statement})
	mend(t, db, conn, found[0])
	require.Empty(t, examine(t, conn, ""))
	for check, breach := range map[string][]string{
		"grants":     {`REVOKE EXECUTE ON FUNCTION queen.read_v1 FROM queen_reader`, `REVOKE SELECT ON queen.queue_status FROM queen_reader`},
		"autovacuum": {`ALTER DATABASE %s SET track_counts = off`},
		"activity":   {`ALTER DATABASE %s SET track_activities = off`},
	} {
		for _, sql := range breach {
			_, err := conn.Exec(ctx, strings.ReplaceAll(sql, "%s", conn.Config().Database))
			require.NoError(t, err, sql)
		}
		// A session has the settings of its start.
		fresh := func() []finding { return about(examine(t, db.Conn(t), ""), check, "") }
		found := fresh()
		require.Len(t, found, map[string]int{"grants": 2, "autovacuum": 1, "activity": 1}[check], "%s: %v", check, found)
		for _, f := range found {
			require.Equal(t, "error", f.Severity)
			mend(t, db, conn, f)
		}
		require.Empty(t, fresh(), check)
	}
}

// The owner of the schema needs no superuser. What it cannot see it says.
func TestDoctorWithoutSuperuser(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := dbtest.New(t)
	conn := db.Conn(t)
	owner := strings.ReplaceAll(conn.Config().Database, "regent_test_", "owner_")
	_, err := conn.Exec(ctx, fmt.Sprintf(giveAway, owner), pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(ctx, fmt.Sprintf(`SET ROLE NONE; REASSIGN OWNED BY %[1]s TO CURRENT_USER; DROP OWNED BY %[1]s; DROP ROLE %[1]s`, owner), pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	})
	config := conn.Config().Copy()
	config.RuntimeParams["role"] = owner
	own, err := pgx.ConnectConfig(ctx, config)
	require.NoError(t, err)
	defer own.Close(ctx)
	_, err = own.Exec(ctx, `CALL queen.run_maintenance_v1()`)
	require.NoError(t, err)
	found := examine(t, own, "")
	require.Len(t, found, 1, "%v", found)
	require.Equal(t, [2]string{"activity", "role " + owner}, [2]string{found[0].Check, found[0].Object})
	require.Equal(t, "warning", found[0].Severity)
	require.Contains(t, found[0].Finding, "1 session of other roles is masked")
	mend(t, db, conn, found[0])
	require.Empty(t, examine(t, own, ""))
}

// giveAway makes a role the owner of the schema with all that is in it.
const giveAway = `CREATE ROLE %[1]s;
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN
		SELECT format('ALTER %%s %%s OWNER TO %[1]s', CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass) AS sql
		FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind IN ('r', 'v', 'S')
			AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') AND c.relkind = 'S')
		UNION ALL SELECT format('ALTER ROUTINE %%s OWNER TO %[1]s', p.oid::regprocedure) FROM pg_proc p WHERE p.pronamespace = 'queen'::regnamespace
		UNION ALL SELECT format('ALTER DOMAIN %%s OWNER TO %[1]s', t.oid::regtype) FROM pg_type t WHERE t.typnamespace = 'queen'::regnamespace AND t.typtype = 'd'
		UNION ALL SELECT 'ALTER SCHEMA queen OWNER TO %[1]s'
	LOOP
		EXECUTE r.sql;
	END LOOP;
END $$`
