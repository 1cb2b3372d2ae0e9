package main

import (
	"context"
	"fmt"
	"log/slog"

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

// riverTarget is River with its default job options.
type riverTarget struct{ dsn string }

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
	return &riverTarget{dsn: dsn}, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (t *riverTarget) Close() {}

func (t *riverTarget) Consumer(context.Context, int) (bench.Consumer, error) {
	return nil, fmt.Errorf("this cell has no consumers")
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
