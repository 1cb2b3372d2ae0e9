package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// Tries of the drain (P-34): a record that the database refuses is set aside
// after some; while the database is away it is asked less often after some.
const (
	refusedTries = 5
	awayTries    = 10
	awayPause    = 5 * time.Second
)

// piece is what one call replays.
type piece struct {
	file     *spoolFile
	from, to int64
	records  []*spoolRecord
	starts   []int64 // where each record starts
	ends     []int64 // where each record ends
	held     bool    // its record has a file of its own, and is only passed over
}

// DrainSpool replays one piece of the spool, the oldest first, and answers how
// many messages that were and whether nothing is left to do now. A database that
// is away is no error: it is tried again at the next call, after ten failures in
// a row every 5 s. Calls must not overlap. Without a spool it does nothing.
func (s *Server) DrainSpool(ctx context.Context) (worked int, done bool, err error) {
	if s.spool == nil || time.Now().Before(s.drainAfter) {
		return 0, true, nil
	}
	p, err := s.spool.next(s.cfg.BufferBatch)
	switch {
	case err != nil:
		return 0, true, err
	case p == nil && !s.away.Load():
		s.freshen(ctx) // also where nobody calls: what may not be spooled must be known before the database goes away
		return 0, true, nil
	case s.away.Load():
		if err := s.readSwitches(ctx); err != nil {
			return 0, true, s.drainFailed(err)
		}
		s.away.Store(false)
	default:
		s.freshen(ctx)
	}
	switch {
	case p == nil || s.switches.push.Load():
		s.drainTries = 0
		return 0, true, nil
	case len(p.records) == 0:
		err := s.finishFile(ctx, p.file)
		return 0, err != nil, s.drainFailed(err)
	}
	moved, err := s.placeFile(ctx, p)
	if err == nil && !moved {
		err = s.replayPiece(ctx, p)
	}
	if err != nil {
		return 0, true, s.drainFailed(err)
	}
	s.drainTries = 0
	return len(p.records), false, nil
}

// drainFailed counts a failure. One that will pass is no error of the loop's.
func (s *Server) drainFailed(err error) error {
	if err == nil || local(err) || !passing(err) {
		return err
	}
	s.drainTries++
	if s.drainTries >= awayTries {
		s.drainAfter = time.Now().Add(awayPause)
	}
	if s.drainTries == 1 {
		s.log.Warn("the spool cannot be replayed now", "error", clip(err.Error(), 300))
	}
	return nil
}

// local reports whether the spool's own files are the trouble, which is no refusal
// and does not pass with the database's return.
func local(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

// passing reports whether a call that failed may go through later as it is.
func passing(err error) bool {
	var known *Error
	return !errors.As(err, &known) && (dberr.Retryable(err) || dberr.Unknown(err))
}

// errLostKey refuses a record whose key this server no longer has.
var errLostKey = &Error{Text: "it was sealed under a key that is missing from REGENT_ENCRYPTION_KEYS", Code: "QN409", status: http.StatusConflict}

// openable checks that the payloads of records can be read.
func (s *Server) openable(records []*spoolRecord) error {
	for _, r := range records {
		for i := range r.Items {
			if !r.Items[i].Sealed {
				continue
			}
			if _, key := s.seals.try(r.Items[i].Payload); key == nil {
				return errLostKey
			}
		}
	}
	return nil
}

// replayPiece sends one piece. A refusal is traced to the record at fault, which is
// set aside after some tries; the others go on.
func (s *Server) replayPiece(ctx context.Context, p *piece) error {
	if p.held {
		return s.replayAll(ctx, p, nil)
	}
	records, err := s.undecided(ctx, p.records)
	if err == nil {
		err = s.openable(records)
	}
	if err == nil {
		err = s.replayAll(ctx, p, records)
	}
	switch {
	case err == nil || local(err) || passing(err):
		return err
	case len(p.records) > 1:
		p.file.single = p.to
		return nil
	}
	p.file.tries++
	if key := p.records[0].lane(); dberr.From(err).Code == "QN409" {
		// Perhaps it was sent sealed, and should not have been, or the other way round.
		queue := queueKey{key.tenant, key.queue}
		s.seals.learn(queue, s.seals.guess(queue))
	}
	if s.wantsKey(err) {
		return s.holdRecord(ctx, p, err)
	}
	if p.file.tries < refusedTries {
		return nil
	}
	s.log.Error("the database refuses a spooled push, it was set aside", "file", p.file.path, "position", p.from, "error", clip(err.Error(), 300))
	if err := s.spool.refuse(p, err, s.failedItems(ctx, p.records[0])); err != nil {
		return err
	}
	return s.replayAll(ctx, p, nil)
}

// placeFile asks once where a file of an earlier process stands in the database,
// before anything is decided about its records: one that was stored without an
// answer must be neither held nor set aside. It reports whether the file stands
// behind the start of the piece, which is then out of date.
func (s *Server) placeFile(ctx context.Context, p *piece) (moved bool, err error) {
	if !p.file.older || p.file.placed {
		return false, nil
	}
	ask := *p
	ask.from, ask.to = math.MaxInt64-1, math.MaxInt64 // where no file stands
	row, err := s.replayStep(ctx, &ask, nil)
	if err != nil {
		return false, err
	}
	p.file.placed = true
	if row.Position <= p.from {
		return false, nil
	}
	return true, s.spool.advance(p, row.Position)
}

// replayAll stores the records and the position behind them in one transaction.
// When the file stands elsewhere in the database, the drain goes there.
func (s *Server) replayAll(ctx context.Context, p *piece, records []*spoolRecord) error {
	row, err := s.replayStep(ctx, p, records)
	if err != nil {
		return err
	}
	s.countReplayed(records, &row)
	for _, at := range row.Groups {
		if int(at) < len(records) {
			s.wake(records[at].lane())
		}
	}
	if !row.Replayed && row.Position < p.from {
		s.log.Warn("the database knows less of a spool file than it did, it is replayed again from there", "file", p.file.path, "position", row.Position)
	}
	return s.spool.advance(p, row.Position)
}

func (s *Server) replayStep(ctx context.Context, p *piece, records []*spoolRecord) (row db.SpoolStepRow, err error) {
	args := s.replayArguments(p, records)
	err = s.call(ctx, func(ctx context.Context, q querier) (err error) {
		row, err = q.ReplaySpool(ctx, args)
		return err
	})
	return row, err
}

// replayArguments lays the records out, one group each.
func (s *Server) replayArguments(p *piece, records []*spoolRecord) db.ReplaySpoolParams {
	args := db.ReplaySpoolParams{
		SpoolID: p.file.id, File: p.file.number, FromPosition: p.from, ToPosition: p.to, TenantID: p.records[0].Tenant,
		Queues: []string{}, Partitions: []string{}, Counts: []int32{}, Payloads: []string{}, TransactionIds: []*string{}, Sealed: []bool{},
	}
	var keys, producers []*string
	for _, r := range records {
		args.Queues = append(args.Queues, r.Queue)
		args.Partitions = append(args.Partitions, r.Partition)
		args.Counts = append(args.Counts, int32(len(r.Items)))
		sealed := s.seals.guess(queueKey{r.Tenant, r.Queue})
		args.Sealed = append(args.Sealed, sealed)
		for i := range r.Items {
			item := &r.Items[i]
			args.Payloads = append(args.Payloads, s.seals.pack(s.unspooled(item), sealed))
			args.TransactionIds = append(args.TransactionIds, &item.TransactionID)
			keys, producers = append(keys, item.Key), append(producers, item.Producer)
		}
	}
	args.Keys, args.ProducerSubs = unlessAllNil(keys), unlessAllNil(producers)
	return args
}

// unspooled is the payload as it was sent.
func (s *Server) unspooled(item *spoolItem) string {
	if item.Sealed {
		return s.seals.open(item.Payload)
	}
	return item.Payload
}

// undecided leaves out what a record in doubt has in the log already. Such a
// record is in a piece of its own.
func (s *Server) undecided(ctx context.Context, records []*spoolRecord) ([]*spoolRecord, error) {
	r := records[0]
	if r.Doubt == nil {
		return records, nil
	}
	rows, err := s.find(ctx, r.Tenant, []doubtfulLane{{r.Queue, r.Partition, r.Doubt.Nonce}}, r.Doubt.PID, r.Doubt.Started)
	if err != nil {
		return nil, err
	}
	ids := make([]*string, len(r.Items))
	for i := range r.Items {
		if !r.Items[i].Minted {
			ids[i] = &r.Items[i].TransactionID
		}
	}
	stored, from := map[int]bool{}, 0
	for i := range rows {
		for _, item := range placeFound(&rows[i], ids, from) {
			if item < 0 {
				return nil, errVerdicts
			}
			stored[item], from = true, item+1
		}
	}
	rest := &spoolRecord{Tenant: r.Tenant, Queue: r.Queue, Partition: r.Partition}
	for i := range r.Items {
		if !stored[i] {
			rest.Items = append(rest.Items, r.Items[i])
		}
	}
	if len(rest.Items) == 0 {
		return nil, nil
	}
	return []*spoolRecord{rest}, nil
}

// next reads the oldest piece that is not replayed; nil is none. A piece without
// records means that its file has none left.
func (s *spool) next(items int) (*piece, error) {
	s.mu.Lock()
	if s.closed || len(s.files) == 0 {
		s.mu.Unlock()
		return nil, nil
	}
	file := s.files[0]
	size := file.size
	read := max(file.position, preambleLen) >= size
	if read && s.active != nil && len(s.files) == 1 {
		if s.writing || size == preambleLen {
			s.mu.Unlock()
			return nil, nil
		}
		s.retire()
	}
	s.mu.Unlock()
	if read {
		return &piece{file: file}, nil
	}
	f, err := os.Open(file.path)
	if err != nil {
		return nil, fmt.Errorf("open a spool file: %w", err)
	}
	defer f.Close()
	return s.read(f, file, size, items)
}

// read takes records from the drain's position on, up to the limits of a call.
func (s *spool) read(f *os.File, file *spoolFile, size int64, items int) (*piece, error) {
	p := &piece{file: file, from: file.position, to: file.position}
	at := max(file.position, preambleLen)
	for weight, count := 0, 0; at < size; {
		r, end, err := readRecord(f, at, size)
		if errors.Is(err, errTorn) || errors.Is(err, errDamaged) {
			if len(p.records) > 0 {
				return p, nil // first what is before it
			}
			at = s.passOver(f, file, at, size, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		weight, count = weight+r.size(), count+len(r.Items)
		held := s.kept[place{file.id, file.number, at}]
		if len(p.records) > 0 && (held || !p.takes(r, weight, count, items)) {
			return p, nil
		}
		p.records, p.starts, p.ends = append(p.records, r), append(p.starts, at), append(p.ends, end)
		p.to, at, p.held = end, end, held
		if held || r.Doubt != nil || end <= file.single {
			return p, nil
		}
	}
	if len(p.records) == 0 { // nothing but what was passed over
		file.position = size
		return nil, nil
	}
	return p, nil
}

// takes reports whether the next record fits into the piece.
func (p *piece) takes(r *spoolRecord, weight, count, items int) bool {
	return count <= items && weight <= maxCallBytes && len(p.records) < maxCallLanes &&
		r.Doubt == nil && r.Tenant == p.records[0].Tenant
}

// passOver deals with what is no record. An end that was torn by a crash was
// never answered for, and is dropped. Anything else may have been: the file is
// kept, and the drain goes on with the next whole record.
func (s *spool) passOver(f *os.File, file *spoolFile, at, size int64, cause error) int64 {
	if next, more := nextRecord(f, at, size); more {
		s.log.Error("a spool file is damaged, the file will be kept", "file", file.path, "position", at, "bytes", next-at)
		file.damaged = true
		return next
	}
	if errors.Is(cause, errTorn) || blank(f, at, size) {
		s.log.Warn("a spool file ends in a record that a crash cut off", "file", file.path, "position", at, "bytes", size-at)
		return size
	}
	s.log.Error("a spool file is damaged, the file will be kept", "file", file.path, "position", at, "bytes", size-at)
	file.damaged = true
	return size
}

// advance notes that a file stands at a position, which may be another than the
// end of the piece when an earlier, unanswered replay did happen.
func (s *spool) advance(p *piece, position int64) error {
	done := int64(0)
	if position > 0 && position != p.to {
		f, err := os.Open(p.file.path)
		if err != nil {
			return fmt.Errorf("open a spool file: %w", err)
		}
		defer f.Close()
		done = countMessages(f, preambleLen, min(position, p.file.size))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range p.records {
		if p.ends[i] > position || p.ends[i] <= p.file.position {
			continue
		}
		if done == 0 {
			p.file.done += int64(len(r.Items))
		}
		if key := r.lane(); !p.file.older {
			if s.lanes[key]--; s.lanes[key] <= 0 {
				delete(s.lanes, key)
			}
		}
	}
	if position != p.to {
		p.file.done = done
	}
	p.file.position, p.file.tries = position, 0
	s.tellChanged()
	return nil
}

// tellChanged wakes who waits for a lane; the caller holds the lock.
func (s *spool) tellChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// finishFile removes a file of which everything is replayed. It is renamed first:
// once the database has forgotten the file it must not be replayed. The file of a
// held record stays under that name while the record stands in its first file, too,
// where it must be passed over by every later process.
func (s *Server) finishFile(ctx context.Context, file *spoolFile) error {
	switch {
	case file.damaged:
		if err := s.spool.setAside(file); err != nil {
			return err
		}
	case !strings.HasSuffix(file.path, doneSuffix):
		if err := os.Rename(file.path, file.path+doneSuffix); err != nil {
			return fmt.Errorf("rename a spool file: %w", err)
		}
		file.path += doneSuffix
		if err := syncDir(filepath.Dir(file.path)); err != nil {
			return err
		}
	}
	s.spool.mu.Lock()
	var keep []int64
	for _, other := range s.spool.files {
		if other != file && other.id == file.id {
			keep = append(keep, other.number)
		}
	}
	s.spool.mu.Unlock()
	err := s.call(ctx, func(ctx context.Context, q querier) error {
		_, err := q.ForgetSpool(ctx, file.id, keep)
		return err
	})
	if err != nil {
		return err
	}
	if !file.damaged && !(file.kept && s.spool.origin(file)) {
		if err := os.Remove(file.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a spool file: %w", err)
		}
	}
	if !file.kept {
		if err := s.spool.clearHeld(file); err != nil {
			return fmt.Errorf("remove what was held of a spool file: %w", err)
		}
	}
	s.spool.drop(file)
	return nil
}

// drop forgets a file.
func (s *spool) drop(file *spoolFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = s.files[1:]
	s.bytes -= file.size
	if file.older {
		s.older--
	}
	if errors.Is(s.fault, errSpoolFull) {
		s.fault = nil
	}
	s.tellChanged()
}

// setAside keeps a damaged file in the folder of what failed.
func (s *spool) setAside(file *spoolFile) error {
	folder := filepath.Join(s.dir, failedFolder)
	if filepath.Dir(file.path) != folder {
		path := filepath.Join(folder, filepath.Base(file.path))
		for n := 2; exists(path); n++ { // of an earlier process, and the only copy of what it holds
			path = filepath.Join(folder, fmt.Sprintf("%s-%d", filepath.Base(file.path), n))
		}
		if err := os.Rename(file.path, path); err != nil {
			return fmt.Errorf("set a spool file aside: %w", err)
		}
		file.path = path
	}
	return s.recount(folder)
}

// exists reports whether there is something of that name, or perhaps.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// recount makes the folder of what failed durable and takes stock of it.
func (s *spool) recount(folder string) error {
	if err := errors.Join(syncDir(folder), syncDir(s.dir)); err != nil {
		return err
	}
	var now failedStats
	now.count(folder)
	s.mu.Lock()
	s.failed = now
	s.mu.Unlock()
	return nil
}

// failedRecord is a line of a file in the folder of what failed.
type failedRecord struct {
	File      string       `json:"file"`
	Position  int64        `json:"position"`
	Spool     uuid.UUID    `json:"spool"`
	Code      string       `json:"code"`
	Error     string       `json:"error"`
	At        time.Time    `json:"at"`
	Tenant    uuid.UUID    `json:"tenant"`
	Queue     string       `json:"queue"`
	Partition string       `json:"partition"`
	Items     []failedItem `json:"items"`
}

// failedItem is a message that could not be stored; the payload is its JSON text.
type failedItem struct {
	TransactionID string  `json:"transactionId"`
	Key           *string `json:"key,omitempty"`
	Payload       string  `json:"payload"`
}

// failedItems are the messages of a refused record, to be read by people: opened,
// unless their queue is encrypted; then sealed, where there is a key.
func (s *Server) failedItems(ctx context.Context, r *spoolRecord) (items []failedItem) {
	encrypted := s.encrypted(ctx, queueKey{r.Tenant, r.Queue})
	for i := range r.Items {
		item := failedItem{r.Items[i].TransactionID, r.Items[i].Key, r.Items[i].Payload}
		switch {
		case !encrypted:
			item.Payload = s.unspooled(&r.Items[i])
		case !r.Items[i].Sealed && s.seals.current != nil:
			item.Payload = s.seals.current.seal(item.Payload)
		}
		items = append(items, item)
	}
	return items
}

// encrypted asks the database whether a queue is encrypted; it counts as that where
// there is no answer.
func (s *Server) encrypted(ctx context.Context, queue queueKey) bool {
	found := true
	err := s.ask(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.ListEncryptedQueues(ctx)
		found = slices.Contains(rows, db.EncryptedQueueRow{TenantID: queue.tenant, Queue: queue.queue})
		return err
	})
	return err != nil || found
}

// refuse writes down a record that the database refuses, before it is passed over.
func (s *spool) refuse(p *piece, cause error, items []failedItem) error {
	r, seen := p.records[0], dberr.From(cause)
	line := failedRecord{File: filepath.Base(p.file.path), Position: p.from, Spool: p.file.id, Code: seen.Code, Error: seen.Message,
		At: time.Now().UTC(), Tenant: r.Tenant, Queue: r.Queue, Partition: r.Partition, Items: items}
	out, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("set a record aside: %w", err)
	}
	folder := filepath.Join(s.dir, failedFolder)
	path := filepath.Join(folder, strings.TrimSuffix(line.File, spoolSuffix)+".ndjson")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("set a record aside: %w", err)
	}
	_, err = f.Write(append(out, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("set a record aside: %w", err)
	}
	return s.recount(folder)
}

// countFailed counts the messages of a file of refused records, each position
// once: a kill may have left a line twice.
func countFailed(path string) (messages int64) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".ndjson") {
		return 0
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<20)
	seen := map[string]bool{}
	for {
		text, err := lines.ReadBytes('\n')
		var line failedRecord
		if json.Unmarshal(text, &line) == nil {
			if key := fmt.Sprint(line.Spool, line.Position); !seen[key] {
				seen[key], messages = true, messages+int64(len(line.Items))
			}
		}
		if err != nil {
			return messages
		}
	}
}
