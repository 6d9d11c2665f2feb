package like

import (
	"fmt"
	"strings"
)

// Markdown is the table of all options, for docs/like.md.
func Markdown() string {
	var b strings.Builder
	for _, t := range tools() {
		fmt.Fprintf(&b, "## %s\n\n`perf-run --like %s` takes the options of `%s`:\n\n| option | | |\n|---|---|---|\n", t.name, t.name, t.what)
		for _, o := range t.options {
			value := ""
			if o.Takes {
				value = " VALUE"
			}
			names := make([]string, len(o.Names))
			for i, n := range o.Names {
				names[i] = "`" + n + value + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(names, ", "), o.Fate, strings.ReplaceAll(o.Text, "|", `\|`))
		}
		b.WriteString("\n")
	}
	return b.String()
}
