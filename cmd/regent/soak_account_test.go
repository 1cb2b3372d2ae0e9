package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// The account of the deletions: messages are pushed to queues of every rule that
// deletes, while the server sweeps and is killed, and PostgreSQL too. Afterwards
// each message that was ever stored is there, or was deleted by the one rule that
// the history names, which was right to delete it (R-1..R-49, M-5..M-29, T-9, T-13).

// TestSoakAccount runs for ten minutes.
func TestSoakAccount(t *testing.T) {
	if os.Getenv("REGENT_SOAK") == "" {
		t.Skip("takes ten minutes: REGENT_SOAK=1 runs it, REGENT_SOAK_MINUTES changes its size")
	}
	lasts := time.Duration(envNumber(t, "REGENT_SOAK_MINUTES", 10)) * time.Minute
	newAccountSoak(t, accountPlan{lasts: lasts, kills: max(int(lasts.Minutes()*2), 2), window: 20, push: 400 * time.Millisecond,
		idle: lasts > groupIdle+time.Minute, hold: lasts > 3*time.Minute, limit: lasts + 5*time.Minute}).run()
}

// TestSoakAccountSmall is the same in seconds. No group is idle for long enough
// and no sink late enough to let anything go.
func TestSoakAccountSmall(t *testing.T) {
	t.Parallel()
	newAccountSoak(t, accountPlan{lasts: 4 * time.Second, kills: 2, window: 1, push: 50 * time.Millisecond, limit: 3 * time.Minute,
		env: []string{"RETENTION_INTERVAL=300", "REGENT_COMPACTION_INTERVAL_MS=300"}}).run()
}

// groupIdle is the shortest groupIdleSeconds there is.
const groupIdle = 300 * time.Second

// accountPlan is the size of a run.
type accountPlan struct {
	lasts, limit time.Duration
	kills        int
	window       int           // seconds of the rules
	push         time.Duration // pause between two pushes to a queue
	idle, hold   bool          // it lasts long enough for these to let something go
	env          []string
}

// accountQueue is a queue with its rules.
type accountQueue struct {
	name    string
	options map[string]any
	must    []string // the rules that have to delete something
	may     []string // others that may
	groups  []string
	keys    int // of messages; 0 is none
	pushed  []string
}

// queues are all that may delete, each on its own and together, and one that keeps.
func (p accountPlan) queues() []*accountQueue {
	on := func(options map[string]any) map[string]any {
		options["retentionEnabled"] = true
		return options
	}
	unless := func(yes bool, rule string) []string {
		if yes {
			return []string{rule}
		}
		return nil
	}
	w := p.window
	return []*accountQueue{
		{name: "keep"},
		{name: "age", options: on(map[string]any{"retentionSeconds": w}), must: []string{"retention"}, groups: []string{"slow"}},
		{name: "completed", options: on(map[string]any{"completedRetentionSeconds": w}), must: []string{"completed_retention"}, groups: []string{"one", "two"}},
		{name: "bytes", options: on(map[string]any{"retentionBytes": 4000}), must: []string{"retention_bytes"}},
		{name: "count", options: on(map[string]any{"retentionMessages": 40}), must: []string{"retention_messages"}, groups: []string{"slow"}},
		{name: "evict", options: map[string]any{"maxWaitTimeSeconds": w}, must: []string{"max_wait_time_eviction"}, groups: []string{"slow"}},
		{name: "compact", options: map[string]any{"cleanupPolicy": "compact", "deleteRetentionSeconds": w}, must: []string{"compaction"}, keys: 20, groups: []string{"slow"}},
		{name: "both", options: on(map[string]any{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": w, "retentionSeconds": 3 * w}),
			must: []string{"compaction", "retention"}, keys: 20},
		{name: "idle", options: on(map[string]any{"completedRetentionSeconds": w, "groupIdleSeconds": int(groupIdle.Seconds())}),
			must: unless(p.idle, "completed_retention"), groups: []string{"busy"}},
		{name: "hold", options: on(map[string]any{"retentionSeconds": w, "retentionSinkHold": "lake", "retentionSinkHoldMaxSeconds": 86400}), must: unless(p.hold, "retention"), may: unless(!p.hold, "retention")},
		{name: "letters", options: map[string]any{"deadLetterRetentionSeconds": w}, groups: []string{"judge"}},
		{name: "gone", must: []string{"__queue_deleted__"}},
		{name: "mixed", options: on(map[string]any{"cleanupPolicy": "compact,delete", "deleteRetentionSeconds": w, "completedRetentionSeconds": w,
			"retentionSeconds": 4 * w, "retentionMessages": 300, "retentionBytes": 40000, "maxWaitTimeSeconds": 6 * w, "deadLetterRetentionSeconds": w}),
			must: []string{"compaction"}, may: []string{"retention", "completed_retention", "retention_messages", "retention_bytes", "max_wait_time_eviction"},
			keys: 50, groups: []string{"judge"}},
	}
}

// accountSoak is one run.
type accountSoak struct {
	t      *testing.T
	plan   accountPlan
	dir    string
	port   int
	url    string
	server *server
	pool   *pgxpool.Pool
	queues []*accountQueue
	mu     sync.Mutex
	got    map[string]map[string]bool // queue/group: transaction ids that were delivered
	lazyAt time.Time                  // when the group that goes idle was last there
	said   map[string]int
}

func newAccountSoak(t *testing.T, plan accountPlan) *accountSoak {
	t.Helper()
	root, err := newDir()
	require.NoError(t, err)
	s := &accountSoak{t: t, plan: plan, dir: filepath.Join(root, "data"), port: quietPort(t), queues: plan.queues(),
		got: map[string]map[string]bool{}, said: map[string]int{}}
	t.Cleanup(func() {
		if s.server != nil {
			endServer(s.server)
			endPostgres(s.dir)
		}
		_ = os.RemoveAll(root)
	})
	s.start()
	s.url = s.server.url // as after every other start
	cfg, err := pgxpool.ParseConfig(s.server.dsn(t))
	require.NoError(t, err)
	cfg.MaxConns = 3
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { // a PostgreSQL that is started again has another port
		text, err := os.ReadFile(filepath.Join(s.dir, dsnFile))
		if err != nil {
			return err
		}
		now, err := pgx.ParseConfig(strings.TrimSpace(string(text)))
		if err == nil {
			c.Host, c.Port = filepath.Join(s.dir, "run"), now.Port
		}
		return err
	}
	s.pool, err = pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(s.pool.Close)
	_, err = s.pool.Exec(t.Context(), accountLedger)
	require.NoError(t, err)
	return s
}

func (s *accountSoak) start() {
	s.t.Helper()
	cmd := program(s.t, "dev", "--port", strconv.Itoa(s.port), "--data-dir", s.dir)
	cmd.Env = append(cmd.Env, s.plan.env...)
	s.server = launchCmd(s.t, cmd)
	s.server.dir = s.dir
}

func (s *accountSoak) run() {
	s.prepare()
	ctx, cancel := context.WithTimeout(s.t.Context(), s.plan.limit)
	defer cancel()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	working, stop := context.WithCancel(ctx)
	defer stop()
	for _, q := range s.queues {
		group.Go(func() error { return s.push(ctx, working, q) })
		for _, name := range q.groups {
			group.Go(func() error { return s.consume(working, q, name) })
		}
	}
	group.Go(func() error { return s.meddle(working) })
	for n := range s.plan.kills {
		if sleep(ctx, time.Until(began.Add(s.plan.lasts*time.Duration(n+1)/time.Duration(s.plan.kills+1)))) == nil {
			s.kill(n%2 == 1)
		}
	}
	for waits := true; waits; {
		idle, err := s.idleRules(ctx)
		waits = err != nil || len(idle) > 0 || time.Since(began) < s.plan.lasts
		require.False(s.t, waits && sleep(ctx, 100*time.Millisecond) != nil, "deleted nothing: %v (%v)", idle, err)
	}
	stop()
	require.NoError(s.t, group.Wait(), "%s", s.server.errOut)
	took := time.Since(began)
	s.settle()
	s.audit()
	s.t.Log(s.summary(took))
}

// prepare makes the queues, and the group that will be idle.
func (s *accountSoak) prepare() {
	for _, q := range s.queues {
		s.configure(q)
		for _, rule := range append(slices.Clone(q.must), q.may...) {
			_, err := s.pool.Exec(s.t.Context(), "INSERT INTO soak.rules VALUES ($1, $2)", q.name, rule)
			require.NoError(s.t, err)
		}
		if q.name != "idle" {
			continue
		}
		for part := range accountParts {
			require.NoError(s.t, s.pushUntilStored(s.t.Context(), q, s.batch(q, part, 1)))
		}
		s.lazyAt = time.Now()
		status, body := s.call(s.t.Context(), http.MethodGet, popPath(q.name, "lazy", accountParts), nil)
		require.Equal(s.t, http.StatusOK, status, "%s", body)
		var popped struct{ PartitionsClaimed int }
		require.NoError(s.t, json.Unmarshal(body, &popped))
		require.Equal(s.t, accountParts, popped.PartitionsClaimed)
	}
}

func (s *accountSoak) configure(q *accountQueue) {
	options := map[string]any{"leaseTime": 3}
	for key, value := range q.options {
		options[key] = value
	}
	status, body := s.call(s.t.Context(), http.MethodPost, "/api/v1/configure", map[string]any{"queue": q.name, "options": options})
	require.Equal(s.t, http.StatusOK, status, "%s", body)
}

// accountParts is the number of partitions of a queue.
const accountParts = 3

// batch makes the next messages of a queue for one partition; some are tombstones.
func (s *accountSoak) batch(q *accountQueue, part, n int) []map[string]any {
	var items []map[string]any
	for range n {
		id := fmt.Sprintf("%s-%07d", q.name, len(q.pushed))
		q.pushed = append(q.pushed, id)
		item := map[string]any{"queue": q.name, "partition": fmt.Sprint("p", part), "transactionId": id, "payload": map[string]any{"id": id, "pad": strings.Repeat("x", rand.IntN(80))}}
		if q.keys > 0 && rand.IntN(20) > 0 { // a few without a key
			item["key"] = fmt.Sprint("k", rand.IntN(q.keys))
			if rand.IntN(10) == 0 {
				item["payload"] = nil
			}
		}
		items = append(items, item)
	}
	return items
}

// push pushes until the work is over, and then until it knows what became of the last call.
func (s *accountSoak) push(ctx, working context.Context, q *accountQueue) error {
	for working.Err() == nil {
		if err := s.pushUntilStored(ctx, q, s.batch(q, rand.IntN(accountParts), 1+rand.IntN(8))); err != nil {
			return err
		}
		_ = sleep(working, s.plan.push)
	}
	return nil
}

func (s *accountSoak) pushUntilStored(ctx context.Context, q *accountQueue, items []map[string]any) error {
	for {
		status, body := s.call(ctx, http.MethodPost, "/api/v1/push", map[string]any{"items": items})
		var verdicts []struct{ Status string }
		if status == http.StatusCreated && json.Unmarshal(body, &verdicts) == nil && !slices.ContainsFunc(verdicts,
			func(v struct{ Status string }) bool { return v.Status != "queued" && v.Status != "duplicate" }) {
			return nil
		}
		if status >= 400 && status < 500 {
			return fmt.Errorf("push to %s: %d %s", q.name, status, body)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("push to %s: %w; the last answer was %d %s", q.name, err, status, body)
		}
	}
}

// consume takes and acks until the work is over. A judge acks the last of each
// batch as a dead letter.
func (s *accountSoak) consume(working context.Context, q *accountQueue, name string) error {
	seen := map[string]bool{}
	s.mu.Lock()
	s.got[q.name+"/"+name] = seen
	s.mu.Unlock()
	batch := 50
	if name == "slow" {
		batch = 2
	}
	for working.Err() == nil {
		status, body := s.call(working, http.MethodGet, popPath(q.name, name, batch), nil)
		var popped struct {
			Messages []struct{ TransactionID, PartitionID, LeaseID string }
		}
		if status != http.StatusOK || json.Unmarshal(body, &popped) != nil || len(popped.Messages) == 0 {
			_ = sleep(working, 50*time.Millisecond)
			continue
		}
		var acks []map[string]any
		for i, m := range popped.Messages {
			s.mu.Lock()
			seen[m.TransactionID] = true
			s.mu.Unlock()
			ack := map[string]any{"transactionId": m.TransactionID, "partitionId": m.PartitionID, "leaseId": m.LeaseID, "status": "completed"}
			if name == "judge" && i == len(popped.Messages)-1 {
				ack["status"] = "dlq"
			}
			acks = append(acks, ack)
		}
		if name == "slow" {
			_ = sleep(working, 5*s.plan.push)
		}
		s.call(working, http.MethodPost, "/api/v1/ack/batch", map[string]any{"consumerGroup": name, "acknowledgments": acks})
	}
	return nil
}

func popPath(queue, group string, batch int) string {
	return "/api/v1/pop/queue/" + queue + "?" + url.Values{"consumerGroup": {group}, "subscriptionMode": {"all"}, "batch": {strconv.Itoa(batch)},
		"partitions": {strconv.Itoa(accountParts)}, "leaseSeconds": {"3"}}.Encode()
}

// meddle moves the sink on, deletes a queue now and then, and ends one backend of
// the server after the other.
func (s *accountSoak) meddle(working context.Context) error {
	pause := max(s.plan.lasts/40, time.Second)
	for n := 1; sleep(working, pause) == nil; n++ {
		_, _ = s.pool.Exec(working, `WITH at AS (SELECT clock_timestamp() AS now)
			INSERT INTO soak.pointers SELECT a.now, a.now FROM at a, queen.kv_put_v1('queen-s3', 's3:lake:hold:committed', jsonb_build_object('tEnd', to_char(a.now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))`)
		if n%2 == 0 {
			if status, _ := s.call(working, http.MethodDelete, "/api/v1/resources/queues/gone", nil); status == http.StatusOK {
				s.note("queue gone", 1)
			}
		}
		if tag, err := s.pool.Exec(working, `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
			WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid() AND a.query ILIKE '%step_v1%' ORDER BY random() LIMIT 1`); err == nil {
			s.note("backend", int(tag.RowsAffected()))
		}
	}
	return nil
}

func (s *accountSoak) note(what string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[what] += times
}

// kill kills with -9 and waits until the server is healthy again.
func (s *accountSoak) kill(postgres bool) {
	s.t.Helper()
	if postgres {
		s.note("PostgreSQL", 1)
		before := s.postmaster()
		killPostgres(s.t, s.dir)
		require.Eventually(s.t, func() bool { now := s.postmaster(); return now != "" && now != before }, 2*time.Minute, 20*time.Millisecond, "%s", s.server.errOut)
	} else {
		s.note("regent dev", 1)
		s.server.signal(s.t, os.Kill)
		s.start()
	}
	require.Eventually(s.t, func() bool { return status(s.url+"/health") == http.StatusOK }, 2*time.Minute, 20*time.Millisecond, "%s", s.server.errOut)
}

// postmaster is the process number of PostgreSQL, empty while there is none.
func (s *accountSoak) postmaster() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "pg", "postmaster.pid"))
	if err != nil {
		return ""
	}
	pid, _, _ := strings.Cut(string(text), "\n")
	return pid
}

// idleRules are those that must delete something, and have not yet.
func (s *accountSoak) idleRules(ctx context.Context) ([]string, error) {
	var queues, rules []string
	for _, q := range s.queues {
		for _, rule := range q.must {
			queues, rules = append(queues, q.name), append(rules, rule)
		}
	}
	rows, err := s.pool.Query(ctx, `SELECT m.queue || ': ' || m.rule FROM unnest($1::text[], $2::text[]) m (queue, rule)
		WHERE NOT EXISTS (SELECT FROM queen.retention_history h JOIN soak.segments s USING (partition_id) WHERE s.queue = m.queue AND h.retention_type = m.rule)
		UNION ALL SELECT 'dead letters' WHERE NOT EXISTS (SELECT FROM queen.dead_letter_removals)`, queues, rules)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// settle waits until what was hidden is deleted.
func (s *accountSoak) settle() {
	require.Eventually(s.t, func() bool {
		var left int
		err := s.pool.QueryRow(s.t.Context(), `SELECT (SELECT count(*) FROM queen.queues WHERE deleted_at IS NOT NULL)
			+ (SELECT count(*) FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id
			   WHERE s.base_offset < p.log_start AND q.name NOT IN ('age', 'evict', 'mixed', 'both', 'hold'))`).Scan(&left)
		return err == nil && left == 0
	}, 2*time.Minute, 100*time.Millisecond, "%s", s.server.errOut)
}

// call is one HTTP call; a status of 0 is no answer.
func (s *accountSoak) call(ctx context.Context, method, path string, body any) (int, []byte) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}
