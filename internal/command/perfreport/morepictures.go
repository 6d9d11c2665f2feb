package perfreport

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// middle returns the middle of the i-th interval, in seconds since the start.
func middle(s *reduce.Series, i int) float64 { return (float64(i) + 0.5) * float64(s.Width) / 1e9 }

// heatMap shows the metric that the picture of latency over time is of.
func heatMap(m *made) chart.HeatMap {
	metric, _ := latencyOf(m)
	s := &m.data.Series
	in := map[string]reduce.Heat{"response": s.ResponseHeat, "service": s.ServiceHeat, "e2e": s.E2EHeat}[metric]
	h := chart.HeatMap{
		Caption: caption(m, append([]string{"C2", "C7", "C17", "C23"}, m.report.Spoiled(metric)...)...), Metric: metric, Spans: spans(m),
		Cells: chart.HeatCells{
			Width: float64(s.Width) / 1e9, Base: 1, Ratio: math.Pow(10, 1.0/reduce.HeatSteps), Below: in.Below, Infinite: in.Infinite,
		},
	}
	for _, column := range in.Columns {
		out := make([]int64, len(column))
		for i, n := range column {
			out[i] = int64(n)
		}
		h.Cells.Columns = append(h.Cells.Columns, out)
	}
	h.Notes = append(h.Notes, intervalNote(m.data))
	return h
}

// waits are the parts of the response, service at the bottom.
func waits(m *made) chart.Waits {
	s := &m.data.Series
	w := chart.Waits{Caption: caption(m, "C2", "C3", "C4", "C7", "C23"), Spans: spans(m)}
	w.Notes = append(w.Notes, "means of the messages intended in each interval of "+time.Duration(s.Width).String()+" that got an answer; from the bottom: service, then what they waited for")
	part := func(name string, value func(p *reduce.Parts) float64) {
		out := chart.WaitPart{Name: name}
		for i := range s.Parts {
			v := math.NaN()
			if s.Parts[i].N > 0 {
				v = value(&s.Parts[i])
			}
			out.Points = append(out.Points, chart.Point{Seconds: middle(s, i), Value: v})
		}
		w.Parts = append(w.Parts, out)
	}
	part("service", func(p *reduce.Parts) float64 { return p.Service })
	for _, cause := range reduce.Waits() {
		name := cause.String()
		if cause == reduce.WaitNone {
			name = "blocked, no cause logged"
		}
		part(name, func(p *reduce.Parts) float64 { return p.Blocked[cause] })
	}
	part("lag", func(p *reduce.Parts) float64 { return p.Lag })
	return w
}

// used are the samples of CPU and memory, by process; of processes that are
// watched, by name.
func used(m *made) chart.Resources {
	r := chart.Resources{Caption: caption(m, "C11", "C12"), Rates: rateLines(m.data), Spans: spans(m)}
	side := &m.data.Side
	add := func(name string, cpu, rss []reduce.Sample) {
		u := chart.User{Name: name, CPU: cpuPoints(m.data, cpu), RSS: samplePoints(m.data, rss)}
		if len(u.CPU) > 0 || len(u.RSS) > 0 {
			r.Users = append(r.Users, u)
		}
	}
	tools := map[int]bool{}
	for _, s := range slices.Concat(side.Samples["tool.cpu_ns"], side.Samples["tool.rss_bytes"]) {
		tools[s.Process] = true
	}
	for _, p := range sortedKeys(tools) {
		add(processName(m.data, p, len(tools)), of(side.Samples["tool.cpu_ns"], p), of(side.Samples["tool.rss_bytes"], p))
	}
	for _, w := range side.Watched() {
		add(w, side.Samples[w+".cpu_ns"], side.Samples[w+".rss_bytes"])
	}
	return r
}

func sortedKeys(set map[int]bool) []int {
	var out []int
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// processName names the n-th of several processes whose samples are in the run:
// a join puts those of senders first. Where their number is not that of the logs
// there is no telling which is which.
func processName(d *reduce.Data, n, several int) string {
	var tools [2][]string
	for _, l := range d.Logs {
		k := 0
		if l.Schema == "recv/1" {
			k = 1
		}
		tools[k] = append(tools[k], l.Tool)
	}
	side := tools[0]
	place := n
	if n >= len(side) {
		side, place = tools[1], n-len(side)
	}
	if several != len(d.Logs) || place >= len(side) || side[0] == "" {
		return "process " + strconv.Itoa(n+1)
	}
	if len(side) > 1 {
		return fmt.Sprintf("%s %d", side[0], place+1)
	}
	return side[0]
}

func of(samples []reduce.Sample, process int) []reduce.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s reduce.Sample) bool { return s.Process != process })
}

// sampleSeconds is a sample's time since the start of the run, and whether it is close
// enough to it to be drawn.
func sampleSeconds(d *reduce.Data, at int64) (float64, bool) {
	span := d.Integrity.LastInstant - d.First
	since := at - d.First
	return float64(since) / 1e9, since >= -2e9 && since <= span+2e9
}

func samplePoints(d *reduce.Data, samples []reduce.Sample) []chart.Point {
	var out []chart.Point
	for _, s := range samples {
		if x, ok := sampleSeconds(d, s.At); ok {
			out = append(out, chart.Point{Seconds: x, Value: float64(s.Value)})
		}
	}
	return out
}

// cpuPoints turns CPU time since the process began into percent of a core
// between samples.
func cpuPoints(d *reduce.Data, samples []reduce.Sample) []chart.Point {
	var out []chart.Point
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		x, ok := sampleSeconds(d, (a.At+b.At)/2)
		if !ok || a.Process != b.Process || b.At <= a.At || b.Value < a.Value {
			continue
		}
		out = append(out, chart.Point{Seconds: x, Value: 100 * float64(b.Value-a.Value) / float64(b.At-a.At)})
	}
	return out
}

// shift is the change of every quantile of the headline metric.
func shift(m *made, r *compare.Result) chart.Shift {
	metric, _ := latencyOf(m)
	s := chart.Shift{Caption: caption(m, m.report.Spoiled(metric)...), Metric: metric}
	s.Finding = r.Verdict
	s.Name = r.New + " against " + r.Base
	if r.Within == nil { // of many runs, and not of the first
		s.Labels, s.Start = nil, time.Time{}
	}
	limit := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	if w := r.Within; w != nil {
		s.Metric = w.Metric
		for _, p := range w.Points {
			q, err := stats.ParsePercentiles(p.P)
			if err != nil || q[0].Tail() <= 0 {
				continue
			}
			s.Within = append(s.Within, chart.ShiftPoint{Tail: q[0].Tail(), Change: p.Change, Low: limit(p.Low), High: limit(p.High)})
		}
		s.Notes = append(s.Notes, w.Label)
		if w.Why != "" {
			s.Notes = append(s.Notes, w.Why)
		}
		return s
	}
	for _, row := range r.Rows {
		p, ok := percentileOf(row.Metric, s.Metric)
		if !ok || row.Change == nil {
			continue
		}
		s.Between = append(s.Between, chart.ShiftPoint{Tail: p.Tail(), Change: *row.Change, Low: limit(row.Low), High: limit(row.High)})
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%d runs against %d; smallest p that so many runs can have: %.2g", r.Runs[1], r.Runs[0], r.Smallest))
	return s
}

// percentileOf reads "response p99" of a metric.
func percentileOf(name, metric string) (p stats.Percentile, ok bool) {
	rest, found := strings.CutPrefix(name, metric+" p")
	if !found {
		return p, false
	}
	all, err := stats.ParsePercentiles(rest)
	if err != nil || len(all) != 1 || all[0].Tail() <= 0 {
		return p, false
	}
	return all[0], true
}

// multiples are the groups of a run.
func multiples(groups []*made, names []string, by string) chart.Multiples {
	first := groups[0]
	metric, _ := latencyOf(first)
	m := chart.Multiples{Caption: caption(first), Metric: metric, By: by}
	m.Finding, m.Stamps = apart(groups, names, metric), worstStamps(groups, append([]string{"C1", "C2", "C7", "C23"}, first.report.Spoiled(metric)...))
	for i, g := range groups {
		_, in := latencyOf(g)
		m.Parts = append(m.Parts, chart.Part{Name: names[i], Detail: rate(mainRate(g)), Lines: latencyLines(g.data, in)})
	}
	m.Notes = append(m.Notes, intervalNote(first.data))
	return m
}

// apart says how far the groups are from one another; "" when it cannot.
func apart(groups []*made, names []string, metric string) string {
	lo, hi := -1, -1
	var values []int64
	for i, g := range groups {
		q, ok := g.report.Metrics.Get(metric).Quantile("50")
		if !ok || q.Value == nil {
			return ""
		}
		values = append(values, *q.Value)
		if lo < 0 || values[i] < values[lo] {
			lo = i
		}
		if hi < 0 || values[i] > values[hi] {
			hi = i
		}
	}
	if lo == hi {
		return ""
	}
	return fmt.Sprintf("%s p50 from %s (%s) to %s (%s)", metric, units.Latency(values[lo]), names[lo], units.Latency(values[hi]), names[hi])
}

// worstStamps are the stamps of all groups: a check has the worst verdict that
// one of them has.
func worstStamps(groups []*made, checks []string) []chart.Stamp {
	var out []chart.Stamp
	for _, g := range groups {
		for _, s := range caption(g, checks...).Stamps {
			i := slices.IndexFunc(out, func(o chart.Stamp) bool { return o.Text == s.Text })
			if i < 0 {
				out = append(out, s)
			} else if s.Level == chart.Fail {
				out[i].Level = chart.Fail
			}
		}
	}
	slices.SortStableFunc(out, func(a, b chart.Stamp) int {
		if (a.Level == chart.Fail) == (b.Level == chart.Fail) {
			return strings.Compare(a.Text, b.Text)
		} else if a.Level == chart.Fail {
			return -1
		}
		return 1
	})
	return out[:min(len(out), mostStamps)]
}

// mainRate is what of the rates the group has.
func mainRate(m *made) *float64 {
	if m.report.Rates.Received != nil {
		return m.report.Rates.Received
	}
	return m.report.Rates.Acked
}

// dashboard is the four that matter.
func dashboard(m, base *made) chart.Dashboard {
	curve := base
	if base != nil && base.data == nil {
		base = nil
	}
	d := chart.Dashboard{Percentiles: percentiles(m, curve), Latency: latency(m, base), Rates: rates(m, base), Backlog: backlog(m, base)}
	var ids []string
	for _, k := range m.report.Checks {
		ids = append(ids, k.ID)
	}
	d.Caption = caption(m, ids...)
	// Once at the top is enough.
	d.Percentiles.Stamps, d.Latency.Stamps, d.Rates.Stamps, d.Backlog.Stamps = nil, nil, nil, nil
	return d
}
