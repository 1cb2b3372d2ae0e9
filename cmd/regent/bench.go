package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"regent.local/regent/testdata/bench"
)

// benchOps says how each operation runs.
var benchOps = map[string]bench.Kind{
	"push": bench.Push, "push-grouped": bench.Push, "rest-push": bench.Push,
	"take": bench.Take, "e2e": bench.EndToEnd, "rest-e2e": bench.EndToEnd,
	"pop-sparse": bench.Probe, "rest-rss": bench.Push, "rest-cpu": bench.Push,
	"sweep": bench.Duel, "cycle": bench.Duel, "compact": bench.Duel, "refresh": bench.Duel, "scrape": bench.Duel,
	"push-sweep": bench.Disturbed, "push-compact": bench.Disturbed,
}

// benchUnits are what operations count that do not count messages.
var benchUnits = map[string]string{"sweep": "segment", "cycle": "cycle", "compact": "frame", "refresh": "refresh", "scrape": "scrape"}

// benchSetups make the targets that are not those of every operation.
var benchSetups = map[string]bench.Setup{
	"pop-sparse": newSparseTarget, "rest-rss": newServedTarget, "rest-cpu": newServedTarget,
	"sweep": newSweepTarget, "cycle": newCycleTarget, "compact": newCompactTarget, "refresh": newRefreshTarget, "scrape": newScrapeTarget,
	"push-sweep": newSweepTarget, "push-compact": newCompactTarget,
}

// benchDefaults are the flags that are others for an operation.
var benchDefaults = map[string]map[string]string{
	"rest-e2e":   {"rate": "200", "producers": "1", "batch": "1"},
	"pop-sparse": {"producers": "1", "partitions-per-producer": "100000"},
	"rest-rss":   {"producers": "256", "batch": "1", "parked": "1000"},
	"rest-cpu":   {"producers": "64", "batch": "100"},
	"sweep":      {"size": "100000"}, "push-sweep": {"size": "1000000"},
	"compact": {"size": "400000"}, "push-compact": {"size": "1000000"},
	"cycle": {"size": "100000"}, "refresh": {"size": "100000"}, "scrape": {"size": "10000"},
}

func newBenchCmd() *cobra.Command {
	o := bench.DefaultOptions()
	var url string
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure one cell: pushes, takes or both, in a database of its own",
		Long: `Bench measures one cell for a few seconds and prints messages a second, call
latency, and what PostgreSQL wrote, stored and computed for each message.

  push          push_v1 or, for more, push_many_v1: what an application calls in
                its own transaction; of many, it asks how many were stored
  push-grouped  log_push_v1 with messages that are grouped already
  take          log_pop_v1 and an ack, on a queue that was filled before
  e2e           push and take at once; latency is from push to receipt
  rest-push     the same as push, over HTTP
  rest-e2e      the same as e2e, over HTTP with a waiting consumer, at 200 a second
  pop-sparse    a pop while 2 of 100,000 partitions have a message
  rest-rss      rest-push to a server in a process of its own, whose memory is
                read in the end, with --parked pops waiting
  rest-cpu      the same without pops, for the processor time of the server,
                with --counters on (and flushed every second) or off
  sweep         retention deletes --size segments of 100 messages, and vacuum
  push-sweep    push while that is done; before and after for comparison
  compact       compaction of --size messages, half of them obsolete
  push-compact  push while that is done; before and after for comparison
  cycle         a retention cycle over --size partitions with nothing to delete
  refresh       a count of --size partitions with one group each
  scrape        GET /metrics/prometheus with --size queues

Sweep, compact and refresh also do the bare form of the work in turns with
Regent's own: a delete of as many rows, one update, one aggregate.

--target plain runs push, take and e2e against one ordinary table instead.

It works in a database of its own, which it drops in the end: on the server of
--dsn, else on a private PostgreSQL that it starts with fsync on. A cell over
HTTP starts its own server there, unless --url names one; it then uses a queue
of its own. Machines differ: compare cells of one run, never with other numbers.`,
		Example: `  regent bench --op push --producers 8 --batch 100
  regent bench --op push --producers 8 --batch 100 --target plain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := completeBench(cmd, &o, url); err != nil {
				return err
			}
			result, err := runBench(cmd, o, url)
			if err != nil {
				return err
			}
			return format.print(cmd, result, func() table { return sentence(result.Line()) })
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.Op, "op", "push", "what to measure: "+strings.Join(slices.Sorted(maps.Keys(benchOps)), ", "))
	cmd.Flags().StringVar(&o.Target, "target", "regent", "regent, or plain for an ordinary table")
	cmd.Flags().StringVar(&url, "url", "", "address of a running HTTP API, for rest-push and rest-e2e")
	cmd.MarkFlagsMutuallyExclusive("url", "dsn")
	format.addFlag(cmd)
	explainBenchDefaults(cmd)
	cmd.AddCommand(newBenchServeCmd())
	return cmd
}

// explainBenchDefaults has the help of each flag say which operations have a default
// of their own for it.
func explainBenchDefaults(cmd *cobra.Command) {
	own := map[string]map[string][]string{} // by flag and value, the operations
	for _, op := range slices.Sorted(maps.Keys(benchDefaults)) {
		for flag, value := range benchDefaults[op] {
			if own[flag] == nil {
				own[flag] = map[string][]string{}
			}
			own[flag][value] = append(own[flag][value], op)
		}
	}
	for flag, values := range own {
		var parts []string
		for _, value := range slices.Sorted(maps.Keys(values)) {
			parts = append(parts, "for "+strings.Join(values[value], ", ")+": "+value)
		}
		cmd.Flags().Lookup(flag).Usage += " (default " + strings.Join(parts, "; ") + ")"
	}
}

// completeBench refuses what cannot be combined and sets the defaults that
// depend on the operation.
func completeBench(cmd *cobra.Command, o *bench.Options, url string) error {
	_, known := benchOps[o.Op]
	rest := strings.HasPrefix(o.Op, "rest-")
	switch {
	case !known:
		return fmt.Errorf("--op must be one of %s", strings.Join(slices.Sorted(maps.Keys(benchOps)), ", "))
	case o.Target != "regent" && o.Target != "plain":
		return errors.New("--target must be regent or plain")
	case o.Target == "plain" && (rest || o.Op == "push-grouped" || benchSetups[o.Op] != nil):
		return fmt.Errorf("--target plain has no %s", o.Op)
	case o.TakeBatch > 0 && o.Op != "rest-e2e":
		return errors.New("--take-batch goes with --op rest-e2e")
	case url != "" && (!rest || benchSetups[o.Op] != nil):
		return errors.New("--url goes with --op rest-push and rest-e2e")
	}
	for name, value := range benchDefaults[o.Op] {
		if !cmd.Flags().Changed(name) {
			if err := cmd.Flags().Set(name, value); err != nil {
				return err
			}
		}
	}
	if o.Op == "pop-sparse" && o.Producers != 1 {
		return errors.New("--op pop-sparse has one producer")
	}
	o.Unit = benchUnits[o.Op]
	return o.Check()
}

func runBench(cmd *cobra.Command, o bench.Options, url string) (*bench.Result, error) {
	ctx, kind := cmd.Context(), benchOps[o.Op]
	log := slog.New(slog.DiscardHandler)
	setup := newSQLTarget
	switch {
	case url != "":
		target, err := newURLTarget(ctx, url, o)
		if err != nil {
			return nil, err
		}
		defer target.Close()
		return bench.RunOn(ctx, o, kind, target, nil)
	case o.Target == "plain":
		setup = bench.NewPlain
	case benchSetups[o.Op] != nil:
		setup = benchSetups[o.Op]
	case strings.HasPrefix(o.Op, "rest-"):
		setup = newRESTTarget
	}
	result, err := bench.Run(ctx, o, kind, setup, log)
	if err != nil {
		return nil, withCode(exitServer, fmt.Errorf("bench %s: %w", o.Op, err))
	}
	return result, nil
}
