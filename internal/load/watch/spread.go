package watch

import (
	"math"
	"runtime/metrics"
)

// spread is what a histogram of the runtime gained since the last update.
type spread struct {
	last  []uint64
	delta []uint64
	edges []float64 // s; bucket i is [edges[i], edges[i+1])
	n     int64
}

// update takes the cumulative histogram; false if v is none, which a runtime
// that does not have the metric says.
func (p *spread) update(v metrics.Value) bool {
	if v.Kind() != metrics.KindFloat64Histogram {
		return false
	}
	h := v.Float64Histogram()
	if len(p.last) != len(h.Counts) {
		p.last = make([]uint64, len(h.Counts))
		p.delta = make([]uint64, len(h.Counts))
	}
	p.edges, p.n = h.Buckets, 0
	for i, c := range h.Counts {
		p.delta[i] = c - p.last[i]
		p.last[i] = c
		p.n += int64(p.delta[i]) //nolint:gosec // a count of one interval
	}
	return true
}

func (p *spread) put(s *sampler, p99, longest string) {
	if p.n == 0 {
		return
	}
	const perMille, all = 990, 1000
	s.put(p99, p.edge((p.n*perMille+all-1)/all))
	s.put(longest, p.edge(p.n))
}

// edge returns the upper edge, in ns, of the bucket that has the value of that
// rank (from 1): the value is at most that. The last bucket has none; its
// lower edge stands for it.
func (p *spread) edge(rank int64) int64 {
	for i, d := range p.delta {
		rank -= int64(d) //nolint:gosec // a count of one interval
		if rank > 0 {
			continue
		}
		edge := p.edges[i+1]
		if math.IsInf(edge, 1) {
			edge = p.edges[i]
		}
		return int64(math.Round(edge * 1e9))
	}
	return 0
}
