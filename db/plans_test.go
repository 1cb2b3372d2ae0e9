package db

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// crowded is 100 queues with one partition, and one with 4,000, nearly all idle,
// with the statistics of that.
var crowded = []string{
	`SELECT queen.configure_queue_v1('small' || i) FROM generate_series(1, 100) i`,
	`SELECT queen.configure_queue_v1('big')`,
	`INSERT INTO queen.log_partitions (queue_id, name, last_offset, log_start, settled, last_write_at)
		SELECT q.id, 'p' || i, 9, 10, true, now() - interval '1 hour' FROM queen.queues q, generate_series(1, CASE q.name WHEN 'big' THEN 4000 ELSE 1 END) i`,
	`INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) SELECT id, 'g', 9 FROM queen.log_partitions`,
	`SELECT queen.push_many_v1(q, '{1,2,3}', ARRAY['p1', 'p1', 'p1'], ARRAY['a', 'b', 'c']) FROM unnest('{small7,big}'::text[]) q`,
	`SELECT queen.log_settle_heads_step_v1(500, 0, clock_timestamp() + interval '1 hour')`,
	`SELECT queen.log_refresh_all_stats_v1()`,
	`ANALYZE queen.queues, queen.log_partitions, queen.log_consumers, queen.log_segments, queen.log_txns, queen.stats`,
}

// F191: on one connection a hot statement touches as much after its fifth run,
// when PostgreSQL may take a plan for any parameters, as before, and under
// plan_cache_mode = force_generic_plan; for a small queue and a big one.
func TestPlansDoNotFlip_F191(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	loader := db.Conn(t)
	for _, sql := range crowded {
		_, err := loader.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
	for name, sql := range map[string]string{
		"push":      `SELECT * FROM queen.log_push_v1('{$queue}', '{p1}', '{1}', '{1}', '{new}')`,
		"pop":       `SELECT * FROM queen.log_pop_v1('$queue', 'p1', 'g', 3)`,
		"pop any":   `SELECT * FROM queen.log_pop_v1('$queue', NULL, 'g', 3)`,
		"ack":       `SELECT a.* FROM queen.log_pop_v1('$queue', 'p1', 'g', 3) p, LATERAL queen.log_ack_v1(ARRAY[p.partition_id], '{g}', ARRAY[p.lease_id], ARRAY[cardinality(p.transaction_ids)], p.transaction_ids, array_fill('completed'::text, ARRAY[cardinality(p.transaction_ids)])) a`,
		"probe":     `SELECT * FROM queen.log_pending_v1('{$queue}', '{NULL}', '{g}', '{NULL}')`,
		"changed":   `SELECT * FROM queen.log_partitions_changed_v1('{$queue}', ARRAY[now() - interval '1 minute'])`,
		"fetch":     `SELECT * FROM queen.log_fetch_v1('{$queue}', '{p1}', '{10}')`,
		"retention": `SELECT * FROM queen.log_retention_due_v1(10)`,
	} {
		for _, queue := range []string{"small7", "big"} {
			statement := strings.ReplaceAll(sql, "$queue", queue)
			most := func(mode string) (early, late int) {
				conn := db.Conn(t)
				defer conn.Close(context.Background())
				_, err := conn.Exec(context.Background(), "SET plan_cache_mode = "+mode)
				require.NoError(t, err)
				for run := range 5 { // of two each
					if touched := buffers(t, conn, statement); run < 2 {
						early = max(early, touched)
					} else {
						late = max(late, touched)
					}
				}
				return early, late
			}
			early, late := most("auto")
			require.LessOrEqual(t, late, 3*early+20, "%s of %s: %d buffers in the first runs, %d after", name, queue, early, late)
			_, generic := most("force_generic_plan")
			require.LessOrEqual(t, generic, 3*early+20, "%s of %s: %d buffers, %d with the generic plan", name, queue, early, generic)
		}
	}
}
