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

// BenchmarkPerSecondSeries is the counts and the latencies per second of the merged
// log that PERF_LOG names, of plain rows: what a data base is to be compared with
// that groups by second. The first of the two readings is for the first and the
// last instant.
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
		names, s := newNames(), &values{}
		v := [2]view{}
		k := 0
		eachRead(b, name, []string{
			"run", "attempt", "intended", "ready", "sent", "acked", "outcome", "wait", "received", "started", "settled",
			"recv_outcome", "copy", "primary", "bound",
		}, func(m *format.Merged) {
			k = 1 - k
			v := &v[k]
			v.look(m, names, "")
			v.divide(chunkRows)
			r := &reducer{receives: true}
			for _, c := range v.chunks {
				if c.plain && p.whole(v, c, true) {
					continue
				}
				for i := c.from; i < c.to; i++ {
					out := v.outcome(i)
					p.instants(v, i, out, v.Copy[i] == 0 && (has(v.Received[i]) || (v.missing(i) != fateNone && has(v.Sent[i]))))
					if v.Attempt[i] == 0 {
						r.measure(v, i, s)
						p.latencies(v.Intended[i], s, v.wait(i))
					}
				}
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
