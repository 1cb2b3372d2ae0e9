package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/api"
	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

const (
	// sqlConnections is enough for the workers of a push.
	sqlConnections = 16
	// pollEvery is how often a waiting pop or a following tail looks again:
	// the functions themselves never wait.
	pollEvery = 250 * time.Millisecond
	stampForm = "2006-01-02T15:04:05.000000Z"
)

// sqlClient calls the stored functions that people use in psql.
type sqlClient struct {
	pool    *pgxpool.Pool
	queries *db.Queries
	again   retrier
}

func openSQL(ctx context.Context, dsn string, again retrier) (*sqlClient, error) {
	cfg := api.DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize = dsn, sqlConnections
	return openPool(ctx, cfg, again)
}

func openPool(ctx context.Context, cfg api.Config, again retrier) (*sqlClient, error) {
	config, err := api.PoolConfig(cfg)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database connections: %w", err)
	}
	return &sqlClient{pool: pool, queries: db.New(pool), again: again}, nil
}

func (c *sqlClient) Close() { c.pool.Close() }

// sqlError is a failed call of a stored function.
type sqlError struct{ err error }

func (e *sqlError) Unwrap() error        { return e.err }
func (e *sqlError) after() time.Duration { return 0 }

func (e *sqlError) ExitCode() int {
	switch {
	case missing(e.err):
		return exitUser
	case refused(e.err):
		return exitAuth
	}
	return dberr.ExitCode(e.err)
}

// Error adds what a server would only log: whoever runs this command may see
// why the database is not there.
func (e *sqlError) Error() string {
	known := dberr.From(e.err)
	switch {
	case missing(e.err):
		return missingFunctions
	case known.Code == "42501":
		return fmt.Sprintf("the database role may not do that, grant it queen_reader, queen_writer or queen_admin (%s)", e.err)
	case known.Code == "":
		return known.Message + ": " + e.err.Error()
	case !strings.HasPrefix(known.Code, "QN"):
		return fmt.Sprintf("%s (%s): %s", known.Message, known.Code, e.err)
	}
	return known.Message
}

// again: an error that the database itself reported has undone the call, unless
// the database was going away.
func (e *sqlError) again() (later, unsent bool) {
	var pg *pgconn.PgError
	reported := errors.As(e.err, &pg) && !strings.HasPrefix(pg.Code, "57P") && !strings.HasPrefix(pg.Code, "08")
	return dberr.Retryable(e.err), reported || pgconn.SafeToRetry(e.err)
}

// run makes one call, and repeats it as far as may allows.
func (c *sqlClient) run(ctx context.Context, may repeat, call func() error) error {
	return c.again.do(ctx, may, func() error {
		if err := call(); err != nil {
			return &sqlError{err: err}
		}
		return nil
	})
}

func (c *sqlClient) Push(ctx context.Context, items []pushItem) ([]pushVerdict, error) {
	arg := db.PushManyParams{Queue: items[0].Queue}
	for _, it := range items {
		arg.Payloads = append(arg.Payloads, it.Payload)
		arg.Partitions = append(arg.Partitions, it.Partition)
		arg.TransactionIds = append(arg.TransactionIds, it.TransactionID)
		arg.Keys = append(arg.Keys, optional(it.Key))
	}
	var rows []db.PushedMessage
	err := c.run(ctx, pushRepeat(items), func() (err error) {
		ctx, done := context.WithCancel(ctx)
		defer done()
		rows, err = c.queries.PushMany(lingering(ctx, answerLinger), arg)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	verdicts := make([]pushVerdict, len(rows))
	for i, r := range rows {
		verdicts[i] = pushVerdict{Status: r.Status, TransactionID: r.TransactionID}
	}
	return verdicts, verdictCount(len(items), len(verdicts))
}

func (c *sqlClient) Pop(ctx context.Context, req popRequest) ([]message, error) {
	arg := db.PopMessagesParams{Queue: req.Queue, Batch: int32(req.Batch), ConsumerGroup: optional(req.Group),
		Partition: optional(req.Partition), AutoAck: req.AutoAck, MaxPartitions: int32(req.Partitions),
		SubscriptionMode: req.Mode, SubscriptionFrom: optional(req.From)}
	if req.Mode == "" {
		arg.SubscriptionMode = "new"
	}
	if req.Lease > 0 {
		s := int32(seconds(req.Lease))
		arg.LeaseSeconds = &s
	}
	began := time.Now()
	for deadline := began.Add(req.Wait); ; {
		var rows []db.PoppedMessage
		err := c.run(ctx, repeatUnsent, func() (err error) {
			rows, err = c.queries.PopMessages(ctx, arg)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("pop from %q: %w", req.Queue, err)
		}
		if left := time.Until(deadline); len(rows) > 0 || left <= 0 {
			return sqlMessages(req.Queue, req.Group, rows), nil
		}
		if err := sleep(ctx, min(pollEvery, time.Until(deadline))); err != nil {
			return nil, err
		}
		waited := int32(min(time.Since(began), 24*time.Hour).Milliseconds())
		arg.WaitedMs = &waited
	}
}

func sqlMessages(queue, group string, rows []db.PoppedMessage) []message {
	messages := make([]message, len(rows))
	for i, r := range rows {
		messages[i] = message{Queue: queue, Partition: r.Partition, PartitionID: r.PartitionID.String(), Offset: &r.Offset,
			ID: r.ID.String(), TransactionID: r.TransactionID, Key: r.Key, CreatedAt: r.CreatedAt.UTC().Format(stampForm),
			LeaseID: r.LeaseID, ConsumerGroup: group, DeliveryAttempt: int(r.DeliveryAttempt), Data: r.Payload}
	}
	return messages
}

// Read returns messages of one partition from an offset or a time on, or the
// last ones when both are nil. It takes nothing.
func (c *sqlClient) Read(ctx context.Context, req readRequest) ([]message, error) {
	arg := db.ReadPartitionParams{Queue: req.queue, Partition: req.partition, FromOffset: req.from, MaxRows: int32(req.limit), Since: req.since}
	var rows []db.PoppedMessage
	err := c.run(ctx, repeatAny, func() (err error) {
		rows, err = c.queries.ReadPartition(ctx, arg)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", req.queue, err)
	}
	return sqlMessages(req.queue, "", rows), nil
}

type readRequest struct {
	queue, partition string
	from             *int64
	since            *time.Time
	limit            int
}

// document runs a call that answers with one JSON document.
func (c *sqlClient) document(ctx context.Context, may repeat, call func() (json.RawMessage, error)) (text json.RawMessage, err error) {
	err = c.run(ctx, may, func() (err error) {
		text, err = call()
		return err
	})
	return text, err
}

func (c *sqlClient) Queues(ctx context.Context) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.ListQueues(ctx, ownTenant(), false) })
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	return text, nil
}

// ownTenant is what the functions take for the session's own tenant.
func ownTenant() uuid.UUID { return uuid.MustParse("00000000-0000-0000-0000-000000000001") }

func (c *sqlClient) Queue(ctx context.Context, name string) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.GetQueue(ctx, name, ownTenant()) })
	switch {
	case err != nil && errors.Is(dberr.From(err), dberr.ErrNotFound):
		return nil, noQueue(name)
	case err != nil:
		return nil, fmt.Errorf("show %q: %w", name, err)
	}
	return text, nil
}

func (c *sqlClient) Configure(ctx context.Context, req configureRequest) (json.RawMessage, error) {
	options, err := json.Marshal(req.Options)
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) {
		return c.queries.ConfigureQueue(ctx, db.ConfigureQueueParams{Queue: req.Queue, Options: options, Mode: optional(req.Mode), TenantID: ownTenant(), DryRun: req.DryRun})
	})
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	return text, nil
}

func (c *sqlClient) RetentionPreview(ctx context.Context, name string) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatAny, func() (json.RawMessage, error) { return c.queries.GetRetentionPreview(ctx, name, ownTenant()) })
	switch {
	case err != nil && errors.Is(dberr.From(err), dberr.ErrNotFound):
		return nil, noQueue(name)
	case err != nil:
		return nil, fmt.Errorf("preview %q: %w", name, err)
	}
	return text, nil
}

func (c *sqlClient) DeleteQueue(ctx context.Context, name string) (json.RawMessage, error) {
	text, err := c.document(ctx, repeatUnsent, func() (json.RawMessage, error) { return c.queries.DeleteQueue(ctx, name, ownTenant()) })
	if err != nil {
		return nil, fmt.Errorf("delete %q: %w", name, err)
	}
	return text, nil
}
