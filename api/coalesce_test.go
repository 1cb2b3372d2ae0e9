package api

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// desk is a coalescer of numbers whose calls the test holds up.
type desk struct {
	*coalescer[int]
	calls   chan []*batch[int]
	running sync.WaitGroup
}

func newDesk(t *testing.T, change func(*coalescer[int])) *desk {
	t.Helper()
	d := &desk{calls: make(chan []*batch[int], 100)}
	d.coalescer = &coalescer[int]{
		flush: func(b []*batch[int]) { d.calls <- b }, joins: func(*batch[int], *parcel[int]) bool { return true },
		flushers: 2, maxLanes: 10, maxItems: 100, maxBytes: 1000, patience: time.Minute,
		lanes: map[laneKey]*lane[int]{}, running: &d.running,
	}
	if change != nil {
		change(d.coalescer)
	}
	t.Cleanup(d.running.Wait)
	return d
}

// send submits one parcel of one item and returns its order.
func (d *desk) send(tenant uuid.UUID, lane string, number int) *order {
	o := newOrder(1)
	d.submit([]*parcel[int]{{key: laneKey{tenant: tenant, name: lane}, items: 1, bytes: 10, work: number, order: o}})
	return o
}

func (d *desk) call(t *testing.T) []*batch[int] {
	t.Helper()
	select {
	case bundle := <-d.calls:
		return bundle
	case <-time.After(5 * time.Second):
		t.Fatal("no call was made")
		return nil
	}
}

func (d *desk) quiet(t *testing.T) {
	t.Helper()
	select {
	case bundle := <-d.calls:
		t.Fatalf("an unexpected call of %d lanes", len(bundle))
	case <-time.After(30 * time.Millisecond):
	}
}

func numbers(bundle []*batch[int]) string {
	text := ""
	for _, b := range bundle {
		text += b.key.name
		for _, p := range b.parcels {
			text += fmt.Sprint(p.work)
		}
		text += " "
	}
	return text
}

func (d *desk) settleAll(bundle []*batch[int]) {
	for _, b := range bundle {
		d.settle(b)
	}
}

func TestLoneCallerIsNotKeptWaiting(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	o := d.send(defaultTenant, "a", 1)
	bundle := d.call(t)
	require.Equal(t, "a1 ", numbers(bundle))
	d.settleAll(bundle)
	require.NoError(t, o.wait(context.Background()))
}

func TestLaneHasOneCallUnderWayAndKeepsItsOrder_P6(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.send(defaultTenant, "a", 1)
	first := d.call(t)
	for n := 2; n <= 4; n++ {
		d.send(defaultTenant, "a", n)
	}
	d.quiet(t)
	d.send(defaultTenant, "b", 5)
	other := d.call(t)
	require.Equal(t, "b5 ", numbers(other), "another lane is free")
	d.settleAll(first)
	second := d.call(t)
	require.Equal(t, "a234 ", numbers(second), "all that came meanwhile, in arrival order")
	d.settleAll(second)
	d.settleAll(other)
	require.Eventually(t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.lanes) == 0 && d.flights == 0
	}, 20*time.Second, time.Millisecond, "nothing is kept")
}

func TestCallsKeepTheirLimits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *coalescer[int]) { c.flushers, c.maxItems, c.maxLanes = 1, 3, 2 })
	gate := make(chan struct{})
	d.flush = func(b []*batch[int]) { d.calls <- b; <-gate; d.settleAll(b) }
	d.send(defaultTenant, "x", 0)
	require.Equal(t, "x0 ", numbers(d.call(t)))
	for n := 1; n <= 4; n++ {
		d.send(defaultTenant, "a", n)
	}
	d.send(defaultTenant, "b", 5)
	d.send(defaultTenant, "c", 6)
	d.send(defaultTenant, "d", 7)
	gate <- struct{}{}
	require.Equal(t, "a123 ", numbers(d.call(t)))
	gate <- struct{}{}
	require.Equal(t, "b5 c6 ", numbers(d.call(t)))
	gate <- struct{}{}
	require.Equal(t, "d7 a4 ", numbers(d.call(t)))
	close(gate)
}

func TestTenantsNeverShareACall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *coalescer[int]) { c.flushers = 1 })
	gate := make(chan struct{})
	d.flush = func(b []*batch[int]) { d.calls <- b; <-gate; d.settleAll(b) }
	other := uuid.New()
	d.send(defaultTenant, "x", 0)
	d.call(t)
	d.send(defaultTenant, "a", 1)
	d.send(other, "b", 2)
	d.send(defaultTenant, "c", 3)
	gate <- struct{}{}
	require.Equal(t, "a1 c3 ", numbers(d.call(t)))
	gate <- struct{}{}
	require.Equal(t, "b2 ", numbers(d.call(t)))
	close(gate)
}

func TestParcelThatWaitedTooLongFailsUndone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *coalescer[int]) { c.patience = 50 * time.Millisecond })
	d.send(defaultTenant, "a", 1)
	first := d.call(t)
	late := newOrder(1)
	p := &parcel[int]{key: laneKey{tenant: defaultTenant, name: "a"}, items: 1, work: 2, order: late}
	d.submit([]*parcel[int]{p})
	time.Sleep(80 * time.Millisecond)
	d.settleAll(first)
	require.NoError(t, late.wait(context.Background()))
	require.ErrorIs(t, p.err, errBusy)
	d.quiet(t)
}

func TestParcelLeavesTheLine(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var all []*parcel[int]
	for i := range 5 {
		all = append(all, &parcel[int]{key: laneKey{tenant: defaultTenant, name: "a"}, items: 1, work: i, order: newOrder(1)})
	}
	d.submit(all[:1])
	first := d.call(t)
	d.submit(all[1:4])
	for _, i := range []int{0, 2, 3, 2, 1} {
		d.leave(all[i])
	}
	require.Equal(t, "a0 ", numbers(first), "in a call already")
	d.submit(all[4:])
	d.settleAll(first)
	last := d.call(t)
	require.Equal(t, "a14 ", numbers(last), "1 was alone")
	d.settleAll(last)
	d.leave(all[4])
	d.quiet(t)
}

func TestClashingIdsTravelApart(t *testing.T) {
	t.Parallel()
	group := func(ids ...string) *parcel[*pushGroup] {
		g := &pushGroup{leaders: map[string]pushSlot{}}
		for _, id := range ids {
			g.leaders[id] = pushSlot{}
		}
		return &parcel[*pushGroup]{work: g}
	}
	b := &batch[*pushGroup]{parcels: []*parcel[*pushGroup]{group("a", "b"), group(), group("c")}}
	require.True(t, joinsPush(b, group("d", "e", "f")))
	require.True(t, joinsPush(b, group()))
	require.False(t, joinsPush(b, group("x", "c")))
}
