// Package aligned prints tables of text in columns, for terminals and for fenced
// blocks. It makes text of others safe for one line.
package aligned

import (
	"strings"
	"unicode/utf8"

	"amqpperf/internal/analysis/report/words"
)

// Table is rows of cells, the head first. Rows may be shorter than the head.
type Table struct {
	Rows [][]string
	// Left names the columns that are aligned left; the others are aligned right.
	Left []int
}

// Lines returns a line for each row, columns two blanks apart, without blanks at
// the end.
func (t Table) Lines() []string {
	var widths []int
	rows := make([][]string, len(t.Rows))
	for r, row := range t.Rows {
		rows[r] = make([]string, len(row))
		for i, cell := range row {
			rows[r][i] = words.Plain(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(rows[r][i]))
		}
	}
	left := map[int]bool{}
	for _, i := range t.Left {
		left[i] = true
	}
	out := make([]string, len(rows))
	for r, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if left[i] {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		out[r] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// Indent puts the table into a text, each line after two blanks.
func (t Table) Indent(b *strings.Builder) {
	for _, l := range t.Lines() {
		b.WriteString(strings.TrimRight("  "+l, " ") + "\n")
	}
}
