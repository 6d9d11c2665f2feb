package chart

import (
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dashboard is the input of the picture that holds the four that matter. Of
// their captions only stamps and notes are drawn: name, labels and finding stand
// once, at the top.
type Dashboard struct {
	Caption
	Percentiles Percentiles
	Latency     Latency
	Rates       Rates
	Backlog     Backlog
}

// dashboardHeight is the default height in pixels: four pictures need more than one.
const dashboardHeight = 1500

// DrawDashboard draws percentiles, latency, rates and backlog on one picture of
// 1600×1500 pixels unless Options say otherwise.
//
// Errors are those of DrawPercentiles.
func DrawDashboard(w io.Writer, format string, o Options, data Dashboard) error {
	f, o, err := dashboardFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func dashboardFigure(o Options, data Dashboard) (*figure, Options, error) {
	if o.Height == 0 {
		o.Height = dashboardHeight
	}
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, o, err
	}
	for _, c := range []*Caption{&data.Percentiles.Caption, &data.Latency.Caption, &data.Rates.Caption, &data.Backlog.Caption} {
		*c = Caption{Stamps: c.Stamps, Notes: c.Notes}
	}
	f := newFigure("Run", data.Caption, dpi)
	f.parts = []*figure{percentilesFigure(data.Percentiles, dpi)}
	for _, make := range []func() (*figure, error){
		func() (*figure, error) { return latencyFigure(o, data.Latency) },
		func() (*figure, error) { return ratesFigure(o, data.Rates) },
		func() (*figure, error) { return backlogFigure(o, data.Backlog) },
	} {
		part, err := make()
		if err != nil {
			return nil, o, err
		}
		f.parts = append(f.parts, part)
	}
	return f, o, nil
}

// drawParts sets the parts two by two, each laid out like a picture of its own.
func (f *figure) drawParts(area draw.Canvas) {
	tiles := draw.Tiles{Rows: (len(f.parts) + 1) / 2, Cols: 2, PadX: vg.Points(4), PadY: vg.Points(4)}
	for i, part := range f.parts {
		c := tiles.At(area, i%2, i/2)
		part.draw(c)
	}
}
