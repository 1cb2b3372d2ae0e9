package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// TraceRequest is what a consumer notes about a message, for the document.
type TraceRequest struct {
	TransactionID string          `json:"transactionId" doc:"Of the message. Whether there is one is not checked." example:"order-4711"`
	PartitionID   string          `json:"partitionId" format:"uuid" doc:"Of the message."`
	Data          json.RawMessage `json:"data" doc:"Anything but null."`
	ConsumerGroup *string         `json:"consumerGroup,omitempty" nullable:"true" maxLength:"255" doc:"Default __QUEUE_MODE__." example:"billing"`
	EventType     *string         `json:"eventType,omitempty" nullable:"true" maxLength:"255" doc:"Default info." example:"step"`
	TraceNames    json.RawMessage `json:"traceNames,omitempty" doc:"A name or several that tie traces of many messages together; anything else is ignored."`
}

// TraceResponse names the trace that was stored.
type TraceResponse struct {
	Success bool   `json:"success"`
	TraceID string `json:"traceId" format:"uuid"`
}

// TraceList is what was noted about one message, oldest first.
type TraceList struct {
	Traces []Trace `json:"traces"`
}

// Trace is one note.
type Trace struct {
	ID            string          `json:"id" format:"uuid"`
	EventType     string          `json:"event_type" example:"info"`
	Data          json.RawMessage `json:"data"`
	ConsumerGroup string          `json:"consumer_group" example:"billing"`
	WorkerID      string          `json:"worker_id"`
	CreatedAt     time.Time       `json:"created_at"`
	TraceNames    []string        `json:"trace_names"`
}

// NamedTraceList is a page of the traces under one name, oldest first.
type NamedTraceList struct {
	Traces     []NamedTrace `json:"traces"`
	Total      int64        `json:"total" doc:"Traces under the name." example:"3"`
	Pagination Pagination   `json:"pagination"`
}

// NamedTrace is a note with the message that it is about.
type NamedTrace struct {
	Trace
	TransactionID  string  `json:"transaction_id" example:"order-4711"`
	PartitionID    string  `json:"partition_id" format:"uuid"`
	QueueName      *string `json:"queue_name" nullable:"true" doc:"As it was when the trace was stored; null when there was no such partition."`
	PartitionName  *string `json:"partition_name" nullable:"true"`
	MessagePayload *string `json:"message_payload" nullable:"true" doc:"Always null."`
}

// TraceNameList is a page of the names, the one used last first.
type TraceNameList struct {
	TraceNames []TraceName `json:"trace_names"`
	Total      int64       `json:"total" doc:"Names there are." example:"1"`
	Pagination Pagination  `json:"pagination"`
}

// TraceName is a name that ties traces together.
type TraceName struct {
	TraceName    string    `json:"trace_name" example:"order 4711"`
	TraceCount   int64     `json:"trace_count" example:"3"`
	MessageCount int64     `json:"message_count" example:"2"`
	LastSeen     time.Time `json:"last_seen"`
}

type traceInput struct {
	RawBody []byte
}

type namedTracesInput struct {
	TraceName string `path:"traceName" doc:"Percent-encoded." example:"order 4711"`
	Limit     int32  `query:"limit" default:"100" minimum:"0" maximum:"2147483647" doc:"Length of the page, at most 1000."`
	Offset    int32  `query:"offset" default:"0" minimum:"0" maximum:"2147483647" doc:"How many to pass over."`
}

type traceNamesInput struct {
	Limit  int32 `query:"limit" default:"50" minimum:"0" maximum:"2147483647" doc:"Length of the page, at most 1000."`
	Offset int32 `query:"offset" default:"0" minimum:"0" maximum:"2147483647" doc:"How many to pass over."`
}

// registerTraces adds the routes about traces.
func (s *Server) registerTraces(api huma.API) {
	record := s.messageOp(huma.Operation{
		OperationID: "record-trace", Method: http.MethodPost, Path: "/api/v1/traces",
		Summary:     "Note something about a message",
		Description: "Traces outlive their message, its partition and its queue; nothing purges them.",
		RequestBody: jsonBody[TraceRequest](api, "The note.", map[string]any{"transactionId": "order-4711", "partitionId": "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11", "data": map[string]any{"text": "charged"}, "traceNames": []string{"order 4711"}}),
		Responses: map[string]*huma.Response{
			"201": jsonReply[TraceResponse](api, "It is stored.", TraceResponse{Success: true, TraceID: "01890a5d-ac97-7000-8000-1b2c3d4e5f60"}),
			"404": jsonReply[TraceRefusal](api, "The partition is somebody else's.", nil)},
		SkipValidateBody: true,
	})
	record.DefaultStatus = http.StatusCreated
	huma.Register(api, record, s.recordTrace)
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "list-traces", Method: http.MethodGet, Path: "/api/v1/traces/{partitionId}/{transactionId}",
		Summary:     "What was noted about a message, oldest first",
		Description: "A message without traces, or that never was, is an empty list: traces outlive their message.",
		Responses:   map[string]*huma.Response{"200": jsonReply[TraceList](api, "The first 1000 traces; none is an empty list.", nil)},
	}), s.listTraces)
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "list-traces-by-name", Method: http.MethodGet, Path: "/api/v1/traces/by-name/{traceName}",
		Summary:     "Traces of any message under one name, oldest first",
		Description: "Follows one piece of work over queues: every trace that was recorded with the name in traceNames.",
		Responses:   map[string]*huma.Response{"200": jsonReply[NamedTraceList](api, "A page of traces.", nil)},
	}), s.listTracesByName)
	huma.Register(api, s.messageOp(huma.Operation{
		OperationID: "list-trace-names", Method: http.MethodGet, Path: "/api/v1/traces/names",
		Summary:     "The names that traces go by",
		Description: "Every name that was given in traceNames, with how many traces and messages it ties together; the one used last first.",
		Responses:   map[string]*huma.Response{"200": jsonReply[TraceNameList](api, "A page of names.", nil)},
	}), s.listTraceNames)
}

// TraceRefusal is the 404 of a trace.
type TraceRefusal struct {
	Error
	Success bool `json:"success"`
}

func (s *Server) recordTrace(ctx context.Context, in *traceInput) (*statusReply, error) {
	args, refusal := readTrace(in.RawBody)
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	var id uuid.UUID
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		id, err = q.RecordTrace(ctx, args)
		return err
	})
	switch {
	case err != nil && errors.Is(dberr.From(err), dberr.ErrNotFound):
		return &statusReply{Status: http.StatusNotFound, ContentType: "application/json",
			Body: []byte(`{"success":false,"error":"Message not found","code":"QN404","retryable":false}`)}, nil
	case err != nil:
		failure := s.fail(ctx, "trace", err)
		if failure.status == http.StatusInternalServerError {
			failure.Text = "trace failed: " + failure.Text
		}
		return nil, failure
	}
	body := appendUUID([]byte(`{"success":true,"traceId":"`), id)
	return &statusReply{Status: http.StatusCreated, ContentType: "application/json", Body: append(body, `"}`...)}, nil
}

// readTrace judges the body of a trace.
func readTrace(body []byte) (args db.RecordTraceParams, refusal *Error) {
	var in struct {
		TransactionID *string        `json:"transactionId"`
		PartitionID   *string        `json:"partitionId"`
		Data          jsontext.Value `json:"data"`
		ConsumerGroup *string        `json:"consumerGroup"`
		EventType     *string        `json:"eventType"`
		TraceNames    jsontext.Value `json:"traceNames"`
	}
	if err := readJSON(body, &in); err != nil {
		return args, badRequest("bad body: " + reasonOf(err))
	}
	switch {
	case deref(in.TransactionID) == "" || deref(in.PartitionID) == "":
		return args, badRequest("transactionId and partitionId are required")
	case len(in.Data) == 0 || in.Data.Kind() == 'n':
		return args, badField("data", "is required")
	}
	if fault := idFault(*in.TransactionID); fault != "" {
		return args, badField("transactionId", fault)
	}
	args = db.RecordTraceParams{TransactionID: *in.TransactionID, Data: string(in.Data), ConsumerGroup: in.ConsumerGroup, EventType: in.EventType, TraceNames: traceNames(in.TraceNames)}
	names := []named{{"consumerGroup", deref(in.ConsumerGroup)}, {"eventType", deref(in.EventType)}}
	for _, name := range args.TraceNames {
		names = append(names, named{"traceNames", name})
	}
	if refusal = checkNames(names...); refusal != nil {
		return args, refusal
	}
	var err error
	if args.PartitionID, err = uuid.Parse(*in.PartitionID); err != nil {
		return args, newError(http.StatusInternalServerError, "", "trace failed: partitionId is not a UUID")
	}
	return args, nil
}

// traceNames are the names in an array or a single string; all else is no name.
func traceNames(raw jsontext.Value) []string {
	names := []string{}
	var all []jsontext.Value
	if raw.Kind() == '"' {
		all = []jsontext.Value{raw}
	} else if raw.Kind() == '[' {
		_ = jsonv2.Unmarshal(raw, &all) // it was read as part of the body already
	}
	for _, v := range all {
		if v.Kind() == '"' && text(v) != "" {
			names = append(names, text(v))
		}
	}
	return names
}

func (s *Server) listTraces(ctx context.Context, in *messageInput) (*documentReply, error) {
	partition, ok := in.address()
	if !ok {
		return &documentReply{ContentType: "application/json", Body: []byte(`{"traces":[]}`)}, nil
	}
	args := db.ListTracesParams{PartitionID: partition, TransactionID: in.TransactionID, TenantID: s.tenant(ctx)}
	return s.document(ctx, "trace", func(ctx context.Context, q querier) ([]byte, error) { return q.ListTraces(ctx, args) })
}

func (s *Server) listTracesByName(ctx context.Context, in *namedTracesInput) (*documentReply, error) {
	if refusal := checkName("traceName", in.TraceName); refusal != nil {
		return nil, refusal
	}
	args := db.ListTracesByNameParams{TraceName: in.TraceName, MaxRows: in.Limit, Skip: in.Offset, TenantID: s.tenant(ctx)}
	return s.document(ctx, "trace", func(ctx context.Context, q querier) ([]byte, error) { return q.ListTracesByName(ctx, args) })
}

func (s *Server) listTraceNames(ctx context.Context, in *traceNamesInput) (*documentReply, error) {
	args := db.ListTraceNamesParams{MaxRows: in.Limit, Skip: in.Offset, TenantID: s.tenant(ctx)}
	return s.document(ctx, "trace", func(ctx context.Context, q querier) ([]byte, error) { return q.ListTraceNames(ctx, args) })
}
