package perfreport

import (
	"errors"
	"fmt"
	"io"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/cli"
)

// made is a run after both passes.
type made struct {
	data   *reduce.Data
	report *report.Report
}

func run(env *cli.Env, o *options, names []string) (err error) {
	out, err := openOutputs(env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.abort()) }()
	sources, spools, err := openRuns(env, names, o.run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(spools)) }()
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.Close())
		}
	}()
	if len(sources) > 1 && (o.hlog != "" || o.hgrm != "" || o.png != "" || o.name != "" || len(o.baseline) > 0) {
		return cli.Usagef("the logs hold %d runs: choose one with --run for --hlog, --hgrm, --png, --name or --baseline", len(sources))
	}
	base, err := makeBaseline(env, o)
	if err != nil {
		return err
	}
	for i, s := range sources {
		m, hlog, err := makeReport(env, o, s, o.name, out.wantsHlog())
		if err != nil {
			return err
		}
		if base != nil {
			m.report.Baseline = base.report
		}
		if err := out.report(m.report, i); err != nil {
			return err
		}
		if err := out.histograms(hlog); err != nil {
			return err
		}
		if err := out.pictures(m, base); err != nil {
			return err
		}
	}
	return out.finish()
}

// makeReport reads a source and makes its report.
func makeReport(env *cli.Env, o *options, s source, name string, wantsHlog bool) (*made, *hlog, error) {
	opt := reduce.Options{
		Percentiles: o.ps, From: o.from.d, To: o.to.d, Negative: o.negative, Interval: o.interval,
	}
	if o.warmup.set {
		opt.Warmup = &o.warmup.d
	}
	var log *hlog
	if wantsHlog {
		log = newHlog(o.interval, name)
		opt.Sink = log
	}
	rows, stop := watched(env, o, s)
	data, err := reduce.Reduce(rows, opt)
	stop()
	if err != nil {
		return nil, nil, err
	}
	data.Warnings = append(s.warnings(), data.Warnings...)
	for _, w := range s.warnings() {
		fmt.Fprintf(env.Stderr, "perf-report: warning: %s\n", w)
	}
	ro := report.Options{Name: name}
	if log != nil {
		ro.HDR = log.account()
	}
	return &made{data: data, report: report.New(data, ro)}, log, nil
}

// makeBaseline reads the run to compare with, nil if there is none.
func makeBaseline(env *cli.Env, o *options) (m *made, err error) {
	if len(o.baseline) == 0 {
		return nil, nil //nolint:nilnil // no baseline is neither a run nor an error
	}
	sources, spools, err := openRuns(env, o.baseline, "")
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	defer func() { err = errors.Join(err, closeAll(spools)) }()
	defer func() {
		for _, s := range sources {
			err = errors.Join(err, s.Close())
		}
	}()
	if len(sources) != 1 {
		return nil, cli.Usagef("--baseline names %d runs: one at a time", len(sources))
	}
	plain := *o
	plain.warmup = o.warmup
	m, _, err = makeReport(env, &plain, sources[0], "", false)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return m, nil
}

// progressive counts rows on a progress bar.
type progressive struct {
	reduce.Rows
	bar *cli.Bar
}

// Next implements reduce.Rows.
func (p progressive) Next(b *format.Merged) error {
	err := p.Rows.Next(b)
	if err == nil {
		p.bar.Add(int64(b.Len()))
	}
	return err
}

// spanning is progressive for rows that know their first instant.
type spanning struct {
	progressive
	reduce.Spanner
}

// watched shows on a terminal how far the reading is.
func watched(env *cli.Env, o *options, s source) (rows reduce.Rows, stop func()) {
	if o.quiet {
		return s, func() {}
	}
	bar := cli.Progress(env, "rows", 2*s.size())
	p := progressive{s, bar}
	if sp, ok := s.(reduce.Spanner); ok {
		return spanning{p, sp}, bar.Stop
	}
	return p, bar.Stop
}

// write renders a report in one of the formats. The i-th of several is set off
// from the one before.
func write(w io.Writer, r *report.Report, formatName string, i int) error {
	switch formatName {
	case "markdown":
		return errors.Join(gap(w, i), r.Markdown(w))
	case "json":
		return r.JSON(w)
	case "csv":
		return r.CSV(w, i == 0)
	}
	return errors.Join(gap(w, i), r.Text(w))
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
