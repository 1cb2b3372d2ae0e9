package api

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
	"regent.local/regent/db/session"
)

// doubt is a push call that was sent and not answered: it may have happened. It
// is the error of that call until somebody finds out.
type doubt struct {
	nonces  []int64 // one a group
	pid     uint32  // the backend that may still be at it
	started time.Time
	cause   error
}

func (d *doubt) Error() string { return "the answer to a push was lost: " + d.cause.Error() }

// Unwrap says to whoever judges errors that the database went away, whatever the
// driver said.
func (d *doubt) Unwrap() error { return io.ErrUnexpectedEOF }

// clockLeeway is how far the database's clock may have jumped ahead while a
// doubtful push ran without hiding what it stored.
const clockLeeway = 2 * time.Minute

// doubtTries bounds how often one call is sent again after an answer was lost.
const doubtTries = 3

// pushOnce sends one call. When its answer is lost the error is a doubt.
func (s *Server) pushOnce(args db.PushParams) (rows []db.PushRow, err error) {
	d := &doubt{nonces: args.Nonces}
	sent := false
	err = s.callConn(context.Background(), func(ctx context.Context, conn *pgx.Conn) (err error) {
		d.pid, d.started, sent = conn.PgConn().PID(), time.Now(), true
		rows, err = db.New(conn).Push(ctx, args)
		if err != nil && !dberr.Unknown(err) {
			sent = false
		}
		return err
	})
	if err != nil && sent {
		d.cause = err
		return nil, d
	}
	return rows, err
}

// lane is one group that was in doubt.
type doubtfulLane struct {
	queue, partition string
	nonce            int64
}

// find tells what of a doubtful call is in the log. It first makes sure that the
// call cannot happen any more: its backend is ended, or seen to have ended. The
// rows' groups are positions in lanes.
func (s *Server) find(ctx context.Context, tenant uuid.UUID, lanes []doubtfulLane, pid uint32, started time.Time) ([]db.FoundPushRow, error) {
	args := db.FindPushesParams{TenantID: tenant}
	for _, lane := range lanes {
		args.Queues = append(args.Queues, lane.queue)
		args.Partitions = append(args.Partitions, lane.partition)
		args.Nonces = append(args.Nonces, lane.nonce)
	}
	var rows []db.FoundPushRow
	err := s.callConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		age := time.Since(started)
		if err := s.fence(ctx, conn, pid, age); err != nil {
			return err
		}
		args.WithinSeconds = int32(min((age+clockLeeway).Seconds()+1, 1<<31-1))
		found, err := db.New(conn).FindPushes(ctx, args)
		rows = found
		return err
	})
	return rows, err
}

// fence returns when the doubtful call's backend has ended. A pooler hides which
// one that was: there, every push that was under way has to end.
func (s *Server) fence(ctx context.Context, conn *pgx.Conn, pid uint32, age time.Duration) error {
	if pid == conn.PgConn().PID() {
		return nil // the very session, or the same false number of a pooler
	}
	if s.cfg.ExecMode != "cache_statement" {
		return session.AwaitCalls(ctx, conn, "%log_push_v1(%")
	}
	return session.End(ctx, conn, pid, age)
}

// clear finds out about a doubtful call, and notes the verdicts on what it
// stored. What stays open did not happen, and will not.
func (s *Server) clear(bundle []*batch[*pushGroup], slots [][]*verdict, d *doubt) error {
	lanes := make([]doubtfulLane, len(bundle))
	for i, b := range bundle {
		lanes[i] = doubtfulLane{b.key.queue, b.key.name, d.nonces[i]}
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.AcquireTimeout)
	defer cancel()
	for {
		rows, err := s.find(ctx, bundle[0].key.tenant, lanes, d.pid, d.started)
		if err == nil {
			return s.noteFound(bundle, slots, rows)
		}
		if s.spool != nil || !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("find out about it: %w", err)
		}
	}
}

// noteFound gives the items that are in the log their verdicts.
func (s *Server) noteFound(bundle []*batch[*pushGroup], slots [][]*verdict, rows []db.FoundPushRow) error {
	ids := make([][]*string, len(bundle))
	for i, b := range bundle {
		ids[i] = openIDs(b)
	}
	at := make([]int, len(bundle))
	for i := range rows {
		row := &rows[i]
		if int(row.Grp) >= len(bundle) {
			return errVerdicts
		}
		into := slots[row.Grp]
		placed := placeFound(row, ids[row.Grp], at[row.Grp])
		for k, item := range placed {
			if item < 0 {
				return errVerdicts
			}
			*into[item] = verdict{frameID(row.IDBase, int64(k)), pushQueued}
			at[row.Grp] = item + 1
		}
	}
	for i, b := range bundle {
		if at[i] > 0 {
			s.wake(b.key)
		}
	}
	return nil
}

// placeFound matches the frames of a segment with the items that were sent, from
// item `from` on: they are a subsequence, for repeats were left out, and an item
// without an id is never one. Of a frame that compaction took only that it had an
// id is known: it is the next item with one. A frame that fits no item is -1.
func placeFound(row *db.FoundPushRow, ids []*string, from int) []int {
	placed := make([]int, row.Frames)
	for k := range placed {
		var stored *string
		if k < len(row.TransactionIds) {
			stored = row.TransactionIds[k]
		}
		for from < len(ids) && !sameID(ids[from], stored) {
			from++
		}
		if from == len(ids) {
			placed[k] = -1
			continue
		}
		placed[k] = from
		from++
	}
	return placed
}

// compactedID stands for an id of which only a hash is left.
const compactedID = "\x01"

func sameID(sent, stored *string) bool {
	if stored != nil && *stored == compactedID {
		return sent != nil
	}
	return equalText(sent, stored)
}

func equalText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// openIDs lists the client's ids of the items of a batch that have no verdict.
func openIDs(b *batch[*pushGroup]) []*string {
	var ids []*string
	for _, part := range b.parcels {
		part.work.eachOpen(func(item *pushItem, _ *verdict) { ids = append(ids, item.id) })
	}
	return ids
}
