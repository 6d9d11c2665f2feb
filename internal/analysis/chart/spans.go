package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
)

// spanNames returns the names of the spans inside a range, in order of their
// first appearance.
func spanNames(spans []Span, lo, hi float64) []string {
	var names []string
	for _, s := range spans {
		if s.To > lo && s.From < hi && s.From < s.To && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func spansNamed(spans []Span, name string) []Span {
	var out []Span
	for _, s := range spans {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// spanColor returns the shade of the i-th name: pale enough for the grid and
// the lines to be seen on it.
func spanColor(i int) color.Color {
	shades := []color.NRGBA{grey(0xec), tint(orange(), 0.28), tint(purple(), 0.28), tint(sky(), 0.28), tint(green(), 0.28), grey(0xd4)}
	return shades[i%len(shades)]
}

// spanLegend names the spans.
func (f *figure) spanLegend(spans []Span, lo, hi float64) {
	for i, name := range spanNames(spans, lo, hi) {
		fill := spanColor(i)
		if spansNamed(spans, name)[0].Bar {
			fill = edgeColor(i)
		}
		f.legend = append(f.legend, legendEntry{name: name, fill: fill})
	}
}

// addSpans adds what is behind the data: shades and bars.
func addSpans(p *plot.Plot, spans []Span, lo, hi float64) {
	for i, name := range spanNames(spans, lo, hi) {
		if named := spansNamed(spans, name); named[0].Bar {
			p.Add(edge{spans: named, color: edgeColor(i)})
		} else {
			p.Add(shade{spans: named, color: spanColor(i)})
		}
	}
}
