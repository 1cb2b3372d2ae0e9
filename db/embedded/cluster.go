package embedded

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// checkCluster refuses a cluster that the programs cannot run or that the
// account does not own.
func (l *launcher) checkCluster(major int) error {
	if !l.hasCluster() {
		return l.checkVacant()
	}
	text, err := os.ReadFile(filepath.Join(l.pgdata, "PG_VERSION"))
	if err != nil {
		return fmt.Errorf("read the cluster's version: %w", err)
	}
	if v := strings.TrimSpace(string(text)); v != strconv.Itoa(major) {
		return fmt.Errorf("%w: %q was made by version %s, the programs in %q are version %d; "+
			"point PG_BINDIR at version %s or move the folder away", ErrVersion, l.pgdata, v, l.binDir, major, v)
	}
	uid, _, err := ownerOf(l.pgdata)
	if err != nil {
		return fmt.Errorf("look at the cluster: %w", err)
	}
	if uid != l.account.uid {
		return fmt.Errorf("%q belongs to user %s, but PostgreSQL would run as %s", l.pgdata, userName(int(uid)), l.account.name)
	}
	return nil
}

func (l *launcher) hasCluster() bool {
	_, err := os.Stat(filepath.Join(l.pgdata, "PG_VERSION"))
	return !errors.Is(err, fs.ErrNotExist)
}

func (l *launcher) checkVacant() error {
	entries, err := os.ReadDir(l.pgdata)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a cluster: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%q is neither empty nor a PostgreSQL data directory", l.pgdata)
	}
	return nil
}

// ensureCluster loads the password and runs initdb on the first start. The
// password is on disk before the cluster that knows it; a cluster without a
// password file gets a new password once the server runs.
func (l *launcher) ensureCluster(ctx context.Context) error {
	text, err := os.ReadFile(l.passwordPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the password: %w", err)
	}
	l.password = strings.TrimSpace(string(text))
	if l.hasCluster() {
		return nil
	}
	if l.password == "" {
		l.password = newPassword()
		if err := l.savePassword(); err != nil {
			return err
		}
	}
	return l.initCluster(ctx)
}

// newPassword has 192 random bits and needs no quoting anywhere.
func newPassword() string {
	raw := make([]byte, 24)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (l *launcher) savePassword() error {
	if err := writeSecret(l.passwordPath, l.password+"\n"); err != nil {
		return fmt.Errorf("save the password: %w", err)
	}
	return nil
}

// writeSecret replaces a file of mode 0600 in one step.
func writeSecret(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, giveToOwner(f, filepath.Dir(path)), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// initCluster runs initdb in a folder beside and renames it, so that a cluster
// that exists is a complete one.
func (l *launcher) initCluster(ctx context.Context) error {
	unfinished := l.pgdata + ".init"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove an unfinished cluster: %w", err)
	}
	if err := l.makePrivate(unfinished); err != nil {
		return err
	}
	l.opts.Log.Info("creating the PostgreSQL cluster", "dir", l.pgdata)
	if err := l.runInitdb(ctx, unfinished); err != nil {
		_ = os.RemoveAll(unfinished)
		return err
	}
	if err := os.Rename(unfinished, l.pgdata); err != nil {
		return fmt.Errorf("put the new cluster in place: %w", err)
	}
	return syncDir(l.root)
}

func (l *launcher) runInitdb(ctx context.Context, dir string) error {
	pwfile := filepath.Join(l.socketDir, "initdb-password")
	if err := l.lendPassword(pwfile); err != nil {
		return err
	}
	defer func() { _ = os.Remove(pwfile) }()
	args := []string{"-D", dir, "-U", superuser, "--pwfile=" + pwfile, "--encoding=UTF8", "--locale=C",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--no-instructions"}
	if !l.opts.Durable {
		args = append(args, "--no-sync")
	}
	out, err := l.command(ctx, "initdb", append(args, l.opts.InitArgs...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("run initdb: %w\n%s", err, lastLines(string(out)))
	}
	return nil
}

// lendPassword puts the password where the account can read it.
func (l *launcher) lendPassword(path string) error {
	_ = os.Remove(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("hand the password to initdb: %w", err)
	}
	_, err = f.WriteString(l.password + "\n")
	if l.account.other {
		err = errors.Join(err, f.Chown(int(l.account.uid), int(l.account.gid)))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("hand the password to initdb: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %q: %w", dir, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync %q: %w", dir, err)
	}
	return nil
}

// command prepares a server program: as the account, in the root folder, with
// nothing of our environment that could change or leak into the server.
func (l *launcher) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(l.binDir, program), args...)
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH"} {
		if v, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = childAttributes(l.account)
	return cmd
}

// renewPassword gives a running cluster, whose password file is gone, a new
// password. It goes through the socket, where none is asked for.
func (l *launcher) renewPassword(ctx context.Context, s *Server) error {
	conn, err := pgx.Connect(ctx, s.SocketDSN())
	if err != nil {
		return fmt.Errorf("set a new password: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	l.password = newPassword()
	if _, err := conn.Exec(ctx, "ALTER ROLE "+superuser+" PASSWORD '"+l.password+"'"); err != nil {
		return fmt.Errorf("set a new password: %w", err)
	}
	return l.savePassword()
}
