package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/api/sdk/go/rest"
	"regent.local/regent/db"
)

// milliForm is how the browsing routes write a time.
const milliForm = "2006-01-02T15:04:05.000Z"

// browsedMessage is a message that was looked at, in the words of the HTTP API.
type browsedMessage struct {
	Queue          string          `json:"queue"`
	Partition      string          `json:"partition"`
	PartitionID    string          `json:"partitionId"`
	ID             *string         `json:"id"` // null, as transactionId: the payload is lost
	TransactionID  *string         `json:"transactionId"`
	Status         string          `json:"status"`
	CreatedAt      string          `json:"createdAt"`
	LeaseExpiresAt *string         `json:"leaseExpiresAt"`
	TraceID        *string         `json:"traceId"`
	ProducerSub    *string         `json:"producerSub"`
	ErrorMessage   *string         `json:"errorMessage,omitempty"`
	RetryCount     int32           `json:"retryCount,omitempty"`
	ConsumerGroups json.RawMessage `json:"consumerGroups,omitempty"` // where each group stands; of one message only
	Data           json.RawMessage `json:"data"`
}

// line keeps the bytes of the payload, as that of a popped message does.
func (m browsedMessage) line() ([]byte, error) {
	data := m.Data
	m.Data = nil
	return lineWith(m, data)
}

// messageAddress names one message.
type messageAddress struct{ partitionID, transactionID string }

// errNoMessage is the answer to an address that no message has.
func (a messageAddress) errNoMessage() error {
	return withCode(exitUser, fmt.Errorf("partition %q has no message %q", a.partitionID, a.transactionID))
}

type browseRequest struct {
	queue, partition, status string // empty: any
	from, to                 *time.Time
	limit, offset            int
}

func (c *httpClient) Messages(ctx context.Context, r browseRequest) ([]browsedMessage, error) {
	limit, offset := int32(r.limit), int32(r.offset)
	params := &rest.ListMessagesParams{Queue: optional(r.queue), Partition: optional(r.partition), Status: optional(r.status),
		From: timeText(r.from), To: timeText(r.to), Limit: &limit, Offset: &offset}
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) { return c.ListMessages(ctx, params) })
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	var list struct {
		Messages []browsedMessage `json:"messages"`
	}
	err = decode(body, &list)
	return list.Messages, err
}

func timeText(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}

func (c *httpClient) Message(ctx context.Context, a messageAddress) (m browsedMessage, err error) {
	if addressable(a.partitionID, a.transactionID) != nil {
		return m, a.errNoMessage()
	}
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) {
		return c.GetMessage(ctx, a.partitionID, a.transactionID)
	})
	if notFound(err) {
		return m, a.errNoMessage()
	}
	if err != nil {
		return m, fmt.Errorf("show message: %w", err)
	}
	err = decode(body, &m)
	return m, err
}

func notFound(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.status == http.StatusNotFound
}

func (c *httpClient) DeleteMessage(ctx context.Context, a messageAddress) (int, error) {
	if addressable(a.partitionID, a.transactionID) != nil {
		return 0, nil
	}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		return c.Client.DeleteMessage(ctx, a.partitionID, a.transactionID)
	})
	if notFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete the dead letters of a message: %w", err)
	}
	var answer struct{ Message string } // ends with their number
	if err := decode(body, &answer); err != nil {
		return 0, err
	}
	number := answer.Message[strings.LastIndex(answer.Message, " ")+1:]
	return strconv.Atoi(number)
}

func (c *httpClient) RetryMessage(ctx context.Context, a messageAddress) (outcome, error) {
	if addressable(a.partitionID, a.transactionID) != nil {
		return outcome{Result: "gone"}, nil
	}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		return c.Client.RetryMessage(ctx, a.partitionID, a.transactionID)
	})
	return replayed("", "retry message", body, err)
}

func (c *sqlClient) Messages(ctx context.Context, r browseRequest) ([]browsedMessage, error) {
	arg := db.ListMessagesParams{Queue: optional(r.queue), Partition: optional(r.partition), Status: optional(r.status),
		Since: r.from, Until: r.to, MaxRows: int32(r.limit), Skip: int32(r.offset), TenantID: ownTenant()}
	var rows []db.MessageRow
	err := c.run(ctx, repeatAny, func() (err error) {
		rows, err = c.queries.ListMessages(ctx, arg)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	messages := make([]browsedMessage, len(rows))
	for i := range rows {
		messages[i] = sqlBrowsed(&rows[i])
	}
	return messages, nil
}

func sqlBrowsed(r *db.MessageRow) browsedMessage {
	m := browsedMessage{Queue: r.Queue, Partition: r.Partition, PartitionID: r.PartitionID.String(), Status: r.Status, CreatedAt: r.CreatedAt.UTC().Format(milliForm),
		TraceID: r.TraceID, ProducerSub: r.ProducerSub}
	if r.LeaseExpiresAt != nil {
		at := r.LeaseExpiresAt.UTC().Format(milliForm)
		m.LeaseExpiresAt = &at
	}
	if m.Data = json.RawMessage("null"); r.Payload != nil && json.Valid([]byte(*r.Payload)) {
		id := r.ID.String()
		m.ID, m.TransactionID, m.Data = &id, &r.TransactionID, json.RawMessage(*r.Payload)
	}
	return m
}

func (c *sqlClient) Message(ctx context.Context, a messageAddress) (browsedMessage, error) {
	partition, err := uuid.Parse(a.partitionID)
	if err != nil {
		return browsedMessage{}, a.errNoMessage()
	}
	var rows []db.MessageRow
	err = c.run(ctx, repeatAny, func() (err error) {
		rows, err = c.queries.GetMessage(ctx, db.GetMessageParams{PartitionID: partition, TransactionID: a.transactionID, TenantID: ownTenant()})
		return err
	})
	if err != nil {
		return browsedMessage{}, fmt.Errorf("show message: %w", err)
	}
	if len(rows) == 0 {
		return browsedMessage{}, a.errNoMessage()
	}
	m := sqlBrowsed(&rows[0])
	m.ErrorMessage, m.RetryCount, m.ConsumerGroups = rows[0].Error, rows[0].RetryCount, rows[0].Groups
	return m, nil
}

func (c *sqlClient) DeleteMessage(ctx context.Context, a messageAddress) (int, error) {
	partition, err := uuid.Parse(a.partitionID)
	if err != nil {
		return 0, nil
	}
	var deleted int32
	err = c.run(ctx, repeatUnsent, func() (err error) {
		deleted, err = c.queries.DeleteMessage(ctx, db.DeleteMessageParams{PartitionID: partition, TransactionID: a.transactionID, TenantID: ownTenant()})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete the dead letters of a message: %w", err)
	}
	return int(deleted), nil
}

func (c *sqlClient) RetryMessage(ctx context.Context, a messageAddress) (outcome, error) {
	partition, err := uuid.Parse(a.partitionID)
	if err != nil {
		return outcome{Result: "gone"}, nil
	}
	var rows []db.ReplayRow
	err = c.run(ctx, repeatUnsent, func() (err error) {
		rows, err = c.queries.RetryMessage(ctx, db.RetryMessageParams{PartitionID: partition, TransactionID: a.transactionID, TenantID: ownTenant()})
		return err
	})
	switch {
	case err != nil:
		return outcome{}, fmt.Errorf("retry message: %w", err)
	case len(rows) == 0:
		return outcome{Result: "gone"}, nil
	}
	return sqlOutcome(rows[0]), nil
}
