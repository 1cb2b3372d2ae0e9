package bench

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Plain is the peer that needs no software: one table, a row a message, and
// consumers that delete what they lock.
type Plain struct{ dsn string }

// plainLane is the queue of every row, so that the peer stores a name, too.
const plainLane = "bench"

// NewPlain is the Setup of the plain table.
func NewPlain(ctx context.Context, dsn string, _ Options) (Target, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `CREATE TABLE plain_messages (
		id bigserial PRIMARY KEY,
		queue text NOT NULL,
		payload json NOT NULL,
		created_at timestamptz NOT NULL DEFAULT now())`)
	if err != nil {
		return nil, fmt.Errorf("create the table: %w", err)
	}
	return &Plain{dsn: dsn}, nil
}

// Close does nothing: the workers own their connections.
func (p *Plain) Close() {}

// Producer inserts the rows of a call in one statement.
func (p *Plain) Producer(ctx context.Context, _ int) (Producer, error) { return p.worker(ctx) }

// Consumer deletes rows that nobody else has locked, oldest first.
func (p *Plain) Consumer(ctx context.Context, _ int) (Consumer, error) { return p.worker(ctx) }

func (p *Plain) worker(ctx context.Context) (*plainWorker, error) {
	conn, err := pgx.Connect(ctx, p.dsn)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &plainWorker{conn: conn}, nil
}

type plainWorker struct{ conn *pgx.Conn }

func (w *plainWorker) Close() error { return w.conn.Close(context.Background()) }

func (w *plainWorker) Push(ctx context.Context, payloads []string) error {
	_, err := w.conn.Exec(ctx, `INSERT INTO plain_messages (queue, payload) SELECT $1, p::json FROM unnest($2::text[]) p`,
		plainLane, payloads)
	return err
}

func (w *plainWorker) Take(ctx context.Context, n int, seen func([]string)) (int, error) {
	rows, err := w.conn.Query(ctx, `DELETE FROM plain_messages WHERE id IN (
		SELECT id FROM plain_messages ORDER BY id FOR UPDATE SKIP LOCKED LIMIT $1) RETURNING payload::text`, n)
	if err != nil {
		return 0, err
	}
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	seen(payloads)
	return len(payloads), nil
}
