package api

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

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
	ts.deal([]*claim{gone, here}, args, rows)
	require.Empty(t, gone.rows)
	require.Len(t, here.rows, 1)
	require.Len(t, ts.pop("q", "consumerGroup=g&subscriptionMode=all&batch=5").Messages, 1, "the other is free at once")
	require.Equal(t, 0, ts.count(`SELECT sum(batch_retry_count)::int FROM queen.log_consumers`), "no retry was charged")
}

// holdFlights keeps shared pops in line until release.
func (ts *testServer) holdFlights() (release func()) {
	ts.pops.mu.Lock()
	flushers := ts.pops.flushers
	ts.pops.flushers = 0
	ts.pops.mu.Unlock()
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
