package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pushed is an answer of push, as the wire has it.
type pushed struct {
	Index         int    `json:"index"`
	MessageID     string `json:"message_id"`
	TransactionID string `json:"transaction_id"`
	QueueName     string `json:"queueName"`
	Status        string `json:"status"`
	Error         string `json:"error"`
}

// push sends a push that must succeed.
func (ts *testServer) push(body string) []pushed {
	ts.t.Helper()
	r := ts.post("/api/v1/push", body)
	require.Equal(ts.t, http.StatusCreated, r.Status, "%s", r.Body)
	var results []pushed
	r.into(ts.t, &results)
	return results
}

// pushOne stores one message.
func (ts *testServer) pushOne(queue, partition, payload string) pushed {
	ts.t.Helper()
	results := ts.push(fmt.Sprintf(`{"items":[{"queue":%q,"partition":%q,"payload":%s}]}`, queue, partition, payload))
	require.Len(ts.t, results, 1)
	require.Equal(ts.t, "queued", results[0].Status)
	return results[0]
}

// pop takes messages; an empty answer has none.
func (ts *testServer) pop(queue string, query string) PopResponse {
	ts.t.Helper()
	r := ts.get("/api/v1/pop/queue/" + url.PathEscape(queue) + "?" + query)
	var got PopResponse
	if r.Status == http.StatusNoContent {
		return got
	}
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	r.into(ts.t, &got)
	return got
}

// ackAll acknowledges with one status.
func (ts *testServer) ackAll(got PopResponse, status string) []AckResult {
	ts.t.Helper()
	items := make([]string, len(got.Messages))
	for i, m := range got.Messages {
		items[i] = fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"status":%q}`, m.TransactionID, m.PartitionID, m.LeaseID, status)
	}
	r := ts.post("/api/v1/ack/batch", fmt.Sprintf(`{"consumerGroup":%q,"acknowledgments":[%s]}`, got.ConsumerGroup, strings.Join(items, ",")))
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var results []AckResult
	r.into(ts.t, &results)
	return results
}

// payloads are the data of the messages, as text.
func payloads(got PopResponse) []string {
	out := make([]string, len(got.Messages))
	for i, m := range got.Messages {
		out[i] = fmt.Sprint(m.Data)
	}
	return out
}

func TestPushPopAck(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	results := ts.push(`{"items":[
		{"queue":"orders","payload":{"n":1},"transactionId":"a"},
		{"queue":"orders","payload":{"n":2}},
		{"queue":"orders","partition":null,"transactionId":null,"payload":null}]}`)
	require.Len(t, results, 3)
	require.Equal(t, pushed{Index: 0, MessageID: results[0].MessageID, TransactionID: "a", QueueName: "orders", Status: "queued"}, results[0])
	require.Equal(t, results[1].MessageID, results[1].TransactionID, "without an id the message id is the key")
	require.Less(t, results[1].MessageID, results[2].MessageID)

	got := ts.pop("orders", "consumerGroup=g&subscriptionMode=all")
	require.Len(t, got.Messages, 3)
	require.Equal(t, "Default", got.Partition)
	require.Equal(t, 1, got.PartitionsClaimed)
	for i, m := range got.Messages {
		require.Equal(t, results[i].MessageID, m.ID)
		require.Equal(t, results[i].TransactionID, m.TransactionID)
		require.Equal(t, got.LeaseID, m.LeaseID)
		require.Equal(t, 1, m.DeliveryAttempt)
	}
	require.Nil(t, got.Messages[2].Data)
	require.Empty(t, ts.pop("orders", "consumerGroup=g").Messages, "leased")

	acked := ts.ackAll(got, "completed")
	require.Len(t, acked, 3)
	for i, a := range acked {
		require.Equal(t, AckResult{Index: i, TransactionID: results[i].TransactionID, Success: true, LeaseReleased: true}, a)
	}
	require.Empty(t, ts.pop("orders", "consumerGroup=g").Messages)
}
