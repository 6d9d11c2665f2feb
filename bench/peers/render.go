package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// column is a column of a table: a value with its format, or a text.
type column struct {
	head   string
	key    string
	format func(float64) string // nil: a text
}

func maxColumns() []column {
	return []column{
		{"sent/s", "sent_per_s", group}, {"received/s", "recv_per_s", group}, {"client CPU, µs/msg", "cpu_us", short},
		{"the same, warm", "warm_cpu_us", short}, {"client RSS, MiB", "rss", group}, {"broker CPU, µs/msg", "broker_cpu_us", short},
	}
}

// recordingColumns have the rates that perf-send and perf-recv print themselves, since without logs there is no report.
func recordingColumns() []column {
	return []column{
		{"sent/s, by its SUMMARY", "summary_sent_per_s", group}, {"received/s", "summary_recv_per_s", group}, {"client CPU, µs/msg", "cpu_us", short},
		{"sender", "send_cpu_us", short}, {"receiver", "recv_cpu_us", short}, {"RSS sender, MiB", "send_rss", group}, {"receiver", "recv_rss", group},
		{"broker CPU, µs/msg", "broker_cpu_us", short},
	}
}

func pacedColumns() []column {
	return []column{
		{"sent/s", "sent_per_s", group}, {"% of what was asked", "share", percent}, {"lag or “delay” p50", "lag.50", span}, {"p99", "lag.99", span},
		{"service p50", "service.50", span}, {"p99", "service.99", span}, {"response p99", "response.99", span}, {"client CPU, µs/msg", "cpu_us", short},
		{"it says", "status", nil},
	}
}

func connectionColumns() []column {
	return []column{
		{"sent/s", "sent_per_s", group}, {"% of what was asked", "share", percent}, {"received/s", "recv_per_s", group}, {"lag or “delay” p50", "lag.50", span},
		{"p99", "lag.99", span}, {"service p99", "service.99", span}, {"RSS sender, MiB", "send_rss", group}, {"receiver", "recv_rss", group},
		{"whole client", "rss", group}, {"rows", "n.intended", group}, {"accepted", "n.accepted", group}, {"received", "n.received", group},
		{"lost", "n.lost", group}, {"it says", "status", nil},
	}
}

func stallColumns() []column {
	return []column{
		{"stopped for, s", "stalled_s", short}, {"service p50", "service.50", span}, {"p99", "service.99", span}, {"max", "service.max", span},
		{"p99 of the worst second", "service.99_second", span}, {"lag or “delay” p99", "lag.99", span}, {"max", "lag.max", span},
		{"blocked max", "blocked.max", span}, {"response p99", "response.99", span}, {"max", "response.max", span}, {"transit p99", "transit.99", span},
		{"e2e p99", "e2e.99", span}, {"stalls found", "stalls", nil}, {"it says", "status", nil},
	}
}

func pacingColumns() []column {
	return []column{
		{"stopped for, s", "stalled_s", short}, {"intended", "n.intended", group}, {"lag p50", "lag.50", span}, {"p99", "lag.99", span}, {"max", "lag.max", span},
		{"blocked max", "blocked.max", span}, {"service p50", "service.50", span}, {"p99", "service.99", span}, {"max", "service.max", span},
		{"response p50", "response.50", span}, {"max", "response.max", span}, {"e2e p50", "e2e.50", span}, {"C3", "C3", nil}, {"stalls found", "stalls", nil},
	}
}

// section is the Markdown of one case on one broker; "" if it was not run there.
func (s *set) section(c *benchCase, broker string) string {
	rows := rowsOf(s.Runs, c.name, broker)
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	runs := s.of(c.name, broker)
	fmt.Fprintf(&b, "Measured %s. %s\n\n", runs[0].At.Format("2006-01-02 15:04 MST"), s.method(broker, runs))
	columns := present(c.columns, rows)
	b.WriteString(head(columns, c.ratio != ""))
	for _, r := range rows {
		b.WriteString(line(r, columns))
		if c.ratio != "" {
			b.WriteString(" " + against(base(rows, r), r, c.ratio) + " |")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s\n", quiet(runs))
	for _, r := range runs {
		if r.Error != "" {
			fmt.Fprintf(&b, "\n- failed, repetition %d: %s, %s: %s\n", r.Rep+1, r.Param, r.Tool, escape(r.Error))
		}
	}
	// The comment is for the test that executes the commands of the documentation.
	b.WriteString("\n<details><summary>Commands, versions, machine</summary>\n\n<!-- no run: what was run when it was measured -->\n```\n" + strings.Join(commands(rows), "\n") + "\n```\n\n")
	for _, fact := range slices.Concat(s.Versions, s.Machine, peerVersions(runs)) {
		fmt.Fprintf(&b, "- %s\n", escape(fact))
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// method says how often, how long, and after what the runs were made.
func (s *set) method(broker string, runs []run) string {
	reps := 0
	for _, r := range runs {
		reps = max(reps, r.Rep+1)
	}
	text := fmt.Sprintf("%d interleaved repetitions: median (lowest–highest). Each run %s s", reps, number(runs[0].Seconds))
	if reps == 1 {
		text = fmt.Sprintf("**A single repetition**, of %s s", number(runs[0].Seconds))
	}
	if w := runs[0].Warmup; w > 0 {
		text += fmt.Sprintf(", after %s s that are not counted", number(w))
	}
	if w := s.Warm[broker]; w > 0 {
		text += fmt.Sprintf("; before the first, every tool had loaded the freshly started broker for %s s", number(w))
	}
	return text + "."
}

func (s *set) of(name, broker string) []run {
	return slices.DeleteFunc(slices.Clone(s.Runs), func(r run) bool { return r.Case != name || r.Broker != broker })
}

// present leaves out the columns that no row has a value in.
func present(columns []column, rows []*row) []column {
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(rows, func(r *row) bool { return cell(r, c) != "" })
	})
}

func head(columns []column, ratio bool) string {
	text, rule := "| load | tool | runs |", "|---|---|--:|"
	for _, c := range columns {
		text += " " + c.head + " |"
		if c.format == nil {
			rule += "---|"
		} else {
			rule += "--:|"
		}
	}
	if ratio {
		text, rule = text+" the first of this load is … times it |", rule+"--:|"
	}
	return text + "\n" + rule + "\n"
}

func line(r *row, columns []column) string {
	n := 0
	for _, x := range r.runs {
		if x.Error == "" {
			n++
		}
	}
	text := fmt.Sprintf("| %s | %s | %d |", r.param, r.tool, n)
	for _, c := range columns {
		text += " " + cell(r, c) + " |"
	}
	return text
}

// cell is the median and, of several repetitions, the range.
func cell(r *row, c column) string {
	if c.format == nil {
		return escape(r.text(c.key))
	}
	s := r.spread(c.key)
	switch {
	case s.n == 0:
		return ""
	case s.n == 1 || c.format(s.low) == c.format(s.high):
		return c.format(s.median)
	}
	return fmt.Sprintf("%s (%s–%s)", c.format(s.median), c.format(s.low), c.format(s.high))
}

// base is the row that the others of the same load are compared with: the first.
func base(rows []*row, r *row) *row {
	return rows[slices.IndexFunc(rows, func(x *row) bool { return x.param == r.param })]
}

func against(ours, theirs *row, key string) string {
	s := ratio(ours, theirs, key)
	if ours == theirs || s.n == 0 {
		return ""
	}
	if s.n == 1 {
		return fmt.Sprintf("**%.2f**", s.median)
	}
	return fmt.Sprintf("**%.2f** (%.2f–%.2f)", s.median, s.low, s.high)
}

// quiet says how quiet the machine was.
func quiet(runs []run) string {
	var cores []float64
	for _, r := range runs {
		if v, ok := r.Values["other_cores"]; ok {
			cores = append(cores, v)
		}
	}
	s := spreadOf(cores)
	text := fmt.Sprintf("Neither tool nor broker, but also on the machine: %.2f of a processor (median; at most %.2f).", s.median, s.high)
	if s.median > 0.25 {
		text += " **The machine was not quiet: do not quote these figures.**"
	}
	return text
}

// commands are those of the first repetition of each row.
func commands(rows []*row) []string {
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf("# %s, %s", r.param, r.tool))
		all = append(all, r.runs[0].Commands...)
	}
	return all
}

func peerVersions(runs []run) []string {
	var all []string
	for _, r := range runs {
		if t := r.Texts["peer"]; t != "" && !strings.Contains(t, "<nil>") && !slices.Contains(all, "broker, by its open frame: "+t) {
			all = append(all, "broker, by its open frame: "+t)
		}
	}
	return all
}

// escape keeps a text of a tool within its cell.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'").Replace(text)
}

// group prints a whole number with thousands apart.
func group(f float64) string {
	text := strconv.FormatFloat(f, 'f', 0, 64)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func short(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

func percent(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// span prints microseconds in the unit that suits them.
func span(us float64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 10_000:
		return fmt.Sprintf("%.1f ms", us/1e3)
	case us < 10_000_000:
		return group(us/1e3) + " ms"
	}
	return fmt.Sprintf("%.1f s", us/1e6)
}
