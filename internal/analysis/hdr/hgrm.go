package hdr

import (
	"fmt"
	"io"
	"math"
)

// ticksPerHalf is the number of rows of a percentile file for each halving of
// the distance to 100 %: the default of the Java tool.
const ticksPerHalf = 5

// toMs is the ratio of the values recorded, ns, to the values printed, ms.
const toMs = 1e6

// WriteHgrm writes the percentile distribution of the i-th series, without its
// warm-up, as HistogramLogProcessor writes it from our log: in ms, byte for byte.
func (c *Collector) WriteHgrm(w io.Writer, i int) error {
	s := c.series[i]
	sum, err := s.total()
	if err != nil {
		return err
	}
	sum.settle()
	b := newTextWriter(w)
	start := floorDiv(c.config.Start, 1e6)
	if lines := c.lines(); len(lines) > 0 {
		start = min(start, lines[0].start)
	}
	b.printf("#[Overall percentile distribution between 0.000 and <Infinite> seconds (relative to StartTime)]\n")
	b.printf("#[StartTime: %s (seconds since epoch), %s]\n", seconds(start), javaDate(start))
	b.printf("%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	sum.writeRows(b)
	sum.writeFooter(b)
	if err := b.flush(); err != nil {
		return fmt.Errorf("writing a percentile file: %w", err)
	}
	return nil
}

// writeRows walks the percentiles as Java's PercentileIterator does: levels in
// equal steps within each halving of the distance to 100 %, each with the first
// bucket that reaches it, and one more row at 100 %.
func (h *Histogram) writeRows(b *textWriter) {
	buckets, n := h.buckets, h.n
	level, at, reached := 0.0, 0, int64(0)
	if n > 0 {
		reached = buckets[0].count
	}
	row := func(level float64) {
		value := fixed(float64(h.geo.high(buckets[at].low))/toMs, h.shape.Digits)
		if level == 100 {
			b.printf("%12s %s %10d\n", value, fixed(1, 12), reached)
			return
		}
		p := level / 100
		b.printf("%12s %s %10d %14s\n", value, fixed(p, 12), reached, fixed(1/(1-p), 2))
	}
	for n > 0 {
		for 100*float64(reached)/float64(n) < level {
			at++
			reached += buckets[at].count
		}
		row(level)
		level = nextLevel(level)
		if reached >= n {
			row(100)
			return
		}
	}
}

// nextLevel halves the step each time the distance to 100 % has halved.
func nextLevel(level float64) float64 {
	halvings := int64(math.Log(100/(100-level))/math.Log(2)) + 1
	ticks := int64(ticksPerHalf) * int64(math.Pow(2, float64(halvings)))
	return level + 100/float64(ticks)
}

// writeFooter writes mean, deviation (over N, of bucket middles, as Java
// computes them), maximum, count and the geometry.
func (h *Histogram) writeFooter(b *textWriter) {
	buckets, n := h.buckets, h.n
	var mean, dev, top float64
	if n > 0 {
		for _, k := range buckets {
			mean += float64(h.geo.median(k.low)) * float64(k.count)
		}
		mean /= float64(n)
		for _, k := range buckets {
			d := float64(h.geo.median(k.low)) - mean
			dev += d * d * float64(k.count)
		}
		dev = math.Sqrt(dev / float64(n))
		if last := buckets[len(buckets)-1].low; last > 0 {
			top = float64(h.geo.high(last))
		}
	}
	d := h.shape.Digits
	b.printf("#[Mean    = %12s, StdDeviation   = %12s]\n", fixed(mean/toMs, d), fixed(dev/toMs, d))
	b.printf("#[Max     = %12s, Total count    = %12d]\n", fixed(top/toMs, d), n)
	b.printf("#[Buckets = %12d, SubBuckets     = %12d]\n", h.geo.buckets(h.shape.Highest), h.geo.subBuckets())
}
