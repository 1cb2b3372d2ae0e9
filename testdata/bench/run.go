package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kind is the course of an operation.
type Kind int

// Push: producers alone. Take: consumers alone, on a preloaded queue. EndToEnd:
// both at once. Probe: consumers alone, on what the target has set up. Duel: the
// sides of a Dueller. Disturbed: producers while a Disturber works.
const (
	Push Kind = iota
	Take
	EndToEnd
	Probe
	Duel
	Disturbed
)

// Setup makes the target in the empty database at dsn.
type Setup func(ctx context.Context, dsn string, o Options) (Target, error)

// Run measures one cell: server, database, target, warm-up, measured part.
func Run(ctx context.Context, o Options, kind Kind, setup Setup, log *slog.Logger) (result *Result, err error) {
	if o.DSN == "" {
		dsn, stop, err := StartServer(ctx, log)
		if err != nil {
			return nil, err
		}
		defer func() { _ = stop() }()
		o.DSN = dsn
	}
	own, err := createDatabase(ctx, o.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, own.drop()) }()
	target, err := setup(ctx, own.dsn, o)
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", o.Target, err)
	}
	defer target.Close()
	meter, err := openMeter(ctx, own.dsn)
	if err != nil {
		return nil, err
	}
	defer meter.close()
	return RunOn(ctx, o, kind, target, meter)
}

// RunOn measures a cell on a target that is there already. Without a meter the
// figures of the database stay null.
func RunOn(ctx context.Context, o Options, kind Kind, target Target, m *meter) (*Result, error) {
	c := &cell{Options: o, target: target, meter: m, receipts: newReceipts()}
	defer c.close()
	if err := c.open(ctx, kind); err != nil {
		return nil, err
	}
	result := newResult(o)
	if m != nil {
		result.Version = m.version
	}
	switch kind {
	case Duel:
		return result, c.duel(ctx, result)
	case Disturbed:
		return result, c.disturbed(ctx, result)
	}
	if err := c.prepare(ctx, kind); err != nil {
		return nil, err
	}
	before, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	t, err := c.phase(ctx, kind, o.Duration)
	if err != nil {
		return nil, err
	}
	after, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	result.add(t)
	result.charge(before, after)
	if r, ok := target.(Resident); ok {
		n, err := r.ResidentBytes()
		if err != nil {
			return nil, err
		}
		size := float64(n)
		result.ServerBytes = &size
	}
	return result, nil
}

// cell is a running cell.
type cell struct {
	Options
	target    Target
	meter     *meter
	producers []Producer
	consumers []Consumer
	sources   []*Generator
	receipts  *receipts
	share     float64 // of the preload that a take may work on
	closers   []io.Closer
}

// open connects the workers. Take needs producers, too, for its preload.
func (c *cell) open(ctx context.Context, kind Kind) error {
	producers := c.Producers
	if kind == Duel {
		producers = 0
	}
	payloads := NewGenerator(c.Seed, 0, c.Payload)
	for i := range producers {
		p, err := c.target.Producer(ctx, i)
		if err != nil {
			return fmt.Errorf("open producer %d: %w", i, err)
		}
		c.keep(p)
		c.producers = append(c.producers, p)
		c.sources = append(c.sources, payloads.Share(i))
	}
	consumers := map[Kind]int{Take: c.Producers, EndToEnd: cmp.Or(c.Consumers, c.Producers) * c.Groups, Probe: c.Producers}[kind]
	for i := range consumers {
		k, err := c.target.Consumer(ctx, i)
		if err != nil {
			return fmt.Errorf("open consumer %d: %w", i, err)
		}
		c.keep(k)
		c.consumers = append(c.consumers, k)
	}
	return nil
}

func (c *cell) keep(worker any) {
	if k, ok := worker.(io.Closer); ok {
		c.closers = append(c.closers, k)
	}
}

func (c *cell) close() {
	for _, k := range c.closers {
		_ = k.Close()
	}
}

// prepare fills the queue of a take, warms up, and lets the database rest.
func (c *cell) prepare(ctx context.Context, kind Kind) error {
	// Long enough for each of many connections to have made its plans.
	warm := min(max(2*c.Duration/3, 300*time.Millisecond), 2*time.Second)
	if c.Snapshot > 0 {
		warm = c.Snapshot - c.Duration
		if err := c.holdSnapshot(ctx); err != nil {
			return fmt.Errorf("hold a snapshot: %w", err)
		}
	}
	if kind == Take {
		if err := c.preload(ctx); err != nil {
			return fmt.Errorf("preload: %w", err)
		}
	}
	c.share = warmShare
	if _, err := c.phase(ctx, kind, warm); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	c.share = takenShare
	if c.meter == nil {
		return nil
	}
	return c.meter.settle(ctx, kind == Take || kind == Probe)
}

// holdSnapshot opens a snapshot that lives as long as the cell.
func (c *cell) holdSnapshot(ctx context.Context) error {
	if c.meter == nil {
		return errors.New("it needs the database of the cell")
	}
	conn, err := pgx.ConnectConfig(ctx, c.meter.conn.Config())
	if err != nil {
		return err
	}
	c.closers = append(c.closers, closerFunc(func() error { return conn.Close(context.Background()) }))
	if _, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ"); err == nil {
		_, err = conn.Exec(ctx, "SELECT count(*) FROM pg_class")
	}
	return err
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

func (c *cell) read(ctx context.Context) (usage, error) {
	if c.meter == nil {
		return usage{}, nil
	}
	u, err := c.meter.read(ctx)
	if r, ok := c.target.(Resident); ok && err == nil {
		var seconds float64
		seconds, err = r.ServerSeconds()
		u.server = &seconds
	}
	return u, err
}
