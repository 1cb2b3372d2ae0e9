package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// absurdStamps are written by hand wherever there is a stamp, absurdNumbers
// wherever there is an option that is a number.
var (
	absurdStamps  = []string{"infinity", "-infinity", "99999-01-01 UTC", "0044-03-15 BC"}
	absurdNumbers = []string{"-1", "-2147483648", "2147483647"}
)

// absurdRows is what somebody may write by hand; {lanes} are the partitions of
// the queue that it befalls, {absurd} is one of the above.
var absurdRows = map[string][]string{
	`UPDATE queen.log_segments SET created_at = '{absurd}' WHERE partition_id IN {lanes} AND base_offset = 1`:                                                                   absurdStamps,
	`UPDATE queen.log_segments SET created_at = '{absurd}' WHERE partition_id IN {lanes} AND base_offset = 2`:                                                                   absurdStamps,
	`UPDATE queen.log_txns SET created_at = '{absurd}' WHERE partition_id IN {lanes}`:                                                                                           absurdStamps,
	`UPDATE queen.log_partitions SET last_stamp = '{absurd}', last_offset = 2, settled = true WHERE id IN {lanes}`:                                                              absurdStamps,
	`UPDATE queen.log_partitions SET last_write_at = '{absurd}' WHERE id IN {lanes}`:                                                                                            absurdStamps,
	`UPDATE queen.log_partitions SET oldest_live_at = '{absurd}', oldest_txn_at = '{absurd}' WHERE id IN {lanes}`:                                                               absurdStamps,
	`UPDATE queen.log_partitions SET created_at = '{absurd}' WHERE id IN {lanes}`:                                                                                               absurdStamps,
	`UPDATE queen.log_consumers SET lease_expires_at = '{absurd}' WHERE partition_id IN {lanes}`:                                                                                absurdStamps,
	`UPDATE queen.log_consumers SET lease_acquired_at = '{absurd}', created_at = '{absurd}' WHERE partition_id IN {lanes}`:                                                      absurdStamps,
	`UPDATE queen.log_dlq SET failed_at = '{absurd}' WHERE partition_id IN {lanes}`:                                                                                             absurdStamps,
	`UPDATE queen.group_activity SET last_active_at = '{absurd}', leased_until = '{absurd}' WHERE queue_id = {queue}`:                                                           absurdStamps,
	`UPDATE queen.consumer_groups_metadata SET subscription_timestamp = '{absurd}', created_at = '{absurd}' WHERE queue_id = {queue}`:                                           absurdStamps,
	`UPDATE queen.queues SET created_at = '{absurd}' WHERE id = {queue}`:                                                                                                        absurdStamps,
	`UPDATE queen.queues SET lease_time = {absurd}, retry_limit = {absurd}, retry_delay = {absurd}, delayed_processing = {absurd}, window_buffer = {absurd} WHERE id = {queue}`: absurdNumbers,
	`UPDATE queen.queues SET retention_seconds = {absurd}, completed_retention_seconds = {absurd}, max_wait_time_seconds = {absurd}, dedup_window_seconds = {absurd},
		retention_bytes = {absurd}, retention_messages = {absurd}, group_idle_seconds = {absurd}, dead_letter_retention_seconds = {absurd}, delete_retention_seconds = {absurd},
		min_compaction_lag_seconds = {absurd}, retention_sink_hold = 's', retention_sink_hold_max_seconds = {absurd} WHERE id = {queue}`: absurdNumbers,
	`UPDATE queen.log_consumers SET {absurd} WHERE partition_id IN {lanes}`: {"batch_end = NULL", "worker_id = NULL", "lease_expires_at = NULL", "lease_acquired_at = NULL, attempt_offset = NULL",
		"committed = 9223372036854775806, batch_end = NULL, worker_id = NULL", "committed = -9223372036854775807", "batch_end = 9223372036854775806",
		"batch_retry_count = 2147483647, attempt_count = 2147483647, total_consumed = 9223372036854775807"},
	`UPDATE queen.log_segments SET created_at = created_at - base_offset * interval '{absurd}' WHERE partition_id IN {lanes}`: {"1 day", "400 years"},
}

// TestAbsurdRows: whatever somebody wrote into a row by hand, no step and no route
// fails with it, for its own queue or for others; what they could not hold is
// refused when it is written (design 7, F082, F089, F091).
func TestAbsurdRows(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	cases := map[string]string{}
	for statement, values := range absurdRows {
		for _, value := range values {
			queue := fmt.Sprintf("q%d", len(cases))
			sql := strings.ReplaceAll(statement, "{absurd}", value)
			cases[queue] = sql
			ts.sql(`SELECT queen.configure_queue_v1($1, '{"retentionEnabled": true, "retentionSeconds": 3600, "completedRetentionSeconds": 60, "groupIdleSeconds": 300, "deadLetterRetentionSeconds": 60, "cleanupPolicy": "compact,delete"}')`, queue)
			ts.sql(`SELECT count(*) FROM generate_series(1, 3) i, queen.push_v1($1, to_json(i), 'p', NULL, 'k')`, queue)
			ts.sql(`SELECT count(*) FROM queen.pop_v1($1, 1, 'g', p_subscription_mode => 'all')`, queue)
			ts.sql(`INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload) SELECT p.id, 'g', 0, gen_random_uuid(), 'x', '1'
				FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = $1`, queue)
			sql = strings.NewReplacer("{lanes}", "(SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE q.name = '"+queue+"')",
				"{queue}", "(SELECT id FROM queen.queues WHERE name = '"+queue+"')").Replace(sql)
			_, err := ts.db.Pool.Exec(t.Context(), sql)
			var refused *pgconn.PgError
			if err != nil && (!errors.As(err, &refused) || refused.Code != "23514") {
				require.NoError(t, err, sql)
			}
		}
	}
	bad := map[string]string{}
	look := func(queue, method, target, body string) {
		r, err := ts.try(t.Context(), method, target, body)
		if err != nil || r.Status >= http.StatusInternalServerError {
			bad[method+" "+target+"\n"+cases[queue]] = fmt.Sprintf("%d %s %v", r.Status, r.Body, err)
		}
	}
	for queue := range cases {
		for _, target := range []string{"/api/v1/resources/queues/{q}", "/api/v1/resources/queues/{q}/depth", "/api/v1/resources/queues/{q}/retention-preview",
			"/api/v1/messages?queue={q}", "/api/v1/messages/latest?queue={q}&partition=p&key=k", "/api/v1/status/queues/{q}",
			"/api/v1/pop/queue/{q}?consumerGroup=g&batch=1", "/api/v1/pop/queue/{q}?consumerGroup=h&subscriptionMode=all&autoAck=true"} {
			look(queue, "GET", strings.ReplaceAll(target, "{q}", queue), "")
		}
		look(queue, "POST", "/api/v1/push", `{"items":[{"queue":"`+queue+`","partition":"p","payload":1,"key":"k"}]}`)
		look(queue, "POST", "/api/v1/fetch", `{"entries":[{"queue":"`+queue+`","partition":"p","offset":0}]}`)
		look(queue, "POST", "/api/v1/partitions/changed", `{"entries":[{"queue":"`+queue+`"}]}`)
	}
	for range 2 {
		for _, target := range []string{"/api/v1/resources/queues", "/api/v1/resources/overview", "/api/v1/consumer-groups", "/api/v1/consumer-groups/g", "/api/v1/consumer-groups/lagging",
			"/api/v1/messages", "/api/v1/dlq", "/api/v1/status", "/api/v1/status/queues", "/api/v1/status/analytics", "/api/v1/analytics/queue-lag",
			"/api/v1/analytics/retention", "/api/v1/analytics/workload", "/api/v1/analytics/dlq-signatures", "/api/v1/analytics/partition-liveness",
			"/metrics/prometheus", "/metrics"} {
			look("", "GET", target, "")
		}
		look("", "POST", "/api/v1/stats/refresh", "")
		for _, sql := range []string{`CALL queen.run_maintenance_v1()`, `SELECT count(*) FROM queen.partition_pins`, `SELECT count(*) FROM queen.queue_status`,
			`SELECT count(*) FROM queen.log_retention_cutoffs_v1()`, `SELECT count(*) FROM queen.log_partitions p, queen.log_compact_step_v1(p.id)`,
			`SELECT count(*) FROM queen.log_walk_watermarks_step_v1()`, `SELECT count(*) FROM queen.log_cleanup_partitions_step_v1()`,
			`SELECT count(*) FROM queen.doctor_v1()`, `SELECT count(*) FROM queen.verify_v1()`} {
			if _, err := ts.db.Pool.Exec(t.Context(), sql); err != nil {
				bad[sql] = err.Error()
			}
		}
	}
	for what, why := range bad {
		t.Errorf("%s\n%s", what, why)
	}
}
