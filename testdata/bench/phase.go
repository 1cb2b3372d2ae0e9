package bench

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// emptyPause is how long a consumer that polls waits after an empty answer.
	emptyPause = time.Millisecond
	// drainTime is how long the consumers of an end-to-end cell may go on after
	// the producers: peers work through what is in flight in their own time.
	drainTime = 20 * time.Second
	// inFlight bounds what an end-to-end cell without a rate has under way, in
	// calls of all producers: a backlog would be all that its latency shows.
	inFlight = 4
	// paceBatch is what a consumer asks for when the producers keep to a rate.
	paceBatch = 100
	// takenShare of a preload ends a take: the last messages are not typical.
	takenShare = 0.9
	// warmShare of a preload ends the warm-up of a take.
	warmShare = 0.1
)

// tally is what the workers of a phase did.
type tally struct {
	messages, calls int64
	elapsed         time.Duration
	latencies       []time.Duration
}

// receipts counts messages on their way from producers to consumers.
type receipts struct {
	sent, received atomic.Int64
	last           atomic.Int64  // when the last was received, in nanoseconds since 1970
	flying         chan struct{} // one a call that is under way, where that is bounded
}

func newReceipts() *receipts { return &receipts{} }

// landed notes messages that were received, and lets a producer go on for each
// call of so many that is now complete.
func (r *receipts) landed(n, call int) {
	if n > 0 {
		r.last.Store(time.Now().UnixNano())
	}
	now := r.received.Add(int64(n))
	for range now/int64(call) - (now-int64(n))/int64(call) {
		select {
		case <-r.flying:
		default: // there is no bound
		}
	}
}

// crew runs workers and adds up what they did.
type crew struct {
	cancel context.CancelCauseFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	total  tally
}

// start runs work in a goroutine; its error ends the others.
func (w *crew) start(work func() (tally, error)) {
	w.group.Go(func() {
		t, err := work()
		if err != nil {
			w.cancel(err)
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.total.messages += t.messages
		w.total.calls += t.calls
		w.total.latencies = append(w.total.latencies, t.latencies...)
	})
}

// phase runs the workers of a kind for the given time.
func (c *cell) phase(ctx context.Context, kind Kind, length time.Duration) (tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &crew{cancel: cancel}
	begin := time.Now()
	deadline := begin.Add(length)
	switch kind {
	case Push:
		for i := range c.producers {
			w.start(func() (tally, error) { return c.push(ctx, i, deadline) })
		}
	case Take:
		for i := range c.consumers {
			w.start(func() (tally, error) { return c.take(ctx, i, deadline) })
		}
	case Probe:
		for i := range c.consumers {
			w.start(func() (tally, error) { return c.probe(ctx, i, deadline) })
		}
	case EndToEnd:
		c.endToEnd(ctx, w, deadline)
	}
	w.group.Wait()
	w.total.elapsed = time.Since(begin)
	switch {
	case kind != EndToEnd:
	case c.Rate > 0:
		w.total.elapsed = length // the wait for the last messages is no work
	case w.total.messages > 0:
		// Nor is it, how long a consumer then waits for more before it sees that none comes.
		w.total.elapsed = time.Unix(0, c.receipts.last.Load()).Sub(begin)
	}
	return w.total, context.Cause(ctx)
}

// push stores batches until the deadline.
func (c *cell) push(ctx context.Context, i int, deadline time.Time) (tally, error) {
	var t tally
	batch := make([]string, c.Batch)
	for time.Now().Before(deadline) {
		c.sources[i].Fill(batch)
		start := time.Now()
		if err := c.producers[i].Push(ctx, batch); err != nil {
			return t, err
		}
		t.latencies = append(t.latencies, time.Since(start))
		t.calls++
		t.messages += int64(len(batch))
	}
	return t, nil
}

// take works on the preload until the deadline or until its share is gone.
func (c *cell) take(ctx context.Context, i int, deadline time.Time) (tally, error) {
	var t tally
	enough := int64(c.share * float64(c.Preload))
	for time.Now().Before(deadline) && c.receipts.received.Load() < enough {
		start := time.Now()
		n, err := c.consumers[i].Take(ctx, c.Batch, func([]string) {})
		if err != nil {
			return t, err
		}
		t.calls++
		if n == 0 {
			time.Sleep(emptyPause)
			continue
		}
		t.latencies = append(t.latencies, time.Since(start))
		t.messages += int64(n)
		c.receipts.received.Add(int64(n))
	}
	return t, nil
}

// probe measures single takes until the deadline.
func (c *cell) probe(ctx context.Context, i int, deadline time.Time) (tally, error) {
	var t tally
	first, prepares := c.consumers[i].(Preparer)
	for time.Now().Before(deadline) {
		if prepares {
			if err := first.Prepare(ctx); err != nil {
				return t, err
			}
		}
		start := time.Now()
		n, err := c.consumers[i].Take(ctx, c.Batch, func([]string) {})
		if err != nil {
			return t, err
		}
		t.latencies = append(t.latencies, time.Since(start))
		t.calls++
		t.messages += int64(n)
	}
	return t, nil
}

// preload stores what take is going to work on, in calls of the same batch.
func (c *cell) preload(ctx context.Context) error {
	if c.Preload == 0 {
		perSecond := map[bool]int{true: 20_000, false: 200_000}[c.Batch < 50]
		c.Preload = int(c.Duration.Seconds() * float64(perSecond))
		if c.Batch >= 500 {
			c.Preload *= 2
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &crew{cancel: cancel}
	each := (c.Preload + c.Producers - 1) / c.Producers
	for i := range c.producers {
		w.start(func() (tally, error) {
			batch := make([]string, max(c.Batch, min(100, each)))
			for left := each; left > 0; left -= len(batch) {
				batch = batch[:min(left, len(batch))]
				c.sources[i].Fill(batch)
				if err := c.producers[i].Push(ctx, batch); err != nil {
					return tally{}, err
				}
			}
			return tally{}, nil
		})
	}
	w.group.Wait()
	return context.Cause(ctx)
}

// endToEnd starts producers that note the time of sending and consumers that
// read it.
func (c *cell) endToEnd(ctx context.Context, w *crew, deadline time.Time) {
	var running atomic.Int64
	running.Store(int64(len(c.producers)))
	if c.Rate == 0 {
		c.receipts.flying = make(chan struct{}, inFlight*c.Producers)
	}
	for i := range c.producers {
		w.start(func() (tally, error) {
			defer running.Add(-1)
			return tally{}, c.send(ctx, i, deadline)
		})
	}
	for i := range c.consumers {
		w.start(func() (tally, error) {
			return c.receive(ctx, i, deadline, func() bool {
				return running.Load() == 0 && c.receipts.received.Load() >= c.receipts.sent.Load()*int64(c.Groups)
			})
		})
	}
}

// send is push with the time of sending in each payload, at the rate asked for.
func (c *cell) send(ctx context.Context, i int, deadline time.Time) error {
	var every time.Duration
	if c.Rate > 0 {
		every = time.Duration(float64(time.Second) * float64(c.Producers*c.Batch) / float64(c.Rate))
	}
	due := time.Now().Add(every * time.Duration(i) / time.Duration(c.Producers))
	over := time.NewTimer(time.Until(deadline))
	defer over.Stop()
	batch := make([]string, c.Batch)
	for time.Now().Before(deadline) {
		c.sources[i].Fill(batch)
		if every > 0 {
			time.Sleep(time.Until(due))
			due = due.Add(every)
		} else {
			select { // not a poll, which would take the processor from what is measured
			case c.receipts.flying <- struct{}{}:
			case <-over.C:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		now := time.Now()
		for k := range batch {
			batch[k] = stamped(batch[k], now)
		}
		c.receipts.sent.Add(int64(len(batch)))
		if err := c.producers[i].Push(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// receive takes until done, and fails when messages are missing in the end.
func (c *cell) receive(ctx context.Context, i int, deadline time.Time, done func() bool) (tally, error) {
	var t tally
	var changed error
	seen := func(payloads []string) {
		now := time.Now()
		for _, p := range payloads {
			at, err := sentAt(p)
			changed = errors.Join(changed, err)
			t.latencies = append(t.latencies, now.Sub(at))
		}
	}
	most := cmp.Or(c.TakeBatch, c.Batch)
	if c.Rate > 0 && c.TakeBatch == 0 {
		most = max(c.Batch, paceBatch) // as a consumer would, so that a hiccup does not last
	}
	for !done() {
		n, err := c.consumers[i].Take(ctx, most, seen)
		if err = errors.Join(err, changed); err != nil {
			return t, err
		}
		t.calls++
		t.messages += int64(n)
		c.receipts.landed(n, c.Groups*c.Batch)
		if time.Now().After(deadline.Add(drainTime)) {
			return t, errors.New("messages that were pushed did not arrive in time")
		}
		if n == 0 {
			time.Sleep(emptyPause)
		}
	}
	return t, nil
}
