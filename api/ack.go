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

// AckRequest is one acknowledgment, for the document.
type AckRequest struct {
	AckItem
	ConsumerGroup *string `json:"consumerGroup,omitempty" nullable:"true" maxLength:"255" doc:"Group that took the message." example:"billing"`
}

// AckBatchRequest is many acknowledgments of one group, for the document.
type AckBatchRequest struct {
	ConsumerGroup   *string   `json:"consumerGroup,omitempty" nullable:"true" maxLength:"255" doc:"Group that took the messages." example:"billing"`
	Acknowledgments []AckItem `json:"acknowledgments"`
}

// AckItem says what became of one message.
type AckItem struct {
	TransactionID string  `json:"transactionId,omitempty" maxLength:"65535" doc:"As delivered." example:"order-4711"`
	PartitionID   string  `json:"partitionId,omitempty" doc:"As delivered." example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	Status        *string `json:"status,omitempty" nullable:"true" doc:"completed (also success, acked, ok, or none), retry, dlq; anything else is failed." example:"completed"`
	LeaseID       *string `json:"leaseId,omitempty" nullable:"true" doc:"As delivered. Without it the lease is not checked."`
	Error         *string `json:"error,omitempty" nullable:"true" doc:"Reason, kept with a dead letter."`
}

// AckResult is the verdict on one acknowledgment.
type AckResult struct {
	Index         int     `json:"index"`
	TransactionID string  `json:"transactionId"`
	Success       bool    `json:"success" doc:"The instruction was carried out; of a processed failed, too."`
	Error         *string `json:"error" nullable:"true" doc:"null on success."`
	LeaseReleased bool    `json:"leaseReleased"`
	DLQ           bool    `json:"dlq" doc:"The message is a dead letter now."`
	Noop          bool    `json:"noop" doc:"It was completed before."`
	Conflated     *int64  `json:"conflated,omitempty" doc:"Messages before it that a group with conflation skipped, completed with it."`
}

type ackInput struct {
	RawBody []byte
}

func (s *Server) registerAck(api huma.API) {
	s.acks = newCourier(s, func(*batch[*ackGroup], *parcel[*ackGroup]) bool { return true })
	s.acks.send, s.acks.count = s.sendAck, s.countAcked
	item := map[string]any{"transactionId": "order-4711", "partitionId": "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11", "leaseId": "01890a5d-ac96-7000-8000-7d9f3b1e4a52", "status": "completed"}
	single := map[string]any{"consumerGroup": "billing"}
	for name, value := range item {
		single[name] = value
	}
	result := map[string]*huma.Response{"200": jsonReply[[]AckResult](api, "One element an acknowledgment, in request order.", []any{
		map[string]any{"index": 0, "transactionId": "order-4711", "success": true, "error": nil, "leaseReleased": true, "dlq": false, "noop": false}})}
	op := huma.Operation{Method: http.MethodPost, Tags: []string{"messages"}, SkipValidateBody: true,
		Description: "Each acknowledgment is judged on its own; the answer is 200 once the body is understood. An error status means that nothing was carried out. It may be repeated safely."}
	op.OperationID, op.Path, op.Summary = "ack", "/api/v1/ack", "Acknowledge one message"
	op.RequestBody, op.Responses = jsonBody[AckRequest](api, "The acknowledgment.", single), result
	huma.Register(api, s.op(op), s.ackOne)
	op.OperationID, op.Path, op.Summary = "ack-batch", "/api/v1/ack/batch", "Acknowledge messages of a group"
	op.RequestBody = jsonBody[AckBatchRequest](api, "The acknowledgments.", map[string]any{"consumerGroup": "billing", "acknowledgments": []any{item}})
	op.Responses = map[string]*huma.Response{"200": result["200"]}
	huma.Register(api, s.op(op), s.ackBatch)
}

func (s *Server) ackOne(ctx context.Context, in *ackInput) (*rawReply, error) {
	request, err := scanAck(in.RawBody)
	if err != nil {
		return nil, err
	}
	return s.ack(ctx, request)
}

func (s *Server) ackBatch(ctx context.Context, in *ackInput) (*rawReply, error) {
	request, err := scanAckBatch(in.RawBody)
	if err != nil {
		return nil, err
	}
	return s.ack(ctx, request)
}

func (s *Server) ack(ctx context.Context, request *ackRequest) (*rawReply, error) {
	tenant := s.tenant(ctx)
	s.countAck(tenant, request)
	parcels := request.parcels(tenant)
	if len(parcels) > 0 {
		s.acks.lanes.submit(parcels)
		if err := parcels[0].order.wait(ctx); err != nil {
			return nil, s.fail(ctx, "ack", err)
		}
	}
	if refusal := s.ackRefusal(ctx, parcels); refusal != nil {
		return nil, refusal
	}
	return &rawReply{ContentType: "application/json", Body: request.render()}, nil
}

// ackRefusal is the error of a call of which nothing was carried out and that
// can be repeated. Any other failure is told item by item.
func (s *Server) ackRefusal(ctx context.Context, parcels []*parcel[*ackGroup]) error {
	var first error
	for _, p := range parcels {
		switch {
		case p.err == nil, !dberr.Retryable(p.err) && !errors.Is(p.err, errBusy):
			return s.noteAckFaults(ctx, parcels)
		case first == nil:
			first = s.fail(ctx, "ack", p.err)
		}
	}
	return first
}

// noteAckFaults words the failures of groups for their items.
func (s *Server) noteAckFaults(ctx context.Context, parcels []*parcel[*ackGroup]) error {
	for _, p := range parcels {
		switch {
		case p.err == nil:
		case errors.Is(p.err, errNoConnection), errors.Is(p.err, errBusy):
			p.work.fault = "pool"
		default:
			_ = s.fail(ctx, "ack", p.err) // for the log
			p.work.fault = "ack flush failed; lease will expire and redeliver"
		}
	}
	return nil
}

// ackRequest is a scanned ack: items, and the groups that they form.
type ackRequest struct {
	group  string
	items  []ackItem
	groups []*ackGroup
	open   map[ackKey]*ackGroup
}

// ackKey is what the acks of one group have in common.
type ackKey struct {
	partition uuid.UUID
	lease     string
}

// ackItem is one acknowledgment.
type ackItem struct {
	id     string
	status string
	reason *string
	group  *ackGroup // nil when the partition is none
	slot   int
}

// ackGroup is what one request has for one (partition, lease).
type ackGroup struct {
	ackKey
	request *ackRequest
	items   []int32
	bytes   int
	rows    []db.AckRow // one an item
	fault   string      // why none was carried out
}

// scanAck reads the body of a single ack.
func scanAck(body []byte) (*ackRequest, error) {
	s := newScanner(body)
	r := &ackRequest{group: queueMode}
	var item ackFields
	var group optionalText
	err := s.document(func(name string) error {
		if name == "consumerGroup" {
			return group.scan(s, name, nameFault)
		}
		return item.scan(s, name)
	})
	if err != nil {
		return nil, err
	}
	r.setGroup(group)
	r.place(&item)
	return r, nil
}

// scanAckBatch reads the body of many acks. A group per item is not read.
func scanAckBatch(body []byte) (*ackRequest, error) {
	s := newScanner(body)
	r := &ackRequest{group: queueMode}
	var group optionalText
	seen := false
	err := s.document(func(name string) error {
		switch name {
		case "consumerGroup":
			return group.scan(s, name, nameFault)
		case "acknowledgments":
			if err := s.once(&seen, name); err != nil {
				return err
			}
			return s.array(name, func(int) error {
				var item ackFields
				err := s.object(func(name string) error { return item.scan(s, name) })
				if err == nil {
					r.place(&item)
				}
				return err
			})
		}
		return s.skip()
	})
	if err == nil && !seen {
		err = badField("acknowledgments", "is required")
	}
	if err != nil {
		return nil, err
	}
	r.setGroup(group)
	return r, nil
}

func (r *ackRequest) setGroup(group optionalText) {
	if group.text != "" {
		r.group = group.text
	}
}

// ackFields are the members of one acknowledgment.
type ackFields struct {
	id, partition, status, lease, reason optionalText
}

func (f *ackFields) scan(s *scanner, name string) error {
	switch name {
	case "transactionId":
		return f.id.scan(s, name, idFault)
	case "partitionId":
		return f.partition.scan(s, name, anyText)
	case "status":
		return f.status.scan(s, name, anyText)
	case "leaseId":
		return f.lease.scan(s, name, idFault)
	case "error":
		return f.reason.scan(s, name, anyText)
	}
	return s.skip()
}

// anyText accepts every string.
func anyText(string) string { return "" }

// place puts an acknowledgment into its group.
func (r *ackRequest) place(f *ackFields) {
	item := ackItem{id: f.id.text, status: ackStatus(f.status), reason: ackReason(f.reason)}
	if partition, err := uuid.Parse(f.partition.text); err == nil {
		key := ackKey{partition, f.lease.text}
		g := r.open[key]
		if g == nil {
			g = &ackGroup{ackKey: key, request: r}
			if r.open == nil {
				r.open = map[ackKey]*ackGroup{}
			}
			r.open[key] = g
			r.groups = append(r.groups, g)
		}
		item.group, item.slot = g, len(g.items)
		g.items = append(g.items, int32(len(r.items)))
		g.bytes += len(item.id) + len(f.reason.text) + itemOverhead
	}
	r.items = append(r.items, item)
}

// ackStatus maps the words of clients.
func ackStatus(status optionalText) string {
	if !status.present {
		return "completed"
	}
	switch status.text {
	case "completed", "success", "acked", "ok":
		return "completed"
	case "retry", "dlq":
		return status.text
	}
	return "failed"
}

// ackReason makes a reason fit for a text column: it must never stand in the way
// of a dead letter (F003).
func ackReason(reason optionalText) *string {
	if !reason.present {
		return nil
	}
	text := strings.ReplaceAll(reason.text, "\x00", `\u0000`)
	return &text
}

// parcels hands the groups over for coalescing.
func (r *ackRequest) parcels(tenant uuid.UUID) []*parcel[*ackGroup] {
	order := newOrder(len(r.groups))
	parcels := make([]*parcel[*ackGroup], len(r.groups))
	for i, g := range r.groups {
		parcels[i] = &parcel[*ackGroup]{
			key:   laneKey{tenant: tenant, partition: g.partition, name: r.group},
			items: len(g.items), bytes: g.bytes, work: g, order: order,
		}
	}
	return parcels
}

// sendAck makes one call of log_ack. Parcels of one lane stay groups of their
// own: each is judged as if it had come alone, in arrival order.
func (s *Server) sendAck(bundle []*batch[*ackGroup], wait bool) (map[*batch[*ackGroup]]resend, error) {
	args := s.ackArguments(bundle)
	args.SkipLocked = !wait
	var rows []db.AckRow
	began := time.Now()
	err := s.call(context.Background(), func(ctx context.Context, q querier) (err error) {
		rows, err = q.Ack(ctx, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.count.call(ackCall, began, len(args.TransactionIds))
	return s.readAck(bundle, rows, !wait), nil
}

func (s *Server) ackArguments(bundle []*batch[*ackGroup]) db.AckParams {
	args := db.AckParams{RequireLease: s.cfg.AckRequireLease, TenantID: bundle[0].key.tenant}
	for _, b := range bundle {
		for _, p := range b.parcels {
			g := p.work
			args.PartitionIds = append(args.PartitionIds, g.partition)
			args.ConsumerGroups = append(args.ConsumerGroups, g.request.group)
			args.LeaseIds = append(args.LeaseIds, &g.lease)
			args.Counts = append(args.Counts, int32(len(g.items)))
			for _, at := range g.items {
				item := &g.request.items[at]
				args.TransactionIds = append(args.TransactionIds, item.id)
				args.Statuses = append(args.Statuses, item.status)
				args.Errors = append(args.Errors, item.reason)
			}
		}
	}
	return args
}

// readAck spreads the verdicts over the groups, and wakes whom a released lease
// lets in. An item without a verdict has failed, but where held cursors were left
// alone: those are named, to be sent again.
func (s *Server) readAck(bundle []*batch[*ackGroup], rows []db.AckRow, skipped bool) map[*batch[*ackGroup]]resend {
	total := 0
	for _, b := range bundle {
		total += b.items
	}
	missing := "no verdict"
	verdicts := make([]db.AckRow, total)
	for i := range verdicts {
		verdicts[i].Error = &missing
	}
	for _, row := range rows {
		if row.Item >= 0 && int(row.Item) < total {
			verdicts[row.Item] = row
		}
	}
	again := map[*batch[*ackGroup]]resend{}
	for _, b := range bundle {
		released := false
		for _, p := range b.parcels {
			p.work.rows, verdicts = verdicts[:p.items], verdicts[p.items:]
			for i := range p.work.rows {
				released = released || p.work.rows[i].LeaseReleased
				if skipped && p.work.rows[i].Error == &missing {
					again[b] = resendWaiting
				}
			}
		}
		if queue, known := s.owners.of(b.key.partition); known && released {
			s.room.warm(queue, b.key.name, b.key.partition)
			s.room.released(queue, b.key.name)
		}
	}
	return again
}

// render writes the answer.
func (r *ackRequest) render() []byte {
	out := append(make([]byte, 0, 2+len(r.items)*180), '[')
	for i := range r.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = r.items[i].render(out, i)
	}
	return append(out, ']')
}

func (item *ackItem) render(out []byte, index int) []byte {
	row := item.verdict()
	out = append(out, `{"index":`...)
	out = strconv.AppendInt(out, int64(index), 10)
	out = append(out, `,"transactionId":`...)
	out = appendText(out, item.id)
	out = append(out, `,"success":`...)
	out = strconv.AppendBool(out, row.Success)
	out = append(out, `,"error":`...)
	out = appendOptional(out, row.Error)
	out = append(out, `,"leaseReleased":`...)
	out = strconv.AppendBool(out, row.LeaseReleased)
	out = append(out, `,"dlq":`...)
	out = strconv.AppendBool(out, row.Dlq)
	out = append(out, `,"noop":`...)
	out = strconv.AppendBool(out, row.Noop)
	if row.Conflated != nil {
		out = strconv.AppendInt(append(out, `,"conflated":`...), *row.Conflated, 10)
	}
	return append(out, '}')
}

// verdict is the database's, or why there is none.
func (item *ackItem) verdict() db.AckRow {
	fault := "partitionId is not a UUID"
	if item.group != nil {
		if item.group.fault == "" {
			return item.group.rows[item.slot]
		}
		fault = item.group.fault
	}
	return db.AckRow{Error: &fault}
}
