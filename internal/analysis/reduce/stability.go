package reduce

import "amqpperf/internal/analysis/stats"

// enoughForStability is the least number of messages in the last half of a run
// that says something about growth.
const enoughForStability = 50

// stabilityPass compares arrivals and departures in the last two quarters of
// the selected intended time, and follows how many messages are under way.
type stabilityPass struct {
	quarter  [3]int64 // edges: half, three quarters, last intended
	in, out  [2]int64
	due, got [2]int64
	answered int64   // intended instant of the latest message with an answer
	arrived  int64   // and of the latest that arrived
	flight   []int32 // +1 sent, −1 acked, per fine bin
	axis     stats.Axis
	// With a round trip that is worth it: deliveries that the broker must hold for
	// unsettled, +1 received, −1 a round trip after settled.
	held []int32
	trip int64
}

// leastTrip is the round trip from which on what is unsettled at the broker is more
// than what is at the consumers, ns.
const leastTrip = 1e6

func newStabilityPass(d *Data, f *firstPass) *stabilityPass {
	first, last := d.Window.First, d.Window.Last
	span := last - first
	p := &stabilityPass{
		answered: f.answered, arrived: f.arrived,
		quarter: [3]int64{first + span/2, first + span/2 + span/4, last},
		axis:    stats.NewAxis(d.First, d.Integrity.LastInstant, d.Rows, maxBins),
	}
	p.flight = make([]int32, p.axis.Bins)
	// The smallest service is a round trip and little else. A fiftieth less: were it
	// longer than that of the deliveries, more would seem to be unsettled than was.
	if m := f.dists[Service]; f.receives && m.Finite() > 0 && m.Min() >= leastTrip {
		p.held, p.trip = make([]int32, p.axis.Bins), m.Min()/50*49
	}
	return p
}

// holds takes in deliveries: rows of a batch.
func (p *stabilityPass) holds(received, settled []int64) {
	if p.held == nil {
		return
	}
	for i, at := range received {
		if has(at) && has(settled[i]) {
			p.held[p.axis.Bin(at)]++
			p.held[p.axis.Bin(max(settled[i]+p.trip, settled[i]))]--
		}
	}
}

func (p *stabilityPass) count(counts *[2]int64, at int64) {
	switch {
	case at < p.quarter[0] || at > p.quarter[2]:
	case at < p.quarter[1]:
		counts[0]++
	default:
		counts[1]++
	}
}

func (p *stabilityPass) add(v *view, i int, out Outcome, expected bool) {
	// A message without an answer among others that got one is no backlog.
	intended := v.Intended[i]
	if v.Primary[i] && out != Unlogged {
		if intended > p.answered || !(out.unanswered() || out == Unsent) {
			p.count(&p.in, intended)
		}
		acked := v.Acked[i]
		if out == Presettled {
			acked = v.Sent[i]
		}
		if has(acked) {
			p.count(&p.out, acked)
		}
		if has(v.Sent[i]) && has(v.Acked[i]) {
			p.flight[p.axis.Bin(v.Sent[i])]++
			p.flight[p.axis.Bin(v.Acked[i])]--
		}
	}
	p.holds(v.Received[i:i+1], v.Settled[i:i+1])
	if !expected {
		return
	}
	if has(v.Received[i]) {
		p.count(&p.got, v.Received[i])
	}
	if has(v.Received[i]) || intended > p.arrived {
		p.count(&p.due, intended)
	}
}

// whole takes in a plain chunk: the same as add of each row.
func (p *stabilityPass) whole(v *view, c chunk, receives bool) {
	p.countAll(&p.in, v.Intended[c.from:c.to])
	p.countAll(&p.out, v.Acked[c.from:c.to])
	p.level(v.Sent[c.from:c.to], +1)
	p.level(v.Acked[c.from:c.to], -1)
	if receives {
		p.holds(v.Received[c.from:c.to], v.Settled[c.from:c.to])
		p.countAll(&p.got, v.Received[c.from:c.to])
		p.countAll(&p.due, v.Intended[c.from:c.to])
	}
}

// countAll counts a column; most of a chunk lies on one side of the edges.
func (p *stabilityPass) countAll(counts *[2]int64, column []int64) {
	lowest, highest := extremes(column)
	switch n := int64(len(column)); {
	case highest < p.quarter[0] || lowest > p.quarter[2]:
	case lowest >= p.quarter[0] && highest < p.quarter[1]:
		counts[0] += n
	case lowest >= p.quarter[1] && highest <= p.quarter[2]:
		counts[1] += n
	default:
		for _, at := range column {
			p.count(counts, at)
		}
	}
}

// level adds to what is under way, for runs of instants in one bin.
func (p *stabilityPass) level(column []int64, by int32) {
	bin, lo, hi := 0, int64(0), int64(-1)
	for _, at := range column {
		if at < lo || at > hi {
			bin = p.axis.Bin(at)
			lo, hi = p.axis.Edges(bin)
		}
		p.flight[bin] += by
	}
}

func (p *stabilityPass) finish(d *Data, s *seriesPass) {
	half := float64(p.quarter[2]-p.quarter[0]) / 1e9
	d.Backlog = stability(p.in, p.out, half)
	d.Backlog.Slope = slope(d, s, countIntended, countDone)
	d.Delivery = stability(p.due, p.got, half)
	d.Delivery.Slope = slope(d, s, countDue, countReceived)
	var level, highest int64
	for _, n := range p.flight {
		level += int64(n)
		highest = max(highest, level)
	}
	d.Integrity.MaxInFlight = highest
	level = 0
	for _, n := range p.held {
		level += int64(n)
		d.Path.MostUnsettled = max(d.Path.MostUnsettled, level)
	}
}

func stability(in, out [2]int64, half float64) Stability {
	s := Stability{In: in[0] + in[1], Out: out[0] + out[1]}
	if s.In < enoughForStability || half <= 0 {
		return s
	}
	s.Valid = true
	s.Deficit = float64(s.In-s.Out) / float64(s.In)
	for q := range s.Quarters {
		if in[q] > 0 {
			s.Quarters[q] = float64(in[q]-out[q]) / float64(in[q])
		}
	}
	s.Capacity = float64(s.Out) / half
	return s
}

// slope is the least-squares slope of the backlog at the ends of the intervals
// that lie within the selected intended time, in messages per second.
func slope(d *Data, s *seriesPass, in, out int) float64 {
	level := stats.Backlog(s.counts[in], s.counts[out])
	var n, sx, sy, sxx, sxy float64
	for i := range level {
		end := s.start + int64(i+1)*s.width
		if end-s.width < d.Window.First || end > d.Window.Last+s.width/100 {
			continue
		}
		x, y := float64(i)*float64(s.width)/1e9, float64(level[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n < 3 {
		return 0
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
