package regent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/api/sdk/go/rest"
)

// Item is one message to be pushed.
type Item[T any] struct {
	// Value is the payload; it is encoded as JSON.
	Value T
	// Partition is where order is kept; "" is the partition Default.
	Partition string
	// ID is the deduplication key, at most 64 KiB. "" draws one, so that a push that
	// is repeated after a broken connection stores nothing twice.
	ID string
	// Key names what the message is about, for queues that keep the latest of each key.
	Key string
}

// Push stores messages of one queue in order and returns when they are durable,
// or buffered durably by the server while its database is away. Some may have been
// stored when it fails; pushing the same ids again is harmless. An error of type
// *Error names what the server refused.
func Push[T any](ctx context.Context, c *Client, queue string, items ...Item[T]) ([]rest.PushResult, error) {
	body := rest.PushRequest{Items: make([]rest.PushItem, len(items))}
	for i, item := range items {
		payload, err := json.Marshal(item.Value)
		if err != nil {
			return nil, fmt.Errorf("encode message %d: %w", i, err)
		}
		id := item.ID
		if id == "" {
			id = uuid.Must(uuid.NewV7()).String()
		}
		body.Items[i] = rest.PushItem{Queue: queue, Payload: payload, TransactionID: &id, Partition: given(item.Partition), Key: given(item.Key)}
	}
	return c.push(ctx, body)
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (c *Client) push(ctx context.Context, body rest.PushRequest) (results []rest.PushResult, err error) {
	err = c.retry(ctx, func() error {
		r, err := c.PushWithResponse(ctx, body)
		if err != nil {
			return err
		}
		if err := Check(r.HTTPResponse, r.Body); err != nil {
			return err
		}
		if r.JSON201 == nil {
			return errors.New("the server answered a push without JSON")
		}
		results = *r.JSON201
		for i := range results {
			if results[i].Status == "failed" {
				return failed(&results[i])
			}
		}
		return nil
	})
	return results, err
}

// failed is the error of an item. What may pass is retried with the whole call:
// the ids keep what is stored from being stored again.
func failed(r *rest.PushResult) error {
	e := &Error{Status: http.StatusCreated, Text: "a message failed", Retryable: true}
	if r.Error != nil {
		e.Text = *r.Error
	}
	return e
}

// Batcher gathers messages of concurrent callers into few pushes. It is safe for
// concurrent use. Close it to send what is left.
type Batcher[T any] struct {
	client *Client
	queue  string
	size   int
	linger time.Duration

	mu      sync.Mutex
	current *batch[T]
	running sync.WaitGroup
}

type batch[T any] struct {
	items []Item[T]
	timer *time.Timer
	done  chan struct{}
	err   error
}

// NewBatcher pushes when size messages came together, or linger after the first.
func NewBatcher[T any](c *Client, queue string, size int, linger time.Duration) *Batcher[T] {
	return &Batcher[T]{client: c, queue: queue, size: max(size, 1), linger: linger}
}

// Push adds a message and returns when it is durable. Messages of one caller that
// waits for each keep their order; concurrent ones have none.
func (b *Batcher[T]) Push(ctx context.Context, item Item[T]) error {
	b.mu.Lock()
	if b.current == nil {
		fresh := &batch[T]{done: make(chan struct{})}
		fresh.timer = time.AfterFunc(b.linger, func() { b.flush(fresh) })
		b.current = fresh
	}
	mine := b.current
	mine.items = append(mine.items, item)
	full := len(mine.items) >= b.size
	b.mu.Unlock()
	if full {
		b.flush(mine)
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err() // it is sent all the same
	}
}

func (b *Batcher[T]) flush(mine *batch[T]) {
	b.mu.Lock()
	if b.current != mine {
		b.mu.Unlock()
		return
	}
	b.current = nil
	b.running.Add(1)
	b.mu.Unlock()
	mine.timer.Stop()
	go func() {
		defer b.running.Done()
		_, mine.err = Push(context.Background(), b.client, b.queue, mine.items...)
		close(mine.done)
	}()
}

// Close sends what is left and waits for it. Nothing may be pushed afterwards.
func (b *Batcher[T]) Close() {
	b.mu.Lock()
	last := b.current
	b.mu.Unlock()
	if last != nil {
		b.flush(last)
	}
	b.running.Wait()
}
