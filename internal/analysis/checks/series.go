package checks

import (
	"fmt"
	"math"
	"strings"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/analysis/stats"
)

func warmUp(in *Input, c *Check) {
	w := in.Data.Warmth
	if in.Overloaded {
		c.skip("overload: there is no steady part")
		return
	}
	if w.Batches == 0 || (w.Cut == 0 && !w.OK) {
		c.skip("too few responses")
		return
	}
	c.grade(w.Share, 0.25, 0.5, fmt.Sprintf("MSER-5 would leave out the first %s of what is counted", words.Percent(w.Share)))
}

// mostWindows is up to how many windows are looked at: tests of all pairs, and
// of 999 permutations of these, take their square.
const mostWindows = 60

// windows are the medians and the 99th percentiles of the headline latency in
// consecutive windows of the selected time; t is the middle of each, in seconds.
type windows struct {
	metric      string
	t, p50, p99 []float64
}

// windowsOf joins the intervals of a series to at most mostWindows windows,
// each the median of its intervals. Intervals that are cut by the selection,
// have infinite values or, for p99, fewer than 100 messages do not count.
func windowsOf(d *reduce.Data) windows {
	s := &d.Series
	w, in := windows{metric: "response"}, s.Response
	if d.ClosedLoop {
		w.metric, in = "service", s.Service
	}
	if in == nil {
		w.metric, in = "e2e", s.E2E
	}
	var at, p50, p99 []float64
	few := false
	for i, v := range in {
		begin := s.Start + int64(i)*s.Width
		if begin < d.Window.First || begin+s.Width > d.Window.Last+s.Width/100 || v.N == 0 {
			continue
		}
		if v.P99 == reduce.Infinity {
			return windows{metric: w.metric}
		}
		few = few || v.N < 100
		at, p50, p99 = append(at, float64(begin-d.First+s.Width/2)/1e9), append(p50, float64(v.P50)), append(p99, float64(v.P99))
	}
	each := (len(at) + mostWindows - 1) / mostWindows
	for i := 0; each > 0 && i+each <= len(at); i += each {
		w.t, w.p50 = append(w.t, stats.Median(at[i:i+each])), append(w.p50, stats.Median(p50[i:i+each]))
		if !few {
			w.p99 = append(w.p99, stats.Median(p99[i:i+each]))
		}
	}
	return w
}

// leastWindows is the fewest windows that a trend is looked for in.
const leastWindows = 20

func stationarity(in *Input, c *Check) {
	d := in.Data
	if in.Overloaded {
		c.skip("overload: nothing is stationary")
		return
	}
	w := windowsOf(d)
	if len(w.t) < leastWindows {
		c.skip(fmt.Sprintf("fewer than %d intervals with finite quantiles", leastWindows))
		return
	}
	var said []string
	worst := 0.0
	c.Status = OK
	for _, q := range []struct {
		name string
		y    []float64
	}{{"p50", w.p50}, {"p99", w.p99}} {
		if len(q.y) == 0 {
			continue
		}
		if t := stats.MannKendall(w.t, q.y); t.P < 0.01 && math.Abs(t.Change) > 0.05 {
			said = append(said, fmt.Sprintf("%s drifts by %+.0f %% over the run (p = %.1g)", q.name, 100*t.Change, t.P))
			worst = max(worst, math.Abs(t.Change))
			c.atLeast(Warn)
			if math.Abs(t.Change) > 0.2 {
				c.atLeast(Fail)
			}
		}
		for _, s := range stats.Steps(q.y) {
			said = append(said, fmt.Sprintf("%s steps by %+.0f %% at %.4g s", q.name, 100*s.Change(), w.t[s.At]))
			worst = max(worst, math.Abs(s.Change()))
			c.atLeast(Warn)
			if s.At >= len(q.y)/4 && s.At <= len(q.y)*3/4 {
				c.atLeast(Fail)
			}
		}
	}
	if len(said) == 0 {
		said = []string{fmt.Sprintf("no trend and no step in %d windows", len(w.t))}
	}
	status := c.Status
	c.grade(worst, math.Inf(1), math.Inf(1), w.metric+": "+strings.Join(said, ", "))
	c.Status = status
}

// headline is the metric that a run is about.
func headline(d *reduce.Data) reduce.Metric {
	n := func(m reduce.Metric) bool { return d.Metrics[m].Distribution != nil && d.Metrics[m].N() > 0 }
	switch {
	case d.ClosedLoop && n(reduce.Service):
		return reduce.Service
	case n(reduce.Response):
		return reduce.Response
	}
	return reduce.E2E
}

func resolution(in *Input, c *Check) {
	m := headline(in.Data)
	least, at := math.Inf(1), ""
	for _, q := range in.Data.Metrics[m].Quantiles {
		if q.N > 0 && q.KEff < least && q.Percentile.Tail() > 0 {
			least, at = q.KEff, q.Percentile.String()
		}
	}
	if at == "" {
		c.skip("no latencies")
		return
	}
	text := fmt.Sprintf("%s p%s rests on %.3g independent events", m, at, least)
	if n := in.Data.Episodes; n > 0 && n <= 3 {
		text += fmt.Sprintf("; %d of %d episodes make %s of what is above p99.9", n, in.Data.AllEpisodes, words.Percent(0.8))
	}
	c.grade(least, math.Inf(1), math.Inf(1), text)
	switch {
	case least < 5:
		c.Status = Fail
	case least < 10:
		c.Status = Warn
	}
}
