// Package index writes index.md of a run directory: the result as a page that can
// be attached to a review, made of the reports of the runs and the comparisons.
package index

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/rundir"
)

// Page is what an index is made of.
type Page struct {
	Dir  *rundir.Dir
	Plan *plan.Plan
	// Answers are those of a search, a line each.
	Answers []string
	// Compared are the names of the comparisons that could be made, Drawn those of
	// the pictures.
	Compared, Drawn []string
	// Together are those of runs that were judged together.
	Together []string
	Total    int // runs that were planned, 0 if that is not known beforehand
}

type line struct {
	outcome rundir.Outcome
	report  *report // nil without one
	watched *usage  // of the processes that --watch-pid names; nil if none was
}

// Write writes index.md. Reports that cannot be read are an error after the page
// was written without them.
func (p Page) Write() error {
	var lines []line
	var trouble error
	for _, o := range p.Dir.Outcomes {
		r, err := readReport(filepath.Join(p.Dir.Path, o.Folder, "report.json"))
		if err != nil && trouble == nil {
			trouble = err
		}
		l := line{outcome: o, report: r}
		if r != nil && len(r.Config.Watch) > 0 {
			l.watched = watched(filepath.Join(p.Dir.Path, o.Folder))
		}
		lines = append(lines, l)
	}
	if err := p.together(lines); err != nil && trouble == nil {
		trouble = err
	}
	b := &strings.Builder{}
	p.head(b)
	fmt.Fprintf(b, "<!-- summary -->\n")
	for _, a := range p.Answers {
		fmt.Fprintf(b, "**%s**\n\n", escape(a))
	}
	p.cells(b, lines)
	fmt.Fprintf(b, "<!-- /summary -->\n\n")
	p.compared(b)
	p.kept(b, lines)
	p.pictures(b, lines)
	p.runs(b, lines)
	p.commands(b, lines)
	if err := rundir.Replace(filepath.Join(p.Dir.Path, "index.md"), []byte(b.String())); err != nil {
		return err
	}
	return trouble
}

func (p Page) head(b *strings.Builder) {
	s := p.Dir.Scenario
	title := s.Title
	if title == "" {
		title = s.Name
	}
	fmt.Fprintf(b, "# %s\n\n", escape(title))
	if s.About != "" {
		fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(s.About))
	}
	done := 0
	for _, o := range p.Dir.Outcomes {
		if o.Status != rundir.Interrupted {
			done++
		}
	}
	of := ""
	if p.Total > 0 {
		of = fmt.Sprintf(" of %d", p.Total)
	}
	fmt.Fprintf(b, "%d%s runs, begun %s; order %s, seed %d; perf-run %s on %d processors (%s/%s).\n\n",
		done, of, p.Dir.Start.UTC().Format("2006-01-02 15:04 MST"), s.Order, p.Dir.Seed, p.Dir.Version, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if p.Total > 0 && done < p.Total {
		fmt.Fprintf(b, "**Not complete: %d runs were not made.** `perf-run --resume` goes on.\n\n", p.Total-done)
	}
}

// cell is the runs of one variant with one combination of parameters.
type cell struct {
	title string
	lines []line
}

// cells is the table people came for, the fastest first: a row for each run of a
// variant and combination would be long, so the medians, with lowest and highest.
func (p Page) cells(b *strings.Builder, lines []line) {
	var all []*cell
	for _, l := range lines {
		if l.report == nil || !l.outcome.Run.Counts() || l.outcome.Status == rundir.Failed || l.outcome.Status == rundir.Interrupted {
			continue
		}
		title := p.Plan.Title(l.outcome.Run)
		i := slices.IndexFunc(all, func(c *cell) bool { return c.title == title })
		if i < 0 {
			all, i = append(all, &cell{title: title}), len(all)
		}
		all[i].lines = append(all[i].lines, l)
	}
	if len(all) == 0 {
		fmt.Fprint(b, "No run has a report.\n\n")
		return
	}
	p.sort(all)
	if p.Dir.Scenario.Search == nil {
		p.pivot(b, all)
	}
	columns := p.columns(all)
	heads, rule := "| |", "|---|"
	for _, c := range columns {
		heads += " " + c.head + " |"
		rule += c.rule + "|"
	}
	fmt.Fprintf(b, "%s\n%s\n", heads, rule)
	for _, c := range all {
		title := c.title
		if title == "" {
			title = "all"
		}
		fmt.Fprintf(b, "| %s |", escape(title))
		for _, x := range columns {
			fmt.Fprintf(b, " %s |", x.cell(c))
		}
		fmt.Fprintln(b)
	}
	fmt.Fprint(b, "\nMedian of the runs (lowest–highest). In parentheses: rests on too few independent events, or withheld; `*`: of a run of this length only, overload; ∞: messages without an answer.\n\n")
	if p.Plan.SweepOnly() {
		fmt.Fprint(b, "One run of each, so that nothing is said about differences: `--repetitions 5` compares the variants.\n\n")
	}
}

// sort puts a sweep in the order of its parameters and variants of a maximum rate
// best first, by what was received.
func (p Page) sort(all []*cell) {
	if len(p.Dir.Scenario.Parameters) > 0 || p.Dir.Scenario.Search != nil {
		slices.SortStableFunc(all, func(a, b *cell) int { return p.rank(a) - p.rank(b) })
		return
	}
	best := func(c *cell) float64 {
		v, _, _ := spreadOf(c.lines, func(r *report) *float64 { return r.Rates.Received })
		return v
	}
	slices.SortStableFunc(all, func(a, b *cell) int {
		switch x, y := best(a), best(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// rank is the place of a cell among the combinations as the scenario lists them.
func (p Page) rank(c *cell) int {
	n := 0
	r := c.lines[0].outcome.Run
	for _, x := range p.Dir.Scenario.Parameters {
		n = n*(len(x.Values)+1) + slices.Index(x.Values, r.Value(x.Name))
	}
	i := 0
	for j, v := range p.Dir.Scenario.Variants {
		if v.Label == r.Variant {
			i = j
		}
	}
	return n*len(p.Dir.Scenario.Variants) + i
}

// spreadOf returns median, lowest and highest; all 0 if no run has the number.
func spreadOf(lines []line, of func(*report) *float64) (median, low, high float64) {
	var values []float64
	for _, l := range lines {
		if v := of(l.report); v != nil {
			values = append(values, *v)
		}
	}
	if len(values) == 0 {
		return 0, 0, 0
	}
	slices.Sort(values)
	median = values[len(values)/2]
	if len(values)%2 == 0 {
		median = (median + values[len(values)/2-1]) / 2
	}
	return median, values[0], values[len(values)-1]
}

func (c *cell) spread(of func(*report) *float64) string {
	median, low, high := spreadOf(c.lines, of)
	if high == 0 {
		return ""
	}
	text, from, to := rate(&median), rate(&low), rate(&high)
	if from == to {
		return text
	}
	return fmt.Sprintf("%s (%s–%s)", text, from, to)
}

// middle is the latency of the run in the middle, in the order of what was
// observed: a median of numbers of which some are withheld would not be one.
func (c *cell) middle(metric, p string) string {
	lines := slices.Clone(c.lines)
	key := func(l line) int64 {
		q := l.report.Metrics[metric].Quantiles[p]
		switch {
		case q.Status == "infinite" || q.Observed == nil:
			return 1<<63 - 1
		}
		return *q.Observed
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return lines[(len(lines)-1)/2].report.latency(metric, p)
}

// held is what limited a side, with how many messages and bytes of a client were
// under way at a time: rate × round trip.
func (c *cell) held(side string) string {
	var all []string
	for _, l := range c.lines {
		for _, x := range l.report.Limits {
			if x.Side != side {
				continue
			}
			text := x.Held
			if x.Messages != nil && x.Held != "none" {
				text += fmt.Sprintf(", %.3g messages", *x.Messages)
			}
			if x.Bytes != nil && x.Held != "none" {
				text += fmt.Sprintf(", %.3g kB", *x.Bytes/1000)
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return escape(all[(len(all)-1)/2])
}

// compared quotes the comparisons.
func (p Page) compared(b *strings.Builder) {
	for _, name := range p.Compared {
		text, err := os.ReadFile(filepath.Join(p.Dir.Path, "compared", name+".md"))
		if err != nil {
			continue
		}
		fmt.Fprintf(b, "## Compared: %s\n\n<!-- compared %s -->\n%s<!-- /compared -->\n\n", escape(name), name, deeper(string(text)))
	}
}

// deeper moves the headings of a report below those of this page.
func deeper(text string) string {
	lines := strings.SplitAfter(text, "\n")
	code := false
	for i, l := range lines {
		if strings.HasPrefix(l, "```") {
			code = !code
		}
		if !code && strings.HasPrefix(l, "#") {
			lines[i] = "##" + l
		}
	}
	out := strings.Join(lines, "")
	if !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out
}

// escape keeps a text within its cell and its line.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'").Replace(text)
}
