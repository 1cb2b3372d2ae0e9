package api

import (
	"encoding/json"
	"time"
)

// The examples of the document. They are values of the documented types where
// they can be, so that a change of a type changes them or does not compile.

const (
	exampleQueueID     = "0198c0de-0000-7000-8000-000000000001"
	examplePartitionID = "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"
	exampleLetterID    = "0b9f6a52-7c41-4c1b-9a60-2f1d8f0c5e11"
)

func exampleTime() *time.Time {
	at := time.Date(2026, time.July, 30, 9, 0, 0, 0, time.UTC)
	return &at
}

// configureExample is a map because the request tells absent from null.
func configureExample() any {
	return map[string]any{"queue": "orders", "namespace": "shop", "options": map[string]any{
		"leaseTime": 60, "retryLimit": 3, "retentionEnabled": true, "completedRetentionSeconds": 86400}}
}

func queuesExample() QueueList {
	return QueueList{Queues: []QueueSummary{{
		ID: exampleQueueID, Name: "orders", Namespace: "shop", CreatedAt: *exampleTime(), Partitions: 8, RetainedBytes: 194883,
		Segments: QueueSegments{Segments: 41, Messages: 12904}, Messages: QueueTotalsList{Total: 12904, Pending: 310, Processing: 24},
	}}}
}

func depthExample() QueueDepth {
	return QueueDepth{Queue: "orders", Pending: 310, Processing: 24, Ready: 286, PartitionsPending: 1, PartitionsReady: 1,
		EffectivePending: 310, EffectiveReady: 286, Partitions: []PartitionDepth{}}
}

func groupExample() ConsumerGroup {
	mode := "new"
	return ConsumerGroup{Name: "billing", Topics: []string{"orders"}, QueueName: "orders", Members: 8, PartitionCursors: 8,
		PartitionsWithLag: 2, TotalLag: 310, MaxTimeLag: 12, State: "Stable", Storage: "segments",
		SubscriptionMode: &mode, SubscriptionTimestamp: exampleTime(), SubscriptionCreatedAt: exampleTime()}
}

// seekExample has one of the two, as a request has.
func seekExample() any { return map[string]any{"timestamp": "2026-07-30T09:00:00Z"} }

func deadLettersExample() DeadLetterList {
	reason := "card declined"
	return DeadLetterList{Pagination: Pagination{Limit: 100}, Total: 1, Messages: []DeadLetter{{
		ID: exampleLetterID, TransactionID: "order-4711", PartitionID: examplePartitionID, Queue: "orders", Partition: "customer-17",
		ConsumerGroup: "billing", ErrorMessage: &reason, RetryCount: 3, Data: json.RawMessage(`{"total":12.5}`),
		CreatedAt: *exampleTime(), FailedAt: *exampleTime(),
	}}}
}

func replayExample() ReplayResponse {
	offset := int64(17)
	return ReplayResponse{Success: true, Result: "moved", Queue: "orders", Partition: "customer-17", ConsumerGroup: "billing",
		DlqID: exampleLetterID, OriginalTransactionID: "order-4711", DlqRowRemoved: true,
		ReplayedAs: ReplayedAs{MessageID: "01890a5d-ac96-7000-8000-0000002dd000", TransactionID: "dlq:" + exampleLetterID, QueueName: "orders", Status: "queued", Offset: &offset}}
}
