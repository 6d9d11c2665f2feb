package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"amqpperf/internal/analysis/aligned"
	"amqpperf/internal/analysis/report/words"
)

// JSON writes the comparison as one object on one line.
func (r *Result) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// table is the rows in words.
func (r *Result) table() (head []string, rows [][]string) {
	head = []string{"", r.Base, r.New, "change", "95 %", "p", "p adjusted", "", ""}
	for _, row := range r.Rows {
		cells := []string{row.Metric, median(row.Base, row.Unit), median(row.New, row.Unit), "-", "", "", "", string(row.Verdict), ""}
		if row.Change != nil {
			cells[3], cells[4] = signed(*row.Change), row.interval()
			cells[5], cells[6] = probability(*row.P), probability(*row.Adjusted)
		}
		switch {
		case row.Verdict == NotCompared:
			cells[8] = row.Why
		case row.Verdict == Impossible && r.Runs[0]+r.Runs[1] > 2:
			cells[8] = "smallest adjusted p " + probability(r.Smallest)
		case row.Verdict == Impossible:
			cells[8] = "one run a side"
		case row.Verdict == NoDiff && row.Detectable != nil:
			cells[8] = unsigned(*row.Detectable) + " would be found"
		case row.Verdict == TooSmall:
			cells[8] = "below " + unsigned(max(leastChange, row.tool))
		}
		rows = append(rows, cells)
	}
	return head, rows
}

// median of the runs of a side.
func median(values []float64, unit string) string {
	if len(values) == 0 {
		return "-"
	}
	s := slices.Sorted(slices.Values(values))
	return amount((s[(len(s)-1)/2]+s[len(s)/2])/2, unit)
}

// notes are the lines below the table.
func (r *Result) notes() []string {
	var out []string
	if len(r.Rows) > 0 {
		out = append(out, "medians of the runs; change: Hodges-Lehmann estimate of the ratio; p: exact Mann-Whitney, adjusted by Holm for all numbers here")
	}
	if len(r.Between) == 0 {
		out = append(out, "the sides have the same labels and settings: what differs between them is not in the logs")
	}
	for _, d := range r.Between {
		out = append(out, "differs: "+d.String())
	}
	for _, w := range r.Warnings {
		out = append(out, "warning: "+w)
	}
	return out
}

// within is the shift function in a few lines.
func (r *Result) within() []string {
	w := r.Within
	if w == nil {
		return nil
	}
	out := []string{fmt.Sprintf("shift of %s by quantile, %s", w.Metric, w.Label)}
	if w.Why != "" {
		out = append(out, "no intervals: "+w.Why)
	}
	for _, p := range w.Points {
		if !slices.Contains([]string{"1", "10", "25", "50", "75", "90", "95", "99", "99.9"}, p.P) {
			continue
		}
		row := Row{Change: &p.Change, Low: p.Low, High: p.High}
		line := fmt.Sprintf("  p%-5s %9s", p.P, signed(p.Change))
		if p.Low != nil || p.High != nil {
			line += "  " + row.interval()
		}
		out = append(out, line)
	}
	if w.Why == "" {
		out = append(out, fmt.Sprintf("moving block bootstrap, %d draws, blocks of %s and %s", w.Resamples, amount(float64(w.Block[0]), "ns"), amount(float64(w.Block[1]), "ns")))
	}
	return out
}

// Text writes the comparison for a terminal.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "comparison: %s (%s) against %s (%s)\n", words.Plain(r.New), runs(r.Runs[1]), words.Plain(r.Base), runs(r.Runs[0]))
	if len(r.Rows) > 0 {
		head, rows := r.table()
		b.WriteString("\n")
		aligned.Table{Rows: append([][]string{head}, rows...), Left: []int{0, 7, 8}}.Indent(&b)
	}
	for _, n := range r.notes() {
		b.WriteString("  " + words.Plain(n) + "\n")
	}
	for i, l := range r.within() {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("  " + words.Plain(l) + "\n")
	}
	if lines := RateTable(r.Clients); len(lines) > 0 {
		b.WriteString("\nrates by client, best first\n")
		for _, l := range lines {
			b.WriteString("  " + words.Plain(l) + "\n")
		}
	}
	b.WriteString("\n* " + words.Plain(r.Verdict) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the comparison for a review.
func (r *Result) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s against %s\n\n**%s**\n", escape(r.New), escape(r.Base), escape(r.Verdict))
	if len(r.Rows) > 0 {
		head, rows := r.table()
		b.WriteString("\n")
		for i, row := range append([][]string{head}, rows...) {
			for _, c := range row {
				b.WriteString("| " + escape(c) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString("|---|---:|---:|---:|---:|---:|---:|---|---|\n")
			}
		}
	}
	b.WriteString("\n")
	for _, n := range r.notes() {
		b.WriteString("- " + escape(n) + "\n")
	}
	fence(&b, r.within())
	fence(&b, RateTable(r.Clients))
	_, err := io.WriteString(w, b.String())
	return err
}

// fence writes lines as they stand: within a fence nothing has a meaning but its
// end.
func fence(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n```\n")
	for _, l := range lines {
		b.WriteString(strings.ReplaceAll(words.Plain(l), "```", "'''") + "\n")
	}
	b.WriteString("```\n")
}

// CSV writes the rows in the columns of a report's CSV form: run is empty, name
// says what is compared with what, the status is the verdict.
func (r *Result) CSV(w io.Writer, header bool) error {
	c := csv.NewWriter(w)
	var err error
	write := func(record ...string) {
		if err == nil {
			err = c.Write(record)
		}
	}
	if header {
		write("run", "name", "metric", "statistic", "value", "unit", "low", "high", "events", "status")
	}
	name := cell0(r.New + " / " + r.Base)
	for _, row := range r.Rows {
		write("", name, row.Metric, "change", number(row.Change), "ratio", number(row.Low), number(row.High), "", string(row.Verdict))
		write("", name, row.Metric, "p", number(row.P), "", "", "", "", "")
		write("", name, row.Metric, "p_adjusted", number(row.Adjusted), "", "", "", "", "")
		write("", name, row.Metric, "detectable", number(row.Detectable), "ratio", "", "", "", "")
	}
	if err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}

func number(f *float64) string {
	if f == nil || math.IsNaN(*f) {
		return ""
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

// cell0 keeps a spreadsheet from taking a name for a formula.
func cell0(s string) string {
	s = words.Plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	for _, r := range words.Plain(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
