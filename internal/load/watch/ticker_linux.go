package watch

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"amqpperf/timestamp"
)

// ticker is a periodic timerfd in the runtime's network poller: one read per
// tick and no system call to arm it, and no thread of its own.
type ticker struct {
	file *os.File
	raw  syscall.RawConn
}

// newTicker returns a ticker that ticks at first (ns since the Unix epoch) and
// then every so many ns.
func newTicker(clock *timestamp.Clock, first, every int64) (*ticker, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	t := &ticker{file: os.NewFile(uintptr(fd), "timerfd")}
	spec := unix.ItimerSpec{
		Value:    unix.NsecToTimespec(max(1, clock.MonotonicOf(first))), // 0 would disarm it
		Interval: unix.NsecToTimespec(every),
	}
	err = unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
	if err == nil {
		err = t.file.SetReadDeadline(time.Time{}) // fails outside the poller
	}
	if err == nil {
		t.raw, err = t.file.SyscallConn()
	}
	if err != nil {
		_ = t.file.Close() // the error above says more
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	return t, nil
}

// run calls tick after each expiry, or after several, until stop.
func (t *ticker) run(tick func()) {
	var expirations [8]byte
	// Never done: the poller waits before each further call, and the kernel
	// arms the timer again when it is read, so that no expiry can be missed.
	// The first call finds nothing to read. It ends with the deadline.
	_ = t.raw.Read(func(fd uintptr) bool {
		// Raw, since it never blocks: telling the scheduler of a system call
		// wakes its monitor thread each time, which doubles the cost of a tick.
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&expirations[0])), uintptr(len(expirations)))
		if errno == 0 && n > 0 {
			tick()
		}
		return false
	})
	_ = t.file.Close() // nothing was written
}

func (t *ticker) stop() { _ = t.file.SetReadDeadline(time.Unix(1, 0)) } // fails only when closed
