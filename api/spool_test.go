package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newSpoolServer is a server with a spool in dir, whose database can be taken
// away. Nothing drains unless the test does.
func newSpoolServer(t *testing.T, dir string, change ...func(*Config)) (*testServer, *cable) {
	t.Helper()
	return newCutServer(t, append([]func(*Config){func(c *Config) { c.BufferDir, c.Listen = dir, false }}, change...)...)
}

// emptySpool replays until nothing is left.
func (ts *testServer) emptySpool() {
	ts.t.Helper()
	require.Eventually(ts.t, func() bool {
		_, done, err := ts.DrainSpool(context.Background())
		require.NoError(ts.t, err)
		return done && ts.maintenance().BufferedMessages == 0 && len(files(ts.t, ts.cfg.BufferDir, "*.spool*")) == 0
	}, 20*time.Second, time.Millisecond)
	require.Zero(ts.t, ts.count(`SELECT count(*) FROM queen.spool_files`), "positions of files that are gone are forgotten")
}

func files(t testing.TB, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	return found
}

// buffer pushes one message a payload, which must be buffered.
func (ts *testServer) buffer(queue, partition string, payloads ...string) {
	ts.t.Helper()
	for _, payload := range payloads {
		results := ts.push(fmt.Sprintf(`{"items":[{"queue":%q,"partition":%q,"payload":%s}]}`, queue, partition, payload))
		require.Equal(ts.t, "buffered", results[0].Status)
	}
}

// restart stops a server and starts another one on its database and folder.
func (ts *testServer) restart(change ...func(*Config)) *testServer {
	ts.t.Helper()
	ts.halt()
	return newTestServerOn(ts.t, ts.db, append([]func(*Config){func(c *Config) { c.BufferDir, c.Listen = ts.cfg.BufferDir, false }}, change...)...)
}

// halt stops a server before its test ends.
func (ts *testServer) halt() {
	ts.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ts.web.CloseClientConnections()
	ts.web.Close()
	require.NoError(ts.t, ts.Stop(ctx))
}

// P-34, design 3.1: answered buffered, replayed oldest first under the ids that
// were answered.
func TestPushIsBufferedWhileTheDatabaseIsAway_P34(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir())
	ts.pushOne("q", "p", `"before"`)
	wire.set(true)
	results := ts.push(`{"items":[
		{"queue":"q","partition":"p","payload":{"a": 1.50,"b":"x\u0000\n"},"transactionId":"T","key":"k"},
		{"queue":"q","partition":"p","payload":[ 1 ]},
		{"queue":"q","partition":"p","payload":"again","transactionId":"T"},
		{"queue":"new.one","payload":null}]}`)
	for _, result := range results {
		require.Equal(t, "buffered", result.Status)
	}
	require.Equal(t, "T", results[0].TransactionID)
	require.Equal(t, "00000000-0000-0000-0000-000000000000", results[0].MessageID, "its id is not known yet")
	require.Equal(t, results[1].MessageID, results[1].TransactionID, "a minted id serves as both")
	require.Equal(t, "7", results[1].TransactionID[14:15])
	status := ts.maintenance()
	require.EqualValues(t, 3, status.BufferedMessages)
	require.EqualValues(t, 3, status.BufferStats.PendingCount)
	require.True(t, status.BufferHealthy)
	require.False(t, status.BufferStats.DBHealthy)
	_, done, err := ts.DrainSpool(context.Background())
	require.NoError(t, err, "that the database is away is no error of the drain")
	require.True(t, done)

	wire.set(false)
	waiting := ts.popLater("/api/v1/pop/queue/new.one?wait=true&timeout=15000")
	ts.emptySpool()
	require.Equal(t, http.StatusOK, (<-waiting).Status, "P-36: replay wakes")
	messages := ts.popMessages("q", "p")
	require.Len(t, messages, 3)
	require.Equal(t, "T", messages[1].TransactionID)
	require.Equal(t, results[1].TransactionID, messages[2].TransactionID)
	require.Equal(t, []string{`"before"`, `{"a": 1.50,"b":"x\u0000\n"}`, `[ 1 ]`}, ts.storedIn("q"), "byte for byte")
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_segments WHERE keys = '{k,NULL}'`))
	require.True(t, ts.maintenance().BufferStats.DBHealthy)
	require.Equal(t, "duplicate", ts.push(`{"items":[{"queue":"q","partition":"p","payload":1,"transactionId":"T"}]}`)[0].Status)
}

// P-5: in push maintenance nothing reaches the database, and nothing is replayed.
func TestPausedPushIsBuffered_P5(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir())
	on := ts.turnSwitch(pushSwitch, true)
	require.Equal(t, true, on["bufferHealthy"])
	ts.buffer("q", "p", "1", "2")
	worked, done, err := ts.DrainSpool(context.Background())
	require.NoError(t, err)
	require.True(t, done)
	require.Zero(t, worked)
	require.Zero(t, ts.count(`SELECT count(*) FROM queen.queues`))
	require.EqualValues(t, 2, ts.turnSwitch(pushSwitch, false)["bufferedMessages"])
	ts.emptySpool()
	require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
	require.Equal(t, "queued", ts.pushOne("q", "p", "3").Status)
}

// Order inside a partition is the order of arrival (design 6): a push waits for
// older ones of its partition that are still in the spool; others do not wait.
func TestPushDoesNotOvertakeTheSpool(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir(), func(c *Config) { c.BufferBatch, c.AcquireTimeout = 1, 20*time.Second })
	wire.set(true)
	ts.buffer("q", "p", "1", "2", "3")
	wire.set(false)
	_, done, err := ts.DrainSpool(context.Background())
	require.NoError(t, err)
	require.False(t, done)
	answer := make(chan reply, 1)
	go func() {
		r, _ := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":4}]}`)
		answer <- r
	}()
	ts.pushOne("q", "other", "9")
	require.Equal(t, []string{"9", "1"}, ts.storedIn("q"))
	select {
	case r := <-answer:
		t.Fatalf("it overtook: %s", r.Body)
	case <-time.After(100 * time.Millisecond):
	}
	ts.emptySpool()
	require.Contains(t, string((<-answer).Body), "queued")
	require.Equal(t, []string{"9", "1", "2", "3", "4"}, ts.storedIn("q"))
}

// When the spool does not get there in time, the push joins what it waits for.
func TestPushThatWaitedTooLongJoinsTheSpool(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir(), func(c *Config) { c.BufferBatch = 1 })
	wire.set(true)
	ts.buffer("q", "p", "1", "2")
	wire.set(false)
	_, _, err := ts.DrainSpool(context.Background())
	require.NoError(t, err)
	ts.buffer("q", "p", "3")
	ts.emptySpool()
	require.Equal(t, []string{"1", "2", "3"}, ts.storedIn("q"))
}

// Replay is exactly once without a dedup window, also when the answer to it is
// lost (issue 3 item 7).
func TestReplayWithLostAnswerIsExactlyOnce_P35(t *testing.T) {
	t.Parallel()
	for _, steal := range []string{"answer", "call"} {
		t.Run(steal, func(t *testing.T) {
			t.Parallel()
			ts, th := newRobbedServer(t, func(c *Config) { c.BufferDir, c.PoolSize = t.TempDir(), 2 })
			require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`).Status)
			for _, payload := range []string{"1", "2"} { // the first round prepares the statements
				ts.turnSwitch(pushSwitch, true)
				ts.buffer("q", "p", payload)
				ts.turnSwitch(pushSwitch, false)
				if payload == "2" {
					ts.quiet()
					th.arm(steal, nil)
				}
				ts.emptySpool()
			}
			require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
		})
	}
}

// quiet keeps the server from looking at the switches, so that a thief meets the
// test's own call.
func (ts *testServer) quiet() {
	ts.switches.seen.Store(time.Now().Add(time.Hour).UnixNano())
}

// A push that may have been committed when the database went away is buffered
// with its doubt, and stored once in both cases (design 3.1).
func TestPushInDoubtIsBufferedAndStoredOnce(t *testing.T) {
	t.Parallel()
	for _, steal := range []string{"answer", "call"} {
		t.Run(steal, func(t *testing.T) {
			t.Parallel()
			ts, th := newRobbedServer(t, func(c *Config) { c.BufferDir = t.TempDir() })
			require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`).Status)
			ts.quiet()
			th.arm(steal, th.cut)
			results := ts.push(`{"items":[{"queue":"q","payload":1},{"queue":"q","payload":2,"transactionId":"b"},{"queue":"q","payload":3}]}`)
			for _, result := range results {
				require.Equal(t, "buffered", result.Status)
			}
			before := 0
			if steal == "answer" {
				before = 3
			}
			require.Len(t, ts.storedIn("q"), before)
			ts.buffer("q", "Default", "4")
			th.mend()
			ts.emptySpool()
			require.Equal(t, []string{"1", "2", "3", "4"}, ts.storedIn("q"))
		})
	}
}

// A full spool is 503 with the item array; what it has is not lost.
func TestFullSpoolIs503WithTheItems(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir(), func(c *Config) { c.BufferMaxBytes = 2000 })
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", "1")
	body := `{"items":[{"queue":"q","partition":"p","payload":2,"transactionId":"x"},{"queue":"r","payload":"` + strings.Repeat("x", 2000) + `"}]}`
	ts.requireNotSpooled(body)
	require.False(t, ts.maintenance().BufferHealthy)
	ts.buffer("q", "p", "3")
	require.True(t, ts.maintenance().BufferHealthy)
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
	require.Equal(t, []string{"1", "3"}, ts.storedIn("q"))
}

// requireNotSpooled pushes two items that nobody takes.
func (ts *testServer) requireNotSpooled(body string) {
	ts.t.Helper()
	r := ts.post("/api/v1/push", body)
	require.Equal(ts.t, http.StatusServiceUnavailable, r.Status, "%s", r.Body)
	require.Equal(ts.t, "1", r.Header.Get("Retry-After"))
	var results []PushResult
	r.into(ts.t, &results)
	require.Len(ts.t, results, 2)
	for _, result := range results {
		require.Equal(ts.t, "failed", result.Status)
		require.NotEmpty(ts.t, result.Error)
	}
}

// A disk that is really full: nothing answered is lost, what was cut off is not
// replayed, and there is room again after the replay.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("regent-test", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system may be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ts, _ := newSpoolServer(t, dir)
	ts.turnSwitch(pushSwitch, true)
	large := `"` + strings.Repeat("x", 200_000) + `"`
	buffered := 0
	for ; buffered < 20; buffered++ {
		r := ts.post("/api/v1/push", `{"items":[{"queue":"q","partition":"p","payload":`+large+`}]}`)
		if r.Status != http.StatusCreated {
			require.Equal(t, http.StatusServiceUnavailable, r.Status)
			break
		}
	}
	require.Greater(t, buffered, 2)
	require.Less(t, buffered, 6)
	ts.buffer("q", "p", `"small"`)
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
	require.Len(t, ts.storedIn("q"), buffered+1)
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", large)
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
}

// A folder that goes away under the server fails pushes; one that cannot be used
// or is used by another server keeps the server from starting.
func TestUnusableFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "spool")
	ts, _ := newSpoolServer(t, dir, func(c *Config) { c.BufferEvents = 1 })
	_, err := New(ts.cfg, ts.pool, nil)
	require.ErrorContains(t, err, "FILE_BUFFER_DIR "+dir)
	require.ErrorContains(t, err, "another server uses this folder")
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm(), "payloads are nobody else's business")

	ts.turnSwitch(pushSwitch, true)
	require.NoError(t, os.Rename(dir, dir+".away"))
	ts.requireNotSpooled(`{"items":[{"queue":"q","payload":1},{"queue":"q","payload":2}]}`)
	require.NoError(t, os.Rename(dir+".away", dir))
	ts.buffer("q", "p", "1")

	plain := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	cfg := ts.cfg
	cfg.BufferDir = filepath.Join(plain, "spool")
	_, err = New(cfg, ts.pool, nil)
	require.ErrorContains(t, err, "FILE_BUFFER_DIR "+cfg.BufferDir)
}

// A restart in the middle goes on where the database says the file stands,
// whatever the dedup window; pushes wait for what an earlier process left.
func TestRestartGoesOnInTheMiddle(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir(), func(c *Config) { c.BufferBatch, c.BufferEvents = 1, 3 })
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`).Status)
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", "1", "2", "3", "4", "5")
	ts.turnSwitch(pushSwitch, false)
	for range 2 {
		_, done, err := ts.DrainSpool(context.Background())
		require.NoError(t, err)
		require.False(t, done)
	}
	require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
	again := ts.restart(func(c *Config) { c.AcquireTimeout = 200 * time.Millisecond })
	require.EqualValues(t, 5, again.maintenance().BufferedMessages, "not yet known to be less")
	again.buffer("q", "p", "6")
	again.emptySpool()
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, again.storedIn("q"))
}

// What a crash or a bad disk does to the file of three answered messages.
func TestDamagedSpoolFiles(t *testing.T) {
	t.Parallel()
	record := func(at int, text []byte) (from, to int) { // of the at-th record
		from = int(preambleLen)
		for ; ; at-- {
			h, err := readHead(bytes.NewReader(text), int64(from), int64(len(text)))
			require.NoError(t, err)
			to = from + int(h.size())
			if at == 0 {
				return from, to
			}
			from = to
		}
	}
	flip := func(at, offset int) func([]byte) []byte {
		return func(text []byte) []byte {
			from, _ := record(at, text)
			text[from+offset] ^= 0x20
			return text
		}
	}
	tail := func(n int) func([]byte) []byte { // some of a fourth record
		return func(text []byte) []byte {
			from, to := record(2, text)
			return append(text, text[from:min(from+n, to)]...)
		}
	}
	const inBody, inHead = int(headLen) + 20, 8
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		stored []string
		kept   int
	}{
		"none":                     {func(b []byte) []byte { return b }, []string{"1", "2", "3"}, 0},
		"torn in the head":         {tail(10), []string{"1", "2", "3"}, 0},
		"torn in the body":         {tail(int(headLen) + 30), []string{"1", "2", "3"}, 0},
		"torn before its line end": {func(b []byte) []byte { return tail(1 << 20)(b)[:len(tail(1<<20)(b))-1] }, []string{"1", "2", "3"}, 0},
		"zeros at the end":         {func(b []byte) []byte { return append(b, make([]byte, 70_000)...) }, []string{"1", "2", "3"}, 0},
		"bit in the first body":    {flip(0, inBody), []string{"2", "3"}, 1},
		"bit in the middle head":   {flip(1, inHead), []string{"1", "3"}, 1},
		"bit in the last body":     {flip(2, inBody), []string{"1", "2"}, 1},
		"bit in the last head":     {flip(2, inHead), []string{"1", "2"}, 1},
		"garbage at the end":       {func(b []byte) []byte { return append(b, strings.Repeat("Q1 ", 100)...) }, []string{"1", "2", "3"}, 1},
		"another first line":       {func(b []byte) []byte { b[0] = 'X'; return b }, nil, 1},
		"empty":                    {func([]byte) []byte { return nil }, nil, 0},
		"only zeros":               {func(b []byte) []byte { return make([]byte, len(b)) }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts, _ := newSpoolServer(t, t.TempDir())
			ts.turnSwitch(pushSwitch, true)
			ts.buffer("q", "p", "1", "2", "3")
			ts.sql(`SELECT queen.set_maintenance_v1(false)`)
			path := files(t, ts.cfg.BufferDir, "*.spool")[0]
			ts.halt()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, c.damage(text), 0o600))
			again := newTestServerOn(t, ts.db, func(conf *Config) { conf.BufferDir, conf.Listen = ts.cfg.BufferDir, false })
			again.emptySpool()
			require.Equal(t, c.stored, again.storedIn("q"))
			require.Len(t, files(t, ts.cfg.BufferDir, "failed/*"), c.kept)
			require.EqualValues(t, c.kept, again.maintenance().BufferStats.FailedFiles.Count)
			again.pushOne("q", "p", "4")
		})
	}
}

// What the database refuses for good is set aside, visible and kept; its
// neighbours are stored, in order (P-34).
func TestRefusedRecordIsSetAside_P34(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	ts, _ := newSpoolServer(t, t.TempDir())
	ts.Server.log, ts.spool.log = slog.New(slog.NewTextHandler(log, nil)), slog.New(slog.NewTextHandler(log, nil))
	ts.sql(`ALTER TABLE queen.queues ADD CONSTRAINT never CHECK (name <> 'never')`)
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", "1")
	results := ts.push(`{"items":[{"queue":"never","payload":{"s": "plain"},"transactionId":"a"},{"queue":"never","payload":8}]}`)
	require.Equal(t, "buffered", results[0].Status)
	ts.buffer("q", "p", "2")
	ts.turnSwitch(pushSwitch, false)
	ts.emptySpool()
	require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
	stats := ts.maintenance().BufferStats
	require.EqualValues(t, 2, stats.FailedCount)
	require.EqualValues(t, 1, stats.FailedFiles.Count)
	require.Positive(t, stats.FailedFiles.TotalBytes)
	text, err := os.ReadFile(files(t, ts.cfg.BufferDir, "failed/*")[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"code":"23514"`)
	require.Contains(t, string(text), `"payload":"{\"s\": \"plain\"}"`)
	require.Contains(t, string(text), `"transactionId":"a"`)
	require.Contains(t, log.String(), "it was set aside")
	require.NotContains(t, log.String(), "plain")
	require.EqualValues(t, 2, ts.restart().maintenance().BufferStats.FailedCount, "counted after a restart, too")
}

// Issue 3 items 7 and 8: what a server without a key keeps for a queue that turns
// out to be encrypted is neither lost, nor stored as plaintext, nor in the way of
// others: it is held, counted as waiting, and stored once, sealed and in order by a
// start with the key. A crash between the two steps of holding changes nothing.
func TestSpooledPushWaitsForTheKey(t *testing.T) {
	t.Parallel()
	ts, _ := newSpoolServer(t, t.TempDir())
	ts.turnSwitch(pushSwitch, true)
	ts.buffer("q", "p", "1")
	ts.push(`{"items":[{"queue":"secret","payload":1,"transactionId":"a"},{"queue":"secret","payload":2}]}`)
	ts.buffer("q", "p", "2")
	ts.buffer("secret", "Default", "3", "4")
	ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}')`)

	waiting := func(ts *testServer) Buffers {
		t.Helper()
		for done := false; !done; {
			var err error
			_, done, err = ts.DrainSpool(context.Background())
			require.NoError(t, err)
		}
		var now Buffers
		ts.get("/api/v1/status/buffers").into(t, &now)
		return now
	}
	// A crash after the first step: the record has its file, and is still in the spool.
	p, err := ts.spool.next(1)
	require.NoError(t, err)
	at := p.to
	p, err = ts.spool.read(openFile(t, p.file.path), &spoolFile{id: p.file.id, number: p.file.number, position: at}, p.file.size, 1)
	require.NoError(t, err)
	require.Equal(t, "secret", p.records[0].Queue)
	require.NoError(t, ts.spool.keep(p))

	ts = ts.restart()
	ts.turnSwitch(pushSwitch, false)
	for range 2 {
		require.Equal(t, Buffers{Pending: 4, DBHealthy: true}, waiting(ts), "held, and nothing else waits")
		require.Equal(t, []string{"1", "2"}, ts.storedIn("q"))
		require.Empty(t, ts.storedIn("secret"))
		require.Len(t, files(t, ts.cfg.BufferDir, "held/*.spool"), 3)
		require.Equal(t, http.StatusServiceUnavailable, ts.post("/api/v1/push", `{"items":[{"queue":"secret","payload":5}]}`).Status)
		ts = ts.restart()
	}

	sealed := ts.restart(withKeys(keyA, ""))
	require.Zero(t, waiting(sealed).Pending)
	require.Equal(t, []string{"1", "2", "3", "4"}, sealed.data("secret", "g"))
	require.Len(t, sealed.rows("secret"), 4, "once")
	for _, row := range sealed.rows("secret") {
		require.True(t, isEnvelope(row), row)
	}
	require.Empty(t, files(t, sealed.cfg.BufferDir, "held/*"))
	require.Empty(t, files(t, sealed.cfg.BufferDir, "failed/*"))
	require.Zero(t, sealed.count(`SELECT count(*) FROM queen.spool_files`))
}

// Issue 3 items 7 and 8: a server without a key learns from the database which
// queues are encrypted before that goes away, and never spools for one; one that
// could not ask spools for none.
func TestServerWithoutKeySpoolsNothingForEncryptedQueues(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir())
	ts.sql(`SELECT queen.configure_queue_v1('secret', '{"encryptionEnabled": true}'), queen.configure_queue_v1('gone', '{"encryptionEnabled": true}')`)
	ts.sql(`SELECT queen.delete_queue_v1('gone')`)
	ts.switches.seen.Store(0)
	_, _, err := ts.DrainSpool(context.Background()) // as the loop does, though nobody calls
	require.NoError(t, err)
	wire.set(true)
	refused := func(text string, queues ...string) {
		t.Helper()
		for _, queue := range queues {
			r := ts.post("/api/v1/push", fmt.Sprintf(`{"items":[{"queue":%q,"payload":"hush"}]}`, queue))
			require.Equal(t, http.StatusServiceUnavailable, r.Status)
			require.Equal(t, "QN503", r.failure(t).Code)
			require.Contains(t, r.failure(t).Text, text)
		}
	}
	refused("no usable encryption key", "secret")
	ts.buffer("open", "p", "1")
	ts.buffer("gone", "p", "2")
	for _, path := range files(t, ts.cfg.BufferDir, "*") {
		if text, err := os.ReadFile(path); err == nil {
			require.NotContains(t, string(text), "hush")
		}
	}

	ts.seals, err = newSealer("", "", ts.log)
	require.NoError(t, err)
	refused("not heard yet", "secret", "open")
}

func openFile(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// The database comes and goes under many pushers. Each sees its own messages once
// and in the order in which it sent them.
func TestFlappingDatabaseKeepsOrderAndCount(t *testing.T) {
	t.Parallel()
	ts, wire := newSpoolServer(t, t.TempDir(), func(c *Config) { c.AcquireTimeout, c.BufferEvents = 5*time.Second, 20 })
	require.Equal(t, http.StatusOK, ts.post("/api/v1/configure", `{"queue":"q","options":{"dedupWindowSeconds":0}}`).Status)
	ctx, cancel := context.WithCancel(context.Background())
	var loops, pushers sync.WaitGroup
	loops.Go(func() {
		for pause(ctx, time.Millisecond) {
			if _, _, err := ts.DrainSpool(ctx); err != nil {
				t.Errorf("drain: %v", err)
			}
		}
	})
	loops.Go(func() {
		// It stays a little longer each time, so that a slow machine gets something done too.
		for more := 0; pause(ctx, time.Duration(more+rand.IntN(150))*time.Millisecond); more += 5 {
			wire.set(true)
			pause(ctx, time.Duration(rand.IntN(100))*time.Millisecond)
			wire.set(false)
		}
	})
	const each, lanes = 150, 6
	var counts sync.Map
	for lane := range lanes {
		pushers.Go(func() {
			for n := 0; n < each; n++ {
				id := ""
				if lane%2 == 0 {
					id = fmt.Sprintf(`,"transactionId":"%d-%d"`, lane, n)
				}
				r, err := ts.try(context.Background(), "POST", "/api/v1/push", fmt.Sprintf(`{"items":[{"queue":"q","partition":"%d","payload":%d%s}]}`, lane, n, id))
				if err != nil {
					t.Errorf("push: %v", err)
					return
				}
				if r.Status != http.StatusCreated {
					n-- // it says that nothing was stored
					counts.Store("503 "+string(r.Body), true)
				} else if strings.Contains(string(r.Body), "buffered") {
					counts.Store("buffered", true)
				}
			}
		})
	}
	pushers.Wait()
	cancel()
	loops.Wait()
	wire.set(false)
	ts.drainAfter = time.Time{}
	ts.emptySpool()
	var want []string
	for range lanes {
		for n := range each {
			want = append(want, fmt.Sprint(n))
		}
	}
	require.Equal(t, want, ts.storedIn("q"))
	_, buffered := counts.Load("buffered")
	require.True(t, buffered)
	counts.Range(func(what, _ any) bool { t.Log(what); return true })
}

// A server with a key seals what it keeps on disk, for whatever queue. Another
// run opens it with the keys that it has, old ones too, and stores each payload as
// its queue wants it. What was sealed under a key that is gone is held until the
// key is back.
func TestSpoolIsSealedWhereThereIsAKey(t *testing.T) {
	t.Parallel()
	first, _ := newSpoolServer(t, t.TempDir(), withKeys(keyA, ""))
	first.encrypt("secret", true)
	first.turnSwitch(pushSwitch, true)
	first.buffer("secret", "p", `"hush 1"`, `{"n": "hush 2"}`)
	first.buffer("open", "p", `"hush 3"`)
	noPlaintext := func(ts *testServer, pattern string, some int) {
		t.Helper()
		found := files(t, ts.cfg.BufferDir, pattern)
		require.Len(t, found, some)
		for _, path := range found {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(text), "hush")
		}
	}
	noPlaintext(first, "*.spool*", 1)

	second := first.restart(withKeys(keyB, "old:"+keyA))
	second.turnSwitch(pushSwitch, false)
	second.emptySpool()
	require.Equal(t, []string{`"hush 1"`, `{"n": "hush 2"}`}, second.data("secret", "g"))
	require.Equal(t, []string{`"hush 3"`}, second.rows("open"), "stored as it was sent")
	for _, row := range second.rows("secret") {
		require.NotContains(t, row, "hush")
	}

	second.turnSwitch(pushSwitch, true)
	second.buffer("secret", "p", `"hush 4"`)
	second.buffer("open", "p", `"hush 5"`)
	third := second.restart(withKeys(keyA, ""))
	third.turnSwitch(pushSwitch, false)
	require.Eventually(t, func() bool {
		_, done, err := third.DrainSpool(context.Background())
		require.NoError(t, err)
		return done && len(files(t, third.cfg.BufferDir, "*.spool*")) == 0
	}, 20*time.Second, time.Millisecond)
	require.EqualValues(t, 2, third.maintenance().BufferedMessages)
	require.Equal(t, []string{`"hush 3"`}, third.rows("open"))
	noPlaintext(third, "held/*", 2)

	fourth := third.restart(withKeys(keyB, "old:"+keyA))
	fourth.emptySpool()
	require.Equal(t, []string{`"hush 3"`, `"hush 5"`}, fourth.rows("open"))
	require.Equal(t, []string{`"hush 1"`, `{"n": "hush 2"}`, `"hush 4"`}, fourth.data("secret", "h"))
	require.Empty(t, files(t, fourth.cfg.BufferDir, "failed/*"))
}
