//go:build unix

package link

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// sockets returns what is done to a socket before it connects; nil: nothing. The
// window scale of TCP is settled with the first packet, so later would be too late.
func (c Config) sockets() func(network, address string, raw syscall.RawConn) error {
	if c.SndBuf == 0 && c.RcvBuf == 0 {
		return nil
	}
	return func(_, _ string, raw syscall.RawConn) (err error) {
		bad := raw.Control(func(fd uintptr) {
			if c.SndBuf > 0 {
				err = setBuffer(fd, syscall.SO_SNDBUF, c.SndBuf, "send")
			}
			if err == nil && c.RcvBuf > 0 {
				err = setBuffer(fd, syscall.SO_RCVBUF, c.RcvBuf, "receive")
			}
		})
		if bad != nil {
			return bad
		}
		return err
	}
}

// setBuffer sets the size of one of a socket's buffers and checks that it is not
// smaller than asked for: Linux caps it without an error.
func setBuffer(fd uintptr, option, size int, name string) error {
	if err := syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, size); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	got, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, option)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if runtime.GOOS == "linux" { // it doubles what is asked for, for its own use
		got /= 2
	}
	if got < size {
		return fmt.Errorf("the system gives a %s buffer of %d bytes where %d were asked for: see net.core.wmem_max and net.core.rmem_max", name, got, size)
	}
	return nil
}
