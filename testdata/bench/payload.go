package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

const (
	// Every payload begins with the nanosecond at which it was sent.
	stampHead   = `{"sent":`
	stampDigits = 19
	stampEnd    = len(stampHead) + stampDigits
	// minPayload leaves room for the fields that every payload has.
	minPayload = 128
	// distinct is how many payloads a generator makes before it repeats them.
	distinct = 4096
)

var (
	kinds = []string{"order.created", "order.paid", "order.shipped", "cart.updated", "refund.issued"}
	words = strings.Fields("parcel left at the door signed by neighbour please ring twice fragile glass keep dry " +
		"deliver after noon gift wrapped no invoice inside return label attached call before arrival")
)

// Generator makes the payloads of one producer: JSON objects of one size with
// few fields, since peers that index the fields pay for each. The same seed and stream give the same payloads.
type Generator struct {
	pool []string
	next int
}

// NewGenerator makes a generator of payloads of size bytes.
func NewGenerator(seed, stream uint64, size int) *Generator {
	random := rand.New(rand.NewPCG(seed, stream))
	g := &Generator{pool: make([]string, distinct)}
	for i := range g.pool {
		g.pool[i] = payload(random, size)
	}
	return g
}

func payload(random *rand.Rand, size int) string {
	var b strings.Builder
	b.Grow(size)
	fmt.Fprintf(&b, `%s%019d,"type":"%s","customer":"c-%06d","note":"`, stampHead, int64(1e18), kinds[random.IntN(len(kinds))], random.IntN(1e6))
	for b.Len() < size-2 {
		b.WriteString(words[random.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:size-2] + `"}`
}

// Share makes the generator of producer i, which begins elsewhere in the same
// payloads. With payloads of its own for each, hundreds of producers would fill
// the memory of the process, and the collector would be what is measured.
func (g *Generator) Share(i int) *Generator {
	return &Generator{pool: g.pool, next: i * 1021 % distinct}
}

// Fill overwrites into with the next payloads.
func (g *Generator) Fill(into []string) {
	for i := range into {
		into[i] = g.pool[g.next]
		g.next = (g.next + 1) % distinct
	}
}

// stamped is the payload with the time of sending in it.
func stamped(payload string, at time.Time) string {
	return stampHead + strconv.FormatInt(at.UnixNano(), 10) + payload[stampEnd:]
}

// sentAt reads the time of sending back.
func sentAt(payload string) (time.Time, error) {
	if len(payload) < stampEnd || payload[:len(stampHead)] != stampHead {
		return time.Time{}, fmt.Errorf("a payload came back changed: %.60q", payload)
	}
	n, err := strconv.ParseInt(payload[len(stampHead):stampEnd], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("a payload came back changed: %.60q", payload)
	}
	return time.Unix(0, n), nil
}
