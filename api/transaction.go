package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
)

// TransactionRequest is the body of a transaction, for the document.
type TransactionRequest struct {
	Operations     []TransactionOperation `json:"operations" minItems:"1" doc:"Pushes and acknowledgments, of any queues, partitions and groups."`
	RequiredLeases []string               `json:"requiredLeases,omitempty" nullable:"true" doc:"Leases that the acknowledgments were delivered under."`
}

// TransactionOperation is a push of items, a push of one message that is the
// operation itself, or an acknowledgment.
type TransactionOperation struct {
	Type  string            `json:"type" enum:"push,ack" example:"push"`
	Items []TransactionItem `json:"items,omitempty" nullable:"true" doc:"push: the messages. Without it the operation is the one message."`
	TransactionItem
	PartitionID   string  `json:"partitionId,omitempty" doc:"ack: as delivered." example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	Status        *string `json:"status,omitempty" nullable:"true" doc:"ack: completed (also success, acked, ok, or none), retry, dlq; anything else is failed." example:"completed"`
	ConsumerGroup *string `json:"consumerGroup,omitempty" nullable:"true" maxLength:"255" doc:"ack: group that took the message." example:"billing"`
	LeaseID       *string `json:"leaseId,omitempty" nullable:"true" doc:"ack: as delivered. Without it the partition's present lease of the group, if the call names any lease."`
	Error         *string `json:"error,omitempty" nullable:"true" doc:"ack: reason, kept with a dead letter."`
}

// TransactionItem is one message to store.
type TransactionItem struct {
	Queue         string  `json:"queue,omitempty" maxLength:"255" doc:"Created with defaults on first use." example:"orders"`
	Partition     *string `json:"partition,omitempty" nullable:"true" maxLength:"255" doc:"Default without one." example:"customer-17"`
	Payload       any     `json:"payload,omitempty" doc:"Any JSON value, null included. Without it data, without both an empty object."`
	Data          any     `json:"data,omitempty" doc:"The payload, when there is no payload."`
	TransactionID *string `json:"transactionId,omitempty" nullable:"true" maxLength:"65535" doc:"push: the deduplication key; without one, or empty, the message's id. ack: as delivered." example:"order-4711"`
	TraceID       any     `json:"traceId,omitempty" doc:"A UUID that is delivered with the message; anything else is dropped."`
	Key           *string `json:"key,omitempty" nullable:"true" maxLength:"1024" doc:"Key of the message, for queues that keep the latest of each key."`
}

// TransactionResponse says that everything happened, or nothing.
type TransactionResponse struct {
	TransactionID string              `json:"transactionId" format:"uuid" doc:"Of this call."`
	Success       bool                `json:"success" doc:"false: nothing happened."`
	Reason        string              `json:"reason,omitempty" enum:"duplicate,ack_rejected,payload_too_large,db_error" doc:"Why nothing happened."`
	Error         string              `json:"error,omitempty" doc:"The same for people. Begins with QDUP when a pushed transactionId is there already, with QTXN when an acknowledgment cannot be carried out."`
	Results       []TransactionResult `json:"results" doc:"One element a message and an acknowledgment, in request order; none when nothing happened."`
}

// TransactionResult tells what became of one message or acknowledgment.
type TransactionResult struct {
	Index         int     `json:"index"`
	Type          string  `json:"type" enum:"push,ack"`
	Success       bool    `json:"success" doc:"false only of an ack other than completed, of a message that was completed before: it changed nothing."`
	TransactionID string  `json:"transactionId"`
	MessageID     string  `json:"messageId,omitempty" format:"uuid" doc:"push: id of the message."`
	QueueName     *string `json:"queueName,omitempty" doc:"push: its queue."`
	Duplicate     bool    `json:"duplicate,omitempty" doc:"push: it repeats an earlier message of this call, whose id it has."`
	Error         *string `json:"error,omitempty" nullable:"true" doc:"ack: always null."`
	DLQ           *bool   `json:"dlq,omitempty" doc:"ack: the message is a dead letter now."`
}

type transactionInput struct {
	RawBody []byte
}

func (s *Server) registerTransaction(api huma.API) {
	partition, lease := "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11", "01890a5d-ac96-7000-8000-7d9f3b1e4a52"
	huma.Register(api, s.op(huma.Operation{
		OperationID: "transaction", Method: http.MethodPost, Path: "/api/v1/transaction", Tags: []string{"messages"},
		Summary: "Store and acknowledge messages, all or nothing",
		Description: "One database transaction over any queues, partitions and groups. A call that was rolled back is a 200 with success false. " +
			"An error status means that nothing happened; only when the database was lost during the commit is that not known. " +
			"With a transactionId on every message the call may be repeated safely: if it had happened, the answer is duplicate.",
		SkipValidateBody: true,
		RequestBody: jsonBody[TransactionRequest](api, "The operations.", map[string]any{
			"operations": []any{
				map[string]any{"type": "push", "items": []any{map[string]any{"queue": "invoices", "transactionId": "invoice-of-4711", "payload": map[string]any{"total": 12.5}}}},
				map[string]any{"type": "ack", "transactionId": "order-4711", "partitionId": partition, "consumerGroup": "billing", "leaseId": lease},
			}}),
		Responses: map[string]*huma.Response{"200": jsonReply[TransactionResponse](api, "What happened, or why nothing did.", map[string]any{
			"transactionId": "01890a5d-ac97-7000-8000-1b2c3d4e5f60", "success": true, "results": []any{
				map[string]any{"index": 0, "type": "push", "success": true, "transactionId": "invoice-of-4711", "messageId": "01890a5d-ac96-7000-8000-0000002dd000", "queueName": "invoices"},
				map[string]any{"index": 1, "type": "ack", "success": true, "transactionId": "order-4711", "error": nil, "dlq": false},
			}})},
	}), s.transaction)
}

func (s *Server) transaction(ctx context.Context, in *transactionInput) (*rawReply, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, s.fail(ctx, "transaction", err)
	}
	t, err := scanTransaction(in.RawBody)
	if err != nil {
		return nil, notDone(id, s.fail(ctx, "transaction", err))
	}
	t.tenant, t.producer = s.tenant(ctx), producer(ctx)
	rows, err := s.transact(ctx, t)
	if err == nil {
		err = t.spread(rows)
	}
	if err != nil {
		return s.rolledBack(ctx, id, t, err)
	}
	s.wakeTransaction(t)
	s.countTransaction(t)
	return &rawReply{ContentType: "application/json", Body: t.render(id)}, nil
}

// lockPatience is how long a transaction waits for locks before it counts as held up
// by somebody: a running call of another server is over by then.
const lockPatience = 50 * time.Millisecond

// errHeld says that somebody kept a lock for longer than lockPatience.
var errHeld = errors.New("a lock was not free in time")

// transact makes the call, and once more for every queue of which it did not know
// yet whether it is encrypted.
func (s *Server) transact(ctx context.Context, t *transaction) (rows []db.TransactionRow, err error) {
	for range 1 + len(t.lanes) {
		args, err := t.arguments(s.seals)
		if err != nil {
			return nil, err
		}
		args.RequireLease = s.cfg.AckRequireLease
		rows, err = s.transactPatiently(ctx, args)
		list, lane := element(dberr.From(err))
		if list != "p_sealed" || lane >= len(t.lanes) {
			return rows, err
		}
		s.seals.learn(queueKey{t.tenant, t.lanes[lane].queue}, args.Sealed[lane])
		if err := s.seals.missing(); err != nil && !args.Sealed[lane] {
			return nil, err
		}
	}
	return nil, errBusy // encryption is switched to and fro
}

// element is the element of an argument at fault, as the functions name it:
// name[k]; "" when there is none.
func element(e *dberr.Error) (list string, k int) {
	if e == nil {
		return "", 0
	}
	list, at, _ := strings.Cut(strings.TrimSuffix(e.Field, "]"), "[")
	k, err := strconv.Atoi(at)
	if err != nil || k < 0 {
		return "", 0
	}
	return list, k
}

// transactPatiently makes the call. One that somebody holds up goes on waiting
// apart, on the quarter of the pool that may, so that it holds up only its like.
func (s *Server) transactPatiently(ctx context.Context, args db.TransactionParams) ([]db.TransactionRow, error) {
	args.LockTimeoutMs = int32(lockPatience.Milliseconds())
	rows, err := s.transactOnce(ctx, args)
	if !errors.Is(err, errHeld) {
		return rows, err
	}
	if !s.pushes.alone.take(s.cfg.AcquireTimeout) {
		return nil, errBusy
	}
	defer s.pushes.alone.give()
	args.LockTimeoutMs = 0
	return s.transactOnce(ctx, args)
}

func (s *Server) transactOnce(ctx context.Context, args db.TransactionParams) (rows []db.TransactionRow, err error) {
	err = s.call(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.Transaction(ctx, args)
		if err != nil && args.LockTimeoutMs > 0 && dberr.From(err).Code == "55P03" {
			return errHeld // not to be repeated at once
		}
		return err
	})
	return rows, err
}

// transactionError is an error of a transaction: nothing happened. It has the
// members of a rolled-back one, too.
type transactionError struct {
	fault
	TransactionID string   `json:"transactionId"`
	Success       bool     `json:"success"`
	Reason        string   `json:"reason"`
	Results       []string `json:"results"`
}

// fault is Error under a name that does not hide its method.
type fault = Error

func notDone(id uuid.UUID, e *Error) *transactionError {
	reason := "db_error"
	switch e.status {
	case http.StatusBadRequest:
		reason = "bad_request"
	case http.StatusRequestEntityTooLarge:
		reason = "payload_too_large"
	}
	return &transactionError{fault: *e, TransactionID: id.String(), Reason: reason, Results: []string{}}
}

// rolledBack answers a transaction that failed. What the database refused, and
// would refuse again, is a 200 (3.5).
func (s *Server) rolledBack(ctx context.Context, id uuid.UUID, t *transaction, err error) (*rawReply, error) {
	seen, e := dberr.From(err), notDone(id, s.fail(ctx, "transaction", err))
	list, k := element(seen)
	items := t.pushes
	switch {
	case !undone(err) || e.Retryable || e.status == http.StatusBadRequest:
		return nil, e
	case errors.Is(seen, dberr.ErrDuplicate):
		e.Reason = "duplicate"
	case list == "p_ack_transaction_ids":
		e.Reason, items = "ack_rejected", t.acks
	}
	if list != "" && k < len(items) {
		e.Text += " (" + t.results[items[k]].where + ")"
	}
	out := appendText([]byte(`{"transactionId":"`+id.String()+`","success":false,"reason":"`+e.Reason+`","error":`), e.Text)
	return &rawReply{ContentType: "application/json", Body: append(out, `,"results":[]}`...)}, nil
}

// wakeTransaction wakes the pops that wait for what was stored, or for a lease
// that was released.
func (s *Server) wakeTransaction(t *transaction) {
	for _, l := range t.lanes {
		s.room.pushed(t.tenant, l.queue, l.partition)
		s.teller.tell(t.tenant, l.queue)
	}
	for i := range t.results {
		r := &t.results[i]
		if r.ack == nil || !r.row.LeaseReleased {
			continue
		}
		if queue, known := s.owners.of(r.ack.partition); known {
			s.room.released(queue, r.ack.name)
		}
	}
}

// spread notes what the database did with each item. One without an answer is an
// error: silence is no success.
func (t *transaction) spread(rows []db.TransactionRow) error {
	answered := 0
	for i := range rows {
		row, items := rows[i], t.pushes
		if row.Kind == "ack" {
			items = t.acks
		}
		if row.Item < 0 || int(row.Item) >= len(items) || row.Kind == "push" && row.MessageID == nil {
			return errVerdicts
		}
		result := &t.results[items[row.Item]]
		if result.row.Kind == "" {
			answered++
		}
		result.row = row
	}
	if answered != len(t.results) {
		return errVerdicts
	}
	return nil
}

// render writes the answer of a transaction that happened.
func (t *transaction) render(id uuid.UUID) []byte {
	out := make([]byte, 0, 128+len(t.results)*200)
	out = append(out, `{"transactionId":"`+id.String()+`","success":true,"results":[`...)
	for i := range t.results {
		if i > 0 {
			out = append(out, ',')
		}
		out = t.results[i].render(out, i)
	}
	return append(out, `]}`...)
}

func (r *transactionResult) render(out []byte, index int) []byte {
	out = strconv.AppendInt(append(out, `{"index":`...), int64(index), 10)
	out = append(out, `,"type":"`+r.row.Kind+`","success":`...)
	out = strconv.AppendBool(out, r.row.Success)
	out = append(out, `,"transactionId":`...)
	if r.ack != nil {
		out = append(appendText(out, r.id), `,"error":null,"dlq":`...)
		return append(strconv.AppendBool(out, r.row.Dlq), '}')
	}
	if r.id != "" {
		out = appendText(out, r.id)
	} else {
		out = append(appendUUID(append(out, '"'), *r.row.MessageID), '"')
	}
	out = append(appendUUID(append(out, `,"messageId":"`...), *r.row.MessageID), '"')
	out = appendText(append(out, `,"queueName":`...), r.lane.queue)
	if r.row.Duplicate {
		out = append(out, `,"duplicate":true`...)
	}
	return append(out, '}')
}
