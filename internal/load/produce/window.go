package produce

import (
	"iter"
	"sync/atomic"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// record is a message between its registration and its row.
type record struct {
	seq      int64 // −1: the record is free
	intended int64
	ready    int64
	sent     int64 // atomic while the message is being submitted
	acked    int64
	err      string
	state    amqp.State
	wait     amqp.Wait
	// submitted and answered are both needed for a row: the answer may come
	// before Submit has returned and said what the message waited for.
	submitted, answered bool
	provisional         bool // a provisional row says that it was sent
}

func (r *record) loadSent() int64      { return atomic.LoadInt64(&r.sent) }
func (r *record) storeSent(sent int64) { atomic.StoreInt64(&r.sent, sent) }

// window holds the outstanding messages. Records stand in a ring by seq; it
// grows until it spans twice the limit. A peer may answer out of order: a
// message that is still without an answer when the ring comes round to its
// place moves to stragglers, of which there are at most limit, so that one
// that is never answered costs neither the order nor memory without bound.
type window struct {
	limit       int
	outstanding int // registered and without an answer
	ring        []record
	next        int64 // seq after the newest
	stragglers  map[int64]*record
}

// firstRing keeps a thousand producers at ten messages a second small.
const firstRing = 32

// free returns how many more messages the window takes.
func (w *window) free() int { return w.limit - w.outstanding }

func (w *window) slot(seq int64) *record { return &w.ring[seq&int64(len(w.ring)-1)] }

// add registers a message; seq is one above the last.
func (w *window) add(seq int64) *record {
	if len(w.ring) == 0 {
		w.resize(firstRing)
	}
	r := w.slot(seq)
	if r.seq >= 0 && len(w.ring) < 2*w.limit {
		w.resize(2 * len(w.ring))
		r = w.slot(seq)
	}
	if r.seq >= 0 {
		if w.stragglers == nil {
			w.stragglers = map[int64]*record{}
		}
		late := *r
		w.stragglers[late.seq] = &late
	}
	*r = record{seq: seq, sent: format.Null, acked: format.Null}
	w.next = seq + 1
	w.outstanding++
	return r
}

func (w *window) resize(n int) {
	old := w.ring
	w.ring = make([]record, n)
	for i := range w.ring {
		w.ring[i].seq = -1
	}
	for i := range old {
		if old[i].seq >= 0 {
			*w.slot(old[i].seq) = old[i]
		}
	}
}

// find returns the record of a message, nil if it has none any more.
func (w *window) find(seq int64) *record {
	if len(w.ring) == 0 {
		return nil
	}
	if r := w.slot(seq); r.seq == seq {
		return r
	}
	return w.stragglers[seq]
}

// answer says that the message no longer counts as outstanding.
func (w *window) answer(r *record) {
	r.answered = true
	w.outstanding--
}

// remove forgets a message.
func (w *window) remove(r *record) {
	if !r.answered {
		w.outstanding--
	}
	if w.slot(r.seq) != r {
		delete(w.stragglers, r.seq)
	}
	r.seq = -1
}

// all visits the messages in the order of seq, except that stragglers, which
// are older, come first in no order.
func (w *window) all() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, r := range w.stragglers {
			if !yield(r) {
				return
			}
		}
		for seq := max(0, w.next-int64(len(w.ring))); seq < w.next; seq++ {
			if r := w.slot(seq); r.seq == seq && !yield(r) {
				return
			}
		}
	}
}

func (w *window) clear() {
	for r := range w.all() {
		r.seq = -1
	}
	clear(w.stragglers)
	w.outstanding = 0
}
