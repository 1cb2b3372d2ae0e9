package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const installPackage = "apt-get install -y --no-install-recommends postgresql"

// EnsureBinaries is FindBinaries that may install. When nothing is found and
// the process is root on Debian (or a distribution made of it) it installs the
// package postgresql, having told the package not to create its default
// cluster, and writes to log what it does. Elsewhere it returns an error that
// matches ErrNoBinaries and holds the command to run. It removes nothing, ever.
func EnsureBinaries(ctx context.Context, explicit string, log io.Writer) (dir string, err error) {
	dir, err = FindBinaries(explicit)
	if !errors.Is(err, ErrNoBinaries) {
		return dir, err
	}
	in := hostInstaller(log)
	if !in.root || !in.debian {
		return "", fmt.Errorf("%w; install them with: %s", ErrNoBinaries, in.command())
	}
	if err := in.install(ctx); err != nil {
		return "", fmt.Errorf("install PostgreSQL: %w; try by hand: %s", err, installPackage)
	}
	return FindBinaries("")
}

// installer is the part of a host that an installation touches.
type installer struct {
	root, debian bool
	// conf decides whether Debian creates its default cluster.
	conf string
	// lists is apt's folder of package lists.
	lists string
	run   func(ctx context.Context, name string, args ...string) error
	has   func(program string) bool
	log   io.Writer
}

func hostInstaller(log io.Writer) installer {
	in := installer{
		root:  os.Geteuid() == 0,
		conf:  "/etc/postgresql-common/createcluster.conf",
		lists: "/var/lib/apt/lists",
		log:   log,
		has: func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		},
	}
	in.run = in.exec
	_, err := os.Stat("/etc/debian_version")
	in.debian = err == nil && in.has("apt-get")
	return in
}

// command is what a person would have to type on this host.
func (in installer) command() string {
	switch {
	case in.debian && in.root:
		return installPackage
	case in.debian:
		return "sudo " + installPackage
	case in.has("dnf"):
		return "sudo dnf install -y postgresql-server"
	case in.has("apk"):
		return "apk add postgresql"
	case in.has("brew"):
		return "brew install postgresql@17"
	}
	return "the package manager of this system (PostgreSQL 15 or newer), then name the folder of its programs in PG_BINDIR"
}

func (in installer) install(ctx context.Context) error {
	in.say("no PostgreSQL server programs found; installing the package postgresql")
	in.say("%s: create_main_cluster = false, so that no default cluster is created", in.conf)
	if err := noDefaultCluster(in.conf); err != nil {
		return err
	}
	if !in.haveLists() {
		if err := in.apt(ctx, "update"); err != nil {
			return err
		}
	}
	err := in.aptInstall(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	in.say("installation failed (%v); trying again with fresh package lists", err)
	if err := in.apt(ctx, "update"); err != nil {
		return err
	}
	return in.aptInstall(ctx)
}

func (in installer) aptInstall(ctx context.Context) error {
	return in.apt(ctx, "install", "-y", "--no-install-recommends", "postgresql")
}

func (in installer) apt(ctx context.Context, args ...string) error {
	in.say("running: apt-get %s", strings.Join(args, " "))
	args = append([]string{"-o", "DPkg::Lock::Timeout=120"}, args...)
	if err := in.run(ctx, "apt-get", args...); err != nil {
		return fmt.Errorf("apt-get: %w", err)
	}
	return nil
}

func (in installer) exec(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1")
	cmd.Stdout, cmd.Stderr = in.log, in.log
	return cmd.Run()
}

func (in installer) haveLists() bool {
	found, _ := filepath.Glob(filepath.Join(in.lists, "*_Packages*"))
	return len(found) > 0
}

func (in installer) say(format string, args ...any) {
	_, _ = fmt.Fprintf(in.log, "regent: "+format+"\n", args...)
}

var mainClusterLine = regexp.MustCompile(`(?m)^[ \t]*create_main_cluster[ \t]*=.*$`)

// noDefaultCluster sets the one line and keeps every other line of the file.
func noDefaultCluster(path string) error {
	const line = "create_main_cluster = false"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("keep Debian from creating a cluster: %w", err)
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep Debian from creating a cluster: %w", err)
	}
	text := string(old)
	switch {
	case mainClusterLine.MatchString(text):
		text = mainClusterLine.ReplaceAllString(text, line)
	case text != "" && !strings.HasSuffix(text, "\n"):
		text += "\n" + line + "\n"
	default:
		text += line + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("keep Debian from creating a cluster: %w", err)
	}
	return nil
}
