package stats

import (
	"math"
	"slices"
)

// finePrecision is that of the histogram that pass 2 begins with: the finer, the
// fewer rows it must keep. A row's value and its bin fit 64 bits.
const finePrecision = 14

// Distribution is pass 1: a histogram and the moments of the finite values of
// one metric, and the number of infinite ones. It is not safe for concurrent use.
type Distribution struct {
	Moments
	fine     *Histogram
	infinite int64
	coarse   *Histogram // of fine, as long as they have the same number of values
}

// NewDistribution returns an empty distribution.
func NewDistribution() *Distribution {
	return &Distribution{fine: NewHistogram(finePrecision)}
}

// Add takes in a finite value, ns.
func (d *Distribution) Add(v int64) {
	d.Moments.Add(v)
	d.fine.Add(v)
}

// AddDifferences takes in the finite values to[i] − from[i], ns, for all i: the
// same as Add of each, for columns.
func (d *Distribution) AddDifferences(to, from []int64) {
	for from = from[:len(to)]; len(to) > 0; {
		n := min(len(to), mostAtOnce)
		lowest, highest := d.addSome(to[:n], from[:n])
		if lowest == highest { // as of the lag of a closed loop
			d.fine.AddN(lowest, int64(n))
		} else {
			d.fine.AddDifferences(to[:n], from[:n])
		}
		to, from = to[n:], from[n:]
	}
}

// AddInfinite takes in n values of +infinity.
func (d *Distribution) AddInfinite(n int64) { d.infinite += n }

// Finite returns the number of finite values.
func (d *Distribution) Finite() int64 { return d.Moments.N() }

// Infinite returns the number of infinite values.
func (d *Distribution) Infinite() int64 { return d.infinite }

// N returns the number of values, infinite ones included.
func (d *Distribution) N() int64 { return d.Moments.N() + d.infinite }

// Histogram returns the histogram of the finite values in DefaultPrecision. It
// must not be changed.
func (d *Distribution) Histogram() *Histogram {
	if d.coarse == nil || d.coarse.n != d.fine.n {
		d.coarse = NewHistogram(DefaultPrecision)
		for b := range d.fine.Buckets { // each lies in one bucket of the coarse one
			d.coarse.AddN(b.Low, b.Count)
		}
	}
	return d.coarse
}

// bounds returns the range a finite rank's value is known to be in after
// pass 1: its bucket, cut at the extremes.
func (d *Distribution) bounds(rank int64) (b Bucket, ok bool) {
	b, ok = d.Histogram().AtRank(rank)
	if !ok {
		return b, false
	}
	return d.cut(b), true
}

// Approx returns the quantile after pass 1 alone: the upper edge of its bucket,
// at most 1/1024 above the exact value. infinite is true, and v the largest
// finite value, when the rank lies among the infinite values. ok is false when
// there is no finite value.
func (d *Distribution) Approx(p Percentile) (v int64, infinite, ok bool) {
	if d.Finite() == 0 {
		return 0, d.infinite > 0, false
	}
	b, found := d.bounds(p.Rank(d.N()))
	if !found {
		return d.Max(), true, true
	}
	return b.High, false, true
}

// CurvePoint is a point of a percentile curve.
type CurvePoint struct {
	Tail  float64 // 1−p, above 0
	Value int64   // ns; the upper edge of the bucket that holds the rank
}

// Curve returns the percentile curve for a plot on the 1/(1−p) axis: ticks
// points for each halving of 1−p. The value of rank r stands at 1−p = (n−r)/n,
// where the quantile of a table stands; the exact maximum, whose 1−p is 0 and
// has no place on that axis, stands at 1/(2n). Ranks among infinite values are
// left out: the curve ends where the quantiles become infinite.
func (d *Distribution) Curve(ticks int) []CurvePoint {
	n := d.N()
	if d.Finite() == 0 || ticks < 1 {
		return nil
	}
	ranks := curveRanks(n, ticks)
	points := make([]CurvePoint, 0, len(ranks))
	i := 0
	for b := range d.Histogram().Buckets {
		hi := min(b.High, d.Max())
		for i < len(ranks) && ranks[i] <= b.Below+b.Count {
			tail := float64(n-ranks[i]) / float64(n)
			if ranks[i] == n {
				tail = 0.5 / float64(n)
			}
			points = append(points, CurvePoint{Tail: tail, Value: hi})
			i++
		}
	}
	return points
}

// curveRanks returns ascending ranks of n values, the first and the last among
// them, evenly spaced in the logarithm of the tail.
func curveRanks(n int64, ticks int) []int64 {
	ranks := []int64{1}
	for i := 1; ; i++ {
		above := int64(math.Exp2(-float64(i)/float64(ticks)) * float64(n))
		if above < 1 {
			break
		}
		ranks = append(ranks, max(1, n-above))
	}
	ranks = append(ranks, n)
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
