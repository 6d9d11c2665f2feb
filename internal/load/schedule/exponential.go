package schedule

import (
	"math"
	"math/bits"
)

// fraction is the number of fractional bits of an exponential variate: the
// largest one, 53·ln 2 = 36.7, just fits into 64 bits.
const fraction = 58

// exponential turns 64 random bits into an exponential variate of mean 1, in
// units of 2⁻⁵⁸: −ln U with U uniform on {1, …, 2⁵³}/2⁵³.
//
// All hosts of a --share, and whoever rebuilds a schedule from its seed, must
// get the same bits. So this is not rand.ExpFloat64 (whose algorithm may change)
// nor math.Log (assembly on some processors), and no product is fused with a
// sum (the conversions forbid that): IEEE 754 leaves one result only.
func exponential(random uint64) uint64 {
	x := random>>11 + 1
	// U = m·2^−down with m in [√½, √2): no cancellation near U = 1.
	length := bits.Len64(x)
	m := float64(x) / float64(uint64(1)<<(length-1))
	down := 54 - length
	if m > math.Sqrt2 {
		m /= 2
		down--
	}
	// ln m = 2·artanh(s) = 2·(s + s³/3 + s⁵/5 + …), |s| ≤ 0.172: the terms left
	// out are below 2⁻⁵⁵ of the sum.
	s := (m - 1) / (m + 1)
	square := s * s
	sum := 1.0 / 21
	sum = float64(sum*square) + 1.0/19
	sum = float64(sum*square) + 1.0/17
	sum = float64(sum*square) + 1.0/15
	sum = float64(sum*square) + 1.0/13
	sum = float64(sum*square) + 1.0/11
	sum = float64(sum*square) + 1.0/9
	sum = float64(sum*square) + 1.0/7
	sum = float64(sum*square) + 1.0/5
	sum = float64(sum*square) + 1.0/3
	sum = float64(sum*square) + 1
	value := float64(float64(down)*math.Ln2) - float64(2*float64(s*sum))
	return uint64(value * (1 << fraction)) // exact: a power of two
}
