package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of ids and keys, in bytes, in step with the checks of the functions.
const (
	maxID  = 1<<16 - 1
	maxKey = 1 << 10
)

// scanner walks the body of one message-plane request once. Values come out as
// pieces of one copy of the body, so payload bytes are never built anew. Known
// names are exact and may appear once; others are skipped. It refuses what is no
// JSON text: invalid UTF-8 and lone surrogates too (F005). Its errors say where,
// and repeat nothing of the body (F023).
type scanner struct {
	text  string
	json  *jsontext.Decoder
	list  string // array that is being read, "" outside
	index int    // element of it
	field string // member that is being read, "" between members
}

// newScanner reads body, which must stay unchanged until the scan ends.
func newScanner(body []byte) *scanner {
	return &scanner{
		text: string(body),
		json: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)),
	}
}

// document reads the one object that the body must be.
func (s *scanner) document(member func(name string) error) error {
	if err := s.object(member); err != nil {
		return err
	}
	if _, err := s.json.ReadToken(); err == nil {
		return badRequest("bad body: something follows the document")
	} else if !errors.Is(err, io.EOF) {
		return s.broken(err)
	}
	return nil
}

// object calls member with each name; member reads or skips the value.
func (s *scanner) object(member func(name string) error) error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	for s.json.PeekKind() != '}' {
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
		s.field = ""
	}
	return s.next()
}

// array calls element with each index; element reads or skips the value.
func (s *scanner) array(name string, element func(index int) error) error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	s.list, s.index, s.field = name, 0, ""
	for ; s.json.PeekKind() != ']'; s.index++ {
		if err := element(s.index); err != nil {
			return err
		}
	}
	s.list = ""
	return s.next()
}

// nested reads an array inside an element of another one.
func (s *scanner) nested(name string, element func(index int) error) error {
	list, index := s.list, s.index
	err := s.array(list+"["+strconv.Itoa(index)+"]."+name, element)
	if err == nil {
		s.list, s.index, s.field = list, index, ""
	}
	return err
}

func (s *scanner) open(kind jsontext.Kind, what string) error {
	token, err := s.json.ReadToken()
	switch {
	case err != nil:
		return s.broken(err)
	case token.Kind() != kind && s.where() == "":
		return badRequest("bad body: it must be " + what)
	case token.Kind() != kind:
		return s.bad("must be " + what)
	}
	return nil
}

func (s *scanner) next() error {
	if _, err := s.json.ReadToken(); err != nil {
		return s.broken(err)
	}
	return nil
}

// name reads a member's name, and makes it the place of later errors only if it
// is a plain word: names of others' making may be content.
func (s *scanner) name() (string, error) {
	raw, err := s.json.ReadValue()
	if err != nil {
		return "", s.broken(err)
	}
	return s.unquote(raw)
}

// skip passes over a value.
func (s *scanner) skip() error {
	if err := s.json.SkipValue(); err != nil {
		return s.broken(err)
	}
	return nil
}

// raw reads a value of any kind and returns its text, exactly as sent.
func (s *scanner) raw() (string, error) {
	value, err := s.json.ReadValue()
	if err != nil {
		return "", s.broken(err)
	}
	end := s.json.InputOffset()
	return s.text[end-int64(len(value)) : end], nil
}

// textOrNull reads a string; null is the same as absent.
func (s *scanner) textOrNull() (text string, present bool, err error) {
	value, err := s.json.ReadValue()
	if err != nil {
		return "", false, s.broken(err)
	}
	switch value.Kind() {
	case 'n':
		return "", false, nil
	case '"':
		text, err = s.unquote(value)
		return text, err == nil, err
	}
	return "", false, s.bad("must be a string")
}

// unquote decodes a string, without a new one where nothing is escaped.
func (s *scanner) unquote(raw jsontext.Value) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		end := s.json.InputOffset()
		return s.text[end-int64(len(raw))+1 : end-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", s.broken(err)
	}
	return string(text), nil
}

// at names the member whose value is read next.
func (s *scanner) at(field string) { s.field = field }

// once refuses a member that was given before.
func (s *scanner) once(seen *bool, field string) error {
	s.at(field)
	if *seen {
		return s.bad("is given twice")
	}
	*seen = true
	return nil
}

// where renders the place that is being read: items[3].queue.
func (s *scanner) where() string {
	switch {
	case s.list == "":
		return s.field
	case s.field == "":
		return s.list + "[" + strconv.Itoa(s.index) + "]"
	}
	return s.list + "[" + strconv.Itoa(s.index) + "]." + s.field
}

// bad is a 400 about the place that is being read.
func (s *scanner) bad(reason string) *Error { return badField(s.where(), reason) }

// broken is a 400 about text that is no JSON.
func (s *scanner) broken(err error) *Error {
	reason, offset := "it is not JSON", s.json.InputOffset()
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		reason, offset = "unexpected end", int64(len(s.text))
	case errors.As(err, &syntax) && syntax.Err != nil:
		reason, offset = withoutQuote(syntax.Err.Error()), syntax.ByteOffset
	}
	text := fmt.Sprintf("bad body: %s, at byte %d", reason, offset)
	if where := s.where(); where != "" {
		text += " in " + where
	}
	return badRequest(text)
}

// withoutQuote leaves out what the parser quotes of the body: it may be payload,
// and errors end up in logs (F023).
func withoutQuote(reason string) string {
	first, last := strings.IndexByte(reason, '"'), strings.LastIndexByte(reason, '"')
	if first < last {
		reason = reason[:first] + strings.TrimPrefix(reason[last+1:], " ")
	}
	return clip(reason, 100)
}

// nameFault says what is wrong with a queue, partition or group name, "" if nothing.
func nameFault(name string) string {
	if fault := textFault(name); fault != "" {
		return fault
	}
	if len(name) > maxName && utf8.RuneCountInString(name) > maxName {
		return "is longer than 255 characters"
	}
	return ""
}

// idFault says what is wrong with a transaction id, "" if nothing.
func idFault(id string) string {
	if len(id) > maxID {
		return "is longer than 65535 bytes"
	}
	return textFault(id)
}

// textFault refuses what PostgreSQL cannot store or people cannot see (F004).
func textFault(text string) string {
	plain := true
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == 0x7f {
			return "holds a control character"
		} else if c >= utf8.RuneSelf {
			plain = false
		}
	}
	if !plain && !utf8.ValidString(text) {
		return "is not valid UTF-8"
	}
	return ""
}
