package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// twoServers are two on one database, which know each other unless they do not listen.
func twoServers(t *testing.T, change ...func(*Config)) (one, two *testServer) {
	t.Helper()
	one = newTestServer(t, change...)
	two = newTestServerOn(t, one.db, change...)
	if one.cfg.Listen {
		require.Eventually(t, func() bool { return len(one.peers()) == 1 && len(two.peers()) == 1 }, 10*time.Second, 5*time.Millisecond)
	}
	return one, two
}

func deaf(c *Config) { c.Listen = false }

// asked waits until the server's watcher has asked the database n more times.
func (ts *testServer) asked(n int64) {
	ts.t.Helper()
	before := ts.pool.Stat().AcquireCount()
	require.Eventually(ts.t, func() bool { return ts.pool.Stat().AcquireCount() >= before+n }, 10*time.Second, 5*time.Millisecond)
}

// A push at one server wakes a pop that is parked at the other, whether they hear
// each other or only their watchers look.
func TestPushAtOneServerWakesAPopAtTheOther(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][]func(*Config){"listening": nil, "by the watcher": {deaf}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := twoServers(t, change...)
			one.configure(`{"queue":"q"}`)
			for _, target := range []string{
				"/api/v1/pop/queue/q?wait=true&timeout=20000&autoAck=true&consumerGroup=all",
				"/api/v1/pop/queue/q/partition/p?wait=true&timeout=20000&autoAck=true&consumerGroup=pinned",
			} {
				for _, pair := range [][2]*testServer{{one, two}, {two, one}} {
					inTime(t, 500*time.Millisecond, func() time.Duration {
						waiting := pair[0].popLater(target)
						pair[0].parked(1)
						pair[0].asked(2) // the first claim is over
						pair[1].pushOne("q", "p", `1`)
						pushed := time.Now()
						got := <-waiting
						require.Equal(t, http.StatusOK, got.Status, target)
						one.sql(`UPDATE queen.log_consumers c SET committed = h.head_offset FROM queen.partition_head h WHERE h.id = c.partition_id`)
						return got.at.Sub(pushed)
					})
				}
			}
		})
	}
}

// A queue that is deleted at one server ends the pops parked at the other, and
// they do not make it again; where servers cannot hear each other they just wait.
func TestPopsParkedElsewhereDoNotMakeADeletedQueueAgain_F143(t *testing.T) {
	t.Parallel()
	t.Run("listening", func(t *testing.T) {
		t.Parallel()
		one, two := twoServers(t)
		waiting := two.popLater("/api/v1/pop/queue/q?wait=true&timeout=20000")
		pinned := two.popLater("/api/v1/pop/queue/q/partition/p?wait=true&timeout=20000")
		two.parked(2)
		require.Eventually(t, func() bool { return one.count(`SELECT count(*) FROM queen.queues`) == 1 }, 20*time.Second, 5*time.Millisecond)
		require.Equal(t, http.StatusOK, one.send("DELETE", "/api/v1/resources/queues/q", "").Status)
		for _, ended := range []<-chan timed{waiting, pinned} {
			got := <-ended
			require.NoError(t, got.err)
			require.Equal(t, http.StatusNoContent, got.Status)
			require.Less(t, got.took, 10*time.Second, "parked polls end")
		}
		require.Zero(t, one.count(`SELECT count(*) FROM queen.queues WHERE deleted_at IS NULL`))
	})
	t.Run("deaf", func(t *testing.T) {
		t.Parallel()
		one, two := twoServers(t, deaf, func(c *Config) { c.SubscriptionMode = "new" })
		waiting := two.popLater("/api/v1/pop/queue/q?wait=true&timeout=20000&batch=10&consumerGroup=g")
		two.parked(1)
		require.Eventually(t, func() bool { return one.count(`SELECT count(*) FROM queen.consumer_groups_metadata`) == 1 }, 20*time.Second, 5*time.Millisecond)
		require.Equal(t, http.StatusOK, one.send("DELETE", "/api/v1/resources/queues/q", "").Status)
		two.asked(3)
		two.room.told("") // somebody says look
		two.asked(2)
		require.Zero(t, one.count(`SELECT count(*) FROM queen.queues WHERE deleted_at IS NULL`), "looking makes nothing")
		one.pushOne("q", "p", `1`)
		got := <-waiting
		require.Equal(t, http.StatusOK, got.Status, "the new queue has a message for whoever still waits")
	})
}

// A pop that waits for what is new of a partition gets the push that makes it.
func TestParkedPinnedPopGetsThePushThatMakesItsPartition(t *testing.T) {
	t.Parallel()
	one, two := twoServers(t)
	one.configure(`{"queue":"q"}`)
	for _, c := range []struct{ partition, query string }{{"a", "subscriptionMode=new"}, {"b", "subscriptionFrom=now"}, {"c", ""}} {
		waiting := one.popLater("/api/v1/pop/queue/q/partition/" + c.partition + "?wait=true&timeout=5000&consumerGroup=g&" + c.query)
		one.parked(1)
		one.asked(2) // the first claim is over, it found no partition
		two.pushOne("q", c.partition, `"made it"`)
		got := <-waiting
		require.Equal(t, http.StatusOK, got.Status, c.query)
		require.Contains(t, string(got.Body), "made it")
	}
	two.pushOne("q", "old", `1`)
	require.Equal(t, http.StatusNoContent, one.get("/api/v1/pop/queue/q/partition/old?wait=true&timeout=300&consumerGroup=g").Status, "what was there is not new")
}

// What one server configures counts for the next call at the other: nothing is remembered.
func TestConfigurationCountsAtOnceEverywhere(t *testing.T) {
	t.Parallel()
	one, two := twoServers(t, deaf)
	fresh := func(queue, options string) { one.configure(`{"queue":"` + queue + `","options":` + options + `}`) }
	item := func(queue string) string {
		return `{"items":[{"queue":"` + queue + `","partition":"p","transactionId":"same","payload":1}]}`
	}
	statusOf := func(queue string) string { t.Helper(); return two.push(item(queue))[0].Status }

	fresh("dedup", `{"dedupWindowSeconds":0}`)
	require.Equal(t, "queued", statusOf("dedup"))
	require.Equal(t, "queued", statusOf("dedup"))
	fresh("dedup", `{"dedupWindowSeconds":60}`)
	require.Equal(t, "duplicate", statusOf("dedup"), "the next push")
	fresh("dedup", `{"dedupWindowSeconds":0}`)
	require.Equal(t, "queued", statusOf("dedup"))

	two.pushOne("lease", "p", `1`)
	for _, seconds := range []int{1000, 2000, 7} {
		fresh("lease", fmt.Sprintf(`{"leaseTime":%d}`, seconds))
		two.pop("lease", "batch=1")
		require.InDelta(t, seconds, two.count(`SELECT extract(epoch FROM lease_expires_at - lease_acquired_at)::int FROM queen.log_consumers c
			JOIN queen.log_partitions p ON p.id = c.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'lease'`), 1)
		one.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)
	}

	two.pushOne("gates", "p", `1`)
	empty := func() {
		t.Helper()
		require.Equal(t, http.StatusNoContent, two.get("/api/v1/pop/queue/gates?autoAck=true").Status)
	}
	fresh("gates", `{"delayedProcessing":3600}`)
	empty()
	fresh("gates", `{"delayedProcessing":0,"windowBuffer":3600}`)
	empty()
	fresh("gates", `{"windowBuffer":0}`)
	require.Len(t, two.pop("gates", "autoAck=true").Messages, 1)

	two.pushOne("secret", "p", `1`)
	fresh("secret", `{"encryptionEnabled":true}`)
	two.post("/api/v1/push", item("secret")) // refused, unless there is a key
	require.Zero(t, two.count(`SELECT count(*) FROM queen.log_segments WHERE payloads[1] = '1' AND partition_id IN (SELECT id FROM queen.log_partitions
		WHERE queue_id = (SELECT id FROM queen.queues WHERE name = 'secret')) AND base_offset > 0`), "no plaintext once encryption is on")

	two.pushOne("hold", "p", `1`)
	require.Len(t, two.pop("hold", "wait=true&batch=10&leaseSeconds=1000").Messages, 1, "no hold yet")
	one.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)
	fresh("hold", `{"minPopWaitTime":3000}`)
	began := time.Now()
	require.Len(t, two.pop("hold", "wait=true&batch=10").Messages, 1)
	require.GreaterOrEqual(t, time.Since(began), 2900*time.Millisecond, "the next pop holds back")
	one.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)
	fresh("hold", `{"minPopWaitTime":0}`)
	inTime(t, 2500*time.Millisecond, func() time.Duration { // and the next does not
		began := time.Now()
		require.Len(t, two.pop("hold", "wait=true&batch=10").Messages, 1)
		one.sql(`UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL`)
		return time.Since(began)
	})
}

// What one server's group has read goes no sooner than the group that waits at the other has it, also while the queue holds it back: the
// parked pop makes the cursor that retention waits for, long before it is due (R-3, O-20).
func TestSweepWaitsForAGroupParkedElsewhereBehindAGate(t *testing.T) {
	t.Parallel()
	one, two := twoServers(t, deaf)
	one.configure(`{"queue":"q","options":{"delayedProcessing":3600,"retentionEnabled":true,"completedRetentionSeconds":1}}`)
	waiting := two.popLater("/api/v1/pop/queue/q?wait=true&timeout=60000&autoAck=true&consumerGroup=slow")
	require.Eventually(t, func() bool { return one.count(`SELECT count(*) FROM queen.consumer_groups_metadata`) == 1 }, 20*time.Second, 5*time.Millisecond)
	one.pushOne("q", "p", `"for both"`)
	require.Eventually(t, func() bool {
		return one.count(`SELECT count(*) FROM queen.log_consumers WHERE consumer_group = 'slow'`) == 1
	}, 20*time.Second, 5*time.Millisecond,
		"the cursor of who waits")
	one.sql(`UPDATE queen.log_segments SET created_at = created_at - interval '2 hours'`)
	require.Len(t, one.pop("q", "consumerGroup=fast&subscriptionMode=all&autoAck=true").Messages, 1)
	one.sql(`SELECT queen.log_retention_step_v1(id, p_completed_before => clock_timestamp()) FROM queen.log_partitions`)
	got := <-waiting
	require.Equal(t, http.StatusOK, got.Status)
	require.Contains(t, string(got.Body), "for both")
}
