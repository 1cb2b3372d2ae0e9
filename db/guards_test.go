package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// fillLane gives partition p of a new queue n retained segments of one frame,
// with ids of the given expression over i, and a cursor of group g that has
// consumed all but the last ten. Rows are written as a push would, in bulk.
const fillLane = `
WITH q AS (
    SELECT (queen.configure_queue_v1($1) ->> 'queueId')::uuid AS id
), lane AS (
    INSERT INTO queen.log_partitions (queue_id, name, last_offset, last_write_at, settled, oldest_live_at, oldest_txn_at)
    SELECT q.id, 'p', -1, clock_timestamp() + interval '1 minute', false, now(), now() FROM q RETURNING id
), row AS (
    SELECT lane.id, i, now() + i * interval '1 us' AS at, %s AS txn FROM lane, generate_series(0, $2::int - 1) i
), seg AS (
    INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads, transaction_ids)
    SELECT id, i, i, at, queen._id_base(at, 7), 1, 1 + length(txn), 1 + length(txn), i, '{1}', ARRAY[txn] FROM row
), txn AS (
    INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high, out_of_order)
    SELECT id, i, i, at, ARRAY[hashtextextended(txn COLLATE "C", queen._id_seed(id))], txn, txn, m.high, m.high > txn COLLATE "C"
    FROM (SELECT row.*, max(txn COLLATE "C") OVER (ORDER BY i) AS high FROM row) m
)
INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) SELECT id, 'g', $2 - 11 FROM lane`

// buffers is how many shared buffers a statement touches when it runs for the
// second time; both runs are rolled back.
func buffers(t *testing.T, conn *pgx.Conn, sql string) int {
	t.Helper()
	ctx := context.Background()
	touched := 0
	for range 2 {
		tx, err := conn.Begin(ctx)
		require.NoError(t, err)
		var raw string
		require.NoError(t, tx.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) "+sql, pgx.QueryExecModeSimpleProtocol).Scan(&raw), sql)
		require.NoError(t, tx.Rollback(ctx))
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(raw), &plans))
		touched = plans[0].Plan.Hit + plans[0].Plan.Read
	}
	return touched
}

// F077, W-17, W-18, I-30: what the hot statements touch does not grow with the
// retained history, whatever the ids look like.
func TestHotStatementsTouchTheSameBuffersInALongHistory(t *testing.T) {
	t.Parallel()
	for kind, txn := range map[string]string{
		"rising ids": "lpad(i::text, 40, '0')",
		"random ids": "md5(i::text)",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db := dbtest.New(t)
			conn := db.Conn(t)
			for queue, n := range map[string]int{"few": 200, "many": 50_000} {
				_, err := conn.Exec(context.Background(), fmt.Sprintf(fillLane, txn), queue, n)
				require.NoError(t, err)
			}
			few, many := subject(t, db, "few"), subject(t, db, "many")
			measureHot(t, conn, few, many)
			_, err := conn.Exec(context.Background(), "VACUUM ANALYZE")
			require.NoError(t, err)
			measureHot(t, conn, few, many)
		})
	}
}

// measureHot compares each hot statement on both queues.
func measureHot(t *testing.T, conn *pgx.Conn, few, many guarded) {
	t.Helper()
	for name, c := range map[string]struct {
		sql   string
		slack int // buffers that a deeper index may cost, or a bounded scan
	}{
		"push without an id":  {`SELECT * FROM queen.log_push_v1('{$queue}', '{p}', '{1}', '{1}')`, 25},
		"push a new id":       {`SELECT * FROM queen.log_push_v1('{$queue}', '{p}', '{1}', '{1}', '{00new}')`, 40},
		"push ten new ids":    {`SELECT * FROM queen.log_push_v1('{$queue}', '{p}', '{10}', '{1,2,3,4,5,6,7,8,9,10}', ARRAY(SELECT md5('new' || i) FROM generate_series(1, 10) i))`, 150},
		"push a repeat":       {`SELECT * FROM queen.log_push_v1('{$queue}', '{p}', '{1}', '{1}', '{$old}')`, 60},
		"pop at the tail":     {`SELECT * FROM queen.log_pop_v1('$queue', 'p', 'g', 3)`, 25},
		"pop, queue-wide":     {`SELECT * FROM queen.log_pop_v1('$queue', NULL, 'g', 3)`, 25},
		"first contact, new":  {`SELECT * FROM queen.log_pop_v1('$queue', 'p', 'fresh', 3, p_subscription_mode => 'new')`, 25},
		"pop far behind":      {`SELECT * FROM queen.log_pop_v1('$queue', 'p', 'behind', 3, p_subscription_mode => 'all')`, 25},
		"ack at the tail":     {`SELECT * FROM queen.log_ack_v1('{$lane}', '{g}', '{NULL}', '{1}', '{$tail}', '{completed}')`, 60},
		"ack of a batch":      {`SELECT p.first_offset, a.* FROM queen.log_pop_v1('$queue', 'p', 'g', 5) WITH ORDINALITY p, LATERAL queen.log_ack_v1(ARRAY[p.partition_id], '{g}', ARRAY[p.lease_id], '{1}', p.transaction_ids, '{completed}') a`, 80},
		"ack up to an offset": {`SELECT a.* FROM queen.log_pop_v1('$queue', 'p', 'g', 1) p, LATERAL queen.log_ack_upto_v1(ARRAY[p.partition_id], '{g}', ARRAY[p.lease_id], ARRAY[p.last_offset]) a WHERE a.lease_released`, 40},
		"extend":              {`SELECT e.* FROM queen.log_pop_v1('$queue', 'p', 'g', 1) p, LATERAL queen.log_extend_lease_v1(p.lease_id) e WHERE e.renewed = 1`, 40},
		"probe":               {`SELECT * FROM queen.log_pending_v1('{$queue}', '{NULL}', '{g}', '{NULL}')`, 25},
		"settle":              {`SELECT * FROM queen.log_settle_heads_step_v1(1, 3, clock_timestamp() + interval '1 hour')`, 25},
		"look for a push":     {`SELECT * FROM queen.log_find_push_v1('$lane', 12, clock_timestamp() + interval '1 s')`, 25},
		"read the last":       {`SELECT * FROM queen.read_v1('$queue', 'p', NULL, 3)`, 40},
		"fetch the last":      {`SELECT * FROM queen.log_fetch_v1('{$queue}', '{p}', ARRAY[(SELECT h.head_offset - 2 FROM queen.partition_head h WHERE h.id = '$lane')])`, 25},
		"fetch far behind":    {`SELECT * FROM queen.log_fetch_v1('{$queue}', '{p}', '{50}', '{100}')`, 25},
		"partitions changed":  {`SELECT * FROM queen.log_partitions_changed_v1('{$queue}', ARRAY[now() - interval '1 hour'])`, 25},
	} {
		short, long := buffers(t, conn, few.in(c.sql)), buffers(t, conn, many.in(c.sql))
		require.LessOrEqual(t, long, short+c.slack, "%s: %d buffers with %d segments, %d with %d", name, short, few.segments, long, many.segments)
		require.LessOrEqual(t, long, 500, name)
	}
	// Below the cursor an unknown id costs a bounded walk, not the history.
	unknown := buffers(t, conn, many.in(`SELECT * FROM queen.log_ack_v1('{$lane}', '{g}', '{NULL}', '{1}', '{nobody}', '{completed}')`))
	require.LessOrEqual(t, unknown, 1500, "design 3.4: at most 1000 sidecar rows below the cursor")
}

// guarded is a queue that statements are measured on.
type guarded struct {
	queue, lane string
	tail, old   string // ids of a message above the cursor, and of an old one
	segments    int
}

func subject(t *testing.T, db *dbtest.Database, queue string) guarded {
	t.Helper()
	g := guarded{queue: queue}
	require.NoError(t, db.Pool.QueryRow(context.Background(), `
		SELECT p.id::text, count(*)::int, max(s.transaction_ids[1]) FILTER (WHERE s.base_offset = p.head_offset - 5),
		       max(s.transaction_ids[1]) FILTER (WHERE s.base_offset = 100)
		FROM queen.queues q JOIN queen.partition_head p ON p.queue_id = q.id JOIN queen.log_segments s ON s.partition_id = p.id
		WHERE q.name = $1 GROUP BY p.id`, queue).Scan(&g.lane, &g.segments, &g.tail, &g.old))
	return g
}

func (g guarded) in(sql string) string {
	return strings.NewReplacer("$queue", g.queue, "$lane", g.lane, "$tail", g.tail, "$old", g.old).Replace(sql)
}

// F192, E-11, E-28: cursor rows stay on their page: nine of ten updates need no
// index write, and pushes hardly write the partition row at all.
func TestCursorUpdatesAreHot(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	conn := db.Conn(t)
	ctx := context.Background()
	_, err := conn.Exec(ctx, `DO $$
	DECLARE
	    r record;
	BEGIN
	    FOR i IN 1..1000 LOOP
	        PERFORM queen.push_v1('q', '1', 'p');
	        COMMIT;
	        SELECT * INTO r FROM queen.pop_v1('q', 1, 'g', 'p');
	        COMMIT;
	        PERFORM queen.ack_v1(r.partition_id, ARRAY[r.transaction_id], r.lease_id, 'g');
	        COMMIT;
	    END LOOP;
	END $$`)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
	var updates, hot, partitions int64
	require.NoError(t, conn.QueryRow(ctx, `SELECT c.n_tup_upd, c.n_tup_hot_upd, p.n_tup_upd FROM pg_stat_user_tables c, pg_stat_user_tables p
		WHERE c.relid = 'queen.log_consumers'::regclass AND p.relid = 'queen.log_partitions'::regclass`).Scan(&updates, &hot, &partitions))
	require.Equal(t, int64(2000), updates, "one update a pop, one an ack")
	require.GreaterOrEqual(t, hot*10, updates*9, "F192: %d of %d updates were HOT", hot, updates)
	require.LessOrEqual(t, partitions, int64(200), "design 3.2: pushes leave the partition row alone")
}
