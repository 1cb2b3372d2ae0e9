package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

// queueMode is the group of a pop that names none.
const queueMode = "__QUEUE_MODE__"

// maxBatch bounds the messages of one answer.
const maxBatch = 10_000

// PopResponse is a pop that found something.
type PopResponse struct {
	Success           bool            `json:"success"`
	Queue             string          `json:"queue"`
	Partition         string          `json:"partition" doc:"Of the first message."`
	PartitionID       string          `json:"partitionId" doc:"Of the first message."`
	LeaseID           string          `json:"leaseId" doc:"Empty with autoAck. One lease covers every partition of the answer."`
	ConsumerGroup     string          `json:"consumerGroup"`
	Messages          []PoppedMessage `json:"messages" doc:"In offset order inside each partition."`
	PartitionsClaimed int             `json:"partitionsClaimed"`
	Conflation        bool            `json:"conflation,omitempty" doc:"The group conflates: it gets the last message of a partition only. Told even when there is none."`
	Conflict          bool            `json:"conflationConflict,omitempty" doc:"The pop asked for another policy than the one that the group's first pop stored."`
}

// PoppedMessage is one delivered message.
type PoppedMessage struct {
	ID              string    `json:"id" format:"uuid" doc:"Ids rise with the order inside a partition."`
	TransactionID   string    `json:"transactionId" doc:"What to acknowledge by."`
	TraceID         *string   `json:"traceId" nullable:"true"`
	Data            any       `json:"data" doc:"The payload, byte for byte as pushed."`
	ProducerSub     *string   `json:"producerSub" nullable:"true"`
	Key             string    `json:"key,omitempty" doc:"The key that it was pushed with; absent without one."`
	CreatedAt       time.Time `json:"createdAt" doc:"Microseconds, UTC. Messages stored together share it."`
	PartitionID     string    `json:"partitionId" format:"uuid"`
	Partition       string    `json:"partition"`
	LeaseID         string    `json:"leaseId"`
	ConsumerGroup   string    `json:"consumerGroup"`
	DeliveryAttempt int       `json:"deliveryAttempt" minimum:"1" doc:"Counts claims of a batch that starts at the same message."`
}

// queryText is the query string as it came; popQuery reads it.
type queryText struct {
	raw string
}

// Resolve is called by the framework with the request.
func (q *queryText) Resolve(ctx huma.Context) []error {
	at := ctx.URL()
	q.raw = at.RawQuery
	return nil
}

type popInput struct {
	Queue string `path:"queue" maxLength:"255" doc:"Name of the queue." example:"orders"`
	queryText
}

type pinnedPopInput struct {
	Queue     string `path:"queue" maxLength:"255" doc:"Name of the queue." example:"orders"`
	Partition string `path:"partition" maxLength:"255" doc:"Name of the partition." example:"customer-17"`
	queryText
}

type discoveryInput struct {
	queryText
}

// popReply writes its answer itself: it has to know whether that worked.
type popReply struct {
	Body func(huma.Context)
}

func (s *Server) registerPop(api huma.API) {
	s.pops = s.popper()
	op := func(id, path, summary string, labels bool) huma.Operation {
		return s.op(huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"messages"}, Summary: summary,
			Description: "Claims messages for a consumer group under a lease: acknowledge them, or they come again when the lease ends. " +
				"Nothing to deliver is a bare 204; with wait=true that comes after the timeout.",
			Parameters: popParameters(labels),
			Responses: map[string]*huma.Response{
				"200": jsonReply[PopResponse](api, "Messages; none, when there is only a word about conflation.", popExample()),
				"204": {Description: "Nothing to deliver."},
			},
		})
	}
	huma.Register(api, op("pop-queue", "/api/v1/pop/queue/{queue}", "Take messages of a queue", false), s.popQueue)
	huma.Register(api, op("pop-partition", "/api/v1/pop/queue/{queue}/partition/{partition}", "Take messages of one partition", false), s.popPartition)
	huma.Register(api, op("pop-discovery", "/api/v1/pop", "Take messages of every queue with a namespace, a task or both", true), s.popDiscovery)
}

// popDiscovery claims over all queues with the given labels.
func (s *Server) popDiscovery(ctx context.Context, in *discoveryInput) (*popReply, error) {
	request, err := s.popRequest(in.raw)
	if err != nil {
		return nil, err
	}
	if request.labels == (labels{}) {
		return nil, &noLabels{failure: badField("namespace", "or task is required"), Messages: []PoppedMessage{}}
	}
	request.args.Queue, request.args.TenantID = discoveryQueue, s.tenant(ctx)
	return s.popWith(ctx, request)
}

// failure is an Error that carries more keys than usual.
type failure = Error

// noLabels refuses a pop that names neither a namespace nor a task.
type noLabels struct {
	*failure
	Success  bool            `json:"success"`
	Messages []PoppedMessage `json:"messages"`
}

func (s *Server) popPartition(ctx context.Context, in *pinnedPopInput) (*popReply, error) {
	if fault := nameFault(in.Partition); fault != "" {
		return nil, badField("partition", fault)
	}
	return s.popFrom(ctx, in.Queue, &in.Partition, in.raw)
}

func (s *Server) popQueue(ctx context.Context, in *popInput) (*popReply, error) {
	return s.popFrom(ctx, in.Queue, nil, in.raw)
}

func (s *Server) popFrom(ctx context.Context, queue string, partition *string, raw string) (*popReply, error) {
	if fault := nameFault(queue); fault != "" {
		return nil, badField("queue", fault)
	}
	request, err := s.popRequest(raw)
	if err != nil {
		return nil, err
	}
	request.labels = labels{} // read by discovery only
	request.args.Queue, request.args.Partition, request.args.TenantID = queue, partition, s.tenant(ctx)
	return s.popWith(ctx, request)
}

func (s *Server) popWith(ctx context.Context, request *popRequest) (*popReply, error) {
	s.count.add(popRequests, 1)
	rows, err := s.pop(ctx, request)
	if err != nil {
		return nil, s.fail(ctx, "pop", err)
	}
	s.countPop(request, rows)
	return &popReply{Body: func(c huma.Context) { s.deliver(c, request, rows) }}, nil
}

// popRequest is a pop that was understood.
type popRequest struct {
	args    db.PopParams
	labels  labels
	group   string
	wait    bool
	timeout time.Duration
	began   time.Time // of the wait
	met     bool      // a claim found nothing: later ones repeat it
	// What the last claim said about conflation, and about fuller batches.
	conflation, conflict, held bool
}

// labels are what discovery finds queues by; an empty one is any.
type labels struct{ namespace, task string }

// discoveryQueue stands for all queues of a tenant; no queue has such a name.
const discoveryQueue = "\x00"

func (s *Server) popRequest(raw string) (*popRequest, error) {
	query, err := readPopQuery(raw)
	if err != nil {
		return nil, err
	}
	group := query.text("consumerGroup", queueMode)
	if group == "" {
		group = queueMode
	}
	if fault := nameFault(group); fault != "" {
		return nil, badField("consumerGroup", fault)
	}
	if query.flag("conflation") && (group == queueMode || query.flag("autoAck")) {
		return nil, badField("conflation", "needs a consumerGroup, and no autoAck")
	}
	r := &popRequest{labels: labels{query.text("namespace", ""), query.text("task", "")}, group: group, wait: query.flag("wait"), timeout: s.cfg.PopTimeout}
	if ms, given := query.number("timeout"); given {
		r.timeout = time.Duration(min(ms, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	mode := subscription(query.text("subscriptionMode", s.cfg.SubscriptionMode))
	r.args = db.PopParams{
		ConsumerGroup: &r.group, Batch: query.within("batch", 200, 1, maxBatch), MaxPartitions: query.within("partitions", 1, 0, 1<<20),
		AutoAck: query.flag("autoAck"), SubscriptionMode: &mode, Conflation: query.flag("conflation"),
	}
	if _, given := query.number("partitions"); !given {
		r.args.MaxPartitions = partitionsNotGiven
	}
	if seconds := query.within("leaseSeconds", 0, 0, 1<<31-1); seconds > 0 {
		r.args.LeaseSeconds = &seconds
	}
	if from := query.text("subscriptionFrom", ""); from != "" {
		r.args.SubscriptionFrom = &from
	}
	return r, nil
}

// partitionsNotGiven is 1, and the batch within 64 for a group that conflates (O-56).
const partitionsNotGiven = -1

// subscription is new or all; whatever is not spelt new is all.
func subscription(mode string) string {
	switch strings.ToLower(strings.TrimSpace(mode)) {
	case "new", "new-only", "new_only", "newonly":
		return "new"
	}
	return "all"
}

// line is what the pop waits for.
func (r *popRequest) line() lineKey {
	key := lineKey{queueKey: queueKey{r.args.TenantID, r.args.Queue}, labels: r.labels, group: r.group}
	if r.args.Partition != nil {
		key.pinned, key.partition = true, *r.args.Partition
	}
	return key
}

// pop claims messages, and waits for some if asked to. While it waits it holds
// no connection. A client that has gone takes nothing (F047).
func (s *Server) pop(ctx context.Context, r *popRequest) ([]db.PopRow, error) {
	if s.freshen(ctx); s.switches.pop.Load() { // O-3
		return nil, nil
	}
	if !r.wait {
		return s.claim(ctx, r)
	}
	r.began = time.Now()
	waiting, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	w := s.room.enter(r.line())
	took := false
	defer func() { s.room.leave(w, took) }()
	for {
		mark, gone := s.room.mark(w)
		if gone || s.switches.pop.Load() {
			return nil, nil
		}
		rows, err := s.claimFull(ctx, waiting, r, w)
		late := errors.Is(err, errLate)
		if r.met && (late || ctx.Err() != nil) {
			w.notify() // it has not looked after what woke it: the next in line does
		}
		if late {
			return nil, nil
		}
		if err != nil || len(rows) > 0 {
			took = len(rows) > 0
			return rows, err
		}
		s.room.nothing(w, mark)
		select {
		case <-w.signal:
		case <-s.stop:
			return nil, nil
		case <-waiting.Done():
			return nil, ctx.Err()
		}
	}
}

// claimFull claims, and where the queue wants fuller batches waits for one first.
// The function itself holds back on such a queue, so that others cost one call
// and a change of the option counts at once, whichever server made it (O-24).
func (s *Server) claimFull(ctx, waiting context.Context, r *popRequest, w *waiter) ([]db.PopRow, error) {
	r.args.Hold = r.args.Partition == nil && r.args.Batch > 1 && r.labels == (labels{})
	rows, err := s.claim(ctx, r)
	if err != nil || !r.held {
		return rows, err
	}
	began := time.Now()
	err = s.hold(ctx, waiting, r, w)
	s.count.add(fillWaits, 1)
	s.count.add(fillWaitMicros, int(time.Since(began).Microseconds()))
	if err != nil {
		return nil, err
	}
	if _, gone := s.room.mark(w); gone {
		return nil, nil
	}
	r.args.Hold = false
	if r.args.WaitedMs == nil {
		r.args.WaitedMs = new(int32) // the queue was there a moment ago
	}
	return s.claim(ctx, r)
}

// claim is one call of the database. One that repeats another makes no queue: it
// would be one that was deleted meanwhile, here or at another server (F143). And
// what is new to it counts from the beginning of the wait (O-16).
func (s *Server) claim(ctx context.Context, r *popRequest) (rows []db.PopRow, err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.countClaim(r)
	if r.met {
		waited := int32(time.Since(r.began).Milliseconds() + 1)
		r.args.WaitedMs = &waited
	}
	if r.shares() {
		rows, err = s.claimShared(ctx, r)
	} else {
		rows, err = s.claimAlone(ctx, r)
	}
	rows = r.policy(rows)
	if err == nil && len(rows) > 0 {
		s.owners.learn(rows, queueKey{r.args.TenantID, r.args.Queue})
	}
	r.met = r.met || err == nil && !r.held
	return rows, err
}

func (s *Server) claimAlone(ctx context.Context, r *popRequest) (rows []db.PopRow, err error) {
	began := time.Now()
	err = s.call(ctx, func(ctx context.Context, q querier) (err error) {
		if r.labels == (labels{}) {
			rows, err = q.Pop(ctx, r.args)
		} else {
			rows, err = q.PopDiscovery(ctx, r.discovery())
		}
		return err
	})
	if err == nil {
		s.count.call(popCall, began, messages(rows))
	}
	return rows, err
}

// policy notes what the database said in a first row without payloads, and
// returns the messages.
func (r *popRequest) policy(rows []db.PopRow) []db.PopRow {
	r.conflation, r.conflict, r.held = false, false, false
	switch {
	case len(rows) == 0 || len(rows[0].Payloads) > 0:
		return rows
	case rows[0].Conflation == nil:
		r.held = true
	default:
		r.conflation, r.conflict = *rows[0].Conflation, *rows[0].ConflationConflict
	}
	return rows[1:]
}

// discovery is the call for a pop by labels.
func (r *popRequest) discovery() db.PopDiscoveryParams {
	return db.PopDiscoveryParams{
		Namespace: r.labels.namespace, Task: r.labels.task, ConsumerGroup: r.args.ConsumerGroup, Batch: r.args.Batch,
		MaxPartitions: r.args.MaxPartitions, LeaseSeconds: r.args.LeaseSeconds, AutoAck: r.args.AutoAck,
		SubscriptionMode: r.args.SubscriptionMode, SubscriptionFrom: r.args.SubscriptionFrom, TenantID: r.args.TenantID,
		Conflation: r.args.Conflation, WaitedMs: r.args.WaitedMs,
	}
}

// release gives back what was claimed for a client that did not get it: no
// retry is charged, and whoever waits is woken. With autoAck nothing is left to
// give back: such a pop is delivered at most once (F055).
func (s *Server) release(r *popRequest, rows []db.PopRow) {
	if r.args.AutoAck || len(rows) == 0 {
		return
	}
	args := db.AckParams{TenantID: r.args.TenantID}
	for i := range rows {
		row := &rows[i]
		if i > 0 && row.PartitionID == rows[i-1].PartitionID {
			continue
		}
		args.PartitionIds = append(args.PartitionIds, row.PartitionID)
		args.ConsumerGroups = append(args.ConsumerGroups, r.group)
		args.LeaseIds = append(args.LeaseIds, &row.LeaseID)
		args.Counts = append(args.Counts, 1)
		args.TransactionIds = append(args.TransactionIds, transactionID(row, 0))
		args.Statuses = append(args.Statuses, "retry")
		args.Errors = append(args.Errors, nil)
	}
	err := s.call(context.Background(), func(ctx context.Context, q querier) error {
		_, err := q.Ack(ctx, args)
		return err
	})
	if err != nil {
		s.log.Warn("a lease whose client has gone was not released", "error", clip(err.Error(), 300))
	}
	s.room.released(queueKey{r.args.TenantID, r.args.Queue}, r.group)
}

// hold waits for a fuller batch before the claim, so that no lease runs and no
// connection is held. It ends when the batch is full, when there is nothing to
// wait beside, when the queue's time is over, and never after the caller's (O-24).
func (s *Server) hold(ctx, waiting context.Context, r *popRequest, w *waiter) error {
	var window <-chan time.Time
	for {
		fill, err := s.fill(ctx, r)
		if err != nil || fill.MinPopWaitTime <= 0 || fill.Available <= 0 || fill.Available >= int64(r.args.Batch) {
			return err
		}
		if window == nil {
			timer := time.NewTimer(time.Duration(fill.MinPopWaitTime) * time.Millisecond)
			defer timer.Stop()
			window = timer.C
		}
		select {
		case <-w.signal:
		case <-window:
			return nil
		case <-s.stop:
			return nil
		case <-waiting.Done():
			return nil
		}
	}
}

// fill asks how full a batch would be.
func (s *Server) fill(ctx context.Context, r *popRequest) (row db.PopFillRow, err error) {
	args := db.PopFillParams{Queue: r.args.Queue, ConsumerGroup: &r.group, MaxPartitions: r.args.MaxPartitions, TenantID: r.args.TenantID}
	if args.MaxPartitions == partitionsNotGiven {
		args.MaxPartitions = 1
	}
	err = s.ask(ctx, func(ctx context.Context, q querier) (err error) {
		row, err = q.PopFill(ctx, args)
		return err
	})
	return row, err
}

func popExample() any {
	partition := "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"
	lease := "01890a5d-ac96-7000-8000-7d9f3b1e4a52"
	return map[string]any{
		"success": true, "queue": "orders", "partition": "customer-17", "partitionId": partition, "leaseId": lease,
		"consumerGroup": "billing", "partitionsClaimed": 1,
		"messages": []any{map[string]any{
			"id": "01890a5d-ac96-7000-8000-0000002dd000", "transactionId": "order-4711", "traceId": nil,
			"data": map[string]any{"total": 12.5}, "producerSub": nil, "createdAt": "2025-01-31T12:00:00.000001Z",
			"partitionId": partition, "partition": "customer-17", "leaseId": lease, "consumerGroup": "billing", "deliveryAttempt": 1,
		}},
	}
}
