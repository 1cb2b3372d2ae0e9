package db

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// F170: every function answers rows of a named type whose columns are typed; sqlc
// makes interface{} of what it does not know.
func TestGeneratedRowsAreConcrete_F170(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.sql.go")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	untyped := regexp.MustCompile(`interface\{\}|(?m)^\s+\w+ +(\[\])?any\b`)
	for _, path := range append(paths, "models.go") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotRegexp(t, untyped, string(text), path)
	}
}
