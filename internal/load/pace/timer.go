package pace

import (
	"sync"
	"time"

	"amqpperf/timestamp"
)

// runtimeTimer waits with the timers of the Go runtime. On Linux their wait is
// an epoll_wait with a time-out in whole milliseconds, which makes them about
// 1 ms late when the process is otherwise idle; they are the fallback, and the
// virtual timer of tests (testing/synctest).
type runtimeTimer struct {
	clock *timestamp.Clock
	timer *time.Timer
	once  sync.Once
	done  chan struct{}
}

// NewRuntimeTimer returns a timer that uses the Go runtime's timers.
func NewRuntimeTimer(clock *timestamp.Clock) Timer {
	t := &runtimeTimer{clock: clock, timer: time.NewTimer(time.Hour), done: make(chan struct{})}
	t.timer.Stop()
	return t
}

// longest keeps a duration from overflowing; Wait may return early then, and
// its caller looks at the clock anyway.
const longest = int64(24 * time.Hour)

func (t *runtimeTimer) Wait(instant int64) error {
	wait := instant - t.clock.Now()
	if wait <= 0 {
		return nil
	}
	t.timer.Reset(time.Duration(min(wait, longest)))
	select {
	case <-t.timer.C:
	case <-t.done:
	}
	return nil
}

func (t *runtimeTimer) Interrupt() { t.once.Do(func() { close(t.done) }) }

func (t *runtimeTimer) Precision() string { return "runtime timer, about 1 ms late on an idle host" }

func (t *runtimeTimer) Close() error {
	t.timer.Stop()
	return nil
}
