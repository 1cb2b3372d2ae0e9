package db

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// liveLetters leaves out those of deleted queues, which go in bounded steps.
const liveLetters = ` WHERE partition_id IN (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.deleted_at IS NULL)`

// lettersByID are the dead letters with the ids that the database drew; which
// row is which is found by what the model knows of it.
func (r *modelRun) lettersByID() map[uuid.UUID]modelDead {
	rows, err := r.conn.Query(r.ctx, `SELECT id, partition_id, consumer_group, "offset", message_id, transaction_id, error, payload, retry_count, key, trace_id::text, producer_sub FROM queen.log_dlq`+liveLetters)
	require.NoError(r.t, err)
	letters := map[uuid.UUID]modelDead{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var id uuid.UUID
		var d modelDead
		err := row.Scan(&id, &d.part, &d.group, &d.offset, &d.id, &d.txn, &d.reason, &d.payload, &d.retries, &d.key, &d.trace, &d.sub)
		letters[id] = d
		return struct{}{}, err
	})
	require.NoError(r.t, err)
	return letters
}

// moves is a replay or a redrive: which rows there were, and what came of each.
type moves struct {
	letters map[uuid.UUID]modelDead
	rows    []ReplayRow
}

// replay moves one dead letter back, or asks for one that is none.
func (r *modelRun) replay() modelCall {
	m := &moves{letters: r.lettersByID()}
	id := uuid.MustParse("00000000-0000-0000-0000-00000000dead")
	text := "replay of nothing"
	if len(r.m.dead) > 0 {
		want := r.m.dead[r.rng.IntN(len(r.m.dead))].String()
		for letter, d := range m.letters {
			if d.String() == want {
				id, text = letter, "replay of "+d.txn
			}
		}
	}
	return r.moving(text, m, func(q *Queries) ([]ReplayRow, error) {
		row, err := q.ReplayDeadLetter(r.ctx, ReplayDeadLetterParams{ID: id, TenantID: modelTenant})
		return []ReplayRow{row}, err
	})
}

// redrive is one step of a bulk replay, of a queue or of all.
func (r *modelRun) redrive() modelCall {
	m := &moves{letters: r.lettersByID()}
	arg := RedriveDeadLettersStepParams{MaxRows: int32(2 + r.rng.IntN(5)), TenantID: modelTenant}
	if r.chance(50) {
		queue := r.queue()
		arg.Queue = &queue
	}
	return r.moving(fmt.Sprintf("redrive of %d", arg.MaxRows), m, func(q *Queries) ([]ReplayRow, error) {
		return q.RedriveDeadLettersStep(r.ctx, arg)
	})
}

func (r *modelRun) moving(text string, m *moves, call func(q *Queries) ([]ReplayRow, error)) modelCall {
	return modelCall{
		text:  text,
		run:   func(q *Queries) (err error) { m.rows, err = call(q); return err },
		apply: func() { r.applyMoves(m) },
		doubt: func() {
			// What is no dead letter any more was moved, in the order in which it was stored.
			left := r.lettersByID()
			m.rows = nil
			for id := range m.letters {
				if _, there := left[id]; !there {
					m.rows = append(m.rows, ReplayRow{DlqID: id, Result: "moved"})
				}
			}
			r.inStoredOrder(m)
			r.applyMoves(m)
		},
	}
}

func (r *modelRun) inStoredOrder(m *moves) {
	at := map[uuid.UUID]int64{}
	for _, row := range m.rows {
		var base int64
		require.NoError(r.t, r.conn.QueryRow(r.ctx, `SELECT base_offset + array_position(transaction_ids, $2) FROM queen.log_segments
			WHERE partition_id = $1 AND transaction_ids @> ARRAY[$2]`, m.letters[row.DlqID].part, "dlq:"+row.DlqID.String()).Scan(&base), "moved, but not stored")
		at[row.DlqID] = base
	}
	slices.SortFunc(m.rows, func(a, b ReplayRow) int { return int(at[a.DlqID] - at[b.DlqID]) })
}

// applyMoves holds every outcome against what the model knows, and stores what
// was moved at the tails of its partitions.
func (r *modelRun) applyMoves(m *moves) {
	groups := map[uuid.UUID]*modelGroup{}
	for _, row := range m.rows {
		d, there := m.letters[row.DlqID]
		want := "moved"
		switch {
		case !there:
			want = "gone"
		case d.payload == nil:
			want = "failed"
		}
		require.Equal(r.t, want, row.Result, "%s", d)
		if want != "moved" {
			continue
		}
		g := groups[d.part]
		if g == nil {
			g = r.groupOf(d.part)
			groups[d.part] = g
		}
		id := "dlq:" + row.DlqID.String()
		g.ids, g.payloads, g.keys = append(g.ids, &id), append(g.payloads, *d.payload), append(g.keys, d.key)
		g.traces, g.subs = append(g.traces, d.trace), append(g.subs, d.sub)
		gone := slices.IndexFunc(r.m.dead, func(known modelDead) bool { return known.String() == d.String() })
		r.m.dead = slices.Delete(r.m.dead, gone, gone+1)
	}
	for _, part := range slices.SortedFunc(maps.Keys(groups), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }) {
		g := groups[part]
		r.applyGroup(*g, r.storedAfter(part, r.m.queues[g.queue].parts[g.part].head()), false)
	}
}

// groupOf is an empty group for a partition known by its id.
func (r *modelRun) groupOf(part uuid.UUID) *modelGroup {
	for queue, q := range r.m.queues {
		for name, p := range q.parts {
			if p.id == part {
				return &modelGroup{queue: queue, part: name}
			}
		}
	}
	require.FailNow(r.t, "a dead letter of no partition")
	return nil
}

// storedAfter are the segments behind an offset, as a push answers them: ids and
// stamps are the database's own to choose.
func (r *modelRun) storedAfter(part uuid.UUID, head int64) (out []PushRow) {
	rows, err := r.conn.Query(r.ctx, `SELECT base_offset, frames, id_base, created_at FROM queen.log_segments WHERE partition_id = $1 AND base_offset > $2 ORDER BY 1`, part, head)
	require.NoError(r.t, err)
	out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (PushRow, error) {
		p := PushRow{Status: "queued", PartitionID: &part, IDBase: new(uuid.UUID), CreatedAt: new(time.Time)}
		err := row.Scan(&p.BaseOffset, &p.Frames, p.IDBase, p.CreatedAt)
		return p, err
	})
	require.NoError(r.t, err)
	for i := 1; i < len(out); i++ {
		out[i].FirstItem = out[i-1].FirstItem + out[i-1].Frames
	}
	return out
}
