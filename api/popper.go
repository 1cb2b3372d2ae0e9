package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

const (
	// maxShared is how many pops may share a call.
	maxShared = 128
	// wideBatch is the size of a batch from which two calls of the same kind run at
	// once. Below, most of a call is search, and two would search for the same.
	wideBatch = 64
	// narrowBatch is the size of a batch up to which any number of pops share a call
	// for partitions that are known; above it is maxWide, for the memory that the
	// slices take.
	narrowBatch = 16
	maxWide     = 16
	// fullCalls is after how many full calls in a row one more is made at a time.
	fullCalls = 4
	// maxTurns bounds how often a pop that came away empty from a call that found
	// something for others is put in line again.
	maxTurns = 8
	// lookAgain is how often a pop that is over looks whether it may leave the line.
	lookAgain = 10 * time.Millisecond
)

// errLate is the end of a pop whose time was over before its turn came: the answer is
// an empty one, but what the pop was woken for nobody looked at.
var errLate = errors.New("the turn of the pop did not come in time")

// claim is the part of one pop in a call that several share: they ask for the
// same, and each gets a partition and a lease of its own. A thousand consumers
// that are woken together cost a few searches, and do not run after the same
// partitions. Those that ask for several partitions, under one lease, have a call
// each, in turns: a thousand of them must not take every connection.
type claim struct {
	args  db.PopParams
	wide  bool // for several partitions, by a call of its own
	state atomic.Int32
	rows  []db.PopRow
	// others got something out of the call, so more may be there.
	others bool
}

// States of a claim. A client that has gone takes nothing (F047): what a call that runs
// finds for it is given back. A pop that is over leaves the line only while it is open,
// or its call would lease messages to nobody.
const (
	claimOpen    = iota // in line
	claimRunning        // its call is under way
	claimTaken          // its call is over, and it has what that found
	claimGone           // nobody waits for it
)

// shares reports whether a pop may share a call, or its turn. With autoAck it may not: what a
// client that has gone should have got could not be given back. Nor while it waits
// for new messages in queue mode: what is new to it depends on when it came.
func (r *popRequest) shares() bool {
	a := &r.args
	return a.Partition == nil && r.labels == (labels{}) && !a.Conflation && !a.AutoAck && (!r.met || r.group != queueMode || *a.SubscriptionMode == "all")
}

// wide reports whether a pop is for several partitions.
func (r *popRequest) wide() bool {
	return r.args.MaxPartitions != 1 && r.args.MaxPartitions != partitionsNotGiven
}

// kind is the lane of calls that a pop may share.
func (r *popRequest) kind(turn uint32) laneKey {
	a := &r.args
	seconds, from := int32(0), ""
	if a.Batch < wideBatch || r.wide() {
		turn = 0
	}
	if a.LeaseSeconds != nil {
		seconds = *a.LeaseSeconds
	}
	if a.SubscriptionFrom != nil {
		from = *a.SubscriptionFrom
	}
	name := fmt.Sprintf("%d %d %d %d %t %t %s\x00%s\x00%s", turn%2, a.Batch, a.MaxPartitions, seconds, a.Hold, r.met, *a.SubscriptionMode, from, r.group)
	return laneKey{tenant: a.TenantID, queue: a.Queue, name: name}
}

// popper gathers pops that ask for the same into few calls. How long they stay in line
// is for them to say.
func (s *Server) popper() *coalescer[*claim] {
	return &coalescer[*claim]{
		flush: s.popTogether, joins: func(*batch[*claim], *parcel[*claim]) bool { return true },
		flushers: 4 * s.quarter(), maxLanes: 1, maxItems: maxShared, maxBytes: maxShared,
		patience: math.MaxInt64, lanes: map[laneKey]*lane[*claim]{}, running: &s.loops,
	}
}

// claimShared is one claim that may share its call, or the line, with others.
func (s *Server) claimShared(ctx context.Context, r *popRequest) ([]db.PopRow, error) {
	came := time.Now()
	for range maxTurns {
		c := &claim{args: r.args, wide: r.wide()}
		p := &parcel[*claim]{key: r.kind(s.popTurn.Add(1)), items: 1, bytes: 1, work: c, order: newOrder(1)}
		s.pops.submit([]*parcel[*claim]{p})
		if err := s.awaitTurn(ctx, r, p, came); err != nil {
			s.pops.leave(p)
			return nil, err
		}
		if p.err != nil || len(c.rows) > 0 || !c.others {
			return c.rows, p.err
		}
	}
	return nil, nil
}

// awaitTurn waits until the call of a claim is over. An error says that the claim has
// left the line: the client has gone, or the pop is over and no call runs for it.
func (s *Server) awaitTurn(ctx context.Context, r *popRequest, p *parcel[*claim], came time.Time) error {
	state, end := &p.work.state, came.Add(s.cfg.AcquireTimeout)
	if r.limited() {
		end = r.began.Add(r.timeout)
	}
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	for {
		select {
		case <-p.order.done:
			return nil
		case <-ctx.Done():
			if state.CompareAndSwap(claimOpen, claimGone) || state.CompareAndSwap(claimRunning, claimGone) {
				return ctx.Err()
			}
			<-p.order.done // it has its messages already
			return nil
		case <-timer.C:
			if err := s.over(r, came); err == nil {
				timer.Reset(lookAgain)
			} else if state.CompareAndSwap(claimOpen, claimGone) {
				return err
			}
		}
	}
}

// limited reports whether a pop may end in line with an empty answer. One that does
// not wait has to look once, and so has one that held back for a fuller batch.
func (r *popRequest) limited() bool { return r.wait && !r.held && (r.timeout > 0 || r.met) }

// over is what a pop in line answers when its time is over; nil is to stay. An empty
// answer tells the client that its group is subscribed: what comes from now on is new
// to it (O-14). So some call for the group must have ended well meanwhile. Else, and
// for a pop that has to look, the server is busy after the usual time.
func (s *Server) over(r *popRequest, came time.Time) error {
	switch {
	case r.limited() && (r.met || r.group == queueMode || s.room.searchedSince(r.line(), r.began)):
		return errLate
	case time.Since(came) >= s.cfg.AcquireTimeout:
		return errBusy
	}
	return nil
}

// popTogether makes one call for the pops of a batch and deals out what it found.
func (s *Server) popTogether(bundle []*batch[*claim]) {
	for _, b := range bundle {
		pop := s.popBatch
		if b.parcels[0].work.wide {
			pop = s.popWide
		}
		if err := pop(b); err != nil {
			b.fail(err)
		}
		s.pops.settle(b)
	}
}

// popWide makes a call for each pop of a batch that is still there, until one finds
// nothing: then there is nothing for those behind it, either. Calls side by side
// search for the same, so there are more than one only while all come back full. An
// error is that of its pop alone, but the second in a row is that of the database.
func (s *Server) popWide(b *batch[*claim]) error {
	for streak, failures := 0, 0; ; {
		round := nextTurns(b, min(1+streak/fullCalls, s.quarter()))
		if len(round) == 0 {
			return nil
		}
		ends := make([]wideEnd, len(round))
		var calls sync.WaitGroup
		for i, p := range round[1:] {
			calls.Go(func() { ends[i+1] = s.popAlone(p) })
		}
		ends[0] = s.popAlone(round[0])
		calls.Wait()
		for _, end := range ends {
			streak++
			switch {
			case end.nothing:
				return nil
			case end.err == nil:
				failures = 0
			case failures > 0:
				return end.err
			default:
				failures++
			}
			if !end.full {
				streak = 0
			}
		}
	}
}

// nextTurns takes up to n parcels out of a batch whose calls run now. It drops those
// that nobody waits for.
func nextTurns(b *batch[*claim], n int) (round []*parcel[*claim]) {
	for len(round) < n && len(b.parcels) > 0 {
		p := b.parcels[0]
		b.parcels = b.parcels[1:]
		if p.work.state.CompareAndSwap(claimOpen, claimRunning) {
			round = append(round, p)
		}
	}
	return round
}

// wideEnd is what the call of one pop says to those behind it.
type wideEnd struct {
	nothing, full bool
	err           error
}

// popAlone makes the call of one pop, and settles it.
func (s *Server) popAlone(p *parcel[*claim]) wideEnd {
	defer p.order.settle()
	c := p.work
	rows, err := s.popOnce(c.args)
	if p.err = err; err != nil {
		return wideEnd{err: err}
	}
	end := wideEnd{nothing: len(rows) == 0, full: messages(rows) >= int(c.args.Batch) || partitions(rows) == int(c.args.MaxPartitions)}
	s.deal([]*claim{c}, c.args, rows)
	return end
}

// popOnce is one call that searches.
func (s *Server) popOnce(args db.PopParams) (rows []db.PopRow, err error) {
	began := time.Now()
	err = s.call(context.Background(), func(ctx context.Context, q querier) (err error) {
		rows, err = q.Pop(ctx, args)
		return err
	})
	if err == nil {
		s.count.call(popCall, began, messages(rows))
		s.room.searched(lineOf(args), began)
	}
	return rows, err
}

// lineOf is where those wait who would call like this.
func lineOf(args db.PopParams) lineKey {
	return lineKey{queueKey: queueKey{args.TenantID, args.Queue}, group: *args.ConsumerGroup}
}

func (s *Server) popBatch(b *batch[*claim]) error {
	open := make([]*claim, 0, len(b.parcels))
	for _, p := range b.parcels {
		if p.work.state.CompareAndSwap(claimOpen, claimRunning) {
			open = append(open, p.work)
		}
	}
	if len(open) == 0 {
		return nil
	}
	if done, err := s.popHot(open); done || err != nil {
		return err
	}
	args := open[0].args
	if len(open) > 1 {
		args.Apart, args.MaxPartitions = true, int32(len(open))
	}
	rows, err := s.popOnce(args)
	if err != nil {
		return err
	}
	s.deal(open, args, rows)
	return nil
}

// popHot makes the call for the partitions that something came to or that are free
// again, which spares the search; it reports false when that gave nothing. Who has
// searched before may do without; of the others some search all the same, so that
// no other partition is last for ever.
func (s *Server) popHot(open []*claim) (done bool, err error) {
	args := open[0].args
	if args.WaitedMs == nil && rand.IntN(8) == 0 {
		return false, nil
	}
	most := len(open)
	if args.Batch > narrowBatch {
		most = min(most, maxWide)
	}
	key := lineOf(args)
	hot := s.room.takeHot(key, 2*most-1)
	if len(hot) == 0 {
		return false, nil
	}
	began := time.Now()
	var rows []db.PopRow
	err = s.call(context.Background(), func(ctx context.Context, q querier) (err error) {
		rows, err = q.PopLanes(ctx, db.PopLanesParams{
			Queue: args.Queue, PartitionIds: hot, ConsumerGroup: args.ConsumerGroup, Batch: args.Batch, MaxPartitions: int32(most),
			LeaseSeconds: args.LeaseSeconds, TenantID: args.TenantID,
		})
		return err
	})
	if err != nil {
		return false, err
	}
	s.count.call(popCall, began, messages(rows))
	for i := range rows {
		hot = slices.DeleteFunc(hot, func(id uuid.UUID) bool { return id == rows[i].PartitionID })
	}
	args.Apart = true
	if n := partitions(rows); n == most {
		s.room.giveHot(key, hot)
	}
	if len(rows) == 0 {
		return false, nil
	}
	s.deal(open, args, rows)
	return true, nil
}

// deal gives each partition to a pop that is still there. A first row without
// payloads is a word for all of them.
func (s *Server) deal(open []*claim, args db.PopParams, rows []db.PopRow) {
	var word []db.PopRow
	if len(rows) > 0 && len(rows[0].Payloads) == 0 {
		word, rows = rows[:1:1], rows[1:]
	}
	found := len(rows) > 0
	for len(rows) > 0 {
		n := len(rows)
		if args.Apart {
			n = samePartition(rows)
		}
		for len(open) > 0 && !open[0].state.CompareAndSwap(claimRunning, claimTaken) {
			open = open[1:]
		}
		if len(open) == 0 {
			s.release(&popRequest{args: args, group: *args.ConsumerGroup}, rows)
			return
		}
		open[0].rows = append(word, rows[:n]...)
		rows, open = rows[n:], open[1:]
	}
	for _, c := range open {
		if c.state.CompareAndSwap(claimRunning, claimTaken) {
			c.rows, c.others = word, found
		}
	}
}

// partitions counts the partitions of rows.
func partitions(rows []db.PopRow) (n int) {
	for len(rows) > 0 {
		rows = rows[samePartition(rows):]
		n++
	}
	return n
}

// samePartition counts the rows of the first row's partition.
func samePartition(rows []db.PopRow) int {
	n := 1
	for n < len(rows) && rows[n].PartitionID == rows[0].PartitionID {
		n++
	}
	return n
}
