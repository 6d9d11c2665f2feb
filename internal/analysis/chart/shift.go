package chart

import (
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shift is the input of the picture of a comparison: by how much every quantile
// changed from the baseline.
type Shift struct {
	Caption
	Metric string // the metric's word: response, service, …
	// Within is the shift function of one run against one run.
	Within []ShiftPoint
	// Between are the quantiles of several runs a side, with intervals that hold
	// what differs from run to run.
	Between []ShiftPoint
}

// ShiftPoint is the relative change of the quantile at 1−p = Tail; 0.1 is ten
// percent more. Low and High are its interval, NaN if not known.
type ShiftPoint struct {
	Tail              float64
	Change, Low, High float64
}

// DrawShift draws the changes over the percentiles, zero being no change.
//
// Errors are those of DrawPercentiles.
func DrawShift(w io.Writer, format string, o Options, data Shift) error {
	f, err := shiftFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

// place returns the points that can be drawn, at 1/(1−p).
func place(points []ShiftPoint) (out []ShiftPoint, left omitted) {
	for _, p := range points {
		if !(p.Tail > 0 && p.Tail <= 1) || math.IsNaN(p.Change) || math.IsInf(p.Change, 0) {
			left.infinite++
			continue
		}
		out = append(out, p)
	}
	return out, left
}

func shiftFigure(o Options, data Shift) (*figure, error) {
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure("Change by percentile ("+orElse(data.Metric, "response")+")", data.Caption, dpi)
	f.xLabel = "percentile (each further nine has the same width)"
	within, left := place(data.Within)
	between, more := place(data.Between)
	left.add(more)
	f.noteOmitted(left)
	l := noLimits()
	for _, points := range [][]ShiftPoint{within, between} {
		for _, p := range points {
			for _, v := range []float64{p.Change, p.Low, p.High} {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					l.take(xy{1 / p.Tail, 100 * v})
				}
			}
		}
	}
	if l.none() {
		f.empty = true
		return f, nil
	}
	p := f.addPlot("change of latency")
	x1 := max(4, l.x1*1.05)
	y0, y1 := shiftRange(l)
	xTicks, yTicks := percentileTicks(x1), linearTicks(y0, y1, step125((y1-y0)/8, +1), percentLabel)
	setLogAxis(&p.X, 1, x1, xTicks)
	setLinearAxis(&p.Y, y0, y1, yTicks)
	p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
	f.addWithin(p, within)
	p.Add(level{y: 0, style: draw.LineStyle{Color: grey(0x40), Width: vg.Points(1)}})
	f.addBetween(p, between)
	return f, nil
}

// addWithin adds the shift function: a line, and the band of its intervals.
func (f *figure) addWithin(p *plot.Plot, within []ShiftPoint) {
	if len(within) == 0 {
		return
	}
	var line []xy
	b := area{color: tint(blue(), 0.25), column: f.pixel}
	for _, v := range within {
		x := 1 / v.Tail
		line = append(line, xy{x, 100 * v.Change})
		if !math.IsNaN(v.Low) && !math.IsNaN(v.High) {
			b.low, b.high = append(b.low, xy{x, 100 * v.Low}), append(b.high, xy{x, 100 * v.High})
		}
	}
	if len(b.low) > 1 {
		p.Add(b)
		f.legend = append(f.legend, legendEntry{name: "95 % within the two runs", fill: b.color})
	}
	stroke := pen{color: blue(), width: 2}
	p.Add(lines{segments: [][]xy{line}, style: stroke.line(), column: f.pixel})
	f.legend = append(f.legend, legendEntry{name: "change", pen: stroke})
}

// addBetween adds the quantiles with their intervals.
func (f *figure) addBetween(p *plot.Plot, between []ShiftPoint) {
	if len(between) == 0 {
		return
	}
	stroke := pen{color: vermilion(), width: 1.4, glyph: draw.CircleGlyph{}}
	p.Add(changes{points: between, pen: stroke})
	f.legend = append(f.legend, legendEntry{name: "change with 95 % interval over the runs", pen: stroke, glyph: true})
}

// shiftRange holds zero and the data.
func shiftRange(l limits) (lo, hi float64) {
	lo, hi = min(0, l.y0), max(0, l.y1)
	if hi-lo < 2 {
		lo, hi = lo-1, hi+1
	}
	step := step125((hi-lo)/8, +1)
	// Zero is not on an edge: it is what everything is compared with.
	return min(-step, math.Floor(lo*1.02/step)*step), max(step, math.Ceil(hi*1.02/step)*step)
}

func percentLabel(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if len(s) > 6 {
		s = significant(v, 4)
	}
	if v > 0 {
		s = "+" + s
	}
	return s + " %"
}

// changes draws points with intervals, limits that are not known being arrows.
type changes struct {
	points []ShiftPoint
	pen    pen
}

// Plot implements plot.Plotter.
func (s changes) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	thin := draw.LineStyle{Color: s.pen.color, Width: vg.Points(1.2)}
	end := vg.Points(3)
	for _, v := range s.points {
		x, y := trX(1/v.Tail), trY(100*v.Change)
		for _, limit := range []struct {
			v    float64
			away vg.Length
		}{{v.Low, -end}, {v.High, end}} {
			at := y + limit.away*5
			open := math.IsNaN(limit.v) || math.IsInf(limit.v, 0)
			if !open {
				at = trY(100 * limit.v)
			}
			at = min(max(at, c.Min.Y), c.Max.Y)
			c.StrokeLine2(thin, x, y, x, at)
			if open {
				c.StrokeLines(thin, []vg.Point{{X: x - end, Y: at - limit.away}, {X: x, Y: at}, {X: x + end, Y: at - limit.away}})
			} else {
				c.StrokeLine2(thin, x-end, at, x+end, at)
			}
		}
		c.DrawGlyph(draw.GlyphStyle{Color: s.pen.color, Radius: vg.Points(3.2), Shape: s.pen.glyph}, vg.Point{X: x, Y: y})
	}
}
