package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func signalled(w *waiter) bool {
	select {
	case <-w.signal:
		return true
	default:
		return false
	}
}

func queueLine(group string) lineKey {
	return lineKey{queueKey: queueKey{defaultTenant, "q"}, group: group}
}

func TestEventWakesOneOfEachLine(t *testing.T) {
	t.Parallel()
	r := newWaitroom()
	a1, a2, b := r.enter(queueLine("a")), r.enter(queueLine("a")), r.enter(queueLine("b"))
	pinned := r.enter(lineKey{queueKey: queueKey{defaultTenant, "q"}, group: "a", pinned: true, partition: "other"})
	r.pushed(defaultTenant, "q", "p")
	require.True(t, signalled(a1))
	require.False(t, signalled(a2))
	require.True(t, signalled(b))
	require.False(t, signalled(pinned), "another partition")
	r.pushed(defaultTenant, "q", "p")
	require.True(t, signalled(a2), "the next in line")
	r.released(queueKey{defaultTenant, "q"}, "b")
	require.False(t, signalled(a1))
	require.True(t, signalled(b))
}

func TestUnusedSignalGoesToTheNext_F045(t *testing.T) {
	t.Parallel()
	r := newWaitroom()
	first, second := r.enter(queueLine("g")), r.enter(queueLine("g"))
	r.pushed(defaultTenant, "q", "p")
	r.leave(first, false) // its client went with the signal unread
	require.True(t, signalled(second))
	r.leave(second, true)
	require.True(t, r.empty())
	require.Empty(t, r.queues)
}

func TestWhatIsOwedIsPassedOnUntilNothingIsFound(t *testing.T) {
	t.Parallel()
	r := newWaitroom()
	ws := []*waiter{r.enter(queueLine("g")), r.enter(queueLine("g")), r.enter(queueLine("g")), r.enter(queueLine("g"))}
	r.told("") // unknown how much there is
	require.True(t, signalled(ws[0]))
	require.False(t, signalled(ws[1]))
	r.leave(ws[0], true)
	require.True(t, signalled(ws[1]), "it took something: the next looks")
	mark, _ := r.mark(ws[1])
	r.nothing(ws[1], mark)
	r.leave(ws[1], true)
	require.False(t, signalled(ws[2]), "it found nothing: the chain ends")
}

func TestEventDuringAClaimIsKept_F045(t *testing.T) {
	t.Parallel()
	r := newWaitroom()
	w := r.enter(queueLine("g"))
	mark, _ := r.mark(w)
	r.pushed(defaultTenant, "q", "p") // between the claim and the park
	r.nothing(w, mark)
	require.True(t, signalled(w))
}

func TestRechecksInVainGrowRare_O50(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: DefaultConfig()}
	var waits []time.Duration
	for misses := 1; misses <= 8; misses++ {
		waits = append(waits, s.recheckInterval(misses))
	}
	ms := time.Millisecond
	require.Equal(t, []time.Duration{100 * ms, 100 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1000 * ms, 1000 * ms}, waits)

	r := newWaitroom()
	r.enter(queueLine("g"))
	require.Len(t, r.overdue(time.Now()), 1)
	r.recheck(queueLine("g"), func(int) time.Duration { return time.Minute })
	require.Empty(t, r.overdue(time.Now()))
	r.pushed(defaultTenant, "q", "p")
	require.Len(t, r.overdue(time.Now()), 1, "something did happen")
}

func TestTellerKnowsItsPeersAndTellsOnce_F195(t *testing.T) {
	t.Parallel()
	a, b := newTeller(), newTeller()
	a.tell(defaultTenant, "q")
	require.Empty(t, a.collect(), "nobody is there")
	word, _ := a.hear(wordHello + " " + a.id)
	require.Empty(t, word)
	require.Empty(t, a.collect(), "its own word")
	a.hear(wordHello + " " + b.id)
	answer := a.collect()
	require.Equal(t, []string{wordHere + " " + a.id}, answer)
	b.hear(answer[0])
	for range 50 {
		b.tell(defaultTenant, "q")
	}
	told := b.collect()
	require.Len(t, told, 1, "once a queue")
	word, hash := a.hear(told[0])
	require.Equal(t, []string{wordPush, queueKey{defaultTenant, "q"}.hash()}, []string{word, hash})
	b.tellGone(queueKey{defaultTenant, "q"})
	word, hash = a.hear(b.collect()[0])
	require.Equal(t, []string{wordGone, queueKey{defaultTenant, "q"}.hash()}, []string{word, hash})
	a.hear(wordBye + " " + b.id)
	a.tell(defaultTenant, "q")
	require.Empty(t, a.collect())
	for _, odd := range []string{"", "x", wordPush, wordPush + " " + b.id, "  ", wordHello} {
		word, _ := a.hear(odd)
		require.Empty(t, word, odd)
	}
}

// A pop that is parked does nothing in the database, so its server says that
// its group is there (design 5, groupIdleSeconds).
func TestParkedPopsKeepTheirGroupsActive(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"namespace":"n"}}`)
	ts.get("/api/v1/pop/queue/q?consumerGroup=named&wait=false")
	ts.get("/api/v1/pop?namespace=n&consumerGroup=found&wait=false")
	active := func() int {
		return ts.count(`SELECT count(*) FROM queen.group_activity WHERE last_active_at > now() - interval '30 minutes'`)
	}
	require.EqualValues(t, 2, active(), "an empty pop is activity")
	ts.sql(`UPDATE queen.group_activity SET last_active_at = last_active_at - interval '1 hour'`)
	require.Zero(t, active())
	discovery := lineKey{queueKey: queueKey{defaultTenant, discoveryQueue}, labels: labels{namespace: "n"}, group: "found"}
	require.NoError(t, ts.rearm(t.Context(), []lineKey{queueLine("named"), discovery, queueLine("named")}))
	require.EqualValues(t, 2, active(), "both kinds of parked pops are")
	require.NoError(t, ts.rearm(t.Context(), nil))
}
