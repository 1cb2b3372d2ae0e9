package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// Pops that ask for the same at once share calls, and each has a partition and a
// lease of its own, which ends with its own ack.
func TestPopsShareACall(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const lanes, pops = 12, 20
	for i := range lanes {
		ts.pushOne("q", fmt.Sprint("p", i), `1`)
	}
	release := ts.holdFlights()
	var mu sync.Mutex
	taken, empty := map[string]string{}, 0
	var all sync.WaitGroup
	for range pops {
		all.Go(func() {
			r, err := ts.try(context.Background(), "GET", "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&batch=5", "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil || r.Status == 204 {
				empty++
				return
			}
			var got PopResponse
			if json.Unmarshal(r.Body, &got) == nil && len(got.Messages) == 1 && got.PartitionsClaimed == 1 {
				taken[got.Messages[0].PartitionID] = got.LeaseID
			}
		})
	}
	require.Eventually(t, func() bool { return ts.inLine() == pops }, 20*time.Second, time.Millisecond)
	release()
	all.Wait()
	require.Len(t, taken, lanes, "every partition went to one pop")
	require.Equal(t, pops-lanes, empty, "the others got nothing")
	leases := map[string]bool{}
	for _, lease := range taken {
		leases[lease] = true
	}
	require.Len(t, leases, lanes, "a lease for each")
}

// What was claimed for a client that has gone meanwhile is given back (F047).
func TestSharedClaimOfAClientThatHasGone_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "a", `1`)
	ts.pushOne("q", "b", `2`)
	group, mode := "g", "all"
	args := db.PopParams{Queue: "q", ConsumerGroup: &group, SubscriptionMode: &mode, Batch: 1, MaxPartitions: 2, Apart: true, TenantID: defaultTenant}
	rows, err := db.New(ts.pool).Pop(t.Context(), args)
	require.NoError(t, err)
	require.Len(t, rows, 2)
	gone, here := &claim{args: args}, &claim{args: args}
	gone.state.Store(claimGone)
	here.state.Store(claimRunning)
	ts.deal([]*claim{gone, here}, args, rows)
	require.Empty(t, gone.rows)
	require.Len(t, here.rows, 1)
	require.Len(t, ts.pop("q", "consumerGroup=g&subscriptionMode=all&batch=5").Messages, 1, "the other is free at once")
	require.Equal(t, 0, ts.count(`SELECT sum(batch_retry_count)::int FROM queen.log_consumers`), "no retry was charged")
}

// Pops of several partitions that ask for the same have a call each, in turns: each
// takes all that it can under one lease, and the first that finds nothing speaks for
// those behind it. One whose client has gone takes nothing (F047).
func TestPopsOfSeveralPartitionsTakeTurns_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const lanes, pops = 12, 30
	for i := range lanes {
		ts.pushOne("q", fmt.Sprint("p", i), `1`)
	}
	release := ts.holdFlights()
	leaving, leave := context.WithCancel(t.Context())
	fired := &ts.Server.count.calls[popCall].fired
	calls := fired.Load()
	var mu sync.Mutex
	taken, leases := map[string]bool{}, map[string]bool{}
	var all sync.WaitGroup
	pop := func(ctx context.Context) {
		all.Go(func() {
			r, err := ts.try(ctx, "GET", "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&batch=100&partitions=5", "")
			if err != nil || r.Status == 204 {
				return
			}
			var got PopResponse
			mu.Lock()
			defer mu.Unlock()
			require.NoError(t, json.Unmarshal(r.Body, &got))
			leases[got.LeaseID] = true
			for _, m := range got.Messages {
				require.False(t, taken[m.PartitionID], "taken twice")
				require.Equal(t, got.LeaseID, m.LeaseID)
				taken[m.PartitionID] = true
			}
		})
	}
	pop(leaving)
	require.Eventually(t, func() bool { return ts.inLine() == 1 }, 20*time.Second, time.Millisecond)
	for range pops {
		pop(t.Context())
	}
	require.Eventually(t, func() bool { return ts.inLine() == 1+pops }, 20*time.Second, time.Millisecond)
	leave()
	require.Eventually(t, func() bool { return ts.inLine() == pops }, 20*time.Second, time.Millisecond)
	release()
	all.Wait()
	require.Len(t, taken, lanes)
	require.Len(t, leases, 3, "5, 5 and 2")
	require.EqualValues(t, 4, fired.Load()-calls, "the fourth found nothing, for all")
	require.Equal(t, 0, ts.count(`SELECT sum(batch_retry_count)::int FROM queen.log_consumers`), "nothing was given back")
}

// An error of one call is that of its pop alone; the second in a row is that of all
// that have not had theirs.
func TestPopsOfSeveralPartitionsFailAlone(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "a", `1`)
	group, mode := "g", "all"
	good := db.PopParams{Queue: "q", ConsumerGroup: &group, SubscriptionMode: &mode, Batch: 9, MaxPartitions: 9, TenantID: defaultTenant}
	wrong := good
	wrong.Queue = strings.Repeat("q", 300)
	together := func(calls ...db.PopParams) (all []*parcel[*claim]) {
		for _, args := range calls {
			all = append(all, &parcel[*claim]{work: &claim{args: args, wide: true}, order: newOrder(1)})
		}
		ts.popTogether([]*batch[*claim]{{lane: &lane[*claim]{}, parcels: slices.Clone(all)}})
		for _, p := range all {
			require.NoError(t, p.order.wait(t.Context()))
		}
		return all
	}
	all := together(wrong, good, wrong, good)
	require.Error(t, all[0].err)
	require.Len(t, all[1].work.rows, 1)
	require.Error(t, all[2].err)
	require.NoError(t, all[3].err)
	for _, p := range together(wrong, wrong, good) {
		require.Error(t, p.err)
	}
}

// No call is made for a pop that left the line when a batch had it already.
func TestNoCallForAPopThatHasLeft_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "a", `1`)
	fired := &ts.Server.count.calls[popCall].fired
	for _, wide := range []bool{true, false} {
		group, mode, calls := fmt.Sprint(wide), "all", fired.Load()
		args := db.PopParams{Queue: "q", ConsumerGroup: &group, SubscriptionMode: &mode, Batch: 9, MaxPartitions: 9, TenantID: defaultTenant}
		gone, here := &claim{args: args, wide: wide}, &claim{args: args, wide: wide}
		gone.state.Store(claimGone)
		last := newOrder(1)
		ts.popTogether([]*batch[*claim]{{lane: &lane[*claim]{}, parcels: []*parcel[*claim]{{work: gone, order: newOrder(1)}, {work: here, order: last}}}})
		require.NoError(t, last.wait(t.Context()))
		require.Len(t, here.rows, 1)
		require.Empty(t, gone.rows)
		require.EqualValues(t, 1, fired.Load()-calls)
	}
}

// A pop that is told not to wait long still gets what its own call finds.
func TestPopOfSeveralPartitionsOutlivesItsTimeout(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "a", `1`)
	ts.pushOne("q", "b", `2`)
	r := ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&partitions=5&batch=10&wait=true&timeout=0")
	require.Equal(t, 200, r.Status, "%s", r.Body)
	var got PopResponse
	r.into(t, &got)
	require.Len(t, got.Messages, 2)
}

// A pop whose time is over leaves the line with an empty answer, once its group is known
// to be subscribed; one that does not wait is told that the server is busy. Neither
// leaves a call that runs. A client that has gone does, and takes nothing (F047).
func TestWhenAPopLeavesTheLine_F047(t *testing.T) {
	t.Parallel()
	s := &Server{room: newWaitroom(), cfg: Config{AcquireTimeout: 50 * time.Millisecond}}
	s.room.enter(queueLine("g"))
	await := func(ctx context.Context, state int32, change func(*popRequest)) (int32, error) {
		r := &popRequest{group: "g", wait: true, began: time.Now(), timeout: 10 * time.Millisecond, args: db.PopParams{Queue: "q", TenantID: defaultTenant}}
		change(r)
		p := &parcel[*claim]{work: &claim{}, order: newOrder(1)}
		p.work.state.Store(state)
		ends := 20 * time.Second
		if state == claimTaken || state == claimRunning && ctx.Err() == nil {
			ends = 80 * time.Millisecond
		}
		defer time.AfterFunc(ends, p.order.settle).Stop()
		err := s.awaitTurn(ctx, r, p, time.Now())
		return p.work.state.Load(), err
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		change func(*popRequest)
		err    error
	}{
		"never looked":                    {func(*popRequest) {}, errBusy},
		"looked before":                   {func(*popRequest) { s.room.searched(queueLine("g"), time.Now().Add(-time.Hour)) }, errBusy},
		"another call looked meanwhile":   {func(r *popRequest) { s.room.searched(queueLine("g"), r.began.Add(1)) }, errLate},
		"an earlier call of its own":      {func(r *popRequest) { r.met = true }, errLate},
		"an earlier call, and no timeout": {func(r *popRequest) { r.met, r.timeout = true, 0 }, errLate},
		"no group to subscribe":           {func(r *popRequest) { r.group = queueMode }, errLate},
		"does not wait":                   {func(r *popRequest) { r.group, r.wait = queueMode, false }, errBusy},
		"held back, met":                  {func(r *popRequest) { r.met, r.held = true, true }, errBusy},
		"no timeout":                      {func(r *popRequest) { r.group, r.timeout = queueMode, 0 }, errBusy},
	} {
		s.room.lines[queueLine("g")].looked = time.Time{}
		state, err := await(t.Context(), claimOpen, c.change)
		require.Equal(t, c.err, err, name)
		require.EqualValues(t, claimGone, state, name)
		state, err = await(t.Context(), claimRunning, c.change)
		require.NoError(t, err, name)
		require.EqualValues(t, claimRunning, state, name)
		for _, before := range []int32{claimOpen, claimRunning} {
			state, err = await(gone, before, c.change)
			require.Error(t, err, name)
			require.EqualValues(t, claimGone, state, name)
		}
		state, err = await(gone, claimTaken, c.change)
		require.NoError(t, err, name)
		require.EqualValues(t, claimTaken, state, name)
	}
}

// Pops in line end in time, and are no longer in line. The one whose call runs has
// what that finds, however late; when its client has gone, it is given back (F047).
func TestPopsBehindASlowCall_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.AcquireTimeout, c.LockTimeout = 20*time.Second, 20*time.Second })
	const target, waiting = "/api/v1/pop/queue/q?batch=10&partitions=5", "&wait=true&timeout=100"
	ts.pop("q", "batch=10&partitions=5") // at its first contact a pop waits for no lock
	ts.pushOne("q", "a", `1`)
	ts.pushOne("q", "b", `2`)
	release := ts.holdPops()
	first := ts.popLater(target + "&wait=true&timeout=1000")
	ts.popRuns()
	behind := ts.popLater(target + "&wait=true&timeout=0")
	require.Eventually(t, func() bool { return ts.inLine() == 1 }, 20*time.Second, time.Millisecond)
	for range 10 { // until the time of the first is over
		require.Equal(t, 204, ts.get(target+waiting).Status)
	}
	require.Equal(t, 1, ts.inLine(), "who has left is not in line")
	require.Empty(t, first, "its call runs")
	release()
	got := <-first
	require.Equal(t, 200, got.Status, "%s", got.Body)
	require.Equal(t, 204, (<-behind).Status)
	var taken PopResponse
	got.into(t, &taken)
	require.Len(t, taken.Messages, 2)
	ts.ackAll(taken, "completed")

	ts.pushOne("q", "a", `3`)
	ts.pushOne("q", "b", `4`)
	release = ts.holdPops()
	leaving, leave := context.WithCancel(t.Context())
	left := ts.popUntil(leaving, target+"&wait=true&timeout=60000")
	ts.popRuns()
	leave()
	require.Error(t, (<-left).err)
	require.Eventually(t, func() bool { // the server has noticed
		ts.room.mu.Lock()
		defer ts.room.mu.Unlock()
		return len(ts.room.lines) == 0
	}, 20*time.Second, time.Millisecond)
	release()
	again := 0
	require.Eventually(t, func() bool {
		again += len(ts.pop("q", "batch=10&partitions=5").Messages)
		return again == 2
	}, 20*time.Second, 5*time.Millisecond, "the lease is not that of nobody")
	require.Equal(t, 0, ts.count(`SELECT sum(batch_retry_count)::int FROM queen.log_consumers`), "no retry was charged")
}

// A pop that was woken and ends in line has not looked: the next one is woken.
func TestPopThatEndsInLinePassesItsWakeOn_F045(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	fired := &ts.Server.count.calls[popCall].fired
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var parked []<-chan timed
	for i, timeout := range []string{"500", "60000"} {
		parked = append(parked, ts.popUntil(ctx, "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&partitions=5&wait=true&timeout="+timeout))
		require.Eventually(t, func() bool { return fired.Load() > int64(i) }, 20*time.Second, time.Millisecond)
	}
	release := ts.holdFlights()
	defer release()
	ts.room.pushed(defaultTenant, "q", "p")
	require.Equal(t, 204, (<-parked[0]).Status)
	require.Eventually(t, func() bool { return ts.open() == 1 }, 20*time.Second, time.Millisecond)
}

// What is pushed while the first pop of a group holds back for a fuller batch is new
// to the group (O-14, O-24).
func TestPopThatHoldsBackIsSubscribed_O24(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"minPopWaitTime":60000}}`)
	ts.pushOne("q", "p", `"old"`)
	got := ts.popLater("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=new&batch=2&wait=true&timeout=60000")
	require.Eventually(t, func() bool {
		return ts.count(`SELECT count(*)::int FROM queen.consumer_groups_metadata`) == 1
	}, 20*time.Second, time.Millisecond)
	ts.pushOne("q", "p", `"new"`)
	ts.pushOne("q", "p", `"newer"`)
	r := <-got
	require.Equal(t, 200, r.Status, "%s", r.Body)
	require.Contains(t, string(r.Body), `"newer"`)
	require.NotContains(t, string(r.Body), `"old"`)
}

// A client that sent a body with its GET is missed, too, when it goes (F047).
func TestPopWithABodyWhoseClientGoes_F047(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, body := range []string{"", "null"} {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		ended := make(chan error, 1)
		go func() {
			_, err := ts.try(ctx, "GET", "/api/v1/pop/queue/q?consumerGroup=g&autoAck=true&wait=true&timeout=60000", body)
			ended <- err
		}()
		waits := func() bool {
			ts.room.mu.Lock()
			defer ts.room.mu.Unlock()
			return len(ts.room.lines) == 1
		}
		require.Eventually(t, waits, 20*time.Second, time.Millisecond)
		leave()
		require.Error(t, <-ended)
		require.Eventually(t, func() bool { return !waits() }, 20*time.Second, time.Millisecond, "%q", body)
	}
}

// holdPops holds up every call that looks for messages until release.
func (ts *testServer) holdPops() (release func()) {
	ts.t.Helper()
	tx, err := ts.db.Pool.Begin(context.Background())
	require.NoError(ts.t, err)
	_, err = tx.Exec(context.Background(), `LOCK TABLE queen.log_consumers IN ACCESS EXCLUSIVE MODE`)
	require.NoError(ts.t, err)
	release = sync.OnceFunc(func() { _ = tx.Rollback(context.Background()) })
	ts.t.Cleanup(release)
	return release
}

// popRuns waits until a call of a pop waits for a lock.
func (ts *testServer) popRuns() {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		return ts.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
			AND query LIKE '%log_pop_v1(%'`) > 0
	}, 20*time.Second, 5*time.Millisecond)
}

// open counts the shared pops in line that somebody waits for.
func (ts *testServer) open() (n int) {
	ts.pops.mu.Lock()
	defer ts.pops.mu.Unlock()
	for _, l := range ts.pops.lanes {
		for _, p := range l.waiting {
			if p.work.state.Load() == claimOpen {
				n++
			}
		}
	}
	return n
}

// holdFlights keeps shared pops in line until release.
func (ts *testServer) holdFlights() (release func()) {
	ts.pops.mu.Lock()
	flushers := ts.pops.flushers
	ts.pops.flushers = 0
	ts.pops.mu.Unlock()
	require.Eventually(ts.t, func() bool {
		ts.pops.mu.Lock()
		defer ts.pops.mu.Unlock()
		return ts.pops.flights == 0
	}, 20*time.Second, time.Millisecond)
	return func() {
		ts.pops.mu.Lock()
		defer ts.pops.mu.Unlock()
		ts.pops.flushers = flushers
		ts.pops.launch()
	}
}

// inLine counts the shared pops that wait for a call.
func (ts *testServer) inLine() (n int) {
	ts.pops.mu.Lock()
	defer ts.pops.mu.Unlock()
	for _, l := range ts.pops.lanes {
		n += len(l.waiting)
	}
	return n
}

// A push tells a parked pop where to look, and the pop takes it from there
// without a search; one that is told of nothing, or of what others took, searches.
func TestPopsLookWhereSomethingCame(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "a", `1`)
	ts.sql(`SELECT count(*) FROM queen.log_pop_v1('q', NULL, 'g', 1, 1, NULL, true)`)
	key := queueLine("g")
	w := ts.room.enter(key) // somebody waits all the time
	defer func() { ts.room.leave(w, false) }()
	var last []db.PopRow
	take := func(met bool) (got []string) {
		group, mode := "g", "all"
		r := &popRequest{group: group, met: met, began: time.Now(), args: db.PopParams{Queue: "q", ConsumerGroup: &group,
			SubscriptionMode: &mode, Batch: 3, MaxPartitions: 1, TenantID: defaultTenant}}
		rows, err := ts.claim(t.Context(), r)
		require.NoError(t, err)
		for i := range rows {
			got, last = append(got, rows[i].Payloads...), rows
		}
		return got
	}
	ts.pushOne("q", "a", `2`)
	require.Len(t, w.line.hot, 1, "where the push went")
	require.Equal(t, []string{"2"}, take(true))
	require.Empty(t, w.line.hot)
	leased := last[0]
	ts.pushOne("q", "a", `3`)
	require.Empty(t, take(true), "it is leased: nothing there, nothing anywhere")
	require.Empty(t, w.line.hot, "it comes again with its ack")
	ts.sql(`SELECT queen.push_v1('q', '4', 'b')`)
	require.Equal(t, []string{"4"}, take(true), "nobody told of it")
	// What a lease kept from the others is told of with the ack.
	ts.post("/api/v1/ack", fmt.Sprintf(`{"consumerGroup":"g","partitionId":"%s","leaseId":"%s","transactionId":"%s"}`,
		leased.PartitionID, leased.LeaseID, leased.IDBase))
	require.Equal(t, []uuid.UUID{leased.PartitionID}, w.line.hot)
	require.Equal(t, []string{"3"}, take(false), "told or searched")
}

// The memory of a line is bounded, in order and without repeats, and what was not
// looked at is given back.
func TestWhereALineLooksFirst(t *testing.T) {
	t.Parallel()
	r := newWaitroom()
	queue := queueKey{defaultTenant, "q"}
	r.warm(queue, "", uuid.New())
	require.Empty(t, r.takeHot(queueLine("a"), 9), "nobody waits")
	a, b := r.enter(queueLine("a")), r.enter(queueLine("b"))
	pinned := r.enter(lineKey{queueKey: queue, group: "a", pinned: true, partition: "p"})
	one, two, three := uuid.New(), uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{one, two, one, three} {
		r.warm(queue, "", id)
	}
	r.warm(queue, "b", two)
	require.Empty(t, pinned.line.hot, "it looks in one place anyway")
	require.Equal(t, []uuid.UUID{one, two}, r.takeHot(queueLine("a"), 2))
	r.giveHot(queueLine("a"), []uuid.UUID{two, three})
	require.Equal(t, []uuid.UUID{three, two}, r.takeHot(queueLine("a"), 9))
	require.Empty(t, r.takeHot(queueLine("a"), 9))
	require.Len(t, b.line.hot, 3)
	for range 2 * maxHot {
		r.warm(queue, "a", uuid.New())
	}
	require.Len(t, a.line.hot, maxHot)
	require.Len(t, b.line.hot, 3, "of another group")
}
