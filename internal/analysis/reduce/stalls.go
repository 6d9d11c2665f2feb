package reduce

import (
	"cmp"
	"math"
	"slices"
	"time"

	"amqpperf/internal/analysis/stats"
)

// Stalls are episodes of slow messages: seeded by those above p99.9 of the
// response, extended in intended order while the response is above twice the
// run's median; episodes less than a second apart are one. A message without an
// answer is above every value. Without a response (nothing was acked) the e2e
// takes its place.
//
// The work is done on bins of intended time, one message each as long as there
// are fewer messages than bins; in a fuller bin that also holds a message that
// was not slow the episode ends. p99.9 and the median are the upper edges of
// their buckets, 1/1024 wide.

// maxStalls is how many episodes are listed, the heaviest ones.
const maxStalls = 50

// topShare of the messages above p99.9 is what episodes are counted for.
const topShare = 0.8

// Who carried a stall.
const (
	ByGenerator = "generator"
	ByWindow    = "window"
	ByBroker    = "broker"
	ByConsumer  = "consumer"
)

type stallPass struct {
	basis Metric
	on    bool
	high  int64 // above: a seed
	twice int64 // above: slow
	bins  []stallBin
	seeds int64
	parts map[int][numCarriers]int64 // excess by carrier, of slow bins
}

// stallBin is what happened to the messages of one bin.
type stallBin struct {
	slow, fast, seeds uint32
	first, last       int64 // intended instants of the slow ones
	end               int64 // last completion; Infinity if one has none
}

const (
	carrierGenerator = iota
	carrierWindow
	carrierBroker
	carrierConsumer
	numCarriers
)

func newStallPass(axis stats.Axis, dists [numMetrics]*stats.Distribution) *stallPass {
	p := &stallPass{basis: Response, parts: map[int][numCarriers]int64{}}
	if dists[Response].N() == 0 {
		p.basis = E2E
	}
	d := dists[p.basis]
	if d.Finite() == 0 {
		return p
	}
	ps := stats.MustPercentiles("50,99.9")
	median, infinite, _ := d.Approx(ps[0])
	if infinite {
		return p
	}
	p.high, infinite, _ = d.Approx(ps[1])
	if infinite {
		p.high = math.MaxInt64
	}
	p.twice = 2 * min(median, math.MaxInt64/2)
	p.on = true
	p.bins = make([]stallBin, axis.Bins)
	return p
}

func (p *stallPass) add(bin int, intended int64, s *values, w Wait) {
	if !p.on {
		return
	}
	finite, infinite := s.finite&(1<<p.basis) != 0, s.infinite&(1<<p.basis) != 0
	if !finite && !infinite {
		return
	}
	b := &p.bins[bin]
	v := s.v[p.basis]
	if finite && v <= p.twice {
		b.fast++
		return
	}
	end := Infinity
	if finite {
		end = intended + v
	}
	if b.slow == 0 {
		b.first, b.last, b.end = intended, intended, end
	}
	b.first, b.last, b.end = min(b.first, intended), max(b.last, intended), max(b.end, end)
	b.slow++
	if infinite || v > p.high {
		b.seeds++
		p.seeds++
	}
	parts := p.parts[bin]
	p.carry(&parts, s, w)
	p.parts[bin] = parts
}

// carry divides the time of a slow message among those who can have caused it.
func (p *stallPass) carry(parts *[numCarriers]int64, s *values, w Wait) {
	const sending = 1<<Lag | 1<<Blocked
	if p.basis == E2E {
		parts[carrierConsumer] += s.v1(Queued) + s.v1(Work)
		parts[carrierBroker] += s.v1(Transit)
		if s.finite&sending != sending { // no send log: all that is known is that it was sent late
			parts[carrierGenerator] += s.v1(E2E) - s.v1(Transit)
			return
		}
	}
	parts[carrierGenerator] += s.v1(Lag)
	switch w {
	case WaitWindow:
		parts[carrierWindow] += s.v1(Blocked)
	case WaitNone:
		parts[carrierGenerator] += s.v1(Blocked) // the tool was slow between ready and sent
	default:
		parts[carrierBroker] += s.v1(Blocked)
	}
	parts[carrierBroker] += s.v1(Service)
	if s.infinite&(1<<Service) != 0 {
		parts[carrierBroker] += int64(time.Second)
	}
}

// v1 is the value of a metric, 0 if it has none.
func (s *values) v1(m Metric) int64 {
	if s.finite&(1<<m) == 0 {
		return 0
	}
	return s.v[m]
}

// episode is a stretch of bins.
type episode struct {
	stallBin
	from, to int // bins, both included
	parts    [numCarriers]float64
}

func (p *stallPass) finish(d *Data) []Stall {
	if p.seeds == 0 {
		return nil
	}
	var top []stats.Exceedance
	for i := range p.bins {
		if b := &p.bins[i]; b.seeds > 0 {
			top = append(top, stats.Exceedance{At: b.first, N: int64(b.seeds)})
		}
	}
	d.Episodes, d.AllEpisodes = stats.Episodes(top, int64(time.Second), topShare)
	var stalls []Stall
	for _, e := range p.episodes() {
		s := Stall{Start: e.first - d.First, Messages: int64(e.slow), Of: p.between(&e), ShareOfTop: float64(e.seeds) / float64(p.seeds), CarriedBy: e.carrier()}
		s.Length = e.end - e.first
		if e.end == Infinity {
			s.Length = max(d.Last, e.last) - e.first
		}
		stalls = append(stalls, s)
	}
	if len(stalls) > maxStalls {
		slices.SortStableFunc(stalls, func(a, b Stall) int { return cmp.Compare(b.ShareOfTop, a.ShareOfTop) })
		stalls = stalls[:maxStalls]
		slices.SortFunc(stalls, func(a, b Stall) int { return cmp.Compare(a.Start, b.Start) })
	}
	return stalls
}

// episodes finds stretches of slow bins with a seed in them and joins those
// that are close.
func (p *stallPass) episodes() []episode {
	var all []episode
	var run *episode
	flush := func() {
		if run != nil && run.seeds > 0 {
			if k := len(all) - 1; k >= 0 && run.first-all[k].last < int64(time.Second) {
				all[k].join(run)
			} else {
				all = append(all, *run)
			}
		}
		run = nil
	}
	for i := range p.bins {
		b := &p.bins[i]
		if b.slow > 0 {
			e := episode{stallBin: *b, from: i, to: i}
			for k, v := range p.parts[i] {
				e.parts[k] = float64(v)
			}
			if run == nil {
				run = &e
			} else {
				run.join(&e)
			}
		}
		if b.fast > 0 {
			flush()
		}
	}
	flush()
	return all
}

// between counts the messages of the bins of an episode.
func (p *stallPass) between(e *episode) (n int64) {
	for _, b := range p.bins[e.from : e.to+1] {
		n += int64(b.slow) + int64(b.fast)
	}
	return n
}

func (e *episode) join(o *episode) {
	e.from, e.to = min(e.from, o.from), max(e.to, o.to)
	e.slow += o.slow
	e.seeds += o.seeds
	e.first, e.last, e.end = min(e.first, o.first), max(e.last, o.last), max(e.end, o.end)
	for k, v := range o.parts {
		e.parts[k] += v
	}
}

func (e *episode) carrier() string {
	best := 0
	for k := range e.parts {
		if e.parts[k] > e.parts[best] {
			best = k
		}
	}
	return [numCarriers]string{ByGenerator, ByWindow, ByBroker, ByConsumer}[best]
}
