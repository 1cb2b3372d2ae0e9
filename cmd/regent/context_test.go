package main

import (
	"net/http"
	"net/http/httptest"
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

// The settings of a pool are for the driver: a server would refuse them.
func TestEveryCommandTakesTheSettingsOfAPool(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(shared.get(t).dsn(t))
	require.NoError(t, err)
	query := u.Query()
	query.Set("pool_max_conns", "3")
	u.RawQuery = query.Encode()
	for line, code := range map[string]int{"queue list": 0, "migrate status": 0, "migrate up": exitNothing, "key list": 0, "tail no-such-queue": exitUser} {
		got := call(t, "", append(strings.Fields(line), "--dsn", u.String())...)
		require.Equal(t, code, got.code, "%s: %s", line, got.err)
		require.NotContains(t, got.err, "pool_max_conns", line)
	}
}

// The order is: flags, --context, environment, REGENT_CONTEXT, file, default.
func TestWhereACommandGoes(t *testing.T) {
	file := configFolder(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("current: both\ncontexts:\n  both: {url: 'http://both', dsn: host=d, token: t}\n  bare: {url: 'http://bare'}\n  db: {dsn: host=d}\n"), 0o600))
	for _, c := range []struct {
		args, env string
		want      connection
		database  string // "": refused
		by, dbBy  string // what chose them
	}{
		{"", "", connection{URL: "http://both", Token: "t"}, "host=d", `context "both" in use`, `context "both" in use`},
		{"--token x", "", connection{URL: "http://both", Token: "x"}, "host=d", `context "both" in use`, `context "both" in use`},
		{"", "REGENT_TOKEN=e", connection{URL: "http://both", Token: "e"}, "host=d", `context "both" in use`, `context "both" in use`},
		{"--url http://u", "", connection{URL: "http://u"}, "host=d", "--url", `context "both" in use`},
		{"--url http://u", "REGENT_TOKEN=e", connection{URL: "http://u", Token: "e"}, "host=d", "--url", `context "both" in use`},
		{"--dsn host=f", "REGENT_URL=http://e", connection{DSN: "host=f"}, "host=f", "--dsn", "--dsn"},
		{"", "REGENT_URL=http://e", connection{URL: "http://e"}, "host=d", "REGENT_URL", `context "both" in use`},
		{"--token x", "REGENT_URL=http://e REGENT_TOKEN=e", connection{URL: "http://e", Token: "x"}, "host=d", "REGENT_URL", `context "both" in use`},
		{"--context both", "REGENT_URL=http://e REGENT_TOKEN=e DATABASE_URL=host=e", connection{URL: "http://both", Token: "t"}, "host=d", `context "both" of --context`, `context "both" of --context`},
		{"--context bare", "REGENT_TOKEN=e", connection{URL: "http://bare", Token: "e"}, "", `context "bare" of --context`, `context "bare" of --context`},
		{"--context db", "", connection{DSN: "host=d"}, "host=d", `context "db" of --context`, `context "db" of --context`},
		{"", "REGENT_CONTEXT=db", connection{DSN: "host=d"}, "host=d", `context "db" of REGENT_CONTEXT`, `context "db" of REGENT_CONTEXT`},
		{"", "REGENT_CONTEXT=db REGENT_URL=http://e DATABASE_URL=host=e", connection{URL: "http://e"}, "host=e", "REGENT_URL", "DATABASE_URL"},
		{"", "REGENT_CONTEXT=bare PG_HOST=h", connection{URL: "http://bare"}, "postgres://postgres:postgres@h:5432/postgres?sslmode=disable", `context "bare" of REGENT_CONTEXT`, "the PG_* variables"},
		{"", "REGENT_CONTEXT=bare", connection{URL: "http://bare"}, "", `context "bare" of REGENT_CONTEXT`, `context "bare" of REGENT_CONTEXT`},
		{"", "REGENT_CONTEXT=bare DATABASE_URL=host=e", connection{URL: "http://bare"}, "host=e", `context "bare" of REGENT_CONTEXT`, "DATABASE_URL"},
		{"--dsn host=f", "REGENT_CONTEXT=bare", connection{DSN: "host=f"}, "host=f", "--dsn", "--dsn"},
		{"--context both", "REGENT_CONTEXT=none", connection{URL: "http://both", Token: "t"}, "host=d", `context "both" of --context`, `context "both" of --context`},
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
			require.Equal(t, c.by, cmd.Annotations[chosenBy])
			database, err := databaseOf(cmd, target.dsn)
			require.Equal(t, c.dbBy, cmd.Annotations[chosenBy])
			require.Equal(t, c.database == "", err != nil)
			require.Equal(t, c.database, database)
		})
	}
}

// folderWithDSN is a working folder with a server's connection string, without
// variables that name another; it returns where the contexts are to be.
func folderWithDSN(t *testing.T, dsn string) (file string) {
	t.Helper()
	file = configFolder(t)
	clearDatabaseEnv(t)
	for _, name := range []string{"PG_HOST", "PG_USER", "PG_PASSWORD"} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(defaultDataDir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(defaultDataDir, dsnFile), []byte(dsn), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	return file
}

// Whoever cannot connect learns where to, and what chose that.
func TestConnectionErrorsNameWhatChoseTheServer(t *testing.T) {
	file := folderWithDSN(t, "host=127.0.0.1 port=1 user=d dbname=d password=s3cret sslmode=disable")
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer silent.Close()
	contexts := "contexts:\n  prod: {url: 'http://me:s3cret@127.0.0.1:1'}\n  db: {dsn: 'postgres://me:s3cret@127.0.0.1:1/x?sslmode=disable'}\n  mute: {url: '" + silent.URL + "'}\n"
	for _, c := range []struct{ current, env, line, want string }{
		{"prod", "", "queue list", `cannot connect to http://me:xxxxx@127.0.0.1:1 (context "prod" in use): nobody listens there`},
		{"prod", "db", "queue list", `cannot connect to postgres://me@127.0.0.1:1/x (context "db" of REGENT_CONTEXT): nobody listens there`},
		{"", "", "queue list --context prod", `cannot connect to http://me:xxxxx@127.0.0.1:1 (context "prod" of --context): nobody listens there`},
		{"db", "", "doctor", `cannot connect to postgres://me@127.0.0.1:1/x (context "db" in use): nobody listens there`},
		{"", "", "tail q", "cannot connect to postgres://d@127.0.0.1:1/d (.regent/dsn): nobody listens there"},
		{"mute", "", "queue list", `EOF (the server is that of context "mute" in use)`},
	} {
		require.NoError(t, os.WriteFile(file, []byte("current: "+c.current+"\n"+contexts), 0o600))
		t.Setenv("REGENT_CONTEXT", c.env)
		args := strings.Fields(c.line)
		if args[0] != "doctor" {
			args = append(args, "--retry-for", "1ms")
		}
		got := call(t, "", args...)
		require.Equal(t, exitServer, got.code, "%s: %s", c.line, got.err)
		require.Contains(t, got.err, c.want)
		require.NotContains(t, got.err, "s3cret")
	}
}

// A context in use without a database, or without anything, leads nowhere else.
func TestAContextWithoutTheAddressIsRefused(t *testing.T) {
	file := folderWithDSN(t, "host=127.0.0.1 port=1")
	text := "contexts:\n  prod: {url: 'http://127.0.0.1:1'}\n  none: {token: s3cret}\n  bad: {dsn: 'hosst=x'}\n"
	refused := func(want, line string) {
		t.Helper()
		got := call(t, "", strings.Fields(line)...)
		require.Equal(t, exitUser, got.code, "%s: %s", line, got.err)
		require.Contains(t, got.err, want, line)
		require.NotContains(t, got.err, "s3cret", line)
	}
	for name, want := range map[string]string{
		"prod": `this command works in the database, and context "prod" has none`,
		"none": `this command works in the database, and context "none" has none`,
		"bad":  `the database of context "bad" has an unknown keyword; did you mean host?`,
	} {
		require.NoError(t, os.WriteFile(file, []byte("current: "+name+"\n"+text), 0o600))
		for _, line := range []string{"migrate up", "migrate status", "migrate --roles", "key list", "doctor", "verify", "tail q"} {
			refused(want, line)
			refused(want, line+" --context "+name)
		}
		if name == "prod" {
			continue
		}
		if name == "none" {
			want = `context "none" has neither an address nor a database`
		}
		refused(want, "queue delete q --yes")
		refused(want, "queue delete q --yes --context "+name)
	}
	t.Setenv("REGENT_CONTEXT", "prod")
	refused(`context "prod" has none`, "tail q")
}

// What is no connection string, or leads elsewhere than it seems to, leads nowhere,
// and no part of a password is shown.
func TestAConnectionStringIsChecked(t *testing.T) {
	file := configFolder(t)
	clearDatabaseEnv(t)
	const none, encode, far, empty = "is no connection string", "percent-encoded", "for the value of the one before", "names an empty "
	for dsn, want := range map[string]string{
		"app:s3cret@host/db":                  none,
		"app:s3cret@host/db?sslmode=disable":  none,
		"postgers://app:s3cret@h/db?a=b":      none,
		"hosst=x":                             "did you mean host?",
		"HOST=x":                              "did you mean host?",
		"hostaddr=127.0.0.1":                  "did you mean host?",
		"host.x=h":                            "did you mean host?",
		"host=127.0.0.1 port=1 dbnam=x":       "did you mean dbname?",
		"postgres://127.0.0.1:1/x?statement=": "did you mean statement_timeout or statement_cache_capacity?",
		"host=h password=my s3cretword=x":     "options='-c NAME=VALUE', a value with a space into quotes",
		"host=h PASSWORD=s3cret sslmode=bad":  none,
		"host=h password = s3cret sslmode=no": "sslmode one of its words",
		"host=h password='s3cret":             none,
		"host=h password='s3'cret":            none,
		"host=h password='s3' cret=x":         "a value with a space into quotes",
		"host=h pool_max_conns=s3cret":        none,
		"host=h default_query_exec_mode=x":    none,
		"sslmode=disable":                     none,
		"application_name=x":                  none,
		"application_name='a host=b'":         none,
		" ":                                   "is empty",
		"postgres://a:x@s3cret#pw@h/x":        encode,
		"postgres://a:12/s3cret@h/x":          encode,
		"postgres://a:s3@s3cret@h:1x":         encode,
		"postgres://a:12/s?dbname=s3cret@h":   encode,
		"postgres://a:1/s?password=s3cret@h":  encode,
		"postgres://a:b@c/s?user=s3cret@h":    encode,
		"postgres://a:1?user=s3cret@h":        encode,
		"postgres://a:1/s?user=s3cret@h/x":    encode,
		"postgres://a:1/s?host=/s3cret@h/x":   encode,
		"postgres://a:1/s?x=y&s3cret@h=x":     encode,
		"host=a@s3cret":                       encode,
		"host=a:s3cret dbname=x":              encode,
		"host=h password='s3'user=cret":       none,
		"dbname=postgres://a:s3cret@h/x":      none,
		"dbname=a:s3cret@h user=x":            none,
		"host=postgres://h/x":                 none,
		"password= host=prod":                 far,
		"host=h password=\n user=s3cret":      far,
		"user= password=s3cret host=h":        far,
		"host=h password= dbname=":            far,
		"postgres://a:s3cret@:1/x":            empty + "host",
		"postgres://a:s3cret@,localhost/x":    empty + "host",
		"postgres://a:s3cret@localhost,/x":    empty + "host",
		"postgres://a:s3cret@localhost:/x":    empty + "host or port",
		"postgres://h/x?host=&port=1":         empty + "host",
		"host=''":                             empty + "host",
		"host=":                               empty + "host",
		"host=a,,b":                           empty + "host",
		"host=h dbname=":                      empty + "dbname",
		"host=h user='' dbname=x":             empty + "user",
	} {
		for _, line := range []string{"queue delete q --yes", "tail q", "migrate up", "key list", "doctor", "verify", "serve"} {
			got := call(t, "", append(strings.Fields(line), "--dsn", dsn)...)
			require.Equal(t, exitUser, got.code, "%s %q: %s", line, dsn, got.err)
			require.Contains(t, got.err, want, "%s %q", line, dsn)
			require.NotContains(t, got.err, "s3", line)
		}
		if dsn == " " {
			continue
		}
		got := call(t, "", "context", "set", "bad", "--dsn", dsn)
		require.Equal(t, exitUser, got.code, dsn)
		require.NotContains(t, got.err, "s3", dsn)
		require.NoFileExists(t, file)
		require.Equal(t, "(no connection string)", shownDSN(dsn), dsn)
		t.Setenv("DATABASE_URL", dsn)
		got = call(t, "", "migrate", "up")
		require.Equal(t, exitUser, got.code, "%q: %s", dsn, got.err)
		require.Contains(t, got.err, "DATABASE_URL")
		t.Setenv("DATABASE_URL", "")
	}
	for _, dsn := range []string{
		"postgres://", "postgres:///db", "postgresql://a:b%40%23@h1,h2/x?application_name=y&TimeZone=UTC&queen.tenant=1", "host = h", "user=a",
		"dbname=x options='-c jit=off' statement_timeout=5s pool_max_conns=3", "postgres://h/x?user=me@server", "postgres:///x?host=/tmp/a%40b",
		"postgres://a:x#y@h/x", "postgres://a:12?y@h/x", "postgres://?host=/tmp/a@b", "postgres://a@/x", "postgres://:5433/x?host=/tmp",
		"postgres://[::1]:5433,h:5434,%2Ftmp/x", "host=/tmp port=5433", "host=a,b port=5433,", "host=h password = 'a b=c'", "host=h password=a=b",
		"host = h password = YWJjZA==", `host=h password=a\ b`, "host=h password=", "postgres://h:1/x?user=a&password=b@c", "postgres://a@h/x?password=b@c",
		"host=h dbname=a@b password='it\\'s'",
	} {
		require.NoError(t, checkDSN("--dsn", dsn), dsn)
	}
}

// However a password is written and broken, no error shows four letters of it.
func TestNoErrorShowsAPassword(t *testing.T) {
	configFolder(t)
	clearDatabaseEnv(t)
	t.Setenv("REGENT_LISTEN", "")
	contexts, err := loadContexts()
	require.NoError(t, err)
	hidden := func(got result, password, dsn string) {
		t.Helper()
		require.NotZero(t, got.code, dsn)
		for i := range len(password) - 3 {
			if piece := password[i : i+4]; strings.Trim(piece, "zZqQxXyY") == "" {
				require.NotContains(t, got.out+got.err, piece, dsn)
			}
		}
	}
	for _, odd := range []string{"@", "/", "?", "#", ":", "%", "%z", " ", "=", "'", "\\", "&", ",", "[", "]", "://", "@/", "/@", "?@", ":@", " =", "' ", "= ", "@:", "?a=", "/?dbname=", "?user="} {
		password := "zqxyZQXY" + odd + "xyzqXYZQ" + odd + "yqzxYQZX"
		for _, form := range []string{
			"postgres://u:P@127.0.0.1:1/x", "postgres://u:P@127.0.0.1:1x", "postgresql://P@127.0.0.1:1x/", "postgres://u:P", "postgres://u:1/P@127.0.0.1:1",
			"postgres://127.0.0.1:1/x?password=P&sslmode=bad", "postgres://127.0.0.1:1/x?user=a&pass=P", "u:P@127.0.0.1:1/x", "127.0.0.1:1/x?password=P",
			"host=127.0.0.1 port=1 password=P", "host=127.0.0.1 port=1 password = P sslmode=bad", "host=127.0.0.1 port=1x PASSWORD=P", "host=127.0.0.1 port=1 password='P' x=1",
			"host=127.0.0.1 port=1 pasword=P", "password= P host=", "host=u:P@127.0.0.1 port=1", "dbname=postgres://u:P@127.0.0.1:1/x", "Postgres://u:P@127.0.0.1:1/x?a=b",
		} {
			dsn := strings.Replace(form, "P", password, 1)
			hidden(call(t, "", "migrate", "status", "--dsn", dsn), password, dsn)
		}
		dsn := "postgres://u:" + password + "@127.0.0.1:1x/x"
		hidden(call(t, "", "queue", "list", "--url", dsn), password, dsn)
		contexts.Contexts["bad"] = connection{DSN: dsn}
		require.NoError(t, contexts.save())
		hidden(call(t, "", "migrate", "status", "--context", "bad"), password, dsn)
		for _, name := range []string{"DATABASE_URL", "PG_HOST", "PG_USER", "PG_DATABASE", "REGENT_LISTEN"} {
			t.Setenv("PG_PORT", "1")
			t.Setenv(name, dsn)
			hidden(call(t, "", "serve", "--port", "0"), password, name+"="+dsn)
			clearDatabaseEnv(t)
			t.Setenv("REGENT_LISTEN", "")
		}
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
