package hdr

import (
	"cmp"
	"fmt"
	"slices"

	"amqpperf/internal/analysis/stats"
)

// Histogram holds counts of values in the buckets of a Shape, as a sorted list
// of those that are not empty. It is not safe for concurrent use.
//
// It is not one of the library's types: a dense one takes 264 KiB, too much for
// one in each interval of each series, and the packed one searches and shifts
// its buckets at every value, which costs some 200 ns.
type Histogram struct {
	shape   Shape
	geo     geometry
	buckets []bucket // ascending, without repetition
	loose   []bucket // in no order, not yet in buckets
	n       int64
}

type bucket struct {
	low   int64 // smallest value of the bucket
	count int64
}

// NewHistogram returns an empty histogram.
func NewHistogram(s Shape) *Histogram {
	return &Histogram{shape: s, geo: newGeometry(s.Lowest, s.Digits)}
}

// scratch counts values in all buckets of a shape before they are added to a
// histogram: an array for speed, shared by many histograms.
type scratch struct {
	geo     geometry
	counts  []uint32
	touched []int
	fresh   []bucket
}

func newScratch(s Shape) *scratch {
	g := newGeometry(s.Lowest, s.Digits)
	return &scratch{geo: g, counts: make([]uint32, g.index(s.Highest)+1)}
}

// record counts a value of 0 to the shape's highest.
func (s *scratch) record(v int64) {
	i := s.geo.index(v)
	if s.counts[i] == 0 {
		s.touched = append(s.touched, i)
	}
	s.counts[i]++
}

// moveTo adds what was counted to a histogram of the same shape, and forgets it.
func (s *scratch) moveTo(h *Histogram) {
	slices.Sort(s.touched)
	s.fresh = s.fresh[:0]
	for _, i := range s.touched {
		s.fresh = append(s.fresh, bucket{s.geo.value(i), int64(s.counts[i])})
		h.n += int64(s.counts[i])
		s.counts[i] = 0
	}
	s.touched = s.touched[:0]
	h.addSorted(s.fresh)
}

// mergeBuckets adds sorted buckets of the same geometry; it uses the slice.
func (h *Histogram) mergeBuckets(fresh []bucket) {
	if len(h.buckets) == 0 {
		h.buckets = append(h.buckets, fresh...)
		return
	}
	known := 0
	for i, j := 0, 0; i < len(h.buckets) && j < len(fresh); {
		switch c := cmp.Compare(h.buckets[i].low, fresh[j].low); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			known++
			i, j = i+1, j+1
		}
	}
	i, j := len(h.buckets)-1, len(fresh)-1
	h.buckets = slices.Grow(h.buckets, len(fresh)-known)[:len(h.buckets)+len(fresh)-known]
	for out := len(h.buckets) - 1; j >= 0; out-- { // from the end, in place
		switch {
		case i < 0 || h.buckets[i].low < fresh[j].low:
			h.buckets[out] = fresh[j]
			j--
		case h.buckets[i].low > fresh[j].low:
			h.buckets[out] = h.buckets[i]
			i--
		default:
			h.buckets[out] = bucket{fresh[j].low, h.buckets[i].count + fresh[j].count}
			i, j = i-1, j-1
		}
	}
}

// addSorted adds sorted buckets of the same geometry; it uses the slice. Few that
// come to many are added one by one, and those that are new wait until there are
// more of them: a merge touches every bucket.
func (h *Histogram) addSorted(fresh []bucket) {
	if len(fresh)*8 > len(h.buckets) {
		h.mergeBuckets(fresh)
		return
	}
	for _, b := range fresh {
		at, ok := slices.BinarySearchFunc(h.buckets, b.low, func(have bucket, low int64) int { return cmp.Compare(have.low, low) })
		if ok {
			h.buckets[at].count += b.count
		} else {
			h.loose = append(h.loose, b)
		}
	}
	if len(h.loose) > max(256, len(h.buckets)/4) {
		h.settle()
	}
}

// settle sorts the loose buckets in. Every reading method calls it first.
func (h *Histogram) settle() {
	if len(h.loose) == 0 {
		return
	}
	slices.SortFunc(h.loose, func(a, b bucket) int { return cmp.Compare(a.low, b.low) })
	fresh := h.loose[:0]
	for _, b := range h.loose {
		if k := len(fresh) - 1; k >= 0 && fresh[k].low == b.low {
			fresh[k].count += b.count
			continue
		}
		fresh = append(fresh, b)
	}
	h.mergeBuckets(fresh)
	h.loose = h.loose[:0]
}

// Merge adds the counts of o. Buckets of another geometry are added at their
// smallest value, as the Java version does; a count above the highest value is
// an error and nothing is added.
func (h *Histogram) Merge(o *Histogram) error {
	o.settle()
	h.settle()
	if len(o.buckets) == 0 {
		return nil
	}
	if top := o.buckets[len(o.buckets)-1].low; top > h.geo.high(h.shape.Highest) {
		return fmt.Errorf("value %d is above the highest of the histogram, %d", top, h.shape.Highest)
	}
	if h.n+o.n < h.n {
		return fmt.Errorf("more than 2^63 values")
	}
	h.n += o.n
	if h.geo == o.geo {
		h.mergeBuckets(slices.Clone(o.buckets))
		return nil
	}
	var moved []bucket
	for _, b := range o.buckets {
		low := h.geo.low(b.low)
		if k := len(moved) - 1; k >= 0 && moved[k].low == low {
			moved[k].count += b.count
			continue
		}
		moved = append(moved, bucket{low, b.count})
	}
	h.mergeBuckets(moved)
	return nil
}

// N returns the number of values.
func (h *Histogram) N() int64 { return h.n }

// Shape returns the geometry.
func (h *Histogram) Shape() Shape { return h.shape }

// Max returns the upper edge of the highest bucket, ns; 0 when there is none.
func (h *Histogram) Max() int64 {
	h.settle()
	if len(h.buckets) == 0 {
		return 0
	}
	return h.geo.high(h.buckets[len(h.buckets)-1].low)
}

// Quantile returns the upper edge of the bucket that holds rank ⌈p·n⌉, ns. ok is
// false when there are no values.
func (h *Histogram) Quantile(p stats.Percentile) (v int64, ok bool) {
	h.settle()
	rank := p.Rank(h.n)
	for _, b := range h.buckets {
		if rank -= b.count; rank <= 0 {
			return h.geo.high(b.low), true
		}
	}
	return 0, false
}

// Buckets yields lower edge, upper edge and count of the buckets that are not
// empty, ascending.
func (h *Histogram) Buckets(yield func(b stats.Bucket) bool) {
	h.settle()
	var below int64
	for _, b := range h.buckets {
		if !yield(stats.Bucket{Low: b.low, High: h.geo.high(b.low), Count: b.count, Below: below}) {
			return
		}
		below += b.count
	}
}
