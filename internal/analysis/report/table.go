package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in columns: what the text and the Markdown report share.
type table struct {
	head []string
	rows [][]string
	left int // so many columns are aligned left, the others right
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// text writes the table in aligned columns.
func (t *table) text(w io.StringWriter, indent string) error {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		var b strings.Builder
		b.WriteString(indent)
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if i < t.left {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		if _, err := w.WriteString(strings.TrimRight(b.String(), " ") + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes the table as one of GitHub's.
func (t *table) markdown(w io.StringWriter) error {
	line := func(cells []string) string {
		var b strings.Builder
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + c + " |")
		}
		return b.String() + "\n"
	}
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---:"
		if i < t.left {
			rule[i] = "---"
		}
	}
	all := line(escapeCells(t.head)) + line(rule)
	for _, row := range t.rows {
		all += line(escapeCells(row))
	}
	_, err := w.WriteString(all)
	return err
}

func escapeCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escapeMarkdown(c)
	}
	return out
}

// escapeMarkdown takes the meaning from everything that Markdown or the HTML
// within it could give to text of others.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
