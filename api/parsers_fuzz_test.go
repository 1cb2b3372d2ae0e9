package api

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// politelyRefused checks that err, if any, is a refusal that a client may see.
func politelyRefused(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var refusal *Error
	require.True(t, errors.As(err, &refusal), "%v", err)
	require.Contains(t, []int{http.StatusBadRequest, http.StatusInternalServerError}, refusal.GetStatus())
	require.Less(t, len(refusal.Text), 600)
	require.True(t, utf8.ValidString(refusal.Text) && !strings.ContainsRune(refusal.Text, 0), "%q", refusal.Text)
	return true
}

func soundJSON(t *testing.T, body []byte) {
	t.Helper()
	require.True(t, jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)))
}

func FuzzScanTransaction(f *testing.F) {
	for _, seed := range []string{
		`{"operations":[{"type":"push","items":[{"queue":"q","payload":{"a":1},"transactionId":"a","traceId":"x"}]},{"type":"push","queue":"q","data":null}]}`,
		`{"operations":[{"type":"ack","transactionId":"a","partitionId":"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11","leaseId":"l","status":"retry"}],"requiredLeases":["l",null]}`,
		`{"kv":[],"timers":null,"operations":[]}`, `{"operations":[{"type":"push"},{"type":"ack"}]}`, `{"operations":[1]}`, `{"operations":[{"type":"\u0070ush","items":[{"key":"k"},[]]}]}`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := scanTransaction(append([]byte(nil), body...))
		if politelyRefused(t, err) {
			return
		}
		soundJSON(t, body)
		placed := 0
		for _, lane := range got.lanes {
			placed += len(lane.items)
		}
		for _, group := range got.groups {
			placed += len(group.items)
		}
		require.Equal(t, len(got.results), placed)
		for i := range got.results {
			require.Equal(t, "", textFault(got.results[i].id))
			if got.results[i].lane != nil {
				require.True(t, jsontext.Value(got.results[i].payload).IsValid(jsontext.AllowDuplicateNames(true)))
			}
		}
	})
}

func FuzzScanFetch(f *testing.F) {
	for _, seed := range []string{`{"entries":[{"queue":"q","partition":null,"offset":0,"maxBytes":1}],"maxWaitMs":5,"minBytes":0}`,
		`{"entries":[{"queue":"q","offset":-1}]}`, `{"entries":[{"queue":"q","offset":1e3}]}`, `{"entries":{}}`, `{"maxWaitMs":99999999999999999999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := scanFetch(append([]byte(nil), body...))
		if politelyRefused(t, err) {
			return
		}
		soundJSON(t, body)
		n := len(got.args.Queues)
		require.LessOrEqual(t, n, maxFetchEntries)
		require.True(t, n == len(got.args.Partitions) && n == len(got.args.Offsets) && n == len(got.args.MaxBytes))
		require.True(t, got.wait >= 0 && got.wait <= maxFetchWait && got.minBytes >= 0)
		for i := range n {
			require.True(t, got.args.Offsets[i] >= 0 && got.args.MaxBytes[i] >= 1 && got.args.MaxBytes[i] <= maxFetchBytes)
			require.Equal(t, "", nameFault(got.args.Queues[i])+nameFault(got.args.Partitions[i]))
		}
	})
}

func FuzzScanChanged(f *testing.F) {
	for _, seed := range []string{`{"entries":[{"queue":"q","since":"2026-07-30T09:00:00.123456789Z","after":"x","limit":10}]}`,
		`{"entries":[{"queue":"q","since":"0000-12-31T23:00:00-02:00"}]}`, `{"entries":[{"queue":""}]}`, `{"entries":[{"queue":"q","after":"\u0000"}]}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := scanChanged(append([]byte(nil), body...))
		if politelyRefused(t, err) {
			return
		}
		soundJSON(t, body)
		require.LessOrEqual(t, len(got.Queues), maxChangedEntries)
		for i := range got.Queues {
			require.Equal(t, "", nameFault(got.Queues[i])+textFault(deref(got.Afters[i])))
			if since := got.Sinces[i]; since != nil {
				_, err := time.Parse(time.RFC3339Nano, *since)
				require.NoError(t, err)
			}
			require.True(t, got.Limits[i] >= 1 && got.Limits[i] <= maxChangedLimit)
		}
	})
}

func FuzzReadPopQuery(f *testing.F) {
	for _, seed := range []string{"", "batch=10&wait=true&timeout=0", "batch=-1&batch=2", "batch=99999999999999999999", "consumerGroup=%00", "consumerGroup=%ff", "wait=yes", "%zz", "a;b", "timeout=-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := readPopQuery(raw)
		if politelyRefused(t, err) {
			return
		}
		values, err := url.ParseQuery(raw)
		require.NoError(t, err)
		for name, text := range got.texts {
			require.Equal(t, []string{text}, values[name])
			require.Equal(t, "", textFault(text))
		}
		if n, ok := got.number("timeout"); ok {
			require.GreaterOrEqual(t, n, int64(0))
		}
		batch := got.within("batch", 200, 1, 10_000)
		require.True(t, batch >= 1 && batch <= 10_000)
	})
}

// FuzzReadBodies feeds the readers of small bodies, which all must take any bytes.
func FuzzReadBodies(f *testing.F) {
	for _, seed := range []string{
		`{"queue":"orders","options":{"leaseTime":60,"a":{"b":[1]},"n":1e999999},"mode":"replace","dryRun":true}`, `{"queue":"q","mode":"\u0000"}`, `{"queue":"q","x\u0000":1}`, `{"queue":" ","partition":"p"}`,
		`{"toEnd":true}`, `{"timestamp":"2026-07-30"}`, `{"enabled":true}`,
		`{"transactionId":"a","partitionId":"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11","data":1,"traceNames":["a",1,"\u0000"]}`, `2026-07-30T09:00`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if args, refusal := readConfigure(bytes.Clone(body)); refusal != nil {
			politelyRefused(t, refusal)
		} else {
			require.Equal(t, "", nameFault(args.Queue))
			require.True(t, jsontext.Value(args.Options).IsValid())
		}
		if args, refusal := readSeek(bytes.Clone(body)); refusal != nil {
			politelyRefused(t, refusal)
		} else {
			require.True(t, args.ToEnd || textFault(*args.Since) == "")
		}
		if queue, partition, refusal := readReplay(bytes.Clone(body)); refusal != nil {
			politelyRefused(t, refusal)
		} else {
			require.Equal(t, "", nameFault(deref(queue))+nameFault(deref(partition)))
		}
		if args, refusal := readTrace(bytes.Clone(body)); refusal != nil {
			politelyRefused(t, refusal)
		} else {
			require.Equal(t, "", idFault(args.TransactionID))
			for _, name := range args.TraceNames {
				require.Equal(t, "", nameFault(name))
			}
		}
		_, err := readSwitch(bytes.Clone(body))
		politelyRefused(t, err)
		if at, refusal := readTime("from", string(body)); refusal != nil {
			politelyRefused(t, refusal)
		} else if at != nil {
			require.True(t, at.Year() > 0 && at.Year() < 10000)
		}
	})
}

// FuzzReadRecord reads a spool file of any content: it ends, and what it takes
// for a record lies inside of the file.
func FuzzReadRecord(f *testing.F) {
	f.Add([]byte(headMagic + "00000002 00000001 00000000 00000000\n{}\n"))
	f.Add([]byte("\n" + headMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		file, size := bytes.NewReader(content), int64(len(content))
		if _, end, err := readRecord(file, 0, size); err == nil {
			require.True(t, end > 0 && end <= size)
		}
		if at, found := nextRecord(file, 0, size); found {
			require.True(t, at > 0 && at < size)
		}
	})
}
