package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"regent.local/regent/api/sdk/go/rest"
	"regent.local/regent/db"
)

// seekTarget is what a seek moves, and where to.
type seekTarget struct {
	group, queue, partition string     // an empty partition is all of them
	to                      *time.Time // nil is the end
}

func (s seekTarget) text() *string {
	if s.to == nil {
		return nil
	}
	text := s.to.UTC().Format(time.RFC3339Nano)
	return &text
}

func (c *httpClient) Groups(ctx context.Context) (json.RawMessage, error) {
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) { return c.ListConsumerGroups(ctx) })
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return body, nil
}

func (c *httpClient) Group(ctx context.Context, name string) (json.RawMessage, error) {
	if err := addressable(name); err != nil {
		return nil, err
	}
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) { return c.GetConsumerGroup(ctx, name) })
	if err != nil {
		return nil, fmt.Errorf("show group %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) Lagging(ctx context.Context) (json.RawMessage, error) {
	all := "0"
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) {
		return c.ListLaggingPartitions(ctx, &rest.ListLaggingPartitionsParams{MinLagSeconds: &all})
	})
	if err != nil {
		return nil, fmt.Errorf("list lagging partitions: %w", err)
	}
	return body, nil
}

func (c *httpClient) Seek(ctx context.Context, s seekTarget) (json.RawMessage, error) {
	if err := addressable(append(given(s.partition), s.group, s.queue)...); err != nil {
		return nil, err
	}
	toEnd := s.to == nil
	request := rest.SeekRequest{ToEnd: &toEnd, Timestamp: s.text()}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		if s.partition == "" {
			return c.SeekQueue(ctx, s.group, s.queue, request)
		}
		return c.SeekPartition(ctx, s.group, s.queue, s.partition, request)
	})
	if err != nil {
		return nil, fmt.Errorf("seek %q: %w", s.group, err)
	}
	return body, nil
}

func (c *httpClient) DeleteGroup(ctx context.Context, name, queue string, keep bool) (json.RawMessage, error) {
	if err := addressable(append(given(queue), name)...); err != nil {
		return nil, err
	}
	metadata := strconv.FormatBool(!keep)
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		if queue == "" {
			return c.DeleteConsumerGroup(ctx, name, &rest.DeleteConsumerGroupParams{DeleteMetadata: &metadata})
		}
		return c.DeleteConsumerGroupOnQueue(ctx, name, queue, &rest.DeleteConsumerGroupOnQueueParams{DeleteMetadata: &metadata})
	})
	if err != nil {
		return nil, fmt.Errorf("delete group %q: %w", name, err)
	}
	return body, nil
}

func (c *sqlClient) Groups(ctx context.Context) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.ListConsumerGroups(ctx, ownTenant()) })
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return text, nil
}

func (c *sqlClient) Group(ctx context.Context, name string) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.GetConsumerGroup(ctx, name, ownTenant()) })
	if err != nil {
		return nil, fmt.Errorf("show group %q: %w", name, err)
	}
	return text, nil
}

func (c *sqlClient) Lagging(ctx context.Context) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.ListLaggingPartitions(ctx, 0, ownTenant()) })
	if err != nil {
		return nil, fmt.Errorf("list lagging partitions: %w", err)
	}
	return text, nil
}

func (c *sqlClient) Seek(ctx context.Context, s seekTarget) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatUnsent, func() (json.RawMessage, error) {
		return c.queries.SeekConsumerGroup(ctx, db.SeekConsumerGroupParams{Queue: s.queue, ConsumerGroup: s.group, ToEnd: s.to == nil,
			Since: s.text(), Partition: optional(s.partition), TenantID: ownTenant()})
	})
	if err != nil {
		return nil, fmt.Errorf("seek %q: %w", s.group, err)
	}
	return text, nil
}

func (c *sqlClient) DeleteGroup(ctx context.Context, name, queue string, keep bool) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatUnsent, func() (json.RawMessage, error) {
		return c.queries.DeleteConsumerGroup(ctx, db.DeleteConsumerGroupParams{ConsumerGroup: name, Queue: optional(queue), DeleteMetadata: !keep, TenantID: ownTenant()})
	})
	if err != nil {
		return nil, fmt.Errorf("delete group %q: %w", name, err)
	}
	return text, nil
}
