package perfreport

import (
	"slices"
	"strings"

	"amqpperf/internal/analysis/aligned"
	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/analysis/where"
	"amqpperf/internal/cli"
	"amqpperf/internal/units"
)

// byName is the key of --by that groups runs and not rows.
const byName = "name"

// validateRows checks what chooses and groups rows.
func (o *options) validateRows() (err error) {
	if o.where != "" {
		if o.predicate, err = where.Parse(o.where); err != nil {
			return cli.Usagef("--where %q: %w", o.where, err)
		}
	}
	switch {
	case o.by != "" && o.by != byName && !slices.Contains(where.Keys(), o.by):
		return cli.Usagef("--by %q: one of name, %s", o.by, strings.Join(where.Keys(), ", "))
	case o.grouped() && (o.hlog != "" || o.hgrm != ""):
		return cli.Usagef("--by %s makes several reports, and --hlog and --hgrm are of one: choose a group with --where", o.by)
	case o.grouped() && o.comparing():
		return cli.Usagef("--by %s and a comparison do not go together: choose a group with --where", o.by)
	}
	return nil
}

// grouped reports whether the rows of a run are divided.
func (o *options) grouped() bool { return o.by != "" && o.by != byName }

// comparing reports whether two sides of runs are compared.
func (o *options) comparing() bool { return o.compare != "" || len(o.baseline) > 0 }

// extraColumns are those that only the selection reads.
func (o *options) extraColumns() []string {
	var out []string
	if o.predicate != nil {
		out = o.predicate.Columns()
	}
	if o.grouped() {
		out = append(out, where.Columns(o.by)...)
	}
	return out
}

// note says on a report that it is about some rows only.
func (o *options) note(m *made) {
	if o.predicate == nil {
		return
	}
	text := "only rows where " + o.where + ": counts are of these rows"
	if m.data.Empty() {
		text = "no row where " + o.where
	}
	m.report.Warnings = append(m.report.Warnings, text)
}

// reportGroups writes a report for each group of rows of a run.
func (j *job) reportGroups(s source) error {
	o := j.o
	rows, stop := watched(j.env, o, s)
	defer stop()
	split, err := where.NewSplit(rows, where.SplitOptions{By: o.by, Where: o.predicate, From: o.from.d, To: o.to.d})
	if err != nil {
		return err
	}
	groups := split.Groups()
	if len(groups) == 0 { // nothing to divide: a report that says so
		m, err := j.reduce(where.Filter(rows, o.predicate), s.warnings, nil)
		if err != nil {
			return err
		}
		o.note(m)
		j.reports = append(j.reports, m.report)
		return j.out.report(m.report)
	}
	all := make([]*made, len(groups))
	if err := split.Each(func(i int, rows reduce.Rows) (err error) {
		all[i], err = j.reduce(rows, nil, nil)
		return err
	}); err != nil {
		return err
	}
	stop()
	warnings := s.warnings() // not before: reading may bring some
	j.warn(warnings)
	table := newGroupTable(o.by)
	var names []string
	for i, m := range all {
		table.add(groups[i].Name, m.report)
		names = append(names, groups[i].Name)
	}
	if err := j.out.draw(func(name string) drawing {
		if name != multiplesPlot {
			return nil
		}
		return with(chart.DrawMultiples, multiples(all, names, o.by))
	}); err != nil {
		return err
	}
	title := words.Plain(all[0].report.Title() + " by " + o.by)
	if err := j.out.lines(title, table.lines()); err != nil {
		return err
	}
	for i, m := range all {
		m.report.Name = strings.TrimLeft(m.report.Name+", "+o.by+" "+groups[i].Name, ", ")
		m.report.Warnings = append(slices.Clone(warnings), m.report.Warnings...)
		o.note(m)
		if err := j.out.report(m.report); err != nil {
			return err
		}
		if j.used != nil {
			if err := j.out.piece(usageOf(m, j.used)); err != nil {
				return err
			}
		}
		j.reports = append(j.reports, m.report)
	}
	return nil
}

// groupTable sets the groups of a run side by side.
type groupTable struct {
	head []string
	rows [][]string
}

func newGroupTable(by string) *groupTable {
	return &groupTable{head: []string{by, "messages", "acked", "received"}}
}

// add appends a line; the quantiles are of what the first group headlines.
func (t *groupTable) add(name string, r *report.Report) {
	row := []string{name, units.Thousands(r.Selection.N), rate(r.Rates.Acked), rate(r.Rates.Received)}
	for _, metric := range []string{"service", "response", "e2e"} {
		if r.Loop == report.Closed && metric != "service" {
			metric = map[string]string{"response": "transit", "e2e": ""}[metric]
		}
		if metric == "" {
			continue
		}
		m := r.Metrics.Get(metric)
		for _, p := range []string{"50", "99"} {
			q, ok := m.Quantile(p)
			if len(t.rows) == 0 {
				t.head = append(t.head, metric+" p"+p)
			}
			row = append(row, quantile(q, ok))
		}
	}
	t.rows = append(t.rows, row)
}

func rate(v *float64) string {
	if v == nil {
		return "-"
	}
	return words.PerSecond(*v)
}

// quantile prints a quantile as a report's tables do: in parentheses when it is
// withheld.
func quantile(q report.Quantile, ok bool) string {
	switch {
	case !ok:
		return "-"
	case q.Status == report.Infinite:
		return "infinite"
	case q.Observed == nil:
		return "-"
	case q.Status == report.Nonstationary:
		return units.Latency(*q.Observed) + "*"
	case q.Value == nil:
		return "(" + units.Latency(*q.Observed) + ")"
	}
	return units.Latency(*q.Value)
}

func (t *groupTable) lines() []string {
	out := aligned.Table{Rows: append([][]string{t.head}, t.rows...), Left: []int{0}}.Lines()
	return append(out, "( ): withheld, see the report of the group; *: of this run's length only")
}
