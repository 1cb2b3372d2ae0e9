package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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

			// A lost payload, which the list does not tell from null.
			killAll(t, face, queue+"-c", "p", 1)
			conn, err := pgx.Connect(t.Context(), s.dsn(t))
			require.NoError(t, err)
			defer conn.Close(context.Background())
			_, err = conn.Exec(t.Context(), `UPDATE queen.log_dlq SET payload = NULL WHERE id = $1`, letters(t, face, queue+"-c")[0].ID)
			require.NoError(t, err)
			dry = call(t, "", with(face, "dlq", "redrive", queue+"-c", "--dry-run", "-o", "ndjson")...)
			require.Equal(t, map[string][]string{"http": {"movable"}, "sql": {"failed"}}[name], words(t, dry.out))
			require.Contains(t, dry.out, "lost")
			require.Equal(t, exitUser, call(t, "", with(face, "dlq", "redrive", queue+"-c", "--yes")...).code)

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

func (p *pileClient) Redrive(_ context.Context, _ letterFilter, step int, _ bool, each func(done []outcome, of int) error) error {
	for len(p.pile) > 0 {
		n := min(step, len(p.pile))
		p.steps = append(p.steps, n)
		part := p.pile[:n]
		p.pile = p.pile[n:]
		if err := each(part, 0); err != nil {
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
	require.NoError(t, p.Redrive(t.Context(), f.filter, f.step, false, func(o []outcome, _ int) error {
		done += len(o)
		return f.pace(cmd, done)
	}))
	require.GreaterOrEqual(t, time.Since(began), 740*time.Millisecond, "150 at 200 a second")
	require.Equal(t, []int{50, 50, 50}, p.steps)

	var told strings.Builder
	f.told = time.Time{}
	f.tell(&told, (&tally{}).add([]outcome{{Result: "moved"}, {Result: "gone"}}))
	f.told = time.Now().Add(time.Hour)
	f.tell(&told, &tally{})
	f.told = time.Time{}
	f.tell(&told, &tally{}) // nothing yet
	f.told = time.Time{}
	f.tell(&told, &tally{total: 1, of: 1250, counts: map[string]int{"moved": 1}})
	require.Equal(t, "1 moved, 1 gone so far\n1 moved so far, of 1,250\n", told.String())
}

func TestTallyJudgesWhatWasKept(t *testing.T) {
	t.Parallel()
	var sum tally
	require.NoError(t, sum.add([]outcome{{Result: "moved"}, {Result: "gone"}}).judge())
	err := sum.add([]outcome{{Result: "failed", Error: "its payload is lost"}, {Result: "busy"}}).judge()
	require.ErrorContains(t, err, "2 of 4 dead letters kept: its payload is lost")
	require.Equal(t, exitUser, exitCode(err))
	require.Equal(t, "1 moved, 1 gone, 1 failed, 1 busy", sum.String())
}

// pile is a server with dead letters, which answers a replay once it may.
type pile struct {
	mu      sync.Mutex
	letters []deadLetter
	running map[string]int // by partition
	most    int            // replays at a time
	moved   []string
	failing string          // the id that is answered 500
	arrived chan struct{}   // a replay has come
	may     <-chan struct{} // closed: replays are answered
}

// newPile has n letters, two in turn of each of so many partitions, the oldest first.
func newPile(n, partitions int, may <-chan struct{}) *pile {
	p := &pile{running: map[string]int{}, arrived: make(chan struct{}, n), may: may}
	for i := range n {
		part := fmt.Sprint("p", i/2%partitions)
		p.letters = append(p.letters, deadLetter{ID: fmt.Sprintf("id-%03d", i), PartitionID: part, Partition: part, Queue: "q", TransactionID: fmt.Sprint("t", i)})
	}
	return p
}

func (p *pile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, isReplay := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/dlq/"), "/replay")
	if !isReplay {
		newest := slices.Clone(p.letters)
		slices.Reverse(newest)
		_ = json.NewEncoder(w).Encode(map[string]any{"messages": newest})
		return
	}
	at := slices.IndexFunc(p.letters, func(l deadLetter) bool { return l.ID == id })
	part := p.letters[at].PartitionID
	p.begin(part)
	p.arrived <- struct{}{}
	<-p.may
	defer p.end(part)
	if id == p.failing {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	p.mu.Lock()
	p.moved = append(p.moved, id)
	p.mu.Unlock()
	fmt.Fprintf(w, `{"success":true,"result":"moved","dlqId":%q,"replayedAs":{"offset":%d}}`, id, at)
}

func (p *pile) begin(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[part]++
	all := 0
	for _, n := range p.running {
		all += n
	}
	p.most = max(p.most, all)
	if p.running[part] > 1 {
		p.most = 1000 // two of one partition: their order is lost
	}
}

func (p *pile) end(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[part]--
}

// redrive runs one against p, and returns what was told.
func (p *pile) redrive(ctx context.Context, t *testing.T) (told []string, err error) {
	t.Helper()
	c := serveHTTP(t, 0, p.ServeHTTP)
	err = c.Redrive(ctx, letterFilter{}, redriveStep, false, func(done []outcome, of int) error {
		require.Equal(t, len(p.letters), of)
		for _, o := range done {
			require.Equal(t, "moved", o.Result)
			require.Equal(t, "t"+strings.TrimLeft(o.DlqID[3:len(o.DlqID)-1], "0")+o.DlqID[len(o.DlqID)-1:], o.TransactionID)
			told = append(told, o.DlqID)
		}
		return nil
	})
	return told, err
}

// Over HTTP several partitions go side by side, each in its order, and the outcomes
// are told in the order of the failures.
func TestARedriveOverHTTPHasSeveralInFlight(t *testing.T) {
	t.Parallel()
	may := make(chan struct{})
	p := newPile(250, redriveInFlight+4, may)
	go func() { // nobody is answered before so many ask at a time
		for range redriveInFlight {
			<-p.arrived
		}
		close(may)
	}()
	told, err := p.redrive(t.Context(), t)
	require.NoError(t, err)
	require.Len(t, told, 250)
	require.True(t, slices.IsSorted(told), "%v", told)
	require.Equal(t, redriveInFlight, p.most)
	moved := map[string]string{}
	for _, id := range p.moved {
		part := p.letters[slices.IndexFunc(p.letters, func(l deadLetter) bool { return l.ID == id })].Partition
		require.Greater(t, id, moved[part], "the order of %s", part)
		moved[part] = id
	}
}

// What the server moved is told, whatever ends the redrive.
func TestARedriveThatIsEndedTellsWhatItMoved(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	close(open)
	failed := newPile(250, 12, open)
	failed.failing = "id-130"
	told, err := failed.redrive(t.Context(), t)
	require.Equal(t, exitServer, exitCode(err))
	require.ErrorContains(t, err, "replay id-130: ")
	slices.Sort(failed.moved)
	require.Equal(t, failed.moved, told)
	require.NotContains(t, told, "id-131", "the next of its partition")

	may := make(chan struct{})
	p := newPile(250, 12, may)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range redriveInFlight {
			<-p.arrived
		}
		cancel()
		close(may)
	}()
	told, err = p.redrive(ctx, t)
	require.ErrorIs(t, err, context.Canceled)
	slices.Sort(p.moved)
	require.Equal(t, p.moved, told)
	require.Len(t, told, redriveInFlight)
}

// An interrupt is no fault of the server's: a redrive tells what it moved and how to
// go on, a pop that waits just ends.
func TestInterruptsOfRedriveAndPop(t *testing.T) {
	t.Parallel()
	signal := errors.New("interrupt signal received")
	may := make(chan struct{})
	p := newPile(250, 12, may)
	ctx, interrupt := context.WithCancelCause(t.Context())
	go func() {
		for range redriveInFlight {
			<-p.arrived
		}
		interrupt(signal)
		close(may)
	}()
	var out, errOut bytes.Buffer
	code := run(ctx, []string{"dlq", "redrive", "q", "--yes", "-o", "ndjson", "--url", serveHTTP(t, 0, p.ServeHTTP).base.String()}, nil, &out, &errOut)
	require.Equal(t, exitUser, code)
	require.Len(t, words(t, out.String()), redriveInFlight)
	require.True(t, strings.HasSuffix(errOut.String(), "8 moved\nregent: redrive stopped: interrupted; the same command goes on with what is left\n"), errOut.String())

	arrived := make(chan struct{})
	waiting := serveHTTP(t, 0, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	s := shared.get(t)
	for face, c := range map[string]struct {
		args  []string
		begun func() bool
	}{
		"http": {[]string{"--url", waiting.base.String()}, func() bool { <-arrived; return true }},
		"sql":  {[]string{"--dsn", s.dsn(t)}, func() bool { return call(t, "", "queue", "show", "interrupted", "--dsn", s.dsn(t)).code == 0 }},
	} {
		ctx, interrupt := context.WithCancelCause(t.Context())
		ended := make(chan result, 1)
		go func() {
			var out, errOut bytes.Buffer
			code := run(ctx, append([]string{"pop", "interrupted", "--wait", "1h"}, c.args...), nil, &out, &errOut)
			ended <- result{code, out.String(), errOut.String()}
		}()
		require.Eventually(t, c.begun, time.Minute, 100*time.Millisecond, face)
		interrupt(signal)
		require.Equal(t, result{}, <-ended, face)
	}
}

// What an answer does not tell is left out, or a dash.
func TestOutcomesLeaveOutWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status            int
		answer, json, row string
		code              int
	}{
		"moved": {200, `{"success":true,"result":"moved","queue":"q","partition":"p","consumerGroup":"g","dlqId":"a","originalTransactionId":"t","replayedAs":{"offset":7}}`,
			`{"dlqId":"a","result":"moved","queue":"q","partition":"p","consumerGroup":"g","transactionId":"t","offset":7}`, "moved - q p g t 7", 0},
		"failed": {400, `{"error":"its payload is lost","result":"failed"}`,
			`{"dlqId":"a","result":"failed","offset":null,"error":"its payload is lost"}`, "failed - - - - - - its payload is lost", exitUser},
	} {
		url := serveHTTP(t, 0, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.answer)
		}).base.String()
		got := call(t, "", "dlq", "replay", "a", "--url", url)
		require.Equal(t, c.code, got.code, name)
		require.JSONEq(t, c.json, got.out, name)
		rows := strings.Split(call(t, "", "dlq", "replay", "a", "--url", url, "-o", "table").out, "\n")
		require.Equal(t, c.row, strings.Join(strings.Fields(rows[1]), " "), name)
	}
}

// A redrive that is killed in the middle and started anew moves each dead letter
// once, in its order, and leaves at most one step untold.
func TestARedriveThatIsKilledIsStartedAnew(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	conn, err := pgx.Connect(t.Context(), s.dsn(t))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	const letters, step = 120, 5
	for name, face := range faces(t, s) {
		queue := fmt.Sprintf("killed-%s-%d", name, time.Now().UnixNano())
		_, err := conn.Exec(t.Context(), `WITH made AS (SELECT queen.push_v1($1, '-1', 'p' || i) FROM generate_series(0, 3) i) SELECT count(*) FROM made`, queue)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload, failed_at)
			SELECT p.id, 'g', i, gen_random_uuid(), 't' || i, i::text, now() - interval '1 hour' + i * interval '1 ms'
			FROM generate_series(0, $2 - 1) i JOIN queen.queues q ON q.name = $1 JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = 'p' || i % 4`, queue, letters)
		require.NoError(t, err)

		// At this rate it would take six seconds.
		first := killedRedrive(t, with(face, "dlq", "redrive", queue, "--yes", "--rate", "20", "-o", "ndjson"), 2*step)
		second := call(t, "", with(face, "dlq", "redrive", queue, "--yes", "-o", "ndjson")...)
		require.Equal(t, 0, second.code, second.err)
		told := append(words(t, first), words(t, second.out)...)
		require.NotContains(t, told, "failed")
		require.InDelta(t, letters-step/2.0, len(told), step/2.0, "told at most once, and at most a step is missing")

		rows, err := conn.Query(t.Context(), `SELECT p.name, array_agg(f.payload::int ORDER BY s.base_offset, f.ord)
			FROM queen.queues q JOIN queen.log_partitions p ON p.queue_id = q.id JOIN queen.log_segments s ON s.partition_id = p.id,
			unnest(s.payloads) WITH ORDINALITY f (payload, ord) WHERE q.name = $1 GROUP BY p.name`, queue)
		require.NoError(t, err)
		total := 0
		for rows.Next() {
			var partition string
			var got []int
			require.NoError(t, rows.Scan(&partition, &got))
			require.True(t, slices.IsSorted(got), "%s: %v", partition, got)
			require.Len(t, slices.Compact(got), letters/4+1, "%s: each once", partition)
			total++
		}
		require.NoError(t, rows.Err())
		require.Equal(t, 4, total)
	}
}

// killedRedrive kills a redrive when it has told so many outcomes, and returns them.
func killedRedrive(t *testing.T, args []string, lines int) string {
	t.Helper()
	cmd := program(t, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var told strings.Builder
	scanner := bufio.NewScanner(out)
	for n := 1; scanner.Scan(); n++ {
		told.WriteString(scanner.Text() + "\n")
		if n == lines {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.Error(t, cmd.Wait(), "it was killed before it was done")
	return told.String()
}
