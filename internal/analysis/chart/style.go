package chart

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of type in points. At 144 DPI a point is two pixels, so that 9 points
// are 9 pixels when a picture of 1600 is shown at 800.
const (
	titleSize   = 14
	findingSize = 11
	labelSize   = 10.5
	tickSize    = 10
	legendSize  = 10
	noteSize    = 9.25
)

// theme holds fonts and the styles made of them. It is made once for each
// picture, which keeps the package without state.
type theme struct {
	fonts *font.Cache
}

func newTheme() *theme {
	return &theme{fonts: font.NewCache(liberation.Collection())}
}

func (t *theme) style(size float64, bold bool, c color.Color) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: text.Plain{Fonts: t.fonts}}
}

// The palette of Okabe and Ito, told apart with every common colour blindness.
func blue() color.NRGBA      { return color.NRGBA{0x00, 0x72, 0xb2, 0xff} }
func vermilion() color.NRGBA { return color.NRGBA{0xd5, 0x5e, 0x00, 0xff} }
func green() color.NRGBA     { return color.NRGBA{0x00, 0x9e, 0x73, 0xff} }
func purple() color.NRGBA    { return color.NRGBA{0xcc, 0x79, 0xa7, 0xff} }
func orange() color.NRGBA    { return color.NRGBA{0xe6, 0x9f, 0x00, 0xff} }
func sky() color.NRGBA       { return color.NRGBA{0x56, 0xb4, 0xe9, 0xff} }
func black() color.NRGBA     { return color.NRGBA{0x18, 0x18, 0x18, 0xff} }

func grey(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 0xff} }

// tint mixes a colour with white; amount 1 is the colour itself.
func tint(c color.NRGBA, amount float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(255 - amount*(255-float64(v)) + 0.5) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// pen is how a series is drawn. Width, glyph and dash tell series apart where
// colours do not: in greyscale and where lines lie on one another.
type pen struct {
	color color.NRGBA
	width float64 // points
	dash  []float64
	glyph draw.GlyphDrawer
}

func (p pen) line() draw.LineStyle {
	s := draw.LineStyle{Color: p.color, Width: vg.Points(p.width)}
	for _, d := range p.dash {
		s.Dashes = append(s.Dashes, vg.Points(d))
	}
	return s
}

// asBaseline is the pen of the same series of another run.
func (p pen) asBaseline() pen {
	return pen{color: tint(p.color, 0.6), width: max(1, p.width*0.8), dash: []float64{5, 2.5}, glyph: p.glyph}
}

// curvePen is the pen of a metric, the n-th drawn: the colour is the same in
// every picture, whatever else is drawn beside it. Later curves are narrower, so
// that those below them are seen where they run together.
func curvePen(metric string, n int) pen {
	known := map[string]pen{
		"service":  {color: blue(), glyph: draw.BoxGlyph{}},
		"response": {color: vermilion(), glyph: draw.CircleGlyph{}},
		"e2e":      {color: green(), glyph: draw.PyramidGlyph{}},
		"transit":  {color: sky(), glyph: draw.TriangleGlyph{}},
		"lag":      {color: grey(0x78), glyph: draw.PlusGlyph{}},
		"blocked":  {color: orange(), glyph: draw.CrossGlyph{}},
		"queued":   {color: purple(), glyph: draw.SquareGlyph{}},
		"work":     {color: black(), glyph: draw.RingGlyph{}},
		"handled":  {color: color.NRGBA{0x80, 0x5a, 0x2b, 0xff}, glyph: draw.SquareGlyph{}},
	}
	p, ok := known[metric]
	if !ok {
		colors := []color.NRGBA{blue(), vermilion(), green(), purple(), orange(), sky()}
		glyphs := []draw.GlyphDrawer{draw.BoxGlyph{}, draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.RingGlyph{}}
		p = pen{color: colors[n%len(colors)], glyph: glyphs[n%len(glyphs)]}
	}
	p.width = max(1.2, 3-0.6*float64(n))
	return p
}
