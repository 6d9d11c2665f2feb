package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rates is a line of the table by client: one run.
type Rates struct {
	Name      string   `json:"name"` // of the run
	Side      string   `json:"side"`
	Senders   []Client `json:"senders"`
	Receivers []Client `json:"receivers"`
	Total     float64  `json:"total_per_s"` // of the receivers, else of the senders
}

// rates lists the runs of all sides, best first: the sides by their best run,
// and within a side its runs.
func rates(sides []Side) []Rates {
	var bySide [][]Rates
	for _, s := range sides {
		var lines []Rates
		for _, run := range s.Runs {
			l := Rates{Name: run.Name, Side: s.Name, Senders: run.Senders, Receivers: run.Receive}
			counted := run.Receive
			if len(counted) == 0 {
				counted = run.Senders
			}
			for _, c := range counted {
				l.Total += c.PerS
			}
			lines = append(lines, l)
		}
		slices.SortStableFunc(lines, func(a, b Rates) int { return cmp.Compare(b.Total, a.Total) })
		bySide = append(bySide, lines)
	}
	slices.SortStableFunc(bySide, func(a, b []Rates) int { return cmp.Compare(b[0].Total, a[0].Total) })
	return slices.Concat(bySide...)
}

// ByName is the table of rates of runs grouped by their names, best first.
func ByName(runs []Run) []Rates { return rates(SidesByName(runs)) }

// SidesByName groups runs by their names, in the order of the first of each.
func SidesByName(runs []Run) []Side {
	var sides []Side
	for _, r := range runs {
		i := slices.IndexFunc(sides, func(s Side) bool { return s.Name == r.Name })
		if i < 0 {
			i = len(sides)
			sides = append(sides, Side{Name: r.Name})
		}
		sides[i].Runs = append(sides[i].Runs, r)
	}
	return sides
}

// mostClients is how many clients of a kind a line of the table shows one by one.
const mostClients = 8

// cells are the columns of a line: S1, S2, …, R1, …, or the sums of many.
func (l Rates) cells() (head, cells []string) {
	for _, k := range []struct {
		letter string
		all    []Client
	}{{"S", l.Senders}, {"R", l.Receivers}} {
		if len(k.all) > mostClients {
			sum := 0.0
			for _, c := range k.all {
				sum += c.PerS
			}
			head = append(head, fmt.Sprintf("%s1..%s%d", k.letter, k.letter, len(k.all)))
			cells = append(cells, fmt.Sprintf("%.0f", sum))
			continue
		}
		for _, c := range k.all {
			head, cells = append(head, c.Name), append(cells, fmt.Sprintf("%.0f", c.PerS))
		}
	}
	return head, cells
}

// RateTable is the lines of the table "S1 :: S2 :: R1", its head first. A line
// with other clients than the one before it gets a head of its own.
func RateTable(lines []Rates) []string {
	var out []string
	width := 0
	for _, l := range lines {
		width = max(width, len(l.label()))
	}
	last := ""
	for _, l := range lines {
		head, cells := l.cells()
		columns := make([]string, len(cells))
		for i := range cells {
			w := max(len(head[i]), len(cells[i]), 6)
			columns[i] = fmt.Sprintf("%*s", w, cells[i])
			head[i] = fmt.Sprintf("%*s", w, head[i])
		}
		if h := strings.Join(head, " :: "); strings.Join(strings.Fields(h), " ") != last {
			last = strings.Join(strings.Fields(h), " ")
			out = append(out, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, "messages/s", h), " "))
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, l.label(), strings.Join(columns, " :: ")), " "))
	}
	return out
}

// label is the side, or the run's name where they are the same.
func (l Rates) label() string {
	if l.Side == "" || l.Side == l.Name || strings.HasSuffix(l.Side, "="+l.Name) {
		return l.Name
	}
	if strings.HasPrefix(l.Side, l.Name+" ") { // NAME (baseline)
		return l.Side
	}
	return l.Side + " " + l.Name
}
