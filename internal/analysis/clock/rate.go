package clock

import (
	"cmp"
	"slices"

	"amqpperf/format"
)

const (
	// defaultRate is the relative rate of two clocks in ppb that is allowed for
	// without knowledge: 500 ppm, what NTP allows for one clock (RFC 5905) and
	// several times what two crystals differ by.
	defaultRate = 500 * ppm
	// crystal is what a crystal may be off by in ppb before the kernel corrects
	// it; the two hosts' together are added to what the kernels do.
	crystal = 100 * ppm
	// maxRate is the largest rate that is believed: 100 %.
	maxRate = ppb

	nominalTick = 10000 // µs; adjtimex(2)
)

// State is one row about a host's clock, written once a second. Numbers are
// format.Null when not known.
type State struct {
	At         int64 // ns since the Unix epoch, on the clock of the process
	WallOffset int64 // wall − monotonic, ns
	Gap        int64 // bracket of that reading, ns
	MaxError   int64 // adjtimex maxerror, ns
	Freq       int64 // adjtimex freq, 2⁻¹⁶ ppm
	Tick       int64 // adjtimex tick, µs
	Source     string
}

// adjustment returns by how much the kernel makes the clock run faster than
// its crystal, in ppb, from freq and tick; 0 where they are not known.
func (s State) adjustment() int64 {
	var a int64
	if s.Freq != format.Null {
		a = clampRate(s.Freq) * ppm >> 16
	}
	if s.Tick != format.Null && s.Tick > 0 {
		a += (min(s.Tick, 2*nominalTick) - nominalTick) * (ppb / nominalTick)
	}
	return a
}

// clampRate keeps freq where its product with 1000 cannot overflow: ±10⁶ ppm.
func clampRate(freq int64) int64 {
	const most = 1_000_000 << 16
	return min(max(freq, -most), most)
}

func sortStates(states []State) []State {
	s := slices.Clone(states)
	slices.SortFunc(s, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.WallOffset, b.WallOffset), cmp.Compare(a.MaxError, b.MaxError),
			cmp.Compare(a.Freq, b.Freq), cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Gap, b.Gap), cmp.Compare(a.Source, b.Source))
	})
	return s
}

// stretch says that from the instant on the two clocks' relative rate is at
// most rate, in ppb.
type stretch struct {
	from int64
	rate int64
}

// rates is ρ over time: stretches in order; the first also holds before its
// start. Empty means defaultRate everywhere.
type rates []stretch

// newRates computes ρ in the time of the process with states own from the
// adjustments of both kernels: max(500 ppm, |own| + |other| + both crystals). A
// kernel is known once a second only, so each second is given the largest
// adjustment of the rows around it. shift is own − other, roughly.
func newRates(own, other []State, shift int64) rates {
	a, b := adjustments(own, 0), adjustments(other, shift)
	starts := make([]int64, 0, len(a)+len(b))
	for _, s := range append(slices.Clone(a), b...) {
		starts = append(starts, s.from)
	}
	slices.Sort(starts)
	var out rates
	for _, from := range slices.Compact(starts) {
		rate := max(defaultRate, min(a.at(from)+b.at(from)+2*crystal, maxRate))
		if len(out) == 0 || out[len(out)-1].rate != rate {
			out = append(out, stretch{from, rate})
		}
	}
	return out
}

// adjustments returns the absolute adjustments of one kernel over time, moved
// by shift: each stretch between two rows with the largest of the two rows
// before and the two after its start.
func adjustments(states []State, shift int64) rates {
	sorted := sortStates(states)
	var out rates
	for i, s := range sorted {
		var rate int64
		for k := max(i-1, 0); k <= min(i+2, len(sorted)-1); k++ {
			a := sorted[k].adjustment()
			rate = max(rate, a, -a)
		}
		out = append(out, stretch{add(s.At, shift), rate})
	}
	return out
}

// at returns the rate in force at t, that of the first stretch before all, 0
// if there is none.
func (r rates) at(t int64) int64 {
	if len(r) == 0 {
		return 0
	}
	return r[max(r.index(t), 0)].rate
}

// index returns the last stretch that starts at or before t, −1 if none does.
func (r rates) index(t int64) int {
	i, found := slices.BinarySearchFunc(r, t, func(s stretch, t int64) int { return cmp.Compare(s.from, t) })
	if found {
		return i
	}
	return i - 1
}

// largest returns the largest rate of [from, to].
func (r rates) largest(from, to int64) int64 {
	if len(r) == 0 {
		return defaultRate
	}
	var most int64
	for i := max(r.index(from), 0); i < len(r) && (r[i].from <= to || i == 0); i++ {
		most = max(most, r[i].rate)
	}
	return most
}

// drift returns by how much the relative offset can move between a and b ≥ a.
func (r rates) drift(a, b int64) int64 {
	if len(r) == 0 {
		return drift(defaultRate, span(b, a))
	}
	var sum int64
	for i := max(r.index(a), 0); a < b; i++ {
		end := b
		if i+1 < len(r) {
			end = min(end, r[i+1].from)
		}
		sum = min(sum+drift(r[i].rate, span(end, a)), far)
		a = end
	}
	return sum
}
