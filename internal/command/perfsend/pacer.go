package perfsend

import (
	"fmt"
	"runtime"

	"amqpperf/internal/load/pace"
)

// The values of --spin.
const (
	spinAuto   = "auto"
	spinAlways = "always"
	spinNever  = "never"
)

// newPacer makes the pacer of an open loop; the returned function frees its timer.
func (r *run) newPacer() (release func(), err error) {
	if r.schedule == nil {
		return func() {}, nil
	}
	timer, err := pace.NewTimer(r.clock)
	if err != nil {
		return nil, err
	}
	release = func() { _ = timer.Close() } // nothing was written to it
	if r.spins() {
		guard, err := pace.Guard(timer, r.clock)
		if err != nil {
			release()
			return nil, err
		}
		timer = pace.Spin(timer, r.clock, guard)
	}
	r.pacer = &pace.Pacer{Schedule: r.schedule, Clock: r.clock, Timer: timer}
	return release, nil
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
