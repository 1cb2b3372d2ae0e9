package db

import (
	"context"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

const (
	stressQueue     = "stress"
	stressParts     = 4
	stressShortTime = 8 * time.Second
	stressLongTime  = 60 * time.Second
)

// stressPush is one segment as it was answered to a client that committed.
type stressPush struct {
	part   int
	base   int64
	at     time.Time
	idBase uuid.UUID
	frames []modelFrame
}

func (p stressPush) end() int64 { return p.base + int64(len(p.frames)) - 1 }

func (p stressPush) bytes() (n int64) {
	for _, f := range p.frames {
		n += int64(len(f.payload) + len(f.txn))
	}
	return n
}

// stress is one mix on one database. Clients write what they committed into
// the journal, after the commit.
type stress struct {
	t     *testing.T
	db    *dbtest.Database
	until time.Time
	parts [stressParts]uuid.UUID // ids ascend

	mu      sync.Mutex
	journal []stressPush
	starts  [stressParts]map[int64]bool // every log start that was committed
	gaps    []stressGap
	// heads and floors are lower bounds that a later reader must see.
	heads, floors [stressParts]atomic.Int64
	done          [10]atomic.Int64
}

// stressGap is a delivery that skipped offsets: it must begin at a log start.
type stressGap struct {
	part  int
	first int64
}

// stressClient is one connection with its own random numbers.
type stressClient struct {
	*stress
	name string
	conn *pgx.Conn
	rng  *randv2.Rand
	own  []stressPush
	ids  int
}

// TestStressMix lets ten clients work on the same partitions, and compares what
// they were told with the database in one snapshot.
func TestStressMix(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *dbtest.Database{"C": dbtest.New, "ICU": dbtest.ICU} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStress(t, open(t))
			s.run([]func(*stressClient) error{
				(*stressClient).pushOne, (*stressClient).pushWide, (*stressClient).pushTwice, (*stressClient).pushSavepoint,
				(*stressClient).pushRollback, (*stressClient).settle, (*stressClient).deletePrefix, (*stressClient).readHeads,
				(*stressClient).consume, (*stressClient).consume,
			})
			s.compare()
		})
	}
}

func newStress(t *testing.T, db *dbtest.Database) *stress {
	s := &stress{t: t, db: db}
	conn := db.Conn(t)
	for i := range stressParts {
		_, err := New(conn).Push(context.Background(), PushParams{Queues: []string{stressQueue}, Partitions: []string{fmt.Sprint("p", i)},
			Counts: []int32{0}, Payloads: []string{}, TransactionIds: []*string{}, Keys: []*string{}, Nonces: []int64{1}, TenantID: modelTenant})
		require.NoError(t, err)
		s.starts[i] = map[int64]bool{}
		s.heads[i].Store(-1)
	}
	rows, err := conn.Query(context.Background(), "SELECT id FROM queen.log_partitions ORDER BY id")
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	require.NoError(t, err)
	require.Len(t, ids, stressParts)
	copy(s.parts[:], ids)
	return s
}

// run repeats every client's step until the time is over. Any error ends the
// test: at READ COMMITTED, with locks in order, none is to be expected.
func (s *stress) run(steps []func(*stressClient) error) {
	limit := stressShortTime
	if os.Getenv(modelLongEnv) != "" {
		limit = stressLongTime
	}
	s.until = time.Now().Add(limit)
	var wg sync.WaitGroup
	failures := make(chan error, len(steps))
	for i, step := range steps {
		c := &stressClient{stress: s, name: fmt.Sprint("c", i), conn: s.db.Conn(s.t), rng: randv2.New(randv2.NewPCG(uint64(i), drawSeed()))}
		wg.Go(func() {
			for time.Now().Before(s.until) {
				if err := step(c); err != nil {
					failures <- fmt.Errorf("client %d: %w", i, err)
					return
				}
				s.done[i].Add(1)
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		s.t.Error(err)
	}
	counts := make([]int64, len(steps))
	for i := range steps {
		counts[i] = s.done[i].Load()
		require.Positive(s.t, counts[i], "client %d did nothing", i)
	}
	s.t.Logf("steps of each client: %v, segments in the journal: %d", counts, len(s.journal))
}

// push stores up to five messages in a partition and returns what was stored;
// some ids are repeats of what this client committed before. It writes no
// journal: the transaction may still be open.
func (c *stressClient) push(part int) ([]stressPush, error) {
	ctx := context.Background()
	var old []modelFrame
	arg := PushParams{Queues: []string{stressQueue}, Partitions: []string{""}, Nonces: []int64{c.rng.Int64N(1 << 42)}, TenantID: modelTenant}
	if err := c.conn.QueryRow(ctx, "SELECT name FROM queen.log_partitions WHERE id = $1", c.parts[part]).Scan(&arg.Partitions[0]); err != nil {
		return nil, err
	}
	var fresh []modelFrame
	for range 1 + c.rng.IntN(5) {
		f := modelFrame{payload: fmt.Sprintf(`{"from":%q,"n":%d}`, c.name, c.rng.Int())}
		switch roll := c.rng.IntN(10); {
		case roll < 3:
			arg.TransactionIds = append(arg.TransactionIds, nil)
		case roll < 5 && len(c.own) > 0 && c.own[len(c.own)-1].part == part && len(old) == 0:
			f = c.own[len(c.own)-1].frames[0]
			old = append(old, f)
			id := f.txn
			if id == "" {
				id = f.id.String()
			}
			arg.TransactionIds = append(arg.TransactionIds, &id)
			arg.Payloads, arg.Keys = append(arg.Payloads, f.payload), append(arg.Keys, nil)
			continue
		default:
			c.ids++
			f.txn = fmt.Sprintf("%s-%08d", c.name, c.ids)
			if roll == 9 {
				f.txn = fmt.Sprintf("%08x-É", c.rng.Uint32())
			}
			arg.TransactionIds = append(arg.TransactionIds, &f.txn)
		}
		fresh = append(fresh, f)
		arg.Payloads, arg.Keys = append(arg.Payloads, f.payload), append(arg.Keys, nil)
	}
	arg.Counts = []int32{int32(len(arg.Payloads))}
	rows, err := New(c.conn).Push(ctx, arg)
	if err != nil {
		return nil, err
	}
	return c.answered(part, rows, fresh, old)
}

// answered reads the answer: new frames in order, and repeats with their
// original's id as long as it is stored.
func (c *stressClient) answered(part int, rows []PushRow, fresh, old []modelFrame) (stored []stressPush, err error) {
	duplicates := 0
	for _, row := range rows {
		if *row.PartitionID != c.parts[part] {
			return nil, fmt.Errorf("answer for partition %s", row.PartitionID)
		}
		if row.Status == "duplicate" {
			duplicates += len(row.Items)
			for _, id := range row.ItemIds {
				if id != uuid.Nil && id != old[0].id {
					return nil, fmt.Errorf("repeat of %s is answered with %s", old[0].id, id)
				}
			}
			continue
		}
		p := stressPush{part: part, base: row.BaseOffset, at: *row.CreatedAt, idBase: *row.IDBase}
		for k := range int(row.Frames) {
			f := fresh[k]
			f.id = frameID(p.idBase, k)
			p.frames = append(p.frames, f)
		}
		fresh = fresh[row.Frames:]
		stored = append(stored, p)
	}
	if len(fresh) > 0 || duplicates != len(old) {
		return nil, fmt.Errorf("%d items without an answer, %d of %d repeats seen", len(fresh), duplicates, len(old))
	}
	return stored, nil
}

// committed writes into the journal what a commit made durable.
func (c *stressClient) committed(pushes []stressPush) {
	c.own = append(c.own, pushes...)
	c.mu.Lock()
	c.journal = append(c.journal, pushes...)
	c.mu.Unlock()
	for _, p := range pushes {
		raise(&c.heads[p.part], p.end())
	}
}

// raise lifts an atomic to at least n.
func raise(a *atomic.Int64, n int64) {
	for old := a.Load(); old < n && !a.CompareAndSwap(old, n); old = a.Load() {
	}
}

func (c *stressClient) exec(sql string, args ...any) error {
	_, err := c.conn.Exec(context.Background(), sql, args...)
	return err
}

func (c *stressClient) pushOne() error {
	stored, err := c.push(c.rng.IntN(stressParts))
	if err == nil {
		c.committed(stored)
	}
	return err
}

// pushWide pushes to all partitions in one call, in any order, and at times to one
// of them twice; groups without ids are stored together.
func (c *stressClient) pushWide() error {
	ctx := context.Background()
	parts := c.rng.Perm(stressParts)
	if c.rng.IntN(3) == 0 {
		parts = append(parts, parts[0])
	}
	arg := PushParams{TenantID: modelTenant}
	fresh := make([][]modelFrame, len(parts))
	for i, part := range parts {
		var name string
		if err := c.conn.QueryRow(ctx, "SELECT name FROM queen.log_partitions WHERE id = $1", c.parts[part]).Scan(&name); err != nil {
			return err
		}
		named := c.rng.IntN(3) == 0
		for range 1 + c.rng.IntN(3) {
			f := modelFrame{payload: fmt.Sprintf(`{"from":%q,"n":%d}`, c.name, c.rng.Int())}
			if named {
				c.ids++
				f.txn = fmt.Sprintf("%s-%08d", c.name, c.ids)
			}
			fresh[i] = append(fresh[i], f)
			arg.Payloads, arg.Keys = append(arg.Payloads, f.payload), append(arg.Keys, nil)
			arg.TransactionIds = append(arg.TransactionIds, optionalID(f.txn))
		}
		arg.Queues, arg.Partitions = append(arg.Queues, stressQueue), append(arg.Partitions, name)
		arg.Counts, arg.Nonces = append(arg.Counts, int32(len(fresh[i]))), append(arg.Nonces, c.rng.Int64N(1<<42))
	}
	rows, err := New(c.conn).Push(ctx, arg)
	if err != nil {
		return err
	}
	var stored []stressPush
	for i, part := range parts {
		more, err := c.answered(part, rowsOf(rows, i), fresh[i], nil)
		if err != nil {
			return err
		}
		stored = append(stored, more...)
	}
	c.committed(stored)
	return nil
}

// optionalID is nil for an id that the database shall mint.
func optionalID(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// within runs the steps of a transaction and ends it as told.
func (c *stressClient) within(end string, steps func() error) error {
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	if err := steps(); err != nil {
		return errors.Join(err, c.exec("ROLLBACK"))
	}
	return c.exec(end)
}

// pushTwice is two pushes a transaction, partitions in lock order.
func (c *stressClient) pushTwice() error {
	first := c.rng.IntN(stressParts)
	second := first + c.rng.IntN(stressParts-first)
	var stored []stressPush
	err := c.within("COMMIT", func() error {
		for _, part := range []int{first, second} {
			more, err := c.push(part)
			if err != nil {
				return err
			}
			stored = append(stored, more...)
		}
		return nil
	})
	if err == nil {
		c.committed(stored)
	}
	return err
}

// pushSavepoint takes the middle of three pushes back; its offsets are given again.
func (c *stressClient) pushSavepoint() error {
	part := c.rng.IntN(stressParts)
	var kept []stressPush
	err := c.within("COMMIT", func() error {
		first, err := c.push(part)
		if err != nil {
			return err
		}
		if err := c.exec("SAVEPOINT s"); err != nil {
			return err
		}
		lost, err := c.push(part)
		if err != nil {
			return err
		}
		if err := c.exec("ROLLBACK TO SAVEPOINT s"); err != nil {
			return err
		}
		last, err := c.push(part)
		if err == nil && len(lost) > 0 && len(last) > 0 && lost[0].base != last[0].base {
			err = fmt.Errorf("offset %d was taken back, then %d was given", lost[0].base, last[0].base)
		}
		kept = append(first, last...)
		return err
	})
	if err == nil {
		c.committed(kept)
	}
	return err
}

func (c *stressClient) pushRollback() error {
	return c.within("ROLLBACK", func() error {
		_, err := c.push(c.rng.IntN(stressParts))
		return err
	})
}

// settle races with every push: no partition is ever quiet. The pause lets
// pushes also meet heads that are not settled.
func (c *stressClient) settle() error {
	time.Sleep(time.Duration(c.rng.IntN(20)) * time.Millisecond)
	_, err := New(c.conn).SettleHeadsStep(context.Background(), 500, -5)
	return err
}

// deletePrefix hides a part or all of a partition, and reclaims rows outside
// of the lock.
func (c *stressClient) deletePrefix() error {
	ctx := context.Background()
	part := c.rng.IntN(stressParts)
	var start int64
	err := c.within("COMMIT", func() error {
		if err := c.exec(lockPart, c.parts[part]); err != nil {
			return err
		}
		var from, head int64
		if err := c.conn.QueryRow(ctx, "SELECT log_start, head_offset FROM queen.partition_head WHERE id = $1", c.parts[part]).Scan(&from, &head); err != nil {
			return err
		}
		to := head + 1
		if c.rng.IntN(3) > 0 {
			to = from + c.rng.Int64N(head-from+2)
		}
		return c.conn.QueryRow(ctx, "SELECT queen._move_log_start($1, $2)", c.parts[part], to).Scan(&start)
	})
	if err != nil {
		return err
	}
	raise(&c.floors[part], start)
	c.mu.Lock()
	c.starts[part][start] = true
	c.mu.Unlock()
	time.Sleep(time.Duration(c.rng.IntN(30)) * time.Millisecond)
	return c.exec("SELECT queen._reclaim_prefix($1, $2)", c.parts[part], 1+c.rng.IntN(40))
}

// readHeads sees at least what was committed before it looked, and never less
// than it saw before.
func (c *stressClient) readHeads() error {
	var before, floors [stressParts]int64
	for i := range before {
		before[i], floors[i] = c.heads[i].Load(), c.floors[i].Load()
	}
	rows, err := c.conn.Query(context.Background(), "SELECT id, head_offset, log_start, head_offset - log_start + 1 - removed_frames FROM queen.partition_head")
	if err != nil {
		return err
	}
	var id uuid.UUID
	var head, start, total int64
	_, err = pgx.ForEachRow(rows, []any{&id, &head, &start, &total}, func() error {
		i := slices.Index(c.parts[:], id)
		if head < before[i] || start < floors[i] || total < 0 {
			return fmt.Errorf("partition %d: head %d, start %d, total %d; before it was at least %d, %d", i, head, start, total, before[i], floors[i])
		}
		raise(&c.heads[i], head)
		raise(&c.floors[i], start)
		return nil
	})
	return err
}

// consume takes a batch for a group of its own and finishes it, mostly.
func (c *stressClient) consume() error {
	ctx := context.Background()
	group, second := c.name, int32(1)
	mode := "all"
	rows, err := New(c.conn).Pop(ctx, PopParams{Queue: stressQueue, ConsumerGroup: &group, Batch: int32(1 + c.rng.IntN(40)),
		MaxPartitions: int32(c.rng.IntN(3)), LeaseSeconds: &second, AutoAck: c.rng.IntN(4) == 0, SubscriptionMode: &mode, TenantID: modelTenant})
	if err != nil || len(rows) == 0 {
		return err
	}
	ack := AckParams{TenantID: modelTenant}
	for i, row := range rows {
		part := slices.Index(c.parts[:], row.PartitionID)
		if i == 0 || rows[i-1].PartitionID != row.PartitionID {
			if err := c.tookFrom(part, row); err != nil {
				return err
			}
			ack.PartitionIds, ack.ConsumerGroups = append(ack.PartitionIds, row.PartitionID), append(ack.ConsumerGroups, group)
			ack.LeaseIds, ack.Counts = append(ack.LeaseIds, &rows[i].LeaseID), append(ack.Counts, 0)
		} else if row.FirstOffset != rows[i-1].LastOffset+1 {
			c.gap(part, row.FirstOffset)
		}
		for k := range row.Payloads {
			id := frameID(row.IDBase, int(row.FirstOffset-row.SegmentBase)+k).String()
			if row.TransactionIds != nil && row.TransactionIds[k] != nil {
				id = *row.TransactionIds[k]
			}
			ack.TransactionIds, ack.Statuses, ack.Errors = append(ack.TransactionIds, id), append(ack.Statuses, "completed"), append(ack.Errors, nil)
			ack.Counts[len(ack.Counts)-1]++
		}
	}
	if rows[0].LeaseID == "" || c.rng.IntN(10) == 0 {
		return nil // committed already, or left to expire
	}
	answers, err := New(c.conn).Ack(ctx, ack)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if !a.Success && *a.Error != "invalid or expired lease" {
			return fmt.Errorf("ack: %s", *a.Error)
		}
	}
	return nil
}

func (c *stressClient) gap(part int, first int64) {
	c.mu.Lock()
	c.gaps = append(c.gaps, stressGap{part, first})
	c.mu.Unlock()
}

// tookFrom compares the start of a leased delivery with the cursor: after what
// was finished, without a hole but that of a deletion. An autoAck has moved the
// cursor already.
func (c *stressClient) tookFrom(part int, row PopRow) error {
	if row.LeaseID == "" {
		return nil
	}
	var committed int64
	err := c.conn.QueryRow(context.Background(), "SELECT committed FROM queen.log_consumers WHERE partition_id = $1 AND consumer_group = $2",
		c.parts[part], c.name).Scan(&committed)
	switch {
	case err != nil:
		return err
	case row.FirstOffset <= committed:
		return fmt.Errorf("partition %d: offset %d is delivered again, the cursor is at %d", part, row.FirstOffset, committed)
	case row.FirstOffset > committed+1:
		c.gap(part, row.FirstOffset)
	}
	return nil
}

// stressStored is a segment row as it is in the end.
type stressStored struct {
	base     int64
	at       time.Time
	idBase   uuid.UUID
	payloads []string
	ids      []*string
}

// compare holds the journal against the database, in one snapshot.
func (s *stress) compare() {
	ctx := context.Background()
	tx, err := s.db.Conn(s.t).BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	require.NoError(s.t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	require.NoError(s.t, breachesIn(ctx, tx))
	for part, id := range s.parts {
		own := slices.DeleteFunc(slices.Clone(s.journal), func(p stressPush) bool { return p.part != part })
		slices.SortFunc(own, func(a, b stressPush) int { return int(a.base - b.base) })
		var sum int64
		for i, p := range own {
			sum += p.bytes()
			if i == 0 {
				require.Zero(s.t, p.base)
				continue
			}
			require.Equal(s.t, own[i-1].end()+1, p.base, "the journal of partition %d has a hole or an offset twice", part)
			require.True(s.t, own[i-1].at.Before(p.at), "stamps of partition %d at %d", part, p.base)
			require.Less(s.t, own[i-1].idBase.String(), p.idBase.String(), "ids of partition %d at %d", part, p.base)
		}
		var head, cum, start, total int64
		require.NoError(s.t, tx.QueryRow(ctx, `SELECT head_offset, head_cum, log_start, head_offset - log_start + 1 - removed_frames
			FROM queen.partition_head WHERE id = $1`, id).Scan(&head, &cum, &start, &total))
		require.NotEmpty(s.t, own)
		require.Equal(s.t, own[len(own)-1].end(), head, "head of partition %d", part)
		require.Equal(s.t, sum, cum, "running sum of partition %d", part)
		require.GreaterOrEqual(s.t, start, s.floors[part].Load())
		require.Equal(s.t, head-start+1, total)
		s.compareStored(tx, part, start, own)
	}
	for _, g := range s.gaps {
		require.True(s.t, s.starts[g.part][g.first], "a delivery of partition %d began at %d without need", g.part, g.first)
	}
}

// compareStored compares what is still visible with what was answered.
func (s *stress) compareStored(tx pgx.Tx, part int, start int64, own []stressPush) {
	rows, err := tx.Query(context.Background(), `SELECT base_offset, created_at, id_base, payloads, transaction_ids FROM queen.log_segments
		WHERE partition_id = $1 AND base_offset >= $2 ORDER BY base_offset`, s.parts[part], start)
	require.NoError(s.t, err)
	stored, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r stressStored, err error) {
		err = row.Scan(&r.base, &r.at, &r.idBase, &r.payloads, &r.ids)
		return r, err
	})
	require.NoError(s.t, err)
	visible := slices.DeleteFunc(own, func(p stressPush) bool { return p.base < start })
	require.Len(s.t, stored, len(visible))
	for i, p := range visible {
		got := stored[i]
		require.True(s.t, p.base == got.base && p.at.Equal(got.at) && p.idBase == got.idBase && len(p.frames) == len(got.payloads), "segment %d", p.base)
		for k, f := range p.frames {
			id := ""
			if got.ids != nil && got.ids[k] != nil {
				id = *got.ids[k]
			}
			require.Equal(s.t, [2]string{f.payload, f.txn}, [2]string{got.payloads[k], id}, "frame %d", p.base+int64(k))
		}
	}
}

// TestStressDelete deletes queues under traffic that creates them again. A
// call may be told to try again; nothing else, and no row stays behind.
func TestStressDelete(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t)
	until := time.Now().Add(4 * time.Second)
	var wg sync.WaitGroup
	failures := make(chan error, 8)
	var retries atomic.Int64
	for i := range 8 {
		conn := db.Conn(t)
		rng := randv2.New(randv2.NewPCG(uint64(i), drawSeed()))
		wg.Go(func() {
			for time.Now().Before(until) {
				err := deleteStep(conn, rng, i)
				var pgErr *pgconn.PgError
				if errors.As(err, &pgErr) && (pgErr.Code == "40001" || pgErr.Code == "55P03") {
					retries.Add(1)
				} else if err != nil {
					failures <- fmt.Errorf("client %d: %w", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	t.Logf("%d calls were told to try again", retries.Load())
	checkInvariants(t, db.Conn(t))
	for done := false; !done; {
		done = scalar[bool](t, db, `SELECT done FROM queen.log_reclaim_step_v1(100)`)
	}
	require.Zero(t, scalar[int64](t, db, `SELECT count(*) FROM queen.queues WHERE deleted_at IS NOT NULL`), "nobody holds anything, so all of it went")
	checkInvariants(t, db.Conn(t))
}

func deleteStep(conn *pgx.Conn, rng *randv2.Rand, client int) error {
	queue := fmt.Sprint("d", rng.IntN(2))
	statement := `SELECT queen.push_many_v1($1, ARRAY['1','2']::json[], ARRAY[$2, 'b'])`
	args := []any{queue, fmt.Sprint("p", rng.IntN(3))}
	switch client {
	case 0:
		time.Sleep(time.Duration(rng.IntN(8)) * time.Millisecond)
		// A small step, so that most queues are half way when others come back to them.
		if _, err := conn.Exec(context.Background(), `SELECT queen.log_reclaim_step_v1(20)`); err != nil {
			return err
		}
		statement, args = `SELECT queen.delete_queue_v1($1)`, []any{queue}
	case 1:
		statement, args = `SELECT queen.configure_queue_v1($1, '{"leaseTime":1}')`, []any{queue}
	case 2, 3, 4:
		return popAndAck(conn, queue, fmt.Sprint("g", rng.IntN(2)), []string{"completed", "dlq", "failed"}[rng.IntN(3)])
	}
	_, err := conn.Exec(context.Background(), statement, args...)
	return err
}

// popAndAck is a consumer of several partitions; each call is a transaction.
func popAndAck(conn *pgx.Conn, queue, group, status string) error {
	ctx := context.Background()
	messages, err := New(conn).PopMessages(ctx, PopMessagesParams{Queue: queue, Batch: 5, ConsumerGroup: &group, SubscriptionMode: "all"})
	if err != nil || len(messages) == 0 {
		return err
	}
	ack := AckParams{TenantID: modelTenant}
	for i, m := range messages {
		if i == 0 || messages[i-1].PartitionID != m.PartitionID {
			ack.PartitionIds, ack.ConsumerGroups = append(ack.PartitionIds, m.PartitionID), append(ack.ConsumerGroups, group)
			ack.LeaseIds, ack.Counts = append(ack.LeaseIds, &messages[i].LeaseID), append(ack.Counts, 0)
		}
		ack.Counts[len(ack.Counts)-1]++
		ack.TransactionIds, ack.Statuses, ack.Errors = append(ack.TransactionIds, m.TransactionID), append(ack.Statuses, status), append(ack.Errors, nil)
	}
	_, err = New(conn).Ack(ctx, ack)
	return err
}
