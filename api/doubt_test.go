package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
)

// thief sits on the wire to the database. Once told to, it loses the next call
// on its way there, or the answer to it on the way back, and cuts the wire.
type thief struct {
	mu     sync.Mutex
	steal  string // "call" or "answer"
	stolen func() // told when it has
	cable
}

func (th *thief) cut()  { th.cable.set(true) }
func (th *thief) mend() { th.cable.set(false) }

func (th *thief) arm(steal string, stolen func()) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.steal, th.stolen = steal, stolen
}

// takes reports whether it is this that shall be lost.
func (th *thief) takes(what string) bool {
	th.mu.Lock()
	if th.steal != what {
		th.mu.Unlock()
		return false
	}
	th.steal = ""
	th.mu.Unlock()
	if th.stolen != nil {
		th.stolen()
	}
	return true
}

func (th *thief) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := th.cable.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &bugged{conn, th}, nil
}

type bugged struct {
	net.Conn
	thief *thief
}

func (b *bugged) Write(p []byte) (int, error) {
	if b.thief.takes("call") {
		b.Close()
		return len(p), nil // as a kernel that took the bytes and a cable that did not
	}
	return b.Conn.Write(p)
}

func (b *bugged) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if err == nil && b.thief.takes("answer") {
		b.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// newRobbedServer is a server of few connections with a thief on each. Every
// connection has made its calls once, so that what is stolen is a push.
func newRobbedServer(t *testing.T, change ...func(*Config)) (*testServer, *thief) {
	t.Helper()
	database, th := dbtest.New(t), &thief{}
	cfg := DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize, cfg.Listen = database.DSN, 2, false
	for _, c := range change {
		c(&cfg)
	}
	config, err := PoolConfig(cfg)
	require.NoError(t, err)
	config.ConnConfig.DialFunc = th.dial
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	require.NoError(t, err)
	conns := pool.AcquireAllIdle(context.Background())
	for len(conns) < int(config.MaxConns) {
		conn, err := pool.Acquire(context.Background())
		require.NoError(t, err)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		_, err := db.New(conn).Push(context.Background(), db.PushParams{
			Queues: []string{"warm"}, Partitions: []string{"p"}, Counts: []int32{1}, Payloads: []string{"0"}, TenantID: defaultTenant})
		require.NoError(t, err)
		conn.Release()
	}
	ts := startTestServer(t, cfg, pool)
	ts.db = database
	ts.quiet()
	return ts, th
}

// storedIn lists what a queue holds, in order.
func (ts *testServer) storedIn(queue string) (payloads []string) {
	ts.t.Helper()
	rows, err := ts.db.Pool.Query(context.Background(), `SELECT u.p FROM queen.log_segments s
		JOIN queen.log_partitions l ON l.id = s.partition_id JOIN queen.queues q ON q.id = l.queue_id
		CROSS JOIN LATERAL unnest(s.payloads) WITH ORDINALITY u (p, k) WHERE q.name = $1 ORDER BY l.name, s.base_offset, u.k`, queue)
	require.NoError(ts.t, err)
	defer rows.Close()
	for rows.Next() {
		var payload string
		require.NoError(ts.t, rows.Scan(&payload))
		payloads = append(payloads, payload)
	}
	require.NoError(ts.t, rows.Err())
	return payloads
}

// A push whose answer is lost after the commit is found again, also when it made
// queue and partition, and when some of its items were repeats (design 3.1).
func TestPushWithLostAnswerIsStoredOnce(t *testing.T) {
	t.Parallel()
	ts, th := newRobbedServer(t)
	first := ts.push(`{"items":[{"queue":"known","payload":0,"transactionId":"old"}]}`)
	for _, queue := range []string{"known", "new"} {
		committed := 0
		th.arm("answer", func() {
			committed = ts.count(`SELECT count(*) FROM queen.log_segments s JOIN queen.log_partitions l ON l.id = s.partition_id WHERE l.name = 'q-` + queue + `'`)
		})
		lane := `"queue":"` + queue + `","partition":"q-` + queue + `"`
		results := ts.push(`{"items":[{` + lane + `,"payload":1},{` + lane + `,"payload":2,"transactionId":"a"},{` + lane + `,"payload":3}]}`)
		require.Equal(t, 1, committed, "the answer was stolen after the commit")
		require.Equal(t, []string{"1", "2", "3"}, ts.storedIn(queue)[len(ts.storedIn(queue))-3:])
		for i, m := range ts.popMessages(queue, "q-"+queue) {
			require.Equal(t, results[i].MessageID, m.ID)
			require.Equal(t, results[i].TransactionID, m.TransactionID)
			require.Equal(t, "queued", results[i].Status)
		}
	}

	th.arm("answer", nil)
	results := ts.push(`{"items":[{"queue":"known","payload":7,"transactionId":"b"},{"queue":"known","payload":8,"transactionId":"old"},{"queue":"known","payload":9}]}`)
	statuses := []string{results[0].Status, results[1].Status, results[2].Status}
	require.Equal(t, []string{"queued", "duplicate", "queued"}, statuses)
	require.Equal(t, first[0].MessageID, results[1].MessageID, "a repeat names the original")
	require.Equal(t, []string{"0", "7", "9", "1", "2", "3"}, ts.storedIn("known"))
}

// popMessages takes all of one partition, from the oldest on.
func (ts *testServer) popMessages(queue, partition string) []PoppedMessage {
	ts.t.Helper()
	var got PopResponse
	r := ts.get("/api/v1/pop/queue/" + queue + "/partition/" + partition + "?consumerGroup=all&subscriptionMode=all&autoAck=true")
	require.Equal(ts.t, http.StatusOK, r.Status)
	r.into(ts.t, &got)
	return got.Messages
}

// A push that never got to the database is sent again, and so is one that met a
// session that had ended while nobody used it.
func TestPushThatNeverArrivedIsStoredOnce(t *testing.T) {
	t.Parallel()
	ts, th := newRobbedServer(t)
	for i, payload := range []string{"1", "2", "3"} {
		stolen := false
		th.arm("call", func() { stolen = true })
		ts.pushOne("q", "p", payload)
		require.True(t, stolen)
		require.Equal(t, []string{"1", "2", "3"}[:i+1], ts.storedIn("q"))
	}
	ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'regent'`)
	ts.pushOne("q", "p", "4")
	require.Equal(t, []string{"1", "2", "3", "4"}, ts.storedIn("q"))
}

// A push that waits for a lock when its connection goes may still happen later.
// It is ended before anybody says that it did not.
func TestPushThatIsStillUnderWayIsEndedBeforeItIsRepeated(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*testServer, *cable){
		"connection cut": func(ts *testServer, wire *cable) {
			wire.set(true)
			// Not before the driver's own attempt to cancel the call has failed.
			require.Eventually(ts.t, func() bool { wire.mu.Lock(); defer wire.mu.Unlock(); return wire.refused > 5 }, 10*time.Second, 5*time.Millisecond)
			wire.set(false)
		},
		"backend ended": func(ts *testServer, _ *cable) {
			ts.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts, wire := newCutServer(t, func(c *Config) { c.LockTimeout, c.AcquireTimeout = 20*time.Second, 5*time.Second })
			ts.pushOne("q", "p", "0")
			release := ts.holdPartition("q", "p")
			answer := make(chan reply)
			go func() {
				r, _ := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":1}]}`)
				answer <- r
			}()
			first := ts.blocked()
			cut(ts, wire)
			require.Eventually(t, func() bool { now := ts.blocked(); return now != 0 && now != first }, 10*time.Second, 5*time.Millisecond, "it is sent again")
			require.Equal(t, 1, ts.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`), "and only that is under way")
			release()
			require.Equal(t, http.StatusCreated, (<-answer).Status)
			require.Equal(t, []string{"0", `"held"`, "1"}, ts.storedIn("q"))
		})
	}
}

// blocked waits until a session of the server waits for a lock, and names it.
func (ts *testServer) blocked() (pid int) {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		pid = ts.count(`SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		return pid != 0
	}, 10*time.Second, 5*time.Millisecond)
	return pid
}

// While nobody can find out, the answer is 503 and says nothing of the message.
func TestPushInDoubtIs503WhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	ts, wire := newCutServer(t)
	ts.pushOne("q", "p", "0")
	release := ts.holdPartition("q", "p")
	answer := make(chan reply)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":1,"transactionId":"x"}]}`)
		answer <- r
	}()
	ts.blocked()
	wire.set(true)
	r := <-answer
	require.Equal(t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
	require.Equal(t, "1", r.Header.Get("Retry-After"))
	release()
	wire.set(false)
	require.Eventually(t, func() bool {
		return ts.post("/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":1,"transactionId":"x"}]}`).Status == http.StatusCreated
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, []string{"0", `"held"`, "1"}, ts.storedIn("q"))
}
