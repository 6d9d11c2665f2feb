package perfreport

import (
	"fmt"
	"slices"

	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/foreign"
	"amqpperf/internal/cli"
)

// kinds tells which of the files are logs of other tools; nil if none is. It is
// an error to mix them.
func kinds(names []string, what string) ([]foreign.Kind, error) {
	all := make([]foreign.Kind, len(names))
	n := 0
	for i, name := range names {
		kind, err := foreign.Sniff(name)
		if err != nil {
			return nil, err
		}
		if all[i] = kind; kind != foreign.None {
			n++
		}
	}
	switch n {
	case 0:
		return nil, nil
	case len(names):
		return all, nil
	}
	i := slices.IndexFunc(all, func(k foreign.Kind) bool { return k != foreign.None })
	return nil, cli.Usagef("%s: a log of another tool and logs of a run do not go together %s", names[i], what)
}

func (o *options) foreign() foreign.Options {
	return foreign.Options{
		Percentiles: o.ps, From: o.from.d, To: o.to.d, Interval: o.interval, Expected: o.expected, Unit: o.unit,
	}
}

// reportForeign writes the reports of logs of other tools.
func (j *job) reportForeign(names []string, kinds []foreign.Kind) error {
	o := j.o
	for _, f := range []struct {
		flag string
		set  bool
	}{
		{"--where", o.where != ""}, {"--by", o.by != ""}, {"--compare", o.compare != ""}, {"--baseline", len(o.baseline) > 0}, {"--hlog", o.hlog != ""},
		{"--hgrm", o.hgrm != ""}, {"--png", o.png != ""}, {"--plot", len(o.plotArgs) > 0}, {"--dashboard", o.dashboard != ""}, {"--run", o.run != ""}, {"--resources", o.resources != ""}, {"--name", o.name != ""}, {"--warmup", o.warmup.set || o.warmup.auto},
		{"--all-outcomes", o.negative}, {"--strict", o.strict}, {"-f benchfmt", o.format == benchfmt},
	} {
		if f.set {
			return cli.Usagef("%s: %s needs the log of a run, and this one of another tool has service times only", names[0], f.flag)
		}
	}
	for i, name := range names {
		r, err := foreign.Read(name, kinds[i], o.foreign())
		if err != nil {
			return err
		}
		if err := j.out.piece(r); err != nil {
			return err
		}
		if len(o.gates) == 0 && j.out.junit == nil {
			continue
		}
		m, err := j.foreignRun(r)
		if err != nil {
			return err
		}
		j.reports = append(j.reports, m.report)
	}
	return nil
}

// foreignRun takes one series as a run with service times only.
func (j *job) foreignRun(r *foreign.Report) (*made, error) {
	s, err := r.Pick(j.o.tag, j.o.tagged)
	if err != nil && !r.Empty() {
		return nil, err
	}
	of, err := r.Baseline(s)
	if err != nil {
		return nil, err
	}
	m := &made{report: of, curves: []chart.Curve{}}
	if points := s.Curve(); len(points) > 0 {
		c := chart.Curve{Name: "service"}
		for _, p := range points {
			c.Points = append(c.Points, chart.CurvePoint{Tail: p.Tail, Value: p.Value})
		}
		m.curves = append(m.curves, c)
	}
	return m, nil
}

// foreignBaseline reads a baseline that is a log of another tool; nil if it is
// none.
func (j *job) foreignBaseline() (*made, error) {
	found, err := kinds(j.o.baseline, "as --baseline")
	if err != nil || found == nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, cli.Usagef("--baseline: one log of another tool at a time: it is no run that could be repeated")
	}
	opt := j.o.foreign()
	opt.From, opt.To = 0, 0 // of the run, not of the baseline
	r, err := foreign.Read(j.o.baseline[0], found[0], opt)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	if r.Empty() {
		return nil, fmt.Errorf("--baseline: %s: no data", r.File)
	}
	return j.foreignRun(r)
}

// refuseForeign refuses flags that only logs of other tools have.
func (j *job) refuseForeign(baseline bool) error {
	switch {
	case baseline:
		return nil
	case j.o.expected != 0:
		return cli.Usagef("--expected-interval: the logs of a run have intended instants: response and e2e are free of coordinated omission, and a correction would make values up")
	case j.o.tagged:
		return cli.Usagef("--tag is of an .hlog, and none is given")
	case j.o.unit != "":
		return cli.Usagef("--unit is of an .hgrm, and none is given")
	}
	return nil
}
