package reduce

import (
	"math"

	"amqpperf/internal/analysis/stats"
)

// whole takes in a plain chunk: the same as instants and latencies of each row.
// It returns false, and has done nothing, when an instant is beyond the series.
func (p *seriesPass) whole(v *view, c chunk, receives bool) bool {
	intended, sent, acked, received := v.Intended[c.from:c.to], v.Sent[c.from:c.to], v.Acked[c.from:c.to], v.Received[c.from:c.to]
	var lowest, highest [4]int64
	for i, column := range [4][]int64{intended, sent, acked, received} {
		lowest[i], highest[i] = extremes(column)
		if _, ok := p.interval(lowest[i]); !ok {
			return false
		}
		if _, ok := p.interval(highest[i]); !ok {
			return false
		}
	}
	p.eachIntervalOf(intended, lowest[0], highest[0], func(k, from, to int) {
		n := int64(to - from)
		p.counts[countIntended][k] += n
		if receives {
			p.counts[countDue][k] += n
		}
		part := chunk{from: c.from + from, to: c.from + to}
		p.wholeLatencies(v, k, part)
		p.wholeParts(v, k, part)
	})
	p.eachIntervalOf(sent, lowest[1], highest[1], func(k, from, to int) {
		n := int64(to - from)
		p.counts[countSent][k] += n
		p.counts[countSettleable][k] += n
		if receives {
			p.counts[countExpected][k] += n
		}
		p.little[0].addAll(k, p.start+int64(k+1)*p.width, sent[from:to])
	})
	p.eachIntervalOf(acked, lowest[2], highest[2], func(k, from, to int) {
		p.counts[countAcked][k] += int64(to - from)
		p.counts[countDone][k] += int64(to - from)
		p.little[1].addAll(k, p.start+int64(k+1)*p.width, acked[from:to])
	})
	p.eachIntervalOf(received, lowest[3], highest[3], func(k, from, to int) {
		p.counts[countReceived][k] += int64(to - from)
		bound := p.bound[k]
		for _, b := range v.Bound[c.from+from : c.from+to] {
			bound = max(bound, b) // NULL is the smallest of all
		}
		p.bound[k] = bound
	})
	p.pairs.AddDifferences(acked, sent)
	return true
}

// eachIntervalOf is eachInterval of a column whose extremes are known: mostly they
// are in one interval.
func (p *seriesPass) eachIntervalOf(column []int64, lowest, highest int64, f func(k, from, to int)) {
	k, _ := p.interval(lowest)
	if last, _ := p.interval(highest); last == k {
		f(k, 0, len(column))
		return
	}
	p.eachInterval(column, f)
}

// eachInterval calls f for each run of instants in one interval of the series.
func (p *seriesPass) eachInterval(column []int64, f func(k, from, to int)) {
	for from := 0; from < len(column); {
		k, _ := p.interval(column[from])
		lo := p.start + int64(k)*p.width
		hi := lo + p.width - 1
		if hi < lo {
			hi = math.MaxInt64
		}
		to := from + 1
		for to < len(column) && column[to] >= lo && column[to] <= hi {
			to++
		}
		f(k, from, to)
		from = to
	}
}

// addAll is add for instants of one interval.
func (l *littleSide) addAll(i int, end int64, column []int64) {
	before := int64(0)
	for _, at := range column {
		before += end - at
	}
	l.n[i] += int64(len(column))
	l.before[i] += before
}

// wholeLatencies takes in rows of one interval.
func (p *seriesPass) wholeLatencies(v *view, at int, c chunk) {
	for k, m := range [3]Metric{Response, Service, E2E} {
		to, from := v.instants(m, c)
		p.latency[k][at].addDifferences(to, from)
	}
}

// addDifferences takes in the finite values to[i] − from[i].
func (h *intervalHistogram) addDifferences(to, from []int64) {
	if len(to) == 0 {
		return
	}
	if h.finite == nil {
		h.finite = stats.NewHistogram(seriesPrecision)
		h.max = math.MinInt64
	}
	h.finite.AddDifferences(to, from)
	highest := h.max
	from = from[:len(to)]
	for i, t := range to {
		highest = max(highest, t-from[i])
	}
	h.max = highest
}

// wholeParts takes in what the responses of rows of one interval are made of.
func (p *seriesPass) wholeParts(v *view, at int, c chunk) {
	parts := &p.parts[at]
	parts.n += int64(c.to - c.from)
	runs(v.Wait.Codes, c.from, c.to, func(from, to int) {
		blocked := &parts.blocked[v.wait(from)]
		for i := from; i < to; i++ {
			parts.lag.add(v.Ready[i] - v.Intended[i])
			blocked.add(v.Sent[i] - v.Ready[i])
			parts.service.add(v.Acked[i] - v.Sent[i])
		}
	})
}
