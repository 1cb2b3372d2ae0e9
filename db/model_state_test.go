package db

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// queueMode is the group of consumers that name none.
const queueMode = "__QUEUE_MODE__"

// The model is a log in memory that knows the rules from the specification,
// not from the stored functions. It is fed with what the database cannot help
// but choose: ids, stamps, lease ids, and the order of candidates.
type model struct {
	queues map[string]*modelQueue
	dead   []modelDead
	// safe is the newest safe time that was read.
	safe time.Time
}

type modelQueue struct {
	options modelOptions
	parts   map[string]*modelPart
	// subs are the durable subscriptions by group.
	subs map[string]modelSub
	// shown are the 21 options as they are read back.
	shown map[string]any
}

type modelOptions struct {
	dedupWindow, retryLimit, delayed, window int
	dlq, dlqAfter                            bool
}

type modelSub struct {
	mode      string
	since     time.Time
	conflates bool
}

type modelPart struct {
	id   uuid.UUID
	name string
	// frames is every frame ever stored; the index is the offset.
	frames []modelFrame
	// segments are those whose rows still exist, also below the log start.
	segments            []modelSegment
	logStart, txnsStart int64
	cursors             map[string]*modelCursor
	bases               []int64     // of every segment ever stored
	stamps              []time.Time // of the same
	txnsFrom            int64       // below it no hash row is left
	queue               *modelQueue
}

type modelFrame struct {
	id           uuid.UUID
	txn, payload string
	key          *string
	trace, sub   *string // who traces it, and who pushed it
}

type modelSegment struct {
	base, end int64
	at        time.Time
}

// modelCursor is where one group stands in one partition. batchEnd is -1
// without a lease, attemptOffset is -1 without an attempt.
type modelCursor struct {
	committed, batchEnd, attemptOffset, consumed int64
	lease                                        string
	live, conflated                              bool
	retries, attempts                            int
}

type modelDead struct {
	part        uuid.UUID
	group       string
	offset      int64
	id          uuid.UUID
	txn, reason string
	payload     *string
	key         *string
	trace, sub  *string
	retries     int
}

func (d modelDead) String() string {
	payload := "gone"
	if d.payload != nil {
		payload = *d.payload
	}
	key := "none"
	if d.key != nil {
		key = "=" + *d.key
	}
	return fmt.Sprint(d.part, d.group, d.offset, d.id, d.txn, payload, d.retries, d.reason, key, " ", deref(d.trace), " ", deref(d.sub))
}

func newModel() *model { return &model{queues: map[string]*modelQueue{}} }

// clone copies everything that an operation may change.
func (m *model) clone() *model {
	c := &model{queues: map[string]*modelQueue{}, dead: slices.Clone(m.dead), safe: m.safe}
	for name, q := range m.queues {
		nq := &modelQueue{options: q.options, parts: map[string]*modelPart{}, subs: maps.Clone(q.subs), shown: maps.Clone(q.shown)}
		for n, p := range q.parts {
			np := *p
			np.queue, np.frames, np.segments, np.bases, np.stamps = nq, slices.Clone(p.frames), slices.Clone(p.segments), slices.Clone(p.bases), slices.Clone(p.stamps)
			np.cursors = map[string]*modelCursor{}
			for g, cur := range p.cursors {
				copied := *cur
				np.cursors[g] = &copied
			}
			nq.parts[n] = &np
		}
		c.queues[name] = nq
	}
	return c
}

// ensure is implicit creation: column defaults, not those of configure.
func (m *model) ensure(queue string) *modelQueue {
	q := m.queues[queue]
	if q == nil {
		q = &modelQueue{parts: map[string]*modelPart{}, subs: map[string]modelSub{}, shown: defaultOptions(),
			options: modelOptions{dedupWindow: 3600, retryLimit: 3, dlq: true, dlqAfter: true}}
		labels := append(strings.Split(queue, "."), "")
		q.merge(map[string]any{"leaseTime": 60, "namespace": labels[0], "task": labels[1]})
		m.queues[queue] = q
	}
	return q
}

func (q *modelQueue) ensure(part string) *modelPart {
	p := q.parts[part]
	if p == nil {
		p = &modelPart{name: part, queue: q, cursors: map[string]*modelCursor{}}
		q.parts[part] = p
	}
	return p
}

func (p *modelPart) head() int64 { return int64(len(p.frames)) - 1 }

// stored reports whether the frame's segment row still exists.
func (p *modelPart) stored(offset int64) bool {
	return len(p.segments) > 0 && offset >= p.segments[0].base
}

// live are the visible segments.
func (p *modelPart) live() []modelSegment {
	i := slices.IndexFunc(p.segments, func(s modelSegment) bool { return s.base >= p.logStart })
	if i < 0 {
		return nil
	}
	return p.segments[i:]
}

// find is the smallest offset in [from, to] with this id, or -1.
func (p *modelPart) find(id string, from, to int64) int64 {
	for o := max(from, 0); o <= min(to, p.head()); o++ {
		if p.frames[o].txn == id {
			return o
		}
	}
	return -1
}

// modelVerdict is what a push answers for one item.
type modelVerdict struct {
	duplicate bool
	offset    int64
	id        uuid.UUID
}

// planPush says what a push of these ids (nil: minted) must answer; ids of new
// frames are not known yet.
func (p *modelPart) planPush(ids []*string) []modelVerdict {
	next := p.head() + 1
	leaders := map[string]int{}
	plan := make([]modelVerdict, len(ids))
	for i, id := range ids {
		if id == nil {
			plan[i] = modelVerdict{offset: next}
			next++
			continue
		}
		if first, ok := leaders[*id]; ok {
			plan[i] = modelVerdict{duplicate: true, offset: plan[first].offset, id: plan[first].id}
			continue
		}
		leaders[*id] = i
		if at := p.find(*id, p.txnsStart, p.head()); at >= 0 && p.queue.options.dedupWindow > 0 {
			plan[i] = modelVerdict{duplicate: true, offset: at}
			if p.stored(at) {
				plan[i].id = p.frames[at].id
			}
			continue
		}
		plan[i] = modelVerdict{offset: next}
		next++
	}
	return plan
}

// store appends one segment.
func (p *modelPart) store(at time.Time, idBase uuid.UUID, frames []modelFrame) {
	base := p.head() + 1
	for k, f := range frames {
		f.id = frameID(idBase, k)
		if f.txn == minted {
			f.txn = f.id.String()
		}
		p.frames = append(p.frames, f)
	}
	p.segments = append(p.segments, modelSegment{base: base, end: p.head(), at: at})
	p.bases, p.stamps = append(p.bases, base), append(p.stamps, at)
}

// minted stands for a transaction id that the client did not give. It cannot
// be one: control characters are refused.
const minted = "\x00"

// frameID is idBase + k.
func frameID(idBase uuid.UUID, k int) uuid.UUID {
	id := idBase
	low := uint32(id[13]&0x0f)<<16 | uint32(id[14])<<8 | uint32(id[15])
	low += uint32(k)
	id[13] = id[13]&0xf0 | byte(low>>16)&0x0f
	id[14], id[15] = byte(low>>8), byte(low)
	return id
}

// seed is where a new cursor starts (O-15).
func (p *modelPart) seed(s modelSub) int64 {
	switch s.mode {
	case "all":
		return max(p.logStart-1, -1)
	case "new":
		return p.head()
	}
	for _, seg := range p.live() {
		if !seg.at.Before(s.since) {
			return seg.base - 1
		}
	}
	return p.head()
}

// contact is the group's cursor, made at first contact by the durable record,
// else by what the pop carries (O-16).
func (p *modelPart) contact(group string, wish modelSub) *modelCursor {
	if c := p.cursors[group]; c != nil {
		return c
	}
	if group == queueMode {
		wish = modelSub{mode: "all"}
	} else if sub, ok := p.queue.subs[group]; ok {
		wish = sub
		if wish.mode == "new" {
			wish.mode = "all" // a partition without a cursor came after the registration
		}
	}
	c := &modelCursor{committed: p.seed(wish), batchEnd: -1, attemptOffset: -1}
	p.cursors[group] = c
	return c
}

// register is the first queue-wide pop of a group: it seeds every partition.
func (q *modelQueue) register(group string, wish modelSub) {
	if _, ok := q.subs[group]; ok {
		return
	}
	if group == queueMode {
		wish = modelSub{mode: "all"}
	}
	q.subs[group] = wish
	for _, p := range q.parts {
		if p.cursors[group] == nil {
			p.cursors[group] = &modelCursor{committed: p.seed(wish), batchEnd: -1, attemptOffset: -1}
		}
	}
}

// candidate reports whether a queue-wide pop looks at the partition.
func (p *modelPart) candidate(group string) bool {
	c := p.cursors[group]
	if c == nil {
		return p.head() > -1
	}
	return p.head() > c.committed && !c.live
}

// deliver is a claim of at most budget frames: it answers the first and last
// offset, or (-1, -1) when nothing is there, and the attempt.
func (p *modelPart) deliver(group string, wish modelSub, budget int64, autoAck bool) (first, last int64, attempt int) {
	if c := p.cursors[group]; c != nil && c.live {
		return -1, -1, 0
	}
	c := p.contact(group, wish)
	first = max(c.committed+1, p.logStart)
	if p.head() < first {
		c.committed = p.head() // the seal (O-35)
		return -1, -1, 0
	}
	if p.queue.options.delayed > 0 || p.queue.options.window > 0 {
		return -1, -1, 0 // the tests use gates of a day
	}
	last, anchor, took := min(p.head(), first+budget-1), first, int64(0)
	took = last - first + 1
	c.conflated = p.queue.subs[group].conflates
	if c.conflated { // the last value alone, for all above the cursor (O-53)
		first, last, anchor, took = p.head(), p.head(), c.committed+1, p.head()-c.committed
	}
	if autoAck {
		c.committed, c.batchEnd, c.lease, c.live = last, -1, "", false
		c.consumed += took
		return first, last, 1
	}
	if c.attemptOffset != anchor {
		c.attempts = 0
	}
	c.attempts++
	c.attemptOffset, c.batchEnd, c.live = anchor, last, true
	return first, last, c.attempts
}

// moveStart hides what is below the segment that holds the offset.
func (p *modelPart) moveStart(to int64) {
	if to <= p.logStart {
		return
	}
	for _, s := range p.live() {
		if s.end >= to {
			p.logStart = s.base
			return
		}
	}
	p.logStart = p.head() + 1
}

// reclaim drops at most n rows below the start.
func (p *modelPart) reclaim(n int) (dropped int) {
	for dropped < n && len(p.segments) > 0 && p.segments[0].base < p.logStart {
		p.segments = p.segments[1:]
		dropped++
	}
	return dropped
}

// depth is pending and processing as the depth route tells them; group "" is
// the slowest one.
func (p *modelPart) depth(group string) (pending, processing int64) {
	committed, floor := int64(-1), p.logStart-1
	var named, all []int64
	for g, c := range p.cursors {
		if group != "" && g != group {
			continue
		}
		all = append(all, c.committed)
		if g != queueMode || group != "" {
			named = append(named, c.committed)
		}
		if c.live {
			processing += max(c.batchEnd-max(c.committed, floor), 0)
		}
	}
	if len(named) > 0 {
		committed = slices.Min(named)
	} else if len(all) > 0 {
		committed = slices.Min(all)
	}
	pending = max(p.head()-max(committed, floor), 0)
	return pending, min(processing, pending)
}

// text is everything about the partition that the database must agree with.
func (p *modelPart) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "start %d txns %d head %d\n", p.logStart, p.txnsStart, p.head())
	groups := make([]string, 0, len(p.cursors))
	for g := range p.cursors {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	for _, g := range groups {
		c := p.cursors[g]
		fmt.Fprintf(&b, "%s committed %d end %d lease %s live %t retries %d attempt %d of %d consumed %d\n",
			g, c.committed, c.batchEnd, c.lease, c.live, c.retries, c.attempts, c.attemptOffset, c.consumed)
	}
	for _, s := range p.live() {
		for o := s.base; o <= s.end; o++ {
			f := p.frames[o]
			key := "-"
			if f.key != nil {
				key = *f.key
			}
			fmt.Fprintf(&b, "%d %s %s %s %s %s %.100s %d\n", o, f.id, f.txn, key, deref(f.trace), deref(f.sub), f.payload, len(f.payload))
		}
	}
	return b.String()
}
