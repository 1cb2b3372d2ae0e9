package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/api"
	"regent.local/regent/db"
	"regent.local/regent/workers"
)

// startLoops starts the maintenance loops. The function that it returns stops
// them and waits for the running steps.
func startLoops(ctx context.Context, pool *pgxpool.Pool, server *api.Server, cfg api.Config, log *slog.Logger) (stop func()) {
	q := db.New(pool)
	loops := []*workers.Loop{workers.Settle(q, log), workers.DeadLetters(q, log), workers.Reclaim(q, log), workers.Compaction(q, cfg.CompactEvery, log)}
	loops = append(loops, workers.RetentionWalk(q, cfg.RetentionWalk, log), workers.Retention(q, workers.RetentionConfig{
		Every: cfg.RetentionEvery, BatchSize: cfg.RetentionBatch, Parallelism: cfg.RetentionParallelism, DueCap: cfg.RetentionDueCap,
		KeepEmpty: !cfg.PartitionCleanup, CleanupDays: max(cfg.PartitionCleanupDays, 1), MetricsDays: cfg.MetricsRetentionDays,
	}, log))
	if cfg.BufferDir != "" {
		loops = append(loops, &workers.Loop{
			Name: "spool", Every: cfg.BufferFlush, Jitter: cfg.BufferFlush / 10, Timeout: spoolTimeout, Log: log,
			Step: func(ctx context.Context) (workers.Result, error) {
				worked, done, err := server.DrainSpool(ctx)
				return workers.Result{Worked: worked, Done: done}, err
			},
		})
	}
	if cfg.Uncounted {
		return workers.Start(ctx, loops...)
	}
	loops = append(loops, workers.Stats(pool, cfg.StatsEvery, log), workers.RetainedBytes(pool, cfg.RetainedEvery, log),
		workers.Metrics(q, server, cfg.MetricsFlush, log))
	stopAll := workers.Start(ctx, loops...)
	return func() {
		stopAll()
		flushLast(context.WithoutCancel(ctx), q, server, log)
	}
}

// spoolTimeout bounds one replaying call; the statement timeout comes first.
const spoolTimeout = 2 * time.Minute

// lastFlushPatience bounds the flush of a server that stops.
const lastFlushPatience = 5 * time.Second

// flushLast stores what was counted since the last flush, so that a clean stop
// loses no number.
func flushLast(ctx context.Context, q db.Querier, server *api.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, lastFlushPatience)
	defer cancel()
	for {
		flushed, err := workers.FlushMetrics(ctx, q, server)
		if err != nil {
			log.Warn("what was counted since the last flush is lost", "error", err)
		}
		if err != nil || flushed.Done {
			return
		}
	}
}
