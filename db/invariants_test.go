package db

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// invariant is one statement that answers a row of text for each breach.
type invariant struct {
	name  string
	query string
}

// liveParts are the partitions with their heads.
const liveParts = `
WITH part AS (
    SELECT p.*, h.head_offset FROM queen.log_partitions p JOIN queen.partition_head h USING (id)
) `

// logInvariants hold after any history of committed calls. Those of what is
// stored are the product's own, for operators (regent verify): they are written
// down there without the helpers of the engine.
var logInvariants = []invariant{
	{"verify", `
		SELECT concat_ws(' ', v.check_name, v.queue, v.partition, v."offset", v.finding)
		FROM (SELECT array_agg(id) AS ids FROM (SELECT id, row_number() OVER () / 50 AS share FROM queen.log_partitions) x GROUP BY share) s
		CROSS JOIN LATERAL queen.verify_partitions_v1(s.ids) v -- by shares, as regent verify does
		UNION ALL
		SELECT concat_ws(' ', check_name, partition_id, finding) FROM queen.verify_orphans_v1()`},
	{"O-10 what a group is owed below the floor of its search is held", `
		SELECT concat_ws(' ', p.id, w.consumer_group, p.last_write_at, w.last_empty_scan_at)
		FROM queen.consumer_watermarks w JOIN queen.queues q ON q.id = w.queue_id AND q.deleted_at IS NULL JOIN part p ON p.queue_id = q.id
		LEFT JOIN queen.log_consumers c ON c.partition_id = p.id AND c.consumer_group = w.consumer_group
		WHERE (p.last_write_at, p.id) <= (w.last_empty_scan_at - interval '1 second', w.last_empty_scan_id) AND p.head_offset > coalesce(c.committed, -1)
		  AND p.id <> ALL (w.held)`},
	{"O-6 both forms of what a group is owed agree", `
		SELECT concat_ws(' ', g.consumer_group, s.id, s.owed, s.leased_until, s.committed, o.owed, o.leased_until, o.committed)
		FROM (SELECT DISTINCT c.consumer_group FROM queen.log_consumers c) g
		CROSS JOIN LATERAL queen._standing(g.consumer_group) s
		JOIN LATERAL queen._owing(g.consumer_group) o ON o.id = s.id
		WHERE o.owed <> s.owed OR (o.leased_until, o.committed) IS DISTINCT FROM (s.leased_until, s.committed)`},
	{"T-6 a lease id belongs to one group", `
		SELECT worker_id FROM queen.log_consumers WHERE worker_id IS NOT NULL
		GROUP BY worker_id HAVING count(DISTINCT consumer_group) > 1`},
	{"no row is left without its partition or queue", `
		SELECT concat_ws(' ', o.what, o.partition_id) FROM (
		    SELECT 'segment' AS what, partition_id FROM queen.log_segments UNION ALL SELECT 'sidecar', partition_id FROM queen.log_txns
		    UNION ALL SELECT 'dead letter', partition_id FROM queen.log_dlq UNION ALL SELECT 'consumer', partition_id FROM queen.log_consumers) o
		WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = o.partition_id)
		UNION ALL
		SELECT concat_ws(' ', 'partition', p.id) FROM queen.log_partitions p
		WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = p.queue_id)
		UNION ALL
		SELECT concat_ws(' ', 'subscription', m.id) FROM queen.consumer_groups_metadata m
		WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = m.queue_id)`},
	{"a lease is found from its id: by the partition in its tail, or by its member row", `
		SELECT concat_ws(' ', c.worker_id, c.partition_id) FROM queen.log_consumers c
		LEFT JOIN queen.log_lease_members m ON m.lease_id = c.worker_id
		WHERE c.worker_id IS NOT NULL AND NOT coalesce(c.partition_id = ANY (m.partition_ids),
		    right(c.worker_id, 10) = left(replace(c.partition_id::text, '-', ''), 10))
		UNION ALL
		SELECT concat_ws(' ', 'members', m.lease_id) FROM queen.log_lease_members m
		WHERE cardinality(m.partition_ids) < 2
		   OR cardinality(m.partition_ids) <> (SELECT count(DISTINCT i) FROM unnest(m.partition_ids) i)
		   OR m.expires_at < (SELECT max(c.lease_expires_at) FROM queen.log_consumers c WHERE c.worker_id = m.lease_id) - interval '1 second'`},
}

// checkInvariants asserts every invariant that SQL can see, in one snapshot.
func checkInvariants(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	require.NoError(t, invariantBreaches(context.Background(), conn))
}

// invariantBreaches names every broken invariant, with at most five breaches
// of each, or nil.
func invariantBreaches(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	return breachesIn(ctx, tx)
}

// breachesIn is invariantBreaches inside a snapshot that the caller holds.
func breachesIn(ctx context.Context, tx pgx.Tx) error {
	var batch pgx.Batch
	for _, i := range logInvariants {
		batch.Queue(liveParts + "SELECT b FROM (" + i.query + ") x (b) LIMIT 5")
	}
	results := tx.SendBatch(ctx, &batch)
	defer func() { _ = results.Close() }()
	var broken []string
	for _, i := range logInvariants {
		rows, err := results.Query()
		if err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
		if len(found) > 0 {
			broken = append(broken, i.name+":\n  "+strings.Join(found, "\n  "))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("broken: %s", strings.Join(broken, "\n"))
	}
	return nil
}

// TestInvariantsCanFail breaks a sound database in one way each and expects the
// check to see it.
func TestInvariantsCanFail(t *testing.T) {
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
	} {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	checkInvariants(t, conn)
	for _, c := range []struct{ name, breach string }{
		{"T-6", `UPDATE queen.log_consumers SET worker_id = 'w'`},
		{"verify", `UPDATE queen.log_txns SET hashes[1] = 5 WHERE base_offset = 0`},
		{"verify", `UPDATE queen.log_partitions SET last_offset = 9 WHERE name = 'B'`},
		{"verify", `UPDATE queen.log_consumers SET partition_id = gen_random_uuid()`},
		{"no row", `UPDATE queen.log_dlq SET partition_id = gen_random_uuid()`},
		{"a lease", `DELETE FROM queen.log_lease_members`},
		{"a lease", `UPDATE queen.log_lease_members SET partition_ids = partition_ids[1:1]`},
		{"O-10", `INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at)
			SELECT id, 'g', clock_timestamp() + interval '1 hour' FROM queen.queues`},
	} {
		tx, err := conn.Begin(ctx)
		require.NoError(t, err)
		_, err = tx.Exec(ctx, c.breach)
		require.NoError(t, err, c.breach)
		require.ErrorContains(t, breachesIn(ctx, tx), c.name, c.breach)
		require.NoError(t, tx.Rollback(ctx))
	}
}
