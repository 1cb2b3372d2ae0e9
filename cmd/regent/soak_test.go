package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// The soak: one push and four consumers work on a server that is killed again
// and again, and nothing may be lost, stored twice or come out of order.
const (
	soakQueue   = "soak"
	soakWorkers = 2 // a group
	// soakForget is how often a worker acks half of a delivery and forgets the
	// rest, as one that dies at work.
	soakForget = 25
	soakPause  = 50 * time.Millisecond
)

// soakPlan is the size of a run.
type soakPlan struct {
	events int
	kills  []soakKill
	limit  time.Duration
	lease  time.Duration
	batch  int // messages a pop
	parts  int // partitions a pop
	push   []string
}

// soakKill is due when this part of pushing and consuming is done.
type soakKill struct {
	at       float64
	postgres bool
}

func TestSoak(t *testing.T) {
	if os.Getenv("REGENT_SOAK") == "" {
		t.Skip("takes minutes: REGENT_SOAK=1 runs it, REGENT_SOAK_EVENTS and REGENT_SOAK_MINUTES change its size and limit")
	}
	newSoak(t, soakPlan{
		events: envNumber(t, "REGENT_SOAK_EVENTS", 1_000_000),
		kills:  []soakKill{{at: 0.15}, {at: 0.35, postgres: true}, {at: 0.55}, {at: 0.8}},
		limit:  time.Duration(envNumber(t, "REGENT_SOAK_MINUTES", 12)) * time.Minute,
		lease:  3 * time.Second, batch: 400, parts: 8,
	}).run()
}

// TestSoakSmall is the soak in seconds. Its push gives up early, so that it has to be
// run again.
func TestSoakSmall(t *testing.T) {
	t.Parallel()
	newSoak(t, soakPlan{
		events: 10_000, kills: []soakKill{{at: 0.2}, {at: 0.5, postgres: true}}, limit: 2 * time.Minute,
		lease: time.Second, batch: 200, parts: 16,
		push: []string{"--retry-for", "200ms", "--batch", "50"},
	}).run()
}

func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	require.Positive(t, n, name)
	return n
}

// soak is one run.
type soak struct {
	t       *testing.T
	plan    soakPlan
	dir     string // the server's data folder
	file    string // the events
	port    int
	url     string
	server  *server
	groups  []*soakGroup
	reports []pushReport // of every run of the push
	pushed  chan struct{}
	said    []string // what the kills hit
}

func newSoak(t *testing.T, plan soakPlan) *soak {
	t.Helper()
	root, err := newDir()
	require.NoError(t, err)
	s := &soak{t: t, plan: plan, dir: filepath.Join(root, "data"), file: filepath.Join(root, "events.ndjson"),
		port: quietPort(t), pushed: make(chan struct{}),
		groups: []*soakGroup{{name: "billing"}, {name: "search"}}}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", s.port)
	t.Cleanup(func() {
		s.stop()
		_ = os.RemoveAll(root)
	})
	require.NoError(t, writeEvents(s.file, plan.events))
	return s
}

// quietPorts are those that a test of this process has, or had.
var quietPorts sync.Map

// quietPort is a free port that the kernel gives to nobody: while the server is
// away, a client that tries to reach it could otherwise be given that very port
// for its own end, and would reach itself.
func quietPort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(10_000)
		if _, given := quietPorts.LoadOrStore(port, true); given {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func (s *soak) run() {
	s.start()
	made := call(s.t, "", "queue", "configure", soakQueue, "--url", s.url, "--dedup-window", "1h")
	require.Equal(s.t, 0, made.code, made.err)
	ctx, cancel := context.WithTimeout(s.t.Context(), s.plan.limit)
	defer cancel()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.push(ctx) })
	for _, g := range s.groups {
		for range soakWorkers {
			group.Go(func() error { return s.plan.consume(ctx, s.url, g) })
		}
	}
	for _, kill := range s.plan.kills {
		if !s.reach(ctx, kill.at) {
			break
		}
		s.kill(kill)
	}
	require.NoError(s.t, group.Wait(), "%s\n%s", s.state(), s.server.errOut)
	took := time.Since(began)
	s.audit()
	s.t.Log(s.summary(took))
}

// start starts the server, again on the same folder and port.
func (s *soak) start() {
	s.t.Helper()
	s.server = launch(s.t, "dev", "--port", strconv.Itoa(s.port), "--data-dir", s.dir)
	require.Equal(s.t, s.url, s.server.url)
}

// stop ends the server, and a PostgreSQL that a failed test left alone.
func (s *soak) stop() {
	if s.server != nil {
		endServer(s.server)
		endPostgres(s.dir)
	}
}

// endServer stops a server, by force when it does not.
func endServer(s *server) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
	}
}

// endPostgres ends the PostgreSQL of a folder that was left alone.
func endPostgres(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "pg", "postmaster.pid"))
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || pid < 2 {
		return
	}
	// The pid may be another process's by now.
	if args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && bytes.Contains(args, []byte(dir)) {
		_ = syscall.Kill(pid, syscall.SIGQUIT)
	}
}

// reach waits until this part of the work is done; false means that it never
// will be.
func (s *soak) reach(ctx context.Context, part float64) bool {
	for {
		done := s.pushedLines()
		for _, g := range s.groups {
			done += g.seenSoFar()
		}
		if float64(done) >= part*float64((1+len(s.groups))*s.plan.events) {
			return true
		}
		if sleep(ctx, soakPause) != nil {
			return false
		}
	}
}

// pushedLines is what the push has written down.
func (s *soak) pushedLines() int {
	select {
	case <-s.pushed:
		return s.plan.events
	default:
	}
	p, err := loadProgress(s.file + progressSuffix)
	require.NoError(s.t, err)
	if p == nil {
		return 0
	}
	return int(p.Line)
}

func (s *soak) state() string {
	text := fmt.Sprintf("pushed %s", grouped(int64(s.pushedLines())))
	for _, g := range s.groups {
		text += fmt.Sprintf(", %s seen by %s", grouped(int64(g.seenSoFar())), g.name)
	}
	return text
}

// kill kills with -9 and waits until the server is healthy again.
func (s *soak) kill(k soakKill) {
	s.t.Helper()
	state, began, what := s.state(), time.Now(), "regent dev"
	if k.postgres {
		what = "its PostgreSQL"
		killPostgres(s.t, s.dir)
		require.Eventually(s.t, func() bool { return status(s.url+"/health") != http.StatusOK }, 10*time.Second, time.Millisecond)
	} else {
		s.server.signal(s.t, os.Kill)
		s.start()
	}
	require.Eventually(s.t, func() bool { return status(s.url+"/health") == http.StatusOK }, time.Minute, 20*time.Millisecond, "%s", s.server.errOut)
	s.said = append(s.said, fmt.Sprintf("kill -9 of %s with %s; back after %.1f s", what, state, time.Since(began).Seconds()))
}

// push runs regent push until it is done.
func (s *soak) push(ctx context.Context) error {
	defer close(s.pushed)
	for {
		code, errOut, err := s.pushOnce(ctx)
		switch {
		case err != nil:
			return err
		case code == 0:
			return nil
		case code != exitServer:
			return fmt.Errorf("push ended with %d: %s", code, errOut)
		}
		if err := sleep(ctx, soakPause); err != nil {
			return err
		}
	}
}

func (s *soak) pushOnce(ctx context.Context) (code int, errOut string, err error) {
	cmd := program(s.t, append([]string{"push", soakQueue, s.file, "--url", s.url,
		"--partition-key", "account", "--id-key", "$.id", "-o", "json"}, s.plan.push...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	_ = cmd.Wait() // the exit code says it
	if err := ctx.Err(); err != nil {
		return 0, "", err
	}
	code = cmd.ProcessState.ExitCode()
	if code != 0 && out.Len() == 0 { // it did not get as far as to begin
		return code, said.String(), nil
	}
	var rep pushReport
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil {
		return 0, "", fmt.Errorf("report of push %q: %w; %s", out.String(), err, said.String())
	}
	s.reports = append(s.reports, rep)
	return code, said.String(), nil
}

// consume takes and acks until the group has everything and no lease is left:
// a pop that waits longer than a lease then finds nothing.
func (p soakPlan) consume(ctx context.Context, url string, g *soakGroup) error {
	c, err := newHTTPClient(url, "", retrier{})
	if err != nil {
		return err
	}
	defer c.Close()
	req := popRequest{Queue: soakQueue, Group: g.name, Batch: p.batch, Partitions: p.parts,
		Wait: time.Second, Lease: p.lease, Mode: "all"}
	for taken := 1; ; {
		complete := g.seenSoFar() >= p.events
		if complete {
			req.Wait = p.lease + time.Second/2
		}
		floors := g.floors()
		messages, err := c.Pop(ctx, req)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("consumer of %s: %w", g.name, context.Cause(ctx))
		case err != nil:
			if err := g.noteFailure(ctx, err); err != nil {
				return err
			}
			continue
		case len(messages) == 0:
			if complete {
				return nil
			}
			continue
		}
		runs, err := g.deliver(floors, messages)
		if err != nil {
			return err
		}
		forget := taken%soakForget == 0
		taken++
		if err := g.ack(ctx, c, runs, forget); err != nil {
			return err
		}
	}
}

// audit asks the server what it has stored.
func (s *soak) audit() {
	t := s.t
	var queued int64
	for _, rep := range s.reports {
		require.Zero(t, rep.Failed+rep.Skipped+rep.Buffered)
		require.Equal(t, rep.Lines, rep.Queued+rep.Duplicates)
		queued += rep.Queued
	}
	require.LessOrEqual(t, queued, int64(s.plan.events))
	require.NoFileExists(t, s.file+progressSuffix)
	s.plan.audit(t, s.url, s.groups)
}

// audit holds what the groups have seen, and what is stored, against the plan.
func (p soakPlan) audit(t *testing.T, url string, groups []*soakGroup) {
	t.Helper()
	for _, g := range groups {
		require.Equal(t, p.events, g.seenSoFar(), "events seen by %s", g.name)
		for k, key := range g.keys {
			require.Equal(t, soakShare(p.events, k), key.next, "events of %s seen by %s", soakAccount(k), g.name)
		}
	}
	// All are there, as the groups have seen: so as many rows are no duplicates.
	r, err := http.Post(url+"/api/v1/stats/refresh", "application/json", nil) // the list shows what was counted last
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusOK, r.StatusCode)
	list := call(t, "", "queue", "list", "--url", url, "-o", "ndjson")
	require.Equal(t, 0, list.code, list.err)
	var q struct {
		Name       string
		Partitions int
		Messages   struct{ Total, Pending, Processing int }
	}
	require.NoError(t, json.Unmarshal([]byte(list.out), &q))
	require.Equal(t, soakQueue, q.Name)
	require.Equal(t, min(soakKeys, p.events), q.Partitions)
	require.Equal(t, p.events, q.Messages.Total, "messages stored")
	require.Zero(t, q.Messages.Pending, "every ack is kept")
	require.Zero(t, q.Messages.Processing)
}

func (s *soak) summary(took time.Duration) string {
	var b strings.Builder
	var queued, duplicates int64
	for _, rep := range s.reports {
		queued += rep.Queued
		duplicates += rep.Duplicates
	}
	stored := s.plan.events // as audited
	fmt.Fprintf(&b, "%s events in %.1f s, %s a second, stored once each and seen by 2 groups of %d workers\n",
		grouped(int64(stored)), took.Seconds(), grouped(int64(float64(stored)/took.Seconds())), soakWorkers)
	for _, text := range s.said {
		fmt.Fprintf(&b, "  %s\n", text)
	}
	fmt.Fprintf(&b, "  push: %d runs, %s queued, %s duplicates reported\n", len(s.reports), grouped(queued), grouped(duplicates))
	for _, g := range s.groups {
		fmt.Fprintf(&b, "  %s\n", g)
	}
	return b.String()
}

// writeEvents makes the file that is pushed.
func writeEvents(path string, events int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range events {
		_, _ = w.Write(append(soakEvent(i).text, '\n')) // Flush says it, too
	}
	return errors.Join(w.Flush(), f.Close())
}
