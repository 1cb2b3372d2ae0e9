package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// The extension itself is tested in db/migrate; here another one bears its name.
func TestMigrateOnAnExtensionDatabase(t *testing.T) {
	t.Parallel()
	base := shared.get(t).dsn(t)
	exec := func(dsn, sql string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		defer conn.Close(context.WithoutCancel(t.Context()))
		_, err = conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	}
	exec(base, "CREATE DATABASE extended")
	dsn := strings.Replace(base, "/postgres?", "/extended?", 1)
	up := func() result { return call(t, "", "migrate", "up", "--dsn", dsn) }
	status := func() result { return call(t, "", "migrate", "status", "-o", "table", "--dsn", dsn) }
	require.Equal(t, 0, up().code)
	require.NotContains(t, status().out, "extension")

	exec(dsn, `BEGIN; SET LOCAL allow_system_table_mods = on;
		UPDATE pg_extension SET extname = 'regent' WHERE extname = 'plpgsql'; COMMIT`)
	require.Equal(t, exitNothing, up().code)
	require.Regexp(t, `(?m)^schema +current\s+owner +extension regent, upgraded by ALTER EXTENSION regent UPDATE`, status().out)

	exec(dsn, `UPDATE queen.schema_functions SET hash = 'of an older release'`)
	behind := up()
	require.Equal(t, exitUser, behind.code)
	require.Contains(t, behind.err, "run ALTER EXTENSION regent UPDATE")
	require.NotContains(t, behind.err, "migrate up")
	require.Regexp(t, `(?m)^schema +behind\s+owner +extension regent`, status().out)
}

func TestPoolerRefusalNamesTheSetting(t *testing.T) {
	t.Parallel()
	refused := &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: lock_timeout"}
	err := migrationError(fmt.Errorf("connect: %w", refused))
	require.ErrorIs(t, err, refused)
	require.ErrorContains(t, err, "REGENT_EXEC_MODE=cache_describe")
	require.NotContains(t, migrationError(&pgconn.PgError{Code: "08P01", Message: "no such user"}).Error(), "REGENT")
}
