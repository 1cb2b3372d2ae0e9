package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// scenarioTenant is the tenant of a server without tenancy.
var scenarioTenant = uuid.MustParse("00000000-0000-0000-0000-000000000001")

// quoted is a JSON string.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// httpFace reaches the engine through the REST API.
type httpFace struct{ *testServer }

// tree decodes an answer; a refusal becomes its code and text.
func (f httpFace) tree(r reply) any {
	f.t.Helper()
	if r.Status >= http.StatusBadRequest {
		e := r.failure(f.t)
		require.Less(f.t, r.Status, http.StatusInternalServerError, "%s", r.Body)
		return map[string]any{"code": e.Code, "error": e.Text}
	}
	var value any
	r.into(f.t, &value)
	return value
}

func (f httpFace) configure(a scenarioArgs) any {
	body := `{"queue":` + quoted(a.Queue)
	if a.Options != "" {
		body += `,"options":` + a.Options
	}
	if a.Mode != nil {
		body += `,"mode":` + quoted(*a.Mode)
	}
	return f.tree(f.post("/api/v1/configure", body+"}"))
}

func (f httpFace) push(a scenarioArgs) any {
	items := make([]string, 0, len(a.Items))
	for _, item := range a.Items {
		text := `{"queue":` + quoted(a.Queue) + `,"payload":` + item.Payload
		if item.Partition != nil {
			text += `,"partition":` + quoted(*item.Partition)
		}
		if item.ID != nil {
			text += `,"transactionId":` + quoted(*item.ID)
		}
		items = append(items, text+"}")
	}
	r := f.post("/api/v1/push", `{"items":[`+strings.Join(items, ",")+"]}")
	if r.Status != http.StatusCreated {
		refused := f.tree(r).(map[string]any)
		text := refused["error"].(string)
		if strings.HasPrefix(text, "items[") { // the function says no more than what is wrong
			_, refused["error"], _ = strings.Cut(text, ".")
		}
		return refused
	}
	var results []pushed
	r.into(f.t, &results)
	out := make([]any, 0, len(results))
	for i, p := range results {
		require.Equal(f.t, i, p.Index)
		require.Equal(f.t, a.Queue, p.QueueName)
		out = append(out, map[string]any{"_": p.Status, "id": p.MessageID, "transactionId": p.TransactionID})
	}
	return out
}

func (f httpFace) pop(a scenarioArgs) any {
	q := url.Values{"batch": {fmt.Sprint(max(a.Batch, 1))}, "subscriptionMode": {"all"}}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set("subscriptionMode", a.Subscription)
	set("subscriptionFrom", a.From)
	if a.AutoAck {
		q.Set("autoAck", "true")
	}
	if a.Conflation {
		q.Set("conflation", "true")
	}
	if a.LeaseSeconds != 0 {
		q.Set("leaseSeconds", fmt.Sprint(a.LeaseSeconds))
	}
	if a.Partitions != nil {
		q.Set("partitions", fmt.Sprint(*a.Partitions))
	}
	if a.Group != nil {
		q.Set("consumerGroup", *a.Group)
	}
	path := "/api/v1/pop/queue/" + url.PathEscape(a.Queue)
	if a.Partition != nil {
		path += "/partition/" + url.PathEscape(*a.Partition)
	}
	r := f.get(path + "?" + q.Encode())
	if r.Status == http.StatusNoContent {
		return []any{}
	}
	if r.Status != http.StatusOK {
		return f.tree(r)
	}
	return f.messages(a, r)
}

func (f httpFace) messages(a scenarioArgs, r reply) []any {
	var got struct {
		Success           bool
		Queue, Partition  string
		LeaseID           string `json:"leaseId"`
		ConsumerGroup     string `json:"consumerGroup"`
		PartitionsClaimed int    `json:"partitionsClaimed"`
		PartitionID       string `json:"partitionId"`
		Messages          []struct {
			ID, TransactionID, Partition, PartitionID, LeaseID, ConsumerGroup, CreatedAt string
			Data                                                                         json.RawMessage
			DeliveryAttempt                                                              int
		}
	}
	r.into(f.t, &got)
	require.True(f.t, got.Success)
	require.Equal(f.t, a.Queue, got.Queue)
	if len(got.Messages) == 0 { // there is a word about conflation only
		return []any{}
	}
	require.Equal(f.t, a.AutoAck, got.LeaseID == "")
	group := "__QUEUE_MODE__"
	if a.Group != nil {
		group = *a.Group
	}
	require.Equal(f.t, group, got.ConsumerGroup)
	out := make([]any, 0, len(got.Messages))
	for _, m := range got.Messages {
		require.Equal(f.t, [2]string{got.LeaseID, group}, [2]string{m.LeaseID, m.ConsumerGroup})
		out = append(out, map[string]any{"_": m.TransactionID, "id": m.ID, "transactionId": m.TransactionID, "partition": m.Partition,
			"partitionId": m.PartitionID, "lease": m.LeaseID, "createdAt": m.CreatedAt, "data": string(m.Data), "attempt": m.DeliveryAttempt})
	}
	return out
}

func (f httpFace) ack(a scenarioArgs) any {
	items := make([]string, 0, len(a.Acks))
	for _, ack := range a.Acks {
		text := `{"transactionId":` + quoted(ack.ID) + `,"partitionId":` + quoted(ack.Partition) + `,"status":` + quoted(ack.Status)
		if ack.Lease != "" {
			text += `,"leaseId":` + quoted(ack.Lease)
		}
		if ack.Error != nil {
			text += `,"error":` + quoted(*ack.Error)
		}
		items = append(items, text+"}")
	}
	group := "null"
	if a.Group != nil {
		group = quoted(*a.Group)
	}
	r := f.post("/api/v1/ack/batch", `{"consumerGroup":`+group+`,"acknowledgments":[`+strings.Join(items, ",")+"]}")
	if r.Status != http.StatusOK {
		return f.tree(r)
	}
	var results []AckResult
	r.into(f.t, &results)
	out := make([]any, 0, len(results))
	for i, v := range results {
		require.Equal(f.t, a.Acks[i].ID, v.TransactionID)
		out = append(out, retiring(ackVerdict(v.Success, v.Error, v.LeaseReleased, v.DLQ, v.Noop), v.Conflated))
	}
	return out
}

// ackVerdict is one answer of an ack; its short form is the error, or ok, noop
// or dlq, and whether the lease was released.
func ackVerdict(success bool, text *string, released, dlq, noop bool) map[string]any {
	v := map[string]any{"success": success, "error": nil, "released": released, "dlq": dlq, "noop": noop}
	word := "ok"
	switch {
	case text != nil:
		word = *text
		v["error"] = word
	case dlq:
		word = "dlq"
	case noop:
		word = "noop"
	}
	if released && text == nil {
		word += " released"
	}
	v["_"] = word
	return v
}

// retiring adds what an ack of a conflating group retired, where it says so.
func retiring(verdict map[string]any, conflated *int64) map[string]any {
	if conflated != nil {
		verdict["conflated"] = *conflated
	}
	return verdict
}

func (f httpFace) extend(a scenarioArgs) any {
	r := f.post("/api/v1/lease/"+url.PathEscape(a.Lease)+"/extend", fmt.Sprintf(`{"seconds":%d}`, a.Seconds))
	require.Equal(f.t, http.StatusOK, r.Status)
	var got struct {
		Success   bool
		Renewed   int
		ExpiresAt *string `json:"expiresAt"`
	}
	r.into(f.t, &got)
	require.Equal(f.t, got.Renewed > 0, got.Success)
	require.Equal(f.t, got.Success, got.ExpiresAt != nil)
	return map[string]any{"renewed": got.Renewed}
}

func (f httpFace) depth(a scenarioArgs) any {
	path := "/api/v1/resources/queues/" + url.PathEscape(a.Queue) + "/depth"
	if a.Group != nil {
		path += "?" + url.Values{"group": {*a.Group}}.Encode()
	}
	return f.tree(f.get(path))
}

func (f httpFace) detail(a scenarioArgs) any {
	return f.tree(f.get("/api/v1/resources/queues/" + url.PathEscape(a.Queue)))
}

// list shows numbers that are stored now and then, so they are counted first.
func (f httpFace) list() any {
	f.post("/api/v1/stats/refresh", "")
	f.sql("SELECT queen.log_refresh_retained_bytes_v1()")
	return f.tree(f.get("/api/v1/resources/queues"))
}

func (f httpFace) remove(a scenarioArgs) any {
	return f.tree(f.send("DELETE", "/api/v1/resources/queues/"+url.PathEscape(a.Queue), ""))
}

// sqlFace reaches the engine as a person in psql does.
type sqlFace struct{ *testServer }

// refusal is the code and text of an error that the functions raised.
func (f sqlFace) refusal(err error) any {
	f.t.Helper()
	var pgErr *pgconn.PgError
	require.True(f.t, errors.As(err, &pgErr), "%v", err)
	require.True(f.t, strings.HasPrefix(pgErr.Code, "QN"), "%+v", pgErr)
	return map[string]any{"code": pgErr.Code, "error": pgErr.Message}
}

// document is the answer of a function that returns one.
func (f sqlFace) document(sql string, args ...any) any {
	f.t.Helper()
	var text string
	if err := f.db.Pool.QueryRow(context.Background(), sql, args...).Scan(&text); err != nil {
		return f.refusal(err)
	}
	var value any
	require.NoError(f.t, json.Unmarshal([]byte(text), &value))
	return value
}

// rows collects the rows of a function, or its refusal.
func (f sqlFace) rows(each func(row pgx.CollectableRow) (map[string]any, error), sql string, args ...any) any {
	f.t.Helper()
	rows, err := f.db.Pool.Query(context.Background(), sql, args...)
	require.NoError(f.t, err)
	got, err := pgx.CollectRows(rows, each)
	if err != nil {
		return f.refusal(err)
	}
	out := make([]any, 0, len(got))
	for _, row := range got {
		out = append(out, row)
	}
	return out
}

func (f sqlFace) configure(a scenarioArgs) any {
	options := &a.Options
	if a.Options == "" {
		options = nil
	}
	return f.document("SELECT queen.configure_queue_v1($1, $2::text::jsonb, $3)::text", a.Queue, options, a.Mode)
}

func (f sqlFace) push(a scenarioArgs) any {
	var payloads, partitions []string
	var ids []*string
	for _, item := range a.Items {
		payloads, ids = append(payloads, item.Payload), append(ids, item.ID)
		partition := "Default"
		if item.Partition != nil {
			partition = *item.Partition
		}
		partitions = append(partitions, partition)
	}
	return f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var status, id, txn string
		err := row.Scan(&status, &id, &txn)
		return map[string]any{"_": status, "id": id, "transactionId": txn}, err
	}, "SELECT status, message_id::text, transaction_id FROM queen.push_many_v1($1, ($2::text[])::json[], $3, $4) ORDER BY item", a.Queue, payloads, partitions, ids)
}

func (f sqlFace) pop(a scenarioArgs) any {
	mode := "all"
	if a.Subscription != "" {
		mode = a.Subscription
	}
	return f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var id, txn, partition, partitionID, lease, created, data string
		var attempt int
		err := row.Scan(&id, &txn, &partition, &partitionID, &lease, &created, &data, &attempt)
		return map[string]any{"_": txn, "id": id, "transactionId": txn, "partition": partition, "partitionId": partitionID, "lease": lease,
			"createdAt": created, "data": data, "attempt": attempt}, err
	}, `SELECT id::text, transaction_id, partition, partition_id::text, lease_id, created_at::text, payload::text, delivery_attempt
		FROM queen.pop_v1($1, $2, $3, $4, nullif($5, 0), $6, $7, $8, nullif($9, ''), $10)`,
		a.Queue, max(a.Batch, 1), a.Group, a.Partition, a.LeaseSeconds, a.AutoAck, a.Partitions, mode, a.From, a.Conflation)
}

// ack uses ack_v1 where it can say it all: one partition, lease, status and
// reason. Else it makes the call that the server makes.
func (f sqlFace) ack(a scenarioArgs) any {
	alike := true
	for _, ack := range a.Acks {
		first := a.Acks[0]
		alike = alike && ack.Partition == first.Partition && ack.Lease == first.Lease && ack.Status == first.Status && ack.Error == nil
	}
	if !alike {
		return f.ackMixed(a)
	}
	ids := make([]string, 0, len(a.Acks))
	for _, ack := range a.Acks {
		ids = append(ids, ack.ID)
	}
	first := a.Acks[0]
	return f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var success, released, dlq, noop bool
		var text *string
		var conflated *int64
		err := row.Scan(&success, &text, &released, &dlq, &noop, &conflated)
		return retiring(ackVerdict(success, text, released, dlq, noop), conflated), err
	}, `SELECT success, error, lease_released, dlq, noop, conflated FROM queen.ack_v1($1, $2, nullif($3, ''), $4, $5) ORDER BY item`,
		first.Partition, ids, first.Lease, a.Group, first.Status)
}

func (f sqlFace) ackMixed(a scenarioArgs) any {
	arg := db.AckParams{TenantID: scenarioTenant}
	group := "__QUEUE_MODE__"
	if a.Group != nil {
		group = *a.Group
	}
	for i, ack := range a.Acks {
		if i == 0 || a.Acks[i-1].Partition != ack.Partition || a.Acks[i-1].Lease != ack.Lease {
			arg.PartitionIds, arg.ConsumerGroups = append(arg.PartitionIds, uuid.MustParse(ack.Partition)), append(arg.ConsumerGroups, group)
			arg.LeaseIds, arg.Counts = append(arg.LeaseIds, &a.Acks[i].Lease), append(arg.Counts, 0)
		}
		arg.Counts[len(arg.Counts)-1]++
		arg.TransactionIds, arg.Statuses, arg.Errors = append(arg.TransactionIds, ack.ID), append(arg.Statuses, ack.Status), append(arg.Errors, ack.Error)
	}
	rows, err := db.New(f.db.Pool).Ack(context.Background(), arg)
	if err != nil {
		return f.refusal(err)
	}
	out := make([]any, len(a.Acks))
	for _, row := range rows {
		out[row.Item] = retiring(ackVerdict(row.Success, row.Error, row.LeaseReleased, row.Dlq, row.Noop), row.Conflated)
	}
	return out
}

func (f sqlFace) extend(a scenarioArgs) any {
	row, err := db.New(f.db.Pool).ExtendLease(context.Background(), db.ExtendLeaseParams{LeaseID: a.Lease, Seconds: int32(a.Seconds), TenantID: scenarioTenant})
	require.NoError(f.t, err)
	return map[string]any{"renewed": int(row.Renewed)}
}

func (f sqlFace) depth(a scenarioArgs) any {
	return f.document("SELECT queen.log_queue_depth_v1($1, $2)::text", a.Queue, a.Group)
}

func (f sqlFace) detail(a scenarioArgs) any {
	return f.document("SELECT queen.get_queue_v1($1)::text", a.Queue)
}

func (f sqlFace) list() any {
	f.document("SELECT queen.log_refresh_all_stats_v1()::text")
	f.document("SELECT queen.log_refresh_retained_bytes_v1()::text")
	return f.document("SELECT queen.list_queues_v1()::text")
}

func (f sqlFace) remove(a scenarioArgs) any {
	return f.document("SELECT queen.delete_queue_v1($1)::text", a.Queue)
}
