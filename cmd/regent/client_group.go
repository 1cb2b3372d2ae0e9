package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	body, err := c.call(ctx, request{method: http.MethodGet, path: []string{"api", "v1", "consumer-groups"}, may: repeatAny})
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	return body, nil
}

func (c *httpClient) Group(ctx context.Context, name string) (json.RawMessage, error) {
	body, err := c.call(ctx, request{method: http.MethodGet, path: []string{"api", "v1", "consumer-groups", name}, may: repeatAny})
	if err != nil {
		return nil, fmt.Errorf("show group %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) Seek(ctx context.Context, s seekTarget) (json.RawMessage, error) {
	path := []string{"api", "v1", "consumer-groups", s.group, "queues", s.queue}
	if s.partition != "" {
		path = append(path, "partitions", s.partition)
	}
	payload, err := json.Marshal(map[string]any{"toEnd": s.to == nil, "timestamp": s.text()})
	if err != nil {
		return nil, fmt.Errorf("seek %q: %w", s.group, err)
	}
	body, err := c.call(ctx, request{method: http.MethodPost, path: append(path, "seek"), body: payload})
	if err != nil {
		return nil, fmt.Errorf("seek %q: %w", s.group, err)
	}
	return body, nil
}

func (c *httpClient) DeleteGroup(ctx context.Context, name, queue string, keep bool) (json.RawMessage, error) {
	path := []string{"api", "v1", "consumer-groups", name}
	if queue != "" {
		path = append(path, "queues", queue)
	}
	body, err := c.call(ctx, request{method: http.MethodDelete, path: path, query: url.Values{"deleteMetadata": {strconv.FormatBool(!keep)}}})
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
