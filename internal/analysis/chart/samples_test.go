package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// heatCells counts the values of a made run.
func heatCells(at, values []float64, seconds int) HeatCells {
	c := HeatCells{Width: 1, Base: 1000, Ratio: math.Pow(10, 1.0/20), Columns: make([][]int64, seconds)}
	for i := range c.Columns {
		c.Columns[i] = make([]int64, 140)
	}
	for i, t := range at {
		if k := int(t); k < seconds {
			c.Columns[k][int(math.Log(values[i]/c.Base)/math.Log(c.Ratio))]++
		}
	}
	return c
}

func sampleHeat(run sampleRun) HeatMap {
	return HeatMap{
		Caption: sampleCaption("One pause of 120 ms; from 40 s on a second cloud: the consumer falls behind."),
		Metric:  "e2e", Cells: heatCells(run.intended, run.e2e(), run.seconds),
		Spans: []Span{{Name: "warm-up", To: 5}, {Name: "stall of 120 ms (broker)", From: 33.2, To: 33.4}},
	}
}

func sampleWaits(run sampleRun) Waits {
	n := run.seconds
	count, window, service := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, t := range run.intended {
		if k := int(t); k < n {
			count[k]++
			window[k] += (run.sent[i] - t) * 1e9
			service[k] += run.service[i]
		}
	}
	w := Waits{Caption: sampleCaption("In the second of the pause a message waits 18 ms for the window."), Spans: []Span{{Name: "warm-up", To: 5}}}
	w.Parts = []WaitPart{{Name: "service"}, {Name: "window"}, {Name: "credit"}, {Name: "lag"}}
	for k := range n {
		at := float64(k) + 0.5
		for i, v := range []float64{service[k] / count[k], window[k] / count[k], 0, 40e3} {
			if k > 20 && k < 24 && i == 1 {
				v += 300e3
			}
			w.Parts[i].Points = append(w.Parts[i].Points, Point{at, v})
		}
	}
	return w
}

func sampleMultiples(run, base sampleRun, n int) Multiples {
	m := Multiples{Caption: sampleCaption("orders-3 alone is slow: 0.9 ms at p99 where the others have 0.5 ms."), Metric: "response", By: "destination"}
	quick, slow := perSecond(run.intended, run.response, run.seconds), perSecond(base.intended, base.response, base.seconds)
	for i := range n {
		lines := quick
		if i == 2 {
			lines = slow
		}
		m.Parts = append(m.Parts, Part{Name: fmt.Sprintf("queue://orders-%d", i+1), Detail: "2,000/s", Lines: lines})
	}
	return m
}

func sampleResources(run sampleRun) Resources {
	rng := rand.New(rand.NewPCG(4, 4))
	r := Resources{
		Caption: sampleCaption("The broker uses 1.9 cores at 2,000/s; perf-send a fifth of one."),
		Rates:   sampleRates(run, run).Lines, Spans: []Span{{Name: "warm-up", To: 5}},
		Users: []User{{Name: "perf-send"}, {Name: "perf-recv"}, {Name: "broker"}},
	}
	for k := range run.seconds {
		at := float64(k) + 0.5
		for i, level := range []float64{20, 24, 190} {
			u := &r.Users[i]
			u.CPU = append(u.CPU, Point{at, level * (1 + 0.1*rng.Float64())})
			u.RSS = append(u.RSS, Point{at, (30e6 + 10e6*float64(i) + 400e6*float64(i/2)) * (1 + 0.002*float64(k))})
		}
	}
	return r
}

func sampleClocks() Clocks {
	rng := rand.New(rand.NewPCG(5, 5))
	c := Clocks{Caption: sampleCaption("The receiver's clock gains 20 µs a second; the correction is right within 45 µs.")}
	pair := ClockPair{Name: "perf-recv on host-b"}
	for k := range 240 {
		at := float64(k) / 4
		off := 20e3*at + 5e3*math.Sin(at/6)
		pair.Limits = append(pair.Limits, OffsetLimit{at, off - 30e3 - 20e3*rng.ExpFloat64(), off + 30e3 + 20e3*rng.ExpFloat64()})
	}
	c.Pairs = append(c.Pairs, pair)
	for k := range 60 {
		c.Bound = append(c.Bound, Point{float64(k) + 0.5, 40e3 + 5e3*rng.Float64()})
	}
	return c
}

func sampleShift(between bool) Shift {
	s := Shift{Caption: sampleCaption("response p99 is 32 % lower, 95 % between 25 % and 38 % lower."), Metric: "response"}
	rng := rand.New(rand.NewPCG(6, 6))
	for i := 1; i <= 99; i++ {
		tail := 1 - float64(i)/100
		v := -0.05 - 0.3*float64(i)/100 + 0.01*rng.Float64()
		s.Within = append(s.Within, ShiftPoint{tail, v, v - 0.03 - 0.0006*float64(i), v + 0.03 + 0.0006*float64(i)})
	}
	s.Within = append(s.Within, ShiftPoint{0.001, -0.1, -0.4, 0.5})
	if between {
		s.Within = nil
		for _, tail := range []float64{0.5, 0.1, 0.01, 0.001} {
			s.Between = append(s.Between, ShiftPoint{tail, -0.2 + tail/4, -0.26, math.NaN()})
		}
		s.Between[0].High, s.Between[1].High, s.Between[2].High = -0.02, -0.11, -0.14
	}
	return s
}

func sampleDashboard(run, base sampleRun, compared bool) Dashboard {
	d := Dashboard{
		Caption:     sampleCaption("response p99.9 112 ms against service p99.9 21 ms: messages waited for the window before they were sent; service alone hides that"),
		Percentiles: samplePercentiles(run, base), Latency: sampleLatency(run, base), Rates: sampleRates(run, base), Backlog: sampleBacklog(run, base),
	}
	d.Stamps = []Stamp{{Warn, "C3 generator lag"}}
	if !compared {
		d.Percentiles.Baseline, d.Latency.Baseline, d.Rates.Baseline, d.Backlog.Baseline = nil, LatencyLines{}, RateLines{}, BacklogLines{}
	}
	return d
}

// morePictures are cases of the other pictures.
func morePictures(run, base sampleRun, add func(name string, fig func(o Options) (*figure, error))) {
	heat := sampleHeat(run)
	add("heatmap", func(o Options) (*figure, error) { return heatFigure(o, heat) })
	add("heatmap-empty", func(o Options) (*figure, error) { return heatFigure(o, HeatMap{Caption: sampleCaption("Nothing.")}) })
	one := HeatMap{Cells: HeatCells{Width: 0.1, Base: 1e6, Ratio: 1.1, Columns: [][]int64{{1}}}}
	add("heatmap-one", func(o Options) (*figure, error) { return heatFigure(o, one) })
	wait := sampleWaits(run)
	add("waits", func(o Options) (*figure, error) { return waitsFigure(o, wait) })
	add("waits-empty", func(o Options) (*figure, error) { return waitsFigure(o, Waits{}) })
	add("waits-one", func(o Options) (*figure, error) {
		return waitsFigure(o, Waits{Parts: []WaitPart{{"service", []Point{{0.5, 1e6}}}, {"window", []Point{{0.5, 2e6}}}}})
	})
	for _, n := range []int{1, 2, 4, 9, 30} {
		some := sampleMultiples(run, base, n)
		add(fmt.Sprintf("multiples-%d", n), func(o Options) (*figure, error) { return multiplesFigure(o, some) })
	}
	add("multiples-empty", func(o Options) (*figure, error) { return multiplesFigure(o, Multiples{}) })
	use := sampleResources(run)
	add("resources", func(o Options) (*figure, error) { return resourcesFigure(o, use) })
	add("resources-empty", func(o Options) (*figure, error) {
		return resourcesFigure(o, Resources{Rates: sampleRates(run, base).Lines})
	})
	add("clocks", func(o Options) (*figure, error) { return clocksFigure(o, sampleClocks()) })
	add("clocks-empty", func(o Options) (*figure, error) { return clocksFigure(o, Clocks{}) })
	bound := sampleClocks()
	bound.Pairs = nil
	add("clocks-bound", func(o Options) (*figure, error) { return clocksFigure(o, bound) })
	add("shift", func(o Options) (*figure, error) { return shiftFigure(o, sampleShift(false)) })
	add("shift-runs", func(o Options) (*figure, error) { return shiftFigure(o, sampleShift(true)) })
	add("shift-empty", func(o Options) (*figure, error) { return shiftFigure(o, Shift{}) })
	single, compared := sampleDashboard(run, base, false), sampleDashboard(run, base, true)
	add("dashboard", func(o Options) (*figure, error) {
		f, _, err := dashboardFigure(o, single)
		return f, err
	})
	add("dashboard-compared", func(o Options) (*figure, error) {
		f, _, err := dashboardFigure(o, compared)
		return f, err
	})
}
