package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newContextCmd() *cobra.Command {
	cmd := nounCmd("context", "Name connections, and choose one",
		newContextListCmd(), newContextShowCmd(), newContextSetCmd(), newContextUseCmd(), newContextDeleteCmd())
	cmd.Long = `A context is a named connection: the address of a server with its token, a
database, or both. They are kept in regent/config.yaml in your configuration
folder ($XDG_CONFIG_HOME, else ~/.config), which only you may read.

A command goes where --url or --dsn says, else to the context of --context, else
where REGENT_URL (or, for commands that work in the database, DATABASE_URL or a
PG_* variable) says, else to the context of REGENT_CONTEXT, else to the one that
"regent context use" chose. REGENT_TOKEN goes before the token of a context that
no flag named. A context with both an address and a database is used by its
address, and by its database where a command works there alone.

"regent serve", "regent dev" and "regent bench" know no contexts.`
	return cmd
}

// shownContext is a context without its secrets.
type shownContext struct {
	Name     string `json:"name"`
	Current  bool   `json:"current"`
	URL      string `json:"url"`
	DSN      string `json:"dsn"` // without its password
	HasToken bool   `json:"hasToken"`
}

func (f *contextFile) shown(name string) shownContext {
	c := f.Contexts[name]
	return shownContext{Name: name, Current: name == f.inUse(), URL: shownURL(c.URL), DSN: shownDSN(c.DSN), HasToken: c.Token != ""}
}

func contextTable(all ...shownContext) table {
	t := table{header: []string{"NAME", "CURRENT", "URL", "DATABASE", "TOKEN"}}
	yes := map[bool]string{true: "yes", false: "no"}
	for _, c := range all {
		t.rows = append(t.rows, []string{c.Name, yes[c.Current], c.URL, c.DSN, yes[c.HasToken]})
	}
	return t
}

func newContextListCmd() *cobra.Command {
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List contexts, without their secrets",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			all, items := []shownContext{}, []any{}
			for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
				all, items = append(all, f.shown(name)), append(items, f.shown(name))
			}
			return format.printList(cmd, all, items, func() table { return contextTable(all...) })
		},
	}
	format.addFlag(cmd)
	return cmd
}

func newContextShowCmd() *cobra.Command {
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show a context, or the one in use, without its secrets",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			name := firstOf(args)
			if len(args) == 0 {
				name = f.inUse()
			}
			if name == "" && len(args) == 0 {
				return errors.New("no context is in use: choose one with \"regent context use NAME\"")
			}
			if _, err := f.find(name); err != nil {
				return err
			}
			return format.print(cmd, f.shown(name), func() table { return contextTable(f.shown(name)) })
		},
	}
	format.addFlag(cmd)
	return cmd
}

type contextFlags struct {
	url, dsn, token string
	format          outputFormat
}

func newContextSetCmd() *cobra.Command {
	var flags contextFlags
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Make a context, or change it",
		Long: `Set keeps what it is not told: an empty value takes something away. A token stays
with its address only: a new --url without a --token drops the old token.

The value - of --dsn or --token is read from standard input, so that it is in no
list of processes and in no history.`,
		Example: `  regent context set prod --url https://regent.example --token - < token.txt
  regent context set local --dsn "$(cat .regent/dsn)"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return setContext(cmd, &flags, args[0]) },
	}
	cmd.Flags().StringVar(&flags.url, "url", "", "address of the HTTP API")
	cmd.Flags().StringVar(&flags.dsn, "dsn", "", "PostgreSQL connection string, or -")
	cmd.Flags().StringVar(&flags.token, "token", "", "bearer token for the HTTP API, or -")
	cmd.MarkFlagsOneRequired("url", "dsn", "token")
	flags.format.addFlag(cmd)
	return cmd
}

// contextNames are the names that need no quotes anywhere.
var contextNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func setContext(cmd *cobra.Command, flags *contextFlags, name string) error {
	if !contextNames.MatchString(name) {
		return fmt.Errorf("context %q: want at most 64 letters, digits, dots, underscores and hyphens", name)
	}
	if err := flags.readSecrets(cmd.InOrStdin()); err != nil {
		return err
	}
	f, err := loadContexts()
	if err != nil {
		return err
	}
	c := f.Contexts[name]
	given := cmd.Flags().Changed
	if given("url") && flags.url != c.URL && c.Token != "" && !given("token") {
		c.Token = ""
		fmt.Fprintln(cmd.ErrOrStderr(), "regent: the token of the old address is dropped")
	}
	for flag, into := range map[string]struct{ from, to *string }{
		"url": {&flags.url, &c.URL}, "dsn": {&flags.dsn, &c.DSN}, "token": {&flags.token, &c.Token}} {
		if given(flag) {
			*into.to = *into.from
		}
	}
	if err := c.check(); err != nil {
		return err
	}
	f.Contexts[name] = c
	if err := f.save(); err != nil {
		return err
	}
	return flags.format.print(cmd, f.shown(name), func() table { return contextTable(f.shown(name)) })
}

func (flags *contextFlags) readSecrets(in io.Reader) error {
	if flags.dsn == "-" && flags.token == "-" {
		return errors.New("--dsn and --token cannot both be read from standard input")
	}
	for _, value := range []*string{&flags.dsn, &flags.token} {
		if *value != "-" {
			continue
		}
		text, err := bufio.NewReader(in).ReadString('\n')
		if *value = strings.TrimSpace(text); *value == "" {
			return errors.Join(errors.New("standard input holds nothing"), ignoreEOF(err))
		}
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// check refuses what no command could use, without quoting it.
func (c connection) check() error {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "" && c.DSN == "":
		return errors.New("a context needs an address (--url) or a database (--dsn)")
	case c.URL != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")):
		return fmt.Errorf("--url is not an address like %s", defaultURL)
	case strings.ContainsFunc(c.Token, isControl):
		return errors.New("--token holds a control character")
	case c.DSN == "":
		return nil
	}
	return checkDSN("--dsn", c.DSN)
}

func newContextUseCmd() *cobra.Command {
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "use NAME",
		Short: "Choose the context of the commands that name none",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			if _, err := f.find(args[0]); err != nil {
				return err
			}
			f.Current = args[0]
			if err := f.save(); err != nil {
				return err
			}
			return format.print(cmd, f.shown(args[0]), func() table { return contextTable(f.shown(args[0])) })
		},
	}
	format.addFlag(cmd)
	return cmd
}

func newContextDeleteCmd() *cobra.Command {
	var format outputFormat
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Forget a context",
		Long: `Delete forgets a context with its token. When it is in use, none is in use any
more. --dry-run shows it; --yes is needed to do it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := loadContexts()
			if err != nil {
				return err
			}
			if _, err := f.find(args[0]); err != nil {
				return nothingTo("%w, nothing was deleted", err)
			}
			gone := f.shown(args[0])
			if !dryRun && !yes {
				return fmt.Errorf("this would delete context %q; --yes does it", gone.Name)
			}
			if !dryRun {
				delete(f.Contexts, gone.Name)
				if f.Current == gone.Name {
					f.Current = ""
				}
				if err := f.save(); err != nil {
					return err
				}
			}
			return format.print(cmd, gone, func() table { return contextTable(gone) })
		},
	}
	format.addFlag(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the context and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete")
	return cmd
}
