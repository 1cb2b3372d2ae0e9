package db

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// modelPop is the arguments of a pop.
type modelPop struct {
	queue, group string
	part         *string
	batch, cap   int
	autoAck      bool
	conflation   bool
	wish         modelSub
	mode, from   string
	human        bool
}

func (r *modelRun) drawPop() modelPop {
	a := modelPop{queue: r.queue(), group: r.group(), batch: []int{1, 2, 3, 7, 50, 2000}[r.rng.IntN(6)],
		cap: []int{1, 1, 2, 0}[r.rng.IntN(4)], autoAck: r.chance(15), mode: r.pick("all", "all", "new", "New-Only "), human: r.chance(25)}
	if r.chance(40) {
		part := r.part()
		a.part = &part
	}
	if queue, part, group := r.emptied(); part != nil && r.chance(15) {
		a.queue, a.part, a.group = queue, part, group
	}
	if a.group != queueMode && !a.autoAck { // group L asks for the last value, mostly
		a.conflation = r.chance(map[bool]int{true: 85, false: 4}[a.group == "L"])
		a.human = a.human && !a.conflation // that call has no such argument
	}
	a.wish.mode, a.wish.conflates = "all", a.conflation
	if strings.HasPrefix(strings.ToLower(a.mode), "new") {
		a.wish.mode = "new"
	}
	switch roll := r.rng.IntN(10); {
	case roll == 0:
		a.from, a.wish.mode = r.pick("now", " NOW"), "new"
	case roll == 1: // a time that nobody can read: new at registration, all on a pinned pop
		a.from = "yesteryear"
		a.wish.mode = "new"
		if a.part != nil && !a.conflation {
			a.wish.mode = "all"
		}
	case roll < 4:
		a.wish.mode, a.wish.since = "timestamp", r.someStamp()
		a.from = a.wish.since.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return a
}

// emptied is a partition without a message that a group has not caught up with.
func (r *modelRun) emptied() (queue string, part *string, group string) {
	for _, name := range sortedKeys(r.m.queues) {
		q := r.m.queues[name]
		for _, partName := range sortedKeys(q.parts) {
			p := q.parts[partName]
			for _, g := range sortedKeys(p.cursors) {
				if p.logStart > p.head() && p.cursors[g].committed < p.head() && !p.cursors[g].live {
					return name, &partName, g
				}
			}
		}
	}
	return "", nil, ""
}

// someStamp is the stamp of a segment or a little beside it.
func (r *modelRun) someStamp() time.Time {
	p := r.somePart()
	if p == nil || len(p.segments) == 0 {
		return time.Unix(1_000_000_000, 0)
	}
	at := p.segments[r.rng.IntN(len(p.segments))].at
	return at.Add([]time.Duration{-time.Microsecond, 0, time.Microsecond, -time.Hour, time.Hour}[r.rng.IntN(5)])
}

// popped is one delivered message, whichever face answered.
type popped struct {
	part    uuid.UUID
	name    string
	lease   string
	offset  int64
	attempt int
	frame   modelFrame
	at      time.Time
	policy  *bool // of a first row that only tells the policy
}

func (r *modelRun) pop() modelCall {
	a := r.drawPop()
	var got []popped
	return modelCall{
		text: fmt.Sprintf("pop %+v part %v", a, deref(a.part)),
		run: func(q *Queries) (err error) {
			if a.human {
				got, err = r.popHuman(q, a)
			} else {
				got, err = r.popSet(q, a)
			}
			return err
		},
		apply: func() { r.applyPop(a, got) },
	}
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// hour keeps leases alive however slow the machine is; expire ends them.
var hour = int32(3600)

func (r *modelRun) popSet(q *Queries, a modelPop) ([]popped, error) {
	rows, err := q.Pop(r.ctx, PopParams{Queue: a.queue, Partition: a.part, ConsumerGroup: &a.group, Batch: int32(a.batch),
		MaxPartitions: int32(a.cap), LeaseSeconds: &hour, AutoAck: a.autoAck, SubscriptionMode: &a.mode, SubscriptionFrom: &a.from, TenantID: modelTenant,
		Conflation: a.conflation})
	var got []popped
	for _, row := range rows {
		if len(row.Payloads) == 0 {
			got = append(got, popped{policy: row.Conflation})
			continue
		}
		require.Equal(r.t, row.LastOffset-row.FirstOffset+1, int64(len(row.Payloads)))
		for k, payload := range row.Payloads {
			m := popped{part: row.PartitionID, name: row.Partition, lease: row.LeaseID, offset: row.FirstOffset + int64(k),
				attempt: int(row.DeliveryAttempt), at: row.CreatedAt}
			m.frame = modelFrame{id: frameID(row.IDBase, int(m.offset-row.SegmentBase)), payload: payload}
			m.frame.txn = m.frame.id.String()
			if row.TransactionIds != nil && row.TransactionIds[k] != nil {
				m.frame.txn = *row.TransactionIds[k]
			}
			if row.Keys != nil {
				m.frame.key = row.Keys[k]
			}
			if row.TraceIds != nil {
				m.frame.trace = row.TraceIds[k]
			}
			if row.ProducerSubs != nil {
				m.frame.sub = row.ProducerSubs[k]
			}
			got = append(got, m)
		}
	}
	return got, err
}

func (r *modelRun) popHuman(q *Queries, a modelPop) ([]popped, error) {
	rows, err := q.PopMessages(r.ctx, PopMessagesParams{Queue: a.queue, Partition: a.part, ConsumerGroup: &a.group, Batch: int32(a.batch),
		MaxPartitions: int32(a.cap), LeaseSeconds: &hour, AutoAck: a.autoAck, SubscriptionMode: a.mode, SubscriptionFrom: &a.from})
	var got []popped
	for _, row := range rows {
		got = append(got, popped{part: row.PartitionID, name: row.Partition, lease: row.LeaseID, offset: row.Offset, attempt: int(row.DeliveryAttempt),
			at: row.CreatedAt, frame: modelFrame{id: row.ID, txn: row.TransactionID, payload: string(row.Payload), key: row.Key}})
	}
	return got, err
}

// applyPop replays the pop in the order the database chose.
func (r *modelRun) applyPop(a modelPop, got []popped) {
	if a.part != nil {
		q := r.m.queues[a.queue]
		if _, known := q.sub(a.group); q != nil && !known && a.conflation {
			r.learnSubscription(&a)
			q.register(a.group, a.wish)
		}
		got = r.checkPolicy(q, a, got)
		if q == nil || q.parts[*a.part] == nil {
			require.Empty(r.t, got, "nothing is there")
			return
		}
		left := got
		r.takeFrom(q.parts[*a.part], a, int64(a.batch), &left)
		require.Empty(r.t, left, "more than the model has")
		return
	}
	fresh := r.m.queues[a.queue] == nil
	q := r.m.ensure(a.queue)
	if _, ok := q.subs[a.group]; !ok {
		r.learnSubscription(&a)
		q.register(a.group, a.wish)
	}
	got = r.checkPolicy(q, a, got)
	if fresh {
		require.Empty(r.t, got)
		return
	}
	open := map[string]bool{}
	for name, p := range q.parts {
		open[name] = p.candidate(a.group)
	}
	budget, left, claimed := int64(a.batch), got, 0
	for len(left) > 0 {
		name := left[0].name
		require.True(r.t, open[name], "partition %s is leased, empty, or came before", name)
		open[name] = false
		budget -= r.takeFrom(q.parts[name], a, budget, &left)
		claimed++
		require.True(r.t, budget >= 0 && (a.cap <= 0 || claimed <= a.cap), "budget and cap")
	}
	r.afterPop(q, a, open, budget > 0 && (a.cap <= 0 || claimed < a.cap))
}

// sub is the subscription of a group on a queue that may be missing.
func (q *modelQueue) sub(group string) (modelSub, bool) {
	if q == nil {
		return modelSub{}, false
	}
	sub, ok := q.subs[group]
	return sub, ok
}

// checkPolicy takes off the row that tells whether the group conflates: it comes
// when it does, or when the pop asked for the contrary (O-52).
func (r *modelRun) checkPolicy(q *modelQueue, a modelPop, got []popped) []popped {
	sub, known := q.sub(a.group)
	policy := sub.conflates || !known && a.conflation
	if told := len(got) > 0 && got[0].policy != nil; told || !a.human {
		require.Equal(r.t, policy || a.conflation, told, "whether the policy is told")
		if told {
			require.Equal(r.t, policy, *got[0].policy, "the policy of the group")
			return got[1:]
		}
	}
	return got
}

// takeFrom delivers from one partition and checks what the database delivered.
func (r *modelRun) takeFrom(p *modelPart, a modelPop, budget int64, left *[]popped) int64 {
	first, last, attempt := p.deliver(a.group, a.wish, budget, a.autoAck)
	if first < 0 {
		require.True(r.t, len(*left) == 0 || (*left)[0].part != p.id, "the model has nothing in %s", p.name)
		return 0
	}
	require.GreaterOrEqual(r.t, int64(len(*left)), last-first+1, "messages of %s", p.name)
	lease := (*left)[0].lease
	for o := first; o <= last; o++ {
		got := (*left)[o-first]
		seg := p.live()[slices.IndexFunc(p.live(), func(s modelSegment) bool { return s.end >= o })]
		want := popped{part: p.id, name: p.name, lease: lease, offset: o, attempt: attempt, frame: p.frames[o], at: got.at}
		if a.human { // whose answer tells neither
			want.frame.trace, want.frame.sub = nil, nil
		}
		require.True(r.t, seg.at.Equal(got.at), "stamp of %d", o)
		require.Equal(r.t, want, got, "message %d of %s", o, p.name)
	}
	*left = (*left)[last-first+1:]
	require.Equal(r.t, a.autoAck, lease == "", "a lease unless autoAck")
	if lease != "" {
		p.cursors[a.group].lease = lease
		r.leases = append(r.leases, lease)
	}
	return last - first + 1
}

// browse holds what a list of messages says of a partition's newest ones, and what
// the detail of one says, against the model.
func (r *modelRun) browse() {
	p := r.somePart()
	if p == nil {
		return
	}
	queue, since, until := "", time.Unix(0, 0), time.Now().AddDate(100, 0, 0) // stamps may be ahead of the clock
	for name, q := range r.m.queues {
		if q == p.queue {
			queue = name
		}
	}
	listed, err := r.q.ListMessages(r.ctx, ListMessagesParams{Queue: &queue, Partition: &p.name, Since: &since, Until: &until, MaxRows: 20, TenantID: modelTenant})
	require.NoError(r.t, err)
	require.Len(r.t, listed, int(min(20, max(0, p.head()-p.logStart+1))), "messages of %s/%s", queue, p.name)
	for i, row := range listed {
		require.Equal(r.t, p.head()-int64(i), row.Offset, "newest first")
		requireBrowsed(r.t, p, row)
	}
	if len(listed) == 0 {
		return
	}
	one := listed[r.rng.IntN(len(listed))]
	detail, err := r.q.GetMessage(r.ctx, GetMessageParams{PartitionID: p.id, TransactionID: one.TransactionID, TenantID: modelTenant})
	require.NoError(r.t, err)
	require.Len(r.t, detail, 1)
	require.GreaterOrEqual(r.t, detail[0].Offset, one.Offset, "the newest with that id")
	requireBrowsed(r.t, p, detail[0])
}

// requireBrowsed holds one row about a message against the model.
func requireBrowsed(t testing.TB, p *modelPart, row MessageRow) {
	t.Helper()
	got := modelFrame{id: row.ID, txn: row.TransactionID, trace: row.TraceID, sub: row.ProducerSub}
	require.NotNil(t, row.Payload, "offset %d", row.Offset)
	got.payload = *row.Payload
	want := p.frames[row.Offset]
	want.key = nil // a list does not tell it
	require.Equal(t, want, got, "offset %d", row.Offset)
}

// learnSubscription reads the instant that a subscription "new" was given.
func (r *modelRun) learnSubscription(a *modelPop) {
	var mode string
	var since time.Time
	var conflates bool
	require.NoError(r.t, r.conn.QueryRow(r.ctx, `SELECT m.subscription_mode, m.subscription_timestamp, m.conflation FROM queen.consumer_groups_metadata m
		JOIN queen.queues q ON q.id = m.queue_id WHERE q.deleted_at IS NULL AND q.name = $1 AND m.consumer_group = $2`, a.queue, a.group).Scan(&mode, &since, &conflates))
	require.Equal(r.t, a.conflation, conflates, "the first pop decides whether the group conflates")
	want := a.wish.mode
	if a.group == queueMode {
		want = "all"
	}
	require.Equal(r.t, want, mode, "subscription mode")
	if mode == "new" {
		a.wish.since = since
	}
}

// afterPop settles the partitions that answered nothing. When the pop had room
// left it must have looked at all of them; else it may have looked at any, and
// the database says at which.
func (r *modelRun) afterPop(q *modelQueue, a modelPop, open map[string]bool, all bool) {
	for _, name := range sortedKeys(open) {
		p := q.parts[name]
		if !open[name] {
			continue
		}
		if all {
			first, _, _ := p.deliver(a.group, a.wish, 1, true)
			require.Less(r.t, first, int64(0), "%s had something to deliver", name)
			continue
		}
		var committed int64
		err := r.conn.QueryRow(r.ctx, "SELECT committed FROM queen.log_consumers WHERE partition_id = $1 AND consumer_group = $2", p.id, a.group).Scan(&committed)
		if err != nil {
			continue // not looked at, no cursor
		}
		c := p.contact(a.group, a.wish)
		if committed != c.committed && p.logStart > p.head() {
			c.committed = p.head() // sealed
		}
		require.Equal(r.t, c.committed, committed)
	}
}

// someCursor is a (partition, group), one with a batch where there is one.
func (r *modelRun) someCursor() (*modelPart, string) {
	var with, all []func() (*modelPart, string)
	for _, name := range sortedKeys(r.m.queues) {
		q := r.m.queues[name]
		for _, part := range sortedKeys(q.parts) {
			p := q.parts[part]
			for _, g := range sortedKeys(p.cursors) {
				one := func() (*modelPart, string) { return p, g }
				all = append(all, one)
				if p.cursors[g].batchEnd >= 0 {
					with = append(with, one)
				}
			}
		}
	}
	if len(with) > 0 && r.chance(85) {
		all = with
	}
	if len(all) == 0 {
		return nil, ""
	}
	return all[r.rng.IntN(len(all))]()
}

// drawLease is the right lease mostly, or none, or a wrong or old one.
func (r *modelRun) drawLease(c *modelCursor) *string {
	lease := ""
	switch roll := r.rng.IntN(20); {
	case c != nil && c.lease != "" && roll < 15:
		lease = c.lease
	case roll < 17:
		return nil
	case roll < 18:
	case len(r.leases) > 0:
		lease = r.leases[r.rng.IntN(len(r.leases))]
	default:
		lease = "no such lease"
	}
	return &lease
}

// drawAcks are items for one cursor: the whole batch, or part of it with all
// kinds of statuses, and ids from elsewhere.
func (r *modelRun) drawAcks(p *modelPart, c *modelCursor) (items []modelAck) {
	var span []int64
	if c != nil {
		end := c.batchEnd
		if end < 0 {
			end = min(p.head(), c.committed+5)
		}
		for o := c.committed + 1; o <= end; o++ {
			span = append(span, o)
		}
	}
	if again := repeats(p, span); again != nil && r.chance(40) {
		return again
	}
	whole, ordered := r.chance(45), r.chance(80)
	for _, o := range span {
		if whole || r.chance(40) {
			items = append(items, modelAck{id: p.frames[o].txn, status: "completed"})
		}
	}
	if !ordered {
		r.rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	for range r.rng.IntN(4) {
		switch roll := r.rng.IntN(5); {
		case roll == 0:
			items = append(items, modelAck{id: r.pick("unknown", "r1", "", "É"), status: "completed"})
		case roll == 1 && p.head() >= 0:
			items = append(items, modelAck{id: p.frames[r.rng.IntN(len(p.frames))].txn, status: "completed"})
		case roll < 4 && len(items) > 0:
			items = append(items, items[r.rng.IntN(len(items))])
		}
	}
	if len(items) == 0 {
		items = append(items, modelAck{id: "nothing", status: "completed"})
	}
	if r.chance(50) {
		for range 1 + r.rng.IntN(2) {
			item := &items[r.rng.IntN(len(items))]
			item.status = r.pick("failed", "failed", "failed", "retry", "dlq", "dlq", "dlq")
			if r.chance(50) {
				reason := r.pick("boom", "bad \\u0000 thing")
				item.reason = &reason
			}
		}
	}
	return items
}

// repeats acks every occurrence of the first id that the span holds twice, and
// nothing else.
func repeats(p *modelPart, span []int64) (items []modelAck) {
	seen := map[string]int{}
	for _, o := range span {
		seen[p.frames[o].txn]++
	}
	for _, o := range span {
		if id := p.frames[o].txn; seen[id] > 1 && (len(items) == 0 || items[0].id == id) {
			items = append(items, modelAck{id: id, status: "completed"})
		}
	}
	return items
}

// ack is one call with one or two groups.
func (r *modelRun) ack() modelCall {
	type group struct {
		p     *modelPart
		name  string
		lease *string
		items []modelAck
	}
	var groups []group
	params := AckParams{TenantID: modelTenant, RequireLease: r.chance(10)}
	text := fmt.Sprintf("ack, require lease %t:", params.RequireLease)
	for range 1 + r.rng.IntN(2) {
		p, name := r.someCursor()
		if p == nil || r.chance(3) {
			p, name = &modelPart{id: uuid.New()}, "g"
		}
		g := group{p: p, name: name, lease: r.drawLease(p.cursors[name])}
		g.items = r.drawAcks(p, p.cursors[name])
		groups = append(groups, g)
		params.PartitionIds, params.ConsumerGroups = append(params.PartitionIds, p.id), append(params.ConsumerGroups, name)
		params.LeaseIds, params.Counts = append(params.LeaseIds, g.lease), append(params.Counts, int32(len(g.items)))
		text += fmt.Sprintf(" [%s %s lease %s:", p.name, name, deref(g.lease))
		for _, item := range g.items {
			params.TransactionIds, params.Statuses = append(params.TransactionIds, item.id), append(params.Statuses, item.status)
			params.Errors = append(params.Errors, item.reason)
			if len(text) < 1000 {
				text += fmt.Sprintf(" %q=%s", item.id, item.status)
			}
		}
		text += "]"
	}
	var rows []AckRow
	return modelCall{
		text: text,
		run:  func(q *Queries) (err error) { rows, err = q.Ack(r.ctx, params); return err },
		apply: func() {
			answers := make([]modelAnswer, len(params.TransactionIds))
			for _, row := range rows {
				answers[row.Item] = r.answer(row)
			}
			require.Len(r.t, rows, len(answers))
			order := make([]int, len(groups))
			start := make([]int, len(groups))
			for i := range groups {
				order[i] = i
				if i > 0 {
					start[i] = start[i-1] + len(groups[i-1].items)
				}
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if c := strings.Compare(groups[a].p.id.String(), groups[b].p.id.String()); c != 0 {
					return c
				}
				return strings.Compare(groups[a].name, groups[b].name)
			})
			for _, i := range order {
				g := groups[i]
				want := r.m.ack(g.p, g.name, g.lease, g.items, params.RequireLease)
				require.Equal(r.t, want, answers[start[i]:start[i]+len(g.items)], "group %d, model, then database", i)
			}
		},
	}
}

// answer brings an answer into the form of the model: an error is known by
// the words before the colon.
func (r *modelRun) answer(row AckRow) modelAnswer {
	a := modelAnswer{success: row.Success, released: row.LeaseReleased, dlq: row.Dlq, noop: row.Noop}
	if row.Error != nil {
		a.err, _, _ = strings.Cut(*row.Error, ":")
	}
	return a
}

func (r *modelRun) ackUpto() modelCall {
	p, group := r.someCursor()
	if p == nil {
		return r.push()
	}
	c := p.cursors[group]
	lease := deref(r.drawLease(c))
	ok := r.chance(80)
	upto := c.committed - 1 + r.rng.Int64N(max(c.batchEnd-c.committed, 0)+4)
	if r.chance(40) {
		upto = c.batchEnd
	}
	var rows []AckRow
	return modelCall{
		text: fmt.Sprintf("ack %s %s up to %d, ok %t, lease %s", p.name, group, upto, ok, lease),
		run: func(q *Queries) (err error) {
			rows, err = q.AckUpto(r.ctx, AckUptoParams{PartitionIds: []uuid.UUID{p.id}, ConsumerGroups: []string{group},
				LeaseIds: []string{lease}, Offsets: []int64{upto}, Ok: ok})
			return err
		},
		apply: func() {
			require.Len(r.t, rows, 1)
			require.Equal(r.t, p.ackUpto(group, lease, upto, ok), r.answer(rows[0]))
		},
	}
}

func (r *modelRun) extend() modelCall {
	lease := "nobody's"
	if len(r.leases) > 0 {
		lease = r.leases[max(0, len(r.leases)-1-r.rng.IntN(4))]
	}
	var row LeaseRow
	return modelCall{
		text: "extend " + lease,
		run: func(q *Queries) (err error) {
			row, err = q.ExtendLease(r.ctx, ExtendLeaseParams{LeaseID: lease, Seconds: 7200, TenantID: modelTenant})
			return err
		},
		apply: func() {
			var want int32
			for _, q := range r.m.queues {
				for _, p := range q.parts {
					for _, c := range p.cursors {
						if c.live && c.lease == lease {
							want++
						}
					}
				}
			}
			require.Equal(r.t, want, row.Renewed)
			require.Equal(r.t, want > 0, row.ExpiresAt != nil)
		},
	}
}

func (r *modelRun) configure() modelCall {
	queue := r.queue()
	bag := map[string]any{}
	q := r.m.queues[queue]
	o := modelOptions{dedupWindow: 3600, retryLimit: 3, dlq: true, dlqAfter: true}
	if q != nil {
		o = q.options
	}
	set := func(key string, value any, percent int, change func()) {
		if r.chance(percent) {
			bag[key] = value
			change()
		}
	}
	window, limit, gate := []int{0, 0, 3600}[r.rng.IntN(3)], r.rng.IntN(3), 86400*r.rng.IntN(2)
	first, second := r.chance(50), r.chance(50)
	set("dedupWindowSeconds", window, 60, func() { o.dedupWindow = window })
	set("retryLimit", limit, 50, func() { o.retryLimit = limit })
	set("deadLetterQueue", first, 50, func() { o.dlq = first })
	set("dlqAfterMaxRetries", second, 50, func() { o.dlqAfter = second })
	set("delayedProcessing", gate, 20, func() { o.delayed = gate })
	set("windowBuffer", 0, 50, func() { o.window = 0 })
	set("windowBuffer", 86400, 5, func() { o.window = 86400 })
	for _, key := range []string{"priority", "ttl", "maxSize", "retryDelay", "leaseTime", "minPopWaitTime", "retentionSinkHoldMaxSeconds"} {
		if r.chance(10) {
			bag[key] = []any{nil, 60, 777}[r.rng.IntN(3)]
		}
	}
	if o.delayed > 0 && r.chance(60) { // or nothing is delivered any more
		bag["delayedProcessing"], o.delayed = nil, 0
	}
	raw, _ := json.Marshal(bag)
	var answer json.RawMessage
	return modelCall{
		text: fmt.Sprintf("configure %s %s", queue, raw),
		run: func(q *Queries) (err error) {
			answer, err = q.ConfigureQueue(r.ctx, ConfigureQueueParams{Queue: queue, Options: raw, TenantID: modelTenant})
			return err
		},
		apply: func() {
			fresh := r.m.queues[queue] == nil
			now := r.m.ensure(queue)
			now.options = o
			if fresh {
				now.shown = defaultOptions()
			}
			now.merge(bag)
			r.checkOptions(queue)
			var got struct {
				Options struct {
					DedupWindowSeconds, RetryLimit, DelayedProcessing, WindowBuffer int
					DeadLetterQueue, DlqAfterMaxRetries                             bool
				}
			}
			require.NoError(r.t, json.Unmarshal(answer, &got))
			g := got.Options
			require.Equal(r.t, o, modelOptions{g.DedupWindowSeconds, g.RetryLimit, g.DelayedProcessing, g.WindowBuffer, g.DeadLetterQueue, g.DlqAfterMaxRetries})
		},
	}
}

func (r *modelRun) deleteQueue() modelCall {
	queue := r.queue()
	var answer []byte
	return modelCall{
		text: "delete " + queue,
		run:  func(q *Queries) (err error) { answer, err = q.DeleteQueue(r.ctx, queue, modelTenant); return err },
		apply: func() {
			var got struct{ Deleted, Existed bool }
			require.NoError(r.t, json.Unmarshal(answer, &got))
			q := r.m.queues[queue]
			require.Equal(r.t, [2]bool{q != nil, q != nil}, [2]bool{got.Deleted, got.Existed})
			if q == nil {
				return
			}
			for _, p := range q.parts {
				r.m.dead = slices.DeleteFunc(r.m.dead, func(d modelDead) bool { return d.part == p.id })
			}
			delete(r.m.queues, queue)
		},
	}
}
