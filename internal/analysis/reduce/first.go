package reduce

import (
	"math"

	"amqpperf/internal/analysis/stats"
)

// firstPass takes counts, histograms, rates and extremes.
type firstPass struct {
	*reducer
	dists    [numMetrics]*stats.Distribution
	counts   Counts
	sel      Selection
	first    int64 // intended
	last     int64
	end      int64 // last instant of any kind on the sender's side
	endRecv  int64
	oldest   int64 // intended instant of the oldest unfinished message
	answered int64 // intended instant of the latest message that was answered
	arrived  int64 // and of the latest that arrived
	clients  clients
	totals   [4]span // intended, sent, acked, received
	s        values
	line     *timeline
}

// span counts instants and their extremes.
type span struct{ n, first, last int64 }

func (s *span) add(at int64) {
	if s.n == 0 || at < s.first {
		s.first = at
	}
	if s.n == 0 || at > s.last {
		s.last = at
	}
	s.n++
}

func (s *span) rate() float64 { return stats.Rate(s.n, s.first, s.last) }

func newFirstPass(r *reducer) *firstPass {
	f := &firstPass{
		reducer: r, first: math.MaxInt64, last: math.MinInt64, end: math.MinInt64, endRecv: math.MinInt64,
		oldest: math.MaxInt64, answered: math.MinInt64, arrived: math.MinInt64, clients: newClients(),
	}
	for m := range f.dists {
		f.dists[m] = stats.NewDistribution()
	}
	f.line = newTimeline(r.opt)
	f.sel = r.data.Window
	f.sel.First, f.sel.Last = math.MaxInt64, math.MinInt64
	r.data.Clock.MinTransit = math.MaxInt64
	r.receives = true // arrivals missing are noted in any case, and dropped at the end if there is no receive log
	return f
}

// count is the stage of counts, rates and extremes.
func (f *firstPass) count(v *view) {
	f.data.Rows += int64(v.Len())
	f.eachRow(v, func(c chunk) { f.countWhole(v, c) }, func(i int) { f.countRow(v, i) })
}

func (f *firstPass) countRow(v *view, i int) {
	out := v.outcome(i)
	intended := v.Intended[i]
	f.first, f.last = min(f.first, intended), max(f.last, intended)
	sends := v.Primary[i] && out != Unlogged
	if sends {
		f.countSend(v, i, out)
	} else if v.Primary[i] {
		f.counts.Outcomes[Unlogged]++
	}
	arrived := has(v.Received[i])
	if arrived {
		f.countArrival(v, i)
	} else if v.Copy[i] == 0 {
		f.countMissing(v, i, out)
	}
	if !f.win.covers(intended) {
		return
	}
	selected := f.win.selects(intended)
	if v.Primary[i] && (v.Attempt[i] == 0 || !sends) {
		if !selected {
			f.sel.Warm++
		} else {
			f.sel.N++
			f.sel.First, f.sel.Last = min(f.sel.First, intended), max(f.sel.Last, intended)
		}
	}
	if !selected {
		return
	}
	if sends {
		f.selectSend(v, i, out)
	}
	if arrived && v.Copy[i] == 0 {
		f.selectArrival(v, i)
	}
}

// order is the stage of what needs the messages in intended order.
func (f *firstPass) order(v *view) {
	for _, c := range v.chunks {
		if c.plain && !f.opt.byRow {
			f.line.addWhole(v, c)
			continue
		}
		for i := c.from; i < c.to; i++ {
			if v.Primary[i] && v.outcome(i) != Unlogged {
				f.line.add(v, i)
			}
		}
	}
}

// distribution is the stage of the metrics' distributions.
func (f *firstPass) distribution(v *view) {
	f.eachRow(v, func(c chunk) {
		for m := range f.dists {
			to, from := v.instants(Metric(m), c)
			f.dists[m].AddDifferences(to, from)
		}
	}, func(i int) {
		if f.win.selects(v.Intended[i]) {
			f.distribute(v, i)
		} else if v.Attempt[i] > 0 || v.outcome(i) != Accepted || !has(v.Received[i]) {
			f.leaveOut(v, i)
		}
	})
}

// distribute puts the metrics of a selected row into their distributions.
func (f *firstPass) distribute(v *view, i int) {
	if v.Attempt[i] > 0 {
		f.again.later(v, i)
		return
	}
	s := &f.s
	f.measure(v, i, s)
	each(s.finite, func(m Metric) { f.dists[m].Add(s.v[m]) })
	each(s.infinite, func(m Metric) { f.dists[m].AddInfinite(1) })
	if s.pending != 0 {
		f.again.first(v, i, s.pending)
	}
}

// leaveOut takes what the counts of the whole run need of a row that is not selected.
func (f *firstPass) leaveOut(v *view, i int) {
	if v.Attempt[i] > 0 {
		f.again.later(v, i)
		return
	}
	f.measure(v, i, &f.s)
	if f.s.pending != 0 {
		f.again.leaveOut(v, i, f.s.pending)
	}
}

func (f *firstPass) countSend(v *view, i int, out Outcome) {
	c := &f.counts
	c.Attempts++
	c.Outcomes[out]++
	if v.Attempt[i] == 0 {
		c.Intended++
		if has(v.Sent[i]) {
			c.SentFirst++
		}
	}
	if has(v.Sent[i]) {
		c.Sent++
		f.end = max(f.end, v.Sent[i])
	}
	if has(v.Acked[i]) {
		c.Acked++
		f.end = max(f.end, v.Acked[i])
	}
	if out.unanswered() || out == Unsent {
		f.oldest = min(f.oldest, v.Intended[i])
	} else {
		f.answered = max(f.answered, v.Intended[i])
	}
	f.integrity(v, i, out)
}

func (f *firstPass) integrity(v *view, i int, out Outcome) {
	d := &f.data.Integrity
	sent, acked := v.Sent[i], v.Acked[i]
	switch {
	case out == Strange:
		d.Strange++
	case out == Accepted && (!has(sent) || !has(acked)):
		d.Incomplete++
	}
	if !has(sent) {
		return
	}
	if sent < v.Intended[i] {
		d.SentEarly++
	}
	if has(acked) && acked < sent {
		d.AckedEarly++
	}
	if has(acked) && has(v.Ready[i]) {
		d.Decomposed++
		parts := (v.Ready[i] - v.Intended[i]) + (sent - v.Ready[i]) + (acked - sent)
		d.Identity = max(d.Identity, distance(acked-v.Intended[i], parts))
	}
}

func distance(a, b int64) int64 {
	if a < b {
		a, b = b, a
	}
	return a - b
}

func (f *firstPass) countArrival(v *view, i int) {
	c := &f.counts
	f.endRecv = max(f.endRecv, v.Received[i])
	f.arrived = max(f.arrived, v.Intended[i])
	if v.Copy[i] > 0 {
		c.Duplicate++
	} else {
		c.Received++
		if v.Reordered[i] {
			c.Reordered++
		}
	}
	if v.DeliveryCount[i] > 0 {
		c.Redelivered++
	}
}

// countMissing counts a row without arrival.
func (f *firstPass) countMissing(v *view, i int, out Outcome) {
	switch v.missing(i) {
	case fateLost:
		f.counts.Lost++
	case fateUnknown:
		f.counts.Unknown++
	case fateNone:
		if out == Accepted || out == Presettled {
			f.data.Integrity.NoneExpected++
		}
	}
}

// selectSend takes in a selected primary row that a send log has.
func (f *firstPass) selectSend(v *view, i int, out Outcome) {
	if v.Attempt[i] == 0 {
		f.data.Size.Add(int64(v.Size[i]))
		f.totals[0].add(v.Intended[i])
	}
	who := f.clients.producer(v.Sender[i], v.Producer[i])
	if has(v.Sent[i]) {
		f.totals[1].add(v.Sent[i])
		if has(v.Ready[i]) && v.Sent[i]-v.Ready[i] > blockedFor {
			f.data.Waits[v.wait(i)]++
		}
	}
	switch {
	case has(v.Acked[i]):
		f.totals[2].add(v.Acked[i])
		who.add(v.Acked[i])
	case out == Presettled && has(v.Sent[i]):
		who.add(v.Sent[i])
	}
	if v.Attempt[i] > 0 {
		return
	}
	d := &f.data.Integrity
	if out.unanswered() || out == Unsent {
		d.Unfinished++
		d.Answerable++
	} else if out != Presettled {
		d.Answerable++
	}
}

// blockedFor is how long a message must have waited to count as blocked (check C4).
const blockedFor = 1e6

func (f *firstPass) selectArrival(v *view, i int) {
	f.totals[3].add(v.Received[i])
	f.clients.consumer(v.Receiver[i], v.Consumer[i]).add(v.Received[i])
	f.bound(v.Bound[i], 1)
	if !has(v.Sent[i]) {
		return
	}
	transit := v.Received[i] - v.Sent[i]
	f.data.Clock.MinTransit = min(f.data.Clock.MinTransit, transit)
	f.negative(transit, v.Bound[i])
}

// finish decides what only all rows together tell.
func (f *firstPass) finish() {
	d := f.data
	d.Run = f.run
	if d.Rows == 0 {
		return
	}
	f.readSetup() // the end of a stream may have told more
	c := &f.counts
	f.receives = d.Receives > 0 || c.Received+c.Duplicate+c.Lost+c.Unknown > 0
	if !f.receives {
		// Unsent messages were taken for ones that should have arrived.
		f.dists[E2E].AddInfinite(-f.dists[E2E].Infinite())
		d.Integrity.NoneExpected = 0
	}
	f.again.sort()
	f.again.settle(func(was uint16, now *values) {
		each(was, func(m Metric) { f.dists[m].AddInfinite(-1) })
		each(now.finite, func(m Metric) { f.dists[m].Add(now.v[m]) })
		each(now.infinite, func(m Metric) { f.dists[m].AddInfinite(1) })
	})
	f.counts.Resent, f.counts.Resolved = f.again.messages(), f.again.resolved()
	if f.counts.Resent > 0 { // a later attempt may have got the answer
		d.Integrity.Unfinished = f.dists[Response].Infinite()
	}
	f.counts.Foreign = d.Foreign
	d.First, d.Last, d.Counts = f.first, f.last, f.counts
	if f.sel.N == 0 {
		f.sel.First, f.sel.Last = f.first, f.first
	}
	d.Window = f.sel
	for m := range d.Metrics {
		d.Metrics[m] = Metrical{Distribution: f.dists[m], Negative: f.dists[m].Histogram().Negative()}
	}
	d.Rates = Rates{Offered: f.totals[0].rate(), Sent: f.totals[1].rate(), Acked: f.totals[2].rate(), Received: f.totals[3].rate()}
	d.Rates.Clients = f.clients.list()
	for _, c := range d.Rates.Clients {
		if c.Sender {
			d.Rates.Producers++
		} else {
			d.Rates.Consumers++
		}
	}
	f.finishIntegrity()
}

func (f *firstPass) finishIntegrity() {
	d := &f.data.Integrity
	d.ReceiveLog = f.receives
	d.LastInstant = max(f.end, f.endRecv, f.last)
	if f.oldest != math.MaxInt64 {
		d.Oldest = d.LastInstant - f.oldest
	}
	if f.counts.Resent > 0 { // which of the messages were answered at last is known in number only
		d.Oldest = 0
	}
	if f.data.Clock.MinTransit == math.MaxInt64 {
		f.data.Clock.MinTransit = 0
	}
}
