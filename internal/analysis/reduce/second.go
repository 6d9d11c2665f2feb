package reduce

import (
	"fmt"

	"amqpperf/internal/analysis/stats"
)

// maxBins is how finely intended time is divided for stalls and what is in
// flight: some 50 bytes a bin.
const maxBins = 1 << 17

// secondPass takes exact ranks and everything over time.
type secondPass struct {
	*reducer
	axis      stats.Axis
	selectors [numMetrics]*stats.Selector
	series    *seriesPass
	tail      tailPass
	stalls    *stallPass
	stability *stabilityPass
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
	halved := uint(0)
	bins := s.axis.Bins
	if bins > stats.MaxSelectorBins { // two bins of the axis are one of the selectors
		halved = 1
		bins = (bins + 1) / 2
	}
	r.place = func(v *view) { v.place(s.axis, halved) }
	for m, dist := range f.dists {
		if dist.N() > 0 {
			s.selectors[m] = dist.NewSelector(r.opt.Percentiles, bins)
		}
	}
	s.arrivals = newArrivalPass(d)
	s.several = f.severalSenders()
	s.bracket = newBracketPass(f)
	s.series = newSeriesPass(d, f.end, f.endRecv, int64(r.opt.Interval))
	r.again.lapsed(
		func(at, n int64) { s.series.lapse(countLapsed, at, n) },
		func(at, n int64) { s.series.lapse(countGone, at, n) })
	s.tail = newTailPass(f.dists[Response])
	s.stalls = newStallPass(s.axis, f.dists)
	s.stability = newStabilityPass(d, f)
	return s, nil
}

// stages are the parts of the pass.
func (p *secondPass) stages() []stage {
	all := []stage{p.selectStage(0, Service), p.selectStage(Service, Transit), p.selectStage(Transit, Queued), p.selectStage(Queued, numMetrics), p.seriesStage(), p.flowStage(), p.stallStage()}
	if p.bracket.on {
		all = append(all, p.bracketStage())
	}
	if p.opt.Sink != nil {
		all = append(all, p.sinkStage())
	}
	return all
}

// row returns the metrics of a first attempt, with regard to later ones; false
// for other rows.
func (p *secondPass) row(v *view, i int, s *values) bool {
	if v.Attempt[i] > 0 || !p.win.covers(v.Intended[i]) {
		return false
	}
	p.measure(v, i, s)
	p.again.replace(v, i, s)
	return true
}

// selectStage finds the exact ranks of the metrics from ≤ m < to.
func (p *secondPass) selectStage(from, to Metric) stage {
	s := &values{}
	return func(v *view) {
		p.eachRow(v, func(c chunk) { p.selectWhole(v, c, from, to) }, func(i int) {
			if !p.win.selects(v.Intended[i]) || !p.row(v, i, s) {
				return
			}
			bin := int(v.halves[i])
			for m := from; m < to; m++ {
				switch {
				case p.selectors[m] == nil:
				case s.finite&(1<<m) != 0:
					p.selectors[m].Add(bin, s.v[m])
				case s.infinite&(1<<m) != 0:
					p.selectors[m].AddInfinite(bin)
				}
			}
		})
	}
}

// selectWhole takes in the rows of a chunk.
func (p *secondPass) selectWhole(v *view, c chunk, from, to Metric) {
	for m := from; m < to; m++ {
		if p.selectors[m] != nil {
			a, b := v.instants(m, c)
			p.selectors[m].AddColumns(v.halves[c.from:c.to], a, b)
		}
	}
}

// seriesStage counts over time.
func (p *secondPass) seriesStage() stage {
	s := &values{}
	return func(v *view) {
		p.eachRow(v, func(c chunk) {
			if !p.series.whole(v, c, p.receives) {
				for i := c.from; i < c.to; i++ {
					p.seriesRow(v, i, s)
				}
			}
		}, func(i int) { p.seriesRow(v, i, s) })
	}
}

func (p *secondPass) seriesRow(v *view, i int, s *values) {
	if !p.win.covers(v.Intended[i]) {
		return
	}
	p.series.instants(v, i, v.outcome(i), p.expected(v, i))
	if p.row(v, i, s) {
		p.series.latencies(v.Intended[i], s, v.wait(i))
	}
}

// flowStage compares what goes in with what comes out.
func (p *secondPass) flowStage() stage {
	return func(v *view) {
		p.eachRow(v, func(c chunk) {
			p.stability.whole(v, c, p.receives)
			p.arrivals.whole(v, c)
			p.path.whole(v, c)
		}, func(i int) {
			if v.Attempt[i] > 0 || !p.win.covers(v.Intended[i]) {
				return
			}
			out := v.outcome(i)
			p.stability.add(v, i, out, p.expected(v, i))
			if !p.win.selects(v.Intended[i]) {
				return
			}
			if v.Primary[i] && out != Unlogged {
				p.arrivals.add(v, i)
			}
			if v.Copy[i] == 0 {
				p.path.add(v, i)
			}
		})
	}
}

// stallStage finds episodes, and what the tail is made of.
func (p *secondPass) stallStage() stage {
	s := &values{}
	return func(v *view) {
		p.eachRow(v, func(c chunk) {
			runs(v.bins, c.from, c.to, func(from, to int) { p.slowWhole(v, int(v.bins[from]), chunk{from: from, to: to}, s) })
		}, func(i int) {
			if p.win.selects(v.Intended[i]) && p.row(v, i, s) {
				p.tail.add(s, v.wait(i))
				p.stalls.add(int(v.bins[i]), v.Intended[i], s, v.wait(i))
			}
		})
	}
}

// slowWhole takes in rows of one bin: of those that are neither slow nor in the
// tail only the number matters.
func (p *secondPass) slowWhole(v *view, bin int, c chunk, s *values) {
	slow := min(p.stalls.twice, p.tail.above)
	known := p.stalls.on && p.stalls.basis == Response && p.tail.known
	fast := uint32(0)
	for i := c.from; i < c.to; i++ {
		if known && v.Acked[i]-v.Intended[i] <= slow {
			fast++
			continue
		}
		p.measure(v, i, s)
		p.tail.add(s, v.wait(i))
		p.stalls.add(bin, v.Intended[i], s, v.wait(i))
	}
	if fast > 0 {
		p.stalls.bins[bin].fast += fast
	}
}

// bracketStage puts the lower ends of the responses into their distribution.
func (p *secondPass) bracketStage() stage {
	s := &values{}
	return func(v *view) {
		p.eachRow(v, func(c chunk) { p.bracket.whole(v, c) }, func(i int) {
			if p.win.selects(v.Intended[i]) && p.row(v, i, s) {
				p.bracket.row(v, i, s)
			}
		})
	}
}

// sinkStage hands out every sample, in the order of the rows.
func (p *secondPass) sinkStage() stage {
	s := &values{}
	return func(v *view) {
		for i := range v.Seq {
			if p.row(v, i, s) {
				p.sink(v, i, s)
			}
		}
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
