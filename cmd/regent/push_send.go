package main

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

const (
	defaultBatchBytes = 1 << 20
	// maxBatchBytes keeps a partition's share of a batch inside one call of
	// the database, so that it is stored in order or not at all.
	maxBatchBytes = 3 << 20
	// linger is how long a batch waits for more lines.
	linger = 20 * time.Millisecond
	// memoryBytes bounds what is read but not acknowledged.
	memoryBytes = 64 << 20
	// failedTries bounds the calls for items that the server answers as failed.
	failedTries = 8
)

// counts are the verdicts so far.
type counts struct {
	lines, queued, duplicates, buffered, failed, skipped atomic.Int64
	// bytes is how far in the input the acknowledged lines reach in sum.
	bytes atomic.Int64
}

// pusher moves lines from the reader to the client. A partition belongs to one
// worker, which sends one batch at a time: that keeps its order.
type pusher struct {
	client      client
	maker       itemMaker
	batch       int   // lines a call
	batchBytes  int64 // payload bytes a call
	concurrency int
	skipBad     bool
	onBad       func(error)
	track       *tracker
	counts      counts
	memory      *semaphore.Weighted
}

// job is a message on its way, and the line it came from.
type job struct {
	item   pushItem
	no     int64
	bytes  int64 // of the input, newline included
	weight int64 // of the memory budget
}

// run pushes everything that lines has. After a bad line it sends all lines
// before that one and returns the *badLine.
func (p *pusher) run(ctx context.Context, lines *lineReader) error {
	p.memory = semaphore.NewWeighted(memoryBytes)
	group, ctx := errgroup.WithContext(ctx)
	queues := make([]chan job, p.concurrency)
	for i := range queues {
		queues[i] = make(chan job, 2*p.batch)
		group.Go(func() error { return p.work(ctx, queues[i]) })
	}
	var readErr error
	group.Go(func() error {
		readErr = p.read(ctx, lines, queues)
		for _, q := range queues {
			close(q)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return readErr
}

// read spreads the lines over the workers.
func (p *pusher) read(ctx context.Context, lines *lineReader, queues []chan job) error {
	seed := maphash.MakeSeed()
	before := lines.last.end
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		length := l.end - before
		before = l.end
		j, err := p.prepare(l, length, err)
		if err != nil {
			return err
		}
		if j == nil {
			continue
		}
		if err := p.memory.Acquire(ctx, j.weight); err != nil {
			return err
		}
		worker := maphash.String(seed, j.item.Partition) % uint64(len(queues))
		select {
		case queues[worker] <- *j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prepare returns nil for a line that is not to be sent: blank, or bad and
// skipped. err is what reading the line said.
func (p *pusher) prepare(l line, length int64, err error) (*job, error) {
	var bad *badLine
	if err != nil && !errors.As(err, &bad) {
		return nil, fmt.Errorf("read input: %w", err)
	}
	j := &job{no: l.no, bytes: length, weight: min(int64(len(l.data))+512, memoryBytes)}
	if err == nil && len(l.data) > 0 {
		j.item, err = p.maker.item(l)
	}
	if err != nil && !p.skipBad {
		return nil, err
	}
	p.track.begin(l)
	if err == nil && len(l.data) > 0 {
		return j, nil
	}
	if err != nil {
		p.counts.skipped.Add(1)
		p.onBad(err)
	}
	p.settle(*j)
	return nil, nil
}

// settle takes a line off the list of open ones.
func (p *pusher) settle(j job) {
	p.track.finish(j.no)
	p.counts.lines.Add(1)
	p.counts.bytes.Add(j.bytes)
}

// work sends what arrives, batch by batch, until in is closed.
func (p *pusher) work(ctx context.Context, in <-chan job) error {
	for {
		batch, open := p.collect(ctx, in)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.send(ctx, batch); err != nil {
			return err
		}
		if !open {
			return nil
		}
	}
}

// collect waits for a first job and takes what follows soon.
func (p *pusher) collect(ctx context.Context, in <-chan job) (batch []job, open bool) {
	var size int64
	var late <-chan time.Time
	for len(batch) < p.batch && size < p.batchBytes {
		select {
		case j, more := <-in:
			if !more {
				return batch, false
			}
			batch = append(batch, j)
			size += int64(len(j.item.Payload))
			if late == nil {
				late = time.After(linger)
			}
		case <-late:
			return batch, true
		case <-ctx.Done():
			return batch, true
		}
	}
	return batch, true
}

// send pushes a batch until each of its items is stored.
func (p *pusher) send(ctx context.Context, batch []job) error {
	pause := firstPause
	for try := 1; len(batch) > 0; try++ {
		rest, why, err := p.sendOnce(ctx, batch)
		if err != nil {
			return fmt.Errorf("lines from %d on: %w", batch[0].no, err)
		}
		if len(rest) > 0 && try == failedTries {
			p.counts.failed.Add(int64(len(rest)))
			return withCode(exitServer, fmt.Errorf("line %d: server answered failed: %s", rest[0].no, why))
		}
		batch = rest
		if len(batch) > 0 {
			if err := sleep(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, maxPause)
		}
	}
	return nil
}

// sendOnce returns the jobs that the server did not store, and its reason.
func (p *pusher) sendOnce(ctx context.Context, batch []job) (rest []job, why string, err error) {
	items := make([]pushItem, len(batch))
	for i, j := range batch {
		items[i] = j.item
	}
	verdicts, err := p.client.Push(ctx, items)
	if err != nil {
		return nil, "", err
	}
	for i, v := range verdicts {
		switch v.Status {
		case "queued":
			p.counts.queued.Add(1)
		case "duplicate":
			p.counts.duplicates.Add(1)
		case "buffered":
			p.counts.buffered.Add(1)
		default:
			rest, why = append(rest, batch[i]), v.Error
			continue
		}
		p.memory.Release(batch[i].weight)
		p.settle(batch[i])
	}
	return rest, why, nil
}
