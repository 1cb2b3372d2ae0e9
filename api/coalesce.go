package api

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// laneKey names what may have only one call under way: the partition of a push,
// or the (partition, group) of an ack.
type laneKey struct {
	tenant    uuid.UUID
	partition uuid.UUID // acks
	queue     string    // pushes
	name      string    // pushes: partition; acks: group
}

// parcel is the work of one caller on one lane.
type parcel[W any] struct {
	key    laneKey
	items  int
	bytes  int
	work   W
	err    error // why the whole parcel failed; set before its order is told
	order  *order
	queued time.Time
}

// order is one caller's wait for its parcels.
type order struct {
	open atomic.Int32
	done chan struct{}
}

func newOrder(parcels int) *order {
	o := &order{done: make(chan struct{})}
	o.open.Store(int32(parcels))
	return o
}

func (o *order) settle() {
	if o.open.Add(-1) == 0 {
		close(o.done)
	}
}

// wait blocks until every parcel is settled, or the caller has gone. The work
// goes on without the caller: others may share its call.
func (o *order) wait(ctx context.Context) error {
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// batch is what one call takes from one lane: parcels of one or more callers,
// in arrival order. Whoever gets a batch ends it with coalescer.settle.
type batch[W any] struct {
	key     laneKey
	parcels []*parcel[W]
	items   int
	bytes   int
	lane    *lane[W]
}

// fail gives every parcel the same error.
func (b *batch[W]) fail(err error) {
	for _, p := range b.parcels {
		p.err = err
	}
}

// lane holds what waits for its turn.
type lane[W any] struct {
	key     laneKey
	waiting []*parcel[W]
	busy    bool // a call is under way; then it is not on the ready list
}

// coalescer gathers the parcels of many callers into few calls. There is no
// linger: a parcel that finds a free flusher leaves at once, and while all are
// busy the running commits are the linger. A lane has one call under way at most,
// and takes its parcels in arrival order (P-6).
type coalescer[W any] struct {
	// flush makes one call of batches of one tenant and settles each in the end;
	// it may leave slow ones to other goroutines.
	flush func([]*batch[W])
	// joins says whether a parcel may share a batch with those before it.
	joins func(*batch[W], *parcel[W]) bool

	flushers, maxLanes, maxItems, maxBytes int
	patience                               time.Duration // wait for a flusher; then the parcel fails, undone

	mu      sync.Mutex
	lanes   map[laneKey]*lane[W]
	ready   list.List // of *lane[W], oldest first
	flights int
	running *sync.WaitGroup
}

// errBusy is the error of a parcel that waited too long for its turn.
var errBusy = &Error{Text: "the server is busy, try again", Code: "QN503", Retryable: true, status: 503}

// submit queues parcels and returns at once. Parcels of one lane keep their order.
func (c *coalescer[W]) submit(parcels []*parcel[W]) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range parcels {
		p.queued = now
		l := c.lanes[p.key]
		if l == nil {
			l = &lane[W]{key: p.key}
			c.lanes[p.key] = l
		}
		if len(l.waiting) == 0 && !l.busy {
			c.ready.PushBack(l)
		}
		l.waiting = append(l.waiting, p)
	}
	c.launch()
}

// leave takes a parcel that nobody waits for out of the line. One that is alone there
// stays, and so does one that a call has taken: whoever flushes it looks.
func (c *coalescer[W]) leave(p *parcel[W]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lanes[p.key]
	if l == nil || len(l.waiting) < 2 {
		return
	}
	if i := slices.Index(l.waiting, p); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// launch starts a flusher when one is free and something is ready.
func (c *coalescer[W]) launch() {
	if c.ready.Len() == 0 || c.flights >= c.flushers {
		return
	}
	c.flights++
	c.running.Add(1)
	go c.run()
}

// run flushes until nothing is ready.
func (c *coalescer[W]) run() {
	defer c.running.Done()
	for {
		bundle, expired := c.take()
		for _, p := range expired {
			p.err = errBusy
			p.order.settle()
		}
		switch {
		case len(bundle) > 0:
			c.flush(bundle)
		case len(expired) == 0:
			return
		}
	}
}

// take picks ready lanes of the oldest lane's tenant up to the limits of a call.
// It gives the flusher back when there is nothing to do.
func (c *coalescer[W]) take() (bundle []*batch[W], expired []*parcel[W]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := time.Now().Add(-c.patience)
	items, bytes := 0, 0
	for e := c.ready.Front(); e != nil && len(bundle) < c.maxLanes; {
		l, next := e.Value.(*lane[W]), e.Next()
		expired = append(expired, l.expire(oldest)...)
		if len(bundle) == 0 || l.key.tenant == bundle[0].key.tenant {
			b := c.fill(l, c.maxItems-items, c.maxBytes-bytes, len(bundle) == 0)
			if b == nil && len(l.waiting) > 0 {
				break // the call is full
			}
			c.ready.Remove(e)
			if b == nil {
				delete(c.lanes, l.key)
			} else {
				l.busy = true
				bundle, items, bytes = append(bundle, b), items+b.items, bytes+b.bytes
			}
		}
		e = next
	}
	if len(bundle) == 0 && len(expired) == 0 {
		c.flights--
	}
	return bundle, expired
}

// expire takes out the parcels that waited too long.
func (l *lane[W]) expire(oldest time.Time) []*parcel[W] {
	n := 0
	for n < len(l.waiting) && l.waiting[n].queued.Before(oldest) {
		n++
	}
	gone := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return gone
}

// fill moves parcels from a lane into a batch while they fit; the first parcel of
// a call always does.
func (c *coalescer[W]) fill(l *lane[W], items, bytes int, first bool) *batch[W] {
	b := &batch[W]{key: l.key, lane: l}
	n := 0
	for ; n < len(l.waiting); n++ {
		p := l.waiting[n]
		if (!first || n > 0) && (b.items+p.items > items || b.bytes+p.bytes > bytes) || n > 0 && !c.joins(b, p) {
			break
		}
		b.parcels = l.waiting[: n+1 : n+1]
		b.items += p.items
		b.bytes += p.bytes
	}
	if n == 0 {
		return nil
	}
	l.waiting = l.waiting[n:]
	return b
}

// settle ends a batch: its callers are told, its lane may fly again.
func (c *coalescer[W]) settle(b *batch[W]) {
	c.mu.Lock()
	b.lane.busy = false
	if len(b.lane.waiting) > 0 {
		c.ready.PushBack(b.lane)
		c.launch()
	} else {
		delete(c.lanes, b.key)
	}
	c.mu.Unlock()
	for _, p := range b.parcels {
		p.order.settle()
	}
}

// slots is a semaphore that gives up after a while.
type slots chan struct{}

// take gets a slot, or reports false when none was free in time.
func (s slots) take(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}

func (s slots) give() { <-s }
