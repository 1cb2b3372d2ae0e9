package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
	"regent.local/regent/testdata/bench"
)

const (
	// parkedWait is longer than any cell waits for its parked pops.
	parkedWait = time.Hour
	// parkedQueues is how many queues the parked pops wait on.
	parkedQueues = 100
	// parkedSettle bounds the wait until all of them are parked.
	parkedSettle = 30 * time.Second
)

// servedTarget is a server in a process of its own, whose memory can be read,
// with pops that wait on queues that nobody pushes to.
type servedTarget struct {
	*restTarget
	cmd    *exec.Cmd
	cancel context.CancelFunc
	parked sync.WaitGroup
}

func newServedTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	if _, err := newSQLTarget(ctx, dsn, o); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t := &servedTarget{cmd: exec.Command(self, "bench", "serve", "--dsn", dsn, "--counters", map[bool]string{true: "on", false: "off"}[o.Counters])}
	t.cmd.Stderr, t.cmd.Env = os.Stderr, append(os.Environ(), "LOG_LEVEL=warn")
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	t.restTarget = &restTarget{queue: benchQueue, o: o, stop: t.end}
	if t.url, err = readAddress(out); err != nil {
		t.end()
		return nil, err
	}
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := t.park(ctx, o.Parked); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// newBenchServeCmd is the server of a cell, which may be told not to count.
func newBenchServeCmd() *cobra.Command {
	var dsn, counters string
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the API for a cell", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := api.DefaultConfig()
			cfg.DatabaseURL, cfg.Port, cfg.StopTimeout, cfg.Uncounted = dsn, 0, restStop, counters == "off"
			// The shortest intervals there are: a cell is over before the usual ones are.
			cfg.StatsEvery, cfg.MetricsFlush = time.Second, time.Second
			return runServe(cmd, cfg, false)
		},
	}
	cmd.Flags().StringVar(&dsn, "dsn", "", "database")
	cmd.Flags().StringVar(&counters, "counters", "on", "on or off")
	return cmd
}

// readAddress reads what serve prints when it is ready, and the rest.
func readAddress(out io.Reader) (string, error) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "API"); found {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return strings.TrimSpace(address), nil
		}
	}
	return "", errors.New("the server ended before it was ready")
}

// park opens n waiting pops, each on a connection of its own, and returns when
// the server holds them.
func (t *servedTarget) park(ctx context.Context, n int) error {
	asked := make(chan error, n)
	for i := range n {
		c, err := t.client()
		if err != nil {
			return err
		}
		t.parked.Go(func() {
			defer c.Close()
			// The queue exists after a first call, so that the second waits.
			req := popRequest{Queue: fmt.Sprintf("parked-%d", i%parkedQueues), Group: fmt.Sprintf("g%d", i/parkedQueues), Batch: 1, Partitions: 1}
			_, err := c.Pop(ctx, req)
			asked <- err
			req.Wait = parkedWait
			_, _ = c.Pop(ctx, req)
		})
	}
	late := time.After(parkedSettle)
	for range n {
		select {
		case err := <-asked:
			if err != nil {
				return fmt.Errorf("park a pop: %w", err)
			}
		case <-late:
			return errors.New("the pops were not parked in time")
		}
	}
	return nil
}

// end stops the parked pops and the server.
func (t *servedTarget) end() {
	if t.cancel != nil {
		t.cancel()
	}
	t.parked.Wait()
	_ = t.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(2*restStop, func() { _ = t.cmd.Process.Kill() })
	defer timer.Stop()
	_ = t.cmd.Wait()
}

// ServerSeconds is the processor time that the server has used so far.
func (t *servedTarget) ServerSeconds() (float64, error) {
	return bench.ProcessSeconds(t.cmd.Process.Pid)
}

// ResidentBytes is the memory of the server now, after it has shown that it
// still answers.
func (t *servedTarget) ResidentBytes() (int64, error) {
	c, err := t.client()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if _, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) { return c.GetLivez(ctx) }); err != nil {
		return 0, err
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(t.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("read the server's memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[1] != "kB" {
		return 0, errors.New("read the server's memory: no VmRSS")
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib * 1024, err
}
