//go:build !unix

package link

import (
	"io"
	"net"
	"syscall"
)

// attempt takes nothing at once: all is left to the writer.
type attempt struct{}

func (*attempt) writing() {}

func (*attempt) write(syscall.RawConn, []byte) (int, error) { return 0, nil }

// readerOf returns what reads a socket.
func readerOf(socket net.Conn, _ syscall.RawConn) io.Reader { return socket }
