package reduce_test

import (
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/stats"
)

// BenchmarkFourQuantiles is the exact quantiles of four latencies of the merged
// log that PERF_LOG names, of plain rows: what quantile_disc of a data base is to
// be compared with. Each of the two passes reads four columns.
func BenchmarkFourQuantiles(b *testing.B) {
	name := os.Getenv("PERF_LOG")
	if name == "" {
		b.Skip("PERF_LOG names no merged log")
	}
	ps := stats.MustPercentiles("50,90,99,99.9,99.99")
	for b.Loop() {
		var dists [4]*stats.Distribution
		for i := range dists {
			dists[i] = stats.NewDistribution()
		}
		eachFour(b, name, func(i int, to, from []int64) { dists[i].AddDifferences(to, from) })
		var selectors [4]*stats.Selector
		bins := make([]uint32, format.BatchRows)
		for i, d := range dists {
			selectors[i] = d.NewSelector(ps, 1)
		}
		eachFour(b, name, func(i int, to, from []int64) { selectors[i].AddColumns(bins[:len(to)], to, from) })
		for _, s := range selectors {
			if _, err := s.Quantiles(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// eachFour shows the columns of service, response, transit and e2e to use, two
// of them beside the other two, while the next batch is read.
func eachFour(b *testing.B, name string, use func(i int, to, from []int64)) {
	log, err := format.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	if err := log.Select("intended", "sent", "acked", "received"); err != nil {
		b.Fatal(err)
	}
	var rows [2]format.Merged
	var busy sync.WaitGroup
	for k := 0; ; k++ {
		m := &rows[k%2]
		err := log.ReadRows(m, 1<<13)
		busy.Wait()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		busy.Go(func() {
			use(0, m.Acked, m.Sent)
			use(1, m.Acked, m.Intended)
		})
		busy.Go(func() {
			use(2, m.Received, m.Sent)
			use(3, m.Received, m.Intended)
		})
	}
}
