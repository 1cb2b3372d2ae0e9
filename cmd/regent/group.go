package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

func newGroupCmd() *cobra.Command {
	return nounCmd("group", "List, show, move and delete consumer groups",
		newGroupListCmd(), newGroupShowCmd(), newGroupSeekCmd(), newGroupDeleteCmd())
}

// groupInfo is a group on a queue, as tables show it.
type groupInfo struct {
	Name              string  `json:"name"`
	QueueName         string  `json:"queueName"`
	PartitionCursors  int64   `json:"partitionCursors"`
	PartitionsWithLag int64   `json:"partitionsWithLag"`
	TotalLag          int64   `json:"totalLag"`
	MaxTimeLag        int64   `json:"maxTimeLag"`
	State             string  `json:"state"`
	SubscriptionMode  *string `json:"subscriptionMode"`
}

func newGroupListCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List consumer groups, once for each queue, with how far they are behind",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			text, err := c.Groups(cmd.Context())
			if err != nil {
				return err
			}
			var groups []json.RawMessage
			if err := decode(text, &groups); err != nil {
				return fmt.Errorf("list groups: %w", err)
			}
			items := make([]any, len(groups))
			for i, g := range groups {
				items[i] = g
			}
			return format.printList(cmd, text, items, func() table { return groupTable(groups) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func groupTable(groups []json.RawMessage) table {
	t := table{header: []string{"GROUP", "QUEUE", "STATE", "BEHIND", "SECONDS", "PARTITIONS", "WITH LAG", "BEGAN AT"}}
	for _, text := range groups {
		var g groupInfo
		if json.Unmarshal(text, &g) != nil {
			continue
		}
		began := "-"
		if g.SubscriptionMode != nil {
			began = *g.SubscriptionMode
		}
		t.rows = append(t.rows, []string{g.Name, g.QueueName, g.State, grouped(g.TotalLag), grouped(g.MaxTimeLag),
			grouped(g.PartitionCursors), grouped(g.PartitionsWithLag), began})
	}
	return t
}

// groupDetail is a group by queue, as tables show it.
type groupDetail map[string]groupOnQueue

type groupOnQueue struct {
	Partitions []groupStanding `json:"partitions"`
}

// groupStanding is a group on a partition.
type groupStanding struct {
	Partition      string `json:"partition"`
	TotalConsumed  int64  `json:"totalConsumed"`
	OffsetLag      int64  `json:"offsetLag"`
	TimeLagSeconds int64  `json:"timeLagSeconds"`
	LeaseActive    bool   `json:"leaseActive"`
	notStarted     bool   // it owes all of it, and has no cursor there
}

// addUnstarted adds the partitions that the group owes and has no cursor on: it is
// registered on their queue, and has not come to them yet.
func (d groupDetail) addUnstarted(text json.RawMessage, group string) error {
	var all []struct {
		Group     string `json:"consumer_group"`
		Queue     string `json:"queue_name"`
		Partition string `json:"partition_name"`
		Behind    int64  `json:"offset_lag"`
		Seconds   int64  `json:"time_lag_seconds"`
	}
	if err := decode(text, &all); err != nil {
		return fmt.Errorf("show group: %w", err)
	}
	started := map[[2]string]bool{}
	for queue, on := range d {
		for _, p := range on.Partitions {
			started[[2]string{queue, p.Partition}] = true
		}
	}
	for _, l := range all {
		if l.Group != group || started[[2]string{l.Queue, l.Partition}] {
			continue
		}
		on := d[l.Queue]
		on.Partitions = append(on.Partitions, groupStanding{Partition: l.Partition, OffsetLag: l.Behind, TimeLagSeconds: l.Seconds, notStarted: true})
		d[l.Queue] = on
	}
	return nil
}

func newGroupShowCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "show GROUP",
		Short: "Show where a group stands on every partition",
		Long: `Show prints where a group stands on each partition that it has a cursor on. The
table also has those that it owes and has not started yet; the other formats are
the API's document, which has not.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			text, err := c.Group(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var detail groupDetail
			if err := decode(text, &detail); err != nil {
				return fmt.Errorf("show group: %w", err)
			}
			if len(detail) == 0 || format.resolve(cmd.OutOrStdout(), "json") == "table" {
				lagging, err := c.Lagging(cmd.Context())
				if err != nil {
					return err
				}
				if err := detail.addUnstarted(lagging, args[0]); err != nil {
					return err
				}
			}
			if len(detail) == 0 {
				return nothingTo("group %q has no cursor", args[0])
			}
			return format.print(cmd, text, func() table { return groupDetailTable(detail) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func groupDetailTable(detail groupDetail) table {
	t := table{header: []string{"QUEUE", "PARTITION", "BEHIND", "SECONDS", "CONSUMED", "LEASED"}}
	for _, queue := range slices.Sorted(keysOf(detail)) {
		for _, p := range detail[queue].Partitions {
			leased, consumed := "no", grouped(p.TotalConsumed)
			switch {
			case p.LeaseActive:
				leased = "yes"
			case p.notStarted:
				consumed = "not started"
			}
			t.rows = append(t.rows, []string{queue, p.Partition, grouped(p.OffsetLag), grouped(p.TimeLagSeconds), consumed, leased})
		}
	}
	return t
}

func newGroupSeekCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var s seekTarget
	var to string
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "seek GROUP QUEUE",
		Short: "Move a group on a queue, to the end or to a time",
		Long: `Seek moves the group's cursors, forwards or back: behind the last message, or
before the first messages stored at or after a time. Leases end; what was in
flight may come again. A group that is not known yet gets cursors there, so mind
its spelling. --dry-run shows where the group stands, and refuses what --yes would
refuse; --yes is needed to move it.`,
		Example: `  regent group seek billing orders --to "1h ago" --yes
  regent group seek billing orders --to end --partition customer-7 --yes`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.group, s.queue = args[0], args[1]
			if to == "" {
				return errors.New("--to must be end or a time")
			}
			if to != "end" {
				at, err := parseTime(to, time.Now())
				if err != nil {
					return fmt.Errorf("--to: %w", err)
				}
				s.to = &at
			}
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			if dryRun || !yes {
				if err := seekable(cmd.Context(), c, s); err != nil {
					return err
				}
			}
			return change(cmd, c, format, s.group, s.queue, dryRun, yes, "move", func() (json.RawMessage, error) { return c.Seek(cmd.Context(), s) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().StringVar(&to, "to", "", "end, or a time: RFC 3339, now, 15m ago")
	cmd.Flags().StringVar(&s.partition, "partition", "", "this partition only")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show where the group stands and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really move it")
	return cmd
}

func newGroupDeleteCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var dryRun, yes, keep bool
	cmd := &cobra.Command{
		Use:   "delete GROUP [QUEUE]",
		Short: "Forget a group, on one queue or on all",
		Long: `Delete removes the group's cursors and its subscription. No message goes. If the
group pops again it begins as a new one, or, with --keep-subscription, where its
subscription says. --dry-run shows what would go; --yes is needed to do it.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			queue := firstOf(args[1:])
			if _, overHTTP := c.(*httpClient); overHTTP { // before anything is asked
				if err := addressable(append(given(queue), args[0])...); err != nil {
					return err
				}
			}
			return change(cmd, c, format, args[0], queue, dryRun, yes, "delete", func() (json.RawMessage, error) {
				return c.DeleteGroup(cmd.Context(), args[0], queue, keep)
			})
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().BoolVar(&keep, "keep-subscription", false, "forget the cursors only")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would go and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete")
	return cmd
}

// change shows where a group stands, or does what was confirmed.
func change(cmd *cobra.Command, c client, format outputFormat, group, queue string, dryRun, yes bool, verb string, do func() (json.RawMessage, error)) error {
	var own []json.RawMessage
	var err error
	if dryRun || !yes || verb == "delete" {
		if own, err = entriesOf(cmd, c, group, queue); err != nil {
			return err
		}
	}
	if yes && !dryRun {
		text, err := do()
		if err != nil {
			return err
		}
		if verb == "delete" && len(own) == 0 && partitionsOf(text) == 0 {
			return nothingTo("there is no group %q%s", group, on(queue))
		}
		return format.print(cmd, text, func() table { return sentence(moved(text, verb, group, queue)) })
	}
	if len(own) == 0 && verb == "delete" {
		return nothingTo("there is no group %q%s", group, on(queue))
	}
	if len(own) == 0 {
		created := fmt.Errorf("group %q is not%s yet; --yes gives it cursors there", group, on(queue))
		if !dryRun {
			return created
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "regent:", created)
	}
	if !dryRun {
		return fmt.Errorf("this would %s group %q on %s; --yes does it", verb, group, counted(int64(len(own)), "queue"))
	}
	items := make([]any, len(own))
	for i, one := range own {
		items[i] = one
	}
	return format.printList(cmd, items, items, func() table { return groupTable(own) })
}

// seekable refuses what a seek would refuse, in its words.
func seekable(ctx context.Context, c client, s seekTarget) error {
	if _, overHTTP := c.(*httpClient); overHTTP {
		if err := addressable(append(given(s.partition), s.group, s.queue)...); err != nil {
			return err
		}
	}
	text, err := c.Queue(ctx, s.queue)
	var parts []partitionInfo
	if err == nil {
		_, parts, err = readQueue(text)
	}
	switch {
	case err != nil && !errors.Is(err, errNoQueue):
		return err
	case s.partition != "" && !slices.ContainsFunc(parts, func(p partitionInfo) bool { return p.Name == s.partition }):
		return fmt.Errorf("seek %q: Partition not found", s.group)
	case len(parts) == 0:
		return fmt.Errorf("seek %q: Queue not found or has no partitions", s.group)
	}
	return nil
}

// entriesOf finds the entries of a group, one a queue, in the list of groups.
func entriesOf(cmd *cobra.Command, c client, group, queue string) (own []json.RawMessage, err error) {
	text, err := c.Groups(cmd.Context())
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := decode(text, &all); err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	for _, one := range all {
		var g groupInfo
		if json.Unmarshal(one, &g) == nil && g.Name == group && (queue == "" || g.QueueName == queue) {
			own = append(own, one)
		}
	}
	return own, nil
}

// moved says what a seek or a delete did, in partitions.
func moved(text json.RawMessage, verb, group, queue string) string {
	n := partitionsOf(text)
	if n < 0 {
		return string(text)
	}
	return fmt.Sprintf("%sd group %s%s: %s", verb, group, on(queue), counted(n, "partition"))
}

// partitionsOf counts those that a seek or a delete changed; -1 when it does not say.
func partitionsOf(text json.RawMessage) int64 {
	var did struct {
		Moved     int64 `json:"partitionsUpdated"`
		One       bool  `json:"updated"` // of a seek on one partition
		Forgotten int64 `json:"deletedPartitions"`
	}
	switch {
	case json.Unmarshal(text, &did) != nil:
		return -1
	case did.One:
		return 1
	}
	return did.Moved + did.Forgotten
}

// on names a queue, if there is one.
func on(queue string) string {
	if queue == "" {
		return ""
	}
	return " on queue " + queue
}
