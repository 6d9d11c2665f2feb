package clock

import (
	"cmp"
	"slices"
)

// readCost is added to every bound and allowed for in every comparison, in ns:
// two clock reads of about 50 ns each, within which readings of several cores
// may also be out of order.
const readCost = 100

// limit is one inequality about the offset θ at an instant: θ ≤ v if upper,
// else θ ≥ v.
type limit struct {
	at    int64
	upper bool
	v     int64
	r     int64 // drift that is possible between the first limit and this one
}

// measure returns what the exchanges between own and peer say about θ = peer −
// own, in the time of own: own's probes of the peer, and the peer's of own.
func measure(own, peer []Exchange) []limit {
	limits := make([]limit, 0, 2*(len(own)+len(peer)))
	for _, e := range own {
		limits = append(limits, limit{at: e.T1, upper: true, v: e.T2 - e.T1}, limit{at: e.T4, v: e.T3 - e.T4})
	}
	for _, e := range peer {
		limits = append(limits, limit{at: e.T2, v: e.T1 - e.T2}, limit{at: e.T3, upper: true, v: e.T4 - e.T3})
	}
	return limits
}

// order sorts limits in time, keeps only the tightest of equal instants, and
// fills in the drift between them.
func order(limits []limit, rho rates) []limit {
	slices.SortFunc(limits, func(a, b limit) int {
		kind := 0
		if a.upper != b.upper {
			kind = 1
			if b.upper {
				kind = -1
			}
		}
		tight := cmp.Compare(a.v, b.v)
		if !a.upper {
			tight = -tight
		}
		return cmp.Or(cmp.Compare(a.at, b.at), kind, tight)
	})
	limits = slices.CompactFunc(limits, func(a, b limit) bool { return a.at == b.at && a.upper == b.upper })
	for i := 1; i < len(limits); i++ {
		limits[i].r = min(limits[i-1].r+rho.drift(limits[i-1].at, limits[i].at), far)
	}
	return limits
}

// part is a run of limits, first to last inclusive, that one steady pair of
// clocks can satisfy.
type part struct{ first, last int }

// split cuts limits into the fewest parts that are each possible without a
// step. Between two parts lies a step, and the limits there that may be on
// either side of it belong to neither part.
//
// Going forward and cutting at the first contradiction gives the latest place
// where each step can have ended; going backward, the earliest where it can
// have begun. Both give the same, smallest number of parts.
func split(limits []limit) []part {
	if len(limits) == 0 {
		return nil
	}
	starts := forward(limits)
	ends := backward(limits)
	parts := make([]part, 0, len(starts))
	for k, first := range starts {
		last := ends[len(ends)-1-k]
		if last < first {
			// Two steps so close that no limit is surely between them: all that
			// follow the first up to where the second must have happened.
			last = len(limits) - 1
			if k+1 < len(starts) {
				last = starts[k+1] - 1
			}
		}
		parts = append(parts, part{first, last})
	}
	return parts
}

// forward returns where the parts start, each as late as possible.
func forward(limits []limit) []int {
	starts := []int{0}
	u, l := 2*far-1, -2*far+1 // min of v − r over uppers, max of v + r over lowers
	for i, e := range limits {
		if e.upper && e.v+e.r < l-readCost || !e.upper && e.v-e.r > u+readCost {
			starts = append(starts, i)
			u, l = 2*far-1, -2*far+1
		}
		if e.upper {
			u = min(u, e.v-e.r)
		} else {
			l = max(l, e.v+e.r)
		}
	}
	return starts
}

// backward returns where the parts end, from the last to the first, each as
// early as possible.
func backward(limits []limit) []int {
	ends := []int{len(limits) - 1}
	u, l := 2*far-1, -2*far+1 // min of v + r over uppers, max of v − r over lowers
	for i := len(limits) - 1; i >= 0; i-- {
		e := limits[i]
		if e.upper && e.v-e.r < l-readCost || !e.upper && e.v+e.r > u+readCost {
			ends = append(ends, i)
			u, l = 2*far-1, -2*far+1
		}
		if e.upper {
			u = min(u, e.v+e.r)
		} else {
			l = max(l, e.v-e.r)
		}
	}
	return ends
}
