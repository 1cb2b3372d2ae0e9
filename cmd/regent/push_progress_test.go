package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
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

	p := progress{Queue: "q", QueueID: "id", PartitionKey: "a", Input: input{Size: 9, ModTime: time.Now().UTC(), Fingerprint: "f"},
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
	base := progress{Queue: "q", IDKey: "i", Input: input{Size: 9, ModTime: time.Unix(1, 0), Fingerprint: "f"}, Line: 1, Offset: 5}
	for name, change := range map[string]func(*progress){
		"queue": func(p *progress) { p.Queue = "other" }, "partition": func(p *progress) { p.Partition = "p" },
		"key": func(p *progress) { p.PartitionKey = "k" }, "id": func(p *progress) { p.IDKey = "" },
		"size": func(p *progress) { p.Input.Size++ }, "time": func(p *progress) { p.Input.ModTime = time.Unix(2, 0) },
		"content": func(p *progress) { p.Input.Fingerprint = "g" },
	} {
		now := base
		change(&now)
		require.NotEmpty(t, base.mismatch(now), name)
	}
	require.Empty(t, base.mismatch(base))
}

func TestFingerprintTellsFilesThatBeginAlike(t *testing.T) {
	t.Parallel()
	print := func(name, text string, at time.Time) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		in, err := identify(f)
		require.NoError(t, err)
		return in.Fingerprint
	}
	at := time.Unix(1e9, 0)
	same := print("a", "1\n2\n", at)
	require.Equal(t, same, print("b", "1\n2\n", at))
	require.NotEqual(t, same, print("c", "1\n3\n", at))
	require.NotEqual(t, same, print("d", "1\n2\n3\n", at))
	require.NotEqual(t, same, print("e", "1\n2\n", at.Add(time.Second)))
}
