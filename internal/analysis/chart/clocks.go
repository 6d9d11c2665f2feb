package chart

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Clocks is the input of the picture of how far the clocks of other processes
// were off, and by how much the correction can be wrong.
type Clocks struct {
	Caption
	Pairs []ClockPair
	// Bound is by how much the correction of the messages' one-way times can be
	// off, ns, the largest of each interval.
	Bound []Point
}

// ClockPair is what exchanges tell of one other process.
type ClockPair struct {
	Name   string
	Limits []OffsetLimit // in order of time
}

// OffsetLimit is between what the offset must lie by causality, in ns since that
// of the pair's first exchange.
type OffsetLimit struct {
	Seconds   float64
	Low, High float64
}

// DrawClocks draws the offsets as bands between their limits, and the bound of
// the correction below.
//
// Errors are those of DrawPercentiles.
func DrawClocks(w io.Writer, format string, o Options, data Clocks) error {
	f, err := clocksFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func clocksFigure(o Options, data Clocks) (*figure, error) {
	const title = "Clock offset and its bound"
	var panels []panel
	if len(data.Pairs) > 0 {
		p := panel{yLabel: "offset since the start", format: durationLabel}
		for i, pair := range data.Pairs {
			middle := make([]Point, len(pair.Limits))
			for k, l := range pair.Limits {
				middle[k] = Point{l.Seconds, (l.Low + l.High) / 2}
			}
			p.series = append(p.series, series{name: pair.Name, points: middle, pen: userPen(i)})
			p.bands = append(p.bands, offsetBand{pair.Limits, tint(userPen(i).color, 0.25)})
		}
		panels = append(panels, p)
	}
	if slices.ContainsFunc(data.Bound, func(p Point) bool { return !math.IsNaN(p.Value) }) {
		panels = append(panels, panel{yLabel: "bound of one-way times", format: durationLabel, series: []series{{name: "bound", points: data.Bound, pen: pen{color: grey(0x50), width: 1.6}}}})
	}
	if len(panels) == 0 {
		return emptyFigure(o, title, data.Caption)
	}
	return timeFigure(o, title, data.Caption, nil, "", panels...)
}

// offsetBand shades what lies between the limits of an offset.
type offsetBand struct {
	limits []OffsetLimit
	color  color.Color
}

// area returns the band in the coordinates of the axes.
func (b offsetBand) area(column vg.Length) area {
	a := area{color: b.color, column: column}
	for _, l := range b.limits {
		a.low, a.high = append(a.low, xy{l.Seconds, l.Low}), append(a.high, xy{l.Seconds, l.High})
	}
	return a
}

// take widens the range of an axis by the limits.
func (b offsetBand) take(l *limits) {
	for _, v := range b.limits {
		l.take(xy{v.Seconds, v.Low})
		l.take(xy{v.Seconds, v.High})
	}
}
