package api

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Keys of the tests.
var (
	keyA = strings.Repeat("a1", 32)
	keyB = strings.Repeat("B2", 32)
)

// withKeys gives a server its keys.
func withKeys(current, others string) func(*Config) {
	return func(c *Config) { c.EncryptionKey, c.EncryptionKeys = current, others }
}

func testSealer(t testing.TB, current, others string) *sealer {
	t.Helper()
	s, err := newSealer(current, others, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return s
}

// encrypt switches encryption of a queue.
func (ts *testServer) encrypt(queue string, on bool) {
	ts.t.Helper()
	r := ts.post("/api/v1/configure", fmt.Sprintf(`{"queue":%q,"options":{"encryptionEnabled":%t}}`, queue, on))
	require.Equal(ts.t, http.StatusOK, r.Status)
}

// rows are the payloads of a queue as psql sees them, oldest first.
func (ts *testServer) rows(queue string) []string {
	ts.t.Helper()
	var rows []string
	require.NoError(ts.t, ts.db.Pool.QueryRow(context.Background(), `SELECT coalesce(array_agg(f ORDER BY s.created_at, s.base_offset, u.ord), '{}')
		FROM queen.queues q JOIN queen.log_partitions p ON p.queue_id = q.id JOIN queen.log_segments s ON s.partition_id = p.id,
		unnest(s.payloads) WITH ORDINALITY u (f, ord) WHERE q.name = $1`, queue).Scan(&rows))
	return rows
}

// data is what a pop delivers, byte for byte.
func (ts *testServer) data(queue, group string) []string {
	ts.t.Helper()
	r := ts.get("/api/v1/pop/queue/" + queue + "?subscriptionMode=all&partitions=0&batch=1000&consumerGroup=" + group)
	if r.Status == http.StatusNoContent {
		return nil
	}
	var got struct {
		Messages []struct{ Data json.RawMessage }
	}
	r.into(ts.t, &got)
	texts := make([]string, len(got.Messages))
	for i, m := range got.Messages {
		texts[i] = string(m.Data)
	}
	return texts
}

// pushTexts stores payloads in order, and reports the statuses.
func (ts *testServer) pushTexts(queue string, payloads ...string) []string {
	ts.t.Helper()
	items := make([]string, len(payloads))
	for i, payload := range payloads {
		items[i] = fmt.Sprintf(`{"queue":%q,"payload":%s}`, queue, payload)
	}
	var statuses []string
	for _, result := range ts.push(`{"items":[` + strings.Join(items, ",") + `]}`) {
		statuses = append(statuses, result.Status)
	}
	return statuses
}

// openByHand opens an envelope as spec/http-api.md 7.4 describes it, without our code.
func openByHand(t testing.TB, key, stored string) (text, kid string) {
	t.Helper()
	var parts map[string]string
	require.NoError(t, json.Unmarshal([]byte(stored), &parts))
	require.Len(t, parts, 4)
	bin := map[string][]byte{}
	for _, name := range []string{"encrypted", "iv", "authTag"} {
		var err error
		bin[name], err = base64.StdEncoding.DecodeString(parts[name])
		require.NoError(t, err, name)
	}
	require.Len(t, bin["iv"], 16)
	require.Len(t, bin["authTag"], 16)
	raw, err := hex.DecodeString(key)
	require.NoError(t, err)
	block, err := aes.NewCipher(raw)
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	plain, err := gcm.Open(nil, bin["iv"][:12], append(bin["encrypted"], bin["authTag"]...), nil)
	require.NoError(t, err)
	return string(plain), parts["kid"]
}

func TestSealedPayloadsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("q", true)
	sent := []string{
		`{"card":"4111"}`, `1e400`, `-0`, `{"b":1,"a":2,"b":3}`, `"\ud83d\ude00"`, `"é\u00e9\u0000"`, `[ 1 ,	2 ]`, `{ "<&>" : "\/" }`, `null`, `""`, `{}`,
		`"` + strings.Repeat("x", 70_000) + `"`, `{"encrypted":"plain after all","iv":"x","authTag":"x","kid":"x"}`,
	}
	for _, status := range ts.pushTexts("q", sent...) {
		require.Equal(t, "queued", status)
	}
	stored := ts.rows("q")
	require.Len(t, stored, len(sent))
	ivs := map[string]bool{}
	for i, row := range stored {
		text, kid := openByHand(t, keyA, row)
		require.Equal(t, sent[i], text)
		require.Regexp(t, `^[0-9a-f]{16}$`, kid, "an id that does not show the key")
		require.NotContains(t, keyA, kid)
		ivs[row[strings.Index(row, `"iv"`):strings.Index(row, `"authTag"`)]] = true
	}
	require.Len(t, ivs, len(sent), "no nonce twice")
	require.Equal(t, sent, ts.data("q", "g"))

	var popped string
	require.NoError(t, ts.db.Pool.QueryRow(context.Background(), `SELECT payload::text FROM queen.pop_v1('q', 1)`).Scan(&popped))
	require.Equal(t, stored[0], popped, "psql sees envelopes only")
	require.Equal(t, int64(ts.count(`SELECT sum(octet_length(f)) FROM queen.log_segments s, unnest(s.payloads) f`)),
		int64(ts.count(`SELECT sum(bytes) FROM queen.log_segments`)), "bytes are those of the envelope")
}

func TestEncryptionIsSeenByTheNextPushEverywhere(t *testing.T) {
	t.Parallel()
	one := newTestServer(t, withKeys(keyA, ""))
	two := newTestServerOn(t, one.db, withKeys(keyA, ""))
	require.Equal(t, []string{"queued"}, one.pushTexts("q", `"before"`))
	one.encrypt("q", true)
	two.pushTexts("q", `"on"`)
	one.pushTexts("q", `"on too"`)
	one.pushTexts("q", `"still"`)
	two.encrypt("q", false)
	one.pushTexts("q", `"off"`)
	two.pushTexts("q", `"off too"`)
	one.encrypt("q", true)
	two.pushTexts("q", `"again"`)

	stored := one.rows("q")
	require.Len(t, stored, 7)
	for i, sealed := range []bool{false, true, true, true, false, false, true} {
		require.Equal(t, sealed, isEnvelope(stored[i]), "message %d", i)
	}
	sent := []string{`"before"`, `"on"`, `"on too"`, `"still"`, `"off"`, `"off too"`, `"again"`}
	require.Equal(t, sent, two.data("q", "g"), "what was pushed before and after comes back all the same")
	require.Equal(t, sent, one.data("q", "h"))
}

func TestSealedQueuesKeepOrderAndNeighbours(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("secret", true)
	var wait sync.WaitGroup
	for c := range 8 {
		wait.Go(func() {
			for n := range 20 {
				items := make([]string, 0, 4)
				for k := range 2 {
					items = append(items, fmt.Sprintf(`{"queue":"secret","partition":"p%d","payload":"%d"}`, c%3, n*2+k), fmt.Sprintf(`{"queue":"open","partition":"p%d","payload":%d}`, c, n*2+k))
				}
				r, err := ts.try(context.Background(), "POST", "/api/v1/push", `{"items":[`+strings.Join(items, ",")+`]}`)
				if err != nil || r.Status != http.StatusCreated || bytes.Contains(r.Body, []byte("failed")) {
					t.Errorf("push: %v, status %d: %s", err, r.Status, r.Body)
				}
				if n == 10 {
					ts.seals.learn(queueKey{defaultTenant, "secret"}, true) // a wrong guess changes nothing
				}
			}
		})
	}
	wait.Wait()
	require.Len(t, ts.rows("secret"), 320)
	for _, row := range ts.rows("secret") {
		require.True(t, isEnvelope(row))
	}
	for _, row := range ts.rows("open") {
		require.False(t, isEnvelope(row))
	}
	for c := range 8 {
		got := ts.pop("open", fmt.Sprintf("subscriptionMode=all&batch=100&consumerGroup=g%d", c))
		for n, m := range got.Messages {
			require.EqualValues(t, n, m.Data)
		}
	}
}

func TestMissingOrBadKeyRefusesThePush(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"missing": "", "short": keyA[:62], "long": keyA + "00", "not hex": "zz" + keyA[2:], "blank": "  "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log lockedLog
			ts := newTestServer(t, withKeys(key, "old:"+keyB))
			ts.seals, _ = newSealer(key, "old:"+keyB, slog.New(slog.NewTextHandler(&log, nil)))
			ts.encrypt("q", true)

			r := ts.post("/api/v1/push", `{"items":[{"queue":"q","payload":"s3cret"},{"queue":"q","partition":"p","payload":"s3cret"}]}`)
			require.Equal(t, http.StatusServiceUnavailable, r.Status)
			require.Equal(t, "1", r.Header.Get("Retry-After"))
			failure := r.failure(t)
			require.Equal(t, "QN503", failure.Code)
			require.True(t, failure.Retryable)

			results := ts.push(`{"items":[{"queue":"q","payload":{"encrypted":"s3cret","iv":"x","authTag":"x","kid":"x"}},{"queue":"open","payload":2}]}`)
			require.Equal(t, []string{"failed", "queued"}, []string{results[0].Status, results[1].Status})
			require.Contains(t, results[0].Error, "encryption key")
			require.Empty(t, ts.rows("q"), "nothing is stored in the clear, whatever its shape")

			require.Contains(t, log.String(), "QUEEN_ENCRYPTION_KEY")
			require.Equal(t, 1, strings.Count(log.String(), "was refused"), "a minute's refusals are one line")
			for _, secret := range []string{"s3cret", keyA[:16], keyB[:16]} {
				require.NotContains(t, log.String(), secret)
				require.NotContains(t, string(r.Body), secret)
			}
		})
	}
}

// lockedLog is a log that many write to.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestRotatedKeysOpenOldMessages(t *testing.T) {
	t.Parallel()
	first := newTestServer(t, withKeys(keyA, ""))
	first.encrypt("q", true)
	first.pushTexts("q", `"under A"`)
	named := newTestServerOn(t, first.db, withKeys(keyB, "2025:"+keyA+", 2026:"+strings.ToLower(keyB)))
	named.pushTexts("q", `"under B"`)
	stored := named.rows("q")
	text, kid := openByHand(t, keyB, stored[1])
	require.Equal(t, []string{`"under B"`, "2026"}, []string{text, kid}, "a listed key is called by its id")

	both := []string{`"under A"`, `"under B"`}
	require.Equal(t, both, named.data("q", "g1"), "the old key is found whatever it is called now")
	back := newTestServerOn(t, first.db, withKeys(keyA, "2026:"+keyB))
	require.Equal(t, both, back.data("q", "g2"))
	onlyOld := newTestServerOn(t, first.db, withKeys("", "x:"+keyA+",2026:"+keyB))
	require.Equal(t, both, onlyOld.data("q", "g3"), "old keys open without a current one")

	// Who lacks the key gets the envelope, and its neighbours.
	require.Equal(t, []string{`"under A"`, stored[1]}, first.data("q", "g4"), "unknown kid")
	renamed := newTestServerOn(t, first.db, withKeys(keyA, "2026:"+strings.Repeat("00", 32)))
	require.Equal(t, []string{`"under A"`, stored[1]}, renamed.data("q", "g5"), "the kid of another key")
	none := newTestServerOn(t, first.db)
	require.Equal(t, stored, none.data("q", "g6"), "no key")
}

func TestDamagedEnvelopesAreDeliveredAsTheyAre(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	var log lockedLog
	ts.seals.log = slog.New(slog.NewTextHandler(&log, nil))
	s := ts.seals.current.seal(`"s3cret"`)
	flip := func(part string) string { // another first character of a value
		at := strings.Index(s, `"`+part+`":"`) + len(part) + 4
		other := "A"
		if s[at] == 'A' {
			other = "B"
		}
		return s[:at] + other + s[at+1:]
	}
	damaged := []string{
		flip("encrypted"), flip("iv"), flip("authTag"), flip("kid"),
		strings.Replace(s, `"iv":"`, `"iv":"AA`, 1), strings.Replace(s, `"authTag":"`, `"authTag":"?`, 1),
		strings.Replace(s, `","iv"`, `A","iv"`, 1), `{"encrypted":"","iv":"","authTag":"","kid":"` + ts.seals.current.id + `"}`,
	}
	foreign := []string{
		strings.TrimSuffix(s, "}") + `,"more":1}`, strings.TrimSuffix(s, "}") + `,"kid":"x"}`, strings.Replace(s, `"kid"`, `"KID"`, 1),
		`[` + s + `]`, `{"a":` + s + `}`, `"authTag"`, `{"authTag":null,"iv":1,"encrypted":[],"kid":{}}`,
	}
	for _, row := range append(append([]string{}, damaged...), foreign...) {
		ts.sql(`SELECT queen.push_v1('q', $1::text::json)`, row)
	}
	ts.sql(`SELECT queen.push_v1('q', $1::text::json)`, s)
	respaced := "\n{ " + strings.NewReplacer(`,"`, ` , "`, `":"`, `" : "`).Replace(s[1:])
	ts.sql(`SELECT queen.push_v1('q', $1::text::json)`, respaced)

	require.Equal(t, append(append(damaged, foreign...), `"s3cret"`, `"s3cret"`), ts.data("q", "g"), "reads open by shape")
	require.Equal(t, 1, strings.Count(log.String(), "looks sealed"), "a minute's failures are one line")
	require.NotContains(t, log.String(), "s3cret")
	require.NotContains(t, log.String(), ts.seals.current.id, "what looks like an envelope may be anybody's payload")
}

func TestPayloadsThatLookSealedComeBackAsSent(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, "old:"+keyB))
	ours, old := ts.seals.current.seal(`"inner"`), ts.seals.keys["old"].seal(`"inner"`)
	alike := []string{`{"encrypted":"x","iv":"x","authTag":"x","kid":"x"}`, ours, old, strings.Replace(ours, `","iv`, `A","iv`, 1), "{ " + ours[1:]}
	for _, on := range []bool{false, true} {
		queue := fmt.Sprintf("q%t", on)
		ts.encrypt(queue, on)
		ts.pushTexts(queue, alike...)
		for _, payload := range alike {
			ts.pushTexts(queue, payload)
		}
		require.Equal(t, append(append([]string{}, alike...), alike...), ts.data(queue, "g"), "encrypted: %t", on)
		if !on {
			require.Equal(t, alike[0], ts.rows(queue)[0], "psql sees what was sent")
		}
	}
	// A server without a current key cannot be tricked either.
	reader := newTestServerOn(t, ts.db, withKeys("", "old:"+keyB))
	require.Equal(t, []string{"queued"}, reader.pushTexts("plain", old))
	require.Equal(t, []string{old}, reader.data("plain", "g"))
}

func TestSealedMessagesAreDeduplicated(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("q", true)
	item := `{"queue":"q","transactionId":"t","payload":`
	first := ts.push(`{"items":[` + item + `1},` + item + `2}]}`)
	require.Equal(t, []string{"queued", "duplicate"}, []string{first[0].Status, first[1].Status})
	again := ts.push(`{"items":[` + item + `3}]}`)
	require.Equal(t, "duplicate", again[0].Status)
	require.Equal(t, first[0].MessageID, again[0].MessageID)
	ts.encrypt("q", false)
	require.Equal(t, "duplicate", ts.push(`{"items":[` + item + `4}]}`)[0].Status, "whatever the flag was")
	require.Equal(t, []string{"1"}, ts.data("q", "g"))
}

func TestSealedCallsKeepTheLimitOfACall(t *testing.T) {
	t.Parallel()
	s := testSealer(t, keyA, strings.Repeat("k", maxKeyID)+":"+keyA)
	for _, n := range []int{1, 2, 3, 100, 256, 4096, 1 << 20} {
		require.LessOrEqual(t, len(s.current.seal(strings.Repeat("x", n))), s.size(n))
	}
	require.Equal(t, 100, testSealer(t, "", "").size(100))
	items := make([]string, 40)
	for i := range items {
		items[i] = `{"queue":"q","payload":"` + strings.Repeat("x", 200_000) + `"}`
	}
	request, err := scanPush([]byte(`{"items":[`+strings.Join(items, ",")+`]}`), s.size)
	require.NoError(t, err)
	for _, g := range request.groups {
		sealed := 0
		for _, at := range g.items {
			sealed += len(s.pack(request.items[at].payload, true))
		}
		require.LessOrEqual(t, sealed, maxCallBytes)
		require.LessOrEqual(t, sealed, g.bytes)
	}
}

func TestBadListsOfKeysStopTheServer(t *testing.T) {
	t.Parallel()
	for _, list := range []string{keyA, ":" + keyA, "a b:" + keyA, "a:" + keyA[:10], "a:" + keyA + ",a:" + keyB, "a:" + keyA + ";b:" + keyB, strings.Repeat("i", 65) + ":" + keyA} {
		_, err := New(Config{BindAddr: "127.0.0.1", MaxBodyBytes: 1, ExecMode: "cache_statement", Flushers: 1, AcquireTimeout: 1, EncryptionKeys: list}, nil, nil)
		require.ErrorContains(t, err, "REGENT_ENCRYPTION_KEYS", list)
		require.NotContains(t, err.Error(), keyA[:8])
		require.NotContains(t, err.Error(), keyB[:8])
	}
	for _, list := range []string{"", " ", ",", "a:" + keyA + ",", " a : " + keyA + " , b.c_-9:" + keyB} {
		_, err := newSealer("", list, slog.New(slog.DiscardHandler))
		require.NoError(t, err, list)
	}
}

func FuzzOpenChangesNothingElse(f *testing.F) {
	s := testSealer(f, keyA, "")
	f.Add(`{"encrypted":"x","iv":"x","authTag":"x","kid":"x"}`)
	f.Add(s.current.seal("1"))
	f.Fuzz(func(t *testing.T, payload string) {
		require.Equal(t, payload, s.open(s.pack(payload, false)))
		require.Equal(t, payload, s.open(s.pack(payload, true)))
	})
}

func TestDeadLettersOfAnEncryptedQueueAreShownOpen(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("q", true)
	ts.pushTexts("q", `{"card": "4111"}`)
	got := ts.pop("q", "")
	ts.ackBody(fmt.Sprintf(`{"transactionId":%q,"partitionId":%q,"leaseId":%q,"status":"dlq"}`, got.Messages[0].TransactionID, got.PartitionID, got.LeaseID))

	r := ts.get("/api/v1/dlq?queue=q")
	require.Contains(t, string(r.Body), `"data":{"card": "4111"}`)
	require.Contains(t, string(r.Body), `"isEncrypted":true`)
	require.Equal(t, 1, ts.count(`SELECT count(*) FROM queen.log_dlq WHERE payload LIKE '{"encrypted"%'`), "it is stored sealed")
	var list DeadLetterList
	r.into(t, &list)
	require.Equal(t, http.StatusOK, ts.post("/api/v1/dlq/"+list.Messages[0].ID+"/replay", "").Status)
	require.Equal(t, []string{`{"card": "4111"}`}, ts.data("q", "again")[1:])
}

// A queue was encrypted after its messages died: the server seals them on their
// way back, or says that it cannot, and from SQL nothing plain gets in.
func TestReplayIntoAnEncryptedQueueSeals(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	keyless := newTestServerOn(t, ts.db)
	letters := []DeadLetter{ts.kill("q", "p", "t1", `{"n": 1}`, "g", "x"), ts.kill("q", "p", "t2", `{"n": 2}`, "g", "x"), ts.kill("q", "p", "t3", `{"n": 3}`, "g", "x")}
	ts.encrypt("q", true)
	ts.encrypt("vault", true)
	targets := []string{"/api/v1/dlq/" + letters[0].ID + "/replay", "/api/v1/messages/" + letters[1].PartitionID + "/t2/retry", "/api/v1/dlq/" + letters[2].ID + "/replay"}
	bodies := []string{"", "", `{"queue":"vault"}`}
	for i, target := range targets {
		r := keyless.post(target, bodies[i])
		require.Equal(t, http.StatusInternalServerError, r.Status, "spec 4.8: refused and kept: %s", r.Body)
		require.Equal(t, []any{"QN503", false, "failed"}, []any{r.failure(t).Code, parsed(t, string(r.Body))["dlqRowRemoved"], parsed(t, string(r.Body))["result"]})
		require.Contains(t, r.failure(t).Text, "no usable encryption key")
	}
	require.Equal(t, 3, ts.count(`SELECT count(*) FROM queen.redrive_dead_letters_step_v1('q') WHERE result = 'failed' AND code = 'QN409'`), "SQL has no key")
	require.Len(t, ts.deadLetters("").Messages, 3, "all are kept")
	for i, target := range targets {
		got, r := ts.replay(target, bodies[i])
		require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
		require.Equal(t, []any{"moved", "dlq:" + letters[i].ID, true}, []any{got.Result, got.ReplayedAs.TransactionID, got.DlqRowRemoved})
	}
	require.Empty(t, ts.deadLetters("").Messages)
	for _, row := range append(ts.rows("q")[3:], ts.rows("vault")...) {
		text, _ := openByHand(t, keyA, row)
		require.Contains(t, text, `{"n": `)
	}
	require.Equal(t, []string{`{"n": 1}`, `{"n": 2}`}, ts.data("q", "g"))
	require.Equal(t, []string{`{"n": 3}`}, ts.data("vault", "g"))
}

// Encryption was switched off after messages died: they stay sealed, as those in
// the log do, and come back open. A replay is no way to write them out in plain.
func TestReplayOfASealedLetterStaysSealed(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.encrypt("q", true)
	one, two := ts.kill("q", "p", "t1", `{"n": 1}`, "g", "x"), ts.kill("q", "p", "t2", `{"n": 2}`, "g", "x")
	ts.encrypt("q", false)
	for id, body := range map[string]string{one.ID: "", two.ID: `{"queue":"plain"}`} {
		_, r := ts.replay("/api/v1/dlq/"+id+"/replay", body)
		require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	}
	for queue, want := range map[string]string{"q": `{"n": 1}`, "plain": `{"n": 2}`} {
		rows := ts.rows(queue)
		text, _ := openByHand(t, keyA, rows[len(rows)-1])
		require.Equal(t, want, text)
		require.Equal(t, []string{want}, ts.data(queue, "g"))
	}
}

func TestFetchOpensWhatIsSealed(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, withKeys(keyA, ""))
	ts.pushTexts("q", `"before"`)
	ts.encrypt("q", true)
	ts.pushTexts("q", `{"card": "4111"}`)
	got := ts.fetchOf(`{"entries":[{"queue":"q","partition":"Default","offset":0}]}`).Entries[0].Records
	require.Equal(t, []string{`"before"`, `{"card": "4111"}`}, []string{string(got[0].Payload), string(got[1].Payload)})
}
