package report

import (
	"bufio"
	"io"
	"strings"

	"amqpperf/internal/analysis/checks"
)

// Text writes the report for a terminal or a thread: aligned columns, plain
// ASCII, no line that text of others could have broken.
func (r *Report) Text(w io.Writer) error {
	b := bufio.NewWriter(w)
	p := &printer{w: b}
	p.line(plain(r.title()))
	for _, f := range r.facts() {
		p.line(plain(f))
	}
	if r.Baseline != nil {
		p.line("baseline: " + plain(strings.Join(append([]string{r.Baseline.title()}, r.Baseline.facts()...), ", ")))
	}
	p.list("", "* ", r.Findings)
	if r.Start != nil {
		r.textNumbers(p)
	}
	p.list("warnings", "! ", r.Warnings)
	if p.err != nil {
		return p.err
	}
	return b.Flush()
}

func (r *Report) textNumbers(p *printer) {
	p.section("messages (whole run)", r.flow())
	rates := []string{r.rateLine()}
	if c := r.clientLine(); c != "" {
		rates = append(rates, c)
	}
	if r.Baseline.timed() {
		rates = append(rates, "baseline: "+r.Baseline.rateLine())
	}
	if s := r.stamp(checks.Rates); s != "" {
		rates = append(rates, s)
	}
	p.section("rates", rates)
	if l := r.limitLines(); len(l) > 0 {
		p.section("what held the rate", l)
	}
	t, marks := r.latencies()
	if len(t.rows) > 0 {
		p.line("")
		p.line("latencies")
		p.table(t)
		p.lines("  ", legend(marks))
		if l := r.bracketLine(); l != "" {
			p.lines("  ", []string{l})
		}
	}
	if l := r.clockLine(); l != "" {
		p.lines("  ", []string{l})
	}
	if l := r.tailLine(); l != "" {
		p.section("tail above p99", []string{l})
	}
	if l := r.transactionLine(); l != "" {
		p.section("transactions", []string{l})
	}
	if t := r.stallTable(); t != nil {
		p.line("")
		p.line("stalls")
		p.table(t)
		p.lines("  ", r.besideLines())
	}
	if t := r.checkTable(false); t != nil {
		p.line("")
		p.line("checks")
		p.table(t)
		p.lines("  ", r.advice())
		if s := r.skipped(); s != "" {
			p.lines("  ", []string{s})
		}
	}
}

// printer writes until the first error.
type printer struct {
	w   *bufio.Writer
	err error
}

func (p *printer) line(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s + "\n")
	}
}

func (p *printer) lines(prefix string, all []string) {
	for _, s := range all {
		p.line(prefix + plain(s))
	}
}

func (p *printer) section(title string, all []string) {
	p.line("")
	p.line(title)
	p.lines("  ", all)
}

func (p *printer) list(title, bullet string, all []string) {
	if len(all) == 0 {
		return
	}
	p.line("")
	if title != "" {
		p.line(title)
	}
	p.lines(bullet, all)
}

func (p *printer) table(t *table) {
	for _, row := range t.rows {
		for i := range row {
			row[i] = plain(row[i])
		}
	}
	if p.err == nil {
		p.err = t.text(p.w, "  ")
	}
}
