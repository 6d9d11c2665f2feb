package link

import (
	"crypto/tls"
	"net"
)

// NetConn returns the connection's socket, below TLS, for its statistics: nothing
// may be read from it or written to it.
func (c *Conn) NetConn() net.Conn {
	var socket net.Conn
	switch under := c.net.(type) {
	case *plane:
		socket = under.Conn
	case *netConn:
		socket = under.Conn
	}
	if t, ok := socket.(*tls.Conn); ok {
		return t.NetConn()
	}
	return socket
}

// Credit returns how many messages the peer may still send now. It is negative, with
// ClientLibrary only, while a peer has sent more than was granted.
func (r *Receiver) Credit() int {
	switch is := r.is.(type) {
	case *ownReceiver:
		is.p.mu.Lock()
		defer is.p.mu.Unlock()
		return int(is.ep.Credit())
	case *libraryReceiver:
		is.mu.Lock()
		defer is.mu.Unlock()
		return is.granted
	}
	return 0
}
