package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"regent.local/regent/db"
	"regent.local/regent/db/dberr"
	"regent.local/regent/db/session"
)

// querier is every generated call of a stored function.
type querier = db.Querier

// maxPool is the largest pool that is chosen without being asked for.
const maxPool = 160

// OpenPool opens the server's connection pool on cfg.DatabaseURL, with every
// session pinned to what the stored functions assume. Without a size it asks
// the database for max_connections. The caller closes the pool.
func OpenPool(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	pool, err := PoolConfig(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.PoolSize == 0 {
		limit, err := session.MaxConnections(ctx, pool.ConnConfig)
		if err != nil {
			return nil, fmt.Errorf("connect to the database: %w", err)
		}
		pool.MaxConns = int32(max(2, min(maxPool, limit/2)))
	}
	opened, err := pgxpool.NewWithConfig(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("open the connection pool: %w", err)
	}
	return opened, nil
}

// PoolConfig is the pool configuration of OpenPool, for callers that change it
// further. A connection that PostgreSQL ended while it was idle is noticed before
// a call gets it. Sessions run READ COMMITTED in UTC with the timeouts of cfg. A mode
// other than cache_statement is meant for a transaction-mode pooler, which
// refuses unknown settings at the start of a session: there the timeouts are
// left to the role (ALTER ROLE ... SET).
func PoolConfig(cfg Config) (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(cfg.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the connection string: %w", err)
	}
	mode, err := execMode(cfg.ExecMode)
	if err != nil {
		return nil, err
	}
	pool.ConnConfig.DefaultQueryExecMode = mode
	pool.MaxConns = int32(max(cfg.PoolSize, 2))
	pool.MaxConnIdleTime = 5 * time.Minute
	pool.MaxConnLifetime = time.Hour
	pool.MaxConnLifetimeJitter = 10 * time.Minute
	if pool.ConnConfig.ConnectTimeout == 0 {
		pool.ConnConfig.ConnectTimeout = cfg.AcquireTimeout
	}
	pool.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > time.Second || spoke(p.Conn.PgConn().Conn())
	}
	pinSession(pool.ConnConfig.RuntimeParams, cfg, mode == pgx.QueryExecModeCacheStatement)
	pool.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		keepRawJSON(conn.TypeMap())
		session.HoldTimes(conn.TypeMap())
		session.PlainIDs(conn.TypeMap())
		return nil
	}
	return pool, nil
}

func pinSession(params map[string]string, cfg Config, direct bool) {
	if params["application_name"] == "" {
		params["application_name"] = "regent"
	}
	params["timezone"] = "UTC"
	if !direct {
		return
	}
	params["default_transaction_isolation"] = "read committed"
	for name, limit := range map[string]time.Duration{
		"statement_timeout":                   cfg.StatementTimeout,
		"lock_timeout":                        cfg.LockTimeout,
		"idle_in_transaction_session_timeout": cfg.IdleTxTimeout,
	} {
		params[name] = strconv.FormatInt(limit.Milliseconds(), 10)
	}
}

// keepRawJSON lets a json or jsonb column land in a json.RawMessage without
// being parsed again.
func keepRawJSON(types *pgtype.Map) {
	unmarshal := func(data []byte, into any) error {
		if raw, ok := into.(*json.RawMessage); ok {
			*raw = append((*raw)[:0], data...)
			return nil
		}
		return json.Unmarshal(data, into)
	}
	types.RegisterType(&pgtype.Type{Name: "json", OID: pgtype.JSONOID, Codec: &pgtype.JSONCodec{Marshal: json.Marshal, Unmarshal: unmarshal}})
	types.RegisterType(&pgtype.Type{Name: "jsonb", OID: pgtype.JSONBOID, Codec: &pgtype.JSONBCodec{Marshal: json.Marshal, Unmarshal: unmarshal}})
}

// call runs fn on one pooled connection, and again when the database says that
// a repeat can help and nothing was done: collisions while they are younger
// than the lock timeout, a stale plan and a connection that died unused once.
// So fn must be one statement (or one transaction) and set its result anew each time.
//
// Waiting for a connection ends with ctx or the acquire timeout. A running
// statement is not cut off when the client goes: cancelling it would cost a
// connection, and leave open whether it was committed (F164). The statement and
// lock timeouts bound it.
func (s *Server) call(ctx context.Context, fn func(context.Context, querier) error) error {
	return s.callConn(ctx, func(ctx context.Context, conn *pgx.Conn) error { return fn(ctx, db.New(conn)) })
}

// callConn is call for work that needs to know its connection.
func (s *Server) callConn(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	started := time.Now()
	for try := 1; ; try++ {
		err := s.onConn(ctx, fn)
		if err == nil {
			s.seals.answered.Store(time.Now().UnixNano())
		}
		if err == nil || !s.again(err, try, time.Since(started)) {
			s.count.countCall(err)
			return err
		}
		if !pause(ctx, time.Duration(rand.Int64N(int64(5*time.Millisecond)*int64(try)))) {
			return err
		}
	}
}

// ask is call for what only reads: when the connection ends under it, it is made
// once more. Never for a push, pop or ack, whose outcome is not known then.
func (s *Server) ask(ctx context.Context, fn func(context.Context, querier) error) error {
	err := s.call(ctx, fn)
	if dberr.CutOff(err) {
		err = s.call(ctx, fn)
	}
	return err
}

// again decides whether a failed call is repeated.
func (s *Server) again(err error, try int, elapsed time.Duration) bool {
	switch {
	case dberr.StalePlan(err), pgconn.SafeToRetry(err):
		return try == 1
	case isRetry(err):
		return try < 8 && elapsed < s.cfg.collisionPatience()
	}
	return false
}

// onConn lends one pooled connection to fn, once, under a context that outlives
// the client.
func (s *Server) onConn(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	running, cancel := s.detached(ctx)
	defer cancel()
	err = fn(running, conn.Conn())
	if err != nil && dberr.From(err).Code == "25006" {
		s.dropReadOnly(running, conn)
	}
	return err
}

// detached is a context that outlives the client, but not the statement timeout
// by much: the server's own timeout should come first, for it keeps the connection.
func (s *Server) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if s.cfg.StatementTimeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.cfg.StatementTimeout+5*time.Second)
}

// errNoConnection says that the pool had no connection to give in time.
var errNoConnection = fmt.Errorf("no database connection was free in time: %w", dberr.ErrUnavailable)

func (s *Server) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, s.cfg.AcquireTimeout)
	defer cancel()
	conn, err := s.pool.Acquire(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, errNoConnection
	}
	return conn, err
}

// dropReadOnly gives up a connection to a server that takes no writes, and at
// most once a second all the others, so that the pool finds the new primary (F165).
func (s *Server) dropReadOnly(ctx context.Context, conn *pgxpool.Conn) {
	conn.Conn().Close(ctx)
	now := time.Now().UnixNano()
	last := s.lastWipe.Load()
	if now-last > int64(time.Second) && s.lastWipe.CompareAndSwap(last, now) {
		s.pool.Reset()
	}
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func isRetry(err error) bool { return errors.Is(dberr.From(err), dberr.ErrRetry) }
