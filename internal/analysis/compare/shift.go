package compare

import (
	"math"
	"slices"
)

// Alpha is the level of tests and one minus the confidence of intervals.
const Alpha = 0.05

// Shift is by how much y lies above x.
type Shift struct {
	// Estimate is the Hodges–Lehmann estimate: the median of all differences.
	Estimate float64
	// Low and High are the limits of the interval, infinite where the samples are
	// too small for one of 95 %.
	Low, High float64
	// Level is the interval's confidence, at least 0.95 where it is finite.
	Level float64
	P     float64 // two-sided, not adjusted
}

// ShiftOf estimates the shift between two samples that are not empty.
func ShiftOf(x, y []float64) Shift {
	diffs := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			diffs = append(diffs, b-a)
		}
	}
	slices.Sort(diffs)
	n := len(diffs)
	s := Shift{Low: math.Inf(-1), High: math.Inf(1), Level: 1}
	if n == 0 {
		s.Estimate, s.P = math.NaN(), 1
		return s
	}
	s.Estimate = (diffs[(n-1)/2] + diffs[n/2]) / 2
	_, s.P = MannWhitney(x, y)
	k, tail := criticalRank(len(x), len(y))
	if k > 0 {
		s.Low, s.High, s.Level = diffs[k-1], diffs[n-k], 1-2*tail
	}
	return s
}

// criticalRank returns the largest k with P(U ≤ k−1) ≤ α/2 for samples without
// ties, and that probability: the k-th smallest and the k-th largest difference
// are the limits of the interval. With ties that is a little too wide.
func criticalRank(m, n int) (k int, tail float64) {
	if m+n > exactUpTo {
		fm, fn := float64(m), float64(n)
		k = int(fm*fn/2 - 1.959964*math.Sqrt(fm*fn*(fm+fn+1)/12))
		return max(k, 0), Alpha / 2
	}
	single := make([]int, m+n)
	for i := range single {
		single[i] = 1
	}
	ways := rankSums(n, single)
	total := 0.0
	for _, w := range ways {
		total += w
	}
	sum := 0.0
	for u := 0; ; u++ {
		s := 2*u + n*(n+1) // doubled rank sum of y when U is u
		if s >= len(ways) || (sum+ways[s])/total > Alpha/2 {
			return u, sum / total
		}
		sum += ways[s]
	}
}

// Detectable returns the smallest shift that a two-sided test of level alpha
// finds in four of five studies of m and n runs, for a standard deviation sigma
// between runs: (t(1−α/2) + t(0.8))·σ·√(1/m+1/n), with m+n−2 degrees of freedom.
// It is that of the t-test; the rank test needs some 2 % more. NaN below three
// runs.
func Detectable(sigma float64, m, n int, alpha float64) float64 {
	df := m + n - 2
	if df < 1 || m < 1 || n < 1 {
		return math.NaN()
	}
	return (studentQuantile(1-alpha/2, df) + studentQuantile(0.8, df)) * sigma * math.Sqrt(1/float64(m)+1/float64(n))
}

// pooled is the standard deviation within two samples.
func pooled(x, y []float64) float64 {
	squares := func(s []float64) (sum float64) {
		mean := 0.0
		for _, v := range s {
			mean += v / float64(len(s))
		}
		for _, v := range s {
			sum += (v - mean) * (v - mean)
		}
		return sum
	}
	return math.Sqrt((squares(x) + squares(y)) / float64(len(x)+len(y)-2))
}

// studentQuantile is the quantile p ≥ 0.5 of Student's t, by bisection over its
// distribution function.
func studentQuantile(p float64, df int) float64 {
	lo, hi := 0.0, 1.0
	for studentCDF(hi, df) < p && hi < 1e9 {
		hi *= 2
	}
	for range 100 {
		if mid := (lo + hi) / 2; studentCDF(mid, df) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// studentCDF is P(T ≤ t) for t ≥ 0: the finite series of Abramowitz and Stegun
// 26.7.3 and 26.7.4, exact for whole degrees of freedom.
func studentCDF(t float64, df int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	square := cos * cos
	if df%2 == 0 {
		sum, term := 1.0, 1.0
		for j := 2; j <= df-2; j += 2 {
			term *= square * float64(j-1) / float64(j)
			sum += term
		}
		return 0.5 + sin*sum/2
	}
	sum := 0.0
	if df > 1 {
		term := cos
		sum = term
		for j := 3; j <= df-2; j += 2 {
			term *= square * float64(j-1) / float64(j)
			sum += term
		}
	}
	return 0.5 + (theta+sin*sum)/math.Pi
}
