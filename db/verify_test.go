package db

import (
	"context"
	randv2 "math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

type breach struct {
	Check, Queue, Partition string
	PartitionID             pgtype.UUID
	Offset                  *int64
	Finding                 string
}

func verify(t *testing.T, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, sql string) []breach {
	t.Helper()
	rows, err := q.Query(context.Background(), "SELECT check_name, queue, partition, partition_id, \"offset\", finding FROM "+sql)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[breach])
	require.NoError(t, err)
	return found
}

// Each invariant is broken by hand, and verify names it.
func TestVerifyNamesEveryBreach(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := dbtest.New(t).Conn(t)
	for _, sql := range []string{
		`SELECT queen.push_many_v1('q', ARRAY['1','"é"','{"a":1}']::json[], ARRAY['A','B','A'], ARRAY['t1','t2','t0'])`,
		`SELECT queen.push_v1('q', '2', 'A')`,
		`SELECT queen.push_v1('q', '3', 'A', 'aa', 'key')`,
		`SELECT queen.pop_v1('q', 10, p_max_partitions => 2)`,
		`SELECT queen.pop_v1('q', 1, 'g', p_max_partitions => 1)`,
		`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id)
			SELECT id, 'g', 0, gen_random_uuid(), 't' FROM queen.log_partitions WHERE name = 'A'`,
		`INSERT INTO queen.queues (tenant_id, name) VALUES ('00000000-0000-0000-0000-0000000000bb', 'foreign')`,
		`INSERT INTO queen.log_partitions (queue_id, name) SELECT id, 'x' FROM queen.queues WHERE name = 'foreign'`,
		// A segment as compaction leaves it, the second one empty.
		`SELECT queen.push_many_v1('k', '{1,2,3}', p_transaction_ids => '{k1,k2,k3}')`,
		`SELECT queen.push_v1('k', '4')`,
		`UPDATE queen.log_segments s SET payloads = payloads[2:2], transaction_ids = transaction_ids[2:2], offsets = '{1}', frames = 1, bytes = 3
			FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = s.partition_id AND q.name = 'k' AND s.base_offset = 0`,
		`UPDATE queen.log_segments s SET payloads = '{}', offsets = '{}', frames = 0, bytes = 0
			FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = s.partition_id AND q.name = 'k' AND s.base_offset = 3`,
		`UPDATE queen.log_partitions p SET removed_frames = 3, removed_bytes = 7 FROM queen.queues q WHERE q.id = p.queue_id AND q.name = 'k'`,
	} {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	require.Empty(t, verify(t, conn, "queen.verify_v1()"))
	const ofA, ofK = ` AND partition_id = (SELECT id FROM queen.log_partitions WHERE name = 'A')`,
		` AND partition_id = (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'k')`
	for _, c := range []struct{ check, sql string }{
		{"T-1 range", `UPDATE queen.log_segments SET end_offset = end_offset + 1 WHERE base_offset = 0` + ofA},
		{"T-1 range", `UPDATE queen.log_segments SET end_offset = -1 WHERE base_offset = 0` + ofA},
		{"T-1 range", `UPDATE queen.log_partitions SET log_start = 1 WHERE name = 'A'`},
		{"T-1 reclaimed", `UPDATE queen.log_partitions SET reclaimed_to = 1, log_start = 2 WHERE name = 'A'`},
		{"T-1 frames", `UPDATE queen.log_segments SET frames = 1 WHERE base_offset = 0` + ofA},
		{"T-1 frames", `UPDATE queen.log_segments SET payloads = '{1}' WHERE base_offset = 0` + ofA},
		{"T-1 frames", `UPDATE queen.log_segments SET trace_ids = '{NULL}' WHERE base_offset = 0` + ofA},
		{"T-1 frames", `UPDATE queen.log_segments SET offsets = '{4}' WHERE base_offset = 0` + ofK},
		{"T-1 frames", `UPDATE queen.log_segments SET offsets = NULL WHERE base_offset = 0` + ofK},
		{"T-2 hole", `DELETE FROM queen.log_segments WHERE base_offset = 2` + ofA},
		{"T-9 log start", `DELETE FROM queen.log_segments WHERE base_offset = 0` + ofA},
		{"T-9 log start", `UPDATE queen.log_partitions SET log_start = 3 WHERE name = 'B'`},
		{"T-3 hash row", `DELETE FROM queen.log_txns WHERE base_offset = 3` + ofA},
		{"T-3 hash row", `DELETE FROM queen.log_txns WHERE base_offset = 2` + ofA},
		{"T-3 hash row", `DELETE FROM queen.log_segments WHERE base_offset = 3` + ofA},
		{"T-3 hash row", `UPDATE queen.log_txns SET created_at = created_at + interval '1 us' WHERE base_offset = 2` + ofA},
		{"T-3 hash row", `UPDATE queen.log_txns SET hashes = hashes[1:1] WHERE base_offset = 0` + ofA},
		{"T-4 stamps", `UPDATE queen.log_segments SET created_at = created_at - interval '1 minute' WHERE base_offset = 3` + ofA},
		{"T-5 cursor", `UPDATE queen.log_consumers SET committed = 99`},
		{"T-5 cursor", `UPDATE queen.log_consumers SET batch_end = 99 WHERE batch_end IS NOT NULL`},
		{"T-5 cursor", `UPDATE queen.log_consumers SET batch_end = committed WHERE batch_end IS NOT NULL`},
		{"T-5 cursor", `UPDATE queen.log_consumers SET worker_id = NULL`},
		{"dead letter", `UPDATE queen.log_dlq SET "offset" = 99`},
		{"running sum", `UPDATE queen.log_segments SET cum_bytes = cum_bytes + 1 WHERE base_offset = 2` + ofA},
		{"running sum", `UPDATE queen.log_segments SET bytes = bytes + 1 WHERE base_offset = 0` + ofA},
		{"running sum", `UPDATE queen.log_segments SET cum_bytes = 99, orig_bytes = 98 WHERE base_offset = 0` + ofA},
		{"bytes", `UPDATE queen.log_segments SET payloads = '{1,22}' WHERE base_offset = 0` + ofA},
		{"bytes", `UPDATE queen.log_segments SET payloads = '{22}' WHERE base_offset = 0` + ofK},
		{"total", `UPDATE queen.log_partitions SET removed_frames = 1 WHERE name = 'A'`},
		{"total", `UPDATE queen.log_partitions SET removed_frames = 2 WHERE removed_frames > 0`},
		{"size", `UPDATE queen.log_partitions SET removed_bytes = 1 WHERE name = 'A'`},
		{"head", `UPDATE queen.log_partitions SET settled = true WHERE name = 'A'`},
		{"head", `UPDATE queen.log_partitions SET last_offset = 9 WHERE name = 'B'`},
		{"head", `DELETE FROM queen.log_segments WHERE base_offset = 3` + ofA + `; UPDATE queen.log_partitions SET last_offset = 3 WHERE name = 'A'`},
		{"last write", `UPDATE queen.log_partitions SET last_write_at = last_write_at - interval '2 s'`},
		{"watermarks", `UPDATE queen.log_partitions SET reclaimed_to = 1`},
		{"watermarks", `UPDATE queen.log_partitions SET txns_start = 99`},
		{"T-10 oldest stamp", `UPDATE queen.log_partitions SET oldest_live_at = NULL`},
		{"T-10 oldest stamp", `UPDATE queen.log_partitions SET oldest_live_at = '-infinity'`},
		{"T-10 oldest stamp", `UPDATE queen.log_segments SET created_at = 'infinity' WHERE base_offset = 0` + ofA},
		{"T-4 stamps", `UPDATE queen.log_partitions SET oldest_live_at = 'infinity' WHERE name = 'A'; UPDATE queen.log_segments SET created_at = 'infinity' WHERE base_offset = 0` + ofA},
		{"ids", `UPDATE queen.log_segments SET created_at = '-infinity'`},
		{"T-10 oldest hash row", `UPDATE queen.log_txns SET created_at = '-infinity'; UPDATE queen.log_partitions SET oldest_txn_at = 'infinity'`},
		{"T-10 oldest hash row", `UPDATE queen.log_partitions SET oldest_txn_at = oldest_txn_at + interval '1 s'`},
		{"ids", `UPDATE queen.log_segments SET id_base = gen_random_uuid() WHERE base_offset = 2` + ofA},
		{"hash", `UPDATE queen.log_txns SET hashes[1] = 5 WHERE base_offset = 0` + ofA},
		{"hash", `UPDATE queen.log_txns SET hashes[2] = 5 WHERE base_offset = 0` + ofK},
		{"hash", `UPDATE queen.log_segments SET transaction_ids = '{t1,tX}' WHERE base_offset = 0` + ofA},
		{"id range", `UPDATE queen.log_txns SET high = 'aa' WHERE base_offset = 3` + ofA},
		{"id range", `UPDATE queen.log_txns SET out_of_order = NOT out_of_order WHERE base_offset = 2` + ofA},
		{"id range", `UPDATE queen.log_txns SET lo = 't1' WHERE base_offset = 0` + ofA},
		{"id range", `UPDATE queen.log_txns SET hi = 'k1' WHERE base_offset = 0` + ofK},
		{"orphan", `UPDATE queen.log_dlq SET partition_id = gen_random_uuid()`},
		{"orphan", `UPDATE queen.log_consumers SET partition_id = gen_random_uuid()`},
		{"orphan", `SET LOCAL session_replication_role = replica; DELETE FROM queen.log_partitions WHERE name = 'B'`},
		{"orphan", `SET LOCAL session_replication_role = replica; DELETE FROM queen.queues WHERE name = 'q'`},
		{"orphan", `INSERT INTO queen.log_keys (partition_id, key, "offset", base_offset) VALUES (gen_random_uuid(), 'k', 1, 1)`},
		{"orphan", `INSERT INTO queen.log_compaction (partition_id) VALUES (gen_random_uuid())`},
		{"orphan", `INSERT INTO queen.log_dirty VALUES (gen_random_uuid(), 0, now(), true, true)`},
	} {
		tx, err := conn.Begin(ctx)
		require.NoError(t, err)
		_, err = tx.Exec(ctx, c.sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err, c.sql)
		found := verify(t, tx, "queen.verify_v1()")
		var names []string
		for _, f := range found {
			names = append(names, f.Check)
		}
		require.Contains(t, names, c.check, c.sql)
		require.NoError(t, tx.Rollback(ctx))
	}
	require.Empty(t, verify(t, conn, "queen.verify_v1()"))
}

// Random histories with keys, tombstones, compaction, deletion from the front
// and a purged sidecar stay sound, and the views count what is left.
func TestVerifyAfterCompaction(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := dbtest.New(t).Conn(t)
	_, err := conn.Exec(ctx, `SELECT queen.configure_queue_v1('q', '{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": 0}')`)
	require.NoError(t, err)
	seed := drawSeed()
	rng := randv2.New(randv2.NewPCG(seed, 2))
	for n := range 60 {
		sql := `SELECT queen.push_v1('q', CASE WHEN random() < 0.2 THEN 'null' ELSE to_json(random()) END, 'p' || $1 % 2,
			p_key => CASE WHEN $1 % 5 > 0 THEN 'k' || $1 % 4 END) FROM generate_series(1, 1 + $1 % 7)`
		switch rng.IntN(8) {
		case 0:
			sql = `SELECT queen.pop_v1('q', 1 + $1 % 5, 'g', p_auto_ack => true, p_subscription_mode => 'all')`
		case 1:
			sql = `SELECT queen._move_log_start(p.id, p.log_start + $1) FROM queen.log_partitions p WHERE p.name = 'p0' FOR NO KEY UPDATE`
		case 2, 3, 4:
			sql = `SELECT queen.log_compact_step_v1(p.id, 1 + $1 * 3) FROM queen.log_partitions p`
		case 5:
			sql = `SELECT s.* FROM generate_series(0, $1) g, queen.log_settle_heads_step_v1() s`
		}
		_, err := conn.Exec(ctx, sql, rng.IntN(30))
		require.NoError(t, err, "seed %d step %d: %s", seed, n, sql)
		require.NoError(t, invariantBreaches(ctx, conn), "seed %d step %d: %s", seed, n, sql)
		require.NoError(t, statusBreaches(ctx, conn), "seed %d step %d: %s", seed, n, sql)
		require.NoError(t, publishedBreaches(ctx, conn), "seed %d step %d: %s", seed, n, sql)
	}
	var removed int64
	require.NoError(t, conn.QueryRow(ctx, `SELECT sum(frames) FROM queen.log_segments`).Scan(&removed))
	require.Positive(t, removed)
}
