package stats

import "math/bits"

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
// Memory is 8·2^precision bytes for each power of two that occurs.
type Histogram struct {
	precision int
	pos, neg  [maxChunks][]int64
	n         int64
}

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
		c = make([]int64, 1<<h.precision)
		side[chunk] = c
	}
	c[index] += n
	h.n += n
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
		c := h.neg[chunk]
		for i := len(c) - 1; i >= 0; i-- {
			if c[i] == 0 {
				continue
			}
			lo, hi := h.edges(chunk, i)
			if !emit(int64(^hi), int64(^lo), c[i]) {
				return
			}
		}
	}
	for chunk, c := range h.pos {
		for i, n := range c {
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
	precision := h.precision
	for i, t := range to {
		v := t - from[i]
		if v < 0 {
			h.AddN(v, 1)
			h.n--
			continue
		}
		u := uint64(v)
		chunk := bits.Len64(u) - precision
		shift := uint(chunk-1) & 63
		if chunk <= 0 {
			chunk, shift = 0, 0
		}
		c := h.pos[chunk&(maxChunks-1)]
		if c == nil {
			c = make([]int64, 1<<precision)
			h.pos[chunk] = c
		}
		c[int(u>>shift)&(len(c)-1)]++
	}
	h.n += int64(len(to))
}

// Negative returns how many values are below zero.
func (h *Histogram) Negative() (n int64) {
	for _, c := range h.neg {
		for _, k := range c {
			n += k
		}
	}
	return n
}
