package migrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Querier is what a check needs of a connection: *pgx.Conn, pgx.Tx and
// *pgxpool.Pool are all fit.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Migration is one step of the tables' history.
type Migration struct {
	Version   int64     `json:"version"`
	AppliedAt time.Time `json:"appliedAt"` // UTC
}

// Status compares a database with this binary.
type Status struct {
	Applied []Migration `json:"applied"` // ascending
	Pending []int64     `json:"pending"` // ascending
	// Release is the newest function release in the database, 0 for none.
	Release       int `json:"release"`
	BinaryRelease int `json:"binaryRelease"`
	// FunctionsCurrent says that the database holds this binary's function files.
	FunctionsCurrent bool `json:"functionsCurrent"`
	// FunctionsEdited says that someone changed a function by hand.
	FunctionsEdited bool `json:"functionsEdited"`
	// Extension says that the schema belongs to the extension regent.
	Extension bool `json:"extension"`
	// State is "current", "behind" or "ahead".
	State string `json:"state"`
}

// state is what a database says about itself.
type state struct {
	schema    bool
	extension bool
	applied   []Migration
	version   int64
	release   int
	hash      string
	edited    bool
}

// Check tells whether a server of this binary can run on the database: nil,
// ErrBehind (never migrated included), ErrExtension or ErrAhead, possibly
// wrapped. It changes nothing and takes no lock.
func Check(ctx context.Context, conn Querier) error {
	src, err := builtin()
	if err != nil {
		return err
	}
	return check(ctx, conn, src)
}

func check(ctx context.Context, conn Querier, src source) error {
	want, err := src.read()
	if err != nil {
		return err
	}
	if err := checkServerVersion(ctx, conn); err != nil {
		return err
	}
	have, err := readState(ctx, conn)
	if err != nil {
		return err
	}
	return have.compare(want)
}

// Report reads the Status of the database at dsn. It changes nothing.
func Report(ctx context.Context, dsn string) (Status, error) {
	src, err := builtin()
	if err != nil {
		return Status{}, err
	}
	return report(ctx, dsn, src)
}

func report(ctx context.Context, dsn string, src source) (Status, error) {
	want, err := src.read()
	if err != nil {
		return Status{}, err
	}
	config, err := readDSN(dsn)
	if err != nil {
		return Status{}, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return Status{}, fmt.Errorf("connect for migration status: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	have, err := readState(ctx, conn)
	if err != nil {
		return Status{}, err
	}
	return have.status(want), nil
}

func (have state) status(want target) Status {
	st := Status{
		Applied:          append([]Migration{}, have.applied...),
		Pending:          append([]int64{}, have.pending(want)...),
		Release:          have.release,
		BinaryRelease:    want.release,
		FunctionsCurrent: have.release == want.release && have.hash == want.hash && !have.edited,
		FunctionsEdited:  have.edited,
		Extension:        have.extension,
		State:            "current",
	}
	switch {
	case have.ahead(want):
		st.State = "ahead"
	case have.compare(want) != nil:
		st.State = "behind"
	}
	return st
}

func (have state) ahead(want target) bool {
	return have.version > want.version() || have.release > want.release
}

// pending returns the versions that the database lacks.
func (have state) pending(want target) []int64 {
	var out []int64
	for _, m := range want.migrations {
		if !slices.ContainsFunc(have.applied, func(a Migration) bool { return a.Version == m.version }) {
			out = append(out, m.version)
		}
	}
	return out
}

// compare returns nil, ErrAhead, or ErrBehind (ErrExtension where the schema is
// an extension's) with the reason.
func (have state) compare(want target) error {
	behind := ErrBehind
	if have.extension {
		behind = ErrExtension
	}
	switch {
	case have.ahead(want):
		return fmt.Errorf("%w: database version %d release %d, binary version %d release %d",
			ErrAhead, have.version, have.release, want.version(), want.release)
	case len(have.pending(want)) > 0:
		return fmt.Errorf("%w: migrations to come: %v", behind, have.pending(want))
	case have.release != want.release || have.hash != want.hash:
		return fmt.Errorf("%w: functions are those of another build", behind)
	case have.edited:
		return fmt.Errorf("%w: functions were edited in the database", behind)
	}
	return nil
}

// readState asks first what exists, so that it works on an empty database.
func readState(ctx context.Context, q Querier) (state, error) {
	var st state
	var migrations, functions bool
	err := q.QueryRow(ctx, `
		SELECT to_regnamespace('queen') IS NOT NULL,
			EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'regent'),
			EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'queen' AND tablename = 'schema_migrations'),
			EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'queen' AND tablename = 'schema_functions')`).
		Scan(&st.schema, &st.extension, &migrations, &functions)
	if err != nil {
		return state{}, fmt.Errorf("look for schema queen: %w", err)
	}
	if migrations {
		if st.applied, err = readApplied(ctx, q); err != nil {
			return state{}, err
		}
	}
	for _, m := range st.applied {
		st.version = max(st.version, m.Version)
	}
	if functions {
		if err := st.readFunctions(ctx, q); err != nil {
			return state{}, err
		}
	}
	return st, nil
}

func readApplied(ctx context.Context, q Querier) ([]Migration, error) {
	rows, err := q.Query(ctx, `
		SELECT version_id, max(tstamp)
		FROM queen.schema_migrations
		WHERE is_applied AND version_id > 0
		GROUP BY version_id
		ORDER BY version_id`)
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	applied, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Migration])
	if err != nil {
		return nil, fmt.Errorf("read applied migrations: %w", err)
	}
	return applied, nil
}

func (have *state) readFunctions(ctx context.Context, q Querier) error {
	rows, err := q.Query(ctx, `
		SELECT release, hash, catalogue <> `+catalogueExpr+`
		FROM queen.schema_functions
		ORDER BY release DESC
		LIMIT 1`)
	if err != nil {
		return fmt.Errorf("read function release: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(&have.release, &have.hash, &have.edited); err != nil {
			return fmt.Errorf("read function release: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read function release: %w", err)
	}
	return nil
}
