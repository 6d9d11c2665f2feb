package consume

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/timestamp"
)

// Why a run stopped, as in perf.stop.
const (
	StopCount    = "count"
	StopDuration = "duration"
	StopIdle     = "idle"
	StopSignal   = "signal"
	StopError    = "error"
)

// Limits end a run of consumers; 0 is no limit.
type Limits struct {
	Count    int64         // messages, over all consumers
	Duration time.Duration // from the start
	Idle     time.Duration // without a message, from the first one on
	Wait     time.Duration // for the first message, after the Delay
	Delay    time.Duration // before the first credit is granted
}

// Group is what the consumers of a process share: when to stop, and why.
type Group struct {
	limits Limits
	clock  *timestamp.Clock
	ctx    context.Context //nolint:containedctx // it is the stop signal that Receive takes
	cancel context.CancelFunc

	admitted atomic.Int64
	first    atomic.Int64 // instant of the first message that counts, 0 before it
	last     atomic.Int64 // instant of the last message that counts, 0 before the first

	// Of consumers with a Tempo, or without a link: how many are busy, and when the last
	// one was.
	busy   atomic.Int64
	active atomic.Int64

	begun chan struct{} // closed with the first message

	mu     sync.Mutex
	reason string
	err    error
	living int // consumers whose link is not gone
}

// NewGroup returns a group for so many consumers that also stops when ctx ends.
func NewGroup(ctx context.Context, clock *timestamp.Clock, limits Limits, consumers int) *Group {
	g := &Group{limits: limits, clock: clock, begun: make(chan struct{}), living: consumers}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// Context ends when the group stops.
func (g *Group) Context() context.Context { return g.ctx }

// Stop stops all consumers; the first reason counts, and the first error.
func (g *Group) Stop(reason string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason == "" {
		g.reason = reason
	}
	if g.err == nil {
		g.err = err
	}
	g.cancel()
}

// Gone says that the link of a consumer is gone for good. The others go on; with
// the last the group stops.
func (g *Group) Gone(err error) {
	g.mu.Lock()
	g.living--
	last := g.living == 0
	if g.err == nil {
		g.err = err
	}
	g.mu.Unlock()
	if last {
		g.Stop(StopError, err)
	}
}

// Reason returns why the group stopped, and the first error, which need not be
// what stopped it.
func (g *Group) Reason() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason, g.err
}

// Admitted returns how many messages were taken in.
func (g *Group) Admitted() int64 {
	n := g.admitted.Load()
	if g.limits.Count > 0 {
		return min(n, g.limits.Count)
	}
	return n
}

// Span returns when the first and the last message that count were received, 0
// if there was none.
func (g *Group) Span() (first, last int64) { return g.first.Load(), g.last.Load() }

// admit takes in one message, unless there were enough, and stops the group
// with the last one.
func (g *Group) admit(received int64) bool {
	n := g.admitted.Add(1)
	if g.limits.Count > 0 && n > g.limits.Count {
		return false
	}
	g.last.Store(received)
	if g.first.Load() == 0 && g.first.CompareAndSwap(0, received) {
		close(g.begun)
	}
	if n == g.limits.Count {
		g.Stop(StopCount, nil)
	}
	return true
}

// Away says that a consumer is without a link for a while, until the returned
// function is called: such a time is not idle.
func (g *Group) Away() (back func()) {
	g.busy.Add(1)
	return g.rest
}

// rest says that a consumer was busy until now.
func (g *Group) rest() {
	g.active.Store(g.clock.Now())
	g.busy.Add(-1)
}

// quietSince returns from when on nothing came and nobody worked, 0 before the
// first message.
func (g *Group) quietSince() int64 {
	last := g.last.Load()
	switch {
	case last == 0:
		return 0
	case g.busy.Load() > 0:
		return g.clock.Now()
	}
	return max(last, g.active.Load())
}

// Watch stops the group when a limit of time is reached, and returns when it
// has stopped, whatever stopped it.
func (g *Group) Watch() {
	start := g.clock.Now()
	begun := g.begun
	for {
		now := g.clock.Now()
		next, reason, err := g.deadline(start)
		if next <= now {
			g.Stop(reason, err)
			return
		}
		timer := time.NewTimer(time.Duration(min(next-now, int64(time.Hour))))
		select {
		case <-timer.C:
		case <-begun:
			begun = nil // from now on the idle time counts
		case <-g.ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// deadline returns the next instant at which a limit is reached as things are.
func (g *Group) deadline(start int64) (at int64, reason string, err error) {
	at = start + int64(365*24*time.Hour)
	last := g.quietSince()
	if last == 0 && g.limits.Wait > 0 {
		at, reason = start+int64(g.limits.Wait)+int64(g.limits.Delay), StopIdle
		err = fmt.Errorf("no message came within --wait %v", g.limits.Wait)
	}
	if last != 0 && g.limits.Idle > 0 {
		at, reason = last+int64(g.limits.Idle), StopIdle
	}
	if d := start + int64(g.limits.Duration); g.limits.Duration > 0 && d < at {
		at, reason, err = d, StopDuration, nil
	}
	return at, reason, err
}
