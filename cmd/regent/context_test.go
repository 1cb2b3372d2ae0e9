package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// configFolder gives the test a folder of contexts of its own.
func configFolder(t *testing.T) (file string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	for _, name := range []string{"REGENT_CONTEXT", "REGENT_URL", "REGENT_TOKEN"} {
		t.Setenv(name, "")
	}
	return filepath.Join(dir, "regent", "config.yaml")
}

func TestContextCommands(t *testing.T) {
	s := shared.get(t)
	file := configFolder(t)
	clearDatabaseEnv(t)
	t.Setenv("PG_HOST", "")
	t.Setenv("PG_USER", "")
	t.Setenv("PG_PASSWORD", "")
	password, _, _ := strings.Cut(strings.SplitN(s.dsn(t), ":", 3)[2], "@")
	run := func(code int, stdin string, args ...string) result {
		t.Helper()
		got := call(t, stdin, args...)
		require.Equal(t, code, got.code, "%s%s", got.out, got.err)
		require.NotContains(t, got.out+got.err, "s3cret", args)
		require.NotContains(t, got.out+got.err, password, args)
		return got
	}
	require.Equal(t, "[]\n", run(0, "", "context", "list").out)
	require.Contains(t, run(exitUser, "", "context", "show").err, "no context is in use")

	run(0, "s3cret\n", "context", "set", "http", "--url", s.url, "--token", "-")
	run(0, s.dsn(t), "context", "set", "sql", "--dsn", "-")
	st, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "token: s3cret")

	require.Equal(t, "NAME  CURRENT  URL", run(0, "", "context", "list", "-o", "table").out[:18])
	require.Contains(t, run(0, "", "context", "show", "sql").out, `"dsn": "postgres://postgres@127.0.0.1:`)
	require.Contains(t, run(0, "", "context", "show", "http").out, `"hasToken": true`)
	require.Contains(t, run(exitUser, "", "queue", "list", "--context", "none").err, `there is no context "none"`)

	// Each command by each context: named, in use, and by the environment.
	for _, name := range []string{"http", "sql"} {
		run(0, "", "queue", "list", "--context", name)
		run(0, "", "context", "use", name)
		require.Contains(t, run(0, "", "context", "show").out, `"current": true`)
		run(0, "", "queue", "list")
	}
	run(0, "", "key", "list")
	run(exitNothing, "", "migrate", "up")
	require.Contains(t, run(exitUser, "", "key", "list", "--context", "http").err, `context "http" has none`)
	require.Contains(t, run(exitUser, "", "tail", "q", "--context", "http").err, `context "http" has none`)
	require.Contains(t, run(exitUser, "", "tail", "no-such-queue").err, "does not exist")
	t.Setenv("REGENT_URL", "http://127.0.0.1:1")
	run(exitServer, "", "queue", "list", "--retry-for", "1ms")
	run(0, "", "queue", "list", "--context", "sql")
	t.Setenv("REGENT_URL", "")
	t.Setenv("REGENT_CONTEXT", "none")
	run(exitUser, "", "queue", "list")
	t.Setenv("REGENT_CONTEXT", "")

	// A token goes to no other address than its own.
	require.Contains(t, run(0, "", "context", "set", "http", "--url", "http://elsewhere").err, "is dropped")
	require.Contains(t, run(0, "", "context", "show", "http").out, `"hasToken": false`)

	require.Contains(t, run(exitUser, "", "context", "delete", "sql").err, "--yes does it")
	run(0, "", "context", "delete", "sql", "--dry-run", "--yes")
	run(0, "", "context", "delete", "sql", "--yes")
	run(exitNothing, "", "context", "delete", "sql", "--yes")
	run(exitUser, "", "context", "show")

	for want, args := range map[string][]string{
		`context "a b": want`:            {"context", "set", "a b", "--url", "http://x"},
		"needs an address":               {"context", "set", "x", "--token", "s3cret"},
		"--url is not an address":        {"context", "set", "x", "--url", "s3cret"},
		"--dsn is no connection string":  {"context", "set", "x", "--dsn", "postgres://u:s3cret/word@h/d"},
		"--token holds a control":        {"context", "set", "x", "--url", "http://x", "--token", "s3cret\n"},
		"standard input holds nothing":   {"context", "set", "x", "--url", "http://x", "--token", "-"},
		"cannot both be read":            {"context", "set", "x", "--dsn", "-", "--token", "-"},
		"at least one of the flags":      {"context", "set", "x"},
		`there is no context "x" (see "`: {"context", "use", "x"},
		"[context url] were all set":     {"queue", "list", "--context", "http", "--url", "http://x"},
	} {
		require.Contains(t, run(exitUser, "", args...).err, want)
	}
	require.NoError(t, os.Chmod(file, 0o640))
	require.Contains(t, run(exitUser, "", "queue", "list").err, "open to others: run chmod 600")
	run(0, "", "queue", "list", "--url", s.url)
	require.NoError(t, os.WriteFile(file, []byte("contexts: s3cret"), 0o600))
	require.NoError(t, os.Chmod(file, 0o600))
	require.Contains(t, run(exitUser, "", "context", "list").err, "cannot be read")
}

// An address that is given and empty leads nowhere, whatever else is named.
func TestAnEmptyAddressIsRefused(t *testing.T) {
	configFolder(t)
	for flag, commands := range map[string][]string{
		"dsn": {"queue list", "queue delete q --yes", "push q", "tail q", "serve", "migrate up", "migrate --roles", "key list", "doctor", "verify", "top --once", "bench"},
		"url": {"queue list", "group delete g --yes", "top --once"},
	} {
		for _, line := range commands {
			for _, empty := range []string{"", " "} {
				got := call(t, "", append(strings.Fields(line), "--"+flag, empty)...)
				require.Equal(t, exitUser, got.code, line)
				require.Equal(t, "regent: --"+flag+" is empty\n", got.err, line)
			}
		}
	}
}

// A password that PostgreSQL refuses is a matter of rights, whichever command it is.
func TestAWrongPasswordIsNotAuthorised(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(shared.get(t).dsn(t))
	require.NoError(t, err)
	u.User = url.UserPassword(u.User.Username(), "wr0ng")
	for _, line := range []string{"queue list --retry-for 0s", "tail q --retry-for 0s", "migrate status", "migrate up", "key list", "doctor", "verify", "serve"} {
		got := call(t, "", append(strings.Fields(line), "--dsn", u.String())...)
		require.Equal(t, exitAuth, got.code, "%s: %s", line, got.err)
		require.NotContains(t, got.err, "wr0ng", line)
	}
}

// The order is: flags, --context, environment, REGENT_CONTEXT, file, default.
func TestWhereACommandGoes(t *testing.T) {
	file := configFolder(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("current: both\ncontexts:\n  both: {url: 'http://both', dsn: d, token: t}\n  bare: {url: 'http://bare'}\n  db: {dsn: d}\n"), 0o600))
	for _, c := range []struct {
		args, env string
		want      connection
		database  string // "": refused
	}{
		{"", "", connection{URL: "http://both", Token: "t"}, "d"},
		{"--token x", "", connection{URL: "http://both", Token: "x"}, "d"},
		{"", "REGENT_TOKEN=e", connection{URL: "http://both", Token: "e"}, "d"},
		{"--url http://u", "", connection{URL: "http://u"}, "d"},
		{"--url http://u", "REGENT_TOKEN=e", connection{URL: "http://u", Token: "e"}, "d"},
		{"--dsn f", "REGENT_URL=http://e", connection{DSN: "f"}, "f"},
		{"", "REGENT_URL=http://e", connection{URL: "http://e"}, "d"},
		{"--token x", "REGENT_URL=http://e REGENT_TOKEN=e", connection{URL: "http://e", Token: "x"}, "d"},
		{"--context both", "REGENT_URL=http://e REGENT_TOKEN=e DATABASE_URL=e", connection{URL: "http://both", Token: "t"}, "d"},
		{"--context bare", "REGENT_TOKEN=e", connection{URL: "http://bare", Token: "e"}, ""},
		{"--context db", "", connection{DSN: "d"}, "d"},
		{"", "REGENT_CONTEXT=db", connection{DSN: "d"}, "d"},
		{"", "REGENT_CONTEXT=db REGENT_URL=http://e DATABASE_URL=e", connection{URL: "http://e"}, "e"},
		{"", "REGENT_CONTEXT=bare PG_HOST=h", connection{URL: "http://bare"}, "postgres://postgres:postgres@h:5432/postgres?sslmode=disable"},
		{"--context both", "REGENT_CONTEXT=none", connection{URL: "http://both", Token: "t"}, "d"},
	} {
		t.Run(c.args+" "+c.env, func(t *testing.T) {
			clearDatabaseEnv(t)
			for _, name := range []string{"PG_HOST", "PG_USER", "PG_PASSWORD"} {
				t.Setenv(name, "")
				require.NoError(t, os.Unsetenv(name))
			}
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			var target targetFlags
			cmd := &cobra.Command{}
			target.addFlags(cmd, 0)
			require.NoError(t, cmd.ParseFlags(strings.Fields(c.args)))
			got, err := target.resolve(cmd)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			database, err := databaseOf(cmd, target.dsn)
			require.Equal(t, c.database == "", err != nil)
			require.Equal(t, c.database, database)
		})
	}
}

// A command that no context names goes to the default when there is no file.
func TestNoContexts(t *testing.T) {
	configFolder(t)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	var target targetFlags
	cmd := &cobra.Command{}
	target.addFlags(cmd, 0)
	got, err := target.resolve(cmd)
	require.NoError(t, err)
	require.Equal(t, connection{URL: defaultURL}, got)
	require.Equal(t, exitUser, call(t, "", "context", "set", "x", "--url", "http://x").code)
}
