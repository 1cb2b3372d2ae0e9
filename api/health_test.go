package api

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHealthAnswersAsTheClientsExpect(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.Version = "1.2.3" })

	r := ts.get("/health")

	require.Equal(t, http.StatusOK, r.Status)
	require.JSONEq(t, `{"status":"healthy","database":"connected","engine":"segments-rust","version":"1.2.3"}`, string(r.Body))
	require.Equal(t, http.StatusOK, ts.get("/livez").Status)
	require.Equal(t, http.StatusOK, ts.get("/readyz").Status)
}

func TestHealthSaysNoWhenTheDatabaseTakesNoWritesAndRecovers_F165(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Equal(t, http.StatusOK, ts.get("/health").Status)

	ts.sql(`ALTER DATABASE ` + ts.db.Name + ` SET default_transaction_read_only = on`)
	ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	require.Eventually(t, func() bool { return ts.get("/health").Status == http.StatusServiceUnavailable }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusServiceUnavailable, ts.get("/readyz").Status)
	require.Equal(t, http.StatusOK, ts.get("/livez").Status, "livez never touches the database")

	conn, err := ts.db.Pool.Acquire(context.Background())
	require.NoError(t, err)
	_, err = conn.Exec(context.Background(), `SET default_transaction_read_only = off`)
	require.NoError(t, err)
	_, err = conn.Exec(context.Background(), `ALTER DATABASE `+ts.db.Name+` RESET default_transaction_read_only`)
	require.NoError(t, err)
	conn.Release()
	require.Eventually(t, func() bool { return ts.get("/readyz").Status == http.StatusOK }, 20*time.Second, 50*time.Millisecond)
}

func TestReadyzSaysNoWhileStopping(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)

	ts.drain()

	require.Equal(t, http.StatusServiceUnavailable, ts.get("/readyz").Status)
	require.Equal(t, http.StatusOK, ts.get("/livez").Status)
}
