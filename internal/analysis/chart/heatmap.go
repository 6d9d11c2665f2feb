package chart

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
)

// HeatMap is the input of the picture of one metric's whole distribution over
// time: how many messages had which latency in which interval.
type HeatMap struct {
	Caption
	Metric string // the metric's word: response, e2e, …
	Cells  HeatCells
	Spans  []Span // bars at the top: shades would be taken for cells
}

// HeatCells counts messages by interval of time and step of latency. The i-th
// column is the time from Start + i·Width on; the k-th cell of a column is the
// latency from Base·Ratio^k to Base·Ratio^(k+1).
type HeatCells struct {
	Start, Width float64 // s
	Base         float64 // ns, above 0
	Ratio        float64 // above 1
	Columns      [][]int64
	// Below counts values of zero and less, which a logarithmic axis has no
	// place for; Infinite the messages without an answer.
	Below, Infinite int64
}

// DrawHeatMap draws latency over time with a logarithmic axis; the darker a
// cell, the more messages, by the logarithm of their number. Cells without a
// message stay white.
//
// Errors are those of DrawPercentiles.
func DrawHeatMap(w io.Writer, format string, o Options, data HeatMap) error {
	f, err := heatFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

func heatFigure(o Options, data HeatMap) (*figure, error) {
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure("Latency heat map ("+orElse(data.Metric, "response")+")", data.Caption, dpi)
	f.xLabel = timeLabel
	c := data.Cells
	f.noteOmitted(omitted{infinite: int(min(c.Infinite, math.MaxInt32)), notPositive: int(min(c.Below, math.MaxInt32))})
	lo, hi, most := c.extent()
	if most == 0 {
		f.empty = true
		return f, nil
	}
	f.addHeat(c, lo, hi, most, data.Spans)
	least := "1"
	if most == 1 {
		least = ""
	}
	f.legend = append(f.legend, legendEntry{
		name: "messages in a cell", detail: fmt.Sprintf("%s to %s, log scale", orElse(least, "0"), count(float64(most))), ramp: heatColor,
	})
	return f, nil
}

// extent returns the first and the last step of latency that has messages, and
// the largest number of a cell.
func (c HeatCells) extent() (lo, hi int, most int64) {
	lo, hi = math.MaxInt, -1
	for _, column := range c.Columns {
		for k, n := range column {
			if n > 0 {
				lo, hi, most = min(lo, k), max(hi, k), max(most, n)
			}
		}
	}
	return lo, hi, most
}

// addHeat adds the plot. Its y axis is linear in the logarithm to base ten: on a
// logarithmic one an image would be stretched.
func (f *figure) addHeat(c HeatCells, lo, hi int, most int64, spans []Span) {
	p := f.addPlot("latency (log scale)")
	step := math.Log10(c.Ratio)
	base := math.Log10(c.Base)
	y0, y1 := latencyRange(c.Base*math.Pow(c.Ratio, float64(lo)), c.Base*math.Pow(c.Ratio, float64(hi+1)))
	var yTicks ticker
	for _, t := range latencyTicks(y0, y1) {
		yTicks = append(yTicks, plot.Tick{Value: math.Log10(t.Value), Label: t.Label})
	}
	x0, x1 := secondRange(limits{x0: c.Start, x1: c.Start + c.Width*float64(len(c.Columns))})
	xTicks := secondTicks(x0, x1)
	setLinearAxis(&p.X, x0, x1, xTicks)
	setLinearAxis(&p.Y, math.Log10(y0), math.Log10(y1), yTicks)
	p.Add(gridLines{x: xTicks.majors(), y: yTicks.majors()})
	p.Add(heat{cells: c, base: base, step: step, most: most, pixel: f.pixel})
	for _, name := range spanNames(spans, x0, x1) {
		p.Add(edge{spans: spansNamed(spans, name), color: edgeColor(name)})
		f.legend = append(f.legend, legendEntry{name: name, fill: edgeColor(name)})
	}
}
