package clock

import (
	"sort"

	"amqpperf/format"
)

// unsynchronised is the maxerror from which on the kernel knows nothing, in ns
// (NTP_PHASE_LIMIT, 16 s). STA_UNSYNC is not looked at: chronyd clears it only
// with rtcsync.
const unsynchronised = 16_000_000_000

// walls turns instants of a process into its host's wall clock, with what the
// kernel says of that clock's error.
type walls struct {
	states []State // in order, wall offset and maxerror known
	offset int64   // wall − monotonic of the anchor
	gap    int64   // of the anchor
}

func newWalls(p *Process) walls {
	w := walls{offset: p.Anchor.Offset(), gap: max(p.Anchor.Gap, 0)}
	if p.Anchor.Gap <= 0 {
		return w // nobody said how the instants stand to the host's clocks
	}
	for _, s := range sortStates(p.States) {
		_, ok := diff(s.WallOffset, w.offset)
		if ok && s.WallOffset != format.Null && s.MaxError != format.Null && s.MaxError >= 0 && s.Gap >= 0 {
			w.states = append(w.states, s)
		}
	}
	return w
}

// typical returns the largest error the kernel stated, and whether it stated
// one at all and was synchronised throughout.
func (w walls) typical() (int64, bool) {
	var most int64
	for _, s := range w.states {
		most = max(most, s.MaxError)
	}
	return most, len(w.states) > 0 && most < unsynchronised
}

// at returns what to add to instant t to have the wall clock, and by how much
// the result can differ from UTC. Between two rows both are allowed for.
func (w walls) at(t int64) (shift, bound int64, ok bool) {
	n := len(w.states)
	if n == 0 {
		return 0, 0, false
	}
	i := sort.Search(n, func(i int) bool { return w.states[i].At > t })
	a, b := w.states[max(i-1, 0)], w.states[min(i, n-1)]
	away := min(span(t, a.At), span(t, b.At))
	errorOf := max(a.MaxError, b.MaxError)
	if errorOf >= unsynchronised {
		return 0, 0, false
	}
	sa, sb := clamp(a.WallOffset-w.offset), clamp(b.WallOffset-w.offset)
	bound = errorOf + drift(defaultRate, away) + span(sa, sb)/2 + min(max(a.Gap, b.Gap), far/8) + w.gap
	return midpoint(sa, sb), bound, bound < unsynchronised
}

// kernel is the offset between two processes by what both kernels say.
type kernel struct{ own, peer walls }

// at returns peer − own at t of own.
func (k *kernel) at(t int64) (offset, bound int64, ok bool) {
	s1, b1, ok1 := k.own.at(t)
	wall := add(t, s1)
	s2, _, _ := k.peer.at(wall)
	s2, b2, ok2 := k.peer.at(add(wall, -s2))
	return clamp(s1 - s2), b1 + b2, ok1 && ok2
}
