package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// server is a running dev or serve process.
type server struct {
	cmd    *exec.Cmd
	url    string
	dir    string // data folder; empty for serve
	errOut *syncBuffer
	exited chan struct{}
	code   int
}

// syncBuffer may be written by a process and read by a test.
type syncBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// launch starts a server process and waits for its address.
func launch(t *testing.T, args ...string) *server {
	t.Helper()
	return launchCmd(t, program(t, args...))
}

func launchCmd(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	args := cmd.Args[1:]
	s := &server{cmd: cmd, errOut: &syncBuffer{}, exited: make(chan struct{})}
	s.cmd.Stderr = s.errOut
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if address, found := strings.CutPrefix(lines.Text(), "  API   "); found {
				ready <- address
			}
		}
		_ = s.cmd.Wait()
		s.code = s.cmd.ProcessState.ExitCode()
		close(s.exited)
	}()
	select {
	case s.url = <-ready:
	case <-s.exited:
		t.Fatalf("%v ended with %d: %s", args, s.code, s.errOut)
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		t.Fatalf("%v does not get ready: %s", args, s.errOut)
	}
	return s
}

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(sig))
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		t.Fatalf("it does not end: %s", s.errOut)
	}
}

// newDir is a folder that PostgreSQL's user may enter, too.
func newDir() (string, error) {
	dir, err := os.MkdirTemp("", "regent-cli-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

func launchDev(t *testing.T, dir string) *server {
	t.Helper()
	s := launch(t, "dev", "--port", "0", "--data-dir", dir)
	s.dir = dir
	return s
}

func (s *server) dsn(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, dsnFile))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// shared is one dev server for all tests that do not kill it.
var shared sharedServer

type sharedServer struct {
	once   sync.Once
	server *server
	dir    string
}

func (s *sharedServer) get(t *testing.T) *server {
	t.Helper()
	s.once.Do(func() {
		dir, err := newDir()
		require.NoError(t, err)
		s.dir = dir
		s.server = launchDev(t, filepath.Join(dir, "data"))
	})
	require.NotNil(t, s.server, "the shared server did not start")
	return s.server
}

func (s *sharedServer) stop() {
	if s.server != nil {
		_ = s.server.cmd.Process.Signal(syscall.SIGTERM)
		<-s.server.exited
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// faces are the two ways to reach a server.
func faces(t *testing.T, s *server) map[string][]string {
	t.Helper()
	return map[string][]string{"http": {"--url", s.url}, "sql": {"--dsn", s.dsn(t)}}
}

func with(face []string, args ...string) []string { return append(args, face...) }

// decodeLines reads NDJSON.
func decodeLines(t *testing.T, text string) []message {
	t.Helper()
	var all []message
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var m message
		err := dec.Decode(&m)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, m)
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func report(t *testing.T, r result) pushReport {
	t.Helper()
	var rep pushReport
	require.NoError(t, json.Unmarshal([]byte(r.out), &rep), r.err)
	return rep
}

func TestEverydayCommands(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := "everyday-" + name
			got := call(t, "", with(face, "queue", "configure", queue, "--lease-time", "45s", "--set", "task=7")...)
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.out, `"leaseTime": 45`)

			require.Equal(t, exitNothing, call(t, "", with(face, "push", queue)...).code)
			got = call(t, "{\"n\": 1.50, \"p\":\"a\"}\n{\"n\":2,\"p\":\"b\"}\n", with(face, "push", queue, "--partition-key", "p")...)
			require.Equal(t, 0, got.code, got.err)
			require.EqualValues(t, 2, report(t, got).Queued)

			got = call(t, "", with(face, "pop", queue, "--group", "g", "--from", "all", "--batch", "10", "--partitions", "0")...)
			require.Equal(t, 0, got.code, got.err)
			popped := decodeLines(t, got.out)
			require.Len(t, popped, 2)
			for _, m := range popped {
				require.Equal(t, "g", m.ConsumerGroup)
				require.NotEmpty(t, m.LeaseID)
				require.Equal(t, 1, m.DeliveryAttempt)
			}
			require.Contains(t, got.out, `"data":{"n": 1.50, "p":"a"}}`, "payloads keep their bytes")
			require.Equal(t, exitNothing, call(t, "", with(face, "pop", queue, "--group", "g", "--wait", "300ms")...).code)

			acked := call(t, got.out, with(face, "ack", "-")...)
			require.Equal(t, 0, acked.code, acked.err)
			require.Equal(t, 2, strings.Count(acked.out, `"success": true`))
			again := call(t, got.out, with(face, "ack", "-", "--status", "failed")...)
			require.Equal(t, exitUser, again.code, "a refused item makes the command fail")
			require.Contains(t, again.err, "2 of 2")

			tailed := call(t, "", "tail", queue, "--dsn", s.dsn(t), "--from", "all")
			require.Len(t, decodeLines(t, tailed.out), 2, tailed.err)

			shown := call(t, "", with(face, "queue", "show", queue, "-o", "yaml")...)
			require.Contains(t, shown.out, "leaseTime: 45")
			require.Contains(t, shown.out, `task: "7"`)
			require.Contains(t, call(t, "", with(face, "queue", "list", "-o", "table")...).out, queue)

			require.Equal(t, exitUser, call(t, "", with(face, "queue", "delete", queue)...).code)
			dry := call(t, "", with(face, "queue", "delete", queue, "--dry-run")...)
			require.Equal(t, 0, dry.code)
			require.Contains(t, dry.out, `"messages": 2`)
			require.Equal(t, 0, call(t, "", with(face, "queue", "delete", queue, "--yes")...).code)
			for _, args := range [][]string{{"pop", queue}, {"pop", queue, "--partition", "p"}, {"tail", queue, "--dsn", s.dsn(t)},
				{"queue", "show", queue}, {"queue", "delete", queue, "--yes"}, {"queue", "delete", queue, "--dry-run"}, {"queue", "retention-preview", queue},
				{"dlq", "list", queue}, {"dlq", "redrive", queue, "--yes"}, {"dlq", "redrive", queue, "--dry-run"}, {"dlq", "delete", queue, "--yes"},
				{"dlq", "delete", queue, "--dry-run"}, {"message", "list", queue}} {
				if args[0] != "tail" {
					args = with(face, args...)
				}
				got := call(t, "", args...)
				require.Equal(t, exitUser, got.code, args)
				require.Equal(t, fmt.Sprintf("regent: queue %q does not exist\n", queue), got.err)
			}
			require.Equal(t, exitUser, call(t, "", with(face, "queue", "show", queue)...).code, "nothing was made")
			waited := call(t, "", with(face, "pop", queue, "--wait", "200ms")...)
			require.Equal(t, exitNothing, waited.code, "who waits may come before the queue: "+waited.err)
			require.Equal(t, 0, call(t, "", with(face, "queue", "delete", queue, "--yes")...).code)
		})
	}
}

// A message is one line whatever its payload, which keeps its bytes but for line breaks.
func TestMessagesAreLines(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	conn, err := pgx.Connect(t.Context(), s.dsn(t))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	const payload = "{\"a\" : [1.0,  2e3 ],\n\t\"b\":\"x\\ny <&>\\u2028\",\r\n\"c\":null }"
	_, err = conn.Exec(t.Context(), `SELECT queen.push_v1('lines', $1::text::json)`, payload)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `SELECT queen.push_v1('lines', 'null')`)
	require.NoError(t, err)
	want := `"data":` + strings.NewReplacer("\n", " ", "\r", " ").Replace(payload) + "}\n"
	for _, args := range [][]string{
		{"pop", "lines", "--from", "all", "--batch", "5", "--group", "h", "--url", s.url}, {"pop", "lines", "--from", "all", "--batch", "5", "--group", "s", "--dsn", s.dsn(t)},
		{"tail", "lines", "--dsn", s.dsn(t)}, {"tail", "lines", "--dsn", s.dsn(t), "-o", "ndjson"},
	} {
		got := call(t, "", args...)
		require.Equal(t, 0, got.code, got.err)
		require.Contains(t, got.out, want, args)
		require.True(t, strings.HasSuffix(got.out, `"data":null}`+"\n"), got.out)
		require.Equal(t, 2, strings.Count(got.out, "\n"))
		require.Len(t, decodeLines(t, got.out), 2)
	}
}

func TestEncryptedQueuesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	require.Equal(t, 0, call(t, "", "queue", "configure", "vault", "--encryption-enabled", "--url", s.url).code)
	sql := []string{"--dsn", s.dsn(t)}

	got := call(t, "{\"card\": \"4111\"}\n", with(sql, "push", "vault")...)
	require.Equal(t, exitUser, got.code)
	require.Contains(t, got.err, "the queue is encrypted")
	require.Contains(t, got.err, "push over HTTP")
	got = call(t, "{\"card\": \"4111\"}\n", "push", "vault", "--url", s.url, "--retry-for", "0s")
	require.Equal(t, exitServer, got.code, "that server has no key")
	require.Contains(t, got.err, "no usable encryption key")
	require.NotContains(t, got.err, "4111")

	envelope := `{"encrypted":"YQ==","iv":"YQ==","authTag":"YQ==","kid":"k"}`
	require.Equal(t, 0, call(t, envelope+"\n", with(sql, "push", "vault")...).code, "what a server has sealed may be moved")
	// What died before the queue was encrypted stays dead without a key, and ends no redrive of others.
	killAll(t, sql, "vaulted", "p", 2)
	require.Equal(t, 0, call(t, "", "queue", "configure", "vaulted", "--encryption-enabled", "--url", s.url).code)
	for why, face := range map[string][]string{"no usable encryption key": {"--url", s.url}, "through a server that has a key": sql} {
		got = call(t, "", with(face, "dlq", "redrive", "vaulted", "--yes", "-o", "ndjson")...)
		require.Equal(t, exitUser, got.code)
		require.Equal(t, 2, strings.Count(got.out, `"result":"failed"`), got.out)
		require.Equal(t, 2, strings.Count(got.out, why), got.out)
	}
	for _, command := range []string{"pop", "tail"} {
		got = call(t, "", with(sql, command, "vault", "--from", "all", "-o", "ndjson")...)
		require.Equal(t, 0, got.code, got.err)
		require.Equal(t, envelope, string(decodeLines(t, got.out)[0].Data), command)
	}
}

func TestTailMovesNothing(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	dsn := s.dsn(t)
	require.Equal(t, 0, call(t, numbered(30, 3), "push", "tailed", "--partition-key", "p", "--dsn", dsn).code)

	var texts []string
	last := decodeLines(t, call(t, "", "tail", "tailed", "--dsn", dsn, "-n", "4").out)
	require.Len(t, last, 4)
	for _, from := range []string{"all", "5m ago", "2020-01-01T00:00:00Z"} {
		got := call(t, "", "tail", "tailed", "--dsn", dsn, "--from", from, "--partition", "1")
		texts = append(texts, got.out)
		require.Len(t, decodeLines(t, got.out), 10, got.err)
	}
	require.Equal(t, texts[0], texts[1])
	require.Empty(t, call(t, "", "tail", "tailed", "--dsn", dsn, "--from", "now").out)
	require.Equal(t, exitUser, call(t, "", "tail", "tailed", "--dsn", dsn, "--partition", "9").code)

	got := call(t, "", "pop", "tailed", "--dsn", dsn, "--batch", "100", "--partitions", "0")
	require.Len(t, decodeLines(t, got.out), 30, "tail has taken nothing")
}

func TestTailFollows(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	dsn := s.dsn(t)
	require.Equal(t, 0, call(t, numbered(3, 1), "push", "followed", "--dsn", dsn).code)

	var out syncBuffer
	cmd := program(t, "tail", "followed", "-f", "--from", "now", "--data-dir", s.dir)
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	ids := func() (ids []string) {
		for _, m := range decodeLines(t, out.String()) {
			ids = append(ids, m.Partition+string(m.Data))
		}
		return ids
	}
	// Whatever it shows was pushed after it began, each message once.
	pushed := 0
	require.Eventually(t, func() bool {
		pushed++
		require.Equal(t, 0, call(t, fmt.Sprintf("%d\n", pushed), "push", "followed", "--partition", "new", "--dsn", dsn).code)
		return len(ids()) > 0
	}, 30*time.Second, 300*time.Millisecond)
	require.Equal(t, 0, call(t, "\"end\"\n", "push", "followed", "--partition", "new", "--dsn", dsn).code)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), `"end"`) }, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), "ending it is no error")
	seen := map[string]bool{}
	for _, id := range ids() {
		require.False(t, seen[id], "%s came twice", id)
		seen[id] = true
	}
}

// storedNumbers returns field n of every message, by partition, in order.
func storedNumbers(t *testing.T, dsn, queue string) map[string][]int {
	t.Helper()
	got := call(t, "", "tail", queue, "--dsn", dsn, "--from", "all")
	require.Equal(t, 0, got.code, got.err)
	numbers := map[string][]int{}
	for _, m := range decodeLines(t, got.out) {
		var doc struct{ N int }
		require.NoError(t, json.Unmarshal(m.Data, &doc))
		numbers[m.Partition] = append(numbers[m.Partition], doc.N)
	}
	return numbers
}

// requireOnce checks that 0..lines-1 are stored once each, in order.
func requireOnce(t *testing.T, numbers map[string][]int, lines, partitions int) {
	t.Helper()
	total := 0
	for name, got := range numbers {
		p, err := strconv.Atoi(name)
		require.NoError(t, err)
		for i, n := range got {
			require.Equal(t, p+i*partitions, n, "partition %s", name)
		}
		total += len(got)
	}
	require.Equal(t, lines, total)
}

func TestPushGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	const lines, partitions = 12000, 7
	for name, face := range faces(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, file := "killed-"+name, writeFile(t, numbered(lines, partitions))
			whole := with(face, "push", queue, file, "--partition-key", "p")
			args := append(slices.Clone(whole), "--batch", "5", "--concurrency", "2")
			kills := 0
			for from := int64(0); kills < 2; kills++ {
				from = killInTheMiddle(t, args, file, from)
			}
			got := call(t, "", whole...) // the rest in larger calls: nobody kills this one
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.err, "resuming")
			rep := report(t, got)
			require.Greater(t, rep.FirstLine, int64(1))
			require.Less(t, rep.Lines, int64(lines))
			requireOnce(t, storedNumbers(t, s.dsn(t), queue), lines, partitions)
			require.NoFileExists(t, file+progressSuffix)

			again := report(t, call(t, "", whole...))
			require.EqualValues(t, lines, again.Duplicates, "the same file is stored once")
		})
	}
}

// killInTheMiddle kills a push once it has got behind line from, and returns
// the line of its progress.
func killInTheMiddle(t *testing.T, args []string, file string, from int64) int64 {
	t.Helper()
	cmd := program(t, args...)
	var errOut syncBuffer
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	var at int64
	require.Eventually(t, func() bool {
		p, err := loadProgress(file + progressSuffix)
		require.NoError(t, err, "the file is whole at any time")
		if p != nil {
			at = p.Line
		}
		return at > from
	}, time.Minute, time.Millisecond, "%s", &errOut)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "it was killed before it was done")
	return at
}

func TestPushResumesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	dsn := s.dsn(t)
	file := writeFile(t, numbered(20, 1)+"nonsense\n"+numbered(3, 1))
	queue := fmt.Sprintf("resumed-%d", time.Now().UnixNano())
	args := []string{"push", queue, file, "--dsn", dsn}
	stopped := call(t, "", args...)
	require.Equal(t, exitUser, stopped.code)
	require.Contains(t, stopped.err, file+": line 21: not JSON")
	p, err := loadProgress(file + progressSuffix)
	require.NoError(t, err)
	require.EqualValues(t, 20, p.Line)
	require.NotEmpty(t, p.QueueID)

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(whole, "1\n"...), 0o600))
	changed := call(t, "", args...)
	require.Equal(t, exitUser, changed.code)
	require.Contains(t, changed.err, "is of another content of the input, which has changed since; --restart pushes the input from its first line and stores lines again that were sent already, those before the change, too")
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.NoError(t, os.Chtimes(file, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	touched := call(t, "", append(args, "--restart")...)
	require.EqualValues(t, 20, report(t, touched).Duplicates, "the same content at another time: %s", touched.err)

	other := call(t, "", "push", "elsewhere", file, "--dsn", dsn)
	require.Equal(t, exitUser, other.code)
	require.Contains(t, other.err, `is of a push to queue "`+queue+`"`)

	p.Time = time.Now().Add(-2 * time.Hour)
	require.NoError(t, p.save(file+progressSuffix))
	late := call(t, "", args...)
	require.Equal(t, exitUser, late.code)
	require.Contains(t, late.err, "dedup window of 1h0m0s")
	skipped := call(t, "", append(args, "--yes", "--skip-bad")...)
	require.Equal(t, 0, skipped.code, skipped.err)
	require.EqualValues(t, 3, report(t, skipped).Queued)
	require.EqualValues(t, 1, report(t, skipped).Skipped)

	require.NoError(t, p.save(file+progressSuffix))
	require.Equal(t, 0, call(t, "", "queue", "delete", queue, "--yes", "--dsn", dsn).code)
	gone := call(t, "", args...)
	require.Equal(t, exitUser, gone.code)
	require.Contains(t, gone.err, "that is gone")
	restarted := call(t, "", append(args, "--restart", "--skip-bad")...)
	require.EqualValues(t, 23, report(t, restarted).Queued, restarted.err)
}

func TestDevLosesNothing(t *testing.T) {
	t.Parallel()
	root, err := newDir()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	dir := filepath.Join(root, "it's here")
	s := launchDev(t, dir)
	st, err := os.Stat(filepath.Join(dir, dsnFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	require.Equal(t, 0, call(t, numbered(100, 1), "push", "kept", "--partition", "0", "--dsn", s.dsn(t)).code)

	s.signal(t, os.Kill)
	s = launchDev(t, dir)
	require.Equal(t, 0, call(t, numbered(200, 1), "push", "kept", "--partition", "1", "--dsn", s.dsn(t)).code)

	killPostgres(t, dir)
	require.Eventually(t, func() bool { return status(s.url+"/health") == http.StatusServiceUnavailable }, 10*time.Second, time.Millisecond)
	require.Equal(t, http.StatusOK, status(s.url+"/livez"))
	require.Eventually(t, func() bool { return status(s.url+"/health") == http.StatusOK }, time.Minute, 20*time.Millisecond, "%s", s.errOut)
	numbers := storedNumbers(t, s.dsn(t), "kept")
	require.Len(t, numbers["0"], 100)
	require.Len(t, numbers["1"], 200)

	s.signal(t, syscall.SIGTERM)
	require.Equal(t, 0, s.code, s.errOut)
	require.NoFileExists(t, filepath.Join(dir, "pg", "postmaster.pid"), "PostgreSQL is stopped, too")
}

// killPostgres kills the postmaster that the folder's own pid file names.
func killPostgres(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pg", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// status is 0 when there is no answer.
func status(url string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestDevThatCannotListenStartsNothing(t *testing.T) {
	t.Parallel()
	_, port, _ := strings.Cut(strings.TrimPrefix(shared.get(t).url, "http://"), ":")
	dir := filepath.Join(t.TempDir(), "data")
	out, err := program(t, "dev", "--port", port, "--data-dir", dir).CombinedOutput()
	require.Equal(t, exitUser, err.(*exec.ExitError).ExitCode())
	taken := "is taken (address already in use): choose another port with --port or PORT, 0 takes a free one"
	require.Contains(t, string(out), "127.0.0.1:"+port+" "+taken)
	out, err = program(t, "serve", "--port", port, "--dsn", shared.get(t).dsn(t)).CombinedOutput()
	require.Equal(t, exitUser, err.(*exec.ExitError).ExitCode())
	require.Contains(t, string(out), "127.0.0.1:"+port+" "+taken)
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	_, port, _ = strings.Cut(strings.TrimPrefix(other.URL, "http://"), ":")
	out, err = program(t, "dev", "--port", port, "--data-dir", dir).CombinedOutput()
	require.Equal(t, exitUser, err.(*exec.ExitError).ExitCode())
	require.Contains(t, string(out), "127.0.0.1:"+port+" "+taken+"\n", "nothing is said of who that is")
	require.Eventually(t, func() bool { return regentAnswers(t.Context(), strings.TrimPrefix(shared.get(t).url, "http://")) }, time.Minute, time.Millisecond)
	require.False(t, regentAnswers(t.Context(), "127.0.0.1:"+port))
	require.NoDirExists(t, dir)
}

func TestDevMayBeEndedWhileItStarts(t *testing.T) {
	t.Parallel()
	dir, err := newDir()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond, time.Second} {
		cmd := program(t, "dev", "--port", "0", "--data-dir", filepath.Join(dir, "data"))
		var errOut syncBuffer
		cmd.Stderr = &errOut
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { return errOut.String() != "" }, 30*time.Second, time.Millisecond)
		time.Sleep(after) // where it lands does not matter
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait(), "%s", &errOut)
	}
	launchDev(t, filepath.Join(dir, "data")).signal(t, os.Interrupt)
}

func TestServeChecksTheSchema(t *testing.T) {
	t.Parallel()
	base := shared.get(t).dsn(t)
	conn, err := pgx.Connect(t.Context(), base)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(t.Context(), "CREATE DATABASE served")
	require.NoError(t, err)
	dsn := strings.Replace(base, "/postgres?", "/served?", 1)

	first := program(t, "serve", "--port", "0", "--dsn", dsn)
	first.Env = append(first.Environ(), "LOG_LEVEL=loud", "STATS_INTERVAL_MS=5")
	out, err := first.CombinedOutput()
	require.Contains(t, string(out), "variable=STATS_INTERVAL_MS value=5 used=10000")
	require.Contains(t, string(out), "variable=LOG_LEVEL value=loud used=info")
	require.Error(t, err)
	require.Contains(t, string(out), "regent migrate up")
	require.Equal(t, exitUser, err.(*exec.ExitError).ExitCode())

	s := launch(t, "serve", "--port", "0", "--dsn", dsn, "--migrate")
	require.Equal(t, http.StatusOK, status(s.url+"/health"))
	require.True(t, strings.HasPrefix(s.url, "http://127.0.0.1:"), s.url)
	s.signal(t, os.Interrupt)
	require.Equal(t, 0, s.code, s.errOut)

	out, err = program(t, "serve", "--port", "0", "--dsn", "postgres://127.0.0.1:1/x").CombinedOutput()
	require.Equal(t, exitServer, err.(*exec.ExitError).ExitCode(), "%s", out)
}
