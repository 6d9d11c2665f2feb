package perfreport

import (
	"cmp"
	"slices"
	"strings"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/cli"
)

// shiftSeed makes the draws of the bootstrap repeatable.
const shiftSeed = 1

// headline chooses the metric whose shift function is shown.
func headline(d *reduce.Data) reduce.Metric {
	order := []reduce.Metric{reduce.Response, reduce.E2E}
	if d.ClosedLoop {
		order = []reduce.Metric{reduce.Service, reduce.Transit}
	}
	for _, m := range order {
		if d.Metrics[m].Distribution != nil && d.Metrics[m].N() > 0 {
			return m
		}
	}
	return order[0]
}

// group is the runs of one side.
type group struct {
	name string
	runs []*made
}

func (g group) side() compare.Side {
	s := compare.Side{Name: g.name}
	for _, m := range g.runs {
		s.Runs = append(s.Runs, compare.FromReport(m.report))
	}
	return s
}

func (g group) reports() []*report.Report {
	var out []*report.Report
	for _, m := range g.runs {
		out = append(out, m.report)
	}
	return out
}

// compareRuns compares what was made: base is the runs of --baseline. The
// reports get the check of the comparison's power.
func (j *job) compareRuns(all, base []*made) (results []*compare.Result, err error) {
	if !j.o.comparing() {
		return nil, nil
	}
	sides, err := j.divide(all, base)
	if err != nil {
		return nil, err
	}
	for _, other := range sides[1:] {
		r, err := compare.Compare(sides[0].side(), other.side(), j.o.ignore)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		if len(sides[0].runs) == 1 && len(other.runs) == 1 {
			r.Within = within(sides[0].runs[0], other.runs[0])
		}
		results = append(results, r)
		for _, m := range other.runs {
			j.judged(m, r)
		}
	}
	for i, other := range sides[1:] {
		name := results[i].New + " against " + results[i].Base
		j.sides = append(j.sides, side{name, sides[0].reports(), other.reports()})
	}
	return results, nil
}

// within is the shift function of one run against one run.
func within(a, b *made) *compare.Within {
	switch {
	case a.sampled == nil || b.sampled == nil:
		return nil
	case a.sampled.Metric != b.sampled.Metric:
		return &compare.Within{Metric: b.sampled.Metric.String(), Label: compare.WithinOnly, Why: "one run has an open loop and the other one a closed one"}
	}
	return compare.ShiftFunction(b.sampled.Metric.String(), a.sampled, b.sampled, shiftSeed)
}

// judged makes the report of a run anew, now that the power of its comparison is
// known.
func (j *job) judged(m *made, r *compare.Result) {
	m.options.Comparison = &checks.Comparison{RunsA: r.Runs[0], RunsB: r.Runs[1], SmallestP: r.Smallest, Detectable: r.LeastDetectable()}
	m.report = report.New(m.data, m.options)
	j.o.note(m)
}

// divide makes the sides, the baseline first.
func (j *job) divide(all, base []*made) ([]group, error) {
	if j.o.compare == "" {
		return []group{{sideName(base, "baseline"), base}, {sideName(all, "these"), all}}, nil
	}
	label, wanted, named := strings.Cut(j.o.compare, "=")
	var runs []compare.Run
	for _, m := range all {
		runs = append(runs, compare.FromReport(m.report))
	}
	found, err := compare.ByLabel(runs, label)
	if err != nil {
		return nil, cli.Usagef("--compare: %w", err)
	}
	var sides []group
	for _, s := range found {
		g := group{name: s.Name}
		for _, m := range all {
			if label+"="+m.report.Labels[label] == s.Name {
				g.runs = append(g.runs, m)
			}
		}
		sides = append(sides, g)
	}
	if len(sides) < 2 {
		return nil, cli.Usagef("--compare %s: all runs have %s: nothing to compare with", label, sides[0].name)
	}
	first := func(g group) int64 {
		return slices.MinFunc(g.runs, func(a, b *made) int { return cmp.Compare(a.data.First, b.data.First) }).data.First
	}
	slices.SortStableFunc(sides, func(a, b group) int {
		if named && (a.name == label+"="+wanted) != (b.name == label+"="+wanted) {
			if a.name == label+"="+wanted {
				return -1
			}
			return 1
		}
		return cmp.Compare(first(a), first(b))
	})
	if named && sides[0].name != label+"="+wanted {
		return nil, cli.Usagef("--compare %s: no run has %s=%s", j.o.compare, label, wanted)
	}
	return sides, nil
}

// sideName is the name of all runs of a side, where they have one.
func sideName(runs []*made, fallback string) string {
	for _, m := range runs {
		if m.report.Name == "" || m.report.Name != runs[0].report.Name {
			return fallback
		}
	}
	if len(runs) == 0 {
		return fallback
	}
	if fallback == "baseline" {
		return runs[0].report.Name + " (baseline)"
	}
	return runs[0].report.Name
}

// rateTable writes the table S1 :: S2 :: R1 of the runs by name, best first, and
// under it what the differences between the names are worth.
func (j *job) rateTable(all []*made) error {
	var runs []compare.Run
	byStart := slices.Clone(all)
	slices.SortStableFunc(byStart, func(a, b *made) int { return cmp.Compare(a.data.First, b.data.First) })
	for _, m := range byStart {
		runs = append(runs, compare.FromReport(m.report))
	}
	lines := compare.RateTable(compare.ByName(runs))
	if sides := compare.SidesByName(runs); !j.o.comparing() && len(sides) > 1 {
		lines = append(lines, "")
		for _, other := range sides[1:] { // the one that ran first is what the others are compared with
			r, err := compare.Compare(sides[0], other, j.o.ignore)
			if err != nil {
				lines = append(lines, "no verdict on "+other.Name+": "+err.Error())
				continue
			}
			lines = append(lines, r.Verdict)
		}
	}
	return j.out.lines("rates by client, best first", clean(lines))
}

// byNames sorts runs by name, and runs of one name by their start.
func byNames(all []*made) {
	slices.SortStableFunc(all, func(a, b *made) int {
		return cmp.Or(strings.Compare(a.report.Title(), b.report.Title()), cmp.Compare(a.data.First, b.data.First))
	})
}
