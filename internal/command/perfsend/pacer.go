package perfsend

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"amqpperf/internal/load/pace"
	"amqpperf/timestamp"
)

// lead is between the moment everything is ready and the first intended instant, and
// leadEach as much more for each producer: a thousand goroutines take a while to
// start, which must not be the lag of the first messages.
const (
	lead     = 5 * time.Millisecond
	leadEach = 50 * time.Microsecond
)

// The values of --spin.
const (
	spinAuto   = "auto"
	spinAlways = "always"
	spinNever  = "never"
)

// newPacer makes the pacer of an open loop; the returned function frees its timer.
func (r *run) newPacer() (release func(), err error) {
	if r.planned == nil {
		return func() {}, nil
	}
	spins := r.spins()
	timer, err := newTimer(r.clock, spins)
	if err != nil {
		return nil, err
	}
	r.pacer = &pace.Pacer{Schedule: r.planned.whole, Clock: r.clock, Timer: timer, Tick: tick(spins)}
	return func() { _ = timer.Close() }, nil // nothing was written to it
}

// tick is that of a pacer: a program that busy-waits has a processor to itself.
func tick(spins bool) int64 {
	if spins {
		return 0
	}
	return pace.DefaultTick
}

// newTimer makes the timer of a pacer.
func newTimer(clock *timestamp.Clock, spins bool) (pace.Timer, error) {
	timer, err := pace.NewTimer(clock)
	if err != nil || !spins {
		return timer, err
	}
	guard, err := pace.Guard(timer, clock)
	if err != nil {
		return nil, errors.Join(err, timer.Close())
	}
	return pace.Spin(timer, clock, guard), nil
}

// spins decides whether the pacer busy-waits.
func (r *run) spins() bool {
	switch procs := runtime.GOMAXPROCS(0); r.o.spin.String() {
	case spinAlways:
		return true
	case spinAuto:
		if procs >= pace.SpinProcs {
			return true
		}
		if !r.o.live.Quiet {
			fmt.Fprintf(r.env.Stderr, "%s: --spin auto does not busy-wait with %d processors, it would slow down what is measured: --spin=always does\n", tool, procs)
		}
	}
	return false
}
