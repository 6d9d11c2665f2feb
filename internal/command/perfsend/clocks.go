package perfsend

import (
	"context"
	"fmt"
	"sync"

	"amqpperf/internal/load/recorder"
)

// clockRows keeps rows of clock/1 until there is a log: the clocks are compared
// before. It is safe for concurrent use.
type clockRows struct {
	mu    sync.Mutex
	kept  []recorder.ClockRow
	write func(recorder.ClockRow)
}

func (c *clockRows) add(row recorder.ClockRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.write == nil {
		c.kept = append(c.kept, row)
		return
	}
	c.write(row)
}

// attach passes on what was kept, and from now on everything at once.
func (c *clockRows) attach(write func(recorder.ClockRow)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range c.kept {
		write(row)
	}
	c.kept, c.write = nil, write
}

// askClocks compares the clock with those of the peers before anything is sent.
// It is an error that one does not answer: without it the run would have to be done
// again, and there is no log yet.
func (r *run) askClocks(ctx context.Context) error {
	r.clocks.Start(ctx)
	if n := r.clocks.Silent(); n > 0 {
		return fmt.Errorf("--clock-peer: %d of %d do not answer, over UDP or TCP: is perf-recv running with --clock-listen, and the token that of its --ready-file?",
			n, len(r.o.clock.Peers()))
	}
	return nil
}
