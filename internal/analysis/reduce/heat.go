package reduce

import (
	"math"
	"math/bits"
)

// heat turns the histograms of the intervals into the counts of a picture.
func (p *seriesPass) heat(k int) (h Heat) {
	columns := make([][]uint32, p.n)
	some := false
	for i := range p.latency[k] {
		cell := &p.latency[k][i]
		h.Infinite += cell.infinite
		if cell.finite == nil {
			continue
		}
		for b := range cell.finite.Buckets {
			if b.High <= 0 {
				h.Below += b.Count
				continue
			}
			step := int(math.Log10(float64(min(b.High, cell.max))) * HeatSteps)
			for len(columns[i]) <= step {
				columns[i] = append(columns[i], 0)
			}
			columns[i][step] += uint32(min(b.Count, math.MaxUint32-int64(columns[i][step])))
			some = true
		}
	}
	if some {
		h.Columns = columns
	}
	return h
}

// sum128 is a sum of int64 that cannot overflow, two's complement.
type sum128 struct{ low, high uint64 }

func (s *sum128) add(v int64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(v), 0)
	s.high, _ = bits.Add64(s.high, uint64(v>>63), carry)
}

// mean is the sum over n; 0 for none.
func (s *sum128) mean(n int64) float64 {
	if n == 0 {
		return 0
	}
	return (float64(int64(s.high))*(1<<64) + float64(s.low)) / float64(n)
}

// partSums are the sums of one interval that Parts are made of.
type partSums struct {
	n            int64
	lag, service sum128
	blocked      [numWaits]sum128
}

// responseParts are the metrics that make up a response.
const responseParts = 1<<Lag | 1<<Blocked | 1<<Service

func (p *partSums) add(s *values, w Wait) {
	if s.finite&responseParts != responseParts {
		return
	}
	p.n++
	p.lag.add(s.v[Lag])
	p.service.add(s.v[Service])
	p.blocked[w].add(s.v[Blocked])
}

func partsOf(sums []partSums) []Parts {
	out := make([]Parts, len(sums))
	some := false
	for i := range sums {
		s := &sums[i]
		some = some || s.n > 0
		out[i] = Parts{N: s.n, Lag: s.lag.mean(s.n), Service: s.service.mean(s.n)}
		for w := range s.blocked {
			out[i].Blocked[w] = s.blocked[w].mean(s.n)
		}
	}
	if !some {
		return nil
	}
	return out
}
