package reduce

// countWhole takes in a plain chunk that is selected as a whole, column by
// column: the same as countRow of each row.
func (f *firstPass) countWhole(v *view, c chunk) {
	n := int64(c.to - c.from)
	f.first, f.last = min(f.first, c.first), max(f.last, c.last)
	f.sel.N += n
	f.sel.First, f.sel.Last = min(f.sel.First, c.first), max(f.sel.Last, c.last)
	f.answered, f.arrived = max(f.answered, c.last), max(f.arrived, c.last)

	counts := &f.counts
	counts.Intended, counts.SentFirst, counts.Attempts = counts.Intended+n, counts.SentFirst+n, counts.Attempts+n
	counts.Sent, counts.Acked, counts.Received = counts.Sent+n, counts.Acked+n, counts.Received+n
	counts.Outcomes[Accepted] += n
	f.data.Integrity.Answerable += n
	f.data.Integrity.Decomposed += n // the identity holds for any instants that are all there

	sentFirst, sentLast := extremes(v.Sent[c.from:c.to])
	ackedFirst, ackedLast := extremes(v.Acked[c.from:c.to])
	receivedFirst, receivedLast := extremes(v.Received[c.from:c.to])
	f.end, f.endRecv = max(f.end, sentLast, ackedLast), max(f.endRecv, receivedLast)
	f.totals[0].join(span{n, c.first, c.last})
	f.totals[1].join(span{n, sentFirst, sentLast})
	f.totals[2].join(span{n, ackedFirst, ackedLast})
	f.totals[3].join(span{n, receivedFirst, receivedLast})
	f.clients.whole(v, c.from, c.to)
	f.wholeRows(v, c)
	runs(v.Size, c.from, c.to, func(from, to int) { f.data.Size.AddN(int64(v.Size[from]), int64(to-from)) })
	runs(v.Bound, c.from, c.to, func(from, to int) { f.bound(v.Bound[from], int64(to-from)) })
}

// join takes in another span.
func (s *span) join(o span) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	s.n, s.first, s.last = s.n+o.n, min(s.first, o.first), max(s.last, o.last)
}

// bound takes in n arrivals with the same bound of their clocks.
func (f *firstPass) bound(bound, n int64) {
	c := &f.data.Clock
	c.Arrivals += n
	if !has(bound) {
		c.Unknown += n
		return
	}
	c.Bound = max(c.Bound, bound)
}

// wholeRows compares instants of the same row.
func (f *firstPass) wholeRows(v *view, c chunk) {
	intended, ready, sent, acked, received := v.Intended[c.from:c.to], v.Ready[c.from:c.to], v.Sent[c.from:c.to], v.Acked[c.from:c.to], v.Received[c.from:c.to]
	var early, backwards, blocked int64
	lowest := f.data.Clock.MinTransit
	for i, at := range sent {
		lowest = min(lowest, received[i]-at)
		if at < intended[i] {
			early++
		}
		if acked[i] < at {
			backwards++
		}
		if at-ready[i] > blockedFor {
			blocked++
		}
	}
	f.data.Integrity.SentEarly += early
	f.data.Integrity.AckedEarly += backwards
	clock := &f.data.Clock
	clock.MinTransit = lowest
	if lowest < 0 { // of this or of an earlier chunk
		for i := c.from; i < c.to; i++ {
			f.negative(v.Received[i]-v.Sent[i], v.Bound[i])
		}
	}
	if blocked > 0 {
		for i := c.from; i < c.to; i++ {
			if v.Sent[i]-v.Ready[i] > blockedFor {
				f.data.Waits[v.wait(i)]++
			}
		}
	}
	if v.deliveredOddly(c) {
		for i := c.from; i < c.to; i++ {
			if v.DeliveryCount[i] > 0 {
				f.counts.Redelivered++
			}
			if v.Reordered[i] {
				f.counts.Reordered++
			}
		}
	}
}

// negative counts a transit below zero.
func (f *firstPass) negative(transit, bound int64) {
	if transit >= 0 {
		return
	}
	if !has(bound) {
		bound = 0
	}
	c := &f.data.Clock
	c.Negative++
	if transit < -bound {
		c.Impossible++
	}
}

// deliveredOddly reports whether any row of a chunk was delivered before, or
// out of order.
func (v *view) deliveredOddly(c chunk) bool {
	highest, some := int32(0), false
	for i := c.from; i < c.to; i++ {
		highest = max(highest, v.DeliveryCount[i])
		some = some || v.Reordered[i]
	}
	return some || highest > 0
}
