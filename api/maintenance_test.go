package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	pushSwitch = "/api/v1/system/maintenance"
	popSwitch  = "/api/v1/system/maintenance/pop"
)

// turnSwitch turns a maintenance switch through a server.
func (ts *testServer) turnSwitch(target string, on bool) map[string]any {
	ts.t.Helper()
	body := `{"enabled":false}`
	if on {
		body = `{"enabled":true}`
	}
	r := ts.post(target, body)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got map[string]any
	r.into(ts.t, &got)
	return got
}

func (ts *testServer) maintenance() (status MaintenanceStatus) {
	ts.t.Helper()
	r := ts.get(pushSwitch)
	require.Equal(ts.t, http.StatusOK, r.Status)
	r.into(ts.t, &status)
	return status
}

func TestMaintenanceSwitchesHaveTheKeysOfTheWire(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	var got map[string]any
	ts.get(pushSwitch).into(t, &got)
	require.Equal(t, map[string]any{
		"maintenanceMode": false, "popMaintenanceMode": false, "bufferedMessages": 0., "bufferHealthy": false,
		"bufferStats": map[string]any{"pendingCount": 0., "failedCount": 0., "dbHealthy": true,
			"failedFiles": map[string]any{"count": 0., "totalBytes": 0., "totalMB": 0., "failoverCount": 0., "qos0Count": 0.}},
	}, got)
	on := ts.turnSwitch(pushSwitch, true)
	require.IsType(t, "", on["message"])
	delete(on, "message")
	require.Equal(t, map[string]any{"maintenanceMode": true, "bufferedMessages": 0., "bufferHealthy": false}, on)
	off := ts.turnSwitch(pushSwitch, false)
	require.Equal(t, false, off["maintenanceMode"])
	pop := ts.turnSwitch(popSwitch, true)
	require.Equal(t, true, pop["popMaintenanceMode"])
	require.IsType(t, "", pop["message"])
	var shared map[string]any
	ts.get("/api/v1/system/shared-state").into(t, &shared)
	require.Equal(t, map[string]any{"enabled": false, "reason": "single_node_segments_broker", "maintenance_mode": false, "pop_maintenance_mode": true}, shared)
	ts.get(popSwitch).into(t, &pop)
	require.Equal(t, true, pop["popMaintenanceMode"])
	for _, target := range []string{pushSwitch, popSwitch} {
		for _, body := range []string{`{}`, `{"enabled":null}`, `{"enabled":"true"}`, `{"enabled":1}`, `[true]`, `{"enabled":tru`, `{"Enabled":true}`, ``} {
			r := ts.post(target, body)
			require.Equal(t, http.StatusBadRequest, r.Status, body)
			if body != "" {
				require.Equal(t, "enabled (boolean) is required", r.failure(t).Text, body)
			}
		}
	}
	require.False(t, ts.maintenance().MaintenanceMode, "what is refused turns nothing")
}

// Every server follows, whoever turns a switch and however; a parked pop goes
// home at once (O-3), acks go on.
func TestMaintenanceSwitchesReachEveryServer(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db)
	ts.pushOne("q", "p", "1")
	got := ts.pop("q", "subscriptionMode=all")
	parked := other.popLater("/api/v1/pop/queue/parked?wait=true&timeout=20000")
	other.parked(1)

	began := time.Now()
	ts.turnSwitch(popSwitch, true)
	require.Equal(t, http.StatusNoContent, ts.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all").Status, "at once where it was turned")
	require.Equal(t, http.StatusNoContent, (<-parked).Status)
	require.Less(t, time.Since(began), 10*time.Second)
	require.Equal(t, http.StatusNoContent, other.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&wait=true&timeout=20000").Status)
	require.True(t, ts.ackAll(got, "completed")[0].Success)
	require.Equal(t, "queued", ts.pushOne("q", "p", "2").Status)

	ts.sql(`SELECT queen.set_maintenance_v1(p_pop_paused => false)`)
	require.Eventually(t, func() bool {
		return other.get("/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all").Status == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond)
}

// Without a spool a paused push is refused with the item array, stores nothing,
// and a server that starts meanwhile refuses from its first request on.
func TestPausedPushWithoutASpoolIsRefused_P5(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.sql(`SELECT queen.set_maintenance_v1(true)`)
	late := newTestServerOn(t, ts.db)
	r := late.post("/api/v1/push", `{"items":[{"queue":"q","payload":1,"transactionId":"x"},{"queue":"r","payload":2}]}`)
	require.Equal(t, http.StatusServiceUnavailable, r.Status)
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	var results []PushResult
	r.into(t, &results)
	require.Len(t, results, 2)
	for i, result := range results {
		require.Equal(t, "failed", result.Status)
		require.Equal(t, i, result.Index)
		require.NotEmpty(t, result.Error)
	}
	require.Equal(t, "x", results[0].TransactionID)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`))
	late.turnSwitch(pushSwitch, false)
	require.Equal(t, "queued", late.pushOne("q", "p", "1").Status)
}
