package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Result is what a cell measured. Figures that could not be read are null.
type Result struct {
	Target        string   `json:"target"`
	Op            string   `json:"op"`
	Unit          string   `json:"unit"` // what the figures call a message
	Size          int      `json:"size"`
	Producers     int      `json:"producers"`
	Batch         int      `json:"batch"`
	Lanes         int      `json:"partitionsPerProducer"`
	PayloadBytes  int      `json:"payloadBytes"`
	Dedup         string   `json:"dedup"`
	IDs           string   `json:"ids"`
	Ack           string   `json:"ack"`
	Seconds       float64  `json:"seconds"`
	Messages      int64    `json:"messages"`
	Calls         int64    `json:"calls"`
	MessagesPerS  float64  `json:"messagesPerSecond"`
	CallsPerS     float64  `json:"callsPerSecond"`
	P50ms         float64  `json:"p50Ms"` // of a call; end to end: from the start of the push to the receipt
	P99ms         float64  `json:"p99Ms"`
	WALBytes      *float64 `json:"walBytesPerMessage"`
	StoredBytes   *float64 `json:"storedBytesPerMessage"`
	ServerBytes   *float64 `json:"serverResidentBytes"`
	PostgresCPU   *float64 `json:"postgresCpuSeconds"`
	PostgresCPUus *float64 `json:"postgresCpuMicrosPerMessage"`
	ServerCPUus   *float64 `json:"serverCpuMicrosPerMessage"`
	Version       string   `json:"serverVersion"`
	Bare          *Result  `json:"bare,omitempty"` // the bare form of the same work, or the same calls undisturbed
}

// Line is the result for a person.
func (r *Result) Line() string {
	shape := fmt.Sprintf("%dx%d", r.Producers, r.Batch)
	if r.Unit != "message" {
		shape = strconv.Itoa(r.Size)
	}
	line := fmt.Sprintf("%s %s %s: %.0f %ss/s, %.0f calls/s, p50 %.2f ms, p99 %.2f ms",
		r.Target, r.Op, shape, r.MessagesPerS, r.Unit, r.CallsPerS, r.P50ms, r.P99ms)
	for _, f := range []struct {
		value *float64
		text  string
	}{{r.WALBytes, "WAL %.0f B/"}, {r.StoredBytes, "stored %.0f B/"}, {r.PostgresCPUus, "PostgreSQL CPU %.2f µs/"}, {r.ServerCPUus, "server CPU %.2f µs/"}} {
		if f.value != nil {
			line += fmt.Sprintf(", "+f.text+r.Unit, *f.value)
		}
	}
	if r.ServerBytes != nil {
		line += fmt.Sprintf(", server %.0f MB", *r.ServerBytes/1e6)
	}
	if r.Bare != nil {
		line += "; " + r.Bare.Line()
	}
	return line
}

func newResult(o Options) *Result {
	return &Result{Target: o.Target, Op: o.Op, Unit: cmp.Or(o.Unit, "message"), Size: o.Size, Producers: o.Producers, Batch: o.Batch, Lanes: o.Lanes, PayloadBytes: o.Payload,
		Dedup: newChoice(&o.Dedup, "on", "off").String(), IDs: newChoice(&o.ClientIDs, "client", "minted").String(),
		Ack: newChoice(&o.AckByID, "id", "position").String()}
}

// add takes in what the workers did in the measured part.
func (r *Result) add(t tally) {
	r.Seconds = round(t.elapsed.Seconds(), 3)
	r.Messages, r.Calls = t.messages, t.calls
	r.MessagesPerS = round(float64(t.messages)/t.elapsed.Seconds(), 1)
	r.CallsPerS = round(float64(t.calls)/t.elapsed.Seconds(), 1)
	slices.Sort(t.latencies)
	r.P50ms, r.P99ms = percentile(t.latencies, 0.50), percentile(t.latencies, 0.99)
}

// charge takes in what the database spent meanwhile.
func (r *Result) charge(before, after usage) {
	if r.Messages == 0 {
		return
	}
	each := func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		v := round((*b-*a)/float64(r.Messages), 2)
		return &v
	}
	r.WALBytes = each(before.wal, after.wal)
	r.StoredBytes = each(before.stored, after.stored)
	if before.server != nil && after.server != nil {
		micros := round((*after.server-*before.server)*1e6/float64(r.Messages), 3)
		r.ServerCPUus = &micros
	}
	if cpu := after.cpuSince(before); cpu != nil {
		seconds, micros := round(*cpu, 2), round(*cpu*1e6/float64(r.Messages), 3)
		r.PostgresCPU, r.PostgresCPUus = &seconds, &micros
	}
}

// percentile of sorted durations, in milliseconds.
func percentile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := min(int(math.Ceil(p*float64(len(sorted))))-1, len(sorted)-1)
	return round(float64(sorted[max(at, 0)])/float64(time.Millisecond), 3)
}

func round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}
