package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTrackerWaitsForGaps(t *testing.T) {
	t.Parallel()
	tr := newTracker(line{no: 10, end: 100})
	for no := int64(11); no <= 14; no++ {
		tr.begin(line{no: no, end: no * 10})
	}
	mark := func() line { m, _ := tr.state(); return m }
	tr.finish(12)
	tr.finish(14)
	require.Equal(t, line{no: 10, end: 100}, mark())
	tr.finish(11)
	require.Equal(t, line{no: 12, end: 120}, mark())
	tr.finish(13)
	require.Equal(t, line{no: 14, end: 140}, mark())
}

func TestTrackerInAnyOrder(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	tr := newTracker(line{})
	const lines = 500
	done := make([]bool, lines+1)
	for no := int64(1); no <= lines; no++ {
		tr.begin(line{no: no, end: 2 * no})
	}
	for _, i := range rng.Perm(lines) {
		tr.finish(int64(i + 1))
		done[i+1] = true
		want := 0
		for want < lines && done[want+1] {
			want++
		}
		mark, _ := tr.state()
		require.Equal(t, line{no: int64(want), end: int64(2 * want)}, mark, "seed %d", seed)
	}
}

func TestProgressFileRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x"+progressSuffix)
	none, err := loadProgress(path)
	require.NoError(t, err)
	require.Nil(t, none)

	p := progress{Queue: "q", QueueID: "id", PartitionKey: "a", Input: input{Size: 9, SHA256: "f"},
		Line: 3, Offset: 7, Time: time.Now().UTC()}
	require.NoError(t, p.save(path))
	p.Line = 4
	require.NoError(t, p.save(path))
	got, err := loadProgress(path)
	require.NoError(t, err)
	require.Empty(t, got.mismatch(p))
	require.EqualValues(t, 4, got.Line)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing temporary stays")

	require.NoError(t, os.WriteFile(path, []byte(`{"line":`), 0o600))
	_, err = loadProgress(path)
	require.ErrorContains(t, err, "damaged")
}

func TestProgressOfAnotherPushIsRefused(t *testing.T) {
	t.Parallel()
	base := progress{Queue: "q", IDKey: "i", Input: input{Size: 9, SHA256: "f"}, Line: 1, Offset: 5}
	for name, change := range map[string]func(*progress){
		"queue": func(p *progress) { p.Queue = "other" }, "partition": func(p *progress) { p.Partition = "p" },
		"key": func(p *progress) { p.PartitionKey = "k" }, "id": func(p *progress) { p.IDKey = "" },
		"size": func(p *progress) { p.Input.Size++ }, "content": func(p *progress) { p.Input.SHA256 = "g" },
	} {
		now := base
		change(&now)
		require.NotEmpty(t, base.mismatch(now), name)
	}
	require.Empty(t, base.mismatch(base))
}

// The content alone is the identity, all of it: neither the name nor the time.
func TestAnInputIsItsContent(t *testing.T) {
	t.Parallel()
	now, then := time.Now(), time.Unix(1e9, 0)
	long := strings.Repeat("1\n", 1<<20)
	identity := func(name, text string, at time.Time) input {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		in, err := identify(t.Context(), f)
		require.NoError(t, err)
		at0, err := f.Seek(0, io.SeekCurrent)
		require.NoError(t, err)
		require.Zero(t, at0)
		return in
	}
	require.Equal(t, "53c234e5e8472b6ac51c1ae1cab3fe06fad053beb8ebfd8977b010655bfdd3c3", identity("a", "2\n", now).SHA256)
	for name, c := range map[string]struct {
		text string
		at   time.Time
		same bool
	}{
		"another name and time": {long, then, true}, "another end": {long[:len(long)-2] + "2\n", now, false},
		"more": {long + "1\n", now, false}, "less": {long[:len(long)-2], now, false}, "nothing": {"", now, false},
	} {
		first, second := identity("a", long, now), identity("b", c.text, c.at)
		require.EqualValues(t, len(c.text), second.Size, name)
		require.Equal(t, c.same, first == second, name)
		require.Equal(t, c.same, first.idPrefix() == second.idPrefix(), name)
	}
}

// A push says why it does not go on, and what --restart would store again.
func TestProgressSaysWhatARestartRepeats(t *testing.T) {
	t.Parallel()
	now := progress{Queue: "q", Input: input{Size: 9, SHA256: "f"}}
	for name, c := range map[string]struct{ file, why, repeats string }{
		"another content": {`{"queue":"q","input":{"size":9,"sha256":"g"},"line":1,"offset":5}`, "another content", "those before the change, too"},
		"another queue":   {`{"queue":"p","input":{"size":9,"sha256":"f"},"line":1,"offset":5}`, `queue "p"`, ""},
		"an old file": {`{"queue":"q","input":{"size":9,"modTime":"2026-01-01T00:00:00Z","fingerprint":"f"},"line":1,"offset":5}`,
			"of an earlier version", "sent already"},
	} {
		path := filepath.Join(t.TempDir(), "x"+progressSuffix)
		require.NoError(t, os.WriteFile(path, []byte(c.file), 0o600))
		old, err := loadProgress(path)
		require.NoError(t, err)
		require.Contains(t, old.mismatch(now), c.why, name)
		require.Contains(t, old.restarting(now), c.repeats, name)
		require.Equal(t, c.repeats != "", strings.Contains(old.restarting(now), "unless --id-key"), name)
	}
}
