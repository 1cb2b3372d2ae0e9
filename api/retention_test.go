package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRetentionPreviewAndSeries: what the next sweep would delete, what a dry run
// of configure would bring, and the series of what went (issue 4 items 6 and 9,
// http-api 5.5, R-23, F101).
func TestRetentionPreviewAndSeries(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	exec := func(sql string) {
		_, err := ts.pool.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	for range 3 {
		ts.pushOne("ns.task", "p", `1`)
	}
	exec(`UPDATE queen.log_segments SET created_at = created_at - interval '2 hours'`)
	exec(`UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '2 hours'`)
	const path = "/api/v1/resources/queues/ns.task/retention-preview"
	got := ts.document(path)
	require.Equal(t, []any{}, got["wouldDelete"], "R-1: opt-in")

	r := ts.post("/api/v1/configure", `{"queue":"ns.task","dryRun":true,"options":{"retentionEnabled":true,"retentionSeconds":3600}}`)
	require.Equal(t, http.StatusOK, r.Status, string(r.Body))
	var dry map[string]any
	r.into(t, &dry)
	require.Equal(t, false, dry["configured"])
	require.Equal(t, true, dry["dryRun"])
	require.Equal(t, 3600., dry["options"].(map[string]any)["retentionSeconds"])
	require.Equal(t, 3., dry["retention"].(map[string]any)["totals"].(map[string]any)["messages"])
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE retention_enabled`), "nothing is written")
	r = ts.post("/api/v1/configure", `{"queue":"ns.task","dryRun":"yes"}`)
	require.Equal(t, http.StatusBadRequest, r.Status)
	require.Contains(t, string(r.Body), `"invalid":"dryRun"`)
	// At the top level it is no option either.
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"ns.task","dryRun":false,"retentionEnabled":true,"retentionSeconds":3600}`).Status)

	got = ts.document(path)
	require.Equal(t, []any{map[string]any{"rule": "retention", "partitions": 1., "segments": 3., "messages": 3., "unread": 3., "bytes": 3.}}, got["wouldDelete"])
	require.Equal(t, 3, ts.count(`SELECT count(*) FROM queen.log_segments`), "nothing is deleted")
	require.Equal(t, http.StatusNotFound, ts.get("/api/v1/resources/queues/none/retention-preview").Status)
	require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/resources/queues/a%00b/retention-preview").Status)

	exec(`SELECT queen.log_retention_step_v1(d.partition_id, d.age_before) FROM queen.log_retention_due_v1() d WHERE d.phase = 1`)
	series := ts.document("/api/v1/analytics/retention")
	require.Equal(t, 1., series["bucketMinutes"])
	require.NotContains(t, series, "rows")
	want := map[string]any{"retentionMsgs": 3., "completedRetentionMsgs": 0., "evictionMsgs": 0., "totalMsgs": 3., "eventCount": 1.,
		"rules": map[string]any{"retention": map[string]any{"messages": 3., "unread": 3., "bytes": 3., "rows": 3.}}}
	require.Equal(t, want, series["totals"])
	require.Len(t, series["series"], 1)
	grouped := ts.document("/api/v1/analytics/retention?groupBy=queue&queue=ns.task")["rows"].([]any)[0].(map[string]any)
	require.Equal(t, "ns.task", grouped["key"])
	require.Equal(t, 1., grouped["queues"])
	require.Empty(t, ts.document("/api/v1/analytics/retention?queue=other")["series"])
	require.Equal(t, 360., ts.document("/api/v1/analytics/retention?from=2026-01-01T00:00:00Z")["bucketMinutes"])
	for _, bad := range []string{"groupBy=partition", "from=x", "queue=a%00b"} {
		require.Equal(t, http.StatusBadRequest, ts.get("/api/v1/analytics/retention?"+bad).Status, bad)
	}
	require.Contains(t, string(ts.get("/api/v1/analytics/retention?groupBy=partition").Body), "bad groupBy")
}
