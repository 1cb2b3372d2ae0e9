package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
	"regent.local/regent/testdata/bench"
	"regent.local/regent/workers"
)

const (
	// upkeepFrames is how many messages a segment of these cells has.
	upkeepFrames = 100
	// upkeepLanes is how many partitions a sweep or a compaction has for each side.
	upkeepLanes = 5
	// upkeepRows is how many rows a step deletes, Regent's or a bare one.
	upkeepRows = 1000
	// compactFrames is how many frames a step of compaction reads, as in its loop.
	compactFrames = 20_000
)

// fillSegments gives the partitions named $1 so many segments of 100 frames, a day
// old. The payloads are stored once and copied, which costs no compression; the
// keys, where asked for, name each of the partition's keys twice, at distances of
// all lengths.
const fillSegments = `
	WITH queue AS (
		SELECT id FROM queen.queues WHERE name = $2
	), lane AS (
		INSERT INTO queen.log_partitions (queue_id, name, last_offset, last_stamp, last_cum, oldest_live_at)
		SELECT q.id, n.name, $3::bigint * 100 - 1, now() - interval '1 day', $3::bigint * m.bytes, now() - interval '1 day'
		FROM queue q, unnest($1::text[]) n (name), bench_sample m
		RETURNING id
	)
	INSERT INTO queen.log_segments (partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes, payloads, keys)
	SELECT l.id, i * 100, i * 100 + 99, now() - interval '1 day', ('01900000-0000-7000-8000-' || lpad(to_hex(i), 7, '0') || '00000')::uuid, 100,
		m.bytes, m.bytes, (i + 1) * m.bytes, m.payloads,
		CASE WHEN $4 THEN ARRAY(SELECT 'customer-' || (i * 100 + k) * 7919 % ($3 * 100) / 2 FROM generate_series(0, 99) k) END
	FROM lane l, bench_sample m, generate_series(0, $3::bigint - 1) i`

// upkeepTarget is a queue with partitions that maintenance has work in.
type upkeepTarget struct {
	*sqlTarget
	ours, bare []uuid.UUID // partitions
}

// newUpkeepTarget fills as many partitions of the queue as there are names.
func newUpkeepTarget(ctx context.Context, dsn string, o bench.Options, options string, lanes, segments int, keyed bool) (*upkeepTarget, error) {
	made, err := newSQLTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	t := &upkeepTarget{sqlTarget: made.(*sqlTarget)}
	return t, t.with(ctx, func(conn *pgx.Conn) error {
		arg := db.ConfigureQueueParams{Queue: upkeepQueue, Options: []byte(options), TenantID: ownTenant()}
		if _, err := db.New(conn).ConfigureQueue(ctx, arg); err != nil {
			return err
		}
		if err := storeSample(ctx, conn, o); err != nil {
			return err
		}
		names := make([]string, lanes)
		for i := range names {
			names[i] = fmt.Sprintf("lane-%d", i)
		}
		if _, err := conn.Exec(ctx, fillSegments, names, upkeepQueue, segments, keyed); err != nil {
			return fmt.Errorf("store segments: %w", err)
		}
		rows, err := conn.Query(ctx, "SELECT p.id FROM queen.log_partitions p ORDER BY p.name")
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		for i, id := range ids {
			if i%2 == 0 {
				t.ours = append(t.ours, id)
			} else {
				t.bare = append(t.bare, id)
			}
		}
		return err
	})
}

// upkeepQueue is the queue that is maintained; pushes go to another one.
const upkeepQueue = "upkeep"

// storeSample keeps the payloads of a segment as the log would.
func storeSample(ctx context.Context, conn *pgx.Conn, o bench.Options) error {
	payloads := make([]string, upkeepFrames)
	bench.NewGenerator(o.Seed, 0, o.Payload).Fill(payloads)
	if o.Op == "push-sweep" { // a million segments in a row each, or the cell would take an hour and a big disk
		payloads = strings.Split(strings.Repeat(payloads[0]+"\n", upkeepFrames-1)+payloads[0], "\n")
	}
	_, err := conn.Exec(ctx, "CREATE TEMP TABLE bench_sample (LIKE queen.log_segments INCLUDING COMPRESSION)")
	if err == nil {
		_, err = conn.Exec(ctx, `ALTER TABLE bench_sample ALTER COLUMN partition_id DROP NOT NULL, ALTER COLUMN base_offset DROP NOT NULL,
			ALTER COLUMN end_offset DROP NOT NULL, ALTER COLUMN created_at DROP NOT NULL, ALTER COLUMN id_base DROP NOT NULL,
			ALTER COLUMN frames DROP NOT NULL, ALTER COLUMN orig_bytes DROP NOT NULL, ALTER COLUMN cum_bytes DROP NOT NULL`)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "INSERT INTO bench_sample (bytes, payloads) VALUES ($1, $2)", upkeepFrames*o.Payload, payloads)
	}
	if err != nil {
		return fmt.Errorf("store a sample: %w", err)
	}
	return nil
}

// with runs work on a connection of its own.
func (t *sqlTarget) with(ctx context.Context, work func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return work(conn)
}

// next takes the next partition of a list.
func next(lanes *[]uuid.UUID) (id uuid.UUID, ok bool) {
	if len(*lanes) == 0 {
		return id, false
	}
	id, *lanes = (*lanes)[0], (*lanes)[1:]
	return id, true
}

// overLanes is the side that works on one partition after the other.
func overLanes(ctx context.Context, dsn string, lanes *[]uuid.UUID, work func(ctx context.Context, conn *pgx.Conn, lane uuid.UUID) (int, error)) (bench.Side, error) {
	conn, err := pgx.Connect(ctx, dsn)
	return bench.Side{Conn: conn, Do: func(ctx context.Context) (int, error) {
		lane, ok := next(lanes)
		if !ok {
			return 0, nil
		}
		return work(ctx, conn, lane)
	}}, err
}

func (t *upkeepTarget) sides(ctx context.Context, ours, bare func(context.Context, *pgx.Conn, uuid.UUID) (int, error)) ([]bench.Side, error) {
	own, err := overLanes(ctx, t.dsn, &t.ours, ours)
	if err != nil {
		return nil, err
	}
	other, err := overLanes(ctx, t.dsn, &t.bare, bare)
	return []bench.Side{own, other}, err
}

// disturb works on all partitions, one after the other.
func (t *upkeepTarget) disturb(ctx context.Context, work func(context.Context, *pgx.Conn, uuid.UUID) (int, error)) error {
	return t.with(ctx, func(conn *pgx.Conn) error {
		for _, lane := range append(t.ours, t.bare...) {
			if _, err := work(ctx, conn, lane); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepTarget has segments that are old enough to go.
type sweepTarget struct{ *upkeepTarget }

func newSweepTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	t, err := newUpkeepTarget(ctx, dsn, o, `{"retentionEnabled":true,"retentionSeconds":3600}`, 2*upkeepLanes, o.Size/(2*upkeepLanes), false)
	return &sweepTarget{t}, err
}

func (t *sweepTarget) Sides(ctx context.Context) ([]bench.Side, error) {
	return t.sides(ctx, sweepLane, deleteLane)
}

func (t *sweepTarget) Disturb(ctx context.Context) error { return t.disturb(ctx, sweepLane) }

// sweepLane takes the steps of a sweep on one partition, then vacuums as
// autovacuum would.
func sweepLane(ctx context.Context, conn *pgx.Conn, lane uuid.UUID) (segments int, err error) {
	before := time.Now().Add(-time.Hour)
	for {
		step, err := db.New(conn).RetentionStep(ctx, db.RetentionStepParams{PartitionID: lane, AgeBefore: &before, MaxRows: upkeepRows})
		if err != nil {
			return 0, err
		}
		segments += int(step.Reclaimed)
		if step.Done {
			break
		}
	}
	return segments, vacuumSegments(ctx, conn)
}

// deleteLane is the least that it takes to delete the rows.
func deleteLane(ctx context.Context, conn *pgx.Conn, lane uuid.UUID) (segments int, err error) {
	for {
		tag, err := conn.Exec(ctx, `DELETE FROM queen.log_segments WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM queen.log_segments WHERE partition_id = $1 ORDER BY base_offset LIMIT $2))`, lane, upkeepRows)
		if err != nil {
			return 0, err
		}
		if tag.RowsAffected() == 0 {
			break
		}
		segments += int(tag.RowsAffected())
	}
	return segments, vacuumSegments(ctx, conn)
}

func vacuumSegments(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "VACUUM queen.log_segments")
	return err
}

// compactTarget has partitions of which half of the frames are obsolete.
type compactTarget struct{ *upkeepTarget }

func newCompactTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	t, err := newUpkeepTarget(ctx, dsn, o, `{"cleanupPolicy":"compact"}`, 2*upkeepLanes, o.Size/(2*upkeepLanes*upkeepFrames), true)
	return &compactTarget{t}, err
}

func (t *compactTarget) Sides(ctx context.Context) ([]bench.Side, error) {
	return t.sides(ctx, compactLane, rewriteLane)
}

func (t *compactTarget) Disturb(ctx context.Context) error { return t.disturb(ctx, compactLane) }

// compactLane takes the steps of compaction on one partition.
func compactLane(ctx context.Context, conn *pgx.Conn, lane uuid.UUID) (frames int, err error) {
	for {
		step, err := db.New(conn).CompactStep(ctx, lane, compactFrames)
		if err != nil {
			return 0, err
		}
		frames += int(step.FramesRead)
		if step.Done {
			return frames, nil
		}
	}
}

// rewriteLane is the least that it takes to compact a partition: one statement
// that keeps no map of keys and looks out for nobody.
func rewriteLane(ctx context.Context, conn *pgx.Conn, lane uuid.UUID) (frames int, err error) {
	err = conn.QueryRow(ctx, `
		WITH frame AS (
			SELECT s.base_offset, u.payload, u.key, s.base_offset + u.ord - 1 AS at,
				lead(u.ord) OVER (PARTITION BY u.key ORDER BY s.base_offset + u.ord) IS NULL AS kept
			FROM queen.log_segments s CROSS JOIN LATERAL unnest(s.payloads, s.keys) WITH ORDINALITY u (payload, key, ord)
			WHERE s.partition_id = $1
		), segment AS (
			SELECT f.base_offset, count(*) AS was, count(*) FILTER (WHERE f.kept) AS frames, array_agg(f.payload ORDER BY f.at) FILTER (WHERE f.kept) AS payloads,
				array_agg(f.key ORDER BY f.at) FILTER (WHERE f.kept) AS keys, array_agg(f.at ORDER BY f.at) FILTER (WHERE f.kept) AS offsets
			FROM frame f GROUP BY f.base_offset
		), written AS (
			UPDATE queen.log_segments s
			SET payloads = coalesce(n.payloads, '{}'), keys = n.keys, offsets = coalesce(n.offsets, '{}'), frames = n.frames
			FROM segment n
			WHERE s.partition_id = $1 AND s.base_offset = n.base_offset AND n.frames < n.was
			RETURNING n.was
		)
		SELECT sum(n.was) FROM segment n`, lane).Scan(&frames)
	return frames, err
}

// cycleTarget is a queue with rules and many partitions, none of which is due.
type cycleTarget struct{ *sqlTarget }

func newCycleTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	made, err := newSQLTarget(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	t := &cycleTarget{made.(*sqlTarget)}
	return t, t.with(ctx, func(conn *pgx.Conn) error {
		arg := db.ConfigureQueueParams{Queue: upkeepQueue, TenantID: ownTenant(), Options: []byte(`{"retentionEnabled":true,"retentionSeconds":86400,
			"completedRetentionSeconds":3600,"maxWaitTimeSeconds":86400}`)}
		if _, err := db.New(conn).ConfigureQueue(ctx, arg); err != nil {
			return err
		}
		return fillIdle(ctx, conn, upkeepQueue, o.Size)
	})
}

// fillIdle makes partitions of ten messages that their group has read half of, with heads that are
// settled. What this measures reads no segments, so there are none of them.
func fillIdle(ctx context.Context, conn *pgx.Conn, queue string, partitions int) error {
	// Rising ids, which the indexes take in much faster.
	for _, statement := range []string{
		`INSERT INTO queen.log_partitions (id, queue_id, name, last_offset, last_stamp, last_cum, oldest_live_at, oldest_txn_at)
			SELECT (left(q.id::text, 24) || lpad(to_hex(i), 12, '0'))::uuid, q.id, 'lane-' || lpad(i::text, 9, '0'), 9, now(), 2560, now(), now()
			FROM queen.queues q, generate_series(1, $2::integer) i WHERE q.name = $1`,
		`INSERT INTO queen.log_consumers (partition_id, consumer_group, committed)
			SELECT (left(q.id::text, 24) || lpad(to_hex(i), 12, '0'))::uuid, 'readers', CASE WHEN i % 2 = 0 THEN 9 ELSE -1 END
			FROM queen.queues q, generate_series(1, $2::integer) i WHERE q.name = $1`,
	} {
		if _, err := conn.Exec(ctx, statement, queue, partitions); err != nil {
			return fmt.Errorf("store partitions: %w", err)
		}
	}
	return nil
}

// Sides runs the step of the loop itself.
func (t *cycleTarget) Sides(ctx context.Context) ([]bench.Side, error) {
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return nil, err
	}
	loop := workers.Retention(db.New(conn), workers.RetentionConfig{}, slog.New(slog.DiscardHandler))
	return []bench.Side{{Conn: conn, Do: func(ctx context.Context) (int, error) {
		done, err := loop.Step(ctx)
		if err == nil && done.Worked > 0 {
			err = errors.New("the partitions are not idle")
		}
		return 1, err
	}}}, nil
}
