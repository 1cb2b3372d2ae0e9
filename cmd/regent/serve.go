package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"regent.local/regent/api"
	"regent.local/regent/db/migrate"
	"regent.local/regent/db/session"
)

// stopTimeout bounds a graceful stop unless REGENT_STOP_TIMEOUT_MS does.
const stopTimeout = 10 * time.Second

// listenFlags say where the API listens.
type listenFlags struct {
	port     int
	bind     string
	cert     string
	key      string
	insecure bool
}

func (f *listenFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.port, "port", 0, "HTTP port; 0 takes a free one (default: PORT, else 6632)")
	cmd.Flags().StringVar(&f.bind, "bind", "", "address to listen on (default: QUEEN_BIND_ADDR, else 127.0.0.1)")
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "PEM file of a certificate: speak TLS only (default: REGENT_TLS_CERT)")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "PEM file of its key (default: REGENT_TLS_KEY)")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "listen beyond this machine although nobody has to log in")
}

// lookupFor reads the environment. Where the port of PostgreSQL is no matter, for
// --dsn names one or "dev" brings its own, PG_PORT may be anything: an orchestrator
// sets it for a service of that name.
func lookupFor(cmd *cobra.Command) func(name string) (string, bool) {
	dsn := cmd.Flags().Lookup("dsn")
	return func(name string) (string, bool) {
		if name == "PG_PORT" && (dsn == nil || dsn.Changed) {
			return "", false
		}
		return os.LookupEnv(name)
	}
}

// config is the server's configuration: environment, then flags.
func (f *listenFlags) config(cmd *cobra.Command) (api.Config, error) {
	cfg, err := api.ConfigFromEnv(lookupFor(cmd))
	if err != nil {
		return api.Config{}, err
	}
	if _, set := os.LookupEnv("REGENT_STOP_TIMEOUT_MS"); !set {
		cfg.StopTimeout = stopTimeout
	}
	cfg.Version = build().Version
	if cmd.Flags().Changed("port") {
		if f.port < 0 || f.port > 65535 {
			return api.Config{}, fmt.Errorf("--port must be between 0 and 65535, got %d", f.port)
		}
		cfg.Port = f.port
	}
	if cmd.Flags().Changed("bind") {
		cfg.BindAddr = f.bind
	}
	cfg.TLSCert, cfg.TLSKey = cmp.Or(f.cert, cfg.TLSCert), cmp.Or(f.key, cfg.TLSKey)
	cfg.AllowWithoutAuth = f.insecure
	if cfg.ListenURL != "" {
		if err := checkDSN("REGENT_LISTEN", cfg.ListenURL); err != nil {
			return api.Config{}, err
		}
	}
	return cfg, cfg.CheckExposure()
}

// accessHelp explains who may call.
const accessHelp = `Nobody has to log in as long as it listens on this machine alone. To listen
elsewhere, ask for API keys ("regent key create") or JSON web tokens, or say
--insecure:
  REGENT_API_KEYS       true: every call needs a key or a token
  JWT_ENABLED           true: the same, with JWT_ALGORITHM (HS256) and
                        JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL
  QUEEN_TENANCY_HEADER  true: a trusted proxy names the tenant of each call in
                        x-queen-tenant; needs QUEEN_KV_TRUSTED_PROXY=true`

// spoolHelp explains the variables of the spool.
const spoolHelp = `With a spool, pushes are kept on disk and answered "buffered" while the database
is away or pushes are paused, and stored exactly once afterwards:
  FILE_BUFFER_DIR               folder of the spool, of this server alone (none: no spool)
  REGENT_FILE_BUFFER_MAX_BYTES  its size, 0 for no limit (1073741824); full is a 503
  FILE_BUFFER_FLUSH_MS          pause between looks for something to replay (100)
  FILE_BUFFER_MAX_BATCH         messages a replaying call (100)
  FILE_BUFFER_EVENTS_PER_FILE   messages after which the next file is begun (10000)
What the database refuses for good is kept in its folder "failed".`

func newServeCmd() *cobra.Command {
	var listen listenFlags
	var dsn string
	var apply bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API on a PostgreSQL that you name",
		Long: `Serve runs the HTTP API and the maintenance loops next to an existing PostgreSQL
15 or newer. Any number of servers may share one database.

The schema must fit this version: --migrate (or QUEEN_APPLY_SCHEMA=true) brings
it there, otherwise serve checks and stops. It listens on 127.0.0.1 unless told
otherwise. SIGINT and SIGTERM stop it: no new calls, waiting pops are answered,
running calls finish.

` + accessHelp + "\n\n" + spoolHelp,
		Example: `  regent serve --dsn postgres://app@db.example/app --migrate`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := listen.config(cmd)
			if err != nil {
				return err
			}
			if cfg.DatabaseURL, err = databaseURL(cmd, dsn); err != nil {
				return err
			}
			return runServe(cmd, cfg, apply)
		},
	}
	listen.addFlags(cmd)
	cmd.Flags().StringVar(&dsn, "dsn", "", "PostgreSQL connection string (default: DATABASE_URL, else PG_HOST, PG_PORT, ...)")
	cmd.Flags().BoolVar(&apply, "migrate", false, "bring the schema to this version first (default: QUEEN_APPLY_SCHEMA)")
	return cmd
}

func runServe(cmd *cobra.Command, cfg api.Config, apply bool) error {
	ctx := cmd.Context()
	log, err := newLogger(cmd.ErrOrStderr(), cfg.Ignored)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("migrate") {
		if apply, err = envSwitch("QUEEN_APPLY_SCHEMA", false); err != nil {
			return err
		}
	}
	if apply {
		if err := migrate.Up(ctx, cfg.DatabaseURL, log); err != nil {
			return migrationError(err)
		}
	}
	pool, err := api.OpenPool(ctx, cfg)
	if err != nil {
		return migrationError(err)
	}
	defer pool.Close()
	if err := migrate.Check(ctx, pool); err != nil {
		return migrationError(err)
	}
	warnOfPool(ctx, pool, log)
	return serveAPI(ctx, cfg, pool, log, func(address string) error {
		return writeAll(cmd.OutOrStdout(), []byte("Regent is ready.\n  API   "+address+"\n  docs  "+address+"/docs\n"))
	})
}

// warnOfPool says so when no second server of this size fits the connections that
// the database allows (F199). A pooler in between allows more.
func warnOfPool(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) {
	size := int(pool.Config().MaxConns)
	limit, err := session.MaxConnections(ctx, pool.Config().ConnConfig)
	if err != nil || 2*size <= limit {
		return
	}
	log.WarnContext(ctx, "the pool is large for the database: with a second server, calls would fail for want of connections",
		"DB_POOL_SIZE", size, "max_connections", limit, "servers_that_fit", limit/size)
}

// serveAPI listens, calls ready with the API's address, and serves until ctx
// ends. The loops of the workers run meanwhile.
func serveAPI(ctx context.Context, cfg api.Config, pool *pgxpool.Pool, log *slog.Logger, ready func(address string) error) error {
	server, err := api.New(cfg, pool, log)
	if err != nil {
		return err
	}
	listener, err := listenOn(ctx, cfg)
	if err != nil {
		return err
	}
	stopLoops := startLoops(ctx, pool, server, cfg, log)
	defer stopLoops()
	address := apiAddress(listener.Addr())
	if cfg.TLSCert != "" {
		address = "https" + strings.TrimPrefix(address, "http")
	}
	if err := ready(address); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Run(ctx, listener); err != nil {
		return withCode(exitServer, fmt.Errorf("serve: %w", err))
	}
	return nil
}

func listenOn(ctx context.Context, cfg api.Config) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr())
	if err != nil {
		return nil, withCode(exitUser, listenFault(ctx, cfg.Addr(), err))
	}
	return listener, nil
}

// listenFault says what to do about an address that cannot be had.
func listenFault(ctx context.Context, address string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen for the API on %s (--bind, --port): %w", address, err)
	}
	holder := ""
	if regentAnswers(ctx, address) {
		holder = "; a Regent server answers there already"
	}
	return fmt.Errorf("%s is taken (address already in use): choose another port with --port or PORT, 0 takes a free one%s", address, holder)
}

// regentAnswers reports whether the server at an address is one of this API.
func regentAnswers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var health api.Health
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&health) == nil && health.Engine != ""
}

// apiAddress is what a client on this machine uses.
func apiAddress(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// newLogger follows LOG_LEVEL and QUEEN_LOG_JSON, and begins with the values of the
// environment that are ignored.
func newLogger(out io.Writer, ignored []api.Ignored) (*slog.Logger, error) {
	asJSON, err := envSwitch("QUEEN_LOG_JSON", false)
	if err != nil {
		return nil, err
	}
	name := os.Getenv("LOG_LEVEL")
	level, known := logLevel(name)
	if !known {
		ignored = append(ignored, api.Ignored{Name: "LOG_LEVEL", Value: name, Used: "info"})
	}
	options := &slog.HandlerOptions{Level: level}
	log := slog.New(slog.NewTextHandler(out, options))
	if asJSON {
		log = slog.New(slog.NewJSONHandler(out, options))
	}
	for _, v := range ignored {
		log.Warn("a value in the environment makes no sense and is ignored", "variable", v.Name, "value", v.Value, "used", v.Used)
	}
	return log, nil
}

// logLevel takes info for a word that it does not know.
func logLevel(name string) (level slog.Level, known bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "trace", "debug":
		return slog.LevelDebug, true
	case "warn", "warning":
		return slog.LevelWarn, true
	case "error":
		return slog.LevelError, true
	case "", "info":
		return slog.LevelInfo, true
	}
	return slog.LevelInfo, false
}
