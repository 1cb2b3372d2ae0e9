package db

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// reclaimFunctions are the functions of a reclaim step that write or lock.
var reclaimFunctions = []string{"log_reclaim_step_v1", "_reclaim_queue", "_reclaim_partition", "_reclaim_segments", "_reclaim_txns", "_move_log_start", "_settle_head"}

// stateOfReclaim is every row of every table that hangs on a queue, and the
// account, as one text.
const stateOfReclaim = `
SELECT string_agg(t.tab || ' ' || x.row::text, E'\n' ORDER BY t.tab, x.row::text)
FROM (
    SELECT c.oid::regclass::text AS tab FROM pg_class c
    WHERE c.relnamespace = 'queen'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('schema_migrations', 'schema_functions')
) t
CROSS JOIN LATERAL unnest(xpath('/table/row', query_to_xml('SELECT to_jsonb(y) AS r FROM ' || t.tab || ' y', false, false, ''))) x (row)`

// TestReclaimCrash: the backend of a step that removes a deleted queue is killed
// before its first statement and after every one, for steps of six rows and of
// all (the long form: of three and of one, too): each time the database is as before the step, and killed after the
// commit, as after it; then the next step goes on. In the end every row is gone,
// none is left without its partition, and the account has every frame once
// (issue 4 item 8, R-49, F099).
func TestReclaimCrash(t *testing.T) {
	t.Parallel()
	sizes := map[string]int32{"six rows": 6, "all": 10000}
	if os.Getenv(modelLongEnv) != "" {
		sizes["three rows"], sizes["one row"] = 3, 1
	}
	for name, rows := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			deletedQueue(t, d)
			visible := scalar[int64](t, d, "SELECT sum(s.frames)::bigint FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id AND s.base_offset >= p.log_start JOIN queen.queues q ON q.id = p.queue_id WHERE q.deleted_at IS NOT NULL")
			killed, steps := 0, 0
			for done := false; !done; steps++ {
				require.Less(t, steps, 100, "it never ends")
				before := scalar[string](t, d, stateOfReclaim)
				for point := 1; ; point++ {
					crashed, finished := stepThatCrashes(t, d, point, func(q *Queries) (bool, error) {
						row, err := q.ReclaimStep(context.Background(), rows)
						return row.Done, err
					})
					if !crashed {
						done = finished
						break
					}
					killed++
					require.Equal(t, before, scalar[string](t, d, stateOfReclaim), "step %d, killed at point %d", steps, point)
				}
				checkInvariants(t, d.Conn(t))
				if !done {
					require.NotEqual(t, before, scalar[string](t, d, stateOfReclaim), "step %d did something", steps)
				}
			}
			require.Greater(t, killed, 50, "so many points in %d steps", steps)
			t.Logf("killed %d times in %d steps", killed, steps)
			require.Zero(t, scalar[int64](t, d, remains))
			require.Zero(t, scalar[int64](t, d, "SELECT (SELECT count(*) FROM queen.log_keys) + (SELECT count(*) FROM queen.log_dirty) + (SELECT count(*) FROM queen.log_compaction)"))
			require.Equal(t, visible, scalar[int64](t, d, "SELECT sum(messages_deleted)::bigint FROM queen.retention_history WHERE retention_type = '__queue_deleted__'"))
			require.Equal(t, "1", scalar[string](t, d, "SELECT string_agg(payload::text, ',') FROM queen.read_v1('q', 'p')"), "the new queue of the name")
		})
	}
}

// deletedQueue makes a queue with everything that hangs on one (segments of both
// sides of the log start, keys, leases, letters, subscriptions), deletes it, makes
// another of its name, and gives the functions their crash points.
func deletedQueue(t *testing.T, d *dbtest.Database) {
	t.Helper()
	for _, sql := range []string{
		`SELECT queen.configure_queue_v1('q', '{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": 0}')`,
		`SELECT queen.push_many_v1('q', '{1,2,3}', '{p}', NULL, '{a,b,c}')`,
		`SELECT queen.push_many_v1('q', '{4,"null",5}', '{p}', NULL, '{a,b,NULL}')`,
		`SELECT queen.push_many_v1('q', '{6,7}', '{p}', NULL, '{d,e}')`,
		`SELECT queen.push_many_v1('q', '{8}', '{p}', NULL, '{f}')`,
		`SELECT queen.push_v1('q', '1', 'r')`,
		`SELECT queen.pop_v1('q', 2, 'g', p_max_partitions => 2, p_subscription_mode => 'all')`,
		`SELECT queen.log_compact_step_v1(id) FROM queen.log_partitions WHERE name = 'p'`,
		`SELECT queen._move_log_start(id, 3) FROM queen.log_partitions WHERE name = 'p'`,
		`SELECT queen.push_v1('q', '9', 'p', NULL, 'z')`,
		`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id) SELECT id, 'g', 0, gen_random_uuid(), 'x' FROM queen.log_partitions`,
		`SELECT queen.log_refresh_all_stats_v1()`,
		hideQ, pushNext, crashPoint,
	} {
		_, err := d.Pool.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
	for _, name := range reclaimFunctions {
		_, err := d.Pool.Exec(context.Background(), instrumented(t, d, name))
		require.NoError(t, err, name)
	}
}
