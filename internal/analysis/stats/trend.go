package stats

import (
	"math"
	"slices"
)

// Trend is the result of a Mann–Kendall test with Sen's slope.
type Trend struct {
	N     int
	S     int64   // concordant less discordant pairs
	P     float64 // two-sided, normal approximation with continuity and tie correction
	Slope float64 // Sen: the median of the slopes of all pairs, per unit of x
	// Change is Slope times the range of x over the median of y: by what share
	// of itself the value drifted in the run. NaN when the median is 0.
	Change float64
}

// MannKendall tests y for a monotone trend over x, which ascends (Mann 1945,
// Kendall 1975; slope: Sen 1968). All pairs are compared: n² time, so callers
// give it windows and not rows. P is 1 below four points.
func MannKendall(x, y []float64) Trend {
	t := Trend{N: len(y), P: 1}
	slopes := make([]float64, 0, len(y)*(len(y)-1)/2+1)
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			switch {
			case y[j] > y[i]:
				t.S++
			case y[j] < y[i]:
				t.S--
			}
			if x[j] > x[i] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if len(slopes) == 0 {
		t.Change = math.NaN()
		return t
	}
	t.Slope = Median(slopes)
	if m := Median(y); m != 0 {
		t.Change = t.Slope * (x[len(x)-1] - x[0]) / m
	} else {
		t.Change = math.NaN()
	}
	if len(y) < 4 {
		return t
	}
	variance := kendallVariance(y)
	if variance <= 0 {
		return t
	}
	z := max(0, math.Abs(float64(t.S))-1) / math.Sqrt(variance)
	t.P = math.Erfc(z / math.Sqrt2)
	return t
}

// kendallVariance is Var(S) under independence, corrected for ties.
func kendallVariance(y []float64) float64 {
	term := func(n float64) float64 { return n * (n - 1) * (2*n + 5) }
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	v := term(float64(len(y)))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		v -= term(float64(j - i))
		i = j
	}
	return v / 18
}
