package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"time"
)

const progressSuffix = ".regent-progress"

// input identifies a file by its content: neither its name nor its time counts.
type input struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // empty in progress files of versions that knew inputs by their time
}

// idPrefix begins the ids of the lines: 128 bits of the hash.
func (in input) idPrefix() string { return in.SHA256[:32] }

// identify reads all of f and leaves it at offset 0. The ids of messages are made
// from what it finds, so another content must never pass for this one, and this
// one must never pass for another.
func identify(ctx context.Context, f *os.File) (input, error) {
	h := sha256.New()
	size, err := io.Copy(h, interruptible(ctx, io.NewSectionReader(f, 0, math.MaxInt64)))
	if err != nil {
		return input{}, fmt.Errorf("read input: %w", err)
	}
	return input{Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// progress is the content of the file beside the input.
type progress struct {
	Queue        string    `json:"queue"`
	QueueID      string    `json:"queueId,omitempty"` // tells a queue from a later one of the same name, or on another server
	Partition    string    `json:"partition,omitempty"`
	PartitionKey string    `json:"partitionKey,omitempty"`
	IDKey        string    `json:"idKey,omitempty"`
	Key          string    `json:"key,omitempty"`
	Input        input     `json:"input"`
	Line         int64     `json:"line"`   // every line up to this one is acknowledged
	Offset       int64     `json:"offset"` // of the byte behind that line
	Time         time.Time `json:"time"`   // of the last acknowledgement
}

// loadProgress returns nil when there is no file.
func loadProgress(path string) (*progress, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	var p progress
	if err := json.Unmarshal(text, &p); err != nil || p.Line < 0 || p.Offset < 0 {
		return nil, fmt.Errorf("progress file %q is damaged; --restart pushes the input from its first line", path)
	}
	return &p, nil
}

// mismatch says why p does not belong to the push that want describes, or "".
func (p *progress) mismatch(want progress) string {
	switch {
	case p.Queue != want.Queue:
		return fmt.Sprintf("is of a push to queue %q", p.Queue)
	case p.Partition != want.Partition, p.PartitionKey != want.PartitionKey, p.IDKey != want.IDKey, p.Key != want.Key:
		return "is of a push with another --partition, --partition-key, --id-key or --key"
	case p.Input.SHA256 == "":
		return "is of an earlier version, which did not know inputs by their content"
	case p.Input != want.Input:
		return "is of another content of the input, which has changed since"
	case p.Offset > want.Input.Size:
		return "points behind the end of the input"
	}
	return ""
}

// restarting says what becomes of the lines that p has sent when they are pushed
// from the first line on as want describes.
func (p *progress) restarting(want progress) string {
	text := "--restart pushes the input from its first line"
	if p.Input != want.Input {
		text += " and stores lines again that were sent already, those before the change, too, for their ids are made of the whole content, unless --id-key makes them"
	}
	return text
}

// save replaces the file at path in one step.
func (p progress) save(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("save progress: %w", err)
	}
	if err := replaceFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("save progress: %w", err)
	}
	return nil
}

// tracker knows up to which line everything is acknowledged. Lines finish in
// any order.
type tracker struct {
	mu   sync.Mutex
	mark line // the last acknowledged line without a gap before it
	at   time.Time
	open []tracked // the lines behind mark, ascending and without gaps
}

type tracked struct {
	end  int64
	done bool
}

func newTracker(from line) *tracker { return &tracker{mark: line{no: from.no, end: from.end}} }

// begin takes note of the next line of the input.
func (t *tracker) begin(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, tracked{end: l.end})
}

// finish says that a line needs no more work.
func (t *tracker) finish(no int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[no-t.mark.no-1].done = true
	n := 0
	for n < len(t.open) && t.open[n].done {
		n++
	}
	if n == 0 {
		return
	}
	t.mark = line{no: t.mark.no + int64(n), end: t.open[n-1].end}
	t.at = time.Now()
	t.open = t.open[n:]
}

// state returns the last acknowledged line and when that was.
func (t *tracker) state() (line, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mark, t.at
}
