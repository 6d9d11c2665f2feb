package compare

import (
	"math"
	"slices"
)

// exactUpTo is how many runs both sides together may have for exact
// distributions; beyond it the normal approximation is as good.
const exactUpTo = 100

// MannWhitney returns the two-sided p-value of the Mann–Whitney test of two
// samples, exact given the ties among them: twice the smaller tail, at most 1.
// U is the number of pairs in which y is above x, halves for ties. p is 1 when a
// sample is empty.
func MannWhitney(x, y []float64) (u, p float64) {
	m, n := len(x), len(y)
	if m == 0 || n == 0 {
		return 0, 1
	}
	ranks, groups := midranks(x, y)
	var sum int // of the doubled ranks of y
	for _, r := range ranks[m:] {
		sum += r
	}
	u = float64(sum)/2 - float64(n*(n+1))/2
	if m+n > exactUpTo {
		return u, normalP(u, m, n, groups)
	}
	ways := rankSums(n, groups)
	var below, above, total float64
	for s, w := range ways {
		total += w
		if s <= sum {
			below += w
		}
		if s >= sum {
			above += w
		}
	}
	return u, min(1, 2*min(below, above)/total)
}

// midranks returns twice the rank of each value of x and then of y among all,
// ties sharing theirs, and the sizes of the groups of ties, ascending.
func midranks(x, y []float64) (doubled, groups []int) {
	all := slices.Concat(x, y)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case all[a] < all[b]:
			return -1
		case all[a] > all[b]:
			return 1
		}
		return 0
	})
	doubled = make([]int, len(all))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]] == all[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			doubled[k] = i + j + 1 // ranks i+1 … j, their mean times two
		}
		groups = append(groups, j-i)
		i = j
	}
	return doubled, groups
}

// rankSums counts the ways to choose n values whose doubled ranks have a given
// sum, for groups of ties of these sizes. Counts up to 2⁵³ are exact, that is up
// to 28 runs a side.
func rankSums(n int, groups []int) []float64 {
	total := 0
	for _, t := range groups {
		total += t
	}
	size := total*(total+1) + 1 // twice the sum of all ranks
	ways := make([][]float64, n+1)
	for j := range ways {
		ways[j] = make([]float64, size)
	}
	ways[0][0] = 1
	below := 0
	for _, t := range groups {
		rank := 2*below + t + 1
		below += t
		for j := n; j > 0; j-- { // descending: j−k still is without this group
			for k := 1; k <= min(t, j); k++ {
				choose := binomial(t, k)
				for s := k * rank; s < size; s++ {
					if w := ways[j-k][s-k*rank]; w != 0 {
						ways[j][s] += w * choose
					}
				}
			}
		}
	}
	return ways[n]
}

func binomial(n, k int) float64 {
	out := 1.0
	for i := 1; i <= k; i++ {
		out = out * float64(n-k+i) / float64(i)
	}
	return math.Round(out)
}

// normalP is the normal approximation with corrections for ties and continuity.
func normalP(u float64, m, n int, groups []int) float64 {
	fm, fn, all := float64(m), float64(n), float64(m+n)
	ties := 0.0
	for _, t := range groups {
		ties += float64(t*t*t - t)
	}
	variance := fm * fn / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1
	}
	z := max(0, math.Abs(u-fm*fn/2)-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// SmallestP is the smallest p-value that any data of m and n runs can have: two
// over the number of ways to deal them.
func SmallestP(m, n int) float64 {
	if m == 0 || n == 0 {
		return 1
	}
	return min(1, 2/binomial(m+n, min(m, n)))
}

// Holm adjusts p-values for there being several of them (Holm 1979). They keep
// their places.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(ps))
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(ps)-rank)*ps[i]))
		out[i] = highest
	}
	return out
}
