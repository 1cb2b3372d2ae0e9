package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// env is a lookup over pairs.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestEmptyEnvironmentIsTheDefault(t *testing.T) {
	t.Parallel()
	cfg, err := ConfigFromEnv(env())
	require.NoError(t, err)
	require.Equal(t, DefaultConfig().DatabaseURL, cfg.DatabaseURL)
	require.Equal(t, DefaultConfig(), cfg)
	require.Equal(t, "127.0.0.1:6632", cfg.Addr())
}

func TestEnvironmentRules(t *testing.T) {
	t.Parallel()
	cfg, err := ConfigFromEnv(env("PORT", " 7000 ", "QUEEN_BIND_ADDR", "::1", "QUEEN_MAX_BODY_BYTES", "12x", "POP_DEFAULT_TIMEOUT_MS", "5", "DB_POOL_SIZE", "-3",
		"POP_WAIT_BACKOFF_MULTIPLIER", "1.5", "REGENT_ACK_REQUIRE_LEASE", " YES ", "REGENT_LISTEN", "off", "DEFAULT_SUBSCRIPTION_MODE", ""))
	require.NoError(t, err)
	require.Equal(t, "[::1]:7000", cfg.Addr())
	require.Equal(t, int64(64<<20), cfg.MaxBodyBytes, "a number that does not parse is the default")
	require.Equal(t, 5*time.Millisecond, cfg.PopTimeout)
	require.Zero(t, cfg.PoolSize)
	require.InEpsilon(t, 1.5, cfg.PopWaitFactor, 0.001)
	require.True(t, cfg.AckRequireLease)
	require.False(t, cfg.Listen)
	require.Empty(t, cfg.SubscriptionMode, "an empty string is kept")
	require.Equal(t, []Ignored{{"QUEEN_MAX_BODY_BYTES", "12x", "67108864"}, {"DB_POOL_SIZE", "-3", "automatic"}}, cfg.Ignored)

	cfg, err = ConfigFromEnv(env("PORT", "abc", "STATS_INTERVAL_MS", "5", "METRICS_FLUSH_MS", "9999999999", "JWT_CLOCK_SKEW", "-1",
		"DEFAULT_SUBSCRIPTION_MODE", "foo", "POP_WAIT_BACKOFF_MULTIPLIER", "0.5", "REGENT_FLUSHERS", " "))
	require.NoError(t, err)
	require.ElementsMatch(t, []Ignored{{"PORT", "abc", "6632"}, {"STATS_INTERVAL_MS", "5", "10000"}, {"METRICS_FLUSH_MS", "9999999999", "60000"},
		{"JWT_CLOCK_SKEW", "-1", "30"}, {"DEFAULT_SUBSCRIPTION_MODE", "foo", "all"}, {"POP_WAIT_BACKOFF_MULTIPLIER", "0.5", "2"}}, cfg.Ignored)
	require.Equal(t, 10*time.Second, cfg.StatsEvery)
	for _, word := range []string{"all", "New", "new-only"} {
		cfg, err = ConfigFromEnv(env("DEFAULT_SUBSCRIPTION_MODE", word))
		require.NoError(t, err)
		require.Empty(t, cfg.Ignored, word)
	}

	cfg, err = ConfigFromEnv(env("FILE_BUFFER_DIR", "/spool", "REGENT_FILE_BUFFER_MAX_BYTES", "0", "FILE_BUFFER_FLUSH_MS", "0", "FILE_BUFFER_MAX_BATCH", "7", "FILE_BUFFER_EVENTS_PER_FILE", "8"))
	require.NoError(t, err)
	require.Equal(t, "/spool 0 100ms 7 8\n", fmt.Sprintln(cfg.BufferDir, cfg.BufferMaxBytes, cfg.BufferFlush, cfg.BufferBatch, cfg.BufferEvents))

	cfg, err = ConfigFromEnv(env("POP_DEFAULT_TIMEOUT_MS", "5", "DEFAULT_TIMEOUT", "7"))
	require.NoError(t, err)
	require.Equal(t, 7*time.Millisecond, cfg.PopTimeout, "DEFAULT_TIMEOUT comes first")

	for _, direct := range []string{"postgres://u@db:5432/d", "host=/run port=5432"} {
		cfg, err = ConfigFromEnv(env("REGENT_LISTEN", direct))
		require.NoError(t, err)
		require.True(t, cfg.Listen)
		require.Equal(t, direct, cfg.ListenURL)
	}

	for _, fatal := range [][]string{{"REGENT_LISTEN", "maybe"}, {"REGENT_LISTEN", "postgres://:x:y:"}, {"REGENT_LISTEN", "u:s3cret@h/d"}, {"REGENT_LISTEN", "host=h PASSWORD=s3cret sslmode=bad"}, {"QUEEN_BIND_ADDR", "0.0.0.0:80"}, {"REGENT_EXEC_MODE", "fast"}, {"PG_USE_SSL", "2"},
		{"PG_PORT", "many"}, {"PG_PORT", "0"}, {"PG_PORT", "-5432"}, {"PG_PORT", "65536"}, {"PG_PORT", "5432x"}, {"PG_HOST", "/run/pg", "PG_PORT", "54 32"},
		{"REGENT_ENCRYPTION_KEYS", "2024:00ff"}} {
		_, err := ConfigFromEnv(env(fatal...))
		require.ErrorContains(t, err, fatal[len(fatal)-2])
		require.NotContains(t, err.Error(), "s3cret")
	}
}

func TestDatabaseFromEnvironment(t *testing.T) {
	t.Parallel()
	for want, pairs := range map[string][]string{
		"postgres://u:p%20%40@db:5433/d?sslmode=disable":                                              {"PG_HOST", "db", "PG_PORT", "5433", "PG_USER", "u", "PG_PASSWORD", "p @", "PG_DB", "d"},
		"postgres://postgres:postgres@localhost:5432/a?sslmode=disable":                               {"PG_DATABASE", "a", "PG_DB", "b"},
		"postgres://postgres:postgres@localhost:5432/b?sslmode=disable":                               {"PG_DATABASE", "", "PG_DB", "b"},
		"postgres://postgres:postgres@localhost:5432/postgres?sslmode=verify-full&sslrootcert=ca.pem": {"PG_USE_SSL", "true", "PG_SSL_ROOT_CERT", "ca.pem"},
		"postgres://postgres:postgres@localhost:5432/postgres?sslmode=require":                        {"PG_USE_SSL", "1", "PG_SSL_REJECT_UNAUTHORIZED", "no"},
		"postgres://here": {"DATABASE_URL", "postgres://here", "PG_HOST", "db"},
	} {
		cfg, err := ConfigFromEnv(env(pairs...))
		require.NoError(t, err)
		require.Equal(t, want, cfg.DatabaseURL)
		if !strings.HasSuffix(want, "here") && !strings.Contains(want, "ca.pem") {
			_, err = pgx.ParseConfig(cfg.DatabaseURL)
			require.NoError(t, err)
		}
	}
	cfg, err := ConfigFromEnv(env("PG_HOST", "/run/db", "PG_USER", "u"))
	require.NoError(t, err)
	parsed, err := pgx.ParseConfig(cfg.DatabaseURL)
	require.NoError(t, err)
	require.Equal(t, "/run/db", parsed.Host)
}

func TestSessionsArePinned(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	pool, err := PoolConfig(cfg)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"application_name": "regent", "timezone": "UTC", "default_transaction_isolation": "read committed",
		"statement_timeout": "30000", "lock_timeout": "5000", "idle_in_transaction_session_timeout": "60000",
	}, pool.ConnConfig.RuntimeParams)
	cfg.ExecMode = "cache_describe"
	pool, err = PoolConfig(cfg)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"application_name": "regent", "timezone": "UTC"}, pool.ConnConfig.RuntimeParams, "a pooler refuses the rest")
	require.Equal(t, pgx.QueryExecModeCacheDescribe, pool.ConnConfig.DefaultQueryExecMode)
}

func TestModeForPoolersServes(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.ExecMode = "cache_describe" })
	got := ts.take("q", 3)
	require.True(t, ts.ackAll(got, "completed")[2].Success)
	require.Equal(t, "duplicate", ts.push(`{"items":[{"queue":"q","payload":1,"transactionId":"m1"}]}`)[0].Status)
}
