// Package workers runs the maintenance loops of a server. A loop is a step and a
// schedule: the step calls one bounded stored function and says whether more is
// left. The package never holds SQL text, decides nothing that a function
// decides, and keeps no state between runs but the back-off.
package workers

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"regent.local/regent/db"
)

// Result is what one step did.
type Result struct {
	// Worked counts rows the step worked on; 0 is an idle run.
	Worked int
	// Done is false when more is left to do now; the loop then runs again at once.
	Done bool
}

// Step does one bounded piece of work. It must return soon after ctx ends.
type Step func(ctx context.Context) (Result, error)

// Loop runs a step on a schedule until its context ends.
type Loop struct {
	// Name is the loop's name in the log.
	Name string
	// Every is the pause between runs; it must be positive.
	Every time.Duration
	// Jitter is the most that is added to each pause, and the most that the
	// first run is delayed, so that replicas do not run in step.
	Jitter time.Duration
	// Timeout bounds one step; 0 means no bound but the loop's context.
	Timeout time.Duration
	// Lease makes the loop run on one server of all, see Singleton; nil is none.
	Lease *Lease
	// Step is the work.
	Step Step
	// Log gets one line for a run that did something, and one for each failure.
	Log *slog.Logger
}

// stepTimeout bounds a step of maintenance. Each is bounded in rows, so one that
// takes this long is stuck.
const stepTimeout = 30 * time.Second

// newLoop is a loop whose step is one call of a bounded stored function.
func newLoop(name string, every time.Duration, log *slog.Logger, step func(context.Context) (db.StepRow, error)) *Loop {
	return &Loop{
		Name: name, Every: every, Jitter: every / 10, Timeout: stepTimeout, Log: log,
		Step: func(ctx context.Context) (Result, error) {
			row, err := step(ctx)
			if err != nil {
				return Result{}, fmt.Errorf("%s: %w", name, err)
			}
			return Result{Worked: int(row.Worked), Done: row.Done}, nil
		},
	}
}

// maxBackoff bounds the pause after repeated failures.
const maxBackoff = 30 * time.Second

// Run runs the loop until ctx ends. It returns when the running step has
// returned; it never returns an error, since a failed step is retried later.
func (l *Loop) Run(ctx context.Context) {
	pause := l.jitter()
	failures := 0
	for wait(ctx, pause) {
		if err := l.turn(ctx); err != nil && ctx.Err() == nil {
			failures++
			l.Log.Warn("maintenance step failed", "loop", l.Name, "failures", failures, "error", err)
		} else {
			failures = 0
		}
		pause = l.pause(failures) + l.jitter()
	}
}

// turn drains the step; where the loop has a lease, only if it wins the claim.
func (l *Loop) turn(ctx context.Context) error {
	if l.Lease == nil {
		return l.drain(ctx)
	}
	won, err := l.Lease.claim(ctx)
	if won == nil {
		return err
	}
	kept, done := won.keep(ctx)
	err = l.drain(kept)
	lost := kept.Err() != nil
	done()
	// A run that was broken off leaves the task due.
	if held, failed := won.release(ctx, err == nil && !lost); failed != nil || !held {
		l.Log.Warn("maintenance claim was not released", "loop", l.Name, "task", l.Lease.Task, "error", failed)
	}
	if lost {
		return nil
	}
	return err
}

// drain runs the step until it is done, or failed.
func (l *Loop) drain(ctx context.Context) error {
	start, worked := time.Now(), 0
	for {
		res, err := l.once(ctx)
		if err != nil {
			return err
		}
		worked += res.Worked
		if res.Done || ctx.Err() != nil {
			l.Log.Debug("maintenance ran", "loop", l.Name, "worked", worked, "elapsed_ms", time.Since(start).Milliseconds())
			return nil
		}
	}
}

func (l *Loop) once(ctx context.Context) (Result, error) {
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Timeout)
		defer cancel()
	}
	return l.Step(ctx)
}

// pause doubles with every failure in a row, up to maxBackoff.
func (l *Loop) pause(failures int) time.Duration {
	pause := l.Every
	for range failures {
		if pause >= maxBackoff {
			return maxBackoff
		}
		pause *= 2
	}
	return pause
}

func (l *Loop) jitter() time.Duration {
	if l.Jitter <= 0 {
		return 0
	}
	return rand.N(l.Jitter)
}

// wait sleeps for d and answers false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Start runs the loops side by side and returns a function that stops them and
// waits until the last step has returned. Calling it twice is harmless.
func Start(ctx context.Context, loops ...*Loop) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, loop := range loops {
		running.Go(func() { loop.Run(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}
