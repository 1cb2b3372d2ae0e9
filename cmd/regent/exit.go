package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"regent.local/regent/db/dberr"
)

// Exit codes of every command.
const (
	exitUser    = 1 // wrong arguments, bad input, a refusal that the user can cure
	exitServer  = 2 // server or network
	exitAuth    = 3 // not authorised
	exitNothing = 4 // nothing to do
	exitCheck   = 5 // a check failed
)

// codedError is an error that knows the exit code it leads to.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }
func (e *codedError) ExitCode() int { return e.code }

// withCode gives err an exit code; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code: code, err: err}
}

// nothingTo is the outcome of a command that found nothing to work on.
func nothingTo(format string, args ...any) error {
	return withCode(exitNothing, fmt.Errorf(format, args...))
}

// interrupted says whether err is how ctx ended, which the user wanted. An answer
// that is not there any more is told by the cause of that.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// exitCode maps the error that ends a command. Errors of unknown origin are the
// user's: flags, files and arguments.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if badLogin(err) {
		return exitAuth
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	var db *dberr.Error
	var network *net.OpError // not net.Error, which every system error is
	switch {
	case errors.As(err, &db):
		return dberr.ExitCode(err)
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return exitServer
	}
	return exitUser
}

// badLogin says whether PostgreSQL refused the user: SQLSTATE class 28, as for a
// wrong password. A server of the HTTP API calls
// that a database that is away, for its clients cannot cure it.
func badLogin(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "28")
}

// cannotConnect is the error of a server or a database that could not be reached at
// its address, which from has chosen; advice is for where nobody listens.
func cannotConnect(address, from, advice string, cause error) error {
	if from != "" {
		address += " (" + from + ")"
	}
	if errors.Is(cause, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot connect to %s: nobody listens there; %s (%w)", address, advice, cause)
	}
	return fmt.Errorf("cannot connect to %s: %w", address, cause)
}

// errorLine is the one line that a failing command says. Where it went was chosen by
// from, which may be empty.
func errorLine(err error, from string) string {
	var parse *pgconn.ParseConfigError
	var connect *pgconn.ConnectError
	if errors.As(err, &parse) { // its text may show a password
		err = errors.New("what was given " + dsnHelp)
	}
	var network *networkError
	switch {
	case errors.As(err, &network) && network.address != "":
		err = cannotConnect(network.address, from, "start a server with \"regent dev\" or \"regent serve\", or name another with --url or REGENT_URL", err)
	case errors.As(err, &network) && from != "":
		err = fmt.Errorf("%w (the server is that of %s)", err, from)
	case errors.As(err, &connect):
		err = cannotConnect(shownDatabase(connect.Config), from, "name another database with --dsn or DATABASE_URL, that of \"regent dev\" stands in .regent/dsn", err)
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "; ")
}
