package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const defaultURL = "http://127.0.0.1:6632"

// client is what the commands need of Regent. The HTTP client and the SQL
// client both answer in the words of the HTTP API.
type client interface {
	// Push stores items in order. The verdicts have the order of the items.
	Push(ctx context.Context, items []pushItem) ([]pushVerdict, error)
	// Pop claims messages; none is not an error.
	Pop(ctx context.Context, req popRequest) ([]message, error)
	Ack(ctx context.Context, group string, items []ackItem) ([]ackVerdict, error)
	Queues(ctx context.Context) (json.RawMessage, error)
	Queue(ctx context.Context, name string) (json.RawMessage, error)
	Configure(ctx context.Context, req configureRequest) (json.RawMessage, error)
	RetentionPreview(ctx context.Context, name string) (json.RawMessage, error)
	DeleteQueue(ctx context.Context, name string) (json.RawMessage, error)
	// Groups are all consumer groups, once for each queue.
	Groups(ctx context.Context) (json.RawMessage, error)
	// Group is one of them in detail, by queue; empty without a cursor.
	Group(ctx context.Context, name string) (json.RawMessage, error)
	// Lagging are the partitions on which a group owes something, with a cursor or not,
	// of all groups.
	Lagging(ctx context.Context) (json.RawMessage, error)
	Seek(ctx context.Context, s seekTarget) (json.RawMessage, error)
	// DeleteGroup forgets a group, on all queues when none is named.
	DeleteGroup(ctx context.Context, name, queue string, keep bool) (json.RawMessage, error)
	// Messages are a page of messages, newest first.
	Messages(ctx context.Context, r browseRequest) ([]browsedMessage, error)
	// Message is one in detail.
	Message(ctx context.Context, a messageAddress) (browsedMessage, error)
	// DeleteMessage deletes the dead letters of a message and counts them.
	DeleteMessage(ctx context.Context, a messageAddress) (int, error)
	// RetryMessage replays the newest dead letter of a message.
	RetryMessage(ctx context.Context, a messageAddress) (outcome, error)
	// DeadLetters are a page of dead letters, newest first, by queue and group.
	DeadLetters(ctx context.Context, f letterFilter, limit, offset int) ([]deadLetter, error)
	// DeleteDeadLetters deletes those of a queue, or of one of its groups.
	DeleteDeadLetters(ctx context.Context, f letterFilter) (int, error)
	// Replay moves one dead letter; an empty queue or partition is its own.
	Replay(ctx context.Context, id, queue, partition string) (outcome, error)
	// Redrive moves all that the filter chooses, oldest first, at most step between two calls of each,
	// which is told of how many; 0 means that this is not known.
	Redrive(ctx context.Context, f letterFilter, step int, dryRun bool, each func(done []outcome, of int) error) error
	Close()
}

type pushItem struct {
	Queue         string
	Partition     string
	TransactionID string
	Key           string // empty: none
	Payload       []byte // JSON text, sent byte for byte
}

type pushVerdict struct {
	Status        string `json:"status"` // queued, duplicate, buffered, failed or error
	TransactionID string `json:"transaction_id"`
	Error         string `json:"error"`
}

type popRequest struct {
	Queue      string
	Partition  string // empty: any
	Group      string // empty: queue mode
	Batch      int
	Partitions int
	Wait       time.Duration // 0: do not wait
	Lease      time.Duration // 0: the queue's own
	AutoAck    bool
	Mode       string // subscriptionMode: new, all, or empty for the server's default
	From       string // subscriptionFrom: "now", RFC 3339, or empty
}

// message is a popped or read message, in the shape of the HTTP API plus queue,
// offset and key where they are known.
type message struct {
	Queue           string          `json:"queue"`
	Partition       string          `json:"partition"`
	PartitionID     string          `json:"partitionId"`
	Offset          *int64          `json:"offset,omitempty"`
	ID              string          `json:"id"`
	TransactionID   string          `json:"transactionId"`
	Key             *string         `json:"key,omitempty"`
	CreatedAt       string          `json:"createdAt"`
	LeaseID         string          `json:"leaseId,omitempty"`
	ConsumerGroup   string          `json:"consumerGroup,omitempty"`
	DeliveryAttempt int             `json:"deliveryAttempt,omitempty"`
	TraceID         *string         `json:"traceId,omitempty"`
	ProducerSub     *string         `json:"producerSub,omitempty"`
	Data            json.RawMessage `json:"data"`
}

func (m message) line() ([]byte, error) {
	data := m.Data
	m.Data = nil
	return lineWith(m, data)
}

// lineWith is a message on one line. The payload is what was pushed, byte for byte,
// but for line breaks, which JSON has between its parts only: they become spaces.
// It takes the place of the null that stands last in the message without it.
func lineWith(without any, data json.RawMessage) ([]byte, error) {
	var text bytes.Buffer
	if err := writeJSON(&text, without, ""); err != nil {
		return nil, err
	}
	head, found := bytes.CutSuffix(text.Bytes(), []byte("null}\n"))
	if !found || len(data) == 0 {
		return text.Bytes(), nil
	}
	return slices.Concat(head, []byte(strings.NewReplacer("\n", " ", "\r", " ").Replace(string(data))), []byte("}\n")), nil
}

type ackItem struct {
	TransactionID string  `json:"transactionId"`
	PartitionID   string  `json:"partitionId"`
	Status        string  `json:"status"`
	LeaseID       string  `json:"leaseId,omitempty"`
	Error         *string `json:"error,omitempty"`
}

type ackVerdict struct {
	TransactionID string  `json:"transactionId"`
	Success       bool    `json:"success"`
	Error         *string `json:"error"`
	LeaseReleased bool    `json:"leaseReleased"`
	DLQ           bool    `json:"dlq"`
	Noop          bool    `json:"noop"`
}

type configureRequest struct {
	Queue   string                     `json:"queue"`
	Mode    string                     `json:"mode,omitempty"`
	Options map[string]json.RawMessage `json:"options"`
	DryRun  bool                       `json:"dryRun,omitempty"`
}

// errNoQueue is the cause of every error about a queue that does not exist.
var errNoQueue = errors.New("queue not found")

// noQueue is the error about one. That is the user's to cure.
type noQueue string

func (e noQueue) Error() string { return fmt.Sprintf("queue %q does not exist", string(e)) }
func (e noQueue) Unwrap() error { return errNoQueue }
func (e noQueue) ExitCode() int { return exitUser }

// missingQueue says that a queue does not exist, when that is known. It is asked
// where nothing was found.
func missingQueue(ctx context.Context, c client, queue string) error {
	if queue == "" {
		return nil
	}
	if _, err := c.Queue(ctx, queue); errors.Is(err, errNoQueue) {
		return err
	}
	return nil
}

// targetFlags say where Regent is.
type targetFlags struct {
	url, dsn, token string
	retryFor        durationFlag
}

// addFlags declares the flags; retryFor is the default of --retry-for.
func (t *targetFlags) addFlags(cmd *cobra.Command, retryFor time.Duration) {
	t.retryFor = durationFlag(retryFor)
	f := cmd.Flags()
	f.StringVar(&t.url, "url", "", "address of the HTTP API (default: REGENT_URL, else the context, else "+defaultURL+")")
	f.StringVar(&t.dsn, "dsn", "", "PostgreSQL connection string: call the SQL functions instead of the HTTP API")
	f.StringVar(&t.token, "token", "", "bearer token for the HTTP API (default: REGENT_TOKEN, else the context's)")
	f.Var(&t.retryFor, "retry-for", "how long a call that is safe to repeat is repeated while the server is away")
	contextFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("url", "dsn", "context")
}

// open returns the client for the flags. Nothing is sent yet over HTTP.
func (t *targetFlags) open(ctx context.Context, cmd *cobra.Command) (client, error) {
	to, err := t.resolve(cmd)
	if err != nil {
		return nil, err
	}
	again := newRetrier(time.Duration(t.retryFor), cmd)
	if to.DSN != "" {
		return openSQL(ctx, to.DSN, again)
	}
	return newHTTPClient(to.URL, to.Token, again)
}

// verdictCount fails when an answer does not match the question.
func verdictCount(asked, answered int) error {
	if asked == answered {
		return nil
	}
	return withCode(exitServer, fmt.Errorf("server answered %d verdicts for %d items", answered, asked))
}
