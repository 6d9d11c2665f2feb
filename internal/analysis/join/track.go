package join

import (
	"cmp"
	"slices"
)

// Reordered is a first arrival that came after one of the same producer and
// subscription that was intended later. Redeliveries are duplicates, not a
// change of order. Deliveries of one socket read share an instant: within a
// consumer its rows stand in order of receipt; between two consumers an equal
// instant says nothing, so it is no evidence of reordering.
//
// Whether a message was overtaken depends on the earliest arrival among all
// later messages alone (RFC 4737 §4.2.2 and §4.3). So the first look at the
// receive logs keeps, for every producer, subscription and chunk, the earliest
// arrival; what the chunks are joined with is the earliest of all chunks that
// follow. No order of the logs' rows is relied on.

// earliest is the earliest arrival among some messages, on the reference clock.
type earliest struct {
	at, seq int64
	known   bool
	first   place
	more    []place // other consumers that share the instant
}

// earliestBytes is the memory of an earliest and the number of its chunk.
const earliestBytes = 80

// place is where a row stands: rows of a consumer are in one log, in order of receipt.
type place struct {
	receiver, consumer int32
	row                int64
}

func (p *place) sameConsumer(o *place) bool {
	return p.receiver == o.receiver && p.consumer == o.consumer
}

// add takes in an arrival.
func (e *earliest) add(at, seq int64, p place) {
	switch {
	case e.known && at > e.at:
		return
	case !e.known || at < e.at:
		e.at, e.seq, e.known, e.first = at, seq, true, p
		if e.more != nil {
			e.more = nil
		}
		return
	case e.first.sameConsumer(&p):
		e.first.row = min(e.first.row, p.row)
		return
	}
	for i := range e.more {
		if e.more[i].sameConsumer(&p) {
			e.more[i].row = min(e.more[i].row, p.row)
			return
		}
	}
	e.more = append(slices.Clip(e.more), p)
}

// merge takes in what another has found.
func (e *earliest) merge(o *earliest) {
	if !o.known {
		return
	}
	e.add(o.at, o.seq, o.first)
	for _, p := range o.more {
		e.add(o.at, o.seq, p)
	}
}

// overtook reports whether the earliest arrival was before one at this instant and place.
func (e *earliest) overtook(at int64, p place) bool {
	if !e.known || e.at > at {
		return false
	}
	if e.at < at {
		return true
	}
	if e.first.sameConsumer(&p) {
		return e.first.row < p.row
	}
	for i := range e.more {
		if e.more[i].sameConsumer(&p) {
			return e.more[i].row < p.row
		}
	}
	return false
}

// track is the arrivals of one producer in one subscription.
type track struct {
	sub  int32
	mins []minimum // ascending by order
}

// minimum is the earliest arrival of a chunk, and after suffixes of all chunks
// from that one on. order grows with seq.
type minimum struct {
	order int64
	earliest
}

// track returns the track of a subscription, adding it if need be.
func (l *lane) track(sub int32) *track {
	for _, i := range [2]int{l.hint, l.hint + 1} {
		if i < len(l.tracks) && l.tracks[i].sub == sub {
			l.hint = i
			return &l.tracks[i]
		}
	}
	i := slices.IndexFunc(l.tracks, func(t track) bool { return t.sub == sub })
	if i < 0 {
		i = len(l.tracks)
		l.tracks = append(l.tracks, track{sub: sub})
	}
	l.hint = i
	return &l.tracks[i]
}

// later reports whether the last chunk is this one and has an earlier arrival.
func (t *track) later(order, at int64) bool {
	n := len(t.mins)
	return n > 0 && t.mins[n-1].order == order && at > t.mins[n-1].at
}

// add takes in an arrival of a chunk.
func (t *track) add(order, at, seq int64, p place) {
	i := len(t.mins)
	for i > 0 && t.mins[i-1].order > order {
		if i--; len(t.mins)-i > 8 { // far back: mostly one row of many
			i = t.find(order)
			break
		}
	}
	if i > 0 && t.mins[i-1].order == order {
		m := &t.mins[i-1]
		if at <= m.at {
			m.add(at, seq, p)
		}
		return
	}
	t.mins = slices.Insert(t.mins, i, minimum{order: order})
	t.mins[i].add(at, seq, p)
}

// find returns how many minima have an order of at most this.
func (t *track) find(order int64) int {
	i, found := slices.BinarySearchFunc(t.mins, order, func(m minimum, o int64) int { return cmp.Compare(m.order, o) })
	if found {
		i++
	}
	return i
}

// suffixes makes every minimum that of its chunk and all that follow.
func (t *track) suffixes() {
	for i := len(t.mins) - 2; i >= 0; i-- {
		t.mins[i].merge(&t.mins[i+1].earliest)
	}
}

// after returns the earliest arrival of all chunks behind this one.
func (t *track) after(order int64) *earliest {
	if i := t.find(order); i < len(t.mins) {
		return &t.mins[i].earliest
	}
	return nil
}
