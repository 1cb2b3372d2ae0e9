package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func newMessageCmd() *cobra.Command {
	return nounCmd("message", "Look at single messages, and at what became of them",
		newMessageListCmd(), newMessageShowCmd(), newMessageRetryCmd(), newMessageDeleteCmd())
}

func newMessageListCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var r browseRequest
	var from, to string
	cmd := &cobra.Command{
		Use:   "list [QUEUE]",
		Short: "List messages with their state, newest first",
		Long: `List looks at the messages of the last hour, or since --from, and takes none. A
state is that of the consumers without a group; a message that any group gave up on
is dead_letter. "regent tail" shows messages in their order.

With --dsn the payloads of an encrypted queue come as the envelopes they are
stored as: only a server has the key.`,
		Example: `  regent message list orders --status pending
  regent message list orders --from '3h ago' --limit 1000 -o ndjson`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.limit < 1 || r.limit > maxPage || r.offset < 0 {
				return fmt.Errorf("--limit must be 1 to %d, --offset not negative", maxPage)
			}
			r.queue = firstOf(args)
			if r.from, err = timeOf("from", from); err != nil {
				return err
			}
			if r.to, err = timeOf("to", to); err != nil {
				return err
			}
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			messages, err := c.Messages(cmd.Context(), r)
			if err == nil && len(messages) == 0 {
				err = missingQueue(cmd.Context(), c, r.queue)
			}
			if err != nil {
				return err
			}
			return printBrowsed(cmd, format, messages)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	fl := cmd.Flags()
	fl.StringVar(&r.partition, "partition", "", "only those of this partition")
	fl.StringVar(&r.status, "status", "", "only pending, processing, completed or dead_letter ones (default: all)")
	fl.StringVar(&from, "from", "", `stored at or after this time: RFC 3339, now, or "15m ago" (default: an hour ago)`)
	fl.StringVar(&to, "to", "", "stored before the end of the minute of this time, written likewise (default: now)")
	fl.IntVar(&r.limit, "limit", 100, "length of the page, in messages")
	fl.IntVar(&r.offset, "offset", 0, "how many messages to pass over")
	return cmd
}

// timeOf reads the time of a flag; nil when it is not given.
func timeOf(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	t, err := parseTime(text, time.Now())
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return &t, nil
}

func printBrowsed(cmd *cobra.Command, format outputFormat, messages []browsedMessage) error {
	items := make([]any, len(messages))
	for i, m := range messages {
		items[i] = m
	}
	return format.printList(cmd, messages, items, func() table { return browsedTable(messages) })
}

func browsedTable(messages []browsedMessage) table {
	t := table{header: []string{"CREATED", "QUEUE", "PARTITION", "STATE", "TRANSACTION ID", "PARTITION ID", "DATA"}}
	for _, m := range messages {
		t.rows = append(t.rows, []string{m.CreatedAt, m.Queue, m.Partition, m.Status, oneLine(text(m.TransactionID), 40), m.PartitionID, oneLine(string(m.Data), 60)})
	}
	return t
}

const messageAddressText = `PARTITION-ID is the partitionId that pop, list and dlq list print.`

func newMessageShowCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "show PARTITION-ID TRANSACTION-ID",
		Short: "Show one message, and where each group stands with it",
		Long: `Show looks at the newest message with a transactionId, or at its dead letter when
the log does not have it any more. ` + messageAddressText,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			m, err := c.Message(cmd.Context(), messageAddress{args[0], args[1]})
			if err != nil {
				return err
			}
			return format.print(cmd, m, func() table { return browsedTable([]browsedMessage{m}) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func newMessageRetryCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "retry PARTITION-ID TRANSACTION-ID",
		Short: "Move the newest dead letter of a message back to its queue",
		Long: `Retry does with the newest dead letter of a message what "regent dlq replay" does.
` + messageAddressText,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			o, err := c.RetryMessage(cmd.Context(), messageAddress{args[0], args[1]})
			if err != nil {
				return err
			}
			if o.Result == "gone" {
				return nothingTo("message %q has no dead letter in partition %q", args[1], args[0])
			}
			if err := format.print(cmd, o, func() table { return outcomeTable([]outcome{o}) }); err != nil {
				return err
			}
			return (&tally{}).add([]outcome{o}).judge()
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func newMessageDeleteCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "delete PARTITION-ID TRANSACTION-ID",
		Short: "Delete the dead letters of a message",
		Long: `Delete removes the dead letters of a message, those of every group. The log itself
is never changed: a message that is no dead letter stays. It cannot be undone.
--dry-run shows how many would go; --yes is needed to do it.
` + messageAddressText,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return deleteMessage(cmd, c, format, messageAddress{args[0], args[1]}, dryRun, yes)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show how many would go and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete")
	return cmd
}

// unburied is what deleting a message takes away.
type unburied struct {
	PartitionID   string `json:"partitionId"`
	TransactionID string `json:"transactionId"`
	DryRun        bool   `json:"dryRun"`
	Deleted       int    `json:"deleted"`
	Matching      int    `json:"matching"`
}

func deleteMessage(cmd *cobra.Command, c client, format outputFormat, a messageAddress, dryRun, yes bool) (err error) {
	u := unburied{PartitionID: a.partitionID, TransactionID: a.transactionID, DryRun: dryRun}
	verb := "deleted"
	if dryRun || !yes {
		verb = "would delete"
		u.Matching, err = countLetters(cmd, c, a)
	} else {
		u.Deleted, err = c.DeleteMessage(cmd.Context(), a)
		u.Matching = u.Deleted
	}
	said := fmt.Sprintf("%s %s of message %q", verb, counted(int64(u.Matching), "dead letter"), a.transactionID)
	switch {
	case err != nil:
		return err
	case u.Matching == 0:
		return nothingTo("message %q has no dead letter in partition %q", a.transactionID, a.partitionID)
	case !dryRun && !yes:
		return fmt.Errorf("%s; --yes does it", said)
	}
	return format.print(cmd, u, func() table { return sentence(said) })
}

// countLetters counts the dead letters of one message among those of its queue.
func countLetters(cmd *cobra.Command, c client, a messageAddress) (n int, err error) {
	letters, err := allLetters(cmd.Context(), c, letterFilter{})
	for _, l := range letters {
		if l.PartitionID == a.partitionID && l.TransactionID == a.transactionID {
			n++
		}
	}
	return n, err
}
