package clock

import "amqpperf/format"

// hop turns instants of one process into those of another.
type hop struct {
	source Source
	offset int64 // constant, unless fit or kernel is set
	bound  int64
	fit    *fit
	kernel *kernel
}

func (h *hop) at(t int64) (offset, bound int64, ok bool) {
	switch {
	case h.fit != nil:
		return h.fit.at(t)
	case h.kernel != nil:
		return h.kernel.at(t)
	}
	return h.offset, h.bound, true
}

// rate is how fast the offset can change, in ppb.
func (h *hop) rate() int64 {
	switch {
	case h.fit != nil:
		return h.fit.maxRho
	case h.kernel != nil:
		return defaultRate
	}
	return 0
}

// change bounds by how much the error of the hop can differ between instants a
// and b: for close instants less than the error itself, because an offset that
// is off stays off by the same amount.
func (h *hop) change(a, b, offsetA, offsetB, boundA, boundB int64) int64 {
	both := add(boundA, boundB)
	if h.kernel != nil {
		return both
	}
	if h.fit == nil {
		return 0
	}
	from, to := min(a, b), max(a, b)
	if h.fit.stepBetween(from, to) {
		return both
	}
	return min(both, add(span(offsetA, offsetB), h.fit.rho.drift(from, to)))
}

// Model turns the instants of one process into those of the reference. It is
// immutable and safe for concurrent use. At costs some 20 ns a hop.
type Model struct {
	hops   []*hop // from the process to the reference
	source Source
}

// Source returns what the model rests on, the worst of its hops.
func (m *Model) Source() Source { return m.source }

// Known reports whether the model has a bound.
func (m *Model) Known() bool { return m.source != Unknown }

// At returns what to add to instant t of the process (ns since the Unix epoch)
// to have the reference's, by how much the sum can be off in ns, and what that
// rests on. Where nothing ties the process to the reference the bound is
// format.Null and the source Unknown; the offset is then 0, or, among several
// processes that are tied to each other, what puts them on one clock of their
// own.
func (m *Model) At(t int64) (offset, bound int64, source Source) {
	for _, h := range m.hops {
		o, b, ok := h.at(add(t, offset))
		if !ok {
			return 0, format.Null, Unknown
		}
		offset, bound = add(offset, o), chain(bound, b, h.rate())
	}
	if m.source == Unknown {
		return offset, format.Null, Unknown
	}
	return offset, bound, m.source
}

// rate is how fast the whole offset can change, in ppb.
func (m *Model) rate() int64 {
	var sum int64
	for _, h := range m.hops {
		sum = min(sum+h.rate(), maxRate)
	}
	return sum
}

// chain adds the bound of a further hop: an instant that is off by before is
// looked up at the wrong place of the next hop, whose offset and bound change
// by its rate.
func chain(before, bound, rate int64) int64 {
	return add(add(before, bound), drift(2*rate, before))
}

// stepBetween reports whether a step can lie between two instants.
func (f *fit) stepBetween(from, to int64) bool {
	for _, s := range f.steps {
		if s.From < to && s.To > from {
			return true
		}
	}
	return false
}

// Constant returns what At does if that is the same for every instant, as on
// one host: so that nobody need ask for every row.
func (m *Model) Constant() (offset, bound int64, ok bool) {
	for _, h := range m.hops {
		if h.fit != nil || h.kernel != nil {
			return 0, 0, false
		}
	}
	offset, bound, _ = m.At(0)
	return offset, bound, true
}
