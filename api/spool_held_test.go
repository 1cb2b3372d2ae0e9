package api

import (
	"context"
	"os"
	"path/filepath"
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

// A held file was whole when it got its name: what is damaged since is kept aside,
// and its record is taken from the first file while that is there.
func TestDamagedHeldRecordIsKept(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*testing.T, string, []byte){
		"torn": func(t *testing.T, path string, text []byte) {
			require.NoError(t, os.Truncate(path, int64(len(text)-5)))
		},
		"zeros": func(t *testing.T, path string, text []byte) {
			require.NoError(t, os.WriteFile(path, make([]byte, len(text)), 0o600))
		},
		"empty": func(t *testing.T, path string, _ []byte) { require.NoError(t, os.Truncate(path, 0)) },
		"a bit": func(t *testing.T, path string, text []byte) {
			text[len(text)-9] ^= 1
			require.NoError(t, os.WriteFile(path, text, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, passed := range []bool{false, true} { // whether the record was passed over in the first file
				ts, _ := newSpoolServer(t, t.TempDir(), withKeys(keyA, ""))
				ts.turnSwitch(pushSwitch, true)
				ts.buffer("q", "p", "1", "2")
				ts = ts.restart(withKeys(keyB, ""))
				ts.turnSwitch(pushSwitch, false)
				p, err := ts.spool.next(1)
				require.NoError(t, err)
				require.NoError(t, ts.spool.keep(p))
				if passed {
					ts.drainTo(func() bool { return len(files(t, ts.cfg.BufferDir, "*.spool*")) == 0 })
				}
				for i, path := range files(t, ts.cfg.BufferDir, "held/*.spool") {
					text, err := os.ReadFile(path)
					require.NoError(t, err)
					if i == 0 {
						damage(t, path, text)
					}
				}
				ts = ts.restart(withKeys(keyB, "old:"+keyA))
				ts.emptySpool()
				require.Len(t, files(t, ts.cfg.BufferDir, "failed/*.spool"), 1)
				require.Empty(t, files(t, ts.cfg.BufferDir, "held/*"))
				want := []string{"1", "2"}
				if passed {
					want = want[1:]
				}
				require.Equal(t, want, ts.storedIn("q"))
			}
		})
	}
}

// What is set aside is the only copy: no later file takes its name.
func TestDamagedFilesOfTwoRunsAreBothKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a[b") // no pattern, either
	require.NoError(t, os.Mkdir(dir, 0o700))
	ts, _ := newSpoolServer(t, dir)
	for range 2 {
		ts.turnSwitch(pushSwitch, true)
		ts.buffer("q", "p", "1", "2")
		found, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range found {
			if filepath.Ext(entry.Name()) == spoolSuffix {
				text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
				require.NoError(t, err)
				text[preambleLen+headLen+20] ^= 0x20
				require.NoError(t, os.WriteFile(filepath.Join(dir, entry.Name()), text, 0o600))
			}
		}
		ts = ts.restart()
		ts.turnSwitch(pushSwitch, false)
		ts.drainTo(func() bool { return ts.maintenance().BufferedMessages == 0 && len(ts.spool.files) == 0 })
	}
	kept, err := os.ReadDir(filepath.Join(dir, failedFolder))
	require.NoError(t, err)
	require.Len(t, kept, 2)
	require.Equal(t, []string{"2", "2"}, ts.storedIn("q"))
	// Its own files are no trouble of the database's: the drain says so, and goes on when they are mended.
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", "3")
	ts.turnSwitch(pushSwitch, false)
	path := ts.spool.files[0].path
	require.NoError(t, os.Rename(path, path+".away"))
	_, _, err = ts.DrainSpool(context.Background())
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.Rename(path+".away", path))
	ts.drainTo(func() bool { return len(ts.storedIn("q")) == 3 })
}
