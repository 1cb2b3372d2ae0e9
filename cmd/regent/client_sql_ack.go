package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

// ackShare is what goes into one call of ack_v1: the items of one partition
// and lease with one status and reason. at holds their positions.
type ackShare struct {
	first ackItem
	at    []int
}

// shares splits items, in the order in which each share begins.
func shares(items []ackItem) []*ackShare {
	type key struct{ partition, lease, status, reason string }
	var all []*ackShare
	known := map[key]*ackShare{}
	for i, it := range items {
		k := key{it.PartitionID, it.LeaseID, it.Status, text(it.Error)}
		if known[k] == nil {
			known[k] = &ackShare{first: it}
			all = append(all, known[k])
		}
		known[k].at = append(known[k].at, i)
	}
	return all
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Ack answers a verdict an item. Like the HTTP API it goes on with the other
// partitions when one of them is refused.
func (c *sqlClient) Ack(ctx context.Context, group string, items []ackItem) ([]ackVerdict, error) {
	verdicts := make([]ackVerdict, len(items))
	for _, share := range shares(items) {
		if err := c.ackShare(ctx, group, items, share, verdicts); err != nil {
			return nil, fmt.Errorf("ack: %w", err)
		}
	}
	return verdicts, nil
}

func (c *sqlClient) ackShare(ctx context.Context, group string, items []ackItem, share *ackShare, into []ackVerdict) error {
	partition, err := uuid.Parse(share.first.PartitionID)
	if err != nil {
		reason := "partitionId is not a UUID"
		for _, at := range share.at {
			into[at] = ackVerdict{TransactionID: items[at].TransactionID, Error: &reason}
		}
		return nil
	}
	arg := db.AckMessagesParams{PartitionID: partition, LeaseID: optional(share.first.LeaseID), ConsumerGroup: optional(group),
		Status: share.first.Status, Error: share.first.Error}
	for _, at := range share.at {
		arg.TransactionIds = append(arg.TransactionIds, items[at].TransactionID)
	}
	var rows []db.AckRow
	err = c.run(ctx, ackRepeat(items), func() (err error) {
		rows, err = c.queries.AckMessages(ctx, arg)
		return err
	})
	if err != nil {
		return err
	}
	if err := verdictCount(len(share.at), len(rows)); err != nil {
		return err
	}
	for _, r := range rows {
		at := share.at[r.Item]
		into[at] = ackVerdict{TransactionID: items[at].TransactionID, Success: r.Success, Error: r.Error,
			LeaseReleased: r.LeaseReleased, DLQ: r.Dlq, Noop: r.Noop}
	}
	return nil
}
