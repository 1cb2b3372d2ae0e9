package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

type latestInput struct {
	Queue     string `query:"queue" required:"true" maxLength:"255" doc:"Name of the queue." example:"prices"`
	Partition string `query:"partition" default:"Default" maxLength:"255" doc:"Name of the partition." example:"eu"`
	Key       string `query:"key" required:"true" maxLength:"1024" doc:"Key of the message, as pushed." example:"ACME"`
}

// LatestMessage is the newest message of a key.
type LatestMessage struct {
	Queue         string          `json:"queue" example:"prices"`
	Partition     string          `json:"partition" example:"eu"`
	PartitionID   string          `json:"partitionId" format:"uuid"`
	Key           string          `json:"key" example:"ACME"`
	Offset        int64           `json:"offset" example:"1400"`
	ID            string          `json:"id" format:"uuid"`
	TransactionID string          `json:"transactionId"`
	Data          json.RawMessage `json:"data" doc:"The payload, byte for byte as pushed."`
	CreatedAt     time.Time       `json:"createdAt" doc:"Microseconds, UTC."`
}

// registerLatest adds the route of the newest message of a key.
func (s *Server) registerLatest(api huma.API) {
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "get-latest", Method: http.MethodGet, Path: "/api/v1/messages/latest",
		Summary: "The newest message of a key",
		Description: "Of one partition of a queue whose cleanupPolicy is compact or compact,delete; of another queue it is a 409. " +
			"What is pushed is found at once, whether or not compaction has come by. A key that was never pushed, or whose newest message is a null (which deletes it), is a 404.",
		Errors:    []int{http.StatusNotFound, http.StatusConflict},
		Responses: map[string]*huma.Response{"200": jsonReply[LatestMessage](api, "The message.", nil)},
	}), s.getLatest)
}

func (s *Server) getLatest(ctx context.Context, in *latestInput) (*rawReply, error) {
	if refusal := checkNames(named{"queue", in.Queue}, named{"partition", in.Partition}); refusal != nil {
		return nil, refusal
	}
	if fault := keyFault(in.Key); fault != "" {
		return nil, badField("key", fault)
	}
	var rows []db.LatestRow
	args := db.GetLatestParams{Queue: in.Queue, Key: in.Key, Partition: in.Partition, TenantID: s.tenant(ctx)}
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.GetLatest(ctx, args)
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, "get the latest message of a key", err)
	}
	if len(rows) == 0 {
		return nil, newError(http.StatusNotFound, "", "The key has no message, or it was deleted")
	}
	row := &rows[0]
	payload := string(row.Payload)
	payload, encrypted := s.seals.reveal(&payload)
	if encrypted && strings.TrimSpace(payload) == "null" {
		return nil, newError(http.StatusNotFound, "", "The key has no message, or it was deleted")
	}
	return &rawReply{ContentType: "application/json", Body: renderLatest(in.Queue, row, payload)}, nil
}

// renderLatest builds the answer. The payload is copied into it as it is.
func renderLatest(queue string, row *db.LatestRow, payload string) []byte {
	out := appendText([]byte(`{"queue":`), queue)
	out = appendText(append(out, `,"partition":`...), row.Partition)
	out = append(appendUUID(append(out, `,"partitionId":"`...), row.PartitionID), '"')
	out = appendText(append(out, `,"key":`...), row.Key)
	out = strconv.AppendInt(append(out, `,"offset":`...), row.Offset, 10)
	out = append(appendUUID(append(out, `,"id":"`...), row.ID), '"')
	out = appendText(append(out, `,"transactionId":`...), row.TransactionID)
	out = appendData(append(out, `,"data":`...), payload)
	out = row.CreatedAt.UTC().AppendFormat(append(out, `,"createdAt":"`...), stamp)
	return append(out, `"}`...)
}
