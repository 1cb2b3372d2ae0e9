package dbtest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// migrations counts how often a template of the shared server was made.
var migrations atomic.Int32

func countedSchema(ctx context.Context, dsn string, log *slog.Logger) error {
	migrations.Add(1)
	return tinySchema(ctx, dsn, log)
}

// tinySchema stands in for the product's schema, whose state is no matter here.
func tinySchema(ctx context.Context, dsn string, _ *slog.Logger) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "CREATE TABLE box (id int PRIMARY KEY, what text); INSERT INTO box VALUES (1, 'b'), (2, 'A'), (3, 'a')")
	return err
}

func TestMain(m *testing.M) { Main(m, WithMigrate(countedSchema)) }

func get[T any](t *testing.T, db *Database, sql string, args ...any) (got T) {
	t.Helper()
	require.NoError(t, db.Pool.QueryRow(context.Background(), sql, args...).Scan(&got))
	return got
}

func sorted(t *testing.T, db *Database) string {
	t.Helper()
	return get[string](t, db, "SELECT string_agg(what, '' ORDER BY what) FROM box")
}

func TestClonesAreSeparate(t *testing.T) {
	t.Parallel()
	first, second := New(t), New(t)
	require.NotEqual(t, first.Name, second.Name)
	_, err := first.Pool.Exec(context.Background(), "DELETE FROM box")
	require.NoError(t, err)
	require.Equal(t, 3, get[int](t, second, "SELECT count(*)::int FROM box"))
	require.Equal(t, "Aab", sorted(t, second), "the plain template orders by bytes")
	require.Equal(t, second.Name, get[string](t, second, "SELECT current_database()::text"))
}

func TestClonesInParallelShareOneMigration(t *testing.T) {
	t.Parallel()
	t.Run("clones", func(t *testing.T) {
		for range 8 {
			t.Run("clone", func(t *testing.T) {
				t.Parallel()
				require.Equal(t, "Aab", sorted(t, New(t)))
			})
		}
	})
	require.LessOrEqual(t, migrations.Load(), int32(2), "one plain and at most one ICU template")
}

func TestDroppedAtTheEndOfTheTest(t *testing.T) {
	t.Parallel()
	outer := NewEmpty(t)
	var name string
	t.Run("inner", func(t *testing.T) {
		db := New(t)
		name = db.Name
		conn := db.Conn(t)
		if get[string](t, db, "SELECT current_setting('max_prepared_transactions')") == "0" {
			return // a named server may forbid them
		}
		_, err := conn.Exec(context.Background(), "BEGIN; DELETE FROM box; PREPARE TRANSACTION 'it''s left over'")
		require.NoError(t, err)
	})
	require.False(t, get[bool](t, outer, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name))
}

func TestEmptyIsNotMigrated(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0, get[int](t, NewEmpty(t), "SELECT count(*)::int FROM pg_class WHERE relname = 'box'"))
}

func TestICUOrdersUnlikeBytes(t *testing.T) {
	t.Parallel()
	db := ICU(t)
	require.Equal(t, "i", get[string](t, db, "SELECT datlocprovider::text FROM pg_database WHERE datname = current_database()"))
	require.Equal(t, "aAb", sorted(t, db))
}

func TestServerSettings(t *testing.T) {
	t.Parallel()
	if os.Getenv(dsnEnv) != "" {
		t.Skip("the server is not ours")
	}
	require.Equal(t, "off 10 on 200", get[string](t, NewEmpty(t), `SELECT concat_ws(' ', current_setting('fsync'),
		current_setting('max_prepared_transactions'), current_setting('autovacuum'), current_setting('max_connections'))`))
}

func TestSteppedRace(t *testing.T) {
	t.Parallel()
	db := New(t)
	a, b := db.Session(t, "a"), db.Session(t, "b")
	a.Exec(t, "BEGIN")
	a.Exec(t, "UPDATE box SET what = what || 'x' WHERE id = $1", 1)
	b.Go("UPDATE box SET what = what || 'y' WHERE id = $1 RETURNING what", 1)
	b.WaitBlocked(t)
	a.Exec(t, "COMMIT")
	require.NoError(t, b.Wait(t))
	require.Equal(t, [][]any{{"bxy"}}, b.Rows())
}

func TestSteppedDeadlockIsReported(t *testing.T) {
	t.Parallel()
	db := New(t)
	a, b := db.Session(t, "a"), db.Session(t, "b")
	for _, step := range []struct {
		s   *Session
		sql string
	}{{a, "BEGIN"}, {b, "BEGIN"}, {a, "SELECT FROM box WHERE id = 1 FOR UPDATE"}, {b, "SELECT FROM box WHERE id = 2 FOR UPDATE"}} {
		step.s.Exec(t, step.sql)
	}
	a.Go("SELECT FROM box WHERE id = 2 FOR UPDATE")
	a.WaitBlocked(t)
	b.Go("SELECT FROM box WHERE id = 1 FOR UPDATE")
	failures := 0
	errB := b.Wait(t)
	if errB != nil {
		b.Exec(t, "ROLLBACK")
	}
	errA := a.Wait(t)
	for _, err := range []error{errA, errB} {
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) {
			require.Equal(t, "40P01", pgErr.Code)
			failures++
		}
	}
	require.Equal(t, 1, failures)
}

func TestBlockedIsNotAssumed(t *testing.T) {
	t.Parallel()
	s := New(t).Session(t, "free")
	s.Go("SELECT 1")
	require.ErrorIs(t, s.awaitBlocked(context.Background()), errNotBlocked)
	require.NoError(t, s.Wait(t))
	s.Go("SELECT 1 / 0")
	require.ErrorContains(t, s.Wait(t), "22012")
	require.Nil(t, s.Rows())
}

func TestSessionLeftBlockedIsClosed(t *testing.T) {
	t.Parallel()
	db := New(t)
	a, b := db.Session(t, "a"), db.Session(t, "b")
	a.Exec(t, "BEGIN")
	a.Exec(t, "DELETE FROM box")
	b.Go("DELETE FROM box")
	b.WaitBlocked(t)
	require.Panics(t, func() { b.Go("SELECT 1") })
}

func TestFailedMigrationIsToldToEveryTest(t *testing.T) {
	t.Parallel()
	h := newHarness()
	h.migrate = func(context.Context, string, *slog.Logger) error { return errors.New("no such luck") }
	t.Cleanup(func() { require.NoError(t, h.close()) })
	for range 2 {
		require.ErrorContains(t, h.clone(context.Background(), randomName(), plainTemplate), "no such luck")
	}
}

func TestNamedServerIsUsedAndLeftClean(t *testing.T) {
	db := NewEmpty(t)
	const exists = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
	keyValue := "host=" + db.Pool.Config().ConnConfig.Host + " user=postgres dbname=" + db.Name
	keyValue += " port=" + get[string](t, db, "SELECT current_setting('port')")
	for _, dsn := range []string{db.DSN, keyValue} {
		if strings.Contains(os.Getenv(dsnEnv), "@") && dsn == keyValue {
			continue // needs a password
		}
		h := newHarness()
		h.migrate = tinySchema
		t.Setenv(dsnEnv, dsn)
		name := randomName()
		require.NoError(t, h.clone(context.Background(), name, plainTemplate))
		left := h.templates[plainTemplate].name
		require.True(t, get[bool](t, db, exists, left))
		require.NoError(t, h.drop(context.Background(), name))
		require.NoError(t, h.close())
		require.False(t, get[bool](t, db, exists, left))
		require.False(t, get[bool](t, db, exists, name))
	}
}
