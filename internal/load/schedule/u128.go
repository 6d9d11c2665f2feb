package schedule

import "math/bits"

// u128 is an unsigned 128-bit integer. Its methods do not detect overflow: the
// constructors bound their inputs so that nothing overflows (see Shape).
type u128 struct{ hi, lo uint64 }

func mul64(a, b uint64) u128 {
	hi, lo := bits.Mul64(a, b)
	return u128{hi, lo}
}

func (u u128) add(v u128) u128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	return u128{u.hi + v.hi + carry, lo}
}

func (u u128) sub(v u128) u128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	return u128{u.hi - v.hi - borrow, lo}
}

// mul returns the low 128 bits of u·x.
func (u u128) mul(x uint64) u128 {
	hi, lo := bits.Mul64(u.lo, x)
	return u128{hi + u.hi*x, lo}
}

func (u u128) less(v u128) bool {
	return u.hi < v.hi || (u.hi == v.hi && u.lo < v.lo)
}

// div64 returns ⌊u/d⌋.
func (u u128) div64(d uint64) u128 {
	hi, rest := u.hi/d, u.hi%d
	lo, _ := bits.Div64(rest, u.lo, d)
	return u128{hi, lo}
}

// div returns ⌊u/v⌋, and whether that fits into 64 bits.
func (u u128) div(v u128) (uint64, bool) {
	if v.hi == 0 {
		q := u.div64(v.lo)
		return q.lo, q.hi == 0
	}
	// An estimate from the leading 64 bits of v is exact or one too large (after
	// the decrement: exact or one too small); v ≥ 2⁶⁴, so it fits.
	n := uint(bits.LeadingZeros64(v.hi))
	top := v.hi<<n | v.lo>>1>>(63-n)
	half := u128{u.hi >> 1, u.hi<<63 | u.lo>>1}
	q, _ := bits.Div64(half.hi, half.lo, top)
	q >>= 63 - n
	if q > 0 {
		q--
	}
	if !u.sub(v.mul(q)).less(v) {
		q++
	}
	return q, true
}

// float returns u rounded, for estimates only.
func (u u128) float() float64 { return float64(u.hi)*(1<<64) + float64(u.lo) }
