package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// summarized are the percentiles of a Summary, as far as the report has them.
func summarized() []string { return []string{"50", "99", "99.9"} }

// Summary writes the few lines of Markdown that belong above a picture: what was
// run, what is to be seen, the rates and the headline latencies, and which checks
// did not pass.
func (r *Report) Summary(w io.Writer) error {
	b := bufio.NewWriter(w)
	p := &printer{w: b}
	r.markdownHead(p)
	findings := r.Findings
	if r.Start != nil {
		findings = append(slices.Clip(findings), r.rateLine())
		if r.Baseline.timed() {
			findings = append(findings, "baseline: "+r.Baseline.rateLine())
		}
	}
	p.bullets("", findings)
	if t, marks := r.summaryTable(); len(t.rows) > 0 {
		p.line("")
		p.markdownTable(t)
		p.bullets("", legend(marks))
	}
	p.line("")
	p.line(escapeMarkdown(r.checkLine()))
	p.bullets("**Warnings**", r.Warnings)
	if p.err != nil {
		return p.err
	}
	return b.Flush()
}

// summaryTable has the headline metrics with their intervals.
func (r *Report) summaryTable() (t *table, marks map[Status]bool) {
	t, marks = &table{head: []string{"", "messages"}, left: 1}, map[Status]bool{}
	add := func(of *Report, name, label string) {
		m := of.Metrics.Get(name)
		if !of.shown(m) {
			return
		}
		row := []string{label, count(m.N)}
		for _, p := range summarized() {
			q, ok := m.Quantile(p)
			if !ok {
				continue
			}
			if len(t.rows) == 0 {
				t.head = append(t.head, "p"+p)
			}
			cell := q.cell()
			if limits := q.interval(); limits != "" {
				cell += " (" + limits + ")"
			}
			if q.Status != OK {
				marks[q.Status] = true
			}
			row = append(row, cell)
		}
		if len(t.rows) == 0 {
			t.head = append(t.head, "max")
		}
		t.add(append(row, span(m.Max))...)
	}
	names := []string{"service", "response", "e2e"}
	if r.Loop == Closed {
		names = []string{"service", "transit"}
	}
	for _, name := range names {
		add(r, name, name)
		if r.Baseline != nil {
			add(r.Baseline, name, name+", baseline")
		}
	}
	return t, marks
}

// checkLine names the checks that did not pass and counts those that did.
func (r *Report) checkLine() string {
	var parts []string
	for _, status := range []CheckStatus{CheckFail, CheckWarn} {
		var ids []string
		for _, c := range r.Checks {
			if c.Status == status {
				ids = append(ids, c.ID+" "+c.Name)
			}
		}
		if len(ids) > 0 {
			parts = append(parts, strings.ToUpper(string(status))+": "+strings.Join(ids, ", "))
		}
	}
	passed := 0
	for _, c := range r.Checks {
		if c.Status == CheckOK {
			passed++
		}
	}
	return "Checks: " + strings.Join(append(parts, fmt.Sprintf("%d passed", passed)), "; ")
}

// ClockFinding says how far one-way times can be trusted.
func (r *Report) ClockFinding() string { return r.clockLine() }
