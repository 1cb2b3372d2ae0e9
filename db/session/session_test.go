package session

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func connection(t *testing.T, db *dbtest.Database) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func TestMaxConnections(t *testing.T) {
	t.Parallel()
	db := dbtest.NewEmpty(t)
	limit, err := MaxConnections(t.Context(), db.Pool.Config().ConnConfig)
	require.NoError(t, err)
	require.Positive(t, limit)
}

func TestWritableTellsAReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	db := dbtest.NewEmpty(t)
	require.NoError(t, Writable(t.Context(), connection(t, db)))
	_, err := db.Pool.Exec(t.Context(), `ALTER DATABASE `+db.Name+` SET default_transaction_read_only = on`)
	require.NoError(t, err)
	require.ErrorIs(t, Writable(t.Context(), connection(t, db)), ErrReadOnly)
}

func TestListenerComesBack_F046(t *testing.T) {
	t.Parallel()
	db := dbtest.NewEmpty(t)
	config := db.Pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = "the listener"
	heard, connected, lost := make(chan string, 10), make(chan struct{}, 10), make(chan error, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Listener{
			Config:    config,
			Connected: func(context.Context) { connected <- struct{}{} },
			Heard:     func(payload string) { heard <- payload },
			Lost:      func(err error) { lost <- err },
		}.Run(ctx)
	}()
	teller := connection(t, db)
	for _, word := range []string{"one", "two"} {
		receive(t, connected)
		require.NoError(t, Notify(t.Context(), teller, []string{word, word + "!"}))
		require.Equal(t, word, receive(t, heard))
		require.Equal(t, word+"!", receive(t, heard))
		_, err := teller.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'the listener' AND datname = current_database()`)
		require.NoError(t, err)
		require.Error(t, receive(t, lost))
	}
	receive(t, connected)
	cancel()
	receive(t, ended)
}

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
	}
	return value
}
