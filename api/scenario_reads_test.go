package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// The faces of scenarios for reads without a group. An entry without an error is
// its records or partitions with the keys of the wire; one with an error has it
// as its short form. A record's short form is its payload, a partition's its name.

func (f httpFace) fetch(a scenarioArgs) any {
	entries := make([]string, 0, len(a.Reads))
	for _, read := range a.Reads {
		text := fmt.Sprintf(`{"queue":%s,"offset":%d`, quoted(read.Queue), read.Offset)
		if read.Partition != "" {
			text += `,"partition":` + quoted(read.Partition)
		}
		if read.MaxBytes != 0 {
			text += fmt.Sprintf(`,"maxBytes":%d`, read.MaxBytes)
		}
		entries = append(entries, text+"}")
	}
	r := f.post("/api/v1/fetch", `{"entries":[`+strings.Join(entries, ",")+"]}")
	if r.Status != http.StatusOK {
		return withoutPlace(f.tree(r))
	}
	out := []any{}
	for _, entry := range f.tree(r).(map[string]any)["entries"].([]any) {
		e := entry.(map[string]any)
		records := e["records"].([]any)
		for _, record := range records {
			m := record.(map[string]any)
			m["_"] = m["payload"]
		}
		out = append(out, readEntry(e["error"], map[string]any{"records": records, "high": e["highWatermark"], "low": e["logStartOffset"]}))
	}
	return out
}

func (f httpFace) changed(a scenarioArgs) any {
	entries := make([]string, 0, len(a.Reads))
	for _, read := range a.Reads {
		text := `{"queue":` + quoted(read.Queue)
		for name, value := range map[string]*string{"since": read.Since, "after": read.After} {
			if value != nil {
				text += `,"` + name + `":` + quoted(*value)
			}
		}
		if read.Limit != 0 {
			text += fmt.Sprintf(`,"limit":%d`, read.Limit)
		}
		entries = append(entries, text+"}")
	}
	r := f.post("/api/v1/partitions/changed", `{"entries":[`+strings.Join(entries, ",")+"]}")
	if r.Status != http.StatusOK {
		return withoutPlace(f.tree(r))
	}
	out := []any{}
	for _, entry := range f.tree(r).(map[string]any)["entries"].([]any) {
		e := entry.(map[string]any)
		partitions, _ := e["partitions"].([]any)
		for _, partition := range partitions {
			m := partition.(map[string]any)
			m["_"] = m["name"]
		}
		out = append(out, readEntry(e["error"], map[string]any{"partitions": partitions, "next": e["next"]}))
	}
	return out
}

// readEntry is an entry with its error as the short form.
func readEntry(fault any, entry map[string]any) map[string]any {
	if fault != nil {
		entry["_"] = fault
	}
	return entry
}

// withoutPlace cuts a refusal down to what the functions say, which know no body.
func withoutPlace(refused any) any {
	m := refused.(map[string]any)
	if text := m["error"].(string); strings.HasPrefix(text, "entries[") {
		_, m["error"], _ = strings.Cut(text, ".")
	}
	return m
}

func (f sqlFace) fetch(a scenarioArgs) any {
	args := db.FetchParams{Queues: []string{}, Partitions: []string{}, Offsets: []int64{}, MaxBytes: []int32{}, TenantID: scenarioTenant}
	for _, read := range a.Reads {
		partition, size := "Default", int32(fetchBytes)
		if read.Partition != "" {
			partition = read.Partition
		}
		if read.MaxBytes != 0 {
			size = read.MaxBytes
		}
		args.Queues, args.Partitions = append(args.Queues, read.Queue), append(args.Partitions, partition)
		args.Offsets, args.MaxBytes = append(args.Offsets, read.Offset), append(args.MaxBytes, size)
	}
	rows, err := db.New(f.db.Pool).Fetch(context.Background(), args)
	if err != nil {
		return f.refusal(err)
	}
	out := []any{}
	for i := 0; i < len(rows); {
		bounds, records := rows[i], []any{}
		for i++; i < len(rows) && rows[i].Entry == bounds.Entry; i++ {
			var read fetched
			reply{Body: []byte(`{"entries":[{"records":[` + string(appendRecords(nil, &rows[i], false)) + `]}]}`)}.into(f.t, &read)
			for _, record := range read.Entries[0].Records {
				payload := any(nil)
				reply{Body: record.Payload}.into(f.t, &payload)
				records = append(records, map[string]any{"_": payload, "payload": payload, "offset": float64(record.Offset), "transactionId": record.TransactionID, "ts": record.TS})
			}
		}
		fault := any(nil)
		if bounds.Error != nil {
			fault = *bounds.Error
		}
		out = append(out, readEntry(fault, map[string]any{"records": records, "high": float64(bounds.HighWatermark), "low": float64(bounds.LogStart)}))
	}
	return out
}

// changed uses the face for people where there is one queue, else the server's.
func (f sqlFace) changed(a scenarioArgs) any {
	args := db.PartitionsChangedParams{Queues: []string{}, Sinces: []*string{}, Afters: []*string{}, Limits: []int32{}, TenantID: scenarioTenant}
	for _, read := range a.Reads {
		args.Queues, args.Sinces, args.Afters = append(args.Queues, read.Queue), append(args.Sinces, read.Since), append(args.Afters, read.After)
		limit := int32(maxChangedLimit)
		if read.Limit != 0 {
			limit = read.Limit
		}
		args.Limits = append(args.Limits, limit)
	}
	rows, err := db.New(f.db.Pool).PartitionsChanged(context.Background(), args)
	if err != nil {
		return f.refusal(err)
	}
	require.Equal(f.t, int32(-1), rows[0].Entry)
	out := []any{}
	for entry := range a.Reads {
		var fault, next any
		partitions := []any{}
		for _, row := range rows {
			switch {
			case row.Entry != int32(entry):
			case row.Error != nil:
				fault, partitions = *row.Error, nil
			default:
				if row.Next != nil {
					next = *row.Next
				}
				partitions = append(partitions, map[string]any{"_": *row.Name, "name": *row.Name, "lastOffset": float64(*row.LastOffset),
					"logStart": float64(*row.LogStart), "lastWriteAt": row.LastWriteAt.UTC().Format(time.RFC3339Nano)})
			}
		}
		out = append(out, readEntry(fault, map[string]any{"partitions": partitions, "next": next}))
	}
	return out
}
