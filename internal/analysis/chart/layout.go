package chart

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	maxFindingLines = 2
	maxNotes        = 4
	sampleWidth     = 24 // points, of a line in the legend
)

// draw lays the figure out from top to bottom: title and stamps, labels,
// finding, legend, plots, notes. Each takes the height it needs and leaves the
// rest to the plots.
func (f *figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	area := draw.Crop(c, vg.Points(12), -vg.Points(18), vg.Points(10), -vg.Points(11))
	f.drawTitle(&area)
	f.drawSubtitle(&area)
	f.drawFinding(&area)
	f.drawLegend(&area)
	f.drawNotes(&area)
	area.Max.Y -= vg.Points(6)
	switch {
	case f.empty:
		f.drawEmpty(area)
	case f.parts != nil:
		f.drawParts(area)
	default:
		f.drawPlots(area)
	}
}

// put writes one line below the top edge of the area.
func put(c *draw.Canvas, sty text.Style, x vg.Length, s string) {
	sty.YAlign = draw.YTop
	c.FillText(sty, vg.Point{X: x, Y: c.Max.Y}, s)
}

func lineHeight(sty text.Style) vg.Length {
	e := sty.FontExtents()
	return e.Ascent + e.Descent
}

func (f *figure) drawTitle(area *draw.Canvas) {
	sty := f.theme.style(titleSize, true, black())
	right := f.drawStamps(area, lineHeight(sty))
	title := f.title
	if name := f.theme.clean(f.caption.Name); name != "" {
		title += ": " + name
	}
	put(area, sty, area.Min.X, fit(title, sty, right-area.Min.X))
	area.Max.Y -= lineHeight(sty) + vg.Points(3)
}

// drawStamps draws stamps right-aligned in the title's line and returns where
// they begin. They take at most half of the width; what does not fit is counted.
func (f *figure) drawStamps(area *draw.Canvas, height vg.Length) vg.Length {
	sty := f.theme.style(legendSize, true, color.White)
	pad := vg.Points(5)
	x := area.Max.X
	least := area.Min.X + (area.Max.X-area.Min.X)*0.5
	for i, s := range f.caption.Stamps {
		label, fill := "WARN ", color.Color(color.NRGBA{0x9a, 0x62, 0x00, 0xff})
		if s.Level == Fail {
			label, fill = "FAIL ", color.NRGBA{0xb0, 0x10, 0x20, 0xff}
		}
		label = strings.TrimSpace(label + f.theme.clean(s.Text))
		if rest := len(f.caption.Stamps) - i; rest > 1 && x-sty.Width(label)-2*pad < least+vg.Points(60) {
			label = plural(rest, "more check")
		}
		label = fit(label, sty, x-least-2*pad)
		left := x - sty.Width(label) - 2*pad
		box := vg.Rectangle{Min: vg.Point{X: left, Y: area.Max.Y - height}, Max: vg.Point{X: x, Y: area.Max.Y}}
		area.SetColor(fill)
		area.Fill(box.Path())
		st := sty
		st.YAlign = draw.YCenter
		area.FillText(st, vg.Point{X: left + pad, Y: (box.Min.Y + box.Max.Y) / 2}, label)
		x = left - vg.Points(4)
		if x < least+vg.Points(60) {
			break
		}
	}
	return x - vg.Points(4)
}

func (f *figure) drawSubtitle(area *draw.Canvas) {
	var parts []string
	for _, l := range f.caption.Labels {
		if l = f.theme.clean(l); l != "" {
			parts = append(parts, l)
		}
	}
	if t := f.caption.Start; !t.IsZero() {
		parts = append(parts, "start "+t.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	}
	if len(parts) == 0 {
		return
	}
	sty := f.theme.style(legendSize, false, grey(0x60))
	put(area, sty, area.Min.X, fit(strings.Join(parts, "  ·  "), sty, area.Max.X-area.Min.X))
	area.Max.Y -= lineHeight(sty) + vg.Points(3)
}

func (f *figure) drawFinding(area *draw.Canvas) {
	sty := f.theme.style(findingSize, false, black())
	for _, l := range wrap(f.theme.clean(f.caption.Finding), sty, area.Max.X-area.Min.X, maxFindingLines) {
		put(area, sty, area.Min.X, l)
		area.Max.Y -= lineHeight(sty) + vg.Points(1)
	}
	area.Max.Y -= vg.Points(5)
}

// drawLegend sets the entries from left to right, in as many rows as they need.
func (f *figure) drawLegend(area *draw.Canvas) {
	if f.empty || len(f.legend) == 0 {
		return
	}
	name := f.theme.style(legendSize, true, grey(0x20))
	detail := f.theme.style(legendSize, false, grey(0x48))
	gap, row := vg.Points(16), lineHeight(name)+vg.Points(3)
	sample := vg.Points(sampleWidth)
	x := area.Min.X
	for _, e := range f.legend {
		label := f.theme.clean(e.name)
		room := area.Max.X - area.Min.X - sample - vg.Points(5)
		label = fit(label, name, room)
		extra := ""
		if e.detail != "" {
			extra = fit("  "+e.detail, detail, max(0, room-name.Width(label)))
		}
		width := sample + vg.Points(5) + name.Width(label) + detail.Width(extra)
		if x > area.Min.X && x+width > area.Max.X {
			x = area.Min.X
			area.Max.Y -= row
		}
		middle := area.Max.Y - lineHeight(name)*0.56
		f.drawSample(area, e, x, middle)
		put(area, name, x+sample+vg.Points(5), label)
		if extra != "" {
			put(area, detail, x+sample+vg.Points(5)+name.Width(label), extra)
		}
		x += width + gap
	}
	area.Max.Y -= row
}

func (f *figure) drawSample(area *draw.Canvas, e legendEntry, x, y vg.Length) {
	end := x + vg.Points(sampleWidth)
	if e.ramp != nil {
		drawRamp(area, e.ramp, x, y)
		return
	}
	if e.fill != nil {
		h := vg.Points(4.5)
		area.FillPolygon(e.fill, []vg.Point{{X: x, Y: y - h}, {X: end, Y: y - h}, {X: end, Y: y + h}, {X: x, Y: y + h}})
		return
	}
	area.StrokeLine2(e.pen.line(), x, y, end, y)
	if e.glyph && e.pen.glyph != nil {
		area.DrawGlyph(draw.GlyphStyle{Color: e.pen.color, Radius: vg.Points(3.2), Shape: e.pen.glyph}, vg.Point{X: (x + end) / 2, Y: y})
	}
}

func (f *figure) drawNotes(area *draw.Canvas) {
	sty := f.theme.style(noteSize, false, grey(0x60))
	var notes []string
	for _, n := range f.notes {
		if n = f.theme.clean(n); n != "" {
			notes = append(notes, n)
		}
	}
	if len(notes) > maxNotes {
		notes = append(notes[:maxNotes-1], plural(len(notes)-maxNotes+1, "more note"))
	}
	height := lineHeight(sty) + vg.Points(1)
	for i, n := range notes {
		s := sty
		s.YAlign = draw.YTop
		top := area.Min.Y + height*vg.Length(len(notes)-i)
		area.FillText(s, vg.Point{X: area.Min.X, Y: top}, fit(n, s, area.Max.X-area.Min.X))
	}
	if len(notes) > 0 {
		area.Min.Y += height*vg.Length(len(notes)) + vg.Points(4)
	}
}

func (f *figure) drawEmpty(area draw.Canvas) {
	sty := f.theme.style(titleSize, false, grey(0x80))
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
	area.FillText(sty, area.Center(), "no data")
}

// drawPlots stacks the plots with their data areas aligned, and labels them.
func (f *figure) drawPlots(area draw.Canvas) {
	sty := f.theme.style(labelSize, false, grey(0x30))
	sty.XAlign = draw.XCenter
	left := area.Min.X
	area.Min.X += lineHeight(sty) + vg.Points(8)
	bottom := area.Min.Y
	area.Min.Y += lineHeight(sty) + vg.Points(4)
	columns := max(1, f.columns)
	var grid [][]*plot.Plot
	for row := range slices.Chunk(f.plots, columns) {
		for len(row) < columns {
			row = append(slices.Clip(row), nil)
		}
		grid = append(grid, row)
	}
	tiles := draw.Tiles{Rows: len(grid), Cols: columns, PadX: vg.Points(10), PadY: vg.Points(8)}
	for i, row := range plot.Align(grid, tiles, area) {
		for k, p := range grid[i] {
			if p != nil {
				thinLabels(p, p.DataCanvas(row[k]))
			}
		}
	}
	for i, row := range plot.Align(grid, tiles, area) {
		for k, p := range grid[i] {
			if p != nil {
				p.Draw(row[k])
			}
		}
		data := grid[i][0].DataCanvas(row[0])
		y := sty
		y.Rotation, y.YAlign = math.Pi/2, draw.YTop
		label := fit(f.yLabels[i], sty, row[0].Max.Y-row[0].Min.Y)
		middle := (data.Min.Y + data.Max.Y) / 2
		// A label longer than the data area keeps inside the plot's.
		half := sty.Width(label) / 2
		middle = min(max(middle, row[0].Min.Y+half), row[0].Max.Y-half)
		area.FillText(y, vg.Point{X: left, Y: middle}, label)
		if i == len(grid)-1 {
			x := sty
			x.YAlign = draw.YTop
			from, to := data.Min.X, data.Max.X
			if columns > 1 {
				to = row[columns-1].Max.X
			}
			area.FillText(x, vg.Point{X: (from + to) / 2, Y: bottom + lineHeight(sty)}, fit(f.xLabel, sty, to-from))
		}
	}
}
