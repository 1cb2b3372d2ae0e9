package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// F046: the listening connection of a server goes silent without an end, as one
// whose packets are dropped. What another server stores still gets to a parked
// pop in time, because the watcher does not rely on it, and pushes go on.
func TestSilentListenerIsMadeUpFor(t *testing.T) {
	t.Parallel()
	s := newSpooling(t)
	tapped, err := url.Parse(s.dsn)
	require.NoError(t, err)
	tapped.Host = s.wire.listener.Addr().String()
	serve := func(env ...string) *server {
		cmd := program(t, "serve", "--dsn", s.dsn, "--migrate", "--port", "0")
		cmd.Env = append(append(cmd.Env, "DB_POOL_SIZE=4"), env...)
		server := launchCmd(t, cmd)
		t.Cleanup(func() { _ = server.cmd.Process.Kill(); <-server.exited })
		return server
	}
	deaf, other := serve("REGENT_LISTEN="+tapped.String()), serve()
	const both = `SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent listen'`
	require.Eventually(t, func() bool { return s.is(both) }, 20*time.Second, 10*time.Millisecond, "both listen")
	s.wire.holdWhen(func() bool { return true })
	late := []time.Duration{}
	for len(late) == 0 || late[len(late)-1] >= 2*time.Second { // a busy machine may be late, but not every time
		require.Less(t, len(late), 6, "never under 2 s: %v", late)
		late = append(late, s.tookTo(deaf, other))
	}
	require.Eventually(t, func() bool { return strings.Contains(deaf.errOut.String(), "lost the listening connection") }, time.Minute, 50*time.Millisecond, "the log tells: %s", deaf.errOut)
	s.wire.holdWhen(nil)
	s.wire.holding.Store(false)
	require.Eventually(t, func() bool { return s.is(both) }, time.Minute, 50*time.Millisecond, "it listens again: %s", deaf.errOut)
}

// tookTo is how long a message that one server stored took to a pop parked at
// another.
func (s *spooling) tookTo(deaf, other *server) time.Duration {
	t := s.t
	t.Helper()
	got := make(chan time.Time, 1)
	go func() {
		answer, err := http.Get(deaf.url + "/api/v1/pop/queue/q?wait=true&timeout=30000&autoAck=true")
		if err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK {
			got <- time.Now()
		}
		close(got)
	}()
	require.Eventually(t, func() bool { return s.is(`SELECT count(*) = 1 FROM queen.consumer_groups_metadata`) }, 20*time.Second, 10*time.Millisecond, "parked")
	require.Contains(t, s.push(other, 1), `"status":"queued"`)
	pushed := time.Now()
	at, ok := <-got
	require.True(t, ok, "%s", deaf.errOut)
	return at.Sub(pushed)
}
