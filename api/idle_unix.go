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
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		quiet = err == syscall.EAGAIN || err == syscall.EINTR
		return true
	})
	return err != nil || !quiet
}
