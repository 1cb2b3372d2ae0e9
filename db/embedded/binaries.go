package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNoBinaries means that no PostgreSQL server programs were found.
var ErrNoBinaries = errors.New("no PostgreSQL server programs (postgres, initdb) found")

// packageGlobs are the folders in which packages put the server programs.
var packageGlobs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
}

// FindBinaries returns the folder of the programs postgres and initdb. It takes
// the first of: explicit, the environment's PG_BINDIR, the folder of `postgres`
// in PATH, what `pg_config --bindir` says, and the newest folder of a package.
// A folder that is named but lacks the programs is an error of its own; when
// nothing is named and nothing is found the error is ErrNoBinaries.
func FindBinaries(explicit string) (dir string, err error) {
	if explicit != "" {
		return namedBinaries("the given folder", explicit)
	}
	if env := os.Getenv("PG_BINDIR"); env != "" {
		return namedBinaries("PG_BINDIR", env)
	}
	for _, find := range []func() string{fromPath, fromPgConfig, func() string { return newest(packageGlobs) }} {
		if dir := find(); dir != "" && hasPrograms(dir) {
			return dir, nil
		}
	}
	return "", ErrNoBinaries
}

func namedBinaries(source, dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", dir, err)
	}
	if !hasPrograms(abs) {
		return "", fmt.Errorf("%s %q has no programs postgres and initdb", source, abs)
	}
	return abs, nil
}

func hasPrograms(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

func fromPath() string {
	path, err := exec.LookPath("postgres")
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	dir, _ := filepath.Abs(filepath.Dir(real))
	return dir
}

func fromPgConfig() string {
	out, err := exec.Command("pg_config", "--bindir").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

var versionInPath = regexp.MustCompile(`postgresql[/@](\d+)|pgsql-(\d+)`)

// newest returns the folder with the highest version number in its path that
// holds the programs, or "".
func newest(globs []string) string {
	var dirs []string
	for _, g := range globs {
		found, _ := filepath.Glob(g)
		dirs = append(dirs, found...)
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Compare(pathVersion(b), pathVersion(a)) })
	i := slices.IndexFunc(dirs, hasPrograms)
	if i < 0 {
		return ""
	}
	return dirs[i]
}

func pathVersion(dir string) int {
	m := versionInPath.FindStringSubmatch(dir)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2])
	return n
}

var versionOutput = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorVersion asks the program itself and refuses those that are too old.
func majorVersion(ctx context.Context, binDir string) (int, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(binDir, "postgres"), "--version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run postgres --version in %q: %w: %s", binDir, err, strings.TrimSpace(string(out)))
	}
	m := versionOutput.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("postgres --version in %q says %q", binDir, out)
	}
	major, _ := strconv.Atoi(string(m[1]))
	if major < minMajor {
		return 0, fmt.Errorf("%w: %q holds version %d, Regent needs %d or newer", ErrVersion, binDir, major, minMajor)
	}
	return major, nil
}
