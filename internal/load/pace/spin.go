package pace

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"amqpperf/timestamp"
)

// SpinProcs is from how many processors on (GOMAXPROCS) busy-waiting is cheap:
// with fewer it takes time from the senders, and from a broker on the same host.
const SpinProcs = 4

// The guard is measured: 99 of 100 waits of the timer are late by less. Below
// the smallest there is nothing to gain, above the largest it is not the timer
// that is late but the host that is busy.
const (
	minGuard   = 20 * time.Microsecond
	maxGuard   = 200 * time.Microsecond
	guardTries = 100
	guardWait  = 300 * time.Microsecond
)

// Guard measures by how much t is late, in about 40 ms: the 99th percentile,
// at least 20 µs and at most 200 µs.
func Guard(t Timer, clock *timestamp.Clock) (time.Duration, error) {
	late := make([]int64, guardTries)
	for i := range late {
		at := clock.Now() + int64(guardWait)
		if err := t.Wait(at); err != nil {
			return 0, err
		}
		late[i] = clock.Now() - at
	}
	slices.Sort(late)
	return min(max(time.Duration(late[guardTries*99/100-1]), minGuard), maxGuard), nil
}

// spinner waits with another timer until the guard is left, and then in a loop.
type spinner struct {
	Timer
	clock *timestamp.Clock
	guard time.Duration
	ended atomic.Bool
}

// Spin returns a timer that is exact to well below a microsecond, as long as
// its goroutine runs: it waits with t until guard before the instant and reads
// the clock in a loop from there, which keeps one processor busy for that long.
// It closes t.
func Spin(t Timer, clock *timestamp.Clock, guard time.Duration) Timer {
	return &spinner{Timer: t, clock: clock, guard: guard}
}

func (s *spinner) Wait(instant int64) error {
	if early := instant - int64(s.guard); s.clock.Now() < early {
		if err := s.Timer.Wait(early); err != nil {
			return err
		}
	}
	for s.clock.Now() < instant && !s.ended.Load() { // it waits
	}
	return nil
}

func (s *spinner) Interrupt() {
	s.ended.Store(true)
	s.Timer.Interrupt()
}

func (s *spinner) Precision() string {
	return fmt.Sprintf("%s, busy-waiting the last %v", s.Timer.Precision(), s.guard)
}
