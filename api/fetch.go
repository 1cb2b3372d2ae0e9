package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

// Limits of a fetch. fetchRecheck is how often a waiting one looks again.
const (
	maxFetchEntries = 1024
	maxFetchWait    = 30 * time.Second
	fetchBytes      = 1 << 20
	maxFetchBytes   = 8 << 20
	fetchRecheck    = 200 * time.Millisecond
)

// FetchRequest is the body of a fetch, for the document.
type FetchRequest struct {
	Entries   []FetchEntry `json:"entries" maxItems:"1024" doc:"What to read, answered in this order."`
	MaxWaitMs int64        `json:"maxWaitMs,omitempty" doc:"Longest wait for minBytes, in milliseconds; kept within 0 and 30000." example:"5000"`
	MinBytes  int64        `json:"minBytes,omitempty" default:"1" doc:"Payload bytes, of all entries, that end the wait. 0: never wait." example:"1"`
}

// FetchEntry is one partition to read from.
type FetchEntry struct {
	Queue     string  `json:"queue" maxLength:"255" example:"orders"`
	Partition *string `json:"partition,omitempty" nullable:"true" maxLength:"255" doc:"Default without one. A number counts as its text." example:"customer-17"`
	Offset    int64   `json:"offset" minimum:"0" doc:"First offset to read." example:"1400"`
	MaxBytes  int64   `json:"maxBytes,omitempty" default:"1048576" doc:"Payload bytes as they are stored, compressed; kept within 1 and 8388608. Whole segments of up to 1000 messages are read; only the first one of a call may be larger." example:"1048576"`
}

// FetchResponse has one element an entry, in request order.
type FetchResponse struct {
	Entries []FetchedEntry `json:"entries"`
}

// FetchedEntry is what one partition had.
type FetchedEntry struct {
	Queue          string          `json:"queue"`
	Partition      string          `json:"partition"`
	Records        []FetchedRecord `json:"records" doc:"In offset order, 10000 at most. Go on after the last one."`
	HighWatermark  int64           `json:"highWatermark" doc:"The offset that the next message gets. To read from there is valid, and empty for now."`
	LogStartOffset int64           `json:"logStartOffset" doc:"The oldest offset that is still there."`
	Error          string          `json:"error,omitempty" enum:"UNKNOWN_TOPIC_OR_PARTITION,OFFSET_OUT_OF_RANGE" doc:"No such queue, or an offset below logStartOffset or above highWatermark. A partition that nobody pushed to is an empty log."`
}

// FetchedRecord is one message.
type FetchedRecord struct {
	Offset        int64     `json:"offset" doc:"Ascends; after compaction some are missing."`
	TransactionID string    `json:"transactionId"`
	Key           string    `json:"key,omitempty" doc:"The key that it was pushed with; absent without one."`
	Payload       any       `json:"payload" doc:"Byte for byte as pushed."`
	TS            time.Time `json:"ts" doc:"When it was stored; microseconds, UTC."`
}

type fetchInput struct {
	RawBody []byte
}

// fetchRequest is a scanned fetch.
type fetchRequest struct {
	args     db.FetchParams
	wait     time.Duration
	minBytes int64
}

func (s *Server) registerFetch(api huma.API) {
	huma.Register(api, s.op(huma.Operation{
		OperationID: "fetch", Method: http.MethodPost, Path: "/api/v1/fetch", Tags: []string{"messages"},
		Summary:          "Read messages by offset",
		Description:      "Reads partitions from absolute offsets: no consumer group, no lease, no cursor, and nothing is written. delayedProcessing and windowBuffer do not hold messages back here. An answer holds at most 64 MiB.",
		SkipValidateBody: true,
		RequestBody: jsonBody[FetchRequest](api, "Where to read.", map[string]any{"maxWaitMs": 5000, "entries": []any{
			map[string]any{"queue": "orders", "partition": "customer-17", "offset": 1400}}}),
		Responses: map[string]*huma.Response{"200": jsonReply[FetchResponse](api, "One element an entry.", map[string]any{"entries": []any{map[string]any{
			"queue": "orders", "partition": "customer-17", "highWatermark": 1401, "logStartOffset": 200, "records": []any{map[string]any{
				"offset": 1400, "transactionId": "order-4711", "payload": map[string]any{"total": 12.5}, "ts": "2025-01-31T12:00:00.000001Z"}}}}})},
		Errors: []int{http.StatusInternalServerError},
	}), s.fetch)
}

func (s *Server) fetch(ctx context.Context, in *fetchInput) (*rawReply, error) {
	r, err := scanFetch(in.RawBody)
	if err != nil {
		return nil, err
	}
	r.args.TenantID = s.tenant(ctx)
	rows, err := s.fetchWaiting(ctx, r)
	if err != nil {
		return nil, s.failed(ctx, "fetch", err)
	}
	for i := range rows {
		s.seals.openAll(rows[i].Payloads)
	}
	return &rawReply{ContentType: "application/json", Body: r.render(rows)}, nil
}

// fetchWaiting reads until there is enough, an entry has an error, or the wait is
// over. While it waits it holds no connection.
func (s *Server) fetchWaiting(ctx context.Context, r *fetchRequest) (rows []db.FetchRow, err error) {
	end := time.Now().Add(r.wait)
	for len(r.args.Queues) > 0 {
		err = s.call(ctx, func(ctx context.Context, q querier) (err error) {
			rows, err = q.Fetch(ctx, r.args)
			return err
		})
		left := time.Until(end)
		if err != nil || left <= 0 || r.enough(rows) {
			return rows, err
		}
		timer := time.NewTimer(min(left, fetchRecheck))
		select {
		case <-timer.C:
		case <-s.stop:
			return rows, nil
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// enough says whether the rows end the wait.
func (r *fetchRequest) enough(rows []db.FetchRow) bool {
	left := r.minBytes
	for i := range rows {
		if rows[i].Error != nil {
			return true
		}
		for _, payload := range rows[i].Payloads {
			left -= int64(max(len(payload), 1))
		}
	}
	return left <= 0
}

// render builds the answer. Payloads are copied into it as they are.
func (r *fetchRequest) render(rows []db.FetchRow) []byte {
	size := 64
	for i := range rows {
		size += 256
		for _, payload := range rows[i].Payloads {
			size += len(payload) + 160
		}
	}
	out := append(make([]byte, 0, size), `{"entries":[`...)
	for entry := range r.args.Queues {
		mine := 0
		for mine < len(rows) && rows[mine].Entry == int32(entry) {
			mine++
		}
		if entry > 0 {
			out = append(out, ',')
		}
		out = r.appendEntry(out, entry, rows[:mine])
		rows = rows[mine:]
	}
	return append(out, "]}"...)
}

// appendEntry writes an entry from its rows: its bounds, then slices.
func (r *fetchRequest) appendEntry(out []byte, entry int, rows []db.FetchRow) []byte {
	out = appendText(append(out, `{"queue":`...), r.args.Queues[entry])
	out = appendText(append(out, `,"partition":`...), r.args.Partitions[entry])
	out = append(out, `,"records":[`...)
	for i := 1; i < len(rows); i++ {
		out = appendRecords(out, &rows[i], i > 1)
	}
	out = strconv.AppendInt(append(out, `],"highWatermark":`...), rows[0].HighWatermark, 10)
	out = strconv.AppendInt(append(out, `,"logStartOffset":`...), rows[0].LogStart, 10)
	if rows[0].Error != nil {
		out = appendText(append(out, `,"error":`...), *rows[0].Error)
	}
	return append(out, '}')
}

// appendRecords writes the messages of one slice.
func appendRecords(out []byte, row *db.FetchRow, comma bool) []byte {
	slice := db.PopRow{IDBase: row.IDBase, SegmentBase: row.SegmentBase, FirstOffset: row.FirstOffset, TransactionIds: row.TransactionIds, Offsets: row.Offsets}
	tail := append(row.CreatedAt.UTC().AppendFormat([]byte(`,"ts":"`), stamp), `"}`...)
	for i, payload := range row.Payloads {
		if comma || i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, `{"offset":`...), offsetOf(&slice, i), 10)
		out = appendText(append(out, `,"transactionId":`...), transactionID(&slice, i))
		out = appendKey(out, at(row.Keys, i))
		out = appendData(append(out, `,"payload":`...), payload)
		out = append(out, tail...)
	}
	return out
}

// scanFetch reads the body of a fetch.
func scanFetch(body []byte) (*fetchRequest, error) {
	s := newScanner(body)
	r := &fetchRequest{minBytes: 1, args: db.FetchParams{Queues: []string{}, Partitions: []string{}, Offsets: []int64{}, MaxBytes: []int32{}}}
	var entries bool
	var wait, least optionalInteger
	err := s.document(func(name string) error {
		switch name {
		case "entries":
			if err := s.once(&entries, name); err != nil {
				return err
			}
			return s.array(name, func(index int) error { return r.scanEntry(s, index) })
		case "maxWaitMs":
			return wait.scan(s, name)
		case "minBytes":
			return least.scan(s, name)
		}
		return s.skip()
	})
	if err == nil && !entries {
		err = badField("entries", "is required")
	}
	if err != nil {
		return nil, err
	}
	r.wait = time.Duration(wait.within(0, 0, int64(maxFetchWait/time.Millisecond))) * time.Millisecond
	r.minBytes = least.within(1, 0, 1<<62)
	if r.minBytes == 0 {
		r.wait = 0
	}
	return r, nil
}

// scanEntry reads one entry.
func (r *fetchRequest) scanEntry(s *scanner, index int) error {
	if index >= maxFetchEntries {
		return badRequest("bad body: entries has more than 1024 elements")
	}
	queue, partition := optionalText{}, optionalText{text: "Default"}
	var offset, size optionalInteger
	err := s.object(func(name string) error {
		switch name {
		case "queue":
			return queue.scan(s, name, nameFault)
		case "partition":
			return partition.scanLoosely(s, name, nameFault)
		case "offset":
			return offset.scan(s, name)
		case "maxBytes":
			return size.scan(s, name)
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return err
	case !queue.present:
		return s.missing("queue")
	case !offset.present:
		return s.missing("offset")
	case offset.n < 0:
		s.at("offset")
		return s.bad("must not be negative")
	}
	r.args.Queues, r.args.Partitions = append(r.args.Queues, queue.text), append(r.args.Partitions, partition.text)
	r.args.Offsets = append(r.args.Offsets, offset.n)
	r.args.MaxBytes = append(r.args.MaxBytes, int32(size.within(fetchBytes, 1, maxFetchBytes)))
	return nil
}
