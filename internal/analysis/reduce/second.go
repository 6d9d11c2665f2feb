package reduce

import (
	"fmt"

	"amqpperf/internal/analysis/stats"
)

// maxBins is how finely intended time is divided for stalls and what is in
// flight: some 50 bytes a bin.
const maxBins = 1 << 17

// maxSelectorBins is how finely it is divided for the intervals of quantiles: four
// bytes a bin for each metric and each of its percentiles.
const maxSelectorBins = 1 << 16

// secondPass takes exact ranks and everything over time.
type secondPass struct {
	*reducer
	axis      stats.Axis
	halved    uint // 1: two bins of axis are one of the selectors
	selectors [numMetrics]*stats.Selector
	series    *seriesPass
	tail      tailPass
	stalls    *stallPass
	stability *stabilityPass
	s         values
	press     *press
	bracket   *bracketPass
	arrivals  *arrivalPass
	path      pathPass
	several   bool // sending processes
}

func newSecondPass(r *reducer, f *firstPass) (*secondPass, error) {
	d := r.data
	if r.opt.Sink != nil {
		if err := r.opt.Sink.Begin(d); err != nil {
			return nil, err
		}
	}
	s := &secondPass{
		reducer: r,
		axis:    stats.NewAxis(d.Window.First, d.Window.Last, d.Window.N, maxBins),
	}
	bins := s.axis.Bins
	if bins > maxSelectorBins {
		s.halved = 1
		bins = (bins + 1) / 2
	}
	for m, dist := range f.dists {
		if dist.N() > 0 {
			s.selectors[m] = dist.NewSelector(r.opt.Percentiles, bins)
		}
	}
	s.arrivals = newArrivalPass(d)
	s.several = f.severalSenders()
	s.bracket = newBracketPass(f)
	s.press = newPress(s.work)
	s.series = newSeriesPass(d, f.end, f.endRecv, int64(r.opt.Interval))
	s.tail = newTailPass(f.dists[Response])
	s.stalls = newStallPass(s.axis, f.dists)
	s.stability = newStabilityPass(d, f)
	return s, nil
}

func (p *secondPass) add(v *view) {
	for i := range v.Seq {
		if p.win.covers(v.Intended[i]) {
			p.row(v, i)
		}
	}
	p.press.turn()
}

// work takes in the values of a batch; it runs beside everything else of the
// pass and has the selectors to itself.
func (p *secondPass) work(s *sheet) {
	p.bracket.work(s)
	for m, selector := range p.selectors {
		for i, v := range s.values[m] {
			selector.Add(int(s.bins[m][i]), v)
		}
		for _, bin := range s.infinite[m] {
			selector.AddInfinite(int(bin))
		}
	}
}

func (p *secondPass) row(v *view, i int) {
	out := v.outcome(i)
	expected := p.expected(v, i)
	p.series.instants(v, i, out, expected)
	if v.Attempt[i] > 0 {
		return
	}
	p.stability.add(v, i, out, expected)
	s := &p.s
	p.measure(v, i, s)
	p.again.replace(v, i, s)
	selected := p.win.selects(v.Intended[i])
	p.series.latencies(v.Intended[i], s, v.wait(i))
	if p.opt.Sink != nil {
		p.sink(v, i, s)
	}
	if !selected {
		return
	}
	bin := p.axis.Bin(v.Intended[i])
	p.press.sheet.add(s, bin>>p.halved)
	if p.bracket.on {
		p.bracketRow(v, i, s)
	}
	if v.Primary[i] && out != Unlogged {
		p.arrivals.add(v, i)
	}
	if v.Copy[i] == 0 {
		p.path.add(v, i)
	}
	p.tail.add(s, v.wait(i))
	p.stalls.add(bin, v.Intended[i], s, v.wait(i))
}

// bracketRow puts the lower end of a response beside it.
func (p *secondPass) bracketRow(v *view, i int, s *values) {
	switch {
	case s.finite&(1<<Response) != 0:
		low := s.v[Response] - p.bracket.lateness(v, i)
		p.press.sheet.lower = append(p.press.sheet.lower, max(low, min(0, s.v[Response])))
	case s.infinite&(1<<Response) != 0:
		p.press.sheet.lowerInfinite++
	}
}

func (p *secondPass) sink(v *view, i int, s *values) {
	intended := v.Intended[i]
	each(s.finite, func(m Metric) {
		bound := int64(0)
		if m.OneWay() && has(v.Bound[i]) {
			bound = v.Bound[i]
		}
		p.opt.Sink.Sample(m, intended, s.v[m], bound)
	})
	each(s.infinite, func(m Metric) { p.opt.Sink.Infinite(m, intended) })
}

// expected reports whether a row is about a delivery that was or should have
// been made.
func (p *secondPass) expected(v *view, i int) bool {
	return v.Copy[i] == 0 && p.receives && (has(v.Received[i]) || (v.missing(i) != fateNone && has(v.Sent[i])))
}

func (p *secondPass) finish() error {
	d := p.data
	for m, s := range p.selectors {
		if s == nil {
			continue
		}
		qs, err := s.Quantiles()
		if err != nil {
			return fmt.Errorf("%s: %w: the rows changed while they were read", Metric(m), err)
		}
		d.Metrics[m].Quantiles = qs
	}
	p.series.finish(d)
	d.Tail = p.tail.finish()
	d.Stalls = p.stalls.finish(d)
	p.stability.finish(d, p.series)
	p.arrivals.finish(d)
	p.path.finish(d)
	p.readSide()
	p.bracket.finish(d, p.several, p.opt.Percentiles)
	return nil
}
