package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Build information, set by the linker: -X main.version=1.2.3 -X main.commit=abc.
var (
	version = ""
	commit  = ""
)

type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// build returns what the linker said, else what the Go toolchain recorded.
func build() buildInfo {
	b := buildInfo{Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = cmp.Or(b.Commit, s.Value[:min(12, len(s.Value))])
			}
		}
	}
	b.Version = cmp.Or(b.Version, "dev")
	b.Commit = cmp.Or(b.Commit, "unknown")
	return b
}

// String is the build in one line.
func (b buildInfo) String() string {
	return fmt.Sprintf("regent %s (commit %s, %s, %s)", b.Version, b.Commit, b.Go, b.Platform)
}

func newVersionCmd() *cobra.Command {
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := build()
			return format.print(cmd, b, func() table { return sentence(b.String()) })
		},
	}
	format.addFlag(cmd)
	return cmd
}
