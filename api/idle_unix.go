//go:build unix

package api

import (
	"crypto/tls"
	"net"
	"syscall"
)

// spoke looks, without waiting or taking anything, whether an idle connection has
// something to read, its end included. PostgreSQL says nothing while idle but a
// change of a setting or its goodbye: worth a round trip before the connection is used.
func spoke(conn net.Conn) bool {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	quiet := false
	// Control, for Read waits until nobody else reads, and the driver may have left a
	// reader behind that waits for the next answer.
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN || err == syscall.EINTR
	})
	return err != nil || !quiet
}
