package foreign

import (
	"math"
	"time"

	"amqpperf/internal/analysis/hdr"
	"amqpperf/internal/analysis/stats"
)

// mostLines is how many intervals a series has when its width is chosen.
const mostLines = 30

// leastIntervals is the least number of intervals from which autocorrelation is
// estimated.
const leastIntervals = 30

// makeSeries adds up the intervals of a tag.
func makeSeries(tag string, all []hdr.Interval, start int64, opt Options) (Series, error) {
	s := Series{Tag: tag, Own: true, Intervals: []Interval{}, Quantiles: []Quantile{}}
	var intervals []hdr.Interval
	for _, iv := range all {
		if iv.Tag != tag {
			continue
		}
		if opt.Expected > 0 {
			h, err := iv.Histogram.Corrected(int64(opt.Expected))
			if err != nil {
				return s, err
			}
			iv.Histogram = h
		}
		intervals = append(intervals, iv)
	}
	s.Lines = len(intervals)
	sum, own, err := hdr.Sum(intervals)
	if err != nil {
		return s, err
	}
	s.Own, s.N = own, sum.N()
	if s.N == 0 {
		return s, nil
	}
	s.moments(sum)
	for _, p := range opt.Percentiles {
		s.Quantiles = append(s.Quantiles, quantile(sum, intervals, p))
	}
	s.curveOf(sum)
	return s, s.rebin(intervals, start, opt.Interval)
}

// moments are those of the buckets: each counted at its middle.
func (s *Series) moments(h *hdr.Histogram) {
	var sum, squares float64
	for b := range h.Buckets {
		v := (float64(b.Low) + float64(b.High)) / 2
		sum += v * float64(b.Count)
	}
	mean := sum / float64(s.N)
	for b := range h.Buckets {
		d := (float64(b.Low)+float64(b.High))/2 - mean
		squares += d * d * float64(b.Count)
	}
	sd, highest := math.Sqrt(squares/float64(s.N)), float64(h.Max())
	s.Mean, s.StdDev, s.Max = &mean, &sd, &highest
}

// quantile is the upper edge of the bucket of the nearest rank. Its 95 % interval
// takes autocorrelation from how the slow values are spread over the intervals
// of the log; what happens within an interval is not in it.
func quantile(h *hdr.Histogram, intervals []hdr.Interval, p stats.Percentile) Quantile {
	q := Quantile{P: p.String(), Status: Unknown}
	v, ok := h.Quantile(p)
	if !ok {
		return q
	}
	value := float64(v)
	q.Value = &value
	if len(intervals) < leastIntervals {
		return q
	}
	counts, exceed := make([]uint32, len(intervals)), make([]uint32, len(intervals))
	for i, iv := range intervals {
		counts[i] = uint32(min(iv.Histogram.N(), math.MaxUint32))
		for b := range iv.Histogram.Buckets {
			if b.Low > v {
				exceed[i] += uint32(min(b.Count, math.MaxUint32))
			}
		}
	}
	iv := stats.QuantileInterval(p, h.N(), stats.VIF(counts, exceed))
	events := int64(iv.KEff)
	q.Events, q.Status = &events, Status(iv.Status())
	q.Low, q.High = edge(h, iv.LowRank, false), edge(h, iv.HighRank, true)
	return q
}

// edge is the value of a rank as a limit; nil when there is none.
func edge(h *hdr.Histogram, rank int64, upper bool) *float64 {
	if rank < 1 || rank > h.N() {
		return nil
	}
	for b := range h.Buckets {
		if rank <= b.Below+b.Count {
			v := float64(b.Low)
			if upper {
				v = float64(b.High)
			}
			return &v
		}
	}
	return nil
}

// curveOf keeps the percentile curve for a picture.
func (s *Series) curveOf(h *hdr.Histogram) {
	n := float64(h.N())
	for b := range h.Buckets {
		if tail := 1 - float64(b.Below+b.Count)/n; tail > 0 {
			s.curve = append(s.curve, Point{tail, float64(b.High)})
		}
	}
	s.curve = append(s.curve, Point{0.5 / n, float64(h.Max())})
}

// rebin puts intervals together by their start, to intervals of one width.
func (s *Series) rebin(intervals []hdr.Interval, start int64, width time.Duration) error {
	last := intervals[len(intervals)-1].Start
	step := width.Milliseconds()
	if step <= 0 {
		step = widthFor(last - start)
	}
	for i := 0; i < len(intervals); {
		bin := (intervals[i].Start - start) / step
		k := i
		for k < len(intervals) && (intervals[k].Start-start)/step == bin {
			k++
		}
		sum, _, err := hdr.Sum(intervals[i:k])
		if err != nil {
			return err
		}
		iv := Interval{Seconds: float64(bin*step) / 1000, N: sum.N()}
		if sum.N() > 0 {
			highest := float64(sum.Max())
			iv.Max = &highest
			for j, p := range stats.MustPercentiles("50,99,99.9") {
				v, _ := sum.Quantile(p)
				f := float64(v)
				*[]**float64{&iv.P50, &iv.P99, &iv.P999}[j] = &f
			}
		}
		s.Intervals = append(s.Intervals, iv)
		i = k
	}
	s.Width = step * 1e6
	return nil
}

// widthFor is a round number of ms that divides a span into few intervals.
func widthFor(span int64) int64 {
	for step := int64(1000); ; step *= 10 {
		for _, by := range []int64{1, 2, 5} {
			if span/(step*by) < mostLines {
				return step * by
			}
		}
	}
}
