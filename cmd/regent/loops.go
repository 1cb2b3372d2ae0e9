package main

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/db"
	"regent.local/regent/workers"
)

// startLoops starts the maintenance loops. The function that it returns stops
// them and waits for the running steps.
func startLoops(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (stop func()) {
	q := db.New(pool)
	return workers.Start(ctx, workers.Settle(q, log), workers.DeadLetters(q, log))
}
