package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"regent.local/regent/db"
)

type listMessagesInput struct {
	Queue     string `query:"queue" doc:"Only of this queue." example:"orders"`
	Partition string `query:"partition" doc:"Only of partitions with this name."`
	Namespace string `query:"namespace" doc:"Only of queues with this label."`
	NS        string `query:"ns" doc:"The same as namespace."`
	Task      string `query:"task" doc:"Only of queues with this label."`
	Status    string `query:"status" doc:"Only with this status: pending, processing, completed or dead_letter."`
	From      string `query:"from" doc:"Stored at or after this time; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To        string `query:"to" doc:"Stored before the end of the minute of this time; now by default."`
	Limit     int32  `query:"limit" default:"200" minimum:"0" maximum:"2147483647" doc:"Length of the page, at most 1000."`
	Offset    int32  `query:"offset" default:"0" minimum:"0" maximum:"2147483647" doc:"How many to pass over."`
}

// MessageList is a page of messages, newest first.
type MessageList struct {
	Messages []BrowsedMessage `json:"messages"`
	Mode     MessageMode      `json:"mode"`
	Total    int              `json:"total" doc:"Length of this page." example:"1"`
}

// MessageMode tells how what was looked at is consumed.
type MessageMode struct {
	HasQueueMode   bool   `json:"hasQueueMode" doc:"Whether consumers without a group took from it."`
	BusGroupsCount int64  `json:"busGroupsCount" doc:"Named groups."`
	Type           string `json:"type" enum:"queue,bus,hybrid,none"`
}

// BrowsedMessage is one message of a page.
type BrowsedMessage struct {
	ID               *string         `json:"id" nullable:"true" format:"uuid"`
	TransactionID    *string         `json:"transactionId" nullable:"true"`
	TxnHash          string          `json:"txnHash" doc:"Hash of the transactionId in its partition." example:"9f3b1e4a527d0c11"`
	PartitionID      string          `json:"partitionId" format:"uuid"`
	QueuePath        string          `json:"queuePath" example:"orders/customer-17"`
	Queue            string          `json:"queue" example:"orders"`
	Partition        string          `json:"partition" example:"customer-17"`
	Namespace        string          `json:"namespace"`
	Task             string          `json:"task"`
	Status           string          `json:"status" enum:"pending,processing,completed,dead_letter"`
	QueueStatus      string          `json:"queueStatus" enum:"pending,processing,completed" doc:"By the consumers without a group."`
	BusStatus        BusStatus       `json:"busStatus"`
	TraceID          *string         `json:"traceId" nullable:"true"`
	ProducerSub      *string         `json:"producerSub" nullable:"true"`
	PayloadAvailable bool            `json:"payloadAvailable" doc:"false: the stored payload cannot be read; id, transactionId and data are null."`
	Segment          SegmentPlace    `json:"segment"`
	CreatedAt        time.Time       `json:"createdAt"`
	LeaseExpiresAt   *time.Time      `json:"leaseExpiresAt" nullable:"true"`
	Data             json.RawMessage `json:"data"`
	Payload          json.RawMessage `json:"payload" doc:"The same as data."`
	IsEncrypted      bool            `json:"isEncrypted,omitempty" doc:"Whether it is stored encrypted; absent when not."`
}

// BusStatus tells how many named groups are past a message.
type BusStatus struct {
	ConsumedBy  int32 `json:"consumedBy"`
	TotalGroups int32 `json:"totalGroups"`
}

// SegmentPlace is where a message is stored.
type SegmentPlace struct {
	Seq      int64 `json:"seq" doc:"First offset of its segment."`
	FrameIdx int64 `json:"frameIdx" doc:"Its offset less seq."`
}

// MessageDetail is one message with all that is known of it.
type MessageDetail struct {
	ID             string            `json:"id" format:"uuid"`
	TransactionID  string            `json:"transactionId" example:"order-4711"`
	Data           json.RawMessage   `json:"data"`
	Payload        json.RawMessage   `json:"payload" doc:"The same as data."`
	TraceID        *string           `json:"traceId" nullable:"true"`
	ProducerSub    *string           `json:"producerSub" nullable:"true"`
	CreatedAt      time.Time         `json:"createdAt" doc:"When it was stored; of a message that only its dead letter is left of, when it failed."`
	PartitionID    string            `json:"partitionId" format:"uuid"`
	Partition      string            `json:"partition" example:"customer-17"`
	IsEncrypted    bool              `json:"isEncrypted" doc:"Whether it is stored encrypted."`
	Queue          string            `json:"queue" example:"orders"`
	QueuePath      string            `json:"queuePath" example:"orders/customer-17"`
	Namespace      string            `json:"namespace"`
	Task           string            `json:"task"`
	Status         string            `json:"status" enum:"pending,processing,completed,dead_letter"`
	ErrorMessage   *string           `json:"errorMessage" nullable:"true" doc:"Why it is a dead letter."`
	RetryCount     int32             `json:"retryCount" doc:"Failed attempts before it became a dead letter, else 0."`
	LeaseExpiresAt *time.Time        `json:"leaseExpiresAt" nullable:"true"`
	ConsumerGroups []MessageConsumer `json:"consumerGroups"`
	Mode           MessageMode       `json:"mode"`
	QueueConfig    QueueOptions      `json:"queueConfig"`
}

// MessageConsumer is where one group stands with a message.
type MessageConsumer struct {
	Name           string     `json:"name" example:"billing"`
	Group          string     `json:"group" doc:"The same as name." example:"billing"`
	Consumed       bool       `json:"consumed"`
	LeaseExpiresAt *time.Time `json:"leaseExpiresAt" nullable:"true" doc:"While the group holds it."`
}

// messageOp adds what the operations that look at messages share.
func (s *Server) messageOp(op huma.Operation) huma.Operation {
	op = s.letterOp(op)
	op.Tags = []string{"browse"}
	return op
}

func (s *Server) listMessages(ctx context.Context, in *listMessagesInput) (*rawReply, error) {
	args, refusal := in.args()
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	var rows []db.MessageRow
	var mode db.MessageModeRow
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		if rows, err = q.ListMessages(ctx, args); err != nil {
			return err
		}
		mode, err = q.MessageMode(ctx, db.MessageModeParams{Queue: args.Queue, Partition: args.Partition, Namespace: args.Namespace, Task: args.Task, TenantID: args.TenantID})
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, "list messages", err)
	}
	out := []byte(`{"messages":[`)
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendBrowsed(out, s.seals, &rows[i])
	}
	out = appendMode(append(out, `],"mode":`...), mode.HasQueueMode, mode.BusGroups)
	out = strconv.AppendInt(append(out, `,"total":`...), int64(len(rows)), 10)
	return &rawReply{ContentType: "application/json", Body: append(out, '}')}, nil
}

// args judges the query.
func (in *listMessagesInput) args() (args db.ListMessagesParams, refusal *Error) {
	if in.Namespace == "" {
		in.Namespace = in.NS
	}
	refusal = checkNames(named{"queue", in.Queue}, named{"partition", in.Partition}, named{"namespace", in.Namespace}, named{"task", in.Task}, named{"status", in.Status})
	if refusal != nil {
		return args, refusal
	}
	args = db.ListMessagesParams{Queue: given(in.Queue), Partition: given(in.Partition), Namespace: given(in.Namespace), Task: given(in.Task),
		Status: given(in.Status), MaxRows: min(in.Limit, maxListed), Skip: in.Offset}
	if args.Since, refusal = readTime("from", in.From); refusal != nil {
		return args, refusal
	}
	args.Until, refusal = readTime("to", in.To)
	return args, refusal
}

// readTime reads a time of a query: RFC 3339, or without a zone, which is UTC.
func readTime(field, text string) (*time.Time, *Error) {
	if text == "" {
		return nil, nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return &at, nil
		}
	}
	return nil, badField(field, "is no time such as 2026-07-30T09:00:00Z")
}

func (s *Server) getMessage(ctx context.Context, in *messageInput) (*rawReply, error) {
	partition, ok := in.address()
	if !ok {
		return nil, newError(http.StatusNotFound, "", "Message not found")
	}
	args := db.GetMessageParams{PartitionID: partition, TransactionID: in.TransactionID, TenantID: s.tenant(ctx)}
	var rows []db.MessageRow
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.GetMessage(ctx, args)
		return err
	})
	switch {
	case err != nil:
		return nil, s.fail(ctx, "get a message", err)
	case len(rows) == 0:
		return nil, newError(http.StatusNotFound, "", "Message not found")
	case rows[0].Status != "dead_letter" && rows[0].Payload == nil, rows[0].Payload != nil && !isJSON(*rows[0].Payload):
		return nil, newError(http.StatusInternalServerError, "", "frame decode failed")
	}
	return &rawReply{ContentType: "application/json", Body: renderDetail(s.seals, &rows[0])}, nil
}

// isJSON tells a payload from one that was damaged in the database.
func isJSON(payload string) bool { return jsontext.Value(payload).IsValid(readable) }

func appendBrowsed(out []byte, keys *sealer, row *db.MessageRow) []byte {
	available := row.Payload != nil && isJSON(*row.Payload)
	out = append(out, `{"id":`...)
	if available {
		out = append(appendUUID(append(out, '"'), row.ID), '"')
		out = appendText(append(out, `,"transactionId":`...), row.TransactionID)
	} else {
		out = append(out, `null,"transactionId":null`...)
	}
	hash := strconv.FormatUint(uint64(row.TxnHash), 16)
	out = append(append(append(out, `,"txnHash":"`...), "0000000000000000"[len(hash):]...), hash+`"`...)
	out = appendPlace(out, row)
	out = appendText(append(out, `,"queueStatus":`...), row.QueueStatus)
	out = strconv.AppendInt(append(out, `,"busStatus":{"consumedBy":`...), int64(row.ConsumedBy), 10)
	out = strconv.AppendInt(append(out, `,"totalGroups":`...), int64(row.TotalGroups), 10)
	out = strconv.AppendBool(append(out, `},"payloadAvailable":`...), available)
	out = strconv.AppendInt(append(out, `,"segment":{"seq":`...), row.SegmentBase, 10)
	out = strconv.AppendInt(append(out, `,"frameIdx":`...), row.Offset-row.SegmentBase, 10)
	out = append(out, '}')
	if !available {
		return append(out, `,"data":null,"payload":null}`...)
	}
	out, encrypted := appendPayload(out, keys, row.Payload)
	if encrypted {
		out = append(out, `,"isEncrypted":true`...)
	}
	return append(out, '}')
}

// appendPlace adds where a message is and what it is, which list and detail share.
func appendPlace(out []byte, row *db.MessageRow) []byte {
	out = append(appendUUID(append(out, `,"partitionId":"`...), row.PartitionID), '"')
	for _, f := range []named{{"queuePath", row.Queue + "/" + row.Partition}, {"queue", row.Queue}, {"partition", row.Partition},
		{"namespace", row.Namespace}, {"task", row.Task}, {"status", row.Status}, {"createdAt", row.CreatedAt.UTC().Format(millis)}} {
		out = appendText(append(out, `,"`+f.field+`":`...), f.value)
	}
	out = appendOptional(append(out, `,"traceId":`...), row.TraceID)
	out = appendOptional(append(out, `,"producerSub":`...), row.ProducerSub)
	var lease *string
	if row.LeaseExpiresAt != nil {
		at := row.LeaseExpiresAt.UTC().Format(millis)
		lease = &at
	}
	return appendOptional(append(out, `,"leaseExpiresAt":`...), lease)
}

// appendPayload adds the payload by its two names.
func appendPayload(out []byte, keys *sealer, payload *string) (_ []byte, encrypted bool) {
	text, encrypted := keys.reveal(payload)
	out = appendData(append(out, `,"data":`...), text)
	return appendData(append(out, `,"payload":`...), text), encrypted
}

func renderDetail(keys *sealer, row *db.MessageRow) []byte {
	out := append(appendUUID([]byte(`{"id":"`), row.ID), '"')
	out = appendText(append(out, `,"transactionId":`...), row.TransactionID)
	out = appendPlace(out, row)
	out, encrypted := appendPayload(out, keys, row.Payload)
	out = strconv.AppendBool(append(out, `,"isEncrypted":`...), encrypted)
	out = appendOptional(append(out, `,"errorMessage":`...), row.Error)
	out = strconv.AppendInt(append(out, `,"retryCount":`...), int64(row.RetryCount), 10)
	out = append(append(out, `,"consumerGroups":`...), row.Groups...)
	out = appendMode(append(out, `,"mode":`...), row.HasQueueMode, int64(row.TotalGroups))
	return append(append(append(out, `,"queueConfig":`...), row.Options...), '}')
}

func appendMode(out []byte, queueMode bool, groups int64) []byte {
	kind := "none"
	switch {
	case queueMode && groups > 0:
		kind = "hybrid"
	case queueMode:
		kind = "queue"
	case groups > 0:
		kind = "bus"
	}
	out = strconv.AppendBool(append(out, `{"hasQueueMode":`...), queueMode)
	out = strconv.AppendInt(append(out, `,"busGroupsCount":`...), groups, 10)
	return append(out, `,"type":"`+kind+`"}`...)
}
