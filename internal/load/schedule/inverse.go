package schedule

import (
	"math"
	"math/big"
	"math/bits"
)

// inverse returns ⌊inf{t: Λ(t) > units}⌋ ns; the number of cycles is not looked at.
func (s *Shape) inverse(units u128) int64 {
	cycles := uint64(0)
	if !units.less(s.area) {
		q, ok := units.div(s.area)
		if !ok {
			return math.MaxInt64
		}
		cycles, units = q, units.sub(s.area.mul(q))
	}
	// The last span that begins at or before units; of those that begin there
	// together, all but the last are pauses.
	low, high := 0, len(s.spans)
	for high-low > 1 {
		if mid := (low + high) / 2; units.less(s.spans[mid].before) {
			high = mid
		} else {
			low = mid
		}
	}
	// A pause at the end of a cycle begins where the cycle ends: units is below that.
	p := &s.spans[low]
	hi, lo := bits.Mul64(cycles, uint64(s.length))
	offset, carry := bits.Add64(lo, uint64(p.start)+p.invert(units.sub(p.before)), 0)
	if hi+carry != 0 || offset > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(offset)
}

// invert returns the largest t at which no more than units are complete.
func (p *span) invert(units u128) uint64 {
	if p.from == p.to {
		return units.div64(2 * p.from).lo
	}
	return p.ramp(units)
}

// ramp inverts a ramp. With D its length and a, b the rates at its ends, units
// are complete at t if and only if 2·D·a·t + (b−a)·t² ≤ D·units: compared in
// integers. Floating point (t = units/(a + √(a² + (b−a)·units/D)), the form
// without cancellation) only says where to begin looking, and is mostly right
// to the nanosecond, so its rounding cannot show.
func (p *span) ramp(units u128) uint64 {
	a, x := float64(p.from), units.float()
	root := math.Sqrt(max(0, a*a+(float64(p.to)-a)*x/float64(p.length)))
	guess := uint64(0)
	if v := x / (a + root); v > 0 {
		guess = p.length - 1
		if v < float64(guess) {
			guess = uint64(v)
		}
	}
	f := p.formOf(units)
	// low is done, high is not.
	low, high := uint64(0), p.length
	if f.done(guess) {
		low = guess
		for step := uint64(1); low+step < high; step *= 2 {
			if !f.done(low + step) {
				high = low + step
				break
			}
			low += step
		}
	} else {
		high = guess
		for step := uint64(1); low+step < high; step *= 2 {
			if f.done(high - step) {
				low = high - step
				break
			}
			high -= step
		}
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; f.done(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// form is the comparison of a ramp for one number of units.
type form struct {
	span          *span
	limit, linear u128     // D·units, 2·D·a
	big           *big.Int // D·units if 128 bits are not enough
}

func (p *span) formOf(units u128) form {
	if p.wide {
		limit := units.big()
		return form{span: p, big: limit.Mul(limit, new(big.Int).SetUint64(p.length))}
	}
	linear := mul64(p.length, p.from)
	return form{span: p, limit: units.mul(p.length), linear: linear.add(linear)}
}

// done reports whether no more than the units are complete at t.
func (f *form) done(t uint64) bool {
	p := f.span
	if p.wide {
		return p.form(new(big.Int).SetUint64(t)).Cmp(f.big) <= 0
	}
	var slope u128
	if p.to >= p.from {
		slope = f.linear.add(mul64(p.to-p.from, t))
	} else {
		slope = f.linear.sub(mul64(p.from-p.to, t))
	}
	return !f.limit.less(slope.mul(t))
}
