package db

import "github.com/google/uuid"

// modelAck is one item of an ack.
type modelAck struct {
	id, status string
	reason     *string
}

// modelAnswer is its verdict. An error is known by the words it starts with.
type modelAnswer struct {
	success, released, dlq, noop bool
	err                          string
}

// span is the offsets that an ack may complete, by id: the leased batch, from
// the sidecar or from the rows themselves; without a batch whatever the sidecar
// holds above the cursor.
func (p *modelPart) span(c *modelCursor) map[string][]int64 {
	found := map[string][]int64{}
	from, last := c.committed+1, c.batchEnd
	switch {
	case last < 0:
		last = p.head()
	case c.conflated:
		from = last // only the last value was delivered
	}
	for o := from; o <= last; o++ {
		if o >= p.txnsStart || (c.batchEnd >= 0 && p.stored(o)) {
			found[p.frames[o].txn] = append(found[p.frames[o].txn], o)
		}
	}
	return found
}

// resolve gives each item its offset, or -1; the k-th repeat of an id takes
// its k-th occurrence, and what is left over the last one.
func (p *modelPart) resolve(c *modelCursor, items []modelAck) (at []int64, below []bool) {
	span, used := p.span(c), map[string]int{}
	for _, item := range items {
		k := used[item.id]
		used[item.id]++
		if all := span[item.id]; len(all) > 0 {
			at, below = append(at, all[min(k, len(all)-1)]), append(below, false)
			continue
		}
		at = append(at, -1)
		below = append(below, p.find(item.id, p.txnsStart, c.committed) >= 0)
	}
	return at, below
}

// rank orders signals at one offset; a completed item is none.
var rank = map[string]int{"dlq": 1, "failed": 2, "retry": 3}

// signal is the lowest of the failed, dlq and retry items, or -1.
func signal(items []modelAck, at []int64) int {
	best := -1
	for i, item := range items {
		if rank[item.status] == 0 || at[i] < 0 {
			continue
		}
		if best < 0 || at[i] < at[best] || (at[i] == at[best] && rank[item.status] < rank[items[best].status]) {
			best = i
		}
	}
	return best
}

// refuse answers why an ack may not touch the cursor, or "".
func (c *modelCursor) refuse(lease *string, requireLease bool) string {
	switch {
	case c == nil:
		return "consumer not found"
	case lease != nil && *lease != "" && (!c.live || c.lease != *lease):
		return "invalid or expired lease"
	case (lease == nil || *lease == "") && requireLease && c.live:
		return "invalid or expired lease"
	}
	return ""
}

// ack applies the acks of one (partition, group, lease).
func (m *model) ack(p *modelPart, group string, lease *string, items []modelAck, requireLease bool) []modelAnswer {
	answers := make([]modelAnswer, len(items))
	c := p.cursors[group]
	if refusal := c.refuse(lease, requireLease); refusal != "" {
		for i := range answers {
			answers[i].err = refusal
		}
		return answers
	}
	at, below := p.resolve(c, items)
	hadBatch := c.batchEnd >= 0
	poison := signal(items, at)
	cursor := c.committed
	for i, item := range items {
		if rank[item.status] == 0 && (poison < 0 || at[i] < at[poison]) {
			cursor = max(cursor, at[i])
		}
	}
	var released, filed bool
	if hadBatch {
		released, filed, cursor = m.settle(p, group, items, at, poison, cursor)
	}
	c.consumed += cursor - c.committed
	c.committed = cursor
	for i, item := range items {
		a := &answers[i]
		a.released = released
		a.dlq = filed && at[i] == at[poison]
		a.noop = at[i] < 0 && below[i] && rank[item.status] == 0
		switch {
		case at[i] < 0 && !below[i]:
			a.err = "unresolvable"
		case at[i] < 0 && rank[item.status] > 0:
			a.err = "already committed"
		case rank[item.status] > 0 && !hadBatch:
			a.err = "no leased batch"
		}
		a.success = a.err == ""
	}
	return answers
}

// settle is the table of A-15 for a leased batch.
func (m *model) settle(p *modelPart, group string, items []modelAck, at []int64, poison int, prefix int64) (released, filed bool, cursor int64) {
	c := p.cursors[group]
	free := func() { c.batchEnd, c.lease, c.live = -1, "", false }
	done := func() { free(); c.retries, c.attempts, c.attemptOffset = 0, 0, -1 }
	if poison < 0 {
		if prefix < c.batchEnd {
			return false, false, prefix
		}
		done()
		return true, false, prefix
	}
	options := p.queue.options
	switch items[poison].status {
	case "retry":
		free()
		return true, false, prefix
	case "failed":
		if c.retries < options.retryLimit {
			c.retries++
			free()
			return true, false, prefix
		}
		filed = options.dlq || options.dlqAfter
	default:
		filed = true
	}
	if filed {
		m.dead = append(m.dead, p.letter(group, items, at[poison], poison, c.retries))
	}
	done()
	return true, filed, at[poison]
}

// letter is the dead letter of a frame, or what is known of one that is gone.
func (p *modelPart) letter(group string, items []modelAck, offset int64, poison, retries int) modelDead {
	d := modelDead{part: p.id, group: group, offset: offset, txn: items[poison].id, retries: retries, reason: "Retries exhausted"}
	for _, item := range items {
		if item.reason != nil {
			d.reason = *item.reason
			break
		}
	}
	if items[poison].reason != nil {
		d.reason = *items[poison].reason
	}
	if !p.stored(offset) {
		d.id = uuid.Nil
		d.reason += " (the message was already deleted, its payload is lost)"
		return d
	}
	f := p.frames[offset]
	d.id, d.txn, d.payload, d.key, d.trace, d.sub = f.id, f.txn, &f.payload, f.key, f.trace, f.sub
	return d
}

// ackUpto is the positional ack.
func (p *modelPart) ackUpto(group, lease string, upto int64, ok bool) modelAnswer {
	if lease == "" {
		lease = "-"
	}
	c := p.cursors[group]
	if refusal := c.refuse(&lease, true); refusal != "" {
		return modelAnswer{err: refusal}
	}
	switch {
	case upto > c.batchEnd:
		return modelAnswer{err: "position beyond leased batch"}
	case !ok:
		c.batchEnd, c.lease, c.live = -1, "", false
		return modelAnswer{success: true, released: true}
	}
	a := modelAnswer{success: true, noop: upto <= c.committed, released: upto >= c.batchEnd}
	if upto > c.committed {
		c.consumed += upto - c.committed
		c.committed = upto
	}
	if a.released {
		*c = modelCursor{committed: c.committed, consumed: c.consumed, batchEnd: -1, attemptOffset: -1}
	}
	return a
}
