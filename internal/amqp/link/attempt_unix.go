//go:build unix

package link

import (
	"errors"
	"syscall"
)

// attempt writes to a socket as much as it takes at once, without waiting. The
// function is kept, since a new one for each write would be an allocation.
type attempt struct {
	b   []byte
	n   int
	err error
	fn  func(fd uintptr) bool
}

func (a *attempt) init() { a.fn = a.once }

func (a *attempt) once(fd uintptr) bool {
	for {
		a.n, a.err = syscall.Write(int(fd), a.b)
		if !errors.Is(a.err, syscall.EINTR) {
			return true // done in any case: never wait
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
