package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeClient stores in memory and deduplicates like the server.
type fakeClient struct {
	client // the calls that a push does not make
	mu     sync.Mutex
	stored map[string][]string // payloads by partition
	ids    map[string]bool
	busy   map[string]bool
	clash  bool
	before func(items []pushItem) error
	fail   func(it pushItem) bool
}

func newFake() *fakeClient {
	return &fakeClient{stored: map[string][]string{}, ids: map[string]bool{}, busy: map[string]bool{}}
}

func (f *fakeClient) Push(_ context.Context, items []pushItem) ([]pushVerdict, error) {
	f.occupy(items, true)
	defer f.occupy(items, false)
	time.Sleep(time.Millisecond)
	if f.before != nil {
		if err := f.before(items); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	verdicts := make([]pushVerdict, len(items))
	for i, it := range items {
		key := it.Partition + "/" + it.TransactionID
		switch {
		case f.fail != nil && f.fail(it):
			verdicts[i] = pushVerdict{Status: "failed", Error: "disk full"}
		case f.ids[key]:
			verdicts[i].Status = "duplicate"
		default:
			f.ids[key] = true
			f.stored[it.Partition] = append(f.stored[it.Partition], string(it.Payload))
			verdicts[i].Status = "queued"
		}
	}
	return verdicts, nil
}

// occupy notes when two calls carry one partition at the same time.
func (f *fakeClient) occupy(items []pushItem, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[string]bool{}
	for _, it := range items {
		if !seen[it.Partition] {
			f.clash = f.clash || (on && f.busy[it.Partition])
			f.busy[it.Partition] = on
			seen[it.Partition] = true
		}
	}
}

func pushText(t *testing.T, f *fakeClient, m itemMaker, change func(*pusher), text string) (*pusher, error) {
	t.Helper()
	p := &pusher{client: f, maker: m, batch: 7, batchBytes: defaultBatchBytes, concurrency: 4, onBad: func(error) {}, track: newTracker(line{})}
	if change != nil {
		change(p)
	}
	return p, p.run(t.Context(), newLineReader(strings.NewReader(text), line{}))
}

func numbered(lines, partitions int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "{\"p\":\"%d\",\"n\":%d}\n", i%partitions, i)
	}
	return b.String()
}

func TestPushKeepsTheOrderOfEachPartition(t *testing.T) {
	t.Parallel()
	f := newFake()
	p, err := pushText(t, f, maker(t, "p", ""), nil, numbered(2000, 13))
	require.NoError(t, err)
	require.False(t, f.clash, "a partition was in two calls at a time")
	require.EqualValues(t, 2000, p.counts.queued.Load())
	mark, _ := p.track.state()
	require.EqualValues(t, 2000, mark.no)
	for name, payloads := range f.stored {
		last := -1
		for _, text := range payloads {
			var doc struct{ N int }
			require.NoError(t, json.Unmarshal([]byte(text), &doc))
			require.Greater(t, doc.N, last, "partition %s", name)
			last = doc.N
		}
	}
}

func TestPushStopsAtABadLine(t *testing.T) {
	t.Parallel()
	f := newFake()
	p, err := pushText(t, f, maker(t, "p", ""), nil, numbered(50, 3)+"nonsense\n"+numbered(50, 3))
	var bad *badLine
	require.ErrorAs(t, err, &bad)
	require.EqualValues(t, 51, bad.no)
	require.EqualValues(t, 50, p.counts.queued.Load(), "all before it, nothing behind it")
	mark, _ := p.track.state()
	require.EqualValues(t, 50, mark.no)
}

func TestPushSkipsBadLines(t *testing.T) {
	t.Parallel()
	var said []string
	p, err := pushText(t, newFake(), maker(t, "p", ""), func(p *pusher) {
		p.skipBad = true
		p.onBad = func(err error) { said = append(said, err.Error()) }
	}, numbered(5, 2)+"nonsense\n\n"+`{"q":1}`+"\n"+numbered(5, 2))
	require.NoError(t, err)
	require.EqualValues(t, 10, p.counts.queued.Load())
	require.EqualValues(t, 2, p.counts.skipped.Load())
	require.Len(t, said, 2)
	mark, _ := p.track.state()
	require.EqualValues(t, 13, mark.no)
}

func TestPushRepeatsFailedItems(t *testing.T) {
	t.Parallel()
	f := newFake()
	tries := 0
	f.fail = func(it pushItem) bool {
		if it.TransactionID == "f:000000000003" && tries < 2 {
			tries++
			return true
		}
		return false
	}
	p, err := pushText(t, f, maker(t, "", ""), nil, numbered(6, 1))
	require.NoError(t, err)
	require.EqualValues(t, 6, p.counts.queued.Load())
	require.Zero(t, p.counts.failed.Load())
}

func TestPushEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	f := newFake()
	broken := errors.New("broken")
	f.before = func(items []pushItem) error {
		for _, it := range items {
			if it.Partition == "1" {
				return broken
			}
		}
		return nil
	}
	p, err := pushText(t, f, maker(t, "p", ""), nil, numbered(5000, 2))
	require.ErrorIs(t, err, broken)
	mark, _ := p.track.state()
	require.LessOrEqual(t, mark.no, int64(1), "line 2 is not acknowledged, whatever came behind it")
}

func TestPushBoundsWhatItHolds(t *testing.T) {
	t.Parallel()
	large := `"` + strings.Repeat("x", 12<<20) + `"` + "\n"
	f := newFake()
	p, err := pushText(t, f, maker(t, "", ""), nil, strings.Repeat(large, 6)) // more than memoryBytes
	require.NoError(t, err)
	require.EqualValues(t, 6, p.counts.queued.Load())
}

// An interrupted push from standard input ends although no line comes, and counts
// what was under way.
func TestPushOfStandardInputIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, answeredFirst := range map[string]bool{"no line comes": true, "an answer is due": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancelCause(t.Context())
			arrived, may := make(chan struct{}), make(chan struct{})
			server := serveHTTP(t, 0, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				close(arrived)
				<-may
				fmt.Fprint(w, `[{"status":"queued"}]`)
			})
			in, typed := io.Pipe() // never closed, as a terminal
			go func() {
				_, _ = io.WriteString(typed, "1\n")
				<-arrived
				if answeredFirst {
					close(may)
				}
				interrupt(errors.New("interrupt signal received"))
				if !answeredFirst {
					close(may)
				}
			}()
			var out, errOut bytes.Buffer
			code := run(ctx, []string{"push", "q", "--url", server.base.String()}, in, &out, &errOut)
			require.Equal(t, exitUser, code)
			require.Contains(t, errOut.String(), "regent: push of standard input stopped: interrupted\n")
			require.EqualValues(t, 1, report(t, result{out: out.String()}).Queued)
		})
	}
}
