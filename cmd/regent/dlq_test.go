package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// killAll pushes n messages and dead-letters all of them for group g.
func killAll(t *testing.T, face []string, queue, partition string, n int) {
	t.Helper()
	lines := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&lines, "{\"n\": %d}\n", i)
	}
	got := call(t, lines.String(), with(face, "push", queue, "--partition", partition)...)
	require.Equal(t, 0, got.code, got.err)
	for range n {
		popped := call(t, "", with(face, "pop", queue, "--group", "g", "--from", "all", "--batch", "1", "-o", "ndjson")...)
		require.Equal(t, 0, popped.code, popped.err)
		acked := call(t, popped.out, with(face, "ack", "-", "--status", "dlq", "--error", "no "+queue)...)
		require.Equal(t, 0, acked.code, acked.err)
	}
}

func letters(t *testing.T, face []string, args ...string) (all []deadLetter) {
	t.Helper()
	got := call(t, "", with(face, append([]string{"dlq", "list"}, args...)...)...)
	require.Equal(t, 0, got.code, got.err)
	require.NoError(t, json.Unmarshal([]byte(got.out), &all))
	return all
}

func words(t *testing.T, text string) (all []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	for dec.More() {
		var o outcome
		require.NoError(t, dec.Decode(&o))
		all = append(all, o.Result)
	}
	return all
}

func TestDeadLetterCommands(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := "dlq-" + name
			killAll(t, face, queue, "p", 4)
			listed := letters(t, face, queue)
			require.Len(t, listed, 4)
			require.Equal(t, `{"n":3}`, compacted(t, listed[0].Data), "newest first")
			require.Len(t, letters(t, face, queue, "--limit", "1", "--offset", "3"), 1)
			require.Empty(t, letters(t, face, queue, "--group", "other"))
			require.Contains(t, call(t, "", with(face, "dlq", "list", queue, "-o", "table")...).out, "no "+queue)

			// One, to its own place and elsewhere.
			got := call(t, "", with(face, "dlq", "replay", listed[3].ID)...)
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.out, `"result": "moved"`)
			require.Equal(t, exitNothing, call(t, "", with(face, "dlq", "replay", listed[3].ID)...).code)
			require.Equal(t, exitNothing, call(t, "", with(face, "dlq", "replay", "nonsense")...).code)
			got = call(t, "", with(face, "dlq", "replay", listed[2].ID, "--to-queue", queue+"-repair", "--to-partition", "x", "-o", "table")...)
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.out, queue+"-repair")

			// Many: shown first, then done, then nothing left.
			require.Equal(t, exitUser, call(t, "", with(face, "dlq", "redrive")...).code, "every queue only with --all")
			require.Equal(t, exitUser, call(t, "", with(face, "dlq", "redrive", queue, "--all")...).code)
			dry := call(t, "", with(face, "dlq", "redrive", queue, "--dry-run", "-o", "ndjson")...)
			require.Equal(t, 0, dry.code, dry.err)
			require.Equal(t, []string{"movable", "movable"}, words(t, dry.out))
			asked := call(t, "", with(face, "dlq", "redrive", queue)...)
			require.Equal(t, exitUser, asked.code)
			require.Contains(t, asked.err, "2 movable")
			require.Len(t, letters(t, face, queue), 2, "neither changed anything")
			for _, filter := range [][]string{{"--error", "other"}, {"--partition", "other"}, {"--group", "other"}, {"--until", "1h ago"}, {"--since", "2100-01-01T00:00:00Z"}} {
				require.Equal(t, exitNothing, call(t, "", with(face, append([]string{"dlq", "redrive", queue, "--yes"}, filter...)...)...).code, "%v", filter)
			}
			done := call(t, "", with(face, "dlq", "redrive", queue, "--yes", "--error", "no "+queue, "--since", "1h ago", "-o", "ndjson")...)
			require.Equal(t, 0, done.code, done.err)
			require.Equal(t, []string{"moved", "moved"}, words(t, done.out))
			require.Contains(t, done.err, "2 moved")
			require.Equal(t, exitNothing, call(t, "", with(face, "dlq", "redrive", queue, "--yes")...).code)
			popped := call(t, "", with(face, "pop", queue, "--group", "g", "--batch", "9")...)
			require.Len(t, decodeLines(t, popped.out), 3, popped.out)

			// Deleting.
			killAll(t, face, queue+"-b", "p", 2)
			require.Equal(t, exitUser, call(t, "", with(face, "dlq", "delete", queue+"-b")...).code)
			require.Contains(t, call(t, "", with(face, "dlq", "delete", queue+"-b", "--dry-run")...).out, `"matching": 2`)
			require.Contains(t, call(t, "", with(face, "dlq", "delete", queue+"-b", "--yes")...).out, `"deleted": 2`)
			require.Equal(t, exitNothing, call(t, "", with(face, "dlq", "delete", queue+"-b", "--yes")...).code)
		})
	}
}

func compacted(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	out, err := json.Marshal(value)
	require.NoError(t, err)
	return string(out)
}

// pileClient answers a redrive from memory; what it was asked for is kept.
type pileClient struct {
	client
	pile  []outcome
	steps []int
}

func (p *pileClient) Redrive(_ context.Context, _ letterFilter, step int, _ bool, each func([]outcome) error) error {
	for len(p.pile) > 0 {
		n := min(step, len(p.pile))
		p.steps = append(p.steps, n)
		part := p.pile[:n]
		p.pile = p.pile[n:]
		if err := each(part); err != nil {
			return err
		}
	}
	return nil
}

func TestRedriveKeepsToItsRate(t *testing.T) {
	t.Parallel()
	f := redriveFlags{rate: 200}
	require.NoError(t, f.prepare([]string{"q"}, time.Now()))
	require.Equal(t, 50, f.step)
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	p := &pileClient{pile: make([]outcome, 150)}
	done, began := 0, time.Now()
	require.NoError(t, p.Redrive(t.Context(), f.filter, f.step, false, func(o []outcome) error {
		done += len(o)
		return f.pace(cmd, done)
	}))
	require.GreaterOrEqual(t, time.Since(began), 740*time.Millisecond, "150 at 200 a second")
	require.Equal(t, []int{50, 50, 50}, p.steps)
}

func TestTallyJudgesWhatWasKept(t *testing.T) {
	t.Parallel()
	var sum tally
	require.NoError(t, sum.add([]outcome{{Result: "moved"}, {Result: "gone"}}).judge())
	err := sum.add([]outcome{{Result: "failed", Error: "its payload is lost"}, {Result: "busy"}}).judge()
	require.ErrorContains(t, err, "2 of 4 dead letters were kept: its payload is lost")
	require.Equal(t, exitUser, exitCode(err))
	require.Equal(t, "1 moved, 1 gone, 1 failed, 1 busy", sum.String())
}
