// Command regent is Regent's server and its command line. It owns flags,
// output, exit codes and the life of the processes that it starts.
//
// It must never decide what the stored functions or the API decide, never hold
// SQL text, never write anything but data to standard output, and never destroy
// anything without --yes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code. The first SIGINT or
// SIGTERM asks the command to stop, the second ends the process.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		if text := errorLine(err, cmd.Annotations[chosenBy]); text != "" {
			fmt.Fprintln(errOut, "regent: "+text)
		}
	}
	return exitCode(err)
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "regent",
		Short: "A message log inside PostgreSQL",
		Long: `Regent is a message log inside PostgreSQL, with a REST API.

Start it with "regent dev" (brings its own private PostgreSQL) or with
"regent serve" (next to a PostgreSQL that you name).

Exit codes: 0 ok, 1 user error, 2 server or network, 3 not authorised,
4 nothing to do, 5 check failed.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Of the root only: no other command may have one, which would take its place.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return refuseEmptyAddress(cmd) },
		Version:           strings.TrimPrefix(build().String(), "regent "),
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see %q)", plainFlagError(err), cmd.CommandPath()+" --help")
	})
	root.AddCommand(
		newDevCmd(), newServeCmd(), newMigrateCmd(),
		newPushCmd(), newPopCmd(), newAckCmd(), newTailCmd(), newQueueCmd(), newGroupCmd(), newMessageCmd(), newDLQCmd(), newKeyCmd(), newContextCmd(),
		newTopCmd(), newDoctorCmd(), newVerifyCmd(),
		newBenchCmd(), newOpenAPICmd(), newVersionCmd(),
	)
	completeNames(root)
	explainArguments(root)
	refuseUnknownTopics(root)
	return root
}

// plainFlagError says what a flag wants where the library names its parser.
func plainFlagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	want := map[string]string{"ParseBool": "true or false", "ParseFloat": "a number"}[number.Func]
	return fmt.Errorf("invalid argument %q for %q flag: want %s", value.GetValue(), "--"+value.GetFlag().Name, cmp.Or(want, "a whole number"))
}

// refuseUnknownTopics makes "regent help" refuse a command that is not there.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		show := help.Run
		help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
			if found, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return unknownCommand(found, rest)
			}
			show(cmd, args)
			return nil
		}
	}
}

// explainArguments makes the commands below say in a sentence how they are used
// when they are given too many or too few arguments, and refuse an empty one.
func explainArguments(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		explainArguments(child)
	}
	check := cmd.Args
	if cmd.HasSubCommands() || check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return refuseEmptyArgument(cmd, args)
		}
		given := map[int]string{0: "no argument is", 1: "one argument is"}[len(args)]
		if given == "" {
			given = counted(int64(len(args)), "argument") + " are"
		}
		return fmt.Errorf("%s given, but the usage is: %s (see %q)", given, cmd.UseLine(), cmd.CommandPath()+" --help")
	}
}

// refuseEmptyArgument refuses an argument that is given and empty, as by a variable
// that is not set: nothing has an empty name, and for some commands none means all.
func refuseEmptyArgument(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	for i, arg := range args {
		if arg != "" || i >= len(names) {
			continue
		}
		name, optional := strings.CutPrefix(names[i], "[")
		if optional {
			return fmt.Errorf("%s is empty; to name none, leave it out", strings.TrimSuffix(name, "]"))
		}
		return fmt.Errorf("%s is empty", name)
	}
	return nil
}

// unknownCommand refuses what cobra would otherwise take as an argument.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q for %q (see %q)", args[0], cmd.CommandPath(), cmd.CommandPath()+" --help")
}

// nounCmd is a command that only groups others.
func nounCmd(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}
