package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// record is a canvas that keeps what is drawn: boxes of text and strokes, in
// points from the lower left corner.
type record struct {
	width, height vg.Length
	state         state
	stack         []state
	texts         []textBox
	strokes       []stroke
}

type state struct {
	a, b, c, d, e, f float64 // x' = a·x + c·y + e, y' = b·x + d·y + f
	color            color.Color
}

type textBox struct {
	s    string
	size vg.Length
	box  vg.Rectangle
}

type stroke struct {
	color  color.Color
	points []vg.Point
}

func newRecord(w, h vg.Length) *record {
	return &record{width: w, height: h, state: state{a: 1, d: 1}}
}

func (r *record) Size() (w, h vg.Length)              { return r.width, r.height }
func (r *record) SetLineWidth(vg.Length)              {}
func (r *record) SetLineDash([]vg.Length, vg.Length)  {}
func (r *record) SetColor(c color.Color)              { r.state.color = c }
func (r *record) Push()                               { r.stack = append(r.stack, r.state) }
func (r *record) Fill(vg.Path)                        {}
func (r *record) DrawImage(vg.Rectangle, image.Image) {}

func (r *record) Pop() {
	r.state = r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
}

func (r *record) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	r.multiply(cos, sin, -sin, cos, 0, 0)
}
func (r *record) Translate(p vg.Point) { r.multiply(1, 0, 0, 1, float64(p.X), float64(p.Y)) }
func (r *record) Scale(x, y float64)   { r.multiply(x, 0, 0, y, 0, 0) }

func (r *record) multiply(a, b, c, d, e, f float64) {
	s := r.state
	r.state.a, r.state.b = s.a*a+s.c*b, s.b*a+s.d*b
	r.state.c, r.state.d = s.a*c+s.c*d, s.b*c+s.d*d
	r.state.e, r.state.f = s.a*e+s.c*f+s.e, s.b*e+s.d*f+s.f
}

func (r *record) at(p vg.Point) vg.Point {
	s := r.state
	return vg.Point{
		X: vg.Length(s.a*float64(p.X) + s.c*float64(p.Y) + s.e),
		Y: vg.Length(s.b*float64(p.X) + s.d*float64(p.Y) + s.f),
	}
}

func (r *record) Stroke(p vg.Path) {
	s := stroke{color: r.state.color}
	for _, c := range p {
		if c.Type == vg.MoveComp || c.Type == vg.LineComp {
			s.points = append(s.points, r.at(c.Pos))
		}
	}
	r.strokes = append(r.strokes, s)
}

// FillString keeps the box of the letters: their advance, and from a descender
// to the height of a capital.
func (r *record) FillString(f font.Face, p vg.Point, s string) {
	e := f.Extents()
	w := f.Width(s)
	box := vg.Rectangle{Min: vg.Point{X: vg.Inch * 1000, Y: vg.Inch * 1000}, Max: vg.Point{X: -vg.Inch * 1000, Y: -vg.Inch * 1000}}
	for _, c := range []vg.Point{{X: 0, Y: -e.Descent}, {X: w, Y: -e.Descent}, {X: 0, Y: e.Ascent * 0.8}, {X: w, Y: e.Ascent * 0.8}} {
		q := r.at(vg.Point{X: p.X + c.X, Y: p.Y + c.Y})
		box.Min.X, box.Min.Y = min(box.Min.X, q.X), min(box.Min.Y, q.Y)
		box.Max.X, box.Max.Y = max(box.Max.X, q.X), max(box.Max.Y, q.Y)
	}
	r.texts = append(r.texts, textBox{s, f.Font.Size, box})
}

// recordFigure lays a figure out on a record.
func recordFigure(f *figure, o Options) (*record, error) {
	w, h, _, err := o.size()
	if err != nil {
		return nil, err
	}
	r := newRecord(w, h)
	f.draw(draw.New(r))
	return r, nil
}
