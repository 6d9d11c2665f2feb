package clock

import (
	"slices"
	"sort"
)

const (
	windowLength = 10_000_000_000 // ns; method: long against queues, short against temperature
	leastBisect  = 4              // limits below which a window is not cut any further
)

// Window is ten seconds of one fit, with the line through all its exchanges.
type Window struct {
	Start, End int64   // ns since the Unix epoch, in the time of the process
	Limits     int     // inequalities, two per exchange
	Offset     int64   // of the line at Start, ns
	Slope      float64 // of the line, ns per ns
	Margin     float64 // distance of the line to both sides together, ns; below 0 no line fits
}

// Infeasible reports whether no line satisfies all exchanges of the window: a
// step, or drift that is far from linear.
func (w Window) Infeasible() bool { return w.Limits > 0 && w.Margin < 0 }

// At returns the line's offset at t, in ns.
func (w Window) At(t int64) int64 { return add(w.Offset, int64(w.Slope*float64(t-w.Start))) }

// knot is an instant at which the envelope is exact. Up to the next one the
// estimate is linear and the rate at most rho.
type knot struct {
	t           int64
	up, low     int64   // envelope
	est         int64   // estimate
	slope       float64 // of the estimate up to the next knot
	rho         int64   // ppb up to the next knot
	step        bool    // the clock was stepped before the next knot
	upOK, lowOK bool    // whether a limit of that side is known
}

// fit is the offset between two processes over time, and its envelope. It is
// immutable and safe for concurrent use.
type fit struct {
	knots   []knot
	rho     rates
	windows []Window
	steps   []Step
	maxRho  int64
	median  int64   // of the bound over the exchanges
	index   []int32 // knot in force at the start of each bucket
	shift   uint    // a bucket has 2^shift ns
}

// Step is a step of one clock against the other.
type Step struct {
	From, To int64 // the step happened between these instants, ns since the Unix epoch
	Size     int64 // change of the estimate, ns
}

// newFit fits limits, in any order, nil without any.
func newFit(limits []limit, rho rates) *fit {
	if len(limits) == 0 {
		return nil
	}
	limits = order(slices.Clone(limits), rho)
	first, last := limits[0].at, limits[len(limits)-1].at
	f := &fit{rho: rho, maxRho: rho.largest(first, last)}
	parts := split(limits)
	for _, p := range parts {
		f.envelope(limits[p.first : p.last+1])
	}
	f.estimate(limits, parts)
	f.link()
	f.buildIndex()
	f.median = f.typical()
	return f
}

// envelope appends the knots of one part: its instants, and those at which the
// rate changes between them.
func (f *fit) envelope(limits []limit) {
	begin := len(f.knots)
	if begin > 0 {
		f.knots[begin-1].step = true
	}
	for i, l := range limits {
		if i > 0 && l.at == limits[i-1].at {
			f.knots[len(f.knots)-1].take(l)
			continue
		}
		if i > 0 {
			f.rateChanges(limits[i-1].at, l.at)
		}
		k := f.newKnot(l.at)
		k.take(l)
		f.knots = append(f.knots, k)
	}
	part := f.knots[begin:]
	for i := 1; i < len(part); i++ {
		part[i].spread(part[i-1], drift(part[i-1].rho, part[i].t-part[i-1].t))
	}
	for i := len(part) - 2; i >= 0; i-- {
		part[i].spread(part[i+1], drift(part[i].rho, part[i+1].t-part[i].t))
	}
}

func (f *fit) newKnot(t int64) knot {
	return knot{t: t, up: far, low: -far, rho: f.rho.largest(t, t)}
}

func (f *fit) rateChanges(from, to int64) {
	for i := max(f.rho.index(from), 0); i < len(f.rho) && f.rho[i].from < to; i++ {
		if f.rho[i].from > from {
			f.knots = append(f.knots, f.newKnot(f.rho[i].from))
		}
	}
}

func (k *knot) take(l limit) {
	if l.upper {
		k.up, k.upOK = min(k.up, l.v), true
	} else {
		k.low, k.lowOK = max(k.low, l.v), true
	}
}

// spread narrows k to what a neighbour allows, d being the drift between both.
func (k *knot) spread(n knot, d int64) {
	if n.upOK {
		k.up, k.upOK = min(k.up, clamp(n.up+d)), true
	}
	if n.lowOK {
		k.low, k.lowOK = max(k.low, clamp(n.low-d)), true
	}
}

// link makes the estimate continuous: linear from knot to knot.
func (f *fit) link() {
	for i := range f.knots {
		k := &f.knots[i]
		if i+1 == len(f.knots) {
			break
		}
		n := f.knots[i+1]
		if k.step {
			k.rho = f.rho.largest(k.t, n.t)
			f.steps = append(f.steps, Step{From: k.t, To: n.t, Size: clamp(n.est - k.est)})
			continue
		}
		if n.t > k.t {
			k.slope = float64(n.est-k.est) / float64(n.t-k.t)
		}
	}
}

// at returns the offset at t and by how much it can be wrong. Beyond the first
// and the last exchange the bound grows at the largest rate.
func (f *fit) at(t int64) (offset, bound int64, ok bool) {
	i := f.find(t)
	var est, up, low int64
	switch {
	case i < 0:
		k := f.knots[0]
		d := f.rho.drift(t, k.t)
		est, up, low = f.beyond(k, t, f.windows[0].Slope), k.up+d, k.low-d
	case i == len(f.knots)-1:
		k := f.knots[i]
		d := f.rho.drift(k.t, t)
		est, up, low = f.beyond(k, t, f.windows[len(f.windows)-1].Slope), k.up+d, k.low-d
	default:
		k, n := &f.knots[i], &f.knots[i+1]
		before, after := drift(k.rho, t-k.t), drift(k.rho, n.t-t)
		if k.step {
			up, low = max(k.up+before, n.up+after), min(k.low-before, n.low-after)
			est = midpoint(clamp(up), clamp(low))
			break
		}
		up, low = min(k.up+before, n.up+after), max(k.low-before, n.low-after)
		est = k.est + int64(k.slope*float64(t-k.t))
	}
	up, low = clamp(up), clamp(low)
	// The line of a window knows its own exchanges; those of the neighbours may
	// say more. Within the envelope an estimate is never worse.
	est = max(min(est, up), min(low, up))
	bound = max(up-est, est-low, 0)
	return est, add(bound, readCost), bound < far/2
}

// beyond continues the line of the nearest window.
func (f *fit) beyond(k knot, t int64, slope float64) int64 {
	d, ok := diff(t, k.t)
	if !ok {
		return k.est
	}
	return clamp(k.est + int64(slope*float64(d)))
}

// find returns the last knot at or before t, −1 if t is before all.
func (f *fit) find(t int64) int {
	last := len(f.knots) - 1
	if t < f.knots[0].t {
		return -1
	}
	if t >= f.knots[last].t {
		return last
	}
	bucket := uint64(t-f.knots[0].t) >> f.shift
	lo, hi := int(f.index[bucket]), last
	if bucket+1 < uint64(len(f.index)) {
		hi = int(f.index[bucket+1])
	}
	if hi-lo > 8 {
		return lo + sort.Search(hi-lo, func(i int) bool { return f.knots[lo+i+1].t > t })
	}
	for lo < hi && f.knots[lo+1].t <= t {
		lo++
	}
	return lo
}

// buildIndex divides the time of the fit into about as many buckets as there
// are knots, so that At costs the same for any length of run.
func (f *fit) buildIndex() {
	first, last := f.knots[0].t, f.knots[len(f.knots)-1].t
	length := uint64(last - first)
	for length>>f.shift > 2*uint64(len(f.knots)) {
		f.shift++
	}
	f.index = make([]int32, length>>f.shift+1)
	k := 0
	for i := range f.index {
		start := first + int64(uint64(i)<<f.shift)
		for k+1 < len(f.knots) && f.knots[k+1].t <= start {
			k++
		}
		f.index[i] = int32(k)
	}
}

// typical returns the median of the bound over the exchanges.
func (f *fit) typical() int64 {
	bounds := make([]int64, 0, len(f.knots))
	for _, k := range f.knots {
		_, b, _ := f.at(k.t)
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	return bounds[len(bounds)/2]
}
