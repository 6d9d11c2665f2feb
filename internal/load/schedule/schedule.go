// Package schedule says when messages are intended: pure arithmetic from a
// message's index to its offset from the start of the run. It knows no clock
// and never sleeps (load/pace does), so what it says does not depend on how
// the run goes: that is what keeps response times free of coordinated omission.
package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Unbounded is the N of a schedule without an end.
const Unbounded int64 = math.MaxInt64

// Schedule is a sequence of offsets that never decrease. Implementations are
// immutable and safe for concurrent use.
type Schedule interface {
	// At returns the offset of message i, 0 ≤ i < N, from the start, in ns.
	At(i int64) int64
	// N returns the number of messages, Unbounded if there is no end.
	N() int64
}

// dueCounter is implemented by schedules that can invert At.
type dueCounter interface {
	// due returns the number of messages with At ≤ elapsed, at most N.
	due(elapsed int64) int64
}

// Due returns how many messages of s are intended at or before elapsed ns,
// given that the first from ones are.
func Due(s Schedule, from, elapsed int64) int64 {
	switch d := s.(type) {
	case dueCounter:
		return d.due(elapsed)
	case Stripe:
		// All of the whole before the last known one are due, too.
		known := int64(0)
		if from > 0 {
			known = d.Index(from-1) + 1
		}
		return min(d.N(), Share(Due(d.Of, known, elapsed), d.K, d.By))
	}
	if elapsed == math.MaxInt64 {
		return s.N()
	}
	// Gallop: usually only few are due.
	n := s.N()
	low, step := from, int64(1)
	for low < n && s.At(low) <= elapsed {
		from = low + 1
		if low > n-step {
			low = n
			break
		}
		low += step
		step *= 2
	}
	high := min(low, n)
	return from + int64(sort.Search(int(high-from), func(k int) bool { return s.At(from+int64(k)) > elapsed }))
}

// second in ns.
const second = 1_000_000_000

// maxDen keeps 1e9·den below 2⁶³.
const maxDen = 9_000_000_000

// Constant is num messages every den seconds: message i is intended at
// ⌊i·10⁹·den/num⌋ ns, computed with 128 bits. Adding up a truncated interval
// instead would drift (0.36 s an hour at 300,000/s).
type Constant struct {
	num   uint64
	scale uint64 // 10⁹·den
	n     int64
}

// NewConstant returns the schedule of num/den messages per second with n
// messages (Unbounded: no end).
func NewConstant(num, den, n int64) (Constant, error) {
	switch {
	case num <= 0 || den <= 0:
		return Constant{}, fmt.Errorf("rate %d/%d: must be above 0", num, den)
	case den > maxDen:
		return Constant{}, fmt.Errorf("rate %d/%d: too many digits", num, den)
	case n < 0:
		return Constant{}, fmt.Errorf("%d messages: must not be negative", n)
	}
	return Constant{num: uint64(num), scale: uint64(den) * second, n: n}, nil
}

// At implements Schedule. Offsets beyond 292 years are math.MaxInt64.
func (c Constant) At(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), c.scale)
	return quotient(hi, lo, c.num)
}

// N implements Schedule.
func (c Constant) N() int64 { return c.n }

// Within returns the number of messages intended in [0, d) ns, whatever N is:
// 100/s for 5 s are 500. It is ⌈d·num/(10⁹·den)⌉, because ⌊x⌋ < d for an
// integer d if and only if x < d.
func (c Constant) Within(d int64) int64 {
	if d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), c.num)
	lo, carry := bits.Add64(lo, c.scale-1, 0)
	return quotient(hi+carry, lo, c.scale)
}

// WithN returns the same schedule with n messages.
func (c Constant) WithN(n int64) Constant { c.n = n; return c }

func (c Constant) due(elapsed int64) int64 {
	if elapsed < 0 {
		return 0
	}
	if elapsed == math.MaxInt64 {
		return c.n
	}
	return min(c.n, c.Within(elapsed+1))
}

// quotient returns ⌊(hi·2⁶⁴ + lo)/d⌋, at most math.MaxInt64.
func quotient(hi, lo, d uint64) int64 {
	if hi >= d {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, d)
	return int64(min(q, math.MaxInt64))
}
