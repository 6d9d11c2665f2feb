package reduce

import (
	"fmt"
	"math"
	"slices"
	"time"

	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// Bracket bounds what the generator's lateness did to the response, per
// quantile: a generator without lag would have seen a quantile between Lower
// and the one that was observed (method: stats.Busy). The busy periods are
// those of all senders of the whole run, warm-up included. Instants of senders
// on different hosts count with the bound of their clocks. No response can have
// been negative: a lower end below 0 is 0.
//
// Up to 2¹⁹ transmissions are put into intended order one by one, and Lower is
// exact. Of more, bins of intended time are made: M of a message is that of
// its bin, so Lower is still valid but looser, and it is the lower edge of its
// bucket, 1/1024 wide. The order within a bin is known only where the rows of a
// single producer come in order, as perf-merge writes them: with several
// producers, or with rows in another order, the result is an estimate.
type Bracket struct {
	Valid bool // there are responses and lags, and a schedule
	// Lower stands in the order of Options.Percentiles.
	Lower []BracketEnd
	// Dist is the distribution of the lower ends, for a curve; nil if not Valid.
	Dist *stats.Distribution
	// Bound says that the assumptions were checked to hold; else it is an
	// estimate, and Reasons say why.
	Bound   bool
	Reasons []string
	// Overtaken messages of Of were handed over or answered after one that was
	// intended later. At least so many, if BinWidth is not 0.
	Overtaken, Of int64
	Largest       int64         // the largest M
	BinWidth      int64         // ns; 0: row by row
	Pauses        []stats.Pause // that a late message came before, the longest ones, in order of time
	PauseCount    int
}

// BracketEnd is the lower end of one quantile.
type BracketEnd struct {
	Value    int64
	Infinite bool // that rank got no answer
}

// A pause is this many medians of the response without an answer.
const pauseMedians = 20

const mostPauses = 5

// bracketPass is what the second pass needs: M of every message.
type bracketPass struct {
	on        bool
	busy      *stats.Busy
	bins      *stats.BusyBins
	line      *timeline
	dist      *stats.Distribution
	exact     []int64 // lower ends, as long as there are at most rowsInOrder
	overtaken int64
	from      []int64 // scratch: the answer less its lower end
}

// newBracketPass finds the busy periods after the first pass.
func newBracketPass(f *firstPass) *bracketPass {
	d, t := f.data, f.line
	p := &bracketPass{line: t}
	tolerance := int64(0)
	if f.severalSenders() {
		tolerance = d.Clock.Bound
	}
	pause := int64(0)
	if median, infinite, ok := f.dists[Response].Approx(stats.MustPercentiles("50")[0]); ok && !infinite {
		pause = max(1, min(median, math.MaxInt64/pauseMedians)*pauseMedians)
	}
	if t.bins == nil {
		p.busy = stats.NewBusy(t.rows, tolerance, pause)
	}
	d.Warmth, _ = t.truncation(d.Window.First, d.Window.Last+1, p.busy)
	if t.bins != nil {
		t.bins.Close(tolerance, pause)
		p.bins = t.bins
	}
	p.on = !d.ClosedLoop && f.dists[Response].Finite() > 0 && f.dists[Lag].Finite() > 0
	if p.on {
		p.dist = stats.NewDistribution()
	} else {
		p.busy, p.bins = nil, nil
	}
	return p
}

func (f *firstPass) severalSenders() bool {
	first, some := int32(0), false
	for who := range f.line.producers.all {
		if some && who.process != first {
			return true
		}
		first, some = who.process, true
	}
	return false
}

// lateness is M of a row, and whether it was overtaken as far as bins can tell.
func (p *bracketPass) lateness(v *view, i int) int64 {
	a := arrivalOf(v, i)
	if p.bins == nil {
		return p.busy.Lateness(a)
	}
	if p.bins.Overtaken(a) {
		p.overtaken++
	}
	return p.bins.Lateness(a)
}

// row takes in the lower end of a response.
func (p *bracketPass) row(v *view, i int, s *values) {
	switch {
	case s.finite&(1<<Response) != 0:
		low := lowerEnd(s.v[Response], p.lateness(v, i))
		p.dist.Add(low)
		if p.bins == nil {
			p.exact = append(p.exact, low)
		}
	case s.infinite&(1<<Response) != 0:
		p.dist.AddInfinite(1)
	}
}

// lowerEnd is not below 0, unless the response is.
func lowerEnd(response, lateness int64) int64 {
	return max(response-lateness, min(0, response))
}

// whole takes in a plain chunk.
func (p *bracketPass) whole(v *view, c chunk) {
	p.from = p.from[:0]
	for i := c.from; i < c.to; i++ {
		a := stats.Arrival{Intended: v.Intended[i], Ready: v.Ready[i], Done: v.Acked[i]}
		late := int64(0)
		if p.bins == nil {
			late = p.busy.Lateness(a)
		} else {
			var overtaken bool
			if late, overtaken = p.bins.Look(a); overtaken {
				p.overtaken++
			}
		}
		low := lowerEnd(a.Done-a.Intended, late)
		p.from = append(p.from, a.Done-low)
		if p.bins == nil {
			p.exact = append(p.exact, low)
		}
	}
	p.dist.AddDifferences(v.Acked[c.from:c.to], p.from)
}

func (p *bracketPass) finish(d *Data, several bool, percentiles []stats.Percentile) {
	if !p.on {
		return
	}
	b := &d.Bracket
	b.Valid, b.Dist, b.Of = true, p.dist, p.line.n
	var pauses []stats.Pause
	if p.bins != nil {
		b.BinWidth, b.Largest, b.Overtaken, pauses = p.bins.Width(), p.bins.Largest, p.overtaken, p.bins.Pauses
	} else {
		b.Largest, b.Overtaken, pauses = p.busy.Largest, p.busy.Overtaken, p.busy.Pauses
	}
	slices.Sort(p.exact)
	for _, q := range percentiles {
		b.Lower = append(b.Lower, p.lower(q))
	}
	b.PauseCount = len(pauses)
	slices.SortStableFunc(pauses, func(x, y stats.Pause) int { return int(min(max(y.Length-x.Length, -1), 1)) })
	b.Pauses = slices.Clone(pauses[:min(len(pauses), mostPauses)])
	slices.SortFunc(b.Pauses, func(x, y stats.Pause) int { return int(min(max(x.From-y.From, -1), 1)) })
	b.Reasons = p.reasons(d, b, several)
	b.Bound = len(b.Reasons) == 0
}

func (p *bracketPass) lower(q stats.Percentile) BracketEnd {
	rank := q.Rank(p.dist.N())
	if rank > p.dist.Finite() {
		return BracketEnd{Infinite: true}
	}
	if p.bins == nil {
		return BracketEnd{Value: p.exact[rank-1]}
	}
	bucket, _ := p.dist.Histogram().AtRank(rank)
	return BracketEnd{Value: max(bucket.Low, p.dist.Min())}
}

// reasons are why the bracket is an estimate and no bound.
func (p *bracketPass) reasons(d *Data, b *Bracket, several bool) (why []string) {
	say := func(n int64, format string, args ...any) {
		if n > 0 {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	t := p.line
	if b.Overtaken > 0 {
		say(1, "%.3g %% of the messages were overtaken in intended order", 100*float64(b.Overtaken)/float64(max(b.Of, 1)))
	} else if p.bins != nil {
		say(t.inverted, "%d messages were ahead of one of the same producer that was intended before", t.inverted)
	}
	if p.bins != nil && t.inverted == 0 {
		width := time.Duration(b.BinWidth)
		say(t.unsorted, "the rows are not in order: what happened within %s is not told apart", width)
		if t.unsorted == 0 && len(t.producers.all) > 1 {
			say(1, "of %d messages of %d producers what happened within %s is not told apart", t.n, len(t.producers.all), width)
		}
	}
	if d.Part {
		say(1, "the rows are a selection: busy periods are known of these only")
	}
	say(t.resent, "%d re-sent transmissions", t.resent)
	say(t.unready, "%d messages have no ready", t.unready)
	say(t.early, "%d messages were ready before they were intended", t.early)
	if several && d.Clock.Unknown > 0 {
		say(1, "the clocks of the senders are not known to agree")
	}
	if b.PauseCount > 0 {
		first := b.Pauses[0]
		say(1, "%s began while a message was late, the longest listed at %.3f s (%s without an answer): if it was tied to the clock and not to a message, that message may be below",
			pauses(b.PauseCount), float64(first.From-d.First)/1e9, units.Latency(first.Length))
	}
	return why
}

func pauses(n int) string {
	if n == 1 {
		return "a pause"
	}
	return fmt.Sprintf("%d pauses", n)
}
