package db

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// modelRules are the cut-offs and the limit of one step, as a sweep gives them.
type modelRules struct {
	age, completed *time.Time
	messages       int64 // 0 is off
	maxRows        int
	idle           map[string]bool // groups that did nothing for long
}

// sweep runs one step of retention with rules drawn at random and compares what
// it took with the model (R-9..R-20, M-5..M-11, T-9..T-11).
func (r *modelRun) sweep() {
	p := r.somePart()
	if p == nil || len(p.live()) == 0 {
		return
	}
	rules := modelRules{maxRows: 1 + r.rng.IntN(4)}
	if r.chance(50) {
		rules.age = r.cutOff(p)
	}
	if r.chance(70) {
		rules.completed = r.cutOff(p)
	}
	if r.chance(30) {
		rules.messages = 1 + r.rng.Int64N(p.head()-p.logStart+3)
	}
	arg := RetentionStepParams{PartitionID: p.id, AgeBefore: rules.age, CompletedBefore: rules.completed, MaxMessages: &rules.messages, MaxRows: int32(rules.maxRows)}
	if rules.completed != nil && r.chance(50) {
		rules.idle = r.ageGroups(p)
		before := time.Now().Add(-time.Hour)
		arg.IdleBefore, arg.IdleGroups = &before, append(sortedKeys(rules.idle), r.group(), "unknown")
	}
	r.note("sweep %s: age %v, completed %v, %d messages, %d rows, idle %v", p.name, rules.age, rules.completed, rules.messages, rules.maxRows, arg.IdleGroups)
	got, err := r.q.RetentionStep(r.ctx, arg)
	require.NoError(r.t, err)
	reclaimed, from := p.reclaim(rules.maxRows), p.logStart
	live := len(p.live())
	p.moveStart(p.boundary(rules))
	taken := live - len(p.live())
	require.LessOrEqual(r.t, taken, rules.maxRows, "R-16")
	require.Equal(r.t, RetentionStepRow{
		Segments: int32(taken), Frames: p.logStart - from, Bytes: got.Bytes, Unread: p.logStart - min(max(from, p.slowest()+1), p.logStart),
		Reclaimed: int32(reclaimed), LogStart: &p.logStart, Done: taken == 0 && reclaimed < rules.maxRows,
	}, got)
}

// ageGroups makes it long ago that some groups did anything on the queue, and
// answers those of which that is known: no row means active now.
func (r *modelRun) ageGroups(p *modelPart) map[string]bool {
	var some []string
	for _, g := range sortedKeys(p.cursors) {
		if r.chance(60) {
			some = append(some, g)
		}
	}
	rows, err := r.conn.Query(r.ctx, `UPDATE queen.group_activity a SET last_active_at = clock_timestamp() - interval '2 hours', leased_until = clock_timestamp() - interval '2 hours'
		FROM queen.log_partitions p WHERE p.id = $1 AND a.queue_id = p.queue_id AND a.consumer_group = ANY ($2) RETURNING a.consumer_group`, p.id, some)
	require.NoError(r.t, err)
	aged, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(r.t, err)
	idle := map[string]bool{}
	for _, g := range aged {
		idle[g] = true
	}
	return idle
}

// purgeHashes runs steps of the hash purge until nothing is left to do (R-24,
// T-10): an ack may still find an id in a row that is hidden and not deleted yet.
func (r *modelRun) purgeHashes() {
	p := r.somePart()
	if p == nil || len(p.bases) == 0 {
		return
	}
	first, _ := slices.BinarySearch(p.bases, p.txnsStart)
	before := p.stamps[len(p.stamps)-1].Add(time.Second)
	if first < len(p.bases) && r.chance(75) {
		before = p.stamps[first+r.rng.IntN(len(p.bases)-first)]
	}
	maxRows := 1 + r.rng.IntN(4)
	r.note("purge hash rows of %s before %v, %d rows", p.name, before, maxRows)
	for !r.purgeStep(p, before, maxRows) {
	}
}

// purgeStep runs one step and says whether it was the last.
func (r *modelRun) purgeStep(p *modelPart, before time.Time, maxRows int) (done bool) {
	first, _ := slices.BinarySearch(p.bases, p.txnsStart)
	got, err := r.q.PurgeHashesStep(r.ctx, PurgeHashesStepParams{PartitionID: p.id, Before: before, MaxRows: int32(maxRows)})
	require.NoError(r.t, err)
	bounds := append(slices.Clone(p.bases), p.head()+1)
	from, _ := slices.BinarySearch(bounds, p.txnsFrom)
	reclaimed := min(first-from, maxRows)
	p.txnsFrom = bounds[from+reclaimed]
	taken := 0
	for taken < maxRows && first+taken < len(p.bases) && p.stamps[first+taken].Before(before) {
		taken++
	}
	start := p.txnsStart
	p.txnsStart = max(start, bounds[first+taken])
	require.Equal(r.t, RetentionStepRow{
		Segments: int32(taken), Frames: p.txnsStart - start, Reclaimed: int32(reclaimed), LogStart: &p.logStart, Done: taken == 0 && reclaimed < maxRows,
	}, got)
	return got.Done
}

// cutOff is the stamp of a segment, which is young enough itself, or one that
// is after all.
func (r *modelRun) cutOff(p *modelPart) *time.Time {
	live := p.live()
	at := live[r.rng.IntN(len(live))].at
	if r.chance(25) {
		at = live[len(live)-1].at.Add(time.Second)
	}
	return &at
}

// slowest is the smallest cursor, -1 without any.
func (p *modelPart) slowest() int64 { return p.slowestBut(nil) }

// slowestBut leaves out groups that are idle and hold no live lease; when all
// are, all count.
func (p *modelPart) slowestBut(idle map[string]bool) int64 {
	slowest, first := int64(-1), true
	for g, c := range p.cursors {
		if (!idle[g] || c.live) && (first || c.committed < slowest) {
			slowest, first = c.committed, false
		}
	}
	if first && len(idle) > 0 {
		return p.slowestBut(nil)
	}
	return slowest
}

// boundary is where a step ends that keeps to the rules; it never cuts a segment.
func (p *modelPart) boundary(rules modelRules) int64 {
	live := p.live()
	to := p.logStart
	if rules.age != nil {
		to = max(to, p.ageBoundary(live, *rules.age, rules.maxRows))
	}
	if rules.completed != nil {
		consumed := min(p.slowestBut(rules.idle)+1, p.ageBoundary(live, *rules.completed, rules.maxRows))
		for _, s := range live {
			if s.end < consumed {
				to = max(to, s.end+1)
			}
		}
	}
	if rules.messages > 0 {
		for i, s := range live {
			if p.head()-s.base+1 <= rules.messages || i == len(live)-1 || i == rules.maxRows {
				to = max(to, s.base)
				break
			}
		}
	}
	return to
}

// ageBoundary is the first of the segments that a step looks at that is not
// older than the cut-off, else where it stops looking.
func (p *modelPart) ageBoundary(live []modelSegment, before time.Time, maxRows int) int64 {
	for i, s := range live {
		if i == maxRows || !s.at.Before(before) {
			return s.base
		}
	}
	return p.head() + 1
}
