package reduce

import (
	"cmp"
	"slices"

	"amqpperf/format"
)

type producer struct{ sender, producer int32 }

type message struct {
	producer
	seq int64
}

// copyOf is a message in a subscription.
type copyOf struct {
	message
	subscription int32
}

// answer is what later attempts made of a message.
type answer struct {
	intended    int64
	acked, sent int64 // of the first positive acknowledgement; format.Null: none
	unanswered  bool  // a later attempt got no answer
	written     int64 // later attempts that were sent and got no answer
}

// arrival is the first arrival of a later attempt, and how many later attempts
// did not arrive.
type arrival struct {
	intended, sent, received, started, settled int64 // received is format.Null without one

	missing, doubtful int64 // attempts without arrival; of these, of unknown fate
	missed            int64 // when the last of these was sent
}

// resent collects the later attempts of messages. A message counts at its first
// attempt; what that row contributes is replaced by what is found here. Since
// rows come in any order, the first attempts that may be replaced are
// remembered as stretches of seq.
type resent struct {
	answers  map[message]answer
	arrivals map[copyOf]arrival

	unanswered stretches[producer] // first attempts counted as infinite
	refused    stretches[producer] // first attempts not counted
	unarrived  stretches[route]    // first attempts counted as infinite e2e
	doubtful   stretches[route]    // of these, those of unknown fate
	arrived    stretches[route]    // first attempts without an answer that arrived
	outside    stretches[producer] // first attempts that are not selected
}

// route is a producer and a subscription.
type route struct {
	producer
	subscription int32
}

func newResent() *resent {
	return &resent{
		answers: map[message]answer{}, arrivals: map[copyOf]arrival{},
		unanswered: stretches[producer]{}, refused: stretches[producer]{},
		unarrived: stretches[route]{}, doubtful: stretches[route]{}, arrived: stretches[route]{},
		outside: stretches[producer]{},
	}
}

// later takes in a row of attempt 1 or more.
func (r *resent) later(v *view, i int) {
	key := v.message(i)
	out := v.outcome(i)
	if v.Primary[i] && out != Unlogged {
		a, known := r.answers[key]
		if !known {
			a = answer{intended: v.Intended[i], acked: format.Null, sent: format.Null}
		}
		a.intended = min(a.intended, v.Intended[i])
		switch {
		case out == Accepted && has(v.Acked[i]) && has(v.Sent[i]):
			if !has(a.acked) || cmp.Or(cmp.Compare(v.Acked[i], a.acked), cmp.Compare(v.Sent[i], a.sent)) < 0 {
				a.acked, a.sent = v.Acked[i], v.Sent[i]
			}
		case out.unanswered(), out == Unsent:
			a.unanswered = true
			if has(v.Sent[i]) {
				a.written++
			}
		}
		r.answers[key] = a
	}
	if v.Copy[i] == 0 {
		r.laterArrival(v, i, copyOf{key, v.subscription(i)})
	}
}

func (r *resent) laterArrival(v *view, i int, place copyOf) {
	fate := v.missing(i)
	if !has(v.Received[i]) && fate == fateNone {
		return
	}
	a, known := r.arrivals[place]
	if !known {
		a = arrival{received: format.Null, missed: format.Null}
	}
	switch {
	case has(v.Received[i]):
		if !has(a.received) || v.Received[i] < a.received {
			a.intended, a.sent, a.received, a.started, a.settled = v.Intended[i], v.Sent[i], v.Received[i], v.Started[i], v.Settled[i]
		}
	case has(v.Sent[i]):
		a.missing, a.missed = a.missing+1, max(a.missed, v.Sent[i])
		if fate == fateUnknown {
			a.doubtful++
		}
	}
	r.arrivals[place] = a
}

// first remembers a first attempt that later ones may replace.
func (r *resent) first(v *view, i int, p pending) {
	key := v.message(i)
	if p&pendingAck != 0 {
		r.unanswered.add(key.producer, key.seq)
	}
	if p&pendingYes != 0 {
		r.refused.add(key.producer, key.seq)
	}
	way := route{key.producer, v.subscription(i)}
	if p&pendingAck != 0 && v.Copy[i] == 0 && has(v.Received[i]) {
		r.arrived.add(way, key.seq)
	}
	if p&pendingArrival != 0 {
		r.unarrived.add(way, key.seq)
		if v.missing(i) == fateUnknown {
			r.doubtful.add(way, key.seq)
		}
	}
}

// replace changes what the row of a first attempt contributes.
func (r *resent) replace(v *view, i int, s *values) {
	if len(r.answers) == 0 && len(r.arrivals) == 0 {
		return
	}
	key := v.message(i)
	if s.pending&(pendingAck|pendingYes) != 0 {
		if a, ok := r.answers[key]; ok {
			a.replace(s)
		}
	}
	if s.pending&pendingArrival != 0 {
		if a := r.arrivals[copyOf{key, v.subscription(i)}]; a.came() {
			a.replace(s)
		}
	}
}

func (a answer) replace(s *values) {
	switch {
	case has(a.acked):
		s.infinite &^= 1<<Service | 1<<Response
		s.set(Service, a.acked, a.sent)
		s.set(Response, a.acked, a.intended)
	case a.unanswered:
		s.infinite |= 1<<Service | 1<<Response
	}
}

// came reports whether a later attempt arrived; false of the zero value.
func (a arrival) came() bool { return a.received != 0 && has(a.received) }

func (a arrival) replace(s *values) {
	s.infinite &^= 1<<Transit | 1<<E2E
	s.set(Transit, a.received, a.sent)
	s.set(E2E, a.received, a.intended)
	s.set(Queued, a.started, a.received)
	s.set(Work, a.settled, a.started)
	s.set(Handled, a.started, a.intended)
}

// sort makes the sets usable, after the last row.
func (r *resent) sort() {
	r.unanswered.sort()
	r.refused.sort()
	r.unarrived.sort()
	r.doubtful.sort()
	r.arrived.sort()
	r.outside.sort()
}

// leaveOut remembers a first attempt that is not selected.
func (r *resent) leaveOut(v *view, i int, p pending) {
	r.first(v, i, p)
	key := v.message(i)
	r.outside.add(key.producer, key.seq)
}

// settle corrects the first pass for the selected messages that were re-sent: it
// calls change with what was counted for the first attempt and what counts instead.
func (r *resent) settle(change func(was uint16, now *values)) {
	for key, a := range r.answers {
		var now values
		switch {
		case r.outside.has(key.producer, key.seq):
			continue
		case r.unanswered.has(key.producer, key.seq):
			now.infinite = 1<<Service | 1<<Response
		case !r.refused.has(key.producer, key.seq):
			continue
		}
		was := now.infinite
		a.replace(&now)
		change(was, &now)
	}
	for key, a := range r.arrivals {
		if !a.came() || r.outside.has(key.producer, key.seq) || !r.unarrived.has(route{key.producer, key.subscription}, key.seq) {
			continue
		}
		now := values{infinite: 1<<Transit | 1<<E2E}
		was := now.infinite
		a.replace(&now)
		change(was, &now)
	}
}

// lapsed calls answer and arrive with what never came of attempts whose message
// needs them no more: n attempts without an answer are no longer in flight when
// the one that was answered was sent, n without an arrival no longer in the
// broker when another one had arrived.
func (r *resent) lapsed(answer, arrive func(at, n int64)) {
	for key, a := range r.answers {
		n := a.written
		if r.unanswered.has(key.producer, key.seq) {
			n++
		}
		if n > 0 && has(a.acked) {
			answer(a.sent, n)
		}
	}
	for key, a := range r.arrivals {
		way := route{key.producer, key.subscription}
		switch {
		case a.came():
			n := a.missing
			if r.unarrived.has(way, key.seq) {
				n++
			}
			if n > 0 {
				arrive(a.received, n)
			}
		case a.missing > 0 && r.arrived.has(way, key.seq):
			arrive(a.missed, a.missing)
		}
	}
}

// resolved returns how many attempts of unknown fate are of messages that
// arrived by another one.
func (r *resent) resolved() (n int64) {
	for key, a := range r.arrivals {
		way := route{key.producer, key.subscription}
		if a.came() && r.doubtful.has(way, key.seq) {
			n++
		}
		if a.came() || r.arrived.has(way, key.seq) {
			n += a.doubtful
		}
	}
	return n
}

// messages returns how many messages were sent again.
func (r *resent) messages() int64 { return int64(len(r.answers)) }

// stretches is a set of numbers per key, held as runs of consecutive ones.
type stretches[K comparable] map[K][]stretch

type stretch struct{ lo, hi int64 } // both included

func (s stretches[K]) add(k K, n int64) {
	runs := s[k]
	if last := len(runs) - 1; last >= 0 {
		switch {
		case n == runs[last].hi+1:
			runs[last].hi = n
			return
		case n == runs[last].lo-1:
			runs[last].lo = n
			return
		}
	}
	s[k] = append(runs, stretch{n, n})
}

// sort makes has usable.
func (s stretches[K]) sort() {
	for _, runs := range s {
		slices.SortFunc(runs, func(a, b stretch) int { return cmp.Compare(a.lo, b.lo) })
	}
}

func (s stretches[K]) has(k K, n int64) bool {
	runs := s[k]
	i, found := slices.BinarySearchFunc(runs, n, func(r stretch, n int64) int { return cmp.Compare(r.lo, n) })
	return found || (i > 0 && n <= runs[i-1].hi)
}
