package api

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// A spool file is a line that names the spool, then records. A record is a line
// head of fixed length, a JSON object and a line feed:
//
//	Q1 <length> <messages> <checksum of the object> <checksum of the head>\n
//
// in eight hexadecimal digits each. Both checksums are CRC-32C. The head has its
// own, so that a record that ends early is told from one that was damaged.
const (
	spoolMagic  = "REGENT-SPOOL 1 "
	preambleLen = int64(len(spoolMagic)) + 36 + 1
	headMagic   = "Q1 "
	headLen     = int64(len(headMagic)) + 4*9
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// spoolRecord is what one request had for one partition.
type spoolRecord struct {
	Tenant    uuid.UUID   `json:"tenant"`
	Queue     string      `json:"queue"`
	Partition string      `json:"partition"`
	Items     []spoolItem `json:"items"`
	Doubt     *spoolDoubt `json:"doubt,omitempty"`
}

// spoolItem is one message; the payload is its JSON text, or the envelope of it
// where the server has a key.
type spoolItem struct {
	TransactionID string  `json:"transactionId"`
	Minted        bool    `json:"minted,omitempty"` // the client gave no id
	Key           *string `json:"key,omitempty"`
	Producer      *string `json:"producer,omitempty"`
	Sealed        bool    `json:"sealed,omitempty"`
	Payload       string  `json:"payload"`
}

// spoolDoubt says that the record may be in the log already.
type spoolDoubt struct {
	Nonce   int64     `json:"nonce"`
	PID     uint32    `json:"pid"`
	Started time.Time `json:"started"`
}

func (r *spoolRecord) lane() laneKey {
	return laneKey{tenant: r.Tenant, queue: r.Queue, name: r.Partition}
}

// size is about what the record weighs in a call.
func (r *spoolRecord) size() (bytes int) {
	for i := range r.Items {
		bytes += len(r.Items[i].Payload) + len(r.Items[i].TransactionID) + itemOverhead
	}
	return bytes
}

// encode appends the record to a buffer.
func (r *spoolRecord) encode(out []byte) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return out, fmt.Errorf("encode a spool record: %w", err)
	}
	head := fmt.Sprintf("%s%08x %08x %08x ", headMagic, len(body), len(r.Items), crc32.Checksum(body, castagnoli))
	out = append(out, head...)
	out = fmt.Appendf(out, "%08x\n", crc32.Checksum([]byte(head), castagnoli))
	return append(append(out, body...), '\n'), nil
}

// recordHead is the fixed start of a record.
type recordHead struct {
	length, items int64
	sum           uint32
}

func (h recordHead) size() int64 { return headLen + h.length + 1 }

var (
	errTorn    = errors.New("the record ends early")
	errDamaged = errors.New("the record is damaged")
)

// readHead reads the head at an offset of a file that has the given size.
func readHead(file io.ReaderAt, at, size int64) (h recordHead, err error) {
	raw := make([]byte, headLen)
	if size-at < headLen {
		return h, errTorn
	}
	if _, err := file.ReadAt(raw, at); err != nil {
		return h, fmt.Errorf("read the spool: %w", err)
	}
	var numbers [4]uint64
	if string(raw[:len(headMagic)]) != headMagic || raw[headLen-1] != '\n' {
		return h, errDamaged
	}
	for i := range numbers {
		from := len(headMagic) + 9*i
		if numbers[i], err = strconv.ParseUint(string(raw[from:from+8]), 16, 32); err != nil {
			return h, errDamaged
		}
	}
	if crc32.Checksum(raw[:headLen-9], castagnoli) != uint32(numbers[3]) {
		return h, errDamaged
	}
	h = recordHead{int64(numbers[0]), int64(numbers[1]), uint32(numbers[2])}
	if at+h.size() > size {
		return h, errTorn
	}
	return h, nil
}

// readRecord reads the record at an offset, and where it ends.
func readRecord(file io.ReaderAt, at, size int64) (*spoolRecord, int64, error) {
	h, err := readHead(file, at, size)
	if err != nil {
		return nil, at, err
	}
	body := make([]byte, h.length+1)
	if _, err := file.ReadAt(body, at+headLen); err != nil {
		return nil, at, fmt.Errorf("read the spool: %w", err)
	}
	r := &spoolRecord{}
	if body[h.length] != '\n' || crc32.Checksum(body[:h.length], castagnoli) != h.sum || json.Unmarshal(body[:h.length], r) != nil {
		return nil, at, errDamaged
	}
	return r, at + h.size(), nil
}

// nextRecord finds the first whole record after a bad one, if there is any.
func nextRecord(file io.ReaderAt, at, size int64) (int64, bool) {
	const window = 1 << 20
	mark := []byte("\n" + headMagic)
	for from := at; from < size; from += window {
		chunk := make([]byte, min(window+int64(len(mark)), size-from))
		if _, err := file.ReadAt(chunk, from); err != nil {
			return 0, false
		}
		for offset := 0; ; {
			k := bytes.Index(chunk[offset:], mark)
			if k < 0 {
				break
			}
			offset += k + 1
			if _, _, err := readRecord(file, from+int64(offset), size); err == nil {
				return from + int64(offset), true
			}
		}
	}
	return 0, false
}

// blank reports whether the rest of the file is zeros: what a crash leaves of a
// file that grew without its bytes.
func blank(file io.ReaderAt, at, size int64) bool {
	chunk := make([]byte, 64<<10)
	for ; at < size; at += int64(len(chunk)) {
		part := chunk[:min(int64(len(chunk)), size-at)]
		if _, err := file.ReadAt(part, at); err != nil || len(bytes.Trim(part, "\x00")) > 0 {
			return false
		}
	}
	return true
}

// syncDir makes the names in a folder survive a crash.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the folder of the spool: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync the folder of the spool: %w", err)
	}
	return nil
}
