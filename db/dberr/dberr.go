// Package dberr owns the one mapping from errors of the database to what
// Regent's users see: a kind, an HTTP status, an exit code, and whether trying
// again can help. The stored functions raise QNxxx codes; everything else is
// judged by its SQLSTATE or Go type.
//
// It must never look at message text, and never let the text of an unexpected
// error, or of a lost connection, into what a client is shown.
package dberr

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// Kinds of errors. Use errors.Is on any error that came from the database,
// wrapped or not, after From.
var (
	ErrInvalid     = errors.New("invalid argument")         // QN400, SQLSTATE class 22
	ErrDenied      = errors.New("not allowed")              // QN403
	ErrNotFound    = errors.New("not found")                // QN404
	ErrConflict    = errors.New("conflict")                 // QN409
	ErrDuplicate   = errors.New("duplicate")                // 23505 raised by a function, not by a constraint
	ErrTooLarge    = errors.New("too large")                // QN413
	ErrLimited     = errors.New("over quota")               // QN429
	ErrUnavailable = errors.New("not available now")        // QN503, database away, full or read-only
	ErrRetry       = errors.New("collision, try it again")  // serialization, deadlock, lock timeout
	errFault       = errors.New("fault inside the service") // anything else
)

// Error is an error of the database in Regent's terms. The original error stays
// in the chain.
type Error struct {
	Code    string // QNxxx or the SQLSTATE; "" when the database never answered
	Message string // fit for a client
	Detail  string // fit for a client; "" unless the functions or class 22 gave one
	Hint    string // as Detail
	Field   string // the argument or option at fault, "" when unknown

	kind  error
	cause error
}

// Error returns the client's message.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is this error's kind.
func (e *Error) Is(target error) bool { return target == e.kind }

// Unwrap returns the original error, for logs.
func (e *Error) Unwrap() error { return e.cause }

// outcome is all that the outside sees of a kind.
type outcome struct {
	status int
	exit   int
	retry  bool
}

func (e *Error) outcome() outcome {
	switch e.kind {
	case ErrInvalid:
		return outcome{http.StatusBadRequest, 1, false}
	case ErrDenied:
		return outcome{http.StatusForbidden, 3, false}
	case ErrNotFound:
		return outcome{http.StatusNotFound, 1, false}
	case ErrConflict, ErrDuplicate:
		return outcome{http.StatusConflict, 1, false}
	case ErrTooLarge:
		return outcome{http.StatusRequestEntityTooLarge, 1, false}
	case ErrLimited:
		return outcome{http.StatusTooManyRequests, 2, true}
	case ErrUnavailable, ErrRetry:
		return outcome{http.StatusServiceUnavailable, 2, true}
	}
	return outcome{http.StatusInternalServerError, 2, false}
}

// From translates any error. It returns nil for nil: compare the *Error itself
// with nil before it becomes an error value.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fromPg(pg, err)
	}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return &Error{Message: err.Error(), kind: kind, cause: err}
		}
	}
	if away(err) {
		return &Error{Message: "the database is not available", kind: ErrUnavailable, cause: err}
	}
	return &Error{Message: "internal error", kind: errFault, cause: err}
}

var kinds = []error{ErrInvalid, ErrDenied, ErrNotFound, ErrConflict, ErrDuplicate, ErrTooLarge, ErrLimited, ErrUnavailable, ErrRetry}

// fromPg maps an answer of PostgreSQL. A server that refuses the login has not
// run anything, whatever its code says.
func fromPg(pg *pgconn.PgError, cause error) *Error {
	e := &Error{Code: pg.Code, kind: kindOf(pg.Code), cause: cause}
	var connect *pgconn.ConnectError
	if errors.As(cause, &connect) {
		e.kind = ErrUnavailable
	}
	duplicate := pg.Code == "23505" && pg.ConstraintName == ""
	if duplicate {
		e.kind = ErrDuplicate
	}
	switch {
	case duplicate, spoken(pg.Code):
		e.Message, e.Detail, e.Hint, e.Field = pg.Message, pg.Detail, pg.Hint, pg.ColumnName
	case e.kind == ErrUnavailable:
		e.Message = "the database is not available"
	case e.kind == ErrRetry:
		e.Message = "another call was in the way, try it again"
	default:
		e.Message = "internal error"
	}
	return e
}

// spoken says whether PostgreSQL's own words are about the caller's input.
func spoken(code string) bool {
	return len(code) == 5 && (code[:2] == "QN" || code[:2] == "22")
}

var byCode = map[string]error{
	"QN400": ErrInvalid,
	"QN403": ErrDenied,
	"QN404": ErrNotFound,
	"QN409": ErrConflict,
	"QN413": ErrTooLarge,
	"QN429": ErrLimited,
	"QN503": ErrUnavailable,
	"40001": ErrRetry,       // serialization_failure
	"40P01": ErrRetry,       // deadlock_detected
	"55P03": ErrRetry,       // lock_not_available
	"57014": ErrUnavailable, // query_canceled: statement_timeout
	"25006": ErrUnavailable, // read_only_sql_transaction: a standby
}

func kindOf(code string) error {
	if kind, ok := byCode[code]; ok {
		return kind
	}
	if len(code) != 5 {
		return errFault
	}
	switch {
	case code[:2] == "22":
		return ErrInvalid
	case code[:2] == "08", code[:2] == "53", code[:4] == "57P0":
		return ErrUnavailable
	}
	return errFault
}

// away recognises errors of the way to the database: network, pool, deadline.
func away(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	case errors.Is(err, puddle.ErrClosedPool), errors.Is(err, puddle.ErrNotAvailable):
		return true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return true
	}
	return pgconn.SafeToRetry(err)
}

// HTTPStatus is the status of an answer that failed with err, 200 for nil. For
// 429 and 503 the answer also needs Retry-After.
func HTTPStatus(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return From(err).outcome().status
}

// Retryable reports whether the same call may succeed later. It does not promise
// that the failed call did nothing: a lost connection leaves that open.
func Retryable(err error) bool {
	return err != nil && From(err).outcome().retry
}

// ExitCode is the exit code of a command that ends with err: 0 for nil, what an
// ExitCode method in the chain says, else that of the kind.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var own interface{ ExitCode() int }
	if errors.As(err, &own) {
		return own.ExitCode()
	}
	return From(err).outcome().exit
}

// CutOff reports whether a connection ended under a call, so that nobody knows
// whether the call was done. What only reads may be repeated.
func CutOff(err error) bool {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network *net.OpError
	switch {
	case err == nil, errors.As(err, &connect):
		return false
	case errors.As(err, &pg):
		return len(pg.Code) == 5 && pg.Code[:4] == "57P0"
	case errors.As(err, &network):
		return !network.Timeout()
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// StalePlan reports whether a prepared statement met a function or table that
// has changed under it. PostgreSQL has run nothing; the caller repeats the call
// once at once, and the driver prepares anew.
func StalePlan(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "0A000" || pg.Code == "26000")
}

// Unknown reports whether a call that failed with err, after it was sent, may
// have been committed all the same: the connection was lost before the answer.
// PostgreSQL's word that a statement failed leaves no doubt; that the session
// ended does.
func Unknown(err error) bool {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil, pgconn.SafeToRetry(err), errors.As(err, &connect):
		return false
	case errors.As(err, &pg):
		return pg.SeverityUnlocalized == "FATAL" || pg.SeverityUnlocalized == "PANIC"
	}
	return true
}
