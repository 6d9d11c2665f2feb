package stats

import (
	"math"
	"slices"
)

// Median returns the middle of values, of two middle ones their mean; NaN
// without values. The slice is not changed.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return sorted[half-1]/2 + sorted[half]/2
}

// Line is the least-squares line y = Intercept + Slope·x.
type Line struct{ Slope, Intercept float64 }

// LeastSquares fits a line. ok is false below three points and when all x are
// equal. Both slices have one length. Sums are taken about the means, since
// instants of an epoch squared leave no digits.
func LeastSquares(x, y []float64) (l Line, ok bool) {
	n := float64(len(x))
	if len(x) < 3 || len(x) != len(y) {
		return l, false
	}
	var mx, my float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if sxx == 0 {
		return l, false
	}
	l.Slope = sxy / sxx
	l.Intercept = my - l.Slope*mx
	return l, true
}
