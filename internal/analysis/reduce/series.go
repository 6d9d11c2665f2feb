package reduce

import (
	"math"
	"slices"
	"time"

	"amqpperf/internal/analysis/stats"
)

const (
	// maxIntervals bounds the memory of a series: 20 to 60 KiB an interval.
	maxIntervals = 900
	// seriesPrecision is that of the histogram of one interval.
	seriesPrecision = 8
)

// widths are the intervals that a series may have.
func widths() []time.Duration {
	const s, m, h = time.Second, time.Minute, time.Hour
	return []time.Duration{s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 30 * m, h, 2 * h, 6 * h, 24 * h}
}

// width chooses the interval for a span.
func width(span int64) int64 {
	switch {
	case span <= int64(5*time.Second):
		return int64(100 * time.Millisecond)
	case span < int64(20*time.Second):
		return int64(200 * time.Millisecond)
	}
	for _, w := range widths() {
		if span/int64(w) < maxIntervals {
			return int64(w)
		}
	}
	return span/maxIntervals + 1
}

// intervalHistogram is one metric in one interval.
type intervalHistogram struct {
	finite   *stats.Histogram
	infinite int64
	max      int64
}

// seriesPass counts per interval of time.
type seriesPass struct {
	start, width int64
	n            int
	counts       [numCounts][]int64
	latency      [3][]intervalHistogram
	little       [2]littleSide
	pairs        stats.Moments // acked − sent of the messages in both sides
	parts        []partSums
	bound        []int64
	outside      int64
}

// What is counted per interval.
const (
	countIntended = iota
	countSent
	countAcked
	countReceived
	countSettleable // sent and going to be acked
	countDone       // acked, or sent presettled
	countExpected   // sent, expected to be delivered
	countDue        // intended, expected to be delivered
	countLapsed     // attempts that are waited for no more: their message was sent again
	countGone       // attempts that will not arrive: their message did by another one
	numCounts
)

// littleSide sums instants by interval: how many, and how long before the end
// of their interval.
type littleSide struct {
	n, before []int64
}

func newSeriesPass(d *Data, end, endRecv, interval int64) *seriesPass {
	start := d.First
	last := max(d.Last, end)
	// A receiving clock that is far off must not stretch the series.
	if limit := last + 10*(last-start) + int64(time.Minute); endRecv > last {
		last = min(endRecv, limit)
	}
	if d.Window.To > 0 {
		last = min(last, start+d.Window.To)
	}
	span := last - start
	w := interval
	if w <= 0 || span/w >= 100*maxIntervals {
		w = width(span)
	}
	p := &seriesPass{start: start, width: w, n: int(span/w) + 1}
	for i := range p.counts {
		p.counts[i] = make([]int64, p.n)
	}
	for i := range p.latency {
		p.latency[i] = make([]intervalHistogram, p.n)
	}
	p.parts, p.bound = make([]partSums, p.n), make([]int64, p.n)
	for i := range p.bound {
		p.bound[i] = -1
	}
	for i := range p.little {
		p.little[i] = littleSide{make([]int64, p.n), make([]int64, p.n)}
	}
	return p
}

// interval returns the interval of an instant, or false.
func (p *seriesPass) interval(at int64) (int, bool) {
	if at < p.start || (at-p.start)/p.width >= int64(p.n) {
		return 0, false
	}
	return int((at - p.start) / p.width), true
}

func (p *seriesPass) count(what int, at int64) {
	if i, ok := p.interval(at); ok {
		p.counts[what][i]++
	} else {
		p.outside++
	}
}

// lapse counts n attempts that are not under way from an instant on.
func (p *seriesPass) lapse(what int, at, n int64) {
	if i, ok := p.interval(at); ok {
		p.counts[what][i] += n
	}
}

// instants counts the instants of a row.
func (p *seriesPass) instants(v *view, i int, out Outcome, expected bool) {
	if v.Primary[i] && out != Unlogged {
		if v.Attempt[i] == 0 {
			p.count(countIntended, v.Intended[i])
		}
		p.sendSide(v.Sent[i], v.Acked[i], out)
	}
	if v.Copy[i] != 0 {
		return
	}
	if has(v.Received[i]) {
		p.count(countReceived, v.Received[i])
		if k, ok := p.interval(v.Received[i]); ok && has(v.Bound[i]) {
			p.bound[k] = max(p.bound[k], v.Bound[i])
		}
	}
	if expected {
		p.count(countDue, v.Intended[i])
		if has(v.Sent[i]) {
			p.count(countExpected, v.Sent[i])
		}
	}
}

func (p *seriesPass) sendSide(sent, acked int64, out Outcome) {
	if !has(sent) {
		return
	}
	p.count(countSent, sent)
	if out == Presettled {
		p.count(countDone, sent)
		return
	}
	p.count(countSettleable, sent)
	if !has(acked) {
		return
	}
	p.count(countAcked, acked)
	p.count(countDone, acked)
	a, okA := p.interval(sent)
	b, okB := p.interval(acked)
	if okA && okB {
		p.little[0].add(a, p.start+int64(a+1)*p.width-sent)
		p.little[1].add(b, p.start+int64(b+1)*p.width-acked)
		p.pairs.Add(acked - sent)
	}
}

func (l *littleSide) add(i int, before int64) {
	l.n[i]++
	l.before[i] += before
}

// latencies takes in the latencies of a message, by its intended instant.
func (p *seriesPass) latencies(intended int64, s *values, w Wait) {
	at, ok := p.interval(intended)
	if !ok {
		return
	}
	p.parts[at].add(s, w)
	for k, m := range [3]Metric{Response, Service, E2E} {
		cell := &p.latency[k][at]
		switch {
		case s.finite&(1<<m) != 0:
			if cell.finite == nil {
				cell.finite = stats.NewHistogram(seriesPrecision)
				cell.max = math.MinInt64
			}
			cell.finite.Add(s.v[m])
			cell.max = max(cell.max, s.v[m])
		case s.infinite&(1<<m) != 0:
			cell.infinite++
		}
	}
}

func (p *seriesPass) finish(d *Data) {
	c := &p.counts
	d.Series = Series{
		Start: p.start, Width: p.width, Outside: p.outside,
		Intended: c[countIntended], Sent: c[countSent], Acked: c[countAcked], Received: c[countReceived],
		Response: p.intervals(0), Service: p.intervals(1), E2E: p.intervals(2),
		ResponseHeat: p.heat(0), ServiceHeat: p.heat(1), E2EHeat: p.heat(2),
		Parts: partsOf(p.parts),
	}
	if slices.Max(p.bound) >= 0 {
		d.Series.Bound = p.bound
	}
	d.Integrity.OutOfSeries = p.outside
	if total(c[countAcked]) > 0 {
		d.Series.InFlight = stats.Backlog(c[countSettleable], sums(c[countAcked], c[countLapsed]))
	}
	if total(c[countReceived]) > 0 && total(c[countExpected]) > 0 {
		d.Series.InBroker = stats.Backlog(c[countExpected], sums(c[countReceived], c[countGone]))
	}
	d.Integrity.LittleLeft = p.integral() / 1e9
	if p.pairs.N() > 0 {
		d.Integrity.LittleRight = p.pairs.Mean() * float64(p.pairs.N()) / 1e9
	}
}

func sums(a, b []int64) []int64 {
	out := slices.Clone(a)
	for i, n := range b {
		out[i] += n
	}
	return out
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// integral is ∫N(t)dt over the series in messages × ns, with N the number of
// messages that were sent and not yet acked: one side of Little's identity.
func (p *seriesPass) integral() float64 {
	var level int64
	var area float64
	for i := range p.n {
		area += float64(level) * float64(p.width)
		area += float64(p.little[0].before[i] - p.little[1].before[i])
		level += p.little[0].n[i] - p.little[1].n[i]
	}
	return area
}

func (p *seriesPass) intervals(k int) []Interval {
	all := make([]Interval, p.n)
	some := false
	for i := range all {
		cell := &p.latency[k][i]
		n := cell.infinite
		if cell.finite != nil {
			n += cell.finite.N()
		}
		if n == 0 {
			continue
		}
		some = true
		all[i] = Interval{N: n, P50: cell.at(n, 50, 100), P99: cell.at(n, 99, 100), P999: cell.at(n, 999, 1000), Max: Infinity}
		if cell.infinite == 0 {
			all[i].Max = cell.max
		}
	}
	if !some {
		return nil
	}
	return all
}

// at returns the quantile num/den of n values by nearest rank.
func (c *intervalHistogram) at(n, num, den int64) int64 {
	rank := max(1, (n*num+den-1)/den)
	if c.finite == nil || rank > c.finite.N() {
		return Infinity
	}
	b, _ := c.finite.AtRank(rank)
	return min(b.High, c.max)
}
