package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Selector is pass 2: it sees the same rows as the Distribution it was made
// from, keeps the values of the buckets that hold the wanted ranks, and counts
// exceedances per bin of intended time.
//
// Memory: four bytes a bin for the rows and for each percentile, and sixteen
// bytes for each distinct (value, bin) pair inside a wanted bucket, which is at
// most 1/1024 of its values wide.
type Selector struct {
	dist     *Distribution
	counts   []uint32 // rows per bin
	wanted   []wanted // ascending by bucket
	seen     int64
	infinite int64
	classes  classes
}

// wanted is one rank whose value pass 2 looks for.
type wanted struct {
	p        Percentile
	place    int   // index in the caller's list
	rank     int64 // among the finite values, from 1; 0 when there is none
	infinite bool  // the rank among all values is one of the infinite ones
	bucket   Bucket
	cells    []cell
	limit    int      // cells to hold before equal ones are added up
	exceed   []uint32 // per bin, values above the bucket
	// twin is the place in wanted of another rank in the same bucket that holds
	// the cells of both; itself if there is none.
	twin int
	// dense counts the values of a narrow bucket by bin and value instead of
	// cells: many equal values would be sorted again and again.
	dense []uint32
}

// cell counts rows of one value in one bin.
type cell struct {
	v   int64
	bin uint32
	n   uint32
}

const firstCompaction = 1 << 14

// mostDense bounds the counts of a dense bucket: 2 MiB.
const mostDense = 1 << 19

// width is how many values the bucket can hold.
func (w *wanted) width() int64 { return w.bucket.High - w.bucket.Low + 1 }

// NewSelector prepares pass 2 for percentiles over a number of bins. The
// distribution must not change any more.
func (d *Distribution) NewSelector(ps []Percentile, bins int) *Selector {
	bins = max(bins, 1)
	s := &Selector{dist: d, counts: make([]uint32, bins)}
	for i, p := range ps {
		w := wanted{p: p, place: i, rank: p.Rank(d.N()), limit: firstCompaction, exceed: make([]uint32, bins)}
		if w.rank > d.Finite() {
			w.infinite, w.rank = true, p.Rank(d.Finite())
		}
		w.bucket, _ = d.bounds(w.rank)
		s.wanted = append(s.wanted, w)
	}
	slices.SortStableFunc(s.wanted, func(a, b wanted) int { return cmp.Compare(a.bucket.Low, b.bucket.Low) })
	for i := range s.wanted {
		w := &s.wanted[i]
		w.twin = i
		if i > 0 && s.wanted[i-1].bucket == w.bucket {
			w.twin, w.exceed = s.wanted[i-1].twin, s.wanted[i-1].exceed // the same counts
		} else if n := w.width(); n > 1 && n <= int64(mostDense/bins) {
			w.dense = make([]uint32, int(n)*bins)
		}
	}
	s.classes = s.classify()
	return s
}

// Add takes in a finite value of a row in a bin (Axis.Bin of its intended
// instant).
func (s *Selector) Add(bin int, v int64) {
	s.seen++
	s.counts[bin]++
	for i := range s.wanted {
		w := &s.wanted[i]
		if v < w.bucket.Low {
			return // the buckets of the others are not lower
		}
		if w.twin != i {
			continue
		}
		if v > w.bucket.High {
			w.exceed[bin]++
			continue
		}
		if w.dense != nil {
			w.dense[int64(bin)*w.width()+v-w.bucket.Low]++
			continue
		}
		if w.bucket.Low == w.bucket.High {
			continue // all is known
		}
		if len(w.cells) == w.limit {
			w.compact()
		}
		w.cells = append(w.cells, cell{v: v, bin: uint32(bin), n: 1})
	}
}

// AddInfinite takes in an infinite value of a row in a bin. It exceeds every
// finite quantile.
func (s *Selector) AddInfinite(bin int) {
	s.infinite++
	s.counts[bin]++
	for i := range s.wanted {
		if s.wanted[i].twin == i {
			s.wanted[i].exceed[bin]++
		}
	}
}

// Merge takes in all rows of o, a Selector of the same distribution, percentiles
// and bins.
func (s *Selector) Merge(o *Selector) error {
	if s.dist != o.dist || len(s.counts) != len(o.counts) || len(s.wanted) != len(o.wanted) {
		return fmt.Errorf("second passes over different data cannot be merged")
	}
	s.seen += o.seen
	s.infinite += o.infinite
	for i, n := range o.counts {
		s.counts[i] += n
	}
	for i := range s.wanted {
		w, from := &s.wanted[i], &o.wanted[i]
		if w.p.Compare(from.p) != 0 {
			return fmt.Errorf("second passes for percentiles %s and %s cannot be merged", w.p, from.p)
		}
		if w.twin != i {
			continue
		}
		for j, n := range from.exceed {
			w.exceed[j] += n
		}
		for j, n := range from.dense {
			w.dense[j] += n
		}
		w.cells = append(w.cells, from.cells...)
		if len(w.cells) >= w.limit {
			w.compact()
		}
	}
	return nil
}

// compact sorts the cells by value and bin and adds up equal ones; what cannot
// be made smaller gets twice the room.
func (w *wanted) compact() {
	slices.SortFunc(w.cells, func(a, b cell) int {
		if a.v != b.v {
			return cmp.Compare(a.v, b.v)
		}
		return int(a.bin) - int(b.bin)
	})
	kept := w.cells[:0]
	for _, c := range w.cells {
		if k := len(kept) - 1; k >= 0 && kept[k].v == c.v && kept[k].bin == c.bin && kept[k].n <= ^uint32(0)-c.n {
			kept[k].n += c.n
			continue
		}
		kept = append(kept, c)
	}
	w.cells = kept
	for len(w.cells) > w.limit/2 {
		w.limit *= 2
	}
}

// sparse turns dense counts into cells, in the order of compact.
func (w *wanted) sparse() {
	if w.dense == nil {
		return
	}
	width := int(w.width())
	for v := range width {
		for bin := 0; bin*width < len(w.dense); bin++ {
			if n := w.dense[bin*width+v]; n > 0 {
				w.cells = append(w.cells, cell{v: w.bucket.Low + int64(v), bin: uint32(bin), n: n})
			}
		}
	}
	w.dense = nil
}

// valueAt returns the value of a finite rank that lies in the bucket.
func (w *wanted) valueAt(rank int64) int64 {
	at := w.bucket.Below
	for _, c := range w.cells {
		if at += int64(c.n); at >= rank {
			return c.v
		}
	}
	return w.bucket.High // not reached when both passes saw the same rows
}
