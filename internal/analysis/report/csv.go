package report

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// CSV writes one line for each number: run, name, metric, statistic, value,
// unit, low, high, events, status. A value that may not be used is empty, what
// was observed is a statistic of its own. Names that a spreadsheet would take
// for a formula get a leading apostrophe.
func (r *Report) CSV(w io.Writer, header bool) error {
	c := csv.NewWriter(w)
	lines := &csvLines{w: c, run: cell(r.Run), name: cell(r.Name)}
	if header {
		lines.write([]string{"run", "name", "metric", "statistic", "value", "unit", "low", "high", "events", "status"})
	}
	r.csvCounts(lines)
	r.csvRates(lines)
	for _, m := range r.Metrics {
		r.csvMetric(lines, m)
	}
	r.csvTransactions(lines)
	for _, row := range r.Bracket["response"] {
		lines.add("bracket", "response_p"+row.P, "", "ns", whole(row.Lower), whole(row.Upper), "", row.Kind)
	}
	for _, what := range slices.Sorted(maps.Keys(r.Invalid)) {
		lines.add("invalid", what, "", "", "", "", "", strings.Join(r.Invalid[what], " "))
	}
	for _, k := range r.Checks {
		value := ""
		if k.Value != nil {
			value = float(*k.Value)
		}
		lines.add("check", k.ID, value, "", "", "", "", string(k.Status))
	}
	if lines.err != nil {
		return lines.err
	}
	c.Flush()
	return c.Error()
}

type csvLines struct {
	w         *csv.Writer
	run, name string
	err       error
}

func (l *csvLines) write(record []string) {
	if l.err == nil {
		l.err = l.w.Write(record)
	}
}

func (l *csvLines) add(fields ...string) { l.write(append([]string{l.run, l.name}, fields...)) }

func (r *Report) csvCounts(l *csvLines) {
	c := r.Counts
	for _, n := range []struct {
		name string
		v    int64
	}{
		{"intended", c.Intended}, {"attempts", c.Attempts}, {"sent", c.Sent}, {"acked", c.Acked}, {"accepted", c.Accepted}, {"rejected", c.Rejected},
		{"released", c.Released}, {"modified", c.Modified}, {"presettled", c.Presettled}, {"unsettled", c.Unsettled},
		{"failed", c.Failed}, {"unsent", c.Unsent}, {"received", c.Received}, {"lost", c.Lost}, {"unknown", c.Unknown},
		{"duplicate", c.Duplicate}, {"reordered", c.Reordered}, {"redelivered", c.Redelivered}, {"foreign", c.Foreign},
	} {
		l.add("counts", n.name, strconv.FormatInt(n.v, 10), "messages", "", "", "", "")
	}
	l.add("warmup", "n", strconv.FormatInt(r.Warmup.N, 10), "messages", "", "", "", "")
}

func (r *Report) csvRates(l *csvLines) {
	add := func(name string, v *float64) {
		value := ""
		if v != nil {
			value = float(*v)
		}
		l.add("rates", name, value, "per_s", "", "", "", "")
	}
	add("offered", r.Rates.Offered)
	add("sent", r.Rates.Sent)
	add("acked", r.Rates.Acked)
	add("received", r.Rates.Received)
	for _, c := range r.Rates.Clients {
		add(c.Name, c.PerS)
	}
}

func (r *Report) csvMetric(l *csvLines, m Metric) {
	l.add(m.Name, "n", strconv.FormatInt(m.N, 10), "messages", "", "", "", "")
	l.add(m.Name, "infinite", strconv.FormatInt(m.Infinite, 10), "messages", "", "", "", "")
	meanValue, deviation := "", ""
	if m.Mean != nil {
		meanValue = float(*m.Mean)
	}
	if m.StdDev != nil {
		deviation = float(*m.StdDev)
	}
	l.add(m.Name, "min", whole(m.Min), "ns", "", "", "", "")
	l.add(m.Name, "mean", meanValue, "ns", "", "", "", "")
	l.add(m.Name, "stddev", deviation, "ns", "", "", "", "")
	l.add(m.Name, "max", whole(m.Max), "ns", "", "", "", "")
	for _, q := range m.Quantiles {
		l.add(m.Name, "p"+q.P, whole(q.Value), "ns", whole(q.Low), whole(q.High), strconv.FormatInt(q.Events, 10), string(q.Status))
		l.add(m.Name, "observed_p"+q.P, whole(q.Observed), "ns", "", "", "", "")
	}
}

func whole(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// cell makes text of others safe in a spreadsheet.
func cell(s string) string {
	s = plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
