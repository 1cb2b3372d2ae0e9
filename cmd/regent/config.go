package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
)

// databaseURL decides which database a command talks to: the flag, else
// DATABASE_URL, else the PG_* variables with their defaults.
func databaseURL(cmd *cobra.Command, flag string) (string, error) {
	if flag != "" {
		setChosenBy(cmd, "--dsn")
		return checkedDSN("--dsn", flag)
	}
	if dsn := os.Getenv("DATABASE_URL"); dsn != "" {
		setChosenBy(cmd, "DATABASE_URL")
		return checkedDSN("DATABASE_URL", dsn)
	}
	setChosenBy(cmd, map[bool]string{true: "the PG_* variables", false: "the default"}[databaseNamed()])
	query, err := sslQuery()
	if err != nil {
		return "", err
	}
	user, password := envOr("PG_USER", "postgres"), envOr("PG_PASSWORD", "postgres")
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password)}
	// An empty name falls through to the next one, unlike the other strings.
	u.Path = "/" + cmp.Or(os.Getenv("PG_DATABASE"), os.Getenv("PG_DB"), "postgres")
	number, err := api.DatabasePort(os.Getenv("PG_PORT"))
	if err != nil {
		return "", err
	}
	host, port := envOr("PG_HOST", "localhost"), strconv.Itoa(number)
	if strings.HasPrefix(host, "/") { // a socket folder
		query.Set("host", host)
		query.Set("port", port)
	} else {
		u.Host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	u.RawQuery = query.Encode()
	if _, ok := parseDSN(u.String()); !ok {
		return "", errors.New("the PG_* variables lead to no database: PG_HOST is a host or the folder of a socket, PG_USER and PG_DATABASE are names, PG_SSL_ROOT_CERT is a file")
	}
	return u.String(), nil
}

// sslQuery turns the three PG_*SSL* variables into libpq's words.
func sslQuery() (url.Values, error) {
	on, err := envSwitch("PG_USE_SSL", false)
	if err != nil {
		return nil, err
	}
	verify, err := envSwitch("PG_SSL_REJECT_UNAUTHORIZED", true)
	if err != nil {
		return nil, err
	}
	root := os.Getenv("PG_SSL_ROOT_CERT")
	query := url.Values{}
	switch {
	case !on:
		query.Set("sslmode", "disable")
	case !verify:
		query.Set("sslmode", "require")
	default:
		query.Set("sslmode", "verify-full")
		if root != "" {
			query.Set("sslrootcert", root)
		}
	}
	return query, nil
}

// envOr keeps an empty value as empty: only an unset variable has the default.
func envOr(name, unset string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return unset
}

// envSwitch reads a boolean variable; a word that it does not know is an error,
// since a typo must not turn off what somebody turned on.
func envSwitch(name string, unset bool) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(os.Getenv(name))) {
	case "":
		return unset, nil
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, withCode(exitUser, fmt.Errorf("%s is neither true nor false", name))
}
