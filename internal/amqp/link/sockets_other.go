//go:build !unix

package link

import (
	"errors"
	"syscall"
)

// sockets returns what is done to a socket before it connects; nil: nothing.
func (c Config) sockets() func(network, address string, raw syscall.RawConn) error {
	if c.SndBuf == 0 && c.RcvBuf == 0 {
		return nil
	}
	return func(string, string, syscall.RawConn) error {
		return errors.New("the sizes of socket buffers can be set on unix only")
	}
}
