package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines draws unbroken lines, reduced to what the pixels can show. A segment of
// one point is drawn as a dot.
type lines struct {
	segments [][]xy
	style    draw.LineStyle
	column   vg.Length // width of a pixel
}

// Plot implements plot.Plotter.
func (l lines) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for _, s := range l.segments {
		points := make([]vg.Point, len(s))
		for i, v := range s {
			points[i] = vg.Point{X: trX(v.x), Y: trY(v.y)}
		}
		if len(points) == 1 {
			if c.Contains(points[0]) {
				dot := draw.GlyphStyle{Color: l.style.Color, Radius: max(l.style.Width*1.5, vg.Points(2.5)), Shape: draw.CircleGlyph{}}
				c.DrawGlyph(dot, points[0])
			}
			continue
		}
		c.StrokeLines(l.style, c.ClipLinesXY(perColumn(points, l.column))...)
	}
}

// whiskers draws the quantiles of a table: a glyph, and its interval as a
// vertical bar. An upper limit that is infinite is an arrow.
type whiskers struct {
	marks []Mark
	pen   pen
}

// Plot implements plot.Plotter.
func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	thin := draw.LineStyle{Color: w.pen.color, Width: vg.Points(1)}
	end := vg.Points(2.5)
	for _, m := range w.marks {
		x, y := trX(1/m.Tail), trY(m.Value)
		if !c.Contains(vg.Point{X: x, Y: y}) {
			continue
		}
		if m.Low > 0 && !math.IsInf(m.Low, 0) && !math.IsNaN(m.High) {
			low, high := max(trY(m.Low), c.Min.Y), min(y+vg.Points(16), c.Max.Y)
			open := math.IsInf(m.High, 1)
			if !open {
				high = min(trY(m.High), c.Max.Y)
			}
			c.StrokeLine2(thin, x, low, x, high)
			c.StrokeLine2(thin, x-end, low, x+end, low)
			if open {
				c.StrokeLines(thin, []vg.Point{{X: x - end, Y: high - end}, {X: x, Y: high}, {X: x + end, Y: high - end}})
			} else {
				c.StrokeLine2(thin, x-end, high, x+end, high)
			}
		}
		glyph := draw.GlyphStyle{Color: w.pen.color, Radius: vg.Points(3.2), Shape: w.pen.glyph}
		if m.Uncertain {
			c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
			glyph.Shape = draw.RingGlyph{}
		}
		c.DrawGlyph(glyph, vg.Point{X: x, Y: y})
	}
}

// band shades the area between two curves on the percentile axis.
type band struct {
	low, high []xy
	color     color.Color
}

// Plot implements plot.Plotter.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	var outline []vg.Point
	for _, v := range b.low {
		outline = append(outline, vg.Point{X: trX(v.x), Y: trY(v.y)})
	}
	for i := len(b.high) - 1; i >= 0; i-- {
		outline = append(outline, vg.Point{X: trX(b.high[i].x), Y: trY(b.high[i].y)})
	}
	if len(outline) > 2 {
		c.FillPolygon(b.color, c.ClipPolygonXY(outline))
	}
}

// shade fills stretches of time over the whole height, and marks instants.
type shade struct {
	spans []Span
	color color.Color
}

// Plot implements plot.Plotter.
func (s shade) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	for _, span := range s.spans {
		lo, hi := max(span.From, p.X.Min), min(span.To, p.X.Max)
		if !(lo < hi) {
			continue
		}
		x0, x1 := trX(lo), max(trX(hi), trX(lo)+vg.Points(1.5)) // an instant is seen too
		c.FillPolygon(s.color, []vg.Point{{X: x0, Y: c.Min.Y}, {X: x1, Y: c.Min.Y}, {X: x1, Y: c.Max.Y}, {X: x0, Y: c.Max.Y}})
	}
}

// level draws a horizontal line over the whole width.
type level struct {
	y     float64
	style draw.LineStyle
}

// Plot implements plot.Plotter.
func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	_, trY := p.Transforms(&c)
	if y := trY(l.y); c.ContainsY(y) {
		c.StrokeLine2(l.style, c.Min.X, y, c.Max.X, y)
	}
}

// gridLines draws a line at each labelled tick.
type gridLines struct{ x, y []float64 }

// Plot implements plot.Plotter.
func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	style := draw.LineStyle{Color: grey(0xe4), Width: vg.Points(0.5)}
	for _, v := range g.x {
		if x := trX(v); v >= p.X.Min && v <= p.X.Max {
			c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		}
	}
	for _, v := range g.y {
		if y := trY(v); v >= p.Y.Min && v <= p.Y.Max {
			c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
		}
	}
}

// area fills what lies between two lines over time; both have the same instants.
type area struct {
	low, high []xy
	color     color.Color
	column    vg.Length
}

// Plot implements plot.Plotter.
func (a area) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	points := func(line []xy) []vg.Point {
		out := make([]vg.Point, 0, len(line))
		for _, v := range line {
			out = append(out, vg.Point{X: trX(v.x), Y: trY(v.y)})
		}
		return perColumn(out, a.column)
	}
	outline := points(a.high)
	low := points(a.low)
	slices.Reverse(low)
	outline = append(outline, low...)
	if len(outline) > 2 {
		c.FillPolygon(a.color, c.ClipPolygonXY(outline))
	}
}
