package api

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"regent.local/regent/db"
)

// joinsPush keeps two requests that use the same id for the same partition out of
// one group: inside a group the first would win whatever the queue's window says.
func joinsPush(b *batch[*pushGroup], next *parcel[*pushGroup]) bool {
	if len(next.work.leaders) == 0 {
		return true
	}
	for _, p := range b.parcels {
		few, many := next.work.leaders, p.work.leaders
		if len(few) > len(many) {
			few, many = many, few
		}
		for id := range few {
			if _, clash := many[id]; clash {
				return false
			}
		}
	}
	return true
}

// sendPush stores what is open of a bundle. When an answer is lost it finds out
// what happened, and sends only what did not.
func (s *Server) sendPush(bundle []*batch[*pushGroup], wait bool) (map[*batch[*pushGroup]]resend, error) {
	for try := 1; ; try++ {
		args, slots, err := s.pushArguments(bundle, !wait)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		rows, err := s.pushOnce(args)
		var lost *doubt
		switch {
		case err == nil:
			s.count.call(pushCall, began, len(args.Payloads))
			again, err := s.readPush(bundle, slots, args.Sealed, rows)
			if err == nil {
				s.wakePushed(bundle, rows)
			}
			return again, err
		case !errors.As(err, &lost):
			return nil, err
		}
		if fault := s.clear(bundle, slots, lost); fault != nil {
			return nil, fmt.Errorf("%w; %v", lost, fault)
		}
		if nothingOpen(bundle) {
			return nil, nil
		}
		if try == doubtTries {
			return nil, fmt.Errorf("it was not stored: %w (%v)", io.ErrUnexpectedEOF, lost.cause)
		}
	}
}

// nothingOpen reports whether nothing of the bundle is open.
func nothingOpen(bundle []*batch[*pushGroup]) bool {
	open := 0
	for _, b := range bundle {
		for _, part := range b.parcels {
			part.work.eachOpen(func(*pushItem, *verdict) { open++ })
		}
	}
	return open == 0
}

// wakePushed wakes the pops that wait for what was stored.
func (s *Server) wakePushed(bundle []*batch[*pushGroup], rows []db.PushRow) {
	last := int32(-1)
	for i := range rows {
		if rows[i].Status == "queued" && rows[i].Grp != last {
			last = rows[i].Grp
			key := bundle[last].key
			if id := rows[i].PartitionID; id != nil {
				s.room.warm(queueKey{key.tenant, key.queue}, "", *id)
			}
			s.wake(key)
		}
	}
}

// wake wakes the pops, here and at other servers, that wait for a partition.
func (s *Server) wake(key laneKey) {
	s.room.pushed(key.tenant, key.queue, key.name)
	s.teller.tell(key.tenant, key.queue)
}

// pushArguments lays the open items of the batches out as flat arrays, one group
// a batch. The slots are where the verdicts of each group's items belong.
func (s *Server) pushArguments(bundle []*batch[*pushGroup], skipLocked bool) (db.PushParams, [][]*verdict, error) {
	items := 0
	for _, b := range bundle {
		items += b.items
	}
	nonces, err := drawNonces(len(bundle))
	args := db.PushParams{
		Queues: make([]string, len(bundle)), Partitions: make([]string, len(bundle)), Counts: make([]int32, len(bundle)),
		Payloads: make([]string, 0, items), Nonces: nonces, Sealed: make([]bool, len(bundle)), SkipLocked: skipLocked, TenantID: bundle[0].key.tenant,
	}
	slots, all := make([][]*verdict, len(bundle)), make([]*verdict, 0, items)
	for i, b := range bundle {
		args.Sealed[i] = s.seals.guess(queueKey{b.key.tenant, b.key.queue})
		from := len(all)
		for _, part := range b.parcels {
			part.work.eachOpen(func(item *pushItem, v *verdict) {
				args.Payloads = append(args.Payloads, s.seals.pack(item.payload, args.Sealed[i]))
				addNames(&args, item, part.work.request.producer, items)
				all = append(all, v)
			})
		}
		slots[i] = all[from:len(all):len(all)]
		args.Queues[i], args.Partitions[i], args.Counts[i] = b.key.queue, b.key.name, int32(len(slots[i]))
	}
	args.TransactionIds, args.Keys = args.TransactionIds[:min(len(args.TransactionIds), len(all))], args.Keys[:min(len(args.Keys), len(all))]
	args.ProducerSubs = args.ProducerSubs[:min(len(args.ProducerSubs), len(all))]
	return args, slots, err
}

// addNames notes id, key and producer of the item that was added last. Their arrays
// stay nil until one is given.
func addNames(args *db.PushParams, item *pushItem, producer *string, items int) {
	at := len(args.Payloads) - 1
	if item.id != nil {
		if args.TransactionIds == nil {
			args.TransactionIds = make([]*string, items)
		}
		args.TransactionIds[at] = item.id
	}
	if item.key != nil {
		if args.Keys == nil {
			args.Keys = make([]*string, items)
		}
		args.Keys[at] = item.key
	}
	if producer != nil {
		if args.ProducerSubs == nil {
			args.ProducerSubs = make([]*string, items)
		}
		args.ProducerSubs[at] = producer
	}
}

// drawNonces draws 42 random bits a group.
func drawNonces(n int) ([]int64, error) {
	raw := make([]byte, 8*n)
	if _, err := rand.Read(raw); err != nil {
		return nil, fmt.Errorf("draw random bits: %w", err)
	}
	nonces := make([]int64, n)
	for i := range nonces {
		nonces[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]) & (1<<42 - 1))
	}
	return nonces, nil
}

var errVerdicts = errors.New("the database answered a push with verdicts that do not fit")

// readPush spreads the rows over the batches, and names those to send again.
func (s *Server) readPush(bundle []*batch[*pushGroup], slots [][]*verdict, sealed []bool, rows []db.PushRow) (map[*batch[*pushGroup]]resend, error) {
	again := map[*batch[*pushGroup]]resend{}
	for i := range rows {
		row := &rows[i]
		if row.Grp < 0 || int(row.Grp) >= len(bundle) {
			return nil, errVerdicts
		}
		b := bundle[row.Grp]
		switch {
		case row.Status == "busy":
			again[b] = resendWaiting
		case row.Status == "failed" && row.Code != nil && *row.Code == "QN409":
			if err := s.unsealed(b, sealed[row.Grp]); err != nil {
				b.fail(err)
			} else {
				again[b] = resendWaiting
			}
		case row.Status == "failed" && len(b.parcels) > 1:
			again[b] = resendApart
		case row.Status == "failed":
			b.fail(refused(row))
		case !spread(row, slots[row.Grp]):
			b.fail(errVerdicts)
		}
	}
	for _, b := range bundle {
		if again[b] == 0 {
			complete(b)
		}
	}
	return again, nil
}

// unsealed takes note that a batch was sealed and its queue is not encrypted, or
// the other way round. The error is nil when it can be sent as it has to be.
func (s *Server) unsealed(b *batch[*pushGroup], sealed bool) error {
	s.seals.learn(queueKey{b.key.tenant, b.key.queue}, sealed)
	if sealed {
		return nil
	}
	return s.seals.missing()
}

// refused is the error of a group that the functions did not take, as if it had
// been raised.
func refused(row *db.PushRow) error {
	fault := &pgconn.PgError{Code: "QN409", Message: "the group was refused"}
	if row.Code != nil && row.Error != nil {
		fault.Code, fault.Message = *row.Code, *row.Error
	}
	return fault
}

// spread notes the verdicts of one row, and reports whether they fit.
func spread(row *db.PushRow, into []*verdict) bool {
	n, duplicate := int(row.Frames), row.Status == "duplicate"
	switch {
	case duplicate:
		n = len(row.Items)
		if len(row.ItemIds) != n {
			return false
		}
	case row.Status != "queued" || row.IDBase == nil || row.Items != nil && len(row.Items) != n:
		return false
	}
	for k := range n {
		at := int(row.FirstItem) + k
		if row.Items != nil {
			at = int(row.Items[k])
		}
		if at < 0 || at >= len(into) {
			return false
		}
		if duplicate {
			*into[at] = verdict{row.ItemIds[k], pushDuplicate}
		} else {
			*into[at] = verdict{frameID(*row.IDBase, int64(k)), pushQueued}
		}
	}
	return true
}

// complete checks that every item of a batch got its verdict: silence is no
// success.
func complete(b *batch[*pushGroup]) {
	for _, part := range b.parcels {
		if part.err == nil {
			part.work.eachOpen(func(*pushItem, *verdict) { part.err = errVerdicts })
		}
	}
}
