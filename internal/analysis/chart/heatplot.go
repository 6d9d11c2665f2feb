package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat paints the cells of a heat map as one image with a pixel for each pixel
// of the picture: as polygons they would show seams where edges are smoothed,
// and an image that is scaled would be blurred.
type heat struct {
	cells      HeatCells
	base, step float64 // log10 of the lowest edge, and of the ratio of steps
	most       int64
	pixel      vg.Length
}

// Plot implements plot.Plotter.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	// Whole pixels inside the data area, so that nothing is interpolated.
	snap := func(v vg.Length, f func(float64) float64) vg.Length {
		return vg.Length(f(float64(v/h.pixel))) * h.pixel
	}
	box := vg.Rectangle{
		Min: vg.Point{X: snap(c.Min.X, math.Floor), Y: snap(c.Min.Y, math.Ceil)},
		Max: vg.Point{X: snap(c.Max.X, math.Floor), Y: snap(c.Max.Y, math.Floor)},
	}
	w, height := int(math.Round(float64((box.Max.X-box.Min.X)/h.pixel))), int(math.Round(float64((box.Max.Y-box.Min.Y)/h.pixel)))
	if w <= 0 || height <= 0 {
		return
	}
	// The centre of a pixel in the coordinates of the axes.
	xAt := func(i int) float64 {
		at := box.Min.X + h.pixel*(vg.Length(i)+0.5)
		return p.X.Min + (p.X.Max-p.X.Min)*float64((at-c.Min.X)/(c.Max.X-c.Min.X))
	}
	yAt := func(i int) float64 {
		at := box.Max.Y - h.pixel*(vg.Length(i)+0.5)
		return p.Y.Min + (p.Y.Max-p.Y.Min)*float64((at-c.Min.Y)/(c.Max.Y-c.Min.Y))
	}
	rows := make([]int, height)
	for i := range rows {
		rows[i] = int(math.Floor((yAt(i) - h.base) / h.step))
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, height))
	scale := math.Log(float64(h.most) + 1)
	for x := range w {
		column := int(math.Floor((xAt(x) - h.cells.Start) / h.cells.Width))
		if column < 0 || column >= len(h.cells.Columns) {
			continue
		}
		for y, k := range rows {
			if k < 0 || k >= len(h.cells.Columns[column]) {
				continue
			}
			if n := h.cells.Columns[column][k]; n > 0 {
				img.SetNRGBA(x, y, heatColor(math.Log(float64(n)+1)/scale))
			}
		}
	}
	c.DrawImage(box, img)
}

// heatColor is a scale from light to dark, so that it survives greyscale: each
// step is darker than the one before.
func heatColor(share float64) color.NRGBA {
	stops := []color.NRGBA{{0xf3, 0xd9, 0xa4, 0xff}, {0xe0, 0x8a, 0x3c, 0xff}, {0xa8, 0x3a, 0x4e, 0xff}, {0x4c, 0x1d, 0x5e, 0xff}, {0x12, 0x0c, 0x2c, 0xff}}
	at := min(max(share, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*(at-float64(i)) + 0.5) }
	a, b := stops[i], stops[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// drawRamp paints a scale of colours as the sample of a legend.
func drawRamp(area *draw.Canvas, ramp func(float64) color.NRGBA, x, y vg.Length) {
	const steps = 12
	h, w := vg.Points(4.5), vg.Points(sampleWidth)/steps
	for i := range steps {
		left := x + w*vg.Length(i)
		area.FillPolygon(ramp(float64(i)/(steps-1)), []vg.Point{{X: left, Y: y - h}, {X: left + w, Y: y - h}, {X: left + w, Y: y + h}, {X: left, Y: y + h}})
	}
}

// edge marks stretches of time by bars at the top of the data area.
type edge struct {
	spans []Span
	color color.Color
}

// Plot implements plot.Plotter.
func (e edge) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	for _, span := range e.spans {
		lo, hi := max(span.From, p.X.Min), min(span.To, p.X.Max)
		if !(lo < hi) {
			continue
		}
		x0, x1 := trX(lo), max(trX(hi), trX(lo)+vg.Points(2))
		bottom := c.Max.Y - vg.Points(5)
		c.FillPolygon(e.color, []vg.Point{{X: x0, Y: bottom}, {X: x1, Y: bottom}, {X: x1, Y: c.Max.Y}, {X: x0, Y: c.Max.Y}})
	}
}

// edgeColor is the colour of a bar, by what it stands for: it is the same in every picture.
func edgeColor(name string) color.Color {
	switch name {
	case Warmup:
		return grey(0x90)
	case Hiccup:
		return green()
	case Reconnect:
		return sky()
	}
	return orange() // stalls
}
