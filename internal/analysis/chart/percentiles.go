package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// DrawPercentiles draws latency by percentile: x is 1/(1−p) on a logarithmic
// axis, labelled 0, 50, 90, 99, …, so that every further nine has the same
// room; y is latency, logarithmic.
//
// It returns an error for an unknown format, a size out of range, or a failed
// write. Without data the picture says "no data".
func DrawPercentiles(w io.Writer, format string, o Options, data Percentiles) error {
	width, height, dpi, err := o.size()
	if err != nil {
		return err
	}
	return percentilesFigure(data, dpi).render(w, format, width, height, dpi)
}

// preparedCurve is a curve in the coordinates of the axes.
type preparedCurve struct {
	Curve
	line     []xy
	pen      pen
	baseline bool
}

func percentilesFigure(data Percentiles, dpi int) *figure {
	f := newFigure(percentilesTitle(data), data.Caption, dpi)
	var left omitted
	var curves []preparedCurve
	prepare := func(c Curve, n int, baseline bool) {
		line, o := curveLine(c.Points)
		left.add(o)
		p := curvePen(c.Name, n)
		if baseline {
			p = p.asBaseline()
		}
		curves = append(curves, preparedCurve{Curve: c, line: line, pen: p, baseline: baseline})
	}
	for i, c := range data.Baseline {
		prepare(c, i, true)
	}
	for i, c := range data.Curves {
		prepare(c, i, false)
	}
	limits := rangeOf(curves)
	if limits.none() {
		f.empty = true
		f.noteOmitted(left)
		return f
	}
	f.addCurves(curves, limits)
	f.curveLegend(curves, data.BaselineName)
	f.noteOmitted(left)
	return f
}

func percentilesTitle(data Percentiles) string {
	var names []string
	for _, c := range data.Curves {
		names = append(names, c.Name)
	}
	if len(names) == 0 || len(names) > 4 {
		return "Latency by percentile"
	}
	return "Latency by percentile (" + strings.Join(names, ", ") + ")"
}

// limits is the range of what is drawn.
type limits struct{ x0, x1, y0, y1 float64 }

func noLimits() limits {
	return limits{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
}

func (l *limits) take(p xy) {
	l.x0, l.x1 = min(l.x0, p.x), max(l.x1, p.x)
	l.y0, l.y1 = min(l.y0, p.y), max(l.y1, p.y)
}

func (l *limits) none() bool { return l.x0 > l.x1 }

func rangeOf(curves []preparedCurve) limits {
	l := noLimits()
	for _, c := range curves {
		for _, p := range c.line {
			l.take(p)
		}
		for _, m := range c.Marks {
			for _, v := range []float64{m.Value, m.Low, m.High} {
				if v > 0 && !math.IsInf(v, 0) && m.Tail > 0 {
					l.take(xy{1 / m.Tail, v})
				}
			}
		}
	}
	return l
}

func (f *figure) addCurves(curves []preparedCurve, l limits) {
	f.xLabel = "percentile (each further nine has the same width)"
	p := f.addPlot("latency (log scale)")
	x1 := max(4, l.x1*1.05)
	// Six decades show every latency worth seeing; a lag of nanoseconds beside
	// stalls of minutes is cut at the bottom.
	y0, y1 := latencyRange(max(l.y0, l.y1/1e7), l.y1)
	xTicks, yTicks := percentileTicks(x1), latencyTicks(y0, y1)
	setLogAxis(&p.X, 1, x1, xTicks)
	setLogAxis(&p.Y, y0, y1, yTicks)
	p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
	for _, c := range curves {
		if b := bandOf(c); len(b.low) > 1 {
			p.Add(b)
		}
	}
	for _, c := range curves {
		if len(c.line) > 0 {
			p.Add(lines{segments: [][]xy{c.line}, style: c.pen.line(), column: f.pixel})
		}
	}
	for _, c := range curves {
		p.Add(whiskers{marks: drawable(c.Marks), pen: c.pen})
	}
}

func bandOf(c preparedCurve) band {
	b := band{color: tint(c.pen.color, 0.22)}
	for _, p := range c.Band {
		if p.Tail > 0 && p.Tail <= 1 && p.Low > 0 && p.High >= p.Low && !math.IsInf(p.High, 0) {
			b.low = append(b.low, xy{1 / p.Tail, p.Low})
			b.high = append(b.high, xy{1 / p.Tail, p.High})
		}
	}
	return b
}

func drawable(marks []Mark) []Mark {
	var out []Mark
	for _, m := range marks {
		if m.Tail > 0 && m.Tail <= 1 && m.Value > 0 && !math.IsInf(m.Value, 0) {
			out = append(out, m)
		}
	}
	return out
}

// curveLegend names the curves with the quantiles of their tables, names the
// baseline once, and explains the marks.
func (f *figure) curveLegend(curves []preparedCurve, baselineName string) {
	var baseline, bars, hollow, open bool
	var bands []legendEntry
	for _, c := range curves {
		if c.Infinite > 0 {
			what := "unanswered"
			if c.Name == "e2e" || c.Name == "transit" {
				what = "never arrived"
			}
			f.notes = append(f.notes, fmt.Sprintf("%s: %s %% of the messages %s: infinite beyond %s %%",
				c.Name, significant(100*c.Infinite, 3), what, significant(100*(1-c.Infinite), 6)))
		}
		for _, m := range drawable(c.Marks) {
			hollow = hollow || m.Uncertain
			open = open || math.IsInf(m.High, 1)
			bars = bars || m.Low > 0 && !math.IsNaN(m.High)
		}
		if c.baseline {
			baseline = baseline || len(c.line) > 0
			continue
		}
		f.legend = append(f.legend, legendEntry{name: c.Name, detail: markText(c.Marks), pen: c.pen, glyph: len(c.Marks) > 0})
		if b := bandOf(c); len(b.low) > 1 {
			bands = append(bands, legendEntry{name: "bracket of " + c.Name, fill: b.color})
		}
	}
	f.legend = append(f.legend, bands...)
	if baseline {
		f.legend = append(f.legend, baselineEntry(baselineName))
	}
	f.noteMarks(bars, hollow, open)
}

// noteMarks explains the marks that are in the picture.
func (f *figure) noteMarks(bars, hollow, open bool) {
	var parts []string
	if bars {
		parts = append(parts, "bars: 95 % intervals")
	}
	if open {
		parts = append(parts, "arrow: the run is too short for an upper limit")
	}
	if hollow {
		parts = append(parts, "hollow, in parentheses: too few events to rely on")
	}
	if len(parts) > 0 {
		f.notes = append(f.notes, strings.Join(parts, "; "))
	}
}

func baselineEntry(name string) legendEntry {
	label := "dashed: baseline"
	if name != "" {
		label = "dashed: " + name
	}
	return legendEntry{name: label, pen: pen{color: grey(0x90), width: 1.4, dash: []float64{5, 2.5}}}
}

// markText lists p50, p99 and p99.9 of a table, or the first three it has.
func markText(marks []Mark) string {
	var parts []string
	for _, m := range marks {
		if m.Label == "90" && len(marks) > 3 {
			continue
		}
		if len(parts) == 3 {
			break
		}
		value := duration(m.Value)
		if math.IsInf(m.Value, 1) || math.IsNaN(m.Value) {
			value = "infinite"
		}
		if m.Uncertain {
			value = "(" + value + ")"
		}
		parts = append(parts, "p"+m.Label+" "+value)
	}
	return strings.Join(parts, ", ")
}
