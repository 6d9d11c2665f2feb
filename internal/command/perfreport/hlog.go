package perfreport

import (
	"math"
	"time"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/hdr"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/cli"
)

// hlog collects the samples of a run for an HDR log; it implements reduce.Sink.
type hlog struct {
	interval  time.Duration
	name      string
	collector *hdr.Collector
	series    map[reduce.Metric]*hdr.Series
}

func newHlog(interval time.Duration, name string) *hlog {
	return &hlog{interval: interval, name: name, series: map[reduce.Metric]*hdr.Series{}}
}

// seriesOf chooses what goes into the log, the headline first: response, in a
// closed loop service, without a send log e2e. One-way latencies are left out
// where the clocks are not aligned, and response and e2e in a closed loop.
func seriesOf(d *reduce.Data) []reduce.Metric {
	all := []reduce.Metric{reduce.Response, reduce.Service, reduce.E2E, reduce.Transit}
	if d.ClosedLoop {
		all = []reduce.Metric{reduce.Service, reduce.Transit}
	}
	var out []reduce.Metric
	for _, m := range all {
		if d.Metrics[m].N() > 0 && (!m.OneWay() || d.Clock.Unknown == 0) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		out = all[:1]
	}
	return out
}

// Begin implements reduce.Sink.
func (h *hlog) Begin(d *reduce.Data) error {
	c := hdr.Config{Start: d.First, End: d.Last + 1, Interval: h.interval}
	if d.Window.Warmup > 0 {
		c.WarmupEnd = d.First + d.Window.Warmup
	}
	name := h.name
	if name == "" {
		name = d.Name
	}
	c.Comments = []string{"written by perf-report " + cli.Version(), "run: " + d.Run}
	if name != "" {
		c.Comments = append(c.Comments, "name: "+name)
	}
	metrics := seriesOf(d)
	c.Comments = append(c.Comments, "the untagged series is "+metrics[0].String()+", values in ns (ms in the maximum), intervals by intended time")
	var names []string
	for _, m := range metrics {
		names = append(names, m.String())
	}
	var err error
	if h.collector, err = hdr.NewCollector(c, names...); err != nil {
		return err
	}
	for i, m := range metrics {
		h.series[m] = h.collector.Series(i)
	}
	return nil
}

// Sample implements reduce.Sink.
func (h *hlog) Sample(m reduce.Metric, intended, v, bound int64) {
	if s := h.series[m]; s != nil {
		s.RecordWithin(intended, v, bound)
	}
}

// Infinite implements reduce.Sink.
func (h *hlog) Infinite(m reduce.Metric, _ int64) {
	if s := h.series[m]; s != nil {
		s.Infinite()
	}
}

// account tells the report how the log took the values in, and how its
// quantiles compare with those of the rows.
func (h *hlog) account(d *reduce.Data) (*report.HDR, error) {
	out := &report.HDR{}
	for _, m := range reduce.Metrics() {
		s := h.series[m]
		if s == nil {
			continue
		}
		out.Recorded += s.Totals().Recorded
		out.Errors += s.Totals().Errors()
		main, err := s.Main()
		if err != nil {
			return nil, err
		}
		one := checks.HDRSeries{Name: m.String(), N: main.N(), Rows: d.Metrics[m].Finite()}
		for _, q := range d.Metrics[m].Quantiles {
			v, ok := main.Quantile(q.Percentile)
			if !ok || q.Observed <= 0 || q.Status == stats.Infinite || d.Metrics[m].Infinite() > 0 {
				continue // infinite values have ranks that a histogram does not know
			}
			if off := math.Abs(float64(v)/float64(q.Observed) - 1); off > one.Difference {
				one.Difference, one.At = off, q.Percentile.String()
			}
		}
		out.Series = append(out.Series, one)
	}
	return out, nil
}

// ensure gives a run without rows an empty log.
func (h *hlog) ensure() (err error) {
	if h.collector == nil {
		h.collector, err = hdr.NewCollector(hdr.Config{Comments: []string{"written by perf-report " + cli.Version(), "a run without messages"}}, reduce.Response.String())
	}
	return err
}
