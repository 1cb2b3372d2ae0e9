package api

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// maxSpoolFile is the size at which the next spool file is begun.
const maxSpoolFile = 64 << 20

// Names in the folder of a spool.
const (
	spoolSuffix  = ".spool"
	doneSuffix   = ".done"
	newSuffix    = ".new"
	failedFolder = "failed"
)

// spool keeps pushes in a folder until the database takes them. What add has
// returned for survives any crash. One process at a time owns the folder; only
// one goroutine may drain.
type spool struct {
	dir      string
	id       uuid.UUID // of the files that this process writes
	lock     *os.File
	maxBytes int64 // 0 is no limit
	perFile  int   // messages
	log      *slog.Logger

	mu      sync.Mutex
	queue   []*spoolWrite // waits for the writer
	writing bool
	files   []*spoolFile // oldest first
	active  *os.File     // the last of files, while it is written
	last    int64        // number of the newest file
	bytes   int64
	lanes   map[laneKey]int // records of this process, by lane
	older   int             // files of earlier processes; their lanes are not known
	changed chan struct{}   // closed, and made anew, when something was replayed
	fault   error           // of the last write; nil when it went well
	failed  failedStats
	held    int64 // messages that wait for a start with another key
	closed  bool

	kept map[place]bool // drain: records that have a file of their own in heldFolder
}

// failedStats counts what was set aside.
type failedStats struct {
	messages, files, bytes int64
}

// spoolFile is one file. Its fields belong to the spool's lock, but for those of
// the drain.
type spoolFile struct {
	id       uuid.UUID
	number   int64
	path     string
	size     int64 // durable
	messages int64
	done     int64 // messages that were replayed
	older    bool  // of an earlier process
	kept     bool  // one held record
	position int64 // drain: what is before it was replayed
	placed   bool  // drain: the database was asked where it stands
	damaged  bool  // drain: something in it could not be read
	single   int64 // drain: up to here records go one by one
	tries    int   // drain: of the record at position
}

type spoolWrite struct {
	records []*spoolRecord
	done    chan error
}

var errSpoolFull = errors.New("the spool is full")

// openSpool takes over a folder, with what an earlier process left in it.
func openSpool(cfg Config, log *slog.Logger) (*spool, error) {
	s := &spool{dir: cfg.BufferDir, id: uuid.New(), maxBytes: cfg.BufferMaxBytes, perFile: cfg.BufferEvents, log: log,
		lanes: map[laneKey]int{}, changed: make(chan struct{}), kept: map[place]bool{}}
	if err := s.open(); err != nil {
		if s.lock != nil {
			s.lock.Close()
		}
		return nil, fmt.Errorf("open the spool in FILE_BUFFER_DIR %s: %w", s.dir, err)
	}
	return s, nil
}

func (s *spool) open() error {
	if err := os.MkdirAll(filepath.Join(s.dir, failedFolder), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.lock = lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another server uses this folder: %w", err)
	}
	if err := s.load(); err != nil {
		return err
	}
	s.failed.count(filepath.Join(s.dir, failedFolder))
	return syncDir(s.dir)
}

// load finds the files of earlier processes.
func (s *spool) load() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, ours := strings.CutSuffix(strings.TrimSuffix(entry.Name(), doneSuffix), spoolSuffix)
		number, err := strconv.ParseInt(name, 10, 64)
		if err != nil || !ours {
			continue
		}
		s.last = max(s.last, number)
		if err := s.adopt(filepath.Join(s.dir, entry.Name()), number); err != nil {
			return err
		}
	}
	if err := s.loadHeld(); err != nil {
		return err
	}
	if err := s.passFailed(); err != nil {
		return err
	}
	slices.SortFunc(s.files, func(a, b *spoolFile) int {
		if a.kept && b.kept {
			return cmp.Compare(b.number, a.number) // they are negative
		}
		return cmp.Compare(a.number, b.number)
	})
	return nil
}

// passFailed leaves out the numbers of files that were set aside.
func (s *spool) passFailed() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, failedFolder))
	for _, entry := range entries {
		digits := entry.Name()[:len(entry.Name())-len(strings.TrimLeft(entry.Name(), "0123456789"))]
		if number, err := strconv.ParseInt(digits, 10, 32); err == nil {
			s.last = max(s.last, number)
		}
	}
	return err
}

// adopt takes over one file. One that has not even its first line was begun and
// never answered for.
func (s *spool) adopt(path string, number int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file := &spoolFile{number: number, path: path, size: info.Size(), older: true}
	if file.size < preambleLen || blank(f, 0, file.size) {
		return os.Remove(path)
	}
	preamble := make([]byte, preambleLen)
	if _, err := f.ReadAt(preamble, 0); err != nil {
		return err
	}
	if id, found := strings.CutPrefix(string(preamble[:preambleLen-1]), spoolMagic); found {
		file.id, err = uuid.Parse(id)
	}
	if file.id == uuid.Nil || err != nil || preamble[preambleLen-1] != '\n' {
		s.log.Error("a spool file is not one, it was set aside", "file", path)
		return s.setAside(file)
	}
	if strings.HasSuffix(path, doneSuffix) {
		file.position = file.size
	} else {
		file.messages = countMessages(f, preambleLen, file.size)
	}
	s.files, s.bytes, s.older = append(s.files, file), s.bytes+file.size, s.older+1
	return nil
}

// countMessages counts what the heads of the records in a part of a file say.
func countMessages(f *os.File, from, to int64) (messages int64) {
	for from < to {
		h, err := readHead(f, from, to)
		if err != nil {
			next, more := nextRecord(f, from, to)
			if !more {
				return messages
			}
			from = next
			continue
		}
		messages += h.items
		from += h.size()
	}
	return messages
}

// close gives the folder back. Nothing may be added afterwards.
func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.active != nil {
		err = s.active.Close()
		s.active = nil
	}
	return errors.Join(err, s.lock.Close())
}

// add writes records, in order, and returns when they are on the disk: all of
// them, or none with an error. Writers that come together share a sync.
func (s *spool) add(records []*spoolRecord) error {
	w := &spoolWrite{records: records, done: make(chan error, 1)}
	s.mu.Lock()
	s.queue = append(s.queue, w)
	if !s.writing {
		s.writing = true
		for len(s.queue) > 0 {
			writes := s.queue
			s.queue = nil
			s.mu.Unlock()
			s.write(writes)
			s.mu.Lock()
		}
		s.writing = false
	}
	s.mu.Unlock()
	return <-w.done
}

// write puts what fits behind the active file, syncs it once, and tells all.
func (s *spool) write(writes []*spoolWrite) {
	var out []byte
	var taken []*spoolWrite
	messages := int64(0)
	for _, w := range writes {
		before := len(out)
		var err error
		for _, r := range w.records {
			if out, err = r.encode(out); err != nil {
				break
			}
			messages += int64(len(r.Items))
		}
		if err == nil && s.full(int64(len(out))) {
			err = errSpoolFull
		}
		if err != nil {
			out = out[:before]
			s.tell([]*spoolWrite{w}, err)
			continue
		}
		taken = append(taken, w)
	}
	if len(taken) > 0 {
		s.tell(taken, s.writeOut(out, taken))
	}
}

func (s *spool) full(more int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxBytes > 0 && s.bytes+more > s.maxBytes
}

func (s *spool) tell(writes []*spoolWrite, err error) {
	s.mu.Lock()
	if s.fault == nil && err != nil {
		s.log.Error("the spool takes no messages", "folder", s.dir, "error", err)
	}
	s.fault = err
	s.mu.Unlock()
	for _, w := range writes {
		w.done <- err
	}
}

// writeOut appends bytes to the active file. What it could not write whole is cut
// off again; if that fails, too, the file is left alone from then on.
func (s *spool) writeOut(out []byte, writes []*spoolWrite) error {
	file, err := s.current()
	if err != nil {
		return err
	}
	if _, err = s.active.WriteAt(out, file.size); err == nil {
		err = s.active.Sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		cut := errors.Join(s.active.Truncate(file.size), s.active.Sync())
		s.retire()
		return errors.Join(fmt.Errorf("write to the spool: %w", err), cut)
	}
	file.size += int64(len(out))
	s.bytes += int64(len(out))
	for _, w := range writes {
		for _, r := range w.records {
			s.lanes[r.lane()]++
			file.messages += int64(len(r.Items))
		}
	}
	return nil
}

// current is the file to write to; it begins the next one where needed.
func (s *spool) current() (*spoolFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the spool is closed")
	}
	if s.active != nil {
		file := s.files[len(s.files)-1]
		if file.messages < int64(s.perFile) && file.size < maxSpoolFile {
			return file, nil
		}
		s.retire()
	}
	return s.begin()
}

// retire ends the active file; the caller holds the lock. Whatever was answered
// for is synced already.
func (s *spool) retire() {
	if s.active != nil {
		_ = s.active.Close()
		s.active = nil
	}
}

// begin makes a new file; the caller holds the lock.
func (s *spool) begin() (*spoolFile, error) {
	number := s.last + 1
	path := filepath.Join(s.dir, fmt.Sprintf("%012d%s", number, spoolSuffix))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin a spool file: %w", err)
	}
	if _, err = f.WriteString(spoolMagic + s.id.String() + "\n"); err == nil {
		err = errors.Join(f.Sync(), syncDir(s.dir))
	}
	if err != nil {
		f.Close()
		return nil, errors.Join(fmt.Errorf("begin a spool file: %w", err), os.Remove(path))
	}
	s.last, s.active = number, f
	s.files = append(s.files, &spoolFile{id: s.id, number: number, path: path, size: preambleLen})
	s.bytes += preambleLen
	return s.files[len(s.files)-1], nil
}

// backlog reports whether something of a lane waits, or may wait.
func (s *spool) backlog(key laneKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.older > 0 || s.lanes[key] > 0
}

// await waits until nothing of a lane waits, and reports false when that took
// too long.
func (s *spool) await(key laneKey, patience time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if !s.backlog(key) {
			return true
		}
		select {
		case <-changed:
		case <-stop:
			return false
		case <-timer.C:
			return false
		}
	}
}

// BufferStats is what /api/v1/system/maintenance says about the spool.
type BufferStats struct {
	PendingCount int64       `json:"pendingCount" doc:"Messages that wait in this server's spool."`
	FailedCount  int64       `json:"failedCount" doc:"Messages that the database refused for good; they are kept in failedFiles."`
	DBHealthy    bool        `json:"dbHealthy" doc:"Whether the last call of the database went through."`
	FailedFiles  FailedFiles `json:"failedFiles"`
}

// FailedFiles tells about the folder "failed" of the spool.
type FailedFiles struct {
	Count         int64   `json:"count"`
	TotalBytes    int64   `json:"totalBytes"`
	TotalMB       float64 `json:"totalMB"`
	FailoverCount int64   `json:"failoverCount"`
	QoS0Count     int64   `json:"qos0Count"`
}

func (s *spool) stats() (stats BufferStats, healthy bool) {
	if s == nil {
		return stats, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.files {
		stats.PendingCount += file.messages - file.done
	}
	stats.PendingCount += s.held
	stats.FailedCount = s.failed.messages
	stats.FailedFiles = FailedFiles{Count: s.failed.files, TotalBytes: s.failed.bytes, TotalMB: float64(s.failed.bytes) / (1 << 20), FailoverCount: s.failed.files}
	return stats, s.fault == nil
}

// count takes stock of the folder of what was set aside.
func (f *failedStats) count(folder string) {
	*f = failedStats{}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			f.files, f.bytes = f.files+1, f.bytes+info.Size()
		}
		f.messages += countFailed(path)
		return nil
	})
}
