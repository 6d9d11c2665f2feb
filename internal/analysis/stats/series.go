package stats

import "math"

// Counter counts instants per equal interval of time. It grows with the
// instants it meets, up to a fixed number of intervals; instants outside are
// counted apart and lost to the series, never to the total.
type Counter struct {
	start, width int64
	limit        int
	counts       []int64
	outside      int64
}

// NewCounter counts from start (ns) in intervals of width ns, at most limit of
// them.
func NewCounter(start, width int64, limit int) *Counter {
	return &Counter{start: start, width: max(width, 1), limit: max(limit, 1)}
}

// Add counts one instant, ns.
func (c *Counter) Add(at int64) {
	if at < c.start {
		c.outside++
		return
	}
	i := (uint64(at) - uint64(c.start)) / uint64(c.width)
	if i >= uint64(c.limit) {
		c.outside++
		return
	}
	for uint64(len(c.counts)) <= i {
		c.counts = append(c.counts, 0)
	}
	c.counts[i]++
}

// Merge adds the counts of o, which must have the same start and width.
func (c *Counter) Merge(o *Counter) {
	for len(c.counts) < len(o.counts) {
		c.counts = append(c.counts, 0)
	}
	for i, n := range o.counts {
		c.counts[i] += n
	}
	c.outside += o.outside
}

// Counts returns the counts per interval; the slice is the Counter's own.
func (c *Counter) Counts() []int64 { return c.counts }

// Outside returns the number of instants before the start or beyond the limit.
func (c *Counter) Outside() int64 { return c.outside }

// Backlog returns, for the end of each interval, how many came in and did not
// go out yet: the running difference of the two series. The longer one decides
// the length. It is below 0 where more went out than came in, which is a fact
// about the data (a clock, a leftover) and not hidden.
func Backlog(in, out []int64) []int64 {
	level := make([]int64, max(len(in), len(out)))
	var sum int64
	for i := range level {
		if i < len(in) {
			sum += in[i]
		}
		if i < len(out) {
			sum -= out[i]
		}
		level[i] = sum
	}
	return level
}

// Rate returns (n−1)/(last−first) in events per second over n instants in ns,
// NaN when n < 2 or all are at one instant.
func Rate(n, first, last int64) float64 {
	if n < 2 || last <= first {
		return math.NaN()
	}
	return float64(n-1) / (float64(uint64(last)-uint64(first)) / 1e9)
}
