package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// letterFace is the part of a face that is about dead letters.
type letterFace interface {
	dead(a scenarioArgs) any
	replay(a scenarioArgs) any
	retry(a scenarioArgs, partitionID string) any
	forget(a scenarioArgs, partitionID string) any
	bury(a scenarioArgs) any
	browse(a scenarioArgs) any
	look(a scenarioArgs, partitionID string) any
	trace(a scenarioArgs, partitionID string) any
	traces(a scenarioArgs) any
}

func (f httpFace) dead(a scenarioArgs) any {
	q := url.Values{"queue": {a.Queue}}
	if a.Group != nil {
		q.Set("consumerGroup", *a.Group)
	}
	r := f.get("/api/v1/dlq?" + q.Encode())
	if r.Status != http.StatusOK {
		return f.tree(r)
	}
	var list struct {
		Messages []struct {
			ID, TransactionID, ConsumerGroup, Queue, Partition string
			ErrorMessage                                       *string
			RetryCount                                         int
			Data                                               rawText
		}
	}
	r.into(f.t, &list)
	out := []any{}
	for _, m := range list.Messages {
		data := any(string(m.Data))
		if m.Data == "null" {
			data = nil
		}
		out = append(out, map[string]any{"_": m.TransactionID, "id": m.ID, "group": m.ConsumerGroup, "queue": m.Queue, "partition": m.Partition, "data": data, "error": deref(m.ErrorMessage), "retries": m.RetryCount})
	}
	slices.Reverse(out)
	return out
}

// rawText is JSON as it came.
type rawText string

func (r *rawText) UnmarshalJSON(text []byte) error {
	*r = rawText(text)
	return nil
}

func (f sqlFace) dead(a scenarioArgs) any {
	rows := f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var id, txn, group, queue, partition, reason string
		var payload *string
		var retries int
		err := row.Scan(&id, &txn, &group, &queue, &partition, &payload, &reason, &retries)
		data := any(nil)
		if payload != nil {
			data = *payload
		}
		return map[string]any{"_": txn, "id": id, "group": group, "queue": queue, "partition": partition, "data": data, "error": reason, "retries": retries}, err
	}, "SELECT id::text, transaction_id, consumer_group, queue, partition, payload, error, retry_count FROM queen.list_dead_letters_v1(nullif($1, ''), $2)", a.Queue, a.Group)
	if list, ok := rows.([]any); ok {
		slices.Reverse(list)
	}
	return rows
}

// outcome is what became of a dead letter; its short form is the result.
func outcome(result, queue, partition, txn string, offset any, reason string) map[string]any {
	return map[string]any{"_": result, "queue": queue, "partition": partition, "transactionId": txn, "offset": offset, "error": reason}
}

func (f httpFace) outcome(r reply) any {
	f.t.Helper()
	switch r.Status {
	case http.StatusOK:
		var got ReplayResponse
		r.into(f.t, &got)
		require.Equal(f.t, got.Result == "moved", got.DlqRowRemoved)
		require.NotNil(f.t, got.ReplayedAs.Offset)
		return outcome(got.Result, got.Queue, got.Partition, got.OriginalTransactionID, int(*got.ReplayedAs.Offset), "")
	case http.StatusNotFound:
		return map[string]any{"_": "gone"}
	case http.StatusInternalServerError:
		require.Equal(f.t, false, parsed(f.t, string(r.Body))["dlqRowRemoved"])
		return map[string]any{"_": "failed", "error": r.failure(f.t).Text}
	}
	return f.tree(r)
}

func (f httpFace) replay(a scenarioArgs) any {
	members := []string{}
	if a.Queue != "" {
		members = append(members, `"queue":`+quoted(a.Queue))
	}
	if a.Partition != nil {
		members = append(members, `"partition":`+quoted(*a.Partition))
	}
	return f.outcome(f.post("/api/v1/dlq/"+a.Letter+"/replay", "{"+strings.Join(members, ",")+"}"))
}

func (f httpFace) retry(a scenarioArgs, partitionID string) any {
	return f.outcome(f.post("/api/v1/messages/"+partitionID+"/"+url.PathEscape(a.Letter)+"/retry", ""))
}

func (f sqlFace) outcome(sql string, args ...any) any {
	f.t.Helper()
	rows := f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var result, queue, partition, txn string
		var offset *int
		var reason *string
		err := row.Scan(&result, &queue, &partition, &txn, &offset, &reason)
		switch {
		case result == "gone":
			return map[string]any{"_": "gone"}, err
		case result == "failed":
			return map[string]any{"_": "failed", "error": deref(reason)}, err
		case offset == nil:
			return outcome(result, queue, partition, txn, nil, ""), err
		}
		return outcome(result, queue, partition, txn, *offset, ""), err
	}, "SELECT result, queue, partition, transaction_id, \"offset\"::integer, error FROM "+sql, args...)
	if list, ok := rows.([]any); ok && len(list) == 0 {
		return map[string]any{"_": "gone"}
	} else if ok {
		return list[0]
	}
	return rows
}

func (f sqlFace) replay(a scenarioArgs) any {
	return f.outcome("queen.replay_dead_letter_v1($1, nullif($2, ''), $3)", a.Letter, a.Queue, a.Partition)
}

func (f sqlFace) retry(a scenarioArgs, partitionID string) any {
	return f.outcome("queen.retry_message_v1($1, $2)", partitionID, a.Letter)
}

func (f httpFace) forget(a scenarioArgs, partitionID string) any {
	r := f.send("DELETE", "/api/v1/messages/"+partitionID+"/"+url.PathEscape(a.Letter), "")
	if r.Status == http.StatusNotFound {
		return "0"
	}
	return strings.TrimPrefix(parsed(f.t, string(r.Body))["message"].(string), "dead letters deleted: ")
}

func (f sqlFace) forget(a scenarioArgs, partitionID string) any {
	return f.number("SELECT queen.delete_message_v1($1, $2)::text", partitionID, a.Letter)
}

func (f httpFace) bury(a scenarioArgs) any {
	q := url.Values{"queue": {a.Queue}}
	if a.Group != nil {
		q.Set("consumerGroup", *a.Group)
	}
	r := f.send("DELETE", "/api/v1/dlq?"+q.Encode(), "")
	require.Equal(f.t, http.StatusOK, r.Status)
	var got struct{ Deleted rawText }
	r.into(f.t, &got)
	return string(got.Deleted)
}

func (f sqlFace) bury(a scenarioArgs) any {
	return f.number("SELECT queen.delete_dead_letters_v1($1, $2)::text", a.Queue, a.Group)
}

func (f sqlFace) number(sql string, args ...any) string {
	f.t.Helper()
	var text string
	require.NoError(f.t, f.db.Pool.QueryRow(context.Background(), sql, args...).Scan(&text))
	return text
}

// stand is where a message stands; its short form is its transactionId.
func stand(txn, status, data string, reason any, retries int) map[string]any {
	return map[string]any{"_": txn, "status": status, "data": data, "error": reason, "retries": retries}
}

func (f httpFace) browse(a scenarioArgs) any {
	q := url.Values{"queue": {a.Queue}}
	if a.Mode != nil {
		q.Set("status", *a.Mode)
	}
	r := f.get("/api/v1/messages?" + q.Encode())
	if r.Status != http.StatusOK {
		return f.tree(r)
	}
	var list struct {
		Messages []struct {
			TransactionID, Status string
			Data                  rawText
		}
	}
	r.into(f.t, &list)
	out := []any{}
	for _, m := range list.Messages {
		out = append(out, stand(m.TransactionID, m.Status, string(m.Data), nil, 0))
	}
	return out
}

func (f sqlFace) browse(a scenarioArgs) any {
	return f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var txn, status, data string
		err := row.Scan(&txn, &status, &data)
		return stand(txn, status, data, nil, 0), err
	}, "SELECT transaction_id, status, payload FROM queen.list_messages_v1($1, p_status => $2)", a.Queue, a.Mode)
}

func (f httpFace) look(a scenarioArgs, partitionID string) any {
	r := f.get("/api/v1/messages/" + partitionID + "/" + url.PathEscape(a.Letter))
	if r.Status != http.StatusOK {
		return f.tree(r)
	}
	var d struct {
		TransactionID, Status string
		Data                  rawText
		ErrorMessage          any
		RetryCount            int
	}
	r.into(f.t, &d)
	return stand(d.TransactionID, d.Status, string(d.Data), d.ErrorMessage, d.RetryCount)
}

func (f sqlFace) look(a scenarioArgs, partitionID string) any {
	rows := f.rows(func(row pgx.CollectableRow) (map[string]any, error) {
		var txn, status, data string
		var reason *string
		var retries int
		err := row.Scan(&txn, &status, &data, &reason, &retries)
		if reason == nil {
			return stand(txn, status, data, nil, retries), err
		}
		return stand(txn, status, data, *reason, retries), err
	}, "SELECT transaction_id, status, payload, error, retry_count FROM queen.get_message_v1($1, $2)", partitionID, a.Letter)
	if list, ok := rows.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return map[string]any{"code": "QN404", "error": "Message not found"}
}

func (f httpFace) trace(a scenarioArgs, partitionID string) any {
	r := f.post("/api/v1/traces", `{"transactionId":`+quoted(a.Letter)+`,"partitionId":`+quoted(partitionID)+`,"data":`+a.Options+`,"traceNames":`+quoted(a.Queue)+`}`)
	require.Equal(f.t, http.StatusCreated, r.Status)
	return nil
}

func (f sqlFace) trace(a scenarioArgs, partitionID string) any {
	f.number("SELECT queen.record_trace_v1($1, $2, ($3::text)::json, p_trace_names => ARRAY[$4])::text", partitionID, a.Letter, a.Options, a.Queue)
	return nil
}

// tracesOf are the traces of a document.
func tracesOf(document any) any {
	out := []any{}
	for _, t := range document.(map[string]any)["traces"].([]any) {
		trace := t.(map[string]any)
		out = append(out, map[string]any{"_": trace["transaction_id"], "queue": trace["queue_name"], "partition": trace["partition_name"], "data": trace["data"]})
	}
	return out
}

func (f httpFace) traces(a scenarioArgs) any {
	return tracesOf(f.tree(f.get("/api/v1/traces/by-name/" + url.PathEscape(a.Queue))))
}

func (f sqlFace) traces(a scenarioArgs) any {
	return tracesOf(f.document("SELECT queen.list_traces_by_name_v1($1)::text", a.Queue))
}
