package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
)

// repeat says which failures of a call may be repeated.
type repeat int

const (
	// repeatUnsent: only when the server certainly did nothing.
	repeatUnsent repeat = iota
	// repeatAny: the call is idempotent, so a lost answer may be repeated, too.
	repeatAny
)

// retryable is implemented by errors that know about repetition.
type retryable interface {
	error
	// again reports whether a later call may succeed, and whether the failed
	// one certainly did nothing.
	again() (later, unsent bool)
	// after is the server's own wish; 0 when it has none.
	after() time.Duration
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// sayEvery bounds how often calls that wait side by side say so.
const sayEvery = 10 * time.Second

// retrier repeats calls while the server is away. The zero value never does.
type retrier struct {
	limit  time.Duration
	errOut io.Writer     // nil: say nothing
	from   string        // what chose the server
	said   *atomic.Int64 // when, in unix nanoseconds
}

func newRetrier(limit time.Duration, cmd *cobra.Command) retrier {
	return retrier{limit: limit, errOut: cmd.ErrOrStderr(), from: cmd.Annotations[chosenBy], said: new(atomic.Int64)}
}

// say tells the user why a command with a long limit seems to hang.
func (r retrier) say(err error, left time.Duration) {
	if r.errOut == nil || r.limit < 5*time.Second {
		return
	}
	now, last := time.Now().UnixNano(), r.said.Load()
	if now-last > int64(sayEvery) && r.said.CompareAndSwap(last, now) {
		fmt.Fprintf(r.errOut, "regent: %s; trying again for up to %s\n", errorLine(err, r.from), left.Round(time.Second))
	}
}

// do runs call until it succeeds, fails for good, or the limit has passed.
func (r retrier) do(ctx context.Context, may repeat, call func() error) error {
	deadline := time.Now().Add(r.limit)
	pause := firstPause
	for {
		err := call()
		known, ok := findRetryable(err)
		if !ok || ctx.Err() != nil {
			return err
		}
		later, unsent := known.again()
		wait := max(known.after(), pause/2+rand.N(pause))
		if !later || (may != repeatAny && !unsent) || time.Now().Add(wait).After(deadline) {
			return err
		}
		if pause > 4*firstPause {
			r.say(err, time.Until(deadline))
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

func findRetryable(err error) (retryable, bool) {
	for err != nil {
		if r, ok := err.(retryable); ok {
			return r, true
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return nil, false
		}
		err = u.Unwrap()
	}
	return nil, false
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// answerLinger is how long an answer is waited for once the user has ended the
// command: what was moved or stored is to be told.
const answerLinger = 10 * time.Second

// lingering is a context that ends a while after ctx does.
func lingering(ctx context.Context, while time.Duration) context.Context {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(while, cancel) })
	return longer
}
