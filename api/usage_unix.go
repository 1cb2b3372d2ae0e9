//go:build unix

package api

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// processUsage asks the system what the process has used. Where it does not tell
// the resident memory as a file, it is what the runtime holds.
func processUsage() (used usage) {
	var raw syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &raw) == nil {
		used.user, used.system = time.Duration(raw.Utime.Nano()), time.Duration(raw.Stime.Nano())
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			used.rss = pages * int64(os.Getpagesize())
		}
	}
	if used.rss == 0 {
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		used.rss = int64(mem.Sys)
	}
	return used
}
