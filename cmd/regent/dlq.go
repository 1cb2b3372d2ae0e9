package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newDLQCmd() *cobra.Command {
	return nounCmd("dlq", "Look at dead letters, move them back, or delete them",
		newDLQListCmd(), newDLQReplayCmd(), newDLQRedriveCmd(), newDLQDeleteCmd())
}

func newDLQListCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var f letterFilter
	var limit, offset int
	cmd := &cobra.Command{
		Use:   "list [QUEUE]",
		Short: "List dead letters, newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > maxPage || offset < 0 {
				return fmt.Errorf("--limit must be 1 to %d, --offset not negative", maxPage)
			}
			f.queue = firstOf(args)
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			letters, err := c.DeadLetters(cmd.Context(), f, limit, offset)
			if err == nil && len(letters) == 0 {
				err = missingQueue(cmd.Context(), c, f.queue)
			}
			if err != nil {
				return err
			}
			return printLetters(cmd, format, letters)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().StringVar(&f.group, "group", "", "only those of this consumer group")
	cmd.Flags().IntVar(&limit, "limit", 100, "length of the page, in dead letters")
	cmd.Flags().IntVar(&offset, "offset", 0, "how many dead letters to pass over")
	return cmd
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func printLetters(cmd *cobra.Command, format outputFormat, letters []deadLetter) error {
	items := make([]any, len(letters))
	for i, l := range letters {
		items[i] = l
	}
	return format.printList(cmd, letters, items, func() table {
		t := table{header: []string{"ID", "FAILED", "QUEUE", "PARTITION", "GROUP", "TRANSACTION ID", "RETRIES", "REASON"}}
		for _, l := range letters {
			t.rows = append(t.rows, []string{l.ID, l.FailedAt.Format(stampForm), l.Queue, l.Partition, l.ConsumerGroup,
				oneLine(l.TransactionID, 40), grouped(int64(l.RetryCount)), oneLine(text(l.ErrorMessage), 60)})
		}
		return t
	})
}

func newDLQReplayCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var queue, partition string
	cmd := &cobra.Command{
		Use:   "replay ID",
		Short: "Move one dead letter back to its queue",
		Long: `Replay stores the message anew at the end of its partition, with the
transactionId dlq:ID, and deletes the dead letter: both or neither. Every group
sees the new message. --to-queue and --to-partition send it elsewhere; what is
missing is created.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			o, err := c.Replay(cmd.Context(), args[0], queue, partition)
			if err != nil {
				return err
			}
			if o.Result == "gone" {
				return nothingTo("there is no dead letter %q", args[0])
			}
			if err := format.print(cmd, o, func() table { return outcomeTable([]outcome{o}) }); err != nil {
				return err
			}
			return (&tally{}).add([]outcome{o}).judge()
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().StringVar(&queue, "to-queue", "", "another queue than its own")
	cmd.Flags().StringVar(&partition, "to-partition", "", "another partition than its own")
	return cmd
}

func newDLQDeleteCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var f letterFilter
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "delete QUEUE",
		Short: "Delete the dead letters of a queue",
		Long: `Delete removes the dead letters of a queue, or of one of its groups. It cannot be
undone. --dry-run shows how many would go; --yes is needed to do it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.queue = args[0]
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return deleteLetters(cmd, c, format, f, dryRun, yes)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().StringVar(&f.group, "group", "", "only those of this consumer group")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show how many would go and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete")
	return cmd
}

// noSuchLetter is the outcome of a delete that found nothing.
func noSuchLetter(ctx context.Context, c client, queue string) error {
	if err := missingQueue(ctx, c, queue); err != nil {
		return err
	}
	return nothingTo("queue %q has no such dead letter", queue)
}

// buried is what a delete takes away.
type buried struct {
	Queue         string `json:"queue"`
	ConsumerGroup string `json:"consumerGroup,omitempty"`
	DryRun        bool   `json:"dryRun"`
	Deleted       int    `json:"deleted"`
	Matching      int    `json:"matching"`
}

func deleteLetters(cmd *cobra.Command, c client, format outputFormat, f letterFilter, dryRun, yes bool) error {
	b := buried{Queue: f.queue, ConsumerGroup: f.group, DryRun: dryRun}
	if !yes || dryRun {
		letters, err := allLetters(cmd.Context(), c, f)
		if err != nil {
			return err
		}
		b.Matching = len(letters)
		if b.Matching == 0 {
			return noSuchLetter(cmd.Context(), c, f.queue)
		}
		if !dryRun {
			return fmt.Errorf("would delete %s of queue %s; --yes does it", counted(int64(b.Matching), "dead letter"), f.queue)
		}
		return format.print(cmd, b, func() table {
			return sentence(fmt.Sprintf("would delete %s of queue %s", counted(int64(b.Matching), "dead letter"), f.queue))
		})
	}
	deleted, err := c.DeleteDeadLetters(cmd.Context(), f)
	if err != nil {
		return err
	}
	if deleted == 0 {
		return noSuchLetter(cmd.Context(), c, f.queue)
	}
	b.Deleted, b.Matching = deleted, deleted
	return format.print(cmd, b, func() table {
		return sentence(fmt.Sprintf("deleted %s of queue %s", counted(int64(deleted), "dead letter"), f.queue))
	})
}
