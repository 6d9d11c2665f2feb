package stats

import (
	"math"
	"slices"
)

// maxGaps is how many gaps are tested: with a million any test rejects trivia.
const maxGaps = 4096

// AndersonDarling returns A*², the Anderson–Darling statistic of gaps against an
// exponential distribution of their mean, with the correction for that estimate,
// A²(1 + 0.6/n) (Stephens 1974). Critical values: 10 % 1.078, 5 % 1.341, 2.5 %
// 1.606, 1 % 1.957. It is NaN below eight gaps, and when all are 0. Gaps are
// positive; one of 0 counts as the smallest number that is not.
func AndersonDarling(gaps []float64) float64 {
	n := len(gaps)
	if n < 8 {
		return math.NaN()
	}
	x := slices.Clone(gaps)
	slices.Sort(x)
	var sum float64
	for _, g := range x {
		sum += g
	}
	if sum <= 0 {
		return math.NaN()
	}
	mean := sum / float64(n)
	logF := func(i int) float64 { return math.Log(max(-math.Expm1(-x[i]/mean), 1e-300)) }
	var a float64
	for i := range x { // log(1−F) of an exponential is −x/mean
		a += float64(2*i+1) * (logF(i) - x[n-1-i]/mean)
	}
	a = -float64(n) - a/float64(n)
	return a * (1 + 0.6/float64(n))
}

// Gaps returns at most 4096 gaps between neighbours of ascending instants, ns,
// evenly chosen.
func Gaps(instants []int64) []float64 {
	n := len(instants) - 1
	if n < 1 {
		return nil
	}
	count := min(n, maxGaps)
	gaps := make([]float64, count)
	for i := range gaps {
		k := i * n / count
		gaps[i] = float64(instants[k+1] - instants[k])
	}
	return gaps
}

// Dispersion returns the index of dispersion of counts, Var N / E N over
// consecutive windows of equal length: 0 for a constant arrival process whose
// interval divides the window, 1 for Poisson, more for a bursty one. It is NaN
// below two windows and without events.
func Dispersion(counts []int64) float64 {
	if len(counts) < 2 {
		return math.NaN()
	}
	var m Moments
	for _, c := range counts {
		m.Add(c)
	}
	if m.Mean() == 0 {
		return math.NaN()
	}
	s := m.StdDev()
	return s * s / m.Mean()
}

// Fold adds up each k neighbours; a rest of fewer is left out.
func Fold(counts []int64, k int) []int64 {
	out := make([]int64, 0, len(counts)/k)
	for i := 0; i+k <= len(counts); i += k {
		var sum int64
		for _, c := range counts[i : i+k] {
			sum += c
		}
		out = append(out, sum)
	}
	return out
}
