package perfreport

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/analysis/gate"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/where"
	"amqpperf/internal/cli"
)

// made is a run after both passes.
type made struct {
	data    *reduce.Data
	report  *report.Report
	options report.Options // that the report was made with
	hlog    *hlog
	sampled *compare.Sampled // of a comparison
	curves  []chart.Curve    // of a log of another tool, which has no data
}

// job is one run of the command.
type job struct {
	env     *cli.Env
	o       *options
	out     *outputs
	used    []resource       // of --resources
	reports []*report.Report // that gates are applied to
	sides   []side
	crossed []gate.Result
}

// frugalGC lets the heap grow by this many percent between collections: what is
// kept of a log has few pointers, so that collecting it often costs little, and
// reading reuses its memory.
const frugalGC = 40

func run(env *cli.Env, o *options, names []string) (err error) {
	before := debug.SetGCPercent(frugalGC)
	if before >= 0 && before < frugalGC { // the user wants less still
		debug.SetGCPercent(before)
	}
	defer debug.SetGCPercent(before)
	out, err := openOutputs(env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.abort()) }()
	j := &job{env: env, o: o, out: out}
	if err := j.work(names); err != nil {
		return err
	}
	if err := j.judge(); err != nil {
		return err
	}
	if err := out.finish(); err != nil {
		return err
	}
	return j.unmet()
}

// work makes and writes everything but verdicts.
func (j *job) work(names []string) (err error) {
	found, err := kinds(names, "as one run: give it as --baseline")
	if err != nil {
		return err
	}
	if found != nil {
		return j.reportForeign(names, found)
	}
	if j.o.resources != "" {
		if j.used, err = readResources(j.o.resources); err != nil {
			return fmt.Errorf("--resources: %w", err)
		}
	}
	beside, err := j.foreignBaseline()
	if err == nil {
		err = j.refuseForeign(beside != nil)
	}
	if err != nil {
		return err
	}
	return j.reportRuns(names, beside)
}

// reportRuns reports the logs of runs; beside is a baseline that is no run.
func (j *job) reportRuns(names []string, beside *made) (err error) {
	sources, spools, err := openRuns(j.env, names, j.o.run, j.o.extraColumns(), &j.o.joining, pipes(j.o.baseline) == 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSources(sources), closeAll(spools)) }()
	if o := j.o; len(sources) > 1 && (o.hlog != "" || o.hgrm != "" || o.name != "" || (len(o.plots) > 0 && !o.comparing())) {
		return cli.Usagef("the logs hold %d runs: choose one with --run for --hlog, --hgrm, --name and pictures", len(sources))
	}
	if j.used != nil {
		for i, s := range sources {
			sources[i] = supplied{s, j.used}
		}
	}
	if j.o.grouped() {
		for _, s := range sources {
			if err := j.reportGroups(s); err != nil {
				return err
			}
		}
		return nil
	}
	var base []*made
	if beside == nil {
		if base, err = j.makeBaseline(); err != nil {
			return err
		}
	}
	return j.reportSides(sources, base, beside)
}

// reportSides makes the runs, compares them, and writes what there is to write.
func (j *job) reportSides(sources []source, base []*made, beside *made) error {
	var all []*made
	many := beside == nil && (len(base) > 1 || (j.o.comparing() && len(sources) > 1))
	for _, s := range sources {
		m, err := j.makeReport(s, j.out.wantsHlog(), !many)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	var results []*compare.Result
	if beside == nil {
		var err error
		if results, err = j.compareRuns(all, base); err != nil {
			return err
		}
	}
	if len(base) == 1 && !many {
		beside = base[0]
	}
	j.judgeTogether(all, base)
	for _, m := range all {
		if beside != nil {
			m.report.Baseline = beside.report
		}
		j.reports = append(j.reports, m.report)
	}
	if beside != nil && len(base) == 0 {
		j.sides = append(j.sides, side{"against " + beside.report.Title(), []*report.Report{beside.report}, j.reports})
	}
	if err := j.write(all, base, many); err != nil {
		return err
	}
	if err := j.draw(all, beside, results); err != nil {
		return err
	}
	for _, r := range results {
		if err := j.out.piece(r); err != nil {
			return err
		}
	}
	return nil
}

// judgeTogether tells what held each of several runs, knowing the others.
func (j *job) judgeTogether(all, base []*made) {
	var reports []*report.Report
	for _, m := range slices.Concat(all, base) {
		reports = append(reports, m.report)
	}
	if len(reports) > 1 {
		report.JudgeTogether(reports)
	}
}

// write writes what was made. Reports of many runs that are compared are written
// where programs read them; for people the comparison is enough.
func (j *job) write(all, base []*made, many bool) error {
	if j.o.by == byName {
		byNames(all)
		if err := j.rateTable(all); err != nil {
			return err
		}
	}
	people := forPeople(j.o.format)
	if many && !people {
		for _, m := range base {
			if err := j.out.report(m.report); err != nil {
				return err
			}
		}
	}
	for _, m := range all {
		if !many || !people {
			if err := j.out.report(m.report); err != nil {
				return err
			}
		}
		if j.used != nil {
			if err := j.out.piece(usageOf(m, j.used)); err != nil {
				return err
			}
		}
		if err := j.out.histograms(m.hlog); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the pictures. Of several runs that are compared there is only that
// of the change.
func (j *job) draw(all []*made, beside *made, results []*compare.Result) error {
	var compared *compare.Result
	if len(results) > 0 {
		compared = results[0]
	}
	if len(all) == 1 {
		return j.drawRun(all[0], beside, compared)
	}
	return j.out.draw(func(name string) drawing {
		if name != shiftPlot || len(all) == 0 {
			return nil
		}
		return drawingOf(name, all[len(all)-1], beside, compared)
	})
}

// makeReport reads a source and makes its report.
func (j *job) makeReport(s source, wantsHlog, alone bool) (*made, error) {
	m := &made{}
	if wantsHlog {
		m.hlog = newHlog(j.o.interval, j.o.name)
	}
	if j.o.comparing() && alone {
		m.sampled = &compare.Sampled{Choose: headline}
	}
	rows, stop := watched(j.env, j.o, s)
	defer stop()
	done, err := j.reduce(where.Filter(rows, j.o.predicate), s.warnings, m)
	if err != nil {
		return nil, err
	}
	j.warn(s.warnings())
	j.o.note(done)
	return done, nil
}

func (j *job) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(j.env.Stderr, "perf-report: warning: %s\n", w)
	}
}

// reduce makes the report of rows. warnings, which may be nil, are asked for
// after they were read; m says which samples to keep, nil none.
func (j *job) reduce(rows reduce.Rows, warnings func() []string, m *made) (*made, error) {
	o := j.o
	if m == nil {
		m = &made{}
	}
	opt := reduce.Options{
		Percentiles: o.ps, From: o.from.d, To: o.to.d, Negative: o.negative, Interval: o.interval, Sink: m.sink(),
	}
	switch {
	case o.warmup.auto:
		opt.WarmupAuto = true
	case o.warmup.set:
		opt.Warmup = &o.warmup.d
	}
	data, err := reduce.Reduce(rows, opt)
	if err != nil {
		return nil, err
	}
	if warnings != nil {
		data.Warnings = append(warnings(), data.Warnings...)
	}
	m.data, m.options = data, report.Options{Name: o.name}
	if m.hlog != nil {
		if m.options.HDR, err = m.hlog.account(data); err != nil {
			return nil, err
		}
	}
	m.report = report.New(data, m.options)
	return m, nil
}

// sink is where samples go, nil if nobody wants them.
func (m *made) sink() reduce.Sink {
	switch {
	case m.hlog != nil && m.sampled != nil:
		return both{m.hlog, m.sampled}
	case m.hlog != nil:
		return m.hlog
	case m.sampled != nil:
		return m.sampled
	}
	return nil
}

// both hands samples to two sinks.
type both struct{ a, b reduce.Sink }

// Begin implements reduce.Sink.
func (t both) Begin(d *reduce.Data) error { return errors.Join(t.a.Begin(d), t.b.Begin(d)) }

// Sample implements reduce.Sink.
func (t both) Sample(m reduce.Metric, intended, v, bound int64) {
	t.a.Sample(m, intended, v, bound)
	t.b.Sample(m, intended, v, bound)
}

// Infinite implements reduce.Sink.
func (t both) Infinite(m reduce.Metric, intended int64) {
	t.a.Infinite(m, intended)
	t.b.Infinite(m, intended)
}

// makeBaseline reads the runs to compare with.
func (j *job) makeBaseline() (all []*made, err error) {
	if len(j.o.baseline) == 0 {
		return nil, nil
	}
	sources, spools, err := openRuns(j.env, j.o.baseline, "", j.o.extraColumns(), &j.o.joining, false)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	defer func() { err = errors.Join(err, closeSources(sources), closeAll(spools)) }()
	plain := *j.o
	plain.name = ""
	of := &job{env: j.env, o: &plain, out: j.out}
	for _, s := range sources {
		m, err := of.makeReport(s, false, len(sources) == 1)
		if err != nil {
			return nil, fmt.Errorf("--baseline: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

func closeSources(sources []source) error {
	var errs []error
	for _, s := range sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// write renders a report or a comparison in one of the formats. The i-th of
// several is set off from the one before.
func write(w io.Writer, r piece, formatName string, i int) error {
	switch formatName {
	case "markdown":
		return errors.Join(gap(w, i), r.Markdown(w))
	case summary:
		if s, ok := r.(interface{ Summary(w io.Writer) error }); ok {
			return errors.Join(gap(w, i), s.Summary(w))
		}
		return errors.Join(gap(w, i), r.Markdown(w))
	case "json":
		return r.JSON(w)
	case "csv":
		return r.CSV(w, i == 0)
	}
	return errors.Join(gap(w, i), r.Text(w))
}

// summary is the format that is pasted above a picture.
const summary = "summary"

// forPeople reports a format that people read.
func forPeople(format string) bool {
	return format == "text" || format == "markdown" || format == summary
}

func gap(w io.Writer, i int) error {
	if i == 0 {
		return nil
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// start is the first intended instant, for titles.
func start(d *reduce.Data) time.Time {
	if d.Empty() {
		return time.Time{}
	}
	return time.Unix(0, d.First).UTC()
}
