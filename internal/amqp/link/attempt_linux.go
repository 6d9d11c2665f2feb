package link

import (
	"syscall"
	"unsafe"
)

// Reads and writes of a socket that does not block are not announced to Go's
// scheduler. Announced, each that lasts for more than some 20 µs, as a write does
// that wakes the peer, may lose the goroutine its processor: another thread is
// woken for it, and the monitor of the runtime goes on looking every 20 µs. On a
// machine that is shared with the broker these switches cost more than all that
// the link does.

// writeNow writes to a socket that does not block.
func writeNow(fd int, b []byte) (int, error) { return now(syscall.SYS_WRITE, fd, b) }

// readNow reads from a socket that does not block.
func readNow(fd int, b []byte) (int, error) { return now(syscall.SYS_READ, fd, b) }

func now(call uintptr, fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
