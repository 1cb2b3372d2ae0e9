package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"regent.local/regent/db"
)

// DeadLetterList is a page of dead letters, newest first.
type DeadLetterList struct {
	Messages   []DeadLetter `json:"messages"`
	Pagination Pagination   `json:"pagination"`
	Total      int          `json:"total" doc:"Length of this page." example:"1"`
}

// Pagination tells which page this is.
type Pagination struct {
	Limit  int32 `json:"limit" example:"100"`
	Offset int32 `json:"offset" example:"0"`
}

// DeadLetter is one message that a group gave up on.
type DeadLetter struct {
	ID            string          `json:"id" format:"uuid" doc:"Id of the dead letter, not of the message." example:"0b9f6a52-7c41-4c1b-9a60-2f1d8f0c5e11"`
	TransactionID string          `json:"transactionId" example:"order-4711"`
	PartitionID   string          `json:"partitionId" format:"uuid" example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	Queue         string          `json:"queue" example:"orders"`
	Partition     string          `json:"partition" example:"customer-17"`
	ConsumerGroup string          `json:"consumerGroup" example:"billing"`
	ErrorMessage  *string         `json:"errorMessage" nullable:"true" doc:"Reason that the consumer gave." example:"card declined"`
	RetryCount    int32           `json:"retryCount" doc:"Failed attempts before it was given up." example:"3"`
	Data          json.RawMessage `json:"data" doc:"The payload; null also when the message was deleted before it failed."`
	ProducerSub   *string         `json:"producerSub" nullable:"true" doc:"Always null here; a replay keeps it."`
	CreatedAt     time.Time       `json:"createdAt" doc:"The same as failedAt." example:"2026-07-30T09:12:44.011Z"`
	FailedAt      time.Time       `json:"failedAt" example:"2026-07-30T09:12:44.011Z"`
	IsEncrypted   bool            `json:"isEncrypted,omitempty" doc:"Whether it is stored encrypted; absent when not."`
}

// DeleteDeadLettersResponse tells how many went.
type DeleteDeadLettersResponse struct {
	Success       bool   `json:"success"`
	Deleted       int    `json:"deleted" example:"12"`
	Queue         string `json:"queue" example:"orders"`
	ConsumerGroup string `json:"consumerGroup,omitempty" example:"billing"`
}

// ReplayRequest is where a dead letter goes, when not where it came from.
type ReplayRequest struct {
	Queue     *string `json:"queue,omitempty" nullable:"true" doc:"Another queue, created when it is missing. Trimmed; blank is refused." example:"orders-repair"`
	Partition *string `json:"partition,omitempty" nullable:"true" doc:"Another partition, created when it is missing. Trimmed; blank is refused."`
}

// ReplayResponse is what became of a dead letter.
type ReplayResponse struct {
	Success               bool       `json:"success"`
	Result                string     `json:"result" enum:"moved,duplicate" doc:"moved: stored anew, and no dead letter any more. duplicate: nothing was stored, the dead letter is kept."`
	Queue                 string     `json:"queue" doc:"Queue that it went to." example:"orders"`
	Partition             string     `json:"partition" doc:"Partition that it went to." example:"customer-17"`
	ConsumerGroup         string     `json:"consumerGroup" doc:"Group that had given up." example:"billing"`
	DlqID                 string     `json:"dlqId" format:"uuid" example:"0b9f6a52-7c41-4c1b-9a60-2f1d8f0c5e11"`
	OriginalTransactionID string     `json:"originalTransactionId" example:"order-4711"`
	ReplayedAs            ReplayedAs `json:"replayedAs"`
	DlqRowRemoved         bool       `json:"dlqRowRemoved"`
}

// ReplayedAs is the new message, in the words of a push.
type ReplayedAs struct {
	Index         int    `json:"index"`
	MessageID     string `json:"message_id" format:"uuid" doc:"All zero for a duplicate."`
	TransactionID string `json:"transaction_id" example:"dlq:0b9f6a52-7c41-4c1b-9a60-2f1d8f0c5e11"`
	QueueName     string `json:"queueName" example:"orders"`
	Status        string `json:"status" enum:"queued,duplicate"`
	Offset        *int64 `json:"offset" nullable:"true" doc:"Place in the partition; of a duplicate, that of the message found." example:"17"`
}

// ReplayFailure is an answer to a replay that did not happen.
type ReplayFailure struct {
	Error
	Success       bool   `json:"success"`
	Result        string `json:"result,omitempty" enum:"failed,maintenance"`
	DlqID         string `json:"dlqId,omitempty" format:"uuid"`
	DlqRowRemoved *bool  `json:"dlqRowRemoved" nullable:"true" doc:"false: nothing happened. null: the answer of the database was lost, and so it is not known."`
}

// MissingDeadLetter is the 404 of a replay.
type MissingDeadLetter struct {
	Error
	Success bool   `json:"success"`
	Result  string `json:"result" enum:"gone"`
	DlqID   string `json:"dlqId"`
	Message string `json:"message"`
}

// MissingMessage is the 404 of a call on the dead letters of a message.
type MissingMessage struct {
	Error
	Success       bool   `json:"success"`
	PartitionID   string `json:"partitionId"`
	TransactionID string `json:"transactionId"`
	Message       string `json:"message"`
}

// statusReply is an answer whose bytes are ready and whose status is its own.
type statusReply struct {
	Status      int
	ContentType string `header:"Content-Type"`
	RetryAfter  string `header:"Retry-After"`
	Body        []byte
}

// replayResponses documents the answers of a replay; M is its 404.
func replayResponses[M any](api huma.API) map[string]*huma.Response {
	return map[string]*huma.Response{
		"200": jsonReply[ReplayResponse](api, "What became of the dead letter.", replayExample()),
		"404": jsonReply[M](api, "There is no such dead letter.", nil),
	}
}

// documentReplayFailures gives a replay the failures of its own, which the
// framework writes over; what fails before the replay is a plain error.
func documentReplayFailures(api huma.API, op *huma.Operation) {
	schemas := api.OpenAPI().Components.Schemas
	either := &huma.Schema{AnyOf: []*huma.Schema{
		schemas.Schema(reflect.TypeFor[ReplayFailure](), true, "ReplayFailure"), schemas.Schema(reflect.TypeFor[Error](), true, "Error")}}
	for status, text := range map[string]string{
		"500": "It was refused and is kept, or the outcome is not known: see dlqRowRemoved.",
		"503": "Not now; the dead letter is kept.",
	} {
		op.Responses[status].Description = text
		op.Responses[status].Content["application/json"].Schema = either
	}
}

func missingLetter(id string) *statusReply {
	out := appendText([]byte(`{"success":false,"result":"gone","dlqId":`), clip(id, 100))
	out = append(out, `,"message":"It was replayed or deleted before, or never was.",`...)
	return &statusReply{Status: http.StatusNotFound, ContentType: "application/json", Body: append(out, `"error":"Message not found","code":"QN404","retryable":false}`...)}
}

func missingMessage(partition, transaction, message string) *statusReply {
	out := appendText([]byte(`{"success":false,"partitionId":`), clip(partition, 100))
	out = appendText(append(out, `,"transactionId":`...), transaction)
	out = appendText(append(out, `,"message":`...), message)
	return &statusReply{Status: http.StatusNotFound, ContentType: "application/json", Body: append(out, `,"error":"Message not found","code":"QN404","retryable":false}`...)}
}

// appendFailure adds the members of an error to an object that is open.
func appendFailure(out []byte, e *Error) []byte {
	out = appendText(append(out, `,"error":`...), e.Text)
	out = appendText(append(out, `,"code":`...), e.Code)
	return strconv.AppendBool(append(out, `,"retryable":`...), e.Retryable)
}

func renderReplay(row *db.ReplayRow) []byte {
	status, id := "duplicate", uuid.Nil
	if row.Result == "moved" && row.MessageID != nil {
		status, id = "queued", *row.MessageID
	}
	out := append([]byte(`{"success":true,"result":"`), row.Result...)
	out = appendText(append(out, `","queue":`...), row.Queue)
	out = appendText(append(out, `,"partition":`...), row.Partition)
	out = appendText(append(out, `,"consumerGroup":`...), row.ConsumerGroup)
	out = appendUUID(append(out, `,"dlqId":"`...), row.DlqID)
	out = appendText(append(out, `","originalTransactionId":`...), row.TransactionID)
	out = appendUUID(append(out, `,"replayedAs":{"index":0,"message_id":"`...), id)
	out = appendUUID(append(out, `","transaction_id":"dlq:`...), row.DlqID)
	out = appendText(append(out, `","queueName":`...), row.Queue)
	out = append(append(append(out, `,"status":"`...), status...), `","offset":`...)
	if row.Offset == nil {
		out = append(out, "null"...)
	} else {
		out = strconv.AppendInt(out, *row.Offset, 10)
	}
	return append(strconv.AppendBool(append(out, `},"dlqRowRemoved":`...), row.Result == "moved"), '}')
}

func renderDeadLetters(s *sealer, rows []db.DeadLetterRow, args db.ListDeadLettersParams) []byte {
	size := 128
	for i := range rows {
		size += 640 + len(deref(rows[i].Payload))
	}
	out := append(make([]byte, 0, size), `{"messages":[`...)
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendDeadLetter(out, s, &rows[i])
	}
	out = strconv.AppendInt(append(out, `],"pagination":{"limit":`...), int64(args.MaxRows), 10)
	out = strconv.AppendInt(append(out, `,"offset":`...), int64(args.Skip), 10)
	return append(strconv.AppendInt(append(out, `},"total":`...), int64(len(rows)), 10), '}')
}

func appendDeadLetter(out []byte, s *sealer, row *db.DeadLetterRow) []byte {
	failed := row.FailedAt.UTC().Format(millis)
	out = appendUUID(append(out, `{"id":"`...), row.ID)
	out = appendText(append(out, `","transactionId":`...), row.TransactionID)
	out = appendUUID(append(out, `,"partitionId":"`...), row.PartitionID)
	out = appendText(append(out, `","queue":`...), row.Queue)
	out = appendText(append(out, `,"partition":`...), row.Partition)
	out = appendText(append(out, `,"consumerGroup":`...), row.ConsumerGroup)
	out = appendOptional(append(out, `,"errorMessage":`...), row.Error)
	out = strconv.AppendInt(append(out, `,"retryCount":`...), int64(row.RetryCount), 10)
	payload, encrypted := s.reveal(row.Payload)
	out = appendData(append(out, `,"data":`...), payload)
	out = append(out, `,"producerSub":null,"createdAt":"`+failed+`","failedAt":"`+failed+`"`...)
	if encrypted {
		out = append(out, `,"isEncrypted":true`...)
	}
	return append(out, '}')
}

// millis is the form of times on the management routes.
const millis = "2006-01-02T15:04:05.000Z"

// named is a name with its field.
type named struct{ field, value string }

func checkNames(names ...named) *Error {
	for _, n := range names {
		if refusal := checkName(n.field, n.value); refusal != nil {
			return refusal
		}
	}
	return nil
}

// trimName cleans a name of a replay's destination in place.
func trimName(field string, value *string) *Error {
	*value = strings.TrimSpace(*value)
	if *value == "" {
		return badField(field, "must not be blank")
	}
	return checkName(field, *value)
}

// given is nil for a parameter that was not sent.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
