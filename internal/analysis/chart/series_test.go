package chart

import (
	"image/color"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
)

// The plotted lines are the data: each point of a percentile curve lies where
// its quantile and value put it.
func TestPlottedCurve(t *testing.T) {
	t.Parallel()
	data := samplePercentiles(samples())
	f := percentilesFigure(data, 144)
	r, err := recordFigure(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := f.plots[0]
	area, ok := dataArea(r)
	if !ok {
		t.Fatal("no axes")
	}
	trX, trY := p.Transforms(&draw.Canvas{Canvas: r, Rectangle: area})
	for i, c := range data.Curves {
		line := longest(r, curvePen(c.Name, i).color)
		want, _ := curveLine(c.Points)
		if len(line) < 30 || len(line) > len(want) {
			t.Fatalf("%s: %d points drawn of %d", c.Name, len(line), len(want))
		}
		k := 0
		for _, q := range line { // a subsequence of the points given
			for k < len(want) && (math.Abs(float64(trX(want[k].x)-q.X)) > 0.01 || math.Abs(float64(trY(want[k].y)-q.Y)) > 0.01) {
				k++
			}
			if k == len(want) {
				t.Fatalf("%s: %v is drawn and not in the data", c.Name, q)
			}
		}
	}
}

// B-117: a spike of one row among a million is in the picture, which has a few
// thousand points.
func TestSpikeAmongAMillion(t *testing.T) {
	t.Parallel()
	f, err := latencyFigure(Options{}, millionPoints())
	if err != nil {
		t.Fatal(err)
	}
	r, err := recordFigure(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	area, _ := dataArea(r)
	p := f.plots[0]
	trX, trY := p.Transforms(&draw.Canvas{Canvas: r, Rectangle: area})
	line := longest(r, blue())
	if len(line) > 4*1601 {
		t.Errorf("%d points drawn", len(line))
	}
	for _, q := range line {
		if math.Abs(float64(q.X-trX(345.678))) < 0.01 && math.Abs(float64(q.Y-trY(5e9))) < 0.01 {
			return
		}
	}
	t.Error("the spike is not drawn")
}

// dataArea is the rectangle that the two axis lines span.
func dataArea(r *record) (vg.Rectangle, bool) {
	for i := 1; i < len(r.strokes); i++ {
		for j := range i {
			a, b := r.strokes[j].points, r.strokes[i].points
			if len(a) == 2 && len(b) == 2 && a[0].Y == a[1].Y && b[0].X == b[1].X &&
				math.Abs(float64(a[0].X-b[0].X)) < 1 && math.Abs(float64(a[0].Y-b[0].Y)) < 1 &&
				a[1].X-a[0].X > r.width/2 && b[1].Y-b[0].Y > r.height/4 {
				return vg.Rectangle{Min: vg.Point{X: a[0].X, Y: b[0].Y}, Max: vg.Point{X: a[1].X, Y: b[1].Y}}, true
			}
		}
	}
	return vg.Rectangle{}, false
}

func longest(r *record, c color.Color) []vg.Point {
	var out []vg.Point
	for _, s := range r.strokes {
		if s.color == c && len(s.points) > len(out) {
			out = s.points
		}
	}
	return out
}

func TestSegments(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	got, left := segments([]Point{{0, 1}, {1, 2}, {2, nan}, {3, 3}, {4, inf}, {5, 0}, {nan, 1}, {6, 7}}, true)
	want := [][]xy{{{0, 1}, {1, 2}}, {{3, 3}}, {{6, 7}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(xy{})); d != "" {
		t.Error(d)
	}
	if left != (omitted{infinite: 2, notPositive: 1}) {
		t.Errorf("%+v", left)
	}
}

func TestCurveLine(t *testing.T) {
	t.Parallel()
	got, left := curveLine([]CurvePoint{{0.01, 9}, {0.5, 2}, {0, 10}, {0.1, math.Inf(1)}, {0.2, 0}, {-1, 3}, {1.5, 3}, {math.NaN(), 1}, {1, 1}})
	want := []xy{{1, 1}, {2, 2}, {100, 9}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(xy{})); d != "" {
		t.Error(d)
	}
	if left != (omitted{infinite: 5, notPositive: 1}) {
		t.Errorf("%+v", left)
	}
}

// Each column keeps its extremes and its ends, and nothing is invented.
func TestPerColumn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		points := make([]vg.Point, n)
		x := 0.0
		for i := range points {
			x += rapid.Float64Range(0, 1).Draw(t, "dx")
			points[i] = vg.Point{X: vg.Length(x), Y: vg.Length(rapid.IntRange(0, 20).Draw(t, "y"))}
		}
		got := perColumn(points, 5)
		k := 0
		for _, q := range got {
			for k < n && points[k] != q {
				k++
			}
			if k == n {
				t.Fatalf("%v is not a point, or out of order", q)
			}
			k++
		}
		low, high := map[int]vg.Length{}, map[int]vg.Length{}
		for _, p := range got {
			c := int(p.X / 5)
			if _, ok := low[c]; !ok {
				low[c], high[c] = p.Y, p.Y
			}
			low[c], high[c] = min(low[c], p.Y), max(high[c], p.Y)
		}
		for _, p := range points {
			if c := int(p.X / 5); p.Y < low[c] || p.Y > high[c] {
				t.Fatalf("%v is outside of what its column keeps", p)
			}
		}
		if n > 0 && (got[0] != points[0] || got[len(got)-1] != points[n-1]) {
			t.Fatal("the ends are missing")
		}
	})
}
