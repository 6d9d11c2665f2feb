package reduce

import (
	"errors"
	"io"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"amqpperf/format"
)

// BenchmarkPerSecondSeries is the counts of intended, sent, acked and received, and
// the latencies, per second of the merged log that PERF_LOG names, of plain rows:
// what a data base is to be compared with that groups by second. The first of the
// two readings is for the first and the last instant.
func BenchmarkPerSecondSeries(b *testing.B) {
	name := os.Getenv("PERF_LOG")
	if name == "" {
		b.Skip("PERF_LOG names no merged log")
	}
	for b.Loop() {
		d := &Data{First: math.MaxInt64, Last: math.MinInt64}
		end := int64(math.MinInt64)
		eachRead(b, name, []string{"intended", "acked", "received"}, func(m *format.Merged) {
			first, last := extremes(m.Intended)
			_, acked := extremes(m.Acked)
			_, received := extremes(m.Received)
			d.First, d.Last, end = min(d.First, first), max(d.Last, last), max(end, acked, received)
		})
		p := newSeriesPass(d, end, end, int64(time.Second))
		eachRead(b, name, []string{"intended", "sent", "acked", "received"}, func(m *format.Merged) {
			v := &view{Merged: m}
			p.eachInterval(m.Intended, func(k, from, to int) {
				p.counts[countIntended][k] += int64(to - from)
				p.wholeLatencies(v, k, chunk{from: from, to: to})
			})
			for what, column := range map[int][]int64{countSent: m.Sent, countAcked: m.Acked, countReceived: m.Received} {
				p.eachInterval(column, func(k, from, to int) { p.counts[what][k] += int64(to - from) })
			}
		})
		p.finish(d)
		if total(d.Series.Intended) == 0 {
			b.Fatal("an empty series")
		}
	}
}

// eachRead shows batches to use while the next one is read.
func eachRead(b *testing.B, name string, columns []string, use func(*format.Merged)) {
	log, err := format.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	if err := log.Select(columns...); err != nil {
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
		busy.Go(func() { use(m) })
	}
}
