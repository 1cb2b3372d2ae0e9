package api

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// neverSpooled pushes to a queue that is encrypted by now: the push is refused, and
// nothing of it is on the disk.
func (ts *testServer) neverSpooled(queue, text string) {
	ts.t.Helper()
	r := ts.post("/api/v1/push", fmt.Sprintf(`{"items":[{"queue":%q,"partition":"p","payload":"hush"}]}`, queue))
	require.Equal(ts.t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
	require.Equal(ts.t, "QN503", r.failure(ts.t).Code)
	require.Contains(ts.t, r.failure(ts.t).Text, text)
	ts.noneWritten("hush")
}

// noneWritten looks into every file of the spool.
func (ts *testServer) noneWritten(secret string) {
	ts.t.Helper()
	for _, pattern := range []string{"*", "held/*", "failed/*"} {
		for _, path := range files(ts.t, ts.cfg.BufferDir, pattern) {
			if text, err := os.ReadFile(path); err == nil {
				require.NotContains(ts.t, string(text), secret, path)
			}
		}
	}
}

// steppedLook is a querier where something happens between the answer to a look
// and its arrival.
type steppedLook struct {
	querier
	between func()
}

func (q steppedLook) ListEncryptedQueues(ctx context.Context) ([]db.EncryptedQueueRow, error) {
	rows, err := q.querier.ListEncryptedQueues(ctx)
	q.between()
	return rows, err
}

// Issue 3 items 7 and 8: what a server without a key could know of a queue's
// encryption before the database went away, it knows. No case waits for the look
// that it takes twice a second.
func TestEncryptionIsKnownBeforeTheNextLook(t *testing.T) {
	t.Parallel()
	const on = `{"queue":"secret","options":{"encryptionEnabled":true}}`
	byPsql := func(ts *testServer) {
		ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}')`)
	}
	const keyless, unsure = "no usable encryption key", "could not ask the database"
	for name, c := range map[string]struct {
		text   string
		listen bool
		act    func(ts *testServer, wire *cable)
	}{
		"configured here": {text: unsure, act: func(ts *testServer, wire *cable) {
			ts.configure(on)
			wire.set(true)
		}},
		"configured here, the answer is lost": {text: unsure, act: func(ts *testServer, wire *cable) {
			ts.configure(`{"queue":"secret"}`)
			ts.sql(`ALTER FUNCTION queen.configure_queue_v1(text, jsonb, text, uuid, boolean) SET lock_timeout = '5min'`)
			tx, err := ts.db.Pool.Begin(t.Context())
			require.NoError(ts.t, err)
			_, err = tx.Exec(t.Context(), `SELECT FROM queen.queues WHERE name = 'secret' FOR UPDATE`)
			require.NoError(ts.t, err)
			answer := make(chan reply, 1)
			go func() {
				r, _ := ts.try(context.Background(), "POST", "/api/v1/configure", on)
				answer <- r
			}()
			ts.blocked()
			require.NoError(ts.t, ts.readSwitches(t.Context()), "a look in between knows nothing of it")
			require.ErrorIs(ts.t, ts.seals.plain(queueKey{defaultTenant, "secret"}), errUnsure)
			wire.set(true)
			require.Equal(ts.t, http.StatusServiceUnavailable, (<-answer).Status)
			require.NoError(ts.t, tx.Commit(t.Context()))
		}},
		"configured by psql, and shown here": {text: keyless, act: func(ts *testServer, wire *cable) {
			byPsql(ts)
			require.Equal(ts.t, http.StatusOK, ts.get("/api/v1/resources/queues/secret").Status)
			wire.set(true)
		}},
		"configured by psql, and refused here while a look is under way": {text: keyless, act: func(ts *testServer, wire *cable) {
			require.NoError(ts.t, ts.look(t.Context(), steppedLook{db.New(ts.pool), func() {
				byPsql(ts)
				ts.neverSpooled("secret", keyless)
			}}))
			wire.set(true)
		}},
		"configured by psql, which told it": {text: keyless, listen: true, act: func(ts *testServer, wire *cable) {
			require.Eventually(ts.t, func() bool { return ts.teller.heard.Load() > 0 }, 20*time.Second, time.Millisecond, "it listens")
			ts.switches.seen.Store(time.Now().Add(time.Hour).UnixNano()) // nothing else makes it look
			byPsql(ts)
			require.Eventually(ts.t, func() bool { return ts.seals.expects(queueKey{defaultTenant, "secret"}) }, 20*time.Second, time.Millisecond)
			wire.set(true)
		}},
		"configured by psql, which told it, and was gone before the look": {text: unsure, listen: true, act: func(ts *testServer, wire *cable) {
			require.Eventually(ts.t, func() bool { return ts.teller.heard.Load() > 0 }, 20*time.Second, time.Millisecond, "it listens")
			ts.away.Store(true) // no look
			byPsql(ts)
			require.Eventually(ts.t, func() bool { return ts.seals.plain(queueKey{defaultTenant, "secret"}) == errUnsure }, 20*time.Second, time.Millisecond)
			wire.set(true)
		}},
		"configured by psql, while pushes are paused": {text: keyless, act: func(ts *testServer, _ *cable) {
			ts.turnSwitch(pushSwitch, true)
			byPsql(ts)
			ts.switches.seen.Store(time.Now().Add(time.Hour).UnixNano())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts, wire := newSpoolServer(t, t.TempDir(), func(cfg *Config) { cfg.Listen = c.listen })
			c.act(ts, wire)
			ts.neverSpooled("secret", c.text)
			ts.buffer("open", "p", "1")
			wire.set(false)
			if ts.switches.push.Load() {
				ts.turnSwitch(pushSwitch, false)
			}
			ts.emptySpool()
			require.Equal(t, []string{"1"}, ts.storedIn("open"))
			require.Empty(t, ts.storedIn("secret"))
		})
	}
}

// A database that is back is asked, however long the drain waits; one that is not
// is asked twice a second, and nobody waits for the look that is under way.
func TestLooksBeforeSpoolingWhileAway(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir())
	turned := func() uint64 { return ts.seals.now() }
	wire.set(true)
	ts.buffer("secret", "p", "1")
	ts.seals.retry()
	ts.seals.mu.Lock()
	ts.seals.tried = time.Now().Add(time.Hour)
	ts.seals.mu.Unlock()
	before := turned()
	ts.buffer("secret", "p", "2")
	require.Equal(t, before, turned(), "a look failed lately")
	ts.seals.retry()
	ts.lookTurn.Lock()
	ts.buffer("secret", "p", "3")
	require.Equal(t, before, turned(), "one is under way")
	ts.lookTurn.Unlock()

	wire.set(false)
	ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}')`)
	ts.neverSpooled("secret", "no usable encryption key")
	require.True(t, ts.away.Load(), "the drain did not notice")
	ts.buffer("open", "p", "1")
}

// A configure call that never reached the database leaves no doubt behind.
func TestConfigureThatNeverLeftLeavesNoDoubt(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir())
	wire.set(true)
	r := ts.post("/api/v1/configure", `{"queue":"q","options":{"encryptionEnabled":true}}`)
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	ts.buffer("q", "p", "1")
}

// A listening connection that is back tells nothing of what it missed.
func TestReconnectedListenerLooksWhileAway(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir(), func(cfg *Config) { cfg.Listen = true })
	wire.set(true)
	ts.buffer("open", "p", "1")
	ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}')`)
	wire.set(false)
	require.Eventually(t, func() bool { return ts.seals.expects(queueKey{defaultTenant, "secret"}) }, 20*time.Second, time.Millisecond)
}

// A look that waits for a lock is not waited for much longer than one for a connection.
func TestLooksThatHangEnd(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir(), func(cfg *Config) { cfg.LockTimeout = 10 * time.Second })
	tx, err := ts.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK queen.queues`)
	require.NoError(t, err)
	require.ErrorIs(t, ts.readSwitches(t.Context()), context.DeadlineExceeded)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, ts.readSwitches(t.Context()))
}

// Those who came before a look began share it.
func TestLooksBeforeSpoolingAreShared(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir())
	came := ts.seals.now()
	ts.lookSince(came)
	looked := ts.seals.now()
	require.Greater(t, looked, came)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { ts.lookSince(came) })
	}
	wait.Wait()
	require.Equal(t, looked, ts.seals.now(), "one served all")
	look := ts.seals.begin()
	came = ts.seals.now()
	ts.seals.list(nil, look)
	looked = ts.seals.now()
	ts.lookSince(came)
	require.Greater(t, ts.seals.now(), looked, "one that had begun serves nobody")
}

// What a look answers takes back only what was heard before it began.
func TestLooksTakeBackOnlyWhatIsOlder(t *testing.T) {
	t.Parallel()
	queue := queueKey{defaultTenant, "q"}
	hash := sealHash(queue.tenant, queue.queue)
	listed := []db.EncryptedQueueRow{{TenantID: queue.tenant, Queue: queue.queue}}
	known := func() *sealer { // a server without a key that has looked once
		s := testSealer(t, "", "")
		require.ErrorIs(t, s.spooling(queue), errUntold)
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
		return s
	}

	t.Run("refusals", func(t *testing.T) {
		s := known()
		look := s.begin()
		s.learn(queue, false)
		s.list(nil, look)
		require.ErrorIs(t, s.spooling(queue), errNoKey)
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("two looks at once", func(t *testing.T) {
		s := known()
		one, two := s.begin(), s.begin()
		s.list(listed, one)
		s.list(nil, two)
		require.ErrorIs(t, s.spooling(queue), errNoKey, "nobody knows which was answered first")
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("doubts", func(t *testing.T) {
		s := known()
		look := s.begin()
		s.doubt(hash)
		s.list(nil, look)
		require.ErrorIs(t, s.spooling(queue), errUnsure)
		require.NoError(t, s.spooling(queueKey{defaultTenant, "other"}))
		s.list(listed, s.begin())
		require.ErrorIs(t, s.spooling(queue), errNoKey)
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("calls that are open", func(t *testing.T) {
		s := known()
		one, two := s.switching(hash), s.switching(hash)
		s.list(nil, s.begin())
		one(true)
		s.list(nil, s.begin())
		require.ErrorIs(t, s.spooling(queue), errUnsure, "the other one is open")
		look := s.begin()
		two(true)
		s.list(nil, look)
		require.ErrorIs(t, s.spooling(queue), errUnsure, "it may have ended after the look")
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("too many to remember", func(t *testing.T) {
		s := known()
		look := s.begin()
		for i := range maxSealDoubts + 1 {
			s.doubt(fmt.Sprint(i))
		}
		require.Len(t, s.doubts, maxSealDoubts)
		require.ErrorIs(t, s.spooling(queue), errUntold)
		s.list(nil, look)
		require.ErrorIs(t, s.spooling(queue), errUntold)
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("calls that never left", func(t *testing.T) {
		s := known()
		for i := range 2 * maxSealDoubts {
			end := s.switching(fmt.Sprint(i))
			end(false)
		}
		require.Zero(t, len(s.doubts))
		require.NoError(t, s.spooling(queue))
		s.doubt(hash)
		s.switching(hash)(false)
		require.ErrorIs(t, s.spooling(queue), errUnsure, "what was heard before stays")
	})
	t.Run("too many calls", func(t *testing.T) {
		s := known()
		var ends []func(bool)
		for i := range maxSealDoubts + 2 {
			ends = append(ends, s.switching(fmt.Sprint(i)))
		}
		require.Len(t, s.doubts, maxSealDoubts)
		s.list(nil, s.begin())
		require.ErrorIs(t, s.spooling(queue), errUntold)
		ends[maxSealDoubts](false)
		require.ErrorIs(t, s.spooling(queue), errUntold, "the other one is open")
		look := s.begin()
		ends[maxSealDoubts+1](true)
		s.list(nil, look)
		require.ErrorIs(t, s.spooling(queue), errUntold, "it may have ended after the look")
		s.list(nil, s.begin())
		require.NoError(t, s.spooling(queue))
	})
	t.Run("a long list", func(t *testing.T) {
		s := known()
		rows := make([]db.EncryptedQueueRow, maxOwners+1)
		for i := range rows {
			rows[i] = db.EncryptedQueueRow{TenantID: defaultTenant, Queue: fmt.Sprint(i)}
		}
		s.list(rows, s.begin())
		s.learn(queueKey{defaultTenant, "0"}, false)
		s.learn(queue, false)
		require.ErrorIs(t, s.spooling(queue), errNoKey)
		require.ErrorIs(t, s.spooling(queueKey{defaultTenant, "1"}), errNoKey)
		require.NoError(t, s.spooling(queueKey{defaultTenant, "open"}), "a refusal makes it forget nothing")
	})
	t.Run("a full list", func(t *testing.T) {
		s := known()
		for i := range maxOwners {
			s.learn(queueKey{defaultTenant, fmt.Sprint(i)}, false)
		}
		s.learn(queue, false)
		require.ErrorIs(t, s.spooling(queue), errNoKey)
		require.ErrorIs(t, s.spooling(queueKey{defaultTenant, "0"}), errUntold, "nothing is forgotten silently")
	})
	t.Run("a key", func(t *testing.T) {
		require.NoError(t, testSealer(t, keyA, "").spooling(queue))
	})
}

// A server whose looks fail while the database answers other calls, or that has not
// looked for long, knows nothing that it could spool by.
func TestOldKnowledgeOfEncryptionIsNone(t *testing.T) {
	t.Parallel()
	queue := queueKey{defaultTenant, "q"}
	s := testSealer(t, "", "")
	looked := func(ago time.Duration) { s.list(nil, sealLook{s.begin().turn, time.Now().Add(-ago)}) }
	for name, c := range map[string]struct {
		looked, missed, answered time.Duration // ago
		want                     error
	}{
		"away for hours":                   {looked: time.Hour, missed: time.Hour - time.Second, answered: time.Hour - 5*time.Second},
		"has not looked when it went away": {looked: time.Hour, missed: time.Minute, answered: time.Hour, want: errUnsure},
		"answers others":                   {looked: time.Hour, missed: time.Hour - time.Second, answered: time.Minute, want: errUnsure},
	} {
		s.sealKnowledge.looked = time.Time{}
		looked(c.looked)
		s.miss(sealLook{s.begin().turn, time.Now().Add(-c.missed)})
		s.miss(s.begin()) // the first one counts
		s.answered.Store(time.Now().Add(-c.answered).UnixNano())
		require.Equal(t, c.want, s.spooling(queue), name)
		looked(0)
		require.NoError(t, s.spooling(queue), name)
	}
}

// What is set aside for people to read is not shown when its queue is encrypted,
// whether this run has heard of that or not, and whether it was sealed in the spool.
func TestRefusedRecordOfAnEncryptedQueueIsSealed(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir())
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("secret", "never", `"hush 1"`)
	ts = ts.restart(withKeys(keyA, ""))
	ts.buffer("secret", "never", `"hush 2"`)
	ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}')`)
	ts.sql(`ALTER TABLE queen.log_partitions ADD CONSTRAINT never CHECK (name <> 'never')`)
	ts = ts.restart(withKeys(keyA, ""))
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
	require.EqualValues(t, 2, ts.maintenance().BufferStats.FailedCount)
	ts.noneWritten("hush")
	kept := 0
	for _, path := range files(t, ts.cfg.BufferDir, "failed/*") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		kept += strings.Count(string(text), `\"kid\":`)
	}
	require.Equal(t, 2, kept)
}
