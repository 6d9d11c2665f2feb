package chart

import (
	"image/color"
	"io"
	"math"
)

// Waits is the input of the picture of where the time of a message goes, from
// its intended instant to its acknowledgement.
type Waits struct {
	Caption
	Parts []WaitPart // from the bottom up
	Spans []Span
}

// WaitPart is the mean time in ns that a message spent in one part of its way,
// per interval; all parts have the same instants. NaN: no message.
type WaitPart struct {
	Name   string // lag, window, credit, session, socket, connection, service, …
	Points []Point
}

// DrawWaits draws the parts stacked on one another: their sum is the mean
// response.
//
// Errors are those of DrawPercentiles.
func DrawWaits(w io.Writer, format string, o Options, data Waits) error {
	f, err := waitsFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

// waitColor is the colour of a part, whatever else is drawn; neighbours differ
// in lightness too.
func waitColor(name string, n int) color.NRGBA {
	known := map[string]color.NRGBA{
		"service": tint(blue(), 0.55), "none": grey(0xb4), "window": orange(), "credit": vermilion(),
		"session": purple(), "socket": sky(), "connection": black(), "lag": grey(0x70),
	}
	if c, ok := known[name]; ok {
		return c
	}
	rest := []color.NRGBA{green(), tint(green(), 0.5), tint(purple(), 0.5), tint(vermilion(), 0.5)}
	return rest[n%len(rest)]
}

// stacked is a part in the coordinates of the axes: where it begins and ends.
type stacked struct {
	name    string
	n       int
	low, up []xy
}

// halfInterval is half of the time between points, as the smallest of it.
func halfInterval(points []Point) float64 {
	half := math.Inf(1)
	for i := 1; i < len(points); i++ {
		if d := points[i].Seconds - points[i-1].Seconds; d > 0 {
			half = min(half, d/2)
		}
	}
	if math.IsInf(half, 1) {
		return 0.05
	}
	return half
}

// stack piles up the parts, with a step for each interval: between two means
// there is nothing to draw a slope through. Parts that are zero throughout are
// left out.
func stack(parts []WaitPart) (out []stacked, l limits, left omitted) {
	l = noLimits()
	n := math.MaxInt
	for _, p := range parts {
		n = min(n, len(p.Points))
	}
	if len(parts) == 0 {
		return nil, l, left
	}
	keep := make([]bool, n)
	for i := range keep {
		keep[i] = true
		for _, p := range parts {
			v := p.Points[i].Value
			if math.IsInf(v, 0) {
				left.infinite++
			}
			keep[i] = keep[i] && !math.IsNaN(v) && !math.IsInf(v, 0)
		}
	}
	base := make([]float64, n)
	half := halfInterval(parts[0].Points)
	for k, p := range parts {
		s := stacked{name: p.Name, n: k}
		some := false
		for i, point := range p.Points[:n] {
			if !keep[i] {
				continue
			}
			v := max(0, point.Value)
			some = some || v > 0
			from, to := point.Seconds-half, point.Seconds+half
			s.low = append(s.low, xy{from, base[i]}, xy{to, base[i]})
			base[i] += v
			s.up = append(s.up, xy{from, base[i]}, xy{to, base[i]})
			l.take(xy{from, base[i]})
			l.take(xy{to, base[i]})
		}
		if some {
			out = append(out, s)
		}
	}
	return out, l, left
}

func waitsFigure(o Options, data Waits) (*figure, error) {
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure("Waits over time", data.Caption, dpi)
	f.xLabel = timeLabel
	parts, l, left := stack(data.Parts)
	f.noteOmitted(left)
	if l.none() || len(parts) == 0 {
		f.empty = true
		return f, nil
	}
	p := f.addPlot("mean time of a message, stacked")
	lo, hi := secondRange(l)
	top := step125(l.y1*1.02, +1)
	if fine := step125(l.y1/8, +1); fine > 0 {
		top = math.Ceil(l.y1*1.02/fine) * fine
	}
	xTicks, yTicks := secondTicks(lo, hi), linearTicks(0, top, step125(top/8, +1), durationLabel)
	setLinearAxis(&p.X, lo, hi, xTicks)
	setLinearAxis(&p.Y, 0, top, yTicks)
	addSpans(p, data.Spans, lo, hi)
	p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
	for _, s := range parts {
		c := waitColor(s.name, s.n)
		p.Add(area{low: s.low, high: s.up, color: c, column: f.pixel})
		f.legend = append(f.legend, legendEntry{name: s.name, detail: meanText(s), fill: c})
	}
	f.spanLegend(data.Spans, lo, hi)
	return f, nil
}

// durationLabel labels a linear axis of ns.
func durationLabel(ns float64) string {
	if ns == 0 {
		return "0"
	}
	return duration(ns)
}

// meanText is the mean of a part over the intervals, each counted alike.
func meanText(s stacked) string {
	sum := 0.0
	for i := range s.up {
		sum += s.up[i].y - s.low[i].y
	}
	return duration(sum / float64(len(s.up)))
}
