package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// MaxSelectorBins is the most bins of intended time that a Selector works on.
const MaxSelectorBins = 1 << 16

// Selector is pass 2: it sees the same rows as the Distribution it was made
// from, keeps the values of the buckets that hold the wanted ranks, and counts
// exceedances per bin of intended time.
//
// Memory: four bytes a bin for the rows and for each percentile; for each wanted
// rank eight bytes for each row in its fine bucket, which is at most 1/16384 of
// its values wide, or four bytes for each value and bin; and four bytes for each
// value of its bucket, 1/1024 wide, or eight for each row in it: what is less.
type Selector struct {
	dist   *Distribution
	wanted []wanted // in the order of the caller
	spots  []spot   // ascending
	zones  []zone   // ascending
	shift  uint     // bits of a bin's number

	// counts has stride numbers for each bin: how many of its rows are above so
	// many of the spots.
	counts []uint32
	stride int

	segments []segment
	pos, neg [maxChunks][]uint16 // fine buckets → segments
	// coarse has of each bucket of DefaultPrecision above zero, of which no row is
	// kept, how many spots are below it; noted for all others. It fits a cache.
	coarse   [maxChunks]*[1 << DefaultPrecision]uint16
	lookedUp [packedRows]int64 // values, while rows are added

	seen, infinite int64
}

// wanted is one rank whose value pass 2 looks for.
type wanted struct {
	p        Percentile
	rank     int64 // among the finite values, from 1; 0 when there is none
	infinite bool  // the rank among all values is one of the infinite ones
	spot     int   // place in spots, −1 without finite values
	zone     int   // place in zones
}

// spot is the fine bucket of one wanted rank or several. Its rows are kept, to
// count those above the exact quantile by bin.
type spot struct {
	bucket Bucket   // cut at the extremes
	rows   []uint64 // value, less the lowest, and bin
	counts []uint32 // by value, from the lowest, and bin, in place of rows where that is less
}

// zone is a bucket as a Histogram of DefaultPrecision has it, around one wanted
// rank or several. Its values are kept, for the quantile and for the limits of its
// interval, which are often close.
type zone struct {
	bucket Bucket   // cut at the extremes
	counts []uint32 // by value, from the lowest
	values []int64  // the rows' values in place of counts, where that is less
}

// segment is what a row is counted for whose value is in a fine bucket. The
// first one is of buckets without a value in pass 1.
type segment struct {
	above      uint32 // spots below it
	spot, zone int16  // place of what keeps it, −1 for none
	kept       bool
}

// NewSelector prepares pass 2 for percentiles over a number of bins, at most
// MaxSelectorBins. The distribution must not change any more.
func (d *Distribution) NewSelector(ps []Percentile, bins int) *Selector {
	bins = min(max(bins, 1), MaxSelectorBins)
	s := &Selector{dist: d}
	for 1<<s.shift < bins {
		s.shift++
	}
	coarse := d.Histogram()
	for _, p := range ps {
		w := wanted{p: p, rank: p.Rank(d.N()), spot: -1, zone: -1}
		if w.rank > d.Finite() {
			w.infinite, w.rank = true, p.Rank(d.Finite())
		}
		if fine, ok := d.fine.AtRank(w.rank); ok {
			s.spots = append(s.spots, spot{bucket: d.cut(fine)})
			bucket, _ := coarse.AtRank(w.rank)
			s.zones = append(s.zones, zone{bucket: d.cut(bucket)})
		}
		s.wanted = append(s.wanted, w)
	}
	slices.SortFunc(s.spots, func(a, b spot) int { return cmp.Compare(a.bucket.Low, b.bucket.Low) })
	slices.SortFunc(s.zones, func(a, b zone) int { return cmp.Compare(a.bucket.Low, b.bucket.Low) })
	s.spots = slices.CompactFunc(s.spots, func(a, b spot) bool { return a.bucket == b.bucket })
	s.zones = slices.CompactFunc(s.zones, func(a, b zone) bool { return a.bucket == b.bucket })
	for i := range s.wanted {
		w := &s.wanted[i]
		w.spot = slices.IndexFunc(s.spots, func(o spot) bool { return o.bucket.holds(w.rank) })
		w.zone = slices.IndexFunc(s.zones, func(o zone) bool { return o.bucket.holds(w.rank) })
	}
	s.stride = len(s.spots) + 1
	s.counts = make([]uint32, bins*s.stride)
	for i := range s.zones {
		s.zones[i].prepare()
	}
	for i := range s.spots {
		s.spots[i].prepare(bins)
	}
	s.classify()
	return s
}

const (
	// noted stands for a coarse bucket whose rows are looked up by their fine ones;
	// its highest bit says so.
	noted = math.MaxUint16
	// untold is noted, too: no value of pass 1 is in the bucket.
	untold = noted - 8
)

// holds reports whether the value of a rank lies in the bucket.
func (b Bucket) holds(rank int64) bool { return rank > b.Below && rank <= b.Below+b.Count }

// cut narrows a bucket of finite values at the extremes.
func (d *Distribution) cut(b Bucket) Bucket {
	b.Low, b.High = max(b.Low, d.Min()), min(b.High, d.Max())
	return b
}

// single reports that all values of a bucket are equal.
func (b Bucket) single() bool { return b.Low == b.High }

// width is how many values a bucket of finite values can hold.
func (b Bucket) width() uint64 { return uint64(b.High) - uint64(b.Low) + 1 }

func (p *spot) prepare(bins int) {
	switch width := p.bucket.width(); {
	case p.bucket.single():
	case width <= 2*uint64(p.bucket.Count)/uint64(bins):
		p.counts = make([]uint32, int(width)*bins)
	default:
		p.rows = make([]uint64, 0, p.bucket.Count)
	}
}

func (z *zone) prepare() {
	switch width := z.bucket.width(); {
	case z.bucket.single():
	case width <= 1<<DefaultPrecision || width/2 <= uint64(z.bucket.Count):
		z.counts = make([]uint32, width)
	default:
		z.values = make([]int64, 0, z.bucket.Count)
	}
}

// classify makes the table that says of every fine bucket where it lies among
// the spots and the zones.
func (s *Selector) classify() {
	s.segments = []segment{{spot: -1, zone: -1, kept: true}}
	spots, zones := 0, 0
	for b := range s.dist.fine.Buckets {
		for spots < len(s.spots) && s.spots[spots].bucket.Below < b.Below {
			spots++
		}
		for zones < len(s.zones) && s.zones[zones].bucket.Below+s.zones[zones].bucket.Count <= b.Below {
			zones++
		}
		g := segment{above: uint32(spots), spot: -1, zone: -1}
		if spots < len(s.spots) && s.spots[spots].bucket.Below == b.Below && !s.spots[spots].bucket.single() {
			g.spot = int16(spots)
		}
		if zones < len(s.zones) && s.zones[zones].bucket.Below <= b.Below && !s.zones[zones].bucket.single() {
			g.zone = int16(zones)
		}
		g.kept = g.spot >= 0 || g.zone >= 0
		if last := len(s.segments) - 1; last == 0 || s.segments[last] != g {
			s.segments = append(s.segments, g)
		}
		side, u := &s.pos, uint64(b.Low)
		if b.Low < 0 {
			side, u = &s.neg, ^uint64(b.Low)
		}
		chunk, index := s.dist.fine.place(u)
		if side[chunk] == nil {
			side[chunk] = make([]uint16, 1<<finePrecision)
		}
		side[chunk][index] = uint16(len(s.segments) - 1)
		if b.Low >= 0 {
			s.note(uint64(b.Low), g)
		}
	}
	others := new([1 << DefaultPrecision]uint16)
	for i := range others {
		others[i] = noted
	}
	for chunk, c := range s.coarse {
		if c == nil {
			s.coarse[chunk] = others
		}
	}
}

// note makes out of the segment of a fine bucket what is to be said of its coarse one.
func (s *Selector) note(u uint64, g segment) {
	chunk, index := s.dist.Histogram().place(u)
	if s.coarse[chunk] == nil {
		s.coarse[chunk] = new([1 << DefaultPrecision]uint16)
		for i := range s.coarse[chunk] {
			s.coarse[chunk][i] = untold
		}
	}
	code := &s.coarse[chunk][index]
	switch {
	case *code == untold && !g.kept:
		*code = uint16(g.above) // at most as many as percentiles
	case *code != uint16(g.above) || g.kept:
		*code = noted
	}
}

// Add takes in a finite value of a row in a bin (Axis.Bin of its intended
// instant).
func (s *Selector) Add(bin int, v int64) {
	s.AddColumns([]uint32{uint32(bin)}, []int64{v}, []int64{0})
}

// AddInfinite takes in an infinite value of a row in a bin. It exceeds every
// finite quantile.
func (s *Selector) AddInfinite(bin int) {
	s.infinite++
	s.counts[bin*s.stride+s.stride-1]++
}

// keep takes in what a row of a segment is kept for.
func (s *Selector) keep(g *segment, bin uint32, v int64) {
	if g == &s.segments[0] { // not in pass 1
		s.counts[int(bin)*s.stride]--
		s.seen--
		return
	}
	if g.zone >= 0 {
		z := &s.zones[g.zone]
		if z.counts != nil {
			if at := v - z.bucket.Low; uint64(at) < uint64(len(z.counts)) {
				z.counts[at]++
			}
		} else {
			z.values = append(z.values, v)
		}
	}
	if g.spot >= 0 {
		p := &s.spots[g.spot]
		if p.counts == nil {
			p.rows = append(p.rows, uint64(v-p.bucket.Low)<<s.shift|uint64(bin))
		} else if at := int(v-p.bucket.Low)*(len(s.counts)/s.stride) + int(bin); uint(at) < uint(len(p.counts)) {
			p.counts[at]++
		}
	}
}

// checked reports whether pass 2 saw as many rows as pass 1.
func (s *Selector) checked() error {
	if s.seen != s.dist.Finite() || s.infinite != s.dist.Infinite() {
		return fmt.Errorf("second pass saw %d finite and %d infinite values, first pass %d and %d",
			s.seen, s.infinite, s.dist.Finite(), s.dist.Infinite())
	}
	return nil
}

// valueAt returns the value of a rank that lies in the zone.
func (z *zone) valueAt(rank int64) int64 {
	rank -= z.bucket.Below
	if z.values != nil {
		return z.values[rank-1] // sorted
	}
	for i, n := range z.counts {
		if rank -= int64(n); rank <= 0 {
			return z.bucket.Low + int64(i)
		}
	}
	return z.bucket.High
}

// exceeding counts by bin, into exceed, the rows above the value v of a wanted rank.
func (s *Selector) exceeding(w *wanted, v int64, exceed []uint32) {
	for bin := range exceed {
		n := uint32(0)
		for _, k := range s.counts[bin*s.stride+w.spot+1 : (bin+1)*s.stride] {
			n += k
		}
		exceed[bin] = n
	}
	if w.spot < 0 {
		return
	}
	p := &s.spots[w.spot]
	if v == p.bucket.High {
		return
	}
	if p.counts != nil {
		for at := int(v-p.bucket.Low+1) * len(exceed); at < len(p.counts); at += len(exceed) {
			for bin, n := range p.counts[at : at+len(exceed)] {
				exceed[bin] += n
			}
		}
		return
	}
	above := uint64(v-p.bucket.Low+1) << s.shift
	for _, r := range p.rows {
		if r >= above {
			exceed[r&(1<<s.shift-1)]++
		}
	}
}
