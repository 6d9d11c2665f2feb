package index

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// pivot is the table of a sweep: what was received per second, the last of the
// parameters that vary across, variants and the other parameters down.
func (p Page) pivot(b *strings.Builder, all []*cell) {
	var varied []scenario.Parameter
	for _, x := range p.Dir.Scenario.Parameters {
		if len(x.Values) > 1 {
			varied = append(varied, x)
		}
	}
	if len(varied) == 0 || len(varied) == 1 && len(p.Dir.Scenario.Variants) < 2 {
		return // the table of all cells says the same
	}
	across := varied[len(varied)-1]
	fmt.Fprintf(b, "Received per second, by %s:\n\n| |", escape(across.Name))
	for _, v := range across.Values {
		fmt.Fprintf(b, " %s |", escape(v))
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("--:|", len(across.Values)))
	var rows []string
	cells := map[string][]string{}
	for _, c := range all {
		r := c.lines[0].outcome.Run
		var head []string
		if r.Variant != "" {
			head = append(head, r.Variant)
		}
		for _, x := range varied[:len(varied)-1] {
			head = append(head, x.Name+" "+r.Value(x.Name))
		}
		row := strings.Join(head, ", ")
		if cells[row] == nil {
			rows, cells[row] = append(rows, row), make([]string, len(across.Values))
		}
		cells[row][slices.Index(across.Values, r.Value(across.Name))] = c.spread(func(r *report) *float64 { return r.Rates.Received })
	}
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %s |\n", escape(row), strings.Join(cells[row], " | "))
	}
	fmt.Fprintln(b)
}
