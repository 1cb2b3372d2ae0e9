package workers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"regent.local/regent/db"
)

// Lease makes a loop the only one of its task over all servers of a database:
// of those that poll, one wins the claim of a due task and drains the step, the
// others wait. The clock of the database decides. The holder renews its claim for
// as long as it works; when it dies the claim runs out, and another server follows
// within two periods, for periods from 3 s on (S-1 to S-9, F096).
type Lease struct {
	// Task is the key in queen.maintenance_leases.
	Task string
	// Period is the time between two runs; at least 1 ms.
	Period time.Duration
	// Queries is where claims are made.
	Queries db.Querier
	// Holder names this instance in the table; empty is host and process id.
	Holder string
	// Renew is the pause between renewals of a claim; 0 is a third of the lease.
	Renew time.Duration

	registered bool
}

// Bounds of the pause between two looks whether a task is due (S-6).
const (
	pollShortest = time.Second
	pollLongest  = time.Minute
)

// releaseTimeout bounds the call that ends a claim, made after the loop's own
// context may have ended.
const releaseTimeout = 5 * time.Second

// Singleton makes loop run its step once a period on one server of all. The
// loop's Every and Jitter become those of the poll. A step that takes longer
// than the lease keeps it, as long as the database answers; when the claim is
// lost all the same (the task was paused, or this server was away for too
// long), the step's context ends.
func Singleton(q db.Querier, task string, period time.Duration, loop *Loop) *Loop {
	loop.Lease = &Lease{Task: task, Period: period, Queries: q}
	loop.Every = min(max(period/10, pollShortest), pollLongest)
	loop.Jitter = loop.Every / 10
	return loop
}

// claim is a claim that was won.
type claim struct {
	lease *Lease
	fence int64
	keeps time.Duration
}

// claim tries for the task. It answers nil when it is not due here and now.
func (l *Lease) claim(ctx context.Context) (*claim, error) {
	if !l.registered {
		if err := l.Queries.RegisterTask(ctx, l.Task, max(l.Period.Milliseconds(), 1)); err != nil {
			return nil, fmt.Errorf("register task %s: %w", l.Task, err)
		}
		l.registered = true
	}
	rows, err := l.Queries.ClaimTask(ctx, l.Task, l.holder())
	if err != nil {
		return nil, fmt.Errorf("claim task %s: %w", l.Task, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &claim{lease: l, fence: rows[0].Fence, keeps: time.Duration(rows[0].LeaseMs) * time.Millisecond}, nil
}

// holder names the instance for people.
func (l *Lease) holder() string {
	if l.Holder != "" {
		return l.Holder
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// keep renews the claim again and again until done is called. It ends the
// context that it returns when the claim is lost.
func (c *claim) keep(ctx context.Context) (kept context.Context, done func()) {
	kept, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for wait(kept, cmp.Or(c.lease.Renew, c.keeps/3)) {
			held, err := c.lease.Queries.RenewTask(kept, c.lease.Task, c.fence)
			if err == nil && !held {
				cancel()
			}
		}
	}()
	return kept, func() { cancel(); <-stopped }
}

// release ends the claim. A failure is harmless: the claim runs out.
func (c *claim) release(ctx context.Context, succeeded bool) (held bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	held, err = c.lease.Queries.ReleaseTask(ctx, db.ReleaseTaskParams{Task: c.lease.Task, Fence: c.fence, Succeeded: succeeded})
	if err != nil {
		return false, fmt.Errorf("release task %s: %w", c.lease.Task, err)
	}
	return held, nil
}
