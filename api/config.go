package api

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config holds every knob of the server. Make one with DefaultConfig or
// ConfigFromEnv; the environment name of a field is in its comment.
type Config struct {
	BindAddr     string // QUEEN_BIND_ADDR: listen address without a port
	Port         int    // PORT: 0 picks a free one
	MaxBodyBytes int64  // QUEEN_MAX_BODY_BYTES: largest request body
	TLSCert      string // REGENT_TLS_CERT: PEM file; with TLSKey the API speaks TLS only
	TLSKey       string // REGENT_TLS_KEY: PEM file
	Version      string // build version, shown by /health and in the document

	PopTimeout       time.Duration // DEFAULT_TIMEOUT, POP_DEFAULT_TIMEOUT_MS: long poll without a timeout
	PopWaitInitial   time.Duration // POP_WAIT_INITIAL_INTERVAL_MS: first recheck of a parked pop
	PopWaitThreshold int           // POP_WAIT_BACKOFF_THRESHOLD: empty rechecks before the interval grows
	PopWaitFactor    float64       // POP_WAIT_BACKOFF_MULTIPLIER: growth of the interval
	PopWaitMax       time.Duration // POP_WAIT_MAX_INTERVAL_MS: longest interval
	SubscriptionMode string        // DEFAULT_SUBSCRIPTION_MODE: of a pop that names none
	AckRequireLease  bool          // REGENT_ACK_REQUIRE_LEASE: refuse a lease-less ack under a live lease

	EncryptionKey  string // QUEEN_ENCRYPTION_KEY: 64 hexadecimal characters; without, pushes to encrypted queues are refused
	EncryptionKeys string // REGENT_ENCRYPTION_KEYS: id:key,... of messages that were sealed earlier

	JWT              JWTConfig
	HeaderTimeout    time.Duration // REGENT_HEADER_TIMEOUT_MS: a client may take that long to send the head of a request
	BodyTimeout      time.Duration // REGENT_BODY_TIMEOUT_MS: and that long for its body
	RateLimit        float64       // REGENT_RATE_LIMIT: calls a second of a key, a token's subject, or an address; 0 is no limit
	RateBurst        int           // REGENT_RATE_BURST: calls at once; 0 is those of a second
	CORSOrigins      []string      // REGENT_CORS_ORIGINS: whose pages may call, or *; none is none
	APIKeys          bool          // REGENT_API_KEYS: ask for a key, also without JWT
	SkipPaths        []string      // JWT_SKIP_PATHS: paths that need neither; one that ends in / stands for all below it
	TenancyHeader    bool          // QUEEN_TENANCY_HEADER: work for the tenant that x-queen-tenant names
	TrustedProxy     bool          // QUEEN_KV_TRUSTED_PROXY: what sets that header is trusted; TenancyHeader needs it
	Uncounted        bool          // no variable: count nothing, to measure what counting costs
	AllowWithoutAuth bool          // no variable: listen beyond this machine although nobody has to log in

	DatabaseURL      string        // DATABASE_URL, else built from PG_*
	PoolSize         int           // DB_POOL_SIZE: 0 is the smaller of 160 and half of max_connections
	ExecMode         string        // REGENT_EXEC_MODE: cache_statement, or cache_describe behind a transaction-mode pooler
	StatementTimeout time.Duration // QUEEN_STMT_TIMEOUT_MS: 0 is none
	LockTimeout      time.Duration // REGENT_LOCK_TIMEOUT_MS: 0 is none; also ends repeats of a colliding call
	IdleTxTimeout    time.Duration // REGENT_IDLE_TX_TIMEOUT_MS: 0 is none
	AcquireTimeout   time.Duration // REGENT_ACQUIRE_TIMEOUT_MS: wait for a free connection
	StopTimeout      time.Duration // REGENT_STOP_TIMEOUT_MS: grace for running requests

	BufferDir      string        // FILE_BUFFER_DIR: folder of the spool; empty is none
	BufferMaxBytes int64         // REGENT_FILE_BUFFER_MAX_BYTES: size of the spool; 0 is no limit
	BufferFlush    time.Duration // FILE_BUFFER_FLUSH_MS: pause between looks for something to replay
	BufferBatch    int           // FILE_BUFFER_MAX_BATCH: messages a replaying call, unless one record has more
	BufferEvents   int           // FILE_BUFFER_EVENTS_PER_FILE: messages after which the next file is begun

	RetentionEvery       time.Duration // RETENTION_INTERVAL: time between two sweeps, over all servers
	RetentionBatch       int           // RETENTION_BATCH_SIZE: segments a step deletes at most
	RetentionParallelism int           // RETENTION_PARALLELISM: partitions swept side by side, 1 to 16
	RetentionDueCap      int           // QUEEN_RETENTION_DUE_CAP: partitions that a sweep lists; 0 is batch size x parallelism x 5
	RetentionWalk        time.Duration // QUEEN_RETENTION_SAFETY_WALK_MS: time between two checks of when partitions are due
	PartitionCleanup     bool          // QUEEN_PARTITION_CLEANUP_ENABLED: delete partitions that nobody uses
	PartitionCleanupDays int           // PARTITION_CLEANUP_DAYS: days without use after which an empty partition goes
	MetricsRetentionDays int           // METRICS_RETENTION_DAYS: days after which metrics and the audit of deletions go

	CompactEvery  time.Duration // REGENT_COMPACTION_INTERVAL_MS: time between two runs of the compaction loop
	MetricsFlush  time.Duration // METRICS_FLUSH_MS: pause between flushes of the counters, a second at least
	MetricsLimit  int           // REGENT_METRICS_LAG_SERIES: most lag series that /metrics/prometheus shows
	StatsEvery    time.Duration // STATS_INTERVAL_MS: time between two counts of all queues, over all servers
	RetainedEvery time.Duration // RETAINED_BYTES_INTERVAL_MS: time between two measurements of what they keep on disk

	Flushers  int    // REGENT_FLUSHERS: calls that carry pushes (and as many that carry acks) at a time
	Listen    bool   // REGENT_LISTEN: hear and tell other servers of pushes; without it the watcher finds them
	ListenURL string // REGENT_LISTEN: the connection to hear on, where DatabaseURL leads to a transaction-mode pooler

	Ignored []Ignored // variables whose value made no sense
}

// Ignored is a variable of the environment with a value that makes no sense.
type Ignored struct {
	Name, Value string
	Used        string // in its stead, in the unit of the variable
}

// DefaultConfig is what an empty environment gives.
func DefaultConfig() Config {
	return Config{
		BindAddr: "127.0.0.1", Port: 6632, MaxBodyBytes: 64 << 20, Version: "dev",
		PopTimeout: 30 * time.Second, PopWaitInitial: 100 * time.Millisecond, PopWaitThreshold: 3,
		PopWaitFactor: 2, PopWaitMax: time.Second, SubscriptionMode: "new",
		DatabaseURL: "postgres://postgres:postgres@localhost:5432/postgres?sslmode=disable",
		ExecMode:    "cache_statement", StatementTimeout: 30 * time.Second, LockTimeout: 5 * time.Second,
		IdleTxTimeout: time.Minute, AcquireTimeout: 5 * time.Second, StopTimeout: 20 * time.Second,
		HeaderTimeout: 10 * time.Second, BodyTimeout: 2 * time.Minute,
		JWT: defaultJWT(), SkipPaths: []string{"/health", "/metrics/prometheus", "/metrics", "/"},
		BufferMaxBytes: 1 << 30, BufferFlush: 100 * time.Millisecond, BufferBatch: 100, BufferEvents: 10_000,
		RetentionEvery: 5 * time.Second, RetentionBatch: 1000, RetentionParallelism: 1, RetentionWalk: 24 * time.Hour,
		PartitionCleanup: true, PartitionCleanupDays: 30, MetricsRetentionDays: 90,
		CompactEvery: 15 * time.Second,
		MetricsFlush: time.Minute, MetricsLimit: 1000,
		StatsEvery: 10 * time.Second, RetainedEvery: 10 * time.Minute,
		Flushers: 2, Listen: true,
	}
}

// ConfigFromEnv reads the environment through lookup (os.LookupEnv). A boolean
// that is none of true/false, 1/0, yes/no, on/off is an error, and so are a
// listen address with a port and a PG_PORT that is none; any other number that
// does not parse, or that makes no sense for its knob, is the default and stands
// in Ignored.
func ConfigFromEnv(lookup func(string) (string, bool)) (Config, error) {
	cfg := DefaultConfig()
	env := environment{lookup: lookup}
	env.text("QUEEN_BIND_ADDR", &cfg.BindAddr)
	env.number("PORT", &cfg.Port, 0)
	env.long("QUEEN_MAX_BODY_BYTES", &cfg.MaxBodyBytes, 1)
	env.millis("POP_DEFAULT_TIMEOUT_MS", &cfg.PopTimeout, 0)
	env.millis("DEFAULT_TIMEOUT", &cfg.PopTimeout, 0)
	env.millis("POP_WAIT_INITIAL_INTERVAL_MS", &cfg.PopWaitInitial, 1)
	env.number("POP_WAIT_BACKOFF_THRESHOLD", &cfg.PopWaitThreshold, 0)
	env.factor("POP_WAIT_BACKOFF_MULTIPLIER", &cfg.PopWaitFactor)
	env.millis("POP_WAIT_MAX_INTERVAL_MS", &cfg.PopWaitMax, 1)
	env.mode("DEFAULT_SUBSCRIPTION_MODE", &cfg.SubscriptionMode)
	env.boolean("REGENT_ACK_REQUIRE_LEASE", &cfg.AckRequireLease)
	env.text("QUEEN_ENCRYPTION_KEY", &cfg.EncryptionKey)
	env.text("REGENT_ENCRYPTION_KEYS", &cfg.EncryptionKeys)
	env.number("DB_POOL_SIZE", &cfg.PoolSize, 1)
	env.text("REGENT_EXEC_MODE", &cfg.ExecMode)
	env.millis("QUEEN_STMT_TIMEOUT_MS", &cfg.StatementTimeout, 0)
	env.millis("REGENT_LOCK_TIMEOUT_MS", &cfg.LockTimeout, 0)
	env.millis("REGENT_IDLE_TX_TIMEOUT_MS", &cfg.IdleTxTimeout, 0)
	env.millis("REGENT_ACQUIRE_TIMEOUT_MS", &cfg.AcquireTimeout, 1)
	env.millis("REGENT_STOP_TIMEOUT_MS", &cfg.StopTimeout, 0)
	env.text("FILE_BUFFER_DIR", &cfg.BufferDir)
	env.long("REGENT_FILE_BUFFER_MAX_BYTES", &cfg.BufferMaxBytes, 0)
	env.millis("FILE_BUFFER_FLUSH_MS", &cfg.BufferFlush, 1)
	env.number("FILE_BUFFER_MAX_BATCH", &cfg.BufferBatch, 1)
	env.number("FILE_BUFFER_EVENTS_PER_FILE", &cfg.BufferEvents, 1)
	env.millis("RETENTION_INTERVAL", &cfg.RetentionEvery, 1)
	env.number("RETENTION_BATCH_SIZE", &cfg.RetentionBatch, 1)
	env.number("RETENTION_PARALLELISM", &cfg.RetentionParallelism, 1)
	env.number("QUEEN_RETENTION_DUE_CAP", &cfg.RetentionDueCap, 0)
	env.millis("QUEEN_RETENTION_SAFETY_WALK_MS", &cfg.RetentionWalk, 1)
	env.boolean("QUEEN_PARTITION_CLEANUP_ENABLED", &cfg.PartitionCleanup)
	env.number("PARTITION_CLEANUP_DAYS", &cfg.PartitionCleanupDays, 0)
	env.number("METRICS_RETENTION_DAYS", &cfg.MetricsRetentionDays, 1)
	env.millis("REGENT_COMPACTION_INTERVAL_MS", &cfg.CompactEvery, 1)
	env.millis("METRICS_FLUSH_MS", &cfg.MetricsFlush, 1000)
	env.number("REGENT_METRICS_LAG_SERIES", &cfg.MetricsLimit, 0)
	env.millis("STATS_INTERVAL_MS", &cfg.StatsEvery, 1000)
	env.millis("RETAINED_BYTES_INTERVAL_MS", &cfg.RetainedEvery, 1000)
	env.number("REGENT_FLUSHERS", &cfg.Flushers, 1)
	env.listen(&cfg)
	env.text("REGENT_TLS_CERT", &cfg.TLSCert)
	env.text("REGENT_TLS_KEY", &cfg.TLSKey)
	env.millis("REGENT_HEADER_TIMEOUT_MS", &cfg.HeaderTimeout, 1)
	env.millis("REGENT_BODY_TIMEOUT_MS", &cfg.BodyTimeout, 1)
	env.rate("REGENT_RATE_LIMIT", &cfg.RateLimit)
	env.number("REGENT_RATE_BURST", &cfg.RateBurst, 0)
	env.list("REGENT_CORS_ORIGINS", &cfg.CORSOrigins)
	cfg.JWT.read(&env)
	env.boolean("REGENT_API_KEYS", &cfg.APIKeys)
	env.list("JWT_SKIP_PATHS", &cfg.SkipPaths)
	env.boolean("QUEEN_TENANCY_HEADER", &cfg.TenancyHeader)
	env.boolean("QUEEN_KV_TRUSTED_PROXY", &cfg.TrustedProxy)
	cfg.DatabaseURL = env.database()
	cfg.Ignored = env.ignored
	return cfg, errors.Join(append(env.faults, cfg.check())...)
}

// Addr is the listen address with its port.
func (c Config) Addr() string { return net.JoinHostPort(c.BindAddr, strconv.Itoa(c.Port)) }

// Guarded reports whether callers have to say who they are.
func (c Config) Guarded() bool { return c.JWT.Enabled || c.APIKeys }

// local reports whether only this machine can connect.
func (c Config) local() bool {
	ip := net.ParseIP(strings.Trim(c.BindAddr, "[]"))
	return c.BindAddr == "localhost" || ip != nil && ip.IsLoopback()
}

// CheckExposure refuses to listen beyond this machine when nobody has to log in,
// unless AllowWithoutAuth says that this is meant.
func (c Config) CheckExposure() error {
	if c.Guarded() || c.AllowWithoutAuth || c.local() {
		return nil
	}
	return fmt.Errorf("listening on %q lets everybody in: set JWT_ENABLED=true or REGENT_API_KEYS=true, or say --insecure", c.BindAddr)
}

// collisionPatience is how long a colliding call is repeated: one that has waited
// for a lock as long as it may is not worth a second wait.
func (c Config) collisionPatience() time.Duration {
	if c.LockTimeout <= 0 {
		return 5 * time.Second
	}
	return c.LockTimeout * 9 / 10
}

func (c Config) check() error {
	if host, port, err := net.SplitHostPort(c.BindAddr); err == nil && port != "" {
		return fmt.Errorf("QUEEN_BIND_ADDR must not carry a port: got host %q and port %q, use PORT", host, port)
	}
	if c.Port < 0 || c.Port > 65535 {
		return fmt.Errorf("PORT must be between 0 and 65535, got %d", c.Port)
	}
	if c.MaxBodyBytes < 1 {
		return fmt.Errorf("QUEEN_MAX_BODY_BYTES must be positive, got %d", c.MaxBodyBytes)
	}
	if _, err := execMode(c.ExecMode); err != nil {
		return err
	}
	if _, err := newSealer("", c.EncryptionKeys, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if _, err := pgx.ParseConfig(c.ListenURL); c.ListenURL != "" && err != nil {
		return errors.New("REGENT_LISTEN must be true, false or a connection string") // what the driver says may show a password
	}
	if c.BufferDir != "" && (c.BufferFlush <= 0 || c.BufferBatch < 1 || c.BufferEvents < 1 || c.BufferMaxBytes < 0) {
		return errors.New("FILE_BUFFER_FLUSH_MS, FILE_BUFFER_MAX_BATCH and FILE_BUFFER_EVENTS_PER_FILE must be positive")
	}
	if c.TenancyHeader && !c.TrustedProxy {
		return errors.New("QUEEN_TENANCY_HEADER=true lets every client choose its tenant: only a proxy that sets x-queen-tenant itself may reach the server, confirm that with QUEEN_KV_TRUSTED_PROXY=true")
	}
	if c.RateLimit < 0 || c.RateBurst < 0 {
		return errors.New("REGENT_RATE_LIMIT and REGENT_RATE_BURST must not be negative")
	}
	if err := errors.Join(c.JWT.check(), c.checkTLS(), checkOrigins(c.CORSOrigins)); err != nil {
		return err
	}
	if c.Flushers < 1 || c.AcquireTimeout <= 0 {
		return errors.New("REGENT_FLUSHERS and REGENT_ACQUIRE_TIMEOUT_MS must be positive")
	}
	if c.MetricsFlush < time.Second || c.MetricsLimit < 0 {
		return errors.New("METRICS_FLUSH_MS must be 1000 at least and REGENT_METRICS_LAG_SERIES not negative")
	}
	return nil
}

// execMode maps the driver's names of the two modes that carry every argument
// of ours unharmed.
func execMode(name string) (pgx.QueryExecMode, error) {
	switch name {
	case "cache_statement":
		return pgx.QueryExecModeCacheStatement, nil
	case "cache_describe":
		return pgx.QueryExecModeCacheDescribe, nil
	}
	return 0, fmt.Errorf("REGENT_EXEC_MODE must be cache_statement or cache_describe, got %q", name)
}

// environment applies the parsing rules of the seeds and collects faults.
type environment struct {
	lookup  func(string) (string, bool)
	faults  []error
	ignored []Ignored
}

func (e *environment) text(name string, into *string) {
	if value, ok := e.lookup(name); ok {
		*into = value
	}
}

func (e *environment) boolean(name string, into *bool) {
	value, _ := e.lookup(name)
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "":
	case "true", "1", "yes", "on":
		*into = true
	case "false", "0", "no", "off":
		*into = false
	default:
		e.faults = append(e.faults, fmt.Errorf("%s must be true or false (1/0, yes/no, on/off), got %q", name, value))
	}
}

// listen reads a switch, or the connection string of a direct connection.
func (e *environment) listen(cfg *Config) {
	if dsn, _ := e.lookup("REGENT_LISTEN"); strings.Contains(dsn, "://") || strings.ContainsAny(dsn, "=@") {
		cfg.Listen, cfg.ListenURL = true, dsn
		return
	}
	e.boolean("REGENT_LISTEN", &cfg.Listen)
}

// whole reads a number from least to most; used is what stands without one.
func (e *environment) whole(name string, used, least, most int64) int64 {
	value, _ := e.lookup(name)
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err == nil && n >= least && n <= most {
		return n
	}
	instead := strconv.FormatInt(used, 10)
	if used < least {
		instead = "automatic"
	}
	e.ignore(name, value, instead)
	return used
}

// ignore notes a value that is not used; an empty one is none.
func (e *environment) ignore(name, value, used string) {
	if strings.TrimSpace(value) != "" {
		e.ignored = append(e.ignored, Ignored{Name: name, Value: value, Used: used})
	}
}

func (e *environment) long(name string, into *int64, least int64) {
	*into = e.whole(name, *into, least, math.MaxInt64)
}

func (e *environment) number(name string, into *int, least int64) {
	*into = int(e.whole(name, int64(*into), least, math.MaxInt32))
}

func (e *environment) millis(name string, into *time.Duration, least int64) {
	*into = time.Duration(e.whole(name, into.Milliseconds(), least, math.MaxInt32)) * time.Millisecond
}

func (e *environment) seconds(name string, into *time.Duration, least int64) {
	*into = time.Duration(e.whole(name, int64(into.Seconds()), least, math.MaxInt32)) * time.Second
}

// mode reads a subscription mode, of which any unknown word means all.
func (e *environment) mode(name string, into *string) {
	e.text(name, into)
	word := strings.ToLower(strings.TrimSpace(*into))
	if mode := subscription(word); mode != "new" && word != mode {
		e.ignore(name, *into, mode)
	}
}

// rate reads a number of calls a second. One that makes no sense is an error: it
// would let everybody in as often as he likes.
func (e *environment) rate(name string, into *float64) {
	value, _ := e.lookup(name)
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0 && n <= 1e9) {
		e.faults = append(e.faults, fmt.Errorf("%s must be a number of calls a second, got %q", name, value))
		return
	}
	*into = n
}

// list reads words between commas; an empty value is an empty list.
func (e *environment) list(name string, into *[]string) {
	value, set := e.lookup(name)
	if !set {
		return
	}
	*into = nil
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*into = append(*into, word)
		}
	}
}

func (e *environment) factor(name string, into *float64) {
	value, _ := e.lookup(name)
	if f, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && f >= 1 && f <= 1000 {
		*into = f
		return
	}
	e.ignore(name, value, strconv.FormatFloat(*into, 'g', -1, 64))
}

// database is DATABASE_URL, else the URL that the PG_* names spell.
func (e *environment) database() string {
	if dsn, ok := e.lookup("DATABASE_URL"); ok && dsn != "" {
		return dsn
	}
	host, port, user, password := "localhost", 5432, "postgres", "postgres"
	e.text("PG_HOST", &host)
	e.databasePort(&port)
	e.text("PG_USER", &user)
	e.text("PG_PASSWORD", &password)
	name := "postgres"
	for _, from := range []string{"PG_DB", "PG_DATABASE"} {
		if value, _ := e.lookup(from); value != "" {
			name = value
		}
	}
	dsn := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Path: "/" + name, RawQuery: e.tls().Encode()}
	if strings.HasPrefix(host, "/") { // a socket folder does not fit into the authority of a URL
		query := e.tls()
		query.Set("host", host)
		query.Set("port", strconv.Itoa(port))
		dsn.RawQuery = query.Encode()
	} else {
		dsn.Host = net.JoinHostPort(host, strconv.Itoa(port))
	}
	return dsn.String()
}

// databasePort reads PG_PORT. Unlike other numbers, one that makes no sense is an
// error: the default may be the port of another database.
func (e *environment) databasePort(into *int) {
	value, _ := e.lookup("PG_PORT")
	port, err := DatabasePort(value)
	if err != nil {
		e.faults = append(e.faults, err)
		return
	}
	*into = port
}

// DatabasePort is the port that the value of PG_PORT names, 5432 when it is empty. A
// value that is no port is an error, which names the variable and the value.
func DatabasePort(value string) (int, error) {
	trimmed := strings.TrimSpace(value)
	if trimmed == "" {
		return 5432, nil
	}
	port, err := strconv.ParseUint(trimmed, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("PG_PORT must be a port from 1 to 65535, got %q", value)
	}
	return int(port), nil
}

func (e *environment) tls() url.Values {
	use, verify, root := false, true, ""
	e.boolean("PG_USE_SSL", &use)
	e.boolean("PG_SSL_REJECT_UNAUTHORIZED", &verify)
	e.text("PG_SSL_ROOT_CERT", &root)
	query := url.Values{"sslmode": {"disable"}}
	switch {
	case use && verify:
		query.Set("sslmode", "verify-full")
	case use:
		query.Set("sslmode", "require")
	}
	if use && root != "" {
		query.Set("sslrootcert", root)
	}
	return query
}
