package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// A transaction pushes the items of a step to its queue and acknowledges its acks
// for its group. The answer is a map: what became of each, or why nothing did.

func (f httpFace) transact(a scenarioArgs) any {
	operations := []map[string]any{}
	for _, item := range a.Items {
		op := map[string]any{"type": "push", "queue": a.Queue, "payload": json.RawMessage(item.Payload)}
		if item.Partition != nil {
			op["partition"] = *item.Partition
		}
		if item.ID != nil {
			op["transactionId"] = *item.ID
		}
		operations = append(operations, op)
	}
	for _, ack := range a.Acks {
		operations = append(operations, map[string]any{"type": "ack", "transactionId": ack.ID, "partitionId": ack.Partition,
			"consumerGroup": a.Group, "status": ack.Status, "leaseId": ack.Lease, "error": ack.Error})
	}
	body, err := json.Marshal(map[string]any{"operations": operations})
	require.NoError(f.t, err)
	got := f.testServer.transact(string(body))
	if !got.Success {
		text, _, _ := strings.Cut(got.Error, " (operations")
		return map[string]any{"reason": got.Reason, "error": text}
	}
	pushes, acks := []any{}, []any{}
	for _, r := range got.Results {
		if r.Type == "push" {
			pushes = append(pushes, map[string]any{"_": r.TransactionID, "id": r.MessageID, "duplicate": r.Duplicate, "transactionId": r.TransactionID})
		} else {
			acks = append(acks, map[string]any{"_": r.Success, "dlq": *r.DLQ})
		}
	}
	return map[string]any{"pushes": pushes, "acks": acks}
}

func (f sqlFace) transact(a scenarioArgs) any {
	arg := db.TransactionParams{TenantID: scenarioTenant}
	lanes := map[string]int{}
	for _, item := range a.Items {
		partition := "Default"
		if item.Partition != nil {
			partition = *item.Partition
		}
		if _, known := lanes[partition]; !known {
			lanes[partition] = len(lanes)
			arg.Queues, arg.Partitions, arg.Counts = append(arg.Queues, a.Queue), append(arg.Partitions, partition), append(arg.Counts, 0)
		}
		require.Equal(f.t, len(lanes)-1, lanes[partition], "items of a partition stand together")
		arg.Counts[len(arg.Counts)-1]++
		arg.Payloads, arg.TransactionIds = append(arg.Payloads, item.Payload), append(arg.TransactionIds, item.ID)
	}
	group := queueMode
	if a.Group != nil {
		group = *a.Group
	}
	for _, ack := range a.Acks {
		arg.AckPartitionIds, arg.AckGroups = append(arg.AckPartitionIds, uuid.MustParse(ack.Partition)), append(arg.AckGroups, group)
		arg.AckLeaseIds, arg.AckCounts = append(arg.AckLeaseIds, ack.Lease), append(arg.AckCounts, 1)
		arg.AckTransactionIds, arg.AckStatuses = append(arg.AckTransactionIds, ack.ID), append(arg.AckStatuses, ack.Status)
		arg.AckErrors = append(arg.AckErrors, ack.Error)
	}
	rows, err := db.New(f.db.Pool).Transaction(context.Background(), arg)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return map[string]any{"reason": map[string]string{"23505": "duplicate", "QN409": "ack_rejected"}[pgErr.Code], "error": pgErr.Message}
	}
	require.NoError(f.t, err)
	pushes, acks := make([]any, len(a.Items)), make([]any, len(a.Acks))
	for _, row := range rows {
		if row.Kind == "ack" {
			acks[row.Item] = map[string]any{"_": row.Success, "dlq": row.Dlq}
			continue
		}
		id, txn := row.MessageID.String(), fmt.Sprint(row.MessageID)
		if given := arg.TransactionIds[row.Item]; given != nil {
			txn = *given
		}
		pushes[row.Item] = map[string]any{"_": txn, "id": id, "duplicate": row.Duplicate, "transactionId": txn}
	}
	return map[string]any{"pushes": pushes, "acks": acks}
}
