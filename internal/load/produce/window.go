package produce

import (
	"iter"
	"sync/atomic"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// record is a message between its registration and its row.
type record struct {
	id       int64 // of the transmission; −1: the record is free
	seq      int64
	intended int64
	ready    int64
	sent     int64 // atomic while the message is being submitted
	acked    int64
	err      string
	attempt  int32
	state    amqp.State
	wait     amqp.Wait
	// submitted and answered are both needed for a row: the answer may come
	// before Submit has returned and said what the message waited for.
	submitted, answered bool
	provisional         bool // a provisional row says that it was sent
}

func (r *record) loadSent() int64      { return atomic.LoadInt64(&r.sent) }
func (r *record) storeSent(sent int64) { atomic.StoreInt64(&r.sent, sent) }

// window holds the outstanding messages. Records stand in a ring by id; it
// grows until it spans twice the limit, and beyond manyRing only as long as it
// is less than four times as large as what is outstanding. A peer may answer out
// of order: a message that is still without an answer when the ring comes round
// to its place moves to stragglers, of which there are at most limit, so that one
// that is never answered costs neither the order nor memory without bound.
type window struct {
	limit       int
	outstanding int // registered and without an answer
	ring        []record
	next        int64 // id after the newest
	stragglers  map[int64]*record
}

const (
	// firstRing keeps a thousand producers at ten messages a second small.
	firstRing = 32
	manyRing  = 4096
	// unlimited is the limit without a window: what a broker's credit lets out, in
	// numbers that fit into memory.
	unlimited = 1 << 24
)

// free returns how many more messages the window takes.
func (w *window) free() int { return w.limit - w.outstanding }

func (w *window) slot(id int64) *record { return &w.ring[id&int64(len(w.ring)-1)] }

// add registers a transmission; id is one above the last.
func (w *window) add(id int64) *record {
	if len(w.ring) == 0 {
		w.resize(firstRing)
	}
	r := w.slot(id)
	if r.id >= 0 && w.grows() {
		w.resize(2 * len(w.ring))
		r = w.slot(id)
	}
	if r.id >= 0 {
		if w.stragglers == nil {
			w.stragglers = map[int64]*record{}
		}
		late := *r
		w.stragglers[late.id] = &late
	}
	*r = record{id: id, sent: format.Null, acked: format.Null}
	w.next = id + 1
	w.outstanding++
	return r
}

// grows reports whether the ring may become larger.
func (w *window) grows() bool {
	n := len(w.ring)
	return n < 2*w.limit && (n < manyRing || n < 4*w.outstanding)
}

func (w *window) resize(n int) {
	old := w.ring
	w.ring = make([]record, n)
	for i := range w.ring {
		w.ring[i].id = -1
	}
	for i := range old {
		if old[i].id >= 0 {
			*w.slot(old[i].id) = old[i]
		}
	}
}

// find returns the record of a transmission, nil if it has none any more.
func (w *window) find(id int64) *record {
	if len(w.ring) == 0 {
		return nil
	}
	if r := w.slot(id); r.id == id {
		return r
	}
	return w.stragglers[id]
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
	if w.slot(r.id) != r {
		delete(w.stragglers, r.id)
	}
	r.id = -1
}

// all visits the messages in the order of id, except that stragglers, which
// are older, come first in no order.
func (w *window) all() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, r := range w.stragglers {
			if !yield(r) {
				return
			}
		}
		for id := max(0, w.next-int64(len(w.ring))); id < w.next; id++ {
			if r := w.slot(id); r.id == id && !yield(r) {
				return
			}
		}
	}
}

func (w *window) clear() {
	for r := range w.all() {
		r.id = -1
	}
	clear(w.stragglers)
	w.outstanding = 0
}
