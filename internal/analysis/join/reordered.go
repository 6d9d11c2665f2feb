package join

import (
	"cmp"
	"slices"
)

// markReordered marks arrivals that came after one of the same producer and
// subscription that was intended later. Only first arrivals count: a
// redelivery is a duplicate, not a change of order.
//
// Deliveries of one socket read share an instant. Within a consumer their rows
// stand in order of receipt; between two consumers an equal instant says
// nothing, so it is no evidence of reordering.
func (a *arrivals) markReordered() {
	a.late = make([]bool, len(a.input))
	for _, g := range a.groups {
		first := a.firstCopies(g)
		r := &a.rows
		slices.SortFunc(first, func(x, y int32) int {
			return cmp.Or(
				cmp.Compare(a.sub[x], a.sub[y]),
				cmp.Compare(r.Received[x], r.Received[y]),
				cmp.Compare(r.Receiver[x], r.Receiver[y]),
				cmp.Compare(r.Consumer[x], r.Consumer[y]),
				cmp.Compare(x, y),
			)
		})
		a.markLate(first)
	}
}

// firstCopies returns the first arrival of every message and subscription.
func (a *arrivals) firstCopies(g *group) []int32 {
	var first []int32
	for i := g.lo; i < g.hi; i++ {
		row := a.order[i]
		if i > g.lo && a.sameMessage(a.order[i-1], row) && a.sub[a.order[i-1]] == a.sub[row] {
			continue
		}
		first = append(first, row)
	}
	return first
}

func (a *arrivals) sameMessage(x, y int32) bool {
	return a.rows.Seq[x] == a.rows.Seq[y] && a.rows.Attempt[x] == a.rows.Attempt[y]
}

// markLate walks first arrivals by subscription and instant.
func (a *arrivals) markLate(first []int32) {
	r := &a.rows
	var before, now, here int64 // highest seq at earlier instants, up to this instant, and of this consumer at this instant
	for i, row := range first {
		switch {
		case i == 0 || a.sub[row] != a.sub[first[i-1]]:
			before, now, here = -1, -1, -1
		case r.Received[row] != r.Received[first[i-1]]:
			before, here = now, -1
		case r.Receiver[row] != r.Receiver[first[i-1]] || r.Consumer[row] != r.Consumer[first[i-1]]:
			here = -1
		}
		seq := r.Seq[row]
		a.late[row] = seq < before || seq < here
		now, here = max(now, seq), max(here, seq)
	}
}
