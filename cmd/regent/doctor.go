package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"regent.local/regent/api"
	"regent.local/regent/db"
	"regent.local/regent/db/migrate"
)

const (
	// defaultWarnSize is the size of a queue that the doctor warns of.
	defaultWarnSize = 100 << 30
	// maxSkew is how far two clocks may differ; what a call took is no difference.
	maxSkew = time.Second
)

// finding is one thing that the doctor saw. Statement is empty when nothing that
// can be run mends it.
type finding struct {
	Check     string `json:"check"`
	Severity  string `json:"severity"` // error, warning or note
	Object    string `json:"object"`
	Finding   string `json:"finding"`
	Statement string `json:"statement"`
}

// diagnosis is what the doctor prints.
type diagnosis struct {
	Healthy  bool      `json:"healthy"` // no error and no warning
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Findings []finding `json:"findings"`
}

func newDoctorCmd() *cobra.Command {
	var dsn string
	var format outputFormat
	size := sizeFlag(defaultWarnSize)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with an installation, and what mends it",
		Long: `Doctor looks at a database and says what is wrong: grants, functions that are not
those of this program, autovacuum and bloat, transactions that hold back vacuum,
maintenance that does not run, groups that keep retention from deleting, clocks,
growth. It changes nothing. Each finding comes with the statements that mend it;
read them before you run them, for some end sessions or delete messages.

It needs no superuser. What it may not see it says in a note.

Exit code 5 means that there is an error or a warning.`,
		Example: `  regent doctor
  regent doctor --size 20GiB -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseOf(cmd, dsn)
			if err != nil {
				return err
			}
			found, err := examine(cmd.Context(), cmd, url, int64(size))
			if err != nil {
				return err
			}
			return printDiagnosis(cmd, format, found)
		},
	}
	dsnFlag(cmd, &dsn)
	format.addFlag(cmd)
	cmd.Flags().Var(&size, "size", "warn when a queue that nothing bounds will reach this size within 30 days")
	return cmd
}

func printDiagnosis(cmd *cobra.Command, format outputFormat, found []finding) error {
	d := diagnosis{Findings: append([]finding{}, found...)}
	items := make([]any, len(found))
	for i, f := range found {
		items[i] = f
		switch f.Severity {
		case "error":
			d.Errors++
		case "warning":
			d.Warnings++
		default:
			d.Notes++
		}
	}
	d.Healthy = d.Errors+d.Warnings == 0
	if err := format.printList(cmd, d, items, func() table { return diagnosisTable(d) }); err != nil {
		return err
	}
	if d.Healthy {
		return nil
	}
	return withCode(exitCheck, fmt.Errorf("%s and %s", counted(int64(d.Errors), "error"), counted(int64(d.Warnings), "warning")))
}

func diagnosisTable(d diagnosis) table {
	if len(d.Findings) == 0 {
		return sentence("nothing is wrong")
	}
	var lines []string
	for _, f := range d.Findings {
		lines = append(lines, fmt.Sprintf("%-7s  %s: %s", f.Severity, f.Check, f.Object), "         "+f.Finding)
		for statement := range strings.SplitSeq(f.Statement, "\n") {
			if statement != "" {
				lines = append(lines, "         > "+statement)
			}
		}
	}
	return sentence(lines...)
}

// openOperator opens a database for work that may take long: statements have no
// time limit.
func openOperator(ctx context.Context, cmd *cobra.Command, dsn string) (*sqlClient, error) {
	cfg := api.DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize, cfg.StatementTimeout = dsn, 2, 0
	return openPool(ctx, cfg, newRetrier(queryRetryFor, cmd))
}

// examine asks the database, and adds what only a program beside it can tell.
func examine(ctx context.Context, cmd *cobra.Command, dsn string, size int64) ([]finding, error) {
	st, err := migrate.Report(ctx, dsn)
	found := schemaFindings(st)
	switch {
	case refused(err):
		found = []finding{{"functions", "note", "schema queen", "this role may not read which version the functions are of", ""}}
	case err != nil:
		return nil, migrationError(err)
	case st.Release == 0:
		return found, nil
	}
	c, err := openOperator(ctx, cmd, dsn)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	skew, err := c.clockFinding(ctx, time.Now)
	if err != nil {
		return nil, err
	}
	found = append(found, skew...)
	var rows []db.DoctorRow
	err = c.run(ctx, repeatAny, func() (err error) {
		rows, err = c.queries.Doctor(ctx, size)
		return err
	})
	if err != nil {
		return nil, explainCall(err)
	}
	for _, r := range rows {
		f := finding{Check: r.CheckName, Severity: r.Severity, Object: r.Object, Finding: r.Finding}
		if r.Statement != nil {
			f.Statement = *r.Statement
		}
		found = append(found, f)
	}
	return found, nil
}

// refused says whether the role lacks the right to what it asked for.
func refused(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "42501" || pg.Code == "QN403")
}

// missingFunctions is what to do where the functions are missing.
const missingFunctions = "the functions of this database are not there or older than this program: run regent migrate up"

// missing says whether there is no such function, or no such schema.
func missing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "42883" || pg.Code == "3F000")
}

// explainCall says what to do when a function of these commands is not there, or
// not for this role.
func explainCall(err error) error {
	switch {
	case missing(err):
		return withCode(exitUser, errors.New(missingFunctions))
	case refused(err):
		return withCode(exitAuth, errors.New("this role may not do that: it needs the owner of schema queen, queen_server or queen_admin"))
	}
	return err
}

// schemaFindings compare the schema with this program. A function that was
// changed by hand the database reports itself.
func schemaFindings(st migrate.Status) []finding {
	mend := "regent migrate up"
	if st.Extension {
		mend = "ALTER EXTENSION regent UPDATE;"
	}
	switch {
	case st.State == "ahead":
		return []finding{{"functions", "warning", fmt.Sprintf("release %d", st.Release),
			fmt.Sprintf("a newer version has migrated this database: this program has release %d", st.BinaryRelease), ""}}
	case st.Release == 0:
		return []finding{{"functions", "error", "schema queen", "there are no functions: the database was never migrated", mend}}
	case len(st.Pending) > 0:
		return []finding{{"functions", "error", "schema queen", counted(int64(len(st.Pending)), "pending migration"), mend}}
	case !st.FunctionsCurrent && !st.FunctionsEdited:
		return []finding{{"functions", "error", fmt.Sprintf("release %d", st.Release), "the functions are those of another build than this program", mend}}
	}
	return nil
}

// clockFinding compares the clock of this machine with the database's.
func (c *sqlClient) clockFinding(ctx context.Context, now func() time.Time) ([]finding, error) {
	var clock, began time.Time
	err := c.run(ctx, repeatAny, func() (err error) {
		began = now()
		clock, err = c.queries.DatabaseClock(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the clock of the database: %w", err)
	}
	took := now().Sub(began)
	skew := clock.Sub(began.Add(took / 2))
	if skew.Abs()-took/2 <= maxSkew {
		return nil, nil
	}
	word := "ahead of"
	if skew < 0 {
		word = "behind"
	}
	return []finding{{"clock", "warning", "this machine",
		fmt.Sprintf("the clock of the database is %s %s that of this machine: times in logs, tokens and messages do not agree", skew.Abs().Round(time.Millisecond), word),
		"timedatectl set-ntp true"}}, nil
}
