package perfrecv

import "amqpperf/format"

// runCounter counts the rows of each run in one lane; a hostile queue does not
// fill the memory.
type runCounter struct {
	r    *run
	last string
	n    int64
}

func (r *run) countRuns() *runCounter {
	c := &runCounter{r: r}
	r.counters = append(r.counters, c)
	return c
}

// add counts a row. Rows of one run come one after the other, so that the
// shared map is touched seldom.
func (c *runCounter) add(run string) {
	if run == c.last {
		c.n++
		return
	}
	c.flush()
	c.last, c.n = run, 1
}

func (c *runCounter) flush() {
	if c.n == 0 {
		return
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.runs == nil {
		c.r.runs = map[string]int64{}
	}
	if _, known := c.r.runs[c.last]; known || len(c.r.runs) < format.MaxStrings {
		c.r.runs[c.last] += c.n
	}
	c.n = 0
}

// mostOften returns the run that most rows carry, "" without rows.
func (r *run) mostOften() string {
	for _, c := range r.counters {
		c.flush()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	best, most := "", int64(0)
	for run, n := range r.runs {
		if n > most || (n == most && run < best) {
			best, most = run, n
		}
	}
	return best
}
