package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// dsnHelp follows the name of where a connection string was given.
const dsnHelp = "is no connection string: want postgres://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded, or host=HOST user=USER …"

// dsnSettings are the settings of PostgreSQL that a connection string may make.
// What is neither one of them nor a keyword of the driver is refused, for the
// driver takes any other word for a setting, too, so that a mistyped host leads
// to the database of this machine. Others go through options='-c NAME=VALUE'.
var dsnSettings = []string{"application_name", "client_encoding", "client_min_messages", "datestyle", "default_transaction_isolation",
	"default_transaction_read_only", "extra_float_digits", "idle_in_transaction_session_timeout", "idle_session_timeout", "intervalstyle",
	"jit", "lock_timeout", "options", "plan_cache_mode", "role", "search_path", "statement_timeout", "synchronous_commit",
	"tcp_keepalives_count", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_user_timeout", "timezone", "transaction_timeout", "work_mem",
	// Of the driver's pool.
	"default_query_exec_mode", "description_cache_capacity", "pool_health_check_period", "pool_max_conn_idle_time", "pool_max_conn_lifetime",
	"pool_max_conn_lifetime_jitter", "pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_ping_timeout", "statement_cache_capacity"}

var (
	dsnWord  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	dsnOwn   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_.]*$`) // a setting of an extension
	dsnPlace = regexp.MustCompile(`(^|\s)(host|port|user|password|dbname|database|service|passfile)\s*=`)
)

// checkDSN refuses a connection string that leads elsewhere than it seems to. From
// says where it was given. It quotes nothing that may be a part of a password.
func checkDSN(from, dsn string) error {
	isURL := strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
	if !isURL && !strings.Contains(dsn, "=") {
		return fmt.Errorf("%s %s", from, dsnHelp)
	}
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return withCode(exitUser, fmt.Errorf("%s: %w", from, err))
	}
	hosts := []string{config.Host}
	for _, f := range config.Fallbacks {
		hosts = append(hosts, f.Host)
	}
	if isURL && splitPassword(dsn) || slices.ContainsFunc(hosts, func(h string) bool { return !strings.HasPrefix(h, "/") && strings.ContainsAny(h, "@#") }) {
		return fmt.Errorf("%s %s", from, dsnHelp)
	}
	for name := range config.RuntimeParams {
		switch word := strings.ToLower(name); {
		case slices.Contains(dsnSettings, word), dsnOwn.MatchString(name):
		case !dsnWord.MatchString(word):
			return fmt.Errorf("%s %s", from, dsnHelp)
		default:
			return fmt.Errorf("%s: a connection string has no keyword %q; a setting of PostgreSQL goes into options='-c NAME=VALUE'", from, word)
		}
	}
	if !isURL && !dsnPlace.MatchString(dsn) {
		return fmt.Errorf("%s %s", from, dsnHelp)
	}
	return nil
}

// splitPassword reports whether a slash of the password cut a URL in two: the rest
// of it then stands where the database does.
func splitPassword(dsn string) bool {
	_, rest, _ := strings.Cut(dsn, "://")
	if at := strings.Index(rest, "@"); at >= 0 && !strings.Contains(rest[:at], "/") {
		rest = rest[at+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	_, database, _ := strings.Cut(rest, "/")
	return strings.Contains(database, "@")
}

// checkedDSN is dsn, if it is one.
func checkedDSN(from, dsn string) (string, error) {
	if err := checkDSN(from, dsn); err != nil {
		return "", err
	}
	return dsn, nil
}

// usableDSN is checkDSN for what is stored or shown: of an error it tells nothing
// that the driver says, who redacts as well as it can.
func usableDSN(from, dsn string) error {
	err := checkDSN(from, dsn)
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s %s", from, dsnHelp)
	}
	return err
}
