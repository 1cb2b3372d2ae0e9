package regent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"regent.local/regent/api/sdk/go/rest"
)

// Message is one delivered message with its decoded payload.
type Message[T any] struct {
	Value T
	rest.PoppedMessage
}

// Consumer says how Consume takes messages.
type Consumer struct {
	// Group shares the messages of a queue among its consumers; "" is queue mode.
	Group string
	// Batch is how many messages are taken at once; 0 is 100.
	Batch int
	// Wait is how long one call waits for messages; 0 is 20 seconds.
	Wait time.Duration
	// Lease is how long a message may be worked on before it is given to others; it
	// is renewed while Consume works, every third of it. 0 is 60 seconds.
	Lease time.Duration
	// From is where a group that is new begins: "all", or "new" for what comes. "" is
	// all.
	From string
}

// ErrDead makes Consume move a message to the dead letters at once. Wrap it.
var ErrDead = errors.New("dead letter")

// errDecode is why a payload that is not a T goes to the dead letters.
var errDecode = fmt.Errorf("%w: the payload cannot be decoded", ErrDead)

// Consume hands the messages of a queue to handle, one after the other and in
// order inside each partition, until ctx ends. A message is acknowledged when
// handle returns nil. An error is a failed try: the message and what was taken
// behind it come again, until the queue's retryLimit makes a dead letter of it.
// Delivery is at least once. When ctx ends, the running handle gets to its end,
// what it did is acknowledged, and the rest goes back without a charge; then
// Consume returns nil. It returns an error when the server refuses, or stays away
// for longer than the client's tries.
func Consume[T any](ctx context.Context, c *Client, queue string, o Consumer, handle func(context.Context, Message[T]) error) error {
	o = o.complete()
	for ctx.Err() == nil {
		got, err := c.pop(ctx, queue, o)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if got == nil || len(got.Messages) == 0 {
			continue
		}
		if err := work(ctx, c, o, got, handle); err != nil {
			return err
		}
	}
	return nil
}

func (o Consumer) complete() Consumer {
	if o.Batch <= 0 {
		o.Batch = 100
	}
	if o.Wait <= 0 {
		o.Wait = 20 * time.Second
	}
	if o.Lease <= 0 {
		o.Lease = time.Minute
	}
	if o.From == "" {
		o.From = "all"
	}
	return o
}

func (c *Client) pop(ctx context.Context, queue string, o Consumer) (got *rest.PopResponse, err error) {
	wait, timeout, lease := true, int(o.Wait.Milliseconds()), max(int(o.Lease.Seconds()), 1)
	params := &rest.PopQueueParams{Batch: &o.Batch, Wait: &wait, Timeout: &timeout, LeaseSeconds: &lease, ConsumerGroup: given(o.Group), SubscriptionMode: &o.From}
	err = c.retry(ctx, func() error {
		r, err := c.PopQueueWithResponse(ctx, queue, params)
		if err != nil {
			return err
		}
		got = r.JSON200
		return Check(r.HTTPResponse, r.Body)
	})
	return got, err
}

// work hands one batch over and settles it.
func work[T any](ctx context.Context, c *Client, o Consumer, got *rest.PopResponse, handle func(context.Context, Message[T]) error) error {
	settled := context.WithoutCancel(ctx)
	renewing, stop := context.WithCancel(settled)
	defer stop()
	go c.renew(renewing, got.LeaseID, o.Lease)

	acks := make([]rest.AckItem, 0, len(got.Messages))
	for i := range got.Messages {
		m := &got.Messages[i]
		if ctx.Err() != nil {
			acks = append(acks, ack(m, "retry", nil))
			continue
		}
		err := handleOne(settled, m, handle)
		status := "completed"
		switch {
		case errors.Is(err, ErrDead):
			status = "dlq"
		case err != nil:
			status = "failed"
		}
		acks = append(acks, ack(m, status, err))
		if err != nil {
			break // the server gives back what stands behind it
		}
	}
	return c.settle(settled, o.Group, acks)
}

func handleOne[T any](ctx context.Context, m *rest.PoppedMessage, handle func(context.Context, Message[T]) error) error {
	message := Message[T]{PoppedMessage: *m}
	if err := json.Unmarshal(m.Data, &message.Value); err != nil {
		return fmt.Errorf("%w: %w", errDecode, err)
	}
	return handle(ctx, message)
}

func ack(m *rest.PoppedMessage, status string, cause error) rest.AckItem {
	partition := m.PartitionID.String()
	item := rest.AckItem{TransactionID: &m.TransactionID, PartitionID: &partition, LeaseID: &m.LeaseID, Status: &status}
	if cause != nil {
		text := cause.Error()
		item.Error = &text
	}
	return item
}

// settle acknowledges a batch. A lease that was lost meanwhile is no error: the
// messages come again.
func (c *Client) settle(ctx context.Context, group string, acks []rest.AckItem) error {
	return c.retry(ctx, func() error {
		r, err := c.AckBatchWithResponse(ctx, rest.AckBatchRequest{Acknowledgments: acks, ConsumerGroup: given(group)})
		if err != nil {
			return err
		}
		return Check(r.HTTPResponse, r.Body)
	})
}

// renew extends a lease until ctx ends.
func (c *Client) renew(ctx context.Context, lease string, length time.Duration) {
	seconds := max(int32(length/time.Second), 1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(length, time.Second) / 3):
		}
		// A renewal that fails is tried again at the next turn; the lease still runs.
		_, _ = c.ExtendLeaseWithResponse(ctx, lease, rest.ExtendLeaseJSONRequestBody{Seconds: &seconds})
	}
}
