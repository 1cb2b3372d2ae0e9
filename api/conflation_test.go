package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// O-52..O-56, http-api 3.2.2 and 3.2.6: the keys of the answers.
func TestConflationOnTheWire_O52(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	type answer struct {
		Messages   []struct{ TransactionID, PartitionID, LeaseID string }
		Partitions int   `json:"partitionsClaimed"`
		Conflation *bool `json:"conflation"`
		Conflict   *bool `json:"conflationConflict"`
	}
	yes := true
	pop := func(query string) (a answer) {
		r := ts.get("/api/v1/pop/queue/q" + query)
		require.Equal(t, http.StatusOK, r.Status, query)
		r.into(t, &a)
		return a
	}
	const asks, plain = "?consumerGroup=g&subscriptionMode=all&conflation=true", "?consumerGroup=g&subscriptionMode=all"
	got := pop(asks)
	require.Equal(t, answer{Messages: got.Messages, Conflation: &yes}, got, "empty, and still told")
	require.NotNil(t, got.Messages)
	require.Empty(t, got.Messages)
	got = pop(plain)
	require.Equal(t, [2]*bool{&yes, &yes}, [2]*bool{got.Conflation, got.Conflict}, "the stored policy, and the conflict, also when empty")

	for i := range 3 {
		for _, partition := range []string{"a", "b"} {
			r := ts.post("/api/v1/push", fmt.Sprintf(`{"items":[{"queue":"q","partition":%q,"transactionId":"%s%d","payload":%d}]}`, partition, partition, i, i))
			require.Equal(t, http.StatusCreated, r.Status)
		}
	}
	got = pop(asks)
	require.Equal(t, 2, got.Partitions, "O-56: partitions is read as batch")
	require.Len(t, got.Messages, 2)
	for _, m := range got.Messages {
		require.Contains(t, []string{"a2", "b2"}, m.TransactionID, "the last of its partition")
		r := ts.post("/api/v1/ack", fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":"g"}`, m.TransactionID, m.PartitionID, m.LeaseID))
		require.JSONEq(t, fmt.Sprintf(`[{"index":0,"transactionId":%q,"success":true,"error":null,"leaseReleased":true,"dlq":false,"noop":false,"conflated":2}]`, m.TransactionID), string(r.Body))
	}
	require.Len(t, pop("/partition/a?consumerGroup=other&conflation=true&subscriptionMode=all").Messages, 1, "O-19: a pinned pop that asks registers")
	for query, status := range map[string]int{"?conflation=true": 400, "?conflation=true&consumerGroup=__QUEUE_MODE__": 400, asks + "&autoAck=true": 400, "?consumerGroup=h": 204} {
		require.Equal(t, status, ts.get("/api/v1/pop/queue/q"+query).Status, query)
	}
	got = pop("?consumerGroup=h&conflation=true")
	require.Nil(t, got.Conflation, "h is an ordinary group")
	require.Equal(t, &yes, got.Conflict)
}

// O-51, O-55: a parked pop of a conflating group is no answer until there is a message,
// and after its time the policy is told.
func TestConflatingPopWaits_O55(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	started := time.Now()
	r := ts.get("/api/v1/pop/queue/q?consumerGroup=g&conflation=true&wait=true&timeout=300")
	require.Equal(t, http.StatusOK, r.Status)
	require.Contains(t, string(r.Body), `"messages":[]`)
	require.GreaterOrEqual(t, time.Since(started), 300*time.Millisecond, "the policy row is no message")
	later := ts.popLater("/api/v1/pop/queue/q?consumerGroup=g&conflation=true&wait=true&timeout=20000")
	ts.parked(1)
	require.Equal(t, http.StatusCreated, ts.post("/api/v1/push", `{"items":[{"queue":"q","payload":1},{"queue":"q","payload":2}]}`).Status)
	r = (<-later).reply
	require.Equal(t, http.StatusOK, r.Status)
	require.Contains(t, string(r.Body), `"data":2,`)
	require.NotContains(t, string(r.Body), `"data":1,`)
}
