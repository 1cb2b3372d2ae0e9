package main

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// dsnHelp follows the name of where a connection string was given.
const dsnHelp = "is no connection string: want postgres://USER:PASSWORD@HOST/DATABASE, with special characters percent-encoded, or host=HOST user=USER …"

// dsnKeywords are the words of the driver, which say where a connection string leads
// and how.
var dsnKeywords = []string{"host", "port", "user", "password", "dbname", "database", "service", "servicefile", "passfile", "connect_timeout",
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcertmode", "sslnegotiation", "sslsni", "ssl", "channel_binding",
	"require_auth", "target_session_attrs", "krbsrvname", "krbspn", "min_protocol_version", "max_protocol_version"}

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
	dsnWord = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	dsnOwn  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_.]*$`) // a setting of an extension
	// dsnGiven is one keyword with its value, as the driver reads them, and what sticks to
	// its closing quote.
	dsnGiven = regexp.MustCompile(`(?s)([^=\s\v]+)[\s\v]*=([\s\v]*)('(?:[^'\\]|\\.)*'|(?:[^\s\v\\]|\\.)*)([^\s\v]?)`)
	// dsnPairs begins like a keyword with a value.
	dsnPairs = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]*)=(.*)`)
	// dsnQuery is the query of a URL without a path, which stands before an @.
	dsnQuery = regexp.MustCompile(`\?[a-z_]+=`)
	// dsnName is what names a host that is neither an address nor a folder.
	dsnName = regexp.MustCompile(`^[\pL\pN._-]+$`)
	// dsnHost is one host of a URL, in full.
	dsnHost = regexp.MustCompile(`^(\[[^\[\]]+\]|[^\[\]:\s]+)(:[^:]+)?$`)
	// dsnInside is what a whole address looks like where only a name of it should be.
	dsnInside = regexp.MustCompile(`(?s)://|:.*@`)
)

// checkDSN refuses a connection string that leads elsewhere than it seems to. From
// says where it was given. It quotes nothing of it, nor what the driver says of it,
// who redacts as well as it can: any piece may be one of a password.
func checkDSN(from, dsn string) error {
	parts := readDSN(dsn)
	settings, ok := parseDSN(dsn)
	switch empty := parts.empty(); {
	case !ok && parts.gives("service", "servicefile", "sslmode", "sslrootcert", "sslcert", "sslkey"):
		return fmt.Errorf("%s %s; the service and the files that it names must be there, and sslmode one of its words", from, dsnHelp)
	case !ok, parts.stuck, parts.torn():
		return fmt.Errorf("%s %s", from, dsnHelp)
	case parts.swallows():
		return fmt.Errorf("%s takes a keyword for the value of the one before: an empty value is written '', one with an = goes into quotes", from)
	case empty != "":
		return fmt.Errorf("%s names an empty %s", from, empty)
	}
	if err := checkSettings(from, settings); err != nil {
		return err
	}
	if !parts.isURL && !parts.gives("host", "port", "user", "password", "dbname", "database", "service", "passfile") {
		return fmt.Errorf("%s %s", from, dsnHelp)
	}
	return nil
}

// parseDSN has the driver read a connection string, and returns the settings that it
// will ask PostgreSQL for. What has an address inside a name is none: a piece of a
// password may stand there, which an error of the connection would show.
func parseDSN(dsn string) (settings map[string]string, ok bool) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, false
	}
	hosts := []string{config.ConnConfig.Host}
	for _, f := range config.ConnConfig.Fallbacks {
		hosts = append(hosts, f.Host)
	}
	return config.ConnConfig.RuntimeParams, allOf(hosts, isHost) && !dsnInside.MatchString(config.ConnConfig.Database) && !dsnInside.MatchString(config.ConnConfig.User)
}

// isHost tells a host from what a torn connection string leaves in its place.
func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || filepath.IsAbs(host) || dsnName.MatchString(host)
}

// checkSettings refuses what neither the driver nor PostgreSQL knows.
func checkSettings(from string, settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		word, _, own := strings.Cut(strings.ToLower(name), ".")
		known := slices.Contains(dsnSettings, word)
		if own {
			known = dsnOwn.MatchString(name) && !known && !slices.Contains(dsnKeywords, word)
		}
		near := nearWords(word, 2, slices.Concat(dsnKeywords, dsnSettings))
		switch {
		case known:
		case !dsnWord.MatchString(word):
			return fmt.Errorf("%s %s", from, dsnHelp)
		case len(near) > 0 && len(near) <= 3:
			return fmt.Errorf("%s has an unknown keyword; did you mean %s?", from, strings.Join(near, " or "))
		default:
			return fmt.Errorf("%s has an unknown keyword: a setting of PostgreSQL goes into options='-c NAME=VALUE', a value with a space into quotes", from)
		}
	}
	return nil
}

// dsnPair is a keyword of a connection string with its value as it is written.
type dsnPair struct {
	word, value string
	apart       bool // without quotes, behind a space
}

// dsnParts is a connection string as it is written: what the driver makes of it does
// not tell any more which value is empty, and where it was cut.
type dsnParts struct {
	isURL, hasLogin, stuck bool   // stuck: something sticks to a closing quote
	login, hosts, database string // of a URL
	pairs                  []dsnPair
}

// readDSN takes a connection string apart as the driver does.
func readDSN(dsn string) (p dsnParts) {
	rest, isURL := strings.CutPrefix(dsn, "postgresql://")
	if !isURL {
		rest, isURL = strings.CutPrefix(dsn, "postgres://")
	}
	if p.isURL = isURL; !isURL {
		for _, m := range dsnGiven.FindAllStringSubmatch(dsn, -1) {
			value := strings.TrimSuffix(strings.TrimPrefix(m[3], "'"), "'")
			p.stuck = p.stuck || m[4] != ""
			p.pairs = append(p.pairs, dsnPair{word: m[1], value: value, apart: m[2] != "" && !strings.HasPrefix(m[3], "'")})
		}
		return p
	}
	if at := strings.IndexAny(rest, "@/"); at >= 0 && rest[at] == '@' {
		p.hasLogin, p.login, rest = true, rest[:at], rest[at+1:]
	}
	rest, query, asked := strings.Cut(rest, "?")
	p.hosts, p.database, _ = strings.Cut(rest, "/")
	if asked {
		for pair := range strings.SplitSeq(query, "&") {
			word, value, _ := strings.Cut(pair, "=")
			if plain, err := url.PathUnescape(word); err == nil {
				word = plain
			}
			p.pairs = append(p.pairs, dsnPair{word: strings.TrimSpace(word), value: value})
		}
	}
	return p
}

func (p dsnParts) gives(words ...string) bool {
	return slices.ContainsFunc(p.pairs, func(d dsnPair) bool { return slices.Contains(words, d.word) })
}

// torn reports whether a character of the password cut a URL in two: an @ stands
// behind the part that should end with it.
func (p dsnParts) torn() bool {
	return p.isURL && (strings.Contains(p.hosts+p.database, "@") || dsnQuery.MatchString(p.login) ||
		slices.ContainsFunc(p.pairs, func(d dsnPair) bool { return strings.Contains(d.word+d.value, "@") && !p.mayHoldAt(d) }))
}

// mayHoldAt tells an @ that belongs where it stands: in the name of a user at a
// server, and, where no password was given before, in one or in a path.
func (p dsnParts) mayHoldAt(d dsnPair) bool {
	switch {
	case d.word == "user":
		return !p.hasLogin && !strings.ContainsAny(d.value, "/:")
	case d.word == "password":
		return !strings.Contains(p.login, ":") && (p.hasLogin || p.gives("user"))
	}
	return strings.HasPrefix(d.value, "/") && !strings.Contains(p.login+p.hosts, ":")
}

// swallows reports whether a value is the next keyword, as in "password= host=db":
// spaces may stand behind an equals sign.
func (p dsnParts) swallows() bool {
	return slices.ContainsFunc(p.pairs, func(d dsnPair) bool {
		m := dsnPairs.FindStringSubmatch(d.value)
		return d.apart && m != nil && (strings.Trim(m[2], "=") != "" || slices.Contains(dsnKeywords, strings.ToLower(m[1])))
	})
}

// empty is the word that is given without a value, as by a variable that is not set:
// it would lead to the database of this machine, or of another name.
func (p dsnParts) empty() string {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	for _, d := range p.pairs {
		if d.word == "host" && slices.ContainsFunc(strings.Split(d.value, ","), blank) ||
			slices.Contains([]string{"port", "user", "dbname", "database", "service"}, d.word) && blank(d.value) {
			return d.word
		}
	}
	whole := func(s string) bool { return dsnHost.MatchString(s) }
	if p.hosts != "" && !p.gives("host") && !allOf(strings.Split(p.hosts, ","), whole) {
		return "host or port"
	}
	return ""
}

func allOf(all []string, is func(string) bool) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return !is(s) })
}

// checkedDSN is dsn, if it is one.
func checkedDSN(from, dsn string) (string, error) {
	if err := checkDSN(from, dsn); err != nil {
		return "", err
	}
	return dsn, nil
}
