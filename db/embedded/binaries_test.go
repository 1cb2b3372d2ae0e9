package embedded

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakePrograms makes a folder that looks like one of server programs.
func fakePrograms(t *testing.T, dir string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{"postgres", "initdb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho 'postgres (PostgreSQL) 14.2'\n"), 0o755))
	}
	return dir
}

func TestFindBinariesOrder(t *testing.T) {
	explicit, env, linked := fakePrograms(t, t.TempDir()), fakePrograms(t, t.TempDir()), fakePrograms(t, t.TempDir())
	path := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(linked, "postgres"), filepath.Join(path, "postgres")))
	t.Setenv("PATH", path)
	t.Setenv("PG_BINDIR", env)

	find := func(explicit string) string {
		dir, err := FindBinaries(explicit)
		require.NoError(t, err)
		return dir
	}
	require.Equal(t, explicit, find(explicit))
	require.Equal(t, env, find(""))
	t.Setenv("PG_BINDIR", "")
	require.Equal(t, linked, find(""), "a link in PATH is resolved")

	t.Setenv("PG_BINDIR", filepath.Join(env, "missing"))
	_, err := FindBinaries("")
	require.ErrorContains(t, err, "PG_BINDIR")
	require.NotErrorIs(t, err, ErrNoBinaries, "what was named wrongly is not installed over")
}

func TestNewestFolderWins(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fakePrograms(t, filepath.Join(root, "postgresql/9/bin"))
	want := fakePrograms(t, filepath.Join(root, "postgresql/16/bin"))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "postgresql/18/bin"), 0o755)) // client programs only
	require.Equal(t, want, newest([]string{filepath.Join(root, "postgresql/*/bin")}))
	require.Empty(t, newest([]string{filepath.Join(root, "nothing/*")}))
}

func TestOldProgramsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := majorVersion(context.Background(), fakePrograms(t, t.TempDir()))
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "version 14, Regent needs 15 or newer")
}

// fakeHost records the commands; the first call of each failing one fails.
func fakeHost(t *testing.T, failing ...string) (installer, *[]string, *bytes.Buffer) {
	t.Helper()
	var ran []string
	var said bytes.Buffer
	dir := t.TempDir()
	in := installer{root: true, debian: true, conf: filepath.Join(dir, "common", "createcluster.conf"), lists: dir, log: &said,
		has: func(string) bool { return false }}
	in.run = func(_ context.Context, name string, args ...string) error {
		require.FileExists(t, in.conf, "written before the installation")
		line := name + " " + strings.Join(args[2:], " ")
		ran = append(ran, line)
		if len(failing) > 0 && strings.Contains(line, failing[0]) {
			failing = failing[1:]
			return errors.New("exit status 100")
		}
		return nil
	}
	return in, &ran, &said
}

func TestInstallUpdatesWhenNeeded(t *testing.T) {
	t.Parallel()
	const update, install = "apt-get update", installPackage

	in, ran, said := fakeHost(t)
	require.NoError(t, in.install(context.Background()))
	require.Equal(t, []string{update, install}, *ran, "no lists yet")
	require.Contains(t, said.String(), "create_main_cluster = false")
	require.Contains(t, said.String(), "running: "+installPackage)

	in, ran, _ = fakeHost(t)
	require.NoError(t, os.WriteFile(filepath.Join(in.lists, "debian_main_Packages"), nil, 0o600))
	require.NoError(t, in.install(context.Background()))
	require.Equal(t, []string{install}, *ran, "lists are there")

	in, ran, _ = fakeHost(t, "install")
	require.NoError(t, os.WriteFile(filepath.Join(in.lists, "debian_main_Packages"), nil, 0o600))
	require.NoError(t, in.install(context.Background()))
	require.Equal(t, []string{install, update, install}, *ran, "lists are out of date")

	in, _, _ = fakeHost(t, "update")
	require.ErrorContains(t, in.install(context.Background()), "exit status 100")
}

func TestInstallCommandByHost(t *testing.T) {
	t.Parallel()
	brew := func(p string) bool { return p == "brew" }
	none := func(string) bool { return false }
	require.Equal(t, installPackage, installer{root: true, debian: true}.command())
	require.Equal(t, "sudo "+installPackage, installer{debian: true}.command())
	require.Equal(t, "brew install postgresql@17", installer{has: brew}.command())
	require.Contains(t, installer{has: none}.command(), "PG_BINDIR")
}

func TestNoDefaultClusterKeepsOtherLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"empty":         {"", "create_main_cluster = false\n"},
		"other lines":   {"ssl = on\n", "ssl = on\ncreate_main_cluster = false\n"},
		"no newline":    {"ssl = on", "ssl = on\ncreate_main_cluster = false\n"},
		"set otherwise": {"a = 1\ncreate_main_cluster=true\nb = 2\n", "a = 1\ncreate_main_cluster = false\nb = 2\n"},
		"comment":       {"#create_main_cluster = true\n", "#create_main_cluster = true\ncreate_main_cluster = false\n"},
	} {
		path := filepath.Join(t.TempDir(), "createcluster.conf")
		require.NoError(t, os.WriteFile(path, []byte(c.before), 0o644))
		require.NoError(t, noDefaultCluster(path), name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, c.after, string(got), name)
	}
}

func TestEnsureBinariesKeepsWhatIsThere(t *testing.T) {
	dir := fakePrograms(t, t.TempDir())
	var said bytes.Buffer
	got, err := EnsureBinaries(context.Background(), dir, &said)
	require.NoError(t, err)
	require.Equal(t, dir, got)
	require.Empty(t, said.String())
}
