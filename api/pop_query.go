package api

import (
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// popParam describes one parameter of a pop: the document and the parser read
// the same list.
type popParam struct {
	name string
	kind string // integer, boolean or string
	text string
	dflt any
}

func popParams() []popParam {
	return []popParam{
		{"batch", "integer", "Most messages of the answer, over all partitions. Less than 1 acts as 1, more than 10000 as 10000.", 200},
		{"partitions", "integer", "Most partitions to claim; 0 or less is no cap. Not read when the partition is named. Without it 1, and of a group that conflates the batch, at most 64.", 1},
		{"autoAck", "boolean", "Commit at delivery, without a lease: at most once. A message whose answer is lost is lost.", false},
		{"wait", "boolean", "Wait for messages.", false},
		{"timeout", "integer", "Longest wait in milliseconds, 0 or more. Without it the server's default.", nil},
		{"leaseSeconds", "integer", "Length of the lease; 0 or less is the queue's own.", nil},
		{"consumerGroup", "string", "Group that consumes. Each group gets every message.", queueMode},
		{"subscriptionMode", "string", "Where a new group begins: new, or all (any other word). Without it the server's default.", nil},
		{"subscriptionFrom", "string", "Where a new group begins: now, or a timestamp.", nil},
		{"conflation", "boolean", "Take only the last message of each partition; acknowledging it completes all before it. The first pop of a group decides. Needs a consumerGroup, and no autoAck.", false},
		{"autopilot", "boolean", "Accepted and ignored.", false},
		{"namespace", "string", "Take from queues with this namespace; empty is any.", nil},
		{"task", "string", "Take from queues with this task; empty is any.", nil},
	}
}

// popParameters documents them; labels are read by discovery only.
func popParameters(labels bool) []*huma.Param {
	var params []*huma.Param
	for _, p := range popParams() {
		if !labels && (p.name == "namespace" || p.name == "task") {
			continue
		}
		params = append(params, &huma.Param{
			Name: p.name, In: "query", Description: p.text,
			Schema: &huma.Schema{Type: p.kind, Default: p.dflt},
		})
	}
	return params
}

// popQuery is the query string of a pop, checked. Unlike the management routes
// it knows true and false only, and an empty number is none (3.2).
type popQuery struct {
	texts   map[string]string
	numbers map[string]int64
	flags   map[string]bool
}

func readPopQuery(raw string) (*popQuery, error) {
	q := &popQuery{texts: map[string]string{}, numbers: map[string]int64{}, flags: map[string]bool{}}
	if raw == "" {
		return q, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, queryFault(raw)
	}
	for _, p := range popParams() {
		switch given := values[p.name]; len(given) {
		case 0:
		case 1:
			if fault := q.set(p, given[0]); fault != "" {
				return nil, badField(p.name, fault)
			}
		default:
			return nil, badField(p.name, "is given twice")
		}
	}
	return q, nil
}

// set parses one value and says what is wrong with it, "" if nothing.
func (q *popQuery) set(p popParam, value string) string {
	switch p.kind {
	case "integer":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "must be an integer"
		}
		if p.name == "timeout" && n < 0 {
			return "must not be negative"
		}
		q.numbers[p.name] = n
	case "boolean":
		if value != "true" && value != "false" {
			return "must be true or false"
		}
		q.flags[p.name] = value == "true"
	default:
		if fault := textFault(value); fault != "" {
			return fault
		}
		q.texts[p.name] = value
	}
	return ""
}

func (q *popQuery) text(name, absent string) string {
	if value, ok := q.texts[name]; ok {
		return value
	}
	return absent
}

func (q *popQuery) flag(name string) bool { return q.flags[name] }

func (q *popQuery) number(name string) (int64, bool) {
	n, ok := q.numbers[name]
	return n, ok
}

// within is a number held between two bounds.
func (q *popQuery) within(name string, absent, least, most int64) int32 {
	n, ok := q.numbers[name]
	if !ok {
		n = absent
	}
	return int32(min(max(n, least), most))
}
