package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/theory/jsonpath"
)

const (
	maxLine         = 16 << 20 // bytes
	maxNameChars    = 255
	maxIDBytes      = 64<<10 - 1
	maxKeyBytes     = 1 << 10
	manyBrackets    = 9000 // fewer cannot be nested too deep for the server
	defaultPartName = "Default"
)

// line is one line of the input.
type line struct {
	no   int64  // from 1
	end  int64  // offset in the input behind its newline
	data []byte // without the newline; empty when it holds only white space
}

// badLine is a line that cannot become a message.
type badLine struct {
	no     int64
	reason string
}

func (e *badLine) Error() string { return fmt.Sprintf("line %d: %s", e.no, e.reason) }

// lineReader splits an input into lines. It may start behind the first lines.
type lineReader struct {
	r    *bufio.Reader
	last line
}

// newLineReader reads r, whose first byte is the one behind the line `after`.
func newLineReader(r io.Reader, after line) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<20), last: line{no: after.no, end: after.end}}
}

// next returns the next line, with a *badLine when it is too long, or io.EOF.
func (l *lineReader) next() (line, error) {
	data, length, err := l.read()
	if length == 0 && err != nil {
		return line{}, err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}
	l.last = line{no: l.last.no + 1, end: l.last.end + length}
	got := l.last
	if length > maxLine+1 {
		return got, &badLine{no: got.no, reason: fmt.Sprintf("longer than %s", formatSize(maxLine))}
	}
	got.data = bytes.TrimSpace(data)
	if got.no == 1 {
		got.data = bytes.TrimPrefix(got.data, []byte("\xef\xbb\xbf"))
	}
	return got, nil
}

// read takes one line off the input, and keeps no more of it than fits.
func (l *lineReader) read() (data []byte, length int64, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		length += int64(len(part))
		if length <= maxLine+1 {
			data = append(data, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, length, err
		}
	}
}

// interruptible reads r, and ends with ctx's error once ctx has ended, although r,
// as a terminal or a pipe, may give nothing for ever. It is read to its end.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		_ = in.CloseWithError(err)
		stop()
	}()
	return out
}

// itemMaker turns lines into messages.
type itemMaker struct {
	queue, partition    string
	partitionKey, idKey *jsonpath.Path
	key                 *jsonpath.Path // nil: no message has one
	idPrefix            string         // of the ids of lines when idKey is nil
}

// parsePath reads a JSONPath; a.b is short for $.a.b. Empty means none.
func parsePath(flag, path string) (*jsonpath.Path, error) {
	switch {
	case path == "":
		return nil, nil
	case strings.HasPrefix(path, "["):
		path = "$" + path
	case !strings.HasPrefix(path, "$"):
		path = "$." + path
	}
	p, err := jsonpath.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return p, nil
}

// item returns the message of a line, or a *badLine.
func (m itemMaker) item(l line) (pushItem, error) {
	if !utf8.Valid(l.data) {
		return pushItem{}, &badLine{no: l.no, reason: "not UTF-8"}
	}
	it := pushItem{Queue: m.queue, Partition: m.partition, Payload: l.data}
	if m.partitionKey == nil && m.idKey == nil && m.key == nil {
		if !json.Valid(l.data) {
			return pushItem{}, &badLine{no: l.no, reason: whyInvalid(l.data)}
		}
		it.TransactionID = m.lineID(l)
	} else if err := m.keys(l, &it); err != nil {
		return pushItem{}, err
	}
	if why := whyRefused(it); why != "" {
		return pushItem{}, &badLine{no: l.no, reason: why}
	}
	return it, nil
}

// whyRefused finds what Go's reader of JSON lets pass and the server's does not.
// The server would refuse the whole call, without the number of the line.
func whyRefused(it pushItem) string {
	valid := func(text []byte) bool { return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) }
	if bytes.Contains(it.Payload, []byte(`\u`)) && !valid(it.Payload) {
		return `not JSON: half of a surrogate pair, as in "\ud83d"`
	}
	if bytes.Count(it.Payload, []byte("["))+bytes.Count(it.Payload, []byte("{")) > manyBrackets && !valid(pushBody([]pushItem{it})) {
		return "nested too deep"
	}
	return ""
}

// lineID makes the transactionId of a line. The ids of a partition ascend, which
// the server need not look up: an id above all others is no repeat.
func (m itemMaker) lineID(l line) string { return fmt.Sprintf("%s:%012d", m.idPrefix, l.no) }

// keys fills in what comes from the payload.
func (m itemMaker) keys(l line, it *pushItem) (err error) {
	doc, err := decodeLine(l.data)
	if err != nil {
		return &badLine{no: l.no, reason: whyInvalid(l.data)}
	}
	it.TransactionID = m.lineID(l)
	if m.partitionKey != nil {
		it.Partition, err = scalarAt(m.partitionKey, doc)
		if err == nil {
			err = checkPartition(it.Partition)
		}
	}
	if err == nil && m.idKey != nil {
		it.TransactionID, err = scalarAt(m.idKey, doc)
		if err == nil {
			err = checkID(it.TransactionID)
		}
	}
	if err == nil && m.key != nil {
		it.Key, err = scalarAt(m.key, doc)
		if err == nil {
			err = checkKey(it.Key)
		}
	}
	if err != nil {
		return &badLine{no: l.no, reason: err.Error()}
	}
	return nil
}

// checkPartition refuses what the server would refuse for the whole call.
func checkPartition(name string) error {
	switch {
	case utf8.RuneCountInString(name) > maxNameChars:
		return fmt.Errorf("partition name is longer than %d characters", maxNameChars)
	case strings.ContainsFunc(name, isControl):
		return fmt.Errorf("partition name %q holds a control character", name)
	}
	return nil
}

// checkID refuses what the server would refuse for the whole call.
func checkID(id string) error {
	switch {
	case id == "", len(id) > maxIDBytes:
		return fmt.Errorf("the transactionId is empty or longer than %d bytes", maxIDBytes)
	case strings.ContainsFunc(id, isControl):
		return errors.New("the transactionId holds a control character")
	}
	return nil
}

// checkKey refuses what the server would refuse for the whole call, and the empty
// key, which would be none.
func checkKey(key string) error {
	switch {
	case key == "", len(key) > maxKeyBytes:
		return fmt.Errorf("the key is empty or longer than %d bytes", maxKeyBytes)
	case strings.ContainsFunc(key, isControl):
		return errors.New("the key holds a control character")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func decodeLine(data []byte) (doc any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the value")
	}
	return doc, nil
}

func whyInvalid(data []byte) string {
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		return "not JSON: " + err.Error()
	}
	return "not JSON"
}

// scalarAt returns the one string, number or boolean at a path as text.
func scalarAt(path *jsonpath.Path, doc any) (string, error) {
	found := path.Select(doc)
	switch len(found) {
	case 0:
		return "", fmt.Errorf("nothing at %s", path)
	case 1:
	default:
		return "", fmt.Errorf("%d values at %s, want one", len(found), path)
	}
	switch v := found[0].(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("the value at %s is not a string, a number or a boolean", path)
}
