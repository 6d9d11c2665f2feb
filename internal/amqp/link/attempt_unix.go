//go:build unix

package link

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// attempt reads from a socket, or writes to it, as much as it has or takes at once.
// The function is kept, since a new one for each call would be an allocation.
type attempt struct {
	b   []byte
	n   int
	err error
	fn  func(fd uintptr) bool
}

// writing makes this one that writes.
func (a *attempt) writing() {
	a.fn = func(fd uintptr) bool {
		for {
			a.n, a.err = writeNow(int(fd), a.b)
			if !errors.Is(a.err, syscall.EINTR) {
				return true // done in any case: never wait
			}
		}
	}
}

// reading makes this one that reads.
func (a *attempt) reading() {
	a.fn = func(fd uintptr) bool {
		for {
			a.n, a.err = readNow(int(fd), a.b)
			if !errors.Is(a.err, syscall.EINTR) {
				return !errors.Is(a.err, syscall.EAGAIN) // false: call again when there is something
			}
		}
	}
}

// write returns how many bytes the socket took.
func (a *attempt) write(c syscall.RawConn, b []byte) (int, error) {
	a.b = b
	err := c.Write(a.fn)
	a.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(a.err, syscall.EAGAIN):
		return 0, nil
	}
	return max(a.n, 0), a.err
}

// socketReader reads a socket like the net.Conn, but for readNow.
type socketReader struct {
	conn net.Conn
	raw  syscall.RawConn
	try  attempt
}

// Read implements io.Reader.
func (r *socketReader) Read(b []byte) (int, error) {
	r.try.b = b
	err := r.raw.Read(r.try.fn)
	r.try.b = nil
	switch {
	case err != nil:
		return 0, err
	case r.try.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", r.try.err)}
	case r.try.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return r.try.n, nil
}

// readerOf returns what reads a socket.
func readerOf(socket net.Conn, raw syscall.RawConn) io.Reader {
	if raw == nil {
		return socket
	}
	r := &socketReader{conn: socket, raw: raw}
	r.try.reading()
	return r
}
