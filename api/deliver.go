package api

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"regent.local/regent/db"
)

// writePatience is how long a client may take to read an answer.
const writePatience = 2 * time.Minute

// stamp is the form of times on the message plane.
const stamp = "2006-01-02T15:04:05.000000Z"

// deliver writes the answer of a pop. When that fails, or the client went before
// it was written, the messages are given back at once.
func (s *Server) deliver(c huma.Context, r *popRequest, rows []db.PopRow) {
	if len(rows) == 0 && !r.conflation && !r.conflict {
		c.SetStatus(http.StatusNoContent)
		return
	}
	request, w := humago.Unwrap(c)
	if request.Context().Err() != nil {
		s.release(r, rows)
		return
	}
	for i := range rows {
		s.seals.openAll(rows[i].Payloads)
	}
	s.countDelivered(r, rows)
	body := append(renderPop(r, rows), '\n')
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(writePatience)) // a recorder has none
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(body)
	if err == nil {
		err = out.Flush()
	}
	_ = out.SetWriteDeadline(time.Time{})
	if err != nil {
		s.release(r, rows)
	}
}

// renderPop builds the answer. Payloads are copied into it as they are.
func renderPop(r *popRequest, rows []db.PopRow) []byte {
	group := appendText(nil, r.group)
	size := 512
	for i := range rows {
		size += 64 * len(rows[i].Payloads)
		for _, payload := range rows[i].Payloads {
			size += len(payload) + 320 + len(group)
		}
	}
	first := &db.PopRow{}
	if len(rows) > 0 {
		first = &rows[0]
	}
	out := append(make([]byte, 0, size), `{"success":true,"queue":`...)
	if r.args.Queue == discoveryQueue {
		out = append(out, `""`...)
	} else {
		out = appendText(out, r.args.Queue)
	}
	out = append(out, `,"partition":`...)
	out = appendText(out, first.Partition)
	out = append(out, `,"partitionId":"`...)
	if len(rows) > 0 {
		out = appendUUID(out, first.PartitionID)
	}
	out = append(out, `","leaseId":`...)
	out = appendText(out, first.LeaseID)
	out = append(out, `,"consumerGroup":`...)
	out = append(out, group...)
	out = append(out, `,"messages":[`...)
	claimed := 0
	for i := range rows {
		if i == 0 || rows[i].PartitionID != rows[i-1].PartitionID {
			claimed++
		}
		out = appendSlice(out, &rows[i], group, i > 0)
	}
	out = append(out, `],"partitionsClaimed":`...)
	out = strconv.AppendInt(out, int64(claimed), 10)
	if r.conflation {
		out = append(out, `,"conflation":true`...)
	}
	if r.conflict {
		out = append(out, `,"conflationConflict":true`...)
	}
	return append(out, '}')
}

// appendSlice writes the messages of one row; they share their tail.
func appendSlice(out []byte, row *db.PopRow, group []byte, comma bool) []byte {
	created := row.CreatedAt.UTC().AppendFormat(nil, stamp)
	tail := append([]byte(`,"createdAt":"`), created...)
	tail = append(tail, `","partitionId":"`...)
	tail = appendUUID(tail, row.PartitionID)
	tail = append(tail, `","partition":`...)
	tail = appendText(tail, row.Partition)
	tail = append(tail, `,"leaseId":`...)
	tail = appendText(tail, row.LeaseID)
	tail = append(tail, `,"consumerGroup":`...)
	tail = append(tail, group...)
	tail = append(tail, `,"deliveryAttempt":`...)
	tail = append(strconv.AppendInt(tail, int64(row.DeliveryAttempt), 10), '}')
	for i, payload := range row.Payloads {
		if comma || i > 0 {
			out = append(out, ',')
		}
		id := messageID(row, i)
		out = append(out, `{"id":"`...)
		out = appendUUID(out, id)
		out = append(out, `","transactionId":`...)
		if given := at(row.TransactionIds, i); given != nil {
			out = appendText(out, *given)
		} else {
			out = append(appendUUID(append(out, '"'), id), '"')
		}
		out = appendOptional(append(out, `,"traceId":`...), at(row.TraceIds, i))
		out = appendData(append(out, `,"data":`...), payload)
		out = appendOptional(append(out, `,"producerSub":`...), at(row.ProducerSubs, i))
		out = appendKey(out, at(row.Keys, i))
		out = append(out, tail...)
	}
	return out
}

// readable is what pushes accept, and what psql could store before.
var readable = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// appendData copies a payload as it is. One that was damaged in the database and
// is no JSON any more becomes a string, so that its neighbours can be read (F079).
func appendData(out []byte, payload string) []byte {
	start := len(out)
	out = append(out, payload...)
	if jsontext.Value(out[start:]).IsValid(readable) {
		return out
	}
	return appendText(out[:start], payload)
}

func appendOptional(out []byte, text *string) []byte {
	if text == nil {
		return append(out, "null"...)
	}
	return appendText(out, *text)
}

// appendKey adds the key of a message that has one; others look as ever.
func appendKey(out []byte, key *string) []byte {
	if key == nil {
		return out
	}
	return appendText(append(out, `,"key":`...), *key)
}

// at is element i of an array that may be missing as a whole.
func at(texts []*string, i int) *string {
	if i >= len(texts) {
		return nil
	}
	return texts[i]
}

// messageID is the id of frame i of a slice.
func messageID(row *db.PopRow, i int) uuid.UUID {
	return frameID(row.IDBase, offsetOf(row, i)-row.SegmentBase)
}

// offsetOf is the offset of frame i of a slice.
func offsetOf(row *db.PopRow, i int) int64 {
	if row.Offsets != nil {
		return row.Offsets[i]
	}
	return row.FirstOffset + int64(i)
}

// transactionID is what frame i of a slice is acknowledged by.
func transactionID(row *db.PopRow, i int) string {
	if given := at(row.TransactionIds, i); given != nil {
		return *given
	}
	return messageID(row, i).String()
}

// owners remembers which queue a partition belongs to, so that an ack that frees
// it can wake the right pops. A partition that is not known costs a recheck.
type owners struct {
	mu     sync.RWMutex
	queues map[uuid.UUID]queueKey
}

// maxOwners bounds the memory; a full one starts over.
const maxOwners = 100_000

func (o *owners) learn(rows []db.PopRow, queue queueKey) {
	o.mu.RLock()
	news := 0
	for i := range rows {
		if o.news(rows[i].PartitionID, queue) {
			news++
		}
	}
	o.mu.RUnlock()
	if news == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queues == nil || len(o.queues) >= maxOwners {
		o.queues = map[uuid.UUID]queueKey{}
	}
	for i := range rows {
		if o.news(rows[i].PartitionID, queue) {
			o.queues[rows[i].PartitionID] = queue
		}
	}
}

// news reports whether a queue is to be noted. Discovery does not know the queue
// of what it took, and must not hide one that is known.
func (o *owners) news(partition uuid.UUID, queue queueKey) bool {
	known, ok := o.queues[partition]
	return !ok || (known != queue && queue.queue != discoveryQueue)
}

func (o *owners) of(partition uuid.UUID) (queueKey, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	queue, ok := o.queues[partition]
	return queue, ok
}
