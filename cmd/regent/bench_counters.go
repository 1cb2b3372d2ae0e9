package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
	"regent.local/regent/testdata/bench"
)

// refreshQueues is how many queues the partitions of a refresh are in.
const refreshQueues = 10

// refreshTarget has partitions with one group each.
type refreshTarget struct{ *sqlTarget }

func newRefreshTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	made, err := newSQLTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	t := &refreshTarget{made.(*sqlTarget)}
	return t, t.with(ctx, func(conn *pgx.Conn) error {
		for i := range refreshQueues {
			queue := fmt.Sprintf("counted-%d", i)
			if _, err := db.New(conn).ConfigureQueue(ctx, db.ConfigureQueueParams{Queue: queue, Options: []byte("{}"), TenantID: ownTenant()}); err != nil {
				return err
			}
			if err := fillIdle(ctx, conn, queue, o.Size/refreshQueues); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, "CREATE TABLE bare_stats (queue_id uuid PRIMARY KEY, partitions bigint, total bigint, pending bigint, oldest timestamptz)")
		return err
	})
}

// bareRefresh is one aggregate and a row a queue, without leases, dead letters,
// rates, roll-ups and heads that are not settled.
const bareRefresh = `
	INSERT INTO bare_stats AS b
	SELECT p.queue_id, count(*), sum(p.last_offset - p.log_start + 1), sum(greatest(p.last_offset - greatest(c.committed, p.log_start - 1), 0)),
		min(p.oldest_live_at) FILTER (WHERE p.last_offset > c.committed)
	FROM queen.log_partitions p
	LEFT JOIN (SELECT k.partition_id, min(k.committed) AS committed FROM queen.log_consumers k GROUP BY k.partition_id) c ON c.partition_id = p.id
	GROUP BY p.queue_id
	ON CONFLICT (queue_id) DO UPDATE
	SET partitions = excluded.partitions, total = excluded.total, pending = excluded.pending, oldest = excluded.oldest`

func (t *refreshTarget) Sides(ctx context.Context) ([]bench.Side, error) {
	own, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return nil, err
	}
	other, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return nil, err
	}
	// As the function sets it: a bare form that spills would be no measure.
	if _, err := other.Exec(ctx, "SET work_mem = '64MB'; SET jit = off; SET max_parallel_workers_per_gather = 0"); err != nil {
		return nil, err
	}
	return []bench.Side{
		{Conn: own, Do: func(ctx context.Context) (int, error) {
			_, err := db.New(own).RefreshStats(ctx, true)
			return 1, err
		}},
		{Conn: other, Do: func(ctx context.Context) (int, error) {
			_, err := other.Exec(ctx, bareRefresh)
			return 1, err
		}},
	}, nil
}

// scrapeTarget is a server with many queues, all of which have every series.
type scrapeTarget struct{ *restTarget }

// fillSeries is what a server that works on so many queues has stored.
var fillSeries = []string{
	`INSERT INTO queen.queues (name) SELECT 'queue-' || i FROM generate_series(1, $1::integer) i`,
	`INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_request_count, push_message_count, pop_count, lag_count, avg_lag_ms, max_lag_ms)
		SELECT date_trunc('minute', now()) - m * interval '1 minute', q.id, 1, 2, 3, 4, 5, 6
		FROM queen.queues q, generate_series(-3, 6) m WHERE $1::integer > 0 ORDER BY 1, q.id`,
	`INSERT INTO queen.log_partitions (queue_id, name, last_offset, settled) SELECT id, 'Default', 9, true FROM queen.queues WHERE $1::integer > 0`,
	`INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) SELECT id, 'readers', 4 FROM queen.log_partitions WHERE $1::integer > 0`,
	`INSERT INTO queen.stats (stat_type, stat_key, queue_id, pending_messages) SELECT 'queue', id::text, id, 5 FROM queen.queues WHERE $1::integer > 0`,
}

func newScrapeTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	made, err := newSQLTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	err = made.(*sqlTarget).with(ctx, func(conn *pgx.Conn) error {
		for _, statement := range fillSeries {
			if _, err := conn.Exec(ctx, statement, o.Size); err != nil {
				return fmt.Errorf("store series: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	served, err := newRESTTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	return &scrapeTarget{served.(*restTarget)}, nil
}

// scrapePause is longer than what one scrape read serves the next.
const scrapePause = 1100 * time.Millisecond

func (t *scrapeTarget) Sides(context.Context) ([]bench.Side, error) {
	c, err := t.client()
	if err != nil {
		return nil, err
	}
	return []bench.Side{{
		Ready: func(ctx context.Context) error {
			select {
			case <-time.After(min(scrapePause, t.o.Duration)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Do: func(ctx context.Context) (int, error) {
			text, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) {
				return c.GetPrometheusMetrics(ctx)
			})
			if err == nil && bytes.Count(text, []byte{'\n'}) < 10*t.o.Size {
				err = errors.New("the scrape lacks series")
			}
			return 1, err
		},
	}}, nil
}
