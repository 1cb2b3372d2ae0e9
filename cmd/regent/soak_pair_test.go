//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"regent.local/regent/db/dbtest"
)

// The soak of two servers that share a PostgreSQL through a pooler in transaction
// mode: producers and consumers of both groups are at either, and each of the
// four processes is killed in turn.

// TestSoakPair runs for ten minutes.
func TestSoakPair(t *testing.T) {
	if os.Getenv("REGENT_SOAK") == "" {
		t.Skip("takes ten minutes: REGENT_SOAK=1 runs it, REGENT_SOAK_MINUTES and REGENT_SOAK_RATE (events a second) change its size")
	}
	lasts := time.Duration(envNumber(t, "REGENT_SOAK_MINUTES", 10)) * time.Minute
	newPairSoak(t, soakPlan{
		events: int(lasts.Seconds()) * envNumber(t, "REGENT_SOAK_RATE", 400), limit: lasts + 5*time.Minute,
		lease: 3 * time.Second, batch: 400, parts: 8,
	}, lasts, 15*time.Second).run()
}

// TestSoakPairSmall is the same in seconds.
func TestSoakPairSmall(t *testing.T) {
	t.Parallel()
	newPairSoak(t, soakPlan{events: 4000, limit: 3 * time.Minute, lease: time.Second, batch: 200, parts: 16},
		5*time.Second, time.Second).run()
}

// pairSoak is one run.
type pairSoak struct {
	t      *testing.T
	plan   soakPlan
	lasts  time.Duration // the pushing
	pause  time.Duration // between two kills
	dir    string        // of the dev server that keeps PostgreSQL
	keeper *server
	pooler *dbtest.Pooler
	dsn    string // without the pooler
	pair   [2]*server
	ports  [2]int
	groups []*soakGroup
	pushed [2]pairPush
	kills  map[string]int
	slow   time.Duration // the longest way back
}

// pairPush is what the producer of one half of the accounts did.
type pairPush struct{ calls, failed, queued, duplicates, buffered atomic.Int64 }

func newPairSoak(t *testing.T, plan soakPlan, lasts, pause time.Duration) *pairSoak {
	t.Helper()
	root, err := newDir()
	require.NoError(t, err)
	s := &pairSoak{t: t, plan: plan, lasts: lasts, pause: pause, dir: filepath.Join(root, "data"), kills: map[string]int{},
		groups: []*soakGroup{{name: "billing"}, {name: "search"}}}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s.keeper = launchDev(t, s.dir)
	t.Cleanup(func() {
		endServer(s.keeper)
		endPostgres(s.dir)
	})
	// By its socket: who knocks at a port of the loopback while PostgreSQL is away may
	// get that port for its own end, and keep PostgreSQL from it.
	target, err := pgx.ParseConfig(s.keeper.dsn(t))
	require.NoError(t, err)
	target.Host = filepath.Join(s.dir, "run")
	s.dsn = fmt.Sprintf("host=%s port=%d user=%s dbname=%s", target.Host, target.Port, target.User, target.Database)
	s.pooler = dbtest.StartPooler(t, target)
	for i := range s.pair {
		s.ports[i] = quietPort(t)
		s.serve(i)
		t.Cleanup(func() { endServer(s.pair[i]) })
	}
	return s
}

// serve starts one of the two, again on the same port.
func (s *pairSoak) serve(i int) {
	s.t.Helper()
	cmd := program(s.t, "serve", "--dsn", s.pooler.DSN("postgres"), "--port", strconv.Itoa(s.ports[i]))
	cmd.Env = append(cmd.Env, "REGENT_EXEC_MODE=cache_describe", "REGENT_LISTEN="+s.dsn, "DB_POOL_SIZE=16")
	s.pair[i] = launchCmd(s.t, cmd)
}

func (s *pairSoak) run() {
	made := call(s.t, "", "queue", "configure", soakQueue, "--url", s.pair[0].url, "--dedup-window", "1h")
	require.Equal(s.t, 0, made.code, made.err)
	ctx, cancel := context.WithTimeout(s.t.Context(), s.plan.limit)
	defer cancel()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	urls := [2]string{s.pair[0].url, s.pair[1].url}
	for half := range urls {
		group.Go(func() error { return s.push(ctx, half, urls) })
		for _, g := range s.groups {
			group.Go(func() error { return s.plan.consume(ctx, urls[half], g) })
		}
	}
	s.killAll(ctx, began)
	require.NoError(s.t, group.Wait(), "%s\n%s", s.summary(time.Since(began)), s.pair[0].errOut.String()+s.pair[1].errOut.String())
	took := time.Since(began)
	s.plan.audit(s.t, s.pair[1].url, s.groups)
	var queued int64
	for i := range s.pushed {
		p := &s.pushed[i]
		require.Zero(s.t, p.buffered.Load())
		queued += p.queued.Load()
	}
	require.LessOrEqual(s.t, queued, int64(s.plan.events), "nothing is told to be stored twice")
	s.t.Log(s.summary(took))
}

// killAll kills one process after the other for as long as is pushed, and waits
// each time until both servers are healthy again.
func (s *pairSoak) killAll(ctx context.Context, began time.Time) {
	s.t.Helper()
	for n := 0; sleep(ctx, s.pause) == nil && (time.Since(began) < s.lasts || n < 4); n++ {
		at := time.Now()
		switch n % 4 {
		case 0, 2:
			i := n / 2 % 2
			s.kills[fmt.Sprintf("server %d", i+1)]++
			s.pair[i].signal(s.t, os.Kill)
			s.serve(i)
		case 1:
			s.kills["pgbouncer"]++
			s.pooler.Kill()
			s.pooler.Start()
		default:
			s.kills["PostgreSQL"]++
			killPostgres(s.t, s.dir)
			require.Eventually(s.t, func() bool { return status(s.keeper.url+"/health") != http.StatusOK }, 10*time.Second, time.Millisecond)
		}
		for _, one := range []*server{s.keeper, s.pair[0], s.pair[1]} {
			require.Eventually(s.t, func() bool { return status(one.url+"/health") == http.StatusOK }, time.Minute, 20*time.Millisecond, "%s", one.errOut)
		}
		s.slow = max(s.slow, time.Since(at))
	}
}

// pairBatch is how many events a call pushes.
const pairBatch = 32

// push sends half of the accounts in order, a batch again and again, to either
// server, until the answer says that all of it is stored.
func (s *pairSoak) push(ctx context.Context, half int, urls [2]string) error {
	var clients [2]*httpClient
	for i, url := range urls {
		c, err := newHTTPClient(url, "", retrier{})
		if err != nil {
			return err
		}
		defer c.Close()
		clients[i] = c
	}
	began, to := time.Now(), half
	var items []pushItem
	for i := range s.plan.events {
		e := soakEvent(i)
		if int(e.account[len(e.account)-1])%2 == half {
			items = append(items, pushItem{Queue: soakQueue, Partition: e.account, TransactionID: e.id, Payload: e.text})
		}
		if len(items) < pairBatch && i < s.plan.events-1 {
			continue
		}
		due := began.Add(s.lasts * time.Duration(i) / time.Duration(s.plan.events))
		if err := sleep(ctx, max(time.Until(due), 0)); err != nil {
			return err
		}
		for len(items) > 0 {
			left, err := s.pushed[half].send(ctx, clients[to%2], items)
			if err != nil {
				return err
			}
			to, items = to+1, left
		}
	}
	return nil
}

// send pushes items and answers those to send again: all from the first one on
// that is not known to be stored, so that no partition gets out of order.
func (p *pairPush) send(ctx context.Context, c *httpClient, items []pushItem) ([]pushItem, error) {
	p.calls.Add(1)
	verdicts, err := c.Push(ctx, items)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var network *networkError
	var answer *statusError
	if errors.As(err, &network) || errors.As(err, &answer) && answer.status == http.StatusServiceUnavailable {
		p.failed.Add(1)
		return items, sleep(ctx, 50*time.Millisecond)
	} else if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		switch v.Status {
		case "queued":
			p.queued.Add(1)
		case "duplicate":
			p.duplicates.Add(1)
		case "buffered":
			p.buffered.Add(1)
		default:
			p.failed.Add(1)
			return items[i:], sleep(ctx, 50*time.Millisecond)
		}
	}
	return nil, nil
}

func (s *pairSoak) summary(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s events in %.1f s over two servers behind pgbouncer\n  kill -9: %v; all healthy again after %.1f s at most\n",
		grouped(int64(s.plan.events)), took.Seconds(), s.kills, s.slow.Seconds())
	for i := range s.pushed {
		p := &s.pushed[i]
		fmt.Fprintf(&b, "  producer %d: %s calls, %s without an answer that all is stored, %s queued, %s duplicates reported\n", i+1,
			grouped(p.calls.Load()), grouped(p.failed.Load()), grouped(p.queued.Load()), grouped(p.duplicates.Load()))
	}
	for _, g := range s.groups {
		fmt.Fprintf(&b, "  %s\n", g)
	}
	return b.String()
}
