package db

import (
	"context"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	compactionSteps     = 120
	compactionShortTime = 4 * time.Second
)

// TestModelCompaction runs random pushes, pops, acks, prefix deletions and steps of
// compaction against a log in memory. After each, what is there is as it was
// pushed and in order, what is missing was superseded by a newer message of its
// key or was a tombstone, the newest of each key is found, the account is exact,
// and a group gets all that is there and nothing twice (M-19..M-29, Z-1..Z-7,
// F105..F117). It prints the seed of a run that fails.
func TestModelCompaction(t *testing.T) {
	t.Parallel()
	if text := os.Getenv(modelSeedEnv); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, modelSeedEnv)
		runCompaction(t, seed)
		return
	}
	limit := compactionShortTime
	if os.Getenv(modelLongEnv) != "" {
		limit = modelLongTime
	}
	for began := time.Now(); ; {
		seed := drawSeed()
		require.True(t, t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { runCompaction(t, seed) }))
		if time.Since(began) > limit {
			return
		}
	}
}

// compactionRun is one run on one partition.
type compactionRun struct {
	t        *testing.T
	ctx      context.Context
	rng      *randv2.Rand
	conn     *pgx.Conn
	q        *Queries
	lane     uuid.UUID
	frames   []keyedFrame // every one ever pushed; the index is the offset
	bases    []int64      // of the segments
	logStart int64
	present  []int64 // what was there at the last look
	groups   map[string]*keyedGroup
	trace    []string
}

type keyedFrame struct {
	txn, payload string
	key          *string
}

// keyedGroup is a cursor and the live lease, if any, up to leased.
type keyedGroup struct {
	committed, leased int64
	lease             string
	held              []keyedFrame
}

func runCompaction(t *testing.T, seed uint64) {
	d := dbtest.New(t)
	r := &compactionRun{t: t, ctx: context.Background(), rng: randv2.New(randv2.NewPCG(seed, 2)), conn: d.Conn(t), groups: map[string]*keyedGroup{}}
	r.q = New(r.conn)
	defer func() {
		if t.Failed() {
			t.Logf("replay with %s=%d; the last steps were:\n%s", modelSeedEnv, seed, strings.Join(r.trace[max(0, len(r.trace)-25):], "\n"))
		}
	}()
	_, err := r.conn.Exec(r.ctx, `SELECT queen.configure_queue_v1('c', '{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": 0}')`)
	require.NoError(t, err)
	r.push()
	require.NoError(t, r.conn.QueryRow(r.ctx, "SELECT id FROM queen.log_partitions").Scan(&r.lane))
	for n := range compactionSteps {
		compacted := r.step()
		r.look(compacted)
		if n%4 == 0 {
			require.NoError(t, invariantBreaches(r.ctx, r.conn))
		}
	}
	r.drain()
	require.NoError(t, invariantBreaches(r.ctx, r.conn))
}

// step does one thing and says whether it was a step of compaction.
func (r *compactionRun) step() (compacted bool) {
	switch roll := r.rng.IntN(100); {
	case roll < 35:
		r.push()
	case roll < 65:
		r.compact()
		return true
	case roll < 80:
		r.pop()
	case roll < 90:
		r.ack()
	case roll < 94:
		r.endLeases()
	case roll < 97:
		r.deletePrefix()
	default:
		_, err := r.q.SettleHeadsStep(r.ctx, 500, -5)
		require.NoError(r.t, err)
	}
	return false
}

func (r *compactionRun) note(format string, args ...any) {
	r.trace = append(r.trace, fmt.Sprintf(format, args...))
}

func (r *compactionRun) push() {
	var payloads, txns []string
	var keys []*string
	base := int64(len(r.frames))
	for range 1 + r.rng.IntN(6) {
		f := keyedFrame{txn: fmt.Sprintf("t%04d", len(r.frames)), payload: strconv.Itoa(len(r.frames))}
		if r.rng.IntN(5) > 0 {
			key := fmt.Sprint("k", r.rng.IntN(7))
			f.key = &key
		}
		if r.rng.IntN(6) == 0 {
			f.payload = "null"
		}
		r.frames = append(r.frames, f)
		payloads, txns, keys = append(payloads, f.payload), append(txns, f.txn), append(keys, f.key)
	}
	r.note("push %d at %d", len(payloads), base)
	rows, err := r.conn.Query(r.ctx, `SELECT "offset" FROM queen.push_many_v1('c', $1::text[]::json[], '{p}', $2, $3)`, payloads, txns, keys)
	require.NoError(r.t, err)
	offsets, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(r.t, err)
	require.Equal(r.t, base, offsets[0], "offsets are never given again")
	r.bases = append(r.bases, base)
	for o := base; o < int64(len(r.frames)); o++ {
		r.present = append(r.present, o)
	}
}

// compact takes a step; after one that finds nothing left, exactly what must stay is there.
func (r *compactionRun) compact() {
	limit := []int32{1, 4, 10, 20000}[r.rng.IntN(4)]
	row, err := r.q.CompactStep(r.ctx, r.lane, limit)
	require.NoError(r.t, err)
	r.note("compact at most %d: %+v", limit, row)
	if !row.Done || row.Worked > 0 || r.leasedAny() {
		return
	}
	newest := r.bases[len(r.bases)-1]
	var want []int64
	for _, o := range r.present {
		last := r.last(r.frames[o].key)
		if o >= newest || r.frames[o].key == nil || last == o && r.frames[o].payload != "null" {
			want = append(want, o)
		}
	}
	require.Equal(r.t, want, r.read(), "nothing is left to do")
}

func (r *compactionRun) leasedAny() bool {
	for _, g := range r.groups {
		if g.lease != "" {
			return true
		}
	}
	return false
}

// last is the newest offset of a key.
func (r *compactionRun) last(key *string) int64 {
	for o := len(r.frames) - 1; key != nil && o >= 0; o-- {
		if k := r.frames[o].key; k != nil && *k == *key {
			return int64(o)
		}
	}
	return -1
}

// read is the offsets that a reader finds, each message as it was pushed.
func (r *compactionRun) read() (offsets []int64) {
	rows, err := r.q.ReadPartition(r.ctx, ReadPartitionParams{Queue: "c", Partition: "p", FromOffset: new(int64), MaxRows: 10000})
	require.NoError(r.t, err)
	for _, row := range rows {
		require.Equal(r.t, r.frames[row.Offset], keyedFrame{txn: row.TransactionID, payload: string(row.Payload), key: row.Key}, "offset %d", row.Offset)
		offsets = append(offsets, row.Offset)
	}
	require.True(r.t, slices.IsSorted(offsets))
	return offsets
}

// look holds what is there against the model.
func (r *compactionRun) look(compacted bool) {
	got := r.read()
	newest := r.bases[len(r.bases)-1]
	for _, o := range r.present {
		if _, there := slices.BinarySearch(got, o); there {
			continue
		}
		require.True(r.t, compacted, "offset %d went without compaction", o)
		f := r.frames[o]
		require.NotNil(r.t, f.key, "offset %d has no key", o)
		require.Less(r.t, o, newest, "the newest segment is never touched")
		require.True(r.t, r.last(f.key) > o || f.payload == "null", "offset %d is the newest of %s", o, *f.key)
		for name, g := range r.groups {
			require.False(r.t, g.lease != "" && o > g.committed && o <= g.leased, "offset %d is leased by %s", o, name)
		}
	}
	require.Subset(r.t, r.present, got, "nothing comes back")
	r.present = got
	for k := range 7 {
		key := fmt.Sprint("k", k)
		rows, err := r.q.GetLatest(r.ctx, GetLatestParams{Queue: "c", Key: key, Partition: "p", TenantID: modelTenant})
		require.NoError(r.t, err)
		if last := r.last(&key); last < r.logStart || r.frames[last].payload == "null" {
			require.Empty(r.t, rows, "latest of %s", key)
		} else {
			require.Len(r.t, rows, 1, "latest of %s", key)
			require.Equal(r.t, last, rows[0].Offset, "latest of %s", key)
		}
	}
	var total, start, gone int64
	require.NoError(r.t, r.conn.QueryRow(r.ctx, `SELECT h.head_offset - h.log_start + 1 - h.removed_frames, h.log_start,
		(SELECT coalesce(sum(x.messages_deleted), 0)::bigint FROM queen.retention_history x WHERE x.partition_id = h.id) FROM queen.partition_head h WHERE h.id = $1`, r.lane).Scan(&total, &start, &gone))
	require.Equal(r.t, [3]int64{int64(len(got)), r.logStart, int64(len(r.frames) - len(got))}, [3]int64{total, start, gone}, "total, start, account")
}

// after are the offsets that are there above one.
func (r *compactionRun) after(offset int64) []int64 {
	i, _ := slices.BinarySearch(r.present, offset+1)
	return r.present[i:]
}

func (r *compactionRun) group() (string, *keyedGroup) {
	name := []string{"g", "h"}[r.rng.IntN(2)]
	if r.groups[name] == nil {
		r.groups[name] = &keyedGroup{committed: r.logStart - 1}
	}
	return name, r.groups[name]
}

func (r *compactionRun) pop() {
	name, g := r.group()
	r.popBatch(name, g, 1+r.rng.IntN(9), r.rng.IntN(3) == 0)
}

// popBatch takes messages: the next ones that are there, none left out.
func (r *compactionRun) popBatch(name string, g *keyedGroup, batch int, autoAck bool) int {
	rows, err := r.conn.Query(r.ctx, `SELECT m."offset", m.transaction_id, m.lease_id FROM queen.pop_v1('c', $1, $2, 'p', 3600, $3) m`, batch, name, autoAck)
	require.NoError(r.t, err)
	var got []int64
	var txn, lease string
	var offset int64
	var held []keyedFrame
	_, err = pgx.ForEachRow(rows, []any{&offset, &txn, &lease}, func() error {
		got, held = append(got, offset), append(held, r.frames[offset])
		require.Equal(r.t, r.frames[offset].txn, txn)
		return nil
	})
	require.NoError(r.t, err)
	r.note("pop %d by %s after %d, auto %t: %v", batch, name, g.committed, autoAck, got)
	if g.lease != "" {
		require.Empty(r.t, got, "it is leased")
		return 0
	}
	next := r.after(g.committed)
	require.Equal(r.t, len(next) > 0, len(got) > 0, "after %d there is %v", g.committed, next)
	require.Equal(r.t, next[:len(got)], append([]int64{}, got...), "the next that are there")
	require.LessOrEqual(r.t, len(got), batch)
	r.stand(name, g)
	if len(got) > 0 && !autoAck {
		require.GreaterOrEqual(r.t, g.leased, got[len(got)-1])
		require.Equal(r.t, lease, g.lease)
		g.held = held
	}
	if autoAck && len(got) > 0 {
		require.GreaterOrEqual(r.t, g.committed, got[len(got)-1])
		require.Less(r.t, g.committed, append(slices.Clone(next[len(got):]), int64(len(r.frames)))[0], "nothing is passed over")
	}
	return len(got)
}

// stand reads where the group stands.
func (r *compactionRun) stand(name string, g *keyedGroup) {
	err := r.conn.QueryRow(r.ctx, `SELECT committed, coalesce(batch_end, -1), coalesce(CASE WHEN lease_expires_at > clock_timestamp() THEN worker_id END, '') FROM queen.log_consumers WHERE partition_id = $1 AND consumer_group = $2`,
		r.lane, name).Scan(&g.committed, &g.leased, &g.lease)
	require.NoError(r.t, err)
}

// ack finishes what a group holds, or the beginning of it.
func (r *compactionRun) ack() {
	name, g := r.group()
	if g.lease == "" {
		return
	}
	n := len(g.held)
	if r.rng.IntN(3) == 0 {
		n = 1 + r.rng.IntN(n)
	}
	var txns, statuses []string
	for _, f := range g.held[:n] {
		txns, statuses = append(txns, f.txn), append(statuses, "completed")
	}
	r.note("ack %d of %d by %s", n, len(g.held), name)
	rows, err := r.conn.Query(r.ctx, `SELECT a.success FROM queen.log_ack_v1(ARRAY[$1::uuid], ARRAY[$2], ARRAY[$3], ARRAY[$4::integer], $5, $6) a`, r.lane, name, g.lease, n, txns, statuses)
	require.NoError(r.t, err)
	success, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	require.NoError(r.t, err)
	require.NotContains(r.t, success, false, "what is leased can be acked (F117)")
	all := n == len(g.held)
	g.held = g.held[n:]
	r.stand(name, g)
	require.Equal(r.t, all, g.lease == "", "a lease ends with its batch")
}

func (r *compactionRun) endLeases() {
	r.note("end leases")
	_, err := r.conn.Exec(r.ctx, endLeases)
	require.NoError(r.t, err)
	for _, g := range r.groups {
		g.lease, g.held = "", nil
	}
}

// deletePrefix lets a size limit take the oldest segments.
func (r *compactionRun) deletePrefix() {
	most := int64(1 + r.rng.IntN(40))
	row, err := r.q.RetentionStep(r.ctx, RetentionStepParams{PartitionID: r.lane, MaxMessages: &most, MaxRows: int32(1 + r.rng.IntN(5))})
	require.NoError(r.t, err)
	r.note("keep at most %d: %+v", most, row)
	r.logStart = *row.LogStart
	i, _ := slices.BinarySearch(r.present, r.logStart)
	require.EqualValues(r.t, i, row.Frames)
	r.present = r.present[i:]
	require.True(r.t, row.Frames == 0 || int64(len(r.present)) > 0, "the newest segment stays")
}

// drain pops until nothing comes: each group has then got all, and is at the head (F111).
func (r *compactionRun) drain() {
	r.endLeases()
	for _, name := range []string{"g", "h"} {
		g := r.groups[name]
		if g == nil {
			continue
		}
		for r.popBatch(name, g, 7, true) > 0 {
			require.Empty(r.t, g.lease)
		}
		r.stand(name, g)
		require.Equal(r.t, int64(len(r.frames))-1, g.committed, "%s is at the head", name)
	}
}
