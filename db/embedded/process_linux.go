package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// childAttributes let a child run as the account, outside the terminal's
// process group (so that ctrl-C reaches only us) and not longer than we do.
func childAttributes(a account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGINT}
	if a.other {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// isPostmasterOf says whether the process is a postmaster that runs on pgdata.
// A backend rewrites its command line to "postgres: ...", and a process that
// ended without being reaped has none.
func isPostmasterOf(pid int, pgdata string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if name := filepath.Base(args[0]); name != "postgres" && name != "postmaster" {
		return false
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && cwd == pgdata {
		return true
	}
	i := slices.Index(args, "-D")
	return i >= 0 && i+1 < len(args) && args[i+1] == pgdata
}
