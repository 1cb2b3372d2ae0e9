package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// asProgram makes this test binary behave as the program itself, so that tests
// can kill it.
const asProgram = "REGENT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	_ = os.Setenv("XDG_CONFIG_HOME", "/nonexistent") // the contexts of whoever runs the tests
	flag.BoolVar(&update, "update", false, "write the golden files")
	flag.Parse()
	code := m.Run()
	shared.stop()
	os.Exit(code)
}

var update bool

// program is a process of this program. Its environment names no server and no
// database of the machine.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(strippedEnv(), asProgram+"=1")
	return cmd
}

func strippedEnv() []string {
	var kept []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name == "PORT" || name == "DATABASE_URL" || (strings.HasPrefix(name, "PG_") && name != "PG_BINDIR") || strings.HasPrefix(name, "REGENT_") || strings.HasPrefix(name, "QUEEN_") || strings.HasPrefix(name, "FILE_BUFFER_") || strings.HasPrefix(name, "JWT_") {
			continue
		}
		kept = append(kept, pair)
	}
	return kept
}

// result is what a finished command left.
type result struct {
	code     int
	out, err string
}

// call runs a command line inside this process.
func call(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &out, &errOut)
	return result{code: code, out: out.String(), err: errOut.String()}
}

func TestHelpTree(t *testing.T) {
	root := newRootCmd()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var text bytes.Buffer
	writeHelp(&text, root)
	golden := filepath.Join("..", "..", "testdata", "golden", "cli-help.txt")
	if update {
		require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
		require.NoError(t, os.WriteFile(golden, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err, "make it with go test ./cmd/regent -run TestHelpTree -update")
	require.Equal(t, string(want), text.String(), "renew it with go test ./cmd/regent -run TestHelpTree -update")
}

func writeHelp(text *bytes.Buffer, cmd *cobra.Command) {
	text.WriteString("==== " + cmd.CommandPath() + "\n")
	cmd.SetOut(text)
	cmd.InitDefaultHelpFlag()
	_ = cmd.Help()
	for _, child := range cmd.Commands() {
		// The texts about completion are those of a library.
		if child.Name() != "completion" && child.Name() != "help" {
			writeHelp(text, child)
		}
	}
}

// TestHelpOfTheProgram is the golden file's twin: the process says the same.
func TestHelpOfTheProgram(t *testing.T) {
	t.Parallel()
	out, err := program(t, "push", "--help").Output()
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("..", "..", "testdata", "golden", "cli-help.txt"))
	require.NoError(t, err)
	require.Contains(t, string(want), "==== regent push\n"+string(out))
}

func TestCommandLinesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"bogus"}, {"queue", "bogus"}, {"push"}, {"push", "q", "--bogus"}, {"push", "q", "--batch", "0"},
		{"push", "q", "--partition", "a", "--partition-key", "b"}, {"push", "q", "--partition-key", "$["}, {"push", "q", "no-such-file"},
		{"pop", "q", "--wait", "30"}, {"pop", "q", "--from", "yesterday"}, {"pop", "q", "--batch", "0"},
		{"pop", "q", "--partition", "p", "--partitions", "2"},
		{"ack"}, {"ack", "file"}, {"ack", "-", "--lease", "x"}, {"ack", "--status", "nack"},
		{"queue", "configure", "q", "--mode", "Replace"}, {"queue", "configure", "q", "--set", "leaseTime"},
		{"queue", "configure", "q", "--lease-time", "1500ms"}, {"queue", "list", "-o", "xml"},
		{"queue", "list", "--url", "nowhere"}, {"queue", "list", "--url", "http://x", "--dsn", "y"},
		{"tail", "q", "-n", "5", "--from", "all"}, {"tail", "q", "--data-dir", "no-such-folder"},
		{"openapi", "--openapi", "2.0"}, {"openapi", "-o", "xml"}, {"serve", "--dsn", "://"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			got := call(t, "", args...)
			require.Equal(t, exitUser, got.code, got.err)
			require.Empty(t, got.out)
			lines := strings.Split(strings.TrimSpace(got.err), "\n")
			require.True(t, strings.HasPrefix(lines[len(lines)-1], "regent: "), got.err)
		})
	}
}

// What is refused says in a sentence what to do instead.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"no argument is given, but the usage is: regent pop QUEUE [flags]":                    {"pop"},
		"2 arguments are given, but the usage is: regent tail QUEUE [flags]":                  {"tail", "a", "b"},
		"no argument is given, but the usage is: regent push QUEUE [FILE] [flags]":            {"push"},
		"one argument is given, but the usage is: regent serve [flags]":                       {"serve", "now"},
		"--port must be between 0 and 65535, got -5":                                          {"serve", "--port", "-5"},
		"no argument is given, but the usage is: regent queue configure NAME [flags]":         {"queue", "configure"},
		`see "regent queue delete --help"`:                                                    {"queue", "delete"},
		"--set leaseTimme: there is no such option; did you mean leaseTime?":                  {"queue", "configure", "q", "--set", "leaseTimme=5"},
		"--set leasetime: there is no such option; did you mean leaseTime?":                   {"queue", "configure", "q", "--set", "leasetime=5"},
		"--set retention: there is no such option; did you mean":                              {"queue", "configure", "q", "--set", "retention=5"},
		"--set foo: there is no such option; there are namespace":                             {"queue", "configure", "q", "--set", "foo=1"},
		"--set tll: there is no such option; did you mean ttl?":                               {"queue", "configure", "q", "--set", "tll=1"},
		"--set quux: there is no such option; there are namespace, task, priority, leaseTime": {"queue", "configure", "q", "--set", "quux=5"},
		`--from "yesterday": want all, new, now, RFC 3339 or "15m ago"`:                       {"pop", "q", "--from", "yesterday"},
		`invalid argument "x" for "--batch" flag: want a whole number (see`:                   {"pop", "q", "--batch", "x"},
		`invalid argument "x" for "--dry-run" flag: want true or false (see`:                  {"queue", "configure", "q", "--dry-run=x"},
		`unknown command "nothing" for "regent" (see "regent --help")`:                        {"help", "nothing"},
		`unknown command "lst" for "regent queue" (see "regent queue --help")`:                {"help", "queue", "lst"},
		`--role "admn" is none of admin, read-write, read-only, write-only`:                   {"key", "create", "k", "--role", "admn"},
		`--from "new": want all, now, RFC 3339 or "15m ago"`:                                  {"tail", "q", "--from", "new"},
	} {
		got := call(t, "", args...)
		require.Equal(t, exitUser, got.code, args)
		require.Contains(t, got.err, want, args)
		require.Equal(t, 1, strings.Count(got.err, "\n"), got.err)
	}
}

// Where nobody listens, the message says how to name or start somebody.
func TestRefusedConnectionsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`cannot connect to http://127.0.0.1:1 (--url): nobody listens there; start a server with "regent dev"`: {"queue", "list", "--url", "http://127.0.0.1:1", "--retry-for", "1ms"},
		"cannot connect to postgres://me@127.0.0.1:1/x (--dsn): nobody listens there; name another database":   {"queue", "list", "--dsn", "postgres://me:s3cret@127.0.0.1:1/x", "--retry-for", "1ms"},
		"cannot connect to postgres://me@127.0.0.1:1/y (--dsn): nobody listens there; name another database":   {"doctor", "--dsn", "postgres://me:s3cret@127.0.0.1:1/y"},
		"cannot connect to http://nowhere.invalid (--url): ":                                                   {"queue", "list", "--url", "http://nowhere.invalid", "--retry-for", "1ms"},
		"cannot connect to postgres://me@nowhere.invalid:5432/x (--dsn): ":                                     {"queue", "list", "--dsn", "postgres://me:s3cret@nowhere.invalid/x", "--retry-for", "1ms"},
	} {
		got := call(t, "", args...)
		require.Equal(t, exitServer, got.code, args)
		require.True(t, strings.HasPrefix(got.err, "regent: "+want), got.err)
		require.NotContains(t, got.err, "s3cret")
	}
}

// A name from a variable that is not set is empty: it must not mean all, or another
// route.
func TestEmptyArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"queue show %": "NAME is empty", "queue configure %": "NAME is empty", "queue delete % --yes": "NAME is empty", "queue retention-preview %": "NAME is empty",
		"push %": "QUEUE is empty", "push q %": "FILE is empty; to name none, leave it out", "pop %": "QUEUE is empty", "tail %": "QUEUE is empty",
		"dlq list %": "QUEUE is empty; to name none, leave it out", "dlq redrive % --all --yes": "QUEUE is empty; to name none, leave it out", "dlq delete % --yes": "QUEUE is empty",
		"dlq replay %": "ID is empty", "group show %": "GROUP is empty", "group seek g % --to end": "QUEUE is empty", "group delete g % --yes": "QUEUE is empty; to name none, leave it out",
		"message list %": "QUEUE is empty; to name none, leave it out", "message show % t": "PARTITION-ID is empty", "key create % --role admin": "NAME is empty",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.TrimPrefix(args[i], "%")
		}
		got := call(t, "", args...)
		require.Equal(t, exitUser, got.code, line)
		require.Equal(t, "regent: "+want+"\n", got.err, line)
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	got := call(t, "", "--version")
	require.Equal(t, 0, got.code, got.err)
	require.Equal(t, call(t, "", "version", "-o", "table").out, strings.Replace(got.out, " version", "", 1))
}

func TestShortCauseLeavesOutTheLog(t *testing.T) {
	t.Parallel()
	killed := errors.New("signal: killed")
	require.Equal(t, killed, shortCause(fmt.Errorf("postgres ended: %w; its log says:\n%s", killed, "much")))
	require.Equal(t, killed, shortCause(killed))
}

func TestVersionNamesTheBuild(t *testing.T) {
	t.Parallel()
	got := call(t, "", "version", "-o", "table")
	require.Equal(t, 0, got.code)
	require.Regexp(t, `^regent \S+ \(commit \S+, go\S+, \S+/\S+\)\n$`, got.out)
}

func TestOpenAPIPrintsEveryForm(t *testing.T) {
	t.Parallel()
	require.Contains(t, call(t, "", "openapi").out, "openapi: 3.1")
	require.Contains(t, call(t, "", "openapi", "--openapi", "3.0").out, "openapi: 3.0")
	require.Contains(t, call(t, "", "openapi", "-o", "json").out, `"openapi": "3.1`)
}
