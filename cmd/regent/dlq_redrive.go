package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// redriveStep is how many dead letters go between two looks at the clock.
const redriveStep = 100

type redriveFlags struct {
	target           targetFlags
	format           outputFormat
	filter           letterFilter
	since, until     string
	all, dryRun, yes bool
	rate, step       int
	began, told      time.Time // the first step's end, the last line about progress
}

func newDLQRedriveCmd() *cobra.Command {
	var f redriveFlags
	cmd := &cobra.Command{
		Use:   "redrive [QUEUE]",
		Short: "Move many dead letters back to their queues",
		Long: `Redrive moves the dead letters of a queue, or of all with --all, that the filter
leaves: oldest first, each back to the end of its own partition, as replay does.
Only what had failed when it starts is moved, so that a message that fails again
is not moved again by the same run.

It prints one outcome a dead letter: moved; gone (somebody else moved or deleted
it); or failed, duplicate or busy with the reason, and then it is kept. How far it
is stands on standard error every few seconds. A run that was cut off is started
anew: what was moved is no dead letter any more.

Over --url up to eight partitions are served at a time, each in its order; over
--dsn the database does it in steps, which is faster.

--dry-run shows what would be moved; --yes is needed to do it. It ends with exit
code 1 when any dead letter was kept, and with 4 when there was none.

A dry run cannot know which will be a duplicate. Over --url it goes by the list of
dead letters, which does not tell whether a payload was lost or is damaged, nor
whether the server has the key for a queue that was encrypted since then: it says
movable, and the redrive keeps them. Over --dsn it says failed; so does a redrive
there of plaintext for an encrypted queue, which only a server with a key can seal.`,
		Example: `  regent dlq redrive orders --group billing --error 'timeout' --dry-run
  regent dlq redrive orders --group billing --error 'timeout' --rate 50 --yes
  regent dlq redrive --all --since '2h ago' --yes -o ndjson`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRedrive(cmd, &f, args) },
	}
	f.target.addFlags(cmd, tailRetryFor)
	f.format.addFlag(cmd)
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "the dead letters of every queue")
	fl.StringVar(&f.filter.group, "group", "", "only those of this consumer group")
	fl.StringVar(&f.filter.partition, "partition", "", "only those of this partition")
	fl.StringVar(&f.filter.reason, "error", "", "only those whose reason contains this text")
	fl.StringVar(&f.since, "since", "", "only those that failed at or after this time: RFC 3339, now, or \"15m ago\" (default: the oldest)")
	fl.StringVar(&f.until, "until", "", "only those that failed before this time, written likewise (default: now)")
	fl.IntVar(&f.rate, "rate", 0, "at most this many a second (0: as fast as it goes)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would be moved and change nothing")
	fl.BoolVar(&f.yes, "yes", false, "really move them")
	return cmd
}

// prepare judges the flags and fills in the filter.
func (f *redriveFlags) prepare(args []string, now time.Time) error {
	f.filter.queue = firstOf(args)
	f.step, f.told = redriveStep, now
	switch {
	case (f.filter.queue == "") != f.all:
		return errors.New("name a queue, or give --all for every queue")
	case f.rate < 0:
		return errors.New("--rate must not be negative")
	case f.rate > 0:
		f.step = min(f.step, max(1, f.rate/4))
	}
	until := now
	if f.until != "" {
		t, err := parseTime(f.until, now)
		if err != nil {
			return fmt.Errorf("--until: %w", err)
		}
		until = t
	}
	f.filter.until = &until
	if f.since != "" {
		t, err := parseTime(f.since, now)
		if err != nil {
			return fmt.Errorf("--since: %w", err)
		}
		f.filter.since = &t
	}
	return nil
}

func runRedrive(cmd *cobra.Command, f *redriveFlags, args []string) error {
	if err := f.prepare(args, time.Now()); err != nil {
		return err
	}
	c, err := f.target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	lines := f.format.resolve(cmd.OutOrStdout(), "json") == "ndjson"
	var sum tally
	var all []outcome
	err = c.Redrive(cmd.Context(), f.filter, f.step, f.dryRun || !f.yes, func(done []outcome, of int) error {
		sum.add(done).of = of
		switch {
		case !f.dryRun && !f.yes:
			return nil
		case lines:
			for _, o := range done {
				if err := writeJSON(cmd.OutOrStdout(), o, ""); err != nil {
					return err
				}
			}
		default:
			all = append(all, done...)
		}
		f.tell(cmd.ErrOrStderr(), &sum)
		return f.pace(cmd, sum.total)
	})
	if !lines && (f.dryRun || f.yes) && sum.total > 0 {
		err = errors.Join(err, f.format.print(cmd, all, func() table { return outcomeTable(all) }))
	}
	if sum.total > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), sum.String())
	}
	switch {
	case interrupted(cmd.Context(), err):
		return errors.New("redrive stopped: interrupted; the same command goes on with what is left")
	case err != nil:
		return err
	case sum.total == 0:
		if err := missingQueue(cmd.Context(), c, f.filter.queue); err != nil {
			return err
		}
		return nothingTo("no dead letter is left by this filter")
	case !f.dryRun && !f.yes:
		return errors.New("nothing was moved; --yes does it")
	}
	return sum.judge()
}

// tell says now and then how far it is.
func (f *redriveFlags) tell(out io.Writer, sum *tally) {
	if sum.total > 0 && time.Since(f.told) > progressEvery {
		f.told = time.Now()
		if sum.of > 0 {
			fmt.Fprintf(out, "%s so far, of %s\n", sum, grouped(int64(sum.of)))
			return
		}
		fmt.Fprintf(out, "%s so far\n", sum)
	}
}

// pace waits until as many as were done may have been done. The time that it took to
// find them does not count.
func (f *redriveFlags) pace(cmd *cobra.Command, done int) error {
	if f.rate == 0 || f.dryRun {
		return nil
	}
	if f.began.IsZero() {
		f.began = time.Now()
	}
	due := f.began.Add(time.Duration(done) * time.Second / time.Duration(f.rate))
	if wait := time.Until(due); wait > 0 {
		return sleep(cmd.Context(), wait)
	}
	return nil
}

// tally counts outcomes.
type tally struct {
	total  int
	of     int // all that there will be; 0: not known
	counts map[string]int
	reason string
}

// results are the words for an outcome, in the order shown.
func results() []string { return []string{"moved", "movable", "gone", "duplicate", "failed", "busy"} }

func (t *tally) add(done []outcome) *tally {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	for _, o := range done {
		t.total++
		t.counts[o.Result]++
		if t.reason == "" {
			t.reason = o.Error
		}
	}
	return t
}

func (t *tally) String() string {
	var parts []string
	for _, r := range results() {
		if n := t.counts[r]; n > 0 {
			parts = append(parts, grouped(int64(n))+" "+r)
		}
	}
	return strings.Join(parts, ", ")
}

// judge fails when any dead letter was kept.
func (t *tally) judge() error {
	kept := t.counts["duplicate"] + t.counts["failed"] + t.counts["busy"]
	if kept == 0 {
		return nil
	}
	return withCode(exitUser, fmt.Errorf("%d of %s kept: %s", kept, counted(int64(t.total), "dead letter"), t.reason))
}

func outcomeTable(done []outcome) table {
	t := table{header: []string{"RESULT", "FAILED", "QUEUE", "PARTITION", "GROUP", "TRANSACTION ID", "OFFSET", "REASON"}}
	for _, o := range done {
		failed := "-"
		if !o.FailedAt.IsZero() {
			failed = o.FailedAt.Format(stampForm)
		}
		t.rows = append(t.rows, []string{o.Result, failed, cmp.Or(o.Queue, "-"), cmp.Or(o.Partition, "-"), cmp.Or(o.ConsumerGroup, "-"),
			cmp.Or(oneLine(o.TransactionID, 40), "-"), number(o.Offset), oneLine(o.Error, 80)})
	}
	return t
}
