package chart

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostMultiples is how many small plots are on one picture.
const mostMultiples = 12

// Multiples is the input of the picture of one metric over time in small plots
// that share their axes, one for each destination, producer, or other part of
// the run.
type Multiples struct {
	Caption
	Metric string // the metric's word: response, e2e, …
	By     string // what the parts are: destination, producer, …
	Parts  []Part // those beyond mostMultiples are counted in a note
}

// Part is one small plot.
type Part struct {
	Name   string
	Detail string // figures behind the name
	Lines  LatencyLines
}

// DrawMultiples draws p50 and p99 of each part.
//
// Errors are those of DrawPercentiles.
func DrawMultiples(w io.Writer, format string, o Options, data Multiples) error {
	f, err := multiplesFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func multiplesFigure(o Options, data Multiples) (*figure, error) {
	width, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure(fmt.Sprintf("Latency over time (%s) by %s", orElse(data.Metric, "response"), orElse(data.By, "part")), data.Caption, dpi)
	f.xLabel = timeLabel
	parts := data.Parts
	if len(parts) > mostMultiples {
		f.notes = append(f.notes, fmt.Sprintf("the first %d of %d", mostMultiples, len(parts)))
		parts = parts[:mostMultiples]
	}
	l, left := noLimits(), omitted{}
	panels := make([]preparedPanel, len(parts))
	for i, part := range parts {
		panels[i] = panel{log: true, series: []series{
			{name: "p99", points: part.Lines.P99, pen: pen{color: vermilion(), width: 1.1}},
			{name: "p50", points: part.Lines.P50, pen: pen{color: blue(), width: 1.6}},
		}}.prepare()
		left.add(panels[i].left)
		if k := panels[i].limits; !k.none() {
			l.take(xy{k.x0, k.y0})
			l.take(xy{k.x1, k.y1})
		}
	}
	f.noteOmitted(left)
	if l.none() {
		f.empty = true
		return f, nil
	}
	f.columns = columnsOf(len(parts))
	f.addMultiples(parts, panels, l, (width-vg.Points(90))/vg.Length(f.columns)-vg.Points(12))
	f.legend = append(f.legend, legendEntry{name: "p50", pen: pen{color: blue(), width: 1.6}}, legendEntry{name: "p99", pen: pen{color: vermilion(), width: 1.1}})
	return f, nil
}

// columnsOf sets n plots about as wide as high in a wide picture.
func columnsOf(n int) int {
	switch {
	case n <= 3:
		return n
	case n <= 4:
		return 2
	case n <= 9:
		return 3
	}
	return 4
}

// addMultiples adds the plots with equal axes. Only the outer ones have labels.
func (f *figure) addMultiples(parts []Part, panels []preparedPanel, l limits, room vg.Length) {
	lo, hi := secondRange(l)
	y0, y1 := latencyRange(max(l.y0, l.y1/1e7), l.y1)
	xTicks, yTicks := secondTicks(lo, hi), latencyTicks(y0, y1)
	for i, part := range parts {
		p := f.addPlot("")
		p.Title.TextStyle = f.theme.style(legendSize, true, grey(0x20))
		p.Title.Text = fit(orElse(f.theme.clean(part.Name+detail(part.Detail)), "-"), p.Title.TextStyle, room)
		p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
		p.Title.Padding = vg.Points(2)
		x, y := xTicks, yTicks
		if i+f.columns < len(parts) {
			x = unlabelled(x)
		}
		if i%f.columns > 0 {
			y = blank(y)
		}
		setLinearAxis(&p.X, lo, hi, x)
		setLogAxis(&p.Y, y0, y1, y)
		p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
		for _, s := range panels[i].lines {
			p.Add(lines{segments: s.segments, style: s.pen.line(), column: f.pixel})
		}
	}
	f.yLabels = make([]string, (len(parts)+f.columns-1)/f.columns)
	f.yLabels[len(f.yLabels)/2] = "latency (log scale)"
}

func detail(s string) string {
	if s == "" {
		return ""
	}
	return "  " + s
}

// isDecade reports a power of ten, from 1 on.
func isDecade(v float64) bool {
	n := math.Round(math.Log10(v))
	return v > 0 && math.Abs(math.Log10(v)-n) < 1e-6
}

// blank returns the ticks with labels that are not seen: they take the height of
// those of the plot beside, so that the titles above are on one line.
func blank(t ticker) ticker {
	out := make(ticker, len(t))
	for i, m := range t {
		if m.Label != "" {
			m.Label = " "
		}
		out[i] = m
	}
	return out
}

// unlabelled returns the ticks without labels.
func unlabelled(t ticker) ticker {
	out := make(ticker, len(t))
	for i, m := range t {
		out[i] = plot.Tick{Value: m.Value}
	}
	return out
}
