package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// FuzzScanPush holds the scanner against a decoder that is not ours.
func FuzzScanPush(f *testing.F) {
	for _, seed := range []string{
		`{"items":[]}`, `{"items":[{"queue":"q","payload":{"a":[1,2.50,"x\u0000"]}}]}`, `{"items":[{"payload":null,"queue":"\u0071","partition":null,"transactionId":"a"}],"x":{"items":1}}`,
		`{"items":[{"queue":"q","payload":1,"transactionId":"a"},{"queue":"q","payload":2,"transactionId":"a"},{"queue":"r","payload":3}]}`,
		` { "items" : [ { "queue" : "q" , "payload" : "\ud83d\ude00" , "key":"k"} ] } `, `{"items":[{"queue":"q","payload":1e5}]`, `{"items":[{"queue":7}]}`, `nul`, `{"items":[{"queue":"a\u0000","payload":1}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := scanPush(append([]byte(nil), body...), plainSize)
		if err != nil {
			var refusal *Error
			require.True(t, errors.As(err, &refusal), "%v", err)
			require.Equal(t, 400, refusal.GetStatus())
			require.Less(t, len(refusal.Text), 300)
			require.True(t, utf8.ValidString(refusal.Text))
			return
		}
		var want struct {
			Items []struct {
				Queue         *string        `json:"queue"`
				Partition     *string        `json:"partition"`
				Payload       jsontext.Value `json:"payload"`
				TransactionID *string        `json:"transactionId"`
			} `json:"items"`
		}
		require.NoError(t, jsonv2.Unmarshal(body, &want, jsontext.AllowDuplicateNames(true)))
		require.Len(t, got.items, len(want.Items))
		for i, item := range want.Items {
			mine := &got.items[i]
			require.Equal(t, *item.Queue, mine.group.queue)
			if item.Partition != nil {
				require.Equal(t, *item.Partition, mine.group.partition)
			} else {
				require.Equal(t, "Default", mine.group.partition)
			}
			require.Equal(t, item.TransactionID, mine.id)
			if !mine.follower {
				require.Equal(t, string(item.Payload), mine.payload)
				require.Equal(t, int32(i), mine.group.items[mine.slot])
			} else {
				require.Equal(t, *mine.id, *got.items[mine.group.items[mine.slot]].id)
			}
		}
		settleAll(got)
		require.True(t, json.Valid(got.render()))
	})
}

// settleAll gives every item a verdict.
func settleAll(r *pushRequest) {
	for _, g := range r.groups {
		g.verdicts = make([]verdict, len(g.items))
		for i := range g.verdicts {
			g.verdicts[i] = verdict{uuid.New(), pushQueued}
		}
	}
}

func FuzzScanAck(f *testing.F) {
	for _, seed := range []string{
		`{"transactionId":"a","partitionId":"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11","status":null,"error":"x\u0000y"}`, `{"acknowledgments":[{},{"partitionId":""}],"consumerGroup":null}`,
		`{"consumerGroup":"g","acknowledgments":[{"transactionId":"a","leaseId":"l","status":"ok"}]}`, `{"acknowledgments":[1]}`, `{"status":1}`, ``, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, scan := range []func([]byte) (*ackRequest, error){scanAck, scanAckBatch} {
			got, err := scan(append([]byte(nil), body...))
			if err != nil {
				var refusal *Error
				require.True(t, errors.As(err, &refusal), "%v", err)
				require.Less(t, len(refusal.Text), 300)
				continue
			}
			require.True(t, jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)))
			placed := 0
			for _, g := range got.groups {
				placed += len(g.items)
				g.fault = "fuzz"
			}
			for i := range got.items {
				require.Contains(t, []string{"completed", "failed", "retry", "dlq"}, got.items[i].status)
				require.Equal(t, "", textFault(got.items[i].id))
				if got.items[i].group == nil {
					placed++
				}
				if reason := got.items[i].reason; reason != nil {
					require.NotContains(t, *reason, "\x00")
				}
			}
			require.Equal(t, len(got.items), placed)
			require.True(t, json.Valid(got.render()))
		}
		require.Positive(t, extension(body))
	})
}

func TestScannedStringsAreOneCopyOfTheBody(t *testing.T) {
	t.Parallel()
	body := []byte(`{"items":[{"queue":"q","partition":"p","payload":{"a":"` + strings.Repeat("x", 1000) + `"},"transactionId":"t"}]}`)
	got, err := scanPush(body, plainSize)
	require.NoError(t, err)
	clear(body) // the framework takes its buffer back when the handler returns
	require.Equal(t, "q", got.items[0].group.queue)
	require.Equal(t, `{"a":"`+strings.Repeat("x", 1000)+`"}`, got.items[0].payload)
}

func TestFrameIDs(t *testing.T) {
	t.Parallel()
	base := uuid.MustParse("01890a5d-ac96-7000-8123-456789a00000")
	require.Equal(t, "01890a5d-ac96-7000-8123-456789a00000", frameID(base, 0).String())
	require.Equal(t, "01890a5d-ac96-7000-8123-456789a003e7", frameID(base, 999).String())
	require.Equal(t, "01890a5d-ac96-7000-8123-456789afffff", frameID(base, 1<<20-1).String())
}

func pushBody(n int) []byte {
	item := `{"queue":"orders","partition":"customer-17","transactionId":"01890a5d-ac96-7000-8000-0000002dd%03d","payload":{"id":12345678,"name":"` + strings.Repeat("lorem ipsum ", 18) + `"}}`
	items := make([]string, n)
	for i := range items {
		items[i] = strings.Replace(item, "%03d", string([]byte{'0' + byte(i/100%10), '0' + byte(i/10%10), '0' + byte(i%10)}), 1)
	}
	return []byte(`{"items":[` + strings.Join(items, ",") + `]}`)
}

func BenchmarkScanPush(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(map[int]string{1: "1", 100: "100"}[n], func(b *testing.B) {
			body := pushBody(n)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scanPush(body, plainSize); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRenderPush(b *testing.B) {
	r, err := scanPush(pushBody(100), plainSize)
	require.NoError(b, err)
	settleAll(r)
	b.ReportAllocs()
	for b.Loop() {
		r.render()
	}
}

// A refusal names the place and the reason, and repeats nothing of the payload.
func TestBrokenPayloadIsNotRepeated_F023(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`"4111\ud800 secret"`, `"4111\q secret"`, `{"card":"4111" secret}`, `"4111 secret`} {
		_, err := scanPush([]byte(`{"items":[{"queue":"q","payload":`+payload+`}]}`), plainSize)
		require.ErrorContains(t, err, "bad body: ")
		require.NotContains(t, err.Error(), "411")
		require.NotContains(t, err.Error(), "secr")
	}
}

// plainSize is the size of payloads that are never sealed.
func plainSize(n int) int { return n }
