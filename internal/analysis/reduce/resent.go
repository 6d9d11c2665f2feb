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
}

// arrival is the first arrival of a later attempt.
type arrival struct{ intended, sent, received, started, settled int64 }

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
}

// route is a producer and a subscription.
type route struct {
	producer
	subscription int32
}

func newResent() *resent {
	return &resent{
		answers: map[message]answer{}, arrivals: map[copyOf]arrival{},
		unanswered: stretches[producer]{}, refused: stretches[producer]{}, unarrived: stretches[route]{},
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
		}
		r.answers[key] = a
	}
	if v.Copy[i] == 0 && has(v.Received[i]) {
		place := copyOf{key, v.subscription(i)}
		a, known := r.arrivals[place]
		if !known || v.Received[i] < a.received {
			r.arrivals[place] = arrival{v.Intended[i], v.Sent[i], v.Received[i], v.Started[i], v.Settled[i]}
		}
	}
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
	if p&pendingArrival != 0 {
		r.unarrived.add(route{key.producer, v.subscription(i)}, key.seq)
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
		if a, ok := r.arrivals[copyOf{key, v.subscription(i)}]; ok {
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

func (a arrival) replace(s *values) {
	s.infinite &^= 1<<Transit | 1<<E2E
	s.set(Transit, a.received, a.sent)
	s.set(E2E, a.received, a.intended)
	s.set(Queued, a.started, a.received)
	s.set(Work, a.settled, a.started)
	s.set(Handled, a.started, a.intended)
}

// settle corrects the first pass for all messages that were re-sent: it calls
// change with what was counted for the first attempt and what counts instead.
func (r *resent) settle(change func(was uint16, now *values)) {
	r.unanswered.sort()
	r.refused.sort()
	r.unarrived.sort()
	for key, a := range r.answers {
		var now values
		switch {
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
		if !r.unarrived.has(route{key.producer, key.subscription}, key.seq) {
			continue
		}
		now := values{infinite: 1<<Transit | 1<<E2E}
		was := now.infinite
		a.replace(&now)
		change(was, &now)
	}
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
