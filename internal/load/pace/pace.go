// Package pace waits for the instants of a schedule and hands over what is due.
//
// One Pacer serves all producers of a process, for two reasons. One timer that
// fires in the order of the intended instants keeps arrivals in that order,
// which is what the bracket around the response time assumes of the
// instrument (docs/method.md). And when many producers are late together, one
// wake with one reading of the clock hands everything over, where a timer per
// producer would need as many wakes, each of which makes the others later.
//
// A Pacer never skips and never thins: everything that became due while it
// slept is handed over in one run, each message with its own intended instant.
// Its lateness is therefore not lost but recorded, as ready − intended. It
// knows nothing of windows and credit: handing over must not block.
package pace

import (
	"runtime"
	"sync/atomic"

	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// DefaultTick is the Tick of a program that shares its processors with others.
//
// A wake for each of 30,000 messages a second, with a write and an answer of its own,
// takes a whole processor, here and in the broker. What is due within a tick is
// handed over together instead; at most so much later, which is in the rows as lag.
const DefaultTick = 100_000

// dense is the number of messages by which a schedule is judged to be denser than a tick.
const dense = 8

// Run is what was due at one wake: Count messages from index First of the schedule.
type Run struct {
	First, Count int64
	Ready        int64 // when it was handed over, in ns since the Unix epoch
}

// Timer waits for an instant. One goroutine waits; Interrupt may be called by any.
type Timer interface {
	// Wait returns at or soon after the instant (ns since the Unix epoch, on
	// the clock that the timer was made with), or at once after Interrupt.
	Wait(instant int64) error
	// Interrupt ends a Wait in progress and makes all later ones return at once.
	Interrupt()
	// Precision says how exact the timer is, for the log.
	Precision() string
	Close() error
}

// Pacer hands over the messages of a schedule as they become due.
type Pacer struct {
	Schedule schedule.Schedule
	Start    int64 // instant of offset 0, ns since the Unix epoch
	Clock    *timestamp.Clock
	Timer    Timer
	// Tick is the least time between two wakes, in ns, where messages are closer to
	// each other than that; 0: none. See DefaultTick.
	Tick int64

	stopped atomic.Bool
}

// Run hands over the whole schedule, or what was intended until Stop, and
// returns how many messages that were. emit must not block.
func (p *Pacer) Run(emit func(Run)) (int64, error) {
	next, woken := int64(0), p.Start-p.Tick
	for next < p.Schedule.N() {
		// The flag is read before the clock, so that what is intended until
		// the stop is still handed over below.
		stopped := p.stopped.Load()
		now := p.Clock.Now()
		if due := schedule.Due(p.Schedule, next, now-p.Start); due > next {
			emit(Run{First: next, Count: due - next, Ready: now})
			next, woken = due, now
			if !stopped {
				// Those who were woken go first: to arm the timer can take longer
				// than to send (10 µs and more in a virtual machine).
				runtime.Gosched()
				continue
			}
		}
		if stopped {
			break
		}
		if err := p.Timer.Wait(p.wake(next, woken)); err != nil {
			return next, err
		}
	}
	return next, nil
}

// wake returns when to look at message next, after what was handed over at an instant.
func (p *Pacer) wake(next, handed int64) int64 {
	at := p.instant(next)
	if p.Tick == 0 || at >= handed+p.Tick {
		return at
	}
	last := min(next+dense, p.Schedule.N()) - 1
	if n := last - next; n == 0 || p.instant(last)-at >= n*p.Tick {
		return at
	}
	return handed + p.Tick
}

// instant returns when message i is intended; it saturates.
func (p *Pacer) instant(i int64) int64 {
	at := p.Start + p.Schedule.At(i)
	if at < p.Start {
		return schedule.Unbounded
	}
	return at
}

// Stop ends the schedule now: Run hands over what was intended until this
// instant and returns. Stop may be called by any goroutine, also more than once.
func (p *Pacer) Stop() {
	p.stopped.Store(true)
	p.Timer.Interrupt()
}
