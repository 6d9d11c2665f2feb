package stats

import "slices"

// Quantile is an exact quantile with what may be said about it.
type Quantile struct {
	Percentile Percentile
	N          int64 // values, infinite ones included
	Rank       int64 // ⌈p·N⌉, from 1; 0 when there are no values

	// Observed is the value at Rank, exact, in ns. When that rank is infinite
	// it is the quantile of the finite values alone (0 when there are none).
	Observed int64
	// Exceed is the number of values above Observed, infinite ones included.
	Exceed int64

	// LowValue and HighValue are the limits of the 95 % interval, ns. They are
	// exact where their rank lies in the bucket of a wanted quantile, else the
	// outer edge of their bucket: at most 1/1024 too wide, never too narrow.
	// They are set only if HasLow and HasHigh are: a limit is missing when the
	// run is too short for one, or when it lies among infinite values.
	LowValue, HighValue int64
	HasLow, HasHigh     bool

	Interval
	Status Status
}

// Events returns the whole effective tail events, ⌊k_eff⌋: what the text prints
// beside a quantile that is too uncertain to headline.
func (q Quantile) Events() int64 { return int64(q.KEff) }

// Quantiles ends pass 2 and returns one quantile for each percentile, in the
// order asked for. It is an error when the second pass did not see as many rows
// as the first.
func (s *Selector) Quantiles() ([]Quantile, error) {
	if err := s.checked(); err != nil {
		return nil, err
	}
	for i := range s.zones {
		slices.Sort(s.zones[i].values)
	}
	bins := len(s.counts) / s.stride
	counts, exceed, batches := make([]uint32, bins), make([]uint32, bins), make([]batch, bins)
	for bin := range counts {
		for _, n := range s.counts[bin*s.stride : (bin+1)*s.stride] {
			counts[bin] += n
		}
	}
	qs := make([]Quantile, len(s.wanted))
	for i := range s.wanted {
		qs[i] = s.quantile(&s.wanted[i], counts, exceed, batches)
	}
	return qs, nil
}

func (s *Selector) quantile(w *wanted, counts, exceed []uint32, batches []batch) Quantile {
	n := s.dist.N()
	q := Quantile{Percentile: w.p, N: n, Rank: w.p.Rank(n), Status: Uncertain}
	if n == 0 {
		q.Interval = Interval{VIF: 1}
		return q
	}
	if w.zone >= 0 {
		q.Observed = s.zones[w.zone].valueAt(w.rank)
	}
	s.exceeding(w, q.Observed, exceed)
	for _, e := range exceed {
		q.Exceed += int64(e)
	}
	q.Interval = QuantileInterval(w.p, n, inflation(counts, exceed, batches))
	q.Status = q.Interval.Status()
	if w.infinite {
		q.Status = Infinite
	}
	q.LowValue, q.HasLow = s.limit(q.LowRank, false)
	q.HighValue, q.HasHigh = s.limit(q.HighRank, true)
	return q
}

// limit returns the value of a rank as a limit of an interval.
func (s *Selector) limit(rank int64, upper bool) (int64, bool) {
	if rank < 1 || rank > s.dist.Finite() {
		return 0, false
	}
	for i := range s.zones {
		if z := &s.zones[i]; z.bucket.holds(rank) {
			return z.valueAt(rank), true
		}
	}
	b, ok := s.dist.bounds(rank)
	if upper {
		return b.High, ok
	}
	return b.Low, ok
}
