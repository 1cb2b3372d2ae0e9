package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// compact makes a queue compact and runs the steps of its partition.
func (ts *testServer) compact(queue, partition string) {
	ts.t.Helper()
	ctx := context.Background()
	var id uuid.UUID
	require.NoError(ts.t, ts.db.Pool.QueryRow(ctx, `SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = $1 AND p.name = $2`, queue, partition).Scan(&id))
	for range 100 {
		row, err := db.New(ts.db.Pool).CompactStep(ctx, id, 1000)
		require.NoError(ts.t, err)
		if row.Done {
			return
		}
	}
	ts.t.Fatal("compaction never ends")
}

func latestOf(queue, partition, key string) string {
	return "/api/v1/messages/latest?" + url.Values{"queue": {queue}, "partition": {partition}, "key": {key}}.Encode()
}

// TestKeyOnTheWire: a key comes back with pop and fetch, and an item without one looks as it always did, also over gaps.
func TestKeyOnTheWire(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"prices","options":{"cleanupPolicy":"compact"}}`)
	ts.push(`{"items":[{"queue":"prices","partition":"eu","key":"ACME","payload":{"z":1, "a":1.50}},{"queue":"prices","partition":"eu","payload":"a note"},` +
		`{"queue":"prices","partition":"eu","key":"ACME","payload":2},{"queue":"prices","partition":"eu","key":"","payload":3,"transactionId":"e"}]}`)
	ts.push(`{"items":[{"queue":"prices","partition":"eu","key":"GLOBEX","payload":4}]}`)
	ts.compact("prices", "eu")
	body := string(ts.post("/api/v1/fetch", `{"entries":[{"queue":"prices","partition":"eu","offset":0}]}`).Body)
	require.NotContains(t, body, `"offset":0`, "compacted away")
	require.Contains(t, body, `{"offset":1,"transactionId":`)
	require.NotContains(t, strings.Split(body, `"offset":2`)[0], `"key"`, "no key, no word of it")
	require.Contains(t, body, `"key":"ACME","payload":2,`)
	require.Contains(t, body, `{"offset":3,"transactionId":"e","key":"","payload":3,`)
	got := ts.get("/api/v1/pop/queue/prices?consumerGroup=g&subscriptionMode=all&batch=10")
	require.Equal(t, http.StatusOK, got.Status)
	require.Contains(t, string(got.Body), `"data":"a note","producerSub":null,"createdAt"`)
	require.Contains(t, string(got.Body), `"data":2,"producerSub":null,"key":"ACME","createdAt"`)
	var popped PopResponse
	got.into(t, &popped)
	require.Len(t, popped.Messages, 4)
	require.Equal(t, []string{"", "ACME", "", "GLOBEX"}, []string{popped.Messages[0].Key, popped.Messages[1].Key, popped.Messages[2].Key, popped.Messages[3].Key})
	require.True(t, ts.ackAll(popped, "completed")[3].LeaseReleased, "the ack reaches the end of the batch over the gap")
	depth := ts.get("/api/v1/resources/queues/prices/depth?group=g")
	require.Contains(t, string(depth.Body), `"pending" : 0`)
}

// TestKeyRefusals: the field is named, and nothing is stored; 1024 bytes are the limit (design 3.1).
func TestKeyRefusals(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	item := func(key string) string {
		return fmt.Sprintf(`{"items":[{"queue":"q","payload":1},{"queue":"q","key":%s,"payload":1}]}`, key)
	}
	for key, text := range map[string]string{
		`7`:                                   "items[1].key must be a string",
		`"` + strings.Repeat("ü", 512) + `x"`: "items[1].key is longer than 1024 bytes",
		`"a\u0000b"`:                          "items[1].key holds a control character",
	} {
		got := ts.post("/api/v1/push", item(key))
		require.Equal(t, http.StatusBadRequest, got.Status, "%s", got.Body)
		require.Contains(t, string(got.Body), text)
	}
	require.Zero(t, ts.stored())
	require.Equal(t, http.StatusCreated, ts.post("/api/v1/push", item(`"`+strings.Repeat("ü", 512)+`"`)).Status)
	require.Equal(t, http.StatusCreated, ts.post("/api/v1/push", item(`null`)).Status, "null is no key")
}

// TestLatest: the newest message of a key, before and after compaction; a null deletes it (F109); refusals.
func TestLatest(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"prices","options":{"cleanupPolicy":"compact,delete"}}`)
	ts.pushOne("plain", "eu", "1")
	ts.push(`{"items":[{"queue":"prices","partition":"eu","key":"A/ß","payload":1},{"queue":"prices","partition":"eu","key":"B","payload":1},` +
		`{"queue":"prices","partition":"eu","key":"A/ß","payload":{"z":1, "a":1.50},"transactionId":"t1"},{"queue":"prices","partition":"eu","key":"B","payload":null}]}`)
	for range 2 {
		var at, id, partition string
		require.NoError(t, ts.db.Pool.QueryRow(context.Background(), `SELECT queen._utc(s.created_at), queen._frame_id(id_base, 2)::text, partition_id::text
			FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = 'prices' AND base_offset = 0`).Scan(&at, &id, &partition))
		got := ts.get(latestOf("prices", "eu", "A/ß"))
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
		require.Equal(t, `{"queue":"prices","partition":"eu","partitionId":"`+partition+`","key":"A/ß","offset":2,"id":"`+id+
			`","transactionId":"t1","data":{"z":1, "a":1.50},"createdAt":"`+at+`"}`, string(got.Body))
		for _, gone := range []string{latestOf("prices", "eu", "B"), latestOf("prices", "eu", "C"), latestOf("prices", "us", "A/ß"), latestOf("nope", "eu", "A")} {
			require.Equal(t, http.StatusNotFound, ts.get(gone).Status, gone)
		}
		ts.push(`{"items":[{"queue":"prices","partition":"eu","key":"D","payload":1}]}`)
		ts.compact("prices", "eu")
	}
	conflict := ts.get(latestOf("plain", "eu", "A"))
	require.Equal(t, http.StatusConflict, conflict.Status)
	require.Contains(t, string(conflict.Body), "cleanupPolicy is delete")
	for _, bad := range []string{"/api/v1/messages/latest?queue=prices", "/api/v1/messages/latest?key=A", latestOf("prices", "eu", strings.Repeat("x", 1025)), latestOf("prices", "e\x01", "A"), latestOf("prices", "eu", "a\x00")} {
		require.Equal(t, http.StatusBadRequest, ts.get(bad).Status, bad)
	}
}

// TestLatestOfSealed: the server opens what it sealed, and a sealed null deletes its key for readers, though compaction
// cannot see that and keeps it.
func TestLatestOfSealed(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("vault", true)
	ts.configure(`{"queue":"vault","options":{"cleanupPolicy":"compact","deleteRetentionSeconds":0}}`)
	ts.push(`{"items":[{"queue":"vault","partition":"p","key":"a","payload":1},{"queue":"vault","partition":"p","key":"b","payload":1},{"queue":"vault","partition":"p","key":"a","payload":{"z":2}},{"queue":"vault","partition":"p","key":"b","payload":null}]}`)
	ts.push(`{"items":[{"queue":"vault","partition":"p","payload":9}]}`)
	ts.compact("vault", "p")
	require.Equal(t, 3, ts.count(`SELECT sum(frames) FROM queen.log_segments`))
	require.Contains(t, string(ts.get(latestOf("vault", "p", "a")).Body), `"data":{"z":2}`)
	require.Equal(t, http.StatusNotFound, ts.get(latestOf("vault", "p", "b")).Status)
}

// TestFoundAfterCompaction: the items of a doubtful push find their places when compaction took some of its messages.
func TestFoundAfterCompaction(t *testing.T) {
	t.Parallel()
	gone, a, b, c := compactedID, "a", "b", "c"
	ids := []*string{&a, nil, &b, &c}
	require.Equal(t, []int{0, 1, 2, 3}, placeFound(&db.FoundPushRow{Frames: 4, TransactionIds: []*string{&gone, nil, &gone, &c}}, ids, 0))
	require.Equal(t, []int{0, 2, 3}, placeFound(&db.FoundPushRow{Frames: 3, TransactionIds: []*string{&a, &gone, &c}}, ids, 0))
	require.Equal(t, []int{3, -1}, placeFound(&db.FoundPushRow{Frames: 2, TransactionIds: []*string{&gone, &gone}}, ids, 3))
}
