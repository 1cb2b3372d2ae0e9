package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

// ackBatch is how many acknowledgements go into one call.
const ackBatch = 1000

type ackFlags struct {
	target                            targetFlags
	format                            outputFormat
	partitionID, transactionID, lease string
	group, status, reason             string
}

func newAckCmd() *cobra.Command {
	var f ackFlags
	cmd := &cobra.Command{
		Use:   "ack [-]",
		Short: "Acknowledge messages",
		Long: `Ack says what became of popped messages: completed, failed (again, until the
queue's retry limit files it as a dead letter), retry (again, without counting)
or dlq (dead letter now). With - it reads the output of "regent pop -o ndjson".

In a partition the first message that is not completed ends its batch: those
behind it are handed out again, whatever is said of them. To file each of several
as a dead letter, pop them one by one.

It prints one verdict a message, and ends with exit code 1 when any of them was
refused.`,
		Example: `  regent ack --group billing --partition-id $P --transaction-id $T --lease $L
  regent pop orders --group billing -o ndjson | regent ack --group billing -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runAck(cmd, &f, args) },
	}
	f.target.addFlags(cmd, popRetryFor)
	f.format.addFlag(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.partitionID, "partition-id", "", "the message's partitionId")
	fl.StringVar(&f.transactionID, "transaction-id", "", "the message's transactionId")
	fl.StringVar(&f.lease, "lease", "", "the message's leaseId")
	fl.StringVar(&f.group, "group", "", "consumer group (default with -: the messages' own)")
	fl.StringVar(&f.status, "status", "completed", "completed, failed, retry or dlq")
	fl.StringVar(&f.reason, "error", "", "why it failed; kept with a dead letter")
	return cmd
}

func runAck(cmd *cobra.Command, f *ackFlags, args []string) error {
	if !slices.Contains([]string{"completed", "failed", "retry", "dlq"}, f.status) {
		return fmt.Errorf("--status %q is none of completed, failed, retry, dlq", f.status)
	}
	calls, err := f.calls(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		return nothingTo("no messages to acknowledge")
	}
	c, err := f.target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	var verdicts []ackVerdict
	for _, call := range calls {
		got, err := c.Ack(cmd.Context(), call.group, call.items)
		if err != nil {
			return errors.Join(err, printVerdicts(cmd, f.format, verdicts))
		}
		verdicts = append(verdicts, got...)
	}
	if err := printVerdicts(cmd, f.format, verdicts); err != nil {
		return err
	}
	return judge(verdicts)
}

// ackCall is what goes into one request: one group, a bounded number of items.
type ackCall struct {
	group string
	items []ackItem
}

// calls collects what to acknowledge from the flags or from messages in in.
func (f *ackFlags) calls(in io.Reader, args []string) ([]ackCall, error) {
	switch {
	case len(args) == 0 && f.partitionID != "" && f.transactionID != "":
		item := ackItem{TransactionID: f.transactionID, PartitionID: f.partitionID, LeaseID: f.lease,
			Status: f.status, Error: optional(f.reason)}
		return []ackCall{{f.group, []ackItem{item}}}, nil
	case len(args) == 0:
		return nil, errors.New("name a message by --partition-id and --transaction-id, or give - to read messages")
	case args[0] != "-":
		return nil, fmt.Errorf("argument %q: only - (standard input) is known", args[0])
	case f.partitionID != "" || f.transactionID != "" || f.lease != "":
		return nil, errors.New("--partition-id, --transaction-id and --lease do not go with -")
	}
	return f.readMessages(in)
}

// readMessages keeps the order of the input.
func (f *ackFlags) readMessages(in io.Reader) (calls []ackCall, err error) {
	lines := newLineReader(in, line{})
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		if len(l.data) == 0 {
			continue
		}
		group, item, err := f.itemOf(l)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		last := len(calls) - 1
		if last < 0 || calls[last].group != group || len(calls[last].items) == ackBatch {
			calls = append(calls, ackCall{group: group})
			last++
		}
		calls[last].items = append(calls[last].items, item)
	}
}

func (f *ackFlags) itemOf(l line) (group string, item ackItem, err error) {
	var m message
	dec := json.NewDecoder(bytes.NewReader(l.data))
	if err := dec.Decode(&m); err != nil {
		return "", ackItem{}, &badLine{no: l.no, reason: whyInvalid(l.data)}
	}
	if m.PartitionID == "" || m.TransactionID == "" {
		return "", ackItem{}, &badLine{no: l.no, reason: "no partitionId or no transactionId: not a message of regent pop -o ndjson"}
	}
	if group = f.group; group == "" {
		group = m.ConsumerGroup
	}
	return group, ackItem{TransactionID: m.TransactionID, PartitionID: m.PartitionID, LeaseID: m.LeaseID,
		Status: f.status, Error: optional(f.reason)}, nil
}

func printVerdicts(cmd *cobra.Command, format outputFormat, verdicts []ackVerdict) error {
	items := make([]any, len(verdicts))
	for i, v := range verdicts {
		items[i] = v
	}
	return format.printList(cmd, verdicts, items, func() table { return verdictTable(verdicts) })
}

func verdictTable(verdicts []ackVerdict) table {
	t := table{header: []string{"TRANSACTION ID", "VERDICT", "LEASE", "REASON"}}
	for _, v := range verdicts {
		word, lease, reason := "done", "kept", ""
		switch {
		case !v.Success:
			word = "refused"
		case v.DLQ:
			word = "dead letter"
		case v.Noop:
			word = "done before"
		}
		if v.LeaseReleased {
			lease = "released"
		}
		if v.Error != nil {
			reason = *v.Error
		}
		t.rows = append(t.rows, []string{oneLine(v.TransactionID, 60), word, lease, oneLine(reason, 100)})
	}
	return t
}

// judge fails when any item was refused.
func judge(verdicts []ackVerdict) error {
	refused, reason := 0, ""
	for _, v := range verdicts {
		if !v.Success {
			refused++
			if v.Error != nil && reason == "" {
				reason = ": " + *v.Error
			}
		}
	}
	if refused == 0 {
		return nil
	}
	return withCode(exitUser, fmt.Errorf("%d of %s refused%s", refused, counted(int64(len(verdicts)), "acknowledgement"), reason))
}
