package chart

import (
	"image"
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Every cell of a heat map is painted where its time and latency are on the
// axes, in the shade of its count, and nothing else is: a rasterized heat map
// with a logarithmic axis would put a band of 0.3 ms at 35 ms.
func TestHeatCellsLieOnTheirAxes(t *testing.T) {
	t.Parallel()
	data := HeatMap{Cells: HeatCells{Width: 1, Base: 1e5, Ratio: math.Pow(10, 0.1), Columns: make([][]int64, 10)}}
	for i := range data.Cells.Columns {
		data.Cells.Columns[i] = make([]int64, 40)
	}
	data.Cells.Columns[3][5] = 1    // 316 to 398 µs
	data.Cells.Columns[7][25] = 100 // 31.6 to 39.8 ms
	f, err := heatFigure(Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	const dpi = 144
	c := vgimg.NewWith(vgimg.UseWH(800, 450), vgimg.UseDPI(dpi))
	f.draw(draw.New(c))
	img := c.Image()
	r, err := recordFigure(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	area, ok := dataArea(r)
	if !ok {
		t.Fatal("no axes")
	}
	p := f.plots[0]
	trX, trY := p.Transforms(&draw.Canvas{Canvas: r, Rectangle: area})
	at := func(seconds, ns float64) color.Color {
		x, y := trX(seconds)*dpi/vg.Inch, trY(math.Log10(ns))*dpi/vg.Inch
		return img.At(int(x), img.Bounds().Dy()-1-int(y))
	}
	for _, k := range []struct {
		seconds, ns float64
		count       float64
	}{{3.5, 355e3, 1}, {3.02, 320e3, 1}, {3.98, 390e3, 1}, {7.5, 35.5e6, 100}, {7.02, 32e6, 100}} {
		want := heatColor(math.Log(k.count+1) / math.Log(101))
		if got := color.NRGBAModel.Convert(at(k.seconds, k.ns)); got != want {
			t.Errorf("at %g s, %g ns: %v, want %v", k.seconds, k.ns, got, want)
		}
	}
	if got, want := painted(img, area, dpi), 2.0; math.Abs(got/cellPixels(f, area, dpi)-want) > 0.05 {
		t.Errorf("%g cells are painted", got/cellPixels(f, area, dpi))
	}
}

// painted counts the pixels in the shades of the two cells, of the data area:
// the legend has the shades too.
func painted(img image.Image, area vg.Rectangle, dpi float64) float64 {
	n, scale := 0, dpi/72
	height := img.Bounds().Dy()
	for y := height - int(float64(area.Max.Y)*scale); y < height-int(float64(area.Min.Y)*scale); y++ {
		for x := int(float64(area.Min.X) * scale); x < int(float64(area.Max.X)*scale); x++ {
			c := color.NRGBAModel.Convert(img.At(x, y))
			if c == heatColor(1) || c == heatColor(math.Log(2)/math.Log(101)) {
				n++
			}
		}
	}
	return float64(n)
}

func cellPixels(f *figure, area vg.Rectangle, dpi float64) float64 {
	p := f.plots[0]
	w := float64(area.Max.X-area.Min.X) / (p.X.Max - p.X.Min) * dpi / 72
	h := float64(area.Max.Y-area.Min.Y) / (p.Y.Max - p.Y.Min) * 0.1 * dpi / 72
	return w * h
}

// Each shade is darker than the one before, also in grey.
func TestHeatColorsDarken(t *testing.T) {
	t.Parallel()
	last := 256.0
	for i := range 101 {
		c := heatColor(float64(i) / 100)
		grey := 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)
		if grey >= last {
			t.Fatalf("shade %d is not darker: %g after %g", i, grey, last)
		}
		last = grey
	}
}

// The parts lie on one another, as steps, and their top is the sum.
func TestStackedParts(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	parts := []WaitPart{
		{"service", []Point{{0.5, 10}, {1.5, 20}, {2.5, nan}}},
		{"credit", []Point{{0.5, 0}, {1.5, 0}, {2.5, nan}}},
		{"window", []Point{{0.5, 5}, {1.5, 0}, {2.5, nan}}},
	}
	got, l, _ := stack(parts)
	if len(got) != 2 || got[0].name != "service" || got[1].name != "window" {
		t.Fatalf("%+v", got)
	}
	want := [][]xy{{{0, 10}, {1, 10}, {1, 20}, {2, 20}}, {{0, 15}, {1, 15}, {1, 20}, {2, 20}}}
	for i, s := range got {
		for k, p := range s.up {
			if p != want[i][k] {
				t.Errorf("%s: %v, want %v", s.name, s.up, want[i])
				break
			}
		}
	}
	if l.y1 != 20 || l.x0 != 0 || l.x1 != 2 {
		t.Errorf("%+v", l)
	}
}

// The line of a shift function lies where quantile and change put it, and zero
// is never on an edge.
func TestPlottedShift(t *testing.T) {
	t.Parallel()
	data := sampleShift(false)
	f, err := shiftFigure(Options{}, data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recordFigure(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	area, _ := dataArea(r)
	p := f.plots[0]
	if p.Y.Min >= 0 || p.Y.Max <= 0 {
		t.Errorf("zero is on the edge of %g to %g", p.Y.Min, p.Y.Max)
	}
	trX, trY := p.Transforms(&draw.Canvas{Canvas: r, Rectangle: area})
	line := longest(r, blue())
	k := 0
	for _, q := range line {
		for k < len(data.Within) && (math.Abs(float64(trX(1/data.Within[k].Tail)-q.X)) > 0.01 || math.Abs(float64(trY(100*data.Within[k].Change)-q.Y)) > 0.01) {
			k++
		}
		if k == len(data.Within) {
			t.Fatalf("%v is drawn and not in the data", q)
		}
	}
	if len(line) < 50 {
		t.Errorf("%d points", len(line))
	}
}

// Labels that would lie on one another are thinned at equal steps, or powers of
// ten stay.
func TestThinnedLabels(t *testing.T) {
	t.Parallel()
	labels := func(t ticker) (s string) {
		for _, m := range t {
			if m.Label != "" {
				s += m.Label + "|"
			}
		}
		return s
	}
	size := func(string) vg.Length { return 10 }
	linear := linearTicks(0, 100, 10, count)
	if got := labels(linear.thinned(false, func(v float64) vg.Length { return vg.Length(v / 2) }, size)); got != "0|20|40|60|80|100|" {
		t.Error(got)
	}
	if got := labels(linear.thinned(false, func(v float64) vg.Length { return vg.Length(v * 2) }, size)); got != labels(linear) {
		t.Error(got)
	}
	log := latencyTicks(1e6, 1e9)
	if got := labels(log.thinned(true, func(v float64) vg.Length { return vg.Length(math.Log10(v) * 12) }, size)); got != "1 ms|10 ms|100 ms|1 s|" {
		t.Error(got)
	}
}

// The topmost tick has its label, whatever rounding does.
func TestTopLabel(t *testing.T) {
	t.Parallel()
	for e := range 11 {
		for _, m := range []float64{1, 2, 5} {
			lo, hi := latencyRange(3, m*math.Pow(10, float64(e))*0.9+40)
			ticks := latencyTicks(lo, hi)
			if last := ticks[len(ticks)-1]; last.Value > hi {
				t.Errorf("%g to %g: the last tick %g is beyond", lo, hi, last.Value)
			}
		}
	}
}
