// Package embedded owns one private PostgreSQL server: its data directory, its
// process and its password. `regent dev` runs on it, and so do the tests.
//
// It must never touch a server or a data directory that it did not create:
// it signals only the process it started or the one named by its own
// postmaster.pid, listens on loopback alone, never uses a port number of its
// own choice, and never removes an installed package.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// ErrLocked means that another launcher holds the data directory.
var ErrLocked = errors.New("data directory is in use by another launcher")

// ErrVersion means that the data directory and the server programs have
// different major versions, or that the programs are too old.
var ErrVersion = errors.New("PostgreSQL version does not fit")

const (
	superuser  = "postgres"
	maintainDB = "postgres"
	minMajor   = 15

	defaultMaxConnections = 100

	// portAttempts bounds the starts when somebody else takes the port
	// between the kernel's answer and our bind.
	portAttempts = 5
	// leftoverGrace is how long backends of a killed postmaster may take to
	// notice its death and let go of the shared memory.
	leftoverGrace = 30 * time.Second
	// quitGrace is how long an immediate shutdown may take. The postmaster
	// itself kills its children after five seconds.
	quitGrace = 10 * time.Second
	// orphanGrace is how long the fast shutdown of an orphan may take.
	orphanGrace = 30 * time.Second

	pollEvery = 10 * time.Millisecond
)

// Options say what to start. DataDir is required, the zero value of every
// other field is usable.
type Options struct {
	// DataDir is the folder that holds everything: pg/ (the cluster), run/
	// (the socket), postgres.log, password and pg.lock. It is created.
	DataDir string
	// BinDir is the folder of the programs postgres and initdb; empty means
	// that FindBinaries looks for one.
	BinDir string
	// Durable keeps fsync, full page writes and synchronous commit on, and
	// refuses Settings that say otherwise. False turns all three off: a
	// crash of the machine then loses the data.
	Durable bool
	// MaxConnections is max_connections; zero means 100.
	MaxConnections int
	// Settings are further server settings. The address, the port and the
	// socket cannot be set.
	Settings map[string]string
	// InitArgs are appended to the arguments of initdb, which come down to
	// UTF8 and locale C. They matter only on the first start.
	InitArgs []string
	// Log receives what the launcher does; nil means nowhere.
	Log *slog.Logger
	// Install allows Start to install the server programs, as EnsureBinaries
	// does.
	Install bool
	// TCP opens a port on 127.0.0.1 with a generated password.
	TCP bool
	// PreferPort is tried first, so that a server that is started again in
	// the place of one that died (Server.Port) keeps its DSN. Zero, or a port
	// that is taken by now, means one that the kernel picks.
	PreferPort int
}

// Start starts PostgreSQL on o.DataDir, after creating the cluster when there
// is none and after stopping the server that a killed launcher left behind. It
// returns when the server accepts connections; ctx bounds only that. The caller
// calls Stop in the end.
//
// Errors match ErrNoBinaries, ErrLocked or ErrVersion where these are the
// cause; a server that does not come up is reported with the end of its log.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL in %q: %w", o.DataDir, err)
	}
	return s, nil
}

func start(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	l, err := newLauncher(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := l.start(ctx)
	if err != nil {
		l.close()
		return nil, err
	}
	return s, nil
}

// fixedSettings belong to the launcher.
var fixedSettings = []string{"listen_addresses", "port", "unix_socket_directories", "unix_socket_permissions",
	"data_directory", "external_pid_file", "max_connections", "lc_messages", "logging_collector", "log_destination"}

// durableSettings are what a committed message depends on.
var durableSettings = []string{"fsync", "full_page_writes", "synchronous_commit"}

func (o Options) check() error {
	if o.DataDir == "" {
		return errors.New("no data directory given")
	}
	for _, name := range fixedSettings {
		if _, set := o.Settings[name]; set {
			return fmt.Errorf("setting %s is the launcher's own", name)
		}
	}
	for _, name := range durableSettings {
		if v, set := o.Settings[name]; set && o.Durable && v != "on" {
			return fmt.Errorf("setting %s=%s contradicts Durable", name, v)
		}
	}
	return nil
}

// launcher is the state of one Start: everything is checked and locked, the
// server is not running yet.
type launcher struct {
	layout
	opts    Options
	account account
	binDir  string
	lock    *os.File
	// socketDir is layout.run, or a short temporary folder where that path
	// does not fit into a socket address.
	socketDir string
	password  string
}

func newLauncher(ctx context.Context, o Options) (*launcher, error) {
	binDir, err := binariesFor(ctx, o)
	if err != nil {
		return nil, err
	}
	major, err := majorVersion(ctx, binDir)
	if err != nil {
		return nil, err
	}
	l := &launcher{opts: o, binDir: binDir}
	if err := l.openDataDir(); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, major); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func binariesFor(ctx context.Context, o Options) (string, error) {
	if o.Install {
		return EnsureBinaries(ctx, o.BinDir, os.Stderr)
	}
	return FindBinaries(o.BinDir)
}

// prepare brings the locked data directory into a state in which postgres can
// start on it.
func (l *launcher) prepare(ctx context.Context, major int) error {
	if err := checkSearchable(l.binDir, l.account); err != nil {
		return err
	}
	if err := l.checkCluster(major); err != nil {
		return err
	}
	if err := l.clearPrevious(ctx); err != nil {
		return err
	}
	if err := l.makeSocketDir(); err != nil {
		return err
	}
	return l.ensureCluster(ctx)
}

// close gives back what the launcher holds besides the server.
func (l *launcher) close() {
	if l.socketDir != "" && l.socketDir != l.run {
		_ = os.RemoveAll(l.socketDir)
	}
	if l.lock != nil {
		_ = l.lock.Close()
	}
}
