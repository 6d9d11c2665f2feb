package reduce

import (
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/analysis/stats"
)

// BenchmarkPerSecondSeries is the counts of intended, sent, acked and received, and
// the latencies of what was intended, per second of the merged log that PERF_LOG
// names: what a data base is to be compared with that groups by second. A
// first, short pass finds the span of what was intended.
func BenchmarkPerSecondSeries(b *testing.B) {
	if os.Getenv("PERF_LOG") == "" {
		b.Skip("PERF_LOG names no merged log")
	}
	var p *seriesPass
	var d *Data
	for b.Loop() {
		d = &Data{First: math.MaxInt64, Last: math.MinInt64}
		eachInstants(b, func(m *instants) {
			first, last := extremes(m.intended)
			d.First, d.Last = min(d.First, first), max(d.Last, last)
		}, "intended")
		d.First -= d.First % int64(time.Second)
		// What is acked or received later would be counted as outside.
		p = newSeriesPass(d, d.Last+int64(time.Minute), 0, int64(time.Second))
		var both sync.WaitGroup
		both.Go(func() {
			eachInstants(b, p.addFromIntended, "intended", "acked", "received", "copy")
		})
		other := seriesPass{start: p.start, width: p.width, n: p.n, counts: p.counts, latency: p.latency} // its own p.outside
		both.Go(func() {
			eachInstants(b, other.addFromSent, "intended", "sent", "acked", "received", "copy")
		})
		both.Wait()
		if p.outside+other.outside > 0 {
			b.Fatal("instants more than a minute after the last message")
		}
	}
	type second struct {
		At                              int64
		Intended, Sent, Acked, Received int64
		Response, Service, E2E          [4]int64 // 50, 99, 99.9 %, largest
	}
	var seconds []second
	for i := range p.n {
		s := second{At: p.start/p.width + int64(i)}
		for what, n := range map[int]*int64{countIntended: &s.Intended, countSent: &s.Sent, countAcked: &s.Acked, countReceived: &s.Received} {
			*n = p.counts[what][i]
		}
		for k, to := range []*[4]int64{&s.Response, &s.Service, &s.E2E} {
			*to = p.latency[k][i].four()
		}
		if s.Intended+s.Sent+s.Acked+s.Received > 0 {
			seconds = append(seconds, s)
		}
	}
	if len(seconds) == 0 {
		b.Fatal("an empty series")
	}
	found(b, seconds)
}

// four are the upper edges of three quantiles' buckets, and the largest.
func (h *intervalHistogram) four() (v [4]int64) {
	if h.finite == nil {
		return v
	}
	for i, p := range stats.MustPercentiles("50,99,99.9") {
		bucket, _ := h.finite.AtRank(p.Rank(h.finite.N()))
		v[i] = min(bucket.High, h.max)
	}
	v[3] = h.max
	return v
}

// addFromIntended counts what was intended, with response and e2e.
func (p *seriesPass) addFromIntended(m *instants) {
	eachPart(m.Len(), func(from, to int) bool {
		intended, acked, received := m.intended[from:to], m.acked[from:to], m.received[from:to]
		if !all(m.copies[from:to], acked, received) {
			return false
		}
		p.eachInterval(intended, func(k, from, to int) {
			p.counts[countIntended][k] += int64(to - from)
			p.latency[0][k].addDifferences(acked[from:to], intended[from:to])
			p.latency[2][k].addDifferences(received[from:to], intended[from:to])
		})
		return true
	}, func(i int) {
		if m.copies[i] != 0 {
			return
		}
		k, _ := p.interval(m.intended[i])
		p.counts[countIntended][k]++
		p.latency[0][k].addDifferences(present(m.acked[i:i+1], m.intended[i:i+1]))
		p.latency[2][k].addDifferences(present(m.received[i:i+1], m.intended[i:i+1]))
	})
}

// addFromSent counts what was sent, acked and received, with service.
func (p *seriesPass) addFromSent(m *instants) {
	eachPart(m.Len(), func(from, to int) bool {
		intended, sent, acked := m.intended[from:to], m.sent[from:to], m.acked[from:to]
		columns := [3][]int64{sent, acked, m.received[from:to]}
		if !first(m.copies[from:to]) {
			return false
		}
		var lowest, highest [3]int64
		for i, column := range columns {
			lowest[i], highest[i] = extremes(column)
			_, ok1 := p.interval(lowest[i]) // not of NULL
			if _, ok2 := p.interval(highest[i]); !ok1 || !ok2 {
				return false
			}
		}
		p.eachInterval(intended, func(k, from, to int) { p.latency[1][k].addDifferences(acked[from:to], sent[from:to]) })
		for i, what := range [3]int{countSent, countAcked, countReceived} {
			p.eachIntervalOf(columns[i], lowest[i], highest[i], func(k, from, to int) { p.counts[what][k] += int64(to - from) })
		}
		return true
	}, func(i int) {
		if m.copies[i] != 0 {
			return
		}
		k, _ := p.interval(m.intended[i])
		p.latency[1][k].addDifferences(present(m.acked[i:i+1], m.sent[i:i+1]))
		for k, at := range [3]int64{m.sent[i], m.acked[i], m.received[i]} {
			if has(at) {
				p.count([3]int{countSent, countAcked, countReceived}[k], at)
			}
		}
	})
}

// present returns the two if both are there, else nothing.
func present(to, from []int64) (a, b []int64) {
	if has(to[0]) && has(from[0]) {
		return to, from
	}
	return nil, nil
}
