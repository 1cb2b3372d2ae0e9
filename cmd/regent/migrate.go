package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"regent.local/regent/db/dberr"
	"regent.local/regent/db/migrate"
)

func newMigrateCmd() *cobra.Command {
	cmd := nounCmd("migrate", "Create or upgrade the schema in a database",
		newMigrateUpCmd(), newMigrateStatusCmd(), newMigratePrintCmd())
	var dsn string
	var roles bool
	cmd.Long = `Create or upgrade the schema in a database.

--roles makes the database roles queen_reader, queen_writer, queen_admin and
queen_server, as far as they are missing, and grants them their functions. Grant
them to your own login roles: GRANT queen_server TO app. Whoever runs it needs
CREATEROLE and owns the schema, or is a superuser. It may be repeated.`
	cmd.Example = `  regent migrate up
  regent migrate --roles`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !roles {
			return cmd.Help()
		}
		url, err := databaseOf(cmd, dsn)
		if err != nil {
			return err
		}
		return migrationError(migrate.Roles(cmd.Context(), url, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))))
	}
	cmd.Flags().BoolVar(&roles, "roles", false, "create the database roles and grant to them")
	dsnFlag(cmd, &dsn)
	return cmd
}

// dsnFlag is the --dsn of a command that talks to PostgreSQL itself, with the
// --context that may stand for it.
func dsnFlag(cmd *cobra.Command, dsn *string) {
	cmd.Flags().StringVar(dsn, "dsn", "", "PostgreSQL connection string (default: DATABASE_URL, else PG_HOST, PG_PORT, ..., else the context)")
	contextFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("dsn", "context")
}

func newMigrateUpCmd() *cobra.Command {
	var dsn string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the tables and functions to this version",
		Long: `Bring the tables and functions of a database to this version.

Safe to run from many places at once: one works, the others wait, at most five
minutes. A database that a newer version has migrated is left alone, and so is
one that holds the extension regent: ALTER EXTENSION regent UPDATE is for that.
The role needs no superuser, only CREATE on the database the first time; the
connection must not go through a transaction pooler.

Exit code 4 means that there was nothing to do.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrateUp(cmd, dsn) },
	}
	dsnFlag(cmd, &dsn)
	return cmd
}

func migrateUp(cmd *cobra.Command, flag string) error {
	dsn, err := databaseOf(cmd, flag)
	if err != nil {
		return err
	}
	before, err := migrate.Report(cmd.Context(), dsn)
	if err != nil {
		return migrationError(err)
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	if err := migrate.Up(cmd.Context(), dsn, log); err != nil {
		return migrationError(err)
	}
	if before.State == "current" {
		return nothingTo("nothing to do: the schema is current")
	}
	return nil
}

func newMigrateStatusCmd() *cobra.Command {
	var dsn string
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Compare the database with this version; changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseOf(cmd, dsn)
			if err != nil {
				return err
			}
			st, err := migrate.Report(cmd.Context(), url)
			if err != nil {
				return migrationError(err)
			}
			return format.print(cmd, st, func() table { return statusTable(st) })
		},
	}
	dsnFlag(cmd, &dsn)
	format.addFlag(cmd)
	return cmd
}

func statusTable(st migrate.Status) table {
	t := table{rows: [][]string{{"schema", st.State}}}
	if st.Extension {
		t.rows = append(t.rows, []string{"owner", "extension regent, upgraded by ALTER EXTENSION regent UPDATE"})
	}
	for _, m := range st.Applied {
		t.rows = append(t.rows, []string{"migration " + strconv.FormatInt(m.Version, 10), "applied " + m.AppliedAt.Format("2006-01-02 15:04:05")})
	}
	for _, v := range st.Pending {
		t.rows = append(t.rows, []string{"migration " + strconv.FormatInt(v, 10), "pending"})
	}
	return table{rows: append(t.rows, []string{"functions", functionsWord(st)})}
}

func functionsWord(st migrate.Status) string {
	switch {
	case st.Release == 0:
		return "absent"
	case st.FunctionsEdited:
		return fmt.Sprintf("release %d, edited by hand", st.Release)
	case st.FunctionsCurrent:
		return fmt.Sprintf("release %d, current", st.Release)
	}
	return fmt.Sprintf("release %d, this version brings other ones (release %d)", st.Release, st.BinaryRelease)
}

func newMigratePrintCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "print",
		Short: "Print the whole schema as one SQL file for psql",
		Long: `Print the whole schema as one SQL file, for a database that this program
cannot reach. Its header says what it needs. Run it on a database without
Regent:

    regent migrate print > regent.sql
    psql --single-transaction -v ON_ERROR_STOP=1 -f regent.sql`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrate.Print(cmd.OutOrStdout()) },
	}
}

// migrationError gives an error of package migrate its exit code: a wrong
// connection string is the user's, the rest says so itself or is the server's.
// What a pooler refuses it explains: the pooler's words name no way out.
func migrationError(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		return withCode(exitUser, err)
	}
	code := dberr.ExitCode(err)
	if refused(err) {
		code = exitAuth
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Message, "unsupported startup parameter") {
		err = fmt.Errorf("%w: through a pooler in transaction mode set REGENT_EXEC_MODE=cache_describe", err)
	}
	return withCode(code, err)
}
