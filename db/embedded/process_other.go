//go:build unix && !linux

package embedded

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes let a child run as the account and outside the terminal's
// process group, so that ctrl-C reaches only us. These systems cannot bind its
// life to ours; the next start stops what is left.
func childAttributes(a account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.other {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// isPostmasterOf says whether the process is a postmaster that runs on pgdata.
func isPostmasterOf(pid int, pgdata string) bool {
	out, err := exec.Command("ps", "-ww", "-p", strconv.Itoa(pid), "-o", "command=").Output()
	if err != nil {
		return false
	}
	program, args, _ := strings.Cut(strings.TrimSpace(string(out)), " -D ")
	return filepath.Base(program) == "postgres" && strings.HasPrefix(args+" ", pgdata+" ")
}
