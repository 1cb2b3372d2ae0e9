package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
	"regent.local/regent/db/migrate"
	"regent.local/regent/testdata/bench"
)

const benchQueue = "bench"

// sqlTarget is Regent as its SQL functions.
type sqlTarget struct {
	dsn string
	o   bench.Options
}

func newSQLTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	if err := migrate.Up(ctx, dsn, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = db.New(conn).ConfigureQueue(ctx, db.ConfigureQueueParams{Queue: benchQueue, Options: benchQueueOptions(o), TenantID: ownTenant()})
	if err != nil {
		return nil, fmt.Errorf("configure the queue: %w", err)
	}
	return &sqlTarget{dsn: dsn, o: o}, nil
}

func benchQueueOptions(o bench.Options) json.RawMessage {
	if o.Dedup {
		return json.RawMessage(`{"dedupWindowSeconds":3600}`)
	}
	return json.RawMessage(`{"dedupWindowSeconds":0}`)
}

func (t *sqlTarget) Close() {}

func (t *sqlTarget) Producer(ctx context.Context, i int) (bench.Producer, error) {
	w, err := t.worker(ctx, i)
	if err != nil {
		return nil, err
	}
	if t.o.Op == "push-grouped" {
		return &groupedProducer{sqlWorker: w}, nil
	}
	return &manyProducer{sqlWorker: w}, nil
}

func (t *sqlTarget) Consumer(ctx context.Context, i int) (bench.Consumer, error) {
	w, err := t.worker(ctx, i)
	if err != nil {
		return nil, err
	}
	return &sqlConsumer{sqlWorker: w, group: benchGroup(i, t.o)}, nil
}

// benchGroup is the group of consumer i: queue mode where there is one group.
func benchGroup(i int, o bench.Options) string {
	if o.Groups == 1 {
		return queueMode
	}
	return fmt.Sprintf("g%d", i%o.Groups)
}

func (t *sqlTarget) worker(ctx context.Context, i int) (*sqlWorker, error) {
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &sqlWorker{conn: conn, queries: db.New(conn), o: t.o, lanes: benchLanes(i, t.o)}, nil
}

// benchLanes are the partitions of producer i.
func benchLanes(i int, o bench.Options) []string {
	lanes := make([]string, o.Lanes)
	for k := range lanes {
		lanes[k] = fmt.Sprintf("p%d-%d", i, k)
	}
	return lanes
}

// sqlWorker has a connection of its own.
type sqlWorker struct {
	conn    *pgx.Conn
	queries *db.Queries
	o       bench.Options
	lanes   []string
	at      int // first lane of the next call
}

// nextLanes are the lanes of the next call, all of them when there are few.
func nextLanes(lanes []string, at *int, messages int) []string {
	if messages >= len(lanes) {
		return lanes
	}
	picked := make([]string, messages)
	for i := range picked {
		picked[i] = lanes[(*at+i)%len(lanes)]
	}
	*at = (*at + messages) % len(lanes)
	return picked
}

func (w *sqlWorker) Close() error { return w.conn.Close(context.Background()) }

// clientIDs are time-ordered ids, as an application would send them.
func clientIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7()).String()
	}
	return ids
}

// manyProducer calls what applications call. It keeps no ids, as the plain
// table's insert returns none, so the statement counts what was stored.
type manyProducer struct{ *sqlWorker }

func (p *manyProducer) Push(ctx context.Context, payloads []string) error {
	if len(payloads) == 1 && !p.o.ClientIDs {
		return p.pushOne(ctx, payloads[0])
	}
	arg := db.CountPushedParams{Queue: benchQueue, Payloads: make([][]byte, len(payloads)), Partitions: p.lanes}
	for i, payload := range payloads {
		arg.Payloads[i] = []byte(payload)
	}
	if len(p.lanes) > 1 {
		lanes := nextLanes(p.lanes, &p.at, len(payloads))
		arg.Partitions = make([]string, len(payloads))
		for i := range payloads {
			arg.Partitions[i] = lanes[i%len(lanes)]
		}
	}
	if p.o.ClientIDs {
		arg.TransactionIds = clientIDs(len(payloads))
	}
	stored, err := p.queries.CountPushed(ctx, arg)
	if err != nil {
		return err
	}
	return verdictCount(len(payloads), int(stored))
}

func (p *manyProducer) pushOne(ctx context.Context, payload string) error {
	r, err := p.queries.PushMessage(ctx, db.PushMessageParams{Queue: benchQueue, Payload: []byte(payload), Partition: p.lanes[0]})
	if err != nil {
		return err
	}
	if r.Status != "queued" {
		return fmt.Errorf("the message is %s", r.Status)
	}
	return nil
}

// groupedProducer calls what the server calls.
type groupedProducer struct{ *sqlWorker }

func (p *groupedProducer) Push(ctx context.Context, payloads []string) error {
	arg := db.PushParams{Payloads: payloads, TenantID: ownTenant()}
	lanes := nextLanes(p.lanes, &p.at, len(payloads))
	for i, lane := range lanes {
		// The first lanes have one message more when the batch does not divide.
		count := (len(payloads) + len(lanes) - 1 - i) / len(lanes)
		arg.Queues = append(arg.Queues, benchQueue)
		arg.Partitions = append(arg.Partitions, lane)
		arg.Counts = append(arg.Counts, int32(count))
		arg.Nonces = append(arg.Nonces, rand.Int64N(1<<42))
	}
	if p.o.ClientIDs {
		for _, id := range clientIDs(len(payloads)) {
			arg.TransactionIds = append(arg.TransactionIds, &id)
		}
	}
	rows, err := p.queries.Push(ctx, arg)
	if err != nil {
		return err
	}
	var stored int
	for _, r := range rows {
		if r.Status != "queued" {
			return fmt.Errorf("group %d is %s", r.Grp, r.Status)
		}
		stored += int(r.Frames)
	}
	return verdictCount(len(payloads), stored)
}

// sqlConsumer pops from any partition. It acknowledges a batch in the transaction
// and the round trip of the next pop, as a consumer that keeps going would.
type sqlConsumer struct {
	*sqlWorker
	group string
	held  []db.PopRow // taken and not acknowledged
}

func (c *sqlConsumer) Take(ctx context.Context, n int, seen func([]string)) (int, error) {
	var rows []db.PopRow
	err := pipeline(ctx, c.conn, func(queries *db.Queries) (err error) {
		refused := c.ack(ctx, queries, c.held)
		rows, err = c.pop(ctx, queries, n)
		return errors.Join(refused, err)
	})
	if err != nil {
		return 0, err
	}
	c.held = rows
	return show(rows, seen), nil
}

func (c *sqlConsumer) pop(ctx context.Context, queries *db.Queries, n int) ([]db.PopRow, error) {
	return queries.Pop(ctx, db.PopParams{Queue: benchQueue, ConsumerGroup: &c.group, SubscriptionMode: &fromTheStart, Batch: int32(n), MaxPartitions: 1, TenantID: ownTenant()})
}

// show hands the messages to the cell and counts them.
func show(rows []db.PopRow, seen func([]string)) (taken int) {
	for _, r := range rows {
		taken += len(r.Payloads)
		seen(r.Payloads)
	}
	return taken
}

// ack finishes a batch; none is fine.
func (c *sqlConsumer) ack(ctx context.Context, queries *db.Queries, rows []db.PopRow) error {
	switch {
	case len(rows) == 0:
		return nil
	case c.o.AckByID:
		return c.ackByID(ctx, queries, rows)
	}
	return c.ackUpto(ctx, queries, rows[len(rows)-1])
}

// Close acknowledges what was taken last.
func (c *sqlConsumer) Close() error {
	err := c.ack(context.Background(), c.queries, c.held)
	return errors.Join(err, c.sqlWorker.Close())
}

func (c *sqlConsumer) ackUpto(ctx context.Context, queries *db.Queries, last db.PopRow) error {
	verdicts, err := queries.AckUpto(ctx, db.AckUptoParams{PartitionIds: []uuid.UUID{last.PartitionID}, ConsumerGroups: []string{c.group},
		LeaseIds: []string{last.LeaseID}, Offsets: []int64{last.LastOffset}, Ok: true})
	return ackOutcome(verdicts, err, 1)
}

// fromTheStart is the subscription mode of every group of a cell.
var fromTheStart = "all"

// queueMode is the group of a pop that names none.
const queueMode = "__QUEUE_MODE__"

func (c *sqlConsumer) ackByID(ctx context.Context, queries *db.Queries, rows []db.PopRow) error {
	n := 0
	for _, r := range rows {
		n += len(r.Payloads)
	}
	arg := db.AckParams{PartitionIds: []uuid.UUID{rows[0].PartitionID}, ConsumerGroups: []string{c.group}, LeaseIds: []*string{&rows[0].LeaseID},
		Counts: []int32{int32(n)}, TenantID: ownTenant()}
	for _, r := range rows {
		for k := range r.Payloads {
			id := frameID(r.IDBase, r.FirstOffset+int64(k)-r.SegmentBase)
			if len(r.TransactionIds) > 0 && r.TransactionIds[k] != nil {
				id = *r.TransactionIds[k]
			}
			arg.TransactionIds = append(arg.TransactionIds, id)
			arg.Statuses = append(arg.Statuses, "completed")
		}
	}
	verdicts, err := queries.Ack(ctx, arg)
	return ackOutcome(verdicts, err, n)
}

// frameID is the id of frame k of a segment: its base plus k.
func frameID(base uuid.UUID, k int64) string {
	base[13] |= byte(k>>16) & 0x0f
	base[14], base[15] = byte(k>>8), byte(k)
	return base.String()
}

func ackOutcome(verdicts []db.AckRow, err error, n int) error {
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		if !v.Success {
			return fmt.Errorf("ack of item %d refused: %s", v.Item, text(v.Error))
		}
	}
	return verdictCount(n, len(verdicts))
}
