package stats

import (
	"iter"
	"slices"
)

// BatchMean is the mean of some consecutive values and how many they are.
type BatchMean struct {
	N   int64
	Sum float64
}

// Truncation is what MSER-5 found.
type Truncation struct {
	Batches int // batches of five, or as many as a bin holds
	Cut     int // so many of them are the warm-up
	// Share is Cut/Batches. Above a half the run is rejected: it has no steady
	// part long enough to tell the start from it.
	Share float64
	OK    bool // Share ≤ 1/2, and enough batches to say anything
}

// enoughBatches is the least number of batches MSER is applied to.
const enoughBatches = 20

// MSER5 chooses the warm-up to leave out (White 1997): the d that minimises
//
//	Σ_{i>d} (X_i − X̄_d)² / (n−d)²
//
// over the means X of batches of five values, in order. The last twentieth is
// never cut down to: a handful of values that happen to be alike would win. Ties go to the
// shortest cut, so that constant values have no warm-up. Values that are
// already batched (bins of time) count as their mean; all batches weigh the
// same.
func MSER5(batches []BatchMean) Truncation {
	n := len(batches)
	t := Truncation{Batches: n}
	if n < enoughBatches {
		return t
	}
	scale := 0.0 // values are taken about the overall mean, for the digits' sake
	for _, b := range batches {
		scale += b.mean() / float64(n)
	}
	least := max(5, n/20)
	var sum, squares float64
	best := -1.0
	for d := n - 1; d >= 0; d-- {
		v := batches[d].mean() - scale
		sum += v
		squares += v * v
		left := float64(n - d)
		if n-d < least {
			continue
		}
		statistic := max(0, squares-sum*sum/left) / (left * left)
		if best < 0 || statistic <= best {
			best, t.Cut = statistic, d
		}
	}
	t.Share = float64(t.Cut) / float64(n)
	t.OK = t.Share <= 0.5
	return t
}

// WithoutStalls returns the batches for a warm-up with later stalls cut down: what is above
// the 95th percentile counts as that, except in front, up to the first batch
// that is not above the median. A single stall in mid-run would else be the
// best place to cut at, and the hour before it a warm-up.
func WithoutStalls(batches []BatchMean) []BatchMean {
	if len(batches) == 0 {
		return nil
	}
	means := make([]float64, len(batches))
	for i, b := range batches {
		means[i] = b.mean()
	}
	sorted := slices.Clone(means)
	slices.Sort(sorted)
	middle, high := sorted[len(sorted)/2], sorted[len(sorted)*95/100]
	out := slices.Clone(batches)
	front := true
	for i := range out {
		front = front && means[i] > middle
		if !front && means[i] > high {
			out[i].Sum = high * float64(out[i].N)
		}
	}
	return out
}

func (b BatchMean) mean() float64 { return b.Sum / float64(b.N) }

// Batches joins consecutive bins until each batch holds at least five values
// (the last one may hold fewer and is then left out) and returns at most limit
// batches, and for each the key of its first bin. bins is gone through twice.
func Batches(bins iter.Seq2[int64, BatchMean], limit int) (batches []BatchMean, first []int64) {
	const five = 5
	var total int64
	for _, b := range bins {
		total += b.N
	}
	want := max(five, (total+int64(max(limit, 1))-1)/int64(max(limit, 1)))
	batches, first = make([]BatchMean, 0, total/want), make([]int64, 0, total/want)
	var open BatchMean
	start := int64(0)
	for i, b := range bins {
		if b.N == 0 {
			continue
		}
		if open.N == 0 {
			start = i
		}
		open.N += b.N
		open.Sum += b.Sum
		if open.N >= want {
			batches, first = append(batches, open), append(first, start)
			open = BatchMean{}
		}
	}
	return batches, first
}
