package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"amqpperf/internal/units"
)

// shown reports whether a metric has a row in the tables: in a closed loop
// response and e2e are not.
func (r *Report) shown(m Metric) bool {
	if m.N == 0 {
		return false
	}
	return r.Loop != Closed || (m.Name != "response" && m.Name != "e2e" && m.Name != "handled" && m.Name != "lag")
}

func headline(name string) bool { return name == "response" || name == "service" || name == "e2e" }

// latencies is the table of all metrics. marks are the statuses in it.
func (r *Report) latencies() (t *table, marks map[Status]bool) {
	t = &table{head: []string{"", "messages", "min", "mean", "sd"}, left: 1}
	marks = map[Status]bool{}
	for _, m := range r.Metrics {
		if r.shown(m) {
			for _, q := range m.Quantiles {
				t.head = append(t.head, "p"+q.P)
			}
			break
		}
	}
	t.head = append(t.head, "max", "infinite")
	for _, m := range r.Metrics {
		if !r.shown(m) {
			continue
		}
		r.metricRows(t, m, m.Name, marks)
		if r.Baseline == nil {
			continue
		}
		if base := r.Baseline.Metrics.Get(m.Name); base.N > 0 {
			r.Baseline.metricRows(t, base, "  baseline", marks)
		}
	}
	return t, marks
}

func (r *Report) metricRows(t *table, m Metric, name string, marks map[Status]bool) {
	row := []string{name, count(m.N), span(m.Min), mean(m.Mean), mean(m.StdDev)}
	limits := []string{"  95 %", "", "", "", ""}
	for _, q := range m.Quantiles {
		row = append(row, q.cell())
		limits = append(limits, q.interval())
		if q.Status != OK {
			marks[q.Status] = true
		}
	}
	infinite := ""
	if m.Infinite > 0 {
		infinite = count(m.Infinite)
	}
	t.add(append(row, span(m.Max), infinite)...)
	if headline(m.Name) && strings.Join(limits[5:], "") != "" {
		t.add(append(limits, "", "")...)
	}
	if cells := r.bracketCells(m); cells != nil {
		t.add(slices.Concat([]string{"  if punctual", "", "", "", ""}, cells, []string{"", ""})...)
	}
	if stamp := r.stamp(m.Name); stamp != "" {
		t.add(slices.Concat([]string{"  " + stamp}, make([]string, len(m.Quantiles)+6))...)
	}
}

func span(v *int64) string {
	if v == nil {
		return "-"
	}
	return units.Latency(*v)
}

func mean(v *float64) string {
	if v == nil {
		return "-"
	}
	return latency(math.Round(*v))
}

// cell is a quantile in a table: plain when it may be used, marked when with
// care, in parentheses when not.
func (q Quantile) cell() string {
	switch {
	case q.Status == Infinite:
		return "infinite"
	case q.Observed == nil:
		return "-"
	}
	v := units.Latency(*q.Observed)
	switch q.Status {
	case Nonstationary:
		return v + "*"
	case ClockUnknown:
		return "(" + v + ")!"
	case Uncertain:
		return fmt.Sprintf("(%s, %d)", v, q.Events)
	case Low:
		return v + "?"
	}
	return v
}

// interval is the 95 % interval of a quantile that has a value; "" when it has
// no width.
func (q Quantile) interval() string {
	if q.Value == nil || q.Status == Nonstationary {
		return ""
	}
	high := ">max"
	if q.High != nil {
		high = units.Latency(*q.High)
	}
	low := "<min"
	if q.Low != nil {
		low = units.Latency(*q.Low)
	}
	if q.Low != nil && q.High != nil && *q.Low == *q.High {
		return ""
	}
	return low + ".." + high
}

// legend explains the marks that occur.
func legend(marks map[Status]bool) []string {
	var out []string
	for _, l := range []struct {
		status Status
		text   string
	}{
		{Infinite, "infinite: too many messages never got an answer, or never arrived"},
		{Nonstationary, "*: of this run's length only, the system was overloaded"},
		{ClockUnknown, "( )!: as observed; the clocks of sender and receiver are not aligned well enough to say"},
		{Uncertain, "( , n): as observed; the run has only n independent events beyond it, too few to rely on"},
		{Low, "?: low confidence, fewer than ten independent events beyond it"},
	} {
		if marks[l.status] {
			out = append(out, l.text)
		}
	}
	return out
}
