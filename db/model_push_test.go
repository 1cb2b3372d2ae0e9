package db

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// modelGroup is one group of a push.
type modelGroup struct {
	queue, part string
	ids         []*string
	payloads    []string
	keys        []*string
	traces      []*string // as long as ids, or nil
	subs        []*string // the same
	nonce       int64
}

// drawID is a client's id: rising, from a small pool so that it comes again,
// one that was minted before, long with a shared beginning, or none.
func (r *modelRun) drawID(p *modelPart) *string {
	id := ""
	switch roll := r.rng.IntN(20); {
	case roll < 7:
		return nil
	case roll < 11:
		r.txns++
		id = fmt.Sprintf("k-%06d", r.txns)
	case roll < 16:
		id = fmt.Sprintf("r%d", r.rng.IntN(8))
	case roll < 18:
		id = strings.Repeat("long ", 13) + fmt.Sprint(r.rng.IntN(6))
	case roll < 19 && p != nil && p.head() >= 0:
		id = p.frames[r.rng.IntN(len(p.frames))].txn
	default:
		id = r.pick("", "É", "e\u0301", "Zz", "zZ", "a b")
	}
	return &id
}

// drawOrigin is a trace id and the name of a producer; most messages have neither,
// and some one of them.
func (r *modelRun) drawOrigin() (trace, sub *string) {
	if r.chance(30) {
		id := r.pick("0190b4a0-0000-7000-8000-000000000001", "0190b4a0-0000-7000-8000-000000000002")
		trace = &id
	}
	if r.chance(30) {
		name := r.pick("alice", "key:robot", "É", "")
		sub = &name
	}
	return trace, sub
}

func (r *modelRun) drawPayload() string {
	switch r.rng.IntN(6) {
	case 0:
		return r.pick("null", "1e131000", `{"b": 1,  "a":12345678901234567890}`, `"\u0000"`, `[ ]`, `"é"`)
	case 1:
		return `"` + strings.Repeat("x", r.rng.IntN(3000)) + `"`
	}
	return fmt.Sprintf(`{"n":%d}`, r.rng.IntN(1000))
}

func (r *modelRun) drawGroup(queue string) modelGroup {
	g := modelGroup{queue: queue, part: r.part(), nonce: r.rng.Int64N(1 << 42)}
	n := r.rng.IntN(6)
	large := r.chance(2)
	if large {
		n = 1000 + r.rng.IntN(60)
	}
	var p *modelPart
	if q := r.m.queues[g.queue]; q != nil {
		p = q.parts[g.part]
	}
	for range n {
		g.payloads = append(g.payloads, r.drawPayload())
		id := r.drawID(p)
		if large && r.chance(98) {
			id = nil
		}
		g.ids = append(g.ids, id)
		var key *string
		if r.chance(10) {
			k := r.pick("k1", "k2", "")
			key = &k
		}
		g.keys = append(g.keys, key)
		trace, sub := r.drawOrigin()
		g.traces, g.subs = append(g.traces, trace), append(g.subs, sub)
	}
	if n > 1 && n < 6 && r.chance(3) { // more than a segment holds
		g.payloads[0] = `"` + strings.Repeat("y", 900_000) + `"`
		g.payloads[1] = `"` + strings.Repeat("z", 1_200_000) + `"`
	}
	return g
}

func (g modelGroup) String() string {
	ids := make([]string, 0, len(g.ids))
	for _, id := range g.ids[:min(len(g.ids), 8)] {
		if id == nil {
			ids = append(ids, "-")
		} else {
			ids = append(ids, fmt.Sprintf("%q", *id))
		}
	}
	return fmt.Sprintf("%s/%s %d [%s]", g.queue, g.part, len(g.payloads), strings.Join(ids, " "))
}

// push is one call of the set face with one to three groups.
func (r *modelRun) push() modelCall {
	groups := make([]modelGroup, 1+r.rng.IntN(3))
	params := PushParams{TenantID: modelTenant, SkipLocked: r.chance(20)}
	traced, named := r.chance(40), r.chance(40)
	text := "push"
	for i := range groups {
		g := r.drawGroup(r.queue())
		if !traced {
			g.traces = nil
		}
		if !named {
			g.subs = nil
		}
		groups[i] = g
		text += " " + g.String()
		params.Queues, params.Partitions = append(params.Queues, g.queue), append(params.Partitions, g.part)
		params.Counts, params.Nonces = append(params.Counts, int32(len(g.payloads))), append(params.Nonces, g.nonce)
		params.Payloads = append(params.Payloads, g.payloads...)
		params.TransactionIds, params.Keys = append(params.TransactionIds, g.ids...), append(params.Keys, g.keys...)
		params.TraceIds, params.ProducerSubs = append(params.TraceIds, g.traces...), append(params.ProducerSubs, g.subs...)
	}
	if params.Payloads == nil {
		params.Payloads = []string{}
	}
	var rows []PushRow
	var started time.Time
	require.NoError(r.t, r.conn.QueryRow(r.ctx, "SELECT clock_timestamp()").Scan(&started))
	return modelCall{
		text: text,
		run:  func(q *Queries) (err error) { rows, err = q.Push(r.ctx, params); return err },
		apply: func() {
			for i, g := range groups {
				r.applyGroup(g, rowsOf(rows, i), false)
			}
		},
		doubt: func() {
			if found := r.findPushes(groups, started); found != nil {
				for i, g := range groups {
					r.applyGroup(g, found[i], true)
				}
			}
		},
	}
}

func rowsOf(rows []PushRow, group int) (own []PushRow) {
	for _, row := range rows {
		if int(row.Grp) == group {
			own = append(own, row)
		}
	}
	return own
}

// findPushes looks up every group by its nonce: the rows of each, or nil when
// the call did not happen. Half a call fails the test.
func (r *modelRun) findPushes(groups []modelGroup, started time.Time) [][]PushRow {
	found := make([][]PushRow, len(groups))
	any := false
	for i, g := range groups {
		var id uuid.UUID
		err := r.conn.QueryRow(r.ctx, `SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
			WHERE q.deleted_at IS NULL AND q.name = $1 AND p.name = $2`, g.queue, g.part).Scan(&id)
		if err == pgx.ErrNoRows {
			continue
		}
		require.NoError(r.t, err)
		found[i], err = r.q.FindPush(r.ctx, FindPushParams{PartitionID: id, Nonce: g.nonce, StartedAt: started})
		require.NoError(r.t, err)
		any = any || len(found[i]) > 0
	}
	if !any {
		return nil // also a push of nothing but repeats, which changes nothing
	}
	return found
}

// applyGroup stores a group in the model and holds the answer against it. A
// group that was looked up has no row for its repeats.
func (r *modelRun) applyGroup(g modelGroup, rows []PushRow, lookedUp bool) {
	p := r.m.ensure(g.queue).ensure(g.part)
	if p.id == uuid.Nil {
		r.learnPart(p, g.queue)
	}
	plan := p.planPush(g.ids)
	got := make([]*modelVerdict, len(plan))
	var queued []int
	for i, v := range plan {
		if !v.duplicate {
			queued = append(queued, i)
		}
	}
	for _, row := range rows {
		require.Equal(r.t, p.id, *row.PartitionID)
		if row.Status == "duplicate" {
			for k, item := range row.Items {
				got[item] = &modelVerdict{duplicate: true, offset: row.ItemOffsets[k], id: row.ItemIds[k]}
			}
			continue
		}
		require.Equal(r.t, "queued", row.Status)
		require.Equal(r.t, p.head()+1, row.BaseOffset, "base offset")
		items := queued[row.FirstItem : row.FirstItem+row.Frames]
		if row.Items != nil {
			require.Len(r.t, row.Items, int(row.Frames))
			for k := range items {
				require.Equal(r.t, items[k], int(row.Items[k]))
			}
		}
		frames := make([]modelFrame, 0, row.Frames)
		for k, item := range items {
			f := modelFrame{payload: g.payloads[item], key: g.keys[item], txn: minted, trace: itemOf(g.traces, item), sub: itemOf(g.subs, item)}
			if g.ids[item] != nil {
				f.txn = *g.ids[item]
			}
			frames = append(frames, f)
			got[item] = &modelVerdict{offset: row.BaseOffset + int64(k), id: frameID(*row.IDBase, k)}
		}
		r.requireSafe(*row.CreatedAt)
		p.store(*row.CreatedAt, *row.IDBase, frames)
	}
	for i, want := range plan {
		if lookedUp && want.duplicate {
			continue
		}
		require.NotNil(r.t, got[i], "no verdict on item %d", i)
		if want.id == uuid.Nil && (!want.duplicate || p.stored(want.offset)) {
			want.id = p.frames[want.offset].id
		}
		require.Equal(r.t, want, *got[i], "verdict on item %d of %s", i, g)
	}
}

// itemOf is an element of a list that may be left out.
func itemOf(list []*string, item int) *string {
	if list == nil {
		return nil
	}
	return list[item]
}

// learnPart reads the id that a new partition got.
func (r *modelRun) learnPart(p *modelPart, queue string) {
	err := r.conn.QueryRow(r.ctx, `SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
		WHERE q.deleted_at IS NULL AND q.name = $1 AND p.name = $2`, queue, p.name).Scan(&p.id)
	require.NoError(r.t, err, "partition %s of %s", p.name, queue)
}

// transaction pushes through the human face inside of BEGIN, with a savepoint
// that is taken back, and commits, rolls back, or loses its backend.
func (r *modelRun) transaction() {
	before := r.m.clone()
	conn, end := r.conn, r.pick("COMMIT", "COMMIT", "ROLLBACK", "terminate")
	if end == "terminate" {
		conn = r.connect()
	}
	r.note("transaction, then %s", end)
	_, err := conn.Exec(r.ctx, "BEGIN")
	require.NoError(r.t, err)
	r.pushMany(conn)
	if r.chance(60) {
		atSavepoint := r.m.clone()
		_, err = conn.Exec(r.ctx, "SAVEPOINT s")
		require.NoError(r.t, err)
		r.pushMany(conn)
		if r.chance(70) {
			_, err = conn.Exec(r.ctx, "ROLLBACK TO SAVEPOINT s")
			require.NoError(r.t, err)
			r.note("back to the savepoint")
			r.m = atSavepoint
		}
		r.pushMany(conn)
	}
	if end == "terminate" {
		r.terminate(conn.PgConn().PID())
		_ = conn.Close(r.ctx)
	} else {
		_, err = conn.Exec(r.ctx, end)
		require.NoError(r.t, err)
	}
	if end != "COMMIT" {
		r.m = before
	}
}

// pushMany is one call of push_many_v1 on an open transaction.
func (r *modelRun) pushMany(conn *pgx.Conn) {
	queue := r.queue()
	var groups []modelGroup
	params := PushManyParams{Queue: queue, Payloads: [][]byte{}, Partitions: []string{}, TransactionIds: []string{}}
	where := make([][2]int, 0, 6)
	for i := range r.rng.IntN(6) {
		id := fmt.Sprintf("%s%d", r.pick("m", "r"), r.rng.IntN(8))
		part := r.part()
		at := -1
		for k, g := range groups {
			if g.part == part {
				at = k
			}
		}
		if at < 0 {
			at = len(groups)
			groups = append(groups, modelGroup{queue: queue, part: part})
		}
		payload := fmt.Sprintf(`{"m":%d}`, i)
		g := &groups[at]
		where = append(where, [2]int{at, len(g.ids)})
		g.ids, g.payloads, g.keys = append(g.ids, &id), append(g.payloads, payload), append(g.keys, nil)
		params.Payloads, params.Partitions = append(params.Payloads, []byte(payload)), append(params.Partitions, part)
		params.TransactionIds = append(params.TransactionIds, id)
	}
	r.note("push many %s %v %v", queue, params.Partitions, params.TransactionIds)
	got, err := New(conn).PushMany(r.ctx, params)
	require.NoError(r.t, err)
	require.Len(r.t, got, len(where))
	plans := make([][]modelVerdict, len(groups))
	for i, g := range groups {
		plans[i] = r.storePlanned(conn, g, got, where, i)
	}
	for i, row := range got {
		want := plans[where[i][0]][where[i][1]]
		require.Equal(r.t, int32(i), row.Item)
		require.Equal(r.t, want, modelVerdict{duplicate: row.Status == "duplicate", offset: *row.Offset, id: row.MessageID})
		require.Equal(r.t, params.Partitions[i], row.Partition)
		require.Equal(r.t, params.TransactionIds[i], row.TransactionID)
	}
}

// storePlanned moves the model on by one group of push_many_v1, whose answer
// has ids but no stamps, and returns the verdicts it must give.
func (r *modelRun) storePlanned(conn *pgx.Conn, g modelGroup, got []PushedMessage, where [][2]int, group int) []modelVerdict {
	p := r.m.ensure(g.queue).ensure(g.part)
	if p.id == uuid.Nil {
		err := conn.QueryRow(r.ctx, `SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
			WHERE q.deleted_at IS NULL AND q.name = $1 AND p.name = $2`, g.queue, g.part).Scan(&p.id)
		require.NoError(r.t, err)
	}
	plan := p.planPush(g.ids)
	base := p.head() + 1
	var frames []modelFrame
	var idBase uuid.UUID
	for i, w := range where {
		if w[0] == group && !plan[w[1]].duplicate {
			if len(frames) == 0 {
				idBase = got[i].MessageID
			}
			frames = append(frames, modelFrame{payload: g.payloads[w[1]], txn: *g.ids[w[1]]})
		}
	}
	if len(frames) > 0 {
		var at time.Time
		require.NoError(r.t, conn.QueryRow(r.ctx, "SELECT created_at FROM queen.log_segments WHERE partition_id = $1 AND base_offset = $2", p.id, base).Scan(&at))
		r.requireSafe(at)
		p.store(at, idBase, frames)
	}
	for i := range plan {
		if plan[i].id == uuid.Nil && (!plan[i].duplicate || p.stored(plan[i].offset)) {
			plan[i].id = p.frames[plan[i].offset].id
		}
	}
	return plan
}
