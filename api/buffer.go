package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"regent.local/regent/db/dberr"
)

// shortBacklog is how many messages may wait while a push to a lane that has
// some of them waits for its turn, instead of joining them on the disk.
const shortBacklog = 20_000

// errSpool is why an item failed that only the spool could have taken.
var errSpool = &Error{Text: "the database is away or pushes are paused, and the spool takes no messages", Code: "QN503", Retryable: true, status: http.StatusServiceUnavailable}

// errPaused is why an item failed in push maintenance on a server without a spool.
var errPaused = &Error{Text: "pushes are paused and this server has no spool", Code: "QN503", Retryable: true, status: http.StatusServiceUnavailable}

// divertPushes takes out of a bundle what must not go to the database now, and
// returns the rest: everything in push maintenance (P-5) and while the database
// is away, and what would overtake older messages of its partition that are
// still in the spool: order inside a partition is the order of arrival.
func (s *Server) divertPushes(bundle []*batch[*pushGroup]) []*batch[*pushGroup] {
	paused := s.switches.push.Load()
	if s.spool == nil && !paused {
		return bundle
	}
	var direct, buffered []*batch[*pushGroup]
	for _, b := range bundle {
		switch {
		case paused || s.away.Load():
			buffered = append(buffered, b)
		case !s.spool.backlog(b.key):
			direct = append(direct, b)
		case s.spool.short():
			s.holdPush(b)
		default:
			buffered = append(buffered, b)
		}
	}
	if len(buffered) > 0 {
		s.buffer(buffered, nil)
		for _, b := range buffered {
			s.pushes.end(b)
		}
	}
	return direct
}

// short reports whether the backlog is so small that waiting for it is worth it.
func (s *spool) short() bool {
	stats, _ := s.stats()
	return stats.PendingCount <= shortBacklog
}

// holdPush sends a batch when the older messages of its lane are in the log. When
// that takes too long it joins them.
func (s *Server) holdPush(b *batch[*pushGroup]) {
	s.loops.Add(1)
	go func() {
		defer s.loops.Done()
		if s.spool.await(b.key, s.cfg.AcquireTimeout, s.stop) && s.pushes.alone.take(s.cfg.AcquireTimeout) {
			defer s.pushes.alone.give()
			s.pushes.flush([]*batch[*pushGroup]{b})
			return
		}
		s.buffer([]*batch[*pushGroup]{b}, nil)
		s.pushes.end(b)
	}()
}

// failPushes ends batches that the database did not take: in the spool, when the
// database is away and there is one.
func (s *Server) failPushes(bundle []*batch[*pushGroup], err error) {
	if s.spool == nil || !spoolable(err) {
		for _, b := range bundle {
			b.fail(err)
		}
		return
	}
	s.away.Store(true)
	var lost *doubt
	errors.As(err, &lost)
	s.buffer(bundle, lost)
}

// spoolable reports whether an error says that the database is away, and not
// something about the push (P-34).
func spoolable(err error) bool {
	var known *Error
	if errors.As(err, &known) {
		return false
	}
	seen := dberr.From(err)
	return errors.Is(seen, dberr.ErrUnavailable) && seen.Code != "QN503"
}

// buffer puts what is open of batches into the spool, all or nothing. A doubt is
// that of a call which had one group a batch.
func (s *Server) buffer(bundle []*batch[*pushGroup], lost *doubt) {
	if s.spool == nil {
		for _, b := range bundle {
			b.fail(errPaused)
		}
		return
	}
	s.lookBeforeSpooling()
	var records []*spoolRecord
	var kept []*batch[*pushGroup]
	for i, b := range bundle {
		if err := s.seals.spooling(queueKey{b.key.tenant, b.key.queue}); err != nil {
			b.fail(err) // a disk is no place for what an encrypted queue holds
			continue
		}
		kept = append(kept, b)
		var d *spoolDoubt
		if lost != nil {
			d = &spoolDoubt{Nonce: lost.nonces[i], PID: lost.pid, Started: lost.started}
		}
		records = append(records, s.spoolRecords(b, d)...)
	}
	if len(kept) == 0 {
		return
	}
	err := s.spool.add(records)
	at := 0
	for _, b := range kept {
		if err != nil {
			b.fail(errSpool)
			continue
		}
		at = noteBuffered(b, records, at, lost != nil)
	}
}

// lookBeforeSpooling looks which queues are encrypted now, where payloads would be
// kept as they are: also while the database seems away, for it may be back long
// before the drain notices.
func (s *Server) lookBeforeSpooling() {
	if s.spoolsPlain() {
		s.lookSince(s.seals.now())
	}
}

// lookSince makes sure of a look that began after the turn. One serves all who came
// before it began. When one was not answered the next is half a second later, and
// meanwhile, and while that one is under way, the others go by what is known.
func (s *Server) lookSince(turn uint64) {
	failing, lately := s.seals.blind()
	if lately || failing && !s.lookTurn.TryLock() {
		return
	}
	if !failing {
		s.lookTurn.Lock()
	}
	defer s.lookTurn.Unlock()
	if _, lately := s.seals.blind(); lately || s.seals.listedSince(turn) {
		return
	}
	if err := s.readSwitches(context.Background()); err != nil {
		s.log.Debug("it cannot be seen which queues are encrypted", "error", clip(err.Error(), 300))
	}
}

// spoolRecords are the open items of a batch, one record a caller, so that equal
// ids of two callers are judged by the queue's window. A batch in doubt is one
// record: what its segments hold is matched with all of it.
func (s *Server) spoolRecords(b *batch[*pushGroup], d *spoolDoubt) []*spoolRecord {
	var records []*spoolRecord
	for _, part := range b.parcels {
		if d == nil || len(records) == 0 {
			records = append(records, &spoolRecord{Tenant: b.key.tenant, Queue: b.key.queue, Partition: b.key.name, Doubt: d})
		}
		r := records[len(records)-1]
		part.work.eachOpen(func(item *pushItem, _ *verdict) {
			kept := spoolItem{Key: item.key, Producer: part.work.request.producer, Payload: item.payload, Minted: item.id == nil}
			if s.seals.current != nil {
				kept.Payload, kept.Sealed = s.seals.current.seal(item.payload), true
			}
			if kept.Minted {
				kept.TransactionID = mintID().String()
			} else {
				kept.TransactionID = *item.id
			}
			r.Items = append(r.Items, kept)
		})
	}
	return records
}

// noteBuffered gives the open items of a batch their verdicts. Minted ids are
// answered; the id of a message with a client's transaction id is not known yet.
func noteBuffered(b *batch[*pushGroup], records []*spoolRecord, at int, joined bool) int {
	k := 0
	for n, part := range b.parcels {
		if n > 0 && !joined {
			at, k = at+1, 0
		}
		part.work.eachOpen(func(_ *pushItem, v *verdict) {
			v.status = pushBuffered
			if item := &records[at].Items[k]; item.Minted {
				v.id = uuid.MustParse(item.TransactionID)
			}
			k++
		})
	}
	return at + 1
}

// mintID is a UUIDv7: it rises with time, so that replayed ids do so, too.
func mintID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
