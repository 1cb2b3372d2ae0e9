package api

import (
	"errors"

	"regent.local/regent/db/dberr"
)

// Limits of one call. A single larger message travels alone.
const (
	maxCallBytes = 4 << 20
	maxCallItems = 10_000
	maxCallLanes = 256
	itemOverhead = 16
)

// courier carries the batches of a coalescer to the database. A failing batch
// never fails its neighbours, and one that waits for somebody's lock is waited
// for apart from them, on at most a quarter of the pool.
type courier[W any] struct {
	server *Server
	lanes  *coalescer[W]
	alone  slots // calls that may wait for a lock
	// send makes one call. An error means that nothing was done. Otherwise every
	// batch has its outcome, but those that it names, which are to be sent again.
	// Without wait it leaves alone what somebody has locked, where it can.
	send func(bundle []*batch[W], wait bool) (map[*batch[W]]resend, error)
	// divert, unless nil, takes out what must not be sent now, and settles it.
	divert func([]*batch[W]) []*batch[W]
	// count, unless nil, looks at a batch that has its outcome.
	count func(*batch[W])
	// fail gives batches that were not taken their outcome.
	fail func([]*batch[W], error)
}

func newCourier[W any](s *Server, joins func(*batch[W], *parcel[W]) bool) *courier[W] {
	c := &courier[W]{server: s, alone: make(slots, s.quarter()), fail: failAll[W]}
	c.lanes = &coalescer[W]{
		flush: c.flush, joins: joins,
		flushers: s.cfg.Flushers, maxLanes: maxCallLanes, maxItems: maxCallItems, maxBytes: maxCallBytes,
		patience: s.cfg.AcquireTimeout, lanes: map[laneKey]*lane[W]{}, running: &s.loops,
	}
	return c
}

func failAll[W any](bundle []*batch[W], err error) {
	for _, b := range bundle {
		b.fail(err)
	}
}

// resend says how a batch that was not taken is sent again.
type resend int

const (
	resendWaiting resend = iota + 1 // by itself, waiting for the lock
	resendApart                     // each caller's part by itself
)

// flush sends a bundle, and ends each of its batches, here or later.
func (c *courier[W]) flush(bundle []*batch[W]) {
	if c.divert != nil {
		if bundle = c.divert(bundle); len(bundle) == 0 {
			return
		}
	}
	again, err := c.send(bundle, false)
	switch {
	case err == nil:
	case errors.Is(dberr.From(err), dberr.ErrRetry) && len(bundle) > 1:
		again = map[*batch[W]]resend{}
		for _, b := range bundle {
			again[b] = resendWaiting
		}
	case isolate(err) && len(bundle) > 1:
		c.flush(bundle[:len(bundle)/2])
		c.flush(bundle[len(bundle)/2:])
		return
	case isolate(err) && len(bundle[0].parcels) > 1:
		again = map[*batch[W]]resend{bundle[0]: resendApart}
	default:
		c.fail(bundle, err)
	}
	for _, b := range bundle {
		if how := again[b]; how == 0 {
			c.end(b)
		} else {
			c.later(b, how)
		}
	}
}

// end settles a batch that has its outcome.
func (c *courier[W]) end(b *batch[W]) {
	if c.count != nil {
		c.count(b)
	}
	c.lanes.settle(b)
}

// later sends a batch again on a goroutine of its own.
func (c *courier[W]) later(b *batch[W], how resend) {
	c.server.loops.Add(1)
	go func() {
		defer c.server.loops.Done()
		defer c.end(b)
		if !c.alone.take(c.server.cfg.AcquireTimeout) {
			b.fail(errBusy)
			return
		}
		defer c.alone.give()
		if how == resendWaiting && c.sendWaiting(b) {
			return
		}
		c.sendApart(b)
	}()
}

// sendWaiting sends one batch by itself, and reports false when its parts have
// to be told apart.
func (c *courier[W]) sendWaiting(b *batch[W]) bool {
	again, err := c.send([]*batch[W]{b}, true)
	switch {
	case err == nil:
		return again[b] == 0
	case isolate(err) && len(b.parcels) > 1:
		return false
	}
	c.fail([]*batch[W]{b}, err)
	return true
}

func (c *courier[W]) sendApart(b *batch[W]) {
	for i, p := range b.parcels {
		one := &batch[W]{key: b.key, parcels: b.parcels[i : i+1], items: p.items, bytes: p.bytes}
		again, err := c.send([]*batch[W]{one}, true)
		if err == nil && again[one] != 0 { // once more: it may be sent in another form
			again, err = c.send([]*batch[W]{one}, true)
		}
		if err != nil {
			c.fail([]*batch[W]{one}, err)
		} else if again[one] != 0 {
			one.fail(errBusy)
		}
	}
}

// isolate reports whether an error of a whole call may be the fault of one of
// its batches, so that sending them apart helps the others.
func isolate(err error) bool { return !dberr.Retryable(err) }

// quarter is the part of the pool that may wait for locks.
func (s *Server) quarter() int {
	if s.pool == nil {
		return 1
	}
	return max(1, int(s.pool.Config().MaxConns)/4)
}
