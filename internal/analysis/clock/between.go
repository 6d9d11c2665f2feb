package clock

import "amqpperf/format"

// Between bounds the error of a difference of two instants, ti of process i
// and tj of process j, after both were moved to the reference, in ns;
// format.Null and Unknown where it is not known. What both ways to the
// reference share cancels but for what it changes between the two instants, so
// this is far less than the sum of both bounds. Two processes that can be
// compared with each other, but not with the reference, have a bound too.
func (s *Solution) Between(i int, ti int64, j int, tj int64) (bound int64, source Source) {
	common := s.common(i, j)
	if common < 0 {
		return format.Null, Unknown
	}
	ti, bi, source, ok1 := s.climb(i, common, ti)
	tj, bj, other, ok2 := s.climb(j, common, tj)
	if !ok1 || !ok2 {
		return format.Null, Unknown
	}
	bound, source = add(bi, bj), Worse(source, other)
	for n := common; s.parent[n] >= 0; n = s.parent[n] {
		h := s.hops[n]
		oi, b1, ok1 := h.at(ti)
		oj, b2, ok2 := h.at(tj)
		if !ok1 || !ok2 {
			return format.Null, Unknown
		}
		bound = add(bound, add(h.change(ti, tj, oi, oj, b1, b2), drift(2*h.rate(), bound)))
		ti, tj = add(ti, oi), add(tj, oj)
	}
	return bound, source
}

// climb follows the way from process i to process to.
func (s *Solution) climb(i, to int, t int64) (at, bound int64, source Source, ok bool) {
	source = SameProcess
	for ; i != to; i = s.parent[i] {
		h := s.hops[i]
		o, b, ok := h.at(t)
		if !ok {
			return t, bound, Unknown, false
		}
		t, bound, source = add(t, o), chain(bound, b, h.rate()), Worse(source, h.source)
	}
	return t, bound, source, true
}

// common returns the first process that the ways of i and j share, −1 if they
// end at different processes.
func (s *Solution) common(i, j int) int {
	di, dj := s.depth(i), s.depth(j)
	for i != j {
		if di == 0 && dj == 0 {
			return -1
		}
		if di >= dj {
			i, di = s.parent[i], di-1
		} else {
			j, dj = s.parent[j], dj-1
		}
	}
	return i
}

func (s *Solution) depth(i int) int {
	d := 0
	for ; s.parent[i] >= 0; i = s.parent[i] {
		d++
	}
	return d
}

// Apart reports whether the ways of two processes to the reference have only
// the reference in common. Then Between is the sum of the bounds that both
// Models give.
func (s *Solution) Apart(i, j int) bool { return s.common(i, j) == s.ref }
