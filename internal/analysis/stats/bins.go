package stats

import (
	"math"
	"math/bits"
)

// MaxBins is the most bins of intended time that statistics over time work on.
const MaxBins = 1 << 20

// Axis divides a stretch of intended time into equal bins.
type Axis struct {
	Start int64 // ns since the Unix epoch, the left edge of bin 0
	Width int64 // ns per bin, at least 1
	Bins  int   // at least 1
}

// NewAxis returns bins over the instants first to last, both included: the next
// power of two of n rows, at most limit (0: MaxBins) and at most one per
// nanosecond. Instants outside are put into the first or the last bin.
func NewAxis(first, last, n int64, limit int) Axis {
	if limit <= 0 || limit > MaxBins {
		limit = MaxBins
	}
	if last < first {
		last = first
	}
	want := 1 << bits.Len64(uint64(max(n, 1)-1))
	if n > int64(limit) {
		want = limit
	}
	want = min(want, limit)
	span := uint64(last) - uint64(first)         // spans beyond int64 are still right
	width := min(span/uint64(want), 1<<63-2) + 1 // the largest span would wrap to 0
	return Axis{Start: first, Width: int64(width), Bins: int(span/width) + 1}
}

// Bin returns the bin of an instant.
func (a Axis) Bin(at int64) int {
	if at <= a.Start {
		return 0
	}
	b := (uint64(at) - uint64(a.Start)) / uint64(max(a.Width, 1))
	return int(min(b, uint64(max(a.Bins, 1)-1)))
}

// Edges returns the first and the last instant of a bin; the first and the last
// bin reach as far as instants do.
func (a Axis) Edges(bin int) (first, last int64) {
	first, last = math.MinInt64, math.MaxInt64
	if bin > 0 {
		first = a.Start + int64(bin)*a.Width
	}
	if bin < a.Bins-1 {
		last = a.Start + int64(bin+1)*a.Width - 1
	}
	return first, last
}
