package report

import (
	"bufio"
	"io"

	"amqpperf/internal/analysis/checks"
)

// Markdown writes the report for a review or an issue.
func (r *Report) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	p := &printer{w: b}
	r.markdownHead(p)
	p.bullets("", r.Findings)
	if r.Start != nil {
		r.markdownNumbers(p)
	}
	p.bullets("**Warnings**", r.Warnings)
	if p.err != nil {
		return p.err
	}
	return b.Flush()
}

func (r *Report) markdownNumbers(p *printer) {
	lines := append(r.flow(), r.rateLine())
	if c := r.clientLine(); c != "" {
		lines = append(lines, c)
	}
	if r.Baseline.timed() {
		lines = append(lines, "baseline: "+r.Baseline.rateLine())
	}
	if s := r.stamp(checks.Rates); s != "" {
		lines = append(lines, s)
	}
	p.bullets("**Messages and rates**", lines)
	p.bullets("**What held the rate**", r.limitLines())
	t, marks := r.latencies()
	if len(t.rows) > 0 {
		p.heading("**Latencies**")
		p.markdownTable(t)
	}
	notes := legend(marks)
	for _, l := range []string{r.bracketLine(), r.clockLine(), r.tailLine(), r.transactionLine()} {
		if l != "" {
			notes = append(notes, l)
		}
	}
	p.bullets("", notes)
	if t := r.stallTable(); t != nil {
		p.heading("**Stalls**")
		p.markdownTable(t)
		p.bullets("", r.besideLines())
	}
	if t := r.checkTable(true); t != nil {
		p.heading("**Checks**")
		p.markdownTable(t)
		if s := r.skipped(); s != "" {
			p.line("")
			p.line(s)
		}
	}
}

func (p *printer) heading(s string) {
	p.line("")
	p.line(s)
	p.line("")
}

func (p *printer) bullets(title string, all []string) {
	if len(all) == 0 {
		return
	}
	p.line("")
	if title != "" {
		p.line(title)
		p.line("")
	}
	for _, s := range all {
		p.line("- " + escapeMarkdown(s))
	}
}

func (p *printer) markdownTable(t *table) {
	if p.err == nil {
		p.err = t.markdown(p.w)
	}
}

// markdownHead writes what was run, and beside what.
func (r *Report) markdownHead(p *printer) {
	p.line("### " + escapeMarkdown(r.title()))
	p.line("")
	for _, f := range r.facts() {
		p.line(escapeMarkdown(f) + "  ")
	}
	if r.Baseline != nil {
		p.line("baseline: " + escapeMarkdown(r.Baseline.title()) + "  ")
	}
}
