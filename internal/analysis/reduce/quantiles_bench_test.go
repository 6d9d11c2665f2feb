package reduce

import (
	"os"
	"sync"
	"testing"

	"amqpperf/internal/analysis/stats"
)

// BenchmarkFourQuantiles is the exact quantiles of four latencies of the first
// arrivals in the merged log that PERF_LOG names: what quantile_disc of a data base
// is to be compared with. There are two passes; service and response are counted
// beside transit and e2e.
func BenchmarkFourQuantiles(b *testing.B) {
	if os.Getenv("PERF_LOG") == "" {
		b.Skip("PERF_LOG names no merged log")
	}
	var quantiles [4][]int64
	for b.Loop() {
		var both sync.WaitGroup
		both.Go(func() { twoQuantiles(b, "acked", func(m *instants) []int64 { return m.acked }, quantiles[:2]) })
		both.Go(func() { twoQuantiles(b, "received", func(m *instants) []int64 { return m.received }, quantiles[2:]) })
		both.Wait()
	}
	found(b, quantiles)
}

// twoQuantiles finds those of an instant since sent and since intended.
func twoQuantiles(b *testing.B, until string, column func(*instants) []int64, quantiles [][]int64) {
	pass := func(use func(k int, to, from []int64)) {
		eachInstants(b, func(m *instants) {
			m.eachPair(column(m), func(to, sent, intended []int64) {
				use(0, to, sent)
				use(1, to, intended)
			})
		}, until, "sent", "intended", "copy")
	}
	dists := [2]*stats.Distribution{stats.NewDistribution(), stats.NewDistribution()}
	pass(func(k int, to, from []int64) { dists[k].AddDifferences(to, from) })
	var selectors [2]*stats.Selector
	for k, d := range dists {
		selectors[k] = d.NewSelector(stats.MustPercentiles("50,90,99,99.9,99.99"), 1)
	}
	var bin [1 << 12]uint32
	pass(func(k int, to, from []int64) { selectors[k].AddColumns(bin[:len(to)], to, from) })
	for k, s := range selectors {
		qs, err := s.Quantiles()
		if err != nil {
			b.Error(err)
		}
		quantiles[k] = quantiles[k][:0]
		for _, q := range qs {
			quantiles[k] = append(quantiles[k], q.Observed)
		}
	}
}

// eachPair shows the first arrivals that were sent and have an instant. One that
// was not sent has no other instant than intended.
func (b *instants) eachPair(until []int64, use func(until, sent, intended []int64)) {
	b.left = [3][]int64{b.left[0][:0], b.left[1][:0], b.left[2][:0]}
	whole := 0 // where the rows begin that have not been used
	eachPart(len(until), func(from, to int) bool {
		if all(b.copies[from:to], until[from:to], b.sent[from:to]) {
			return true
		}
		use(until[whole:from], b.sent[whole:from], b.intended[whole:from])
		whole = to
		return false
	}, func(i int) {
		if b.copies[i] == 0 && has(until[i]) && has(b.sent[i]) {
			for k, v := range [3]int64{until[i], b.sent[i], b.intended[i]} {
				b.left[k] = append(b.left[k], v)
			}
		}
	})
	use(until[whole:], b.sent[whole:], b.intended[whole:])
	use(b.left[0], b.left[1], b.left[2])
}
