package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
)

// Trials of the list of faults that no other test makes.

// together runs n calls at once and counts the answers by status.
func (ts *testServer) together(n int, call func(i int) (method, target, body string)) map[int]int {
	ts.t.Helper()
	var mu sync.Mutex
	var calls sync.WaitGroup
	seen := map[int]int{}
	for i := range n {
		calls.Go(func() {
			method, target, body := call(i)
			r, err := ts.try(context.Background(), method, target, body)
			if err != nil {
				ts.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.Status]++
		})
	}
	calls.Wait()
	return seen
}

func item(queue, partition, payload string) string {
	return fmt.Sprintf(`{"queue":%q,"partition":%q,"payload":%s}`, queue, partition, payload)
}

func items(all ...string) string { return `{"items":[` + strings.Join(all, ",") + `]}` }

func TestOpenPushIsNeverOvertaken_F001(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pop("q", "consumerGroup=g&subscriptionMode=all")
	release := ts.holdPartition("q", "p")
	second := make(chan string, 1)
	go func() { second <- ts.pushOne("q", "p", `"m2"`).Status }()
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		require.Empty(t, ts.pop("q", "consumerGroup=g&autoAck=true").Messages, "nothing passes the open push")
	}
	release()
	require.Equal(t, "queued", <-second)
	require.Equal(t, []string{"held", "m2"}, payloads(ts.pop("q", "consumerGroup=g&autoAck=true")))
}

func TestOffsetsOfManyPushersAreDenseAndPoppedOnce_F001(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	got := ts.together(200, func(i int) (string, string, string) {
		return "POST", "/api/v1/push", items(item("q", "p", fmt.Sprint(i)))
	})
	require.Equal(t, map[int]int{201: 200}, got)
	seen := map[string]bool{}
	for {
		part := ts.pop("q", "batch=7&autoAck=true")
		if len(part.Messages) == 0 {
			break
		}
		for _, payload := range payloads(part) {
			require.False(t, seen[payload])
			seen[payload] = true
		}
	}
	require.Len(t, seen, 200)
	require.Equal(t, 200, ts.count(`SELECT max(end_offset) + 1 FROM queen.log_segments`))
}

func TestHugeNumberStaysSmall_F021(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	all := make([]string, 1000)
	for i := range all {
		all[i] = item("q", "p", []string{`{"n":1e131000}`, `{"n":1e200000}`}[i%2])
	}
	ts.push(items(all...))
	require.Less(t, ts.count(`SELECT sum(bytes) FROM queen.log_segments`), 100_000)
	r := ts.get("/api/v1/pop/queue/q?batch=1000")
	require.Equal(t, http.StatusOK, r.Status)
	require.Equal(t, 500, strings.Count(string(r.Body), `"data":{"n":1e200000}`))
}

func TestNamesThatJoinAlikeStayApart_F007(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, sep := range []string{"|", ":", "/", ",", "#", "_", "."} {
		one, other := [2]string{"a" + sep + "b", "c"}, [2]string{"a", "b" + sep + "c"}
		leases := map[string]bool{}
		for _, lane := range [][2]string{one, other} {
			r := ts.push(fmt.Sprintf(`{"items":[{"queue":%q,"partition":%q,"payload":1,"transactionId":"X"}]}`, lane[0], lane[1]))
			require.Equal(t, "queued", r[0].Status, sep)
		}
		for _, lane := range [][2]string{one, other} {
			r := ts.get("/api/v1/pop/queue/" + url.PathEscape(lane[0]) + "/partition/" + url.PathEscape(lane[1]))
			require.Equal(t, http.StatusOK, r.Status, sep)
			var got PopResponse
			r.into(t, &got)
			require.Len(t, got.Messages, 1)
			leases[got.LeaseID] = true
		}
		require.Len(t, leases, 2, sep)
	}
	require.Equal(t, 14, ts.count(`SELECT count(*) FROM queen.log_partitions`))
}

func TestServerLogHoldsNoPayload_F023(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	quiet := newTestServer(t)
	pool, err := OpenPool(context.Background(), quiet.cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s, err := New(quiet.cfg, pool, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.NoError(t, err)
	ts := &testServer{Server: s, t: t, db: quiet.db}
	for _, body := range []string{items(item("q", "p", `{"secret":"s3cret"},"x":tru`)), `{"items":[` + strings.Repeat(`"s3cret`, 6000), `{"transactionId":"s3cret","status":[]}`} {
		for _, target := range []string{"/api/v1/push", "/api/v1/ack", "/api/v1/configure"} {
			w := httptest.NewRecorder()
			ts.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://127.0.0.1"+target, strings.NewReader(body)))
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.NotContains(t, w.Body.String(), "s3cret")
			require.Less(t, w.Body.Len(), 400)
		}
	}
	require.NotContains(t, out.String(), "s3cret")
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestEverybodyMayBeFirst_F026(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for round := range 5 {
		queue := fmt.Sprint("q", round)
		got := ts.together(90, func(i int) (string, string, string) {
			switch {
			case i < 40:
				return "POST", "/api/v1/push", items(item(queue, "p", fmt.Sprint(i)))
			case i < 80:
				return "GET", "/api/v1/pop/queue/" + queue + "?consumerGroup=g&subscriptionMode=all&leaseSeconds=60", ""
			}
			return "POST", "/api/v1/configure", `{"queue":"` + queue + `","options":{"retryLimit":9}}`
		})
		require.Equal(t, 90, got[201]+got[200]+got[204], "%v", got)
		require.Equal(t, 40, got[201])
		ts.pop(queue, "consumerGroup=g")
	}
	require.Equal(t, 5, ts.count(`SELECT count(*) FROM queen.queues WHERE retry_limit = 9`))
	require.Equal(t, 5, ts.count(`SELECT count(*) FROM queen.log_partitions`))
	require.Equal(t, 5, ts.count(`SELECT count(*) FROM queen.log_consumers`))
	require.Equal(t, 5, ts.count(`SELECT count(*) FROM queen.partition_head WHERE head_offset = 39`))
}

func TestOppositeOrdersNeverDeadlock_F029(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"retentionEnabled":true,"retentionMessages":20}}`)
	ts.push(items(item("q", "A", "0"), item("q", "B", "0")))
	end := time.Now().Add(inLongForm(2*time.Second, 10*time.Second))
	var odd atomic.Int64
	var calls sync.WaitGroup
	for worker := range 6 {
		calls.Go(func() {
			order := []string{"A", "B"}
			if worker%2 == 1 {
				slices.Reverse(order)
			}
			for time.Now().Before(end) {
				count(&odd, ts, "POST", "/api/v1/push", items(item("q", order[0], "1"), item("q", order[1], "1")), 201)
				group := fmt.Sprintf("g%d", worker/2)
				got := ts.pop("q", "consumerGroup="+group+"&partitions=2&batch=20&subscriptionMode=all")
				slices.Reverse(got.Messages)
				switch {
				case len(got.Messages) == 0:
				case worker%3 == 0: // acks the other way round than it pushes
					operations := make([]string, 0, len(got.Messages)+2)
					for _, m := range got.Messages {
						operations = append(operations, fmt.Sprintf(`{"type":"ack","transactionId":%q,"partitionId":%q,"leaseId":%q,"consumerGroup":%q}`, m.TransactionID, m.PartitionID, m.LeaseID, group))
					}
					for _, part := range order {
						operations = append(operations, `{"type":"push","items":[`+item("q", part, "2")+`]}`)
					}
					count(&odd, ts, "POST", "/api/v1/transaction", `{"operations":[`+strings.Join(operations, ",")+`]}`, 200)
				default:
					ts.ackAll(got, "completed")
				}
			}
		})
	}
	calls.Go(func() {
		for time.Now().Before(end) {
			ts.sql(`CALL queen.run_maintenance_v1()`)
		}
	})
	calls.Wait()
	require.Zero(t, odd.Load())
	require.Positive(t, ts.count(`SELECT coalesce(sum(log_start), 0) FROM queen.log_partitions`), "it was swept meanwhile")
	require.Zero(t, ts.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
}

func TestOneMessageHasOneWinner_F043(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	other := newTestServerOn(t, ts.db)
	for round := range 20 {
		ts.pushOne("q", fmt.Sprint("p", round%3), "1")
		var winners, odd atomic.Int64
		var calls sync.WaitGroup
		for i := range 50 {
			calls.Go(func() {
				server := []*testServer{ts, other}[i%2]
				r, err := server.try(context.Background(), "GET", "/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&leaseSeconds=60", "")
				switch {
				case err == nil && r.Status == http.StatusOK:
					winners.Add(1)
				case err != nil || r.Status != http.StatusNoContent:
					odd.Add(1)
				}
			})
		}
		calls.Wait()
		require.EqualValues(t, 1, winners.Load(), "round %d", round)
		require.Zero(t, odd.Load())
		ts.sql(`UPDATE queen.log_consumers c SET committed = batch_end, batch_end = NULL, worker_id = NULL, lease_expires_at = NULL WHERE worker_id IS NOT NULL`)
	}
}

func TestFailureIsNotSkippedByALaterSuccess_F056(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for name, order := range map[string][]int{"forward": {0, 1, 2}, "backward": {2, 1, 0}} {
		for _, apart := range []bool{false, true} {
			queue := fmt.Sprint(name, apart)
			got := ts.take(queue, 3)
			acks := make([]string, 3)
			for i, at := range order {
				acks[i] = fmt.Sprintf(`{"transactionId":"m%d","partitionId":%q,"leaseId":%q,"status":%q}`, at, got.PartitionID, got.LeaseID, []string{"completed", "failed", "completed"}[at])
			}
			if apart && name == "backward" {
				continue // an ack of the last of a batch completes it (W-2): nothing is left to fail
			}
			if apart {
				for _, ack := range acks {
					ts.post("/api/v1/ack", ack)
				}
			} else {
				ts.post("/api/v1/ack/batch", `{"acknowledgments":[`+strings.Join(acks, ",")+`]}`)
			}
			require.Equal(t, []string{"1", "2"}, payloads(ts.pop(queue, "")), queue)
		}
	}
}

func TestAckWorksWithoutADedupWindow_F059(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"dedupWindowSeconds":0}}`)
	ts.pushOne("q", "p", "1")
	ts.push(`{"items":[{"queue":"q","partition":"p","payload":2,"transactionId":"given"}]}`)
	for _, result := range ts.ackAll(ts.pop("q", ""), "completed") {
		require.True(t, result.Success)
	}
	ts.sql(`UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() - interval '1 s'`)
	require.Empty(t, ts.pop("q", "").Messages)
}

func TestAckPastTheBatchIsRefused_F061(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	all := make([]string, 10)
	for i := range all {
		all[i] = fmt.Sprintf(`{"queue":"q","payload":%d,"transactionId":"m%d"}`, i, i)
	}
	ts.push(items(all...))
	got := ts.pop("q", "batch=3")
	for _, id := range []string{"m7", "m99", "m3", "-1"} {
		verdict := ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q}`, id, got.PartitionID, got.LeaseID))
		require.False(t, verdict.Success, id)
		require.Contains(t, *verdict.Error, "unresolvable:", id)
	}
	ts.ackAll(got, "completed")
	require.Equal(t, []string{"3", "4", "5", "6", "7", "8", "9"}, payloads(ts.pop("q", "")))
}

func TestDeadLettersEqualWhatWasPushed_F067(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	messages := inLongForm(120, 500)
	ts.configure(`{"queue":"q","options":{"retentionEnabled":true,"completedRetentionSeconds":1}}`)
	for i := range messages {
		ts.pushOne("q", fmt.Sprint("p", i%4), fmt.Sprintf(`{"n": %d}`, i))
	}
	// Old enough to go, as soon as a cursor is behind them.
	ts.sql(`UPDATE queen.log_segments SET created_at = created_at - interval '1 minute'`)
	ts.sql(`UPDATE queen.log_partitions SET oldest_live_at = oldest_live_at - interval '1 minute'`)
	// As often as there are calls, however slow the machine is.
	turns := make(chan struct{}, 1)
	var noise sync.WaitGroup
	noise.Go(func() {
		for range turns {
			ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent' ORDER BY random() LIMIT 1`)
			ts.sql(`CALL queen.run_maintenance_v1()`)
			ts.sql(`UPDATE queen.log_consumers SET lease_expires_at = clock_timestamp() WHERE lease_expires_at < clock_timestamp() + interval '59.5 s'`)
		}
	})
	filed := `SELECT count(*) FROM queen.log_dlq`
	end := time.Now().Add(2 * time.Minute)
	for i := 0; ts.count(filed) < messages && time.Now().Before(end); i++ {
		if i%6 == 0 {
			select {
			case turns <- struct{}{}:
			default:
			}
		}
		r, err := ts.try(context.Background(), "GET", "/api/v1/pop/queue/q?batch=1&leaseSeconds=60", "")
		if err != nil || r.Status != http.StatusOK {
			continue
		}
		var got PopResponse
		r.into(t, &got)
		m := got.Messages[0]
		_, _ = ts.try(context.Background(), "POST", "/api/v1/ack", fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"status":"dlq"}`, m.TransactionID, m.PartitionID, m.LeaseID))
	}
	close(turns)
	noise.Wait()
	require.Equal(t, messages, ts.count(filed))
	require.Equal(t, messages, ts.count(`SELECT count(DISTINCT payload) FROM queen.log_dlq WHERE payload LIKE '{"n": %}'`))
	require.Positive(t, ts.count(`SELECT coalesce(sum(log_start), 0) FROM queen.log_partitions`), "it was swept meanwhile")
}

func TestForgedAckStoresNothingOfItsOwn_F069_F075(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	one, two := ts.take("q1", 1), ts.take("q2", 1)
	ts.pushOne("q1", "p", "9")
	swapped := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q}`, two.PartitionID, one.LeaseID))
	require.Equal(t, "invalid or expired lease", *swapped.Error)
	stranger := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q,"consumerGroup":"other"}`, one.PartitionID, one.LeaseID))
	require.Equal(t, "consumer not found", *stranger.Error)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.log_consumers WHERE committed >= 0`))

	verdict := ts.ackBody(fmt.Sprintf(`{"transactionId":"m0","partitionId":%q,"leaseId":%q,"status":"dlq","payload":"forged","data":"forged","retryCount":99,"queue":"q2"}`, one.PartitionID, one.LeaseID))
	require.True(t, verdict.DLQ)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_dlq WHERE payload = '0' AND retry_count = 0 AND partition_id = $1`, one.PartitionID))
}

func TestAckCostsTheSameAfterMuchHistory_F077(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	// Rows read by one ack, from the statistics of its own transaction.
	cost := func(queue string) (rows int) {
		got := ts.take(queue, 1)
		tx, err := ts.db.Conn(t).Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `SELECT * FROM queen.ack_v1($1, ARRAY['m0'], $2)`, got.PartitionID, got.LeaseID)
		require.NoError(t, err)
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)), 0)
			FROM pg_class c WHERE c.relnamespace = 'queen'::regnamespace AND c.relname ~ '^log_(segments|txns)'`).Scan(&rows))
		require.NoError(t, tx.Commit(t.Context()))
		return rows
	}
	empty := cost("empty")
	ts.sql(`DO $$ BEGIN FOR g IN 1..50 LOOP PERFORM queen.push_many_v1('full', (SELECT array_agg(to_json(i)) FROM generate_series(1, 1000) i)); END LOOP; END $$`)
	ts.pop("full", "autoAck=true&batch=10000")
	ts.sql(`UPDATE queen.log_consumers c SET committed = h.head_offset FROM queen.partition_head h WHERE h.id = c.partition_id`)
	require.GreaterOrEqual(t, ts.count(`SELECT count(*) FROM queen.log_segments`), 50)
	require.LessOrEqual(t, cost("full"), empty+20, "no scan of what is retained")
}

func TestDamagedRowsAreReportedAndPassedOver_F079(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage string
		want   []string // of the damaged partition and its later messages
	}{
		"a lost frame":        {`payloads[2] = NULL`, []string{"0", "2", "later"}},
		"all frames lost":     {`payloads = ARRAY[NULL, NULL, NULL]::text[]`, []string{"later"}},
		"no JSON":             {`payloads[2] = '{broken'`, []string{"0", "{broken", "2", "later"}},
		"not even text":       {`payloads[2] = ''`, []string{"0", "", "2", "later"}},
		"too few frames":      {`payloads = ARRAY['0']`, []string{"0", "later"}},
		"no frames":           {`payloads = '{}'`, []string{"later"}},
		"too few ids":         {`transaction_ids = ARRAY['m0']`, []string{"0", "1", "2", "later"}},
		"offsets that misfit": {`offsets = ARRAY[0]::bigint[]`, []string{"later"}},
		"a wrong count":       {`frames = 9`, []string{"0", "1", "2", "later"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts := newTestServer(t)
			ts.push(items(`{"queue":"q","partition":"bad","payload":0,"transactionId":"m0"}`, `{"queue":"q","partition":"bad","payload":1,"transactionId":"m1"}`,
				`{"queue":"q","partition":"bad","payload":2,"transactionId":"m2"}`))
			ts.sql(`UPDATE queen.log_segments SET ` + c.damage)
			ts.pushOne("q", "bad", `"later"`)
			ts.pushOne("q", "good", `"fine"`)

			got := ts.pop("q", "partitions=0")
			require.ElementsMatch(t, append([]string{"fine"}, c.want...), payloads(got), "over HTTP")
			for _, verdict := range ts.ackAll(got, "completed") {
				require.True(t, verdict.Success || name == "too few ids", "an id that is lost cannot be acked by itself")
			}
			require.Empty(t, ts.pop("q", "partitions=0").Messages)
			require.Equal(t, 2, ts.count(`SELECT count(*) FROM queen.log_consumers WHERE worker_id IS NULL AND batch_end IS NULL`), "the whole batch is done")
			require.Equal(t, len(c.want)+1, ts.count(`SELECT count(payload) FROM queen.pop_v1('q', 100, 'psql', p_max_partitions => 0)`), "from psql")
		})
	}
}

func TestDamageAtTheTailIsNoHotLoop_F079(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "bad", "1")
	ts.sql(`UPDATE queen.log_segments SET payloads = '{}'`)
	before := ts.pool.Stat().AcquireCount()
	require.Empty(t, ts.pop("q", "wait=true&timeout=3000").Messages)
	require.Less(t, ts.pool.Stat().AcquireCount()-before, int64(40), "rechecks grow rare")
	ts.pushOne("q", "bad", "2")
	require.Equal(t, []string{"2"}, payloads(ts.pop("q", "")))
}

// A column more, a function made anew: servers that run must not notice.
func TestWarmStatementsSurviveAnUpgrade_F187(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	round := func() {
		for range 12 { // more than the pool has connections
			ts.pushOne("q", "p", "1")
			got := ts.pop("q", "")
			require.Equal(t, http.StatusOK, ts.post("/api/v1/lease/"+got.LeaseID+"/extend", "").Status)
			ts.ackAll(got, "completed")
			ts.options("q")
			require.Equal(t, http.StatusOK, ts.get("/api/v1/resources/queues").Status)
		}
	}
	ts.pushOne("q", "p", "0")
	round()
	ts.sql(`ALTER TABLE queen.queues ADD COLUMN zz integer; ALTER TABLE queen.log_segments ADD COLUMN zz text; ALTER TABLE queen.log_consumers ADD COLUMN zz text; ALTER TABLE queen.log_partitions ADD COLUMN zz text`)
	round()
	ts.sql(`DO $do$ DECLARE r record; BEGIN
		FOR r IN SELECT oid, pg_get_functiondef(oid) AS def FROM pg_proc WHERE pronamespace = 'queen'::regnamespace AND proname IN ('log_push_v1', 'log_pop_v1', 'log_ack_v1', 'get_queue_v1') LOOP
			EXECUTE 'DROP FUNCTION ' || r.oid::regprocedure;
			EXECUTE r.def;
		END LOOP; END $do$`)
	round()
	ts.sql(`DO $do$ BEGIN
		EXECUTE 'CREATE OR REPLACE VIEW queen.lease_row AS SELECT v.*, NULL::text AS zz FROM (' || rtrim(pg_get_viewdef('queen.lease_row'), ';') || ') v';
	END $do$`)
	round()
}

func TestAbsentArgumentsMeanTheDefaults_F171(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.configure(`{"queue":"q","options":{"leaseTime":7700}}`)
	ts.pushOne("q", "p", "1")
	rows, err := db.New(ts.db.Pool).Pop(t.Context(), db.PopParams{Queue: "q", Batch: 1, MaxPartitions: 1, TenantID: defaultTenant})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.InDelta(t, 7700, time.Until(*rows[0].LeaseExpiresAt).Seconds(), 600, "not zero: the queue's own")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_consumers WHERE consumer_group = '__QUEUE_MODE__'`), "not the empty name")
	verdicts, err := db.New(ts.db.Pool).Ack(t.Context(), db.AckParams{PartitionIds: []uuid.UUID{rows[0].PartitionID}, ConsumerGroups: []string{queueMode},
		LeaseIds: []*string{nil}, Counts: []int32{1}, TransactionIds: []string{transactionID(&rows[0], 0)}, Statuses: []string{"completed"}, Errors: []*string{nil}, TenantID: defaultTenant})
	require.NoError(t, err)
	require.True(t, verdicts[0].Success, "no lease id is no lease id")
}

func TestAnothersSchemaIsNotUsed_F189(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	tx, err := ts.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), `CREATE SCHEMA attacker;
		CREATE FUNCTION attacker.now() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''mine''; END';
		CREATE FUNCTION attacker.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''mine''; END';
		CREATE FUNCTION attacker.jsonb_build_object(VARIADIC "any") RETURNS jsonb LANGUAGE internal AS 'jsonb_build_object';
		CREATE TABLE attacker.log_segments (id int); CREATE TABLE attacker.queues (id int); CREATE TABLE attacker.log_consumers (id int);
		SET LOCAL search_path = attacker, pg_catalog`)
	require.NoError(t, err)
	for _, path := range []string{"attacker, pg_catalog", "''"} {
		_, err = tx.Exec(t.Context(), `SET LOCAL search_path = `+path)
		require.NoError(t, err)
		var taken, acked int
		err = tx.QueryRow(t.Context(), `SELECT count(*) FROM queen.configure_queue_v1('q', '{"leaseTime": 5}'), queen.push_many_v1('q', ARRAY['1', '2']::json[])`).Scan(&taken)
		require.NoError(t, err)
		require.Equal(t, 2, taken)
		err = tx.QueryRow(t.Context(), `SELECT count(*) FROM queen.pop_v1('q', 10) m, queen.ack_v1(m.partition_id, ARRAY[m.transaction_id], m.lease_id) a WHERE a.success`).Scan(&acked)
		require.NoError(t, err)
		require.Equal(t, 2, acked)
		_, err = tx.Exec(t.Context(), `SELECT queen.get_queue_v1('q'), queen.list_queues_v1(), queen.log_queue_depth_v1('q'), queen.log_settle_heads_step_v1(), queen.delete_queue_v1('q')`)
		require.NoError(t, err)
	}
}

func TestEmptyPushTouchesNothing_F025(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pool.Close()
	r := ts.post("/api/v1/push", `{"items":[]}`)
	require.Equal(t, http.StatusCreated, r.Status, "no call of the database, so no row and no notification")
	require.Equal(t, "[]", string(r.Body))
}

func TestDeleteEndsParkedPops_F143(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.Len(t, ts.take("q", 2).Messages, 2, "an open lease")
	var waiting []<-chan timed
	for i := range 5 {
		waiting = append(waiting, ts.popLater(fmt.Sprintf("/api/v1/pop/queue/q?wait=true&timeout=60000&consumerGroup=g%d", i)))
	}
	ts.parked(5)
	time.Sleep(100 * time.Millisecond)
	require.Equal(t, http.StatusOK, ts.send("DELETE", "/api/v1/resources/queues/q", "").Status)
	for _, w := range waiting {
		got := <-w
		require.Equal(t, http.StatusNoContent, got.Status)
		require.Less(t, got.took, 30*time.Second)
	}
	time.Sleep(2 * watchEvery)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues WHERE deleted_at IS NULL`), "nobody made it again")
	got := ts.take("q", 1)
	require.Equal(t, 1, got.Messages[0].DeliveryAttempt)
	require.Zero(t, ts.count(`SELECT base_offset FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id WHERE q.deleted_at IS NULL`))
}

// A control character in any name, on any route, is a 400 before the database is
// asked; nothing is made.
func TestControlCharactersAreRefusedOnEveryRoute_F004(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const id = "00000000-0000-0000-0000-000000000001"
	calls := []string{
		`POST /api/v1/push {"items":[{"queue":"$","payload":1}]}`, `POST /api/v1/push {"items":[{"queue":"q","payload":1},{"queue":"q","partition":"$","payload":1}]}`,
		`POST /api/v1/push {"items":[{"queue":"q","transactionId":"$","payload":1}]}`, `POST /api/v1/push {"items":[{"queue":"q","key":"$","payload":1}]}`,
		`GET /api/v1/pop/queue/$`, `GET /api/v1/pop/queue/q/partition/$`, `GET /api/v1/pop/queue/q?consumerGroup=$`, `GET /api/v1/pop?namespace=$`, `GET /api/v1/pop?task=$`,
		`POST /api/v1/ack {"transactionId":"$","partitionId":"` + id + `"}`, `POST /api/v1/ack {"transactionId":"a","partitionId":"` + id + `","consumerGroup":"$"}`,
		`POST /api/v1/ack/batch {"acknowledgments":[{"transactionId":"$","partitionId":"` + id + `"}]}`, `POST /api/v1/ack/batch {"acknowledgments":[],"consumerGroup":"$"}`,
		`POST /api/v1/transaction {"operations":[{"type":"push","queue":"$","payload":1}]}`, `POST /api/v1/transaction {"operations":[{"type":"push","queue":"q","partition":"$","payload":1}]}`,
		`POST /api/v1/transaction {"operations":[{"type":"push","queue":"q","transactionId":"$","payload":1}]}`,
		`POST /api/v1/transaction {"operations":[{"type":"ack","transactionId":"$","partitionId":"` + id + `"}]}`,
		`POST /api/v1/configure {"queue":"$"}`, `GET /api/v1/resources/queues/$`, `DELETE /api/v1/resources/queues/$`, `GET /api/v1/resources/queues/$/depth`, `GET /api/v1/resources/queues/q/depth?group=$`,
		`POST /api/v1/partitions/changed {"entries":[{"queue":"q"},{"queue":"$"}]}`, `POST /api/v1/fetch {"entries":[{"queue":"$","offset":0}]}`, `POST /api/v1/fetch {"entries":[{"queue":"q","partition":"$","offset":0}]}`,
		`GET /api/v1/dlq?queue=$`, `GET /api/v1/dlq?consumerGroup=$`, `DELETE /api/v1/dlq?queue=$`, `POST /api/v1/dlq/` + id + `/replay {"queue":"$"}`, `POST /api/v1/dlq/` + id + `/replay {"partition":"$"}`,
		`GET /api/v1/messages?queue=$`, `GET /api/v1/messages?partition=$`, `POST /api/v1/traces {"transactionId":"$","partitionId":"` + id + `","data":1}`,
		`POST /api/v1/traces {"transactionId":"a","partitionId":"` + id + `","data":1,"consumerGroup":"$"}`,
		`GET /api/v1/consumer-groups/$`, `DELETE /api/v1/consumer-groups/$`, `DELETE /api/v1/consumer-groups/g/queues/$`, `POST /api/v1/consumer-groups/g/queues/$/seek {"toEnd":true}`,
		`POST /api/v1/consumer-groups/$/queues/q/seek {"toEnd":true}`,
	}
	ts.pool.Close() // whatever asks the database fails
	for text, path := range map[string]string{`a\u0000b`: "a%00b", `a\u001fb`: "a%1Fb", `a\nb`: "a%0Ab"} {
		for _, call := range calls {
			method, rest, _ := strings.Cut(call, " ")
			target, body, _ := strings.Cut(rest, " ")
			r := ts.send(method, strings.ReplaceAll(target, "$", path), strings.ReplaceAll(body, "$", text))
			require.Equal(t, http.StatusBadRequest, r.Status, "%s with %s: %s", call, text, r.Body)
		}
	}
	require.Zero(t, ts.count(`SELECT (SELECT count(*) FROM queen.queues) + (SELECT count(*) FROM queen.consumer_groups_metadata) + (SELECT count(*) FROM queen.message_traces)`))
}

// What is no JSON document is refused alike by every route that reads one; what no
// route knows is ignored; each status is in the document, which every answer of a
// test is held against.
func TestBrokenBodiesOnEveryPost_F157(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	read := 0
	for path, item := range ts.api.OpenAPI().Paths {
		if item.Post == nil || strings.HasPrefix(path, "/auth/") {
			continue
		}
		bodies := map[string]string{"trailing garbage": `{} x`, "two documents": `{}{}`, "cut off": `{"a":`, "no JSON": `nul`, "deep": strings.Repeat(`[`, 20_000), "deep and whole": strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000)}
		for name, body := range bodies {
			r := ts.post(filled(path), body)
			if item.Post.RequestBody == nil || path == "/api/v1/lease/{leaseId}/extend" { // which takes a bad body for none: http-api 1.2
				require.Less(t, r.Status, 500, "%s: %s: %s", path, name, r.Body)
				continue
			}
			require.Equal(t, http.StatusBadRequest, r.Status, "%s: %s: %s", path, name, r.Body)
			require.Equal(t, "QN400", r.failure(t).Code, "%s: %s", path, name)
			require.Less(t, len(r.Body), 400, "F023: %s: %s", path, name)
			read++
		}
		require.Less(t, ts.post(filled(path), "").Status, 500, "%s: nothing", path)
		require.Equal(t, ts.post(filled(path), `{}`).Status, ts.post(filled(path), `{"nobody knows":[1]}`).Status, "%s: an unknown key", path)
	}
	require.Greater(t, read, 60)
}
