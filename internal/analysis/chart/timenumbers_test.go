package chart

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotted is a line that a plot must have.
type plotted struct {
	plot   int
	name   string
	color  color.Color
	points []Point
}

// The lines of every picture over time are the data: each point drawn lies where an
// instant and a value put it, in their order, and the highest value is among them.
func TestPlottedOverTime(t *testing.T) {
	t.Parallel()
	run, _ := samples()
	rates, latency, backlog := sampleRates(run, sampleRun{}), sampleLatency(run, sampleRun{}), sampleBacklog(run, sampleRun{})
	rates.Baseline, latency.Baseline, backlog.Baseline = RateLines{}, LatencyLines{}, BacklogLines{}
	rates.Spans, latency.Spans, backlog.Spans = nil, nil, nil
	use, clocks, many := sampleResources(run), sampleClocks(), sampleMultiples(run, run, 4)
	use.Spans = nil
	r, l, b := rates.Lines, latency.Lines, backlog.Lines
	mid := make([]Point, len(clocks.Pairs[0].Limits))
	for i, k := range clocks.Pairs[0].Limits {
		mid[i] = Point{k.Seconds, (k.Low + k.High) / 2}
	}
	pens := func(p []panel, name string) color.Color {
		for _, panel := range p {
			for _, s := range panel.series {
				if s.name == name {
					return s.pen.color
				}
			}
		}
		return nil
	}
	ofRates, ofLatency := []panel{ratesPanel(rates)}, []panel{latencyPanel(latency)}
	for name, c := range map[string]struct {
		figure func() (*figure, error)
		lines  []plotted
	}{
		"rates": {func() (*figure, error) { return ratesFigure(Options{}, rates) }, []plotted{
			{0, "intended", pens(ofRates, "intended"), r.Intended}, {0, "sent", blue(), r.Sent}, {0, "acked", orange(), r.Acked}, {0, "received", pens(ofRates, "received"), r.Received},
		}},
		"latency": {func() (*figure, error) { return latencyFigure(Options{}, latency) }, []plotted{
			{0, "max", pens(ofLatency, "max"), l.Max}, {0, "p99", vermilion(), l.P99}, {0, "p50", blue(), l.P50},
		}},
		"backlog": {func() (*figure, error) { return backlogFigure(Options{}, backlog) }, []plotted{
			{0, "in broker", blue(), b.InBroker}, {1, "in flight", vermilion(), b.InFlight},
		}},
		"resources": {func() (*figure, error) { return resourcesFigure(Options{}, use) }, []plotted{
			{0, "sent", blue(), use.Rates.Sent}, {1, "CPU", userPen(2).color, use.Users[2].CPU}, {2, "RSS", userPen(1).color, scaled(use.Users[1].RSS, 1.0/(1<<20))},
		}},
		"clocks": {func() (*figure, error) { return clocksFigure(Options{}, clocks) }, []plotted{
			{0, "offset", userPen(0).color, mid}, {1, "bound", grey(0x50), clocks.Bound},
		}},
		"multiples": {func() (*figure, error) { return multiplesFigure(Options{}, many) }, []plotted{
			{0, "p50", blue(), many.Parts[0].Lines.P50}, {2, "p99", vermilion(), many.Parts[2].Lines.P99}, {3, "p50", blue(), many.Parts[3].Lines.P50},
		}},
	} {
		f, err := c.figure()
		if err != nil {
			t.Fatal(err)
		}
		rec, err := recordFigure(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		areas := dataAreas(rec)
		if len(areas) != len(f.plots) {
			t.Fatalf("%s: %d areas of %d plots", name, len(areas), len(f.plots))
		}
		for _, line := range c.lines {
			trX, trY := f.plots[line.plot].Transforms(&draw.Canvas{Canvas: rec, Rectangle: areas[line.plot]})
			checkPlotted(t, name+" "+line.name, inside(rec, line.color, areas[line.plot]), line.points, func(p Point) vg.Point {
				return vg.Point{X: trX(p.Seconds), Y: trY(p.Value)}
			})
		}
	}
}

func checkPlotted(t *testing.T, name string, drawn []vg.Point, data []Point, place func(Point) vg.Point) {
	t.Helper()
	near := func(p, q vg.Point) bool {
		return math.Abs(float64(p.X-q.X)) < 0.01 && math.Abs(float64(p.Y-q.Y)) < 0.01
	}
	if len(drawn) < 20 || len(drawn) > len(data) {
		t.Errorf("%s: %d points drawn of %d", name, len(drawn), len(data))
		return
	}
	k := 0
	for _, q := range drawn {
		for k < len(data) && !near(place(data[k]), q) {
			k++
		}
		if k == len(data) {
			t.Errorf("%s: %v is drawn and not in the data", name, q)
			return
		}
	}
	top := slices.MaxFunc(data, func(a, b Point) int { return int(math.Copysign(1, a.Value-b.Value)) })
	if !slices.ContainsFunc(drawn, func(q vg.Point) bool { return math.Abs(float64(q.Y-place(top).Y)) < 0.01 }) {
		t.Errorf("%s: the highest value, %g at %g s, is not drawn", name, top.Value, top.Seconds)
	}
}

// dataAreas are the rectangles that pairs of axis lines span, from the upper left on.
func dataAreas(r *record) []vg.Rectangle {
	var out []vg.Rectangle
	for i := 1; i < len(r.strokes); i++ {
		for j := max(0, i-60); j < i; j++ {
			a, b := r.strokes[j].points, r.strokes[i].points
			if len(a) == 2 && len(b) == 2 && a[0].Y == a[1].Y && b[0].X == b[1].X && r.strokes[i].color == r.strokes[j].color &&
				math.Abs(float64(a[0].X-b[0].X)) < 1 && math.Abs(float64(a[0].Y-b[0].Y)) < 1 &&
				a[1].X-a[0].X > 100 && b[1].Y-b[0].Y > 40 {
				out = append(out, vg.Rectangle{Min: vg.Point{X: a[0].X, Y: b[0].Y}, Max: vg.Point{X: a[1].X, Y: b[1].Y}})
			}
		}
	}
	return out
}

// inside are the points of the longest line of a colour in an area.
func inside(r *record, c color.Color, area vg.Rectangle) (out []vg.Point) {
	for _, s := range r.strokes {
		if s.color != c || len(s.points) <= len(out) {
			continue
		}
		if p := s.points[0]; p.X >= area.Min.X-1 && p.X <= area.Max.X+1 && p.Y >= area.Min.Y-1 && p.Y <= area.Max.Y+1 {
			out = s.points
		}
	}
	return out
}
