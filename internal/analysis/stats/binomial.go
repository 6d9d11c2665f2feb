package stats

import (
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// binomialQuantile returns the smallest k with P(X ≤ k) ≥ alpha for X binomial
// with n trials of probability p: exact, also in the tail where a normal
// approximation gives negative counts.
func binomialQuantile(n int64, p, alpha float64) int64 {
	if n < 1 || p <= 0 {
		return 0
	}
	if p >= 1 {
		return n
	}
	k := sort.Search(int(n), func(k int) bool {
		return binomialCDF(int64(k), n, p) >= alpha
	})
	return int64(k)
}

// binomialCDF is P(X ≤ k) = I_{1−p}(n−k, k+1) for 0 ≤ k < n (Abramowitz and
// Stegun 26.5.24).
func binomialCDF(k, n int64, p float64) float64 {
	if k >= n {
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k)+1, 1-p)
}
