package db

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// someTime is a time as a client writes it, near the stamp of a segment.
func (r *modelRun) someTime() (time.Time, string) {
	at := r.someStamp()
	return at, at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// seek moves the cursors of a group on a queue or on one partition.
func (r *modelRun) seek() modelCall {
	arg := SeekConsumerGroupParams{Queue: r.queue(), ConsumerGroup: r.group(), ToEnd: r.chance(40), TenantID: modelTenant}
	wish := modelSub{mode: "new"}
	if !arg.ToEnd {
		at, text := r.someTime()
		wish, arg.Since = modelSub{mode: "timestamp", since: at}, &text
	}
	if r.chance(40) {
		part := r.part()
		arg.Partition = &part
	}
	var missing bool
	return modelCall{
		text: fmt.Sprintf("seek %s %s part %s to %s", arg.ConsumerGroup, arg.Queue, deref(arg.Partition), deref(arg.Since)),
		run: func(q *Queries) error {
			_, err := q.SeekConsumerGroup(r.ctx, arg)
			if missing = sqlState(err) == "QN404"; missing {
				return nil
			}
			return err
		},
		apply: func() {
			var moved int
			if q := r.m.queues[arg.Queue]; q != nil {
				for name, p := range q.parts {
					if arg.Partition == nil || *arg.Partition == name {
						p.seek(arg.ConsumerGroup, wish)
						moved++
					}
				}
			}
			require.Equal(r.t, moved == 0, missing, "nothing to move")
		},
	}
}

// seek sets a cursor, which starts anew but for what it has consumed.
func (p *modelPart) seek(group string, wish modelSub) {
	var consumed int64
	if c := p.cursors[group]; c != nil {
		consumed = c.consumed
	}
	p.cursors[group] = &modelCursor{committed: p.seed(wish), batchEnd: -1, attemptOffset: -1, consumed: consumed}
}

// deleteGroup forgets a group on one queue or on all.
func (r *modelRun) deleteGroup() modelCall {
	arg := DeleteConsumerGroupParams{ConsumerGroup: r.group(), DeleteMetadata: r.chance(60), TenantID: modelTenant}
	if r.chance(60) {
		queue := r.queue()
		arg.Queue = &queue
	}
	var answer []byte
	return modelCall{
		text: fmt.Sprintf("delete group %s on %s, metadata %t", arg.ConsumerGroup, deref(arg.Queue), arg.DeleteMetadata),
		run:  func(q *Queries) (err error) { answer, err = q.DeleteConsumerGroup(r.ctx, arg); return err },
		apply: func() {
			var got struct{ DeletedPartitions int }
			require.NoError(r.t, json.Unmarshal(answer, &got))
			var want int
			for name, q := range r.m.queues {
				if arg.Queue == nil || *arg.Queue == name {
					want += q.forget(arg.ConsumerGroup, arg.DeleteMetadata)
				}
			}
			require.Equal(r.t, want, got.DeletedPartitions)
		},
	}
}

// forget drops the cursors of a group. A registration at new that is kept is one
// at its time from then on, for no partition has a cursor that tells old from new.
func (q *modelQueue) forget(group string, whole bool) (dropped int) {
	for _, p := range q.parts {
		if p.cursors[group] != nil {
			delete(p.cursors, group)
			dropped++
		}
	}
	sub, registered := q.subs[group]
	switch {
	case whole:
		delete(q.subs, group)
	case registered && sub.mode == "new":
		sub.mode = "timestamp"
		q.subs[group] = sub
	}
	return dropped
}

// subscribe moves the stored time of a group's subscriptions.
func (r *modelRun) subscribe() modelCall {
	arg := UpdateSubscriptionParams{ConsumerGroup: r.group(), TenantID: modelTenant}
	at, text := r.someTime()
	arg.Since = text
	var answer []byte
	return modelCall{
		text: fmt.Sprintf("subscription of %s from %s", arg.ConsumerGroup, text),
		run:  func(q *Queries) (err error) { answer, err = q.UpdateSubscription(r.ctx, arg); return err },
		apply: func() {
			var got struct{ RowsUpdated int }
			require.NoError(r.t, json.Unmarshal(answer, &got))
			var want int
			for _, q := range r.m.queues {
				if sub, ok := q.subs[arg.ConsumerGroup]; ok {
					sub.mode, sub.since = "timestamp", at
					q.subs[arg.ConsumerGroup] = sub
					want++
				}
			}
			require.Equal(r.t, want, got.RowsUpdated)
		},
	}
}

// raiseFloors raises the floor of every search as far as is safe, also above the
// clock where the run has one that steps back: what the next pops find must be
// the same (O-10).
func (r *modelRun) raiseFloors() {
	ahead := time.Duration(0)
	if r.stepsBack && r.chance(50) {
		ahead = time.Duration(r.rng.IntN(4000)) * time.Millisecond
	}
	r.note("raise the floors, a mark %v ahead", ahead)
	r.exec("INSERT INTO queen.clock_marks VALUES (clock_timestamp() + $1, '3') ON CONFLICT DO NOTHING", ahead)
	r.exec("UPDATE queen.consumer_watermarks SET updated_at = 'epoch'")
	r.exec(`SELECT queen._raise_floor(q.id, g) FROM queen.queues q, unnest($1::text[]) g WHERE q.deleted_at IS NULL`, []string{queueMode, "g", "H", "L"})
}

// readSafeTime remembers up to when nothing may be stored any more (T-14).
func (r *modelRun) readSafeTime() {
	rows, err := r.q.PartitionsChanged(r.ctx, PartitionsChangedParams{Queues: []string{}, TenantID: modelTenant})
	require.NoError(r.t, err)
	if at := rows[0].SafeTime; at.After(r.m.safe) && !r.stepsBack {
		r.m.safe = at
	}
	r.note("nothing may come before %v", r.m.safe)
}

// mergeTogether edits different options of a queue at the same moment: all edits
// survive (T-13).
func (r *modelRun) mergeTogether() {
	queue := r.queue()
	bags := []map[string]any{{"priority": r.rng.IntN(9)}, {"ttl": r.rng.IntN(9)}, {"maxSize": r.rng.IntN(9), "retryDelay": nil}}
	r.note("merge %v into %s", bags, queue)
	fresh := r.m.queues[queue] == nil
	done := make(chan error, len(bags))
	for _, bag := range bags {
		conn := r.connect()
		go func() {
			defer func() { _ = conn.Close(r.ctx) }()
			raw, _ := json.Marshal(bag)
			_, err := New(conn).ConfigureQueue(r.ctx, ConfigureQueueParams{Queue: queue, Options: raw, TenantID: modelTenant})
			done <- err
		}()
	}
	for range bags {
		require.NoError(r.t, <-done)
	}
	q := r.m.ensure(queue)
	if fresh {
		q.shown = defaultOptions()
	}
	for _, bag := range bags {
		q.merge(bag)
	}
	r.checkOptions(queue)
}

// defaultOptions are the 21 of a queue that is configured (C-2).
func defaultOptions() map[string]any {
	return map[string]any{"namespace": "", "task": "", "priority": 0, "leaseTime": 300, "retryLimit": 3, "retryDelay": 1000, "maxSize": 0, "ttl": 3600,
		"deadLetterQueue": true, "dlqAfterMaxRetries": true, "delayedProcessing": 0, "windowBuffer": 0, "retentionSeconds": 0,
		"completedRetentionSeconds": 0, "retentionEnabled": false, "encryptionEnabled": false, "maxWaitTimeSeconds": 0, "minPopWaitTime": 0,
		"dedupWindowSeconds": 3600, "retentionSinkHold": "", "retentionSinkHoldMaxSeconds": 604800}
}

// merge keeps what a bag does not name; null is the default.
func (q *modelQueue) merge(bag map[string]any) {
	for key, value := range bag {
		if value == nil {
			value = defaultOptions()[key]
		}
		q.shown[key] = value
	}
}

// checkOptions reads a queue's options back: exactly what the edits add up to
// (T-12).
func (r *modelRun) checkOptions(queue string) {
	raw, err := r.q.GetQueue(r.ctx, queue, modelTenant)
	require.NoError(r.t, err)
	var got struct{ Options json.RawMessage }
	require.NoError(r.t, json.Unmarshal(raw, &got))
	want, err := json.Marshal(r.m.queues[queue].shown)
	require.NoError(r.t, err)
	require.JSONEq(r.t, string(want), string(got.Options), "options of %s", queue)
}

// bundleAcks is what a bundle acknowledges of one (partition, group). Names, not
// pointers, because the model may be tried out on a copy first.
type bundleAcks struct {
	queue, part, group, lease string
	id                        uuid.UUID
	items                     []modelAck
}

func (m *model) part(queue, part string) *modelPart {
	if q := m.queues[queue]; q != nil {
		return q.parts[part]
	}
	return nil
}

// bundle is a call of log_transaction_v1: pushes and acks, all or nothing (A-30
// to A-35).
func (r *modelRun) bundle() modelCall {
	pushes, acks := r.drawLanes(), r.drawBundleAcks()
	arg := TransactionParams{TenantID: modelTenant, RequireLease: r.chance(10), LockTimeoutMs: 10000, Payloads: []string{}}
	text := "bundle"
	_, arg.ProducerSub = r.drawOrigin()
	for i, g := range pushes {
		for k := range g.subs { // of the call, not of a message
			pushes[i].subs[k] = arg.ProducerSub
		}
		arg.TraceIds = append(arg.TraceIds, g.traces...)
		text += " " + g.String()
		arg.Queues, arg.Partitions, arg.Counts = append(arg.Queues, g.queue), append(arg.Partitions, g.part), append(arg.Counts, int32(len(g.payloads)))
		arg.Payloads, arg.TransactionIds, arg.Keys = append(arg.Payloads, g.payloads...), append(arg.TransactionIds, g.ids...), append(arg.Keys, g.keys...)
	}
	for _, a := range acks {
		text += fmt.Sprintf(" [%s/%s %s lease %q %d acks", a.queue, a.part, a.group, a.lease, len(a.items))
		arg.AckPartitionIds, arg.AckGroups = append(arg.AckPartitionIds, a.id), append(arg.AckGroups, a.group)
		arg.AckLeaseIds, arg.AckCounts = append(arg.AckLeaseIds, a.lease), append(arg.AckCounts, int32(len(a.items)))
		for _, item := range a.items {
			text += fmt.Sprintf(" %.20q=%s", item.id, item.status)
			arg.AckTransactionIds, arg.AckStatuses = append(arg.AckTransactionIds, item.id), append(arg.AckStatuses, item.status)
			arg.AckErrors = append(arg.AckErrors, item.reason)
		}
		text += "]"
	}
	if len(acks) > 0 && r.chance(30) {
		arg.RequiredLeases = []string{r.pick(acks[0].lease, "some lease")}
	}
	var rows []TransactionRow
	var refused string
	return modelCall{
		text: text + fmt.Sprintf(" required %q", arg.RequiredLeases),
		run: func(q *Queries) (err error) {
			rows, err = q.Transaction(r.ctx, arg)
			if refused = sqlState(err); refused == "QN409" || refused == "23505" {
				return nil
			}
			return err
		},
		apply: func() {
			want, _ := r.m.clone().bundle(pushes, acks, arg, nil)
			require.Equal(r.t, want, refused, "what the bundle is refused with")
			if refused != "" {
				return
			}
			_, answers := r.m.bundle(pushes, acks, arg, r.storeLane)
			r.checkBundle(pushes, answers, rows)
		},
	}
}

// drawLanes are up to two groups of messages for partitions that differ.
func (r *modelRun) drawLanes() (lanes []modelGroup) {
	for range r.rng.IntN(3) {
		g := r.drawGroup(r.queue())
		if len(g.payloads) > 0 && len(g.payloads) < 6 && !slices.ContainsFunc(lanes, func(o modelGroup) bool { return o.queue == g.queue && o.part == g.part }) {
			for i := range g.ids { // mostly such as are not there yet, or nearly all are refused
				if g.ids[i] != nil && r.chance(85) {
					r.txns++
					id := fmt.Sprintf("k-%06d", r.txns)
					g.ids[i] = &id
				}
			}
			lanes = append(lanes, g)
		}
	}
	return lanes
}

func (r *modelRun) drawBundleAcks() (acks []bundleAcks) {
	for range r.rng.IntN(3) {
		p, group := r.someCursor()
		if p == nil {
			continue
		}
		a := bundleAcks{part: p.name, group: group, id: p.id, lease: deref(r.drawLease(p.cursors[group])), items: r.drawAcks(p, p.cursors[group])}
		if a.lease == "-" {
			a.lease = ""
		}
		for name, q := range r.m.queues {
			if q == p.queue {
				a.queue = name
			}
		}
		a.items = slices.DeleteFunc(a.items, func(item modelAck) bool { return r.chance(80) && (item.id == "unknown" || item.id == "nothing") })
		if len(a.items) > 0 && !slices.ContainsFunc(acks, func(o bundleAcks) bool { return o.id == a.id && o.group == group }) {
			acks = append(acks, a)
		}
	}
	return acks
}

// storeLane stores a group of a bundle in the model, with the ids and stamps
// that the database gave it.
func (r *modelRun) storeLane(g modelGroup) {
	p := r.m.ensure(g.queue).ensure(g.part)
	if p.id == uuid.Nil {
		r.learnPart(p, g.queue)
	}
	r.applyGroup(g, r.storedAfter(p.id, p.head()), true)
}

// bundle carries it out, or answers the state it is refused with, and then the
// model is spoilt. Without store, frames get ids that nobody knows.
func (m *model) bundle(pushes []modelGroup, acks []bundleAcks, arg TransactionParams, store func(modelGroup)) (refused string, answers [][]modelAnswer) {
	for _, g := range pushes {
		p := m.ensure(g.queue).ensure(g.part)
		head := p.head()
		if slices.ContainsFunc(p.planPush(g.ids), func(v modelVerdict) bool { return v.duplicate && v.offset <= head }) {
			return "23505", nil
		}
		if store != nil {
			store(g)
			continue
		}
		var frames []modelFrame
		for i, v := range p.planPush(g.ids) {
			if f := (modelFrame{txn: minted, payload: g.payloads[i]}); !v.duplicate {
				if g.ids[i] != nil {
					f.txn = *g.ids[i]
				}
				frames = append(frames, f)
			}
		}
		p.store(time.Now(), uuid.New(), frames)
	}
	answers = make([][]modelAnswer, len(acks))
	for _, i := range ackOrder(acks) {
		a := acks[i]
		p := m.part(a.queue, a.part)
		answers[i] = m.ack(p, a.group, bundleLease(p.cursors[a.group], a.lease, acks, arg.RequiredLeases), a.items, arg.RequireLease)
		if slices.ContainsFunc(answers[i], func(v modelAnswer) bool { return !v.success && v.err != "already committed" }) {
			return "QN409", nil
		}
	}
	return "", answers
}

// ackOrder is that of cursors: by partition, then group.
func ackOrder(acks []bundleAcks) []int {
	order := make([]int, len(acks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := slices.Compare(acks[a].id[:], acks[b].id[:]); c != 0 {
			return c
		}
		return compareText(acks[a].group, acks[b].group)
	})
	return order
}

func compareText(a, b string) int { return slices.Compare([]byte(a), []byte(b)) }

// bundleLease is the lease of an ack that names none: the holder's when the
// bundle names any lease at all, else the only one that it requires.
func bundleLease(c *modelCursor, lease string, acks []bundleAcks, required []string) *string {
	named := slices.ContainsFunc(acks, func(a bundleAcks) bool { return a.lease != "" })
	required = slices.DeleteFunc(slices.Clone(required), func(l string) bool { return l == "" })
	if lease == "" && (named || len(required) > 0) {
		if c != nil && c.lease != "" {
			lease = c.lease
		} else if len(required) == 1 {
			lease = required[0]
		}
	}
	return &lease
}

// checkBundle holds the rows of a bundle against the model, which has stored it.
func (r *modelRun) checkBundle(pushes []modelGroup, answers [][]modelAnswer, rows []TransactionRow) {
	var pushed, acked []TransactionRow
	for _, row := range rows {
		if row.Kind == "push" {
			pushed = append(pushed, row)
		} else {
			acked = append(acked, row)
		}
	}
	slices.SortFunc(acked, func(a, b TransactionRow) int { return int(a.Item - b.Item) })
	at := 0
	for _, g := range pushes {
		p := r.m.part(g.queue, g.part)
		for i := range g.ids {
			row := pushed[at]
			require.Equal(r.t, [2]any{int32(at), p.id}, [2]any{row.Item, *row.PartitionID})
			f := p.frames[*row.Offset]
			require.Equal(r.t, f.id, *row.MessageID, "message %d", at)
			if g.ids[i] != nil {
				require.Equal(r.t, *g.ids[i], f.txn)
			}
			if !row.Duplicate {
				require.Equal(r.t, g.payloads[i], f.payload)
			}
			at++
		}
	}
	require.Len(r.t, pushed, at)
	at = 0
	for _, group := range answers {
		for _, want := range group {
			row := acked[at]
			want.err = ""
			require.Equal(r.t, int32(at), row.Item)
			require.Equal(r.t, want, modelAnswer{success: row.Success, released: row.LeaseReleased, dlq: row.Dlq, noop: row.Noop}, "ack %d", at)
			at++
		}
	}
	require.Len(r.t, acked, at)
}

// requireSafe fails when something was stored below a safe time that was read
// before (T-14).
func (r *modelRun) requireSafe(at time.Time) {
	require.False(r.t, at.Before(r.m.safe), "stored at %v, after safe time %v", at, r.m.safe)
}
