package api

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files")

var seriesGolden = filepath.Join("..", "testdata", "golden", "prometheus-series.txt")

// scraped is the answer of a scrape, as the library of Prometheus reads it.
func (ts *testServer) scraped() map[string]*dto.MetricFamily {
	ts.t.Helper()
	r := ts.get("/metrics/prometheus")
	require.Equal(ts.t, http.StatusOK, r.Status)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(append(r.Body, '\n')))
	require.NoError(ts.t, err)
	return families
}

// value is one sample; the labels are name=value.
func value(t *testing.T, families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	t.Helper()
	require.Contains(t, families, name)
	for _, m := range families[name].Metric {
		var has []string
		for _, l := range m.Label {
			has = append(has, l.GetName()+"="+l.GetValue())
		}
		if slices.Equal(has, labels) {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	require.Fail(t, "no such sample", "%s%v", name, labels)
	return 0
}

// fresh lets every scrape ask the database.
func (ts *testServer) fresh() *testServer {
	ts.dbBlock.fresh, ts.standing.fresh, ts.standing.behind, ts.minutes.behind = 0, 0, nil, nil
	return ts
}

// Every name, its type and its labels, in a golden file, as a running server has
// them, and each with its help (spec 9).
func TestSeriesOfPrometheus(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t).fresh()
	ts.pushOne(`a"b\c`, "p", `1`)
	ts.configure(`{"queue":"nl"}`)
	ts.sql(`UPDATE queen.queues SET name = E'n\nl' WHERE name = 'nl'`)
	ts.sql(`INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_message_count) SELECT now(), id, 7 FROM queen.queues WHERE name = E'n\nl'`)
	got := ts.pop(`a"b\c`, "consumerGroup=g&subscriptionMode=all")
	ts.ackAll(got, "dlq")
	ts.pushOne(`a"b\c`, "p", `1`)
	ts.pop("q", "")
	waiting := ts.popLater("/api/v1/pop/queue/q?wait=true&timeout=60000")
	ts.parked(1)
	ts.flush()
	ts.sql(`INSERT INTO queen.stats (stat_type, stat_key, queue_id, pending_messages, max_lag_seconds, dead_letter_messages) SELECT 'queue', id::text, id, 3, 4, 1 FROM queen.queues WHERE name LIKE 'a%' ON CONFLICT DO NOTHING`)
	ts.sql(`INSERT INTO queen.maintenance_leases (task, period_ms, next_due_at, runs, last_duration_ms, enabled) VALUES ('late', 1000, now() - interval '1 hour', 7, 1500, true), ('paused', 1000, now() - interval '1 hour', 0, NULL, false)
		ON CONFLICT DO NOTHING`)
	ts.sql(`UPDATE queen.stats SET retained_bytes = 4096 WHERE stat_type = 'queue' AND queue_id = (SELECT id FROM queen.queues WHERE name LIKE 'a%')`)
	families := ts.scraped()
	ts.pushOne("q", "p", `1`)
	<-waiting

	var lines []string
	for name, family := range families {
		require.NotEmpty(t, family.GetHelp(), name)
		labels := map[string]bool{}
		for _, m := range family.Metric {
			var names []string
			for _, l := range m.Label {
				names = append(names, l.GetName())
			}
			labels[strings.Join(names, ",")] = true
		}
		require.Len(t, labels, 1, "%s has one set of labels", name)
		for set := range labels {
			lines = append(lines, strings.TrimSpace(name+" "+strings.ToLower(family.GetType().String())+" "+set))
		}
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(seriesGolden, []byte(text), 0o644))
	}
	want, err := os.ReadFile(seriesGolden)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./api -run TestSeriesOfPrometheus -update")

	require.EqualValues(t, 7, value(t, families, "queen_queue_push_messages_per_minute", "queue=n\nl"), "labels are escaped")
	require.EqualValues(t, 1, value(t, families, "queen_queue_ack_per_minute", `queue=a"b\c`, "result=failed"))
	require.EqualValues(t, 1, value(t, families, "queen_parked_long_polls", "queue=q"))
	require.EqualValues(t, 1, value(t, families, "queen_group_lag_messages", `queue=a"b\c`, "group=g"))
	require.EqualValues(t, 4, value(t, families, "queen_queue_lag_seconds", `queue=a"b\c`))
	require.EqualValues(t, 1, value(t, families, "queen_dlq_depth", "scope=cluster"))
	require.EqualValues(t, 4096, value(t, families, "queen_retained_bytes", "scope=cluster"))
	require.EqualValues(t, 4096, value(t, families, "queen_queue_retained_bytes", `queue=a"b\c`))
	require.EqualValues(t, 7, value(t, families, "queen_task_runs_total", "task=late"))
	require.EqualValues(t, 1.5, value(t, families, "queen_task_duration_seconds", "task=late"))
	require.GreaterOrEqual(t, value(t, families, "queen_task_overdue_seconds", "task=late"), 3600.0)
	require.EqualValues(t, 0, value(t, families, "queen_task_overdue_seconds", "task=paused"), "S-9")
	require.EqualValues(t, 0, value(t, families, "queen_task_enabled", "task=paused"), "S-9")
	require.EqualValues(t, 2, value(t, families, "queen_cluster_push_messages_total", "scope=cluster"))
	require.EqualValues(t, 1, value(t, families, "queen_cluster_dlq_total", "scope=cluster"))
	require.EqualValues(t, 2, value(t, families, "queen_batches_fired_total", "op=push"))
}

// Tenants that use one name share a series; the cap hides the least lag and says
// so; a quiet queue is left out.
func TestSeriesByQueue(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(c *Config) { c.MetricsLimit = 2 }).fresh()
	for i := range 3 {
		ts.pushOne(fmt.Sprintf("q%d", i), "p", `1`)
		ts.pop(fmt.Sprintf("q%d", i), "consumerGroup=g&subscriptionMode=all")
	}
	ts.pushOne("q2", "p", `1`)
	ts.pushOne("q1", "r", `1`)
	ts.flush()
	ts.sql(`WITH other AS (INSERT INTO queen.queues (tenant_id, name) VALUES (gen_random_uuid(), 'q1') RETURNING id)
		INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_message_count, avg_lag_ms, lag_count, max_lag_ms) SELECT date_trunc('minute', now()), id, 5, 8000, 1, 8000 FROM other`)
	ts.sql(`UPDATE queen.queue_lag_metrics m SET avg_lag_ms = 2000, max_lag_ms = 2000 FROM queen.queues q WHERE q.id = m.queue_id AND m.pop_count > 0`)
	ts.sql(`UPDATE queen.queue_lag_metrics m SET bucket_time = bucket_time - interval '6 minutes' FROM queen.queues q WHERE q.id = m.queue_id AND q.name = 'q0'`)
	ts.sql(`INSERT INTO queen.stats (stat_type, stat_key, queue_id, retained_bytes) SELECT 'queue', id::text, id, CASE name WHEN 'q0' THEN 5 WHEN 'q1' THEN 20 ELSE 30 END FROM queen.queues
		ON CONFLICT ON CONSTRAINT stats_pkey DO UPDATE SET retained_bytes = EXCLUDED.retained_bytes`)
	families := ts.scraped()
	require.EqualValues(t, 40, value(t, families, "queen_queue_retained_bytes", "queue=q1"), "of two tenants")
	require.Len(t, families["queen_queue_retained_bytes"].Metric, 2)
	require.EqualValues(t, 1, value(t, families, "queen_lag_series_hidden", "of=retained_bytes"), "q0 keeps least")
	require.EqualValues(t, 75, value(t, families, "queen_retained_bytes", "scope=cluster"))
	require.EqualValues(t, 5+2, value(t, families, "queen_queue_push_messages_per_minute", "queue=q1"))
	require.EqualValues(t, 5000, value(t, families, "queen_queue_pop_lag_milliseconds", "queue=q1", "stat=avg"))
	require.EqualValues(t, 8000, value(t, families, "queen_queue_pop_lag_milliseconds", "queue=q1", "stat=max"))
	require.Len(t, families["queen_queue_push_messages_per_minute"].Metric, 2, "q0 is quiet")
	require.Len(t, families["queen_group_lag_messages"].Metric, 2)
	require.EqualValues(t, 2, value(t, families, "queen_group_lag_messages", "queue=q2", "group=g"))
	require.EqualValues(t, 2, value(t, families, "queen_group_lag_messages", "queue=q1", "group=g"), "C-24: r, which g has not touched, is owed too")
	require.EqualValues(t, 1, value(t, families, "queen_lag_series_hidden", "of=group"))
	require.Less(t, value(t, families, "queen_queue_metrics_age_seconds", "queue=q1"), 120.0)
}

// Spec 9: without the database the series of the process remain. F129: scrapers
// that come together ask the database once.
func TestScrapeWithoutTheDatabaseAndInCrowds_F129(t *testing.T) {
	t.Parallel()
	ts, wire := newCutServer(t)
	ts.dbBlock.fresh = time.Hour // a second, but for a slow machine
	require.Equal(t, http.StatusOK, ts.get("/metrics/prometheus").Status)
	calls := ts.Server.count.get(jobs)
	for range 20 {
		ts.scraped()
	}
	require.LessOrEqual(t, ts.Server.count.get(jobs)-calls, int64(3), "what was read just now is new enough")
	ts.fresh()
	wire.set(true)
	families := ts.scraped()
	require.Contains(t, families, "queen_process_push_requests_total")
	require.NotContains(t, families, "queen_cluster_push_requests_total")
	require.Positive(t, value(t, ts.scraped(), "queen_process_db_errors_total"), "of the scrape before")
	var metrics ProcessMetrics
	ts.get("/metrics").into(t, &metrics)
	require.Positive(t, metrics.Memory.RSS)
}

// A scrape after a flush does not wait for the new minutes of ten thousand queues:
// it gets the old ones, and one of the next gets the new ones.
func TestMinutesAreReadBehindTheScrape(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.dbBlock.fresh = 0
	pushed := func() float64 {
		return value(t, ts.scraped(), "queen_queue_push_messages_per_minute", "queue=q")
	}
	ts.pushOne("q", "p", `1`)
	ts.flush()
	require.EqualValues(t, 1, pushed(), "the first scrape waits")
	ts.sql(`UPDATE queen.queue_lag_metrics SET push_message_count = 5`)
	require.EqualValues(t, 1, pushed(), "nobody flushed")
	ts.sql(`UPDATE queen.worker_metrics_summary SET updated_at = updated_at + interval '1 second'`)
	require.EqualValues(t, 1, pushed(), "behind its back")
	require.Eventually(t, func() bool { return pushed() == 5 }, 30*time.Second, 20*time.Millisecond)

	// Before the first flush of all there is nothing to read again.
	ts = newTestServerOn(t, ts.db)
	ts.dbBlock.fresh = 0
	ts.sql(`UPDATE queen.worker_metrics_summary SET updated_at = NULL`)
	require.EqualValues(t, 5, pushed())
	require.Eventually(t, func() bool {
		asked := ts.pool.Stat().AcquireCount()
		return pushed() == 5 && ts.pool.Stat().AcquireCount()-asked == 1
	}, 20*time.Second, time.Millisecond, "the totals alone; others may ask now and then")
}

// TestMetricsOfTheProcess: the JSON answer of /metrics (spec 5.1).
func TestMetricsOfTheProcess(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	ts.pop("q", "autoAck=true&consumerGroup=g&subscriptionMode=all")
	var got map[string]any
	ts.get("/metrics").into(t, &got)
	require.Equal(t, map[string]any{"total": 2.0, "rate": 0.0}, got["requests"])
	require.Equal(t, map[string]any{"total": 2.0, "rate": 0.0}, got["messages"])
	require.Equal(t, map[string]any{"user": 0.0, "system": 0.0}, got["cpu"])
	require.Equal(t, 0.0, got["memory"].(map[string]any)["heapUsed"])
	require.Positive(t, got["uptime"])
}

// knownSeries are the names of the golden file with their labels, and up.
func knownSeries(t *testing.T) map[string][]string {
	t.Helper()
	golden, err := os.ReadFile(seriesGolden)
	require.NoError(t, err)
	known := map[string][]string{"up": {"job", "instance"}}
	for line := range strings.Lines(string(golden)) {
		fields := append(strings.Fields(line), "")
		known[fields[0]] = append(strings.Split(fields[2], ","), "job", "instance")
	}
	return known
}

// knows checks that an expression parses and names series and labels that exist,
// at least one.
func knows(t *testing.T, known map[string][]string, where, expr string) {
	t.Helper()
	parsed, err := metricsql.Parse(expr)
	require.NoError(t, err, where)
	used, labels := 0, map[string]bool{}
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		m, ok := e.(*metricsql.MetricExpr)
		if !ok {
			return
		}
		name := m.LabelFilterss[0][0].Value
		require.NotNil(t, known[name], "%s: there is no series %s", where, name)
		used++
		for _, filter := range m.LabelFilterss[0][1:] {
			require.Contains(t, known[name], filter.Label, where)
		}
		for _, l := range known[name] {
			labels[l] = true
		}
	})
	require.Positive(t, used, where)
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		var by metricsql.ModifierExpr
		switch e := e.(type) {
		case *metricsql.AggrFuncExpr:
			by = e.Modifier
		case *metricsql.BinaryOpExpr:
			by = e.GroupModifier
		}
		for _, l := range by.Args {
			require.True(t, labels[l], "%s: no series of it has the label %s", where, l)
		}
	})
}

// The alert rules parse, and name no series and no label that does not exist.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	known := knownSeries(t)
	text, err := os.ReadFile("alerts.yaml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	rules := 0
	for _, group := range file.Groups {
		require.NotEmpty(t, group.Name)
		for _, rule := range group.Rules {
			rules++
			require.NotEmpty(t, rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["action"], rule.Alert)
			require.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			_, err := time.ParseDuration(rule.For)
			require.NoError(t, err, rule.Alert)
			knows(t, known, rule.Alert, rule.Expr)
		}
	}
	require.GreaterOrEqual(t, rules, 8)
}

var (
	labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// The dashboard is one that Grafana can lay out, and names no series, no label
// and no variable that does not exist.
func TestDashboard(t *testing.T) {
	t.Parallel()
	known := knownSeries(t)
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var board struct {
		Title, UID    string
		SchemaVersion int
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Datasource  struct{ Type, UID string }
			Targets     []struct{ RefID, Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	require.Equal(t, []any{"Regent", "regent"}, []any{board.Title, board.UID})
	require.Positive(t, board.SchemaVersion)
	variables := []string{"$__rate_interval", "5m"}
	for _, v := range board.Templating.List {
		variables = append(variables, "$"+v.Name, "any")
		if v.Type == "query" {
			found := labelValues.FindStringSubmatch(v.Definition)
			require.NotNil(t, found, v.Name)
			knows(t, known, v.Name, strings.NewReplacer(variables...).Replace(found[1]))
			require.Contains(t, known[strings.SplitN(found[1], "{", 2)[0]], found[2], v.Name)
		}
	}
	fill := strings.NewReplacer(variables...)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], "the id of %s is taken", p.Title)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "%s covers it", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		if p.Type == "row" {
			continue
		}
		require.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			expr := fill.Replace(target.Expr)
			require.NotContains(t, expr, "$", p.Title)
			knows(t, known, p.Title, expr)
			for _, l := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
				require.True(t, strings.Contains(expr, " by (") == regexp.MustCompile(`by \([^)]*\b`+l[1]+`\b`).MatchString(expr), "%s: the legend has %s", p.Title, l[1])
			}
		}
	}
	require.Greater(t, len(board.Panels), 20)
}

// BenchmarkScrape is the row "/metrics/prometheus at 10,000 queues" of perf.md 4.
func BenchmarkScrape(b *testing.B) {
	ts := newTestServer(b)
	ts.dbBlock.fresh = 0
	for _, sql := range []string{
		`INSERT INTO queen.queues (name) SELECT 'queue-' || i FROM generate_series(1, 10000) i`,
		`INSERT INTO queen.queue_lag_metrics (bucket_time, queue_id, push_request_count, push_message_count, pop_count, lag_count, avg_lag_ms, max_lag_ms)
			SELECT date_trunc('minute', now()) - m * interval '1 minute', q.id, 1, 2, 3, 4, 5, 6 FROM queen.queues q, generate_series(-3, 6) m ORDER BY 1, q.id`,
		`INSERT INTO queen.log_partitions (queue_id, name, last_offset, settled) SELECT id, 'Default', 9, true FROM queen.queues`,
		`INSERT INTO queen.log_consumers (partition_id, consumer_group, committed) SELECT id, 'g', 4 FROM queen.log_partitions`,
		`INSERT INTO queen.stats (stat_type, stat_key, queue_id, pending_messages) SELECT 'queue', id::text, id, 5 FROM queen.queues`,
		`ANALYZE queen.queues, queen.queue_lag_metrics, queen.log_partitions, queen.log_consumers, queen.stats`,
	} {
		ts.sql(sql)
	}
	ts.flush()
	best := time.Hour
	for b.Loop() {
		began := time.Now()
		text := ts.scrape(context.Background())
		best = min(best, time.Since(began))
		require.Greater(b, bytes.Count(text, []byte{'\n'}), 120_000)
	}
	b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
}
