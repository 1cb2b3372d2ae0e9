package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"regent.local/regent/testdata/bench"
)

// payloadJob is a job without work whose arguments are the payload.
type payloadJob struct{ payload string }

func (payloadJob) Kind() string { return "bench" }

func (j payloadJob) MarshalJSON() ([]byte, error) { return []byte(j.payload), nil }

func (j *payloadJob) UnmarshalJSON(text []byte) error {
	j.payload = string(text)
	return nil
}

// How the workers of an end-to-end cell are tuned: River's defaults are for jobs
// that take long, and reach a twentieth.
const (
	riverWorkers  = 1000
	riverPool     = 16
	riverCooldown = time.Millisecond // the least it allows
	riverPoll     = 20 * time.Millisecond
	// riverWait is how long a take waits for the first job.
	riverWait = 50 * time.Millisecond
	// riverStop bounds the stop of the workers.
	riverStop = 10 * time.Second
)

// riverTarget is River with its default job options.
type riverTarget struct {
	dsn    string
	worked chan string // payloads of finished work
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx] // of the workers; nil without consumers
}

func newRiver(ctx context.Context, dsn string, _ bench.Options) (bench.Target, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return &riverTarget{dsn: dsn, worked: make(chan string, 1<<16)}, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (t *riverTarget) Close() {
	if t.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), riverStop)
	defer cancel()
	_ = t.client.StopAndCancel(ctx)
	t.pool.Close()
}

// Consumer sees what the workers have done. All consumers share one client, as
// the workers of a program do.
func (t *riverTarget) Consumer(ctx context.Context, _ int) (bench.Consumer, error) {
	if t.client == nil {
		if err := t.work(ctx); err != nil {
			return nil, err
		}
	}
	return &riverConsumer{worked: t.worked}, nil
}

// work starts the workers.
func (t *riverTarget) work(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(t.dsn)
	if err != nil {
		return err
	}
	config.MaxConns = riverPool
	if t.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{worked: t.worked})
	t.client, err = river.NewClient(riverpgxv5.New(t.pool), &river.Config{
		Logger: quiet(), Workers: workers, FetchCooldown: riverCooldown, FetchPollInterval: riverPoll, JobTimeout: -1,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
	})
	if err != nil {
		return err
	}
	return t.client.Start(context.WithoutCancel(ctx))
}

// riverWorker does nothing but tell. River finishes the job after it.
type riverWorker struct {
	river.WorkerDefaults[payloadJob]
	worked chan string
}

func (w *riverWorker) Work(_ context.Context, job *river.Job[payloadJob]) error {
	w.worked <- stampOf(job.Args.payload)
	return nil
}

// stampOf brings the time of sending back to where it was in the payload: River
// stores jsonb, which puts the fields into an order of its own.
func stampOf(payload string) string {
	_, rest, _ := strings.Cut(payload, `"sent": `)
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	return `{"sent":` + rest[:max(digits, 0)] + "}"
}

type riverConsumer struct{ worked chan string }

func (c *riverConsumer) Take(ctx context.Context, n int, seen func([]string)) (int, error) {
	timer := time.NewTimer(riverWait)
	defer timer.Stop()
	var payloads []string
	select {
	case p := <-c.worked:
		payloads = append(payloads, p)
	case <-timer.C:
		return 0, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for len(payloads) < n {
		select {
		case p := <-c.worked:
			payloads = append(payloads, p)
			continue
		default:
		}
		break
	}
	seen(payloads)
	return len(payloads), nil
}

func (t *riverTarget) Producer(ctx context.Context, _ int) (bench.Producer, error) {
	config, err := pgxpool.ParseConfig(t.dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &riverProducer{pool: pool, client: client}, nil
}

// riverProducer has a client with one connection.
type riverProducer struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

func (p *riverProducer) Close() error {
	p.pool.Close()
	return nil
}

func (p *riverProducer) Push(ctx context.Context, payloads []string) error {
	if len(payloads) == 1 {
		_, err := p.client.Insert(ctx, payloadJob{payload: payloads[0]}, nil)
		return err
	}
	params := make([]river.InsertManyParams, len(payloads))
	for i, payload := range payloads {
		params[i].Args = payloadJob{payload: payload}
	}
	_, err := p.client.InsertMany(ctx, params)
	return err
}
