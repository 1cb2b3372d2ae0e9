package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db/dberr"
)

// Error is the body of every answer that failed.
type Error struct {
	Text      string `json:"error" doc:"What went wrong, for people. Never repeats what was sent." example:"items[3].queue is longer than 255 characters"`
	Code      string `json:"code" doc:"What went wrong, for programs: QNxxx, an SQLSTATE, or a word." example:"QN400"`
	Retryable bool   `json:"retryable" doc:"Whether the same call may succeed later."`
	Invalid   string `json:"invalid,omitempty" doc:"The option or argument at fault, where one is known."`

	status     int
	retryAfter int // seconds, where they are not one
}

// Error is the text shown to the client.
func (e *Error) Error() string { return e.Text }

// GetStatus is the HTTP status.
func (e *Error) GetStatus() int { return e.status }

// GetHeaders adds Retry-After where the client should come back.
func (e *Error) GetHeaders() http.Header {
	if e.status == http.StatusServiceUnavailable || e.status == http.StatusTooManyRequests {
		return http.Header{"Retry-After": {strconv.Itoa(max(e.retryAfter, 1))}}
	}
	if e.status == http.StatusUnauthorized {
		return http.Header{"Www-Authenticate": {"Bearer"}}
	}
	return nil
}

// Huma keeps its error constructor and the nullability of arrays in globals.
// They are set before any document is built and never again.
func init() {
	huma.NewError = func(status int, text string, causes ...error) huma.StatusError {
		return fromHuma(status, text, causes)
	}
	huma.DefaultArrayNullable = false
}

// newError makes an answer; code "" is the usual one of the status.
func newError(status int, code, text string) *Error {
	if code == "" {
		code = codeOf(status)
	}
	return &Error{Text: text, Code: code, Retryable: status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests, status: status}
}

// badRequest is a 400 whose text names the field at fault and never its value.
func badRequest(text string) *Error { return newError(http.StatusBadRequest, "", text) }

// badField is a 400 about one argument.
func badField(field, reason string) *Error {
	e := badRequest(field + " " + reason)
	e.Invalid = field
	return e
}

func codeOf(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "QN400"
	case http.StatusUnauthorized:
		return "QN401"
	case http.StatusForbidden:
		return "QN403"
	case http.StatusNotFound:
		return "QN404"
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusRequestTimeout:
		return "request_timeout"
	case http.StatusConflict:
		return "QN409"
	case http.StatusRequestEntityTooLarge:
		return "QN413"
	case http.StatusTooManyRequests:
		return "QN429"
	case http.StatusServiceUnavailable:
		return "QN503"
	}
	return "internal"
}

// fromHuma gives the framework's own refusals our shape and statuses: what it
// calls 422 is a 400 here, and values that it attaches are left out (F023).
func fromHuma(status int, text string, causes []error) *Error {
	switch {
	case status == http.StatusUnprocessableEntity, status == http.StatusUnsupportedMediaType:
		status = http.StatusBadRequest
	case text == "cannot read request body":
		return badRequest("bad body: it ended early")
	case status == http.StatusRequestEntityTooLarge:
		return newError(status, "", "the request body is too large")
	case status == http.StatusInternalServerError:
		return newError(status, "", "internal error")
	}
	e := newError(status, "", text)
	if len(causes) > 0 {
		e.Text, e.Invalid = describe(causes[0])
	}
	return e
}

// describe words the first of the framework's findings.
func describe(cause error) (text, field string) {
	var detailer huma.ErrorDetailer
	if !errors.As(cause, &detailer) {
		return clip(cause.Error(), 200), ""
	}
	detail := detailer.ErrorDetail()
	reason := clip(strings.TrimPrefix(detail.Message, "jsontext: "), 200)
	if detail.Location == "body" || detail.Location == "" {
		return "bad body: " + reason, ""
	}
	_, field, _ = strings.Cut(detail.Location, ".")
	return clip(field, 100) + ": " + reason, clip(field, 100)
}

// clip cuts text to at most n bytes, at a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "..."
}

// fail turns an error of a call into the answer, and logs what is our fault or
// the database's. what names the call, in the log only.
func (s *Server) fail(ctx context.Context, what string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	seen := dberr.From(err)
	status := dberr.HTTPStatus(err)
	if status >= http.StatusInternalServerError && ctx.Err() == nil {
		s.log.WarnContext(ctx, "call failed", "call", what, "status", status, "code", seen.Code, "error", clip(err.Error(), 300))
	}
	code := seen.Code
	if code == "" {
		code = codeOf(status)
	}
	return &Error{Text: seen.Message, Code: code, Retryable: dberr.Retryable(err), Invalid: seen.Field, status: status}
}
