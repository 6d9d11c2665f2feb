package foreign

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"amqpperf/internal/analysis/hdr"
	"amqpperf/internal/analysis/stats"
)

// Kind is the format of a foreign log.
type Kind string

// The formats; None is no foreign log.
const (
	None Kind = ""
	Hlog Kind = "hlog"
	Hgrm Kind = "hgrm"
)

// sniffed is how much of a file decides its format.
const sniffed = 4096

// Sniff tells the format of a file. A name that ends in .hlog or .hgrm is
// believed, so that what is wrong with the file is said by its reader; otherwise
// text that begins as one is one.
func Sniff(name string) (Kind, error) {
	switch {
	case strings.HasSuffix(name, ".hlog"):
		return Hlog, nil
	case strings.HasSuffix(name, ".hgrm"):
		return Hgrm, nil
	}
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() {
		return None, nil //nolint:nilerr // who opens it will say so
	}
	f, err := os.Open(name)
	if err != nil {
		return None, nil //nolint:nilerr // who opens it will say so
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	if cerr := f.Close(); cerr != nil {
		return None, cerr
	}
	if err != nil && n == 0 {
		return None, nil //nolint:nilerr // an empty file is none
	}
	return sniff(head[:n]), nil
}

func sniff(head []byte) Kind {
	if bytes.IndexByte(head, 0) >= 0 || (!utf8.Valid(head) && len(head) < sniffed) {
		return None
	}
	text := string(head)
	fields := strings.Fields(text)
	switch {
	case len(fields) >= 3 && fields[0] == "Value" && fields[1] == "Percentile" && fields[2] == "TotalCount":
		return Hgrm
	case strings.HasPrefix(text, "#[") && (strings.Contains(text, "istogram log format") || strings.Contains(text, "StartTime")),
		strings.Contains(text, `"StartTimestamp","Interval_Length"`), strings.HasPrefix(text, "Tag="), strings.Contains(text, ",HIST"):
		return Hlog
	}
	return None
}

// Options say what to look at.
type Options struct {
	Percentiles []stats.Percentile
	From, To    time.Duration // since the log's start; To 0: to the end
	Interval    time.Duration // of the series; 0: chosen
	Expected    time.Duration // correct for coordinated omission; 0: not
	Unit        string        // of a percentile file: ns, us, ms, s; "": unknown
}

// Units returns the units that values of a percentile file can have.
func Units() []string { return []string{"ns", "us", "ms", "s"} }

func factor(unit string) float64 {
	return map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
}

// Read makes the report of a foreign log.
func Read(name string, kind Kind, opt Options) (r *Report, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	r = &Report{Schema: Schema, File: name, Format: kind, Unit: "ns", Notes: []string{ServiceOnly}, Warnings: []string{}, Series: []Series{}}
	if kind == Hgrm {
		return r, r.percentileFile(f, opt)
	}
	return r, r.intervalLog(f, opt)
}

func (r *Report) percentileFile(f io.Reader, opt Options) error {
	switch {
	case opt.Expected != 0:
		return fmt.Errorf("%s: --expected-interval: a percentile file is a curve and no histogram: give the .hlog", r.File)
	case opt.From != 0 || opt.To != 0:
		return fmt.Errorf("%s: --from and --to: a percentile file does not know when: give the .hlog", r.File)
	}
	p, err := hdr.ReadHgrm(f, r.File)
	if err != nil {
		return err
	}
	scale := factor(opt.Unit)
	if opt.Unit == "" {
		scale, r.Unit = 1, "unknown"
		r.Notes = append(r.Notes, "the unit of the values is not written in a percentile file: unit unknown (--unit)")
	}
	s := Series{Own: true, N: p.N, Mean: scaled(p.Mean, scale), StdDev: scaled(p.StdDev, scale), Max: scaled(p.Max, scale), Intervals: []Interval{}}
	if s.Max == nil && len(p.Rows) > 0 {
		s.Max = scaled(p.Rows[len(p.Rows)-1].Value, scale)
	}
	for _, want := range opt.Percentiles {
		q := Quantile{P: want.String(), Status: Unknown}
		if v, ok := p.At(want.Fraction()); ok {
			q.Value = scaled(v, scale)
			if q.Value != nil && s.Max != nil {
				*q.Value = min(*q.Value, *s.Max)
			}
		}
		s.Quantiles = append(s.Quantiles, q)
	}
	for _, row := range p.Rows {
		if row.Fraction < 1 {
			s.curve = append(s.curve, Point{1 - row.Fraction, row.Value * scale})
		}
	}
	if p.N > 0 {
		r.Series = append(r.Series, s)
	}
	return nil
}

func (r *Report) intervalLog(f io.Reader, opt Options) error {
	log, err := hdr.ReadLog(f, r.File)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, log.Warnings...)
	for _, c := range log.Comments {
		if _, says, ok := strings.Cut(c, "the untagged series is "); ok {
			what, _, _ := strings.Cut(strings.Trim(says, "[] "), ",")
			r.Notes = []string{fmt.Sprintf(OwnLog, what)}
			break
		}
	}
	if err := r.correctable(log, opt); err != nil {
		return err
	}
	intervals := between(log, opt)
	var start int64
	if len(intervals) > 0 {
		start = intervals[0].Start
		if log.HasStart {
			at := time.UnixMilli(start).UTC()
			r.Start = &at
		}
	}
	for _, tag := range log.Tags() {
		s, err := makeSeries(tag, intervals, start, opt)
		if err != nil {
			return fmt.Errorf("%s: tag %q: %w", r.File, tag, err)
		}
		r.Series = append(r.Series, s)
	}
	slices.SortStableFunc(r.Series, func(a, b Series) int { return strings.Compare(a.Tag, b.Tag) })
	if opt.Expected > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("corrected for coordinated omission with an expected interval of %s: that holds only for one request in flight at that constant interval, and is a guess otherwise", opt.Expected))
	}
	return nil
}

// correctable refuses a correction of a log that says it must not have one.
func (r *Report) correctable(log *hdr.Log, opt Options) error {
	if opt.Expected == 0 {
		return nil
	}
	for _, c := range log.Comments {
		if strings.Contains(c, "do NOT apply") {
			return fmt.Errorf("%s: --expected-interval: its latencies count from the intended instant already (%s)", r.File, strings.Trim(c, "[] "))
		}
	}
	return nil
}

// between selects intervals by their start, counted from the start of the log. A
// BaseTime before the StartTime, which is what the times are from, makes that of the
// first interval the start.
func between(log *hdr.Log, opt Options) []hdr.Interval {
	base := log.Start
	if !log.HasStart {
		base = 0
		if len(log.Intervals) > 0 && log.Intervals[0].Start > 365*24*3600*1000 {
			base = log.Intervals[0].Start
		}
	}
	for _, iv := range log.Intervals {
		base = min(base, iv.Start)
	}
	var out []hdr.Interval
	for _, iv := range log.Intervals {
		since := iv.Start - base
		if since >= opt.From.Milliseconds() && (opt.To == 0 || since < opt.To.Milliseconds()) {
			out = append(out, iv)
		}
	}
	return out
}
