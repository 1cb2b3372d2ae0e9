package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// The examples of the document. Those of the main operations are values of the
// documented types, so that a change of a type changes them or does not compile;
// the others are in examples.json.

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

// examplesFile has an example of what the operations answer that name none of
// their own, taken from a running server, by operation id; with a status behind
// it for a failure that is no plain Error.
//
//go:embed examples.json
var examplesFile []byte

// exampleErrors are what most operations answer with a status.
var exampleErrors = map[string]*Error{
	"400": badField("batch", "must be a whole number"),
	"401": errNoToken,
	"403": errForbidden,
	"404": newError(http.StatusNotFound, "", "Queue not found"),
	"408": newError(http.StatusRequestTimeout, "", "request body read timeout"),
	"409": newError(http.StatusConflict, "", "the queue keeps no latest value of a key: its cleanupPolicy is delete"),
	"413": newError(http.StatusRequestEntityTooLarge, "", "the request body is too large"),
	"429": errTooMany,
	"500": newError(http.StatusInternalServerError, "", "internal error"),
	"503": newError(http.StatusServiceUnavailable, "", "the database is not available"),
}

// exemplify gives every body of the document's answers an example.
func exemplify(document *huma.OpenAPI) error {
	var taken map[string]json.RawMessage
	if err := json.Unmarshal(examplesFile, &taken); err != nil {
		return fmt.Errorf("read examples.json: %w", err)
	}
	document.Components.Examples = map[string]*huma.Example{}
	for status, e := range exampleErrors {
		document.Components.Examples["error-"+status] = &huma.Example{Value: e}
	}
	for _, item := range document.Paths {
		for _, op := range operations(item) {
			for status, response := range op.Responses {
				for _, media := range response.Content {
					exemplifyBody(media, taken, op.OperationID, status)
				}
			}
		}
	}
	return nil
}

func exemplifyBody(media *huma.MediaType, taken map[string]json.RawMessage, operation, status string) {
	failed := status >= "300"
	if failed {
		operation += " " + status
	}
	switch example, known := taken[operation]; {
	case media.Example != nil:
	case known:
		media.Example = example
	case failed:
		media.Examples = map[string]*huma.Example{"error": {Ref: "#/components/examples/error-" + status}}
	}
}
