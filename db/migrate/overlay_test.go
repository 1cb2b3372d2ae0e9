package migrate

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db/embedded"
)

// overlay is a server like that of this binary, with an extension folder of its
// own. PostgreSQL finds its folders from where its program lies, so a tree of
// links with a copied program is enough: no installed file is touched, and tests
// of other checkouts do not meet.
type overlay struct {
	bundle
	dir     string // where control file and scripts belong
	bin     string // programs of the real installation
	program string // bin below the overlay
}

func startOverlay(t *testing.T) *overlay {
	t.Helper()
	admin := connect(t, serverDSN)
	config := func(name string) string {
		return scalar[string](t, admin, `SELECT setting FROM pg_config WHERE name = '`+name+`'`)
	}
	o := &overlay{bin: config("BINDIR")}
	share, lib := config("SHAREDIR"), config("PKGLIBDIR")
	if _, err := os.Stat(filepath.Join(o.bin, "postgres")); err != nil {
		t.Skipf("the server's programs are not on this machine: %v", err)
	}
	root, err := os.MkdirTemp("", "regent-overlay-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755)) // the server may run as another user
	prefix := commonPrefix(o.bin, share, lib)
	at := func(dir string) string { return filepath.Join(root, strings.TrimPrefix(dir, prefix)) }
	o.program, o.dir = at(o.bin), filepath.Join(at(share), "extension")
	linkInto(t, o.program, o.bin, "postgres")
	copyProgram(t, filepath.Join(o.bin, "postgres"), filepath.Join(o.program, "postgres"))
	linkInto(t, at(share), share, "extension")
	linkInto(t, o.dir, filepath.Join(share, "extension"), "")
	linkInto(t, at(lib), lib, "")
	linkLibraries(t, at(filepath.Dir(o.bin)), filepath.Dir(o.bin))

	s, err := embedded.Start(t.Context(), embedded.Options{DataDir: filepath.Join(root, "data"), BinDir: o.program, TCP: true})
	if err != nil {
		t.Skipf("a copy of the server program does not run here: %v", err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	o.bundle = bundle{dsn: s.DSN(), conn: connect(t, s.DSN())}
	require.Equal(t, at(share), scalar[string](t, o.conn, `SELECT setting FROM pg_config WHERE name = 'SHAREDIR'`))
	return o
}

func commonPrefix(dir string, others ...string) string {
	for _, other := range others {
		for !strings.HasPrefix(other+"/", dir+"/") {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}

// linkInto fills the folder with links to the entries of another one, except one.
func linkInto(t *testing.T, dir, from, except string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		to := filepath.Join(dir, e.Name())
		if _, err := os.Lstat(to); e.Name() != except && os.IsNotExist(err) {
			require.NoError(t, os.Symlink(filepath.Join(from, e.Name()), to))
		}
	}
}

// linkLibraries serves programs that look for their libraries in ../lib.
func linkLibraries(t *testing.T, home, from string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(from, "lib")); err == nil {
		linkInto(t, filepath.Join(home, "lib"), filepath.Join(from, "lib"), "")
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o755))
}

// publish makes src the newest version in the extension folder, after removing
// the one before: an update needs no script of the version that it leaves.
func (o *overlay) publish(t *testing.T, src source, published ...extensionVersion) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(o.dir, "regent*"))
	require.NoError(t, err)
	for _, name := range old {
		require.NoError(t, os.Remove(name))
	}
	require.NoError(t, writeExtension(o.dir, src, published))
}

// database makes an empty database on the server.
func (o *overlay) database(t *testing.T, name string) bundle {
	t.Helper()
	execSQL(t, o.conn, `CREATE DATABASE `+name+` TEMPLATE template0`)
	dsn := withDatabase(t, o.dsn, name, "", "")
	return bundle{dsn: dsn, conn: connect(t, dsn)}
}

// changed is the built-in source with other files: an empty text removes one,
// and names without a slash are migrations.
func changed(t *testing.T, release int, files map[string]string) source {
	t.Helper()
	src, err := builtin()
	require.NoError(t, err)
	all := map[string]string{}
	for _, fsys := range []fs.FS{src.migrations, src.functions} {
		read, err := readFiles(fsys)
		require.NoError(t, err)
		for _, f := range read {
			all[f.path] = f.text
		}
	}
	for name, text := range files {
		if all[name] = text; text == "" {
			delete(all, name)
		}
	}
	return made(release, all)
}
