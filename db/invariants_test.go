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

// liveSegments are the visible segments with what the checks compare them to.
// Nothing here reads a helper of the engine where the rule can be written down
// independently.
const liveSegments = `
WITH part AS (
    SELECT p.*, h.head_offset, h.head_stamp, h.head_cum
    FROM queen.log_partitions p JOIN queen.partition_head h USING (id)
), seg AS (
    SELECT s.*, p.log_start, p.txns_start, p.head_offset,
           lag(s.end_offset) OVER w AS before_end, lag(s.created_at) OVER w AS before_at,
           lag(s.cum_bytes) OVER w AS before_cum, lag(s.id_base) OVER w AS before_id, lag(s.frames) OVER w AS before_frames
    FROM queen.log_segments s JOIN part p ON p.id = s.partition_id
    WINDOW w AS (PARTITION BY s.partition_id ORDER BY s.base_offset)
), live AS (
    SELECT * FROM seg WHERE base_offset >= log_start
), ends AS (
    SELECT p.id, min(l.base_offset) AS first, max(l.end_offset) AS last, sum(l.frames) AS frames, sum(l.bytes) AS bytes,
           min(l.created_at) AS first_at, max(l.created_at) AS last_at, max(l.cum_bytes) AS last_cum,
           min(l.cum_bytes - l.orig_bytes) AS before_first
    FROM part p LEFT JOIN live l ON l.partition_id = p.id GROUP BY p.id
), frame AS (
    SELECT s.partition_id, s.base_offset, s.base_offset + u.ord - 1 AS at, u.ord, u.payload, u.txn, u.key,
           (left(s.id_base::text, 31) || lpad(to_hex(u.ord - 1), 5, '0'))::uuid AS id
    FROM queen.log_segments s
    CROSS JOIN LATERAL unnest(s.payloads, s.transaction_ids, s.keys) WITH ORDINALITY u (payload, txn, key, ord)
), txn AS (
    SELECT t.*, p.txns_start, p.log_start, lag(t.high) OVER w AS before_high, lag(t.end_offset) OVER w AS before_end
    FROM queen.log_txns t JOIN part p ON p.id = t.partition_id WHERE t.base_offset >= p.txns_start
    WINDOW w AS (PARTITION BY t.partition_id ORDER BY t.base_offset)
) `

// logInvariants hold for queues without compaction, after any history of
// committed calls.
var logInvariants = []invariant{
	{"T-1 segments are disjoint, ascending, whole, and none is above the head or across the log start", `
		SELECT concat_ws(' ', partition_id, base_offset, end_offset, before_end, log_start, head_offset) FROM seg
		WHERE end_offset < base_offset OR before_end >= base_offset OR end_offset > head_offset
		   OR (base_offset < log_start AND end_offset >= log_start)
		   OR frames <> end_offset - base_offset + 1 OR cardinality(payloads) <> frames OR offsets IS NOT NULL
		   OR frames > 1000 OR (frames > 1 AND bytes > 1048576)`},
	{"T-2 segments cover log_start..head without a hole", `
		SELECT concat_ws(' ', 'hole before', partition_id, base_offset) FROM live
		WHERE base_offset <> CASE WHEN before_end >= log_start THEN before_end + 1 ELSE log_start END
		UNION ALL
		SELECT concat_ws(' ', 'log start, first, last, head:', p.id, p.log_start, e.first, e.last, p.head_offset) FROM part p JOIN ends e USING (id)
		WHERE p.log_start <> coalesce(e.first, p.head_offset + 1)`},
	{"T-3 every visible segment at or above txns_start has one sidecar row of its range and stamp", `
		SELECT concat_ws(' ', l.partition_id, l.base_offset) FROM live l
		LEFT JOIN queen.log_txns t USING (partition_id, base_offset)
		WHERE l.base_offset >= l.txns_start
		  AND (t.end_offset, t.created_at, cardinality(t.hashes)) IS DISTINCT FROM (l.end_offset, l.created_at, l.frames)
		UNION ALL
		SELECT concat_ws(' ', 'no segment for the sidecar row', t.partition_id, t.base_offset) FROM txn t
		WHERE t.base_offset >= t.log_start
		  AND NOT EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = t.partition_id AND s.base_offset = t.base_offset)
		UNION ALL
		SELECT concat_ws(' ', 'sidecar has a hole or overlaps', partition_id, base_offset) FROM txn
		WHERE base_offset <> coalesce(before_end + 1, base_offset) OR cardinality(hashes) <> end_offset - base_offset + 1`},
	{"T-4 stamps rise", `
		SELECT concat_ws(' ', partition_id, base_offset, created_at, before_at) FROM seg WHERE before_at >= created_at`},
	{"T-5 cursors are not above the head, a leased span is not empty and has a holder", `
		SELECT concat_ws(' ', c.partition_id, c.consumer_group, c.committed, c.batch_end, c.worker_id, p.head_offset)
		FROM queen.log_consumers c JOIN part p ON p.id = c.partition_id
		WHERE c.committed > p.head_offset OR c.committed < -1 OR c.batch_end > p.head_offset
		   -- A lease that expired may be overtaken by the seal of an emptied log, a live one never.
		   OR (c.batch_end <= c.committed AND c.lease_expires_at > clock_timestamp())
		   OR num_nulls(c.batch_end, c.worker_id, c.lease_expires_at) NOT IN (0, 3)
		   OR c.batch_retry_count < 0 OR (c.attempt_offset IS NULL) <> (c.attempt_count = 0)`},
	{"O-10 what a group is owed below the floor of its search is held, and what may still take a push there", `
		SELECT concat_ws(' ', p.id, w.consumer_group, p.last_write_at, w.last_empty_scan_at)
		FROM queen.consumer_watermarks w JOIN part p ON p.queue_id = w.queue_id
		LEFT JOIN queen.log_consumers c ON c.partition_id = p.id AND c.consumer_group = w.consumer_group
		WHERE p.last_write_at < w.last_empty_scan_at - interval '2 seconds' AND (p.head_offset > coalesce(c.committed, -1) OR NOT p.settled)
		  AND p.id <> ALL (w.held)`},
	{"T-6 a lease id belongs to one group", `
		SELECT worker_id FROM queen.log_consumers WHERE worker_id IS NOT NULL
		GROUP BY worker_id HAVING count(DISTINCT consumer_group) > 1`},
	{"running sums add up and bytes are those of the frames", `
		SELECT concat_ws(' ', 'sum', partition_id, base_offset, before_cum, orig_bytes, cum_bytes) FROM seg
		WHERE cum_bytes <> coalesce(before_cum, cum_bytes - orig_bytes) + orig_bytes OR orig_bytes <> bytes
		   OR (base_offset = 0 AND cum_bytes <> orig_bytes)
		UNION ALL
		SELECT concat_ws(' ', 'bytes', s.partition_id, s.base_offset, s.bytes) FROM queen.log_segments s
		JOIN LATERAL (
		    SELECT sum(octet_length(f.payload) + coalesce(octet_length(f.txn), 0) + coalesce(octet_length(f.key), 0)) AS bytes FROM frame f
		    WHERE f.partition_id = s.partition_id AND f.base_offset = s.base_offset) f ON true
		WHERE s.bytes <> f.bytes`},
	{"the size and total formulas equal a recount", `
		SELECT concat_ws(' ', p.id, p.head_cum, e.before_first, e.bytes, p.head_offset, p.log_start, e.frames) FROM part p JOIN ends e USING (id)
		WHERE coalesce(p.head_cum - e.before_first - p.removed_bytes, 0) <> coalesce(e.bytes, 0)
		   OR p.head_offset - p.log_start + 1 - p.removed_frames <> coalesce(e.frames, 0)`},
	{"partition_head is the real tail, and a settled row equals it", `
		SELECT concat_ws(' ', p.id, p.settled, p.head_offset, e.last, p.head_stamp, e.last_at, p.head_cum, e.last_cum) FROM part p JOIN ends e USING (id)
		WHERE p.head_offset <> coalesce(e.last, p.log_start - 1) OR p.head_stamp <> coalesce(e.last_at, p.head_stamp)
		   OR p.head_cum <> coalesce(e.last_cum, p.head_cum)
		   OR (p.settled AND (p.last_offset, p.last_cum) <> (p.head_offset, p.head_cum))
		   OR (p.settled AND p.last_stamp IS DISTINCT FROM p.head_stamp)
		   OR (NOT p.settled AND e.last IS NULL) OR p.last_offset > p.head_offset`},
	{"the quantised stamp is at most a second behind the head", `
		SELECT concat_ws(' ', id, last_write_at, head_stamp) FROM part
		WHERE last_write_at < head_stamp - interval '1 second' OR last_write_at <> date_trunc('second', last_write_at)`},
	{"watermarks are in order", `
		SELECT concat_ws(' ', p.id, p.log_start, p.reclaimed_to, p.txns_start) FROM part p
		WHERE p.reclaimed_to > p.log_start OR p.log_start > p.head_offset + 1 OR p.txns_start > p.head_offset + 1
		   OR EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = p.id AND s.base_offset < p.reclaimed_to)`},
	{"T-10 the oldest stamps are those of the first segment and of the first sidecar row", `
		SELECT concat_ws(' ', p.id, p.oldest_live_at, e.first_at, p.oldest_txn_at, t.first_at) FROM part p JOIN ends e USING (id)
		CROSS JOIN LATERAL (SELECT min(x.created_at) AS first_at FROM txn x WHERE x.partition_id = p.id) t
		WHERE coalesce(abs(extract(epoch FROM p.oldest_live_at - e.first_at)) > 0.001, (p.oldest_live_at IS NULL) <> (e.first_at IS NULL))
		   OR coalesce(abs(extract(epoch FROM p.oldest_txn_at - t.first_at)) > 0.001, (p.oldest_txn_at IS NULL) <> (t.first_at IS NULL))`},
	{"ids are UUIDv7 of the stamp and rise with the offset", `
		SELECT concat_ws(' ', partition_id, base_offset, id_base, created_at, before_id) FROM seg
		WHERE ('x' || left(replace(id_base::text, '-', ''), 12))::bit(48)::bigint <> floor(extract(epoch FROM created_at) * 1000)
		   OR ('x' || substr(id_base::text, 16, 3))::bit(12)::int <> extract(microseconds FROM created_at)::bigint % 1000
		   OR substr(id_base::text, 15, 1) <> '7' OR substr(id_base::text, 20, 1) NOT IN ('8', '9', 'a', 'b')
		   OR right(id_base::text, 5) <> '00000' OR before_id >= id_base
		UNION ALL
		SELECT concat_ws(' ', 'engine''s frame id', partition_id, at, id) FROM frame WHERE id <> queen._frame_id(
		    (left(id::text, 31) || '00000')::uuid, at - base_offset)`},
	{"hashes are those of the ids", `
		SELECT concat_ws(' ', f.partition_id, f.at) FROM frame f JOIN queen.log_txns t USING (partition_id, base_offset)
		WHERE t.hashes[f.ord] <> hashtextextended(coalesce(f.txn, f.id::text) COLLATE "C", queen._id_seed(f.partition_id))`},
	{"lo, hi, high and out_of_order are right", `
		SELECT concat_ws(' ', partition_id, base_offset, lo, hi, high, before_high, out_of_order) FROM txn
		WHERE high <> greatest(coalesce(before_high, CASE WHEN base_offset = 0 THEN '' ELSE high END), hi)
		   OR out_of_order <> coalesce(lo <= before_high, CASE WHEN base_offset = 0 THEN lo = '' ELSE out_of_order END)
		UNION ALL
		SELECT concat_ws(' ', 'range', t.partition_id, t.base_offset, t.lo, f.lo, t.hi, f.hi) FROM txn t
		JOIN LATERAL (
		    SELECT min(left(coalesce(f.txn, f.id::text), 64) COLLATE "C") AS lo, max(left(coalesce(f.txn, f.id::text), 64) COLLATE "C") AS hi
		    FROM frame f WHERE f.partition_id = t.partition_id AND f.base_offset = t.base_offset) f ON f.lo IS NOT NULL
		WHERE (t.lo, t.hi) <> (f.lo, f.hi)`},
	{"no row is left without its partition or queue", `
		SELECT concat_ws(' ', o.what, o.partition_id) FROM (
		    SELECT 'segment' AS what, partition_id FROM queen.log_segments UNION ALL SELECT 'sidecar', partition_id FROM queen.log_txns
		    UNION ALL SELECT 'dead letter', partition_id FROM queen.log_dlq UNION ALL SELECT 'consumer', partition_id FROM queen.log_consumers) o
		WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = o.partition_id)
		UNION ALL
		SELECT concat_ws(' ', 'partition', p.id) FROM queen.log_partitions p
		WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = p.queue_id AND q.deleted_at IS NULL)
		UNION ALL
		SELECT concat_ws(' ', 'subscription', m.id) FROM queen.consumer_groups_metadata m
		WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = m.queue_id AND q.deleted_at IS NULL)`},
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
		batch.Queue(liveSegments + "SELECT b FROM (" + i.query + ") x (b) LIMIT 5")
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
		{"T-1", `UPDATE queen.log_segments SET end_offset = end_offset + 1 WHERE base_offset = 0`},
		{"T-2", `DELETE FROM queen.log_segments WHERE base_offset = 2`},
		{"T-2", `UPDATE queen.log_partitions SET log_start = 2 WHERE name = 'A'; DELETE FROM queen.log_segments WHERE base_offset = 2`},
		{"T-3", `DELETE FROM queen.log_txns WHERE base_offset = 3`},
		{"T-3", `UPDATE queen.log_txns SET created_at = created_at + interval '1 us' WHERE base_offset = 2`},
		{"T-4", `UPDATE queen.log_segments SET created_at = created_at - interval '1 minute' WHERE base_offset = 3`},
		{"T-5", `UPDATE queen.log_consumers SET committed = 99`},
		{"T-5", `UPDATE queen.log_consumers SET worker_id = NULL`},
		{"T-6", `UPDATE queen.log_consumers SET worker_id = 'w'`},
		{"running sums", `UPDATE queen.log_segments SET cum_bytes = cum_bytes + 1 WHERE base_offset = 2`},
		{"running sums", `UPDATE queen.log_segments SET payloads = ARRAY['1', '22'] WHERE base_offset = 0 AND frames = 2`},
		{"size and total", `UPDATE queen.log_partitions SET removed_frames = 1 WHERE name = 'A'`},
		{"size and total", `UPDATE queen.log_partitions SET removed_bytes = 1 WHERE name = 'A'`},
		{"partition_head", `UPDATE queen.log_partitions SET settled = true WHERE name = 'A'`},
		{"partition_head", `UPDATE queen.log_partitions SET last_offset = 9 WHERE name = 'B'`},
		{"quantised", `UPDATE queen.log_partitions SET last_write_at = last_write_at - interval '2 s'`},
		{"watermarks", `UPDATE queen.log_partitions SET reclaimed_to = 1`},
		{"T-10", `UPDATE queen.log_partitions SET oldest_live_at = NULL`},
		{"T-10", `UPDATE queen.log_partitions SET oldest_txn_at = oldest_txn_at + interval '1 s'`},
		{"ids are", `UPDATE queen.log_segments SET id_base = gen_random_uuid() WHERE base_offset = 2`},
		{"hashes", `UPDATE queen.log_txns SET hashes[1] = 5 WHERE base_offset = 0`},
		{"lo, hi", `UPDATE queen.log_txns SET high = 'aa' WHERE base_offset = 3`},
		{"lo, hi", `UPDATE queen.log_txns SET out_of_order = NOT out_of_order WHERE base_offset = 2`},
		{"lo, hi", `UPDATE queen.log_txns SET lo = 't1' WHERE base_offset = 0`},
		{"no row", `UPDATE queen.log_dlq SET partition_id = gen_random_uuid()`},
		{"no row", `UPDATE queen.queues SET deleted_at = now()`},
		{"a lease", `DELETE FROM queen.log_lease_members`},
		{"a lease", `UPDATE queen.log_lease_members SET partition_ids = partition_ids[1:1]`},
		{"O-10", `UPDATE queen.log_consumers SET committed = 99; INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at)
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
