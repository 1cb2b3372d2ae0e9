//go:build unix

package api

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The driver leaves a reader on a connection after a slow write. To look at the
// connection must not wait for it.
func TestIdleConnectionWithAReaderIsLookedAtWithoutWaiting(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	server, err := listener.Accept()
	require.NoError(t, err)
	defer server.Close()
	reading, read := make(chan struct{}), make(chan struct{})
	go func() {
		close(reading)
		_, _ = client.Read(make([]byte, 1))
		close(read)
	}()
	<-reading
	time.Sleep(20 * time.Millisecond) // it is in the call; without that the test only sees less
	looked := make(chan bool, 1)
	go func() { looked <- spoke(client) }()
	select {
	case said := <-looked:
		require.False(t, said)
	case <-time.After(5 * time.Second):
		t.Error("it waits for the reader")
	}
	client.Close()
	<-read
}
