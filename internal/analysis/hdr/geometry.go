package hdr

import "math/bits"

// geometry is the division of the values into buckets that HdrHistogram
// derives from the lowest discernible value and the significant digits.
type geometry struct {
	unit int // log2 of the width of the smallest bucket
	half int // log2 of half the buckets in a power of two
}

// newGeometry takes lowest ≥ 1 and digits 0 to 5.
func newGeometry(lowest int64, digits int) geometry {
	single := uint64(2) // values of single unit resolution: 2·10^digits
	for range digits {
		single *= 10
	}
	magnitude := bits.Len64(single - 1) // ⌈log2⌉
	return geometry{unit: bits.Len64(uint64(max(lowest, 1))) - 1, half: max(magnitude, 1) - 1}
}

// shift returns log2 of the width of v's bucket.
func (g geometry) shift(v int64) int {
	floor := uint64(1)<<(g.half+1+g.unit) - 1
	return bits.Len64(uint64(v)|floor) - (g.half + 1)
}

// index returns the place of v's bucket in the array that the encoding counts.
func (g geometry) index(v int64) int {
	shift := g.shift(v)
	return (shift-g.unit)<<g.half + int(uint64(v)>>shift)
}

// value is the inverse of index: the smallest value of a bucket.
func (g geometry) value(index int) int64 {
	if index < 2<<g.half {
		return int64(index) << g.unit
	}
	shift := index>>g.half - 1
	return (int64(index) - int64(shift)<<g.half) << (shift + g.unit)
}

// low, high and median are the smallest, the largest and the middle value
// equivalent to v, as the Java version defines them.
func (g geometry) low(v int64) int64 { return v >> g.shift(v) << g.shift(v) }

func (g geometry) high(v int64) int64 { return g.low(v) + (1<<g.shift(v) - 1) }

func (g geometry) median(v int64) int64 { return g.low(v) + 1<<g.shift(v)>>1 }

// buckets returns how many powers of two are needed for values up to highest,
// and subBuckets how many buckets the first one has: what the last line of a
// percentile file prints.
func (g geometry) buckets(highest int64) int {
	n := 1
	for limit := uint64(1) << (g.half + 1 + g.unit); limit <= uint64(highest); limit <<= 1 {
		n++
	}
	return n
}

func (g geometry) subBuckets() int { return 1 << (g.half + 1) }
