// Package api owns the HTTP face of Regent: the routes, the OpenAPI document
// that describes them, and what makes many small requests cheap for the
// database: coalescing of pushes and acks, and parked pops that hold no
// connection.
//
// It decides nothing that the stored functions decide, holds no SQL text, and
// never re-encodes a payload: the bytes that came in are the bytes that go out.
package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// defaultTenant owns everything as long as nobody names another tenant.
var defaultTenant = uuid.MustParse("00000000-0000-0000-0000-000000000001")

// Server answers the API. Make one with New, give Handler to an http.Server (or
// call Run), and bracket its life with Start and Stop.
type Server struct {
	cfg     Config
	pool    *pgxpool.Pool
	log     *slog.Logger
	api     huma.API
	handler http.Handler

	pushes *courier[*pushGroup]
	acks   *courier[*ackGroup]
	pops   *coalescer[*claim]
	room   *waitroom
	teller *teller
	spool  *spool // nil without FILE_BUFFER_DIR
	owners owners
	seals  *sealer
	tokens *tokens // nil without JWT_ENABLED
	keys   *keyring

	throttle    *throttle    // nil without REGENT_RATE_LIMIT
	certificate *certificate // nil without REGENT_TLS_CERT

	stopping atomic.Bool    // readyz says no, parked pops go home
	stop     chan struct{}  // closed when stopping turns true
	loops    sync.WaitGroup // goroutines of Start
	cancel   context.CancelFunc
	lastWipe atomic.Int64 // unix nanoseconds of the last pool reset

	count      counters
	collect    collector
	popTurn    atomic.Uint32
	dbBlock    kept[[]byte]   // of /metrics/prometheus
	standing   kept[standing] // a part of it
	minutes    kept[minutes]  // another part
	switches   switches
	lookTurn   sync.Mutex  // a look before spooling
	away       atomic.Bool // with a spool: pushes go there until the drain gets through
	drainTries int         // drain: failures in a row
	drainAfter time.Time   // drain: not before
	refreshing turnstile   // one manual count of all queues at a time
}

// New builds a server on an open pool. It starts nothing. Where a spool is
// configured it takes over its folder, until Stop, and asks the database once what
// it must know before that goes away. A nil logger discards.
func New(cfg Config, pool *pgxpool.Pool, log *slog.Logger) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	seals, err := newSealer(cfg.EncryptionKey, cfg.EncryptionKeys, log)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, pool: pool, log: log, stop: make(chan struct{}), room: newWaitroom(), teller: newTeller(), seals: seals}
	s.count.off = cfg.Uncounted
	s.collect.begin(cfg)
	s.refreshing = newTurnstile()
	s.keys, s.throttle = newKeyring(s), newThrottle(cfg)
	if cfg.TLSCert != "" {
		s.certificate = &certificate{certFile: cfg.TLSCert, keyFile: cfg.TLSKey}
	}
	if cfg.JWT.Enabled {
		if s.tokens, err = newTokens(cfg.JWT, log); err != nil {
			return nil, err
		}
	}
	if cfg.BufferDir != "" {
		if s.spool, err = openSpool(cfg, log); err != nil {
			return nil, err
		}
		if err := s.readSwitches(context.Background()); err != nil {
			log.Warn("the maintenance switches cannot be read", "error", clip(err.Error(), 300))
		}
	}
	s.route()
	return s, nil
}

// Handler answers every route. It works before Start, but a parked pop then
// wakes only on pushes through this server.
func (s *Server) Handler() http.Handler { return s.handler }

// Start runs the server's own goroutines until Stop or the end of ctx.
func (s *Server) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.loops.Go(func() { s.sampleAll(ctx) })
	s.loops.Go(func() { s.watch(ctx) })
	if s.cfg.Listen {
		s.loops.Go(func() { s.hearOthers(ctx) })
		s.loops.Go(func() { s.tellOthers(ctx) })
	}
}

// Stop sends parked pops home, refuses readiness, and waits until the
// goroutines of Start and the calls under way have ended, or ctx has. Stop the
// http.Server in between: see Run.
func (s *Server) Stop(ctx context.Context) error {
	s.drain()
	if s.cancel != nil {
		s.cancel()
	}
	ended := make(chan struct{})
	go func() {
		s.loops.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("stop the server: %w", ctx.Err())
	}
	if s.tokens != nil {
		s.tokens.stop()
	}
	if s.spool != nil {
		if err := s.spool.close(); err != nil {
			return fmt.Errorf("close the spool: %w", err)
		}
	}
	return nil
}

// drain makes the server say no to readiness and answers parked pops.
func (s *Server) drain() {
	if s.stopping.CompareAndSwap(false, true) {
		close(s.stop)
	}
}

// Run serves on the listener until ctx ends, then stops gracefully: parked pops
// are answered at once, running requests get Config.StopTimeout to finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	if at, ok := listener.Addr().(*net.TCPAddr); ok {
		s.collect.port.Store(int32(at.Port))
	}
	s.Start(context.WithoutCancel(ctx))
	web := s.httpServer()
	failed := make(chan error, 1)
	go func() { failed <- s.serve(web, listener) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.drain()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.StopTimeout)
	defer cancel()
	if shut := web.Shutdown(grace); shut != nil {
		web.Close()
		err = errors.Join(err, fmt.Errorf("finish running requests: %w", shut))
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, s.Stop(grace))
}

// serve answers on the listener, over TLS where there is a certificate.
func (s *Server) serve(web *http.Server, listener net.Listener) error {
	if s.certificate == nil {
		return web.Serve(listener)
	}
	web.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
	return web.ServeTLS(listener, "", "")
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
