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

// The names of spans that have one colour in every picture. Warmup is what is left
// out at the start, Hiccup a second in which the tool's host stood still for a
// while, Reconnect a time without a connection.
const (
	Warmup    = "warm-up"
	Hiccup    = "second with a hiccup of the tool's host"
	Reconnect = "reconnect"
)

// spanColor returns the shade of the i-th name: pale enough for the grid and
// the lines to be seen on it. Grey is for the warm-up alone, so that a stall has
// the same colour with one and without.
func spanColor(names []string, i int) color.Color {
	if names[0] != Warmup {
		i++
	}
	shades := []color.NRGBA{grey(0xec), tint(orange(), 0.28), tint(purple(), 0.28), tint(sky(), 0.28), tint(green(), 0.28), grey(0xd4)}
	return shades[i%len(shades)]
}

// spanLegend names the spans.
func (f *figure) spanLegend(spans []Span, lo, hi float64) {
	names := spanNames(spans, lo, hi)
	for i, name := range names {
		fill := spanColor(names, i)
		if spansNamed(spans, name)[0].Bar {
			fill = edgeColor(name)
		}
		f.legend = append(f.legend, legendEntry{name: name, fill: fill})
	}
}

// addSpans adds what is behind the data: shades and bars.
func addSpans(p *plot.Plot, spans []Span, lo, hi float64) {
	names := spanNames(spans, lo, hi)
	for i, name := range names {
		if named := spansNamed(spans, name); named[0].Bar {
			p.Add(edge{spans: named, color: edgeColor(name)})
		} else {
			p.Add(shade{spans: named, color: spanColor(names, i)})
		}
	}
}
