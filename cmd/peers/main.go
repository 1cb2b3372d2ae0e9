// Command peers measures what Regent is compared with, and runs the suite that
// compares them. It is a module of its own, so that the product does not depend
// on a peer.
//
// It must never run a cell in another way than regent bench does: flags,
// payloads, measuring loop and result are those of package bench.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"regent.local/regent/testdata/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "peers", Short: "Measure the peers of Regent, and compare", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newRiverCmd(), newSuiteCmd())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func newRiverCmd() *cobra.Command {
	o := bench.DefaultOptions()
	o.Target = "river"
	cmd := &cobra.Command{
		Use:   "river",
		Short: "Measure one cell of River; prints JSON as regent bench does",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kind, known := map[string]bench.Kind{"push": bench.Push, "e2e": bench.EndToEnd}[o.Op]
			if !known {
				return fmt.Errorf("--op must be push or e2e")
			}
			if err := o.Check(); err != nil {
				return err
			}
			result, err := bench.Run(cmd.Context(), o, kind, newRiver, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), result)
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.Op, "op", "push", "what to measure: push, or e2e for push and work at once")
	return cmd
}

func printJSON(out io.Writer, doc any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
