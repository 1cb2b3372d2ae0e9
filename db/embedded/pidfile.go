package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidFile is what postmaster.pid says: the process on line 1, its state on
// line 8.
type pidFile struct {
	pid   int
	state string
}

var errPIDFile = errors.New("postmaster.pid cannot be read as one")

func pidPath(pgdata string) string { return filepath.Join(pgdata, "postmaster.pid") }

// readPIDFile fails with fs.ErrNotExist when there is none and with errPIDFile
// when it names no process.
func readPIDFile(pgdata string) (pidFile, error) {
	text, err := os.ReadFile(pidPath(pgdata))
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid == 0 {
		return pidFile{}, errPIDFile
	}
	pf := pidFile{pid: max(pid, -pid)} // a single-user backend writes its negative
	if len(lines) >= 8 {
		pf.state = strings.TrimSpace(lines[7])
	}
	return pf, nil
}

// clearPrevious deals with what an earlier launcher left: a server that still
// runs is stopped, a file about a process that is not that server is defused.
// A file whose process is gone is left to postgres, which also looks for
// surviving backends.
func (l *launcher) clearPrevious(ctx context.Context) error {
	pf, err := l.previous(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, errPIDFile) {
		l.opts.Log.Warn("empty postmaster.pid removed", "dir", l.pgdata)
		return os.Remove(pidPath(l.pgdata))
	}
	if err != nil {
		return fmt.Errorf("read postmaster.pid: %w", err)
	}
	if isPostmasterOf(pf.pid, l.pgdata) {
		if err := l.stopOrphan(ctx, pf.pid); err != nil {
			return err
		}
	}
	return l.disown(pf.pid)
}

// previous reads postmaster.pid, twice when a server may be writing it.
func (l *launcher) previous(ctx context.Context) (pidFile, error) {
	pf, err := readPIDFile(l.pgdata)
	for tries := 0; errors.Is(err, errPIDFile) && tries < 50 && ctx.Err() == nil; tries++ {
		time.Sleep(pollEvery)
		pf, err = readPIDFile(l.pgdata)
	}
	return pf, err
}

// stopOrphan stops the server whose launcher died before it.
func (l *launcher) stopOrphan(ctx context.Context, pid int) error {
	l.opts.Log.Warn("stopping the server of a launcher that died", "pid", pid, "dir", l.pgdata)
	gone := func() bool { return !isPostmasterOf(pid, l.pgdata) }
	for _, step := range []struct {
		sig   syscall.Signal
		grace time.Duration
	}{{syscall.SIGINT, orphanGrace}, {syscall.SIGQUIT, quitGrace}} {
		if err := syscall.Kill(pid, step.sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the orphan server %d: %w", pid, err)
		}
		if err := poll(ctx, step.grace, gone); !errors.Is(err, errPollTimeout) {
			return err
		}
	}
	return fmt.Errorf("the orphan server %d does not stop", pid)
}

// disown rewrites a postmaster.pid that names a living process which is no
// server of ours (the number was used again, or nobody reaped the server).
// postgres would take that process for a server. It ignores its own parent, so
// our number goes in, and the lines that it needs for finding surviving
// backends stay.
func (l *launcher) disown(pid int) error {
	text, err := os.ReadFile(pidPath(l.pgdata))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !exists(pid) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read postmaster.pid: %w", err)
	}
	l.opts.Log.Warn("stale postmaster.pid", "pid", pid, "dir", l.pgdata)
	_, rest, _ := strings.Cut(string(text), "\n")
	f, err := os.OpenFile(pidPath(l.pgdata), os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("rewrite postmaster.pid: %w", err)
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n" + rest)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("rewrite postmaster.pid: %w", err)
	}
	return nil
}

// exists also counts processes of others and those that nobody reaped.
func exists(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

var errPollTimeout = errors.New("not in time")

// poll waits until ok, at most for the given time (errPollTimeout) or until ctx
// ends (its error).
func poll(ctx context.Context, most time.Duration, ok func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(most); !ok(); {
		if time.Now().After(deadline) {
			return errPollTimeout
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
