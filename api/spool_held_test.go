package api

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// drainTo drains until a condition of the folder holds, no step further: a crash
// comes then.
func (ts *testServer) drainTo(reached func() bool) {
	ts.t.Helper()
	for range 100 {
		_, _, err := ts.DrainSpool(context.Background())
		require.NoError(ts.t, err)
		if reached() {
			return
		}
	}
	require.FailNow(ts.t, "the drain does not get there")
}

// P-34: what was stored before a crash is never held on a start without its key,
// and never stored again by the next one with it. There is no dedup window to help.
func TestKeysThatComeAndGoStoreOnce(t *testing.T) {
	t.Parallel()
	both, none := withKeys(keyB, "old:"+keyA), withKeys(keyB, "")
	begin := func(t *testing.T, payloads ...string) *testServer {
		ts, _ := newSpoolServer(t, t.TempDir(), withKeys(keyA, ""))
		ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`)
		ts.turnSwitch(pushSwitch, true)
		ts.buffer("q", "p", payloads...)
		return ts
	}
	left := func(ts *testServer, pattern string) int { return len(files(t, ts.cfg.BufferDir, pattern)) }
	stored := func(ts *testServer, n int) func() bool { return func() bool { return len(ts.storedIn("q")) >= n } }

	t.Run("stored, not finished", func(t *testing.T) {
		t.Parallel()
		ts := begin(t, "1", "2")
		ts.turnSwitch(pushSwitch, false)
		ts.drainTo(stored(ts, 2))
		ts = ts.restart(none)
		ts.drainTo(func() bool { return left(ts, "*.spool*") == 0 })
		require.Zero(t, left(ts, "held/*"))
		ts = ts.restart(both)
		ts.emptySpool()
		require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
	})
	t.Run("held, stored, not finished", func(t *testing.T) {
		t.Parallel()
		ts := begin(t, "1").restart(none)
		ts.turnSwitch(pushSwitch, false)
		ts.drainTo(func() bool { return left(ts, "*.spool*") == 0 })
		require.Equal(t, 1, left(ts, "held/*.spool"))
		ts = ts.restart(both)
		ts.drainTo(stored(ts, 1))
		require.Equal(t, 1, left(ts, "held/*.spool"))
		ts = ts.restart(none)
		ts.turnSwitch(pushSwitch, true)
		ts.buffer("q", "p", "2")
		ts.turnSwitch(pushSwitch, false)
		ts.emptySpool()
		ts = ts.restart(both)
		ts.emptySpool()
		require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
	})
	t.Run("held, not passed over, stored", func(t *testing.T) {
		t.Parallel()
		ts := begin(t, "1").restart(none)
		p, err := ts.spool.next(1)
		require.NoError(t, err)
		require.NoError(t, ts.spool.keep(p))
		ts = ts.restart(both)
		ts.turnSwitch(pushSwitch, false)
		ts.drainTo(func() bool { return left(ts, "held/*.spool") == 0 })
		require.Equal(t, 1, left(ts, "*.spool"))
		for range 2 { // the second has nothing to do but to look
			ts = ts.restart(both)
			ts.emptySpool()
			require.Equal(t, []string{"1"}, ts.storedIn("q"))
			require.Zero(t, left(ts, "held/*"))
		}
	})
	t.Run("another file is finished while one is held", func(t *testing.T) {
		t.Parallel()
		ts := begin(t, "1")
		ts = ts.restart(none) // another spool: the held record and the next one have two ids
		ts.turnSwitch(pushSwitch, false)
		ts.drainTo(func() bool { return left(ts, "held/*.spool") == 1 && left(ts, "*.spool*") == 0 })
		ts = ts.restart(none)
		ts.drainTo(func() bool { return len(ts.spool.files) == 0 })
		require.Empty(t, ts.storedIn("q"))
		ts = ts.restart(both)
		ts.emptySpool()
		require.Equal(t, []string{"1"}, ts.storedIn("q"))
	})
}
