package db

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	refreshNow  = `SELECT queen.log_refresh_all_stats_v1() ->> 'queuesUpdated'`
	refreshWait = `SELECT queen.log_refresh_all_stats_v1(true) ->> 'queuesUpdated'`
	measureNow  = `SELECT queen.log_refresh_retained_bytes_v1() ->> 'queuesUpdated'`
	storedQ     = `SELECT total_messages FROM queen.stats s JOIN queen.queues q ON q.id = s.queue_id WHERE q.name = 'q'`
)

// numbersRecount counts every queue frame by frame, from the tables alone, and answers
// a line for each number that is stored or shown differently.
const numbersRecount = `
WITH size AS MATERIALIZED (
    SELECT s.partition_id, s.base_offset, pg_column_size(s.payloads) AS bytes FROM queen.log_segments s OFFSET 0 -- a join may rewrite the array
), frame AS (
    SELECT s.partition_id, s.created_at, coalesce(s.offsets[u.ord], s.base_offset + u.ord - 1) AS at
    FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id AND s.base_offset >= p.log_start
    CROSS JOIN LATERAL unnest(s.payloads) WITH ORDINALITY u (payload, ord)
), worst AS (
    SELECT p.id, p.queue_id, p.name, coalesce(
        (SELECT min(c.committed) FROM queen.log_consumers c WHERE c.partition_id = p.id AND c.consumer_group <> '__QUEUE_MODE__'),
        (SELECT c.committed FROM queen.log_consumers c WHERE c.partition_id = p.id AND c.consumer_group = '__QUEUE_MODE__'), -1) AS done
    FROM queen.log_partitions p
), part AS (
    SELECT w.*,
        (SELECT count(*) FROM frame f WHERE f.partition_id = w.id) AS total,
        (SELECT count(*) FROM frame f WHERE f.partition_id = w.id AND f.at > w.done) AS pending,
        (SELECT min(f.created_at) FROM frame f WHERE f.partition_id = w.id AND f.at > w.done) AS oldest,
        (SELECT count(*) FROM queen.log_consumers c JOIN frame f ON f.partition_id = c.partition_id AND f.at > c.committed AND f.at <= c.batch_end
         WHERE c.partition_id = w.id AND c.lease_expires_at > clock_timestamp()) AS leased,
        (SELECT count(*) FROM queen.log_dlq d WHERE d.partition_id = w.id) AS dead
    FROM worst w
), want AS (
    SELECT q.id, q.tenant_id, q.name, q.namespace, q.task, count(p.id) AS partitions, coalesce(sum(p.total), 0) AS total, coalesce(sum(p.pending), 0) AS pending,
        coalesce(sum(least(p.leased, p.pending)), 0) AS processing, coalesce(sum(greatest(p.total - p.pending - p.dead, 0)), 0) AS completed,
        coalesce(sum(p.dead), 0) AS dead, min(p.oldest) AS oldest,
        (SELECT coalesce(sum(s.bytes), 0) FROM size s JOIN queen.log_partitions o ON o.id = s.partition_id AND s.base_offset >= o.log_start WHERE o.queue_id = q.id) AS bytes,
        (SELECT count(*) FROM queen.log_segments s JOIN queen.log_partitions o ON o.id = s.partition_id AND s.base_offset >= o.log_start WHERE o.queue_id = q.id) AS segments
    FROM queen.queues q LEFT JOIN part p ON p.queue_id = q.id
    WHERE q.deleted_at IS NULL GROUP BY q.id
), listed AS (
    SELECT (l.q ->> 'id')::uuid AS id, l.q FROM jsonb_array_elements(queen.list_queues_v1()::jsonb -> 'queues') l (q)
), label AS (
    SELECT 'namespace' AS kind, w.namespace AS key, count(*) AS children, sum(w.total) AS total, sum(w.pending) AS pending FROM want w WHERE w.namespace <> '' GROUP BY w.namespace
    UNION ALL SELECT 'task', w.task, count(*), sum(w.total), sum(w.pending) FROM want w WHERE w.task <> '' GROUP BY w.task
    UNION ALL SELECT 'tenant', w.tenant_id::text, sum(w.partitions), sum(w.total), sum(w.pending) FROM want w GROUP BY w.tenant_id
    UNION ALL SELECT 'system', 'global', coalesce(sum(w.partitions), 0), coalesce(sum(w.total), 0), coalesce(sum(w.pending), 0) FROM want w
)
SELECT concat_ws(' ', 'stored', w.name, 'want', w.partitions, w.total, w.pending, w.processing, w.completed, w.dead, w.oldest, 'got',
    s.child_count, s.total_messages, s.pending_messages, s.processing_messages, s.completed_messages, s.dead_letter_messages, s.oldest_pending_at)
FROM want w LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.queue_id = w.id
WHERE (w.partitions, w.total, w.pending, w.processing, w.completed, w.dead) IS DISTINCT FROM
    (s.child_count, s.total_messages::numeric, s.pending_messages::numeric, s.processing_messages::numeric, s.completed_messages::numeric, s.dead_letter_messages::numeric)
   OR w.oldest IS DISTINCT FROM s.oldest_pending_at OR s.newest_message_at IS NOT NULL
   OR (s.pending_messages > 0) <> (s.avg_lag_seconds > 0 OR s.oldest_pending_at IS NOT NULL) OR s.avg_lag_seconds <> s.max_lag_seconds
   OR s.ingested_per_second < 0 OR s.processed_per_second < 0
UNION ALL
SELECT concat_ws(' ', 'measured', w.name, w.bytes, w.segments, s.retained_bytes, s.segment_count)
FROM want w LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.queue_id = w.id WHERE (w.bytes, w.segments) IS DISTINCT FROM (s.retained_bytes::numeric, s.segment_count)
UNION ALL
SELECT concat_ws(' ', 'listed', w.name, l.q) FROM want w LEFT JOIN listed l USING (id)
WHERE l.q -> 'messages' IS DISTINCT FROM jsonb_build_object('total', w.total, 'pending', w.pending, 'processing', w.processing)
   OR l.q -> 'segments' IS DISTINCT FROM jsonb_build_object('segments', w.segments, 'messages', w.total) OR l.q -> 'retainedBytes' IS DISTINCT FROM to_jsonb(w.bytes)
UNION ALL
SELECT concat_ws(' ', 'detail', w.name, d.totals) FROM want w
CROSS JOIN LATERAL (SELECT queen.get_queue_v1(w.name)::jsonb -> 'totals' AS totals, queen.get_queue_status_v1(w.name)::jsonb #> '{totals,messages}' AS old, queen.log_queue_depth_v1(w.name)::jsonb AS depth) d
WHERE d.totals IS DISTINCT FROM jsonb_build_object('total', w.total, 'pending', w.pending, 'processing', w.processing, 'completed', w.completed, 'failed', NULL, 'deadLetter', w.dead)
   OR d.old IS DISTINCT FROM d.totals OR (d.depth ->> 'pending')::numeric <> w.pending OR (d.depth ->> 'processing')::numeric <> w.processing
UNION ALL
SELECT concat_ws(' ', 'roll-up', l, s) FROM label l FULL JOIN (SELECT * FROM queen.stats WHERE stat_type <> 'queue') s ON s.stat_type = l.kind AND s.stat_key = l.key
WHERE (l.children, l.total, l.pending) IS DISTINCT FROM (s.child_count::numeric, s.total_messages::numeric, s.pending_messages::numeric)
UNION ALL
SELECT concat_ws(' ', 'a row of no queue', s) FROM queen.stats s WHERE s.stat_type = 'queue' AND s.queue_id NOT IN (SELECT w.id FROM want w)`

// TestStatsEqualARecount: after random histories every number that is stored or
// shown equals one that is counted frame by frame (S-11 to S-20, S-26, S-27,
// S-30, F112, F121, F131).
func TestStatsEqualARecount(t *testing.T) {
	t.Parallel()
	seed := drawSeed()
	t.Logf("seed %d", seed)
	h := history{t: t, rng: rand.New(rand.NewPCG(seed, 1)), conn: dbtest.New(t).Conn(t)}
	for range 8 {
		for range 25 {
			h.step()
		}
		h.exec("SELECT queen.log_refresh_all_stats_v1()")
		h.exec("SELECT queen.log_refresh_retained_bytes_v1()")
		rows, err := h.conn.Query(context.Background(), numbersRecount)
		require.NoError(t, err)
		differ, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Empty(t, differ, "seed %d, after %v", seed, h.done)
	}
}

// history does random things to a database.
type history struct {
	t     *testing.T
	rng   *rand.Rand
	conn  *pgx.Conn
	takes []take
	done  []string
}

// take is what a pop leased.
type take struct {
	partition uuid.UUID
	ids       []string
	lease     string
	group     *string
}

func (h *history) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.conn.Exec(context.Background(), sql, args...)
	require.NoError(h.t, err, "%s %v after %v", sql, args, h.done)
}

func (h *history) pick(from ...string) string { return from[h.rng.IntN(len(from))] }

// step does one thing. Queue c is compacted, the others are not.
func (h *history) step() {
	h.t.Helper()
	queue, partition := h.pick("a.x", "b.x", "c"), h.pick("0", "1", "2")
	lane := `(SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL WHERE q.name = $1 AND p.name = $2)`
	what := h.pick("push", "push", "push", "push", "pop", "pop", "pop", "ack", "ack", "seek", "cut", "settle", "compact", "expire", "label", "delete", "forget")
	h.done = append(h.done, what+" "+queue+"/"+partition)
	switch what {
	case "push":
		h.exec(`SELECT queen.push_many_v1($1, array_agg(to_json(i)), array_fill($2::text, ARRAY[$3::integer]), p_keys => array_agg((i % 4)::text)) FROM generate_series(1, $3::integer) i`,
			queue, partition, 1+h.rng.IntN(12))
	case "pop":
		h.pop(queue)
	case "ack":
		h.ack()
	case "seek":
		h.exec(`SELECT queen.seek_consumer_group_v1($1, 'g', $2, CASE WHEN $2 THEN NULL ELSE '2020-01-01T00:00:00Z' END) FROM queen.queues q WHERE name = $1 AND deleted_at IS NULL AND EXISTS (SELECT FROM queen.log_partitions p WHERE p.queue_id = q.id)`, queue, h.rng.IntN(2) == 0)
	case "cut":
		h.exec(`SELECT queen._move_log_start(`+lane+`, (SELECT p.log_start + $3 FROM queen.log_partitions p WHERE p.id = `+lane+`))`, queue, partition, h.rng.IntN(30))
		if h.rng.IntN(2) == 0 {
			h.exec(`SELECT queen._reclaim_prefix(`+lane+`, 1000)`, queue, partition)
		}
	case "settle":
		h.exec(settleNow)
	case "compact":
		h.exec(`SELECT queen.configure_queue_v1('c', '{"cleanupPolicy": "compact"}')`)
		h.exec(`SELECT queen.log_compact_step_v1(p.id) FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.name = 'c' AND q.deleted_at IS NULL`)
	case "expire":
		h.exec(endLeases)
	case "label":
		h.exec(`SELECT queen.configure_queue_v1($1, json_build_object('namespace', $2::text, 'task', '')::jsonb)`, queue, h.pick("", "n", "m"))
	case "delete":
		if h.rng.IntN(4) == 0 {
			h.exec(`SELECT queen.delete_queue_v1($1)`, queue)
		}
	case "forget":
		h.exec(`SELECT queen.delete_consumer_group_v1('h', $1)`, queue)
	}
}

func (h *history) pop(queue string) {
	h.t.Helper()
	var group *string
	if name := h.pick("g", "h", ""); name != "" {
		group = &name
	}
	rows, err := h.conn.Query(context.Background(), `SELECT partition_id, transaction_id, lease_id FROM queen.pop_v1($1, $2, $3, p_lease_seconds => 600, p_auto_ack => $4)`,
		queue, 1+h.rng.IntN(15), group, h.rng.IntN(4) == 0)
	require.NoError(h.t, err)
	one := take{group: group}
	var id string
	var lease *string
	_, err = pgx.ForEachRow(rows, []any{&one.partition, &id, &lease}, func() error {
		one.ids = append(one.ids, id)
		if lease != nil {
			one.lease = *lease
		}
		return nil
	})
	require.NoError(h.t, err)
	if len(one.ids) > 0 && one.lease != "" {
		h.takes = append(h.takes, one)
	}
}

// ack answers for a part of an earlier take, which may be long over.
func (h *history) ack() {
	h.t.Helper()
	if len(h.takes) == 0 {
		return
	}
	one := h.takes[h.rng.IntN(len(h.takes))]
	h.exec(`SELECT queen.ack_v1($1, $2, $3, $4, $5, 'why')`, one.partition, one.ids[:1+h.rng.IntN(len(one.ids))], one.lease, one.group,
		h.pick("completed", "completed", "failed", "retry", "dlq"))
}

// Two reconcilers: the second passes, or stands in line and then counts what was
// pushed meanwhile; one that is killed in the middle leaves nothing behind (S-10,
// S-22). The lane has a lock of its own.
func TestRefreshRaces(t *testing.T) {
	t.Parallel()
	const busy = `SELECT queen.log_refresh_all_stats_v1() ->> 'busy'`
	t.Run("two reconcilers", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, refreshNow, "1")
		r.wants(r.b, busy, "true")
		r.exec(pushNext)
		r.blocked(r.b, refreshWait)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "1")
		require.EqualValues(t, 2, scalar[int64](t, r.db, storedQ))
	})
	t.Run("killed in the middle", func(t *testing.T) {
		r := newRace(t, pushNext, refreshNow, pushNext)
		r.a.Exec(t, begin)
		r.wants(r.a, refreshNow, "1")
		r.exec("SELECT pg_terminate_backend($1)", r.a.PID())
		r.a.Go("SELECT 1")
		require.Error(t, r.a.Wait(t))
		require.EqualValues(t, 1, scalar[int64](t, r.db, storedQ), "what was there before")
		require.Eventually(t, func() bool { return scalar[*string](t, r.db, busy) == nil }, 20*time.Second, 5*time.Millisecond, "the lock went with the session")
		require.EqualValues(t, 2, scalar[int64](t, r.db, storedQ))
	})
	t.Run("killed while it waits", func(t *testing.T) {
		r := newRace(t, pushNext, refreshNow, pushNext)
		r.b.Exec(t, begin)
		r.b.Exec(t, "SELECT FROM queen.stats FOR UPDATE")
		r.blocked(r.a, refreshNow)
		r.exec("SELECT pg_terminate_backend($1)", r.a.PID())
		require.Error(t, r.a.Wait(t))
		r.b.Exec(t, rollBack)
		require.Eventually(t, func() bool { return scalar[*string](t, r.db, busy) == nil }, 20*time.Second, 5*time.Millisecond)
		require.EqualValues(t, 2, scalar[int64](t, r.db, storedQ))
	})
	t.Run("a reconciler and the lane", func(t *testing.T) {
		r := newRace(t, pushNext, refreshNow)
		r.a.Exec(t, begin)
		r.wants(r.a, refreshNow, "1")
		r.blocked(r.b, measureNow) // only for the rows
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, "1")
		require.Positive(t, scalar[int64](t, r.db, "SELECT retained_bytes FROM queen.stats WHERE stat_type = 'queue'"))
		r.wants(r.a, refreshNow, "1")
		require.Positive(t, scalar[int64](t, r.db, "SELECT retained_bytes FROM queen.stats WHERE stat_type = 'queue'"), "S-34")
	})
}

// A queue that is deleted during a refresh or a measurement: neither
// waits for the other, none fails, and no row of it is left.
func TestRefreshAgainstADelete(t *testing.T) {
	t.Parallel()
	const removeQ = `DELETE FROM queen.queues WHERE name = 'q'`
	const other = `SELECT queen.push_v1('r', '1', 'p')`
	const named = `SELECT q.name FROM queen.stats s JOIN queen.queues q ON q.id = s.queue_id`
	for name, call := range map[string]string{"refresh": refreshNow, "measure": measureNow} {
		for kind, remove := range map[string]string{"by hand": removeQ, "by its function": deleteQ} {
			t.Run(name+", deleted "+kind, func(t *testing.T) {
				r := newRace(t, pushNext, other, refreshNow)
				r.a.Exec(t, begin)
				r.a.Exec(t, remove)
				r.wants(r.b, call, "2")
				r.b.Exec(t, begin)
				r.b.Exec(t, call)
				r.a.Exec(t, commit)
				r.b.Exec(t, commit)
				r.wants(r.b, refreshNow, "1")
				r.wants(r.b, measureNow, "1")
				require.Equal(t, []string{"r"}, column[string](t, r.db, named))
				require.EqualValues(t, 1, scalar[int64](t, r.db, "SELECT count(DISTINCT queue_id) FROM queen.queue_size_history"))
				require.EqualValues(t, 1, scalar[int64](t, r.db, "SELECT count(*) FROM queen.stats WHERE stat_type = 'queue'"))
			})
		}
	}
	t.Run("a queue without a row yet, held by somebody", func(t *testing.T) {
		r := newRace(t, pushNext, other)
		r.a.Exec(t, begin)
		r.a.Exec(t, "SELECT queen.configure_queue_v1('q', '{\"leaseTime\": 9}')")
		r.wants(r.b, refreshNow, "2")
		r.wants(r.b, measureNow, "2")
	})
	t.Run("refresh first", func(t *testing.T) {
		r := newRace(t, pushNext, other)
		r.a.Exec(t, begin)
		r.wants(r.a, refreshNow, "2")
		r.b.Exec(t, removeQ) // does not wait
		r.a.Exec(t, commit)
		r.wants(r.a, refreshNow, "1")
		require.Equal(t, []string{"r"}, column[string](t, r.db, named))
	})
}
