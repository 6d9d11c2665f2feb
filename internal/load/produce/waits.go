package produce

import (
	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// kinds is the number of things that a message can wait for.
const kinds = int(amqp.WaitConnection) + 1

// spent is for how long, in ns, a producer has waited for each of them.
type spent [kinds]int64

// waits accounts what the producer spends its time on, so that each message
// can say what the longest part of sent − ready was for. A message that stands
// in the backlog waits for whatever the messages before it wait for.
type waits struct {
	total spent // of waits that have ended

	since      int64 // start of the wait going on, 0 if none
	kind       amqp.Wait
	submitting int64 // start of the Submit going on, 0 if none
}

// at returns what has been waited for until the instant ready, which is now:
// the totals, and whether a Submit is going on and for how long.
func (w *waits) at(ready int64) (snap spent, open bool, elapsed int64) {
	snap = w.total
	if w.since != 0 {
		snap[w.kind] += max(0, ready-w.since)
	}
	if w.submitting != 0 {
		return snap, true, max(0, ready-w.submitting)
	}
	return snap, false, 0
}

// begin starts a wait of the producer itself.
func (w *waits) begin(kind amqp.Wait, now int64) { w.kind, w.since = kind, now }

// end ends it, if there was one.
func (w *waits) end(now int64) {
	if w.since != 0 {
		w.total[w.kind] += now - w.since
		w.since = 0
	}
}

// submit ends a Submit: if its last message had to wait, that is what the
// producer waited for, and what became due meanwhile waited for the rest of it.
func (w *waits) submit(last *amqp.Message, b *backlog) {
	started := w.submitting
	w.submitting = 0
	kind := last.Wait
	took := int64(0)
	if kind != amqp.WaitNone {
		took = max(0, last.Sent-started)
		w.total[kind] += took
	}
	for i := len(b.runs) - 1; i >= b.head && b.runs[i].open; i-- {
		d := &b.runs[i]
		d.open = false
		if kind != amqp.WaitNone {
			d.snap[kind] += min(took, d.elapsed)
		}
	}
}

// longest returns what a message waited for longest before it was sent, given
// when its Submit began.
func (w *waits) longest(snap *spent, ready int64, m *amqp.Message, submitting int64) amqp.Wait {
	parts := w.parts(snap)
	if m.Wait != amqp.WaitNone {
		parts[m.Wait] += max(0, m.Sent-submitting)
	}
	return parts.longest(m.Sent - ready)
}

// sinceReady returns what a message that was never submitted waited for.
func (w *waits) sinceReady(snap *spent, ready, now int64) amqp.Wait {
	parts := w.parts(snap)
	return parts.longest(now - ready)
}

func (w *waits) parts(snap *spent) spent {
	parts := w.total
	for k := range parts {
		parts[k] -= snap[k]
	}
	return parts
}

// longest returns the kind with the largest part of the whole; what no kind
// accounts for is the time of the program itself: none.
func (s spent) longest(whole int64) amqp.Wait {
	best, most := amqp.WaitNone, whole
	for k := int(amqp.WaitNone) + 1; k < kinds; k++ {
		most -= s[k]
	}
	for k := int(amqp.WaitNone) + 1; k < kinds; k++ {
		if s[k] > most {
			best, most = amqp.Wait(k), s[k]
		}
	}
	return best
}

// waitName returns the value of the column wait.
func waitName(w amqp.Wait) string {
	switch w {
	case amqp.WaitWindow:
		return format.WaitWindow
	case amqp.WaitCredit:
		return format.WaitCredit
	case amqp.WaitSession:
		return format.WaitSession
	case amqp.WaitSocket:
		return format.WaitSocket
	case amqp.WaitConnection:
		return format.WaitConnection
	}
	return format.WaitNone
}
