package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// tally names a number that a server counts of itself, from its start on.
type tally int

const (
	pushRequests   tally = iota // pushes that were understood
	popRequests                 // pops that were understood
	ackRequests                 // ack calls that were understood
	pushMessages                // messages stored: by pushes, transactions and replays of the spool, no duplicates
	popMessages                 // messages delivered
	ackMessages                 // acknowledgments that got a verdict, and autoAck deliveries: ackSuccess and ackFailed
	ackSuccess                  // completed
	ackFailed                   // refused, or anything but completed
	transactions                // that were committed
	conflated                   // positions that a group with conflation retired without delivery
	dbErrors                    // calls that failed for a reason of the database's, after the repeats
	deadLetters                 // dead letters that acks made
	jobs                        // calls of the database that went well
	lagMicros                   // sum of the ages of delivered messages
	lagCount                    // delivered messages whose age is in that sum
	popTargeted                 // claims on one partition
	popWildcard                 // claims on any partition
	fillWaits                   // claims that waited for a fuller batch
	fillWaitMicros              // and for how long
	uncounted                   // that found no counters of their queue free
	tallies
)

// queueTally names a number that a server counts for each queue.
type queueTally int

const (
	queuePushRequests queueTally = iota
	queuePushMessages
	queuePopMessages
	queuePopEmpty // pops that were answered with nothing
	queueTransactions
	queueAckRequests
	queueAckSuccess
	queueAckFailed
	queueConflated
	queueLagMicros
	queueLagCount
	queueParked // sum of samples, one a second; the sampler's alone
	queueTallies
)

// maxCountedQueues bounds the memory of the counters by queue. What finds no room
// is in the totals of the process only.
const maxCountedQueues = 20_000

// counterKey names the queue of a counter: by name, or by one of its partitions
// where this server does not know the name.
type counterKey struct {
	queueKey
	partition uuid.UUID
}

// padded is a counter that shares its cache line with no other.
type padded struct {
	atomic.Int64
	_ [56]byte
}

// queueCounters are the counters of one queue. They only grow; the collector
// remembers what it has stored.
type queueCounters struct {
	n      [queueTallies]atomic.Int64
	maxLag atomic.Int64 // microseconds, since the last flush

	// The collector's alone.
	stored [queueTallies]int64
	idle   int // flushes without a change
}

// counters is what a server counts while it works. Nothing in here waits: each is
// an addition, one or a few a call, never one a message.
type counters struct {
	off    bool // for measuring what counting costs
	total  [tallies]padded
	maxLag atomic.Int64 // microseconds, since the last flush
	queues sync.Map     // counterKey to *queueCounters
	known  atomic.Int64 // entries of queues
	calls  [callKinds]callRing
}

func (c *counters) add(t tally, n int) {
	if n != 0 && !c.off {
		c.total[t].Add(int64(n))
	}
}

func (c *counters) get(t tally) int64 { return c.total[t].Load() }

// nowhere takes what is counted for a queue without counters.
var nowhere queueCounters

// queue finds or makes the counters of a queue.
func (c *counters) queue(key counterKey) *queueCounters {
	if c.off {
		return &nowhere
	}
	if found, ok := c.queues.Load(key); ok {
		return found.(*queueCounters)
	}
	if c.known.Load() >= maxCountedQueues {
		c.add(uncounted, 1)
		return &nowhere
	}
	made, ok := c.queues.LoadOrStore(key, &queueCounters{})
	if !ok {
		c.known.Add(1)
	}
	return made.(*queueCounters)
}

func (q *queueCounters) add(t queueTally, n int) {
	if n != 0 && q != &nowhere {
		q.n[t].Add(int64(n))
	}
}

// raise lifts a maximum.
func raise(highest *atomic.Int64, n int64) {
	for old := highest.Load(); n > old; old = highest.Load() {
		if highest.CompareAndSwap(old, n) {
			return
		}
	}
}

// byName is the key of a queue by name.
func byName(queue queueKey) counterKey { return counterKey{queueKey: queue} }

// byPartition is the key of the queue that a partition belongs to.
func (s *Server) byPartition(tenant, partition uuid.UUID) counterKey {
	if queue, known := s.owners.of(partition); known && queue.queue != discoveryQueue {
		return counterKey{queueKey: queue}
	}
	return counterKey{queueKey{tenant: tenant}, partition}
}

// countPush notes a push that was understood.
func (s *Server) countPush(tenant uuid.UUID, r *pushRequest) {
	s.count.add(pushRequests, 1)
	var seen distinct[string]
	for _, g := range r.groups {
		if seen.news(g.queue) {
			s.count.queue(byName(queueKey{tenant, g.queue})).add(queuePushRequests, 1)
		}
	}
}

// distinct tells what is new in a sequence that mostly repeats itself.
type distinct[K comparable] struct {
	last K
	any  bool
	all  map[K]struct{} // from the second on
}

func (d *distinct[K]) news(key K) bool {
	if d.any && key == d.last {
		return false
	}
	if d.any && d.all == nil {
		d.all = map[K]struct{}{d.last: {}}
	}
	d.last, d.any = key, true
	if d.all == nil {
		return true
	}
	_, known := d.all[key]
	d.all[key] = struct{}{}
	return !known
}

// countPushed notes what became of a batch of pushes.
func (s *Server) countPushed(b *batch[*pushGroup]) {
	stored := 0
	for _, part := range b.parcels {
		for _, v := range part.work.verdicts {
			if v.status == pushQueued {
				stored++
			}
		}
	}
	if stored > 0 {
		s.count.add(pushMessages, stored)
		s.count.queue(byName(queueKey{b.key.tenant, b.key.queue})).add(queuePushMessages, stored)
	}
}

// countClaim notes what kind of claim is made.
func (s *Server) countClaim(r *popRequest) {
	if r.args.Partition != nil {
		s.count.add(popTargeted, 1)
	} else {
		s.count.add(popWildcard, 1)
	}
}

// countPop notes what a pop got. What it took with autoAck is acknowledged,
// whether it is delivered or not.
func (s *Server) countPop(r *popRequest, rows []db.PopRow) {
	if len(rows) == 0 && r.labels == (labels{}) {
		s.count.queue(byName(queueKey{r.args.TenantID, r.args.Queue})).add(queuePopEmpty, 1)
	}
	if !r.args.AutoAck {
		return
	}
	s.eachQueue(r, rows, func(q *queueCounters, rows []db.PopRow) {
		n := messages(rows)
		s.count.add(ackMessages, n)
		s.count.add(ackSuccess, n)
		q.add(queueAckSuccess, n)
	})
}

// countDelivered notes messages as they are rendered, and how old they are.
func (s *Server) countDelivered(r *popRequest, rows []db.PopRow) {
	now := time.Now()
	s.eachQueue(r, rows, func(q *queueCounters, rows []db.PopRow) {
		var sum, highest int64
		for i := range rows {
			age := max(0, now.Sub(rows[i].CreatedAt).Microseconds())
			sum, highest = sum+age*int64(len(rows[i].Payloads)), max(highest, age)
		}
		n := messages(rows)
		s.count.add(popMessages, n)
		s.count.add(lagCount, n)
		s.count.add(lagMicros, int(sum))
		raise(&s.count.maxLag, highest)
		q.add(queuePopMessages, n)
		q.add(queueLagCount, n)
		q.add(queueLagMicros, int(sum))
		raise(&q.maxLag, highest)
	})
}

// eachQueue calls back with the rows of each queue: all of them, or where a pop
// took from many queues those of each partition.
func (s *Server) eachQueue(r *popRequest, rows []db.PopRow, do func(*queueCounters, []db.PopRow)) {
	if len(rows) == 0 {
		return
	}
	if r.labels == (labels{}) {
		do(s.count.queue(byName(queueKey{r.args.TenantID, r.args.Queue})), rows)
		return
	}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].PartitionID == rows[from].PartitionID {
			to++
		}
		do(s.count.queue(s.byPartition(r.args.TenantID, rows[from].PartitionID)), rows[from:to])
		from = to
	}
}

func messages(rows []db.PopRow) (n int) {
	for i := range rows {
		n += len(rows[i].Payloads)
	}
	return n
}

// countAck notes an ack call that was understood.
func (s *Server) countAck(tenant uuid.UUID, r *ackRequest) {
	s.count.add(ackRequests, 1)
	grouped := 0
	var seen distinct[counterKey]
	for _, g := range r.groups {
		grouped += len(g.items)
		if key := s.byPartition(tenant, g.partition); seen.news(key) {
			s.count.queue(key).add(queueAckRequests, 1)
		}
	}
	s.count.add(ackMessages, len(r.items)-grouped) // of no partition at all
	s.count.add(ackFailed, len(r.items)-grouped)
}

// countAcked notes the verdicts on a batch of acknowledgments.
func (s *Server) countAcked(b *batch[*ackGroup]) {
	var seen verdicts
	for _, p := range b.parcels {
		for i, at := range p.work.items {
			if p.err != nil || i >= len(p.work.rows) {
				seen.failed++
				continue
			}
			row := &p.work.rows[i]
			seen.note(row.Success && p.work.request.items[at].status == "completed", row.Dlq)
			if row.Conflated != nil {
				seen.conflated += int(*row.Conflated)
			}
		}
	}
	s.countVerdicts(s.byPartition(b.key.tenant, b.key.partition), seen)
}

// verdicts are sums over acknowledgments.
type verdicts struct{ success, failed, dead, conflated int }

func (v *verdicts) note(completed, dead bool) {
	if completed {
		v.success++
	} else {
		v.failed++
	}
	if dead {
		v.dead++
	}
}

func (s *Server) countVerdicts(key counterKey, v verdicts) {
	s.count.add(ackMessages, v.success+v.failed)
	s.count.add(ackSuccess, v.success)
	s.count.add(ackFailed, v.failed)
	s.count.add(deadLetters, v.dead)
	s.count.add(conflated, v.conflated)
	q := s.count.queue(key)
	q.add(queueAckSuccess, v.success)
	q.add(queueAckFailed, v.failed)
	q.add(queueConflated, v.conflated)
}

// countTransaction notes a transaction that was committed.
func (s *Server) countTransaction(t *transaction) {
	s.count.add(transactions, 1)
	stored, acked := map[counterKey]int{}, map[counterKey]*verdicts{}
	for i := range t.results {
		r := &t.results[i]
		switch {
		case r.ack == nil && !r.row.Duplicate:
			stored[byName(queueKey{t.tenant, r.lane.queue})]++
		case r.ack != nil:
			key := s.byPartition(t.tenant, r.ack.partition)
			if acked[key] == nil {
				acked[key] = &verdicts{}
			}
			acked[key].note(r.row.Success && r.status == "completed", r.row.Dlq)
		}
	}
	for key, n := range stored {
		s.count.add(pushMessages, n)
		s.count.queue(key).add(queuePushMessages, n)
		s.count.queue(key).add(queueTransactions, 1)
	}
	for key, v := range acked {
		s.countVerdicts(key, *v)
		if stored[key] == 0 {
			s.count.queue(key).add(queueTransactions, 1)
		}
	}
}

// countReplayed notes what a replay of the spool stored.
func (s *Server) countReplayed(records []*spoolRecord, row *db.SpoolStepRow) {
	for i, at := range row.Groups {
		if int(at) < len(records) && i < len(row.Frames) {
			s.count.add(pushMessages, int(row.Frames[i]))
			s.count.queue(byName(queueKey{records[at].Tenant, records[at].Queue})).add(queuePushMessages, int(row.Frames[i]))
		}
	}
}

// countCall notes how a call of the database ended. A refusal is no error.
func (c *counters) countCall(err error) {
	switch {
	case err == nil:
		c.add(jobs, 1)
	case errors.Is(err, context.Canceled), errors.Is(err, errHeld), strings.HasPrefix(dberr.From(err).Code, "QN"):
	case dberr.HTTPStatus(err) >= http.StatusInternalServerError:
		c.add(dbErrors, 1)
	}
}

// callKind tells the calls apart that carry many requests.
type callKind int

const (
	pushCall callKind = iota
	popCall
	ackCall
	callKinds
)

func (k callKind) String() string { return [...]string{"push", "pop", "ack"}[k] }

// ringSize is how many of the last calls quantiles are taken from.
const ringSize = 512

// callRing remembers the last calls of a kind.
type callRing struct {
	fired, items padded
	took         [ringSize]atomic.Int64 // nanoseconds
	carried      [ringSize]atomic.Int32
}

// call notes a call that ended well.
func (c *counters) call(kind callKind, began time.Time, items int) {
	if c.off {
		return
	}
	r := &c.calls[kind]
	at := (r.fired.Add(1) - 1) % ringSize
	r.items.Add(int64(items))
	r.took[at].Store(int64(time.Since(began)))
	r.carried[at].Store(int32(items))
}
