package clock

import (
	"math"
	"math/bits"
)

const (
	// far is the largest difference of instants that is believed, about 73
	// years: sums of two stay within int64. Beyond it a bound says nothing.
	far int64 = 1 << 61

	ppb = 1_000_000_000
	ppm = 1000 // in ppb
)

// diff returns a − b and whether it is within ±far.
func diff(a, b int64) (int64, bool) {
	d := a - b
	overflow := (a^b)&(a^d) < 0
	return d, !overflow && d >= -far && d <= far
}

// span returns |a − b|, at most far.
func span(a, b int64) int64 {
	d, ok := diff(a, b)
	if !ok {
		return far
	}
	return max(d, -d)
}

// add returns a + b, kept within the values of int64 and away from the
// smallest, which means NULL in logs.
func add(a, b int64) int64 {
	s := a + b
	if (a^s)&(b^s) < 0 {
		if a > 0 {
			return math.MaxInt64
		}
		return math.MinInt64 + 1
	}
	return max(s, math.MinInt64+1)
}

// drift returns by how much a clock of relative rate rate (in ppb) moves in d
// ns, rounded up, at most far.
func drift(rate, d int64) int64 {
	if rate <= 0 || d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(rate), uint64(d))
	if hi == 0 && lo < 1<<61 { // nearly always, and much cheaper than the division of 128 bits
		return int64((lo + ppb - 1) / ppb)
	}
	if hi >= ppb {
		return far
	}
	q, r := bits.Div64(hi, lo, ppb)
	if r > 0 {
		q++
	}
	return int64(min(q, uint64(far)))
}

// clamp keeps a value within ±far.
func clamp(v int64) int64 { return min(max(v, -far), far) }

// midpoint returns the middle of a and b without overflow.
func midpoint(a, b int64) int64 { return a&b + (a^b)>>1 }
