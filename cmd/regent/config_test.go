package main

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestDatabaseURL(t *testing.T) {
	for name, tc := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"defaults":           {"", nil, "postgres://postgres:postgres@localhost:5432/postgres?sslmode=disable"},
		"flag first":         {"postgres://flag", map[string]string{"DATABASE_URL": "postgres://env"}, "postgres://flag"},
		"url beats parts":    {"", map[string]string{"DATABASE_URL": "postgres://env", "PG_HOST": "other"}, "postgres://env"},
		"parts":              {"", map[string]string{"PG_HOST": "db", "PG_PORT": "6000", "PG_USER": "me", "PG_PASSWORD": "p@s/s", "PG_DB": "x"}, "postgres://me:p%40s%2Fs@db:6000/x?sslmode=disable"},
		"database first":     {"", map[string]string{"PG_DATABASE": "a", "PG_DB": "b"}, "postgres://postgres:postgres@localhost:5432/a?sslmode=disable"},
		"empty database":     {"", map[string]string{"PG_DATABASE": "", "PG_DB": "b"}, "postgres://postgres:postgres@localhost:5432/b?sslmode=disable"},
		"spaces at the port": {"", map[string]string{"PG_PORT": " 6000 "}, "postgres://postgres:postgres@localhost:6000/postgres?sslmode=disable"},
		"ipv6":               {"", map[string]string{"PG_HOST": "::1"}, "postgres://postgres:postgres@[::1]:5432/postgres?sslmode=disable"},
		"tls":                {"", map[string]string{"PG_USE_SSL": " Yes "}, "postgres://postgres:postgres@localhost:5432/postgres?sslmode=verify-full"},
		"tls without checks": {"", map[string]string{"PG_USE_SSL": "1", "PG_SSL_REJECT_UNAUTHORIZED": "off"}, "postgres://postgres:postgres@localhost:5432/postgres?sslmode=require"},
		"socket":             {"", map[string]string{"PG_HOST": "/run/pg"}, "postgres://postgres:postgres@/postgres?host=%2Frun%2Fpg&port=5432&sslmode=disable"},
	} {
		t.Run(name, func(t *testing.T) {
			clearDatabaseEnv(t)
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			got, err := databaseURL(&cobra.Command{}, tc.flag)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
			_, err = pgx.ParseConfig(got)
			require.NoError(t, err)
		})
	}
}

func TestDatabaseURLRefusesUnknownSwitch(t *testing.T) {
	clearDatabaseEnv(t)
	t.Setenv("PG_USE_SSL", "maybe")
	_, err := databaseURL(&cobra.Command{}, "")
	require.ErrorContains(t, err, "PG_USE_SSL")
	require.Equal(t, exitUser, exitCode(err))
}

func TestDatabaseURLRefusesABadPort(t *testing.T) {
	for _, port := range []string{"many", "0", "-1", "65536", "5432x", "5432 5433"} {
		clearDatabaseEnv(t)
		t.Setenv("PG_PORT", port)
		for _, args := range [][]string{{"migrate", "status"}, {"serve", "--port", "0"}, {"doctor"}} {
			got := call(t, "", args...)
			require.Equal(t, exitUser, got.code, args)
			require.Contains(t, got.err, fmt.Sprintf("PG_PORT must be a port from 1 to 65535, got %q", port), args)
		}
	}
	for cmd, args := range map[*cobra.Command][]string{newServeCmd(): {"--dsn", "postgres://db/x"}, newDevCmd(): nil} {
		require.NoError(t, cmd.ParseFlags(args))
		_, err := (&listenFlags{}).config(cmd)
		require.NoError(t, err, "%s does not ask for it", cmd.Name())
	}
}

// clearDatabaseEnv makes the variables look unset; PG_USER and its like keep an
// empty value, so they get their defaults.
func clearDatabaseEnv(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DATABASE_URL", "PG_DATABASE", "PG_DB", "PG_PORT", "PG_USE_SSL", "PG_SSL_REJECT_UNAUTHORIZED", "PG_SSL_ROOT_CERT"} {
		t.Setenv(name, "")
	}
	for name, value := range map[string]string{"PG_HOST": "localhost", "PG_USER": "postgres", "PG_PASSWORD": "postgres"} {
		t.Setenv(name, value)
	}
}
