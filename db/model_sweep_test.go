package db

import (
	"time"

	"github.com/stretchr/testify/require"
)

// modelRules are the cut-offs and the limit of one step, as a sweep gives them.
type modelRules struct {
	age, completed *time.Time
	messages       int64 // 0 is off
	maxRows        int
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
	r.note("sweep %s: age %v, completed %v, %d messages, %d rows", p.name, rules.age, rules.completed, rules.messages, rules.maxRows)
	got, err := r.q.RetentionStep(r.ctx, RetentionStepParams{PartitionID: p.id, AgeBefore: rules.age, CompletedBefore: rules.completed,
		MaxMessages: &rules.messages, MaxRows: int32(rules.maxRows)})
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
func (p *modelPart) slowest() int64 {
	slowest, first := int64(-1), true
	for _, c := range p.cursors {
		if first || c.committed < slowest {
			slowest, first = c.committed, false
		}
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
		consumed := min(p.slowest()+1, p.ageBoundary(live, *rules.completed, rules.maxRows))
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
