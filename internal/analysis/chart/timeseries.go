package chart

import (
	"image/color"
	"io"
	"slices"
)

// series is a named line over time and how it is drawn.
type series struct {
	name             string
	points, baseline []Point
	pen              pen
}

// panel is one plot over time.
type panel struct {
	yLabel string
	log    bool
	series []series
	level  float64              // horizontal line, 0: none
	format func(float64) string // labels of a linear axis, nil: counts
	over   bool                 // the baseline is drawn over the lines, not behind them
	bands  []offsetBand         // behind the lines
}

const timeLabel = "time since start (s)"

// DrawLatency draws quantiles of one metric over time, on a logarithmic axis:
// the maximum in the back, the median in front.
//
// Errors are those of DrawPercentiles.
func DrawLatency(w io.Writer, format string, o Options, data Latency) error {
	f, err := latencyFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func latencyFigure(o Options, data Latency) (*figure, error) {
	return timeFigure(o, "Latency over time ("+orElse(data.Metric, "response")+")", data.Caption, data.Spans, data.BaselineName, latencyPanel(data))
}

func latencyPanel(data Latency) panel {
	l, b := data.Lines, data.Baseline
	return panel{yLabel: "latency (log scale)", log: true, series: []series{
		{name: "max", points: l.Max, baseline: b.Max, pen: pen{color: grey(0xa8), width: 1}},
		{name: "p99.9", points: l.P999, baseline: b.P999, pen: pen{color: orange(), width: 1.1}},
		{name: "p99", points: l.P99, baseline: b.P99, pen: pen{color: vermilion(), width: 1.4}},
		{name: "p50", points: l.P50, baseline: b.P50, pen: pen{color: blue(), width: 1.9}},
	}}
}

// DrawRates draws rates over time. Lines that lie on one another stay visible:
// the first is wide and light, the later ones are narrower.
//
// Errors are those of DrawPercentiles.
func DrawRates(w io.Writer, format string, o Options, data Rates) error {
	f, err := ratesFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func ratesFigure(o Options, data Rates) (*figure, error) {
	return timeFigure(o, "Rates over time", data.Caption, data.Spans, data.BaselineName, ratesPanels(data)...)
}

// ratesPanels is one plot of all rates; beside a baseline it is one of what went
// in and one of what came out, each with the same rate of the baseline over it.
func ratesPanels(data Rates) []panel {
	all := ratesPanel(data)
	b := data.Baseline
	if len(b.Sent) == 0 && len(b.Acked) == 0 && len(b.Received) == 0 {
		return []panel{all}
	}
	in := panel{yLabel: "sent per second", over: true, series: slices.Clone(all.series[:3])}
	for i := range in.series {
		if in.series[i].name != "sent" {
			in.series[i].baseline = nil
		}
	}
	if len(data.Lines.Received) == 0 && len(b.Received) == 0 {
		return []panel{in}
	}
	out := panel{yLabel: "received per second", over: true, series: slices.Clone(all.series[3:])}
	out.series[0].pen.width = 2
	return []panel{in, out}
}

func ratesPanel(data Rates) panel {
	l, b := data.Lines, data.Baseline
	return panel{yLabel: "messages per second", series: []series{
		{name: "intended", points: l.Intended, baseline: b.Intended, pen: pen{color: grey(0xc4), width: 5}},
		{name: "sent", points: l.Sent, baseline: b.Sent, pen: pen{color: blue(), width: 3}},
		{name: "acked", points: l.Acked, baseline: b.Acked, pen: pen{color: orange(), width: 1.8}},
		{name: "received", points: l.Received, baseline: b.Received, pen: pen{color: color.NRGBA{0x00, 0x5a, 0x41, 0xff}, width: 1}},
	}}
}

// DrawBacklog draws messages under way over time. The line in the back is wide: it
// shows beside the other where they are one. Where one of the two numbers
// dwarfs the other each has a panel of its own.
//
// Errors are those of DrawPercentiles.
func DrawBacklog(w io.Writer, format string, o Options, data Backlog) error {
	f, err := backlogFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func backlogFigure(o Options, data Backlog) (*figure, error) {
	panels := backlogPanels(data)
	if data.Window > 0 && panels[len(panels)-1].level == 0 {
		data.Notes = append(slices.Clip(data.Notes), "the window of "+count(data.Window)+" is far above what was in flight and not drawn")
	}
	return timeFigure(o, "Backlog over time", data.Caption, data.Spans, data.BaselineName, panels...)
}

const (
	dwarfs   = 15 // ratio of peaks beyond which two lines do not share an axis
	farAbove = 4  // ratio beyond which the window is not drawn
)

func backlogPanels(data Backlog) []panel {
	window := data.Window
	flight := series{name: "in flight (sent − acked)", points: data.Lines.InFlight, baseline: data.Baseline.InFlight, pen: pen{color: vermilion(), width: 1.5}}
	broker := series{name: "in broker (sent − received)", points: data.Lines.InBroker, baseline: data.Baseline.InBroker, pen: pen{color: blue(), width: 3.6}}
	a, b := peak(flight), peak(broker)
	if window > farAbove*a {
		window = 0 // it would squeeze the data; the figure has a note instead
	}
	a = max(a, window)
	if a > 0 && b > 0 && (a > dwarfs*b || b > dwarfs*a) {
		return []panel{
			{yLabel: "messages in broker", series: []series{broker}},
			{yLabel: "messages in flight", series: []series{flight}, level: window},
		}
	}
	return []panel{{yLabel: "messages", series: []series{broker, flight}, level: window}}
}

func peak(s series) float64 {
	top := 0.0
	for _, points := range [][]Point{s.points, s.baseline} {
		segs, _ := segments(points, false)
		for _, seg := range segs {
			for _, p := range seg {
				top = max(top, p.y)
			}
		}
	}
	return top
}

func (f *figure) write(w io.Writer, format string, o Options) error {
	width, height, dpi, err := o.size()
	if err != nil {
		return err
	}
	return f.render(w, format, width, height, dpi)
}

func timeFigure(o Options, title string, caption Caption, spans []Span, baselineName string, panels ...panel) (*figure, error) {
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure(title, caption, dpi)
	f.xLabel = timeLabel
	var left omitted
	shared := noLimits()
	drawn := make([]preparedPanel, len(panels))
	for i, p := range panels {
		drawn[i] = p.prepare()
		left.add(drawn[i].left)
		if !drawn[i].limits.none() {
			shared.x0, shared.x1 = min(shared.x0, drawn[i].limits.x0), max(shared.x1, drawn[i].limits.x1)
		}
	}
	f.noteOmitted(left)
	if shared.none() {
		f.empty = true
		return f, nil
	}
	lo, hi := secondRange(shared)
	baseline := false
	for _, p := range drawn {
		f.timePlot(p, lo, hi, spans)
		for _, s := range p.lines {
			if s.baseline {
				baseline = true
			} else if !slices.ContainsFunc(f.legend, func(e legendEntry) bool { return e.name == s.name }) {
				f.legend = append(f.legend, legendEntry{name: s.name, pen: s.pen})
			}
		}
		if p.level > 0 {
			f.legend = append(f.legend, legendEntry{name: "window", detail: count(p.level), pen: windowPen()})
		}
	}
	f.spanLegend(spans, lo, hi)
	if baseline {
		f.legend = append(f.legend, baselineEntry(baselineName))
	}
	return f, nil
}

// preparedPanel is a panel in the coordinates of the axes, what is drawn first
// at the front.
type preparedPanel struct {
	panel
	lines  []preparedLine
	limits limits // of lines and bands
	left   omitted
}

type preparedLine struct {
	name     string
	segments [][]xy
	pen      pen
	baseline bool
}

func (p panel) prepare() preparedPanel {
	out := preparedPanel{panel: p, limits: noLimits()}
	add := func(name string, points []Point, pen pen, baseline bool) {
		segs, left := segments(points, p.log)
		out.left.add(left)
		if len(segs) == 0 {
			return
		}
		for _, s := range segs {
			for _, v := range s {
				out.limits.take(v)
			}
		}
		out.lines = append(out.lines, preparedLine{name: name, segments: segs, pen: pen, baseline: baseline})
	}
	for _, b := range p.bands {
		b.take(&out.limits)
	}
	if !p.over {
		for _, s := range p.series {
			add(s.name, s.baseline, s.pen.asBaseline(), true)
		}
	}
	for _, s := range p.series {
		add(s.name, s.points, s.pen, false)
	}
	if p.over {
		for _, s := range p.series {
			add(s.name, s.baseline, pen{color: grey(0x20), width: 1.2, dash: []float64{5, 2.5}}, true)
		}
	}
	return out
}

func (f *figure) timePlot(pp preparedPanel, lo, hi float64, spans []Span) {
	p := f.addPlot(pp.yLabel)
	xTicks := secondTicks(lo, hi)
	setLinearAxis(&p.X, lo, hi, xTicks)
	l := pp.limits
	if l.none() {
		l.y0, l.y1 = 1, 1
	}
	var yTicks ticker
	if pp.log {
		y0, y1 := latencyRange(max(l.y0, l.y1/1e7), l.y1)
		yTicks = latencyTicks(y0, y1)
		setLogAxis(&p.Y, y0, y1, yTicks)
	} else {
		l.y1 = max(l.y1, pp.level)
		y0, y1 := countRange(l)
		yTicks = pp.ticks(y0, y1)
		setLinearAxis(&p.Y, y0, y1, yTicks)
	}
	addSpans(p, spans, lo, hi)
	p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
	if pp.level > 0 {
		p.Add(level{y: pp.level, style: windowPen().line()})
	}
	for _, b := range pp.bands {
		p.Add(b.area(f.pixel))
	}
	for _, s := range pp.lines {
		p.Add(lines{segments: s.segments, style: s.pen.line(), column: f.pixel})
	}
}

// ticks label a linear axis.
func (p panel) ticks(lo, hi float64) ticker {
	if p.format == nil {
		return countTicks(lo, hi)
	}
	return linearTicks(lo, hi, step125((hi-lo)/8, +1), p.format)
}

func windowPen() pen { return pen{color: black(), width: 1, dash: []float64{2, 2}} }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
