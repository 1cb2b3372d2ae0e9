package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// deleteStep is how many dead letters one call deletes: each is a transaction of
// its own, so that a large queue holds no lock for long.
const deleteStep = 10_000

// maxListed is the longest page of a list.
const maxListed = 1000

type deadLettersInput struct {
	Queue  string `query:"queue" doc:"Only those of this queue." example:"orders"`
	Group  string `query:"consumerGroup" doc:"Only those of this group." example:"billing"`
	Limit  int32  `query:"limit" default:"100" minimum:"0" maximum:"2147483647" doc:"Length of the page, at most 1000."`
	Offset int32  `query:"offset" default:"0" minimum:"0" maximum:"2147483647" doc:"How many to pass over."`
}

type deleteDeadLettersInput struct {
	Queue string `query:"queue" doc:"Queue whose dead letters go. Required." example:"orders"`
	Group string `query:"consumerGroup" doc:"Only those of this group." example:"billing"`
}

type replayInput struct {
	ID      string `path:"id" doc:"Id of the dead letter." example:"0b9f6a52-7c41-4c1b-9a60-2f1d8f0c5e11"`
	RawBody []byte
}

// registerDeadLetters adds the routes about dead letters.
func (s *Server) registerDeadLetters(api huma.API) {
	huma.Register(api, s.letterOp(huma.Operation{
		OperationID: "list-dead-letters", Method: http.MethodGet, Path: "/api/v1/dlq",
		Summary:     "List dead letters, newest first",
		Description: "Messages that a group gave up, with the reason and the payload as it was pushed. They stay until they are replayed or deleted, or deadLetterRetentionSeconds of the queue ends.",
		Responses:   map[string]*huma.Response{"200": jsonReply[DeadLetterList](api, "A page of dead letters.", deadLettersExample())},
	}), s.listDeadLetters)
	huma.Register(api, s.letterOp(huma.Operation{
		OperationID: "delete-dead-letters", Method: http.MethodDelete, Path: "/api/v1/dlq",
		Summary:     "Delete the dead letters of a queue",
		Description: "Also 200 when there are none. In steps: when the call fails half way, call it again.",
		Responses:   map[string]*huma.Response{"200": jsonReply[DeleteDeadLettersResponse](api, "How many were deleted.", nil)},
	}), s.deleteDeadLetters)
	body := jsonBody[ReplayRequest](api, "Where to, when not where it came from.", map[string]any{"queue": "orders-repair"})
	huma.Register(api, s.letterOp(huma.Operation{
		OperationID: "replay-dead-letter", Method: http.MethodPost, Path: "/api/v1/dlq/{id}/replay",
		Summary:     "Move a dead letter back to its queue",
		Description: "Stores the message anew, with the transactionId dlq:<id>, at the end of its partition or of another one, and deletes the dead letter; both or neither. Every group sees the new message. When the partition has that transactionId already, nothing is stored and the dead letter stays. A plain payload is sealed on its way to an encrypted queue; a sealed one stays sealed wherever it goes.",
		RequestBody: body, SkipValidateBody: true,
		Responses: replayResponses[MissingDeadLetter](api),
	}), s.replayDeadLetter)
	body.Required = false // nothing means: where it came from
	documentReplayFailures(api, api.OpenAPI().Paths["/api/v1/dlq/{id}/replay"].Post)
}

// letterOp adds what the operations on dead letters and messages share.
func (s *Server) letterOp(op huma.Operation) huma.Operation {
	op.Tags = []string{"dead letters"}
	op.DefaultStatus = http.StatusOK
	op.Errors = append(op.Errors, http.StatusInternalServerError)
	return s.op(op)
}

func (s *Server) listDeadLetters(ctx context.Context, in *deadLettersInput) (*rawReply, error) {
	if refusal := checkNames(named{"queue", in.Queue}, named{"consumerGroup", in.Group}); refusal != nil {
		return nil, refusal
	}
	args := db.ListDeadLettersParams{Queue: given(in.Queue), ConsumerGroup: given(in.Group),
		MaxRows: min(in.Limit, maxListed), Skip: in.Offset, TenantID: s.tenant(ctx)}
	var rows []db.DeadLetterRow
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.ListDeadLetters(ctx, args)
		return err
	})
	if err != nil {
		return nil, s.fail(ctx, "list dead letters", err)
	}
	return &rawReply{ContentType: "application/json", Body: renderDeadLetters(s.seals, rows, args)}, nil
}

func (s *Server) deleteDeadLetters(ctx context.Context, in *deleteDeadLettersInput) (*rawReply, error) {
	if in.Queue == "" {
		return nil, badField("queue", "is required")
	}
	if refusal := checkNames(named{"queue", in.Queue}, named{"consumerGroup", in.Group}); refusal != nil {
		return nil, refusal
	}
	args := db.DeleteDeadLettersParams{Queue: in.Queue, ConsumerGroup: given(in.Group), MaxRows: deleteStep, TenantID: s.tenant(ctx)}
	total, step := 0, int32(deleteStep)
	for step == deleteStep {
		err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
			step, err = q.DeleteDeadLetters(ctx, args)
			return err
		})
		if err != nil {
			return nil, s.fail(ctx, "delete dead letters", err)
		}
		total += int(step)
	}
	out := appendText(append([]byte(`{"success":true,"deleted":`), strconv.Itoa(total)+`,"queue":`...), in.Queue)
	if in.Group != "" {
		out = appendText(append(out, `,"consumerGroup":`...), in.Group)
	}
	return &rawReply{ContentType: "application/json", Body: append(out, '}')}, nil
}

func (s *Server) replayDeadLetter(ctx context.Context, in *replayInput) (*statusReply, error) {
	args := db.ReplayDeadLetterParams{TenantID: s.tenant(ctx)}
	var refusal *Error
	if args.Queue, args.Partition, refusal = readReplay(in.RawBody); refusal != nil {
		return nil, refusal
	}
	var err error
	if args.ID, err = uuid.Parse(in.ID); err != nil || len(in.ID) != 36 {
		return missingLetter(in.ID), nil
	}
	rows, failed := s.replay(ctx, func(ctx context.Context, q querier) ([]db.ReplayRow, error) {
		row, err := q.ReplayDeadLetter(ctx, args)
		return []db.ReplayRow{row}, err
	})
	if failed == nil {
		rows, failed = s.replaySealed(ctx, rows, args)
	}
	switch {
	case failed != nil:
		return failed, nil
	case rows[0].Result == "gone":
		return missingLetter(in.ID), nil
	}
	return s.replayed(ctx, &rows[0]), nil
}

// replaySealed repeats a replay that was refused, with the payload sealed: the
// functions have no key. They judge it anew, and store it so only in a queue that
// is encrypted.
func (s *Server) replaySealed(ctx context.Context, refused []db.ReplayRow, args db.ReplayDeadLetterParams) ([]db.ReplayRow, *statusReply) {
	if refused[0].Result != "failed" {
		return refused, nil
	}
	args.ID = refused[0].DlqID
	return s.replay(ctx, func(ctx context.Context, q querier) ([]db.ReplayRow, error) {
		letters, err := q.GetDeadLetter(ctx, args.ID, args.TenantID)
		if err != nil || len(letters) == 0 || letters[0].Payload == nil || !json.Valid([]byte(*letters[0].Payload)) {
			return refused, err // it is lost or damaged, or went meanwhile
		}
		if s.seals.missing() != nil {
			refused[0].Code, refused[0].Error = &errNoKey.Code, &errNoKey.Text
			return refused, nil
		}
		sealed := s.seals.current.seal(*letters[0].Payload)
		args.SealedPayload = &sealed
		row, err := q.ReplayDeadLetter(ctx, args)
		return []db.ReplayRow{row}, err
	})
}

// replay makes one call that moves a dead letter. When it fails the answer says
// whether the dead letter can have gone: only when the commit got no answer.
func (s *Server) replay(ctx context.Context, fn func(context.Context, querier) ([]db.ReplayRow, error)) (rows []db.ReplayRow, failed *statusReply) {
	err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = fn(ctx, q)
		return err
	})
	if err == nil {
		return rows, nil
	}
	failure := s.fail(ctx, "replay a dead letter", err)
	kept := "false"
	if !undone(err) {
		failure.status, failure.Code, failure.Retryable, kept = http.StatusInternalServerError, codeOf(http.StatusInternalServerError), true, "null"
	}
	out := append([]byte(`{"success":false,"dlqRowRemoved":`), kept...)
	if dberr.From(err).Code == "QN503" {
		out = append(out, `,"result":"maintenance"`...)
	}
	return nil, &statusReply{Status: failure.status, ContentType: "application/json", RetryAfter: failure.GetHeaders().Get("Retry-After"),
		Body: append(appendFailure(out, failure), '}')}
}

// undone reports whether a failed call certainly changed nothing: it never got
// a connection, or the database itself said that it failed.
func undone(err error) bool {
	var pg *pgconn.PgError
	var connecting *pgconn.ConnectError
	return errors.Is(err, errNoConnection) || errors.As(err, &connecting) || pgconn.SafeToRetry(err) || errors.Is(err, pgx.ErrNoRows) ||
		errors.As(err, &pg) && pg.Code[:2] != "08" && pg.Code[:3] != "57P" || errors.Is(err, context.Canceled) || errors.As(err, new(*Error))
}

// replayed is the answer about a dead letter that is there, moved or kept.
func (s *Server) replayed(ctx context.Context, row *db.ReplayRow) *statusReply {
	if row.Result == "failed" {
		refused := newError(http.StatusInternalServerError, deref(row.Code), deref(row.Error))
		out := appendUUID([]byte(`{"success":false,"dlqRowRemoved":false,"result":"failed","dlqId":"`), row.DlqID)
		return &statusReply{Status: refused.status, ContentType: "application/json", Body: append(appendFailure(append(out, '"'), refused), '}')}
	}
	if row.Result == "moved" {
		s.room.pushed(s.tenant(ctx), row.Queue, row.Partition)
		s.teller.tell(s.tenant(ctx), row.Queue)
	}
	return &statusReply{Status: http.StatusOK, ContentType: "application/json", Body: renderReplay(row)}
}

// readReplay reads the destination from an optional body.
func readReplay(body []byte) (queue, partition *string, refusal *Error) {
	if len(body) == 0 {
		return nil, nil, nil
	}
	var in ReplayRequest
	if err := readJSON(body, &in); err != nil {
		return nil, nil, badRequest("bad body: " + reasonOf(err))
	}
	for _, f := range []struct {
		name  string
		value **string
	}{{"queue", &in.Queue}, {"partition", &in.Partition}} {
		if *f.value == nil {
			continue
		}
		if refusal = trimName(f.name, *f.value); refusal != nil {
			return nil, nil, refusal
		}
	}
	return in.Queue, in.Partition, nil
}
