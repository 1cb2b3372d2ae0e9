package dberr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dberr"
)

func pg(code string) error {
	return fmt.Errorf("push to %q: %w", "orders", &pgconn.PgError{
		Code: code, Message: "the message", Detail: "the detail", Hint: "the hint", ColumnName: "the field"})
}

func TestMapping(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		err    error
		kind   error // nil: fault
		code   string
		status int
		exit   int
		retry  bool
	}{
		{"argument", pg("QN400"), dberr.ErrInvalid, "QN400", 400, 1, false},
		{"denied", pg("QN403"), dberr.ErrDenied, "QN403", 403, 3, false},
		{"absent", pg("QN404"), dberr.ErrNotFound, "QN404", 404, 1, false},
		{"conflict", pg("QN409"), dberr.ErrConflict, "QN409", 409, 1, false},
		{"large", pg("QN413"), dberr.ErrTooLarge, "QN413", 413, 1, false},
		{"quota", pg("QN429"), dberr.ErrLimited, "QN429", 429, 2, true},
		{"maintenance", pg("QN503"), dberr.ErrUnavailable, "QN503", 503, 2, true},
		{"unknown own code", pg("QN999"), nil, "QN999", 500, 2, false},
		{"serialization", pg("40001"), dberr.ErrRetry, "40001", 503, 2, true},
		{"deadlock", pg("40P01"), dberr.ErrRetry, "40P01", 503, 2, true},
		{"lock timeout", pg("55P03"), dberr.ErrRetry, "55P03", 503, 2, true},
		{"connection failure", pg("08006"), dberr.ErrUnavailable, "08006", 503, 2, true},
		{"disk full", pg("53100"), dberr.ErrUnavailable, "53100", 503, 2, true},
		{"too many connections", pg("53300"), dberr.ErrUnavailable, "53300", 503, 2, true},
		{"admin shutdown", pg("57P01"), dberr.ErrUnavailable, "57P01", 503, 2, true},
		{"starting up", pg("57P03"), dberr.ErrUnavailable, "57P03", 503, 2, true},
		{"statement timeout", pg("57014"), dberr.ErrUnavailable, "57014", 503, 2, true},
		{"standby", pg("25006"), dberr.ErrUnavailable, "25006", 503, 2, true},
		{"bad bytes", pg("22021"), dberr.ErrInvalid, "22021", 400, 1, false},
		{"bad json", pg("22P02"), dberr.ErrInvalid, "22P02", 400, 1, false},
		{"nul in jsonb", pg("22P05"), dberr.ErrInvalid, "22P05", 400, 1, false},
		{"out of range", pg("22003"), dberr.ErrInvalid, "22003", 400, 1, false},
		{"unique violation", &pgconn.PgError{Code: "23505", ConstraintName: "some_key"}, nil, "23505", 500, 2, false},
		{"duplicate", pg("23505"), dberr.ErrDuplicate, "23505", 409, 1, false},
		{"missing grant", pg("42501"), nil, "42501", 500, 2, false},
		{"no code", pg(""), nil, "", 500, 2, false},
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, dberr.ErrUnavailable, "", 503, 2, true},
		{"cut", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), dberr.ErrUnavailable, "", 503, 2, true},
		{"closed pool", puddle.ErrClosedPool, dberr.ErrUnavailable, "", 503, 2, true},
		{"pool exhausted", fmt.Errorf("acquire: %w", context.DeadlineExceeded), dberr.ErrUnavailable, "", 503, 2, true},
		{"sentinel", fmt.Errorf("no such thing: %w", dberr.ErrNotFound), dberr.ErrNotFound, "", 404, 1, false},
		{"no rows", pgx.ErrNoRows, nil, "", 500, 2, false},
		{"bug", errors.New("boom"), nil, "", 500, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := dberr.From(tc.err)
			require.Equal(t, tc.code, e.Code)
			for _, kind := range []error{dberr.ErrInvalid, dberr.ErrDenied, dberr.ErrNotFound, dberr.ErrConflict, dberr.ErrDuplicate,
				dberr.ErrTooLarge, dberr.ErrLimited, dberr.ErrUnavailable, dberr.ErrRetry} {
				require.Equal(t, kind == tc.kind, errors.Is(e, kind), kind)
			}
			require.Equal(t, tc.status, dberr.HTTPStatus(tc.err))
			require.Equal(t, tc.exit, dberr.ExitCode(tc.err))
			require.Equal(t, tc.retry, dberr.Retryable(tc.err))
			require.ErrorIs(t, e, tc.err, "the cause stays in the chain")
			require.Same(t, e, dberr.From(fmt.Errorf("again: %w", e)))
		})
	}
}

func TestNil(t *testing.T) {
	t.Parallel()
	require.Nil(t, dberr.From(nil))
	require.Equal(t, 200, dberr.HTTPStatus(nil))
	require.Equal(t, 0, dberr.ExitCode(nil))
	require.False(t, dberr.Retryable(nil))
	require.False(t, dberr.StalePlan(nil))
}

func TestOnlyWordsAboutTheInputGetOut(t *testing.T) {
	t.Parallel()
	for code, open := range map[string]bool{"QN404": true, "22P02": true, "42P01": false, "53100": false, "40001": false, "08006": false} {
		e := dberr.From(pg(code))
		if open {
			require.Equal(t, "the message", e.Message, code)
			require.Equal(t, "the detail", e.Detail, code)
			require.Equal(t, "the hint", e.Hint, code)
			require.Equal(t, "the field", e.Field, code)
			continue
		}
		require.NotContains(t, e.Message, "the message", code)
		require.Empty(t, e.Detail+e.Hint+e.Field, code)
	}
}

// 23505 leaves the functions only as the verdict on a duplicate; a constraint that
// fails is a fault of ours.
func TestDuplicateIsNoBrokenConstraint(t *testing.T) {
	t.Parallel()
	e := dberr.From(pg("23505"))
	require.ErrorIs(t, e, dberr.ErrDuplicate)
	require.Equal(t, "the message", e.Message)
	require.Equal(t, 409, dberr.HTTPStatus(e))
	require.False(t, dberr.Retryable(e))
	broken := &pgconn.PgError{Code: "23505", Message: "the message", ConstraintName: "some_key"}
	require.NotErrorIs(t, dberr.From(broken), dberr.ErrDuplicate)
	require.Equal(t, "internal error", dberr.From(broken).Message)
}

type leaving int

func (l leaving) Error() string { return "leaving" }
func (l leaving) ExitCode() int { return int(l) }

func TestOwnExitCodeWins(t *testing.T) {
	t.Parallel()
	require.Equal(t, 4, dberr.ExitCode(fmt.Errorf("pop: %w", leaving(4))))
}

func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	_, err := pgx.Connect(t.Context(), "host=/nonexistent user=x dbname=x connect_timeout=1")
	require.ErrorIs(t, dberr.From(err), dberr.ErrUnavailable)
}

func TestStalePlan(t *testing.T) {
	t.Parallel()
	require.True(t, dberr.StalePlan(pg("0A000")))
	require.True(t, dberr.StalePlan(pg("26000")))
	require.False(t, dberr.StalePlan(pg("42P01")))
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	for _, err := range []error{pg("57P01"), pg("57P02"), io.ErrUnexpectedEOF, fmt.Errorf("receive: %w", io.EOF),
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}} {
		require.True(t, dberr.CutOff(err), err)
	}
	for _, err := range []error{nil, pg("57014"), pg("40001"), pg("QN400"), pg(""), errors.New("x"), context.DeadlineExceeded,
		&net.OpError{Op: "read", Err: context.DeadlineExceeded}, &pgconn.ConnectError{}} {
		require.False(t, dberr.CutOff(err), err)
	}
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		open bool
	}{
		"none":                {nil, false},
		"statement failed":    {&pgconn.PgError{Code: "40001", SeverityUnlocalized: "ERROR"}, false},
		"statement timed out": {&pgconn.PgError{Code: "57014", SeverityUnlocalized: "ERROR"}, false},
		"session ended":       {fmt.Errorf("push: %w", &pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}), true},
		"server crashed":      {&pgconn.PgError{Code: "57P02", SeverityUnlocalized: "PANIC"}, true},
		"cut off":             {fmt.Errorf("push: %w", io.ErrUnexpectedEOF), true},
		"too slow":            {context.DeadlineExceeded, true},
		"never connected":     {&pgconn.ConnectError{}, false},
	} {
		require.Equal(t, c.open, dberr.Unknown(c.err), name)
	}
}
