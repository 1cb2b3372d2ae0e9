package db

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// stateOfCompaction is all that a compaction step reads or writes, as one text.
const stateOfCompaction = `
SELECT concat_ws(E'\n',
    (SELECT string_agg(to_jsonb(s)::text, E'\n' ORDER BY s.partition_id, s.base_offset) FROM queen.log_segments s),
    (SELECT string_agg(to_jsonb(t)::text, E'\n' ORDER BY t.partition_id, t.base_offset) FROM queen.log_txns t),
    (SELECT string_agg(to_jsonb(p)::text, E'\n' ORDER BY p.id) FROM queen.log_partitions p),
    (SELECT string_agg(to_jsonb(k)::text, E'\n' ORDER BY k.partition_id, k.key) FROM queen.log_keys k),
    (SELECT string_agg(to_jsonb(d)::text, E'\n' ORDER BY d.partition_id, d.base_offset) FROM queen.log_dirty d),
    (SELECT string_agg(to_jsonb(c)::text, E'\n' ORDER BY c.partition_id) FROM queen.log_compaction c),
    (SELECT string_agg(to_jsonb(h)::text, E'\n' ORDER BY h.executed_at) FROM queen.retention_history h))`

// compactionFunctions are the functions of a step that write or lock.
var compactionFunctions = []string{"log_compact_step_v1", "_note_keys", "_hold_compaction", "_compacted", "_rewrite_segments",
	"_rewritable", "_account_removed", "_prune_keys", "_note_due"}

// crashPoint ends its own backend when it is called for the time that the setting
// of the session says. It is called by ASSERT, which leaves FOUND and the row
// count as they are.
const crashPoint = `
CREATE FUNCTION public.crash_point() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_left integer := current_setting('test.crash_in', true)::integer - 1;
BEGIN
    PERFORM set_config('test.crash_in', v_left::text, false);
    IF v_left = 0 THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
        PERFORM pg_sleep(10);
    END IF;
    RETURN true;
END $$`

// TestCompactionCrash answers X-3: the backend of a step is killed before its first statement and after every
// one, and each time the database is as before the step; killed after the commit, as after it. Where MiniKafka decides between three
// directories, there is nothing to decide.
func TestCompactionCrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := dbtest.New(t)
	exec := func(sql string) {
		_, err := d.Pool.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	exec(crashPoint)
	for _, name := range compactionFunctions {
		exec(instrumented(t, d, name))
	}
	exec(`SELECT queen.configure_queue_v1('q', '{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": 0}')`)
	for _, frames := range []string{`'{1,2,3}', '{a,b,c}'`, `'{4,"null",5}', '{a,b,NULL}'`, `'{6,7}', '{d,e}'`, `'{8}', '{f}'`, `'{"null"}', '{d}'`, `'{9}', '{z}'`} {
		exec(`SELECT queen.push_many_v1('q', p::json[], '{p}', NULL, k::text[]) FROM (VALUES (` + frames + `)) v (p, k)`)
	}
	lane := scalar[uuid.UUID](t, d, "SELECT id FROM queen.log_partitions")
	killed, steps := 0, 0
	for done := false; !done; steps++ {
		require.Less(t, steps, 6, "it never ends")
		if steps == 2 { // the prefix takes keys, so that there is something to forget
			exec(fmt.Sprintf(`SELECT queen._move_log_start('%s', 8)`, lane))
		}
		before := scalar[string](t, d, stateOfCompaction)
		for point := 1; ; point++ {
			crashed, finished := stepThatCrashes(t, d, point, func(q *Queries) (bool, error) {
				row, err := q.CompactStep(ctx, lane, 1000)
				return row.Done, err
			})
			if !crashed {
				done = finished && steps >= 2
				break
			}
			killed++
			require.Equal(t, before, scalar[string](t, d, stateOfCompaction), "step %d, killed at point %d", steps, point)
		}
		if !done {
			require.NotEqual(t, before, scalar[string](t, d, stateOfCompaction), "step %d did something", steps)
		}
	}
	require.Greater(t, killed, 50, "so many points in %d steps", steps)
	conn := d.Conn(t)
	checkInvariants(t, conn)
	require.Equal(t, []string{"f", "z"}, column[string](t, d, "SELECT key FROM queen.log_keys ORDER BY key"))
	require.Equal(t, int64(5), scalar[int64](t, d, "SELECT sum(messages_deleted)::bigint FROM queen.retention_history"))
}

// stepThatCrashes runs a step in a session of its own, which ends at the given
// point; when the step has fewer, it is ended after the commit.
func stepThatCrashes(t *testing.T, d *dbtest.Database, point int, step func(*Queries) (done bool, err error)) (crashed, done bool) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.DSN)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, fmt.Sprintf("SET test.crash_in = %d", point))
	require.NoError(t, err)
	// Who is killed says so before he gives his locks back.
	defer func() {
		require.Eventually(t, func() bool {
			return !scalar[bool](t, d, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", conn.PgConn().PID())
		}, 20*time.Second, time.Millisecond, "the backend is gone")
	}()
	done, err = step(New(conn))
	if err != nil {
		require.Equal(t, "57P01", sqlState(err), "%v", err)
		return true, false
	}
	_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)")
	require.Error(t, err)
	return false, done
}

// instrumented is the statement that gives a function a crash point before its
// first statement and after every one.
func instrumented(t *testing.T, d *dbtest.Database, name string) string {
	t.Helper()
	source := scalar[string](t, d, "SELECT prosrc FROM pg_proc WHERE pronamespace = 'queen'::regnamespace AND proname = $1", name)
	var out strings.Builder
	body := false
	for line := range strings.Lines(source) {
		out.WriteString(line)
		text := strings.TrimSpace(line)
		body = body || text == "BEGIN"
		if text == "BEGIN" || body && strings.HasSuffix(text, ";") {
			out.WriteString("ASSERT public.crash_point();\n")
		}
	}
	require.True(t, body, name)
	return strings.Replace(scalar[string](t, d, "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'queen'::regnamespace AND proname = $1", name), source, out.String(), 1)
}
