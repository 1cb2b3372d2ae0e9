package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

// Limits of a list of changed partitions.
const (
	maxChangedEntries = 64
	maxChangedLimit   = 1000
)

// noCursor stands for a cursor that no database text can hold. It is none.
const noCursor = "?"

// ChangedRequest is the body of a list of changed partitions, for the document.
type ChangedRequest struct {
	Entries []ChangedQuery `json:"entries" maxItems:"64" doc:"Queues to list. Without any, the answer has the safe time only."`
}

// ChangedQuery asks for one page of one queue.
type ChangedQuery struct {
	Queue string     `json:"queue" minLength:"1" maxLength:"255" example:"orders"`
	Since *time.Time `json:"since,omitempty" nullable:"true" doc:"Partitions written at or after it, by time and name; no overlap is needed, the server adds some. Without it all partitions, by name. Finer than a microsecond is cut off." example:"2025-01-31T12:00:00.000000Z"`
	After *string    `json:"after,omitempty" nullable:"true" doc:"next of the page before. Do not look inside."`
	Limit *int64     `json:"limit,omitempty" nullable:"true" default:"1000" doc:"Partitions of a page; kept within 1 and 1000." example:"1000"`
}

// ChangedResponse has one element an entry, in request order.
type ChangedResponse struct {
	SafeTime         time.Time      `json:"safeTime" doc:"No message with an earlier time can become visible any more. Once next is null, take it as the next since."`
	SafeTimeDegraded bool           `json:"safeTimeDegraded" doc:"Some transactions cannot be seen (masked by privileges, or prepared), so safeTime is a floor that the server noted before any of them."`
	SafeTimeHeldBy   string         `json:"safeTimeHeldBy,omitempty" doc:"What holds safeTime back, when it is more than five seconds old."`
	Entries          []ChangedEntry `json:"entries"`
}

// ChangedEntry is a page, or why there is none.
type ChangedEntry struct {
	Queue      string             `json:"queue"`
	Partitions []ChangedPartition `json:"partitions,omitempty" doc:"Absent with an error."`
	Next       *string            `json:"next,omitempty" nullable:"true" doc:"The after of the next page; null when the page is not full: that is the end. Absent with an error."`
	Error      string             `json:"error,omitempty" enum:"UNKNOWN_TOPIC_OR_PARTITION,BAD_CURSOR" doc:"No such queue, or an after of another mode or queue, or that was not given out."`
}

// ChangedPartition tells where a partition stands.
type ChangedPartition struct {
	Name        string    `json:"name"`
	LastOffset  int64     `json:"lastOffset" doc:"The last offset that was given, -1 before the first."`
	LogStart    int64     `json:"logStart" doc:"The oldest offset that is still there."`
	LastWriteAt time.Time `json:"lastWriteAt" doc:"Up to a second before the newest message."`
}

type changedInput struct {
	RawBody []byte
}

func (s *Server) registerChanged(api huma.API) {
	huma.Register(api, s.op(huma.Operation{
		OperationID: "partitions-changed", Method: http.MethodPost, Path: "/api/v1/partitions/changed", Tags: []string{"messages"},
		Summary:          "List partitions, all or those written since a time",
		Description:      "To mirror a queue: list what changed since the last safeTime, fetch it, and go on from the safeTime of this answer. A partition that is written between two pages is shown again, never missed.",
		SkipValidateBody: true,
		RequestBody: jsonBody[ChangedRequest](api, "What to list.", map[string]any{"entries": []any{
			map[string]any{"queue": "orders", "since": "2025-01-31T12:00:00.000000Z", "limit": 1000}}}),
		Responses: map[string]*huma.Response{"200": jsonReply[ChangedResponse](api, "One element an entry.", map[string]any{
			"safeTime": "2025-01-31T12:04:57.412331Z", "safeTimeDegraded": false, "entries": []any{map[string]any{"queue": "orders", "next": nil, "partitions": []any{
				map[string]any{"name": "customer-17", "lastOffset": 1811, "logStart": 1400, "lastWriteAt": "2025-01-31T12:04:12.000000Z"}}}}})},
		Errors: []int{http.StatusInternalServerError},
	}), s.partitionsChanged)
}

func (s *Server) partitionsChanged(ctx context.Context, in *changedInput) (*rawReply, error) {
	args, err := scanChanged(in.RawBody)
	if err != nil {
		return nil, err
	}
	args.TenantID = s.tenant(ctx)
	var rows []db.ChangedRow
	err = s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.PartitionsChanged(ctx, *args)
		return err
	})
	if err != nil {
		return nil, s.failed(ctx, "partitions changed", err)
	}
	return &rawReply{ContentType: "application/json", Body: renderChanged(args.Queues, rows)}, nil
}

// renderChanged builds the answer. The first row stands for the call.
func renderChanged(queues []string, rows []db.ChangedRow) []byte {
	out := append(make([]byte, 0, 256+160*len(rows)), `{"safeTime":"`...)
	out = rows[0].SafeTime.UTC().AppendFormat(out, stamp)
	out = strconv.AppendBool(append(out, `","safeTimeDegraded":`...), rows[0].SafeTimeDegraded)
	if held := rows[0].SafeTimeHeldBy; held != nil {
		out = appendText(append(out, `,"safeTimeHeldBy":`...), *held)
	}
	out = append(out, `,"entries":[`...)
	rows = rows[1:]
	for entry, queue := range queues {
		mine := 0
		for mine < len(rows) && rows[mine].Entry == int32(entry) {
			mine++
		}
		if entry > 0 {
			out = append(out, ',')
		}
		out = appendPage(appendText(append(out, `{"queue":`...), queue), rows[:mine])
		rows = rows[mine:]
	}
	return append(out, "]}"...)
}

// appendPage ends an entry: its error, or its partitions and the next cursor.
func appendPage(out []byte, rows []db.ChangedRow) []byte {
	var next *string
	if len(rows) > 0 {
		if rows[0].Error != nil {
			return append(appendText(append(out, `,"error":`...), *rows[0].Error), '}')
		}
		next = rows[len(rows)-1].Next
	}
	out = append(out, `,"partitions":[`...)
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(append(out, `{"name":`...), *rows[i].Name)
		out = strconv.AppendInt(append(out, `,"lastOffset":`...), *rows[i].LastOffset, 10)
		out = strconv.AppendInt(append(out, `,"logStart":`...), *rows[i].LogStart, 10)
		out = rows[i].LastWriteAt.UTC().AppendFormat(append(out, `,"lastWriteAt":"`...), stamp)
		out = append(out, `"}`...)
	}
	return append(appendOptional(append(out, `],"next":`...), next), '}')
}

// scanChanged reads the body.
func scanChanged(body []byte) (*db.PartitionsChangedParams, error) {
	s := newScanner(body)
	args := &db.PartitionsChangedParams{Queues: []string{}, Sinces: []*string{}, Afters: []*string{}, Limits: []int32{}}
	seen := false
	err := s.document(func(name string) error {
		if name != "entries" {
			return s.skip()
		}
		if err := s.once(&seen, name); err != nil {
			return err
		}
		return s.array(name, func(index int) error { return scanChangedQuery(s, index, args) })
	})
	if err == nil && !seen {
		err = badField("entries", "is required")
	}
	return args, err
}

// scanChangedQuery reads one entry. A cursor that makes no sense is left to the
// function, which answers for that entry only.
func scanChangedQuery(s *scanner, index int, args *db.PartitionsChangedParams) error {
	if index >= maxChangedEntries {
		return badRequest("bad body: entries has more than 64 elements")
	}
	var queue, since, after optionalText
	var limit optionalInteger
	err := s.object(func(name string) error {
		switch name {
		case "queue":
			return queue.scan(s, name, nameFault)
		case "since":
			return since.scan(s, name, sinceFault)
		case "after":
			return after.scan(s, name, func(string) string { return "" })
		case "limit":
			return limit.scan(s, name)
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return err
	case !queue.present:
		return s.missing("queue")
	case queue.text == "":
		s.at("queue")
		return s.bad("must not be empty")
	}
	if since.present { // cut to what the database can tell apart: never rounded up (F155)
		at, _ := time.Parse(time.RFC3339Nano, since.text)
		since.text = at.UTC().Format(stamp)
	}
	if textFault(after.text) != "" {
		after.text = noCursor
	}
	args.Queues, args.Limits = append(args.Queues, queue.text), append(args.Limits, int32(limit.within(maxChangedLimit, 1, maxChangedLimit)))
	args.Sinces, args.Afters = append(args.Sinces, since.pointer()), append(args.Afters, after.pointer())
	return nil
}

// sinceFault says what is wrong with a time; the wire wants it quoted.
func sinceFault(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.UTC().Year() < 1 || at.UTC().Year() > 9999 {
		return "is not an RFC 3339 time: " + strconv.Quote(clip(text, 64))
	}
	return ""
}
