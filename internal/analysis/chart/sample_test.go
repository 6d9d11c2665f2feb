package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// sampleRun is a made run that looks like a real one: 2000 messages a second
// for 60 s into a FIFO server, a slow start, a pause of 10 ms every ten seconds
// and one of 120 ms, a consumer that falls behind for a while.
type sampleRun struct {
	seconds           int
	rate              float64
	service, response []float64 // ns, in intended order
	intended          []float64 // s
	sent, acked, recv []float64 // s
}

func newSample(seed uint64, scale float64) sampleRun {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := sampleRun{seconds: 60, rate: 2000}
	free, freeOut := 0.0, 0.0
	var inFlight []float64 // acked of the last messages, a window of 100
	for i := range int(s.rate) * s.seconds {
		at := float64(i) / s.rate
		sent := at
		if len(inFlight) >= 100 {
			sent = max(sent, inFlight[len(inFlight)-100])
		}
		work := scale * 220e-6 * math.Exp(0.25*rng.NormFloat64())
		if at < 5 {
			work *= 1 + 1.1*math.Exp(-at)
		}
		start := max(sent+60e-6, free)
		for _, stall := range [][2]float64{{9.7, 0.010}, {19.7, 0.010}, {29.7, 0.010}, {33.2, 0.120}, {39.7, 0.010}, {49.7, 0.010}} {
			if start >= stall[0] && start < stall[0]+stall[1] {
				start = stall[0] + stall[1]
			}
		}
		free = start + work
		acked := free + 60e-6
		outWork := 300e-6
		if at > 40 && at < 45 {
			outWork = 600e-6
		}
		freeOut = max(free, freeOut) + outWork
		inFlight = append(inFlight, acked)
		s.intended = append(s.intended, at)
		s.sent = append(s.sent, sent)
		s.acked = append(s.acked, acked)
		s.recv = append(s.recv, freeOut+80e-6)
		s.service = append(s.service, (acked-sent)*1e9)
		s.response = append(s.response, (acked-at)*1e9)
	}
	return s
}

// samples returns a run and a slower one to compare it with. They are made once:
// nothing changes them.
func samples() (run, base sampleRun) { return sampleOne(), sampleTwo() }

var (
	sampleOne = sync.OnceValue(func() sampleRun { return newSample(1, 1) })
	sampleTwo = sync.OnceValue(func() sampleRun { return newSample(2, 1.35) })
)

func (s sampleRun) e2e() []float64 {
	out := make([]float64, len(s.recv))
	for i := range out {
		out[i] = (s.recv[i] - s.intended[i]) * 1e9
	}
	return out
}

// curveOf sorts values into a curve with the marks of the default percentiles.
func curveOf(name string, values []float64) Curve {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	c := Curve{Name: name}
	for i := 0; ; i++ {
		above := int(math.Exp2(-float64(i)/10) * float64(n))
		if above < 1 {
			break
		}
		if rank := n - above; rank >= 1 {
			c.Points = append(c.Points, CurvePoint{Tail: float64(above) / float64(n), Value: v[rank-1]})
		}
	}
	c.Points = append(c.Points, CurvePoint{Tail: 0.5 / float64(n), Value: v[n-1]})
	for _, m := range []struct {
		label string
		tail  float64
	}{{"50", 0.5}, {"90", 0.1}, {"99", 0.01}, {"99.9", 0.001}, {"99.99", 0.0001}} {
		at := func(tail float64) float64 { return v[max(0, min(n-1, n-int(tail*float64(n))-1))] }
		k := m.tail * float64(n) / 8
		mark := Mark{Label: m.label, Tail: m.tail, Value: at(m.tail), Low: at(m.tail * (1 + 2/math.Sqrt(k))), High: at(m.tail * max(0, 1-2/math.Sqrt(k)))}
		if k < 5 {
			mark.Uncertain, mark.High = true, math.Inf(1)
		}
		c.Marks = append(c.Marks, mark)
	}
	return c
}

func perSecond(at, values []float64, seconds int) LatencyLines {
	buckets := make([][]float64, seconds)
	for i, t := range at {
		if k := int(t); k < seconds {
			buckets[k] = append(buckets[k], values[i])
		}
	}
	var l LatencyLines
	for k, b := range buckets {
		slices.Sort(b)
		put := func(to *[]Point, p float64) {
			v := math.NaN()
			if len(b) > 0 {
				v = b[max(0, int(math.Ceil(p*float64(len(b))))-1)]
			}
			*to = append(*to, Point{float64(k) + 0.5, v})
		}
		put(&l.P50, 0.5)
		put(&l.P99, 0.99)
		put(&l.Max, 1)
	}
	return l
}

func ratePoints(at []float64, seconds int) []Point {
	counts := make([]float64, seconds)
	for _, t := range at {
		if k := int(t); k < seconds {
			counts[k]++
		}
	}
	var out []Point
	for k, n := range counts {
		out = append(out, Point{float64(k) + 0.5, n})
	}
	return out
}

// levelPoints is in − out at the end of each tenth of a second.
func levelPoints(in, out []float64, seconds int) []Point {
	level := make([]float64, seconds*10)
	for _, t := range in {
		if k := int(t * 10); k < len(level) {
			level[k]++
		}
	}
	for _, t := range out {
		if k := int(t * 10); k < len(level) {
			level[k]--
		}
	}
	var points []Point
	sum := 0.0
	for k, d := range level {
		sum += d
		points = append(points, Point{float64(k+1) / 10, sum})
	}
	return points
}

func sampleCaption(finding string) Caption {
	return Caption{
		Name:    "artemis 2.42 patched",
		Labels:  []string{"build=patched", "broker=artemis", "2,000/s × 60 s", "1 KiB"},
		Start:   time.Date(2026, 3, 14, 9, 26, 53, 589793000, time.UTC),
		Finding: finding,
	}
}

func samplePercentiles(run, base sampleRun) Percentiles {
	response := curveOf("response", run.response)
	for _, p := range response.Points {
		response.Band = append(response.Band, BandPoint{Tail: p.Tail, Low: p.Value * 0.94, High: p.Value})
	}
	return Percentiles{
		Caption:      sampleCaption("One pause of 120 ms: with a window of 100, service shows 100 slow messages and response shows 300."),
		Curves:       []Curve{curveOf("service", run.service), response, curveOf("e2e", run.e2e())},
		Baseline:     []Curve{curveOf("service", base.service), curveOf("response", base.response)},
		BaselineName: "artemis 2.42 trunk",
	}
}

func sampleLatency(run, base sampleRun) Latency {
	return Latency{
		Caption:      sampleCaption("p99 is 0.5 ms in quiet seconds; pauses lift it to 5 ms, that at 33 s to 112 ms."),
		Metric:       "response",
		Lines:        perSecond(run.intended, run.response, run.seconds),
		Baseline:     perSecond(base.intended, base.response, base.seconds),
		BaselineName: "artemis 2.42 trunk",
		Spans:        []Span{{Name: "warm-up", To: 5}},
	}
}

func sampleRates(run, base sampleRun) Rates {
	lines := func(s sampleRun) RateLines {
		return RateLines{Intended: ratePoints(s.intended, s.seconds), Sent: ratePoints(s.sent, s.seconds), Acked: ratePoints(s.acked, s.seconds), Received: ratePoints(s.recv, s.seconds)}
	}
	return Rates{
		Caption:      sampleCaption("Offered 2,000/s, achieved 2,000/s; the consumer falls behind from 40 s to 45 s."),
		Lines:        lines(run),
		Baseline:     lines(base),
		BaselineName: "artemis 2.42 trunk",
		Spans:        []Span{{Name: "warm-up", To: 5}},
	}
}

func sampleBacklog(run, base sampleRun) Backlog {
	return Backlog{
		Caption:      sampleCaption("The broker holds 2,000 messages when the slow consumer recovers, and drains them in 1.5 s."),
		Lines:        BacklogLines{InFlight: levelPoints(run.sent, run.acked, run.seconds), InBroker: levelPoints(run.sent, run.recv, run.seconds)},
		Baseline:     BacklogLines{InFlight: levelPoints(base.sent, base.acked, base.seconds), InBroker: levelPoints(base.sent, base.recv, base.seconds)},
		BaselineName: "artemis 2.42 trunk",
		Window:       100,
		Spans:        []Span{{Name: "warm-up", To: 5}},
	}
}

// pictures are all cases that are drawn in tests, by name; made once.
var pictures = sync.OnceValue(makePictures)

func makePictures() map[string]func(o Options) (*figure, error) {
	run, base := samples()
	all := map[string]func(o Options) (*figure, error){}
	add := func(name string, fig func(o Options) (*figure, error)) { all[name] = fig }
	perc := func(d Percentiles) func(o Options) (*figure, error) {
		return func(o Options) (*figure, error) {
			_, _, dpi, err := o.size()
			return percentilesFigure(d, dpi), err
		}
	}
	latency := func(d Latency) func(o Options) (*figure, error) {
		return func(o Options) (*figure, error) { return latencyFigure(o, d) }
	}
	rates := func(d Rates) func(o Options) (*figure, error) {
		return func(o Options) (*figure, error) { return ratesFigure(o, d) }
	}
	backlog := func(d Backlog) func(o Options) (*figure, error) {
		return func(o Options) (*figure, error) { return backlogFigure(o, d) }
	}
	add("percentiles", perc(samplePercentiles(run, base)))
	alone := samplePercentiles(run, base)
	alone.Baseline, alone.Curves = nil, alone.Curves[:2]
	add("percentiles-alone", perc(alone))
	add("percentiles-empty", perc(Percentiles{Caption: sampleCaption("Nothing was sent.")}))
	add("percentiles-one", perc(Percentiles{Curves: []Curve{curveOf("response", []float64{1.5e6})}}))
	add("percentiles-equal", perc(Percentiles{Curves: []Curve{curveOf("response", slices.Repeat([]float64{2e6}, 5000))}}))
	lost := Percentiles{Caption: sampleCaption("0.2 % were lost."), Curves: []Curve{curveOf("response", base.response)}}
	lost.Curves[0].Infinite = 0.002
	lost.Curves[0].Points = slices.DeleteFunc(lost.Curves[0].Points, func(p CurvePoint) bool { return p.Tail < 0.002 })
	lost.Curves[0].Points = append(lost.Curves[0].Points, CurvePoint{0.001, math.Inf(1)}, CurvePoint{0, 5}, CurvePoint{0.0001, math.NaN()})
	lost.Curves[0].Marks[3].Value, lost.Curves[0].Marks[4].Value = math.Inf(1), math.Inf(1)
	lost.Stamps = []Stamp{{Fail, "C1 240 messages lost"}, {Warn, "C10 p99.99 from few events"}}
	add("percentiles-lost", perc(lost))
	many := samplePercentiles(run, base)
	many.Name = "a name of a run that goes on and on " + fmt.Sprint(slices.Repeat([]string{"and on"}, 40))
	many.Labels = append(many.Labels, slices.Repeat([]string{"label=with a long value"}, 20)...)
	many.Finding = fmt.Sprint(slices.Repeat([]string{"a finding of many words"}, 30))
	for i, m := range []string{"transit", "lag", "blocked", "queued", "work", "handled"} {
		values := slices.Clone(base.service[:10_000])
		for k := range values {
			values[k] *= 0.2 + float64(i)/5
		}
		c := curveOf(m, values)
		many.Curves = append(many.Curves, c)
	}
	many.Stamps = slices.Repeat([]Stamp{{Fail, "C2 offered rate not reached"}, {Warn, "C3 generator lag"}}, 5)
	many.Notes = slices.Repeat([]string{"a note of some length that is repeated"}, 7)
	add("percentiles-crowded", perc(many))
	letters := alone
	letters.Name = "Müller & Söhne – Кафка <b>µs</b> 東京 \x1b[31mred\x1b[0m\nline two \u202egnp"
	letters.Labels = []string{"größe=1 KiB", "город=Москва", "λ=2k"}
	add("percentiles-letters", perc(letters))

	add("latency", latency(sampleLatency(run, base)))
	noBase := sampleLatency(run, base)
	noBase.Baseline = LatencyLines{}
	noBase.Spans = append(noBase.Spans, Span{Name: "stall", From: 33.2, To: 33.5}, Span{Name: "second with a hiccup", From: 33, To: 34, Bar: true})
	add("latency-alone", latency(noBase))
	add("latency-empty", latency(Latency{Lines: LatencyLines{P50: []Point{{0.5, math.NaN()}}}}))
	add("latency-one", latency(Latency{Lines: LatencyLines{P50: []Point{{0.5, 1e6}}, P99: []Point{{0.5, 2e6}}, Max: []Point{{0.5, 2e6}}}}))
	add("latency-million", func(o Options) (*figure, error) { return latencyFigure(o, millionPoints()) })
	add("rates", rates(sampleRates(run, base)))
	ratesAlone := sampleRates(run, base)
	ratesAlone.Baseline = RateLines{}
	add("rates-alone", rates(ratesAlone))
	add("backlog", backlog(sampleBacklog(run, base)))
	small := sampleBacklog(run, base)
	small.Baseline = BacklogLines{}
	small.Window = 1000
	add("backlog-alone", backlog(small))
	morePictures(run, base, add)
	add("backlog-negative", backlog(Backlog{Lines: BacklogLines{InBroker: []Point{{0, 0}, {1, -5}, {2, 3}}}}))
	return all
}

// millionPoints is a run of a million points and one spike.
func millionPoints() Latency {
	data := Latency{Caption: sampleCaption("One value of 5 s among a million."), Lines: LatencyLines{P50: make([]Point, 1_000_000)}}
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range data.Lines.P50 {
		data.Lines.P50[i] = Point{float64(i) / 1000, 1e6 * (1 + 0.1*rng.Float64())}
	}
	data.Lines.P50[345_678].Value = 5e9
	return data
}
