package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// connection is a named way to a Regent. An error about one never quotes it: its
// dsn and its token are secrets.
type connection struct {
	URL   string `yaml:"url,omitempty"`
	DSN   string `yaml:"dsn,omitempty"`
	Token string `yaml:"token,omitempty"`
}

// contextFile holds the user's contexts.
type contextFile struct {
	path     string
	Current  string                `yaml:"current,omitempty"`
	Contexts map[string]connection `yaml:"contexts"`
}

// loadContexts reads the user's file; a missing one is empty.
func loadContexts() (*contextFile, error) {
	f := &contextFile{Contexts: map[string]connection{}}
	folder, err := os.UserConfigDir()
	if err != nil { // a service without a home folder has no contexts
		return f, nil
	}
	f.path = filepath.Join(folder, "regent", "config.yaml")
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s holds secrets and is open to others: run chmod 600 %s", f.path, f.path)
	}
	dec := yaml.NewDecoder(file)
	dec.KnownFields(true)
	if err := dec.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s cannot be read: it should have current, and contexts by name, each with url, dsn and token", f.path)
	}
	if f.Contexts == nil {
		f.Contexts = map[string]connection{}
	}
	return f, nil
}

// save writes the file, for its user only.
func (f *contextFile) save() error {
	if f.path == "" {
		_, err := os.UserConfigDir()
		return fmt.Errorf("save contexts: %w", err)
	}
	text, err := yaml.Marshal(f)
	if err != nil {
		return fmt.Errorf("save contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("save contexts: %w", err)
	}
	if err := replaceFile(f.path, text); err != nil {
		return fmt.Errorf("save contexts: %w", err)
	}
	return nil
}

// replaceFile puts a file that only its owner reads at path, whole or not at all.
func replaceFile(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// find returns a context by its name.
func (f *contextFile) find(name string) (connection, error) {
	c, ok := f.Contexts[name]
	if !ok {
		return c, fmt.Errorf("there is no context %q (see \"regent context list\")", name)
	}
	return c, nil
}

// contextFlag declares --context, which chooses a context for one command.
func contextFlag(cmd *cobra.Command) {
	cmd.Flags().String("context", "", "use this context (default: REGENT_CONTEXT, else what \"regent context use\" chose)")
}

// namedContext is the one that --context names, with its name; no name when there
// is none.
func namedContext(cmd *cobra.Command) (c connection, name string, err error) {
	flag := cmd.Flags().Lookup("context")
	if flag == nil || !flag.Changed {
		return c, "", nil
	}
	f, err := loadContexts()
	if err != nil {
		return c, "", err
	}
	name = flag.Value.String()
	setChosenBy(cmd, fmt.Sprintf("context %q of --context", name))
	c, err = f.find(name)
	return c, name, err
}

// currentContext is the one in use, by the environment or the file, with its name;
// no name when there is none.
func currentContext(cmd *cobra.Command) (c connection, name string, err error) {
	f, err := loadContexts()
	if err != nil {
		return c, "", err
	}
	if name = f.inUse(); name != "" {
		setChosenBy(cmd, fmt.Sprintf("context %q %s", name, map[bool]string{true: "of REGENT_CONTEXT", false: "in use"}[os.Getenv("REGENT_CONTEXT") != ""]))
		c, err = f.find(name)
	}
	return c, name, err
}

// chosenBy is the annotation of a command that says what chose where it goes, for
// the errors of a connection.
const chosenBy = "chosenBy"

func setChosenBy(cmd *cobra.Command, what string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[chosenBy] = what
}

// inUse is the name that the environment or else the file chose.
func (f *contextFile) inUse() string { return cmp.Or(os.Getenv("REGENT_CONTEXT"), f.Current) }

// refuseEmptyAddress refuses a --url or --dsn that is given and empty, as by a
// variable that is not set: the command would go elsewhere. For "context set" an
// empty value takes something away.
func refuseEmptyAddress(cmd *cobra.Command) error {
	if cmd.HasParent() && cmd.Parent().Name() == "context" {
		return nil
	}
	for _, name := range []string{"url", "dsn"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	return nil
}

// resolve decides where to go: the flags, else --context, else the environment,
// else the current context, else the default. A token that belongs to a context
// goes to no other address than the context's.
func (t *targetFlags) resolve(cmd *cobra.Command) (to connection, err error) {
	token := os.Getenv("REGENT_TOKEN")
	if t.dsn != "" {
		setChosenBy(cmd, "--dsn")
		err = checkDSN("--dsn", t.dsn)
	} else if t.url != "" {
		setChosenBy(cmd, "--url")
	}
	if t.url != "" || t.dsn != "" {
		return connection{URL: t.url, DSN: t.dsn, Token: cmp.Or(t.token, token)}, err
	}
	to, name, err := namedContext(cmd)
	switch {
	case err != nil:
		return to, err
	case name != "":
		to.Token = cmp.Or(t.token, to.Token, token)
	case os.Getenv("REGENT_URL") != "":
		setChosenBy(cmd, "REGENT_URL")
		return connection{URL: os.Getenv("REGENT_URL"), Token: cmp.Or(t.token, token)}, nil
	default:
		if to, name, err = currentContext(cmd); err != nil {
			return to, err
		}
		to.Token = cmp.Or(t.token, token, to.Token)
	}
	switch {
	case to.URL != "":
		to.DSN = ""
	case to.DSN != "":
		return to, checkDSN(databaseOfContext(name), to.DSN)
	case name != "":
		return to, fmt.Errorf("context %q has neither an address nor a database (see \"regent context set --help\")", name)
	default:
		setChosenBy(cmd, "the default")
		to.URL = defaultURL
	}
	return to, nil
}

// databaseOfContext is how errors name the database of a context.
func databaseOfContext(name string) string { return fmt.Sprintf("the database of context %q", name) }

// databaseOf decides which database a command of a person talks to: --dsn, else
// --context, else the environment, else the current context, else the defaults of
// the PG_* variables.
func databaseOf(cmd *cobra.Command, flag string) (string, error) {
	dsn, err := namedDatabase(cmd)
	if err == nil && dsn == "" && flag == "" && !databaseNamed() {
		dsn, err = currentDatabase(cmd)
	}
	if err != nil || dsn != "" {
		return dsn, err
	}
	return databaseURL(cmd, flag)
}

// namedDatabase is that of the context that --context names, if it does.
func namedDatabase(cmd *cobra.Command) (string, error) {
	c, name, err := namedContext(cmd)
	return c.database(name, err)
}

// currentDatabase is that of the context in use, if one is.
func currentDatabase(cmd *cobra.Command) (string, error) {
	c, name, err := currentContext(cmd)
	return c.database(name, err)
}

// database is the context's, which a command needs that works there alone: to go
// anywhere else is not what the context says.
func (c connection) database(name string, err error) (string, error) {
	switch {
	case err != nil || name == "":
		return "", err
	case c.DSN == "":
		return "", fmt.Errorf("this command works in the database, and context %q has none (see \"regent context set --help\")", name)
	}
	return checkedDSN(databaseOfContext(name), c.DSN)
}

// databaseNamed reports whether the environment says where the database is.
func databaseNamed() bool {
	for _, name := range []string{"DATABASE_URL", "PG_HOST", "PG_PORT", "PG_USER", "PG_PASSWORD", "PG_DATABASE", "PG_DB"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// shownDSN is where a connection string leads, without its secrets.
func shownDSN(dsn string) string {
	if dsn == "" {
		return ""
	}
	config, err := pgconn.ParseConfig(dsn)
	if err != nil || checkDSN("", dsn) != nil {
		return "(no connection string)"
	}
	return shownDatabase(config)
}

// shownDatabase is the address of a database, without secrets.
func shownDatabase(config *pgconn.Config) string {
	u := url.URL{Scheme: "postgres", User: url.User(config.User), Path: "/" + config.Database}
	port := strconv.Itoa(int(config.Port))
	if filepath.IsAbs(config.Host) {
		u.RawQuery = url.Values{"host": {config.Host}, "port": {port}}.Encode()
	} else {
		u.Host = net.JoinHostPort(config.Host, port)
	}
	return u.String()
}

// shownURL is an address without a password.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(no address)"
	}
	return u.Redacted()
}
