package api

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"regent.local/regent/db"
)

// The series by queue are many: ten thousand queues make 120,000 lines. So the
// text is written here; the usual library takes six times the time that a
// scrape may take, and 75 MB.

// series is one name of the exposition.
type series struct{ name, kind, help string }

// exposition is a scrape that is being written.
type exposition struct{ out []byte }

// family begins the samples of a name.
func (e *exposition) family(f series) {
	e.out = append(e.out, "# HELP "+f.name+" "+f.help+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
}

// sample adds one value; labels is empty or what stands between the braces.
func (e *exposition) sample(name, labels string, value float64) {
	e.out = append(e.out, name...)
	if labels != "" {
		e.out = append(append(append(e.out, '{'), labels...), '}')
	}
	e.out = append(e.out, ' ')
	if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
		e.out = strconv.AppendInt(e.out, int64(value), 10)
	} else {
		e.out = strconv.AppendFloat(e.out, value, 'g', -1, 64)
	}
	e.out = append(e.out, '\n')
}

// one adds a family of one sample without labels.
func (e *exposition) one(name, kind, help string, value float64) {
	e.family(series{name, kind, help})
	e.sample(name, "", value)
}

// each adds a family with a sample for each row; the callback gives labels and
// value, and whether there is any.
func each[T any](e *exposition, f series, rows []T, sample func(*T) (labels string, value float64, ok bool)) {
	e.family(f)
	for i := range rows {
		if labels, value, ok := sample(&rows[i]); ok {
			e.sample(f.name, labels, value)
		}
	}
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func label(name, value string) string { return name + `="` + escapeLabel.Replace(value) + `"` }

const (
	counter = "counter"
	gauge   = "gauge"
)

// scrape writes all series: those of the process, then what the database knows.
// Without the database the second part is missing.
func (s *Server) scrape(ctx context.Context) []byte {
	e := &exposition{out: make([]byte, 0, 64<<10)}
	s.scrapeProcess(e)
	s.scrapeCalls(e)
	s.scrapeGauges(e)
	if block, err := s.dbBlock.get(ctx, s.readBlock); err == nil {
		e.out = append(e.out, block...)
	} else if ctx.Err() == nil {
		s.log.WarnContext(ctx, "the series from the database are missing", "error", clip(err.Error(), 300))
	}
	return e.out
}

func (s *Server) scrapeProcess(e *exposition) {
	e.one("queen_uptime_seconds", gauge, "Seconds since this process started.", time.Since(s.collect.began).Seconds())
	e.one("queen_process_resident_memory_bytes", gauge, "Resident memory of this process.", float64(processUsage().rss))
	for _, c := range []struct {
		name, help string
		t          tally
	}{
		{"push_requests", "Pushes that this process got.", pushRequests},
		{"pop_requests", "Pops that this process got.", popRequests},
		{"ack_requests", "Ack calls that this process got.", ackRequests},
		{"push_messages", "Messages that this process stored, by pushes, transactions and replays of its spool.", pushMessages},
		{"pop_messages", "Messages that this process delivered.", popMessages},
		{"ack_messages", "Acknowledgments that this process judged, autoAck deliveries included.", ackMessages},
		{"transactions", "Transactions that this process committed.", transactions},
		{"db_errors", "Database calls of this process that failed for a reason of the database's.", dbErrors},
		{"uncounted", "Additions to counters of queues that found no room; they are in the totals.", uncounted},
	} {
		e.one("queen_process_"+c.name+"_total", counter, c.help+" Since its start.", float64(s.count.get(c.t)))
	}
	s.collect.mu.Lock()
	late := s.collect.late
	s.collect.mu.Unlock()
	e.one("queen_event_loop_lag_avg_milliseconds", gauge, "How late a timer of this process came, averaged over the last looks.", late)
	parked := s.room.parked()
	waiting := make(map[string]int, len(parked))
	for queue, n := range parked {
		if queue.queue == discoveryQueue {
			queue.queue = ""
		}
		waiting[queue.queue] += n
	}
	names := make([]string, 0, len(waiting))
	for name := range waiting {
		names = append(names, name)
	}
	slices.Sort(names)
	each(e, series{"queen_parked_long_polls", gauge, "Pops parked at this process; those by discovery have an empty queue."}, names,
		func(name *string) (string, float64, bool) {
			return label("queue", *name), float64(waiting[*name]), true
		})
}

func (s *Server) scrapeCalls(e *exposition) {
	kinds := []callKind{pushCall, popCall, ackCall}
	op := func(k *callKind) string { return label("op", k.String()) }
	each(e, series{"queen_batches_fired_total", counter, "Database calls that carried requests of this process."}, kinds,
		func(k *callKind) (string, float64, bool) { return op(k), float64(s.count.calls[*k].fired.Load()), true })
	each(e, series{"queen_batch_items_fired_total", counter, "Items in these calls; of pops, messages taken."}, kinds,
		func(k *callKind) (string, float64, bool) { return op(k), float64(s.count.calls[*k].items.Load()), true })
	var items, median, high [callKinds]float64
	for k := range callKinds {
		items[k], median[k], high[k] = s.count.calls[k].recent()
	}
	each(e, series{"queen_fusion_items_per_batch", gauge, "Items a call, over the last 512 calls."}, kinds,
		func(k *callKind) (string, float64, bool) { return op(k), items[*k], true })
	e.family(series{"queen_batch_rtt_milliseconds", gauge, "Time that a call took, over the last 512 calls."})
	for k := range callKinds {
		e.sample("queen_batch_rtt_milliseconds", op(&k)+`,quantile="0.5"`, median[k])
		e.sample("queen_batch_rtt_milliseconds", op(&k)+`,quantile="0.99"`, high[k])
	}
	e.one("queen_pop_targeted_total", counter, "Claims on one partition.", float64(s.count.get(popTargeted)))
	e.one("queen_pop_wildcard_total", counter, "Claims on any partition.", float64(s.count.get(popWildcard)))
	e.one("queen_pop_fill_wait_total", counter, "Pops held for a fuller batch (minPopWaitTime).", float64(s.count.get(fillWaits)))
	e.one("queen_pop_fill_wait_microseconds_total", counter, "How long they were held.", float64(s.count.get(fillWaitMicros)))
}

func (s *Server) scrapeGauges(e *exposition) {
	stat := s.pool.Stat()
	e.one("queen_db_pool_size", gauge, "Connections of the pool.", float64(stat.TotalConns()))
	e.one("queen_db_pool_idle", gauge, "Connections that are free.", float64(stat.IdleConns()))
	e.one("queen_db_pool_active", gauge, "Connections that are in use.", float64(stat.AcquiredConns()))
	e.one("queen_maintenance_mode_enabled", gauge, "Whether pushes are paused, as this process saw it last.", truth(s.switches.push.Load()))
	stats, _ := s.spool.stats()
	e.one("queen_file_buffer_pending", gauge, "Messages in the spool of this process.", float64(stats.PendingCount))
	e.one("queen_file_buffer_failed", gauge, "Messages of the spool that the database refused, set aside.", float64(stats.FailedCount))
	e.one("queen_file_buffer_db_healthy", gauge, "Whether pushes go to the database: 0 while it is away.", truth(!s.away.Load()))
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// readBlock reads and writes what the database knows.
func (s *Server) readBlock(ctx context.Context) ([]byte, error) {
	var totals db.ClusterMetricsRow
	var tasks []db.MaintenanceStatusRow
	err := s.ask(ctx, func(ctx context.Context, q querier) (err error) {
		if tasks, err = q.ListMaintenanceStatus(ctx); err != nil {
			return err
		}
		totals, err = q.ClusterMetrics(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	busy, err := s.minutes.getUnless(ctx, func(m minutes) bool { return m.of(totals.UpdatedAt) },
		func(ctx context.Context) (minutes, error) { return s.readMinutes(ctx, totals.UpdatedAt) })
	if err != nil {
		return nil, err
	}
	now, err := s.standing.get(ctx, s.readStanding)
	if err != nil {
		return nil, err
	}
	e := &exposition{out: make([]byte, 0, 64<<10+len(busy.text)+len(busy.rows)*100)}
	scrapeCluster(e, &totals)
	scrapeTasks(e, tasks)
	e.out = append(e.out, busy.text...)
	busy.ages(e)
	scrapeStanding(e, now, s.cfg.MetricsLimit)
	return e.out, nil
}

// minutes are the newest minutes of the queues, written out. They change when a
// server flushes, and not in between; then the next scrape still gets the old
// ones, which tell their age, and lets the new ones be read behind its back.
type minutes struct {
	flushed *time.Time // the flush that they are of
	at      time.Time
	rows    []queueSeries
	text    []byte
}

func (m *minutes) of(flushed *time.Time) bool {
	if m.flushed == nil || flushed == nil {
		return m.flushed == flushed // no server has flushed yet
	}
	return m.flushed.Equal(*flushed)
}

// readMinutes reads and writes what queues did in their newest minute.
func (s *Server) readMinutes(ctx context.Context, flushed *time.Time) (m minutes, err error) {
	var rows []db.QueueMetricsRow
	err = s.ask(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.ListQueueMetrics(ctx)
		return err
	})
	if err != nil {
		return m, err
	}
	m.flushed, m.at, m.rows = flushed, time.Now(), mergeQueues(rows)
	e := &exposition{out: make([]byte, 0, 4<<10+len(rows)*1024)}
	scrapeQueues(e, m.rows)
	m.text = e.out
	return m, nil
}

// ages writes how old the minutes are by now.
func (m *minutes) ages(e *exposition) {
	since := time.Since(m.at).Seconds()
	each(e, series{"queen_queue_metrics_age_seconds", gauge, "Age of the newest minute."}, m.rows,
		func(r *queueSeries) (string, float64, bool) { return r.label, r.AgeSeconds + since, true })
}

// standing is how queues and groups stand, as far as it is shown.
type standing struct {
	lags  []db.LagRow
	bytes []db.RetainedBytesRow
}

// readStanding asks how far behind queues and groups are, and what queues keep.
func (s *Server) readStanding(ctx context.Context) (is standing, err error) {
	limit := int32(min(s.cfg.MetricsLimit, math.MaxInt32))
	err = s.ask(ctx, func(ctx context.Context, q querier) (err error) {
		if is.bytes, err = q.ListRetainedBytes(ctx, limit); err != nil {
			return err
		}
		is.lags, err = q.ListLag(ctx, limit)
		return err
	})
	return is, err
}

func scrapeCluster(e *exposition, r *db.ClusterMetricsRow) {
	const scope, help = `scope="cluster"`, "Lifetime total of all servers, the same at each: take the maximum, not the sum."
	for _, c := range []struct {
		name  string
		value int64
	}{
		{"push_requests", r.PushRequests}, {"pop_requests", r.PopRequests}, {"ack_requests", r.AckRequests},
		{"push_messages", r.PushMessages}, {"pop_messages", r.PopMessages}, {"ack_messages", r.AckMessages},
		{"transactions", r.Transactions}, {"db_errors", r.DbErrors}, {"dlq", r.Dlq},
	} {
		f := series{"queen_cluster_" + c.name + "_total", counter, help}
		e.family(f)
		e.sample(f.name, scope, float64(c.value))
	}
	e.family(series{"queen_cluster_ack_total", counter, help})
	e.sample("queen_cluster_ack_total", scope+`,result="success"`, float64(r.AckSuccess))
	e.sample("queen_cluster_ack_total", scope+`,result="failed"`, float64(r.AckFailed))
	e.family(series{"queen_dlq_depth", gauge, "Dead letters, as the reconciler counted them last."})
	e.sample("queen_dlq_depth", scope, float64(r.DeadLetters))
	e.family(series{"queen_retained_bytes", gauge, "Bytes of payload that queues keep on disk, compressed, as measured last."})
	e.sample("queen_retained_bytes", scope, float64(r.RetainedBytes))
}

// scrapeTasks writes how the maintenance tasks go, which one server runs for all.
func scrapeTasks(e *exposition, rows []db.MaintenanceStatusRow) {
	task := func(r *db.MaintenanceStatusRow) string { return label("task", r.Task) }
	each(e, series{"queen_task_enabled", gauge, "Whether the maintenance task may run: 0 while it is paused."}, rows,
		func(r *db.MaintenanceStatusRow) (string, float64, bool) { return task(r), truth(r.Enabled), true })
	each(e, series{"queen_task_overdue_seconds", gauge, "How long the task has been due while nobody runs it."}, rows,
		func(r *db.MaintenanceStatusRow) (string, float64, bool) {
			return task(r), float64(r.OverdueSeconds), true
		})
	each(e, series{"queen_task_runs_total", counter, "Runs of the task that succeeded, at all servers: take the maximum, not the sum."}, rows,
		func(r *db.MaintenanceStatusRow) (string, float64, bool) {
			return task(r), float64(r.Runs), r.LastDurationMs != nil
		})
	each(e, series{"queen_task_duration_seconds", gauge, "How long the last of them took."}, rows,
		func(r *db.MaintenanceStatusRow) (string, float64, bool) {
			if r.LastDurationMs == nil {
				return "", 0, false
			}
			return task(r), float64(*r.LastDurationMs) / 1000, true
		})
}

// queueSeries is the newest minute of a queue name, with its label.
type queueSeries struct {
	db.QueueMetricsRow
	label string
}

// mergeQueues adds the rows of queues up that have the same name, which are of
// several tenants.
func mergeQueues(rows []db.QueueMetricsRow) []queueSeries {
	slices.SortFunc(rows, func(a, b db.QueueMetricsRow) int { return cmp.Compare(a.Queue, b.Queue) })
	merged := make([]queueSeries, 0, len(rows))
	for _, row := range rows {
		n := len(merged)
		if n == 0 || merged[n-1].Queue != row.Queue {
			merged = append(merged, queueSeries{row, label("queue", row.Queue)})
			continue
		}
		m := &merged[n-1].QueueMetricsRow
		m.AgeSeconds, m.MaxLagMs = min(m.AgeSeconds, row.AgeSeconds), max(m.MaxLagMs, row.MaxLagMs)
		m.PushRequests, m.PushMessages = m.PushRequests+row.PushRequests, m.PushMessages+row.PushMessages
		m.PopMessages, m.PopEmpty = m.PopMessages+row.PopMessages, m.PopEmpty+row.PopEmpty
		m.Transactions, m.Conflated = m.Transactions+row.Transactions, m.Conflated+row.Conflated
		m.AckSuccess, m.AckFailed = m.AckSuccess+row.AckSuccess, m.AckFailed+row.AckFailed
		m.LagMs, m.LagCount, m.Parked = m.LagMs+row.LagMs, m.LagCount+row.LagCount, m.Parked+row.Parked
	}
	return merged
}

func scrapeQueues(e *exposition, rows []queueSeries) {
	for _, f := range []struct {
		name, help string
		value      func(*queueSeries) float64
	}{
		{"push_requests_per_minute", "Pushes", func(r *queueSeries) float64 { return float64(r.PushRequests) }},
		{"push_messages_per_minute", "Messages stored", func(r *queueSeries) float64 { return float64(r.PushMessages) }},
		{"pop_messages_per_minute", "Messages delivered", func(r *queueSeries) float64 { return float64(r.PopMessages) }},
		{"pop_empty_per_minute", "Pops that found nothing", func(r *queueSeries) float64 { return float64(r.PopEmpty) }},
		{"transactions_per_minute", "Transactions that touched the queue", func(r *queueSeries) float64 { return float64(r.Transactions) }},
		{"conflated_per_minute", "Messages that groups with conflation skipped", func(r *queueSeries) float64 { return float64(r.Conflated) }},
		{"parked_consumers", "Pops parked, on the average", func(r *queueSeries) float64 { return r.Parked }},
	} {
		each(e, series{"queen_queue_" + f.name, gauge, f.help + " in its newest minute, at all servers."}, rows,
			func(r *queueSeries) (string, float64, bool) { return r.label, f.value(r), true })
	}
	e.family(series{"queen_queue_ack_per_minute", gauge, "Acknowledgments in its newest minute, at all servers."})
	for i := range rows {
		e.sample("queen_queue_ack_per_minute", rows[i].label+`,result="success"`, float64(rows[i].AckSuccess))
		e.sample("queen_queue_ack_per_minute", rows[i].label+`,result="failed"`, float64(rows[i].AckFailed))
	}
	e.family(series{"queen_queue_pop_lag_milliseconds", gauge, "Age of messages at delivery in its newest minute; no sample without a delivery."})
	for i := range rows {
		if r := &rows[i]; r.LagCount > 0 {
			e.sample("queen_queue_pop_lag_milliseconds", r.label+`,stat="avg"`, r.LagMs/float64(r.LagCount))
			e.sample("queen_queue_pop_lag_milliseconds", r.label+`,stat="max"`, float64(r.MaxLagMs))
		}
	}
}

// scrapeStanding writes how far behind queues and groups are, and what queues keep.
func scrapeStanding(e *exposition, now standing, limit int) {
	var queues, groups []db.LagRow
	for _, row := range now.lags {
		if row.ConsumerGroup == nil {
			queues = append(queues, row)
		} else {
			groups = append(groups, row)
		}
	}
	queue := func(r *db.LagRow) string { return label("queue", r.Queue) }
	each(e, series{"queen_dlq_depth_by_queue", gauge, "Dead letters of the queue, as the reconciler counted them last."}, queues,
		func(r *db.LagRow) (string, float64, bool) { return queue(r), float64(r.DeadLetters), r.DeadLetters > 0 })
	each(e, series{"queen_queue_lag_messages", gauge, "Messages that the slowest group of the queue has not completed, as the reconciler counted them last."}, queues,
		func(r *db.LagRow) (string, float64, bool) { return queue(r), float64(r.Pending), true })
	each(e, series{"queen_queue_lag_seconds", gauge, "Age of the oldest of them at that time."}, queues,
		func(r *db.LagRow) (string, float64, bool) { return queue(r), float64(r.LagSeconds), true })
	each(e, series{"queen_group_lag_messages", gauge, "Messages that the group has not completed on the queue."}, groups,
		func(r *db.LagRow) (string, float64, bool) {
			return queue(r) + "," + label("group", *r.ConsumerGroup), float64(r.Pending), true
		})
	each(e, series{"queen_queue_retained_bytes", gauge, "Bytes of payload that the queue keeps on disk, compressed, as measured last."}, now.bytes,
		func(r *db.RetainedBytesRow) (string, float64, bool) {
			return label("queue", r.Queue), float64(r.RetainedBytes), true
		})
	var whole int64
	if len(now.bytes) > 0 {
		whole = now.bytes[0].Series
	}
	e.family(series{"queen_lag_series_hidden", gauge, "Series beyond REGENT_METRICS_LAG_SERIES, which are not shown: the least ones, by lag or by retained bytes."})
	e.sample("queen_lag_series_hidden", label("of", "queue"), hidden(queues))
	e.sample("queen_lag_series_hidden", label("of", "group"), hidden(groups))
	e.sample("queen_lag_series_hidden", label("of", "retained_bytes"), float64(whole-int64(len(now.bytes))))
}

// hidden is how many rows there are beyond those read.
func hidden(rows []db.LagRow) float64 {
	if len(rows) == 0 {
		return 0
	}
	return float64(rows[0].Series - int64(len(rows)))
}

// How long what was read for a scrape serves others, so that many scrapers ask
// the database no more often than one (F129).
const (
	blockFresh    = time.Second
	standingFresh = 15 * time.Second
)

// kept is a value that is read again when it is old. Those that want it
// meanwhile wait for the one that reads it.
type kept[T any] struct {
	fresh time.Duration
	// behind, unless nil, reads an old value again behind the back of whoever asked,
	// who gets the old one.
	behind func(func())

	mu      sync.Mutex
	value   T
	read    time.Time
	reading bool
}

func (k *kept[T]) get(ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	return k.getUnless(ctx, func(T) bool { return time.Since(k.read) < k.fresh }, read)
}

// getUnless reads the value again unless it is fresh by another measure than its age.
func (k *kept[T]) getUnless(ctx context.Context, fresh func(T) bool, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !k.read.IsZero() && fresh(k.value):
		return k.value, nil
	case k.read.IsZero() || k.behind == nil:
		value, err := read(ctx)
		if err == nil {
			k.value, k.read = value, time.Now()
		}
		return value, err
	case !k.reading:
		k.reading = true
		k.behind(func() {
			value, err := read(context.WithoutCancel(ctx))
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.reading = false; err == nil {
				k.value, k.read = value, time.Now()
			}
		})
	}
	return k.value, nil
}

// recent sums the last calls up: items a call, and two quantiles in milliseconds.
func (r *callRing) recent() (items, median, high float64) {
	n := int(min(r.fired.Load(), ringSize))
	if n == 0 {
		return 0, 0, 0
	}
	took, sum := make([]int64, n), int64(0)
	for i := range took {
		took[i] = r.took[i].Load()
		sum += int64(r.carried[i].Load())
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(n-1)+0.5)]) / 1e6 }
	return float64(sum) / float64(n), at(0.5), at(0.99)
}
