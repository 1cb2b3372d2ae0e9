package embedded

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOrphanIsStopped runs a server that nothing binds to a launcher's life.
func TestOrphanIsStopped(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: newDir(t), TCP: true, Durable: true, Log: slog.New(slog.DiscardHandler)}
	first := startServer(t, o)
	remember(t, first.DSN())
	stopServer(t, first)

	l, err := newLauncher(testContext(t), o)
	require.NoError(t, err)
	orphan := l.command(context.Background(), "postgres", l.arguments(first.port)...)
	orphan.SysProcAttr.Pdeathsig = 0
	require.NoError(t, orphan.Start())
	reaped := make(chan error, 1)
	go func() { reaped <- orphan.Wait() }()
	require.NoError(t, poll(testContext(t), time.Minute, func() bool {
		pf, err := readPIDFile(l.pgdata)
		return err == nil && pf.state == "ready"
	}))
	l.close()

	s := startServer(t, o)
	require.NoError(t, <-reaped, "a fast shutdown ends with status 0")
	require.Equal(t, "kept", recall(t, s))
}
