package foreign

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"amqpperf/internal/analysis/aligned"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

// Schema names the JSON form.
const Schema = "foreign/1"

// OwnLog is the note on a log that perf-report wrote, with its untagged metric.
const OwnLog = "written by perf-report: the untagged series is %s, tags are other metrics; all are read as service, since there are no rows to check them by"

// ServiceOnly is the note on every report of a foreign log.
const ServiceOnly = "service only: the log does not know when messages were intended, so coordinated omission cannot be seen in it"

// Status says how sure a quantile is; that of report, or unknown where the log
// has too few intervals to tell.
type Status string

// Unknown is the status of quantiles whose scatter the log does not show.
const Unknown Status = "unknown"

// Report is the report of one foreign log.
type Report struct {
	Schema string     `json:"schema"`
	File   string     `json:"file"`
	Format Kind       `json:"format"`
	Unit   string     `json:"unit"` // ns, or unknown
	Start  *time.Time `json:"start"`
	// Series are by tag, the untagged one first.
	Series   []Series `json:"series"`
	Notes    []string `json:"notes"`
	Warnings []string `json:"warnings"`
}

// Series is the values of one tag.
type Series struct {
	Tag       string     `json:"tag"`   // "": untagged
	Lines     int        `json:"lines"` // intervals of the log
	N         int64      `json:"n"`
	Mean      *float64   `json:"mean"`
	StdDev    *float64   `json:"stddev"`
	Max       *float64   `json:"max"`
	Own       bool       `json:"own_buckets"` // values are of the log's own buckets
	Quantiles []Quantile `json:"quantiles"`
	Width     int64      `json:"interval_ns"`
	Intervals []Interval `json:"intervals"`
	curve     []Point
}

// Quantile is one quantile.
type Quantile struct {
	P      string   `json:"p"`
	Value  *float64 `json:"value"`
	Low    *float64 `json:"low"` // 95 %
	High   *float64 `json:"high"`
	Events *int64   `json:"events"`
	Status Status   `json:"status"`
}

// Interval is a stretch of time, in seconds since the first one looked at.
type Interval struct {
	Seconds float64  `json:"at_s"`
	N       int64    `json:"n"`
	P50     *float64 `json:"p50"`
	P99     *float64 `json:"p99"`
	P999    *float64 `json:"p99.9"`
	Max     *float64 `json:"max"`
}

// Point is a point of the percentile curve.
type Point struct {
	Tail  float64 // 1−p, above 0
	Value float64
}

// Curve returns the percentile curve of a series.
func (s Series) Curve() []Point { return s.curve }

func scaled(v, factor float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v*factor, 0) {
		return nil
	}
	v *= factor
	return &v
}

// Pick returns the series of a tag; without one the untagged series, or the first.
func (r *Report) Pick(tag string, named bool) (Series, error) {
	var tags []string
	for _, s := range r.Series {
		if s.Tag == tag {
			return s, nil
		}
		tags = append(tags, fmt.Sprintf("%q", s.Tag))
	}
	switch {
	case len(r.Series) == 0:
		return Series{}, fmt.Errorf("%s: no data", r.File)
	case named:
		return Series{}, fmt.Errorf("%s: no tag %q: it has %s", r.File, tag, strings.Join(tags, ", "))
	}
	return r.Series[0], nil
}

// Baseline is a series as the report of a run that another one stands beside:
// service time and nothing else, in a closed loop.
func (r *Report) Baseline(s Series) (*report.Report, error) {
	if r.Unit != "ns" {
		return nil, fmt.Errorf("%s: the unit of its values is unknown (--unit)", r.File)
	}
	name := filepath.Base(r.File)
	if s.Tag != "" {
		name += " " + s.Tag
	}
	m := report.Metric{Name: "service", N: s.N, Max: whole(s.Max), Mean: s.Mean, StdDev: s.StdDev}
	for _, q := range s.Quantiles {
		out := report.Quantile{P: q.P, Observed: whole(q.Value), Low: whole(q.Low), High: whole(q.High), Status: report.Uncertain}
		if q.Events != nil {
			out.Events = *q.Events
		}
		if q.Status != Status(report.Uncertain) {
			out.Status, out.Value = report.Status(q.Status), out.Observed
		}
		m.Quantiles = append(m.Quantiles, out)
	}
	if s.N == 0 {
		m.Quantiles = nil
	}
	return &report.Report{
		Schema: report.Schema, Name: name + " (service only)", Labels: map[string]string{}, Loop: report.Closed,
		Metrics: report.Metrics{m}, Warnings: append(r.Warnings, r.Notes...),
	}, nil
}

func whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(math.Round(*v))
	return &n
}

func (r *Report) value(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case r.Unit == "ns":
		return units.Latency(int64(math.Round(*v)))
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// tables are the series, and the intervals of each, in words.
func (r *Report) series() [][]string {
	rows := [][]string{{"tag", "values", "mean", "sd"}}
	for _, s := range r.Series {
		if len(rows) == 1 {
			for _, q := range s.Quantiles {
				rows[0] = append(rows[0], "p"+q.P)
			}
		}
		tag := s.Tag
		if tag == "" {
			tag = "(untagged)"
		}
		row, limits, some := []string{tag, units.Thousands(s.N), r.value(s.Mean), r.value(s.StdDev)}, []string{"  95 %", "", "", ""}, false
		for _, q := range s.Quantiles {
			cell, limit := r.value(q.Value), ""
			switch {
			case q.Status == Status(report.Uncertain) && q.Events != nil:
				cell = fmt.Sprintf("(%s, %d)", cell, *q.Events)
			case q.Status == Status(report.Low):
				cell += "?"
			}
			if q.Status != Status(report.Uncertain) && q.Low != nil && q.High != nil && *q.Low != *q.High {
				limit, some = r.value(q.Low)+".."+r.value(q.High), true
			}
			row, limits = append(row, cell), append(limits, limit)
		}
		for len(row) < len(rows[0]) {
			row, limits = append(row, "-"), append(limits, "")
		}
		rows = append(rows, append(row, r.value(s.Max)))
		if some {
			rows = append(rows, append(limits, ""))
		}
	}
	rows[0] = append(rows[0], "max")
	return rows
}

func (r *Report) intervals(s Series) [][]string {
	rows := [][]string{{"at", "values", "p50", "p99", "p99.9", "max"}}
	for _, iv := range s.Intervals {
		rows = append(rows, []string{fmt.Sprintf("%.3fs", iv.Seconds), units.Thousands(iv.N), r.value(iv.P50), r.value(iv.P99), r.value(iv.P999), r.value(iv.Max)})
	}
	return rows
}

// facts are the lines below the title.
func (r *Report) facts() []string {
	var out []string
	if r.Start != nil {
		out = append(out, "from "+r.Start.Format("2006-01-02T15:04:05.000Z07:00"))
	}
	out = append(out, r.Notes...)
	for _, s := range r.Series {
		if !s.Own && s.N > 0 {
			out = append(out, "buckets of several precisions were added at their low edges")
			break
		}
	}
	for _, s := range r.Series {
		if s.N > 0 && s.Lines > 0 && s.Lines < leastIntervals {
			out = append(out, fmt.Sprintf("fewer than %d intervals: how sure the quantiles are cannot be told", leastIntervals))
			break
		}
	}
	return out
}

// Empty reports whether there is no value.
func (r *Report) Empty() bool {
	for _, s := range r.Series {
		if s.N > 0 {
			return false
		}
	}
	return true
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(words.Plain(r.File) + "\n")
	for _, f := range r.facts() {
		b.WriteString(words.Plain(f) + "\n")
	}
	if r.Empty() {
		b.WriteString("\n* no data\n")
	}
	if len(r.Series) > 0 {
		b.WriteString("\nservice by tag\n")
		aligned.Table{Rows: r.series(), Left: []int{0}}.Indent(&b)
	}
	for _, s := range r.Series {
		if len(s.Intervals) > 1 {
			fmt.Fprintf(&b, "\nservice over time, %s, intervals of %s\n", named(s.Tag), time.Duration(s.Width))
			aligned.Table{Rows: r.intervals(s), Left: []int{0}}.Indent(&b)
		}
	}
	for _, l := range r.Warnings {
		b.WriteString("! " + words.Plain(l) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func named(tag string) string {
	if tag == "" {
		return "untagged"
	}
	return "tag " + words.Plain(tag)
}

// Markdown writes the report for a review: tables as text within a fence.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		return err
	}
	body := strings.ReplaceAll(b.String(), "```", "'''")
	_, err := io.WriteString(w, "```\n"+body+"```\n")
	return err
}

// JSON writes the report as one object on one line.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// CSV writes the columns of a run's CSV form.
func (r *Report) CSV(w io.Writer, header bool) error {
	c := csv.NewWriter(w)
	var err error
	write := func(record ...string) {
		if err == nil {
			err = c.Write(record)
		}
	}
	if header {
		write("run", "name", "metric", "statistic", "value", "unit", "low", "high", "events", "status")
	}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		if r.Unit == "ns" {
			return strconv.FormatFloat(math.Round(*v), 'f', 0, 64)
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	for _, s := range r.Series {
		name := words.Plain(strings.TrimSpace(r.File + " " + s.Tag))
		if strings.ContainsRune("=+-@", rune(name[0])) {
			name = "'" + name
		}
		write("", name, "service", "n", strconv.FormatInt(s.N, 10), "messages", "", "", "", "")
		write("", name, "service", "mean", number(s.Mean), r.Unit, "", "", "", "")
		write("", name, "service", "max", number(s.Max), r.Unit, "", "", "", "")
		for _, q := range s.Quantiles {
			events := ""
			if q.Events != nil {
				events = strconv.FormatInt(*q.Events, 10)
			}
			write("", name, "service", "p"+q.P, number(q.Value), r.Unit, number(q.Low), number(q.High), events, string(q.Status))
		}
	}
	if err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}
