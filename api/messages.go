package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"regent.local/regent/db"
)

type messageInput struct {
	PartitionID   string `path:"partitionId" doc:"As delivered." example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	TransactionID string `path:"transactionId" doc:"As delivered, percent-encoded." example:"order-4711"`
}

// DeleteMessageResponse tells whose dead letters went.
type DeleteMessageResponse struct {
	Success       bool   `json:"success"`
	PartitionID   string `json:"partitionId" format:"uuid" example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	TransactionID string `json:"transactionId" example:"order-4711"`
	Message       string `json:"message" example:"dead letters deleted: 2"`
}

// registerMessages adds the routes about single messages.
func (s *Server) registerMessages(api huma.API) {
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "list-messages", Method: http.MethodGet, Path: "/api/v1/messages",
		Summary:     "Browse messages, newest first",
		Description: "Those of the last hour, unless from says otherwise. A status is that of the consumers without a group; a message that any group gave up on is dead_letter. Looks at the 10000 partitions written last.",
		Responses:   map[string]*huma.Response{"200": jsonReply[MessageList](api, "A page of messages.", nil)},
	}), s.listMessages)
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "get-message", Method: http.MethodGet, Path: "/api/v1/messages/{partitionId}/{transactionId}",
		Summary:     "One message in detail",
		Description: "The newest with the transactionId. When the log does not have it any more but it is a dead letter, the dead letter answers.",
		Errors:      []int{http.StatusNotFound},
		Responses:   map[string]*huma.Response{"200": jsonReply[MessageDetail](api, "The message.", nil)},
	}), s.getMessage)
	huma.Register(api, s.letterOp(huma.Operation{
		OperationID: "delete-message", Method: http.MethodDelete, Path: "/api/v1/messages/{partitionId}/{transactionId}",
		Summary:     "Delete the dead letters of a message",
		Description: "Of every group. The log itself is never changed: a message that is no dead letter is a 404.",
		Responses: map[string]*huma.Response{
			"200": jsonReply[DeleteMessageResponse](api, "They are deleted.", nil),
			"404": jsonReply[MissingMessage](api, "It has no dead letter.", nil)},
	}), s.deleteMessage)
	huma.Register(api, s.letterOp(huma.Operation{
		OperationID: "retry-message", Method: http.MethodPost, Path: "/api/v1/messages/{partitionId}/{transactionId}/retry",
		Summary:     "Move the newest dead letter of a message back to its queue",
		Description: "As a replay of that dead letter.",
		Responses:   replayResponses[MissingMessage](api),
	}), s.retryMessage)
	documentReplayFailures(api, api.OpenAPI().Paths["/api/v1/messages/{partitionId}/{transactionId}/retry"].Post)
}

// noLetter explains a 404 of a message that may well be there.
const noLetter = "The message has no dead letter, or there is no such message."

// address reads the address of a message; what is none has no message.
func (in *messageInput) address() (partition uuid.UUID, ok bool) {
	partition, err := uuid.Parse(in.PartitionID)
	return partition, err == nil && len(in.PartitionID) == 36 && idFault(in.TransactionID) == ""
}

// missing is the 404 of an address. What no message can have is not sent back.
func (in *messageInput) missing() *statusReply {
	transaction := in.TransactionID
	if idFault(transaction) != "" {
		transaction = ""
	}
	return missingMessage(in.PartitionID, transaction, noLetter)
}

func (s *Server) deleteMessage(ctx context.Context, in *messageInput) (*statusReply, error) {
	partition, ok := in.address()
	if !ok {
		return in.missing(), nil
	}
	var deleted int32
	args := db.DeleteMessageParams{PartitionID: partition, TransactionID: in.TransactionID, TenantID: s.tenant(ctx)}
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		deleted, err = q.DeleteMessage(ctx, args)
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, "delete the dead letters of a message", err)
	}
	if deleted == 0 {
		return in.missing(), nil
	}
	out := appendUUID([]byte(`{"success":true,"partitionId":"`), partition)
	out = appendText(append(out, `","transactionId":`...), in.TransactionID)
	out = append(out, `,"message":"dead letters deleted: `+strconv.Itoa(int(deleted))+`"}`...)
	return &statusReply{Status: http.StatusOK, ContentType: "application/json", Body: out}, nil
}

func (s *Server) retryMessage(ctx context.Context, in *messageInput) (*statusReply, error) {
	partition, ok := in.address()
	if !ok {
		return in.missing(), nil
	}
	args := db.RetryMessageParams{PartitionID: partition, TransactionID: in.TransactionID, TenantID: s.tenant(ctx)}
	rows, failed := s.replay(ctx, func(ctx context.Context, q querier) ([]db.ReplayRow, error) { return q.RetryMessage(ctx, args) })
	if failed == nil && len(rows) > 0 {
		rows, failed = s.replaySealed(ctx, rows, db.ReplayDeadLetterParams{TenantID: args.TenantID})
	}
	switch {
	case failed != nil:
		return failed, nil
	case len(rows) == 0 || rows[0].Result == "gone":
		return in.missing(), nil
	}
	return s.replayed(ctx, &rows[0]), nil
}
