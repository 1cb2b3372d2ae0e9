package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// PushRequest is the body of a push, for the document. The server reads it with
// a scanner of its own.
type PushRequest struct {
	Items []PushItem `json:"items" doc:"Messages, of any queues and partitions. Those of one partition keep their order."`
}

// PushItem is one message to store.
type PushItem struct {
	Queue         string  `json:"queue" maxLength:"255" doc:"Created with defaults on first use." example:"orders"`
	Partition     *string `json:"partition,omitempty" nullable:"true" maxLength:"255" doc:"Default without one. Order is kept inside a partition." example:"customer-17"`
	Payload       any     `json:"payload" doc:"Any JSON value, null included; it comes back byte for byte."`
	TransactionID *string `json:"transactionId,omitempty" nullable:"true" maxLength:"65535" doc:"The deduplication key; the message's id without one." example:"order-4711"`
	Key           *string `json:"key,omitempty" nullable:"true" maxLength:"1024" doc:"Key of the message, for queues that keep the latest of each key."`
}

// PushResult tells what became of one item.
type PushResult struct {
	Index         int    `json:"index" doc:"Position in the request."`
	MessageID     string `json:"message_id" format:"uuid" doc:"Id of the message; of a duplicate, that of the original, all zero when it is gone. Of a buffered message, its transaction id if that was minted, else all zero."`
	TransactionID string `json:"transaction_id" doc:"The deduplication key that was used."`
	QueueName     string `json:"queueName"`
	Status        string `json:"status" enum:"queued,duplicate,buffered,failed" doc:"queued: stored. duplicate: it was there already. buffered: on the server's disk, to be stored exactly once when the database takes it. failed: it is not stored."`
	Error         string `json:"error,omitempty" doc:"Why it failed."`
}

type pushInput struct {
	RawBody []byte
}

// rawReply is an answer whose bytes are ready.
type rawReply struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) registerPush(api huma.API) {
	s.pushes = newCourier(s, joinsPush)
	s.pushes.send, s.pushes.divert, s.pushes.fail, s.pushes.count = s.sendPush, s.divertPushes, s.failPushes, s.countPushed
	id := "01890a5d-ac96-7000-8000-0000002dd000"
	huma.Register(api, s.op(huma.Operation{
		OperationID: "push", Method: http.MethodPost, Path: "/api/v1/push", DefaultStatus: http.StatusCreated, Tags: []string{"messages"},
		Summary: "Store messages",
		Description: "Each item is stored or refused on its own; the answer has one element an item, in request order. " +
			"An error status means that nothing was stored; only when the database was lost during the commit and stays away is that not known. With a transactionId the call may be repeated safely. " +
			"A server with a spool answers buffered while the database is away or pushes are paused.",
		SkipValidateBody: true,
		RequestBody: jsonBody[PushRequest](api, "The messages.", map[string]any{"items": []any{
			map[string]any{"queue": "orders", "partition": "customer-17", "transactionId": "order-4711", "payload": map[string]any{"total": 12.5}}}}),
		Responses: map[string]*huma.Response{"201": jsonReply[[]PushResult](api, "One element an item.",
			[]any{map[string]any{"index": 0, "message_id": id, "transaction_id": "order-4711", "queueName": "orders", "status": "queued"}})},
		Errors: []int{http.StatusConflict},
	}), s.push)
	schemas := api.OpenAPI().Components.Schemas
	busy := api.OpenAPI().Paths["/api/v1/push"].Post.Responses["503"].Content["application/json"]
	busy.Schema = &huma.Schema{OneOf: []*huma.Schema{
		schemas.Schema(reflect.TypeFor[Error](), true, "Error"), schemas.Schema(reflect.TypeFor[[]PushResult](), true, "")}}
}

// pushReply is the answer to a push: the items, whatever the status.
type pushReply struct {
	Status      int
	ContentType string `header:"Content-Type"`
	RetryAfter  string `header:"Retry-After"`
	Body        []byte
}

func (s *Server) push(ctx context.Context, in *pushInput) (*pushReply, error) {
	request, err := scanPush(in.RawBody, s.seals.size)
	if err != nil {
		return nil, err
	}
	tenant := s.tenant(ctx)
	request.producer = producer(ctx)
	parcels := request.parcels(tenant)
	if len(parcels) > 0 {
		s.freshen(ctx)
		s.pushes.lanes.submit(parcels)
		err := parcels[0].order.wait(ctx)
		s.countPush(tenant, request) // now that its queues are there
		if err != nil {
			return nil, s.fail(ctx, "push", err)
		}
	}
	reply := &pushReply{Status: http.StatusCreated, ContentType: "application/json"}
	if refusal := s.refusal(ctx, parcels); request.notSpooled() {
		reply.Status, reply.RetryAfter = http.StatusServiceUnavailable, "1"
	} else if refusal != nil {
		return nil, refusal
	}
	reply.Body = request.render()
	return reply, nil
}

// notSpooled reports whether a push of which nothing is in the database failed,
// in part at least, because the spool did not take it.
func (r *pushRequest) notSpooled() bool {
	failed := false
	for _, g := range r.groups {
		failed = failed || g.fault == errSpool || g.fault == errPaused
		for _, v := range g.verdicts {
			if v.status == pushQueued || v.status == pushDuplicate {
				return false
			}
		}
	}
	return failed
}

// refusal is the error of a push of which nothing is in the database: one that
// can be repeated, if any group failed so.
func (s *Server) refusal(ctx context.Context, parcels []*parcel[*pushGroup]) error {
	var first *Error
	stored := len(parcels) == 0
	for _, p := range parcels {
		if p.err == nil {
			stored = true
			continue
		}
		stored = stored || p.work.done()
		p.work.fault = s.fail(ctx, "push", p.err)
		if first == nil || p.work.fault.Retryable && !first.Retryable {
			first = p.work.fault
		}
	}
	if stored {
		return nil
	}
	return first
}

// pushRequest is a scanned push: items, and the groups that they form.
type pushRequest struct {
	items    []pushItem
	groups   []*pushGroup
	lanes    map[[2]string]*pushGroup // newest group of a (queue, partition); nil while there is one lane
	producer *string                  // of every item
	size     func(int) int            // bytes that a payload takes in a call: it may have to be sealed
}

// pushItem is one message. Its strings are pieces of the request's body.
type pushItem struct {
	payload  string
	id       *string
	key      *string
	group    *pushGroup
	slot     int32 // place in the group
	follower bool  // repeats an earlier item, whose slot this is
}

// pushGroup is what one request has for one lane, at most maxCallBytes of it.
type pushGroup struct {
	queue, partition string
	items            []int32 // positions in the request
	bytes            int
	leaders          map[string]pushSlot // by transaction id, shared by the groups of a lane
	verdicts         []verdict           // one an item, set by the calls; those that failed are open
	fault            *Error              // why the open ones are not stored
	request          *pushRequest
}

// pushSlot is where an id was seen first.
type pushSlot struct {
	group *pushGroup
	slot  int32
}

// verdict is what the database said about one item.
type verdict struct {
	id     uuid.UUID
	status pushStatus
}

type pushStatus uint8

const (
	pushFailed pushStatus = iota
	pushQueued
	pushDuplicate
	pushBuffered
)

func (p pushStatus) String() string {
	return [...]string{"failed", "queued", "duplicate", "buffered"}[p]
}

// eachOpen calls back for every item of the group that has no verdict, in order.
func (g *pushGroup) eachOpen(do func(*pushItem, *verdict)) {
	for k, at := range g.items {
		if g.verdicts[k].status == pushFailed {
			do(&g.request.items[at], &g.verdicts[k])
		}
	}
}

// done reports whether anything of the group has its verdict.
func (g *pushGroup) done() bool {
	for _, v := range g.verdicts {
		if v.status != pushFailed {
			return true
		}
	}
	return false
}

// scanPush reads the body of a push. Nothing is stored when it fails. size is what
// a payload of so many bytes takes in a call.
func scanPush(body []byte, size func(int) int) (*pushRequest, error) {
	s, request := newScanner(body), &pushRequest{size: size}
	seen := false
	err := s.document(func(name string) error {
		if name != "items" {
			return s.skip()
		}
		if err := s.once(&seen, "items"); err != nil {
			return err
		}
		return s.array("items", func(int) error { return request.scanItem(s) })
	})
	if err == nil && !seen {
		err = badField("items", "is required")
	}
	if err != nil {
		return nil, err
	}
	return request, nil
}

// scanItem reads one item and gives it its place.
func (r *pushRequest) scanItem(s *scanner) error {
	var item pushItem
	var queue, partition optionalText
	var id, key optionalText
	var hasPayload bool
	partition.text = "Default"
	err := s.object(func(name string) (err error) {
		switch name {
		case "queue":
			return queue.scan(s, name, nameFault)
		case "partition":
			return partition.scan(s, name, nameFault)
		case "transactionId":
			return id.scan(s, name, idFault)
		case "key":
			return key.scan(s, name, keyFault)
		case "payload":
			if err := s.once(&hasPayload, name); err != nil {
				return err
			}
			item.payload, err = s.raw()
			return err
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return err
	case !queue.present:
		return s.missing("queue")
	case !hasPayload:
		return s.missing("payload")
	}
	item.id, item.key = id.pointer(), key.pointer()
	r.place(item, queue.text, partition.text)
	return nil
}

// optionalText is an optional string of an item.
type optionalText struct {
	text          string
	present, seen bool
}

// scan reads the string; null leaves what was there.
func (p *optionalText) scan(s *scanner, field string, fault func(string) string) error {
	if err := s.once(&p.seen, field); err != nil {
		return err
	}
	text, present, err := s.textOrNull()
	if err != nil || !present {
		return err
	}
	if reason := fault(text); reason != "" {
		return s.bad(reason)
	}
	p.text, p.present = text, true
	return nil
}

// scanLoosely also takes a number, as its text.
func (p *optionalText) scanLoosely(s *scanner, field string, fault func(string) string) error {
	if s.json.PeekKind() != '0' {
		return p.scan(s, field, fault)
	}
	if err := s.once(&p.seen, field); err != nil {
		return err
	}
	text, err := s.raw()
	if err != nil {
		return err
	}
	if reason := fault(text); reason != "" {
		return s.bad(reason)
	}
	p.text, p.present = text, true
	return nil
}

func (p *optionalText) pointer() *string {
	if !p.present {
		return nil
	}
	return &p.text
}

// optionalInteger is an optional integer of a body.
type optionalInteger struct {
	n             int64
	present, seen bool
}

// scan reads the integer; null is the same as absent.
func (p *optionalInteger) scan(s *scanner, field string) error {
	if err := s.once(&p.seen, field); err != nil {
		return err
	}
	text, err := s.raw()
	if err != nil || text == "null" {
		return err
	}
	if p.n, err = strconv.ParseInt(text, 10, 64); err != nil {
		return s.bad("must be an integer")
	}
	p.present = true
	return nil
}

// within is the integer held between two bounds.
func (p *optionalInteger) within(absent, least, most int64) int64 {
	if !p.present {
		return absent
	}
	return min(max(p.n, least), most)
}

func keyFault(key string) string {
	if len(key) > maxKey {
		return "is longer than 1024 bytes"
	}
	return textFault(key)
}

// missing is a 400 about a member that the element lacks.
func (s *scanner) missing(field string) *Error {
	s.at(field)
	return s.bad("is required")
}

// place puts an item into its group. A repeat of an id of the same lane in the
// same request follows the first one and is not sent (P-2).
func (r *pushRequest) place(item pushItem, queue, partition string) {
	bytes := r.size(len(item.payload)) + itemOverhead
	g := r.group(queue, partition, bytes)
	if item.id != nil {
		if g.leaders == nil {
			g.leaders = map[string]pushSlot{}
		}
		if leader, ok := g.leaders[*item.id]; ok {
			item.group, item.slot, item.follower, item.payload = leader.group, leader.slot, true, ""
			r.items = append(r.items, item)
			return
		}
		g.leaders[*item.id] = pushSlot{g, int32(len(g.items))}
		g.bytes += len(*item.id)
	}
	if item.key != nil {
		g.bytes += len(*item.key)
	}
	item.group, item.slot = g, int32(len(g.items))
	g.items = append(g.items, int32(len(r.items)))
	g.bytes += bytes
	r.items = append(r.items, item)
}

// group finds the open group of a lane, or opens one: also when the next item
// would make the group too large for a call.
func (r *pushRequest) group(queue, partition string, more int) *pushGroup {
	var g *pushGroup
	if n := len(r.groups); n > 0 && r.groups[n-1].queue == queue && r.groups[n-1].partition == partition {
		g = r.groups[n-1]
	} else if r.lanes != nil {
		g = r.lanes[[2]string{queue, partition}]
	} else if n > 0 {
		r.lanes = map[[2]string]*pushGroup{}
		for _, known := range r.groups {
			r.lanes[[2]string{known.queue, known.partition}] = known
		}
	}
	if g != nil && g.bytes+more <= maxCallBytes && len(g.items) < maxCallItems {
		return g
	}
	next := &pushGroup{queue: queue, partition: partition}
	if g != nil {
		next.leaders = g.leaders
	}
	r.groups = append(r.groups, next)
	if r.lanes != nil {
		r.lanes[[2]string{queue, partition}] = next
	}
	return next
}

// parcels hands the groups over for coalescing, in request order.
func (r *pushRequest) parcels(tenant uuid.UUID) []*parcel[*pushGroup] {
	order := newOrder(len(r.groups))
	verdicts := make([]verdict, len(r.items))
	made := make([]parcel[*pushGroup], len(r.groups))
	parcels := make([]*parcel[*pushGroup], len(r.groups))
	for i, g := range r.groups {
		made[i] = parcel[*pushGroup]{
			key:   laneKey{tenant: tenant, queue: g.queue, name: g.partition},
			items: len(g.items), bytes: g.bytes, work: g, order: order,
		}
		g.request = r
		g.verdicts, verdicts = verdicts[:len(g.items):len(g.items)], verdicts[len(g.items):]
		parcels[i] = &made[i]
	}
	return parcels
}

// render writes the answer, one element an item in request order.
func (r *pushRequest) render() []byte {
	out := make([]byte, 0, 2+len(r.items)*160)
	out = append(out, '[')
	for i := range r.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = r.items[i].render(out, i)
	}
	return append(out, ']')
}

func (item *pushItem) render(out []byte, index int) []byte {
	v := item.group.verdicts[item.slot]
	if item.follower && v.status == pushQueued {
		v.status = pushDuplicate
	}
	out = append(out, `{"index":`...)
	out = strconv.AppendInt(out, int64(index), 10)
	out = append(out, `,"message_id":"`...)
	out = appendUUID(out, v.id)
	out = append(out, `","transaction_id":`...)
	switch {
	case item.id != nil:
		out = appendText(out, *item.id)
	case v.status == pushFailed:
		out = append(out, `""`...)
	default:
		out = append(appendUUID(append(out, '"'), v.id), '"')
	}
	out = append(out, `,"queueName":`...)
	out = appendText(out, item.group.queue)
	out = append(out, `,"status":"`...)
	out = append(out, v.status.String()...)
	out = append(out, '"')
	if v.status == pushFailed {
		out = append(out, `,"error":`...)
		out = appendText(out, failedText(item.group.fault))
	}
	return append(out, '}')
}

func failedText(fault *Error) string {
	if fault == nil {
		return "internal error"
	}
	return fault.Text
}

// appendText writes a JSON string. The text is valid UTF-8: it came from JSON,
// or from the database.
func appendText(out []byte, text string) []byte {
	out, _ = jsontext.AppendQuote(out, text)
	return out
}

const hexDigits = "0123456789abcdef"

// appendUUID writes an id in its usual form.
func appendUUID(out []byte, id uuid.UUID) []byte {
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, hexDigits[b>>4], hexDigits[b&15])
	}
	return out
}

// frameID is the id of frame k of a segment: its base with the low 20 bits set.
func frameID(base uuid.UUID, k int64) uuid.UUID {
	base[13] = base[13]&0xf0 | byte(k>>16)&0x0f
	base[14], base[15] = byte(k>>8), byte(k)
	return base
}
