package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Limits of the size of a picture in pixels: below, the text has no room;
// above, memory.
const (
	leastPixels = 320
	mostPixels  = 10_000
)

// figure is a picture before it is drawn: text, legend and one or more plots
// below one another that share their x axis.
type figure struct {
	theme   *theme
	caption Caption
	title   string
	legend  []legendEntry
	plots   []*plot.Plot
	yLabels []string // one for each row of plots
	xLabel  string   // below the last row
	columns int      // of plots, 0: one below the other
	notes   []string
	empty   bool      // there is no data: say so
	parts   []*figure // of a dashboard, in place of plots
	pixel   vg.Length
}

// legendEntry names a pen or a shade.
type legendEntry struct {
	name   string
	detail string // figures behind the name
	pen    pen
	fill   color.Color
	ramp   func(share float64) color.NRGBA // colours of a scale, 0 to 1
	glyph  bool
}

// Formats returns the formats that can be written: "png" and "svg", which are
// also the extensions of their files.
func Formats() []string { return []string{"png", "svg"} }

// FormatOf returns the format that the extension of a file's name asks for; none
// is PNG.
func FormatOf(path string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if ext == "" {
		return "png", nil
	}
	if !slices.Contains(Formats(), ext) {
		return "", fmt.Errorf("picture %s: extension .%s: want one of %s", path, ext, strings.Join(Formats(), ", "))
	}
	return ext, nil
}

// render draws a figure into w.
func (f *figure) render(w io.Writer, format string, width, height vg.Length, dpi int) error {
	switch format {
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		f.draw(draw.New(c))
		if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
			return fmt.Errorf("writing a PNG picture: %w", err)
		}
		return nil
	case "svg":
		c := vgsvg.New(width, height)
		f.draw(draw.New(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return fmt.Errorf("drawing an SVG picture: %w", err)
		}
		// Liberation has the widths of Arial, so that the layout holds where
		// only that is installed; no family at all would be a serif one.
		svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
		if _, err := w.Write(svg); err != nil {
			return fmt.Errorf("writing an SVG picture: %w", err)
		}
		return nil
	}
	return fmt.Errorf("picture format %q: want one of %s", format, strings.Join(Formats(), ", "))
}

// size checks the options and returns the size in points.
func (o Options) size() (width, height vg.Length, dpi int, err error) {
	w, h, dpi := o.Width, o.Height, o.DPI
	if w == 0 {
		w = 1600
	}
	if h == 0 {
		h = 900
	}
	if dpi == 0 {
		dpi = 144
	}
	if w < leastPixels || h < leastPixels || w > mostPixels || h > mostPixels {
		return 0, 0, 0, fmt.Errorf("picture of %d×%d pixels: want %d to %d each way", w, h, leastPixels, mostPixels)
	}
	if dpi < 36 || dpi > 1200 {
		return 0, 0, 0, fmt.Errorf("picture of %d dots per inch: want 36 to 1200", dpi)
	}
	inch := 1 / float64(dpi)
	return vg.Length(float64(w)*inch) * vg.Inch, vg.Length(float64(h)*inch) * vg.Inch, dpi, nil
}

// newFigure prepares a figure; the caller adds plots and legend and calls
// finish.
func newFigure(title string, caption Caption, dpi int) *figure {
	f := &figure{theme: newTheme(), caption: caption, title: title, pixel: vg.Inch / vg.Length(dpi)}
	f.notes = append(f.notes, caption.Notes...)
	return f
}

// addPlot adds a plot in the house style, without data, below those there are.
//
// The labels of its axes are drawn by the figure: gonum reserves room for them
// where the middle of a logarithmic axis would be on a linear one.
func (f *figure) addPlot(yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.TextHandler = f.theme.style(tickSize, false, black()).Handler
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = f.theme.style(labelSize, false, grey(0x30))
		x, y := a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Tick.Label = f.theme.style(tickSize, false, grey(0x30))
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = x, y
		a.LineStyle = draw.LineStyle{Color: grey(0x60), Width: vg.Points(0.75)}
		a.Tick.LineStyle = draw.LineStyle{Color: grey(0x60), Width: vg.Points(0.5)}
		a.Tick.Length = vg.Points(4)
		a.Padding = 0
	}
	p.X.Tick.Length = vg.Points(6) // keeps its labels off the lowest one of y
	f.plots = append(f.plots, p)
	f.yLabels = append(f.yLabels, yLabel)
	return p
}

// noteOmitted says below the picture what could not be drawn.
func (f *figure) noteOmitted(o omitted) {
	if o.infinite > 0 {
		f.notes = append(f.notes, fmt.Sprintf("not drawn: %s infinite or undefined", plural(o.infinite, "value")))
	}
	if o.notPositive > 0 {
		f.notes = append(f.notes, fmt.Sprintf("not drawn: %s of zero or less, which a logarithmic axis has no place for", plural(o.notPositive, "value")))
	}
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return count(float64(n)) + " " + noun
}

// Check returns an error for a size or resolution that cannot be drawn.
func (o Options) Check() error {
	_, _, _, err := o.size()
	return err
}
