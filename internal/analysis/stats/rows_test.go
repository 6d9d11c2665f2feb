package stats

// Row is one value for Quantiles: a row in order of intended time.
type Row struct {
	Value    int64 // ns
	Infinite bool
}

// Quantiles runs both passes over rows held in memory, in order of intended
// time. Each row is a bin of its own as long as MaxSelectorBins allows.
func Quantiles(rows []Row, ps []Percentile) []Quantile {
	d := NewDistribution()
	for _, r := range rows {
		if r.Infinite {
			d.AddInfinite(1)
		} else {
			d.Add(r.Value)
		}
	}
	perBin := max(1, (len(rows)+MaxSelectorBins-1)/MaxSelectorBins)
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

// ofSorted is the quantile of values in ascending order by nearest rank; ok is
// false when there is none.
func (p Percentile) ofSorted(sorted []int64) (v int64, ok bool) {
	if len(sorted) == 0 {
		return 0, false
	}
	return sorted[p.Rank(int64(len(sorted)))-1], true
}
