package stats

import (
	"math"
	"math/bits"
)

// DefaultPrecision is the number of mantissa bits of what a Distribution shows: a
// bucket is at most 1/1024 of its values wide.
const DefaultPrecision = 10

// chunk counts cover 64 bits less the precision, plus one chunk of exact
// small values; 64 is enough for every precision.
const maxChunks = 64

// Histogram counts int64 values in log-linear buckets: values below
// 2^precision (in magnitude) have a bucket each, and every power of two above
// is divided into 2^precision equal buckets. The buckets of negative values
// mirror those of −v−1. All of int64 is covered and nothing is out of range.
//
// Memory is 4·2^precision bytes for each power of two that occurs, and twice that
// more from 2^32 values on.
type Histogram struct {
	precision int
	pos, neg  [maxChunks][]uint32 // small, to stay in a cache
	n         int64
	counted   int64 // values in pos and neg: less than 2^32
	carried   *carried
}

// carried is what a Histogram counted before pos and neg would have overflowed.
type carried struct{ pos, neg [maxChunks][]int64 }

// NewHistogram returns an empty histogram of 1 to 16 bits of precision; other
// arguments are clamped.
func NewHistogram(precision int) *Histogram {
	return &Histogram{precision: min(max(precision, 1), 16)}
}

// place returns chunk and index of a magnitude.
func (h *Histogram) place(u uint64) (chunk, index int) {
	if u>>h.precision == 0 {
		return 0, int(u)
	}
	chunk = bits.Len64(u) - h.precision
	return chunk, int(u>>(chunk-1)) & (1<<h.precision - 1)
}

// edges returns the smallest and the largest magnitude of a bucket.
func (h *Histogram) edges(chunk, index int) (lo, hi uint64) {
	if chunk == 0 {
		return uint64(index), uint64(index)
	}
	lo = (uint64(index) | 1<<h.precision) << (chunk - 1)
	return lo, lo + 1<<(chunk-1) - 1
}

// Add counts one value.
func (h *Histogram) Add(v int64) { h.AddN(v, 1) }

// AddN counts a value n times.
func (h *Histogram) AddN(v, n int64) {
	side, u := &h.pos, uint64(v)
	if v < 0 {
		side, u = &h.neg, ^uint64(v)
	}
	chunk, index := h.place(u)
	c := side[chunk]
	if c == nil {
		c = make([]uint32, 1<<h.precision)
		side[chunk] = c
	}
	h.n += n
	for n > 0 {
		some := min(n, math.MaxUint32)
		h.reserve(some)
		c[index] += uint32(some) // some fits
		n -= some
	}
}

// reserve makes room to count n values, at most 2^32 − 1.
func (h *Histogram) reserve(n int64) {
	if h.counted > math.MaxUint32-n {
		h.carry()
	}
	h.counted += n
}

func (h *Histogram) carry() {
	if h.carried == nil {
		h.carried = &carried{}
	}
	carryChunks(&h.carried.pos, &h.pos)
	carryChunks(&h.carried.neg, &h.neg)
	h.counted = 0
}

func carryChunks(to *[maxChunks][]int64, from *[maxChunks][]uint32) {
	for chunk, c := range from {
		if c == nil {
			continue
		}
		if to[chunk] == nil {
			to[chunk] = make([]int64, len(c))
		}
		for i, n := range c {
			to[chunk][i] += int64(n)
		}
		clear(c)
	}
}

// count returns how many values are in a bucket.
func (h *Histogram) count(negative bool, chunk, index int) int64 {
	side := &h.pos
	if negative {
		side = &h.neg
	}
	n := int64(side[chunk][index])
	if h.carried == nil {
		return n
	}
	before := &h.carried.pos
	if negative {
		before = &h.carried.neg
	}
	if c := before[chunk]; c != nil {
		n += c[index]
	}
	return n
}

// N returns the number of values.
func (h *Histogram) N() int64 { return h.n }

// Bucket is a range of values that a histogram does not tell apart.
type Bucket struct {
	Low, High int64 // smallest and largest value, inclusive
	Count     int64
	Below     int64 // values in lower buckets
}

// Buckets yields the non-empty buckets in ascending order.
func (h *Histogram) Buckets(yield func(Bucket) bool) {
	var below int64
	emit := func(lo, hi, n int64) bool {
		b := Bucket{Low: lo, High: hi, Count: n, Below: below}
		below += n
		return yield(b)
	}
	for chunk := maxChunks - 1; chunk >= 0; chunk-- {
		for i := len(h.neg[chunk]) - 1; i >= 0; i-- {
			n := h.count(true, chunk, i)
			if n == 0 {
				continue
			}
			lo, hi := h.edges(chunk, i)
			if !emit(int64(^hi), int64(^lo), n) {
				return
			}
		}
	}
	for chunk, c := range h.pos {
		for i := range c {
			n := h.count(false, chunk, i)
			if n == 0 {
				continue
			}
			lo, hi := h.edges(chunk, i)
			if !emit(int64(lo), int64(hi), n) {
				return
			}
		}
	}
}

// AtRank returns the bucket that holds the value of a rank counted from 1.
// ok is false when there is no such rank.
func (h *Histogram) AtRank(rank int64) (b Bucket, ok bool) {
	if rank < 1 || rank > h.n {
		return Bucket{}, false
	}
	for b = range h.Buckets {
		if rank <= b.Below+b.Count {
			return b, true
		}
	}
	return Bucket{}, false
}

// AddDifferences counts to[i] − from[i] for all i. It is Add for columns.
func (h *Histogram) AddDifferences(to, from []int64) {
	from = from[:len(to)]
	h.reserve(int64(len(to)))
	h.n += int64(len(to))
	precision := uint(h.precision) & 31
	one := uint64(1) << precision
	for i, t := range to {
		v := t - from[i]
		u := uint64(v)
		// As place has it: below 2^precision the shift is 0 and so is the chunk.
		shift := uint(bits.Len64(u|one)) - precision - 1
		at := u >> (shift & 63)
		c := h.pos[(shift+uint(at>>precision))&(maxChunks-1)]
		if v < 0 || c == nil {
			h.n--
			h.counted--
			h.AddN(v, 1)
			continue
		}
		c[int(at)&(len(c)-1)]++
	}
}

// Negative returns how many values are below zero.
func (h *Histogram) Negative() (n int64) {
	for chunk, c := range h.neg {
		for i := range c {
			n += h.count(true, chunk, i)
		}
	}
	return n
}
