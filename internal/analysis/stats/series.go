package stats

import "math"

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
