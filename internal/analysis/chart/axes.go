package chart

import (
	"math"

	"gonum.org/v1/plot"
)

// setLogAxis fixes a logarithmic axis; lo and hi are positive.
func setLogAxis(a *plot.Axis, lo, hi float64, t ticker) {
	a.Min, a.Max, a.Tick.Marker, a.Scale = lo, hi, t, plot.LogScale{}
}

func setLinearAxis(a *plot.Axis, lo, hi float64, t ticker) {
	a.Min, a.Max, a.Tick.Marker, a.Scale = lo, hi, t, plot.LinearScale{}
}

// secondRange returns the range of the time axis: from 0, or the first instant
// before it, to the last, or the tick that is close behind it: points stand in
// the middle of their second.
func secondRange(l limits) (float64, float64) {
	lo, hi := min(0, l.x0), l.x1
	if hi <= lo {
		return lo, lo + 1
	}
	if t := secondTicks(lo, hi); len(t) > 1 {
		step := t[1].Value - t[0].Value
		if up := math.Ceil(hi/step) * step; up-hi <= (hi-lo)*0.03 {
			hi = up
		}
	}
	return lo, hi
}

// countRange returns the range of an axis of counts: it holds 0, and its top is
// a tick above the data.
func countRange(l limits) (float64, float64) {
	lo, hi := min(0, l.y0), max(0, l.y1)
	if hi-lo == 0 {
		hi = lo + 1
	}
	step := step125((hi-lo)*1.02/8, +1)
	if lo < 0 {
		lo = math.Floor(lo/step) * step
	}
	return lo, math.Ceil(hi*1.02/step) * step
}
