// Package bench owns what every benchmark cell shares: the flags, the seeded
// payloads, the private PostgreSQL, the measuring loop and the result. The
// programs that run cells bring a Target each.
//
// It must never touch a database that it did not create: a cell runs in a
// database of its own, which is dropped afterwards.
package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// Options describe one cell. DefaultOptions has the defaults of the flags.
type Options struct {
	DSN       string        // a server on which a database may be created; empty: start a private one
	Op        string        // what is measured
	Target    string        // whose
	Producers int           // connections; consumers of the same number in take
	Batch     int           // messages a call
	Duration  time.Duration // of the measured part
	Payload   int           // bytes a message
	Lanes     int           // partitions a producer
	Dedup     bool          // keep the queue's deduplication window open
	ClientIDs bool          // send a transaction id with each message
	AckByID   bool          // acknowledge by transaction id, not by position
	Rate      int           // messages a second of all producers together; 0: as fast as they can
	Consumers int           // of an end-to-end cell; 0: one a producer
	TakeBatch int           // messages, of up to as many partitions, that a consumer of rest-e2e asks for; 0: as many as a push has, of one partition
	Preload   int           // messages stored before a take; 0: enough for the duration
	Groups    int           // consumer groups, each of which gets every message
	Snapshot  time.Duration // age of a snapshot that somebody holds, at the end of the measured part; 0: none
	Parked    int           // pops that wait on other queues meanwhile
	Size      int           // how much there is of what the operation works on
	Counters  bool          // let the server of rest-cpu count
	Unit      string        // of what is counted as messages; empty: messages
	Seed      uint64        // of the payloads
}

// DefaultOptions is the cell of an empty command line.
func DefaultOptions() Options {
	return Options{Producers: 8, Batch: 100, Duration: 3 * time.Second, Payload: 256, Lanes: 1, Dedup: true, Groups: 1, Counters: true, Seed: 1}
}

// AddFlags declares a flag for each field but Op, Target and Unit.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.DSN, "dsn", o.DSN, "PostgreSQL server, on which a database is created and dropped (default: start a private one)")
	f.IntVar(&o.Producers, "producers", o.Producers, "producers, one connection each; consumers in take")
	f.IntVar(&o.Batch, "batch", o.Batch, "messages a call")
	f.Var((*secondsFlag)(&o.Duration), "seconds", "seconds that the measured part lasts")
	f.IntVar(&o.Payload, "payload", o.Payload, "bytes of a payload")
	f.IntVar(&o.Lanes, "partitions-per-producer", o.Lanes, "partitions that each call spreads over")
	f.Var(newChoice(&o.Dedup, "on", "off"), "dedup", "deduplication window: on or off")
	f.Var(newChoice(&o.ClientIDs, "client", "minted"), "ids", "transaction ids: client (time-ordered) or minted by the database")
	f.Var(newChoice(&o.AckByID, "id", "position"), "ack", "acknowledge by: position or id")
	f.IntVar(&o.Rate, "rate", o.Rate, "messages a second of an end-to-end cell, 0 for no limit")
	f.IntVar(&o.Consumers, "consumers", o.Consumers, "consumers of an end-to-end cell (default: one a producer)")
	f.IntVar(&o.TakeBatch, "take-batch", o.TakeBatch, "messages, of up to as many partitions, that a consumer of rest-e2e asks for (default: those of a push, of one partition)")
	f.IntVar(&o.Preload, "preload", o.Preload, "messages that take starts from (default: enough for the time)")
	f.IntVar(&o.Groups, "groups", o.Groups, "consumer groups of an end-to-end cell, with --consumers each")
	f.Var((*secondsFlag)(&o.Snapshot), "old-snapshot", "hold a snapshot until it is so many seconds old, under load from the start; 0: hold none")
	f.IntVar(&o.Parked, "parked", o.Parked, "pops that wait on other queues meanwhile, in rest-rss")
	f.IntVar(&o.Size, "size", o.Size, "how much there is: segments of a sweep, frames of a compaction, partitions of a cycle or a refresh, queues of a scrape")
	f.Var(newChoice(&o.Counters, "on", "off"), "counters", "whether the server of rest-cpu counts: on or off")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the payloads")
}

// Check refuses a cell that cannot run.
func (o *Options) Check() error {
	for _, n := range []struct {
		name            string
		value, min, max int
	}{
		{"producers", o.Producers, 1, 1000}, {"batch", o.Batch, 1, 100_000}, {"payload", o.Payload, minPayload, 1 << 20},
		{"partitions-per-producer", o.Lanes, 1, 1_000_000}, {"consumers", o.Consumers, 0, 1000}, {"take-batch", o.TakeBatch, 0, 10_000},
		{"rate", o.Rate, 0, 1_000_000}, {"preload", o.Preload, 0, 100_000_000}, {"groups", o.Groups, 1, 100},
		{"parked", o.Parked, 0, 10_000}, {"size", o.Size, 0, 10_000_000},
	} {
		if n.value < n.min || n.value > n.max {
			return fmt.Errorf("--%s must be between %d and %d", n.name, n.min, n.max)
		}
	}
	if o.Duration <= 0 || o.Duration > time.Hour {
		return fmt.Errorf("--seconds must be above 0 and at most 3600")
	}
	if o.Snapshot != 0 && (o.Snapshot <= o.Duration || o.Snapshot > time.Hour) {
		return fmt.Errorf("--old-snapshot must be above --seconds and at most 3600")
	}
	return nil
}

// Target is a system under test, set up in an empty database.
type Target interface {
	// Producer opens producer i with a connection of its own.
	Producer(ctx context.Context, i int) (Producer, error)
	// Consumer opens consumer i with a connection of its own.
	Consumer(ctx context.Context, i int) (Consumer, error)
	Close()
}

// Resident is a target whose server is a process of its own.
type Resident interface {
	// ResidentBytes is the memory that the server has now.
	ResidentBytes() (int64, error)
	// ServerSeconds is the processor time that the server has used so far.
	ServerSeconds() (float64, error)
}

// Preparer is a consumer that has something to do before each take, which is
// not measured.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Producer stores messages.
type Producer interface {
	// Push returns when the payloads are stored durably.
	Push(ctx context.Context, payloads []string) error
}

// Consumer takes messages and finishes them.
type Consumer interface {
	// Take takes up to n messages and finishes them. seen is called with
	// their payloads before they are finished. None is not an error.
	Take(ctx context.Context, n int, seen func(payloads []string)) (int, error)
}
