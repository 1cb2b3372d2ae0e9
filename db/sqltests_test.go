package db

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// TestSQL runs every file of sql/tests on a fresh database, as psql would. The
// files that compare ids run again where the default collation is a language.
func TestSQL(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "sql", "tests", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runSQLFile(t, dbtest.New(t), file)
		})
		if comparesIDs(name) {
			t.Run(name+"/icu", func(t *testing.T) {
				t.Parallel()
				runSQLFile(t, dbtest.ICU(t), file)
			})
		}
	}
}

func comparesIDs(name string) bool {
	return name == "push_dedup" || name == "push_offsets" || name == "ack_resolution"
}

func runSQLFile(t *testing.T, db *dbtest.Database, file string) {
	t.Helper()
	conn := db.Conn(t)
	_, err := conn.Exec(context.Background(), withIncludes(t, file), pgx.QueryExecModeSimpleProtocol)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		require.FailNow(t, pgErr.Message, "%s: %s", filepath.Base(file), pgErr.Where)
	}
	require.NoError(t, err)
	require.Equal(t, byte('I'), conn.PgConn().TxStatus(), "the file ends its transaction")
}

// withIncludes is the text of a file with the files that it includes as psql's
// \ir does: named from where it lies itself.
func withIncludes(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line, `\ir `); ok {
			lines[i] = withIncludes(t, filepath.Join(filepath.Dir(file), name))
		}
	}
	return strings.Join(lines, "\n")
}
