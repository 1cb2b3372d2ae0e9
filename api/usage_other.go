//go:build !unix

package api

import "runtime"

// processUsage knows the memory that the runtime holds, and no processor time.
func processUsage() usage {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return usage{rss: int64(mem.Sys)}
}
