package api

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// groupFace is what a face can do with consumer groups.
type groupFace interface {
	discover(a scenarioArgs) any
	groups() any
	lagging(a scenarioArgs) any
	group(a scenarioArgs) any
	subscribe(a scenarioArgs) any
	seek(a scenarioArgs) any
	leave(a scenarioArgs) any
}

// actOnGroup does the act of a step that is about groups.
func (r *scenarioRun) actOnGroup(step scenarioStep) (any, bool) {
	switch {
	case step.Discover != nil:
		got := r.face.discover(r.args(step.Discover))
		r.remember(got)
		return got, true
	case step.Groups != nil:
		return r.face.groups(), true
	case step.Lagging != nil:
		return r.face.lagging(r.args(step.Lagging)), true
	case step.Group != nil:
		return r.face.group(r.args(step.Group)), true
	case step.Subscribe != nil:
		return r.face.subscribe(r.args(step.Subscribe)), true
	case step.Seek != nil:
		return r.face.seek(r.args(step.Seek)), true
	case step.Leave != nil:
		return r.face.leave(r.args(step.Leave)), true
	}
	return nil, false
}

func (f httpFace) discover(a scenarioArgs) any {
	q := url.Values{"batch": {fmt.Sprint(max(a.Batch, 1))}, "subscriptionMode": {"all"}, "namespace": {a.Namespace}, "task": {a.Task}}
	if a.Group != nil {
		q.Set("consumerGroup", *a.Group)
	}
	if a.Partitions != nil {
		q.Set("partitions", fmt.Sprint(*a.Partitions))
	}
	r := f.get("/api/v1/pop?" + q.Encode())
	switch r.Status {
	case http.StatusNoContent:
		return []any{}
	case http.StatusOK:
		return f.messages(a, r)
	}
	return f.tree(r)
}

func (f httpFace) groups() any { return f.tree(f.get("/api/v1/consumer-groups")) }

func (f httpFace) lagging(a scenarioArgs) any {
	return f.tree(f.get(fmt.Sprintf("/api/v1/consumer-groups/lagging?minLagSeconds=%d", a.Seconds)))
}

func (f httpFace) group(a scenarioArgs) any {
	return f.tree(f.get("/api/v1/consumer-groups/" + url.PathEscape(*a.Group)))
}

func (f httpFace) subscribe(a scenarioArgs) any {
	return f.tree(f.post("/api/v1/consumer-groups/"+url.PathEscape(*a.Group)+"/subscription", `{"subscriptionTimestamp":`+quoted(a.From)+`}`))
}

func (f httpFace) seek(a scenarioArgs) any {
	path := "/api/v1/consumer-groups/" + url.PathEscape(*a.Group) + "/queues/" + url.PathEscape(a.Queue)
	if a.Partition != nil {
		path += "/partitions/" + url.PathEscape(*a.Partition)
	}
	return f.tree(f.post(path+"/seek", fmt.Sprintf(`{"toEnd":%t,"timestamp":%s}`, a.ToEnd, quoted(a.From))))
}

func (f httpFace) leave(a scenarioArgs) any {
	path := "/api/v1/consumer-groups/" + url.PathEscape(*a.Group)
	if a.Queue != "" {
		path += "/queues/" + url.PathEscape(a.Queue)
	}
	return f.tree(f.send("DELETE", fmt.Sprintf("%s?deleteMetadata=%t", path, !a.Keep), ""))
}

func (f sqlFace) discover(a scenarioArgs) any {
	return f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var id, txn, partition, partitionID, lease, created, data string
		var attempt int
		err := row.Scan(&id, &txn, &partition, &partitionID, &lease, &created, &data, &attempt)
		return map[string]any{"_": txn, "id": id, "transactionId": txn, "partition": partition, "partitionId": partitionID, "lease": lease,
			"createdAt": created, "data": data, "attempt": attempt}, err
	}, `SELECT id::text, transaction_id, partition, partition_id::text, lease_id, created_at::text, payload::text, delivery_attempt
		FROM queen.pop_discovery_v1($1, $2, $3, $4, p_max_partitions => $5)`, a.Namespace, a.Task, max(a.Batch, 1), a.Group, a.Partitions)
}

func (f sqlFace) groups() any { return f.document("SELECT queen.list_consumer_groups_v1()::text") }

func (f sqlFace) lagging(a scenarioArgs) any {
	return f.document("SELECT queen.list_lagging_partitions_v1($1)::text", a.Seconds)
}

func (f sqlFace) group(a scenarioArgs) any {
	return f.document("SELECT queen.get_consumer_group_v1($1)::text", a.Group)
}

func (f sqlFace) subscribe(a scenarioArgs) any {
	return f.document("SELECT queen.update_subscription_v1($1, $2)::text", a.Group, a.From)
}

func (f sqlFace) seek(a scenarioArgs) any {
	return f.document("SELECT queen.seek_consumer_group_v1($1, $2, $3, $4, $5)::text", a.Queue, a.Group, a.ToEnd, a.From, a.Partition)
}

func (f sqlFace) leave(a scenarioArgs) any {
	return f.document("SELECT queen.delete_consumer_group_v1($1, nullif($2, ''), $3)::text", a.Group, a.Queue, !a.Keep)
}
