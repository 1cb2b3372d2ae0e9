package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"regent.local/regent/api"
	"regent.local/regent/db/embedded"
	"regent.local/regent/db/migrate"
)

const (
	defaultDataDir = "./.regent"
	dsnFile        = "dsn"
	// databaseStop is how long PostgreSQL may take for its last checkpoint.
	databaseStop = 30 * time.Second
	// maxRevival is the longest pause between two starts of a PostgreSQL that
	// does not come up again.
	maxRevival = 10 * time.Second
)

func newDevCmd() *cobra.Command {
	var listen listenFlags
	var dataDir, binDir string
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything here: a private PostgreSQL, the schema and the HTTP API",
		Long: `Dev starts a private PostgreSQL, brings its schema to this version and serves the
HTTP API. Messages are durable: fsync is on, and neither kill -9 of Regent nor of
PostgreSQL loses one that was acknowledged.

Everything it keeps lies in the data folder: the database cluster, its log, the
generated password, and the file dsn with the connection string (mode 0600).
Delete the folder to start anew. PostgreSQL listens on a free port of 127.0.0.1
and on a socket in that folder; as root it runs under another user.

It uses the PostgreSQL programs of --pg-bin, PG_BINDIR, PATH, pg_config or the
usual folders of packages. When there are none and it is root on Debian or
Ubuntu, it installs the package postgresql with apt-get, without Debian's default
cluster, and says so; otherwise it prints the command to run and stops.

` + accessHelp + "\n\n" + spoolHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := listen.config(cmd)
			if err != nil {
				return err
			}
			return runDev(cmd, cfg, dataDir, binDir)
		},
	}
	listen.addFlags(cmd)
	cmd.Flags().StringVar(&dataDir, "data-dir", defaultDataDir, "folder for the database and all that belongs to it")
	cmd.Flags().StringVar(&binDir, "pg-bin", "", "folder of the programs postgres and initdb (default: PG_BINDIR, else where they are found)")
	return cmd
}

// database is a private PostgreSQL that is started again when it dies.
type database struct {
	options embedded.Options
	dsnPath string
	log     *slog.Logger

	mu     sync.Mutex
	server *embedded.Server
}

func runDev(cmd *cobra.Command, cfg api.Config, dataDir, binDir string) error {
	log, err := newLogger(cmd.ErrOrStderr(), cfg.Ignored)
	if err != nil {
		return err
	}
	// A taken port is worth knowing before PostgreSQL is installed and started.
	probe, err := listenOn(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	_ = probe.Close()
	dataDir, err = filepath.Abs(dataDir)
	if err != nil {
		return fmt.Errorf("resolve --data-dir: %w", err)
	}
	d := &database{
		options: embedded.Options{DataDir: dataDir, BinDir: binDir, Durable: true, Install: true, TCP: true, Log: log},
		dsnPath: filepath.Join(dataDir, dsnFile), log: log,
	}
	if err := d.start(cmd.Context()); err != nil {
		return startFailed(cmd.Context(), err)
	}
	err = serveDev(cmd, cfg, d)
	if errors.Is(err, context.Canceled) {
		err = startFailed(cmd.Context(), err)
	}
	return errors.Join(err, d.stop())
}

// startFailed drops the error of a start that was given up because the user
// ended it, in whatever words a killed initdb puts that.
func startFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveDev serves on d until the command's context ends or serving fails.
func serveDev(cmd *cobra.Command, cfg api.Config, d *database) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	cfg.DatabaseURL = d.current().DSN()
	if err := migrate.Up(ctx, cfg.DatabaseURL, d.log); err != nil {
		cancel()
		return migrationError(err)
	}
	pool, err := d.openPool(ctx, cfg)
	if err != nil {
		cancel()
		return err
	}
	defer pool.Close()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		d.watch(ctx)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	return serveAPI(ctx, cfg, pool, d.log, func(address string) error {
		return writeAll(cmd.OutOrStdout(), []byte(d.banner(address)))
	})
}

func (d *database) banner(address string) string {
	return "Regent is ready.\n" +
		"  API   " + address + "\n" +
		"  docs  " + address + "/docs\n" +
		"  psql  psql \"$(cat " + shellWord(d.dsnPath) + ")\"\n" +
		"  data  " + d.options.DataDir + "\n"
}

// shellWord quotes s for a POSIX shell where that is needed.
func shellWord(s string) string {
	if !strings.ContainsFunc(s, unsafeInShell) && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func unsafeInShell(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%", r)
}

func (d *database) current() *embedded.Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.server
}

// start starts PostgreSQL and writes down how to reach it.
func (d *database) start(ctx context.Context) error {
	server, err := embedded.Start(ctx, d.options)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.server = server
	d.mu.Unlock()
	d.options.PreferPort = server.Port()
	return server.WriteDSN(d.dsnPath)
}

// stop ends PostgreSQL after a last checkpoint.
func (d *database) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), databaseStop)
	defer cancel()
	if err := d.current().Stop(ctx); err != nil {
		return withCode(exitServer, err)
	}
	return nil
}

// watch starts PostgreSQL again whenever it ends by itself. Calls are answered
// 503 meanwhile.
func (d *database) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.current().Done():
		}
		d.log.ErrorContext(ctx, "PostgreSQL ended by itself, starting it again", "cause", shortCause(d.current().Err()), "log", d.current().LogPath())
		d.revive(ctx)
	}
}

// shortCause is how a server ended, without what its log says of it.
func shortCause(err error) error {
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return err
}

// revive tries until PostgreSQL is up or ctx ends: what keeps it down, a full
// disk for one, may pass.
func (d *database) revive(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxRevival) {
		err := d.start(ctx)
		if err == nil {
			return
		}
		d.log.ErrorContext(ctx, "PostgreSQL does not start", "cause", err, "nextTry", pause)
		_ = sleep(ctx, pause)
	}
}

// openPool opens a pool whose connections follow the server to another port.
func (d *database) openPool(ctx context.Context, cfg api.Config) (*pgxpool.Pool, error) {
	if cfg.PoolSize == 0 {
		cfg.PoolSize = poolShare
	}
	config, err := api.PoolConfig(cfg)
	if err != nil {
		return nil, err
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		c.Port = uint16(d.current().Port())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the connection pool: %w", err)
	}
	return pool, nil
}

// poolShare is half of what the private server allows, as in serve.
const poolShare = 50
