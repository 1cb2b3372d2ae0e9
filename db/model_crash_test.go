package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// crash kills the backend of a call in the middle. The point is chosen by a
// table lock that the call runs into, so that it has done all before and
// nothing after; without one it is a race with the commit, for calls whose
// outcome can be looked up.
func (r *modelRun) crash() {
	call := r.draw()
	victim := r.connect()
	defer func() { _ = victim.Close(r.ctx) }()
	pid := victim.PgConn().PID()
	if call.doubt != nil && r.chance(40) {
		r.note("crash at the end of: %s", call.text)
		done := make(chan error, 1)
		go func() { done <- call.run(New(victim)) }()
		time.Sleep(time.Duration(r.rng.IntN(12000)) * time.Microsecond)
		r.terminate(pid)
		if err := <-done; err != nil {
			call.doubt()
			return
		}
		call.apply()
		return
	}
	table := r.pick("queues", "log_partitions", "log_segments", "log_segments", "log_txns", "log_txns", "log_consumers", "log_lease_members", "log_dlq", "consumer_groups_metadata")
	mode := r.pick("SHARE", "EXCLUSIVE")
	r.note("crash at %s of %s in: %s", mode, table, call.text)
	blocker, err := r.conn.Begin(r.ctx)
	require.NoError(r.t, err)
	_, err = blocker.Exec(r.ctx, "LOCK TABLE queen."+pgx.Identifier{table}.Sanitize()+" IN "+mode+" MODE")
	require.NoError(r.t, err)
	done := make(chan error, 1)
	go func() { done <- call.run(New(victim)) }()
	outcome, ended := r.untilBlocked(pid, done)
	if !ended {
		r.terminate(pid)
		if <-done == nil {
			r.note("it had given up waiting before, and done nothing")
		}
	}
	require.NoError(r.t, blocker.Rollback(r.ctx))
	if ended {
		require.NoError(r.t, outcome)
		call.apply()
	}
}

// connect opens a connection that the caller closes.
func (r *modelRun) connect() *pgx.Conn {
	conn, err := pgx.Connect(r.ctx, r.dsn)
	require.NoError(r.t, err)
	return conn
}

// untilBlocked waits until the backend waits for a lock, or its call ends.
func (r *modelRun) untilBlocked(pid uint32, done chan error) (outcome error, ended bool) {
	ctx, cancel := context.WithTimeout(r.ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		var blocked bool
		require.NoError(r.t, r.conn.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_locks WHERE pid = $1 AND NOT granted`, int32(pid)).Scan(&blocked))
		if blocked {
			return nil, false
		}
		select {
		case err := <-done:
			return err, true
		case <-tick.C:
		}
	}
}

// terminate ends a backend and waits until it is gone, so that the outcome of
// what it did is settled.
func (r *modelRun) terminate(pid uint32) {
	r.t.Helper()
	var gone bool
	require.NoError(r.t, r.conn.QueryRow(r.ctx, "SELECT coalesce((SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE pid = $1), true)", int32(pid)).Scan(&gone))
	require.True(r.t, gone, "the backend ends")
}
