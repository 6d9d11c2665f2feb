package reduce

import (
	"slices"
	"strings"
	"time"

	"amqpperf/internal/analysis/stats"
)

// Arrivals compares the arrival process that was intended with the one that
// the generator made of it (ready: waiting for window or credit is another
// matter and does not blur it), over the selected messages.
type Arrivals struct {
	Windows []Dispersion
	// GapTest is the Anderson–Darling statistic of the gaps between ready
	// instants against exponential ones; 0 where the schedule is not Poisson, or
	// there are more than 2¹⁹ messages.
	GapTest float64
	Gaps    int
}

// Dispersion is the index of dispersion of counts in windows of one length.
type Dispersion struct {
	Window          int64 // ns
	N               int
	Intended, Ready float64
}

const (
	// maxWindows bounds the memory of the counts: 4 MiB.
	maxWindows = 1 << 19
	// leastWindows: the sampling error of a variance over 200 windows is a tenth.
	leastWindows = 200
)

type arrivalPass struct {
	start, width    int64
	intended, ready []int32
	gaps            []int64 // ready instants of a Poisson schedule
	poisson         bool
}

func newArrivalPass(d *Data) *arrivalPass {
	p := &arrivalPass{start: d.Window.First, width: int64(time.Millisecond)}
	span := d.Window.Last - d.Window.First
	for span/p.width >= maxWindows {
		p.width *= 10
	}
	n := int(span / p.width) // whole windows only
	p.intended, p.ready = make([]int32, n), make([]int32, n)
	p.poisson = strings.HasPrefix(d.Arrival, "poisson") && d.Window.N <= rowsInOrder
	return p
}

func (p *arrivalPass) add(v *view, i int) {
	if !has(v.Ready[i]) {
		return
	}
	p.count(p.intended, v.Intended[i])
	p.count(p.ready, v.Ready[i])
	if p.poisson {
		p.gaps = append(p.gaps, v.Ready[i])
	}
}

// whole takes in a plain chunk.
func (p *arrivalPass) whole(v *view, c chunk) {
	p.countAll(p.intended, v.Intended[c.from:c.to])
	p.countAll(p.ready, v.Ready[c.from:c.to])
	if p.poisson {
		p.gaps = append(p.gaps, v.Ready[c.from:c.to]...)
	}
}

// countAll counts a column; neighbours are often in one window.
func (p *arrivalPass) countAll(counts []int32, column []int64) {
	w, lo, hi := int64(0), int64(0), int64(-1)
	for _, at := range column {
		if at < lo || at > hi {
			if at < p.start || (at-p.start)/p.width >= int64(len(counts)) {
				continue
			}
			w = (at - p.start) / p.width
			lo = p.start + w*p.width
			hi = lo + p.width - 1
		}
		counts[w]++
	}
}

func (p *arrivalPass) count(counts []int32, at int64) {
	if w := (at - p.start) / p.width; at >= p.start && w < int64(len(counts)) {
		counts[w]++
	}
}

// withoutHiccups cuts the fullest thousandth of the windows down: what a
// generator catches up after one hiccup is in a window or two, and would rule
// the variance of all. That it stood still is check C3's matter.
func withoutHiccups(counts []int64) []int64 {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	most := sorted[(len(sorted)*999+999)/1000-1]
	for i := range counts {
		counts[i] = min(counts[i], most)
	}
	return counts
}

func (p *arrivalPass) finish(d *Data) {
	widen := func(counts []int32) []int64 {
		out := make([]int64, len(counts))
		for i, c := range counts {
			out[i] = int64(c)
		}
		return out
	}
	intended, ready := widen(p.intended), widen(p.ready)
	for w := int64(time.Millisecond); w <= int64(time.Second); w *= 10 {
		if w < p.width {
			continue
		}
		k := int(w / p.width)
		a, b := stats.Fold(intended, k), stats.Fold(ready, k)
		if len(a) < leastWindows {
			break
		}
		a, b = withoutHiccups(a), withoutHiccups(b)
		d.Arrivals.Windows = append(d.Arrivals.Windows, Dispersion{Window: w, N: len(a), Intended: stats.Dispersion(a), Ready: stats.Dispersion(b)})
	}
	if p.poisson {
		slices.Sort(p.gaps)
		gaps := stats.Gaps(p.gaps)
		if a := stats.AndersonDarling(gaps); a == a {
			d.Arrivals.GapTest, d.Arrivals.Gaps = a, len(gaps)
		}
	}
}
