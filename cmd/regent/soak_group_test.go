package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soakKeys is the number of partitions. soakTurn and soakBack multiply to 1
// modulo soakKeys; they mix the keys in the file.
const (
	soakKeys = 64
	soakTurn = 37
	soakBack = 45
	soakSeed = 20_240_229
)

// event is a line of the file. The numbers of one account are 0, 1, 2 and so on.
type event struct {
	id      string
	account string
	text    []byte
}

// soakEvent makes the i-th event, always the same. Its id is as good as random,
// so that the server has to look for repeats.
func soakEvent(i int) event {
	r := rand.New(rand.NewPCG(soakSeed, uint64(i)))
	seq := i / soakKeys
	e := event{
		id:      fmt.Sprintf("%016x%08x", r.Uint64(), i),
		account: soakAccount((i%soakKeys*soakTurn + seq) % soakKeys),
	}
	e.text = fmt.Appendf(nil, `{"id":"%s","account":"%s","seq":%d,"amount":%d.%02d,"currency":"EUR","note":"%s"}`,
		e.id, e.account, seq, r.IntN(1000), r.IntN(100), strings.Repeat("naïve ", 7+r.IntN(12)))
	return e
}

func soakAccount(k int) string { return fmt.Sprintf("account-%02d", k) }

// soakShare is how many of the events belong to key k.
func soakShare(events, k int) int {
	n := events / soakKeys
	if soakIndex(k, n) < events {
		n++
	}
	return n
}

// soakIndex finds the event with this number of an account.
func soakIndex(k, seq int) int {
	turned := ((k-seq)%soakKeys + soakKeys) % soakKeys
	return seq*soakKeys + turned*soakBack%soakKeys
}

func TestSoakEvents(t *testing.T) {
	t.Parallel()
	next := map[string]int{}
	for i := range 1000 {
		e := soakEvent(i)
		require.True(t, json.Valid(e.text))
		require.GreaterOrEqual(t, len(e.text), 150)
		require.LessOrEqual(t, len(e.text), 260)
		k, seq, err := checkEvent(message{Partition: e.account, TransactionID: e.id, Data: e.text})
		require.NoError(t, err)
		require.Equal(t, i, soakIndex(k, seq))
		require.Equal(t, next[e.account], seq)
		next[e.account]++
	}
	for k := range soakKeys {
		require.Equal(t, next[soakAccount(k)], soakShare(1000, k))
	}
}

// TestSoakNotices holds the audit against deliveries that a server must not make.
func TestSoakNotices(t *testing.T) {
	t.Parallel()
	mail := func(seqs ...int) (messages []message) {
		for _, seq := range seqs {
			e := soakEvent(soakIndex(5, seq))
			messages = append(messages, message{Partition: e.account, TransactionID: e.id, Data: e.text})
		}
		return messages
	}
	other := mail(10)
	other[0].Partition = soakAccount(6)
	changed := mail(10)
	changed[0].Data = mail(11)[0].Data
	for name, c := range map[string]struct {
		messages []message
		why      string
	}{
		"new":                     {mail(10, 11), ""},
		"again":                   {mail(8, 9, 10), ""},
		"again, ack not answered": {mail(4, 5), ""},
		"behind an acked one":     {mail(3, 4), "begins with event 3"},
		"skipped one not acked":   {mail(11), "begins with event 11"},
		"skipped one that was":    {mail(9), "begins with event 9"},
		"gap":                     {mail(8, 10), "delivers event 10 where 9 was next"},
		"twice":                   {mail(8, 8), "delivers event 8 where 9 was next"},
		"other partition":         {other, "differs"},
		"other payload":           {changed, "differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &soakGroup{name: "g"}
			g.keys[5] = soakKey{next: 10, tried: 8, acked: 4}
			if name == "new" {
				g.keys[5].tried = 10
			}
			_, err := g.deliver(g.floors(), c.messages)
			if c.why == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.why)
		})
	}
}

// checkEvent says which event a message is, and fails unless it is that event
// to the byte.
func checkEvent(m message) (k, seq int, err error) {
	var doc struct {
		Account string
		Seq     int
	}
	if err := json.Unmarshal(m.Data, &doc); err != nil {
		return 0, 0, fmt.Errorf("message %s: %w", m.TransactionID, err)
	}
	if _, err := fmt.Sscanf(doc.Account, "account-%d", &k); err != nil || k < 0 || k >= soakKeys || doc.Seq < 0 {
		return 0, 0, fmt.Errorf("message %s is no event: %s", m.TransactionID, m.Data)
	}
	want := soakEvent(soakIndex(k, doc.Seq))
	if m.TransactionID != want.id || m.Partition != want.account || string(m.Data) != string(want.text) {
		return 0, 0, fmt.Errorf("message %s of partition %q differs from what was pushed: %s, want %s of %q: %s",
			m.TransactionID, m.Partition, m.Data, want.id, want.account, want.text)
	}
	return k, doc.Seq, nil
}

// soakGroup is what the workers of one consumer group know together.
type soakGroup struct {
	name string

	mu      sync.Mutex
	keys    [soakKeys]soakKey
	seen    int // events, each once
	again   int // deliveries of an event that had been seen
	failed  int // calls without an answer, or with a 503
	refused int // acks
	reasons map[string]int
}

// soakKey is how far a group has come in one partition. Each number is one
// above the last event it is about: acked <= tried <= next.
type soakKey struct {
	next  int // seen
	tried int // an ack was sent, whatever became of it
	acked int // the ack was confirmed
}

// soakRun is a delivery's share of one partition.
type soakRun struct {
	key, first int
	messages   []message
}

func (g *soakGroup) String() string {
	return fmt.Sprintf("group %s: %s seen in order, %s redeliveries, %s calls failed, %s acks refused %v", g.name,
		grouped(int64(g.seen)), grouped(int64(g.again)), grouped(int64(g.failed)), grouped(int64(g.refused)), g.reasons)
}

func (g *soakGroup) seenSoFar() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// floors are the events below which a pop that begins now must not reach.
func (g *soakGroup) floors() (floors [soakKeys]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for k := range g.keys {
		floors[k] = g.keys[k].acked
	}
	return floors
}

// deliver notes a delivery and checks it: each partition's share begins at the
// unacked point, and goes on without a gap.
func (g *soakGroup) deliver(floors [soakKeys]int, messages []message) ([]soakRun, error) {
	var runs []soakRun
	for _, m := range messages {
		k, seq, err := checkEvent(m)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(runs, func(r soakRun) bool { return r.key == k })
		if at < 0 {
			at = len(runs)
			runs = append(runs, soakRun{key: k, first: seq})
		}
		if want := runs[at].first + len(runs[at].messages); seq != want {
			return nil, fmt.Errorf("group %s: %s delivers event %d where %d was next", g.name, m.Partition, seq, want)
		}
		runs[at].messages = append(runs[at].messages, m)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range runs {
		key := &g.keys[r.key]
		if r.first < floors[r.key] || r.first > key.tried {
			return nil, fmt.Errorf("group %s: %s begins with event %d, but %d are acked, %d perhaps, and %d were seen",
				g.name, soakAccount(r.key), r.first, floors[r.key], key.tried, key.next)
		}
		fresh := max(r.first+len(r.messages)-key.next, 0)
		key.next += fresh
		g.seen += fresh
		g.again += len(r.messages) - fresh
	}
	return runs, nil
}

// ack acks by id. A forgetful worker acks only the first half of each
// partition's share.
func (g *soakGroup) ack(ctx context.Context, c *httpClient, runs []soakRun, forget bool) error {
	var items []ackItem
	var ends []soakRun // of each item: its partition and number
	for _, r := range runs {
		if forget {
			r.messages = r.messages[:len(r.messages)/2]
		}
		for i, m := range r.messages {
			items = append(items, ackItem{TransactionID: m.TransactionID, PartitionID: m.PartitionID, LeaseID: m.LeaseID, Status: "completed"})
			ends = append(ends, soakRun{key: r.key, first: r.first + i})
		}
	}
	if len(items) == 0 {
		return nil
	}
	g.noteAcks(ends, func(k *soakKey, end int) { k.tried = max(k.tried, end) })
	verdicts, err := c.Ack(ctx, g.name, items)
	if err != nil {
		return g.noteFailure(ctx, err)
	}
	var confirmed []soakRun
	for i, v := range verdicts {
		if v.Success {
			confirmed = append(confirmed, ends[i])
			continue
		}
		g.noteRefusal(text(v.Error))
	}
	g.noteAcks(confirmed, func(k *soakKey, end int) { k.acked = max(k.acked, end) })
	return nil
}

func (g *soakGroup) noteAcks(ends []soakRun, note func(k *soakKey, end int)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range ends {
		note(&g.keys[e.key], e.first+1)
	}
}

func (g *soakGroup) noteRefusal(reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused++
	if g.reasons == nil {
		g.reasons = map[string]int{}
	}
	g.reasons[reason]++
}

// noteFailure lets pass what a killed server does to a call: no answer, or 503.
func (g *soakGroup) noteFailure(ctx context.Context, err error) error {
	var network *networkError
	var answer *statusError
	if !errors.As(err, &network) && !(errors.As(err, &answer) && answer.status == http.StatusServiceUnavailable) {
		return fmt.Errorf("consumer of %s: %w", g.name, err)
	}
	g.mu.Lock()
	g.failed++
	g.mu.Unlock()
	return sleep(ctx, 100*time.Millisecond)
}
