package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// changedAnswer is an answer of partitions/changed, as the wire has it: times as text.
type changedAnswer struct {
	SafeTime         string
	SafeTimeDegraded bool
	SafeTimeHeldBy   string
	Entries          []struct {
		Queue      string
		Partitions []struct {
			Name                 string
			LastOffset, LogStart int64
			LastWriteAt          string
		}
		Next  *string
		Error string
	}
}

// changed sends a call that must succeed.
func (ts *testServer) changed(entries ...string) changedAnswer {
	ts.t.Helper()
	r := ts.post("/api/v1/partitions/changed", `{"entries":[`+strings.Join(entries, ",")+`]}`)
	require.Equal(ts.t, http.StatusOK, r.Status, "%s", r.Body)
	var got changedAnswer
	r.into(ts.t, &got)
	return got
}

// names are the partitions of an entry.
func (c changedAnswer) names(entry int) []string {
	out := []string{}
	for _, p := range c.Entries[entry].Partitions {
		out = append(out, p.Name)
	}
	return out
}

// query is an entry; what is empty is left out.
func query(queue, since, after string, limit int) string {
	text := `{"queue":` + quoted(queue)
	if since != "" {
		text += `,"since":` + quoted(since)
	}
	if after != "" {
		text += `,"after":` + quoted(after)
	}
	if limit != 0 {
		text += fmt.Sprintf(`,"limit":%d`, limit)
	}
	return text + "}"
}

func TestChangedAnswersExactlyAsTheWireSays(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.push(`{"items":[{"queue":"q","partition":"b","payload":1},{"queue":"q","partition":"a","payload":1},{"queue":"q","partition":"a","payload":2}]}`)
	ts.sql(`UPDATE queen.log_partitions SET last_write_at = '2026-09-04 10:04:12+00'`)
	began := time.Now()
	r := ts.post("/api/v1/partitions/changed", `{"entries":[{"queue":"q"},{"queue":"nope"},{"queue":"q","limit":1,"since":"2026-09-04T10:00:00Z"},{"queue":"q","since":"2026-09-04T11:00:00Z","after":null}],"x":1}`)
	require.Equal(t, http.StatusOK, r.Status, "%s", r.Body)
	var got changedAnswer
	r.into(t, &got)
	a := `{"name":"a","lastOffset":1,"logStart":0,"lastWriteAt":"2026-09-04T10:04:12.000000Z"}`
	b := `{"name":"b","lastOffset":0,"logStart":0,"lastWriteAt":"2026-09-04T10:04:12.000000Z"}`
	require.Equal(t, `{"safeTime":"`+got.SafeTime+`","safeTimeDegraded":false,"entries":[{"queue":"q","partitions":[`+a+`,`+b+`],"next":null},`+
		`{"queue":"nope","error":"UNKNOWN_TOPIC_OR_PARTITION"},{"queue":"q","partitions":[`+a+`],"next":`+quoted(*got.Entries[2].Next)+`},`+
		`{"queue":"q","partitions":[],"next":null}]}`, string(r.Body))
	at, err := time.Parse("2006-01-02T15:04:05.000000Z", got.SafeTime)
	require.NoError(t, err)
	require.False(t, at.After(time.Now().Add(-5*time.Second)), "C-40: five seconds of guard")
	require.False(t, at.Before(began.Add(-6*time.Second)), "C-40: and no more")
	r = ts.post("/api/v1/partitions/changed", `{"entries":[]}`)
	require.Regexp(t, `^\{"safeTime":"[0-9T:.-]{26}Z","safeTimeDegraded":false,"entries":\[\]\}$`, strings.TrimSpace(string(r.Body)), "an empty call has the safe time")
}

func TestChangedRefusals(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for body, text := range map[string]string{
		`[]`:                           "bad body: it must be an object",
		`{}`:                           "entries is required",
		`{"entries":[{}]}`:             "entries[0].queue is required",
		`{"entries":[{"queue":null}]}`: "entries[0].queue is required",
		`{"entries":[{"queue":""}]}`:   "entries[0].queue must not be empty",
		`{"entries":[{"queue":7}]}`:    "entries[0].queue must be a string",
		`{"entries":[{"queue":"q","limit":"9"}]}`:                                  "entries[0].limit must be an integer",
		`{"entries":[{"queue":"q","after":9}]}`:                                    "entries[0].after must be a string",
		`{"entries":[{"queue":"q","since":1796024000}]}`:                           "entries[0].since must be a string",
		`{"entries":[{"queue":"q","since":"yesterday \"x\""}]}`:                    `entries[0].since is not an RFC 3339 time: "yesterday \"x\""`,
		`{"entries":[{"queue":"q","since":""}]}`:                                   `entries[0].since is not an RFC 3339 time: ""`,
		`{"entries":[{"queue":"q"},{"queue":"q","since":"0000-01-01T00:00:00Z"}]}`: `entries[1].since is not an RFC 3339 time: "0000-01-01T00:00:00Z"`,
		`{"entries":[` + strings.Repeat(`{"queue":"q"},`, 64) + `{"queue":"q"}]}`:  "bad body: entries has more than 64 elements",
	} {
		r := ts.post("/api/v1/partitions/changed", body)
		require.Equal(t, http.StatusBadRequest, r.Status, "%.60s", body)
		require.Equal(t, text, r.failure(t).Text, "%.60s", body)
	}
	require.Len(t, ts.changed(strings.TrimSuffix(strings.Repeat(`{"queue":"q"},`, 64), ",")).Entries, 64)
	for _, limit := range []int{-1, 1 << 40} {
		require.Equal(t, "UNKNOWN_TOPIC_OR_PARTITION", ts.changed(query("q", "", "", limit)).Entries[0].Error, "clamped, not refused")
	}
}

// C-33, C-35, C-36: pages of both modes, whatever the names are, and however many
// partitions share one second.
func TestChangedPages(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	names := []string{"", "A", "a", "a|1", "a|2|x", "b'c", `"`, `\`, "é", "日本", "zz", strings.Repeat("n", 255)}
	items := []string{}
	for _, name := range names {
		items = append(items, item("q", name, `1`))
	}
	ts.push(`{"items":[` + strings.Join(items, ",") + `]}`)
	ts.pushOne("other", "x", `1`)
	for _, since := range []string{"", "2020-01-01T00:00:00Z"} {
		for limit := 1; limit <= len(names)+1; limit++ {
			seen, after := []string{}, ""
			for page := 1; ; page++ {
				got := ts.changed(query("q", since, after, limit))
				require.Empty(t, got.Entries[0].Error)
				seen = append(seen, got.names(0)...)
				full := len(got.Entries[0].Partitions) == limit
				require.Equal(t, full, got.Entries[0].Next != nil, "C-35: next only on a full page")
				if !full {
					require.Equal(t, len(names)/limit+1, page)
					break
				}
				after = *got.Entries[0].Next
			}
			require.ElementsMatch(t, names, seen, "limit %d", limit)
		}
	}
	times := `UPDATE queen.log_partitions SET last_write_at = '2026-01-01T00:00:00Z'::timestamptz + ascii(right(name, 1)) * interval '1 minute' WHERE name IN ('A', 'a', 'zz')`
	ts.sql(times)
	got := ts.changed(query("q", "2025-01-01T00:00:00Z", "", 3))
	require.Equal(t, []string{"A", "a", "zz"}, got.names(0), "by time")
	got = ts.changed(query("q", "2026-01-01T01:37:00.5Z", "", 1))
	require.Equal(t, []string{"a"}, got.names(0), "C-39: a write after since may carry the second before")
	got = ts.changed(query("q", "2026-01-01T01:37:02.000001Z", "", 1))
	require.Equal(t, []string{"zz"}, got.names(0))
	got = ts.changed(query("q", "2026-01-01T02:02:02.000001Z", *got.Entries[0].Next, 0))
	require.NotContains(t, got.names(0), "zz", "C-36: the later of since and the cursor")
}

// F153: a cursor that does not fit is the error of its entry.
func TestChangedCursors_F153(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, name := range []string{"a", "b", "c|d"} {
		ts.pushOne("q", name, `1`)
		ts.pushOne("r", name, `1`)
	}
	old := "2020-01-01T00:00:00Z"
	byName := *ts.changed(query("q", "", "", 2)).Entries[0].Next
	byTime := *ts.changed(query("q", old, "", 2)).Entries[0].Next
	foreign := *ts.changed(query("r", "", "", 2)).Entries[0].Next
	last := *ts.changed(query("q", "", "", 3)).Entries[0].Next
	bad := []string{
		query("q", old, byName, 0), query("q", "", byTime, 0), query("q", "", foreign, 0), `{"queue":"q","after":""}`,
		query("q", "", byName[:len(byName)-1], 0), query("q", "", byName+"x", 0), query("q", "", last[:len(last)-2], 0),
		query("q", "", strings.Replace(byName, "n|", "t|", 1), 0), query("q", old, strings.Replace(byName, "n|", "t|", 1), 0),
		query("q", "", strings.Repeat("n|", 5000), 0), query("q", "", "' OR 1=1 --", 0), query("q", "", "|||||", 0), query("q", "", "a\x00b", 0),
		query("q", old, "t|1788515700123456|cust-0419", 0), query("q", "", "n|00000000|"+strings.Repeat("-", 36)+"|1|0|a", 0),
	}
	for _, entry := range bad {
		r := ts.post("/api/v1/partitions/changed", `{"entries":[`+entry+`,{"queue":"q"}]}`)
		require.Equal(t, http.StatusOK, r.Status, "%.200s", entry)
		require.Contains(t, string(r.Body), `"entries":[{"queue":"q","error":"BAD_CURSOR"},{"queue":"q","partitions":[`, "%.200s", entry)
		var got changedAnswer
		r.into(t, &got)
		require.Equal(t, []string{"a", "b", "c|d"}, got.names(1), "the other entries are answered")
	}
	require.Equal(t, []string{"c|d"}, ts.changed(query("q", "", byName, 0)).names(0))
	require.Equal(t, []string{"c|d"}, ts.changed(query("q", old, byTime, 0)).names(0))
	require.Empty(t, ts.changed(query("q", "", last, 0)).names(0))
	ts.send("DELETE", "/api/v1/resources/queues/q", "")
	require.Equal(t, "UNKNOWN_TOPIC_OR_PARTITION", ts.changed(query("q", "", byName, 0)).Entries[0].Error)
	ts.pushOne("q", "z", `1`)
	require.Equal(t, "BAD_CURSOR", ts.changed(query("q", "", byName, 0)).Entries[0].Error, "the queue it was for is gone")
}

// F151: partitions that are written between the pages of a sweep.
func TestChangedSweepMissesNothing_F151(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	const parts = 300
	ts.sql(`SELECT count(*) FROM generate_series(1, 300) i, LATERAL queen.push_v1('q', '0', 'p' || i) x`)
	ts.sql(`UPDATE queen.log_partitions SET last_write_at = last_write_at - 60 * random() * interval '1 s'`)
	for _, since := range []string{"", "2020-01-01T00:00:00Z"} {
		stop := make(chan struct{})
		var writers sync.WaitGroup
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				body := items(item("q", fmt.Sprint("p", 1+rand.IntN(parts)), `1`), item("q", fmt.Sprint("new", n), `1`))
				if r, err := ts.try(context.Background(), "POST", "/api/v1/push", body); err != nil || r.Status != http.StatusCreated {
					t.Errorf("%d %s %v", r.Status, r.Body, err)
					return
				}
			}
		})
		seen, after, last := map[string]bool{}, "", ""
		for {
			got := ts.changed(query("q", since, after, 20))
			for _, name := range got.names(0) {
				seen[name] = true
			}
			require.True(t, last == "" || got.SafeTime <= last, "design 4: no page answers more than the first: %s, %s", last, got.SafeTime)
			last = got.SafeTime
			if got.Entries[0].Next == nil || len(seen) > 3*parts {
				break
			}
			after = *got.Entries[0].Next
		}
		close(stop)
		writers.Wait()
		for i := range parts {
			require.True(t, seen[fmt.Sprint("p", i+1)], "p%d was there all the time, since %q", i+1, since)
		}
	}
}

// F155: since and safeTime survive a round trip; rounding only goes down.
func TestSinceIsNeverRoundedUp_F155(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	for range 200 {
		at := time.Unix(1_700_000_000+rand.Int64N(1e8), rand.Int64N(1e9)).UTC()
		// The last microsecond that lists the partition is 2 s after its stamp.
		ts.sql(`UPDATE queen.log_partitions SET last_write_at = $1::timestamptz - interval '2 s'`, at.Truncate(time.Microsecond))
		got := ts.changed(query("q", at.Format(time.RFC3339Nano), "", 0), query("q", at.Truncate(time.Microsecond).Add(time.Microsecond).Format(time.RFC3339Nano), "", 0),
			query("q", at.In(time.FixedZone("", 19800)).Format(time.RFC3339Nano), "", 0))
		require.Equal(t, [][]string{{"p"}, {}, {"p"}}, [][]string{got.names(0), got.names(1), got.names(2)}, at)
		require.Equal(t, at.Add(-2*time.Second).Format("2006-01-02T15:04:05.000000Z"), got.Entries[0].Partitions[0].LastWriteAt)
	}
}

// F149: an idle transaction holds the safe time, the answer says so, and it goes
// on when the transaction ends.
func TestHeldSafeTimeIsExplained_F149(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	tx, err := ts.db.Pool.Begin(context.Background())
	require.NoError(t, err)
	var pid int
	var began string
	require.NoError(t, tx.QueryRow(context.Background(), `SELECT pg_backend_pid(), queen._utc(now())`).Scan(&pid, &began))
	last := ""
	for end := time.Now().Add(2 * time.Minute); last != began && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ts.pushOne("q", "p", `1`)
		got := ts.changed()
		require.GreaterOrEqual(t, got.SafeTime, last, "never goes back")
		require.LessOrEqual(t, got.SafeTime, began)
		require.False(t, got.SafeTimeDegraded)
		last = got.SafeTime
	}
	require.Equal(t, began, last)
	require.Equal(t, fmt.Sprintf("session %d, idle in transaction, in a transaction since %s", pid, began), ts.changed().SafeTimeHeldBy)
	require.NoError(t, tx.Rollback(context.Background()))
	require.Eventually(t, func() bool {
		got := ts.changed()
		return got.SafeTime > began && got.SafeTimeHeldBy == ""
	}, time.Minute, 50*time.Millisecond)
}
