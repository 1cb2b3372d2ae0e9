package db

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// Environment of the model test: a seed to replay, and the long form.
const (
	modelSeedEnv = "REGENT_MODEL_SEED"
	modelLongEnv = "REGENT_MODEL_LONG"
)

// One run is so many steps on a fresh database; runs follow each other until
// the time is over, or the seed's only one is done.
const (
	modelSteps     = 250
	modelShortTime = 9 * time.Second
	modelLongTime  = 6 * time.Minute
	modelWorkers   = 3
)

var modelTenant = uuid.MustParse("00000000-0000-0000-0000-000000000001")

// TestModel runs random operations against the database and a log in memory,
// and compares the two, with every invariant, after each. It prints the seed
// of a run that fails; REGENT_MODEL_SEED repeats it.
func TestModel(t *testing.T) {
	t.Parallel()
	if text := os.Getenv(modelSeedEnv); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, modelSeedEnv)
		runModel(t, seed)
		return
	}
	limit, workers := modelShortTime, 1
	if os.Getenv(modelLongEnv) != "" {
		limit, workers = modelLongTime, modelWorkers
	}
	var runs atomic.Int32
	t.Run("workers", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				end := time.Now().Add(limit) // here, because the slot may be long in coming
				for time.Now().Before(end) {
					seed := drawSeed()
					require.True(t, t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { runModel(t, seed) }))
					runs.Add(1)
				}
			})
		}
	})
	require.GreaterOrEqual(t, int(runs.Load()), workers)
	t.Logf("%d runs of %d steps", runs.Load(), modelSteps)
}

func drawSeed() uint64 {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	return binary.LittleEndian.Uint64(raw[:]) >> 1
}

// modelRun is one run: a database, the model of it, and what was done so far.
type modelRun struct {
	t      *testing.T
	ctx    context.Context
	rng    *randv2.Rand
	dsn    string
	conn   *pgx.Conn
	q      *Queries
	m      *model
	trace  []string
	leases []string // every lease id ever answered
	txns   int      // ids that rise
	// stepsBack is a run whose clock marks may be ahead of the clock.
	stepsBack bool
}

func runModel(t *testing.T, seed uint64) {
	db := dbtest.New(t)
	r := &modelRun{t: t, ctx: context.Background(), rng: randv2.New(randv2.NewPCG(seed, 1)), dsn: db.DSN, conn: db.Conn(t), m: newModel(), stepsBack: seed%2 == 0}
	r.q = New(r.conn)
	defer func() {
		if t.Failed() {
			t.Logf("replay with %s=%d; the last steps were:\n%s", modelSeedEnv, seed, strings.Join(r.trace[max(0, len(r.trace)-25):], "\n"))
		}
	}()
	_, err := r.conn.Exec(r.ctx, "SELECT setseed($1)", float64(seed%1000)/1000) // the order of candidates
	require.NoError(t, err)
	for n := range modelSteps {
		r.step()
		r.compare()
		require.NoError(t, invariantBreaches(r.ctx, r.conn))
		if n%8 == 0 {
			require.NoError(t, statusBreaches(r.ctx, r.conn))
			require.NoError(t, publishedBreaches(r.ctx, r.conn))
			r.browse()
		}
		if t.Failed() {
			return
		}
	}
}

// modelCall is one call of the API: run makes it, apply compares its answer
// with the model and moves the model on.
type modelCall struct {
	text  string
	run   func(q *Queries) error
	apply func()
	// doubt finds out after a lost answer whether the call happened, and applies
	// it then; nil where nobody can.
	doubt func()
}

// step draws one operation and does it.
func (r *modelRun) step() {
	roll := r.rng.IntN(100)
	switch {
	case roll < 8:
		r.transaction()
	case roll < 18:
		r.crash()
	case roll < 21:
		r.expire()
	case roll < 24:
		r.movePrefix()
	case roll < 27:
		r.sweep()
	case roll < 28:
		r.purgeSidecar()
	case roll < 30:
		r.purgeHashes()
	case roll < 34:
		r.raiseFloors()
	case roll < 36:
		r.readSafeTime()
	case roll < 37:
		r.mergeTogether()
	default:
		call := r.draw()
		r.note("%s", call.text)
		require.NoError(r.t, call.run(r.q), call.text)
		call.apply()
	}
}

// draw is a call that may also be interrupted.
func (r *modelRun) draw() modelCall {
	roll := r.rng.IntN(100)
	switch {
	case roll < 30:
		return r.push()
	case roll < 56:
		return r.pop()
	case roll < 74:
		return r.ack()
	case roll < 79:
		return r.bundle()
	case roll < 82:
		return r.seek()
	case roll < 83:
		return r.deleteGroup()
	case roll < 84:
		return r.subscribe()
	case roll < 85:
		return r.replay()
	case roll < 86:
		return r.redrive()
	case roll < 90:
		return r.ackUpto()
	case roll < 93:
		return r.extend()
	case roll < 96:
		return r.configure()
	case roll < 97:
		return modelCall{text: "reclaim", apply: func() {}, run: func(q *Queries) error {
			_, err := q.ReclaimStep(r.ctx, int32(1+r.rng.IntN(40)))
			return err
		}}
	case roll < 98:
		return modelCall{text: "settle", apply: func() {}, run: func(q *Queries) error {
			_, err := q.SettleHeadsStep(r.ctx, 500, -5)
			return err
		}}
	}
	return r.deleteQueue()
}

func (r *modelRun) note(format string, args ...any) {
	r.trace = append(r.trace, fmt.Sprintf("%3d ", len(r.trace))+fmt.Sprintf(format, args...))
}

func (r *modelRun) pick(from ...string) string { return from[r.rng.IntN(len(from))] }

func (r *modelRun) chance(percent int) bool { return r.rng.IntN(100) < percent }

// queue, part and group draw a name; the dotted queue has labels.
func (r *modelRun) queue() string { return r.pick("orders", "orders", "a.b.c") }
func (r *modelRun) part() string  { return r.pick("A", "A", "B", "C c") }
func (r *modelRun) group() string { return r.pick(queueMode, "g", "g", "H", "L") }

// somePart is a partition that exists, by names in order, or nil.
func (r *modelRun) somePart() *modelPart {
	var all []*modelPart
	for _, name := range sortedKeys(r.m.queues) {
		q := r.m.queues[name]
		for _, part := range sortedKeys(q.parts) {
			all = append(all, q.parts[part])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[r.rng.IntN(len(all))]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// exec runs a statement that stands for something outside of the API.
func (r *modelRun) exec(sql string, args ...any) {
	_, err := r.conn.Exec(r.ctx, sql, args...)
	require.NoError(r.t, err, sql)
}

// expire ends leases by time: of one partition, or all.
func (r *modelRun) expire() {
	p := r.somePart()
	all := p == nil || r.chance(30)
	r.note("expire leases, all %t", all)
	for _, q := range r.m.queues {
		for _, other := range q.parts {
			for _, c := range other.cursors {
				if all || other == p {
					c.live = false
				}
			}
		}
	}
	var id *uuid.UUID
	if !all {
		id = &p.id
	}
	r.exec(`UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() - interval '1 s'
		WHERE worker_id IS NOT NULL AND ($1::uuid IS NULL OR partition_id = $1)`, id)
}

// lockPart is how retention takes a partition: in a statement of its own.
const lockPart = "SELECT FROM queen.log_partitions WHERE id = $1 FOR NO KEY UPDATE"

// movePrefix hides a prefix anywhere, or reclaims rows of one.
func (r *modelRun) movePrefix() {
	p := r.somePart()
	if p == nil {
		return
	}
	if r.chance(40) {
		n := 1 + r.rng.IntN(3)
		r.note("reclaim %s %d", p.name, n)
		var got int
		require.NoError(r.t, r.conn.QueryRow(r.ctx, "SELECT queen._reclaim_prefix($1, $2)", p.id, n).Scan(&got))
		require.Equal(r.t, p.reclaim(n), got, "rows reclaimed")
		return
	}
	to := p.logStart - 1 + r.rng.Int64N(p.head()-p.logStart+5)
	if r.chance(35) {
		to = p.head() + 1
	}
	r.note("move the start of %s to %d", p.name, to)
	tx, err := r.conn.Begin(r.ctx)
	require.NoError(r.t, err)
	_, err = tx.Exec(r.ctx, lockPart, p.id)
	require.NoError(r.t, err)
	var start int64
	require.NoError(r.t, tx.QueryRow(r.ctx, "SELECT queen._move_log_start($1, $2)", p.id, to).Scan(&start))
	require.NoError(r.t, tx.Commit(r.ctx))
	p.moveStart(to)
	require.Equal(r.t, p.logStart, start, "log start")
}

// purgeSidecar forgets ids: txns_start moves and the rows below it go.
func (r *modelRun) purgeSidecar() {
	p := r.somePart()
	if p == nil {
		return
	}
	bases := append(slices.Clone(p.bases), p.head()+1)
	first, _ := slices.BinarySearch(bases, p.txnsStart)
	to := bases[first+r.rng.IntN(len(bases)-first)]
	r.note("purge the sidecar of %s below %d", p.name, to)
	tx, err := r.conn.Begin(r.ctx)
	require.NoError(r.t, err)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{lockPart, []any{p.id}},
		{"DELETE FROM queen.log_txns WHERE partition_id = $1 AND base_offset < $2", []any{p.id, to}},
		{`UPDATE queen.log_partitions SET txns_start = $2, oldest_txn_at = (
			SELECT min(created_at) FROM queen.log_txns WHERE partition_id = $1) WHERE id = $1`, []any{p.id, to}},
	} {
		_, err = tx.Exec(r.ctx, step.sql, step.args...)
		require.NoError(r.t, err, step.sql)
	}
	require.NoError(r.t, tx.Commit(r.ctx))
	p.txnsStart, p.txnsFrom = to, to
}

// depthDocument is what the depth function answers.
type depthDocument struct {
	Partitions []struct {
		Partition                  string
		Pending, Processing, Ready int64
	}
	Pending, Processing, Ready int64
}

// checkDepth compares the live numbers of a queue with the model's.
func (r *modelRun) checkDepth(queue, group string) {
	q := r.m.queues[queue]
	if q == nil {
		return
	}
	var name *string
	if group != "" {
		name = &group
	}
	raw, err := r.q.QueueDepth(r.ctx, QueueDepthParams{Queue: queue, ConsumerGroup: name, TenantID: modelTenant})
	require.NoError(r.t, err)
	var got depthDocument
	require.NoError(r.t, json.Unmarshal(raw, &got))
	require.Len(r.t, got.Partitions, len(q.parts))
	var pending, processing int64
	for _, part := range got.Partitions {
		wantPending, wantProcessing := q.parts[part.Partition].depth(group)
		require.Equal(r.t, [3]int64{wantPending, wantProcessing, wantPending - wantProcessing},
			[3]int64{part.Pending, part.Processing, part.Ready}, "depth of %s for group %q", part.Partition, group)
		pending, processing = pending+wantPending, processing+wantProcessing
	}
	require.Equal(r.t, [3]int64{pending, processing, pending - processing}, [3]int64{got.Pending, got.Processing, got.Ready}, "depth of %s", queue)
}

// modelState reads the same text as modelPart.text, one row a partition.
const modelState = `
SELECT q.name, h.name, h.id, concat(
    'start ', h.log_start, ' txns ', h.txns_start, ' head ', h.head_offset, E'\n',
    (SELECT string_agg(concat(c.consumer_group, ' committed ', c.committed, ' end ', coalesce(c.batch_end, -1), ' lease ', c.worker_id,
        ' live ', (coalesce(c.lease_expires_at > clock_timestamp(), false))::text, ' retries ', c.batch_retry_count, ' attempt ', c.attempt_count,
        ' of ', coalesce(c.attempt_offset, -1), ' consumed ', c.total_consumed, E'\n'), '' ORDER BY c.consumer_group)
     FROM queen.log_consumers c WHERE c.partition_id = h.id),
    (SELECT string_agg(concat(s.base_offset + f.ord - 1, ' ', queen._frame_id(s.id_base, f.ord - 1), ' ',
        coalesce(f.txn, queen._frame_id(s.id_base, f.ord - 1)::text), ' ', coalesce(f.key, '-'), ' ',
        coalesce(f.trace::text, '-'), ' ', coalesce(f.sub, '-'), ' ', left(f.payload, 100), ' ',
        octet_length(f.payload), E'\n'), '' ORDER BY s.base_offset, f.ord)
     FROM queen.log_segments s
     CROSS JOIN LATERAL unnest(s.payloads, s.transaction_ids, s.keys, s.trace_ids, s.producer_subs) WITH ORDINALITY f (payload, txn, key, trace, sub, ord)
     WHERE s.partition_id = h.id AND s.base_offset >= h.log_start))
FROM queen.queues q LEFT JOIN queen.partition_head h ON h.queue_id = q.id
WHERE q.deleted_at IS NULL`

// compare holds the whole database against the model.
func (r *modelRun) compare() {
	rows, err := r.conn.Query(r.ctx, modelState)
	require.NoError(r.t, err)
	got := map[string]string{}
	var queue, state string
	var part *string
	var id *uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&queue, &part, &id, &state}, func() error {
		if part != nil {
			got[queue+"/"+*part] = id.String() + "\n" + state
			return nil
		}
		got[queue] = ""
		return nil
	})
	require.NoError(r.t, err)
	want := map[string]string{}
	for name, q := range r.m.queues {
		for part, p := range q.parts {
			want[name+"/"+part] = p.id.String() + "\n" + p.text()
		}
		if len(q.parts) == 0 {
			want[name] = ""
		}
	}
	for _, name := range sortedKeys(want) {
		requireSameText(r.t, want[name], got[name], name)
	}
	require.Len(r.t, got, len(want), "queues and partitions")
	r.compareDead()
	r.checkDepth(r.queue(), r.pick("", "g", queueMode, "unknown"))
}

// requireSameText fails with the first line that differs.
func requireSameText(t testing.TB, want, got, what string) {
	t.Helper()
	if want == got {
		return
	}
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(wants), len(gots))-1 && wants[i] == gots[i] {
		i++
	}
	require.FailNow(t, "the model and the database differ", "%s, line %d:\nmodel    %s\ndatabase %s", what, i, wants[i], gots[i])
}

func (r *modelRun) compareDead() {
	rows, err := r.conn.Query(r.ctx, `SELECT partition_id, consumer_group, "offset", message_id, transaction_id, error, payload, retry_count, key, trace_id::text, producer_sub FROM queen.log_dlq`+liveLetters)
	require.NoError(r.t, err)
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var d modelDead
		err := row.Scan(&d.part, &d.group, &d.offset, &d.id, &d.txn, &d.reason, &d.payload, &d.retries, &d.key, &d.trace, &d.sub)
		return d.String(), err
	})
	require.NoError(r.t, err)
	want := make([]string, 0, len(r.m.dead))
	for _, d := range r.m.dead {
		want = append(want, d.String())
	}
	require.ElementsMatch(r.t, want, got, "dead letters")
}
