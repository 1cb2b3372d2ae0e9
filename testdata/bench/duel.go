package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// leastTurns is how many turns a duel has, however long they take.
const leastTurns = 3

// Side is one of two ways to do the same work.
type Side struct {
	// Conn is the connection whose backend does the work; nil: none is charged.
	Conn *pgx.Conn
	// Ready, unless nil, comes before each piece of work and is not measured.
	Ready func(ctx context.Context) error
	// Do does a piece of the work and answers how much; 0 means that nothing is left.
	Do func(ctx context.Context) (done int, err error)
}

// Dueller is a target that does one kind of work in turns with the least that
// anybody could do for it.
type Dueller interface {
	// Sides are Regent's own way, and the bare form of it where there is one.
	Sides(ctx context.Context) ([]Side, error)
}

// Disturber is a target that can be at work while producers push.
type Disturber interface {
	// Disturb works until nothing is left or ctx ends.
	Disturb(ctx context.Context) error
}

// spent is what a side has used so far.
type spent struct {
	tally
	cpu     float64 // seconds
	charged bool
	wal     []float64 // bytes for each of what was done, by turn: the server has other things to write, too
}

// duel lets the sides work in turns until the time is over.
func (c *cell) duel(ctx context.Context, result *Result) error {
	dueller, ok := c.target.(Dueller)
	if !ok {
		return errors.New("the target has no sides")
	}
	sides, err := dueller.Sides(ctx)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if s.Conn != nil {
			c.keep(closerFunc(func() error { return s.Conn.Close(context.Background()) }))
		}
	}
	if err := c.meter.settle(ctx, true); err != nil {
		return err
	}
	sums, over := make([]spent, len(sides)), false
	for turn, began := -1, time.Now(); !over && (turn < leastTurns || time.Since(began) < c.Duration); turn++ {
		for i := range sides {
			n, err := c.strike(ctx, &sides[i], &sums[i])
			if err != nil {
				return err
			}
			over = over || n == 0
		}
		if turn < 0 { // the first turn loads what is kept by a connection
			clear(sums)
		}
	}
	result.spend(sums[0])
	if len(sums) > 1 {
		result.Bare = newResult(c.Options)
		result.Bare.Target = "bare"
		result.Bare.spend(sums[1])
	}
	return nil
}

// strike is one piece of work of a side.
func (c *cell) strike(ctx context.Context, s *Side, sum *spent) (int, error) {
	if s.Ready != nil {
		if err := s.Ready(ctx); err != nil {
			return 0, err
		}
	}
	cpu, wal, charged, err := c.charge(ctx, s.Conn)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	n, err := s.Do(ctx)
	took := time.Since(start)
	if err != nil || n == 0 {
		return 0, err
	}
	cpuAfter, walAfter, _, err := c.charge(ctx, s.Conn)
	if err != nil {
		return 0, err
	}
	sum.elapsed += took
	sum.calls++
	sum.messages += int64(n)
	sum.latencies = append(sum.latencies, took)
	sum.cpu, sum.charged = sum.cpu+cpuAfter-cpu, charged
	sum.wal = append(sum.wal, (walAfter-wal)/float64(n))
	return n, nil
}

// charge reads what a backend and the whole server have used so far.
func (c *cell) charge(ctx context.Context, conn *pgx.Conn) (cpu, wal float64, charged bool, err error) {
	err = c.meter.conn.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").Scan(&wal)
	if err != nil {
		return 0, 0, false, fmt.Errorf("read the WAL position: %w", err)
	}
	if conn != nil {
		cpu, charged = backendSeconds(conn.PgConn().PID())
	}
	return cpu, wal, charged, nil
}

// backendSeconds is the processor time of a backend, exact to microseconds; false
// when it is not a process of this machine.
func backendSeconds(pid uint32) (float64, bool) {
	if _, err := processTicks(int32(pid)); err != nil {
		return 0, false
	}
	text, err := os.ReadFile("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/schedstat")
	if err != nil {
		return 0, false
	}
	nanos, err := strconv.ParseFloat(strings.Fields(string(text) + " ?")[0], 64)
	return nanos / 1e9, err == nil
}

// spend takes in what a side has used.
func (r *Result) spend(s spent) {
	r.add(s.tally)
	if s.messages == 0 {
		return
	}
	slices.Sort(s.wal)
	wal := round(s.wal[len(s.wal)/2], 2)
	r.WALBytes = &wal
	if s.charged {
		seconds, micros := round(s.cpu, 4), round(s.cpu*1e6/float64(s.messages), 3)
		r.PostgresCPU, r.PostgresCPUus = &seconds, &micros
	}
}

// disturbed measures pushes while the target is at work; the bare form is the same pushes
// before and after.
func (c *cell) disturbed(ctx context.Context, result *Result) error {
	disturber, ok := c.target.(Disturber)
	if !ok {
		return errors.New("the target has no work of its own")
	}
	if err := c.meter.settle(ctx, true); err != nil {
		return err
	}
	if _, err := c.phase(ctx, Push, min(c.Duration, time.Second)); err != nil {
		return err
	}
	quiet, err := c.phase(ctx, Push, c.Duration)
	if err != nil {
		return err
	}
	busy, err := c.pushDuring(ctx, disturber.Disturb)
	if err != nil {
		return err
	}
	after, err := c.phase(ctx, Push, c.Duration)
	if err != nil {
		return err
	}
	quiet.messages += after.messages
	quiet.calls += after.calls
	quiet.elapsed += after.elapsed
	quiet.latencies = append(quiet.latencies, after.latencies...)
	result.add(busy)
	result.Bare = newResult(c.Options)
	result.Bare.Target = "undisturbed"
	result.Bare.add(quiet)
	return nil
}

// pushDuring pushes until the work is over.
func (c *cell) pushDuring(ctx context.Context, work func(context.Context) error) (tally, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mostDisturbed, errors.New("the work did not end in time"))
	defer cancel()
	worked := make(chan error, 1)
	go func() { worked <- work(ctx) }()
	var sum tally
	for {
		t, err := c.phase(ctx, Push, min(c.Duration, pushSlice))
		if err != nil {
			return tally{}, errors.Join(err, <-worked)
		}
		sum.messages += t.messages
		sum.calls += t.calls
		sum.elapsed += t.elapsed
		sum.latencies = append(sum.latencies, t.latencies...)
		select {
		case err := <-worked:
			return sum, err
		default:
		}
	}
}

const (
	// pushSlice is how often pushDuring looks whether the work is over.
	pushSlice = 500 * time.Millisecond
	// mostDisturbed bounds a disturbance.
	mostDisturbed = 10 * time.Minute
)
