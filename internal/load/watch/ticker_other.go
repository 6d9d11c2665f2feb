//go:build !linux

package watch

import (
	"sync"
	"time"

	"amqpperf/timestamp"
)

// ticker uses the runtime's timers, which are about as exact as the system's
// where its poller takes nanoseconds (kqueue).
type ticker struct {
	clock       *timestamp.Clock
	next, every int64
	once        sync.Once
	done        chan struct{}
}

func newTicker(clock *timestamp.Clock, first, every int64) (*ticker, error) {
	return &ticker{clock: clock, next: first, every: every, done: make(chan struct{})}, nil
}

func (t *ticker) run(tick func()) {
	timer := time.NewTimer(time.Duration(max(0, t.next-t.clock.Now())))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-t.done:
			return
		}
		tick()
		now := t.clock.Now()
		for t.next <= now {
			t.next += t.every
		}
		timer.Reset(time.Duration(t.next - now))
	}
}

func (t *ticker) stop() { t.once.Do(func() { close(t.done) }) }
