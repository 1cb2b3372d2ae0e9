package api

import (
	"github.com/google/uuid"

	"regent.local/regent/db"
)

// transaction is a scanned transaction: what is answered, in request order, and
// the lanes and ack groups that it goes to the database by.
type transaction struct {
	tenant   uuid.UUID
	producer *string // of every message
	results  []transactionResult
	lanes    []*transactionLane
	groups   []*transactionAcks
	byLane   map[[2]string]*transactionLane
	byGroup  map[laneKey]*transactionAcks
	required []string

	// Which result each item of the arguments is.
	pushes, acks []int
}

// transactionResult is one message or acknowledgment.
type transactionResult struct {
	id    string // transactionId; of a push, "" is none
	where string // in the request
	row   db.TransactionRow

	lane         *transactionLane // of a push
	payload      string
	trace, keyed *string

	ack    *transactionAcks // of an ack
	status string
	reason *string
}

// transactionLane is a partition that is pushed to, with its items.
type transactionLane struct {
	queue, partition string
	items            []int
}

// transactionAcks is what is acknowledged of one (partition, group).
type transactionAcks struct {
	laneKey
	lease string
	items []int
}

// scanTransaction reads the body of a transaction. Nothing happens when it fails.
func scanTransaction(body []byte) (*transaction, error) {
	s := newScanner(body)
	t := &transaction{byLane: map[[2]string]*transactionLane{}, byGroup: map[laneKey]*transactionAcks{}}
	var operations, leases bool
	err := s.document(func(name string) error {
		switch name {
		case "operations":
			if err := s.once(&operations, name); err != nil {
				return err
			}
			return s.array(name, func(int) error { return t.scanOperation(s) })
		case "requiredLeases":
			if err := s.once(&leases, name); err != nil {
				return err
			}
			return t.scanLeases(s)
		case "kv", "timers":
			s.at(name)
			return s.noRider()
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return nil, err
	case !operations:
		return nil, badField("operations", "is required")
	case len(t.results) == 0:
		return nil, badField("operations", "is empty")
	}
	return t, nil
}

// noRider refuses what a transaction can carry elsewhere; none is none.
func (s *scanner) noRider() error {
	switch s.json.PeekKind() {
	case 'n':
		return s.skip()
	case '[':
		name, filled := s.field, false
		err := s.array(name, func(int) error { filled = true; return s.skip() })
		if err == nil && filled {
			err = badField(name, "is not available")
		}
		return err
	}
	if err := s.skip(); err != nil {
		return err
	}
	return s.bad("must be an array")
}

func (t *transaction) scanLeases(s *scanner) error {
	if s.json.PeekKind() == 'n' {
		return s.skip()
	}
	return s.array("requiredLeases", func(int) error {
		lease, present, err := s.textOrNull()
		switch fault := idFault(lease); {
		case err != nil:
			return err
		case fault != "":
			return s.bad(fault)
		case present && lease != "":
			t.required = append(t.required, lease)
		}
		return nil
	})
}

// scanOperation reads one operation: first which one it is, then its members, for
// a name may mean something else, or nothing, in the other one.
func (t *transaction) scanOperation(s *scanner) error {
	if s.json.PeekKind() != '{' {
		if err := s.skip(); err != nil {
			return err
		}
		return s.bad("must be an object")
	}
	text, err := s.raw()
	if err != nil {
		return err
	}
	again := func() *scanner {
		inner := newScanner([]byte(text))
		inner.list, inner.index = s.list, s.index
		return inner
	}
	kind, err := again().operationType()
	if err != nil {
		return err
	}
	if kind == "ack" {
		return t.scanAck(again())
	}
	return t.scanPush(again())
}

func (s *scanner) operationType() (kind string, err error) {
	seen := false
	err = s.document(func(name string) (err error) {
		if name != "type" {
			return s.skip()
		}
		if err := s.once(&seen, name); err != nil {
			return err
		}
		kind, _, err = s.textOrNull()
		return err
	})
	if err == nil && kind != "push" && kind != "ack" {
		s.at("type")
		err = s.bad("must be push or ack")
	}
	return kind, err
}

// transactionFields are the members of one message of a transaction.
type transactionFields struct {
	queue, partition, id, key optionalText
	payload, data             string
	hasPayload, hasData       bool
	trace                     *string
	hasTrace                  bool
}

// scanPush reads a push: its items, or the one that it is itself.
func (t *transaction) scanPush(s *scanner) error {
	var own transactionFields
	where, seen, many := s.where(), false, false
	err := s.document(func(name string) error {
		if name != "items" {
			return own.scan(s, name)
		}
		if err := s.once(&seen, name); err != nil {
			return err
		}
		if s.json.PeekKind() == 'n' {
			return s.skip()
		}
		many = true
		return s.nested(name, func(int) error {
			var item transactionFields
			where := s.where()
			err := s.object(func(name string) error { return item.scan(s, name) })
			if err == nil {
				t.push(&item, where)
			}
			return err
		})
	})
	if err == nil && !many {
		t.push(&own, where)
	}
	return err
}

func (f *transactionFields) scan(s *scanner, name string) (err error) {
	switch name {
	case "queue":
		return f.queue.scan(s, name, nameFault)
	case "partition":
		return f.partition.scan(s, name, nameFault)
	case "transactionId":
		return f.id.scan(s, name, idFault)
	case "key":
		return f.key.scan(s, name, keyFault)
	case "payload":
		if err := s.once(&f.hasPayload, name); err != nil {
			return err
		}
		f.payload, err = s.raw()
		return err
	case "data":
		if err := s.once(&f.hasData, name); err != nil {
			return err
		}
		f.data, err = s.raw()
		return err
	case "traceId":
		if err := s.once(&f.hasTrace, name); err != nil {
			return err
		}
		f.trace, err = s.uuidOrNothing()
		return err
	}
	return s.skip()
}

// uuidOrNothing reads a value of any kind; what is no UUID is dropped.
func (s *scanner) uuidOrNothing() (*string, error) {
	if s.json.PeekKind() != '"' {
		return nil, s.skip()
	}
	text, _, err := s.textOrNull()
	if err != nil {
		return nil, err
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, nil
	}
	canonical := id.String()
	return &canonical, nil
}

func (t *transaction) push(f *transactionFields, where string) {
	lane := [2]string{f.queue.text, "Default"}
	if f.partition.present {
		lane[1] = f.partition.text
	}
	l := t.byLane[lane]
	if l == nil {
		l = &transactionLane{queue: lane[0], partition: lane[1]}
		t.byLane[lane] = l
		t.lanes = append(t.lanes, l)
	}
	payload := "{}"
	switch {
	case f.hasPayload:
		payload = f.payload
	case f.hasData:
		payload = f.data
	}
	l.items = append(l.items, len(t.results))
	t.results = append(t.results, transactionResult{id: f.id.text, where: where, lane: l, payload: payload, trace: f.trace, keyed: f.key.pointer()})
}

func (t *transaction) scanAck(s *scanner) error {
	var f ackFields
	var group optionalText
	where := s.where()
	err := s.document(func(name string) error {
		if name == "consumerGroup" {
			return group.scan(s, name, nameFault)
		}
		return f.scan(s, name)
	})
	if err != nil {
		return err
	}
	partition, err := uuid.Parse(f.partition.text)
	if err != nil {
		s.at("partitionId")
		return s.bad("is not a UUID")
	}
	key := laneKey{partition: partition, name: queueMode}
	if group.text != "" {
		key.name = group.text
	}
	g := t.group(key, f.lease.text)
	g.items = append(g.items, len(t.results))
	t.results = append(t.results, transactionResult{id: f.id.text, where: where, ack: g, status: ackStatus(f.status), reason: ackReason(f.reason)})
	return nil
}

// group finds the acks of one (partition, group). A lease that any of them names
// is that of all: there is only one at a time. Another one makes a group that the
// database will refuse.
func (t *transaction) group(key laneKey, lease string) *transactionAcks {
	g := t.byGroup[key]
	if g == nil || lease != "" && g.lease != "" && g.lease != lease {
		g = &transactionAcks{laneKey: key}
		t.byGroup[key] = g
		t.groups = append(t.groups, g)
	}
	if lease != "" {
		g.lease = lease
	}
	return g
}

// arguments lays the operations out as flat arrays, and remembers which is which.
func (t *transaction) arguments(seals *sealer) (db.TransactionParams, error) {
	nonces, err := drawNonces(len(t.lanes))
	args := db.TransactionParams{Nonces: nonces, RequiredLeases: t.required, TenantID: t.tenant, ProducerSub: t.producer}
	t.pushes, t.acks = nil, nil
	for _, l := range t.lanes {
		sealed := seals.guess(queueKey{t.tenant, l.queue})
		args.Sealed = append(args.Sealed, sealed)
		args.Queues, args.Partitions = append(args.Queues, l.queue), append(args.Partitions, l.partition)
		args.Counts = append(args.Counts, int32(len(l.items)))
		for _, at := range l.items {
			r := &t.results[at]
			t.pushes = append(t.pushes, at)
			args.Payloads, args.TransactionIds = append(args.Payloads, seals.pack(r.payload, sealed)), append(args.TransactionIds, given(r.id))
			args.Keys, args.TraceIds = append(args.Keys, r.keyed), append(args.TraceIds, r.trace)
		}
	}
	args.Keys, args.TraceIds = unlessAllNil(args.Keys), unlessAllNil(args.TraceIds)
	for _, g := range t.groups {
		args.AckPartitionIds, args.AckGroups = append(args.AckPartitionIds, g.partition), append(args.AckGroups, g.name)
		args.AckLeaseIds, args.AckCounts = append(args.AckLeaseIds, g.lease), append(args.AckCounts, int32(len(g.items)))
		for _, at := range g.items {
			r := &t.results[at]
			t.acks = append(t.acks, at)
			args.AckTransactionIds, args.AckStatuses = append(args.AckTransactionIds, r.id), append(args.AckStatuses, r.status)
			args.AckErrors = append(args.AckErrors, r.reason)
		}
	}
	return args, err
}

// unlessAllNil is nil when no element is given, as the functions store it.
func unlessAllNil(texts []*string) []*string {
	for _, text := range texts {
		if text != nil {
			return texts
		}
	}
	return nil
}
