package stats

import "fmt"

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
	if s.seen != s.dist.Finite() || s.infinite != s.dist.Infinite() {
		return nil, fmt.Errorf("second pass saw %d finite and %d infinite values, first pass %d and %d",
			s.seen, s.infinite, s.dist.Finite(), s.dist.Infinite())
	}
	for i := range s.wanted {
		w := &s.wanted[i]
		if w.twin != i {
			w.cells = s.wanted[w.twin].cells
			continue
		}
		w.sparse()
		w.compact()
	}
	qs := make([]Quantile, len(s.wanted))
	scratch, batches := make([]uint32, len(s.counts)), make([]batch, len(s.counts))
	for i := range s.wanted {
		w := &s.wanted[i]
		qs[w.place] = s.quantile(w, scratch, batches)
	}
	return qs, nil
}

func (s *Selector) quantile(w *wanted, exceed []uint32, batches []batch) Quantile {
	n := s.dist.N()
	q := Quantile{Percentile: w.p, N: n, Rank: w.p.Rank(n), Status: Uncertain}
	if n == 0 {
		q.Interval = Interval{VIF: 1}
		return q
	}
	if w.rank > 0 {
		q.Observed = w.valueAt(w.rank)
	}
	copy(exceed, w.exceed)
	for _, c := range w.cells {
		if c.v > q.Observed {
			exceed[c.bin] += c.n
		}
	}
	for _, e := range exceed {
		q.Exceed += int64(e)
	}
	q.Interval = QuantileInterval(w.p, n, inflation(s.counts, exceed, batches))
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
	for i := range s.wanted {
		w := &s.wanted[i]
		if rank > w.bucket.Below && rank <= w.bucket.Below+w.bucket.Count {
			return w.valueAt(rank), true
		}
	}
	b, ok := s.dist.bounds(rank)
	if upper {
		return b.High, ok
	}
	return b.Low, ok
}

// Row is one value for Quantiles: a row in order of intended time.
type Row struct {
	Value    int64 // ns
	Infinite bool
}

// Quantiles runs both passes over rows held in memory, in order of intended
// time. Each row is a bin of its own as long as MaxBins allows.
func Quantiles(rows []Row, ps []Percentile) []Quantile {
	d := NewDistribution()
	for _, r := range rows {
		if r.Infinite {
			d.AddInfinite(1)
		} else {
			d.Add(r.Value)
		}
	}
	perBin := max(1, (len(rows)+MaxBins-1)/MaxBins)
	s := d.NewSelector(ps, (len(rows)+perBin-1)/perBin)
	for i, r := range rows {
		if r.Infinite {
			s.AddInfinite(i / perBin)
		} else {
			s.Add(i/perBin, r.Value)
		}
	}
	// Both passes saw the same slice: there is no error to return.
	qs, _ := s.Quantiles()
	return qs
}
