package stats

import (
	"cmp"
	"math"
	"slices"
)

// Never is the Done of a message that got no answer.
const Never int64 = math.MaxInt64

// Arrival is one message at the entry of a system: ns since one epoch.
type Arrival struct {
	Intended int64
	Ready    int64 // when the generator handed it over
	Done     int64 // when the system had answered it; Never
}

// late is the generator's lateness; handing over early is not negative lateness.
func (a Arrival) late() int64 { return max(0, a.Ready-a.Intended) }

// Pause is a stretch without any answer while a message was there to be
// answered, too long for a service time, that a late message came before.
type Pause struct {
	From   int64 // the pause began at this instant or later, ns
	Length int64 // until the next answer
}

// Busy bounds what the lateness of a generator did to response times.
//
// A first-in-first-out system that never idles with work at hand answers at
// instants that are monotone and non-expansive in the arrivals: when all
// arrivals of a busy period are late by at most M, no answer is late by more
// than M. A busy period begins where nothing was outstanding, which in
// intended order is: the running maximum of Done is at most Ready. So with
//
//	M_i = max of (Ready − Intended) from the busy period's first message to i
//
// response_i − M_i ≤ response of a punctual generator ≤ response_i. That is a
// theorem only if messages keep their intended order (Overtaken is 0, Early is
// 0) and a service time belongs to its message: a pause tied to the clock
// breaks it for messages that would have been done before the pause, had they
// not been late (Pauses).
type Busy struct {
	sorted   []Arrival
	lateness []int64
	hint     int

	Overtaken int64   // messages that one intended later was ahead of, handed over or answered
	Early     int64   // handed over before they were intended
	Pauses    []Pause // those that can break the bound
	Largest   int64   // largest lateness M
	Periods   int64   // busy periods
}

func byIntended(a, b Arrival) int {
	switch { // not cmp.Or: it compares all three every time
	case a.Intended != b.Intended:
		return cmp.Compare(a.Intended, b.Intended)
	case a.Ready != b.Ready:
		return cmp.Compare(a.Ready, b.Ready)
	}
	return cmp.Compare(a.Done, b.Done)
}

// NewBusy finds the busy periods of all messages of all senders of a run; the
// slice is sorted in place and kept. Clocks may differ by tolerance ns between
// the senders: only an idle time of more than that ends a busy period. Without
// an answer for pause ns (0: never) while one was due, it is a Pause.
func NewBusy(all []Arrival, tolerance, pause int64) *Busy {
	slices.SortFunc(all, byIntended)
	b := &Busy{sorted: all, lateness: make([]int64, len(all))}
	var p period
	p.start(tolerance, pause)
	for i, a := range all {
		if a.Ready < a.Intended {
			b.Early++
		}
		p.next(a.Ready, a.late(), a.Done, a.Done)
		b.lateness[i] = p.late
	}
	b.Pauses, b.Largest, b.Periods = p.pauses, p.largest, p.count
	done, ready := Never, Never
	for _, a := range slices.Backward(all) {
		if a.Done > done || a.Ready > ready {
			b.Overtaken++
		}
		done, ready = min(done, a.Done), min(ready, a.Ready)
	}
	return b
}

// period walks through messages, or bins of them, in intended order.
type period struct {
	tolerance, pause int64
	done             int64 // running maximum
	late             int64
	largest          int64
	count            int64
	pauses           []Pause
}

func (p *period) start(tolerance, pause int64) {
	p.tolerance, p.pause, p.done = tolerance, pause, math.MinInt64
}

// next takes in the next message, or bin: the earliest hand-over in it, the
// largest lateness, and the earliest and the latest answer.
func (p *period) next(ready, late, firstDone, lastDone int64) {
	if p.done == math.MinInt64 || (p.done != Never && p.done <= ready-p.tolerance) {
		p.late = 0
		p.count++
	}
	p.late = max(p.late, late)
	p.largest = max(p.largest, p.late)
	from := max(p.done, ready)
	if p.pause > 0 && p.late > 0 && firstDone != Never && p.done != Never && firstDone-from >= p.pause {
		p.pauses = append(p.pauses, Pause{From: from, Length: firstDone - from})
	}
	p.done = max(p.done, lastDone)
}

// Lateness returns M of one of the messages that NewBusy was given. It is
// quick when it is asked in intended order. Not safe for concurrent use.
func (b *Busy) Lateness(a Arrival) int64 {
	if b.hint < len(b.sorted) && b.sorted[b.hint] == a {
		b.hint++
		return b.lateness[b.hint-1]
	}
	i, ok := slices.BinarySearchFunc(b.sorted, a, byIntended)
	if !ok {
		return b.Largest
	}
	b.hint = i + 1
	return b.lateness[i]
}

// Arrivals returns the messages in intended order; they must not be changed.
func (b *Busy) Arrivals() []Arrival { return b.sorted }
