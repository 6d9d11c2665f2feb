package reduce

import "math/bits"

// values are the metrics of one row.
type values struct {
	finite, infinite uint16 // bit m: metric m has a value, or is infinite
	v                [numMetrics]int64
	pending          pending
}

// pending says what a row stands for until later attempts are known.
type pending uint8

const (
	pendingAck     pending = 1 << iota // first attempt without an answer
	pendingYes                         // first attempt that was answered with a no, which does not count
	pendingArrival                     // first attempt that did not arrive
)

func (s *values) set(m Metric, to, from int64) {
	if has(to) && has(from) {
		s.v[m] = to - from
		s.finite |= 1 << m
	}
}

func (s *values) inf(m Metric) { s.infinite |= 1 << m }

// each calls f for the metrics in a set.
func each(set uint16, f func(Metric)) {
	for ; set != 0; set &= set - 1 {
		f(Metric(bits.TrailingZeros16(set)))
	}
}

// measure computes the metrics of row i as it stands, without regard to other
// attempts. Rows of later attempts have none: they are looked at by resent.
func (r *reducer) measure(v *view, i int, s *values) {
	s.finite, s.infinite, s.pending = 0, 0, 0
	if v.Attempt[i] > 0 {
		return
	}
	out := v.outcome(i)
	if v.Primary[i] && out != Unlogged {
		r.measureSend(v, i, out, s)
	}
	if v.Copy[i] == 0 {
		r.measureArrival(v, i, out, s)
	}
}

func (r *reducer) measureSend(v *view, i int, out Outcome, s *values) {
	s.set(Lag, v.Ready[i], v.Intended[i])
	if has(v.Ready[i]) {
		s.set(Blocked, v.Sent[i], v.Ready[i])
	}
	switch {
	case out == Accepted, out.negative() && r.opt.Negative:
		s.set(Service, v.Acked[i], v.Sent[i])
		s.set(Response, v.Acked[i], v.Intended[i])
	case out.negative():
		s.pending |= pendingYes
	case out.unanswered():
		s.inf(Response)
		if has(v.Sent[i]) {
			s.inf(Service)
			s.pending |= pendingAck
		}
	case out == Unsent:
		s.inf(Response)
	}
}

func (r *reducer) measureArrival(v *view, i int, out Outcome, s *values) {
	if has(v.Received[i]) {
		s.set(Transit, v.Received[i], v.Sent[i])
		s.set(E2E, v.Received[i], v.Intended[i])
		s.set(Queued, v.Started[i], v.Received[i])
		s.set(Work, v.Settled[i], v.Started[i])
		s.set(Handled, v.Started[i], v.Intended[i])
		return
	}
	if !r.receives {
		return
	}
	if v.missing(i) != fateNone {
		s.inf(E2E)
		if has(v.Sent[i]) {
			s.inf(Transit)
			s.pending |= pendingArrival
		}
	} else if out == Unsent {
		s.inf(E2E)
	}
}
