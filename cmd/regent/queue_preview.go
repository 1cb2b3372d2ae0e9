package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
)

func newQueuePreviewCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "retention-preview NAME",
		Short: "Show what the next sweep would delete, and by which rule",
		Long: `Retention-preview deletes nothing. To see what other options would bring, ask
"regent queue configure NAME ... --dry-run".`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			text, err := c.RetentionPreview(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var p api.RetentionPreview
			if err := json.Unmarshal(text, &p); err != nil {
				return fmt.Errorf("preview %q: %w", args[0], err)
			}
			return format.print(cmd, text, func() table { return previewTable(p) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

// dryRunTable begins the answer to a configure that changed nothing.
func dryRunTable(queue string, text json.RawMessage) table {
	t := sentence("nothing was changed; queue " + queue + " would be:")
	var answer struct{ Retention *api.RetentionPreview }
	if json.Unmarshal(text, &answer) == nil && answer.Retention != nil {
		t = previewTable(*answer.Retention)
		t.rows = append(t.rows, []string{""}, []string{"nothing was changed; queue " + queue + " would be:"})
	}
	return t
}

// previewTable is a line for each rule that would delete something, and one for
// each partition.
func previewTable(p api.RetentionPreview) table {
	if p.Totals.Segments == 0 && p.Hashes.Rows == 0 {
		return sentence("the next sweep would delete nothing from queue " + p.Queue)
	}
	t := sentence(fmt.Sprintf("the next sweep would delete %s (%s unread, %s) in %s from queue %s, and forget %s of old transaction ids",
		counted(p.Totals.Messages, "message"), grouped(p.Totals.Unread), formatSize(p.Totals.Bytes), counted(p.Totals.Segments, "segment"), p.Queue, counted(p.Hashes.Rows, "row")))
	if !p.Complete {
		t.rows = append(t.rows, []string{"and more than this: the preview did not look at everything"})
	}
	if len(p.Partitions) == 0 {
		return t
	}
	t.rows = append(t.rows, []string{""}, []string{"PARTITION", "RULE", "OFFSETS", "SEGMENTS", "MESSAGES", "UNREAD", "SIZE"})
	for _, c := range p.Partitions {
		t.rows = append(t.rows, []string{c.Partition, c.Rule, fmt.Sprintf("%d-%d", c.FirstOffset, c.LastOffset), grouped(c.Segments),
			grouped(c.Messages), grouped(c.Unread), formatSize(c.Bytes)})
	}
	return t
}
