package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// popRetryFor bounds the repetition of pops that the server refused or that
// never reached it. A pop whose answer was lost is not repeated.
const popRetryFor = 10 * time.Second

type popFlags struct {
	target           targetFlags
	format           outputFormat
	partition, group string
	batch, parts     int
	wait, lease      durationFlag
	autoAck          bool
	from             string
}

func newPopCmd() *cobra.Command {
	var f popFlags
	cmd := &cobra.Command{
		Use:   "pop QUEUE",
		Short: "Take messages and lease them",
		Long: `Pop claims the next messages of a queue, oldest first inside each partition. They
stay leased until they are acknowledged or the lease ends; then they come again.
The output has everything that "regent ack" needs.

Without --group the queue itself is the consumer. A group that is new begins
where --from says; later calls ignore it.

With --wait the queue need not exist yet: it is made, empty, so that the group is
subscribed before the first message. In a pipe each message is one line, its
payload as it was pushed; only line breaks between the parts of a payload become
spaces.

With --dsn the payloads of an encrypted queue come as the envelopes they are
stored as: only a server has the key.

Exit code 4 means that there was nothing to take. Ending it while it waits is no
error.`,
		Example: `  regent pop orders --group billing --batch 10 --wait 30s
  regent pop orders --group billing -o ndjson | regent ack --group billing -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := runPop(cmd, &f, args[0])
			if f.wait > 0 && interrupted(cmd.Context(), err) {
				return nil
			}
			return err
		},
	}
	f.target.addFlags(cmd, popRetryFor)
	f.format.addLineFlag(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.partition, "partition", "", "take from this partition only")
	fl.StringVar(&f.group, "group", "", "consumer group (default: none, the queue itself is the consumer)")
	fl.IntVar(&f.batch, "batch", 1, "messages, at most")
	fl.IntVar(&f.parts, "partitions", 1, "partitions to take from, at most; 0 means any number")
	fl.Var(&f.wait, "wait", "how long to wait for a message (default: not at all)")
	fl.Var(&f.lease, "lease", "how long the messages stay leased (default: the queue's lease time)")
	fl.BoolVar(&f.autoAck, "auto-ack", false, "acknowledge on delivery: at most once, no lease")
	fl.StringVar(&f.from, "from", "", `where a new group begins: all, new, RFC 3339 or "15m ago" (default: the server's choice, new)`)
	return cmd
}

func (f *popFlags) request(queue string, now time.Time) (popRequest, error) {
	if f.batch < 1 {
		return popRequest{}, fmt.Errorf("--batch must be at least 1")
	}
	if f.partition != "" && f.parts != 1 {
		return popRequest{}, fmt.Errorf("--partitions does not go with --partition")
	}
	req := popRequest{Queue: queue, Partition: f.partition, Group: f.group, Batch: f.batch, Partitions: f.parts,
		Wait: time.Duration(f.wait), Lease: time.Duration(f.lease), AutoAck: f.autoAck}
	switch f.from {
	case "":
	case "all", "new":
		req.Mode = f.from
	default:
		t, err := parseTime(f.from, now)
		if err != nil {
			return popRequest{}, fmt.Errorf(`--from %q: want all, new, now, RFC 3339 or "15m ago"`, f.from)
		}
		req.From = t.UTC().Format(time.RFC3339Nano)
	}
	return req, nil
}

func runPop(cmd *cobra.Command, f *popFlags, queue string) error {
	req, err := f.request(queue, time.Now())
	if err != nil {
		return err
	}
	c, err := f.target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	if req.Wait == 0 { // who waits may be there before the first message, and subscribes by that
		if _, err := c.Queue(cmd.Context(), queue); err != nil {
			return err
		}
	}
	messages, err := c.Pop(cmd.Context(), req)
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return nothingTo("queue %q has nothing to take", queue)
	}
	return printMessages(cmd, f.format, messages)
}

// printMessages writes one message a line in a pipe.
func printMessages(cmd *cobra.Command, format outputFormat, messages []message) error {
	format = format.resolve(cmd.OutOrStdout(), "ndjson")
	items := make([]any, len(messages))
	for i, m := range messages {
		items[i] = m
	}
	return format.printList(cmd, messages, items, func() table { return messageTable(messages) })
}

func messageTable(messages []message) table {
	t := table{header: []string{"PARTITION", "TRANSACTION ID", "CREATED", "ATTEMPT", "DATA"}}
	for _, m := range messages {
		t.rows = append(t.rows, []string{m.Partition, oneLine(m.TransactionID, 40), m.CreatedAt,
			fmt.Sprint(m.DeliveryAttempt), oneLine(string(m.Data), 80)})
	}
	leases := leaseIDs(messages)
	for i, id := range leases {
		if i == 0 {
			t.rows = append(t.rows, []string{""})
		}
		t.rows = append(t.rows, []string{"lease " + id})
	}
	return t
}

func leaseIDs(messages []message) []string {
	var ids []string
	for _, m := range messages {
		if m.LeaseID != "" && !slices.Contains(ids, m.LeaseID) {
			ids = append(ids, m.LeaseID)
		}
	}
	return ids
}
