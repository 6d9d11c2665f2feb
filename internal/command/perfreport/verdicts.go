package perfreport

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/analysis/gate"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/cli"
)

// validateVerdicts reads the gates; percentiles that they name are computed too.
func (o *options) validateVerdicts() error {
	for _, text := range o.failIf {
		g, err := gate.Parse(text)
		if err != nil {
			return cli.Usagef("--fail-if %q: %w", text, err)
		}
		if g.Change() && !o.comparing() {
			return cli.Usagef("--fail-if %q: a change needs --baseline or --compare", text)
		}
		if p, ok := g.Percentile(); ok && !slices.ContainsFunc(o.ps, func(q stats.Percentile) bool { return q.String() == p.String() }) {
			if slices.ContainsFunc(o.ps, func(q stats.Percentile) bool { return q.Compare(p) == 0 }) {
				return cli.Usagef("--fail-if %q: write the percentile as in --percentiles %s", text, o.percentiles)
			}
			o.ps = append(o.ps, p)
		}
		o.gates = append(o.gates, g)
	}
	return nil
}

// side is two sides of a comparison as the gates see them.
type side struct {
	name        string
	base, other []*report.Report
}

// judge applies gates and checks, writes the JUnit file, and returns what fails.
func (j *job) judge() error {
	var suites []gate.Suite
	var crossed []gate.Result
	add := func(s gate.Suite) {
		for _, r := range slices.Concat(s.Gates, s.Checks) {
			if r.Crossed {
				crossed = append(crossed, r)
			}
		}
		suites = append(suites, s)
	}
	for _, r := range j.reports {
		s := gate.Suite{Name: r.Title(), Checks: gate.Checks(r, j.o.strict)}
		for _, g := range j.o.gates {
			if !g.Change() {
				s.Gates = append(s.Gates, g.Evaluate(r))
			}
		}
		add(s)
	}
	for _, c := range j.sides {
		s := gate.Suite{Name: c.name}
		for _, g := range j.o.gates {
			if g.Change() {
				s.Gates = append(s.Gates, g.EvaluateChange(c.base, c.other))
			}
		}
		if len(s.Gates) > 0 {
			add(s)
		}
	}
	if j.out.junit != nil {
		if err := gate.JUnit(j.out.junit, suites); err != nil {
			return fmt.Errorf("%s: %w", j.out.junit.Name(), err)
		}
	}
	j.crossed = crossed
	return nil
}

// unmet is the error of gates that were crossed, nil if none was.
func (j *job) unmet() error {
	if len(j.crossed) == 0 {
		return nil
	}
	var lines []string
	for _, r := range j.crossed {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", r.Run, r.Name, r.Text))
	}
	what := "failed: "
	if len(lines) > 1 {
		what = fmt.Sprintf("%d conditions and checks failed:\n  ", len(lines))
	}
	return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("%s%s", what, strings.Join(clean(lines), "\n  "))}
}

// clean makes text of logs safe for a terminal.
func clean(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = words.Plain(l)
	}
	return out
}
