package index

import (
	"fmt"
	"slices"
)

// column is one of the table of all cells.
type column struct {
	head, rule string
	cell       func(*cell) string
}

// columns are those that the runs have something for.
func (p Page) columns(all []*cell) []column {
	rates := func(of func(*report) *float64) func(*cell) string {
		return func(c *cell) string { return c.spread(of) }
	}
	latency := func(metric, quantile string) func(*cell) string {
		return func(c *cell) string { return c.middle(metric, quantile) }
	}
	columns := []column{
		{"runs", "--:", func(c *cell) string { return fmt.Sprint(len(c.lines)) }},
		{"offered/s", "--:", rates(func(r *report) *float64 { return r.Rates.Offered })},
		{"acked/s", "--:", rates(func(r *report) *float64 { return r.Rates.Acked })},
		{"received/s", "--:", rates(func(r *report) *float64 { return r.Rates.Received })},
		{"the rate", "---", (*cell).reached},
		{"response p50", "--:", latency("response", "50")},
		{"p99", "--:", latency("response", "99")},
		{"e2e p50", "--:", latency("e2e", "50")},
		{"p99", "--:", latency("e2e", "99")},
		{"service p99", "--:", latency("service", "99")},
		{"what held the sender", "---", func(c *cell) string { return c.held("send") }},
		{"the receiver", "---", func(c *cell) string { return c.held("receive") }},
		{"CPU of the watched process", "--:", (*cell).cpu},
		{"its memory", "--:", (*cell).memory},
	}
	optional := map[string]bool{"the rate": true, "CPU of the watched process": true, "its memory": true}
	return slices.DeleteFunc(columns, func(x column) bool {
		return optional[x.head] && !slices.ContainsFunc(all, func(c *cell) bool { return x.cell(c) != "" })
	})
}

// reached says whether the offered rate was reached and kept up with; nothing of a
// closed loop, which has none.
func (c *cell) reached() string {
	held, overload := 0, 0
	for _, l := range c.lines {
		switch {
		case l.report.Loop == "closed":
		case l.report.overloaded():
			overload++
		default:
			held++
		}
	}
	switch {
	case held == 0 && overload == 0:
		return ""
	case overload == 0:
		return "held"
	case held == 0:
		return "overload"
	}
	return fmt.Sprintf("held in %d of %d", held, held+overload)
}

// cpu is the CPU time of the watched processes, in processors.
func (c *cell) cpu() string {
	var all []float64
	for _, l := range c.lines {
		if l.watched != nil {
			all = append(all, l.watched.processors*100)
		}
	}
	return spreadText(all, func(v float64) string { return fmt.Sprintf("%.0f %%", v) })
}

// memory is the most that they had.
func (c *cell) memory() string {
	var all []float64
	for _, l := range c.lines {
		if l.watched != nil {
			all = append(all, float64(l.watched.resident)/(1<<20))
		}
	}
	return spreadText(all, func(v float64) string { return fmt.Sprintf("%.0f MiB", v) })
}

// spreadText is the median, with lowest and highest if they read otherwise.
func spreadText(all []float64, text func(float64) string) string {
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	median := (all[len(all)/2] + all[(len(all)-1)/2]) / 2
	low, high := text(all[0]), text(all[len(all)-1])
	if low == high {
		return low
	}
	return fmt.Sprintf("%s (%s–%s)", text(median), low, high)
}
