package stats

import "math"

// Nominal two-sided confidence of every interval, as the lower and the upper
// tail of the binomial.
const (
	lowerAlpha = 0.025
	upperAlpha = 0.975
)

// Limits of the print rule on effective tail events.
const (
	enoughEvents = 10 // print with its interval
	fewEvents    = 5  // print as of low confidence; below: not as a headline
)

// Status says how a quantile may be shown.
type Status string

// The statuses this package can determine; a report adds those that depend on
// the load (nonstationary) and on clocks.
const (
	OK        Status = "ok"
	Low       Status = "low"       // 5 to 10 effective tail events
	Uncertain Status = "uncertain" // fewer than 5: withhold
	Infinite  Status = "infinite"  // the rank lies among the unanswered messages
)

// Interval is the rank form of a confidence interval of a quantile: its limits
// are order statistics.
type Interval struct {
	// LowRank and HighRank count from 1 among all values, infinite ones
	// included. LowRank 0: the data give no lower limit. HighRank n+1: the data
	// give no upper limit ("> max").
	LowRank, HighRank int64
	VIF               float64 // variance inflation by autocorrelation, ≥ 1
	KEff              float64 // n(1−p)/VIF, effective tail events
}

// QuantileInterval returns the nominal 95 % interval of percentile p of n
// values whose exceedances have the given variance inflation.
//
// n/VIF values count as independent; the exceedances of the true quantile among
// them are binomial with probability 1−p. With A and B the 2.5 % and 97.5 %
// quantiles of that distribution the limits are the order statistics
//
//	high  n − ⌊(A−1)·VIF⌋   (A ≥ 1)
//	low   n − ⌈B·VIF⌉
//
// A−1 and not A: X(n−j) ≥ q needs j+1 exceedances.
func QuantileInterval(p Percentile, n int64, vif float64) Interval {
	vif = max(vif, 1)
	tail := p.Tail()
	iv := Interval{VIF: vif, KEff: float64(n) * tail / vif}
	independent := int64(float64(n) / vif)
	a := binomialQuantile(independent, tail, lowerAlpha)
	b := binomialQuantile(independent, tail, upperAlpha)
	iv.HighRank = n + 1
	if a >= 1 {
		iv.HighRank = n - int64(float64(a-1)*vif)
	}
	iv.LowRank = max(0, n-int64(math.Ceil(float64(b)*vif)))
	return iv
}

// Status applies the print rule.
func (iv Interval) Status() Status {
	switch {
	case iv.KEff >= enoughEvents:
		return OK
	case iv.KEff >= fewEvents:
		return Low
	}
	return Uncertain
}

// Needed returns by what factor the run must be longer for the quantile to have
// ten effective tail events; 1 when it has them, +Inf when no length helps
// (percentile 100).
func (iv Interval) Needed() float64 {
	return max(1, enoughEvents/iv.KEff)
}

// minBatches is the least number of batches a variance is estimated from.
const minBatches = 30

// VIF estimates the variance inflation of the share of exceedances m̂ against
// independent values: the largest, over batches of 1, 2, 4, … bins with at
// least 30 batches, of
//
//	VIF(b) = J/(J−1) · Σ (e_j − m·n_j)² / (n·m·(1−m))
//
// with n_j values and e_j exceedances in batch j of the J that are not empty.
// With equal n_j = b it is b·Var(batch means)/(m(1−m)); the ratio form holds for
// bins of equal time, whose counts differ. It is at least 1, and 1 when nothing
// or everything exceeds.
//
// The bins are in order of intended time; both slices have the same length and
// are not changed.
func VIF(counts, exceed []uint32) float64 {
	return inflation(counts, exceed, make([]batch, len(counts)))
}

// inflation is VIF with room for one batch a bin.
func inflation(counts, exceed []uint32, residuals []batch) float64 {
	var n, e int64
	for i := range counts {
		residuals[i] = batch{int64(counts[i]), int64(exceed[i])}
		n += int64(counts[i])
		e += int64(exceed[i])
	}
	if e <= 0 || e >= n {
		return 1
	}
	m := float64(e) / float64(n)
	vif := 1.0
	for batches := residuals; ; batches = foldPairs(batches) {
		var sum float64
		filled := 0
		for _, b := range batches {
			if b.n == 0 {
				continue
			}
			filled++
			d := float64(b.e) - m*float64(b.n)
			sum += d * d
		}
		if filled < minBatches {
			return vif
		}
		j := float64(filled)
		vif = max(vif, j/(j-1)*sum/(float64(n)*m*(1-m)))
	}
}

type batch struct{ n, e int64 }

// foldPairs adds neighbours in place; an odd last batch stays alone.
func foldPairs(bs []batch) []batch {
	half := bs[:(len(bs)+1)/2]
	for i := range half {
		b := bs[2*i]
		if 2*i+1 < len(bs) {
			b.n += bs[2*i+1].n
			b.e += bs[2*i+1].e
		}
		half[i] = b
	}
	return half
}
