package api

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

// sampleEvery is the pause between two looks at what is no counter.
const sampleEvery = time.Second

// idleFlushes is after how many flushes without a change a queue's counters go.
const idleFlushes = 5

// collector turns counters into what is stored, and looks at the process once a
// second. Its lock is never taken by a request.
type collector struct {
	began    time.Time
	hostname string
	port     atomic.Int32

	mu      sync.Mutex
	waiting *db.FlushMetricsParams // taken, and not known to be stored
	stored  [tallies]int64
	retired []retiredQueue
	samples samples
	late    float64 // milliseconds, a moving average
}

// retiredQueue are counters that were taken out of the map. Who had found them
// just before may add to them, so they are looked at once more.
type retiredQueue struct {
	key      counterKey
	counters *queueCounters
}

func (c *collector) begin(cfg Config) {
	c.began = time.Now()
	c.hostname, _ = os.Hostname() // empty when it has none
	c.port.Store(int32(cfg.Port))
}

// samples are sums over the looks since the last flush.
type samples struct {
	n            int
	late         observed
	free, size   observed
	active, rss  observed
	user, system observed
	uptime       observed
	last         usage
	seen         time.Time
}

// observed is what is told of a value that was looked at some times.
type observed struct {
	Avg  float64 `json:"avg"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Last float64 `json:"last"`
}

// note adds look n, from 1.
func (s *observed) note(n int, value float64) {
	if n == 1 {
		*s = observed{value, value, value, value}
		return
	}
	s.Avg += (value - s.Avg) / float64(n)
	s.Min, s.Max, s.Last = min(s.Min, value), max(s.Max, value), value
}

// usage is what the process has used so far.
type usage struct {
	user, system time.Duration // of processor
	rss          int64         // bytes, now
}

// sampleAll looks once a second until ctx ends. That a look comes late says that
// the process got no processor.
func (s *Server) sampleAll(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case due := <-ticker.C:
			s.sample(time.Since(due))
		}
	}
}

// sampleOnce takes a look when there was none since the last flush.
func (s *Server) sampleOnce() {
	s.collect.mu.Lock()
	none := s.collect.samples.n == 0
	s.collect.mu.Unlock()
	if none {
		s.sample(0)
	}
}

// sample takes one look.
func (s *Server) sample(late time.Duration) {
	for queue, n := range s.room.parked() {
		if queue.queue != discoveryQueue {
			s.count.queue(byName(queue)).add(queueParked, n)
		}
	}
	stat, used, now := s.pool.Stat(), processUsage(), time.Now()
	c := &s.collect
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.samples
	m.n++
	ms := float64(late.Microseconds()) / 1000
	c.late += (ms - c.late) / 10
	m.late.note(m.n, ms)
	m.size.note(m.n, float64(stat.TotalConns()))
	m.free.note(m.n, float64(stat.IdleConns()))
	m.active.note(m.n, float64(stat.AcquiredConns()))
	m.rss.note(m.n, float64(used.rss))
	m.uptime.note(m.n, now.Sub(c.began).Seconds())
	since := c.began
	if !m.seen.IsZero() {
		since = m.seen
	}
	percent := func(spent time.Duration) float64 { // times 100
		return float64(spent) * 100 * 100 / float64(max(now.Sub(since), time.Microsecond))
	}
	m.user.note(m.n, percent(used.user-m.last.user))
	m.system.note(m.n, percent(used.system-m.last.system))
	m.last, m.seen = used, now
}

// TakeMetrics is what the server has counted since the flush before, as it is to
// be stored. It answers the same, under the same flush id, until MetricsStored,
// so that a flush whose outcome is not known can be sent again: it counts once.
// The second result says that it was taken before. One caller at a time.
func (s *Server) TakeMetrics() (flush db.FlushMetricsParams, again bool) {
	s.sampleOnce()
	c := &s.collect
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting != nil {
		return *c.waiting, true
	}
	c.waiting = &db.FlushMetricsParams{
		FlushID: uuid.New(), Hostname: clip(c.hostname, maxName), Port: c.port.Load(), Pid: int32(os.Getpid()),
		Queues: toJSON(s.takeQueues(c.samples.n)), Worker: toJSON(s.takeWorker()), System: toJSON(c.samples.document()),
	}
	c.samples = samples{last: c.samples.last, seen: c.samples.seen}
	return *c.waiting, false
}

// MetricsStored says that the last flush is in the database.
func (s *Server) MetricsStored() {
	s.collect.mu.Lock()
	defer s.collect.mu.Unlock()
	s.collect.waiting = nil
}

// toJSON is for values that cannot fail: numbers and valid text.
func toJSON(value any) json.RawMessage {
	out, err := json.Marshal(value)
	if err != nil {
		panic("metrics document: " + err.Error())
	}
	return out
}

// systemDocument is the shape that the readers aggregate again.
type systemDocument struct {
	Samples int                 `json:"samples"`
	CPU     map[string]observed `json:"cpu"`
	Memory  map[string]observed `json:"memory"`
	Pool    map[string]observed `json:"database"`
	Uptime  observed            `json:"uptime_seconds"`
}

func (m *samples) document() systemDocument {
	return systemDocument{
		Samples: m.n,
		CPU:     map[string]observed{"user_us": m.user, "system_us": m.system},
		Memory:  map[string]observed{"rss_bytes": m.rss},
		Pool:    map[string]observed{"pool_size": m.size, "pool_idle": m.free, "pool_active": m.active},
		Uptime:  m.uptime,
	}
}

// workerDocument is what log_flush_metrics_v1 reads of the whole server.
type workerDocument struct {
	PushRequests int64   `json:"push_requests"`
	PopRequests  int64   `json:"pop_requests"`
	AckRequests  int64   `json:"ack_requests"`
	PushMessages int64   `json:"push_messages"`
	PopMessages  int64   `json:"pop_messages"`
	AckMessages  int64   `json:"ack_messages"`
	AckSuccess   int64   `json:"ack_success"`
	AckFailed    int64   `json:"ack_failed"`
	Transactions int64   `json:"transactions"`
	Conflated    int64   `json:"conflated"`
	DBErrors     int64   `json:"db_errors"`
	DLQ          int64   `json:"dlq"`
	Jobs         int64   `json:"jobs"`
	LagMs        float64 `json:"lag_ms"`
	LagCount     int64   `json:"lag_count"`
	MaxLagMs     int64   `json:"max_lag_ms"`
	AvgLateMs    float64 `json:"avg_event_loop_lag_ms"`
	MaxLateMs    int64   `json:"max_event_loop_lag_ms"`
	AvgFree      float64 `json:"avg_free_slots"`
	MinFree      int64   `json:"min_free_slots"`
	Connections  int64   `json:"db_connections"`
}

// takeWorker is what has been added to the totals; the caller holds the lock.
func (s *Server) takeWorker() workerDocument {
	c := &s.collect
	var d [tallies]int64
	for t := range d {
		now := s.count.get(tally(t))
		d[t], c.stored[t] = now-c.stored[t], now
	}
	return workerDocument{
		PushRequests: d[pushRequests], PopRequests: d[popRequests], AckRequests: d[ackRequests],
		PushMessages: d[pushMessages], PopMessages: d[popMessages], AckMessages: d[ackMessages],
		AckSuccess: d[ackSuccess], AckFailed: d[ackFailed], Transactions: d[transactions], Conflated: d[conflated],
		DBErrors: d[dbErrors], DLQ: d[deadLetters], Jobs: d[jobs],
		LagMs: float64(d[lagMicros]) / 1000, LagCount: d[lagCount], MaxLagMs: s.count.maxLag.Swap(0) / 1000,
		AvgLateMs: c.samples.late.Avg, MaxLateMs: int64(c.samples.late.Max),
		AvgFree: c.samples.free.Avg, MinFree: int64(c.samples.free.Min), Connections: int64(c.samples.size.Last),
	}
}

// queueDocument is what log_flush_metrics_v1 reads of one queue.
type queueDocument struct {
	TenantID     uuid.UUID  `json:"tenant_id"`
	Queue        string     `json:"queue,omitempty"`
	PartitionID  *uuid.UUID `json:"partition_id,omitempty"`
	PushRequests int64      `json:"push_requests,omitempty"`
	PushMessages int64      `json:"push_messages,omitempty"`
	PopMessages  int64      `json:"pop_messages,omitempty"`
	PopEmpty     int64      `json:"pop_empty,omitempty"`
	Transactions int64      `json:"transactions,omitempty"`
	AckRequests  int64      `json:"ack_requests,omitempty"`
	AckSuccess   int64      `json:"ack_success,omitempty"`
	AckFailed    int64      `json:"ack_failed,omitempty"`
	Conflated    int64      `json:"conflated,omitempty"`
	LagMs        float64    `json:"lag_ms,omitempty"`
	LagCount     int64      `json:"lag_count,omitempty"`
	MaxLagMs     int64      `json:"max_lag_ms,omitempty"`
	Parked       float64    `json:"parked,omitempty"`
}

// takeQueues is what has been added to the counters of queues, and lets those go
// that nobody adds to; the caller holds the lock.
func (s *Server) takeQueues(looks int) []queueDocument {
	c := &s.collect
	taken := []queueDocument{}
	take := func(key counterKey, q *queueCounters) bool {
		d, changed := q.take(key, looks)
		if changed {
			taken = append(taken, d)
		}
		return changed
	}
	for _, gone := range c.retired {
		take(gone.key, gone.counters)
	}
	c.retired = c.retired[:0]
	s.count.queues.Range(func(k, v any) bool {
		key, q := k.(counterKey), v.(*queueCounters)
		if take(key, q) {
			q.idle = 0
		} else if q.idle++; q.idle >= idleFlushes {
			s.count.queues.Delete(key)
			s.count.known.Add(-1)
			c.retired = append(c.retired, retiredQueue{key, q})
		}
		return true
	})
	return taken
}

// take is what has been added since the last time, and whether anything was. A
// parked pop counts as the part of the minute that it was seen in, so that the
// flushes of a minute add up to its average.
func (q *queueCounters) take(key counterKey, looks int) (queueDocument, bool) {
	var d [queueTallies]int64
	changed := false
	for t := range d {
		now := q.n[t].Load()
		d[t], q.stored[t] = now-q.stored[t], now
		changed = changed || d[t] != 0
	}
	if !changed {
		return queueDocument{}, false
	}
	document := queueDocument{
		TenantID: key.tenant, Queue: key.queue,
		PushRequests: d[queuePushRequests], PushMessages: d[queuePushMessages],
		PopMessages: d[queuePopMessages], PopEmpty: d[queuePopEmpty], Transactions: d[queueTransactions],
		AckRequests: d[queueAckRequests], AckSuccess: d[queueAckSuccess], AckFailed: d[queueAckFailed], Conflated: d[queueConflated],
		LagMs: float64(d[queueLagMicros]) / 1000, LagCount: d[queueLagCount], MaxLagMs: q.maxLag.Swap(0) / 1000,
		Parked: float64(d[queueParked]) / float64(max(looks, int(time.Minute/sampleEvery))),
	}
	if key.partition != uuid.Nil {
		document.PartitionID = &key.partition
	}
	return document, true
}
