package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/db/session"
)

// tellEvery is how often one queue is told of at most.
const tellEvery = 100 * time.Millisecond

// Words between servers: "<word> <server> [<queue hash>]". hello and here make a
// server known to the others, so that nobody notifies while alone. gone is a queue
// that was deleted. sealed is said by the database, of a queue that is encrypted
// from that commit on; its hash is that of sealHash.
const (
	wordHello  = "hello"
	wordHere   = "here"
	wordBye    = "bye"
	wordPush   = "push"
	wordGone   = "gone"
	wordSealed = "sealed"
)

// teller tells the other servers of the database which queues got something,
// outside of the push. It costs nothing while there is no other server.
type teller struct {
	id    string
	mu    sync.Mutex
	peers map[string]struct{}
	queue map[queueKey]struct{} // to be told of
	words []string              // to be said as they are
	work  chan struct{}
	heard atomic.Int64 // own words that came back
}

func newTeller() *teller {
	raw := make([]byte, 6)
	_, _ = rand.Read(raw) // never fails
	return &teller{id: hex.EncodeToString(raw), peers: map[string]struct{}{}, queue: map[queueKey]struct{}{}, work: make(chan struct{}, 1)}
}

// tell notes that a queue got something.
func (t *teller) tell(tenant uuid.UUID, queue string) {
	t.mu.Lock()
	if len(t.peers) > 0 {
		t.queue[queueKey{tenant, queue}] = struct{}{}
		t.ring()
	}
	t.mu.Unlock()
}

// tellGone notes that a queue was deleted.
func (t *teller) tellGone(queue queueKey) {
	t.mu.Lock()
	if len(t.peers) > 0 {
		t.words = append(t.words, wordGone+" "+t.id+" "+queue.hash())
		t.ring()
	}
	t.mu.Unlock()
}

// greet makes a server known to the others, and to itself.
func (t *teller) greet() {
	t.mu.Lock()
	t.words = append(t.words, wordHello+" "+t.id)
	t.ring()
	t.mu.Unlock()
}

// ring makes the loop look; the caller holds the lock.
func (t *teller) ring() {
	select {
	case t.work <- struct{}{}:
	default:
	}
}

// hear takes in one notification. It answers the word and the hash of the queue
// where one is named, else nothing.
func (t *teller) hear(payload string) (word, hash string) {
	word, rest, _ := strings.Cut(payload, " ")
	from, hash, _ := strings.Cut(rest, " ")
	if from == t.id {
		t.heard.Add(1)
	}
	if from == t.id || from == "" {
		return "", ""
	}
	if word == wordSealed && hash != "" {
		return word, hash
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch word {
	case wordHello:
		t.peers[from] = struct{}{}
		t.words = append(t.words, wordHere+" "+t.id)
		t.ring()
	case wordHere:
		t.peers[from] = struct{}{}
	case wordBye:
		delete(t.peers, from)
	case wordPush, wordGone:
		t.peers[from] = struct{}{}
		if hash != "" {
			return word, hash
		}
	}
	return "", ""
}

// collect takes what is to be said.
func (t *teller) collect() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := t.words
	t.words = nil
	for key := range t.queue {
		said = append(said, wordPush+" "+t.id+" "+key.hash())
	}
	clear(t.queue)
	return said
}

// tellOthers says what there is to say, at once and then at most every 100 ms.
func (s *Server) tellOthers(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.sayBye(ctx)
			return
		case <-s.teller.work:
		}
		if err := s.say(ctx, s.teller.collect()); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "other servers were not told", "error", clip(err.Error(), 300))
		}
		pause(ctx, tellEvery)
	}
}

func (s *Server) say(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return nil
	}
	return s.onConn(ctx, func(ctx context.Context, conn *pgx.Conn) error { return session.Notify(ctx, conn, words) })
}

func (s *Server) sayBye(ctx context.Context) {
	s.teller.mu.Lock()
	known := len(s.teller.peers)
	s.teller.mu.Unlock()
	if known > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = s.say(ctx, []string{wordBye + " " + s.teller.id})
	}
}

// echoPatience is how long a listening connection may take to bring back an own word.
const echoPatience = 5 * time.Second

// hearOthers listens on a connection of its own. After a gap every parked pop
// looks once, for what was told meanwhile is lost (F046). A connection that hears
// nothing, since it leads through a pooler, is reported; the watcher does its work.
func (s *Server) hearOthers(ctx context.Context) {
	config, err := s.listenConfig()
	if err != nil {
		s.log.ErrorContext(ctx, "other servers cannot be heard", "error", clip(err.Error(), 300))
		return
	}
	session.Listener{
		Config: config,
		Connected: func(ctx context.Context) {
			s.log.DebugContext(ctx, "listening for other servers")
			s.room.told("")
			s.switches.seen.Store(0)
			if s.seals.retry(); s.spoolsPlain() && s.away.Load() {
				s.loops.Go(s.lookBeforeSpooling) // what was told meanwhile is lost
			}
			heard := s.teller.heard.Load()
			s.teller.greet()
			s.loops.Go(func() {
				if pause(ctx, echoPatience) && s.teller.heard.Load() == heard {
					s.log.WarnContext(ctx, "the listening connection hears nothing, is it a pooler? name a direct one in REGENT_LISTEN; waiting pops are looked for every 250 ms")
				}
			})
		},
		Heard: func(payload string) {
			switch word, hash := s.teller.hear(payload); word {
			case wordPush:
				s.room.told(hash)
			case wordGone:
				s.room.deleted(hash)
			case wordSealed:
				s.hearSealed(ctx, hash)
			}
		},
		Lost: func(err error) {
			s.log.WarnContext(ctx, "lost the listening connection", "error", clip(err.Error(), 300))
		},
	}.Run(ctx)
}

// hearSealed takes note that a queue became encrypted, and looks which one it was.
func (s *Server) hearSealed(ctx context.Context, hash string) {
	if !s.spoolsPlain() {
		return
	}
	s.seals.doubt(hash)
	s.switches.seen.Store(0)
	s.loops.Go(func() { s.freshen(ctx) })
}

// listenConfig is the pool's connection, or the direct one that is named.
func (s *Server) listenConfig() (*pgx.ConnConfig, error) {
	config := s.pool.Config().ConnConfig.Copy()
	if s.cfg.ListenURL != "" {
		direct, err := pgxpool.ParseConfig(s.cfg.ListenURL) // a pool's settings are none of the server's
		if err != nil {
			return nil, fmt.Errorf("read REGENT_LISTEN: %w", err)
		}
		config = direct.ConnConfig
		if config.RuntimeParams["application_name"] == "" {
			config.RuntimeParams["application_name"] = "regent"
		}
	}
	config.RuntimeParams["application_name"] += " listen"
	return config, nil
}
