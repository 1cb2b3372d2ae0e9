package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxSocketPath leaves room below the 104 bytes of the shortest sockaddr_un.
const maxSocketPath = 80

// layout holds the absolute paths under one data directory.
type layout struct {
	root, pgdata, run, log, lockPath, passwordPath string
}

func layoutOf(root string) layout {
	in := func(name string) string { return filepath.Join(root, name) }
	return layout{root: root, pgdata: in("pg"), run: in("run"), log: in("postgres.log"),
		lockPath: in("pg.lock"), passwordPath: in("password")}
}

// account is the user that runs PostgreSQL.
type account struct {
	uid, gid uint32
	name     string
	// other says that it is not the user of this process, which is root then.
	other bool
}

// openDataDir creates the data directory, decides whose server runs there and
// takes the lock.
func (l *launcher) openDataDir() error {
	root, err := makeDataDir(l.opts.DataDir)
	if err != nil {
		return err
	}
	l.layout = layoutOf(root)
	if l.account, err = chooseAccount(l.layout); err != nil {
		return err
	}
	if err := l.openForAccount(); err != nil {
		return err
	}
	l.lock, err = takeLock(l.lockPath)
	return err
}

// makeDataDir creates dir with its parents and returns its path without
// symbolic links, which is how the kernel names a process's folder. As root the
// new folders are searchable, since another user has to pass them.
func makeDataDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve the path: %w", err)
	}
	var missing []string
	for d := abs; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, d)
	}
	slices.Reverse(missing)
	for _, d := range missing {
		if err := makeDir(d, d == abs); err != nil {
			return "", fmt.Errorf("create the data directory: %w", err)
		}
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("resolve the path: %w", err)
	}
	return real, nil
}

func makeDir(dir string, last bool) error {
	mode := fs.FileMode(0o755)
	switch {
	case os.Geteuid() == 0 && last:
		mode = 0o711
	case last:
		mode = 0o700
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, mode)
}

// chooseAccount names the user that runs PostgreSQL, which refuses to run as
// root: the owner of the cluster or of the data directory, else postgres, else
// nobody.
func chooseAccount(l layout) (account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return account{uid: uint32(uid), gid: uint32(os.Getegid()), name: userName(uid)}, nil
	}
	for _, dir := range []string{l.pgdata, l.root} {
		if uid, gid, err := ownerOf(dir); err == nil && uid != 0 {
			return account{uid: uid, gid: gid, name: userName(int(uid)), other: true}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil && uid != 0 {
			return account{uid: uint32(uid), gid: uint32(gid), name: name, other: true}, nil
		}
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody; " +
		"give the data directory to another user")
}

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "number " + id
}

func ownerOf(path string) (uid, gid uint32, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.New("owner unknown")
	}
	return sys.Uid, sys.Gid, nil
}

// openForAccount makes sure that the account can reach the data directory. The
// directory itself is ours to open, its parents are not.
func (l *launcher) openForAccount() error {
	st, err := os.Stat(l.root)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if l.account.other && !canSearch(st, l.account) {
		l.opts.Log.Info("data directory opened for the server's user", "dir", l.root, "user", l.account.name)
		if err := os.Chmod(l.root, st.Mode().Perm()|0o111); err != nil {
			return fmt.Errorf("open the data directory for user %s: %w", l.account.name, err)
		}
	}
	return checkSearchable(l.root, l.account)
}

// checkSearchable names the first folder on the way to dir that the account
// cannot pass.
func checkSearchable(dir string, a account) error {
	if !a.other {
		return nil
	}
	way := []string{dir}
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		way = append(way, filepath.Dir(d))
	}
	slices.Reverse(way)
	for _, d := range way {
		st, err := os.Stat(d)
		if err != nil {
			return fmt.Errorf("look at %q: %w", d, err)
		}
		if !canSearch(st, a) {
			return fmt.Errorf("user %s, who has to run PostgreSQL instead of root, may not enter %q on the way to %q: "+
				"choose another folder or run: chmod o+x %s", a.name, d, dir, d)
		}
	}
	return nil
}

func canSearch(st fs.FileInfo, a account) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch {
	case sys.Uid == a.uid:
		return st.Mode()&0o100 != 0
	case sys.Gid == a.gid:
		return st.Mode()&0o010 != 0
	}
	return st.Mode()&0o001 != 0
}

// takeLock holds the data directory for this process. The kernel lets go of the
// lock when the process dies, however it dies; postgres does not inherit it.
func takeLock(path string) (*os.File, error) {
	f, err := openOwned(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %q: %w", path, err)
		}
		return nil, fmt.Errorf("%w: process %s holds %q", ErrLocked, strings.TrimSpace(string(holder[:n])), path)
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return f, nil
}

// openOwned opens a file of mode 0600 that belongs to the owner of its folder,
// so that root and that owner can take turns.
func openOwned(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := giveToOwner(f, filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func giveToOwner(f *os.File, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ownerOf(dir)
	if err != nil || uid == 0 {
		return err
	}
	return f.Chown(int(uid), int(gid))
}

// makePrivate creates a folder of mode 0700 that belongs to the account.
func (l *launcher) makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create %q: %w", dir, err)
	}
	if l.account.other {
		if err := os.Lchown(dir, int(l.account.uid), int(l.account.gid)); err != nil {
			return fmt.Errorf("give %q to user %s: %w", dir, l.account.name, err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close %q to others: %w", dir, err)
	}
	return nil
}

// makeSocketDir makes run/, or a short temporary folder in its stead. Sockets
// of a server that was killed go: their lock files may name a process number
// that is in use again.
func (l *launcher) makeSocketDir() error {
	if err := l.makePrivate(l.run); err != nil {
		return err
	}
	stale, _ := filepath.Glob(filepath.Join(l.run, ".s.PGSQL.*"))
	for _, path := range stale {
		_ = os.Remove(path)
	}
	if len(filepath.Join(l.run, ".s.PGSQL.65535")) <= maxSocketPath {
		l.socketDir = l.run
		return nil
	}
	parent := os.TempDir()
	if len(parent) > maxSocketPath/2 || checkSearchable(parent, l.account) != nil {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "regent-pg-")
	if err != nil {
		return fmt.Errorf("create a short socket folder: %w", err)
	}
	l.socketDir = dir
	return l.makePrivate(dir)
}
