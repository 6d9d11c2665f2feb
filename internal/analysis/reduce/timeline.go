package reduce

import (
	"iter"

	"amqpperf/internal/analysis/stats"
)

// rowsInOrder is up to how many messages are put into intended order one by
// one; of more than that bins of intended time are made (stats.BusyBins).
const rowsInOrder = stats.MaxBusyBins

// timeline puts all transmissions of all senders of a run into intended order,
// whatever the order of the rows: perf-merge writes one producer after the
// other. Up to rowsInOrder of them are held (24 bytes each) and sorted; more
// are taken into bins.
type timeline struct {
	limit int
	rows  []stats.Arrival
	bins  *stats.BusyBins
	n     int64

	producers *directory[lastOf]

	resent   int64 // later attempts: what they do to the order is not known
	unready  int64 // sent without ready
	early    int64 // ready before intended
	inverted int64 // in the order of the rows, ahead of one of the same producer that was intended before
	unsorted int64 // rows of a producer that are not in intended order
}

// lastOf are the largest instants of a producer so far.
type lastOf struct{ intended, ready, done int64 }

func newTimeline(opt Options) *timeline {
	limit := rowsInOrder
	if opt.inOrder > 0 {
		limit = opt.inOrder
	}
	return &timeline{limit: limit, producers: newDirectory[lastOf]()}
}

// arrivalOf is a primary row of a send log as a message at the entry of the system.
func arrivalOf(v *view, i int) stats.Arrival {
	a := stats.Arrival{Intended: v.Intended[i], Ready: v.Ready[i], Done: v.Acked[i]}
	if !has(a.Ready) {
		a.Ready = v.Sent[i] // later than ready can have been
	}
	if !has(a.Ready) || v.Attempt[i] > 0 {
		a.Ready = a.Intended
	}
	if !has(a.Done) {
		a.Done = stats.Never
	}
	return a
}

func (t *timeline) add(v *view, i int) {
	a := arrivalOf(v, i)
	t.n++
	switch {
	case v.Attempt[i] > 0:
		t.resent++
	case !has(v.Ready[i]) && has(v.Sent[i]):
		t.unready++
	case a.Ready < a.Intended:
		t.early++
	}
	if v.Attempt[i] == 0 {
		t.follow(v.Sender[i], v.Producer[i], a)
	}
	if t.bins != nil {
		t.bins.Add(a)
		return
	}
	t.rows = append(t.rows, a)
	if len(t.rows) > t.limit {
		t.bins = stats.NewBusyBins(t.rows)
		t.rows = nil
	}
}

// addWhole takes in a plain chunk: the same as add of each row.
func (t *timeline) addWhole(v *view, c chunk) {
	if t.bins == nil {
		for i := c.from; i < c.to; i++ {
			t.add(v, i)
		}
		return
	}
	intended, ready, acked := v.Intended[c.from:c.to], v.Ready[c.from:c.to], v.Acked[c.from:c.to]
	t.n += int64(len(intended))
	for i, at := range intended {
		if ready[i] < at {
			t.early++
		}
		t.follow(v.Sender[c.from+i], v.Producer[c.from+i], stats.Arrival{Intended: at, Ready: ready[i], Done: acked[i]})
	}
	t.bins.AddColumns(intended, ready, acked)
}

// follow looks at the order within one producer, which a bin does not hold.
func (t *timeline) follow(sender, producer int32, a stats.Arrival) {
	l, isNew := t.producers.meet(sender, producer)
	if isNew {
		*l = lastOf{a.Intended, a.Ready, a.Done}
	}
	switch {
	case a.Intended < l.intended:
		t.unsorted++
	case a.Intended > l.intended && (a.Ready < l.ready || a.Done < l.done):
		t.inverted++
	}
	l.intended, l.ready, l.done = max(l.intended, a.Intended), max(l.ready, a.Ready), max(l.done, a.Done)
}

// maxBatches is how many batches MSER-5 looks at: of more messages each holds more than five.
const maxBatches = 1 << 17

// truncation finds the warm-up of the messages intended from ≤ t < to, and the
// intended instant at which it ends. Call it before the busy periods are found.
func (t *timeline) truncation(from, to int64, busy *stats.Busy) (cut stats.Truncation, end int64) {
	var bins iter.Seq2[int64, stats.BatchMean]
	switch {
	case busy != nil:
		bins = func(yield func(int64, stats.BatchMean) bool) {
			for _, a := range busy.Arrivals() {
				if a.Intended < from || a.Intended >= to || a.Done == stats.Never {
					continue
				}
				if !yield(a.Intended, stats.BatchMean{N: 1, Sum: float64(a.Done - a.Intended)}) {
					return
				}
			}
		}
	case t.bins != nil:
		all, start := t.bins.Sums()
		width := t.bins.Width()
		bins = func(yield func(int64, stats.BatchMean) bool) {
			for i, b := range all {
				begin := start + int64(i)*width
				if begin+width <= from || begin >= to {
					continue
				}
				if !yield(max(from, begin), b) {
					return
				}
			}
		}
	default:
		return cut, from
	}
	batches, first := stats.Batches(bins, maxBatches)
	cut = stats.MSER5(stats.WithoutStalls(batches))
	if cut.Cut < len(first) && cut.Cut > 0 {
		return cut, first[cut.Cut]
	}
	return cut, from
}
