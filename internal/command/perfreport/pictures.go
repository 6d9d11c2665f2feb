package perfreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// curveTicks is how many points a percentile curve has for each halving of 1−p.
const curveTicks = 20

// mostStamps is how many checks are stamped on a picture.
const mostStamps = 3

// caption is the text of a picture. The checks that are named by their ids are
// stamped on it when they did not pass.
func caption(m *made, checks ...string) chart.Caption {
	c := chart.Caption{Name: m.report.Title(), Labels: m.report.LabelList(), Start: start(m.data), Finding: m.report.Finding()}
	for _, want := range []report.CheckStatus{report.CheckFail, report.CheckWarn} {
		for _, k := range m.report.Checks {
			if k.Status != want || !contains(checks, k.ID) || len(c.Stamps) == mostStamps {
				continue
			}
			level := chart.Warn
			if want == report.CheckFail {
				level = chart.Fail
			}
			c.Stamps = append(c.Stamps, chart.Stamp{Level: level, Text: k.ID + " " + k.Name})
		}
	}
	return c
}

func contains(ids []string, id string) bool {
	for _, s := range ids {
		if s == id {
			return true
		}
	}
	return false
}

func percentiles(m, base *made) chart.Percentiles {
	ids := []string{"C1", "C2", "C7", "C16", "C17", "C20", "C23"}
	drawn := curves(m)
	for _, c := range drawn {
		ids = append(ids, m.report.Spoiled(c.Name)...)
	}
	p := chart.Percentiles{Caption: caption(m, ids...), Curves: drawn}
	if base != nil {
		p.Baseline, p.BaselineName = curves(base), base.report.Title()
	}
	return p
}

// curves are service, response and e2e as far as they may be shown; in a closed
// loop service and transit.
func curves(m *made) []chart.Curve {
	if m.curves != nil {
		return m.curves
	}
	metrics := []reduce.Metric{reduce.Service, reduce.Response, reduce.E2E}
	if m.report.Loop == report.Closed {
		metrics = []reduce.Metric{reduce.Service, reduce.Transit}
	}
	var out []chart.Curve
	for _, metric := range metrics {
		in := m.data.Metrics[metric]
		if in.Distribution == nil || in.N() == 0 || withheld(m.report, metric) {
			continue
		}
		c := chart.Curve{Name: metric.String(), Infinite: float64(in.Infinite()) / float64(in.N())}
		for _, point := range in.Curve(curveTicks) {
			c.Points = append(c.Points, chart.CurvePoint{Tail: point.Tail, Value: float64(point.Value)})
		}
		c.Marks = marks(m.report.Metrics.Get(metric.String()), in.Quantiles)
		if metric == reduce.Response {
			c.Band = band(m.data.Bracket, c.Points)
		}
		out = append(out, c)
	}
	return out
}

// band is what a generator that is never late would have seen of the response:
// from the distribution of the lower ends to the response itself. Both have as
// many messages, so their points stand at the same tails.
func band(b reduce.Bracket, response []chart.CurvePoint) []chart.BandPoint {
	if !b.Valid || b.Dist == nil {
		return nil
	}
	low := map[float64]float64{}
	for _, point := range b.Dist.Curve(curveTicks) {
		low[point.Tail] = float64(point.Value)
	}
	var out []chart.BandPoint
	for _, point := range response {
		if l, ok := low[point.Tail]; ok {
			out = append(out, chart.BandPoint{Tail: point.Tail, Low: l, High: point.Value})
		}
	}
	return out
}

// withheld reports whether a metric is withheld for the clocks' sake.
func withheld(r *report.Report, metric reduce.Metric) bool {
	for _, q := range r.Metrics.Get(metric.String()).Quantiles {
		if q.Status == report.ClockUnknown {
			return true
		}
	}
	return false
}

func marks(m report.Metric, exact []stats.Quantile) []chart.Mark {
	var out []chart.Mark
	for i, q := range m.Quantiles {
		if q.Status == report.Infinite || q.Observed == nil || exact[i].Percentile.Tail() <= 0 {
			continue
		}
		mark := chart.Mark{Label: q.P, Tail: exact[i].Percentile.Tail(), Value: float64(*q.Observed), Low: math.NaN(), High: math.NaN(), Uncertain: q.Value == nil}
		if q.Low != nil {
			mark.Low = float64(*q.Low)
		}
		if q.High != nil {
			mark.High = float64(*q.High)
		}
		out = append(out, mark)
	}
	return out
}

func latency(m, base *made) chart.Latency {
	metric, in := latencyOf(m)
	ids := append([]string{"C2", "C7", "C17", "C23"}, m.report.Spoiled(metric)...)
	l := chart.Latency{Caption: caption(m, ids...), Metric: metric, Lines: latencyLines(m.data, in), Spans: spans(m)}
	l.Notes = append(l.Notes, intervalNote(m.data))
	if base != nil {
		_, theirs := latencyOf(base)
		if l.Metric == "service" {
			theirs = base.data.Series.Service
		}
		l.Baseline, l.BaselineName = latencyLines(base.data, theirs), base.report.Title()
	}
	return l
}

// latencyOf chooses the metric over time: response, in a closed loop service,
// without either e2e.
func latencyOf(m *made) (string, []reduce.Interval) {
	s := &m.data.Series
	switch {
	case m.report.Loop == report.Closed && s.Service != nil:
		return "service", s.Service
	case s.Response != nil:
		return "response", s.Response
	}
	return "e2e", s.E2E
}

func latencyLines(d *reduce.Data, in []reduce.Interval) chart.LatencyLines {
	var l chart.LatencyLines
	for i, v := range in {
		at := (float64(i) + 0.5) * float64(d.Series.Width) / 1e9
		for _, c := range []struct {
			to *[]chart.Point
			v  int64
		}{{&l.P50, v.P50}, {&l.P99, v.P99}, {&l.P999, v.P999}, {&l.Max, v.Max}} {
			value := float64(c.v)
			switch {
			case v.N == 0:
				value = math.NaN()
			case c.v == reduce.Infinity:
				value = math.Inf(1)
			}
			*c.to = append(*c.to, chart.Point{Seconds: at, Value: value})
		}
	}
	return l
}

func intervalNote(d *reduce.Data) string {
	return fmt.Sprintf("per interval of %s", time.Duration(d.Series.Width))
}

func rates(m, base *made) chart.Rates {
	r := chart.Rates{Caption: caption(m, "C1", "C2", "C4", "C7"), Lines: rateLines(m.data), Spans: spans(m)}
	r.Notes = append(r.Notes, intervalNote(m.data))
	if base != nil {
		r.Baseline, r.BaselineName = rateLines(base.data), base.report.Title()
	}
	return r
}

func rateLines(d *reduce.Data) chart.RateLines {
	s := &d.Series
	last := s.Len()
	if covered := d.Integrity.LastInstant - s.Start - int64(last-1)*s.Width; last > 2 && covered < s.Width*9/10 {
		last-- // cut by the end of the run: it would show a drop that was not there
	}
	return chart.RateLines{
		Intended: perSecond(s, s.Intended, last), Sent: perSecond(s, s.Sent, last),
		Acked: perSecond(s, s.Acked, last), Received: perSecond(s, s.Received, last),
	}
}

// perSecond turns the first counts into rates.
func perSecond(s *reduce.Series, counts []int64, last int) []chart.Point {
	var points []chart.Point
	some := false
	for i, n := range counts[:last] {
		some = some || n > 0
		points = append(points, chart.Point{Seconds: (float64(i) + 0.5) * float64(s.Width) / 1e9, Value: float64(n) * 1e9 / float64(s.Width)})
	}
	if !some {
		return nil
	}
	return points
}

func backlog(m, base *made) chart.Backlog {
	b := chart.Backlog{Caption: caption(m, "C1", "C5", "C7", "C23"), Lines: backlogLines(m.data), Spans: spans(m)}
	if m.data.MaxPending > 0 {
		b.Window = float64(m.data.MaxPending) * float64(m.data.Rates.Producers)
	}
	b.Notes = append(b.Notes, "at the end of each interval of "+time.Duration(m.data.Series.Width).String())
	if base != nil {
		b.Baseline, b.BaselineName = backlogLines(base.data), base.report.Title()
	}
	return b
}

func backlogLines(d *reduce.Data) chart.BacklogLines {
	level := func(counts []int64) []chart.Point {
		if counts == nil {
			return nil
		}
		points := []chart.Point{{}}
		for i, n := range counts {
			points = append(points, chart.Point{Seconds: float64(i+1) * float64(d.Series.Width) / 1e9, Value: float64(n)})
		}
		return points
	}
	return chart.BacklogLines{InFlight: level(d.Series.InFlight), InBroker: level(d.Series.InBroker)}
}

// mostSpans is how many stalls are shaded, and how many of each kind of mark.
const mostSpans = 8

// disturbances are what the logs have besides messages and can explain a stall:
// connections that were made anew, and seconds in which the tool's own host slept
// through at least a tenth of the headline's p99.9 and 10 ms.
func disturbances(m *made) []chart.Span {
	d := m.data
	var out []chart.Span
	n := 0
	for _, e := range d.Side.Events {
		from := float64(e.At-d.First) / 1e9
		if e.Kind == "reconnect" && e.At > d.First && e.At <= d.Integrity.LastInstant && n < mostSpans {
			out = append(out, chart.Span{Name: chart.Reconnect, From: from, To: from + 1e-6, Bar: true})
			n++
		}
	}
	least := 10e6
	metric := headline(d)
	if in := d.Metrics[metric]; in.Distribution != nil {
		if top, infinite, ok := in.Approx(stats.MustPercentiles("99.9")[0]); ok && !infinite {
			least = max(least, float64(top)/10)
		}
	}
	hiccups := slices.Clone(d.Side.Samples["tool.hiccup_max_ns"])
	slices.SortStableFunc(hiccups, func(a, b reduce.Sample) int { return cmp.Compare(b.Value, a.Value) })
	n = 0
	for _, s := range hiccups {
		if float64(s.Value) < least || n == mostSpans {
			break
		}
		if s.At <= d.First || s.At > d.Integrity.LastInstant+1e9 {
			continue
		}
		to := float64(s.At-d.First) / 1e9
		out = append(out, chart.Span{Name: chart.Hiccup, From: max(0, to-1), To: to, Bar: true})
		n++
	}
	return out
}

// spans are the warm-up, the heaviest stalls, and disturbances.
func spans(m *made) []chart.Span {
	var out []chart.Span
	if w := m.report.Warmup.Seconds; w > 0 {
		out = append(out, chart.Span{Name: chart.Warmup, From: 0, To: w})
	}
	stalls := m.report.RealStalls()
	for i, s := range stalls {
		if i == mostSpans {
			break
		}
		name := "stall"
		if len(stalls) == 1 {
			name = fmt.Sprintf("stall of %s (%s)", units.Latency(s.Length), s.CarriedBy)
		}
		from := float64(s.Start) / 1e9
		out = append(out, chart.Span{Name: name, From: from, To: from + float64(s.Length)/1e9})
	}
	return append(out, disturbances(m)...)
}
