package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"regent.local/regent/db/dberr"
)

// heldFolder is the folder of records that only a key lets through: those of a
// queue that was encrypted when they were replayed, on a server without a usable
// key, and those sealed under a key that is gone. Each is a spool file of its
// own, named by the file and the position that it came from. Every start tries
// them again, before all else.
const heldFolder = "held"

// place is where a record stood in the spool.
type place struct {
	id       uuid.UUID
	file, at int64
}

// wantsKey reports whether a refused record will go through once the server is
// started with the right key.
func (s *Server) wantsKey(err error) bool {
	return errors.Is(err, errLostKey) || s.seals.current == nil && dberr.From(err).Code == "QN409"
}

// holdRecord keeps the only record of a piece aside until the next start: it is
// neither lost, nor stored as plaintext, nor in the way of others.
func (s *Server) holdRecord(ctx context.Context, p *piece, cause error) error {
	if p.file.kept {
		s.spool.leave(p.file)
		return nil
	}
	s.log.Error("a spooled push needs an encryption key that this server does not have, it is held until a start with the key",
		"file", p.file.path, "position", p.from, "error", clip(cause.Error(), 300))
	if err := s.spool.keep(p); err != nil {
		return err
	}
	return s.replayAll(ctx, p, nil)
}

// keep writes the only record of a piece into a file of its own, before it is
// passed over. After a crash in between it is found there and passed over then.
func (s *spool) keep(p *piece) error {
	at := place{p.file.id, p.file.number, p.starts[0]}
	out, err := p.records[0].encode([]byte(spoolMagic + at.id.String() + "\n"))
	if err != nil {
		return err
	}
	folder := filepath.Join(s.dir, heldFolder)
	path := filepath.Join(folder, fmt.Sprintf("%012d-%012d%s", at.file, at.at, spoolSuffix))
	if err := errors.Join(writeSynced(path+newSuffix, out), os.Rename(path+newSuffix, path), syncDir(folder)); err != nil {
		return fmt.Errorf("hold a record: %w", err)
	}
	s.kept[at] = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += int64(len(p.records[0].Items))
	s.bytes += int64(len(out))
	return nil
}

func writeSynced(path string, out []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(out)
	return errors.Join(err, f.Sync(), f.Close())
}

// leave stops to replay a file of one held record; it stays for the next start.
func (s *spool) leave(file *spoolFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = s.files[1:]
	s.held += file.messages - file.done
	s.older--
	s.tellChanged()
}

// origin reports whether the record of a kept file still stands in the file that
// it came from.
func (s *spool) origin(kept *spoolFile) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.files, func(f *spoolFile) bool {
		return !f.kept && f.id == kept.id && f.number == -kept.number>>32
	})
}

// clearHeld removes what said of records that they are to be passed over in a
// file, which is gone.
func (s *spool) clearHeld(file *spoolFile) error {
	folder := filepath.Join(s.dir, heldFolder)
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), fmt.Sprintf("%012d-", file.number)) && strings.HasSuffix(entry.Name(), spoolSuffix+doneSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

// loadHeld takes over the records that earlier processes held. Their numbers are
// not used again, so that a place means one record for ever.
func (s *spool) loadHeld() error {
	folder := filepath.Join(s.dir, heldFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), newSuffix) { // its record still stands where it was
			if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
			continue
		}
		name, ours := strings.CutSuffix(strings.TrimSuffix(entry.Name(), doneSuffix), spoolSuffix)
		first, second, _ := strings.Cut(name, "-")
		number, err := strconv.ParseInt(first, 10, 32)
		at, err2 := strconv.ParseInt(second, 10, 32)
		if err = errors.Join(err, err2); err != nil || !ours {
			continue
		}
		s.last = max(s.last, number)
		path := filepath.Join(folder, entry.Name())
		if !strings.HasSuffix(path, doneSuffix) && !heldWhole(path) {
			// It was synced before it had its name, so this is no crash. Its record may still stand where it was.
			s.log.Error("a held record is damaged, it was set aside", "file", path)
			if err := s.setAside(&spoolFile{path: path}); err != nil {
				return err
			}
			continue
		}
		before := len(s.files)
		// Numbers of its own in the database: negative ones, which no other file has.
		if err := s.adopt(path, -(number<<32 | at)); err != nil {
			return err
		}
		for _, file := range s.files[before:] {
			file.kept = true
			s.kept[place{file.id, number, at}] = true
		}
	}
	return nil
}

// heldWhole reports whether a file is one whole record.
func heldWhole(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < preambleLen {
		return false
	}
	_, end, err := readRecord(f, preambleLen, info.Size())
	return err == nil && end == info.Size()
}
